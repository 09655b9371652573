/* SPDX-License-Identifier: GPL-2.0-or-later */
/* QPs: the whole table, and what is known of the selected one. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "text.h"
#include "view_parts.h"

enum { PANE_ROWS = 5 };

static bool has_pane(int rows)
{
    return rows >= 20;
}

struct view_list view_list(const struct ui *ui)
{
    const int last = ui->rows - 1;
    struct view_list list = {PARTS_BODY + 1, 1};
    switch (ui->screen) {
    case SCREEN_OVERVIEW: {
        const struct view_overview_layout l = view_overview_layout(ui->rows, ui->n_order);
        list = (struct view_list){l.table_y + 2, l.table_rows};
        break;
    }
    case SCREEN_QPS: /* totals take one row here, the notes one */
        list.y = PARTS_BODY;
        list.rows = last - list.y - (has_pane(ui->rows) ? PANE_ROWS + 2 : 0);
        break;
    case SCREEN_EVENTS:
        list.y = PARTS_BODY;
        list.rows = last - list.y - 2;
        break;
    case SCREEN_HOSTS:
        list.y = PARTS_BODY;
        list.rows = (last - list.y) / 2;
        break;
    case SCREEN_PFC:
        list.y = PARTS_BODY;
        list.rows = 8;
        break;
    case SCREEN_QP:
        list.y = PARTS_BODY - 1;
        list.rows = (last - list.y) / 2;
        break;
    }
    list.rows = list.rows < 1 ? 1 : list.rows;
    return list;
}

static void draw_line(const struct ui *ui, const struct snapshot *snapshot, struct canvas *canvas)
{
    char left[UI_TEXT_LEN + 128];
    int n = snprintf(left, sizeof(left), "QPs %" PRIu32 " active/%" PRIu32 "  marked %" PRIu32,
                     snapshot->active, snapshot->all_rows, ui->marks);
    if (snapshot->n_rows < snapshot->all_rows)
        n += snprintf(left + n, sizeof(left) - (size_t)n, "  shown: the %" PRIu32 " busiest",
                      snapshot->n_rows);
    if (snapshot->stats.evicted > 0)
        n += snprintf(left + n, sizeof(left) - (size_t)n, "  evicted %" PRIu64,
                      snapshot->stats.evicted);
    if (snapshot->stats.ended > 0)
        n +=
            snprintf(left + n, sizeof(left) - (size_t)n, "  ended %" PRIu64, snapshot->stats.ended);
    (void)snprintf(left + n, sizeof(left) - (size_t)n, "  filter: %s",
                   ui->filter[0] != '\0' ? ui->filter : "-");
    char right[96];
    (void)snprintf(right, sizeof(right), "sort: %s %c  order: %s",
                   tui_table_column(ui->sort)->title, ui->inverted ? '^' : 'v',
                   ui->settings.order == ORDER_FROZEN ? "frozen" : "live");
    const int room = canvas->cols - (int)strlen(right) - 2;
    (void)tui_canvas_text(canvas, 1, 1, room - 1, STYLE_PLAIN, left);
    tui_canvas_right(canvas, 1, canvas->cols - 1, STYLE_PLAIN, right);
}

/* The newest gap of the flow, and the NAK that asked for it. */
static void last_gap(const struct snapshot *snapshot, const struct snap_row *row, char *buf,
                     size_t size)
{
    const struct log *log = &snapshot->log;
    const uint64_t kept = log->count < LOG_ENTRIES ? log->count : LOG_ENTRIES;
    const struct log_entry *gap = NULL, *nak = NULL, *resent = NULL;
    for (uint64_t i = 1; i <= kept && gap == NULL; i++) {
        const struct log_entry *entry = &log->entry[(log->count - i) % LOG_ENTRIES];
        if (!entry->has_flow || entry->flow != row->id)
            continue;
        if (entry->type == LOG_TYPE_GAP)
            gap = entry;
        else if (entry->type == LOG_TYPE_NAK)
            nak = entry;
        else if (entry->type == LOG_TYPE_RESENT)
            resent = entry;
    }
    char a[TUI_TEXT_MAX];
    if (gap == NULL) {
        (void)snprintf(buf, size, "%s",
                       !row->has_track       ? "no request track: gaps cannot be seen in this flow"
                       : row->gap_events > 0 ? "the gaps are older than the list of events"
                                             : "no gap");
        return;
    }
    int n = snprintf(buf, size, "last gap psn %" PRIu32 " (%" PRIu64 ") at %s, frame %" PRIu64,
                     gap->psn, gap->count, tui_text_clock(a, gap->ts, 3), gap->frame);
    if (nak != NULL && nak->ts >= gap->ts)
        n += snprintf(buf + n, size - (size_t)n, ", NAK +%s",
                      tui_text_long_time(a, nak->ts - gap->ts));
    if (resent != NULL && resent->ts >= gap->ts)
        (void)snprintf(buf + n, size - (size_t)n, ", resent +%s",
                       tui_text_long_time(a, resent->ts - gap->ts));
}

static uint64_t drops_at(const struct snapshot *snapshot, roce_tstamp ts)
{
    for (uint32_t i = 0; i < snapshot->n_drops; i++)
        if (ts >= snapshot->drops[i].from && ts < snapshot->drops[i].until)
            return snapshot->drops[i].count;
    return 0;
}

static void draw_pane(const struct ui *ui, const struct snapshot *snapshot, struct canvas *canvas,
                      int y, const struct snap_row *row)
{
    char a[TUI_TEXT_MAX], b[TUI_TEXT_MAX], c[TUI_TEXT_MAX], line[512];
    (void)ui;
    (void)snprintf(a, sizeof(a), "%06" PRIx32, row->dest_qp);
    tui_parts_heading(canvas, y, a, "Enter opens it");
    char service[TUI_TEXT_MAX];
    (void)tui_table_text(snapshot, row, COLUMN_TYPE, 4, &ui->settings, service);
    int n = snprintf(line, sizeof(line), "%s %s  %s:%u > %s:4791", service,
                     row->service == ROCE_SERVICE_UD ? "" : row->op,
                     tui_text_addr(a, row->src, row->ip_version, 45), row->udp_sport,
                     tui_text_addr(b, row->dst, row->ip_version, 45));
    if (row->has_src_qp)
        n += snprintf(line + n, sizeof(line) - (size_t)n, "  peer QP %06" PRIx32 " (%s)",
                      row->src_qp,
                      row->pairing == ROCE_PAIRING_CM    ? "cm"
                      : row->pairing == ROCE_PAIRING_PSN ? "inferred"
                                                         : "DETH");
    else
        n += snprintf(line + n, sizeof(line) - (size_t)n, "  peer QP unknown");
    if (row->path_mtu > 0)
        (void)snprintf(line + n, sizeof(line) - (size_t)n, "  mtu %" PRIu32, row->path_mtu);
    (void)tui_canvas_text(canvas, y + 1, 1, canvas->cols - 1, STYLE_PLAIN, line);

    n = 0;
    if (row->has_track)
        n = snprintf(line, sizeof(line), "psn %" PRIu32 "..%" PRIu32 "  ", row->first_psn,
                     row->next_psn);
    n += snprintf(
        line + n, sizeof(line) - (size_t)n, "msgs %s  %s  CE %s%%  DSCP %u p%u  ttl %u  vlan ",
        row->peer != ROCE_FLOW_NONE ? tui_text_count5(a, row->messages) : "-",
        tui_text_bytes(b, row->bytes), tui_text_percent(c, row->ce, row->packets - row->cnps),
        row->dscp, row->has_vlan ? row->pcp : row->dscp >> 3, row->ttl);
    if (row->has_vlan)
        (void)snprintf(line + n, sizeof(line) - (size_t)n, "%u", row->vlan);
    else
        (void)snprintf(line + n, sizeof(line) - (size_t)n, "-");
    (void)tui_canvas_text(canvas, y + 2, 1, canvas->cols - 1, STYLE_PLAIN, line);

    last_gap(snapshot, row, line, sizeof(line));
    (void)tui_canvas_text(canvas, y + 3, 1, canvas->cols - 1,
                          row->gap_events > 0 && row->has_track ? STYLE_WARN : STYLE_PLAIN, line);
    if (row->sampled)
        (void)tui_canvas_text(
            canvas, y + 4, 1, canvas->cols - 1, STYLE_WARN,
            "most frames are missing regularly: the mirror samples, gaps mean nothing");
    else if (ui->status.has_drops)
        (void)tui_canvas_printf(
            canvas, y + 4, 1, STYLE_DIM,
            "GAP = PSNs not seen on this port; capture drops in the same second: "
            "%" PRIu64,
            drops_at(snapshot, row->last_ts));
    else
        (void)tui_canvas_text(
            canvas, y + 4, 1, canvas->cols - 1, STYLE_DIM,
            "GAP = PSNs not seen on this port; what the capture dropped is not known");
}

void view_qps(const struct ui *ui, const struct snapshot *snapshot, struct canvas *canvas)
{
    const struct view_list list = view_list(ui);
    const int shown = view_columns_shown(ui);
    char right[64];
    draw_line(ui, snapshot, canvas);
    const bool cut = ui->first_column + shown < ui->columns;
    (void)snprintf(right, sizeof(right), "cols %d-%d of %d %s", ui->first_column + 1,
                   ui->first_column + shown, ui->columns,
                   cut                    ? ">"
                   : ui->first_column > 0 ? "<"
                                          : "");
    tui_parts_tabs(ui, canvas, 2, right);
    tui_parts_table_head(ui, canvas, 3, false);
    bool one_way = false, cut_address = false;
    for (int i = 0; i < list.rows; i++) {
        const uint32_t at = ui->top + (uint32_t)i;
        if (at >= ui->n_order)
            break;
        const struct snap_row *row = &snapshot->row[ui->order[at]];
        tui_parts_table_row(ui, snapshot, canvas, list.y + i, row, false, at == ui->cursor_at);
        one_way = one_way || row->one_way;
        cut_address = cut_address || row->ip_version == 6;
    }
    if (ui->n_order == 0)
        (void)tui_canvas_text(canvas, list.y, 2, canvas->cols - 2, STYLE_DIM,
                              snapshot->all_rows == 0 ? "no RoCE so far"
                                                      : "no QP passes the filter (F4 changes it)");
    if (!has_pane(canvas->rows))
        return;
    const int y = list.y + list.rows;
    int x = 1;
    if (one_way)
        x = 3 + tui_canvas_text(canvas, y, x, canvas->cols - x, STYLE_DIM,
                                "? = one direction only on this port (asymmetric mirror)");
    if (cut_address && !ui->settings.wide)
        (void)tui_canvas_text(canvas, y, x, canvas->cols - x, STYLE_DIM, "~ = cut, w widens");
    if (ui->n_order > 0)
        draw_pane(ui, snapshot, canvas, y + 1, &snapshot->row[ui->order[ui->cursor_at]]);
}
