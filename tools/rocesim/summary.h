/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What came of it: gathered once, printed as text or JSON. */
#ifndef ROCESIM_SUMMARY_H
#define ROCESIM_SUMMARY_H

#include "common/out.h"
#include "rocesim/meter.h"
#include "rocesim/taps.h"

struct summary_flow {
    const struct sim_flow *flow;
    double delivered_bps, goodput_bps;
    uint64_t messages, failed; /* failed: since the start */
    const char *status;        /* of the first failure; "" without */
    struct meter_counts counts;
    struct roce_hist_summary latency; /* ns from post to completion */
};

struct summary_port {
    char name[NET_PORT_NAME_MAX];
    bool of_switch;
    double utilisation;
    struct fab_port_stats stats;
    struct fab_queue_stats queue[FAB_PRIORITIES]; /* of a switch */
};

struct summary_buffer {
    const char *name;
    struct fab_buffer_stats stats;
};

struct summary {
    const struct scenario *scenario;
    const struct meter *meter;
    const struct net *net;
    const struct taps *taps; /* NULL: none */
    uint64_t end_ns;
    struct summary_flow *flows;
    struct summary_port *ports;
    int n_ports;
    struct summary_buffer *buffers;
    int n_buffers;
    double jain;        /* of what the flows delivered */
    double goodput_bps; /* of all */
    uint64_t paused_ns; /* of all ports and priorities */
    uint64_t drops[FAB_DROPS];
    uint64_t cnps, marked;
};

/* summary_new returns 0, or -1 without memory; summary_free is wanted either way. */
int summary_new(struct summary *summary, struct meter *meter, const struct taps *taps);
void summary_free(struct summary *summary);

void summary_text(const struct summary *summary, struct out *out);
void summary_json(const struct summary *summary, struct out *out);

#endif
