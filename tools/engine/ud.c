/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unreliable datagrams (IBTA 9.8.3): each send names its destination, each receive begins with the
 * header that it came under. */
#include "ud.h"

#include <roce/opcode.h>
#include <string.h>

#include "responder.h"

#define IPV4_GRH_OFF (ENG_GRH_LEN - ROCE_IPV4_LEN) /* annex A17.4.5.2: the last 20 of the 40 */

static bool same_path(const struct eng_ah *a, const struct eng_ah *b)
{
    return memcmp(a->dmac, b->dmac, sizeof(a->dmac)) == 0 &&
           memcmp(a->src_ip, b->src_ip, sizeof(a->src_ip)) == 0 &&
           memcmp(a->dst_ip, b->dst_ip, sizeof(a->dst_ip)) == 0 && a->tclass == b->tclass &&
           a->ttl == b->ttl && a->has_vlan == b->has_vlan && a->vlan_tci == b->vlan_tci &&
           a->flow_label == b->flow_label && a->sport == b->sport;
}

/* Headers are laid out again only when the destination changes. Behind the queue's handles stands
 * the one that they were made from. */
static void lay_out(struct eng_qp *qp, const struct eng_ah *ah, uint32_t dest_qpn)
{
    struct eng_ah *made_from = &qp->ahs[qp->sq_mask + 1];
    if (qp->head.len != 0 && qp->dest_qpn == dest_qpn && same_path(made_from, ah))
        return;
    *made_from = *ah;
    qp->dest_qpn = dest_qpn;
    header_make(&qp->head, qp->dev, ah, qp->qpn, dest_qpn, qp->pkey);
}

int ud_write(struct eng_qp *qp, roce_tstamp now, const struct send_wqe *wqe, uint8_t *buf)
{
    struct requester *s = &qp->s;
    lay_out(qp, &qp->ahs[s->cur & qp->sq_mask], wqe->rkey);
    uint8_t *p = header_begin(&qp->head, buf);
    p = put_be32(p, wqe->ssn);
    p = put_be32(p, qp->qpn);
    const bool imm = wqe->op == ENG_WR_SEND_IMM;
    if (imm)
        p = put_be32(p, wqe->imm);
    const int err = wr_gather(qp, wqe, 0, p, wqe->length);
    if (err != 0) {
        qp_send_error(qp, now, (enum eng_wc_status)err);
        return 0;
    }
    const struct bth_vary bth = {.opcode =
                                     imm ? ROCE_OPCODE_UD_SEND_ONLY_IMM : ROCE_OPCODE_UD_SEND_ONLY,
                                 .se = (wqe->flags & SEND_SOLICITED) != 0,
                                 .psn = (uint32_t)s->cur_psn};
    const int len =
        header_finish(&qp->head, qp->dev, buf, p + wqe->length, wqe->length, bth, qp->ip_id++);
    qp->stats.tx_payload += wqe->length;
    s->cur++;
    s->una = s->next = ++s->cur_psn;
    qp_complete_send(qp, now, ENG_WC_SUCCESS);
    return len;
}

uint8_t ud_prio(const struct eng_qp *qp)
{
    const struct eng_ah *ah = &qp->ahs[qp->s.cur & qp->sq_mask];
    return ah->has_vlan ? (uint8_t)(ah->vlan_tci >> 13) : ah->tclass >> 5;
}

/* Where the receive takes the headers' 40 bytes and the payload from. */
static int place(const struct eng_qp *qp, const struct rx *rx, const struct recv_wqe *wqe)
{
    uint8_t grh[ENG_GRH_LEN] = {0};
    const uint8_t *ip = rx->frame + rx->pkt->ip_off;
    if (rx->pkt->ip.version == 4)
        memcpy(grh + IPV4_GRH_OFF, ip, ROCE_IPV4_LEN);
    else
        memcpy(grh, ip, ENG_GRH_LEN);
    const struct eng_pd *pd = qp->srq != NULL ? qp->srq->pd : qp->pd;
    const int err = wr_scatter(pd, wqe->sge, wqe->n_sge, 0, grh, sizeof(grh));
    if (err != 0)
        return err;
    return wr_scatter(pd, wqe->sge, wqe->n_sge, ENG_GRH_LEN, rx->payload, rx->len);
}

void ud_receive(struct eng_qp *qp, roce_tstamp now, const struct rx *rx)
{
    const struct roce_packet *pkt = rx->pkt;
    struct responder *r = &qp->r;
    if (pkt->deth.qkey != qp->qkey) {
        qp_drop(qp, now, ENG_DROP_QKEY, pkt->bth.psn);
        return;
    }
    /* A receive that turns out too small is kept for the next datagram. */
    if (!recv_take(qp, qp->srq) || r->wqe.length < ENG_GRH_LEN + rx->len) {
        qp_drop(qp, now, ENG_DROP_NO_WQE, pkt->bth.psn);
        return;
    }
    r->has_wqe = false;
    const int err = place(qp, rx, &r->wqe);
    struct eng_wc wc = {.wr_id = r->wqe.wr_id,
                        .status = (uint8_t)err,
                        .op = ENG_WC_RECV,
                        .has_imm = (pkt->has & ROCE_H_IMM) != 0,
                        .imm = pkt->has & ROCE_H_IMM ? pkt->imm : 0,
                        .has_grh = true,
                        .solicited = pkt->bth.se,
                        .src_qp = pkt->deth.src_qp,
                        .byte_len = ENG_GRH_LEN + rx->len,
                        .now = now,
                        .has_vlan = pkt->n_vlan > 0,
                        .vlan_tci = pkt->n_vlan > 0 ? pkt->vlan[0].tci : 0};
    memcpy(wc.smac, pkt->eth.src, sizeof(wc.smac));
    qp_complete_recv(qp, &wc);
    if (err != 0) {
        qp_error(qp, now);
        return;
    }
    qp->stats.msgs_received++;
    qp->stats.rx_payload += rx->len;
    device_trace(qp->dev, now, ENG_TRACE_MESSAGE, ENG_CAUSE_NONE, qp->qpn, pkt->bth.psn, rx->len);
}
