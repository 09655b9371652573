/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Pacing: each frame puts the next one off by the time that it takes at the QP's rate. */
#include "pacer.h"

/* Frames have preamble, FCS and gap around them on the wire. */
#define WIRE_EXTRA 24
/* A caller who comes late may send what was missed, but no longer burst than this. */
#define CATCH_UP_NS UINT64_C(100000)

/* 0: not paced. */
static double rate_of(const struct eng_qp *qp)
{
    const double cc = qp->cc.ops->rate_bps(&qp->cc);
    const double user = (double)qp->rate_bps;
    const double line = (double)qp->dev->cfg.link_bps;
    double rate = cc;
    if (user > 0 && (rate <= 0 || user < rate))
        rate = user;
    return line > 0 && rate >= line ? 0 : rate;
}

bool pacer_ready(struct eng_qp *qp, roce_tstamp now)
{
    if (qp->pacer.idle && qp->pacer.at < now)
        qp->pacer.at = now;
    qp->pacer.idle = false;
    if (qp->pacer.at <= now)
        return true;
    if (qp->timer.pace != qp->pacer.at) {
        qp->timer.pace = qp->pacer.at;
        timer_update(qp);
    }
    return false;
}

void pacer_sent(struct eng_qp *qp, roce_tstamp now, uint32_t len)
{
    const double before = qp->cc.ops->rate_bps(&qp->cc);
    qp->cc.ops->sent(&qp->cc, now, len);
    const double after = qp->cc.ops->rate_bps(&qp->cc);
    if (after > before || after < before)
        device_trace(qp->dev, now, ENG_TRACE_RATE, ENG_CAUSE_NONE, qp->qpn, 0, (uint64_t)after);
    const roce_tstamp next = qp->cc.ops->next(&qp->cc);
    if (next != qp->timer.cc) {
        qp->timer.cc = next;
        timer_update(qp);
    }
    const double rate = rate_of(qp);
    if (rate <= 0) {
        qp->pacer.at = 0;
        return;
    }
    struct pacer *p = &qp->pacer;
    if (p->at + CATCH_UP_NS < now)
        p->at = now - CATCH_UP_NS;
    const double ns = (double)(len + WIRE_EXTRA) * 8e9 / rate + (double)p->rest;
    const uint64_t whole = (uint64_t)ns;
    p->rest = (float)(ns - (double)whole);
    p->at += whole;
}
