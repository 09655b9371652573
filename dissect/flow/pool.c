/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Pool of equal records named by index. */
#include "pool.h"

#include "space.h"

#include <assert.h>
#include <string.h>

enum { SMALL = 2 << 20 }; /* bytes */

/* A pool doubles, so that this is seldom called. */
static void grow(struct pool *pool)
{
    const uint32_t from = pool->grow_at;
    pool->grow_at = from < pool->capacity / 2 ? 2 * from : pool->capacity;
    space_use(pool->base, pool->capacity * pool->size, from * pool->size,
              pool->grow_at * pool->size);
}

bool pool_new(struct pool *pool, size_t size, uint32_t capacity)
{
    *pool = (struct pool){
        .size = size, .capacity = capacity, .free = NIL, .grow_at = (uint32_t)(SMALL / size) + 1};
    pool->base = space_new(capacity, size);
    return pool->base != NULL;
}

void pool_del(struct pool *pool)
{
    space_del(pool->base, pool->capacity, pool->size);
    *pool = (struct pool){.free = NIL};
}

uint32_t pool_take(struct pool *pool)
{
    uint32_t index;
    if (pool->free != NIL) {
        index = pool->free;
        memcpy(&pool->free, pool_at(pool, index), sizeof pool->free);
        memset(pool_at(pool, index), 0, pool->size);
    } else if (pool->fresh < pool->capacity) {
        if (pool->fresh == pool->grow_at)
            grow(pool);
        index = pool->fresh++;
    } else {
        return NIL;
    }
    pool->used++;
    return index;
}

void pool_reach(struct pool *pool, uint32_t index)
{
    if (index < pool->fresh) {
        memset(pool_at(pool, index), 0, pool->size);
        return;
    }
    while (index >= pool->grow_at)
        grow(pool);
    pool->fresh = index + 1;
}

void pool_give(struct pool *pool, uint32_t index)
{
    assert(index < pool->fresh && pool->used > 0);
    memcpy(pool_at(pool, index), &pool->free, sizeof pool->free);
    pool->free = index;
    pool->used--;
}
