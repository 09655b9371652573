/* SPDX-License-Identifier: GPL-2.0-or-later */
/* PSN over time: what was sent, sent again, answered, and what is missing. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <roce/psn.h>

#include "text.h"
#include "view_qp.h"

enum {
    LABELS = 9, /* columns left of the axis */
    CELL_LOW = 1,
    CELL_HIGH = 2,
    CELL_RESENT = 4,
    CELL_ACK = 8,
    CELL_NAK = 16,
    CELL_GAP = 32,
    TICK = 18,
    AXIS_DOWN = 0x2502,
    AXIS_CORNER = 0x2514,
    AXIS_TICK = 0x252C,
    AXIS_FLAT = 0x2500,
};

struct qp_psn_span tui_qp_psn_span(int rows, int cols)
{
    struct qp_psn_span span = {.y = 3, .x = LABELS + 1, .width = cols - LABELS - 2};
    /* Below: CNP, CE, axis, labels, legend; the histogram, when there is room; the last row. */
    const int below = 5 + (rows >= 20 ? 6 : 0) + 1;
    span.rows = rows - span.y - below;
    span.rows = span.rows < 2 ? 2 : span.rows;
    span.width = span.width < 10 ? 10 : span.width;
    return span;
}

uint32_t tui_qp_nearest(const struct snapshot *snapshot, roce_tstamp ts)
{
    const struct snap_frame *frame = snapshot->frame;
    uint32_t best = 0;
    uint64_t distance = UINT64_MAX;
    for (uint32_t i = 0; i < snapshot->detail.frames; i++) {
        const uint64_t d =
            frame[i].record.ts > ts ? frame[i].record.ts - ts : ts - frame[i].record.ts;
        /* Of frames as near the one that matters. */
        if (d < distance || (d == distance && tui_qp_frame_matters(&frame[i]))) {
            best = i;
            distance = d;
        }
    }
    return best;
}

/* The diagram shows one PSN space: requests of the flow that is open and their answers, or, when it
 * sends none, those of its peer. */
struct space {
    const struct ui *ui;
    const struct snapshot *snapshot;
    bool reverse; /* requests are those of the peer */
    uint32_t base;
    int64_t low, high; /* distance from |base| */
    bool any;
};

static bool is_answer(const struct ring_record *r)
{
    return r->op >= ROCE_OP_READ_RESPONSE && r->op <= ROCE_OP_ATOMIC_ACK;
}

static bool in_window(const struct ui *ui, const struct snap_frame *frame)
{
    return frame->record.ts >= ui->from && frame->record.ts <= ui->until;
}

static bool in_space(const struct space *space, const struct snap_frame *frame)
{
    if (!frame->record.has_bth || frame->record.op >= ROCE_OP_CNP)
        return false;
    return frame->reverse == space->reverse ? !is_answer(&frame->record)
                                            : is_answer(&frame->record);
}

static struct space find_space(const struct ui *ui, const struct snapshot *snapshot)
{
    struct space space = {.ui = ui, .snapshot = snapshot};
    space.reverse = snapshot->detail.row.requests == 0;
    for (uint32_t i = 0; i < snapshot->detail.frames; i++) {
        const struct snap_frame *frame = &snapshot->frame[i];
        if (!in_space(&space, frame) || !in_window(ui, frame))
            continue;
        if (!space.any) {
            space.any = true;
            space.base = frame->record.psn;
        }
        const int64_t missing =
            (frame->record.flags & ROCE_V_GAP) != 0 ? (int64_t)frame->record.missing : 0;
        const int64_t d = roce_psn_diff(frame->record.psn, space.base);
        space.low = d - missing < space.low ? d - missing : space.low;
        space.high = d > space.high ? d : space.high;
    }
    return space;
}

static int column_of(const struct ui *ui, const struct qp_psn_span *span, roce_tstamp ts)
{
    const uint64_t length = ui->until - ui->from;
    if (length == 0)
        return 0;
    return (int)((double)(ts - ui->from) / (double)length * (span->width - 1) + 0.5);
}

static void mark(uint8_t *cell, const struct qp_psn_span *span, const struct space *space,
                 int column, int64_t distance, uint8_t kind)
{
    const int64_t range = space->high - space->low;
    int64_t half = range == 0 ? 0 : (distance - space->low) * (2 * span->rows - 1) / range;
    half = half < 0 ? 0 : half >= 2 * span->rows ? 2 * span->rows - 1 : half;
    const int row = span->rows - 1 - (int)(half / 2);
    if (kind == CELL_LOW && half % 2 == 1)
        kind = CELL_HIGH;
    cell[row * span->width + column] |= kind;
}

static void mark_all(uint8_t *cell, const struct qp_psn_span *span, const struct space *space)
{
    for (uint32_t i = 0; i < space->snapshot->detail.frames; i++) {
        const struct snap_frame *frame = &space->snapshot->frame[i];
        const struct ring_record *r = &frame->record;
        if (!in_space(space, frame) || !in_window(space->ui, frame))
            continue;
        const int column = column_of(space->ui, span, r->ts);
        const int64_t d = roce_psn_diff(r->psn, space->base);
        if (is_answer(r)) {
            const bool nak = r->op == ROCE_OP_ACK && roce_aeth_kind(r->syndrome) != ROCE_AETH_ACK;
            mark(cell, span, space, column, d, nak ? CELL_NAK : CELL_ACK);
            continue;
        }
        if ((r->flags & ROCE_V_GAP) != 0)
            mark(cell, span, space, column, d - r->missing, CELL_GAP);
        mark(cell, span, space, column, d,
             (r->flags & ROCE_V_RETRANSMITTED) != 0 ? CELL_RESENT : CELL_LOW);
    }
}

static void draw_cell(struct canvas *canvas, int y, int x, uint8_t cell)
{
    if ((cell & CELL_GAP) != 0)
        tui_canvas_put(canvas, y, x, 'X', STYLE_ERROR);
    else if ((cell & CELL_NAK) != 0)
        tui_canvas_put(canvas, y, x, 'N', STYLE_ERROR);
    else if ((cell & CELL_RESENT) != 0)
        tui_canvas_put(canvas, y, x, 'r', STYLE_WARN);
    else if ((cell & CELL_ACK) != 0)
        tui_canvas_put(canvas, y, x, 'a', STYLE_GOOD);
    else if ((cell & CELL_HIGH) != 0)
        tui_canvas_put(canvas, y, x, (cell & CELL_LOW) != 0 ? ':' : '\'', STYLE_BAR);
    else if ((cell & CELL_LOW) != 0)
        tui_canvas_put(canvas, y, x, '.', STYLE_BAR);
}

static void draw_cells(const struct space *space, const struct qp_psn_span *span,
                       struct canvas *canvas)
{
    uint8_t *cell = calloc((size_t)span->rows * (size_t)span->width, 1);
    if (cell == NULL)
        return;
    mark_all(cell, span, space);
    uint32_t labelled = UINT32_MAX;
    for (int y = 0; y < span->rows; y++) {
        tui_canvas_put(canvas, span->y + y, LABELS, AXIS_DOWN, STYLE_DIM);
        if (y % 2 == 0 || y == span->rows - 1) {
            const int64_t half = 2 * (span->rows - 1 - y) + (y == 0 ? 1 : 0);
            const int64_t d = space->low + half * (space->high - space->low) / (2 * span->rows - 1);
            const uint32_t psn = roce_psn_add(space->base, d);
            char label[TUI_TEXT_MAX];
            (void)snprintf(label, sizeof(label), "%" PRIu32, psn);
            if (space->any && psn != labelled)
                tui_canvas_right(canvas, span->y + y, LABELS, STYLE_DIM, label);
            labelled = psn;
        }
        for (int x = 0; x < span->width; x++)
            draw_cell(canvas, span->y + y, span->x + x, cell[y * span->width + x]);
    }
    free(cell);
}

/* Rows of CNPs and CE marks below the diagram. */
static void draw_marks(const struct space *space, const struct qp_psn_span *span,
                       struct canvas *canvas, int y)
{
    uint32_t all[CANVAS_COLS_MAX] = {0}, ce[CANVAS_COLS_MAX] = {0};
    (void)tui_canvas_text(canvas, y, 2, LABELS, STYLE_PLAIN, "CNP");
    (void)tui_canvas_text(canvas, y + 1, 2, LABELS, STYLE_PLAIN, "CE %");
    tui_canvas_put(canvas, y, LABELS, AXIS_DOWN, STYLE_DIM);
    tui_canvas_put(canvas, y + 1, LABELS, AXIS_DOWN, STYLE_DIM);
    for (uint32_t i = 0; i < space->snapshot->detail.frames; i++) {
        const struct snap_frame *frame = &space->snapshot->frame[i];
        if (!in_window(space->ui, frame))
            continue;
        const int column = column_of(space->ui, span, frame->record.ts);
        if (frame->record.op == ROCE_OP_CNP && frame->record.has_bth &&
            frame->reverse != space->reverse)
            tui_canvas_put(canvas, y, span->x + column, 'C', STYLE_WARN);
        if (frame->reverse == space->reverse && frame->record.op != ROCE_OP_CNP) {
            all[column]++;
            ce[column] += frame->record.ecn == ROCE_ECN_CE;
        }
    }
    for (int x = 0; x < span->width; x++) {
        if (all[x] == 0)
            continue;
        const uint32_t tenths = ce[x] * 10 / all[x];
        if (ce[x] == 0)
            tui_canvas_put(canvas, y + 1, span->x + x, '.', STYLE_DIM);
        else
            tui_canvas_put(canvas, y + 1, span->x + x,
                           '0' + (tenths < 1   ? 1
                                  : tenths > 9 ? 9
                                               : tenths),
                           STYLE_WARN);
    }
}

static void draw_axis(const struct ui *ui, const struct qp_psn_span *span, struct canvas *canvas,
                      int y)
{
    static const struct {
        double ns;
        const char *name;
    } units[] = {{1e9, "s"}, {1e6, "ms"}, {1e3, "us"}, {1, "ns"}};
    const double length = (double)(ui->until - ui->from);
    int unit = 0;
    while (unit < 3 && length < 3 * units[unit].ns)
        unit++;
    tui_canvas_put(canvas, y, LABELS, AXIS_CORNER, STYLE_DIM);
    (void)tui_canvas_text(canvas, y + 1, 2, LABELS, STYLE_PLAIN, units[unit].name);
    for (int x = 0; x < span->width; x++) {
        const bool tick = x % TICK == 0;
        tui_canvas_put(canvas, y, span->x + x, tick ? AXIS_TICK : AXIS_FLAT, STYLE_DIM);
        if (tick && x + 6 < span->width) {
            const double at = length * x / (span->width > 1 ? span->width - 1 : 1) / units[unit].ns;
            (void)tui_canvas_printf(canvas, y + 1, span->x + x, STYLE_DIM, "%.*f",
                                    length / units[unit].ns < 10    ? 2
                                    : length / units[unit].ns < 100 ? 1
                                                                    : 0,
                                    at);
        }
    }
}

static void draw_cursor(const struct ui *ui, const struct snapshot *snapshot,
                        const struct qp_psn_span *span, struct canvas *canvas, int axis)
{
    char a[TUI_TEXT_MAX];
    static const char legend[] = ". data  X gap  r rexmit  a ack  N nak  C cnp";
    if (snapshot->detail.frames == 0 || ui->at < ui->from || ui->at > ui->until) {
        (void)tui_canvas_text(canvas, axis + 2, 1, canvas->cols - 1, STYLE_DIM, legend);
        return;
    }
    const uint32_t i = tui_qp_nearest(snapshot, ui->at);
    const struct snap_frame *frame = &snapshot->frame[i];
    const int column = span->x + column_of(ui, span, ui->at);
    tui_canvas_put(canvas, axis, column, '^', STYLE_BOLD);
    for (int y = span->y; y < span->y + span->rows; y++) {
        const struct canvas_cell *cell =
            &canvas->cell[(size_t)y * (size_t)canvas->cols + (size_t)column];
        if (cell->c == 0 || cell->c == ' ')
            tui_canvas_put(canvas, y, column, canvas->ascii ? ':' : 0x250A, STYLE_DIM);
    }
    char right[160], missing[32] = "";
    if ((frame->record.flags & ROCE_V_GAP) != 0)
        (void)snprintf(missing, sizeof(missing), " of %" PRIu32, frame->record.missing);
    (void)snprintf(right, sizeof(right), "%s%sframe %" PRIu64 " psn %" PRIu32 " %s%s",
                   canvas->cols >= 100 ? tui_text_clock(a, frame->record.ts, 6) : "",
                   canvas->cols >= 100 ? "  " : "", frame->record.number, frame->record.psn,
                   tui_qp_frame_word(frame), missing);
    /* The frame is what the reader came for: it is whole where the legend is not. */
    const int room = canvas->cols - (int)strlen(right) - 3;
    if (room > 0)
        (void)tui_canvas_text(canvas, axis + 2, 1, room, STYLE_DIM, legend);
    const enum canvas_style style = tui_qp_frame_matters(frame) ? STYLE_ERROR : STYLE_BOLD;
    if (room >= 0)
        tui_canvas_right(canvas, axis + 2, canvas->cols - 1, style, right);
    else
        (void)tui_canvas_text(canvas, axis + 2, 1, canvas->cols - 1, style, right);
}

void view_psn(const struct ui *ui, const struct snapshot *snapshot, struct canvas *canvas)
{
    const struct qp_psn_span span = tui_qp_psn_span(canvas->rows, canvas->cols);
    const int below = span.y + span.rows;
    const struct space space = find_space(ui, snapshot);
    if (snapshot->detail.frames == 0) {
        (void)tui_canvas_text(
            canvas, span.y, 1, canvas->cols - 1, STYLE_DIM,
            "its frames have left the ring of newest frames; go back with [ in a file");
    } else {
        draw_cells(&space, &span, canvas);
        draw_marks(&space, &span, canvas, below);
        draw_axis(ui, &span, canvas, below + 2);
        draw_cursor(ui, snapshot, &span, canvas, below + 2);
    }
    if (canvas->rows < 20)
        return;
    tui_qp_latency_heading(canvas, below + 5, "message latency, first pkt > ack",
                           &snapshot->detail.latency);
    tui_qp_histogram(canvas, below + 6, 4, canvas->cols >= 72 ? 2 : 1, &snapshot->detail.latency);
}
