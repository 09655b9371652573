/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A rectangle of character cells: what every screen is drawn on, before a terminal or a text file
 * shows it. All characters drawn take one column. */
#ifndef TUI_CANVAS_H
#define TUI_CANVAS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/out.h"

enum canvas_style {
    STYLE_PLAIN,
    STYLE_BOLD,
    STYLE_DIM,
    STYLE_HEAD,   /* the first row, the heading of a table */
    STYLE_CURSOR, /* the selected row */
    STYLE_MARK,   /* marked rows */
    STYLE_GOOD,
    STYLE_WARN,
    STYLE_ERROR,
    STYLE_BAR,
    STYLE_KEY, /* names of keys in the last row */
    STYLE_COUNT,
};

struct canvas_cell {
    uint32_t c; /* code point; 0 is a blank */
    uint8_t style;
};

struct canvas {
    int rows, cols;
    bool ascii; /* no character beyond ASCII is drawn: lines and blocks have stand-ins */
    struct canvas_cell *cell;
};

enum { CANVAS_ROWS_MAX = 1000, CANVAS_COLS_MAX = 2000 };

/* tui_canvas_new returns an empty canvas, or NULL without memory; sizes are clipped to 1 and the
 * limits above. */
struct canvas *tui_canvas_new(int rows, int cols, bool ascii);
void tui_canvas_del(struct canvas *canvas); /* NULL is accepted */

/* tui_canvas_put draws one character; what lies outside is left out. Control characters and those
 * that would take no column or two become '?'. */
void tui_canvas_put(struct canvas *canvas, int y, int x, uint32_t c, enum canvas_style style);

/* tui_canvas_text draws UTF-8 |text| from column |x| on, at most |width| columns; the last becomes
 * '~' when more text was there. Returns the column behind it. */
int tui_canvas_text(struct canvas *canvas, int y, int x, int width, enum canvas_style style,
                    const char *text);

/* tui_canvas_printf draws up to the right edge and returns the column behind. */
int tui_canvas_printf(struct canvas *canvas, int y, int x, enum canvas_style style,
                      const char *format, ...) __attribute__((format(printf, 5, 6)));

/* tui_canvas_right draws |text| so that it ends before column |end|. */
void tui_canvas_right(struct canvas *canvas, int y, int end, enum canvas_style style,
                      const char *text);

/* tui_canvas_rule draws a horizontal line over columns |from| .. |to| - 1. */
void tui_canvas_rule(struct canvas *canvas, int y, int from, int to);

/* tui_canvas_style gives columns |from| .. |to| - 1 of row |y| another style. */
void tui_canvas_style(struct canvas *canvas, int y, int from, int to, enum canvas_style style);

/* tui_canvas_clear blanks the columns |from| .. |to| - 1 of row |y|. */
void tui_canvas_clear(struct canvas *canvas, int y, int from, int to);

/* tui_canvas_level draws a bar of |eighths| eighths of the height of one cell, 0 being a blank. */
void tui_canvas_level(struct canvas *canvas, int y, int x, int eighths, enum canvas_style style);

/* tui_canvas_bar draws a horizontal bar of |eighths| eighths of a cell in at most |width| cells. */
void tui_canvas_bar(struct canvas *canvas, int y, int x, int width, int64_t eighths,
                    enum canvas_style style);

/* tui_canvas_encode writes |c| as UTF-8 to |out| (4 bytes) and returns its length. */
int tui_canvas_encode(uint32_t c, char out[4]);

/* tui_canvas_print writes the rows as text without styles and without blanks at the ends of lines.
 */
void tui_canvas_print(const struct canvas *canvas, struct out *out);

#endif
