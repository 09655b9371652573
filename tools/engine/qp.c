/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Queue pairs: making and freeing, errors and flushing, what they tell of themselves. */
#include "qp.h"

#include <assert.h>
#include <stdlib.h>

#include "schedule.h"

#define ANSWERS_MAX 128
#define MTU_MAX     4096
#define QUEUE_LIMIT (UINT32_C(1) << 20)
#define GSI_QKEY    UINT32_C(0x80010000)

static_assert(sizeof(struct send_wqe) == 128, "two cache lines a send");
static_assert(sizeof(struct eng_qp) + 4 * sizeof(struct eng_qp *) + sizeof(struct timer_entry) <=
                  1024,
              "a QP takes less than 1 KiB beside its queues");

static uint32_t power_of_two(uint32_t n)
{
    uint32_t p = 1;
    while (p < n)
        p *= 2;
    return p;
}

/* One block holds the QP and its queues. Each part is a multiple of the next one's alignment; what
 * is used rarely stands last, so that its pages may stay untouched. */
struct layout {
    size_t sq, rq, answers, ahs, inlines, total;
};

static struct layout layout_of(const struct eng_qp_cfg *cfg, const struct eng_qp *qp)
{
    struct layout l;
    const size_t n = (size_t)qp->sq_mask + 1;
    l.sq = sizeof(struct eng_qp);
    l.rq = l.sq + n * sizeof(struct send_wqe);
    l.answers = l.rq + ((size_t)qp->rq_mask + 1) * sizeof(struct recv_wqe);
    l.ahs = l.answers + ((size_t)qp->answer_mask + 1) * sizeof(struct answer);
    l.inlines = l.ahs + (cfg->service == ENG_UD ? (n + 1) * sizeof(struct eng_ah) : 0);
    l.total = l.inlines + n * qp->max_inline;
    return l;
}

static bool cfg_is_valid(const struct eng_qp_cfg *cfg)
{
    if (cfg->send_cq == NULL || cfg->recv_cq == NULL || (unsigned)cfg->service > ENG_XRC_TGT)
        return false;
    if (cfg->max_send_wr > QUEUE_LIMIT || cfg->max_recv_wr > QUEUE_LIMIT)
        return false;
    if (cfg->max_inline > ENG_INLINE_MAX || cfg->max_answers > ANSWERS_MAX)
        return false;
    return cfg->qpn != ROCE_QPN_GSI || cfg->service == ENG_UD;
}

static const uint8_t opcode_bases[] = {
    [ENG_RC] = 0x00, [ENG_UC] = 0x20, [ENG_UD] = 0x60, [ENG_XRC_TGT] = 0xA0};

struct eng_qp *eng_qp_new(struct eng_pd *pd, const struct eng_qp_cfg *cfg)
{
    if (!cfg_is_valid(cfg))
        return NULL;
    const bool reliable = cfg->service == ENG_RC || cfg->service == ENG_XRC_TGT;
    struct eng_qp init = {
        .dev = pd->dev,
        .pd = pd,
        .send_cq = cfg->send_cq,
        .recv_cq = cfg->recv_cq,
        .srq = cfg->srq,
        .max_send_wr = cfg->service == ENG_XRC_TGT ? 0 : cfg->max_send_wr,
        .max_recv_wr = cfg->srq != NULL || cfg->service == ENG_XRC_TGT ? 0 : cfg->max_recv_wr,
        .max_inline = cfg->max_inline != 0 ? cfg->max_inline : ENG_INLINE_MAX,
        .max_answers = !reliable               ? 0
                       : cfg->max_answers != 0 ? cfg->max_answers
                                               : ANSWERS_MAX,
        .service = (uint8_t)cfg->service,
        .sq_sig_all = cfg->sq_sig_all,
        .pkey = ROCE_PKEY_DEFAULT,
        .qkey = cfg->qpn == ROCE_QPN_GSI ? GSI_QKEY : 0,
        .opcode_base = opcode_bases[cfg->service],
    };
    init.sq_mask = power_of_two(init.max_send_wr) - 1;
    init.rq_mask = power_of_two(init.max_recv_wr) - 1;
    init.answer_mask = (uint16_t)(power_of_two(init.max_answers) - 1);
    const struct layout l = layout_of(cfg, &init);
    uint8_t *block = calloc(1, l.total);
    if (block == NULL)
        return NULL;
    struct eng_qp *qp = (struct eng_qp *)block;
    *qp = init;
    if (!device_add_qp(pd->dev, qp, cfg->qpn)) {
        free(block);
        return NULL;
    }
    qp->sq = (struct send_wqe *)(block + l.sq);
    qp->rq = (struct recv_wqe *)(block + l.rq);
    if (cfg->service == ENG_UD)
        qp->ahs = (struct eng_ah *)(block + l.ahs);
    else
        qp->answers = (struct answer *)(block + l.answers);
    qp->inline_data = block + l.inlines;
    qp->ip_id = (uint16_t)eng_rng_next(&pd->dev->rng);
    qp_reset(qp);
    return qp;
}

void eng_qp_del(struct eng_qp *qp)
{
    if (qp == NULL)
        return;
    schedule_remove(qp);
    timer_remove(qp);
    device_remove_qp(qp->dev, qp);
    free(qp);
}

void qp_reset(struct eng_qp *qp)
{
    schedule_remove(qp);
    timer_remove(qp);
    qp->state = ENG_RESET;
    qp->s = (struct requester){0};
    qp->r = (struct responder){0};
    qp->timer =
        (struct qp_timers){.ack = ENG_NEVER, .rnr = ENG_NEVER, .pace = ENG_NEVER, .cc = ENG_NEVER};
    qp->pacer = (struct pacer){0};
    qp->pkey = ROCE_PKEY_DEFAULT;
    qp->access_flags = qp->flush_flags = 0;
    qp->mtu = MTU_MAX;
    qp->window = PSN_MAX_OUT;
    qp->ack_every = 0;
    qp->rate_bps = 0;
    qp->credits = qp->go_back_0 = false;
    qp->head.len = 0;
    cc_none_init(&qp->cc);
}

void qp_set_state(struct eng_qp *qp, roce_tstamp now, enum eng_qp_state state)
{
    if (qp->state == state)
        return;
    qp->state = (uint8_t)state;
    device_trace(qp->dev, now, ENG_TRACE_STATE, ENG_CAUSE_NONE, qp->qpn, 0, state);
}

void qp_complete_recv(struct eng_qp *qp, const struct eng_wc *wc)
{
    struct eng_wc full = *wc;
    full.qpn = qp->qpn;
    cq_push(qp->recv_cq, &full);
}

void qp_complete_send(struct eng_qp *qp, roce_tstamp now, enum eng_wc_status status)
{
    const struct send_wqe *wqe = qp_send_wqe(qp, qp->s.tail++);
    if (status == ENG_WC_SUCCESS) {
        qp->stats.msgs_sent++;
        if (!(wqe->flags & SEND_SIGNALED))
            return;
    }
    cq_push(qp->send_cq, &(struct eng_wc){.wr_id = wqe->wr_id,
                                          .status = (uint8_t)status,
                                          .op = ENG_WC_SEND_SIDE,
                                          .wr_op = wqe->op,
                                          .qpn = qp->qpn,
                                          .byte_len = wqe->length,
                                          .now = now});
}

/* All that is queued to be sent ends in order; the cursor follows, so that nothing is outstanding.
 */
static void flush_sends(struct eng_qp *qp, roce_tstamp now)
{
    struct requester *s = &qp->s;
    while (s->tail != s->head)
        qp_complete_send(qp, now, ENG_WC_WR_FLUSH_ERR);
    s->cur = s->head;
    s->una = s->cur_psn = s->next;
    s->rd_atomic = 0;
    s->local_error = 0;
    qp->timer.ack = qp->timer.rnr = ENG_NEVER;
}

static void flush_recvs(struct eng_qp *qp, roce_tstamp now)
{
    struct responder *r = &qp->r;
    struct eng_wc wc = {.status = ENG_WC_WR_FLUSH_ERR, .op = ENG_WC_RECV, .now = now};
    if (r->has_wqe) {
        wc.wr_id = r->wqe.wr_id;
        qp_complete_recv(qp, &wc);
    }
    r->has_wqe = false;
    for (; r->tail != r->head; r->tail++) {
        wc.wr_id = qp->rq[r->tail & qp->rq_mask].wr_id;
        qp_complete_recv(qp, &wc);
    }
}

void qp_error(struct eng_qp *qp, roce_tstamp now)
{
    if (qp->state == ENG_ERR)
        return;
    qp_set_state(qp, now, ENG_ERR);
    flush_sends(qp, now);
    flush_recvs(qp, now);
    qp->r.message = MESSAGE_NONE;
}

void qp_send_error(struct eng_qp *qp, roce_tstamp now, enum eng_wc_status status)
{
    qp_complete_send(qp, now, status);
    if (qp->service == ENG_RC) {
        qp_error(qp, now);
        return;
    }
    qp_set_state(qp, now, ENG_SQE);
    flush_sends(qp, now);
}

enum eng_qp_state eng_qp_state(const struct eng_qp *qp)
{
    return (enum eng_qp_state)qp->state;
}

const char *eng_qp_state_name(enum eng_qp_state state)
{
    switch (state) {
    case ENG_RESET:
        return "RESET";
    case ENG_INIT:
        return "INIT";
    case ENG_RTR:
        return "RTR";
    case ENG_RTS:
        return "RTS";
    case ENG_SQD:
        return "SQD";
    case ENG_SQE:
        return "SQE";
    case ENG_ERR:
        return "ERR";
    }
    return "?";
}

uint32_t eng_qp_num(const struct eng_qp *qp)
{
    return qp->qpn;
}

bool eng_qp_drained(const struct eng_qp *qp)
{
    return qp->state == ENG_SQD && qp->s.una == qp->s.next && qp->s.cur == qp->s.tail &&
           qp->s.cur_psn == qp->s.next &&
           (qp->s.cur == qp->s.head || !(qp_send_wqe(qp, qp->s.cur)->flags & SEND_ISSUED));
}

bool eng_qp_established(const struct eng_qp *qp)
{
    return qp->r.established;
}

void eng_qp_stats(const struct eng_qp *qp, struct eng_qp_stats *out)
{
    *out = qp->stats;
    out->rate_bps = qp->cc.ops->rate_bps(&qp->cc);
    out->alpha = qp->cc.ops->alpha(&qp->cc);
}
