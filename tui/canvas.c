/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Character cells. */
#include "canvas.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK_LOWER = 0x2580, BLOCK_FULL = 0x2588, LINE_FLAT = 0x2500 };

/* Stand-ins for what the screens draw beyond ASCII. */
static uint32_t to_ascii(uint32_t c)
{
    static const char level[] = " .:-=+*#@";
    if (c > BLOCK_LOWER && c <= BLOCK_FULL)
        return (uint32_t)level[c - BLOCK_LOWER];
    if (c > BLOCK_FULL && c <= 0x258F) /* left blocks: 7/8 .. 1/8 */
        return c <= 0x258C ? '#' : ' ';
    switch (c) {
    case LINE_FLAT:
        return '-';
    case 0x2502:
        return '|';
    case 0x2514:
    case 0x252C:
        return '+';
    default:
        return c < 0x7F ? c : '?';
    }
}

/* Characters that surely take one column: Latin, Greek and Cyrillic letters, lines and blocks. */
static bool is_narrow(uint32_t c)
{
    return (c >= 0x20 && c < 0x7F) || (c >= 0xA1 && c < 0x300 && c != 0xAD) ||
           (c >= 0x370 && c < 0x483) || (c >= 0x2500 && c < 0x25A0);
}

struct canvas *tui_canvas_new(int rows, int cols, bool ascii)
{
    struct canvas *canvas = calloc(1, sizeof(*canvas));
    if (canvas == NULL)
        return NULL;
    canvas->rows = rows < 1 ? 1 : rows > CANVAS_ROWS_MAX ? CANVAS_ROWS_MAX : rows;
    canvas->cols = cols < 1 ? 1 : cols > CANVAS_COLS_MAX ? CANVAS_COLS_MAX : cols;
    canvas->ascii = ascii;
    canvas->cell = calloc((size_t)canvas->rows * (size_t)canvas->cols, sizeof(*canvas->cell));
    if (canvas->cell == NULL) {
        free(canvas);
        return NULL;
    }
    return canvas;
}

void tui_canvas_del(struct canvas *canvas)
{
    if (canvas == NULL)
        return;
    free(canvas->cell);
    free(canvas);
}

static struct canvas_cell *cell_at(struct canvas *canvas, int y, int x)
{
    if (y < 0 || y >= canvas->rows || x < 0 || x >= canvas->cols)
        return NULL;
    return &canvas->cell[(size_t)y * (size_t)canvas->cols + (size_t)x];
}

void tui_canvas_put(struct canvas *canvas, int y, int x, uint32_t c, enum canvas_style style)
{
    struct canvas_cell *cell = cell_at(canvas, y, x);
    if (cell == NULL)
        return;
    if (!is_narrow(c))
        c = '?';
    cell->c = canvas->ascii ? to_ascii(c) : c;
    cell->style = (uint8_t)style;
}

/* The next code point of |*text|, U+FFFD where it is no UTF-8. */
static uint32_t next_char(const char **text)
{
    const unsigned char *s = (const unsigned char *)*text;
    const int more = s[0] < 0xC2 ? 0 : s[0] < 0xE0 ? 1 : s[0] < 0xF0 ? 2 : s[0] < 0xF5 ? 3 : 0;
    uint32_t c = more == 0 ? s[0] : s[0] & (0x3FU >> more);
    for (int i = 1; i <= more; i++) {
        if ((s[i] & 0xC0) != 0x80) {
            *text += i;
            return 0xFFFD;
        }
        c = c << 6 | (s[i] & 0x3FU);
    }
    *text += more + 1;
    return more == 0 && c >= 0x80 ? 0xFFFD : c;
}

int tui_canvas_text(struct canvas *canvas, int y, int x, int width, enum canvas_style style,
                    const char *text)
{
    const int end = x + width < canvas->cols ? x + width : canvas->cols;
    while (*text != '\0') {
        if (x >= end) {
            if (width > 0)
                tui_canvas_put(canvas, y, end - 1, '~', style);
            return end;
        }
        tui_canvas_put(canvas, y, x++, next_char(&text), style);
    }
    return x;
}

int tui_canvas_printf(struct canvas *canvas, int y, int x, enum canvas_style style,
                      const char *format, ...)
{
    char text[1024];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    return tui_canvas_text(canvas, y, x, canvas->cols - x, style, text);
}

void tui_canvas_right(struct canvas *canvas, int y, int end, enum canvas_style style,
                      const char *text)
{
    int width = 0;
    for (const char *at = text; *at != '\0'; width++)
        (void)next_char(&at);
    (void)tui_canvas_text(canvas, y, end - width, width, style, text);
}

void tui_canvas_rule(struct canvas *canvas, int y, int from, int to)
{
    for (int x = from; x < to; x++)
        tui_canvas_put(canvas, y, x, LINE_FLAT, STYLE_DIM);
}

void tui_canvas_style(struct canvas *canvas, int y, int from, int to, enum canvas_style style)
{
    for (int x = from; x < to; x++) {
        struct canvas_cell *cell = cell_at(canvas, y, x);
        if (cell != NULL)
            cell->style = (uint8_t)style;
    }
}

void tui_canvas_clear(struct canvas *canvas, int y, int from, int to)
{
    for (int x = from; x < to; x++) {
        struct canvas_cell *cell = cell_at(canvas, y, x);
        if (cell != NULL)
            *cell = (struct canvas_cell){0};
    }
}

void tui_canvas_level(struct canvas *canvas, int y, int x, int eighths, enum canvas_style style)
{
    if (eighths > 0)
        tui_canvas_put(canvas, y, x, (uint32_t)(BLOCK_LOWER + (eighths > 8 ? 8 : eighths)), style);
}

void tui_canvas_bar(struct canvas *canvas, int y, int x, int width, int64_t eighths,
                    enum canvas_style style)
{
    for (int i = 0; i < width && eighths > 0; i++, eighths -= 8)
        tui_canvas_put(canvas, y, x + i,
                       eighths >= 8 ? BLOCK_FULL : (uint32_t)(BLOCK_FULL + 8 - eighths), style);
}

int tui_canvas_encode(uint32_t c, char out[4])
{
    if (c < 0x80) {
        out[0] = (char)c;
        return 1;
    }
    if (c < 0x800) {
        out[0] = (char)(0xC0 | c >> 6);
        out[1] = (char)(0x80 | (c & 0x3F));
        return 2;
    }
    out[0] = (char)(0xE0 | c >> 12);
    out[1] = (char)(0x80 | (c >> 6 & 0x3F));
    out[2] = (char)(0x80 | (c & 0x3F));
    return 3;
}

void tui_canvas_print(const struct canvas *canvas, struct out *out)
{
    for (int y = 0; y < canvas->rows; y++) {
        const struct canvas_cell *row = &canvas->cell[(size_t)y * (size_t)canvas->cols];
        int cols = canvas->cols;
        while (cols > 0 && (row[cols - 1].c == 0 || row[cols - 1].c == ' '))
            cols--;
        char *at = out_reserve(out, (size_t)cols * 4 + 1);
        for (int x = 0; x < cols; x++)
            at += tui_canvas_encode(row[x].c == 0 ? ' ' : row[x].c, at);
        *at++ = '\n';
        out_commit(out, at);
    }
}
