/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Notification point (annex A17.9.3; DCQCN): at most one CNP of each QP per interval. */
#include "np.h"

#include <roce/net.h>

#include "pause.h"
#include "schedule.h"

#define CNP_PAYLOAD 16 /* zeros */
#define BECN        0x40

/* CNPs of RC and UC go where the QP's packets go, those of UD to whoever sent the marked one, both
 * with a DSCP and a priority of their own. */
static void lay_out(struct cnp *cnp, const struct eng_qp *qp, const struct rx *rx)
{
    const struct eng_dev *dev = qp->dev;
    const struct roce_packet *pkt = rx->pkt;
    struct eng_ah ah = {.tclass = (uint8_t)(dev->cfg.cnp_dscp << 2 | ROCE_ECN_ECT0),
                        .has_vlan = pkt->n_vlan > 0,
                        .flow_label = pkt->ip.flow_label};
    memcpy(ah.dmac, pkt->eth.src, sizeof(ah.dmac));
    memcpy(ah.src_ip, pkt->ip.dst, sizeof(ah.src_ip));
    memcpy(ah.dst_ip, pkt->ip.src, sizeof(ah.dst_ip));
    if (ah.has_vlan)
        ah.vlan_tci = (uint16_t)(roce_vlan_vid(pkt->vlan[0]) | dev->cfg.cnp_pcp << 13);
    const uint32_t dqpn = qp->service == ENG_UD ? pkt->deth.src_qp : qp->dest_qpn;
    header_make(&cnp->head, dev, &ah, qp->qpn, dqpn, qp->pkey);
    uint8_t *bth = cnp->head.bytes + cnp->head.len - ROCE_BTH_LEN;
    bth[1] = 0; /* M is 0 in a CNP */
    bth[4] = BECN;
}

void np_marked(struct eng_qp *qp, roce_tstamp now, const struct rx *rx)
{
    struct eng_dev *dev = qp->dev;
    qp->stats.ce_received++;
    device_trace(dev, now, ENG_TRACE_CE, ENG_CAUSE_NONE, qp->qpn, rx->pkt->bth.psn, 0);
    /* Answers without data cannot be slowed down. */
    if (rx->info->op == ROCE_OP_ACK || rx->info->op == ROCE_OP_ATOMIC_ACK)
        return;
    if (dev->cfg.cnp_gap_ns == 0 || now < qp->r.cnp_at || dev->cnp_count == CNP_QUEUE)
        return;
    qp->r.cnp_at = now + dev->cfg.cnp_gap_ns;
    struct cnp *cnp = &dev->cnps[(dev->cnp_head + dev->cnp_count++) % CNP_QUEUE];
    lay_out(cnp, qp, rx);
    cnp->qpn = qp->qpn;
    cnp->ip_id = qp->ip_id++;
}

void np_received(struct eng_qp *qp, roce_tstamp now)
{
    qp->stats.cnp_received++;
    device_trace(qp->dev, now, ENG_TRACE_CNP_RECEIVED, ENG_CAUSE_NONE, qp->qpn, 0, 0);
    const double before = qp->cc.ops->rate_bps(&qp->cc);
    qp->cc.ops->cnp(&qp->cc, now);
    const double after = qp->cc.ops->rate_bps(&qp->cc);
    if (after > before || after < before)
        device_trace(qp->dev, now, ENG_TRACE_RATE, ENG_CAUSE_NONE, qp->qpn, 0, (uint64_t)after);
    qp->timer.cc = qp->cc.ops->next(&qp->cc);
    timer_update(qp);
}

unsigned np_waiting(const struct eng_dev *dev)
{
    return dev->cnp_count == 0 ? 0 : 1U << dev->cnps[dev->cnp_head].head.prio;
}

int np_write(struct eng_dev *dev, roce_tstamp now, uint8_t *buf)
{
    const unsigned waiting = np_waiting(dev);
    if ((waiting & ~pause_mask(dev, now)) == 0)
        return 0;
    const struct cnp *cnp = &dev->cnps[dev->cnp_head];
    dev->cnp_head = (dev->cnp_head + 1) % CNP_QUEUE;
    dev->cnp_count--;
    uint8_t *p = header_begin(&cnp->head, buf);
    memset(p, 0, CNP_PAYLOAD);
    struct eng_qp *qp = device_find_qp(dev, cnp->qpn);
    if (qp != NULL) {
        qp->stats.cnp_sent++;
        qp->stats.tx_packets++;
    }
    device_trace(dev, now, ENG_TRACE_CNP_SENT, ENG_CAUSE_NONE, cnp->qpn, 0, 0);
    return header_finish(&cnp->head, dev, buf, p + CNP_PAYLOAD, CNP_PAYLOAD,
                         (struct bth_vary){.opcode = ROCE_OPCODE_CNP}, cnp->ip_id);
}
