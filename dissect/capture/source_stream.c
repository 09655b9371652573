/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files and pipes, compressed or not: one buffer, refilled as a whole. Frames are borrowed from it;
 * only the one that straddles two fillings is moved. When frames are held, every filling has a
 * buffer of its own.
 *
 * Plain files are not mapped: the kernel's copy into a buffer that stays in the cache costs less
 * than fresh page tables and first touches do (ARCHITECTURE.md has figures), and a file that
 * someone truncates meanwhile cannot raise SIGBUS. */
#include "source.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define BUFFER_LEN CAP_BUFFER_LEN
#define INPUT_LEN  (128u << 10)

static int wait_more(struct cap_source *source)
{
    for (;;) {
        const enum cap_wait how = source->regular
                                      ? cap_wake_wait_growth(&source->wake)
                                      : cap_wake_wait_readable(&source->wake, source->fd);
        switch (how) {
        case CAP_WAIT_READY:
            return 1;
        case CAP_WAIT_BROKEN:
            source->broken = true;
            return 0;
        case CAP_WAIT_INTERRUPTED:
            if (source->opening)
                return cap_source_fail(source, ROCE_ERR_IO, "%s", strerror(EINTR));
            break;
        case CAP_WAIT_FAILED:
            return cap_source_fail(source, ROCE_ERR_IO, "%s", strerror(errno));
        }
    }
}

/* A file that is shorter than what was read of it was cut, or has been started afresh. Files of the
 * kernel (/proc) tell no size. */
static bool shrank(struct cap_source *source)
{
    struct stat st;
    if (!source->regular || (source->file_size == 0 && !source->follow) ||
        fstat(source->fd, &st) != 0)
        return false;
    source->file_size = (uint64_t)st.st_size;
    return source->file_size < source->file_pos;
}

/* Reads up to |len| bytes (> 0), waiting for at least one. Returns how many, 0 at the end. */
static ssize_t read_some(struct cap_source *source, uint8_t *to, size_t len)
{
    while (!source->ended) {
        if (!source->regular) {
            const int ready = wait_more(source);
            if (ready <= 0)
                return ready;
        }
        const ssize_t n = read(source->fd, to, len);
        if (n > 0) {
            source->file_pos += (uint64_t)n;
            return n;
        }
        if (n < 0) {
            if (errno == EINTR || errno == EAGAIN)
                continue;
            return cap_source_fail(source, ROCE_ERR_IO, "%s", strerror(errno));
        }
        if (shrank(source)) {
            return cap_source_fail(source, ROCE_ERR_TRUNCATED, "the file shrank while it was read");
        } else if (!source->follow) {
            source->ended = true;
        } else {
            const int ready = wait_more(source);
            if (ready <= 0)
                return ready;
        }
    }
    return 0;
}

/* Compressed input: one decompression into the room behind |*have|, reading when it gives nothing.
 * Returns 1, 0 at the end, or an error. */
static int decompress_some(struct cap_source *source, size_t *have, bool may_read)
{
    const char *why = "";
    const size_t before = *have;
    for (;;) {
        const int err = cap_codec_run(source->codec, &source->in_pos, &source->in_len,
                                      source->buf + *have, source->buf_cap - *have, have, &why);
        if (err < 0)
            return cap_source_fail(source, err, "damaged %s data: %s",
                                   cap_codec_name(source->codec), why);
        if (*have > before)
            return 1;
        if (!may_read)
            return 0;
        const ssize_t n = read_some(source, source->in, INPUT_LEN);
        if (n < 0)
            return (int)n;
        if (n == 0) {
            if (!source->broken && !cap_codec_complete(source->codec))
                source->cut = cap_codec_name(source->codec);
            return 0;
        }
        source->in_pos = source->in;
        source->in_len = (size_t)n;
    }
}

static int more(struct cap_source *source, size_t *have, size_t need)
{
    if (source->codec != NULL)
        return decompress_some(source, have, *have < need);
    const ssize_t n = read_some(source, source->buf + *have, source->buf_cap - *have);
    if (n > 0)
        *have += (size_t)n;
    return n > 0 ? 1 : (int)n;
}

/* Doubles, so that a length that a hostile file only claims costs no memory. */
static bool grow(struct cap_source *source)
{
    const size_t cap = source->buf_cap == 0 ? BUFFER_LEN : 2 * source->buf_cap;
    uint8_t *buf = cap_slab_take(&source->slab, cap);
    if (buf == NULL)
        return false;
    if (source->buf_cap > 0)
        memcpy(buf, source->buf, source->buf_cap);
    cap_slab_give(&source->slab, source->buf);
    source->buf = buf;
    source->buf_cap = cap;
    return true;
}

void cap_stream_drop(struct cap_source *source, struct cap_window *window)
{
    if (source->spares < CAP_SPARES)
        source->spare[source->spares++] = *window;
    else
        cap_slab_give(&source->slab, window->buf);
}

void cap_stream_close(struct cap_source *source)
{
    while (source->spares > 0)
        cap_slab_give(&source->slab, source->spare[--source->spares].buf);
    cap_slab_give(&source->slab, source->buf);
    cap_slab_give(&source->slab, source->in);
    cap_slab_close(&source->slab);
}

/* Goes on in another buffer, with the |have| bytes that are not yet parsed. The one released last
 * is the likeliest to be in the cache. */
static bool leave_buffer(struct cap_source *source, size_t have)
{
    const size_t cap = have > BUFFER_LEN ? source->buf_cap : BUFFER_LEN;
    struct cap_window next = {0};
    if (source->spares > 0)
        next = source->spare[--source->spares];
    if (next.cap < cap) {
        cap_slab_give(&source->slab, next.buf);
        next.buf = cap_slab_take(&source->slab, cap);
        next.cap = cap;
    }
    if (next.buf == NULL ||
        !cap_source_leave(source,
                          (struct cap_window){source->buf, source->buf_cap, source->mark})) {
        cap_slab_give(&source->slab, next.buf);
        return false;
    }
    if (have > 0)
        memcpy(next.buf, source->pos, have);
    source->buf = next.buf;
    source->buf_cap = next.cap;
    source->buf_mark = source->mark;
    return true;
}

int cap_stream_fill(struct cap_source *source, size_t need)
{
    if (source->failed < 0)
        return source->failed;
    size_t have = cap_source_avail(source);
    int status = 1;
    source->start_offset = cap_source_offset(source);
    if (source->hold && source->mark != source->buf_mark) {
        if (!leave_buffer(source, have))
            return cap_source_fail(source, ROCE_ERR_NOMEM, "out of memory");
    } else if (have > 0 && source->pos != source->buf) {
        memmove(source->buf, source->pos, have);
    }
    while (status == 1 && have < need) {
        if (have == source->buf_cap && !grow(source))
            status = cap_source_fail(source, ROCE_ERR_NOMEM, "out of memory");
        else
            status = more(source, &have, need);
    }
    /* What the decompressor can give without reading fills the rest of the buffer. */
    while (status == 1 && source->codec != NULL && have < source->buf_cap)
        status = more(source, &have, need);
    source->failed = status < 0 ? status : 0;
    if (source->buf == NULL)
        return status;
    source->start = source->pos = source->buf;
    source->end = source->buf + have;
    /* What came before an error is parsed first. */
    return have >= need ? 1 : status;
}

int cap_stream_start(struct cap_source *source)
{
    if ((!source->regular || source->follow) &&
        !cap_wake_arm(&source->wake, source->regular ? source->fd : -1))
        return cap_source_fail(source, ROCE_ERR_IO, "%s", strerror(errno));
    const int filled = cap_stream_fill(source, CAP_CODEC_MAGIC_LEN);
    if (filled < 0)
        return filled;
    const size_t have = cap_source_avail(source);
    const enum cap_codec_kind kind = cap_codec_detect(source->pos, have);
    if (kind == CAP_CODEC_NONE)
        return 0;
    source->codec = cap_codec_new(kind);
    if (source->codec == NULL)
        return cap_source_fail(source, ROCE_ERR_NOMEM, "out of memory");
    /* The buffer with the first bytes becomes the decompressor's input. */
    source->in = source->buf;
    source->in_pos = source->in;
    source->in_len = have;
    source->buf = NULL;
    source->buf_cap = 0;
    source->start = source->pos = source->end = cap_nothing;
    return 0;
}
