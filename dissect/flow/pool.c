/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Pool of equal records named by index. */
#include "pool.h"

#include "space.h"

#include <assert.h>
#include <string.h>
#include <sys/mman.h>

#define LARGE ((uintptr_t)2 << 20)

/* Small pools stay in small pages. What is filled bit by bit beyond takes a fault every 2 MiB, not
 * every 4 KiB, where the system has such pages. A pool doubles, so that this is seldom called. */
static void grow(struct pool *pool)
{
    const uint32_t from = pool->grow_at;
    pool->grow_at = from < pool->capacity / 2 ? 2 * from : pool->capacity;
#if defined(MADV_HUGEPAGE)
    const uintptr_t begin = (uintptr_t)pool_at(pool, from) / LARGE * LARGE;
    const uintptr_t end = (uintptr_t)pool_at(pool, pool->grow_at) / LARGE * LARGE;
    if (begin >= (uintptr_t)pool->base && begin < end)
        (void)madvise((void *)begin, end - begin, MADV_HUGEPAGE);
#endif
}

bool pool_new(struct pool *pool, size_t size, uint32_t capacity)
{
    *pool = (struct pool){
        .size = size, .capacity = capacity, .free = NIL, .grow_at = (uint32_t)(LARGE / size)};
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

void pool_give(struct pool *pool, uint32_t index)
{
    assert(index < pool->fresh && pool->used > 0);
    memcpy(pool_at(pool, index), &pool->free, sizeof pool->free);
    pool->free = index;
    pool->used--;
}
