/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the screens share. */
#ifndef TUI_VIEW_PARTS_H
#define TUI_VIEW_PARTS_H

#include "view.h"

/* Rows above every screen's own: title, two of totals, tabs. */
enum { PARTS_TOTALS = 1, PARTS_TABS = 3, PARTS_BODY = 4 };

void tui_parts_title(const struct ui *ui, const struct snapshot *snapshot, struct canvas *canvas);

/* tui_parts_tabs draws the row of tabs on row |y| with |right| at its end. */
void tui_parts_tabs(const struct ui *ui, struct canvas *canvas, int y, const char *right);

/* tui_parts_footer draws the last row: keys, a message or the prompt. */
void tui_parts_footer(const struct ui *ui, const struct snapshot *snapshot, struct canvas *canvas);

/* tui_parts_heading draws a rule over the whole row with |left| and |right| in it. */
void tui_parts_heading(struct canvas *canvas, int y, const char *left, const char *right);

/* tui_parts_table_head and tui_parts_table_row draw the table of QPs; tui_parts_table_layout tells
 * which columns stand where: returns how many of |column| are shown, their places in |x|. */
struct parts_column {
    uint8_t column;
    int x, width;
};
int tui_parts_table_layout(const struct ui *ui, int cols, bool overview,
                           struct parts_column shown[COLUMN_COUNT]);
void tui_parts_table_head(const struct ui *ui, struct canvas *canvas, int y, bool overview);
void tui_parts_table_row(const struct ui *ui, const struct snapshot *snapshot,
                         struct canvas *canvas, int y, const struct snap_row *row, bool overview,
                         bool selected);

/* tui_parts_event draws one event. */
void tui_parts_event(const struct snapshot *snapshot, struct canvas *canvas, int y,
                     const struct log_entry *entry, bool overview, bool selected);

/* struct parts_series is what a diagram shows of a series: |n| groups of bins, the newest last.
 */
struct parts_series {
    const struct series *series;
    uint32_t n, group, skip;
    uint64_t group_ns;
};
/* tui_parts_series chooses what fits into |width| columns. |text| (64 bytes) says what that is. */
struct parts_series tui_parts_series(const struct snapshot *snapshot, int width, char *text);
struct bin tui_parts_series_at(const struct parts_series *shown, uint32_t index);

/* tui_parts_graph draws |n| values, the newest at the right, into |rows| rows from |y| down. */
struct parts_graph {
    int y, x, rows, width;
    const double *value;
    uint32_t n;
    double max;
    bool lines, log_scale;
    bool sparse; /* nothing is drawn for 0 */
    enum canvas_style style;
};
void tui_parts_graph(struct canvas *canvas, const struct parts_graph *graph);

void view_overview(const struct ui *ui, const struct snapshot *snapshot, struct canvas *canvas);
void view_qps(const struct ui *ui, const struct snapshot *snapshot, struct canvas *canvas);
void view_pfc(const struct ui *ui, const struct snapshot *snapshot, struct canvas *canvas);
void view_events(const struct ui *ui, const struct snapshot *snapshot, struct canvas *canvas);
void view_hosts(const struct ui *ui, const struct snapshot *snapshot, struct canvas *canvas);
void view_qp(const struct ui *ui, const struct snapshot *snapshot, struct canvas *canvas);
void view_psn(const struct ui *ui, const struct snapshot *snapshot, struct canvas *canvas);
void view_messages(const struct ui *ui, const struct snapshot *snapshot, struct canvas *canvas);
void view_headers(const struct ui *ui, const struct snapshot *snapshot, struct canvas *canvas);
void view_help(const struct ui *ui, struct canvas *canvas);
void view_setup(const struct ui *ui, struct canvas *canvas);
void view_menu(const struct ui *ui, struct canvas *canvas);

/* How many rows the overview gives to its parts when |qps| QPs are listed. */
struct view_overview_layout {
    int graphs, graph_rows;  /* diagrams, and rows of each */
    int table_y, table_rows; /* heading of the table; rows of QPs */
    int events_y, events_rows;
};
struct view_overview_layout view_overview_layout(int rows, uint32_t qps);

#endif
