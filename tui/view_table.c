/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table of QPs on the screen. */
#include <stdio.h>
#include <string.h>

#include "text.h"
#include "view_parts.h"

enum { WIDE = 24, MARKERS = 2 };

static int width_of(const struct ui *ui, uint8_t column)
{
    const bool addr = column == COLUMN_SRC || column == COLUMN_DST;
    return addr && ui->settings.wide ? WIDE : tui_table_column((enum table_column)column)->width;
}

/* The overview has room for the columns that matter most. */
static const uint8_t overview_columns[] = {
    COLUMN_DQPN, COLUMN_OP,  COLUMN_SRC, COLUMN_DST,  COLUMN_RATE, COLUMN_GAP,  COLUMN_REX,
    COLUMN_CNPS, COLUMN_P99, COLUMN_NAK, COLUMN_LOST, COLUMN_CE,   COLUMN_PKTS, COLUMN_MSGS};

int tui_parts_table_layout(const struct ui *ui, int cols, bool overview,
                           struct parts_column shown[COLUMN_COUNT])
{
    const uint8_t *list = overview ? overview_columns : ui->column;
    const int count = overview ? (int)sizeof(overview_columns) : ui->columns;
    int n = 0, x = MARKERS;
    for (int i = 0; i < count; i++) {
        /* The first column stays when the others scroll. */
        if (!overview && i > 0 && i <= ui->first_column)
            continue;
        int width = width_of(ui, list[i]);
        const int title = (int)strlen(tui_table_column((enum table_column)list[i])->title);
        if (x + width > cols)
            break;
        width = width < title ? title : width;
        shown[n++] = (struct parts_column){list[i], x, width};
        x += width + 1;
    }
    return n;
}

int view_columns_shown(const struct ui *ui)
{
    struct parts_column shown[COLUMN_COUNT];
    return tui_parts_table_layout(ui, ui->cols, false, shown);
}

int view_column_at(const struct ui *ui, int x)
{
    struct parts_column shown[COLUMN_COUNT];
    const int n = tui_parts_table_layout(ui, ui->cols, ui->screen == SCREEN_OVERVIEW, shown);
    for (int i = 0; i < n; i++)
        if (x >= shown[i].x && x <= shown[i].x + shown[i].width)
            return shown[i].column;
    return -1;
}

void tui_parts_table_head(const struct ui *ui, struct canvas *canvas, int y, bool overview)
{
    struct parts_column shown[COLUMN_COUNT];
    const int n = tui_parts_table_layout(ui, canvas->cols, overview, shown);
    tui_canvas_style(canvas, y, 0, canvas->cols, STYLE_BOLD);
    for (int i = 0; i < n; i++) {
        const struct table_column_info *info = tui_table_column((enum table_column)shown[i].column);
        const bool sorted = shown[i].column == ui->sort;
        char title[TUI_TEXT_MAX];
        const bool bytes = ui->settings.units == UNITS_BYTES && shown[i].column == COLUMN_RATE;
        (void)snprintf(title, sizeof(title), "%s%s", bytes ? "GB/s" : info->title,
                       !sorted || overview ? ""
                       : ui->inverted      ? "^"
                                           : "v");
        if (info->kind == KIND_RIGHT)
            tui_canvas_right(canvas, y, shown[i].x + shown[i].width, STYLE_BOLD, title);
        else
            (void)tui_canvas_text(canvas, y, shown[i].x, shown[i].width + 1, STYLE_BOLD, title);
    }
}

void tui_parts_table_row(const struct ui *ui, const struct snapshot *snapshot,
                         struct canvas *canvas, int y, const struct snap_row *row, bool overview,
                         bool selected)
{
    struct parts_column shown[COLUMN_COUNT];
    const int n = tui_parts_table_layout(ui, canvas->cols, overview, shown);
    const bool marked = ui_is_marked(ui, row);
    const enum canvas_style base = marked ? STYLE_MARK : row->active ? STYLE_PLAIN : STYLE_DIM;
    for (int i = 0; i < n; i++) {
        char text[TUI_TEXT_MAX];
        const struct table_column_info *info = tui_table_column((enum table_column)shown[i].column);
        enum canvas_style style = tui_table_text(snapshot, row, (enum table_column)shown[i].column,
                                                 shown[i].width, &ui->settings, text);
        if (style == STYLE_PLAIN)
            style = base;
        if (info->kind == KIND_RIGHT)
            tui_canvas_right(canvas, y, shown[i].x + shown[i].width, style, text);
        else
            (void)tui_canvas_text(canvas, y, shown[i].x, shown[i].width, style, text);
    }
    if (selected)
        tui_canvas_style(canvas, y, 0, canvas->cols, STYLE_CURSOR);
    const enum canvas_style style = selected ? STYLE_CURSOR : base;
    if (selected)
        tui_canvas_put(canvas, y, 0, '>', style);
    else if (row->one_way)
        tui_canvas_put(canvas, y, 0, '?', style);
    if (marked)
        tui_canvas_put(canvas, y, 1, '*', style);
    else if (selected && row->one_way)
        tui_canvas_put(canvas, y, 1, '?', style);
}
