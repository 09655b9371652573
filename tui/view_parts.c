/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the screens share. */
#include "view_parts.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "text.h"

/* Captures shorter than this tell more than whole seconds. */
#define ELAPSED_SHORT_NS UINT64_C(10000000000)

static const char *const tab_names[SCREEN_TABS] = {"1:Overview", "2:QPs", "3:PFC", "4:Events",
                                                   "5:Hosts"};

static const char *run_word(const struct ui *ui, char *buf)
{
    char speed[32];
    if (ui->status.speed > 0)
        (void)snprintf(speed, sizeof(speed), "x%.*f",
                       ui->status.speed < 0.95 ? 2
                       : ui->status.speed < 10 ? 1
                                               : 0,
                       ui->status.speed);
    else
        (void)snprintf(speed, sizeof(speed), "max");
    switch (ui->status.run) {
    case RUN_LIVE:
        return "LIVE";
    case RUN_PLAYING:
        (void)snprintf(buf, TUI_TEXT_MAX, "FILE %s", speed);
        return buf;
    case RUN_PAUSED:
        return "FILE paused";
    case RUN_SEEKING:
        return "FILE seeking";
    case RUN_ENDED:
        return "FILE END";
    case RUN_FAILED:
        return "FAILED";
    }
    return "";
}

/* The right end of the title: it is never left out. */
static void title_right(const struct ui *ui, const struct snapshot *snapshot, char *buf,
                        size_t size)
{
    const struct ui_status *s = &ui->status;
    char a[TUI_TEXT_MAX], b[TUI_TEXT_MAX], drops[96];
    if (s->live)
        (void)snprintf(drops, sizeof(drops), "drop k%s if%s", tui_text_count5(a, s->dropped_kernel),
                       tui_text_count5(b, s->dropped_iface));
    else if (s->has_drops)
        (void)snprintf(drops, sizeof(drops), "drop %s", tui_text_count5(a, s->dropped_kernel));
    else
        (void)snprintf(drops, sizeof(drops), "drop n/a");
    if (s->merged > 0) {
        const size_t used = strlen(drops);
        (void)snprintf(drops + used, sizeof(drops) - used, " GRO %s",
                       tui_text_count5(a, s->merged));
    }
    const double seconds = (double)snapshot->interval_ns / 1e9;
    if (s->live)
        (void)snprintf(buf, size, "%s  %.*fs", drops, seconds < 9.95 ? 1 : 0, seconds);
    else
        (void)snprintf(buf, size, "%s  %8s", drops,
                       s->elapsed_ns < ELAPSED_SHORT_NS ? tui_text_long_time(a, s->elapsed_ns)
                                                        : tui_text_elapsed(a, s->elapsed_ns));
}

static int draw_progress(struct canvas *canvas, int x, int width, const struct ui_status *s)
{
    if (s->size == 0 || width < 6)
        return x;
    const double part = (double)s->consumed / (double)s->size;
    const int filled = (int)(part * width);
    tui_canvas_put(canvas, 0, x, '[', STYLE_HEAD);
    for (int i = 0; i < width; i++)
        tui_canvas_put(canvas, 0, x + 1 + i,
                       i < filled    ? '='
                       : i == filled ? '>'
                                     : ' ',
                       STYLE_HEAD);
    return tui_canvas_printf(canvas, 0, x + width + 1, STYLE_HEAD, "] %.0f%%", part * 100);
}

void tui_parts_title(const struct ui *ui, const struct snapshot *snapshot, struct canvas *canvas)
{
    char a[TUI_TEXT_MAX], right[160];
    tui_canvas_style(canvas, 0, 0, canvas->cols, STYLE_HEAD);
    title_right(ui, snapshot, right, sizeof(right));
    const int end = canvas->cols - 1;
    const int room = end - (int)strlen(right) - 1;
    int x =
        tui_canvas_text(canvas, 0, 1, room - 1, STYLE_HEAD, canvas->cols < 60 ? "" : "rocetop  ");
    if (ui->frozen) {
        char count[TUI_TEXT_MAX];
        const uint64_t since = ui->status.frames - ui->frozen_frames;
        (void)snprintf(right + strlen(right), sizeof(right) - strlen(right), "%s", "");
        x = tui_canvas_text(canvas, 0, x, 24, STYLE_HEAD, ui->status.name);
        (void)tui_canvas_printf(canvas, 0, x, STYLE_HEAD, "  PAUSED at %s (+%s pkts since)",
                                tui_text_clock(a, snapshot->now, 0), tui_text_count5(count, since));
        tui_canvas_clear(canvas, 0, room, canvas->cols);
    } else {
        x = tui_canvas_text(canvas, 0, x, canvas->cols / 4, STYLE_HEAD, ui->status.name);
        x = tui_canvas_text(canvas, 0, x, 2, STYLE_HEAD, "  ");
        x = tui_canvas_text(canvas, 0, x, room - x, STYLE_HEAD, run_word(ui, a));
        if (ui->status.live) {
            x = tui_canvas_printf(canvas, 0, x, STYLE_HEAD, " %s",
                                  tui_text_elapsed(a, ui->status.elapsed_ns));
            if (ui->status.bpf[0] != '\0' || room - x > 14)
                (void)tui_canvas_printf(canvas, 0, x, STYLE_HEAD, "  bpf: %s",
                                        ui->status.bpf[0] != '\0' ? ui->status.bpf : "- (all)");
        } else {
            const int width = room - x - 9 < 20 ? room - x - 9 : 20;
            (void)draw_progress(canvas, x + 1, width, &ui->status);
        }
        tui_canvas_clear(canvas, 0, room, canvas->cols);
    }
    tui_canvas_style(canvas, 0, 0, canvas->cols, STYLE_HEAD);
    tui_canvas_right(canvas, 0, end, STYLE_HEAD, right);
    const bool lost = ui->status.dropped_kernel + ui->status.dropped_iface > 0;
    if (lost)
        tui_canvas_style(canvas, 0, end - (int)strlen(right), end, STYLE_ERROR);
}

int view_tab_at(int x)
{
    int at = 1;
    for (int i = 0; i < SCREEN_TABS; i++) {
        const int width = (int)strlen(tab_names[i]);
        if (x >= at && x < at + width)
            return i;
        at += width + 1;
    }
    return -1;
}

void tui_parts_tabs(const struct ui *ui, struct canvas *canvas, int y, const char *right)
{
    tui_canvas_rule(canvas, y, 0, canvas->cols);
    int x = 1;
    for (int i = 0; i < SCREEN_TABS; i++) {
        const bool here = (int)ui->screen == i;
        x = tui_canvas_text(canvas, y, x, canvas->cols - x, here ? STYLE_CURSOR : STYLE_PLAIN,
                            tab_names[i]);
        x++;
    }
    if (x + (int)strlen(right) < canvas->cols)
        tui_canvas_right(canvas, y, canvas->cols - 1, STYLE_PLAIN, right);
}

void tui_parts_heading(struct canvas *canvas, int y, const char *left, const char *right)
{
    tui_canvas_rule(canvas, y, 0, canvas->cols);
    const int x = tui_canvas_text(canvas, y, 1, canvas->cols - 2, STYLE_BOLD, left);
    if (x + (int)strlen(right) < canvas->cols)
        tui_canvas_right(canvas, y, canvas->cols - 1, STYLE_PLAIN, right);
}

struct parts_series tui_parts_series(const struct snapshot *snapshot, int width, char *text)
{
    struct parts_series shown = {.group = 1};
    char a[TUI_TEXT_MAX], b[TUI_TEXT_MAX];
    const uint32_t room = width < 1 ? 1 : (uint32_t)width;
    /* A capture that has ended is shown as a whole, and one whose first interval has not. */
    const bool whole = snapshot->over || snapshot->recent.count == 0;
    const uint64_t length = snapshot->now - snapshot->first;
    shown.series = whole ? &snapshot->whole : &snapshot->recent;
    uint32_t bins = shown.series->count + (whole ? 1 : 0);
    if (whole) {
        shown.group = (bins + room - 1) / room;
        shown.group = shown.group == 0 ? 1 : shown.group;
        shown.n = (bins + shown.group - 1) / shown.group;
    } else {
        shown.n = bins < room ? bins : room;
        shown.skip = bins - shown.n;
    }
    shown.group_ns = shown.group * shown.series->length_ns;
    if (shown.group_ns == 0) { /* no frame has come yet */
        shown.n = 0;
        text[0] = '\0';
        return shown;
    }
    (void)snprintf(text, 64, "%s %s, 1 col = %s", whole ? "all" : "last",
                   tui_text_long_time(a, whole ? length : shown.n * shown.group_ns),
                   tui_text_long_time(b, shown.group_ns));
    return shown;
}

struct bin tui_parts_series_at(const struct parts_series *shown, uint32_t index)
{
    const uint32_t first = shown->skip + index * shown->group;
    struct bin sum = {0};
    for (uint32_t i = first; i < first + shown->group; i++) {
        if (i < shown->series->count)
            tui_bin_add(&sum, tui_series_at(shown->series, i));
        else if (i == shown->series->count)
            tui_bin_add(&sum, &shown->series->open);
    }
    return sum;
}

/* Height in eighths of a cell of |value|, at least one when it is not 0. */
static int height_of(const struct parts_graph *graph, double value)
{
    const int full = graph->rows * 8;
    if (value <= 0 || graph->max <= 0)
        return graph->sparse ? 0 : 1;
    double part = value / graph->max;
    if (graph->log_scale)
        part = 1 + log10(part) / 3; /* three decades */
    const int eighths = (int)(part * full + 0.5);
    return eighths < 1 ? 1 : eighths > full ? full : eighths;
}

void tui_parts_graph(struct canvas *canvas, const struct parts_graph *graph)
{
    const uint32_t width = (uint32_t)graph->width;
    const uint32_t n = graph->n < width ? graph->n : width;
    for (uint32_t i = 0; i < n; i++) {
        const int x = graph->x + (int)(width - n + i);
        const int eighths = height_of(graph, graph->value[graph->n - n + i]);
        for (int row = 0; row < graph->rows; row++) {
            const int here = eighths - row * 8;
            const int y = graph->y + graph->rows - 1 - row;
            if (here <= 0)
                continue;
            if (!graph->lines)
                tui_canvas_level(canvas, y, x, here, graph->style);
            else if (here <= 8)
                tui_canvas_put(canvas, y, x,
                               here <= 3   ? '_'
                               : here <= 6 ? '-'
                                           : '\'',
                               graph->style);
        }
    }
}
