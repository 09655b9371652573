/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the mouse does. */
#include "ui_internal.h"
#include "view.h"
#include "view_qp.h"

enum { WHEEL_ROWS = 3 };

static void click_row(struct ui *ui, const struct snapshot *snapshot, int row, bool twice)
{
    if (ui->screen == SCREEN_OVERVIEW || ui->screen == SCREEN_QPS) {
        if (ui->top + (uint32_t)row < ui->n_order) {
            ui->cursor_at = ui->top + (uint32_t)row;
            ui_hold_cursor(ui, snapshot);
        }
    } else if (ui->screen == SCREEN_PFC) {
        ui->priority_at = (uint32_t)row < 8 ? (uint32_t)row : 7;
    } else if (ui->screen == SCREEN_HOSTS) {
        ui->host_at = ui->host_top + (uint32_t)row;
    } else if (ui->screen == SCREEN_QP && ui->tab == TAB_HEADERS) {
        ui_move_frame(ui, snapshot, (int64_t)ui->frame_top + row - ui->frame_at);
    }
    if (twice)
        ui_open_current(ui, snapshot);
}

void ui_mouse(struct ui *ui, const struct snapshot *snapshot, int y, int x, int wheel, bool twice)
{
    const struct view_list list = view_list(ui);
    const int tabs = ui->screen == SCREEN_OVERVIEW ? 3 : 2;
    ui->message[0] = '\0';
    if (ui->mode != MODE_SCREEN) {
        if (ui->mode == MODE_HELP)
            ui->mode = MODE_SCREEN;
        return;
    }
    if (wheel != 0) {
        if (ui->screen == SCREEN_QP && ui->tab == TAB_PSN)
            ui_zoom(ui, wheel > 0 ? 2 : 0.5);
        else
            ui_move_rows(ui, snapshot, wheel * WHEEL_ROWS);
    } else if (y == tabs && ui->screen != SCREEN_QP) {
        const int tab = view_tab_at(x);
        if (tab >= 0)
            ui_show_screen(ui, (enum ui_screen)tab);
    } else if (y == tabs) {
        ui->tab = x < 12 ? TAB_PSN : x < 23 ? TAB_MESSAGES : TAB_HEADERS;
    } else if (y == list.y - 1 && ui->screen <= SCREEN_QPS) {
        const int column = view_column_at(ui, x);
        if (column == (int)ui->sort)
            ui->inverted = !ui->inverted;
        else if (column >= 0)
            ui_set_sort(ui, column);
    } else if (ui->screen == SCREEN_QP && ui->tab == TAB_PSN && ui->until > ui->from) {
        const struct qp_psn_span span = tui_qp_psn_span(ui->rows, ui->cols);
        if (y >= span.y && y < span.y + span.rows && x >= span.x && snapshot->detail.frames > 0) {
            ui_hold_view(ui);
            ui->at = ui->from + (uint64_t)((double)(ui->until - ui->from) * (x - span.x) /
                                           (span.width > 1 ? span.width - 1 : 1));
            ui->frame_at = tui_qp_nearest(snapshot, ui->at);
        }
    } else if (y >= list.y && y < list.y + list.rows) {
        click_row(ui, snapshot, y - list.y, twice);
    }
    ui_settle(ui, snapshot);
}
