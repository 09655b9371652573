/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the tabs of the QP screen share. */
#ifndef TUI_VIEW_QP_H
#define TUI_VIEW_QP_H

#include "view_parts.h"

/* tui_qp_frame_word says what is special about a frame: "GAP", "NAK", ...; "" nothing. */
const char *tui_qp_frame_word(const struct snap_frame *frame);

/* tui_qp_frame_matters tells whether n and N stop at it. */
bool tui_qp_frame_matters(const struct snap_frame *frame);

/* tui_qp_histogram draws |hist| by octaves into |rows| rows and |columns| columns. */
void tui_qp_histogram(struct canvas *canvas, int y, int rows, int columns,
                      const struct roce_hist *hist);
void tui_qp_latency_heading(struct canvas *canvas, int y, const char *what,
                            const struct roce_hist *hist);

/* tui_qp_psn_span tells which rows the diagram takes, and its first column. */
struct qp_psn_span {
    int y, rows, x, width;
};
struct qp_psn_span tui_qp_psn_span(int rows, int cols);

/* tui_qp_nearest returns the place of the frame nearest to |ts|; the snapshot has frames. */
uint32_t tui_qp_nearest(const struct snapshot *snapshot, roce_tstamp ts);

#endif
