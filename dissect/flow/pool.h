/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Pool of equal records named by index: reserved once, touched as it fills, no allocation later. */
#ifndef FLOW_POOL_H
#define FLOW_POOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define NIL UINT32_MAX

struct pool {
    uint8_t *base; /* first record, on a page boundary */
    size_t size;   /* bytes of a record, a multiple of 4 */
    uint32_t capacity;
    uint32_t fresh; /* records never used begin here */
    uint32_t free;  /* head of the list of returned records; the link is their first word */
    uint32_t used;
};

bool pool_new(struct pool *pool, size_t size, uint32_t capacity);
void pool_del(struct pool *pool);
/* pool_take returns the index of a zeroed record, or NIL when the pool is exhausted. */
uint32_t pool_take(struct pool *pool);
/* pool_reach is pool_take of record |index|, for a pool whose records have the indexes of another
 * one's. */
void pool_reach(struct pool *pool, uint32_t index);
void pool_give(struct pool *pool, uint32_t index);

static inline void *pool_at(const struct pool *pool, uint32_t index)
{
    return pool->base + (size_t)index * pool->size;
}

/* pool_take_dirty is pool_take for a caller that writes the whole record. */
static inline uint32_t pool_take_dirty(struct pool *pool)
{
    const uint32_t index = pool->free;
    if (index == NIL)
        return pool_take(pool);
    memcpy(&pool->free, pool_at(pool, index), sizeof pool->free);
    pool->used++;
    return index;
}

static inline void prefetch_line(const void *p)
{
#if defined(__GNUC__)
    __builtin_prefetch(p, 1);
#else
    (void)p;
#endif
}

static inline uint64_t pool_touched(const struct pool *pool)
{
    return (uint64_t)pool->fresh * pool->size;
}

#endif
