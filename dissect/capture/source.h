/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The bytes of a capture as a window that moves forward: over one buffer that is refilled, or over
 * memory. Parsers borrow from the window; only cap_source_fill moves it. */
#ifndef CAPTURE_SOURCE_H
#define CAPTURE_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <roce/capture.h>

#include "bytes.h"
#include "codec.h"
#include "slab.h"
#include "wake.h"

/* A buffer that was left behind and may still be read, or is free for reuse. */
struct cap_window {
    uint8_t *buf;
    size_t cap;
    uint64_t mark; /* source->mark then */
};
#define CAP_SPARES 32

struct cap_source {
    const uint8_t *pos; /* next byte to parse */
    const uint8_t *end; /* end of what can be read without cap_source_fill */
    const uint8_t *start;
    uint64_t start_offset; /* of |start| in the (uncompressed) input */

    int fd; /* -1: memory */
    bool own_fd;
    bool regular;
    bool follow;
    bool opening;       /* a signal ends the wait, because nobody can break it yet */
    bool broken;        /* cap_source_fill returned 0 because of cap_wake_break */
    uint64_t file_size; /* regular files, as last seen */
    struct cap_wake wake;

    bool hold;     /* buffers left behind stay valid until cap_source_release */
    uint64_t mark; /* tells buffers apart for it: what the parser has handed out */
    struct cap_window *held;
    size_t held_count, held_cap;

    struct cap_slab slab; /* where the buffers come from */
    uint8_t *buf;
    size_t buf_cap;
    uint64_t buf_mark;                   /* |mark| when the buffer was taken */
    struct cap_window spare[CAP_SPARES]; /* buffers released */
    size_t spares;
    uint64_t file_pos; /* bytes taken from the descriptor */
    bool ended;        /* the descriptor has no more */
    struct cap_codec *codec;
    uint8_t *in;           /* compressed input, */
    const uint8_t *in_pos; /* of which these are not yet decompressed */
    size_t in_len;

    int failed; /* an error met behind bytes that are still to be parsed, or 0 */

    const char *cut; /* at the end of the input: why it is no clean end, or NULL */
    char text[ROCE_ERRTEXT_LEN];
};

/* cap_source_open opens |path| ("-": standard input). cap_source_memory reads |len| bytes at
 * |data|, cap_source_fd the descriptor |fd|, which stays the caller's. |opts| may be NULL. All
 * return 0, or a negative enum roce_err with |source->text| set; cap_source_close is due in either
 * case. */
int cap_source_open(struct cap_source *source, const char *path,
                    const struct roce_reader_opts *opts);
int cap_source_fd(struct cap_source *source, int fd, const struct roce_reader_opts *opts);
int cap_source_memory(struct cap_source *source, const uint8_t *data, size_t len);
void cap_source_close(struct cap_source *source);

/* cap_source_fill makes |need| bytes readable at |pos|. What was borrowed before is void. Returns
 * 1, 0 when the input ends (or the wait was broken) with fewer than |need| bytes, or a negative
 * enum roce_err with |source->text| set. */
int cap_source_fill(struct cap_source *source, size_t need);

static inline size_t cap_source_avail(const struct cap_source *source)
{
    return (size_t)(source->end - source->pos);
}

static inline uint64_t cap_source_offset(const struct cap_source *source)
{
    return source->start_offset + (uint64_t)(source->pos - source->start);
}

/* cap_source_consumed tells how far the parser is in the file itself, compressed or not. */
uint64_t cap_source_consumed(const struct cap_source *source);

int cap_source_fail(struct cap_source *source, int err, const char *format, ...) CAP_PRINTF(3, 4);

/* cap_source_release says that the windows left behind at |mark| or before are not read any more.
 */
void cap_source_release(struct cap_source *source, uint64_t mark);

extern const uint8_t cap_nothing[1]; /* an empty window lies here */

/* cap_source_leave keeps |window| until it is released. Returns false without memory for the list.
 */
bool cap_source_leave(struct cap_source *source, struct cap_window window);

/* The inside of these functions for what has a descriptor. */
void cap_stream_drop(struct cap_source *source, struct cap_window *window);
void cap_stream_close(struct cap_source *source);
int cap_stream_start(struct cap_source *source);
int cap_stream_fill(struct cap_source *source, size_t need);

#endif
