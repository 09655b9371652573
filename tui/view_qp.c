/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One QP: its line, its tabs, and the message latencies. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "text.h"
#include "view_qp.h"

const char *tui_qp_frame_word(const struct snap_frame *frame)
{
    const struct ring_record *r = &frame->record;
    if ((r->flags & ROCE_V_GAP) != 0)
        return "GAP";
    if ((r->flags & ROCE_V_EPISODE) != 0)
        return "RESTART";
    if ((r->flags & ROCE_V_RETRANSMITTED) != 0)
        return "rexmit";
    if ((r->flags & ROCE_V_READ_RESPONSE_GAP) != 0)
        return "RESPONSE GAP";
    if (r->op == ROCE_OP_ACK && r->has_bth) {
        const enum roce_aeth_kind kind = roce_aeth_kind(r->syndrome);
        if (kind == ROCE_AETH_NAK)
            return "NAK";
        if (kind == ROCE_AETH_RNR_NAK)
            return "RNR NAK";
    }
    if (r->icrc_bad)
        return "bad ICRC";
    if ((r->flags & ROCE_V_MIRROR_DUP) != 0)
        return "mirror copy";
    if (r->op == ROCE_OP_CNP)
        return "CNP";
    return "";
}

bool tui_qp_frame_matters(const struct snap_frame *frame)
{
    const uint32_t flags = ROCE_V_GAP | ROCE_V_EPISODE | ROCE_V_READ_RESPONSE_GAP;
    const struct ring_record *r = &frame->record;
    if ((r->flags & flags) != 0 || r->icrc_bad)
        return true;
    return r->op == ROCE_OP_ACK && r->has_bth && roce_aeth_kind(r->syndrome) != ROCE_AETH_ACK;
}

static void draw_line(const struct snapshot *snapshot, const struct settings *settings,
                      struct canvas *canvas, int y)
{
    const struct snap_row *row = &snapshot->detail.row;
    char a[TUI_TEXT_MAX], b[TUI_TEXT_MAX], service[TUI_TEXT_MAX], line[512];
    (void)tui_table_text(snapshot, row, COLUMN_TYPE, 4, settings, service);
    int n = snprintf(line, sizeof(line), "QP %06" PRIx32 " %s %s %s:%u > %s", row->dest_qp, service,
                     row->op, tui_text_addr(a, row->src, row->ip_version, 45), row->udp_sport,
                     tui_text_addr(b, row->dst, row->ip_version, 45));
    if (row->has_src_qp)
        n += snprintf(line + n, sizeof(line) - (size_t)n, " peer %06" PRIx32, row->src_qp);
    if (row->path_mtu > 0)
        n += snprintf(line + n, sizeof(line) - (size_t)n, " mtu %" PRIu32, row->path_mtu);
    (void)snprintf(line + n, sizeof(line) - (size_t)n, " DSCP %u", row->dscp);
    (void)tui_canvas_text(canvas, y, 1, canvas->cols - 1, STYLE_BOLD, line);
}

static void draw_tabs(const struct ui *ui, const struct snapshot *snapshot, struct canvas *canvas,
                      int y)
{
    static const char *const names[] = {"d:PSN/time", "m:Messages", "r:Headers"};
    char a[TUI_TEXT_MAX], right[128] = "";
    tui_canvas_rule(canvas, y, 0, canvas->cols);
    int x = 1;
    for (int i = 0; i <= TAB_HEADERS; i++)
        x = 1 + tui_canvas_text(canvas, y, x, canvas->cols - x,
                                (int)ui->tab == i ? STYLE_CURSOR : STYLE_PLAIN, names[i]);
    if (ui->tab == TAB_PSN && ui->until > ui->from)
        (void)snprintf(right, sizeof(right), "%s, < > zoom, arrows move",
                       tui_text_long_time(a, ui->until - ui->from));
    else if (ui->tab == TAB_HEADERS)
        (void)snprintf(right, sizeof(right), "%" PRIu32 " frames%s", snapshot->detail.frames,
                       snapshot->detail.more ? ", older ones are gone" : "");
    if (x + (int)strlen(right) < canvas->cols)
        tui_canvas_right(canvas, y, canvas->cols - 1, STYLE_PLAIN, right);
}

/* Sums of the octaves of |hist|; returns the first and last that are not empty. */
static bool octaves(const struct roce_hist *hist, uint64_t sum[ROCE_HIST_OCTAVES], int *first,
                    int *last)
{
    *first = -1;
    for (int i = 0; i < ROCE_HIST_OCTAVES; i++) {
        sum[i] = 0;
        for (int j = 0; j < ROCE_HIST_SUB; j++)
            sum[i] += hist->bucket[i * ROCE_HIST_SUB + j];
        if (sum[i] == 0)
            continue;
        if (*first < 0)
            *first = i;
        *last = i;
    }
    return *first >= 0;
}

/* Bucket |i| of octave sums begins at 2^(i+4), the first at 0. */
static uint64_t octave_begin(int i)
{
    return i == 0 ? 0 : UINT64_C(1) << (i + 4);
}

static uint64_t octaves_from(const uint64_t sum[ROCE_HIST_OCTAVES], int first, int count)
{
    uint64_t n = 0;
    for (int i = first; i < first + count && i < ROCE_HIST_OCTAVES; i++)
        n += sum[i];
    return n;
}

void tui_qp_histogram(struct canvas *canvas, int y, int rows, int columns,
                      const struct roce_hist *hist)
{
    uint64_t sum[ROCE_HIST_OCTAVES], most = 1;
    int first, last, place = 0;
    if (rows < 1 || !octaves(hist, sum, &first, &last))
        return;
    const int places = rows * columns;
    const int step = (last - first + places) / places;
    const int width = canvas->cols / columns;
    const int bar = width > 20 ? width - 19 : 1;
    for (int i = first; i <= last; i += step) {
        const uint64_t n = octaves_from(sum, i, step);
        most = n > most ? n : most;
    }
    for (int i = first; i <= last; i += step, place++) {
        char text[TUI_TEXT_MAX];
        const int x = place / rows * width, row = y + place % rows;
        const uint64_t n = octaves_from(sum, i, step);
        const double eighths = (double)n * bar * 8 / (double)most;
        tui_canvas_right(canvas, row, x + 8, STYLE_PLAIN, tui_text_time(text, octave_begin(i)));
        if (n > 0)
            tui_canvas_bar(canvas, row, x + 9, bar, eighths > 1 ? (int64_t)eighths : 1, STYLE_BAR);
        (void)snprintf(text, sizeof(text), "%" PRIu64, n);
        tui_canvas_right(canvas, row, x + width - 1, n > 0 ? STYLE_PLAIN : STYLE_DIM, text);
    }
}

void tui_qp_latency_heading(struct canvas *canvas, int y, const char *what,
                            const struct roce_hist *hist)
{
    char a[TUI_TEXT_MAX], b[TUI_TEXT_MAX], c[TUI_TEXT_MAX], heading[192];
    if (hist->count == 0)
        (void)snprintf(heading, sizeof(heading), "%s: none seen", what);
    else
        (void)snprintf(heading, sizeof(heading), "%s: %" PRIu64 ", p50 %s p99 %s max %s", what,
                       hist->count, tui_text_time(a, roce_hist_quantile(hist, 500)),
                       tui_text_time(b, roce_hist_quantile(hist, 990)),
                       tui_text_time(c, hist->max));
    tui_parts_heading(canvas, y, heading, "");
}

void view_qp(const struct ui *ui, const struct snapshot *snapshot, struct canvas *canvas)
{
    if (!snapshot->detail.valid) {
        (void)tui_canvas_text(canvas, 2, 1, canvas->cols - 1, STYLE_DIM,
                              ui->open.id == ROCE_FLOW_NONE ? "no QP is open"
                                                            : "this QP is gone, or not yet there");
        return;
    }
    draw_line(snapshot, &ui->settings, canvas, 1);
    draw_tabs(ui, snapshot, canvas, 2);
    switch (ui->tab) {
    case TAB_PSN:
        view_psn(ui, snapshot, canvas);
        break;
    case TAB_MESSAGES:
        view_messages(ui, snapshot, canvas);
        break;
    case TAB_HEADERS:
        view_headers(ui, snapshot, canvas);
        break;
    }
}
