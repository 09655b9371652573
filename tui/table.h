/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table of QPs: its columns, their order and their text. */
#ifndef TUI_TABLE_H
#define TUI_TABLE_H

#include "canvas.h"
#include "settings.h"
#include "snapshot.h"

enum table_column {
#define COLUMN(id, title, width, kind, help) COLUMN_##id,
#include "columns.def"
#undef COLUMN
    COLUMN_COUNT,
};

enum table_kind { KIND_NAME, KIND_RIGHT };

struct table_column_info {
    const char *title;
    int width;
    enum table_kind kind;
    const char *help;
};

const struct table_column_info *tui_table_column(enum table_column column);

/* tui_table_column_by_name finds a column by its title, whatever the case; -1 when there is none.
 */
int tui_table_column_by_name(const char *title);

/* tui_table_choose fills |list| with the columns that |titles| names ("DQPN,SRC"; "": all) and
 * returns how many; -1 when one is unknown or named twice. */
int tui_table_choose(const char *titles, uint8_t list[COLUMN_COUNT]);

/* tui_table_text writes the cell of |row| in at most |width| columns into |buf|, TUI_TEXT_MAX
 * bytes, and returns its style. */
enum canvas_style tui_table_text(const struct snapshot *snapshot, const struct snap_row *row,
                                 enum table_column column, int width,
                                 const struct settings *settings, char *buf);

/* tui_table_sort fills |order| with the places of the rows that pass the filter, sorted by
 * |column|: as its kind says, or the other way when |inverted|. Returns how many. |order| holds
 * n_rows. */
uint32_t tui_table_sort(const struct snapshot *snapshot, enum table_column column, bool inverted,
                        uint32_t *order);

/* tui_table_trouble weighs what went wrong with a flow. */
uint64_t tui_table_trouble(const struct snap_row *row);

/* tui_table_matches tells whether |text| occurs in the row as it is shown, whatever the case. */
bool tui_table_matches(const struct snap_row *row, const char *text);

#endif
