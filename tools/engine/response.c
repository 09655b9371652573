/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the responder says, in the order of the requests (IBTA 9.7.5.1): answers to READs, atomics
 * and FLUSHes, ACKs between them, a NAK at the end. */
#include "responder.h"

#include <roce/opcode.h>
#include <roce/psn.h>

#include "schedule.h"

void response_ack(struct eng_qp *qp, uint64_t psn)
{
    struct responder *r = &qp->r;
    const struct pending_ack ack = {.psn = (uint32_t)psn, .msn_n = r->msn << 8 | 1};
    if (r->ack_count > 0) {
        struct pending_ack *newest = &r->acks[(uint8_t)(r->ack_head + r->ack_count - 1) % ACK_RING];
        if (newest->psn == ack.psn)
            return;
        const uint32_t n = newest->msn_n & 0xFF;
        if (n < qp->dev->cfg.ack_coalesce || r->ack_count == ACK_RING) {
            newest->psn = ack.psn;
            newest->msn_n = r->msn << 8 | (n < 0xFF ? n + 1 : n);
            return;
        }
    }
    r->acks[(uint8_t)(r->ack_head + r->ack_count) % ACK_RING] = ack;
    r->ack_count++;
}

void response_nak(struct eng_qp *qp, uint64_t psn, uint8_t syndrome)
{
    struct responder *r = &qp->r;
    r->nak_waits = true;
    r->nak_psn = (uint32_t)psn;
    r->nak_syndrome = syndrome;
}

/* The answer that is next, or NULL. */
static struct answer *next_answer(const struct eng_qp *qp)
{
    const struct responder *r = &qp->r;
    for (uint32_t i = r->answer_next; i != r->answer_head; i++) {
        struct answer *a = answer_at(qp, i);
        if (a->active)
            return a;
    }
    return NULL;
}

static bool ack_is_next(const struct responder *r, const struct answer *a)
{
    if (r->ack_count == 0)
        return false;
    return a == NULL || (int32_t)(r->acks[r->ack_head].psn - (uint32_t)(a->psn + a->next)) < 0;
}

enum response_kind response_next(const struct eng_qp *qp)
{
    const struct responder *r = &qp->r;
    if (qp->state == ENG_ERR && !r->last_words)
        return RESPONSE_NONE;
    const struct answer *a = next_answer(qp);
    if (ack_is_next(r, a))
        return RESPONSE_SHORT;
    if (a != NULL)
        return a->kind == ANSWER_READ ? RESPONSE_DATA : RESPONSE_SHORT;
    return r->nak_waits ? RESPONSE_SHORT : RESPONSE_NONE;
}

/* Receives that are posted and not in use, as a code (IBTA table 43): the largest that is not more.
 */
static uint8_t credit_code(const struct eng_qp *qp)
{
    if (!qp->credits || qp->srq != NULL || qp->service != ENG_RC)
        return ROCE_CREDITS_INVALID;
    const uint32_t posted = qp->r.head - qp->r.tail;
    uint8_t code = 0;
    while (code + 1 < ROCE_CREDITS_INVALID &&
           (uint32_t)roce_aeth_credits((uint8_t)(code + 1)) <= posted)
        code++;
    return code;
}

static uint8_t *put_aeth(uint8_t *p, uint8_t syndrome, uint32_t msn)
{
    return put_be32(p, (uint32_t)syndrome << 24 | msn);
}

static int finish(struct eng_qp *qp, uint8_t *buf, uint8_t *end, uint32_t payload_len,
                  uint8_t opcode, uint64_t psn)
{
    const struct bth_vary bth = {.opcode = (uint8_t)(qp->opcode_base | opcode),
                                 .psn = (uint32_t)psn};
    return header_finish(&qp->head, qp->dev, buf, end, payload_len, bth, qp->ip_id++);
}

static int write_ack(struct eng_qp *qp, uint8_t *buf)
{
    struct responder *r = &qp->r;
    const struct pending_ack ack = r->acks[r->ack_head];
    r->ack_head = (uint8_t)(r->ack_head + 1) % ACK_RING;
    r->ack_count--;
    qp->stats.acks_sent++;
    uint8_t *p = put_aeth(header_begin(&qp->head, buf), credit_code(qp), ack.msn_n >> 8);
    return finish(qp, buf, p, 0, ROCE_OPCODE_RC_ACKNOWLEDGE, ack.psn);
}

static int write_nak(struct eng_qp *qp, roce_tstamp now, uint8_t *buf)
{
    struct responder *r = &qp->r;
    const bool rnr = roce_aeth_kind(r->nak_syndrome) == ROCE_AETH_RNR_NAK;
    r->nak_waits = false;
    if (rnr)
        qp->stats.rnr_sent++;
    else
        qp->stats.naks_sent++;
    device_trace(qp->dev, now, rnr ? ENG_TRACE_RNR_SENT : ENG_TRACE_NAK_SENT, ENG_CAUSE_NONE,
                 qp->qpn, r->nak_psn, r->nak_syndrome);
    uint8_t *p = put_aeth(header_begin(&qp->head, buf), r->nak_syndrome, r->msn);
    return finish(qp, buf, p, 0, ROCE_OPCODE_RC_ACKNOWLEDGE, r->nak_psn);
}

/* Moves on past what is wholly sent. */
static void sent(struct eng_qp *qp, struct answer *a)
{
    struct responder *r = &qp->r;
    a->active = a->again = false;
    while (r->answer_next != r->answer_head && !answer_at(qp, r->answer_next)->active)
        r->answer_next++;
}

static int write_atomic(struct eng_qp *qp, struct answer *a, uint8_t *buf)
{
    uint8_t *p = put_aeth(header_begin(&qp->head, buf), credit_code(qp), a->msn);
    p = put_be64(p, a->value);
    sent(qp, a);
    return finish(qp, buf, p, 0, ROCE_OPCODE_RC_ATOMIC_ACKNOWLEDGE, a->psn);
}

static int write_empty(struct eng_qp *qp, struct answer *a, uint8_t *buf)
{
    uint8_t *p = put_aeth(header_begin(&qp->head, buf), credit_code(qp), a->msn);
    sent(qp, a);
    return finish(qp, buf, p, 0, ROCE_OPCODE_RC_READ_RESPONSE_ONLY, a->psn);
}

static const uint8_t read_opcodes[] = {
    [ROCE_POS_FIRST] = ROCE_OPCODE_RC_READ_RESPONSE_FIRST,
    [ROCE_POS_MIDDLE] = ROCE_OPCODE_RC_READ_RESPONSE_MIDDLE,
    [ROCE_POS_LAST] = ROCE_OPCODE_RC_READ_RESPONSE_LAST,
    [ROCE_POS_ONLY] = ROCE_OPCODE_RC_READ_RESPONSE_ONLY,
};

/* The memory was there when the request was accepted and is gone now: a NAK ends it here (IBTA
 * 9.7.5.2.4). */
static void read_failed(struct eng_qp *qp, roce_tstamp now, uint64_t psn)
{
    struct responder *r = &qp->r;
    responder_silence(qp);
    response_nak(qp, psn, ROCE_AETH_NAK << 5 | ROCE_NAK_REMOTE_ACCESS_ERROR);
    r->last_words = true;
    qp_error(qp, now);
}

static int write_read(struct eng_qp *qp, roce_tstamp now, struct answer *a, uint8_t *buf)
{
    const uint64_t off = (uint64_t)a->next * qp->mtu;
    const uint64_t left = a->end - off;
    const uint32_t len = left < qp->mtu ? (uint32_t)left : qp->mtu;
    const bool first = a->next == a->begin;
    const bool last = left <= qp->mtu;
    const enum roce_pos pos =
        first ? (last ? ROCE_POS_ONLY : ROCE_POS_FIRST) : (last ? ROCE_POS_LAST : ROCE_POS_MIDDLE);
    const uint64_t psn = a->psn + a->next;
    uint8_t *p = header_begin(&qp->head, buf);
    if (pos != ROCE_POS_MIDDLE)
        p = put_aeth(p, credit_code(qp), a->msn);
    if (len > 0) {
        const struct eng_mr *mr = mr_remote(qp->pd, a->rkey, a->va + off, len, ENG_REMOTE_READ);
        if (mr == NULL) {
            read_failed(qp, now, psn);
            return 0;
        }
        mr_read(mr, a->va + off, p, len);
    }
    qp->stats.tx_payload += len;
    a->next++;
    if (last)
        sent(qp, a);
    return finish(qp, buf, p + len, len, read_opcodes[pos], psn);
}

int response_write(struct eng_qp *qp, roce_tstamp now, uint8_t *buf)
{
    struct answer *a = next_answer(qp);
    if (ack_is_next(&qp->r, a))
        return write_ack(qp, buf);
    if (a == NULL)
        return qp->r.nak_waits ? write_nak(qp, now, buf) : 0;
    switch ((enum answer_kind)a->kind) {
    case ANSWER_READ:
        return write_read(qp, now, a, buf);
    case ANSWER_ATOMIC:
        return write_atomic(qp, a, buf);
    case ANSWER_EMPTY:
        break;
    }
    return write_empty(qp, a, buf);
}
