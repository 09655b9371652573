/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Holes of a PSN track: what was skipped and has not been captured since. With the track's two ends
 * this tells exactly whether a PSN was captured before. */
#include "internal.h"

#define HOLES_MAX 128 /* of one track; the oldest is given up */

static bool hole_has(const struct hole *h, uint32_t psn)
{
    return ((psn - h->psn) & ROCE_PSN_MASK) < h->len;
}

uint32_t hole_find(const struct roce_flow_table *t, uint32_t list, uint32_t psn)
{
    for (uint32_t i = list; i != NIL; i = hole_at(t, i)->next)
        if (hole_has(hole_at(t, i), psn))
            return i;
    return NIL;
}

static void drop_oldest(struct roce_flow_table *t, uint32_t *list)
{
    uint32_t *link = list;
    while (hole_at(t, *link)->next != NIL)
        link = &hole_at(t, *link)->next;
    pool_give(&t->hole_pool, *link);
    *link = NIL;
    t->forgotten++;
}

void hole_add(struct roce_flow_table *t, uint32_t *list, uint32_t psn, uint32_t len, bool soft)
{
    uint32_t n = 0;
    for (uint32_t i = *list; i != NIL; i = hole_at(t, i)->next)
        n++;
    if (n >= HOLES_MAX)
        drop_oldest(t, list);
    uint32_t index = pool_take(&t->hole_pool);
    if (index == NIL) {
        if (*list == NIL) {
            t->forgotten++;
            return;
        }
        drop_oldest(t, list);
        index = pool_take(&t->hole_pool);
    }
    struct hole *h = hole_at(t, index);
    *h = (struct hole){
        .next = *list, .psn = psn, .len = len, .frame = t->frame, .ts = t->now, .soft = soft};
    *list = index;
}

/* Cuts [psn, psn + n) out of one hole; returns false when nothing of it is left. */
static bool hole_cut(struct roce_flow_table *t, uint32_t index, uint32_t psn, uint32_t n)
{
    struct hole *h = hole_at(t, index);
    /* Where the cut begins and ends, as offsets into the hole. */
    const int32_t from = roce_psn_diff(psn, h->psn);
    const uint32_t begin = from < 0 ? 0 : (uint32_t)from;
    const int64_t to = (int64_t)from + n;
    const uint32_t end = to > (int64_t)h->len ? h->len : (uint32_t)to;
    if (begin == 0 && end == h->len)
        return false;
    if (begin == 0) {
        h->psn = roce_psn_add(h->psn, end);
        h->len -= end;
    } else if (end == h->len) {
        h->len = begin;
    } else {
        const uint32_t rest = pool_take(&t->hole_pool);
        if (rest != NIL) {
            struct hole *r = hole_at(t, rest);
            h = hole_at(t, index);
            *r = *h;
            r->psn = roce_psn_add(h->psn, end);
            r->len = h->len - end;
            h->next = rest;
        } else {
            t->forgotten++;
        }
        h->len = begin;
    }
    return true;
}

void hole_fill(struct roce_flow_table *t, uint32_t *list, uint32_t psn, uint32_t n,
               struct hole *was)
{
    was->len = 0;
    for (uint32_t *link = list; *link != NIL;) {
        struct hole *h = hole_at(t, *link);
        const bool hit = hole_has(h, psn) || ((h->psn - psn) & ROCE_PSN_MASK) < n;
        if (!hit) {
            link = &h->next;
            continue;
        }
        if (was->len == 0)
            *was = *h;
        if (hole_cut(t, *link, psn, n)) {
            link = &hole_at(t, *link)->next;
            continue;
        }
        const uint32_t gone = *link;
        *link = hole_at(t, gone)->next;
        pool_give(&t->hole_pool, gone);
    }
}

void hole_drop(struct roce_flow_table *t, uint32_t *list)
{
    while (*list != NIL) {
        const uint32_t i = *list;
        *list = hole_at(t, i)->next;
        pool_give(&t->hole_pool, i);
    }
}
