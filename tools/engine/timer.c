/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Timers of QPs: a binary heap with lazy keys. */
#include "timer.h"

#include "device.h"
#include "qp.h"

static roce_tstamp earliest(const struct qp_timers *t)
{
    const roce_tstamp a = t->ack < t->rnr ? t->ack : t->rnr;
    const roce_tstamp b = t->pace < t->cc ? t->pace : t->cc;
    return a < b ? a : b;
}

static void place(struct timer_heap *h, uint32_t pos, struct timer_entry e)
{
    h->entries[pos] = e;
    e.qp->timer_pos = pos;
}

static void sift_up(struct timer_heap *h, uint32_t pos, struct timer_entry e)
{
    for (; pos > 1 && h->entries[pos / 2].key > e.key; pos /= 2)
        place(h, pos, h->entries[pos / 2]);
    place(h, pos, e);
}

static void sift_down(struct timer_heap *h, uint32_t pos, struct timer_entry e)
{
    for (;;) {
        uint32_t child = pos * 2;
        if (child > h->count)
            break;
        if (child < h->count && h->entries[child + 1].key < h->entries[child].key)
            child++;
        if (h->entries[child].key >= e.key)
            break;
        place(h, pos, h->entries[child]);
        pos = child;
    }
    place(h, pos, e);
}

void timer_update(struct eng_qp *qp)
{
    struct timer_heap *h = &qp->dev->timers;
    const struct timer_entry e = {.key = earliest(&qp->timer), .qp = qp};
    if (qp->timer_pos == 0) {
        if (e.key != ENG_NEVER)
            sift_up(h, ++h->count, e);
    } else if (e.key < h->entries[qp->timer_pos].key) {
        sift_up(h, qp->timer_pos, e);
    }
}

void timer_remove(struct eng_qp *qp)
{
    struct timer_heap *h = &qp->dev->timers;
    const uint32_t pos = qp->timer_pos;
    if (pos == 0)
        return;
    qp->timer_pos = 0;
    const struct timer_entry last = h->entries[h->count--];
    if (last.qp == qp)
        return;
    if (pos > 1 && h->entries[pos / 2].key > last.key)
        sift_up(h, pos, last);
    else
        sift_down(h, pos, last);
}

/* Entries at the top whose times have moved back take their proper places. */
static struct timer_entry *settle_top(struct timer_heap *h, roce_tstamp now)
{
    while (h->count > 0) {
        struct timer_entry *top = &h->entries[1];
        const roce_tstamp due = earliest(&top->qp->timer);
        if (due == top->key || top->key > now)
            return top;
        if (due == ENG_NEVER)
            timer_remove(top->qp);
        else
            sift_down(h, 1, (struct timer_entry){.key = due, .qp = top->qp});
    }
    return NULL;
}

roce_tstamp timer_next(struct eng_dev *dev)
{
    const struct timer_entry *top = settle_top(&dev->timers, ENG_NEVER);
    return top == NULL ? ENG_NEVER : top->key;
}

struct eng_qp *timer_due(struct eng_dev *dev, roce_tstamp now)
{
    const struct timer_entry *top = settle_top(&dev->timers, now);
    return top == NULL || top->key > now ? NULL : top->qp;
}
