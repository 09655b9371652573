/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Frames on their way. */
#include "port/line.h"

#include <assert.h>
#include <roce/err.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define NO_SLOT UINT32_MAX

struct entry {
    roce_tstamp when;
    uint64_t seq; /* order of line_put */
    uint32_t slot, len;
};

struct line {
    uint32_t capacity;
    size_t frame_len;
    uint8_t *slots;
    uint32_t *free; /* stack: the slot used last is warm in the cache */
    uint32_t n_free;
    uint32_t room, taken; /* slot handed out by line_room, by line_take; NO_SLOT */
    uint64_t seq;
    struct entry *ring; /* in the order of |when| */
    uint32_t head, n_ring;
    struct entry *heap; /* the others */
    uint32_t n_heap;
};

struct line *line_new(uint32_t capacity, size_t frame_len)
{
    struct line *line = calloc(1, sizeof(*line));
    if (line == NULL)
        return NULL;
    line->capacity = capacity;
    line->frame_len = frame_len;
    line->slots = malloc((size_t)capacity * frame_len);
    line->free = calloc(capacity, sizeof(*line->free));
    line->ring = calloc(capacity, sizeof(*line->ring));
    line->heap = calloc(capacity, sizeof(*line->heap));
    if (line->slots == NULL || line->free == NULL || line->ring == NULL || line->heap == NULL) {
        line_del(line);
        return NULL;
    }
    for (uint32_t i = 0; i < capacity; i++)
        line->free[i] = capacity - 1 - i;
    line->n_free = capacity;
    line->room = line->taken = NO_SLOT;
    return line;
}

void line_del(struct line *line)
{
    if (line == NULL)
        return;
    free(line->slots);
    free(line->free);
    free(line->ring);
    free(line->heap);
    free(line);
}

uint8_t *line_room(struct line *line)
{
    if (line->room == NO_SLOT) {
        if (line->n_free == 0)
            return NULL;
        line->room = line->free[--line->n_free];
    }
    return line->slots + line->room * line->frame_len;
}

static bool before(const struct entry *a, const struct entry *b)
{
    return a->when != b->when ? a->when < b->when : a->seq < b->seq;
}

static void heap_push(struct line *line, struct entry e)
{
    uint32_t i = line->n_heap++;
    while (i > 0 && before(&e, &line->heap[(i - 1) / 2])) {
        line->heap[i] = line->heap[(i - 1) / 2];
        i = (i - 1) / 2;
    }
    line->heap[i] = e;
}

static void heap_pop(struct line *line)
{
    const struct entry last = line->heap[--line->n_heap];
    uint32_t i = 0;
    for (;;) {
        uint32_t child = 2 * i + 1;
        if (child >= line->n_heap)
            break;
        if (child + 1 < line->n_heap && before(&line->heap[child + 1], &line->heap[child]))
            child++;
        if (!before(&line->heap[child], &last))
            break;
        line->heap[i] = line->heap[child];
        i = child;
    }
    line->heap[i] = last;
}

void line_put(struct line *line, size_t len, roce_tstamp when)
{
    assert(line->room != NO_SLOT && len <= line->frame_len);
    const struct entry e = {
        .when = when, .seq = line->seq++, .slot = line->room, .len = (uint32_t)len};
    line->room = NO_SLOT;
    const uint32_t last = (line->head + line->n_ring + line->capacity - 1) % line->capacity;
    if (line->n_ring > 0 && when < line->ring[last].when) {
        heap_push(line, e);
        return;
    }
    line->ring[(line->head + line->n_ring++) % line->capacity] = e;
}

int line_copy(struct line *line, const uint8_t *data, size_t len, roce_tstamp when)
{
    uint8_t *room = len <= line->frame_len ? line_room(line) : NULL;
    if (room == NULL)
        return ROCE_ERR_FULL;
    memcpy(room, data, len);
    line_put(line, len, when);
    return 0;
}

static const struct entry *first(const struct line *line)
{
    const struct entry *r = line->n_ring > 0 ? &line->ring[line->head] : NULL;
    const struct entry *h = line->n_heap > 0 ? &line->heap[0] : NULL;
    if (r == NULL || h == NULL)
        return r != NULL ? r : h;
    return before(h, r) ? h : r;
}

const uint8_t *line_take(struct line *line, roce_tstamp now, size_t *len)
{
    if (line->taken != NO_SLOT) {
        line->free[line->n_free++] = line->taken;
        line->taken = NO_SLOT;
    }
    const struct entry *e = first(line);
    if (e == NULL || e->when > now)
        return NULL;
    line->taken = e->slot;
    *len = e->len;
    if (line->n_heap > 0 && e == &line->heap[0]) {
        heap_pop(line);
    } else {
        line->head = (line->head + 1) % line->capacity;
        line->n_ring--;
    }
    return line->slots + line->taken * line->frame_len;
}

roce_tstamp line_next(const struct line *line)
{
    const struct entry *e = first(line);
    return e == NULL ? UINT64_MAX : e->when;
}
