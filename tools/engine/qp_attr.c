/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Moves of the QP state diagram and the attributes each needs or takes (IBTA 10.3.1, 11.2.5.2). */
#include "qp.h"

#include <roce/err.h>

#include "requester.h"
#include "responder.h"
#include "schedule.h"

#define A(name) ENG_ATTR_##name
/* What is ours to control, wherever a QP may send. */
#define OURS      (A(WINDOW) | A(CC) | A(RATE) | A(ACK_EVERY) | A(GO_BACK_0))
#define TIMERS    (A(TIMEOUT) | A(RETRY_CNT) | A(RNR_RETRY))
#define RESPONDER (A(MAX_DEST_RD_ATOMIC) | A(MIN_RNR_TIMER))
#define PATH      (A(AV) | A(PATH_MTU) | A(DEST_QPN) | A(RQ_PSN))

struct need {
    unsigned required, optional;
};

struct move {
    uint8_t from, to;
    struct need need[4]; /* by enum eng_service */
};

static const struct move moves[] = {
    {ENG_RESET,
     ENG_INIT,
     {[ENG_RC] = {A(ACCESS), A(PKEY)},
      [ENG_UC] = {A(ACCESS), A(PKEY)},
      [ENG_UD] = {A(QKEY), A(PKEY)},
      [ENG_XRC_TGT] = {A(ACCESS), A(PKEY)}}},
    {ENG_INIT,
     ENG_INIT,
     {[ENG_RC] = {0, A(ACCESS) | A(PKEY)},
      [ENG_UC] = {0, A(ACCESS) | A(PKEY)},
      [ENG_UD] = {0, A(QKEY) | A(PKEY)},
      [ENG_XRC_TGT] = {0, A(ACCESS) | A(PKEY)}}},
    {ENG_INIT,
     ENG_RTR,
     {[ENG_RC] = {PATH | RESPONDER, A(ACCESS) | A(PKEY) | A(CREDITS) | OURS},
      [ENG_UC] = {PATH, A(ACCESS) | A(PKEY) | OURS},
      [ENG_UD] = {0, A(QKEY) | A(PKEY) | A(PATH_MTU) | OURS},
      [ENG_XRC_TGT] = {PATH | RESPONDER, A(ACCESS) | A(PKEY) | OURS}}},
    {ENG_RTR,
     ENG_RTS,
     {[ENG_RC] = {A(SQ_PSN) | TIMERS | A(MAX_RD_ATOMIC),
                  A(ACCESS) | A(MIN_RNR_TIMER) | A(CREDITS) | OURS},
      [ENG_UC] = {A(SQ_PSN), A(ACCESS) | OURS},
      [ENG_UD] = {A(SQ_PSN), A(QKEY) | OURS},
      [ENG_XRC_TGT] = {A(TIMEOUT) | A(SQ_PSN), A(ACCESS) | A(MIN_RNR_TIMER) | OURS}}},
    {ENG_RTS,
     ENG_RTS,
     {[ENG_RC] = {0, A(ACCESS) | A(MIN_RNR_TIMER) | OURS},
      [ENG_UC] = {0, A(ACCESS) | OURS},
      [ENG_UD] = {0, A(QKEY) | OURS},
      [ENG_XRC_TGT] = {0, A(ACCESS) | A(MIN_RNR_TIMER) | OURS}}},
    {ENG_RTS, ENG_SQD, {{0, 0}, {0, 0}, {0, 0}, {0, 0}}},
    {ENG_SQD,
     ENG_SQD,
     {[ENG_RC] = {0, A(AV) | TIMERS | A(MAX_RD_ATOMIC) | RESPONDER | A(PKEY) | A(ACCESS) | OURS},
      [ENG_UC] = {0, A(AV) | A(PKEY) | A(ACCESS) | OURS},
      [ENG_UD] = {0, A(PKEY) | A(QKEY) | OURS},
      [ENG_XRC_TGT] = {0, A(AV) | A(TIMEOUT) | RESPONDER | A(PKEY) | A(ACCESS) | OURS}}},
    {ENG_SQD,
     ENG_RTS,
     {[ENG_RC] = {0, A(ACCESS) | A(MIN_RNR_TIMER) | OURS},
      [ENG_UC] = {0, A(ACCESS) | OURS},
      [ENG_UD] = {0, A(QKEY) | OURS},
      [ENG_XRC_TGT] = {0, A(ACCESS) | A(MIN_RNR_TIMER) | OURS}}},
};
/* Only unreliable services have the SQE state. */
static const struct move sqe_to_rts = {
    ENG_SQE, ENG_RTS, {[ENG_UC] = {0, A(ACCESS)}, [ENG_UD] = {0, A(QKEY)}}};

static const struct move *find_move(const struct eng_qp *qp, enum eng_qp_state to)
{
    if (qp->state == ENG_SQE && to == ENG_RTS)
        return &sqe_to_rts;
    for (size_t i = 0; i < sizeof(moves) / sizeof(moves[0]); i++)
        if (moves[i].from == qp->state && moves[i].to == to)
            return &moves[i];
    return NULL;
}

static bool mtu_is_valid(uint16_t mtu)
{
    return mtu == 256 || mtu == 512 || mtu == 1024 || mtu == 2048 || mtu == 4096;
}

static bool dcqcn_is_valid(const struct eng_dcqcn *p)
{
    return p->g > 0 && p->g <= 1 && p->alpha_initial >= 0 && p->alpha_initial <= 1 &&
           p->alpha_ns > 0 && p->alpha_ns <= UINT32_MAX && p->timer_ns > 0 &&
           p->timer_ns <= UINT32_MAX && p->cut_ns <= UINT32_MAX && p->rai_bps >= 0 &&
           p->rhai_bps >= 0 && p->min_bps > 0 && p->min_dec >= 0 && p->min_dec <= 1 &&
           p->first_cnp_bps >= 0;
}

static bool values_are_valid(const struct eng_qp *qp, const struct eng_qp_attr *a, unsigned mask)
{
    const unsigned known = ENG_REMOTE_WRITE | ENG_REMOTE_READ | ENG_REMOTE_ATOMIC |
                           ENG_LOCAL_WRITE | ENG_FLUSH_GLOBAL | ENG_FLUSH_PERSISTENT;
    if ((mask & A(ACCESS)) && (a->access & ~known) != 0)
        return false;
    if ((mask & A(QKEY)) && qp->qpn == ROCE_QPN_GSI && a->qkey != qp->qkey)
        return false;
    if ((mask & A(PATH_MTU)) && !mtu_is_valid(a->path_mtu))
        return false;
    if ((mask & A(TIMEOUT)) && a->timeout > 31)
        return false;
    if ((mask & A(RETRY_CNT)) && a->retry_cnt > 7)
        return false;
    if ((mask & A(RNR_RETRY)) && a->rnr_retry > 7)
        return false;
    if ((mask & A(MIN_RNR_TIMER)) && a->min_rnr_timer > 31)
        return false;
    if ((mask & A(RQ_PSN)) && a->rq_psn > 0xFFFFFF)
        return false;
    if ((mask & A(SQ_PSN)) && a->sq_psn > 0xFFFFFF)
        return false;
    if ((mask & A(DEST_QPN)) && (a->dest_qpn == 0 || a->dest_qpn > 0xFFFFFF))
        return false;
    if ((mask & A(MAX_RD_ATOMIC)) && a->max_rd_atomic > 128)
        return false;
    if ((mask & A(MAX_DEST_RD_ATOMIC)) && a->max_dest_rd_atomic > qp->max_answers)
        return false;
    if ((mask & A(WINDOW)) && (a->window == 0 || a->window > PSN_MAX_OUT))
        return false;
    return !(mask & A(CC)) || !a->dcqcn || dcqcn_is_valid(&a->cc);
}

static void set_responder(struct eng_qp *qp, const struct eng_qp_attr *a, unsigned mask)
{
    if (mask & A(ACCESS)) {
        qp->access_flags = (uint8_t)a->access;
        qp->flush_flags = (uint8_t)(a->access >> 8);
    }
    if (mask & A(PKEY))
        qp->pkey = a->pkey;
    if (mask & A(QKEY))
        qp->qkey = a->qkey;
    if (mask & A(RQ_PSN))
        responder_start(qp, a->rq_psn);
    if (mask & A(MAX_DEST_RD_ATOMIC))
        qp->max_dest_rd_atomic = a->max_dest_rd_atomic;
    if (mask & A(MIN_RNR_TIMER))
        qp->min_rnr_timer = a->min_rnr_timer;
    if (mask & A(CREDITS))
        qp->credits = a->credits;
}

static void set_requester(struct eng_qp *qp, const struct eng_qp_attr *a, unsigned mask)
{
    if (mask & A(TIMEOUT))
        qp->timeout = a->timeout;
    if (mask & A(RETRY_CNT))
        qp->s.retry_left = qp->retry_cnt = a->retry_cnt;
    if (mask & A(RNR_RETRY))
        qp->s.rnr_left = qp->rnr_retry = a->rnr_retry;
    if (mask & A(SQ_PSN))
        requester_start(qp, a->sq_psn);
    if (mask & A(MAX_RD_ATOMIC))
        qp->max_rd_atomic = a->max_rd_atomic;
    if (mask & A(WINDOW))
        qp->window = a->window;
    if (mask & A(ACK_EVERY))
        qp->ack_every = a->ack_every;
    if (mask & A(GO_BACK_0))
        qp->go_back_0 = a->go_back_0;
}

static void set_path(struct eng_qp *qp, const struct eng_qp_attr *a, unsigned mask)
{
    if (mask & A(PATH_MTU))
        qp->mtu = a->path_mtu;
    if (mask & A(DEST_QPN))
        qp->dest_qpn = a->dest_qpn;
    if (mask & A(AV))
        header_make(&qp->head, qp->dev, &a->av, qp->qpn, qp->dest_qpn, qp->pkey);
    if (mask & A(RATE))
        qp->rate_bps = a->rate_bps;
    if (mask & A(CC)) {
        uint64_t line = qp->dev->cfg.link_bps;
        if (line == 0 || (qp->rate_bps != 0 && qp->rate_bps < line))
            line = qp->rate_bps;
        if (a->dcqcn && line != 0)
            cc_dcqcn_init(&qp->cc, &a->cc, (double)line);
        else
            cc_none_init(&qp->cc);
        qp->timer.cc = ENG_NEVER;
    }
}

int eng_qp_modify(struct eng_qp *qp, roce_tstamp now, const struct eng_qp_attr *attr, unsigned mask)
{
    const enum eng_qp_state to = mask & A(STATE) ? attr->state : (enum eng_qp_state)qp->state;
    mask &= ~(unsigned)A(STATE);
    if (to == ENG_RESET || to == ENG_ERR) {
        if (mask != 0)
            return ROCE_ERR_INVALID;
        if (to == ENG_RESET) {
            qp_reset(qp);
            device_trace(qp->dev, now, ENG_TRACE_STATE, ENG_CAUSE_NONE, qp->qpn, 0, to);
            return 0;
        }
        responder_silence(qp);
        qp_error(qp, now);
        device_settle(qp->dev, now);
        return 0;
    }
    const struct move *move = find_move(qp, to);
    if (move == NULL)
        return ROCE_ERR_INVALID;
    struct need need = move->need[qp->service];
    if (qp->qpn == ROCE_QPN_GSI) { /* its Q_Key is given */
        need.optional |= need.required & A(QKEY);
        need.required &= ~(unsigned)A(QKEY);
    }
    if ((mask & need.required) != need.required || (mask & ~(need.required | need.optional)) != 0)
        return ROCE_ERR_INVALID;
    if (!values_are_valid(qp, attr, mask))
        return ROCE_ERR_INVALID;
    set_responder(qp, attr, mask);
    set_requester(qp, attr, mask);
    set_path(qp, attr, mask);
    qp_set_state(qp, now, to);
    schedule(qp, now);
    return 0;
}
