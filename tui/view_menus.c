/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Help, setup and menus. */
#include <stdio.h>
#include <string.h>

#include "text.h"
#include "view_parts.h"

static const struct {
    const char *keys, *text;
} keys[] = {
#define KEY(keys, text) {keys, text},
#include "keys.def"
#undef KEY
};

void view_help(const struct ui *ui, struct canvas *canvas)
{
    const int count = (int)(sizeof(keys) / sizeof(keys[0]));
    const int columns = canvas->cols >= 76 ? 2 : 1;
    const int rows = (count + columns - 1) / columns, width = canvas->cols / columns;
    (void)ui;
    tui_parts_heading(canvas, 1, "KEYS", "rocetop " ROCEKIT_VERSION);
    for (int i = 0; i < count; i++) {
        const int y = 2 + i % rows, x = 1 + i / rows * width;
        if (y >= canvas->rows - 1)
            continue;
        (void)tui_canvas_text(canvas, y, x, 12, STYLE_BOLD, keys[i].keys);
        (void)tui_canvas_text(canvas, y, x + 13, width - 14, STYLE_PLAIN, keys[i].text);
    }
    static const char *const notes[] = {
        "A QP here is one direction towards one QP. GAP counts PSNs that this port did",
        "not show; REX requests sent again. \"-\" is not known yet, \"n/a\" cannot be known",
        "here. ? before a row: one direction only. Frames the capture dropped stand in",
        "the first row; gaps of such a second are unsure, not lost.",
        "Find the worst QP: it is the first row. Enter opens it at its newest gap, r",
        "shows the frames around it, F2 saves them.",
    };
    const int y = 3 + rows;
    for (int i = 0; i < (int)(sizeof(notes) / sizeof(notes[0])) && y + i < canvas->rows - 1; i++)
        (void)tui_canvas_text(canvas, y + i, 1, canvas->cols - 1, STYLE_PLAIN, notes[i]);
}

void view_setup(const struct ui *ui, struct canvas *canvas)
{
    tui_parts_heading(canvas, 1, "SETUP", "w writes the configuration file");
    const int rows = canvas->rows - 5;
    const uint32_t top = ui->setup_at >= (uint32_t)rows ? ui->setup_at - (uint32_t)rows + 1 : 0;
    for (int i = 0; i < rows; i++) {
        const size_t at = top + (size_t)i;
        char value[SETTING_TEXT_MAX];
        if (at >= tui_settings_count())
            break;
        const struct setting *setting = tui_settings_at(at);
        const bool selected = at == ui->setup_at;
        const enum canvas_style style = selected ? STYLE_CURSOR : STYLE_PLAIN;
        (void)tui_canvas_printf(canvas, 2 + i, 0, style, "%c %-18s %-10.24s", selected ? '>' : ' ',
                                setting->key, tui_settings_get(&ui->settings, at, value));
        const int x = 32;
        if (canvas->cols > x + 10)
            (void)tui_canvas_text(canvas, 2 + i, x, canvas->cols - x, selected ? style : STYLE_DIM,
                                  setting->help);
        if (selected)
            tui_canvas_style(canvas, 2 + i, 0, canvas->cols, STYLE_CURSOR);
    }
    const struct setting *setting = tui_settings_at(ui->setup_at);
    (void)tui_canvas_printf(canvas, canvas->rows - 3, 1, STYLE_PLAIN, "%s", setting->help);
    if (setting->limits[0] != '\0')
        (void)tui_canvas_printf(canvas, canvas->rows - 2, 1, STYLE_DIM, "%s: %s", setting->key,
                                setting->limits);
}

static void menu_line(const struct ui *ui, uint32_t index, char *text, size_t size)
{
    static const char *const saves[] = {
        "all frames",
        "frames of the marked QPs",
        "frames that pass the filter",
        "frames of this QP, both directions",
        "frames of this QP that the diagram shows",
        "the table as CSV",
    };
    if (ui->mode == MODE_SAVE) {
        (void)snprintf(text, size, "%c  %s", "amfqwt"[index], saves[index]);
        return;
    }
    const struct table_column_info *info = tui_table_column((enum table_column)index);
    if (ui->mode == MODE_COLUMNS) {
        bool shown = false;
        for (int i = 0; i < ui->columns; i++)
            shown = shown || ui->column[i] == index;
        (void)snprintf(text, size, "[%c] %-6s %s", shown ? 'x' : ' ', info->title, info->help);
        return;
    }
    (void)snprintf(text, size, "%c %-6s %s", index == ui->sort ? '*' : ' ', info->title,
                   info->help);
}

void view_menu(const struct ui *ui, struct canvas *canvas)
{
    const uint32_t count = ui->mode == MODE_SAVE ? SAVE_TABLE + 1 : COLUMN_COUNT;
    const char *title = ui->mode == MODE_SAVE   ? "SAVE"
                        : ui->mode == MODE_SORT ? "SORT BY"
                                                : "COLUMNS";
    const int width = canvas->cols < 70 ? canvas->cols : 70;
    int rows = canvas->rows - 4;
    rows = rows > (int)count ? (int)count : rows;
    rows = rows < 1 ? 1 : rows;
    const int x = (canvas->cols - width) / 2, y = (canvas->rows - rows - 2) / 2;
    const uint32_t top = ui->menu_at >= (uint32_t)rows ? ui->menu_at - (uint32_t)rows + 1 : 0;
    for (int i = -1; i <= rows; i++)
        tui_canvas_clear(canvas, y + 1 + i, x, x + width);
    tui_canvas_rule(canvas, y, x, x + width);
    tui_canvas_rule(canvas, y + rows + 1, x, x + width);
    (void)tui_canvas_text(canvas, y, x + 2, width, STYLE_BOLD, title);
    for (int i = 0; i < rows; i++) {
        char text[256];
        const uint32_t at = top + (uint32_t)i;
        if (at >= count)
            break;
        menu_line(ui, at, text, sizeof(text));
        const enum canvas_style style = at == ui->menu_at ? STYLE_CURSOR : STYLE_PLAIN;
        tui_canvas_style(canvas, y + 1 + i, x, x + width, style);
        tui_canvas_put(canvas, y + 1 + i, x, at == ui->menu_at ? '>' : ' ', style);
        (void)tui_canvas_text(canvas, y + 1 + i, x + 2, width - 3, style, text);
        tui_canvas_style(canvas, y + 1 + i, x, x + width, style);
    }
}
