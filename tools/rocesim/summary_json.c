/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The summary as JSON, schema rocesim/1. */
#include "common/json.h"
#include "rocesim/summary.h"

#include <stdio.h>

static void put_latency(struct json *json, const struct roce_hist_summary *latency)
{
    json_open_object(json, "latency_us");
    json_uint(json, "count", latency->count);
    if (latency->count > 0) {
        json_real(json, "min", (double)latency->min / 1000);
        json_real(json, "p50", (double)latency->p50 / 1000);
        json_real(json, "p90", (double)latency->p90 / 1000);
        json_real(json, "p99", (double)latency->p99 / 1000);
        json_real(json, "max", (double)latency->max / 1000);
    }
    json_close_object(json);
}

static void put_flow(const struct summary *s, struct json *json, const struct summary_flow *flow)
{
    json_open_object(json, NULL);
    json_str(json, "name", flow->flow->name);
    json_str(json, "from", s->scenario->nodes[flow->flow->from].name);
    json_str(json, "to", s->scenario->nodes[flow->flow->to].name);
    json_uint(json, "qps", flow->flow->qps);
    json_real(json, "delivered_bps", flow->delivered_bps);
    json_real(json, "goodput_bps", flow->goodput_bps);
    json_uint(json, "messages", flow->messages);
    json_uint(json, "failed", flow->failed);
    if (flow->failed > 0)
        json_str(json, "status", flow->status);
    json_uint(json, "retransmitted", flow->counts.retransmitted);
    json_uint(json, "naks", flow->counts.naks);
    json_uint(json, "timeouts", flow->counts.timeouts);
    json_uint(json, "ce", flow->counts.ce);
    json_uint(json, "cnps", flow->counts.cnps);
    put_latency(json, &flow->latency);
    json_close_object(json);
}

static void put_drops(struct json *json, const uint64_t drops[FAB_DROPS])
{
    json_open_object(json, "drops");
    for (int d = 0; d < FAB_DROPS; d++)
        if (drops[d] > 0)
            json_uint(json, fab_drop_name((enum fab_drop)d), drops[d]);
    json_close_object(json);
}

static void put_priority(struct json *json, const struct summary_port *port, int p)
{
    const struct fab_queue_stats *queue = &port->queue[p];
    if (queue->max_bytes == 0 && port->stats.paused_ns[p] == 0 && port->stats.xoff_sent[p] == 0)
        return;
    json_open_object(json, NULL);
    json_uint(json, "priority", (uint64_t)p);
    if (port->of_switch) {
        json_open_object(json, "queue_bytes");
        json_real(json, "mean", queue->mean_bytes);
        json_uint(json, "p50", queue->p50);
        json_uint(json, "p90", queue->p90);
        json_uint(json, "p99", queue->p99);
        json_uint(json, "max", queue->max_bytes);
        json_close_object(json);
    }
    json_uint(json, "paused_ns", port->stats.paused_ns[p]);
    json_uint(json, "xoff_sent", port->stats.xoff_sent[p]);
    json_close_object(json);
}

static void put_port(struct json *json, const struct summary_port *port)
{
    json_open_object(json, NULL);
    json_str(json, "port", port->name);
    json_real(json, "utilisation", port->utilisation);
    json_uint(json, "tx_frames", port->stats.tx_frames);
    json_uint(json, "rx_frames", port->stats.rx_frames);
    json_uint(json, "marked", port->stats.marked);
    json_uint(json, "pfc_tx", port->stats.pfc_tx);
    json_uint(json, "pfc_rx", port->stats.pfc_rx);
    json_uint(json, "storms", port->stats.storms);
    put_drops(json, port->stats.drops);
    json_open_array(json, "priorities");
    for (int p = 0; p < FAB_PRIORITIES; p++)
        put_priority(json, port, p);
    json_close_array(json);
    json_close_object(json);
}

static void put_fairness(const struct summary *s, struct json *json)
{
    const struct meter *meter = s->meter;
    json_open_object(json, "fairness");
    json_real(json, "jain", s->jain);
    json_uint(json, "window_ns", s->scenario->fair_window_ns);
    if (meter->jain_last >= 0)
        json_real(json, "jain_last_window", meter->jain_last);
    else
        json_null(json, "jain_last_window");
    if (meter->fair)
        json_uint(json, "fair_after_ns", meter->fair_after_ns);
    else
        json_null(json, "fair_after_ns");
    json_close_object(json);
}

static void put_deadlock(const struct summary *s, struct json *json)
{
    const struct meter_deadlock *dead = &s->meter->deadlock;
    if (!dead->found) {
        json_null(json, "deadlock");
        return;
    }
    json_open_object(json, "deadlock");
    json_uint(json, "at_ns", dead->at_ns);
    if (dead->ended)
        json_uint(json, "ended_ns", dead->ended_ns);
    else
        json_null(json, "ended_ns");
    json_uint(json, "times", dead->times);
    json_open_array(json, "cycle");
    for (int i = 0; i < dead->n; i++) {
        char name[NET_PORT_NAME_MAX];
        net_port_name(s->net, dead->cycle[i].node, dead->cycle[i].port, name);
        json_open_object(json, NULL);
        json_str(json, "port", name);
        json_uint(json, "priority", (uint64_t)dead->cycle[i].priority);
        json_uint(json, "bytes", dead->cycle[i].bytes);
        json_close_object(json);
    }
    json_close_array(json);
    json_close_object(json);
}

static void put_lists(const struct summary *s, struct json *json)
{
    json_open_array(json, "flows");
    for (int i = 0; i < s->scenario->n_flows; i++)
        put_flow(s, json, &s->flows[i]);
    json_close_array(json);
    json_open_array(json, "ports");
    for (int i = 0; i < s->n_ports; i++)
        put_port(json, &s->ports[i]);
    json_close_array(json);
    json_open_array(json, "buffers");
    for (int i = 0; i < s->n_buffers; i++) {
        json_open_object(json, NULL);
        json_str(json, "switch", s->buffers[i].name);
        json_uint(json, "size", s->buffers[i].stats.size);
        json_uint(json, "max_used", s->buffers[i].stats.max_used);
        json_close_object(json);
    }
    json_close_array(json);
    json_open_array(json, "captures");
    for (int i = 0; s->taps != NULL && i < s->taps->n; i++) {
        json_open_object(json, NULL);
        json_str(json, "file", taps_name(s->taps, i));
        json_uint(json, "frames", taps_frames(s->taps, i));
        json_close_object(json);
    }
    json_close_array(json);
}

void summary_json(const struct summary *s, struct out *out)
{
    struct json json;
    json_init(&json, out);
    json_open_object(&json, NULL);
    json_str(&json, "schema", "rocesim/1");
    json_str(&json, "title", s->scenario->title);
    json_uint(&json, "seed", s->scenario->seed);
    json_uint(&json, "from_ns", s->meter->from_ns);
    json_uint(&json, "end_ns", s->end_ns);
    json_uint(&json, "packet_hops", fab_hops(s->net->fab));
    json_real(&json, "goodput_bps", s->goodput_bps);
    json_uint(&json, "marked", s->marked);
    json_uint(&json, "cnps", s->cnps);
    json_uint(&json, "paused_ns", s->paused_ns);
    put_drops(&json, s->drops);
    put_fairness(s, &json);
    put_deadlock(s, &json);
    put_lists(s, &json);
    json_close_object(&json);
    json_newline(&json);
}
