/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The ring of frames. A mark is the record's place in the stream of all bytes ever written, plus
 * one. Records do not wrap: the rest of a round that is too short is skipped. A record is intact as
 * long as less than |size| bytes were written behind its beginning. */
#include "ring.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "memory.h"

enum { SIZE_MIN = 1 << 20, ALIGN = 64 };

_Static_assert(sizeof(struct ring_record) == ALIGN, "a record is one cache line");

int tui_ring_init(struct ring *ring, uint64_t bytes, uint32_t slice)
{
    *ring = (struct ring){.slice = slice > UINT16_MAX ? UINT16_MAX : slice};
    ring->size = (bytes < SIZE_MIN ? SIZE_MIN : bytes) / RING_BLOCK * RING_BLOCK;
    ring->memory = tui_memory_new((size_t)ring->size);
    ring->first = calloc((size_t)(ring->size / RING_BLOCK), sizeof(*ring->first));
    if (ring->memory != NULL && ring->first != NULL)
        return 0;
    tui_ring_free(ring);
    return -1;
}

void tui_ring_free(struct ring *ring)
{
    free(ring->memory);
    free(ring->first);
    *ring = (struct ring){0};
}

void tui_ring_clear(struct ring *ring)
{
    ring->begun = ring->head;
    ring->linktypes = 0;
}

static uint64_t room_of(uint32_t data_len)
{
    return sizeof(struct ring_record) + (data_len + (uint64_t)ALIGN - 1) / ALIGN * ALIGN;
}

static uint8_t code_of(struct ring *ring, uint32_t linktype)
{
    uint8_t i = 0;
    while (i < ring->linktypes && ring->linktype[i] != linktype)
        i++;
    if (i == RING_LINKTYPES)
        return RING_LINKTYPES - 1;
    if (i == ring->linktypes)
        ring->linktype[ring->linktypes++] = linktype;
    return i;
}

static struct ring_record *place_at(const struct ring *ring, uint64_t at)
{
    return (struct ring_record *)(void *)(ring->memory + at);
}

/* Nobody reads the record soon, and it would push flow state out of the cache. It goes there word
 * by word: what was just written as smaller members cannot be read at once as something larger. */
static void store(struct ring_record *place, const struct ring_record *r)
{
#if defined(__SSE2__) && defined(__x86_64__)
    const uint64_t word[] = {
        r->before,
        r->number,
        r->ts,
        r->flow | (uint64_t)r->flags << 32,
        r->caplen | (uint64_t)r->origlen << 32,
        r->psn | (uint64_t)r->psns << 32,
        r->missing | (uint64_t)r->data_len << 32 | (uint64_t)r->opcode << 48 |
            (uint64_t)r->op << 56,
        r->syndrome | (uint64_t)r->ecn << 8 | (uint64_t)r->linktype_code << 16 |
            (uint64_t)r->iface << 24 | (uint64_t)r->has_bth << 32 | (uint64_t)r->icrc_bad << 40,
    };
    _Static_assert(offsetof(struct ring_record, data_len) == 52 &&
                       offsetof(struct ring_record, syndrome) == 56 &&
                       offsetof(struct ring_record, icrc_bad) == 61,
                   "the words are the members");
    long long *to = (long long *)(void *)place;
    for (size_t i = 0; i < sizeof(word) / sizeof(word[0]); i++)
        _mm_stream_si64(&to[i], (long long)word[i]);
#else
    *place = *r;
#endif
}

/* Frames are numbered from 1: number 0 says that the rest of the round holds none. */
static void skip_round(struct ring *ring, uint64_t at)
{
    if (at < ring->size)
        *place_at(ring, at) = (struct ring_record){0};
    ring->head += ring->size - at;
    ring->at = 0;
}

uint64_t tui_ring_push(struct ring *ring, struct ring_record *record,
                       const struct roce_frame *frame)
{
    const uint32_t data_len = frame->caplen < ring->slice ? frame->caplen : ring->slice;
    const uint64_t room = room_of(data_len);
    uint64_t at = ring->at;
    if (ring->size - at < room) {
        skip_round(ring, at);
        at = 0;
    }
    const uint64_t begin = ring->head;
    struct ring_record *place = place_at(ring, at);
    record->data_len = (uint16_t)data_len;
    record->linktype_code = ring->linktypes > 0 && ring->linktype[0] == frame->linktype
                                ? 0
                                : code_of(ring, frame->linktype);
    store(place, record);
    if (data_len > 0)
        memcpy(place + 1, frame->data, data_len);
    ring->head += room;
    ring->at = at + room < ring->size ? at + room : 0;
    ring->records++;
    /* Blocks that this record covers from their beginning have their first record behind it. */
    if (at % RING_BLOCK == 0)
        ring->first[at / RING_BLOCK] = begin;
    for (uint64_t block = at / RING_BLOCK + 1; block * RING_BLOCK < at + room; block++)
        ring->first[block] = ring->head;
    return begin + 1;
}

const struct ring_record *tui_ring_get(const struct ring *ring, uint64_t mark)
{
    if (mark == 0 || mark <= ring->begun || mark > ring->head ||
        ring->head - (mark - 1) > ring->size)
        return NULL;
    return place_at(ring, (mark - 1) % ring->size);
}

const uint8_t *tui_ring_data(const struct ring_record *record)
{
    return (const uint8_t *)(record + 1);
}

void tui_ring_frame(const struct ring *ring, const struct ring_record *record,
                    struct roce_frame *frame)
{
    *frame = (struct roce_frame){
        .data = tui_ring_data(record),
        .caplen = record->data_len,
        .origlen = record->origlen,
        .ts = record->ts,
        .number = record->number,
        .iface = record->iface,
        .linktype = ring->linktype[record->linktype_code],
    };
}

/* The record at or behind |position|. */
static uint64_t settle(const struct ring *ring, uint64_t position)
{
    if (position < ring->head && place_at(ring, position % ring->size)->number == 0)
        position += ring->size - position % ring->size;
    return position < ring->head ? position + 1 : 0;
}

uint64_t tui_ring_oldest(const struct ring *ring)
{
    if (ring->head - ring->begun <= ring->size)
        return settle(ring, ring->begun);
    /* The first block whose first record is intact. */
    const uint64_t oldest = ring->head - ring->size;
    for (uint64_t at = (oldest + RING_BLOCK - 1) / RING_BLOCK * RING_BLOCK; at < ring->head;
         at += RING_BLOCK) {
        const uint64_t first = ring->first[at % ring->size / RING_BLOCK];
        if (first >= oldest && first < ring->head)
            return settle(ring, first);
    }
    return 0;
}

uint64_t tui_ring_next(const struct ring *ring, uint64_t mark)
{
    const struct ring_record *record = tui_ring_get(ring, mark);
    return record == NULL ? 0 : settle(ring, mark - 1 + room_of(record->data_len));
}
