/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Gathering what came of it. */
#include "rocesim/summary.h"

#include <stdlib.h>
#include <string.h>

static double per_second(uint64_t bytes, uint64_t ns)
{
    return ns > 0 ? (double)bytes * 8e9 / (double)ns : 0;
}

static void gather_flow(struct summary_flow *out, const struct meter *meter, int i, uint64_t window)
{
    const struct net *net = meter->net;
    const struct net_flow *flow = &net->flows[i];
    const struct meter_flow *before = &meter->flows[i];
    out->flow = &net->scenario->flows[i];
    out->delivered_bps = per_second(net_delivered(net, i) - before->delivered, window);
    out->goodput_bps = per_second(flow->goodput - before->goodput, window);
    out->messages = flow->messages - before->messages;
    out->failed = flow->failed;
    out->status = flow->failed > 0 ? eng_wc_status_text((enum eng_wc_status)flow->status) : "";
    roce_hist_summary(&flow->latency, &out->latency);
    meter_count(net, i, &out->counts);
    out->counts.retransmitted -= before->counts.retransmitted;
    out->counts.naks -= before->counts.naks;
    out->counts.timeouts -= before->counts.timeouts;
    out->counts.ce -= before->counts.ce;
    out->counts.cnps -= before->counts.cnps;
}

static void gather_port(struct summary_port *out, struct meter *meter, int i, uint64_t window)
{
    const struct net *net = meter->net;
    const struct meter_port *port = &meter->ports[i];
    net_port_name(net, port->node, port->port, out->name);
    out->of_switch = net->scenario->nodes[port->node].is_switch;
    meter_port_since(meter, i, &out->stats);
    const double rate = (double)fab_rate(net->fab, port->node, port->port);
    out->utilisation =
        window > 0 ? (double)out->stats.tx_wire_bits * 1e9 / (rate * (double)window) : 0;
    for (int p = 0; p < FAB_PRIORITIES && out->of_switch; p++)
        fab_queue_stats(net->fab, port->node, port->port, p, &out->queue[p]);
}

int summary_new(struct summary *summary, struct meter *meter, const struct taps *taps)
{
    const struct net *net = meter->net;
    const struct scenario *s = net->scenario;
    const uint64_t window = fab_now(net->fab) - meter->from_ns;
    *summary = (struct summary){.scenario = s,
                                .meter = meter,
                                .net = net,
                                .taps = taps,
                                .end_ns = fab_now(net->fab),
                                .n_ports = meter->n_ports};
    double *delivered = calloc((size_t)s->n_flows, sizeof(*delivered));
    summary->flows = calloc((size_t)s->n_flows, sizeof(*summary->flows));
    summary->ports = calloc((size_t)meter->n_ports + 1, sizeof(*summary->ports));
    summary->buffers = calloc((size_t)s->n_nodes, sizeof(*summary->buffers));
    if (delivered == NULL || summary->flows == NULL || summary->ports == NULL ||
        summary->buffers == NULL) {
        free(delivered);
        return -1;
    }
    for (int i = 0; i < s->n_flows; i++) {
        gather_flow(&summary->flows[i], meter, i, window);
        delivered[i] = summary->flows[i].delivered_bps;
        summary->goodput_bps += summary->flows[i].goodput_bps;
        summary->cnps += summary->flows[i].counts.cnps;
    }
    summary->jain = meter_jain(delivered, s->n_flows);
    free(delivered);
    for (int i = 0; i < meter->n_ports; i++) {
        struct summary_port *port = &summary->ports[i];
        gather_port(port, meter, i, window);
        summary->marked += port->stats.marked;
        for (int d = 0; d < FAB_DROPS; d++)
            summary->drops[d] += port->stats.drops[d];
        for (int p = 0; p < FAB_PRIORITIES; p++)
            summary->paused_ns += port->stats.paused_ns[p];
    }
    for (int i = 0; i < s->n_nodes; i++)
        if (s->nodes[i].is_switch) {
            struct summary_buffer *buffer = &summary->buffers[summary->n_buffers++];
            buffer->name = s->nodes[i].name;
            fab_buffer_stats(net->fab, i, &buffer->stats);
        }
    return 0;
}

void summary_free(struct summary *summary)
{
    free(summary->flows);
    free(summary->ports);
    free(summary->buffers);
}
