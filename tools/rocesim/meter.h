/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is measured while the network runs: from the end of the warm-up on, the fairness window by
 * window, and whether queues wait for each other in a circle. */
#ifndef ROCESIM_METER_H
#define ROCESIM_METER_H

#include "rocesim/net.h"

enum { METER_CYCLE_MAX = 64 };
/* A circle of waits in which nothing moved for so long is a deadlock. */
#define METER_DEADLOCK_NS UINT64_C(1000000)
#define METER_FAIR        0.95

/* What the QPs of a flow counted. */
struct meter_counts {
    uint64_t retransmitted, naks, timeouts, ce, cnps;
};
/* State at the end of the warm-up. */
struct meter_flow {
    uint64_t delivered, goodput, messages;
    struct meter_counts counts;
    uint64_t window; /* delivered when the present fairness window began */
};
struct meter_port {
    int node, port;
    struct fab_port_stats before;
};

struct meter_deadlock {
    bool found, ended;
    uint64_t at_ns, ended_ns; /* of the first one */
    uint32_t times;
    struct fab_wait cycle[METER_CYCLE_MAX];
    int n;
};

struct meter {
    struct net *net;
    uint64_t from_ns; /* end of the warm-up */
    struct meter_flow *flows;
    struct meter_port *ports; /* all of all nodes, in their order */
    int n_ports;

    double jain_last; /* of the last fairness window with two flows or more; below 0: none */
    bool fair;        /* a window behind the last start reached METER_FAIR */
    uint64_t fair_after_ns, last_start_ns, window_ns;

    struct meter_deadlock deadlock;
    struct fab_wait candidate[METER_CYCLE_MAX];
    int n_candidate;
    uint64_t candidate_ns;
};

/* meter_new returns 0, or -1 without memory; meter_free is wanted either way. */
int meter_new(struct meter *meter, struct net *net);
void meter_free(struct meter *meter);
/* meter_start begins the measurement, at the end of the warm-up. */
void meter_start(struct meter *meter);
/* meter_window ends a fairness window at |now|, meter_waits looks for a deadlock. */
void meter_window(struct meter *meter, uint64_t now);
void meter_waits(struct meter *meter, uint64_t now);

/* meter_jain returns (sum x)^2 / (n sum x^2): 1 when all are equal, 1/n when one has all; 1 when
 * all are 0. */
double meter_jain(const double *x, int n);

/* meter_count fills |out| with what flow |i| counted since the start. */
void meter_count(const struct net *net, int i, struct meter_counts *out);

/* meter_port_since fills |out| with what happened at port |i| since the warm-up. */
void meter_port_since(struct meter *meter, int i, struct fab_port_stats *out);

#endif
