/* SPDX-License-Identifier: GPL-2.0-or-later */
/* READ, atomics, FLUSH and ATOMIC WRITE at the responder: each is remembered until as many newer
 * ones have come, in case it comes again (IBTA 9.7.4.1.3, 9.4.4, 9.4.5, annex A19). */
#include "responder.h"

#include <roce/err.h>
#include <roce/psn.h>
#include <string.h>

#include "schedule.h"

#define ATOMIC_LEN 8
#define SEL_WHOLE  1 /* FLUSH of the whole region: range and length do not count */

/* Whether there is a place for one more. The oldest gives way when it is answered; when it is being
 * answered again, the requester has what it asked for, or it would not ask for more than we keep.
 */
static bool may_store(const struct eng_qp *qp)
{
    const struct responder *r = &qp->r;
    if (qp->max_dest_rd_atomic == 0)
        return false;
    if (r->answer_head - r->answer_tail < qp->max_dest_rd_atomic)
        return true;
    const struct answer *oldest = answer_at(qp, r->answer_head - qp->max_dest_rd_atomic);
    return !oldest->active || oldest->again;
}

static struct answer *new_answer(struct eng_qp *qp)
{
    struct responder *r = &qp->r;
    if (r->answer_head - r->answer_tail >= qp->max_dest_rd_atomic)
        r->answer_tail = r->answer_head - qp->max_dest_rd_atomic + 1;
    if ((int32_t)(r->answer_next - r->answer_tail) < 0)
        r->answer_next = r->answer_tail;
    return answer_at(qp, r->answer_head++);
}

/* The request is executed: it takes its PSNs and counts as a message. */
static void store(struct eng_qp *qp, roce_tstamp now, const struct rx *rx, struct answer answer,
                  uint32_t bytes)
{
    struct responder *r = &qp->r;
    r->msn = (r->msn + 1) & ROCE_PSN_MASK;
    answer.psn = r->epsn;
    answer.msn = r->msn;
    answer.opcode = rx->pkt->bth.opcode;
    answer.active = true;
    *new_answer(qp) = answer;
    qp->stats.msgs_received++;
    qp->stats.rx_payload += rx->len;
    r->epsn += answer.n_psn;
    device_trace(qp->dev, now, ENG_TRACE_MESSAGE, ENG_CAUSE_NONE, qp->qpn, r->epsn - 1, bytes);
}

static enum verdict read_request(struct eng_qp *qp, roce_tstamp now, const struct rx *rx)
{
    const struct roce_reth *reth = &rx->pkt->reth;
    if (rx->len != 0 || reth->dma_length > ENG_MSG_MAX)
        return INVALID_REQUEST;
    const uint32_t n_psn = roce_psn_count(reth->dma_length, qp->mtu);
    if (n_psn > PSN_MAX_OUT)
        return INVALID_REQUEST;
    if (reth->dma_length > 0 &&
        mr_remote(qp->pd, reth->rkey, reth->va, reth->dma_length, ENG_REMOTE_READ) == NULL)
        return REMOTE_ACCESS;
    store(qp, now, rx,
          (struct answer){.kind = ANSWER_READ,
                          .va = reth->va,
                          .rkey = reth->rkey,
                          .length = reth->dma_length,
                          .end = reth->dma_length,
                          .n_psn = n_psn},
          reth->dma_length);
    return DONE;
}

static enum verdict atomic_request(struct eng_qp *qp, roce_tstamp now, const struct rx *rx)
{
    const struct roce_atomic_eth *eth = &rx->pkt->atomic_eth;
    if (rx->len != 0)
        return INVALID_REQUEST;
    struct eng_mr *mr = mr_remote(qp->pd, eth->rkey, eth->va, ATOMIC_LEN, ENG_REMOTE_ATOMIC);
    if (mr == NULL)
        return REMOTE_ACCESS;
    if (eth->va % ATOMIC_LEN != 0)
        return INVALID_REQUEST;
    const uint64_t before = mr_load(mr, eth->va);
    const bool add = (rx->pkt->bth.opcode & 0x1F) == ROCE_OPCODE_RC_FETCH_ADD;
    if (add)
        mr_store(mr, eth->va, before + eth->swap_add);
    else if (before == eth->compare)
        mr_store(mr, eth->va, eth->swap_add);
    store(qp, now, rx, (struct answer){.kind = ANSWER_ATOMIC, .value = before, .n_psn = 1},
          ATOMIC_LEN);
    return DONE;
}

static enum verdict atomic_write(struct eng_qp *qp, roce_tstamp now, const struct rx *rx)
{
    const struct roce_reth *reth = &rx->pkt->reth;
    if (rx->len != ATOMIC_LEN || reth->dma_length != ATOMIC_LEN)
        return INVALID_REQUEST;
    struct eng_mr *mr = mr_remote(qp->pd, reth->rkey, reth->va, ATOMIC_LEN, ENG_REMOTE_WRITE);
    if (mr == NULL)
        return REMOTE_ACCESS;
    if (reth->va % ATOMIC_LEN != 0)
        return INVALID_REQUEST;
    uint64_t value;
    memcpy(&value, rx->payload, sizeof(value));
    mr_store(mr, reth->va, value);
    store(qp, now, rx, (struct answer){.kind = ANSWER_EMPTY, .n_psn = 1}, ATOMIC_LEN);
    return DONE;
}

/* All our memory is visible and as lasting as it gets once it is written: only the rights count. */
static enum verdict flush_request(struct eng_qp *qp, roce_tstamp now, const struct rx *rx)
{
    const struct roce_feth *feth = &rx->pkt->feth;
    const struct roce_reth *reth = &rx->pkt->reth;
    const unsigned rights = (unsigned)feth->plt << 8; /* ENG_FLUSH_GLOBAL, ENG_FLUSH_PERSISTENT */
    if (rx->len != 0 || feth->sel > SEL_WHOLE)
        return INVALID_REQUEST;
    const struct eng_mr *mr =
        feth->sel == SEL_WHOLE ? mr_remote_all(qp->pd, reth->rkey, rights)
                               : mr_remote(qp->pd, reth->rkey, reth->va, reth->dma_length, rights);
    if (mr == NULL)
        return REMOTE_ACCESS;
    store(qp, now, rx, (struct answer){.kind = ANSWER_EMPTY, .n_psn = 1}, 0);
    return DONE;
}

enum verdict answer_request(struct eng_qp *qp, roce_tstamp now, const struct rx *rx)
{
    if (!may_store(qp))
        return INVALID_REQUEST;
    switch ((enum roce_op)rx->info->op) {
    case ROCE_OP_READ:
        return read_request(qp, now, rx);
    case ROCE_OP_ATOMIC:
        return atomic_request(qp, now, rx);
    case ROCE_OP_ATOMIC_WRITE:
        return atomic_write(qp, now, rx);
    case ROCE_OP_FLUSH:
        return flush_request(qp, now, rx);
    case ROCE_OP_SEND:
    case ROCE_OP_WRITE:
    case ROCE_OP_RESYNC:
    case ROCE_OP_READ_RESPONSE:
    case ROCE_OP_ACK:
    case ROCE_OP_ATOMIC_ACK:
    case ROCE_OP_CNP:
    case ROCE_OP_NONE:
        break;
    }
    return INVALID_REQUEST;
}

/* The part of a remembered READ that is asked for again: it begins at a packet of the first answer
 * and does not go beyond its end. */
static bool read_again(const struct eng_qp *qp, struct answer *a, uint64_t psn,
                       const struct roce_reth *reth)
{
    const uint32_t index = (uint32_t)(psn - a->psn);
    const uint64_t off = (uint64_t)index * qp->mtu;
    if (reth->va != a->va + off || reth->rkey != a->rkey || off > a->length ||
        reth->dma_length > a->length - off)
        return false;
    if (reth->dma_length > 0 &&
        mr_remote(qp->pd, reth->rkey, reth->va, reth->dma_length, ENG_REMOTE_READ) == NULL)
        return false;
    a->begin = a->next = index;
    a->end = (uint32_t)off + reth->dma_length;
    return true;
}

bool answer_duplicate(struct eng_qp *qp, uint64_t psn, const struct rx *rx)
{
    struct responder *r = &qp->r;
    for (uint32_t i = r->answer_head; i != r->answer_tail; i--) {
        struct answer *a = answer_at(qp, i - 1);
        if (psn >= a->psn + a->n_psn)
            return false;
        if (psn < a->psn)
            continue;
        if (a->opcode != rx->pkt->bth.opcode)
            return false;
        if (a->kind == ANSWER_READ && !read_again(qp, a, psn, &rx->pkt->reth))
            return false;
        if (!a->active) /* else its first answer is still under way */
            a->again = true;
        a->active = true;
        if ((int32_t)(i - 1 - r->answer_next) < 0)
            r->answer_next = i - 1;
        return true;
    }
    return false;
}
