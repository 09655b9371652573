/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared receive queues: receives that whichever QP needs one first takes. */
#include "srq.h"

#include <roce/err.h>
#include <stdlib.h>

#include "device.h"

struct eng_srq *eng_srq_new(struct eng_pd *pd, uint32_t capacity)
{
    if (capacity == 0)
        return NULL;
    struct eng_srq *srq = malloc(sizeof(*srq) + (size_t)capacity * sizeof(srq->ring[0]));
    if (srq == NULL)
        return NULL;
    struct eng_dev *dev = pd->dev;
    dev->next_srq = dev->next_srq % ROCE_QPN_MASK + 1;
    *srq = (struct eng_srq){.pd = pd, .num = dev->next_srq, .capacity = capacity};
    list_add(&dev->srqs, &srq->node);
    return srq;
}

void eng_srq_del(struct eng_srq *srq)
{
    if (srq == NULL)
        return;
    list_remove(&srq->node);
    free(srq);
}

int eng_srq_post(struct eng_srq *srq, const struct eng_recv_wr *wr)
{
    if (srq->count == srq->capacity)
        return ROCE_ERR_FULL;
    const uint32_t room = srq->capacity - srq->head;
    struct recv_wqe *wqe =
        &srq->ring[srq->count < room ? srq->head + srq->count : srq->count - room];
    if (!wr_recv_wqe(wr, wqe))
        return ROCE_ERR_INVALID;
    srq->count++;
    return 0;
}

bool srq_take(struct eng_srq *srq, struct recv_wqe *out)
{
    if (srq->count == 0)
        return false;
    *out = srq->ring[srq->head];
    srq->head = srq->head + 1 == srq->capacity ? 0 : srq->head + 1;
    srq->count--;
    if (srq->count < srq->limit) {
        srq->limited = true;
        srq->limit = 0;
    }
    return true;
}

struct eng_srq *srq_find(const struct eng_dev *dev, uint32_t num)
{
    for (struct node *n = dev->srqs.next; n != &dev->srqs; n = n->next) {
        struct eng_srq *srq = (struct eng_srq *)n;
        if (srq->num == num)
            return srq;
    }
    return NULL;
}

uint32_t eng_srq_num(const struct eng_srq *srq)
{
    return srq->num;
}

void eng_srq_limit(struct eng_srq *srq, uint32_t limit)
{
    srq->limit = limit;
}

bool eng_srq_limited(struct eng_srq *srq)
{
    const bool limited = srq->limited;
    srq->limited = false;
    return limited;
}
