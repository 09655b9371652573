/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Requests of RC and XRC in the order of checks that the standard gives (IBTA 9.7.4.1): PSN, opcode
 * sequence, opcode and rights of the QP; resources and memory are the parts' (message.c, answer.c).
 */
#include "responder.h"

#include <roce/psn.h>

#include "schedule.h"

void responder_start(struct eng_qp *qp, uint32_t psn)
{
    /* Away from 0, so that the numbers near it do not wrap. */
    qp->r.epsn = (UINT64_C(1) << 32) | psn;
}

void responder_silence(struct eng_qp *qp)
{
    struct responder *r = &qp->r;
    r->ack_count = 0;
    r->nak_waits = false;
    r->last_words = false;
    r->answer_next = r->answer_tail = r->answer_head;
}

bool recv_take(struct eng_qp *qp, struct eng_srq *srq)
{
    struct responder *r = &qp->r;
    if (r->has_wqe)
        return true;
    if (srq != NULL) {
        r->has_wqe = srq_take(srq, &r->wqe);
    } else if (r->tail != r->head) {
        r->wqe = qp->rq[r->tail++ & qp->rq_mask];
        r->has_wqe = true;
    }
    return r->has_wqe;
}

static uint8_t syndrome(enum roce_aeth_kind kind, uint8_t value)
{
    return (uint8_t)(kind << 5 | value);
}

/* A fatal NAK is the QP's last word. The receive in use tells its owner what happened, the others
 * are flushed. */
static void fatal(struct eng_qp *qp, roce_tstamp now, uint64_t psn, enum roce_nak code,
                  enum eng_wc_status status)
{
    struct responder *r = &qp->r;
    if (qp->service != ENG_UC) {
        response_nak(qp, psn, syndrome(ROCE_AETH_NAK, (uint8_t)code));
        r->last_words = true;
    }
    if (r->has_wqe) {
        r->has_wqe = false;
        qp_complete_recv(qp, &(struct eng_wc){.wr_id = r->wqe.wr_id,
                                              .status = (uint8_t)status,
                                              .op = ENG_WC_RECV,
                                              .now = now});
    }
    qp_error(qp, now);
}

static void refuse(struct eng_qp *qp, roce_tstamp now, enum verdict verdict)
{
    struct responder *r = &qp->r;
    switch (verdict) {
    case DONE:
        break;
    case NO_RECEIVE:
        r->deaf = true;
        response_nak(qp, r->epsn, syndrome(ROCE_AETH_RNR_NAK, qp->min_rnr_timer));
        break;
    case INVALID_REQUEST:
        fatal(qp, now, r->epsn, ROCE_NAK_INVALID_REQUEST, ENG_WC_LOC_QP_OP_ERR);
        break;
    case TOO_LONG:
        fatal(qp, now, r->epsn, ROCE_NAK_INVALID_REQUEST, ENG_WC_LOC_LEN_ERR);
        break;
    case REMOTE_ACCESS:
        fatal(qp, now, r->epsn, ROCE_NAK_REMOTE_ACCESS_ERROR, ENG_WC_LOC_ACCESS_ERR);
        break;
    case REMOTE_OPERATION:
        fatal(qp, now, r->epsn, ROCE_NAK_REMOTE_OPERATIONAL_ERROR, ENG_WC_LOC_PROT_ERR);
        break;
    case INVALIDATE_FAILED: /* class J, IBTA 9.9.3.1: an error without a NAK */
        responder_silence(qp);
        if (r->has_wqe) {
            r->has_wqe = false;
            qp_complete_recv(qp, &(struct eng_wc){.wr_id = r->wqe.wr_id,
                                                  .status = ENG_WC_REM_INV_REQ_ERR,
                                                  .op = ENG_WC_RECV,
                                                  .now = now});
        }
        qp_error(qp, now);
        break;
    }
}

/* Ahead of what is expected: one NAK, then silence until that comes (IBTA 9.7.5.1.2, 9.7.4.1.2). */
static void gap(struct eng_qp *qp, roce_tstamp now, uint64_t psn)
{
    struct responder *r = &qp->r;
    if (r->deaf) {
        qp_drop(qp, now, ENG_DROP_PSN, psn);
        return;
    }
    r->deaf = true;
    qp->stats.gaps++;
    response_nak(qp, r->epsn, syndrome(ROCE_AETH_NAK, ROCE_NAK_PSN_SEQUENCE_ERROR));
    if (qp->go_back_0 && r->message != MESSAGE_NONE) {
        r->message = MESSAGE_NONE;
        r->epsn = r->begin;
    }
}

/* IBTA 9.7.4.1.3: nothing is executed twice, a READ is read again. */
static void duplicate(struct eng_qp *qp, roce_tstamp now, uint64_t psn, const struct rx *rx)
{
    qp->stats.duplicates++;
    device_trace(qp->dev, now, ENG_TRACE_DUPLICATE, ENG_CAUSE_NONE, qp->qpn, psn, 0);
    if (rx->info->op == ROCE_OP_SEND || rx->info->op == ROCE_OP_WRITE) {
        if (rx->pkt->bth.ackreq)
            response_ack(qp, qp->r.epsn - 1);
    } else if (!answer_duplicate(qp, psn, rx)) {
        qp_drop(qp, now, ENG_DROP_DUPLICATE, psn);
    }
}

/* First and Only begin a message, Middle and Last go on with one of their kind; nothing comes in
 * between (IBTA 9.7.4.1.4). */
static bool in_sequence(const struct eng_qp *qp, const struct roce_opcode_info *info)
{
    const uint8_t message = qp->r.message;
    if (info->pos == ROCE_POS_FIRST || info->pos == ROCE_POS_ONLY)
        return message == MESSAGE_NONE;
    return message == (info->op == ROCE_OP_SEND ? MESSAGE_SEND : MESSAGE_WRITE);
}

static bool is_permitted(const struct eng_qp *qp, const struct rx *rx)
{
    switch ((enum roce_op)rx->info->op) {
    case ROCE_OP_SEND:
        return true;
    case ROCE_OP_WRITE:
    case ROCE_OP_ATOMIC_WRITE:
        return (qp->access_flags & ENG_REMOTE_WRITE) != 0;
    case ROCE_OP_READ:
        return (qp->access_flags & ENG_REMOTE_READ) != 0;
    case ROCE_OP_ATOMIC:
        return (qp->access_flags & ENG_REMOTE_ATOMIC) != 0;
    case ROCE_OP_FLUSH:
        return rx->pkt->feth.plt != 0 && (rx->pkt->feth.plt & ~qp->flush_flags) == 0;
    case ROCE_OP_RESYNC:
    case ROCE_OP_READ_RESPONSE:
    case ROCE_OP_ACK:
    case ROCE_OP_ATOMIC_ACK:
    case ROCE_OP_CNP:
    case ROCE_OP_NONE:
        break;
    }
    return false;
}

static enum verdict execute(struct eng_qp *qp, roce_tstamp now, const struct rx *rx)
{
    if (!in_sequence(qp, rx->info) || !is_permitted(qp, rx))
        return INVALID_REQUEST;
    if (((rx->len + rx->pkt->bth.pad) & 3) != 0) /* the pad count contradicts the length */
        return INVALID_REQUEST;
    if (rx->info->op == ROCE_OP_SEND || rx->info->op == ROCE_OP_WRITE)
        return message_packet(qp, now, rx);
    return answer_request(qp, now, rx);
}

void responder_request(struct eng_qp *qp, roce_tstamp now, const struct rx *rx)
{
    struct responder *r = &qp->r;
    const uint64_t psn = psn_extend(r->epsn, rx->pkt->bth.psn);
    if (psn > r->epsn) {
        gap(qp, now, psn);
    } else if (psn < r->epsn) {
        duplicate(qp, now, psn, rx);
    } else {
        r->deaf = false;
        r->nak_waits = false; /* what it would ask for is here */
        refuse(qp, now, execute(qp, now, rx));
    }
}

/* UC has no answers: what does not fit is thrown away up to the next message (IBTA 9.8.2.2). */
void responder_uc(struct eng_qp *qp, roce_tstamp now, const struct rx *rx)
{
    struct responder *r = &qp->r;
    const uint64_t psn = psn_extend(r->epsn, rx->pkt->bth.psn);
    const bool begins = rx->info->pos == ROCE_POS_FIRST || rx->info->pos == ROCE_POS_ONLY;
    if (psn != r->epsn) {
        qp->stats.gaps++;
        r->resync = true;
    }
    if (r->resync && !begins) {
        r->message = MESSAGE_NONE;
        r->epsn = psn + 1;
        qp_drop(qp, now, ENG_DROP_PSN, psn);
        return;
    }
    if (begins) /* the message before, if it did not end, is lost */
        r->message = MESSAGE_NONE;
    r->resync = false;
    r->epsn = psn;
    enum eng_drop why = ENG_DROPS;
    switch (execute(qp, now, rx)) {
    case DONE:
        return;
    case NO_RECEIVE:
        why = ENG_DROP_NO_WQE;
        break;
    case INVALID_REQUEST:
    case TOO_LONG:
        why = ENG_DROP_SEQUENCE;
        break;
    case REMOTE_ACCESS:
    case INVALIDATE_FAILED:
        why = ENG_DROP_ACCESS;
        break;
    case REMOTE_OPERATION:
        refuse(qp, now, REMOTE_OPERATION);
        return;
    }
    r->message = MESSAGE_NONE;
    r->resync = true;
    r->epsn = psn + 1;
    qp_drop(qp, now, why, psn);
}
