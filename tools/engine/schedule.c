/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The next frame of the device: CNPs and answers first, then the QPs with data in turn. */
#include "schedule.h"

#include <roce/err.h>

#include "np.h"
#include "pacer.h"
#include "pause.h"
#include "requester.h"
#include "responder.h"
#include "ud.h"

static bool is_queued(const struct eng_qp *qp, enum ready_class class)
{
    return qp->queued[class];
}

static void enqueue(struct eng_qp *qp, enum ready_class class, uint8_t prio)
{
    struct eng_dev *dev = qp->dev;
    struct ready_list *list = &dev->ready[class][prio];
    struct ready_link *link = &qp->link[class];
    *link = (struct ready_link){.prev = list->tail};
    qp->queued[class] = true;
    qp->queued_prio[class] = prio;
    if (list->tail != NULL)
        list->tail->link[class].next = qp;
    else
        list->head = qp;
    list->tail = qp;
    dev->busy[class] |= (uint8_t)(1U << prio);
}

static void dequeue(struct eng_qp *qp, enum ready_class class)
{
    struct ready_link *link = &qp->link[class];
    if (!qp->queued[class])
        return;
    struct ready_list *list = &qp->dev->ready[class][qp->queued_prio[class]];
    if (link->prev != NULL)
        link->prev->link[class].next = link->next;
    else
        list->head = link->next;
    if (link->next != NULL)
        link->next->link[class].prev = link->prev;
    else
        list->tail = link->prev;
    if (list->head == NULL)
        qp->dev->busy[class] &= (uint8_t) ~(1U << qp->queued_prio[class]);
    qp->queued[class] = false;
}

static uint8_t prio_of(const struct eng_qp *qp)
{
    return qp->service == ENG_UD ? ud_prio(qp) : qp->head.prio;
}

void schedule(struct eng_qp *qp, roce_tstamp now)
{
    const enum response_kind response = response_next(qp);
    if (response == RESPONSE_SHORT && !is_queued(qp, READY_ANSWER))
        enqueue(qp, READY_ANSWER, qp->head.prio);
    if (is_queued(qp, READY_DATA))
        return;
    const bool requests = requester_ready(qp);
    if (!requests)
        requester_guard(qp, now);
    if (response != RESPONSE_DATA && !requests)
        qp->pacer.idle = true;
    else if (pacer_ready(qp, now))
        enqueue(qp, READY_DATA, prio_of(qp));
}

void schedule_remove(struct eng_qp *qp)
{
    for (int class = 0; class < READY_CLASSES; class ++)
        dequeue(qp, (enum ready_class) class);
}

/* READ responses and requests of one QP take turns. */
static int write_data(struct eng_qp *qp, roce_tstamp now, uint8_t *buf)
{
    if (!pacer_ready(qp, now))
        return 0;
    int len = 0;
    const bool responses = response_next(qp) == RESPONSE_DATA;
    if (responses && (qp->responses_first || !requester_ready(qp))) {
        qp->responses_first = false;
        len = response_write(qp, now, buf);
    } else {
        qp->responses_first = true;
        len = requester_write(qp, now, buf);
    }
    if (len > 0)
        pacer_sent(qp, now, (uint32_t)len);
    return len;
}

static int write_answer(struct eng_qp *qp, roce_tstamp now, uint8_t *buf)
{
    return response_next(qp) == RESPONSE_SHORT ? response_write(qp, now, buf) : 0;
}

/* Priorities take turns: those above the one served last come first. */
static uint8_t pick_prio(const struct eng_dev *dev, unsigned open)
{
    for (unsigned i = 1; i <= PRIORITIES; i++) {
        const unsigned prio = (dev->turn + i) % PRIORITIES;
        if (open >> prio & 1)
            return (uint8_t)prio;
    }
    return 0;
}

static int write_class(struct eng_dev *dev, enum ready_class class, roce_tstamp now, uint8_t *buf)
{
    for (;;) {
        const unsigned open = dev->busy[class] & ~pause_mask(dev, now);
        if (open == 0)
            return 0;
        dev->turn = pick_prio(dev, open);
        struct eng_qp *qp = dev->ready[class][dev->turn].head;
        dequeue(qp, class);
        const int len =
            class == READY_ANSWER ? write_answer(qp, now, buf) : write_data(qp, now, buf);
        if (len > 0) {
            qp->stats.tx_packets++;
            schedule(qp, now);
            return len;
        }
        /* It had nothing after all, or an error just ended it; what it has in the other class is
         * queued there. */
        schedule(qp, now);
    }
}

int eng_dev_write(struct eng_dev *dev, roce_tstamp now, uint8_t *buf, size_t len)
{
    if (len < ENG_FRAME_MAX)
        return ROCE_ERR_NOSPACE;
    int n = np_write(dev, now, buf);
    if (n == 0)
        n = write_class(dev, READY_ANSWER, now, buf);
    if (n == 0)
        n = write_class(dev, READY_DATA, now, buf);
    if (n == 0) /* a READ that could not go on left a NAK */
        n = write_class(dev, READY_ANSWER, now, buf);
    if (n > 0) {
        dev->stats.tx_packets++;
        dev->stats.tx_bytes += (uint64_t)n;
    }
    device_settle(dev, now);
    return n;
}

roce_tstamp eng_dev_next(struct eng_dev *dev, roce_tstamp now)
{
    unsigned waiting = np_waiting(dev);
    for (int class = 0; class < READY_CLASSES; class ++)
        waiting |= dev->busy[class];
    if ((waiting & ~pause_mask(dev, now)) != 0)
        return now;
    const roce_tstamp resume = pause_end(dev, waiting);
    const roce_tstamp timer = timer_next(dev);
    return resume < timer ? resume : timer;
}

void eng_dev_expire(struct eng_dev *dev, roce_tstamp now)
{
    for (struct eng_qp *qp = timer_due(dev, now); qp != NULL; qp = timer_due(dev, now)) {
        struct qp_timers *t = &qp->timer;
        if (t->pace <= now)
            t->pace = ENG_NEVER;
        if (t->cc <= now) {
            qp->cc.ops->expire(&qp->cc, now);
            t->cc = qp->cc.ops->next(&qp->cc);
            device_trace(dev, now, ENG_TRACE_RATE, ENG_CAUSE_NONE, qp->qpn, 0,
                         (uint64_t)qp->cc.ops->rate_bps(&qp->cc));
        }
        if (t->rnr <= now)
            retry_rnr_over(qp, now);
        if (t->ack <= now)
            retry_ack_timeout(qp, now);
        schedule(qp, now);
    }
    device_settle(dev, now);
}
