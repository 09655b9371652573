/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sending again: go-back-N, its causes and their counters (IBTA 9.7.5.1.3, 9.7.6.1.1). */
#include <roce/aeth.h>

#include "requester.h"
#include "schedule.h"

#define RNR_FOREVER 7

static void go_back(struct eng_qp *qp, roce_tstamp now, uint64_t psn, enum eng_cause cause)
{
    struct requester *s = &qp->s;
    device_trace(qp->dev, now, ENG_TRACE_RETRANSMIT, cause, qp->qpn, psn, s->next - psn);
    s->local_error = 0; /* it may come up again on the way */
    if (cause == ENG_CAUSE_IMPLIED || cause == ENG_CAUSE_TIMEOUT) {
        s->rd_limit = 1;
        s->rd_whole = 0;
    }
    requester_seek(qp, psn);
    /* Until something is asked again. */
    s->asked = psn;
    qp->timer.ack = ENG_NEVER;
    schedule(qp, now);
}

void retry_go_back(struct eng_qp *qp, roce_tstamp now, uint64_t psn, enum eng_cause cause)
{
    const bool free_of_charge = qp->go_back_0 && cause == ENG_CAUSE_NAK;
    if (qp->go_back_0)
        psn = qp->s.una; /* stands at the begin of a message */
    if (qp->s.retry_left == 0 && !free_of_charge) {
        qp_send_error(qp, now, ENG_WC_RETRY_EXC_ERR);
        return;
    }
    if (free_of_charge)
        qp->s.retry_left = qp->retry_cnt; /* nothing else tells that the peer is there */
    else
        qp->s.retry_left--;
    go_back(qp, now, psn, cause);
}

void retry_rnr(struct eng_qp *qp, roce_tstamp now, uint8_t code)
{
    if (qp->rnr_retry != RNR_FOREVER) {
        if (qp->s.rnr_left == 0) {
            qp_send_error(qp, now, ENG_WC_RNR_RETRY_EXC_ERR);
            return;
        }
        qp->s.rnr_left--;
    }
    qp->timer.ack = ENG_NEVER;
    qp->timer.rnr = now + roce_aeth_rnr_ns(code);
    timer_update(qp);
}

void retry_rnr_over(struct eng_qp *qp, roce_tstamp now)
{
    qp->timer.rnr = ENG_NEVER;
    if (qp->s.una != qp->s.next)
        go_back(qp, now, qp->s.una, ENG_CAUSE_RNR);
    else
        schedule(qp, now);
}

void retry_ack_timeout(struct eng_qp *qp, roce_tstamp now)
{
    qp->timer.ack = ENG_NEVER;
    if (qp->s.una == qp->s.next)
        return;
    qp->stats.timeouts++;
    if (qp->s.implied != IMPLIED_NONE)
        qp->s.implied = IMPLIED_TIMED_OUT;
    device_trace(qp->dev, now, ENG_TRACE_TIMEOUT, ENG_CAUSE_NONE, qp->qpn, qp->s.una,
                 qp->s.next - qp->s.una);
    retry_go_back(qp, now, qp->s.una, ENG_CAUSE_TIMEOUT);
}
