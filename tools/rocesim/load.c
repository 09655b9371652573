/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The work of a host. */
#include "rocesim/load.h"

enum { POLL_MAX = 16 };

/* Whether another message of |flow| is to be posted at |now|. */
static bool wanted(const struct sim_flow *flow, const struct net_qp *qp, roce_tstamp now)
{
    if (flow->count != 0 && qp->posted >= flow->count)
        return false;
    return flow->stop_ns == 0 || now < flow->stop_ns;
}

static void post(struct net *net, struct net_qp *qp, roce_tstamp now)
{
    const struct sim_flow *flow = &net->scenario->flows[qp->flow];
    static const enum eng_wr_op ops[] = {
        [SIM_WRITE] = ENG_WR_WRITE, [SIM_SEND] = ENG_WR_SEND, [SIM_READ] = ENG_WR_READ};
    const struct eng_send_wr wr = {
        .wr_id = qp->posted,
        .op = ops[flow->op],
        .n_sge = 1,
        .sge = {{.addr = LOAD_VA,
                 .length = (uint32_t)flow->size,
                 .lkey = eng_mr_lkey(net->hosts[flow->from]->mr)}},
        .remote_va = LOAD_VA,
        .rkey = eng_mr_rkey(net->hosts[flow->to]->mr),
    };
    if (eng_post_send(qp->from, now, &wr) != 0)
        return;
    qp->posted_at[qp->posted % flow->depth] = now;
    qp->posted++;
}

static void post_receive(struct net *net, struct net_qp *qp, roce_tstamp now)
{
    const struct sim_flow *flow = &net->scenario->flows[qp->flow];
    const struct eng_recv_wr wr = {.n_sge = 1,
                                   .sge = {{.addr = LOAD_VA,
                                            .length = (uint32_t)flow->size,
                                            .lkey = eng_mr_lkey(net->hosts[flow->to]->mr)}}};
    eng_post_recv(qp->to, now, &wr);
}

void load_receives(struct net *net, struct net_qp *qp)
{
    const struct sim_flow *flow = &net->scenario->flows[qp->flow];
    for (uint64_t i = 0; flow->op == SIM_SEND && i < 2 * flow->depth; i++)
        post_receive(net, qp, 0);
}

roce_tstamp load_next(const struct net_host *host)
{
    if (host->started == host->n_flows)
        return FAB_NEVER;
    return host->net->scenario->flows[host->flows[host->started]].start_ns;
}

void load_start(struct net_host *host, roce_tstamp now)
{
    struct net *net = host->net;
    while (load_next(host) <= now) {
        const int index = host->flows[host->started++];
        const struct sim_flow *flow = &net->scenario->flows[index];
        for (int i = 0; i < net->flows[index].n_qps; i++) {
            struct net_qp *qp = &net->qps[net->flows[index].first_qp + i];
            for (uint64_t k = 0; k < flow->depth && wanted(flow, qp, now); k++)
                post(net, qp, now);
        }
    }
}

static void sent(struct net *net, struct net_qp *qp, const struct eng_wc *wc)
{
    const struct sim_flow *flow = &net->scenario->flows[qp->flow];
    struct net_flow *out = &net->flows[qp->flow];
    if (wc->status != ENG_WC_SUCCESS) {
        if (out->failed++ == 0) {
            out->status = wc->status;
            out->failed_at = wc->now;
        }
        return;
    }
    roce_hist_add(&out->latency, wc->now - qp->posted_at[wc->wr_id % flow->depth]);
    qp->completed++;
    out->messages++;
    out->done_at = wc->now;
    if (flow->op == SIM_READ)
        out->goodput += flow->size;
    if (wanted(flow, qp, wc->now))
        post(net, qp, wc->now);
}

void load_poll(struct net_host *host, roce_tstamp now)
{
    struct net *net = host->net;
    struct eng_wc wc[POLL_MAX];
    int n;
    while ((n = eng_cq_poll(host->cq, wc, POLL_MAX)) > 0)
        for (int i = 0; i < n; i++) {
            const uint32_t number = wc[i].qpn - NET_FIRST_QPN;
            struct net_qp *qp = &net->qps[number / 2];
            if (number % 2 == 0)
                sent(net, qp, &wc[i]);
            else if (wc[i].status == ENG_WC_SUCCESS)
                post_receive(net, qp, now);
        }
}
