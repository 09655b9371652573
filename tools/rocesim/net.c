/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Building the network of a scenario. */
#include "rocesim/net.h"

#include <roce/err.h>
#include <roce/net.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rocesim/load.h"
#include "rocesim/pairs.h"
#include "rocesim/truth.h"

#define MEMORY_LEN (UINT64_C(1) << 32)
#define ACCESS     (ENG_LOCAL_WRITE | ENG_REMOTE_WRITE | ENG_REMOTE_READ)

static int fail(char *error, const char *what, const char *name, const char *why)
{
    snprintf(error, NET_ERROR_MAX, "%s %s: %s", what, name, why);
    return -1;
}

/* ---- what the fabric asks of a host ---- */

static void host_arrive(void *ctx, roce_tstamp now, const uint8_t *frame, size_t len)
{
    struct net_host *host = ctx;
    eng_dev_read(host->dev, now, frame, len);
    load_poll(host, now);
}

static int host_give(void *ctx, roce_tstamp now, uint8_t *buf, size_t len)
{
    const struct net_host *host = ctx;
    return eng_dev_write(host->dev, now, buf, len);
}

static roce_tstamp host_next(void *ctx, roce_tstamp now)
{
    const struct net_host *host = ctx;
    const roce_tstamp engine = eng_dev_next(host->dev, now), load = load_next(host);
    return engine < load ? engine : load;
}

static void host_expire(void *ctx, roce_tstamp now)
{
    struct net_host *host = ctx;
    eng_dev_expire(host->dev, now);
    load_start(host, now);
    load_poll(host, now);
}

static const struct fab_host_ops host_ops = {
    .arrive = host_arrive, .give = host_give, .next = host_next, .expire = host_expire};

/* ---- what the engine and the fabric tell ---- */

static void on_engine(void *ctx, const struct eng_trace *event)
{
    struct net_host *host = ctx;
    struct net *net = host->net;
    if (event->kind == ENG_TRACE_MESSAGE) {
        struct net_qp *qp = &net->qps[(event->qpn - NET_FIRST_QPN) / 2];
        if (net->scenario->flows[qp->flow].op != SIM_READ)
            net->flows[qp->flow].goodput += event->arg;
    }
    if (net->truth != NULL)
        truth_engine(net->truth, host->node, event);
}

static void on_fabric(void *ctx, const struct fab_trace *event)
{
    const struct net *net = ctx;
    if (net->truth != NULL)
        truth_fabric(net->truth, event);
}

/* ---- nodes ---- */

static uint64_t link_rate(const struct scenario *s, int node)
{
    for (int i = 0; i < s->n_links; i++)
        if (s->links[i].a == node || s->links[i].b == node)
            return s->links[i].cfg.rate_bps;
    return 0;
}

static int count_qps(const struct scenario *s, int node)
{
    uint64_t n = 0;
    for (int i = 0; i < s->n_flows; i++)
        n += (s->flows[i].from == node || s->flows[i].to == node) ? s->flows[i].qps : 0;
    return n < 1000000 ? (int)n : 1000000;
}

/* Everything posted may be complete at once. */
static uint32_t cq_room(const struct scenario *s, int node)
{
    uint64_t n = 16;
    for (int i = 0; i < s->n_flows; i++) {
        const struct sim_flow *flow = &s->flows[i];
        n += flow->from == node ? flow->qps * flow->depth : 0;
        n += flow->to == node && flow->op == SIM_SEND ? flow->qps * flow->depth * 2 : 0;
    }
    return n < UINT32_MAX ? (uint32_t)n : UINT32_MAX;
}

/* Flows by their start, those of the same start in the order of the file. */
static int list_flows(struct net_host *host, const struct scenario *s)
{
    host->flows = calloc((size_t)s->n_flows, sizeof(*host->flows));
    if (host->flows == NULL)
        return -1;
    for (int i = 0; i < s->n_flows; i++) {
        if (s->flows[i].from != host->node)
            continue;
        int at = host->n_flows++;
        for (; at > 0 && s->flows[host->flows[at - 1]].start_ns > s->flows[i].start_ns; at--)
            host->flows[at] = host->flows[at - 1];
        host->flows[at] = i;
    }
    return 0;
}

static int engine_new(struct net *net, struct net_host *host, const struct sim_host *cfg)
{
    const struct scenario *s = net->scenario;
    const int n_qps = count_qps(s, host->node);
    struct eng_dev_cfg dev = {
        .max_qp = n_qps > 0 ? (uint32_t)n_qps : 1,
        .max_mr = 1,
        .link_bps = link_rate(s, host->node),
        .seed = s->seed * 1000003 + (uint64_t)host->node,
        .no_icrc = net->no_icrc,
        .migreq = true,
        .cnp_gap_ns = cfg->cnp_gap_ns,
        .cnp_dscp = (uint8_t)cfg->cnp_dscp,
        .cnp_pcp = (uint8_t)(cfg->cnp_dscp >> 3),
        .ack_coalesce = (uint8_t)cfg->ack_coalesce,
        .trace = on_engine,
        .trace_ctx = host,
    };
    memcpy(dev.mac, host->mac, sizeof(dev.mac));
    memcpy(dev.ip, host->ip, sizeof(dev.ip));
    host->dev = eng_dev_new(&dev);
    if (host->dev == NULL)
        return -1;
    host->pd = eng_pd_new(host->dev);
    host->cq = eng_cq_new(host->dev, cq_room(s, host->node));
    if (host->pd == NULL || host->cq == NULL)
        return -1;
    host->mr = eng_mr_new(host->pd, NULL, MEMORY_LEN, LOAD_VA, ACCESS, NULL);
    return host->mr != NULL ? 0 : -1;
}

static int add_host(struct net *net, int node)
{
    const struct sim_host *cfg = &net->scenario->nodes[node].u.host;
    struct net_host *host = calloc(1, sizeof(*host));
    if (host == NULL)
        return ROCE_ERR_NOMEM;
    net->hosts[node] = host;
    host->net = net;
    host->node = node;
    const uint8_t mac[6] = {2, 0, 0, 0, (uint8_t)(node >> 8), (uint8_t)node};
    memcpy(host->mac, mac, sizeof(host->mac));
    roce_ip_v4(host->ip, 10, 0, (uint8_t)(node / 250), (uint8_t)(node % 250 + 1));
    if (list_flows(host, net->scenario) != 0 || engine_new(net, host, cfg) != 0)
        return ROCE_ERR_NOMEM;
    struct fab_host_cfg fab = {.ops = &host_ops, .ctx = host, .sink = cfg->sink};
    fab.sink.buffer = (uint32_t)cfg->buffer;
    fab.sink.xoff = (uint32_t)cfg->xoff;
    fab.sink.xon = (uint32_t)cfg->xon;
    memcpy(fab.mac, host->mac, sizeof(fab.mac));
    memcpy(fab.ip, host->ip, sizeof(fab.ip));
    return fab_host_new(net->fab, &fab);
}

static int add_switch(struct net *net, int node)
{
    const struct sim_switch *sw = &net->scenario->nodes[node].u.sw;
    struct fab_switch_cfg cfg = sw->cfg;
    const uint8_t mac[6] = {2, 1, (uint8_t)(node >> 8), (uint8_t)node, 0, 0};
    memcpy(cfg.mac, mac, sizeof(cfg.mac));
    cfg.buffer = (uint32_t)sw->buffer;
    cfg.xoff = (uint32_t)sw->xoff;
    cfg.xon_gap = (uint32_t)sw->xon_gap;
    cfg.reserve = (uint32_t)sw->reserve;
    cfg.headroom = (uint32_t)sw->headroom;
    cfg.quanta = (uint16_t)sw->quanta;
    for (int p = 0; p < FAB_PRIORITIES; p++)
        if ((sw->ecn >> p & 1) != 0)
            cfg.ecn[p] = (struct fab_ecn){
                .kmin = (uint32_t)sw->kmin, .kmax = (uint32_t)sw->kmax, .pmax = sw->pmax};
    struct fab_watchdog *dog = &cfg.watchdog;
    if (dog->detect_ns == 0) {
        *dog = (struct fab_watchdog){0};
    } else {
        if (dog->restore_ns == 0)
            dog->restore_ns = dog->detect_ns;
        if (dog->poll_ns == 0)
            dog->poll_ns = dog->detect_ns / 4 + 1;
    }
    return fab_switch_new(net->fab, &cfg);
}

static int add_nodes(struct net *net, char *error)
{
    const struct scenario *s = net->scenario;
    for (int i = 0; i < s->n_nodes; i++) {
        const int node = s->nodes[i].is_switch ? add_switch(net, i) : add_host(net, i);
        if (node != i)
            return fail(error, "node", s->nodes[i].name, roce_strerror(node));
    }
    return 0;
}

static int join(struct net *net, char *error)
{
    const struct scenario *s = net->scenario;
    for (int i = 0; i < s->n_links; i++) {
        const struct sim_link *link = &s->links[i];
        const int port = fab_link_new(net->fab, link->a, link->b, &link->cfg);
        if (port < 0)
            return fail(error, "link of", s->nodes[link->a].name, roce_strerror(port));
    }
    for (int i = 0; i < s->n_routes; i++) {
        const struct sim_route *route = &s->routes[i];
        const int port = net_port(net, route->node, route->via);
        const int err = fab_route_new(net->fab, route->node, route->host, port);
        if (err != 0)
            return fail(error, "route of", s->nodes[route->node].name, roce_strerror(err));
    }
    int node = -1;
    const int err = fab_start_new(net->fab, &node);
    if (err == ROCE_ERR_INVALID && node >= 0)
        return fail(error, "switch", s->nodes[node].name,
                    "headroom and reserves leave no buffer to share; give more buffer=");
    return err == 0 ? 0 : fail(error, "the", "network", roce_strerror(err));
}

int net_new(struct net *net, const struct scenario *scenario, char error[NET_ERROR_MAX])
{
    const struct fab_cfg cfg = {.seed = scenario->seed, .trace = on_fabric, .trace_ctx = net};
    *net = (struct net){.scenario = scenario, .no_icrc = true};
    for (int i = 0; i < scenario->n_links; i++)
        if (scenario->links[i].cfg.corrupt > 0)
            net->no_icrc = false;
    net->fab = fab_new(&cfg);
    net->hosts = calloc((size_t)scenario->n_nodes, sizeof(void *));
    if (net->fab == NULL || net->hosts == NULL)
        return fail(error, "the", "network", roce_strerror(ROCE_ERR_NOMEM));
    if (add_nodes(net, error) != 0 || join(net, error) != 0)
        return -1;
    return pairs_new(net, error);
}

void net_del(struct net *net)
{
    for (int i = 0; i < net->n_qps; i++)
        free(net->qps[i].posted_at);
    for (int i = 0; net->hosts != NULL && i < net->scenario->n_nodes; i++)
        if (net->hosts[i] != NULL) {
            eng_dev_del(net->hosts[i]->dev);
            free(net->hosts[i]->flows);
            free(net->hosts[i]);
        }
    free(net->hosts);
    free(net->qps);
    free(net->flows);
    fab_del(net->fab);
}

int net_port(const struct net *net, int node, int peer)
{
    for (int i = 0; i < fab_ports(net->fab, node); i++)
        if (fab_peer(net->fab, node, i, NULL) == peer)
            return i;
    return -1;
}

void net_port_name(const struct net *net, int node, int port, char out[NET_PORT_NAME_MAX])
{
    const int peer = fab_peer(net->fab, node, port, NULL);
    int nth = 1;
    for (int i = 0; i < port; i++)
        nth += fab_peer(net->fab, node, i, NULL) == peer;
    const char *a = net->scenario->nodes[node].name, *b = net->scenario->nodes[peer].name;
    if (nth == 1)
        snprintf(out, NET_PORT_NAME_MAX, "%s:%s", a, b);
    else
        snprintf(out, NET_PORT_NAME_MAX, "%s:%s#%d", a, b, nth % 1000);
}

uint64_t net_delivered(const struct net *net, int flow)
{
    const bool read = net->scenario->flows[flow].op == SIM_READ;
    uint64_t sum = 0;
    for (int i = 0; i < net->flows[flow].n_qps; i++) {
        struct eng_qp_stats stats;
        eng_qp_stats(net->qps[net->flows[flow].first_qp + i].to, &stats);
        sum += read ? stats.tx_payload : stats.rx_payload;
    }
    return sum;
}
