/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Work requests to packets: RC and UC. PSNs, segmentation and what may be outstanding (IBTA 9.7.2,
 * 9.7.3, 9.8.2). */
#include "requester.h"

#include <roce/psn.h>
#include <roce/xth.h>

#include "pacer.h"
#include "schedule.h"
#include "ud.h"

/* Opcodes without the service's base, by operation and position (enum roce_pos). */
static const uint8_t opcodes[ENG_WR_OPS][4] = {
    [ENG_WR_SEND] = {0x00, 0x01, 0x02, 0x04},      [ENG_WR_SEND_IMM] = {0x00, 0x01, 0x03, 0x05},
    [ENG_WR_SEND_INV] = {0x00, 0x01, 0x16, 0x17},  [ENG_WR_WRITE] = {0x06, 0x07, 0x08, 0x0A},
    [ENG_WR_WRITE_IMM] = {0x06, 0x07, 0x09, 0x0B}, [ENG_WR_READ] = {0, 0, 0, 0x0C},
    [ENG_WR_CMP_SWAP] = {0, 0, 0, 0x13},           [ENG_WR_FETCH_ADD] = {0, 0, 0, 0x14},
    [ENG_WR_ATOMIC_WRITE] = {0, 0, 0, 0x1D},       [ENG_WR_FLUSH] = {0, 0, 0, 0x1C},
};

void requester_start(struct eng_qp *qp, uint32_t psn)
{
    /* Away from 0, so that the numbers near it do not wrap. */
    const uint64_t start = (UINT64_C(1) << 32) | psn;
    struct requester *s = &qp->s;
    s->una = s->cur_psn = s->next = s->asked = start;
    s->rd_asked = 0;
    s->rd_limit = UINT8_MAX;
    s->ahead.n = 0;
}

static uint32_t psns_of(const struct send_wqe *wqe, uint32_t mtu)
{
    switch ((enum eng_wr_op)wqe->op) {
    case ENG_WR_SEND:
    case ENG_WR_SEND_IMM:
    case ENG_WR_SEND_INV:
    case ENG_WR_WRITE:
    case ENG_WR_WRITE_IMM:
    case ENG_WR_READ:
        return roce_psn_count(wqe->length, mtu);
    case ENG_WR_CMP_SWAP:
    case ENG_WR_FETCH_ADD:
    case ENG_WR_ATOMIC_WRITE:
    case ENG_WR_FLUSH:
    case ENG_WR_OPS:
        break;
    }
    return 1;
}

static bool takes_receive(uint8_t op)
{
    return op == ENG_WR_SEND || op == ENG_WR_SEND_IMM || op == ENG_WR_SEND_INV ||
           op == ENG_WR_WRITE_IMM;
}

/* A WQE may begin: its order is kept, the peer can take it (IBTA 9.7.7.2.5: one message more than
 * the credits allow may be sent as a probe). */
static bool may_begin(const struct eng_qp *qp, const struct send_wqe *wqe)
{
    const struct requester *s = &qp->s;
    if (qp->state != ENG_RTS)
        return false;
    if (qp->service != ENG_RC)
        return true;
    if ((wqe->flags & SEND_FENCE) && s->rd_atomic > 0)
        return false;
    if (wr_is_read(wqe->op) && s->rd_atomic >= qp->max_rd_atomic)
        return false;
    return !qp->credits || !takes_receive(wqe->op) || roce_psn_diff(s->ssn + 1, s->lsn) <= 1;
}

/* PSNs that were never sent stay within the window. A READ that is larger goes alone. */
static bool fits_window(const struct eng_qp *qp, const struct send_wqe *wqe)
{
    const struct requester *s = &qp->s;
    const uint64_t out = s->cur_psn - s->una;
    if (wqe->op != ENG_WR_READ)
        return out < qp->window;
    return out == 0 || out + psns_of(wqe, qp->mtu) <= qp->window;
}

/* What READs behind it are answered is thrown away: each loss costs all answers on their way. After
 * one READs are asked for one by one, then two at a time, three ... */
static bool held_back(const struct eng_qp *qp, const struct send_wqe *wqe)
{
    return qp->s.rd_asked >= qp->s.rd_limit && wqe->op == ENG_WR_READ && psns_of(wqe, qp->mtu) > 1;
}

bool requester_ready(const struct eng_qp *qp)
{
    const struct requester *s = &qp->s;
    if (s->cur == s->head || s->local_error != 0 || qp->timer.rnr != ENG_NEVER)
        return false;
    if (qp->state != ENG_RTS && qp->state != ENG_SQD)
        return false;
    const struct send_wqe *wqe = qp_send_wqe(qp, s->cur);
    if (held_back(qp, wqe))
        return false;
    if (s->cur_psn < s->next)
        return true;
    if (!(wqe->flags & SEND_ISSUED) && !may_begin(qp, wqe))
        return false;
    return qp->service != ENG_RC || fits_window(qp, wqe);
}

static void begin(struct eng_qp *qp, struct send_wqe *wqe)
{
    struct requester *s = &qp->s;
    wqe->flags |= SEND_ISSUED;
    wqe->first_psn = s->cur_psn;
    wqe->n_psn = psns_of(wqe, qp->mtu);
    if (qp->service != ENG_RC)
        return;
    wqe->ssn = s->ssn = (s->ssn + 1) & ROCE_PSN_MASK;
    if (wr_is_read(wqe->op))
        s->rd_atomic++;
}

static uint8_t *put_reth(uint8_t *p, uint64_t va, uint32_t rkey, uint32_t length)
{
    p = put_be64(p, va);
    p = put_be32(p, rkey);
    return put_be32(p, length);
}

/* One packet, as it is being made. */
struct draft {
    uint8_t *buf, *p;
    struct bth_vary bth;
    uint32_t payload_len;
    uint32_t psns; /* that it spends */
    bool last;     /* of its message */
};

static int data_packet(struct eng_qp *qp, const struct send_wqe *wqe, struct draft *d)
{
    const uint32_t index = (uint32_t)(qp->s.cur_psn - wqe->first_psn);
    const uint64_t off = (uint64_t)index * qp->mtu;
    const bool first = index == 0;
    d->last = index + 1 == wqe->n_psn;
    const enum roce_pos pos = first ? (d->last ? ROCE_POS_ONLY : ROCE_POS_FIRST)
                                    : (d->last ? ROCE_POS_LAST : ROCE_POS_MIDDLE);
    d->bth.opcode = qp->opcode_base | opcodes[wqe->op][pos];
    d->payload_len = d->last ? (uint32_t)(wqe->length - off) : qp->mtu;
    d->psns = 1;
    const bool write = wqe->op == ENG_WR_WRITE || wqe->op == ENG_WR_WRITE_IMM;
    if (first && write)
        d->p = put_reth(d->p, wqe->remote_va, wqe->rkey, wqe->length);
    if (d->last) {
        d->bth.se = (wqe->flags & SEND_SOLICITED) && wqe->op != ENG_WR_WRITE;
        if (wqe->op == ENG_WR_SEND_IMM || wqe->op == ENG_WR_WRITE_IMM || wqe->op == ENG_WR_SEND_INV)
            d->p = put_be32(d->p, wqe->imm);
    }
    const int err = wr_gather(qp, wqe, off, d->p, d->payload_len);
    d->p += d->payload_len;
    return err;
}

/* What is answered by more than an ACK. A READ that lost answers asks for the rest (IBTA 9.7.2.2
 * ff): from the cursor on. */
static void read_packet(const struct eng_qp *qp, const struct send_wqe *wqe, struct draft *d)
{
    const uint32_t index = (uint32_t)(qp->s.cur_psn - wqe->first_psn);
    const uint64_t off = (uint64_t)index * qp->mtu;
    d->bth.opcode = qp->opcode_base | opcodes[wqe->op][ROCE_POS_ONLY];
    d->psns = wqe->n_psn - index;
    d->last = true;
    switch ((enum eng_wr_op)wqe->op) {
    case ENG_WR_READ:
        d->p = put_reth(d->p, wqe->remote_va + off, wqe->rkey, (uint32_t)(wqe->length - off));
        break;
    case ENG_WR_CMP_SWAP:
    case ENG_WR_FETCH_ADD: {
        const bool swap = wqe->op == ENG_WR_CMP_SWAP;
        d->p = put_be32(put_be64(d->p, wqe->remote_va), wqe->rkey);
        d->p = put_be64(d->p, swap ? wqe->swap : wqe->compare_add);
        d->p = put_be64(d->p, swap ? wqe->compare_add : 0);
        break;
    }
    case ENG_WR_ATOMIC_WRITE:
        d->p = put_reth(d->p, wqe->remote_va, wqe->rkey, sizeof(wqe->compare_add));
        memcpy(d->p, &wqe->compare_add, sizeof(wqe->compare_add));
        d->p += sizeof(wqe->compare_add);
        d->payload_len = sizeof(wqe->compare_add);
        break;
    case ENG_WR_FLUSH:
        d->p = put_be32(d->p, (uint32_t)(wqe->feth >> 4) << 4 | (wqe->feth & 0xF));
        d->p = put_reth(d->p, wqe->remote_va, wqe->rkey, wqe->length);
        break;
    case ENG_WR_SEND:
    case ENG_WR_SEND_IMM:
    case ENG_WR_SEND_INV:
    case ENG_WR_WRITE:
    case ENG_WR_WRITE_IMM:
    case ENG_WR_OPS:
        break;
    }
}

/* An answer is wanted at the end of a message, each so many packets, and wherever the window may
 * close: without one it would never open again. */
static bool wants_answer(const struct eng_qp *qp, const struct draft *d)
{
    const struct requester *s = &qp->s;
    if (d->last || (qp->ack_every != 0 && s->unasked + 1 >= qp->ack_every))
        return true;
    return s->cur_psn + 1 - s->una >= qp->window || s->unasked + 1 >= (qp->window + 1) / 2;
}

static void sent(struct eng_qp *qp, roce_tstamp now, const struct draft *d)
{
    struct requester *s = &qp->s;
    qp->stats.retransmitted += s->cur_psn < s->next;
    s->cur_psn += d->psns;
    if (d->last) {
        if (wr_is_read(qp_send_wqe(qp, s->cur)->op))
            s->rd_asked++;
        s->cur++;
    }
    if (s->cur_psn > s->next)
        s->next = s->cur_psn;
    if (qp->service == ENG_RC) {
        s->unasked = d->bth.ackreq ? 0 : s->unasked + 1;
        if (d->bth.ackreq && s->cur_psn > s->asked)
            s->asked = s->cur_psn;
        if (d->bth.ackreq && qp->timer.ack == ENG_NEVER)
            requester_arm(qp, now);
        return;
    }
    s->una = s->next;
    if (d->last)
        qp_complete_send(qp, now, ENG_WC_SUCCESS);
}

static void arm(struct eng_qp *qp, roce_tstamp now, unsigned times)
{
    qp->timer.ack = qp->timeout == 0 ? ENG_NEVER : now + times * (UINT64_C(4096) << qp->timeout);
    timer_update(qp);
}

void requester_arm(struct eng_qp *qp, roce_tstamp now)
{
    arm(qp, now, 1);
}

/* IBTA 9.7.6.1.3: four times what the timeout says at most. */
void requester_arm_late(struct eng_qp *qp, roce_tstamp now)
{
    arm(qp, now, 4);
}

void requester_guard(struct eng_qp *qp, roce_tstamp now)
{
    if (qp->service == ENG_RC && qp->s.una != qp->s.next && qp->timer.ack == ENG_NEVER &&
        qp->timer.rnr == ENG_NEVER)
        requester_arm(qp, now);
}

/* Local faults wait until all that was sent before is answered; see completer.c. */
static void local_fault(struct eng_qp *qp, roce_tstamp now, int status)
{
    if (qp->s.tail == qp->s.cur)
        qp_send_error(qp, now, (enum eng_wc_status)status);
    else
        qp->s.local_error = (uint8_t)status;
}

int requester_write(struct eng_qp *qp, roce_tstamp now, uint8_t *buf)
{
    if (!requester_ready(qp))
        return 0;
    struct send_wqe *wqe = qp_send_wqe(qp, qp->s.cur);
    if (!(wqe->flags & SEND_ISSUED))
        begin(qp, wqe);
    if (qp->service == ENG_UD)
        return ud_write(qp, now, wqe, buf);
    struct draft d = {.buf = buf, .p = header_begin(&qp->head, buf)};
    int err = 0;
    if (wr_is_read(wqe->op))
        read_packet(qp, wqe, &d);
    else
        err = data_packet(qp, wqe, &d);
    if (err != 0) {
        local_fault(qp, now, err);
        return 0;
    }
    d.bth.psn = (uint32_t)qp->s.cur_psn;
    d.bth.ackreq = qp->service == ENG_RC && wants_answer(qp, &d);
    const int len = header_finish(&qp->head, qp->dev, buf, d.p, d.payload_len, d.bth, qp->ip_id++);
    qp->stats.tx_payload += d.payload_len;
    sent(qp, now, &d);
    return len;
}

void requester_seek(struct eng_qp *qp, uint64_t psn)
{
    struct requester *s = &qp->s;
    s->cur = s->tail;
    s->cur_psn = psn;
    s->unasked = 0;
    s->rd_asked = 0;
    while (s->cur != s->head) {
        const struct send_wqe *wqe = qp_send_wqe(qp, s->cur);
        if (!(wqe->flags & SEND_ISSUED) || psn < wqe->first_psn + wqe->n_psn)
            break;
        if (wr_is_read(wqe->op))
            s->rd_asked++;
        s->cur++;
    }
}
