/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A line: frames on their way, each with the time at which it arrives. Frames that arrive in the
 * order they left pass through a ring; late ones wait in a heap beside it. */
#ifndef PORT_LINE_H
#define PORT_LINE_H

#include <roce/types.h>
#include <stddef.h>
#include <stdint.h>

struct line;

/* line_new makes room for |capacity| frames of up to |frame_len| bytes; NULL without memory. */
struct line *line_new(uint32_t capacity, size_t frame_len);
void line_del(struct line *line); /* NULL is allowed */

/* line_room returns memory for the next frame, the same until line_put; NULL: the line is full. */
uint8_t *line_room(struct line *line);
/* line_put sends the |len| bytes of the last room; they arrive at |when|. */
void line_put(struct line *line, size_t len, roce_tstamp when);
/* line_copy sends a copy of the |len| bytes at |data|; 0, or ROCE_ERR_FULL. */
int line_copy(struct line *line, const uint8_t *data, size_t len, roce_tstamp when);
/* line_take returns the frame that arrived first, up to |now|, in |*len| its length; it stays
 * valid until the next line_take. NULL: none. Frames of one time keep their order. */
const uint8_t *line_take(struct line *line, roce_tstamp now, size_t *len);
/* line_next returns when the next frame arrives, UINT64_MAX when none is on the line. */
roce_tstamp line_next(const struct line *line);

#endif
