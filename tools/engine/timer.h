/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Timers: one heap of QPs, ordered by the earliest time at which each wants attention. */
#ifndef ENGINE_TIMER_H
#define ENGINE_TIMER_H

#include "engine/engine.h"

/* The times of one QP; ENG_NEVER: not running. */
struct qp_timers {
    roce_tstamp ack;  /* retransmission for want of an answer */
    roce_tstamp rnr;  /* end of the wait that an RNR NAK asked for */
    roce_tstamp pace; /* the pacer lets the next packet go */
    roce_tstamp cc;   /* congestion control */
};

struct timer_entry {
    roce_tstamp key; /* not later than the earliest time of |qp|: a time that moves back is put
                        right when its entry comes to the top, so that progress costs nothing */
    struct eng_qp *qp;
};

struct timer_heap {
    struct timer_entry *entries; /* from 1 */
    uint32_t count;
};

/* timer_update makes the heap know a time of |qp| that was set or moved forward. */
void timer_update(struct eng_qp *qp);
void timer_remove(struct eng_qp *qp);
/* timer_next returns the earliest time of all, or ENG_NEVER. */
roce_tstamp timer_next(struct eng_dev *dev);
/* timer_due returns a QP with a time at or before |now|, or NULL. */
struct eng_qp *timer_due(struct eng_dev *dev, roce_tstamp now);

#endif
