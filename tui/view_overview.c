/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Overview: rates, their course, the worst QPs, the newest events. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "text.h"
#include "view_parts.h"

enum { GRAPHS = 5, LABEL = 8, FIGURES = 16, COLS_MAX = 2048, TABLE_ROWS_MIN = 4 };

struct view_overview_layout view_overview_layout(int rows, uint32_t qps)
{
    struct view_overview_layout l = {.graphs = GRAPHS, .graph_rows = 1};
    const int body = rows - PARTS_BODY - 1;
    if (rows >= 56)
        l.graph_rows = 3;
    else if (rows >= 38)
        l.graph_rows = 2;
    /* Two headings, the head of the table. What is left is shared 3 to 2. */
    int left = body - l.graphs * l.graph_rows - 3;
    if (left < 8) {
        /* Small: fewer diagrams, then no events. */
        l.graphs = body < 12 ? 2 : 3;
        left = body - l.graphs - 3;
    }
    l.events_rows = left < 6 ? 0 : left * 2 / 5;
    l.table_rows = left - l.events_rows + (l.events_rows == 0 ? 1 : 0);
    /* Few QPs: events say more than empty rows. */
    const int wanted = qps > TABLE_ROWS_MIN ? (int)qps : TABLE_ROWS_MIN;
    if (l.events_rows > 0 && l.table_rows > wanted) {
        l.events_rows += l.table_rows - wanted;
        l.table_rows = wanted;
    }
    l.table_y = PARTS_BODY + l.graphs * l.graph_rows;
    l.events_y = l.table_y + 2 + l.table_rows;
    return l;
}

static const char *per_second(const struct snapshot *snapshot, char *buf, uint64_t n)
{
    char number[TUI_TEXT_MAX];
    if (snapshot->over)
        return tui_text_count5(buf, n);
    if (!snapshot->has_rates)
        return tui_text_set(buf, "-");
    (void)snprintf(buf, TUI_TEXT_MAX, "%s/s", tui_text_rate(number, (double)n / snapshot->seconds));
    return buf;
}

/* The priority that is paused most, and for how long in each second. */
static void pause_text(const struct snapshot *snapshot, char *buf)
{
    static const char *const priority[SERIES_PRIORITIES] = {"p0", "p1", "p2", "p3", "p4",
                                                            "p5", "p6", "p7", "all"};
    const struct bin *rates = &snapshot->rates;
    char number[TUI_TEXT_MAX];
    int most = -1;
    bool any = false;
    for (int i = 0; i < SERIES_PRIORITIES; i++) {
        any = any || snapshot->sum.xoff[i] + snapshot->sum.xon[i] > 0;
        if (rates->xoff[i] > 0 || rates->paused_ns[i] > 0)
            if (most < 0 || rates->paused_ns[i] > rates->paused_ns[most])
                most = i;
    }
    if (!any) {
        (void)tui_text_set(buf, "pause n/a");
    } else if (most < 0) {
        (void)tui_text_set(buf, "pause 0");
    } else if (snapshot->link_speed_bps == 0) {
        (void)snprintf(buf, TUI_TEXT_MAX, "pause %.8s XOFF %.40s", priority[most],
                       per_second(snapshot, number, rates->xoff[most]));
    } else {
        const double seconds = snapshot->seconds > 0 ? snapshot->seconds : 1;
        (void)snprintf(
            buf, TUI_TEXT_MAX, "pause %.8s %.40s/s", priority[most],
            tui_text_long_time(number, (uint64_t)((double)rates->paused_ns[most] / seconds)));
    }
}

static enum canvas_style bad(uint64_t n, enum canvas_style style)
{
    return n > 0 ? style : STYLE_PLAIN;
}

static void draw_totals(const struct ui *ui, const struct snapshot *snapshot, struct canvas *canvas)
{
    const struct bin *r = &snapshot->rates;
    char a[TUI_TEXT_MAX], b[TUI_TEXT_MAX], c[TUI_TEXT_MAX];
    const bool bytes = ui->settings.units == UNITS_BYTES;
    const double seconds = snapshot->seconds > 0 ? snapshot->seconds : 1;
    const int y = PARTS_TOTALS;
    int x;
    if (snapshot->has_rates)
        x = tui_canvas_printf(canvas, y, 1, STYLE_BOLD, "RoCE %s  %s pps  msgs %s/s",
                              bytes ? tui_text_byte_rate(a, (double)r->bytes / seconds)
                                    : tui_text_bit_rate(a, 8 * (double)r->bytes / seconds),
                              tui_text_rate(b, (double)r->packets / seconds),
                              tui_text_rate(c, (double)r->messages / seconds));
    else
        x = tui_canvas_text(canvas, y, 1, canvas->cols, STYLE_BOLD, "RoCE - b/s  - pps  msgs -");
    x = tui_canvas_printf(canvas, y, x, STYLE_PLAIN, "  QPs %" PRIu32 "/%" PRIu32, snapshot->active,
                          snapshot->all_rows);
    char right[2 * TUI_TEXT_MAX];
    (void)snprintf(right, sizeof(right), "CE %s%%  CNP %s",
                   snapshot->has_rates ? tui_text_percent(a, r->ce, r->data) : "-",
                   per_second(snapshot, b, r->cnps));
    if (x + (int)strlen(right) < canvas->cols)
        tui_canvas_right(canvas, y, canvas->cols - 1, bad(r->ce + r->cnps, STYLE_WARN), right);

    const bool unsure = snapshot->n_drops > 0 && r->dropped > 0;
    const struct {
        const char *name;
        uint64_t n;
        enum canvas_style style;
    } item[] = {
        {unsure ? "gap(unsure)" : "gap", r->gap_events, STYLE_WARN},
        {"dup", r->resent_dup, STYLE_WARN},
        {"rexmit", r->resent, STYLE_WARN},
        {"NAK", r->naks, STYLE_WARN},
        {"RNR", r->rnr_naks, STYLE_WARN},
    };
    x = 1;
    for (size_t i = 0; i < sizeof(item) / sizeof(item[0]); i++)
        x = 2 + tui_canvas_printf(canvas, y + 1, x, bad(item[i].n, item[i].style), "%s %s",
                                  item[i].name, per_second(snapshot, a, item[i].n));
    x = tui_canvas_printf(canvas, y + 1, x, bad(snapshot->sum.icrc_bad, STYLE_ERROR), "badICRC %s",
                          tui_text_count5(a, snapshot->sum.icrc_bad));
    pause_text(snapshot, a);
    if (x + (int)strlen(a) + 1 < canvas->cols)
        tui_canvas_right(canvas, y + 1, canvas->cols - 1, STYLE_PLAIN, a);
}

struct graph_row {
    const char *label;
    bool sparse, applies;
    enum canvas_style style;
};

static double value_of(const struct ui *ui, int graph, const struct bin *bin, double seconds)
{
    switch (graph) {
    case 0:
        return (double)bin->bytes * (ui->settings.units == UNITS_BYTES ? 1 : 8) / seconds / 1e9;
    case 1:
        return bin->data > 0 ? 100.0 * (double)bin->ce / (double)bin->data : 0;
    case 2:
        return (double)bin->cnps / seconds;
    case 3: {
        uint64_t most = 0;
        for (int i = 0; i < SERIES_PRIORITIES; i++)
            most = bin->paused_ns[i] > most ? bin->paused_ns[i] : most;
        return (double)most / seconds;
    }
    default:
        return (double)bin->gap_events / seconds;
    }
}

static void figures(int graph, double value, char *buf)
{
    if (graph == 0)
        (void)tui_text_fixed(buf, value, value < 9.995 ? 2 : 1);
    else if (graph == 1)
        (void)tui_text_fixed(buf, value, 1);
    else if (graph == 3)
        (void)tui_text_time(buf, (uint64_t)value);
    else
        (void)tui_text_rate(buf, value);
}

static void draw_graphs(const struct ui *ui, const struct snapshot *snapshot, struct canvas *canvas,
                        const struct view_overview_layout *l, const struct parts_series *shown)
{
    static const enum canvas_style styles[GRAPHS] = {STYLE_BAR, STYLE_WARN, STYLE_WARN, STYLE_WARN,
                                                     STYLE_ERROR};
    static const char *const labels[GRAPHS] = {"Gb/s", "CE %", "CNP/s", "pause", "gap/s"};
    /* When there is room for few, throughput and gaps say most. */
    static const int order_small[GRAPHS] = {0, 4, 1, 2, 3}, order_full[GRAPHS] = {0, 1, 2, 3, 4};
    const int *order = l->graphs < GRAPHS ? order_small : order_full;
    static double value[GRAPHS][COLS_MAX];
    const double seconds = (double)shown->group_ns / 1e9;
    double max[GRAPHS] = {0}, last[GRAPHS] = {0};
    for (uint32_t i = 0; i < shown->n; i++) {
        const struct bin bin = tui_parts_series_at(shown, i);
        for (int g = 0; g < GRAPHS; g++) {
            value[g][i] = last[g] = value_of(ui, g, &bin, seconds);
            max[g] = last[g] > max[g] ? last[g] : max[g];
        }
    }
    for (int i = 0; i < l->graphs; i++) {
        const int g = order[i], y = PARTS_BODY + i * l->graph_rows;
        char a[TUI_TEXT_MAX], b[TUI_TEXT_MAX], text[2 * TUI_TEXT_MAX + 4];
        (void)tui_canvas_text(canvas, y, 1, LABEL - 1, STYLE_PLAIN,
                              g == 0 && ui->settings.units == UNITS_BYTES ? "GB/s" : labels[g]);
        bool any = false;
        for (int p = 0; p < SERIES_PRIORITIES; p++)
            any = any || snapshot->sum.xoff[p] + snapshot->sum.xon[p] > 0;
        if (g == 3 && (!any || snapshot->link_speed_bps == 0)) {
            tui_canvas_text(canvas, y, LABEL, canvas->cols - LABEL, STYLE_DIM,
                            any ? "n/a without the link speed (--link-speed)"
                                : "n/a: no pause frame was captured");
            continue;
        }
        const struct parts_graph graph = {.y = y,
                                          .x = LABEL,
                                          .rows = l->graph_rows,
                                          .width = canvas->cols - LABEL - FIGURES,
                                          .value = value[g],
                                          .n = shown->n,
                                          .max = max[g],
                                          .lines = ui->settings.graph == GRAPH_LINES,
                                          .log_scale = ui->settings.log_scale,
                                          .sparse = g == 4,
                                          .style = max[g] > 0 ? styles[g] : STYLE_DIM};
        tui_parts_graph(canvas, &graph);
        if (shown->n == 0)
            continue;
        figures(g, last[g], a);
        figures(g, max[g], b);
        (void)snprintf(text, sizeof(text), "%s ^%s", a, b);
        tui_canvas_right(canvas, y, canvas->cols - 1, STYLE_PLAIN, text);
    }
}

static void draw_events(const struct ui *ui, const struct snapshot *snapshot, struct canvas *canvas,
                        const struct view_overview_layout *l)
{
    const struct log *log = &snapshot->log;
    const struct log_entry *newest[CANVAS_ROWS_MAX];
    const uint64_t kept = log->count < LOG_ENTRIES ? log->count : LOG_ENTRIES;
    int n = 0;
    tui_parts_heading(canvas, l->events_y, "EVENTS", "4 = all");
    for (uint64_t i = 1; i <= kept && n < l->events_rows; i++) {
        const struct log_entry *entry = &log->entry[(log->count - i) % LOG_ENTRIES];
        if (view_event_shown(ui, snapshot, entry))
            newest[n++] = entry;
    }
    for (int i = 0; i < n; i++)
        tui_parts_event(snapshot, canvas, l->events_y + 1 + i, newest[n - 1 - i], true, false);
    if (n == 0)
        (void)tui_canvas_text(canvas, l->events_y + 1, 1, canvas->cols - 1, STYLE_DIM,
                              "none so far at this level (4, then l: lower the level)");
}

void view_overview(const struct ui *ui, const struct snapshot *snapshot, struct canvas *canvas)
{
    const struct view_overview_layout l = view_overview_layout(canvas->rows, ui->n_order);
    char text[64], heading[160];
    int width = canvas->cols - LABEL - FIGURES;
    width = width < COLS_MAX ? width : COLS_MAX;
    const struct parts_series shown = tui_parts_series(snapshot, width, text);
    draw_totals(ui, snapshot, canvas);
    tui_parts_tabs(ui, canvas, PARTS_TABS, text);
    draw_graphs(ui, snapshot, canvas, &l, &shown);
    (void)snprintf(heading, sizeof(heading), "WORST QPs by %s%s", tui_table_column(ui->sort)->title,
                   ui->inverted ? " (inverted)" : "");
    tui_parts_heading(canvas, l.table_y, heading,
                      l.events_rows == 0 ? "small: 4 shows events" : "2 = all");
    tui_parts_table_head(ui, canvas, l.table_y + 1, true);
    if (ui->n_order == 0)
        (void)tui_canvas_text(canvas, l.table_y + 2, 2, canvas->cols - 2, STYLE_DIM,
                              snapshot->totals.packets == 0 ? "no frames yet"
                              : snapshot->all_rows == 0
                                  ? "no RoCE so far"
                                  : "no QP passes the filter (F4 changes it)");
    for (int i = 0; i < l.table_rows; i++) {
        const uint32_t at = ui->top + (uint32_t)i;
        if (at >= ui->n_order)
            break;
        tui_parts_table_row(ui, snapshot, canvas, l.table_y + 2 + i, &snapshot->row[ui->order[at]],
                            true, at == ui->cursor_at);
    }
    if (l.events_rows > 0)
        draw_events(ui, snapshot, canvas, &l);
}
