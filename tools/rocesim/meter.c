/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is measured while the network runs. */
#include "rocesim/meter.h"

#include <stdlib.h>
#include <string.h>

int meter_new(struct meter *meter, struct net *net)
{
    const struct scenario *s = net->scenario;
    *meter = (struct meter){.net = net, .jain_last = -1};
    for (int i = 0; i < s->n_nodes; i++)
        meter->n_ports += fab_ports(net->fab, i);
    meter->flows = calloc((size_t)s->n_flows, sizeof(*meter->flows));
    meter->ports = calloc((size_t)meter->n_ports + 1, sizeof(*meter->ports));
    if (meter->flows == NULL || meter->ports == NULL)
        return -1;
    int n = 0;
    for (int i = 0; i < s->n_nodes; i++)
        for (int k = 0; k < fab_ports(net->fab, i); k++)
            meter->ports[n++] = (struct meter_port){.node = i, .port = k};
    for (int i = 0; i < s->n_flows; i++)
        if (s->flows[i].start_ns > meter->last_start_ns)
            meter->last_start_ns = s->flows[i].start_ns;
    return 0;
}

void meter_free(struct meter *meter)
{
    free(meter->flows);
    free(meter->ports);
}

void meter_count(const struct net *net, int i, struct meter_counts *out)
{
    const struct net_flow *flow = &net->flows[i];
    *out = (struct meter_counts){0};
    for (int k = 0; k < flow->n_qps; k++) {
        struct eng_qp_stats a, b;
        eng_qp_stats(net->qps[flow->first_qp + k].from, &a);
        eng_qp_stats(net->qps[flow->first_qp + k].to, &b);
        out->retransmitted += a.retransmitted;
        out->naks += b.naks_sent + b.rnr_sent;
        out->timeouts += a.timeouts;
        out->ce += a.ce_received + b.ce_received;
        out->cnps += a.cnp_received + b.cnp_received;
    }
}

void meter_start(struct meter *meter)
{
    struct net *net = meter->net;
    meter->from_ns = fab_now(net->fab);
    for (int i = 0; i < net->scenario->n_flows; i++) {
        meter->flows[i].delivered = net_delivered(net, i);
        meter->flows[i].goodput = net->flows[i].goodput;
        meter->flows[i].messages = net->flows[i].messages;
        meter_count(net, i, &meter->flows[i].counts);
        memset(&net->flows[i].latency, 0, sizeof(net->flows[i].latency));
    }
    for (int i = 0; i < meter->n_ports; i++) {
        struct meter_port *port = &meter->ports[i];
        fab_port_stats(net->fab, port->node, port->port, &port->before);
        for (int p = 0; p < FAB_PRIORITIES; p++)
            fab_queue_restart(net->fab, port->node, port->port, p);
    }
}

double meter_jain(const double *x, int n)
{
    double sum = 0, squares = 0;
    for (int i = 0; i < n; i++) {
        sum += x[i];
        squares += x[i] * x[i];
    }
    return squares > 0 ? sum * sum / (n * squares) : 1;
}

/* A flow that had work for the whole of the window. */
static bool is_active(const struct net *net, int i, uint64_t from, uint64_t to)
{
    const struct sim_flow *flow = &net->scenario->flows[i];
    return flow->start_ns <= from && (flow->stop_ns == 0 || flow->stop_ns >= to) &&
           (flow->count == 0 || net->flows[i].messages < flow->count * flow->qps);
}

void meter_window(struct meter *meter, uint64_t now)
{
    struct net *net = meter->net;
    double sum = 0, squares = 0;
    int n = 0;
    for (int i = 0; i < net->scenario->n_flows; i++) {
        const uint64_t delivered = net_delivered(net, i);
        const double x = (double)(delivered - meter->flows[i].window);
        meter->flows[i].window = delivered;
        if (!is_active(net, i, meter->window_ns, now))
            continue;
        sum += x;
        squares += x * x;
        n++;
    }
    if (n >= 2 && squares > 0) {
        meter->jain_last = sum * sum / (n * squares);
        if (!meter->fair && meter->window_ns >= meter->last_start_ns &&
            meter->jain_last >= METER_FAIR) {
            meter->fair = true;
            meter->fair_after_ns = now - meter->last_start_ns;
        }
    }
    meter->window_ns = now;
}

static bool same_cycle(const struct meter *meter, const struct fab_wait *cycle, int n)
{
    if (n != meter->n_candidate)
        return false;
    for (int i = 0; i < n && i < METER_CYCLE_MAX; i++) {
        const struct fab_wait *a = &cycle[i], *b = &meter->candidate[i];
        if (a->node != b->node || a->port != b->port || a->priority != b->priority ||
            a->tx_frames != b->tx_frames)
            return false;
    }
    return true;
}

void meter_waits(struct meter *meter, uint64_t now)
{
    struct meter_deadlock *dead = &meter->deadlock;
    struct fab_wait cycle[METER_CYCLE_MAX];
    const int n = fab_waits(meter->net->fab, cycle, METER_CYCLE_MAX);
    if (n == 0 || !same_cycle(meter, cycle, n)) {
        const bool was_dead =
            meter->n_candidate > 0 && meter->candidate_ns + METER_DEADLOCK_NS <= now && dead->found;
        if (was_dead && !dead->ended) {
            dead->ended = true;
            dead->ended_ns = now;
        }
        memcpy(meter->candidate, cycle, sizeof(cycle));
        meter->n_candidate = n;
        meter->candidate_ns = now;
        return;
    }
    if (now - meter->candidate_ns < METER_DEADLOCK_NS)
        return;
    if (meter->n_candidate > 0 && (dead->times == 0 || dead->ended)) {
        if (dead->times++ == 0) {
            dead->at_ns = meter->candidate_ns;
            dead->n = n < METER_CYCLE_MAX ? n : METER_CYCLE_MAX;
            memcpy(dead->cycle, cycle, sizeof(cycle));
        }
        dead->found = true;
        dead->ended = false;
    }
}

void meter_port_since(struct meter *meter, int i, struct fab_port_stats *out)
{
    const struct meter_port *port = &meter->ports[i];
    const struct fab_port_stats *before = &port->before;
    fab_port_stats(meter->net->fab, port->node, port->port, out);
    out->tx_frames -= before->tx_frames;
    out->tx_bytes -= before->tx_bytes;
    out->rx_frames -= before->rx_frames;
    out->rx_bytes -= before->rx_bytes;
    out->tx_wire_bits -= before->tx_wire_bits;
    out->marked -= before->marked;
    out->pfc_tx -= before->pfc_tx;
    out->pfc_rx -= before->pfc_rx;
    out->storms -= before->storms;
    for (int d = 0; d < FAB_DROPS; d++)
        out->drops[d] -= before->drops[d];
    for (int p = 0; p < FAB_PRIORITIES; p++) {
        out->xoff_sent[p] -= before->xoff_sent[p];
        out->paused_ns[p] -= before->paused_ns[p];
    }
}
