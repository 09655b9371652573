/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Posting work, and copying between its memory and frames. */
#include "wr.h"

#include <roce/err.h>
#include <string.h>

#include "qp.h"
#include "schedule.h"
#include "ud.h"

#define ATOMIC_LEN 8
#define QKEY_OWN   UINT32_C(0x80000000) /* IBTA 10.2.5: such a Q_Key stands for the QP's own */

/* What each service carries (IBTA table 38). */
static bool service_has(uint8_t service, enum eng_wr_op op)
{
    switch ((enum eng_service)service) {
    case ENG_RC:
        return true;
    case ENG_UC:
        return op == ENG_WR_SEND || op == ENG_WR_SEND_IMM || op == ENG_WR_WRITE ||
               op == ENG_WR_WRITE_IMM;
    case ENG_UD:
        return op == ENG_WR_SEND || op == ENG_WR_SEND_IMM;
    case ENG_XRC_TGT:
        break;
    }
    return false;
}

/* Operations whose data goes with the request. */
static bool has_payload(enum eng_wr_op op)
{
    return op <= ENG_WR_WRITE_IMM;
}

static uint64_t sge_sum(const struct eng_sge *sge, uint32_t n)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < n; i++)
        sum += sge[i].length;
    return sum;
}

/* The length of the message, or a negative error. */
static int64_t message_length(const struct eng_qp *qp, const struct eng_send_wr *wr)
{
    if (wr->op == ENG_WR_ATOMIC_WRITE)
        return ATOMIC_LEN;
    if (wr->op == ENG_WR_FLUSH)
        return wr->flush_length <= ENG_MSG_MAX ? (int64_t)wr->flush_length : ROCE_ERR_INVALID;
    if (wr->inline_data != NULL) {
        if (!has_payload(wr->op) || wr->inline_len > qp->max_inline)
            return ROCE_ERR_INVALID;
        return wr->inline_len;
    }
    if (wr->n_sge > ENG_SGE_MAX)
        return ROCE_ERR_INVALID;
    const uint64_t sum = sge_sum(wr->sge, wr->n_sge);
    if (sum > ENG_MSG_MAX)
        return ROCE_ERR_INVALID;
    if (wr->op == ENG_WR_CMP_SWAP || wr->op == ENG_WR_FETCH_ADD)
        return sum >= ATOMIC_LEN ? ATOMIC_LEN : ROCE_ERR_INVALID;
    return (int64_t)sum;
}

static int check_send(const struct eng_qp *qp, const struct eng_send_wr *wr, int64_t *length)
{
    if ((unsigned)wr->op >= ENG_WR_OPS || !service_has(qp->service, wr->op))
        return ROCE_ERR_INVALID;
    *length = message_length(qp, wr);
    if (*length < 0)
        return ROCE_ERR_INVALID;
    if (qp->service == ENG_UD && *length > (int64_t)qp->mtu)
        return ROCE_ERR_INVALID;
    /* A READ spends the PSNs of all its responses at once. */
    if (wr->op == ENG_WR_READ && qp->mtu != 0 &&
        (uint64_t)*length > (uint64_t)PSN_MAX_OUT * qp->mtu)
        return ROCE_ERR_INVALID;
    if (wr->op == ENG_WR_FLUSH && (wr->flush_type > 0xF || wr->flush_level > 3))
        return ROCE_ERR_INVALID;
    return 0;
}

static void fill(struct eng_qp *qp, uint32_t index, const struct eng_send_wr *wr, uint32_t length)
{
    struct send_wqe *wqe = qp_send_wqe(qp, index);
    wqe->wr_id = wr->wr_id;
    wqe->remote_va = wr->remote_va;
    wqe->rkey = wr->rkey;
    wqe->swap = wr->swap;
    wqe->compare_add = wr->op == ENG_WR_ATOMIC_WRITE ? wr->atomic_write : wr->compare_add;
    wqe->imm = wr->op == ENG_WR_SEND_INV ? wr->inv_rkey : wr->imm;
    wqe->length = length;
    wqe->op = (uint8_t)wr->op;
    wqe->flags = (uint8_t)((wr->signaled || qp->sq_sig_all ? SEND_SIGNALED : 0) |
                           (wr->solicited ? SEND_SOLICITED : 0) | (wr->fence ? SEND_FENCE : 0));
    wqe->feth = (uint8_t)((wr->flush_level & 0xF) << 4 | (wr->flush_type & 0xF));
    wqe->n_sge = 0;
    if (wr->inline_data != NULL) {
        wqe->flags |= SEND_INLINE;
        memcpy(qp->inline_data + (size_t)(index & qp->sq_mask) * qp->max_inline, wr->inline_data,
               length);
    } else if (wr->op != ENG_WR_ATOMIC_WRITE && wr->op != ENG_WR_FLUSH) {
        wqe->n_sge = (uint8_t)wr->n_sge;
        memcpy(wqe->sge, wr->sge, wr->n_sge * sizeof(wr->sge[0]));
    }
    if (qp->service == ENG_UD) {
        qp->ahs[index & qp->sq_mask] = wr->ah;
        wqe->rkey = wr->dest_qpn & ROCE_QPN_MASK;
        wqe->ssn = wr->qkey & QKEY_OWN ? qp->qkey : wr->qkey;
    }
}

int eng_post_send(struct eng_qp *qp, roce_tstamp now, const struct eng_send_wr *wr)
{
    int64_t length = 0;
    const int err = check_send(qp, wr, &length);
    if (err != 0)
        return err;
    if (qp->state == ENG_RESET || qp->state == ENG_INIT || qp->state == ENG_RTR)
        return ROCE_ERR_STATE;
    if (qp->state == ENG_ERR || qp->state == ENG_SQE) {
        cq_push(qp->send_cq, &(struct eng_wc){.wr_id = wr->wr_id,
                                              .status = ENG_WC_WR_FLUSH_ERR,
                                              .op = ENG_WC_SEND_SIDE,
                                              .wr_op = (uint8_t)wr->op,
                                              .qpn = qp->qpn,
                                              .now = now});
        device_settle(qp->dev, now);
        return 0;
    }
    if (qp->s.head - qp->s.tail >= qp->max_send_wr)
        return ROCE_ERR_FULL;
    fill(qp, qp->s.head, wr, (uint32_t)length);
    qp->s.head++;
    schedule(qp, now);
    return 0;
}

bool wr_recv_wqe(const struct eng_recv_wr *wr, struct recv_wqe *out)
{
    if (wr->n_sge > ENG_SGE_MAX)
        return false;
    const uint64_t sum = sge_sum(wr->sge, wr->n_sge);
    if (sum > UINT32_MAX)
        return false;
    out->wr_id = wr->wr_id;
    out->n_sge = wr->n_sge;
    out->length = (uint32_t)sum;
    memcpy(out->sge, wr->sge, wr->n_sge * sizeof(wr->sge[0]));
    return true;
}

int eng_post_recv(struct eng_qp *qp, roce_tstamp now, const struct eng_recv_wr *wr)
{
    if (qp->state == ENG_RESET)
        return ROCE_ERR_STATE;
    if (qp->srq != NULL || qp->service == ENG_XRC_TGT)
        return ROCE_ERR_INVALID;
    if (qp->state == ENG_ERR) {
        qp_complete_recv(qp, &(struct eng_wc){.wr_id = wr->wr_id,
                                              .status = ENG_WC_WR_FLUSH_ERR,
                                              .op = ENG_WC_RECV,
                                              .now = now});
        device_settle(qp->dev, now);
        return 0;
    }
    if (qp->r.head - qp->r.tail >= qp->max_recv_wr)
        return ROCE_ERR_FULL;
    if (!wr_recv_wqe(wr, &qp->rq[qp->r.head & qp->rq_mask]))
        return ROCE_ERR_INVALID;
    qp->r.head++;
    return 0;
}

int wr_gather(const struct eng_qp *qp, const struct send_wqe *wqe, uint64_t off, uint8_t *buf,
              uint32_t len)
{
    if (wqe->flags & SEND_INLINE) {
        const size_t index = (size_t)(wqe - qp->sq);
        memcpy(buf, qp->inline_data + index * qp->max_inline + off, len);
        return 0;
    }
    for (uint32_t i = 0; i < wqe->n_sge && len > 0; i++) {
        const struct eng_sge *sge = &wqe->sge[i];
        if (off >= sge->length) {
            off -= sge->length;
            continue;
        }
        const uint64_t left = sge->length - off;
        const uint32_t n = left < len ? (uint32_t)left : len;
        const struct eng_mr *mr = mr_local(qp->pd, sge->lkey, sge->addr + off, n, 0);
        if (mr == NULL)
            return ENG_WC_LOC_PROT_ERR;
        mr_read(mr, sge->addr + off, buf, n);
        buf += n;
        len -= n;
        off = 0;
    }
    return len == 0 ? 0 : ENG_WC_LOC_LEN_ERR;
}

int wr_scatter(const struct eng_pd *pd, const struct eng_sge *sge, uint32_t n_sge, uint64_t off,
               const uint8_t *buf, uint32_t len)
{
    for (uint32_t i = 0; i < n_sge && len > 0; i++) {
        if (off >= sge[i].length) {
            off -= sge[i].length;
            continue;
        }
        const uint64_t left = sge[i].length - off;
        const uint32_t n = left < len ? (uint32_t)left : len;
        struct eng_mr *mr = mr_local(pd, sge[i].lkey, sge[i].addr + off, n, ENG_LOCAL_WRITE);
        if (mr == NULL)
            return ENG_WC_LOC_PROT_ERR;
        mr_write(mr, sge[i].addr + off, buf, n);
        buf += n;
        len -= n;
        off = 0;
    }
    return len == 0 ? 0 : ENG_WC_LOC_LEN_ERR;
}
