/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A requester obeys NAKs in the order they come, each at once. Where frames overtake each other, or
 * only the one asked for is sent again, several are under way at a time. */
#include "naks.h"

#define KEPT_MAX  3
#define OBEYED_IN 50000000 /* ns: none is obeyed later than this */

/* In the nodes' pool, oldest first. */
struct kept {
    roce_tstamp ts[KEPT_MAX];
    uint32_t psn[KEPT_MAX], missing[KEPT_MAX];
    uint32_t frame[KEPT_MAX]; /* low half */
    uint32_t n;
};

_Static_assert(sizeof(struct kept) <= sizeof(struct node), "they share the nodes' pool");

static void forget_oldest(struct roce_flow_table *t, struct affair *affair, uint32_t n)
{
    struct kept *k = pool_at(&t->node_pool, affair->naks);
    k->n -= n;
    for (uint32_t i = 0; i < k->n; i++) {
        k->ts[i] = k->ts[i + n];
        k->psn[i] = k->psn[i + n];
        k->missing[i] = k->missing[i + n];
        k->frame[i] = k->frame[i + n];
    }
    if (k->n > 0)
        return;
    pool_give(&t->node_pool, affair->naks);
    affair->naks = NIL;
}

void naks_keep(struct roce_flow_table *t, struct affair *affair)
{
    affair->has_nak = false;
    if (affair->naks == NIL)
        affair->naks = pool_take(&t->node_pool);
    else if (((struct kept *)pool_at(&t->node_pool, affair->naks))->n == KEPT_MAX)
        forget_oldest(t, affair, 1);
    if (affair->naks == NIL)
        return;
    struct kept *k = pool_at(&t->node_pool, affair->naks);
    const uint32_t i = k->n++;
    k->ts[i] = affair->nak_ts;
    k->psn[i] = affair->nak_psn;
    k->missing[i] = affair->nak_missing;
    k->frame[i] = (uint32_t)affair->nak_frame;
}

/* Its place; KEPT_MAX: none. */
static uint32_t place_of(struct roce_flow_table *t, struct affair *affair, uint32_t psn)
{
    naks_age(t, affair);
    if (affair->naks == NIL)
        return KEPT_MAX;
    const struct kept *k = pool_at(&t->node_pool, affair->naks);
    uint32_t i = 0;
    while (i < k->n && k->psn[i] != psn)
        i++;
    return i < k->n ? i : KEPT_MAX;
}

bool naks_find(struct roce_flow_table *t, struct affair *affair, uint32_t psn)
{
    return place_of(t, affair, psn) < KEPT_MAX;
}

bool naks_take(struct roce_flow_table *t, struct affair *affair, uint32_t psn)
{
    const uint32_t i = place_of(t, affair, psn);
    if (i == KEPT_MAX)
        return false;
    const struct kept k = *(const struct kept *)pool_at(&t->node_pool, affair->naks);
    forget_oldest(t, affair, i + 1);
    if (affair->has_nak)
        naks_keep(t, affair);
    affair->has_nak = true;
    affair->nak_ts = k.ts[i];
    affair->nak_psn = psn;
    affair->nak_missing = k.missing[i];
    affair->nak_frame = t->frame - (uint32_t)((uint32_t)t->frame - k.frame[i]);
    return true;
}

void naks_drop(struct roce_flow_table *t, struct affair *affair, roce_tstamp ts)
{
    if (affair->naks == NIL)
        return;
    const struct kept *k = pool_at(&t->node_pool, affair->naks);
    uint32_t n = 0;
    while (n < k->n && k->ts[n] <= ts)
        n++;
    if (n > 0)
        forget_oldest(t, affair, n);
}

void naks_age(struct roce_flow_table *t, struct affair *affair)
{
    if (t->now > OBEYED_IN)
        naks_drop(t, affair, t->now - OBEYED_IN);
}
