/* SPDX-License-Identifier: GPL-2.0-or-later */
/* PFC: which priority is paused, by whom, for how long. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "text.h"
#include "view_parts.h"

enum { GRAPH_X = 40, DSCP_WIDTH = 6, PRIORITIES = 8 };

int view_priority_dscp(const struct snapshot *snapshot, uint8_t priority)
{
    uint64_t frames[ROCE_DSCP_COUNT] = {0};
    int most = -1;
    for (uint32_t i = 0; i < snapshot->n_rows; i++) {
        const struct snap_row *row = &snapshot->row[i];
        if ((row->has_vlan ? row->pcp : row->dscp >> 3) == priority)
            frames[row->dscp] += row->packets;
    }
    for (int i = 0; i < ROCE_DSCP_COUNT; i++)
        if (frames[i] > 0 && (most < 0 || frames[i] > frames[most]))
            most = i;
    return most;
}

static bool any_pause(const struct snapshot *snapshot)
{
    return snapshot->n_pauses > 0 || snapshot->totals.pfc_packets > 0 ||
           snapshot->totals.pause_packets > 0;
}

static void draw_line(const struct snapshot *snapshot, struct canvas *canvas)
{
    uint64_t longest = 0, storms = 0, pauses = 0;
    uint32_t senders = 0;
    char a[TUI_TEXT_MAX], b[TUI_TEXT_MAX];
    for (uint32_t i = 0; i < snapshot->n_pauses; i++) {
        const struct roce_pause_entry *entry = &snapshot->pause[i];
        bool seen = false;
        for (uint32_t j = 0; j < i && !seen; j++)
            seen = memcmp(snapshot->pause[j].mac, entry->mac, 6) == 0;
        senders += !seen;
        longest = entry->longest_ns > longest ? entry->longest_ns : longest;
        storms += entry->storms;
        pauses += entry->priority == ROCE_PAUSE_PRIORITY ? entry->xoff : 0;
    }
    if (!any_pause(snapshot)) {
        (void)tui_canvas_text(
            canvas, 1, 1, canvas->cols - 1, STYLE_PLAIN,
            "PFC n/a: no 0x8808 frame was captured, which does not say that none was sent");
        return;
    }
    uint64_t frames = 0;
    for (int i = 0; i < SERIES_PRIORITIES; i++)
        frames += snapshot->rates.xoff[i] + snapshot->rates.xon[i];
    if (snapshot->over)
        (void)snprintf(
            a, sizeof(a), "%s frames",
            tui_text_count5(b, snapshot->totals.pfc_packets + snapshot->totals.pause_packets));
    else if (snapshot->has_rates)
        (void)snprintf(a, sizeof(a), "%s/s", tui_text_rate(b, (double)frames / snapshot->seconds));
    else
        (void)tui_text_set(a, "-");
    const bool timed = snapshot->link_speed_bps != 0;
    (void)tui_canvas_printf(
        canvas, 1, 1, STYLE_PLAIN,
        "PFC %s from %" PRIu32 " sender%s  global PAUSE %" PRIu64 "  longest %s", a, senders,
        senders == 1 ? "" : "s", pauses, timed ? tui_text_long_time(b, longest) : "n/a");
    if (!timed)
        (void)tui_text_set(a, "storm: n/a");
    else if (storms == 0)
        (void)tui_text_set(a, "storm: none");
    else
        (void)snprintf(a, sizeof(a), "STORMS: %" PRIu64, storms);
    tui_canvas_right(canvas, 1, canvas->cols - 1, storms > 0 ? STYLE_ERROR : STYLE_PLAIN, a);
}

/* Rows of the table of one priority, summed over senders. */
static void draw_priority(const struct ui *ui, const struct snapshot *snapshot,
                          struct canvas *canvas, int y, uint8_t priority,
                          const struct parts_series *shown)
{
    static double value[CANVAS_COLS_MAX];
    char text[TUI_TEXT_MAX];
    uint64_t longest = 0;
    bool known = any_pause(snapshot);
    const bool timed = known && snapshot->link_speed_bps != 0;
    for (uint32_t i = 0; i < snapshot->n_pauses; i++)
        if (snapshot->pause[i].priority == priority && snapshot->pause[i].longest_ns > longest)
            longest = snapshot->pause[i].longest_ns;
    const struct bin *r = &snapshot->rates;
    const double seconds = snapshot->seconds > 0 ? snapshot->seconds : 1;
    const bool selected = ui->priority_at == priority;
    tui_canvas_put(canvas, y, 0, selected ? '>' : ' ', STYLE_PLAIN);
    tui_canvas_put(canvas, y, 1, '0' + priority, STYLE_BOLD);
    const double scale = snapshot->over ? 1 : seconds;
    tui_canvas_right(canvas, y, 13, r->xoff[priority] > 0 ? STYLE_WARN : STYLE_PLAIN,
                     !known                 ? "n/a"
                     : !snapshot->has_rates ? "-"
                                            : tui_text_rate(text, r->xoff[priority] / scale));
    tui_canvas_right(canvas, y, 20, STYLE_PLAIN,
                     !known                 ? "n/a"
                     : !snapshot->has_rates ? "-"
                                            : tui_text_rate(text, r->xon[priority] / scale));
    if (timed && snapshot->has_rates)
        (void)snprintf(text, sizeof(text), "%.1f%%",
                       (double)r->paused_ns[priority] / seconds / 1e7);
    else
        (void)tui_text_set(text, known && timed ? "-" : "n/a");
    tui_canvas_right(canvas, y, 28, STYLE_PLAIN, text);
    tui_canvas_right(canvas, y, 36, STYLE_PLAIN,
                     !timed         ? "n/a"
                     : longest == 0 ? "-"
                                    : tui_text_time(text, longest));
    double max = 0;
    for (uint32_t i = 0; i < shown->n; i++) {
        const struct bin bin = tui_parts_series_at(shown, i);
        value[i] = timed ? (double)bin.paused_ns[priority] : (double)bin.xoff[priority];
        max = value[i] > max ? value[i] : max;
    }
    const struct parts_graph graph = {.y = y,
                                      .x = GRAPH_X - 2,
                                      .rows = 1,
                                      .width = canvas->cols - GRAPH_X - DSCP_WIDTH + 2,
                                      .value = value,
                                      .n = known ? shown->n : 0,
                                      .max = max,
                                      .lines = ui->settings.graph == GRAPH_LINES,
                                      .log_scale = ui->settings.log_scale,
                                      .style = max > 0 ? STYLE_WARN : STYLE_DIM};
    tui_parts_graph(canvas, &graph);
    const int dscp = view_priority_dscp(snapshot, priority);
    if (dscp >= 0)
        (void)snprintf(text, sizeof(text), "%d", dscp);
    else
        (void)tui_text_set(text, "-");
    tui_canvas_right(canvas, y, canvas->cols - 1, STYLE_PLAIN, text);
}

static void draw_senders(const struct ui *ui, const struct snapshot *snapshot,
                         struct canvas *canvas, int y, int end)
{
    (void)ui;
    tui_canvas_rule(canvas, y++, 0, canvas->cols);
    if (snapshot->n_pauses == 0)
        return;
    (void)tui_canvas_printf(canvas, y++, 1, STYLE_BOLD, "%-17s  PRIO %6s %6s %8s %11s %7s LAST",
                            "SENDER MAC", "XOFF", "XON", "REFRESH", "MAX QUANTA", "PAUSED");
    /* The selected priority first. */
    for (int pass = 0; pass < 2; pass++) {
        for (uint32_t i = 0; i < snapshot->n_pauses && y < end; i++) {
            const struct roce_pause_entry *e = &snapshot->pause[i];
            char mac[TUI_TEXT_MAX], a[TUI_TEXT_MAX], b[TUI_TEXT_MAX], c[TUI_TEXT_MAX],
                d[TUI_TEXT_MAX], when[TUI_TEXT_MAX], prio[8];
            if ((e->priority == ui->priority_at) == (pass == 1))
                continue;
            (void)snprintf(prio, sizeof(prio), e->priority == ROCE_PAUSE_PRIORITY ? "all" : "%u",
                           e->priority);
            (void)tui_canvas_printf(canvas, y++, 1, e->storms > 0 ? STYLE_ERROR : STYLE_PLAIN,
                                    "%-17s  %-4s %6s %6s %8s      0x%04x %7s %s",
                                    tui_text_mac(mac, e->mac), prio, tui_text_count5(a, e->xoff),
                                    tui_text_count5(b, e->xon), tui_text_count5(c, e->refresh),
                                    e->quanta_max,
                                    e->has_paused ? tui_text_time(d, e->paused_ns) : "n/a",
                                    tui_text_clock(when, e->last_ts, 3));
        }
    }
}

void view_pfc(const struct ui *ui, const struct snapshot *snapshot, struct canvas *canvas)
{
    char text[64], a[TUI_TEXT_MAX];
    const struct parts_series shown =
        tui_parts_series(snapshot, canvas->cols - GRAPH_X - DSCP_WIDTH + 2, text);
    draw_line(snapshot, canvas);
    tui_parts_tabs(ui, canvas, 2, text);
    (void)tui_canvas_text(canvas, 3, 0, canvas->cols, STYLE_BOLD,
                          snapshot->over ? " PRIO   XOFF    XON  paused longest  "
                                         : " PRIO XOFF/s  XON/s  paused longest  ");
    (void)tui_canvas_text(canvas, 3, GRAPH_X - 2, canvas->cols - GRAPH_X - DSCP_WIDTH, STYLE_BOLD,
                          snapshot->link_speed_bps != 0 ? "paused ms per s" : "XOFF");
    tui_canvas_right(canvas, 3, canvas->cols - 1, STYLE_BOLD, "DSCP");
    for (int i = 0; i < PRIORITIES; i++)
        draw_priority(ui, snapshot, canvas, 4 + i, (uint8_t)i, &shown);
    int notes = canvas->rows - 5;
    if (notes < 15)
        notes = canvas->rows;
    draw_senders(ui, snapshot, canvas, 12, notes < canvas->rows ? notes - 1 : canvas->rows - 1);
    if (notes == canvas->rows)
        return;
    if (snapshot->link_speed_bps != 0) {
        const double gigabits = (double)snapshot->link_speed_bps / 1e9;
        (void)snprintf(a, sizeof(a), "%.*f", gigabits == (double)(int)gigabits ? 0 : 1, gigabits);
        (void)tui_canvas_printf(canvas, notes, 1, STYLE_DIM,
                                "1 quantum = 512 bit times; speed %sG (--link-speed overrides)", a);
    } else {
        (void)tui_canvas_text(
            canvas, notes, 1, canvas->cols - 1, STYLE_DIM,
            "1 quantum = 512 bit times; times need the link's speed: --link-speed");
    }
    (void)tui_canvas_text(
        canvas, notes + 1, 1, canvas->cols - 1, STYLE_DIM,
        "PFC is link-local: a mirror shows it only if the switch mirrors MAC control");
    (void)tui_canvas_text(canvas, notes + 2, 1, canvas->cols - 1, STYLE_DIM,
                          "frames. No 0x8808 frame seen at all is shown as n/a, never as 0.");
}
