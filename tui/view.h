/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Drawing: a pure function of snapshot, state of the user interface and size. */
#ifndef TUI_VIEW_H
#define TUI_VIEW_H

#include "ui.h"

enum { VIEW_ROWS_MIN = 8, VIEW_COLS_MIN = 40, VIEW_ROWS_FULL = 24, VIEW_COLS_FULL = 80 };

/* view_draw draws all of |canvas|, which is blank. */
void view_draw(const struct ui *ui, const struct snapshot *snapshot, struct canvas *canvas);

/* Where the list of the screen stands: its first row and how many rows it has. */
struct view_list {
    int y, rows;
};
struct view_list view_list(const struct ui *ui);

/* view_tab_at returns which of the tabs is at column |x| of their row, or -1. */
int view_tab_at(int x);

/* view_column_at returns which column of the table is at |x|, or -1; view_columns how many scroll
 * into view. */
int view_column_at(const struct ui *ui, int x);

/* view_columns_shown returns how many columns of the table fit from the first on. */
int view_columns_shown(const struct ui *ui);

/* view_event_shown tells whether the Events screen lists |entry|. */
bool view_event_shown(const struct ui *ui, const struct snapshot *snapshot,
                      const struct log_entry *entry);

/* view_priority_dscp returns the DSCP that most frames of |priority| carry, or -1. */
int view_priority_dscp(const struct snapshot *snapshot, uint8_t priority);

#endif
