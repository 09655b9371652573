/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Small histograms for many flows. */
#include "histpool.h"

#include "space.h"

#include <string.h>

_Static_assert(sizeof(struct hist_head) == 64, "a head is one cache line");
_Static_assert(sizeof(struct hist_page) == 64, "a page is one cache line");

bool hist_pool_new(struct hist_pool *pool, uint32_t capacity)
{
    pool->link = space_new(capacity, sizeof *pool->link);
    return pool_new(&pool->pages, sizeof(struct hist_page), capacity) && pool->link != NULL;
}

void hist_pool_del(struct hist_pool *pool)
{
    space_del(pool->link, pool->pages.capacity, sizeof *pool->link);
    pool_del(&pool->pages);
    pool->link = NULL;
}

static struct hist_page *page_at(const struct hist_pool *pool, uint32_t index)
{
    return pool_at(&pool->pages, index);
}

static uint32_t find(const struct hist_head *head, const struct hist_pool *pool, uint32_t octave)
{
    uint32_t i = head->pages;
    while (i != NIL && pool->link[i].octave != octave)
        i = pool->link[i].next;
    return i;
}

static uint32_t open_page(struct hist_head *head, struct hist_pool *pool, uint32_t octave)
{
    const uint32_t i = pool_take(&pool->pages);
    if (i != NIL) {
        pool->link[i].octave = octave;
        pool->link[i].next = head->pages;
        head->pages = i;
    }
    return i;
}

static uint32_t distance(uint32_t a, uint32_t b)
{
    return a > b ? a - b : b - a;
}

static uint32_t nearest(const struct hist_head *head, const struct hist_pool *pool, uint32_t octave)
{
    uint32_t best = NIL;
    for (uint32_t i = head->pages; i != NIL; i = pool->link[i].next)
        if (pool->link[i].octave < HIST_CARRY &&
            (best == NIL ||
             distance(pool->link[i].octave, octave) < distance(pool->link[best].octave, octave)))
            best = i;
    return best;
}

static bool carry(struct hist_head *head, struct hist_pool *pool, uint32_t octave, uint32_t sub)
{
    uint32_t i = find(head, pool, octave | HIST_CARRY);
    if (i == NIL)
        i = open_page(head, pool, octave | HIST_CARRY);
    if (i == NIL)
        return false;
    page_at(pool, i)->count[sub]++;
    return true;
}

static bool page_add(struct hist_head *head, struct hist_pool *pool, uint32_t bucket)
{
    uint32_t octave = bucket / ROCE_HIST_SUB;
    uint32_t sub = bucket % ROCE_HIST_SUB;
    bool good = true;
    if (head->last.octave != octave) {
        uint32_t i = find(head, pool, octave);
        if (i == NIL)
            i = open_page(head, pool, octave);
        if (i == NIL) {
            good = false;
            i = nearest(head, pool, octave);
            if (i == NIL)
                return false;
            sub = pool->link[i].octave < octave ? ROCE_HIST_SUB - 1 : 0;
            octave = pool->link[i].octave;
        }
        head->last.octave = octave;
        head->last.page = i;
    }
    if (++page_at(pool, head->last.page)->count[sub] == 0)
        good = carry(head, pool, octave, sub) && good;
    return good;
}

bool hist_head_add(struct hist_head *head, struct hist_pool *pool, uint64_t value)
{
    if (head->count == 0) {
        head->min = value;
        head->pages = NIL;
    }
    if (value < head->min)
        head->min = value;
    if (value > head->max)
        head->max = value;
    const uint32_t bucket = roce_hist_bucket(value);
    bool good = true;
    if (head->count < HIST_INLINE) {
        head->sample[head->count] = (uint16_t)bucket;
    } else {
        if (head->count == HIST_INLINE) {
            uint16_t sample[HIST_INLINE];
            memcpy(sample, head->sample, sizeof sample);
            head->last.octave = NIL;
            for (int i = 0; i < HIST_INLINE; i++)
                good = page_add(head, pool, sample[i]) && good;
        }
        good = page_add(head, pool, bucket) && good;
    }
    if (head->count != UINT32_MAX)
        head->count++;
    return good;
}

void hist_head_expand(const struct hist_head *head, const struct hist_pool *pool,
                      struct roce_hist *out)
{
    *out = (struct roce_hist){.count = head->count, .min = head->min, .max = head->max};
    if (head->count <= HIST_INLINE) {
        for (uint32_t i = 0; i < head->count; i++)
            out->bucket[head->sample[i]]++;
        return;
    }
    for (uint32_t i = head->pages; i != NIL; i = pool->link[i].next) {
        const uint32_t octave = pool->link[i].octave;
        uint32_t *bucket = &out->bucket[octave % HIST_CARRY * ROCE_HIST_SUB];
        for (uint32_t k = 0; k < ROCE_HIST_SUB; k++)
            bucket[k] += (uint32_t)page_at(pool, i)->count[k] << (octave >= HIST_CARRY ? 16 : 0);
    }
}

bool hist_head_copy(struct hist_head *head, struct hist_pool *pool, const struct hist_head *from)
{
    *head = *from;
    head->flag = 0;
    if (from->count <= HIST_INLINE)
        return true;
    head->pages = NIL;
    head->last.octave = NIL;
    for (uint32_t i = from->pages; i != NIL; i = pool->link[i].next) {
        const uint32_t copy = open_page(head, pool, pool->link[i].octave);
        if (copy == NIL)
            return false;
        *page_at(pool, copy) = *page_at(pool, i);
    }
    return true;
}

void hist_head_drop(struct hist_head *head, struct hist_pool *pool)
{
    if (head->count > HIST_INLINE)
        while (head->pages != NIL) {
            const uint32_t i = head->pages;
            head->pages = pool->link[i].next;
            pool_give(&pool->pages, i);
        }
    *head = (struct hist_head){.pages = NIL};
}
