/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Parts of a plain file that several threads copy from the kernel at once, ahead of the one that
 * parses. Each part has a buffer with room in front, for the record that began in the part before.
 */
#include "source.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HEAD_LEN (64u << 10)
#define PART_LEN CAP_BUFFER_LEN

/* What happens to a part, in the two low bits of its state; its ticket is above them, so that who
 * comes late with an old ticket finds another state. */
enum { PART_EMPTY, PART_FILLING, PART_FILLED, PART_DROPPED };

static uint64_t state_of(uint64_t ticket, unsigned what)
{
    return ticket << 2 | what;
}

static struct cap_part *part_at(struct cap_source *source, uint64_t ticket)
{
    return &source->part[ticket % CAP_PARTS];
}

static bool begin(struct cap_part *part, uint64_t ticket, unsigned what)
{
    uint64_t empty = state_of(ticket, PART_EMPTY);
    return atomic_compare_exchange_strong_explicit(&part->state, &empty, state_of(ticket, what),
                                                   memory_order_acquire, memory_order_relaxed);
}

/* Another thread is at it, which takes as long as a copy does. */
static void await(const struct cap_part *part, uint64_t ticket)
{
    while (atomic_load_explicit(&part->state, memory_order_acquire) ==
           state_of(ticket, PART_FILLING))
        (void)sched_yield();
}

uint64_t cap_ahead_reserve(struct cap_source *source)
{
    if (!source->hold || !source->regular || source->follow || source->codec != NULL ||
        source->ended || source->failed < 0 || source->part_next - source->part_first == CAP_PARTS)
        return 0;
    const uint64_t ticket = source->part_next;
    const uint64_t offset = ticket == source->part_first
                                ? source->file_pos
                                : part_at(source, ticket - 1)->offset + PART_LEN;
    if (offset >= source->file_size)
        return 0;
    struct cap_window window = cap_stream_spare(source, HEAD_LEN + PART_LEN);
    if (window.buf == NULL)
        return 0;
    struct cap_part *part = part_at(source, ticket);
    part->window = window;
    part->offset = offset;
    part->len = 0;
    atomic_store_explicit(&part->state, state_of(ticket, PART_EMPTY), memory_order_release);
    source->part_next++;
    return ticket + 1;
}

uint64_t cap_ahead_turn(const struct cap_source *source)
{
    return source->part_first == source->part_next ? 0 : source->part_first + 1;
}

static void fill(struct cap_source *source, uint64_t ticket)
{
    struct cap_part *part = part_at(source, ticket);
    if (!begin(part, ticket, PART_FILLING))
        return;
    size_t len = 0;
    while (len < PART_LEN) {
        const ssize_t n = pread(source->fd, part->window.buf + HEAD_LEN + len, PART_LEN - len,
                                (off_t)(part->offset + len));
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) /* the parser meets it where it is, and says so */
            break;
        len += (size_t)n;
    }
    part->len = len;
    atomic_store_explicit(&part->state, state_of(ticket, PART_FILLED), memory_order_release);
}

void cap_ahead_fill(struct cap_source *source, uint64_t ticket)
{
    if (ticket != 0)
        fill(source, ticket - 1);
}

void cap_ahead_drop(struct cap_source *source)
{
    for (; source->part_first != source->part_next; source->part_first++) {
        struct cap_part *part = part_at(source, source->part_first);
        if (!begin(part, source->part_first, PART_DROPPED))
            await(part, source->part_first);
        cap_stream_drop(source, &part->window);
    }
}

bool cap_ahead_take(struct cap_source *source, size_t have)
{
    const uint64_t ticket = source->part_first;
    struct cap_part *part = part_at(source, ticket);
    if (ticket == source->part_next)
        return false;
    fill(source, ticket);
    await(part, ticket);
    if (part->offset != source->file_pos || part->len == 0 || have > HEAD_LEN ||
        !cap_source_leave(source,
                          (struct cap_window){source->buf, source->buf_cap, source->mark})) {
        cap_ahead_drop(source);
        return false;
    }
    uint8_t *data = part->window.buf + HEAD_LEN;
    if (have > 0)
        memcpy(data - have, source->pos, have);
    source->buf = part->window.buf;
    source->buf_cap = part->window.cap;
    source->buf_mark = source->mark;
    source->start = source->pos = data - have;
    source->end = data + part->len;
    source->file_pos += part->len;
    source->part_first++;
    return true;
}
