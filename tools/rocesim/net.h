/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A scenario come to life: hosts that run the transport engine, joined by the fabric. */
#ifndef ROCESIM_NET_H
#define ROCESIM_NET_H

#include <roce/hist.h>

#include "rocesim/scenario.h"

struct truth;
struct net;

enum { NET_ERROR_MAX = 256, NET_FIRST_QPN = 0x100 };

/* One QP pair of a flow. Its QPNs are unique in the whole network: that of |from| is
 * NET_FIRST_QPN + 2 * index, that of |to| one more. */
struct net_qp {
    int flow;
    struct eng_qp *from, *to;
    uint64_t posted, completed;
    roce_tstamp *posted_at; /* of the newest |depth| messages */
};

struct net_flow {
    int first_qp, n_qps; /* in struct net.qps */
    uint64_t goodput;    /* bytes of messages that are complete at their receiver */
    uint64_t messages;   /* complete at their sender */
    uint64_t failed;     /* completed with an error */
    uint8_t status;      /* enum eng_wc_status of the first of these */
    roce_tstamp failed_at;
    roce_tstamp done_at;      /* newest completion */
    struct roce_hist latency; /* ns from post to completion */
};

struct net_host {
    struct net *net;
    int node; /* of the scenario and of the fabric: they are the same */
    struct eng_dev *dev;
    struct eng_pd *pd;
    struct eng_cq *cq;
    struct eng_mr *mr;
    int *flows; /* that begin here, by their start */
    int n_flows, started;
    uint8_t mac[6], ip[16];
};

struct net {
    const struct scenario *scenario;
    struct fab *fab;
    struct net_host **hosts; /* by node; NULL: a switch */
    struct net_qp *qps;
    struct net_flow *flows;
    int n_qps;
    struct truth *truth; /* is told what happens; NULL: nobody */
    bool no_icrc;        /* ICRCs are made by taps alone */
};

/* net_new builds the network of |scenario|. Returns 0, or -1 with the reason in |error|; net_del is
 * wanted either way. */
int net_new(struct net *net, const struct scenario *scenario, char error[NET_ERROR_MAX]);
void net_del(struct net *net);

/* net_port returns the port of |node| towards its neighbour |peer|, or -1. net_port_name writes
 * "node:peer"; parallel links are told apart by #2, #3. */
int net_port(const struct net *net, int node, int peer);
enum { NET_PORT_NAME_MAX = 2 * SIM_NAME_MAX + 8 };
void net_port_name(const struct net *net, int node, int port, char out[NET_PORT_NAME_MAX]);

/* net_delivered returns the payload bytes of |flow| that its receiver took so far. For READ these
 * are the bytes that the responder sent. */
uint64_t net_delivered(const struct net *net, int flow);

#endif
