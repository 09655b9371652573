/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The device: tables of its objects, what is ready to be sent, pauses, timers. */
#ifndef ENGINE_DEVICE_H
#define ENGINE_DEVICE_H

#include "engine/engine.h"
#include "header.h"
#include "list.h"
#include "mr.h"
#include "timer.h"

#define PRIORITIES 8
#define CNP_QUEUE  256 /* CNPs that wait to be sent; more are not worth sending */

/* Answers that carry no data go before data: READ responses and requests share one class, so that
 * neither starves the other. */
enum ready_class { READY_ANSWER, READY_DATA, READY_CLASSES };

struct ready_link {
    struct eng_qp *prev, *next;
};

struct ready_list {
    struct eng_qp *head, *tail;
};

struct cnp {
    struct header head;
    uint32_t qpn;   /* ours that saw the mark */
    uint16_t ip_id; /* in its turn among that QP's packets */
};

struct eng_dev {
    struct eng_dev_cfg cfg;
    struct eng_rng rng;
    bool any_ip;                 /* frames to every address are ours */
    bool cq_overrun;             /* some queue ran over: see device_settle */
    uint8_t busy[READY_CLASSES]; /* bit n: the list of priority n is not empty */
    uint8_t turn;                /* priority that was served last */
    uint8_t paused;              /* bit n: priority n is, until |pause_until| */
    struct ready_list ready[READY_CLASSES][PRIORITIES];
    roce_tstamp pause_until[PRIORITIES];
    struct timer_heap timers;

    struct eng_qp **qps; /* open addressing, never more than half full */
    uint32_t qp_mask, n_qp, next_qpn;
    struct mr_slot *mrs;
    uint32_t next_mr;
    struct node pds, cqs, srqs;
    uint32_t next_srq;

    struct cnp *cnps;
    uint32_t cnp_head, cnp_count;
    struct eng_dev_stats stats;
};

struct eng_qp *device_find_qp(const struct eng_dev *dev, uint32_t qpn);
/* device_add_qp gives |qp| the number |qpn|, or one of its choice for 0. False: taken, or no room.
 */
bool device_add_qp(struct eng_dev *dev, struct eng_qp *qp, uint32_t qpn);
void device_remove_qp(struct eng_dev *dev, struct eng_qp *qp);
/* device_settle moves the QPs of completion queues that ran over to the error state. */
void device_settle(struct eng_dev *dev, roce_tstamp now);

static inline void device_trace(const struct eng_dev *dev, roce_tstamp now,
                                enum eng_trace_kind kind, enum eng_cause cause, uint32_t qpn,
                                uint64_t psn, uint64_t arg)
{
    if (dev->cfg.trace == NULL)
        return;
    const struct eng_trace event = {.now = now,
                                    .kind = (uint8_t)kind,
                                    .cause = (uint8_t)cause,
                                    .qpn = qpn,
                                    .psn = (uint32_t)psn & 0xFFFFFF,
                                    .arg = arg};
    dev->cfg.trace(dev->cfg.trace_ctx, &event);
}

#endif
