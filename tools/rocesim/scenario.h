/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A scenario: the network, its load and what is watched, as rocesim(5) files say it. */
#ifndef ROCESIM_SCENARIO_H
#define ROCESIM_SCENARIO_H

#include "engine/engine.h"
#include "fabric/fabric.h"

enum { SIM_NAME_MAX = 24, SIM_TITLE_MAX = 160, SIM_FLOWS_MAX = 4096, SIM_LINKS_MAX = 16384 };

struct sim_host {
    uint64_t cnp_gap_ns, cnp_dscp, ack_coalesce, buffer, xoff, xon;
    struct fab_sink sink;
};
struct sim_switch {
    uint64_t buffer, xoff, xon_gap, reserve, headroom, quanta, kmin, kmax;
    double pmax;
    uint8_t ecn; /* bit n: priority n is marked */
    struct fab_switch_cfg cfg;
};
struct sim_node {
    char name[SIM_NAME_MAX];
    bool is_switch;
    union {
        struct sim_host host;
        struct sim_switch sw;
    } u;
};
struct sim_link {
    int a, b; /* nodes */
    struct fab_link_cfg cfg;
};

enum sim_op { SIM_WRITE, SIM_SEND, SIM_READ };
enum sim_dcqcn { SIM_DCQCN_OFF, SIM_DCQCN_PAPER, SIM_DCQCN_NIC };

struct sim_flow {
    char name[SIM_NAME_MAX];
    int from, to; /* hosts */
    int op;       /* enum sim_op */
    int dcqcn;    /* enum sim_dcqcn */
    uint64_t size, count, depth, qps, start_ns, stop_ns, priority, vlan, mtu, rate_bps, window;
    uint64_t ack_every, timeout, retry, threshold, rai_bps, rhai_bps, min_bps;
    bool ecn, go_back_0;
    struct eng_dcqcn cc;
};
struct sim_tap {
    int node, peer;
    uint64_t snaplen, from_ns, until_ns;
};
struct sim_route {
    int node, host, via; /* the switch sends what is for the host to this neighbour */
};
struct sim_event {
    uint64_t at_ns;
    int host;
    uint64_t drain_bps; /* or FAB_AT_ONCE, FAB_STALLED */
};

struct scenario {
    char title[SIM_TITLE_MAX];
    uint64_t seed, duration_ns, sample_ns, warmup_ns, fair_window_ns;
    struct sim_node *nodes;
    struct sim_link *links;
    struct sim_flow *flows;
    struct sim_tap *taps;
    struct sim_route *routes;
    struct sim_event *events; /* by time */
    int n_nodes, n_links, n_flows, n_taps, n_routes, n_events;
};

/* A value that the command line gives to a $NAME of the file. */
struct sim_define {
    const char *name, *value;
    size_t name_len;
    bool used;
};

enum { SCENARIO_ERROR_MAX = 256 };

/* scenario_read reads |len| bytes at |text|. Returns 0, or the number of the line that is wrong
 * with the reason in |error|; -1 with a reason when it is no line's fault. */
int scenario_read(struct scenario *scenario, const char *text, size_t len,
                  struct sim_define *defines, int n_defines, char error[SCENARIO_ERROR_MAX]);
void scenario_free(struct scenario *scenario);

/* scenario_node returns the node of that name, or -1. */
int scenario_node(const struct scenario *scenario, const char *name);

#endif
