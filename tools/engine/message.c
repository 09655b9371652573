/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SEND and WRITE at the responder, packet by packet (IBTA 9.7.4.1.5 to 9.7.4.1.8, 9.4.1, 9.4.3). */
#include "responder.h"

#include <roce/psn.h>

#include "schedule.h"

static bool ends(const struct rx *rx)
{
    return rx->info->pos == ROCE_POS_LAST || rx->info->pos == ROCE_POS_ONLY;
}

static bool begins(const struct rx *rx)
{
    return rx->info->pos == ROCE_POS_FIRST || rx->info->pos == ROCE_POS_ONLY;
}

/* IBTA 9.7.4.1.6: all packets but the last are full, a Last is not empty. */
static bool payload_fits(const struct eng_qp *qp, const struct rx *rx)
{
    if (!ends(rx))
        return rx->len == qp->mtu;
    return rx->len <= qp->mtu && (rx->len > 0 || rx->info->pos == ROCE_POS_ONLY);
}

/* XRC names its queue in each packet, the others have one or none. False: no such queue. */
static bool find_srq(const struct eng_qp *qp, const struct rx *rx, struct eng_srq **srq)
{
    *srq = qp->srq;
    if (qp->service == ENG_XRC_TGT)
        *srq = srq_find(qp->dev, rx->pkt->xrceth.srq);
    return qp->service != ENG_XRC_TGT || *srq != NULL;
}

/* The PSN is consumed; at the end of a message the message is, too. */
static void accept(struct eng_qp *qp, roce_tstamp now, const struct rx *rx, uint32_t bytes)
{
    struct responder *r = &qp->r;
    const uint64_t psn = r->epsn++;
    if (begins(rx))
        r->begin = psn;
    qp->stats.rx_payload += rx->len;
    if (ends(rx)) {
        r->msn = (r->msn + 1) & ROCE_PSN_MASK;
        r->message = MESSAGE_NONE;
        qp->stats.msgs_received++;
        device_trace(qp->dev, now, ENG_TRACE_MESSAGE, ENG_CAUSE_NONE, qp->qpn, psn, bytes);
    } else {
        r->message = rx->info->op == ROCE_OP_SEND ? MESSAGE_SEND : MESSAGE_WRITE;
    }
    if (rx->pkt->bth.ackreq && qp->service != ENG_UC)
        response_ack(qp, psn);
}

static void complete(struct eng_qp *qp, roce_tstamp now, const struct rx *rx, uint32_t bytes)
{
    const struct roce_packet *pkt = rx->pkt;
    qp->r.has_wqe = false;
    qp_complete_recv(qp,
                     &(struct eng_wc){
                         .wr_id = qp->r.wqe.wr_id,
                         .op = rx->info->op == ROCE_OP_SEND ? ENG_WC_RECV : ENG_WC_RECV_WRITE_IMM,
                         .has_imm = (pkt->has & ROCE_H_IMM) != 0,
                         .imm = pkt->has & ROCE_H_IMM ? pkt->imm : 0,
                         .has_inv = (pkt->has & ROCE_H_IETH) != 0,
                         .inv_rkey = pkt->has & ROCE_H_IETH ? pkt->ieth.rkey : 0,
                         .solicited = pkt->bth.se,
                         .byte_len = bytes,
                         .now = now,
                     });
}

static enum verdict send_packet(struct eng_qp *qp, roce_tstamp now, const struct rx *rx)
{
    struct responder *r = &qp->r;
    struct eng_srq *srq;
    if (begins(rx)) {
        if (!find_srq(qp, rx, &srq))
            return INVALID_REQUEST;
        if (!recv_take(qp, srq))
            return NO_RECEIVE;
        r->received = 0;
    } else if (!find_srq(qp, rx, &srq)) {
        return INVALID_REQUEST;
    }
    if (!payload_fits(qp, rx))
        return INVALID_REQUEST;
    if (rx->len > r->wqe.length - r->received || r->received > ENG_MSG_MAX - rx->len)
        return TOO_LONG;
    const struct eng_pd *pd = srq != NULL ? srq->pd : qp->pd;
    if (wr_scatter(pd, r->wqe.sge, r->wqe.n_sge, r->received, rx->payload, rx->len) != 0)
        return REMOTE_OPERATION;
    r->received += rx->len;
    if (rx->pkt->has & ROCE_H_IETH) {
        struct eng_mr *mr = mr_remote_all(qp->pd, rx->pkt->ieth.rkey, 0);
        if (mr == NULL)
            return INVALIDATE_FAILED;
        mr->invalidated = true;
    }
    accept(qp, now, rx, r->received);
    if (ends(rx))
        complete(qp, now, rx, r->received);
    return DONE;
}

/* Where a WRITE stands: at its beginning the packet says so, later the responder remembers. */
struct place {
    uint64_t va;
    uint32_t rkey, total, done;
};

static struct place place_of(const struct eng_qp *qp, const struct rx *rx)
{
    const struct responder *r = &qp->r;
    if (begins(rx))
        return (struct place){
            .va = rx->pkt->reth.va, .rkey = rx->pkt->reth.rkey, .total = rx->pkt->reth.dma_length};
    return (struct place){
        .va = r->va, .rkey = r->rkey, .total = r->dma_length, .done = r->received};
}

static bool length_fits(const struct place *at, const struct rx *rx)
{
    if (at->total > ENG_MSG_MAX)
        return false;
    const uint32_t left = at->total - at->done;
    return ends(rx) ? rx->len == left : rx->len < left;
}

static enum verdict write_packet(struct eng_qp *qp, roce_tstamp now, const struct rx *rx)
{
    struct responder *r = &qp->r;
    const bool consumes = (rx->pkt->has & ROCE_H_IMM) != 0;
    struct eng_srq *srq;
    if (!find_srq(qp, rx, &srq))
        return INVALID_REQUEST;
    if (consumes && !recv_take(qp, srq))
        return NO_RECEIVE;
    const struct place at = place_of(qp, rx);
    if (!payload_fits(qp, rx) || !length_fits(&at, rx))
        return INVALID_REQUEST;
    if (at.total > 0) {
        /* The whole range first, so that nothing is written where not all may be. */
        struct eng_mr *mr = mr_remote(qp->pd, at.rkey, at.va, at.total, ENG_REMOTE_WRITE);
        if (mr == NULL)
            return REMOTE_ACCESS;
        mr_write(mr, at.va + at.done, rx->payload, rx->len);
    }
    r->va = at.va;
    r->rkey = at.rkey;
    r->dma_length = at.total;
    r->received = at.done + rx->len;
    accept(qp, now, rx, r->received);
    if (consumes)
        complete(qp, now, rx, r->received);
    return DONE;
}

enum verdict message_packet(struct eng_qp *qp, roce_tstamp now, const struct rx *rx)
{
    return rx->info->op == ROCE_OP_SEND ? send_packet(qp, now, rx) : write_packet(qp, now, rx);
}
