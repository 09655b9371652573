/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Messages of one QP: latencies, resends, losses, congestion. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "text.h"
#include "view_qp.h"

static void append(char *line, size_t size, const char *name, uint64_t n)
{
    const size_t used = strlen(line);
    if (n > 0)
        (void)snprintf(line + used, size - used, "%s%s %" PRIu64, used > 0 ? ", " : "", name, n);
}

static void draw_pair(struct canvas *canvas, int y, const char *label, const char *text,
                      enum canvas_style style)
{
    (void)tui_canvas_text(canvas, y, 1, 14, STYLE_PLAIN, label);
    (void)tui_canvas_text(canvas, y, 16, canvas->cols - 16, style, text);
}

static int draw_facts(const struct snapshot *snapshot, struct canvas *canvas, int y)
{
    const struct snap_detail *detail = &snapshot->detail;
    const struct snap_row *row = &detail->row;
    const struct roce_congestion *c = &detail->congestion;
    char line[256] = "", a[TUI_TEXT_MAX], b[TUI_TEXT_MAX];
    for (int i = 0; i < ROCE_CAUSE_COUNT; i++)
        append(line, sizeof(line), roce_cause_name((enum roce_cause)i), detail->episodes[i]);
    char text[384];
    (void)snprintf(text, sizeof(text), "%" PRIu64 " frames%s%s", row->resent,
                   line[0] != '\0' ? "; restarts by cause: " : "", line);
    draw_pair(canvas, y++, "resent", row->has_track ? text : "-",
              row->resent > 0 ? STYLE_WARN : STYLE_PLAIN);
    line[0] = '\0';
    static const char *const places[ROCE_LOST_COUNT] = {"before the mirror", "behind the mirror",
                                                        "by the capture only", "place unknown"};
    for (int i = 0; i < ROCE_LOST_COUNT; i++)
        append(line, sizeof(line), places[i], detail->loss[i]);
    draw_pair(canvas, y++, "lost", line[0] != '\0' ? line : "nothing known to be lost",
              row->lost > 0 ? STYLE_ERROR : STYLE_PLAIN);
    (void)snprintf(text, sizeof(text),
                   "%" PRIu64 " gaps, %" PRIu64 " PSNs; %" PRIu64 " late but not resent",
                   row->gap_events, row->gap_psns, row->out_of_order);
    draw_pair(canvas, y++, "gaps", row->has_track ? text : "-",
              row->gap_events > 0 ? STYLE_WARN : STYLE_PLAIN);
    if (c->has_cnp)
        (void)snprintf(
            text, sizeof(text),
            "%" PRIu64 " marks CE (%s%%), %" PRIu64 " CNPs, %" PRIu64
            " runs unanswered; CE to CNP p50 %s",
            c->ce, tui_text_percent(a, c->ce, row->packets - row->cnps), c->cnps,
            c->ce_runs_unanswered,
            c->has_quantiles && c->cnp_delay.count > 0 ? tui_text_time(b, c->cnp_delay.p50) : "-");
    else
        (void)snprintf(text, sizeof(text), "%" PRIu64 " marks CE (%s%%); CNPs n/a", row->ce,
                       tui_text_percent(a, row->ce, row->packets - row->cnps));
    draw_pair(canvas, y++, "congestion", text, row->ce > 0 ? STYLE_WARN : STYLE_PLAIN);
    if (c->rate_measured > 0) {
        (void)snprintf(text, sizeof(text),
                       "fell after %" PRIu64 " of %" PRIu64 " CNPs: %s before, %s behind",
                       c->rate_fell, c->rate_measured, tui_text_bytes(a, c->rate_before_bps / 8),
                       tui_text_bytes(b, c->rate_after_bps / 8));
        draw_pair(canvas, y++, "rate per s", text, STYLE_PLAIN);
    }
    return y;
}

void view_messages(const struct ui *ui, const struct snapshot *snapshot, struct canvas *canvas)
{
    const struct snap_detail *detail = &snapshot->detail;
    const int columns = canvas->cols >= 72 ? 2 : 1;
    (void)ui;
    int y = draw_facts(snapshot, canvas, 3);
    const int left = canvas->rows - 1 - y - 2;
    int rows = left / 2;
    rows = rows > 22 ? 22 : rows;
    tui_qp_latency_heading(canvas, y, "message latency, first pkt > ack", &detail->latency);
    tui_qp_histogram(canvas, y + 1, rows, columns, &detail->latency);
    y += 1 + rows;
    if (left - rows < 2)
        return;
    tui_qp_latency_heading(canvas, y, "ACK latency, AckReq > ack", &detail->ack);
    tui_qp_histogram(canvas, y + 1, left - rows, columns, &detail->ack);
}
