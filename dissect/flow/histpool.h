/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Small histograms for many flows: a few samples are kept as they are, more of them in pages of one
 * octave each, taken from a bounded pool. */
#ifndef FLOW_HISTPOOL_H
#define FLOW_HISTPOOL_H

#include <roce/hist.h>

#include "pool.h"

#define HIST_INLINE 18

struct hist_head { /* one cache line */
    uint64_t min, max;
    uint32_t count;
    uint32_t flag;  /* the owner's */
    uint32_t pages; /* list of octave pages, NIL while the samples are inline */
    union {
        uint16_t sample[HIST_INLINE]; /* buckets */
        struct {                      /* with pages: the one used last */
            uint32_t octave, page;
        } last;
    };
};

/* The counters of one octave, in one cache line. Counters of 65536 and more go on in a second page
 * of the same octave that counts in units of 65536. */
struct hist_page {
    uint16_t count[ROCE_HIST_SUB];
};
#define HIST_CARRY 0x100 /* octave bit of such a page */

struct hist_pool {
    struct pool pages;
    struct hist_link { /* beside the pages, for the common case needs only their counters */
        uint32_t next, octave;
    } * link;
};

bool hist_pool_new(struct hist_pool *pool, uint32_t capacity);
void hist_pool_del(struct hist_pool *pool);

/* hist_head_add adds |value|. When |pool| is exhausted, a new octave's samples are put into the
 * nearest page there is, or only counted. Returns false in that case. */
bool hist_head_add(struct hist_head *head, struct hist_pool *pool, uint64_t value);
/* hist_head_add_near is the same, without a call for a value of the octave of the one before. */
static inline bool hist_head_add_near(struct hist_head *head, struct hist_pool *pool,
                                      uint64_t value)
{
    const uint32_t bucket = roce_hist_bucket(value);
    if (head->count > HIST_INLINE && head->count != UINT32_MAX &&
        head->last.octave == bucket / ROCE_HIST_SUB) {
        struct hist_page *page = pool_at(&pool->pages, head->last.page);
        uint16_t *count = &page->count[bucket % ROCE_HIST_SUB];
        if (*count != UINT16_MAX) {
            ++*count;
            head->count++;
            head->min = value < head->min ? value : head->min;
            head->max = value > head->max ? value : head->max;
            return true;
        }
    }
    return hist_head_add(head, pool, value);
}
/* hist_head_prefetch fetches the page that a further value like the last one goes into. */
static inline void hist_head_prefetch(const struct hist_head *head, const struct hist_pool *pool)
{
    if (head->count > HIST_INLINE && head->last.octave != NIL)
        prefetch_line(pool_at(&pool->pages, head->last.page));
}
void hist_head_expand(const struct hist_head *head, const struct hist_pool *pool,
                      struct roce_hist *out);
/* hist_head_copy fills an empty head with the samples of |from|. */
bool hist_head_copy(struct hist_head *head, struct hist_pool *pool, const struct hist_head *from);
void hist_head_drop(struct hist_head *head, struct hist_pool *pool);

#endif
