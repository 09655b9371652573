/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Pool of equal records named by index. */
#include "pool.h"

#include "space.h"

#include <assert.h>
#include <string.h>

bool pool_new(struct pool *pool, size_t size, uint32_t capacity)
{
    *pool = (struct pool){.size = size, .capacity = capacity, .free = NIL};
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
    pool->fresh = index + 1;
}

void pool_give(struct pool *pool, uint32_t index)
{
    assert(index < pool->fresh && pool->used > 0);
    memcpy(pool_at(pool, index), &pool->free, sizeof pool->free);
    pool->free = index;
    pool->used--;
}
