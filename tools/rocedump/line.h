/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One line a packet: number, time, addresses, QP, opcode, PSN, then what the packet carries. */
#ifndef ROCEDUMP_LINE_H
#define ROCEDUMP_LINE_H

#include "common/out.h"
#include "rocedump/time_column.h"

#include <roce/field.h>

enum { LINE_OPCODE_WIDTH = 28, LINE_ROOM = 8192 };

/* The longest fixed opcode text has 33 characters. */
struct line_opcode {
    char text[43];
    uint8_t len;
};

struct line_printer {
    struct out *out;
    struct time_column time;
    bool quiet, colour;
    struct line_opcode opcode[256]; /* padded to LINE_OPCODE_WIDTH */
};

void line_printer_init(struct line_printer *printer, struct out *out,
                       const struct time_column *time, bool quiet, bool colour);

/* line_print writes one line. |nanosecond| tells the clock of the frame's interface. */
void line_print(struct line_printer *printer, const struct roce_view *view, bool nanosecond);

/* line_summary writes the line without number and time: the heading of a packet for -V. Room for
 * LINE_ROOM bytes is needed; returns the end. */
char *line_summary(const struct line_printer *printer, char *out, const struct roce_view *view);

#endif
