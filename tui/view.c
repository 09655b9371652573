/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Drawing a screen. */
#include "view.h"

#include <stdio.h>

#include "text.h"
#include "view_parts.h"

static void draw_too_small(const struct ui *ui, const struct snapshot *snapshot,
                           struct canvas *canvas)
{
    char a[TUI_TEXT_MAX], b[TUI_TEXT_MAX];
    (void)snapshot;
    (void)tui_canvas_printf(
        canvas, 0, 0, STYLE_PLAIN, "rocetop: %s pkts, drop %s",
        tui_text_count5(a, ui->status.frames),
        tui_text_count5(b, ui->status.dropped_kernel + ui->status.dropped_iface));
    if (canvas->rows > 1)
        (void)tui_canvas_printf(canvas, 1, 0, STYLE_PLAIN, "needs %dx%d", VIEW_COLS_MIN,
                                VIEW_ROWS_MIN);
}

static void draw_screen(const struct ui *ui, const struct snapshot *snapshot, struct canvas *canvas)
{
    switch (ui->screen) {
    case SCREEN_OVERVIEW:
        view_overview(ui, snapshot, canvas);
        break;
    case SCREEN_QPS:
        view_qps(ui, snapshot, canvas);
        break;
    case SCREEN_PFC:
        view_pfc(ui, snapshot, canvas);
        break;
    case SCREEN_EVENTS:
        view_events(ui, snapshot, canvas);
        break;
    case SCREEN_HOSTS:
        view_hosts(ui, snapshot, canvas);
        break;
    case SCREEN_QP:
        view_qp(ui, snapshot, canvas);
        break;
    }
}

void view_draw(const struct ui *ui, const struct snapshot *snapshot, struct canvas *canvas)
{
    if (canvas->rows < VIEW_ROWS_MIN || canvas->cols < VIEW_COLS_MIN) {
        draw_too_small(ui, snapshot, canvas);
        return;
    }
    if (ui->mode == MODE_HELP)
        view_help(ui, canvas);
    else if (ui->mode == MODE_SETUP || (ui->mode == MODE_PROMPT && ui->prompt == PROMPT_SETTING))
        view_setup(ui, canvas);
    else
        draw_screen(ui, snapshot, canvas);
    if (ui->mode == MODE_SORT || ui->mode == MODE_COLUMNS || ui->mode == MODE_SAVE)
        view_menu(ui, canvas);
    tui_parts_title(ui, snapshot, canvas);
    tui_parts_footer(ui, snapshot, canvas);
}
