/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Completion queues. */
#ifndef ENGINE_CQ_H
#define ENGINE_CQ_H

#include "engine/engine.h"
#include "list.h"

struct eng_cq {
    struct node node; /* first: the device's list */
    struct eng_dev *dev;
    uint32_t capacity, head, count;
    bool overrun;
    struct eng_wc ring[];
};

/* cq_push adds a completion. When the queue is full, it is lost and the queue has run over: the
 * device moves its QPs to the error state before the current call returns (IBTA 11.6.3). */
void cq_push(struct eng_cq *cq, const struct eng_wc *wc);

#endif
