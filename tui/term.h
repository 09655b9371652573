/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The terminal: the only part that knows ncurses. */
#ifndef TUI_TERM_H
#define TUI_TERM_H

#include "canvas.h"
#include "ui.h"

/* What came from the terminal. */
struct term_input {
    bool mouse, twice, resized;
    uint32_t key; /* enum ui_key; 0 with |mouse| or |resized| */
    int y, x, wheel;
};

/* tui_term_open takes the terminal of standard input and output over; 0, or -1 with the reason on
 * standard error. It is given back by tui_term_close, and whatever ends the program: at exit and at
 * fatal signals. */
int tui_term_open(bool colour, bool mouse);
void tui_term_close(void);

/* tui_term_utf8 tells whether the locale's characters are UTF-8; the locale must be set. */
bool tui_term_utf8(void);

/* tui_term_size writes the size as it is now. */
void tui_term_size(int *rows, int *cols);

/* tui_term_show draws what of |canvas| differs from what is shown; |anew|: everything. */
void tui_term_show(const struct canvas *canvas, bool anew);

/* tui_term_read takes one input; false when there is none. |*gone| is set when the terminal is. */
bool tui_term_read(struct term_input *input, bool *gone);

/* tui_term_signal_fd is readable when a signal came; tui_term_signals tells which: SIGINT, SIGTERM
 * or SIGHUP ends the program, SIGWINCH tells of another size. */
int tui_term_signal_fd(void);
struct term_signals {
    bool end, resized;
};
struct term_signals tui_term_signals(void);

#endif
