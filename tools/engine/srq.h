/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared receive queues. */
#ifndef ENGINE_SRQ_H
#define ENGINE_SRQ_H

#include "engine/engine.h"
#include "list.h"
#include "wr.h"

struct eng_srq {
    struct node node; /* first: the device's list */
    struct eng_pd *pd;
    uint32_t num;
    uint32_t capacity, head, count;
    uint32_t limit; /* 0: not armed */
    bool limited;   /* the limit event waits to be asked for */
    struct recv_wqe ring[];
};

/* srq_take moves the oldest receive to |out|; false: there is none. */
bool srq_take(struct eng_srq *srq, struct recv_wqe *out);
/* srq_find returns the queue that an XRCETH names, or NULL. */
struct eng_srq *srq_find(const struct eng_dev *dev, uint32_t num);

#endif
