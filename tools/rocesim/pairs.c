/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The queue pairs of the flows, connected. */
#include "rocesim/pairs.h"

#include <roce/bth.h>
#include <roce/net.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rocesim/load.h"

#define RD_ATOMIC 16

static int fail(char *error, const char *name, const char *why)
{
    snprintf(error, NET_ERROR_MAX, "flow %s: %s", name, why);
    return -1;
}

static struct eng_ah path_to(const struct net_host *from, const struct net_host *to,
                             const struct sim_flow *flow)
{
    struct eng_ah ah = {.ttl = 64};
    memcpy(ah.dmac, to->mac, sizeof(ah.dmac));
    memcpy(ah.src_ip, from->ip, sizeof(ah.src_ip));
    memcpy(ah.dst_ip, to->ip, sizeof(ah.dst_ip));
    /* DSCP 26 for priority 3 as NICs have it: upper three bits the priority, AF x1. */
    const unsigned dscp = (unsigned)flow->priority << 3 | 2;
    ah.tclass = (uint8_t)(dscp << 2 | (flow->ecn ? ROCE_ECN_ECT0 : ROCE_ECN_NOT_ECT));
    ah.has_vlan = flow->vlan != 0;
    ah.vlan_tci = (uint16_t)(flow->priority << 13 | flow->vlan);
    return ah;
}

struct qp_end {
    struct net_host *host, *peer;
    uint32_t qpn, dest_qpn, sq_psn, rq_psn;
    bool sends;
};

static struct eng_qp *qp_new(const struct qp_end *end, const struct sim_flow *flow)
{
    const struct eng_qp_cfg cfg = {
        .service = ENG_RC,
        .send_cq = end->host->cq,
        .recv_cq = end->host->cq,
        .max_send_wr = end->sends ? (uint32_t)flow->depth : 1,
        .max_recv_wr = !end->sends && flow->op == SIM_SEND ? (uint32_t)flow->depth * 2 : 1,
        .sq_sig_all = true,
        .qpn = end->qpn,
        .max_inline = 1, /* no messages are sent inline */
        .max_answers = RD_ATOMIC,
    };
    struct eng_qp *qp = eng_qp_new(end->host->pd, &cfg);
    if (qp == NULL)
        return NULL;
    struct eng_qp_attr attr = {
        .state = ENG_INIT,
        .access = ENG_REMOTE_WRITE | ENG_REMOTE_READ,
        .pkey = ROCE_PKEY_DEFAULT,
        .av = path_to(end->host, end->peer, flow),
        .path_mtu = (uint16_t)flow->mtu,
        .timeout = (uint8_t)flow->timeout,
        .retry_cnt = (uint8_t)flow->retry,
        .rnr_retry = 7,
        .min_rnr_timer = 1,
        .rq_psn = end->rq_psn,
        .sq_psn = end->sq_psn,
        .dest_qpn = end->dest_qpn,
        .max_rd_atomic = RD_ATOMIC,
        .max_dest_rd_atomic = RD_ATOMIC,
        .window = (uint32_t)flow->window,
        .dcqcn = flow->dcqcn != SIM_DCQCN_OFF,
        .cc = flow->cc,
        .rate_bps = flow->rate_bps,
        .ack_every = (uint32_t)flow->ack_every,
        .go_back_0 = flow->go_back_0,
    };
    attr.cc.threshold = (uint32_t)flow->threshold;
    attr.cc.rai_bps = (double)flow->rai_bps;
    attr.cc.rhai_bps = (double)flow->rhai_bps;
    attr.cc.min_bps = (double)flow->min_bps;
    int err = eng_qp_modify(qp, 0, &attr, ENG_ATTR_STATE | ENG_ATTR_ACCESS | ENG_ATTR_PKEY);
    attr.state = ENG_RTR;
    if (err == 0)
        err = eng_qp_modify(qp, 0, &attr,
                            ENG_ATTR_STATE | ENG_ATTR_AV | ENG_ATTR_PATH_MTU | ENG_ATTR_DEST_QPN |
                                ENG_ATTR_RQ_PSN | ENG_ATTR_MAX_DEST_RD_ATOMIC |
                                ENG_ATTR_MIN_RNR_TIMER | ENG_ATTR_GO_BACK_0);
    attr.state = ENG_RTS;
    if (err == 0)
        err = eng_qp_modify(qp, 0, &attr,
                            ENG_ATTR_STATE | ENG_ATTR_SQ_PSN | ENG_ATTR_TIMEOUT |
                                ENG_ATTR_RETRY_CNT | ENG_ATTR_RNR_RETRY | ENG_ATTR_MAX_RD_ATOMIC |
                                ENG_ATTR_WINDOW | ENG_ATTR_RATE | ENG_ATTR_CC | ENG_ATTR_ACK_EVERY);
    return err == 0 ? qp : NULL;
}

static int pair_new(struct net *net, int index, int flow_index, struct eng_rng *rng)
{
    const struct sim_flow *flow = &net->scenario->flows[flow_index];
    struct net_qp *qp = &net->qps[index];
    const uint32_t qpn = NET_FIRST_QPN + 2 * (uint32_t)index;
    const uint32_t there = (uint32_t)eng_rng_next(rng) & 0xFFFFFF;
    const uint32_t back = (uint32_t)eng_rng_next(rng) & 0xFFFFFF;
    const struct qp_end from = {.host = net->hosts[flow->from],
                                .peer = net->hosts[flow->to],
                                .qpn = qpn,
                                .dest_qpn = qpn + 1,
                                .sq_psn = there,
                                .rq_psn = back,
                                .sends = true};
    const struct qp_end to = {.host = from.peer,
                              .peer = from.host,
                              .qpn = qpn + 1,
                              .dest_qpn = qpn,
                              .sq_psn = back,
                              .rq_psn = there};
    qp->flow = flow_index;
    qp->from = qp_new(&from, flow);
    qp->to = qp_new(&to, flow);
    qp->posted_at = calloc(flow->depth, sizeof(*qp->posted_at));
    if (qp->from == NULL || qp->to == NULL || qp->posted_at == NULL)
        return -1;
    load_receives(net, qp);
    return 0;
}

int pairs_new(struct net *net, char error[NET_ERROR_MAX])
{
    const struct scenario *s = net->scenario;
    struct eng_rng rng = {.state = s->seed};
    uint64_t n_qps = 0;
    for (int i = 0; i < s->n_flows; i++)
        n_qps += s->flows[i].qps;
    net->flows = calloc((size_t)s->n_flows, sizeof(*net->flows));
    net->qps = n_qps <= 1000000 ? calloc(n_qps, sizeof(*net->qps)) : NULL;
    if (net->flows == NULL || net->qps == NULL)
        return fail(error, "all", "too many, or out of memory");
    for (int i = 0; i < s->n_flows; i++) {
        const struct sim_flow *flow = &s->flows[i];
        net->flows[i].first_qp = net->n_qps;
        net->flows[i].n_qps = (int)flow->qps;
        for (uint64_t k = 0; k < flow->qps; k++)
            if (pair_new(net, net->n_qps++, i, &rng) != 0)
                return fail(error, flow->name,
                            "the engine refuses its parameters, or out of memory");
    }
    return 0;
}
