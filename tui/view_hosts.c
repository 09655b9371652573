/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Hosts: who talks how much, and what the NIC of the selected one should have counted. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "text.h"
#include "view_parts.h"

enum { ADDR_WIDTH = 24 };

static void draw_host(const struct ui *ui, const struct snapshot *snapshot, struct canvas *canvas,
                      int y, const struct roce_host *host, bool selected)
{
    char addr[TUI_TEXT_MAX], a[TUI_TEXT_MAX], b[TUI_TEXT_MAX], c[TUI_TEXT_MAX], d[TUI_TEXT_MAX];
    const double unit = ui->settings.units == UNITS_BYTES ? 8e9 : 1e9;
    double out = 0, in = 0;
    for (uint32_t i = 0; i < snapshot->n_rows; i++) {
        const struct snap_row *row = &snapshot->row[i];
        if (memcmp(row->src, host->addr, 16) == 0)
            out += row->bps;
        if (memcmp(row->dst, host->addr, 16) == 0)
            in += row->bps;
    }
    const bool rates = snapshot->has_rates;
    (void)tui_canvas_printf(
        canvas, y, 0, selected ? STYLE_CURSOR : STYLE_PLAIN,
        "%c %-*s %5" PRIu32 " %5" PRIu32 " %8s %8s %8s %8s", selected ? '>' : ' ', ADDR_WIDTH,
        tui_text_addr(addr, host->addr, host->ip_version, ADDR_WIDTH), host->flows_out,
        host->flows_in, rates ? tui_text_fixed(a, out / unit, 2) : "-",
        rates ? tui_text_fixed(b, in / unit, 2) : "-", tui_text_count5(c, host->packets_out),
        tui_text_count5(d, host->packets_in));
    if (selected)
        tui_canvas_style(canvas, y, 0, canvas->cols, STYLE_CURSOR);
}

static void draw_counters(struct canvas *canvas, int y, int end, const struct roce_host *host)
{
    char text[TUI_TEXT_MAX], heading[96];
    (void)snprintf(heading, sizeof(heading), "%s: what its NIC should have counted",
                   tui_text_addr(text, host->addr, host->ip_version, 45));
    tui_parts_heading(canvas, y++, heading, "hw_counters");
    const int columns = canvas->cols >= 76 ? 2 : 1;
    const int width = canvas->cols / columns;
    const int rows = (ROCE_HW_COUNT + columns - 1) / columns;
    for (int i = 0; i < ROCE_HW_COUNT; i++) {
        const int row = y + i % rows, x = i / rows * width;
        const bool has = roce_host_has(host, (enum roce_hw)i);
        const uint64_t n = host->hw[i];
        if (row >= end)
            continue;
        const bool bad = has && n > 0 && i >= ROCE_HW_OUT_OF_SEQUENCE;
        (void)tui_canvas_text(canvas, row, x + 1, width - 9, STYLE_PLAIN,
                              roce_hw_name((enum roce_hw)i));
        tui_canvas_right(canvas, row, x + width - 2,
                         bad   ? STYLE_WARN
                         : has ? STYLE_PLAIN
                               : STYLE_DIM,
                         has ? tui_text_count5(text, n) : "n/a");
    }
    if (y + rows > end)
        tui_canvas_right(canvas, end - 1, canvas->cols, STYLE_DIM, "(more rows show more)");
}

void view_hosts(const struct ui *ui, const struct snapshot *snapshot, struct canvas *canvas)
{
    const struct view_list list = view_list(ui);
    (void)tui_canvas_printf(canvas, 1, 1, STYLE_PLAIN, "hosts %" PRIu32 "%s", snapshot->all_hosts,
                            snapshot->observer.hosts_lost > 0 ? " and more that were not kept"
                                                              : "");
    tui_parts_tabs(ui, canvas, 2, "");
    const bool bytes = ui->settings.units == UNITS_BYTES;
    (void)tui_canvas_printf(canvas, 3, 2, STYLE_BOLD, "%-*s %5s %5s %8s %8s %8s %8s", ADDR_WIDTH,
                            "HOST", "QP>", "QP<", bytes ? "GB/s>" : "Gb/s>",
                            bytes ? "GB/s<" : "Gb/s<", "PKTS>", "PKTS<");
    if (snapshot->n_hosts == 0) {
        (void)tui_canvas_text(canvas, list.y, 2, canvas->cols - 2, STYLE_DIM, "no RoCE so far");
        return;
    }
    int rows = list.rows;
    if (snapshot->n_hosts < (uint32_t)rows)
        rows = (int)snapshot->n_hosts;
    for (int i = 0; i < rows; i++) {
        const uint32_t at = ui->host_top + (uint32_t)i;
        if (at < snapshot->n_hosts)
            draw_host(ui, snapshot, canvas, list.y + i, &snapshot->host[at], at == ui->host_at);
    }
    if (ui->host_at < snapshot->n_hosts)
        draw_counters(canvas, list.y + rows + 1, canvas->rows - 1, &snapshot->host[ui->host_at]);
    else
        (void)tui_canvas_text(canvas, list.y + rows + 1, 1, canvas->cols - 1, STYLE_DIM,
                              "> out, < in");
}
