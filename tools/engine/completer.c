/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Responses retire work requests (IBTA 9.7.5, 9.7.7.2). */
#include <roce/aeth.h>
#include <roce/psn.h>

#include "requester.h"
#include "responder.h"
#include "schedule.h"

/* What came of a response's claim that everything before a PSN has arrived. */
enum reach {
    REACHED,
    HOLE /* a READ or atomic before it has not been answered: an implied NAK */
};

/* The oldest PSN without answer moved: counters are loaded again (IBTA 9.7.5.1.4), the timer starts
 * afresh if an answer is still due, and what the peer has need not be sent again. */
static void progress(struct eng_qp *qp, roce_tstamp now)
{
    struct requester *s = &qp->s;
    s->retry_left = qp->retry_cnt;
    s->rnr_left = qp->rnr_retry;
    s->implied = IMPLIED_NONE;
    if (s->una < s->asked && s->una != s->next && qp->timer.rnr == ENG_NEVER)
        requester_arm(qp, now);
    else
        qp->timer.ack = ENG_NEVER;
    if (s->cur_psn < s->una)
        requester_seek(qp, s->una);
}

/* Retires what lies before |upto|. */
static enum reach acknowledge(struct eng_qp *qp, roce_tstamp now, uint64_t upto)
{
    struct requester *s = &qp->s;
    const uint64_t before = s->una;
    enum reach reach = REACHED;
    while (s->una < upto) {
        const struct send_wqe *wqe = qp_send_wqe(qp, s->tail);
        if (wr_is_read(wqe->op)) {
            reach = HOLE;
            break;
        }
        const uint64_t end = wqe->first_psn + wqe->n_psn;
        if (end > upto) {
            if (!qp->go_back_0)
                s->una = upto;
            break;
        }
        s->una = end;
        qp_complete_send(qp, now, ENG_WC_SUCCESS);
    }
    if (s->una != before)
        progress(qp, now);
    return reach;
}

/* Whether the response behind a hole belongs to what was asked before going back: such data go on
 * where they were, be it after a pause that the timer did not wait for. The answer to what was
 * asked again begins further back. */
static bool is_stale(struct requester *s, uint64_t psn)
{
    const bool on = (int16_t)((uint16_t)psn - s->heard) > 0;
    const bool stale = s->implied == IMPLIED_WENT_BACK || (s->implied == IMPLIED_TIMED_OUT && on);
    if (s->implied == IMPLIED_TIMED_OUT)
        s->implied = IMPLIED_WENT_BACK;
    s->heard = (uint16_t)psn;
    return stale;
}

static void implied_nak(struct eng_qp *qp, roce_tstamp now, uint64_t psn, bool kept)
{
    if (is_stale(&qp->s, psn)) {
        if (!kept)
            qp_drop(qp, now, ENG_DROP_GHOST, qp->s.una);
        return;
    }
    qp->s.implied = IMPLIED_WENT_BACK;
    qp->stats.implied_naks++;
    retry_go_back(qp, now, qp->s.una, ENG_CAUSE_IMPLIED);
}

/* Credits: the newest message that the peer has a receive for (IBTA 9.7.7.2.5). */
static void take_credits(struct eng_qp *qp, const struct roce_aeth *aeth)
{
    const int32_t credits = roce_aeth_credits(roce_aeth_value(aeth->syndrome));
    if (!qp->credits)
        return;
    const uint32_t limit =
        credits < 0 ? roce_psn_add(qp->s.ssn, 0x400000) : roce_psn_add(aeth->msn, credits);
    if (roce_psn_diff(limit, qp->s.lsn) > 0)
        qp->s.lsn = limit;
}

/* The oldest READ, atomic or FLUSH is answered in full. */
static void answered(struct eng_qp *qp, roce_tstamp now)
{
    struct requester *s = &qp->s;
    const struct send_wqe *wqe = qp_send_wqe(qp, s->tail);
    s->una = wqe->first_psn + wqe->n_psn;
    s->rd_atomic--;
    s->ahead.n = 0;
    if (s->cur != s->tail)
        s->rd_asked--;
    if (s->rd_limit < qp->max_rd_atomic && ++s->rd_whole >= s->rd_limit) {
        s->rd_whole = 0;
        s->rd_limit++;
    }
    qp_complete_send(qp, now, ENG_WC_SUCCESS);
    progress(qp, now);
}

/* The packet's data go where they belong in the oldest READ. False: that ended the QP. */
static bool place(struct eng_qp *qp, roce_tstamp now, const struct rx *rx, uint64_t psn)
{
    const struct send_wqe *wqe = qp_send_wqe(qp, qp->s.tail);
    const uint64_t off = (psn - wqe->first_psn) * qp->mtu;
    const uint64_t left = wqe->length - off;
    const bool ends = rx->info->pos == ROCE_POS_LAST || rx->info->pos == ROCE_POS_ONLY;
    if (ends ? rx->len != left || left > qp->mtu : rx->len != qp->mtu || left <= qp->mtu) {
        qp_send_error(qp, now, ENG_WC_LOC_LEN_ERR);
        return false;
    }
    const int err = wr_scatter(qp->pd, wqe->sge, wqe->n_sge, off, rx->payload, rx->len);
    if (err != 0)
        qp_send_error(qp, now, (enum eng_wc_status)err);
    return err == 0;
}

static void read_data(struct eng_qp *qp, roce_tstamp now, const struct rx *rx, uint64_t psn)
{
    struct requester *s = &qp->s;
    const struct send_wqe *wqe = qp_send_wqe(qp, s->tail);
    if (!place(qp, now, rx, psn))
        return;
    const uint32_t next = ahead_take(&s->ahead, (uint32_t)(psn - wqe->first_psn) + 1);
    if (next == wqe->n_psn) {
        answered(qp, now);
        return;
    }
    s->una = wqe->first_psn + next;
    progress(qp, now);
}

/* What comes behind a hole in the oldest READ is kept: the peer sends it again, since the rest of a
 * READ is asked for as a whole, but may lose another part of it then. */
static bool keep(struct eng_qp *qp, roce_tstamp now, const struct rx *rx, uint64_t psn)
{
    const struct send_wqe *wqe = qp_send_wqe(qp, qp->s.tail);
    if (wqe->op != ENG_WR_READ || rx->info->op != ROCE_OP_READ_RESPONSE ||
        psn >= wqe->first_psn + wqe->n_psn)
        return false;
    return ahead_add(&qp->s.ahead, (uint32_t)(psn - wqe->first_psn)) && place(qp, now, rx, psn);
}

static void atomic_data(struct eng_qp *qp, roce_tstamp now, const struct rx *rx)
{
    const struct send_wqe *wqe = qp_send_wqe(qp, qp->s.tail);
    const uint64_t original = rx->pkt->atomic_ack_eth.original;
    const int err =
        wr_scatter(qp->pd, wqe->sge, wqe->n_sge, 0, (const uint8_t *)&original, sizeof(original));
    if (err != 0)
        qp_send_error(qp, now, (enum eng_wc_status)err);
    else
        answered(qp, now);
}

/* READ data, atomic results and the empty READ responses of FLUSH and ATOMIC WRITE. */
static void data_response(struct eng_qp *qp, roce_tstamp now, const struct rx *rx, uint64_t psn)
{
    const struct requester *s = &qp->s;
    if (acknowledge(qp, now, psn) == HOLE) {
        const bool kept = keep(qp, now, rx, psn);
        if (qp->state != ENG_ERR)
            implied_nak(qp, now, psn, kept);
        return;
    }
    const struct send_wqe *wqe = qp_send_wqe(qp, s->tail);
    const bool atomic = wqe->op == ENG_WR_CMP_SWAP || wqe->op == ENG_WR_FETCH_ADD;
    const bool empty = wqe->op == ENG_WR_FLUSH || wqe->op == ENG_WR_ATOMIC_WRITE;
    if (!wr_is_read(wqe->op) || atomic != (rx->info->op == ROCE_OP_ATOMIC_ACK)) {
        qp_send_error(qp, now, ENG_WC_BAD_RESP_ERR);
        return;
    }
    if (atomic)
        atomic_data(qp, now, rx);
    else if (!empty)
        read_data(qp, now, rx, psn);
    else if (rx->info->pos == ROCE_POS_ONLY && rx->len == 0)
        answered(qp, now);
    else
        qp_send_error(qp, now, ENG_WC_BAD_RESP_ERR);
}

static enum eng_wc_status nak_status(uint8_t code)
{
    switch ((enum roce_nak)code) {
    case ROCE_NAK_INVALID_REQUEST:
        return ENG_WC_REM_INV_REQ_ERR;
    case ROCE_NAK_REMOTE_ACCESS_ERROR:
        return ENG_WC_REM_ACCESS_ERR;
    case ROCE_NAK_REMOTE_OPERATIONAL_ERROR:
        return ENG_WC_REM_OP_ERR;
    case ROCE_NAK_INVALID_RD_REQUEST:
        return ENG_WC_REM_INV_RD_REQ_ERR;
    case ROCE_NAK_PSN_SEQUENCE_ERROR:
        break;
    }
    return ENG_WC_FATAL_ERR;
}

static void nak(struct eng_qp *qp, roce_tstamp now, uint64_t psn, uint8_t syndrome)
{
    const uint8_t code = roce_aeth_value(syndrome);
    if (code > ROCE_NAK_MAX) { /* reserved */
        qp_drop(qp, now, ENG_DROP_GHOST, psn);
        return;
    }
    qp->stats.naks_received++;
    device_trace(qp->dev, now, ENG_TRACE_NAK_RECEIVED, ENG_CAUSE_NONE, qp->qpn, psn, syndrome);
    if (acknowledge(qp, now, psn) == HOLE) {
        implied_nak(qp, now, psn, false);
        return;
    }
    if (code != ROCE_NAK_PSN_SEQUENCE_ERROR)
        qp_send_error(qp, now, nak_status(code));
    else if (qp->timer.rnr == ENG_NEVER && qp->s.cur_psn != psn)
        /* While an RNR wait runs it says nothing new, nor when that is where the cursor is. */
        retry_go_back(qp, now, psn, ENG_CAUSE_NAK);
}

static void rnr_nak(struct eng_qp *qp, roce_tstamp now, uint64_t psn, uint8_t syndrome)
{
    qp->stats.rnr_received++;
    device_trace(qp->dev, now, ENG_TRACE_RNR_RECEIVED, ENG_CAUSE_NONE, qp->qpn, psn, syndrome);
    if (acknowledge(qp, now, psn) == HOLE)
        implied_nak(qp, now, psn, false);
    else if (qp->timer.rnr == ENG_NEVER)
        retry_rnr(qp, now, roce_aeth_value(syndrome));
}

static void acknowledge_packet(struct eng_qp *qp, roce_tstamp now, const struct rx *rx,
                               uint64_t psn)
{
    const uint8_t syndrome = rx->pkt->aeth.syndrome;
    switch (roce_aeth_kind(syndrome)) {
    case ROCE_AETH_ACK:
        qp->stats.acks_received++;
        take_credits(qp, &rx->pkt->aeth);
        if (acknowledge(qp, now, psn + 1) == HOLE)
            implied_nak(qp, now, psn, false);
        break;
    case ROCE_AETH_RNR_NAK:
        rnr_nak(qp, now, psn, syndrome);
        break;
    case ROCE_AETH_NAK:
        nak(qp, now, psn, syndrome);
        break;
    case ROCE_AETH_RESERVED:
        qp_drop(qp, now, ENG_DROP_GHOST, psn);
        break;
    }
}

void completer_response(struct eng_qp *qp, roce_tstamp now, const struct rx *rx)
{
    struct requester *s = &qp->s;
    const uint64_t psn = psn_extend(s->una, rx->pkt->bth.psn);
    /* The peer is at work on what was asked before, which may take longer than the timeout. Behind
     * a hole it has to end that first: to ask once more would only lengthen its work. */
    if (rx->info->op == ROCE_OP_READ_RESPONSE && psn < s->next && qp->timer.ack != ENG_NEVER) {
        if (psn > s->una && s->implied != IMPLIED_NONE)
            requester_arm_late(qp, now);
        else
            requester_arm(qp, now);
    }
    if (psn < s->una || psn >= s->next) {
        /* Old or never asked for. What it says of credits still holds. */
        if (rx->info->op == ROCE_OP_ACK && roce_aeth_kind(rx->pkt->aeth.syndrome) == ROCE_AETH_ACK)
            take_credits(qp, &rx->pkt->aeth);
        qp_drop(qp, now, ENG_DROP_GHOST, psn);
        return;
    }
    if (rx->info->op == ROCE_OP_ACK) {
        acknowledge_packet(qp, now, rx, psn);
    } else {
        if (rx->pkt->has & ROCE_H_AETH)
            take_credits(qp, &rx->pkt->aeth);
        data_response(qp, now, rx, psn);
    }
    if (s->local_error != 0 && s->cur == s->tail && qp->state != ENG_ERR)
        qp_send_error(qp, now, (enum eng_wc_status)s->local_error);
}
