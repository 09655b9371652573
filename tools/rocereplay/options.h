/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the command lines of rocereplay gen and serve asked for. */
#ifndef ROCEREPLAY_OPTIONS_H
#define ROCEREPLAY_OPTIONS_H

#include "common/options.h"
#include "engine/engine.h"
#include "rocereplay/fault.h"

enum connect_how { CONNECT_NONE, CONNECT_PINGPONG, CONNECT_PERFTEST, CONNECT_CM, CONNECT_NATIVE };

/* The order is that of the words of --accept. */
enum accept_how { ACCEPT_PINGPONG, ACCEPT_PERFTEST, ACCEPT_CM, ACCEPT_NATIVE };

enum replay_app { APP_LOAD, APP_RPING, APP_ECHO, APP_UDADDY };
enum replay_tool { TOOL_SEND, TOOL_WRITE, TOOL_READ, TOOL_ATOMIC };

enum { TCP_PORT = 18515, RPING_PORT = 7174, UCMATOSE_PORT = 7471, CM_PORT = 18515 };
enum { QPS_MAX = 65536, SRQ_QPS = 16, DEPTH_MAX = 65536, HAND_MAX = 64 };

/* QPs of a peer by hand: of a list that is shorter the last number stands for all that follow. */
struct hand {
    uint32_t n;
    struct {
        uint32_t qpn, psn, rkey;
        uint64_t va;
    } qp[HAND_MAX];
};

struct replay_opts {
    const char *interface, *address, *write, *vlan, *tclass_text, *truth, *seed_text, *user,
        *events;
    const char *timeout_text, *retry_text, *rnr_retry_text, *min_rnr_text;
    const char *qpn, *psn, *rkey, *va, *peer_ip, *own_qpn, *own_psn;
    const char *fault[FAULT_KINDS];
    const char *connect, *duration;
    int service;       /* enum eng_service */
    int cc, fault_dir; /* enum fault_dir */
    int tx;            /* 0: AF_XDP when possible, 1: the packet ring */
    int op, tool, accept, app;
    uint64_t mtu, ttl, sport, rd_atomic, link_bps, iters, qps, tx_depth, rx_depth, rate_bps, burst;
    uint64_t listen_port;
    uint32_t size;
    bool busy_poll, json, quiet, once, inline_data, bidirectional, verify, latency;
    bool srq;                  /* ibv_srq_pingpong */
    bool all_sizes;            /* perftest's -a */
    bool rdma_cm, com_rdma_cm; /* perftest's -R and -z */
    unsigned verbose;

    /* what follows from the above */
    enum connect_how how;
    enum eng_wr_op wr_op;
    const char *op_name;
    char host[256];
    uint16_t port;
    bool by_hand, has_own_psn, has_seed;
    uint8_t tclass, timeout, retry_cnt, rnr_retry, min_rnr_timer;
    bool has_vlan;
    uint16_t vlan_tci;
    uint64_t seed, duration_ns;
    uint64_t connect_ns; /* a refused TCP connection is tried again so long */
    uint32_t peer_qpn, peer_psn, peer_rkey, own_qpn_value, own_psn_value; /* of the first QP */
    struct hand hand;
    uint64_t peer_va;
    uint8_t peer_addr[16], own_addr[16];
    struct fault_plan faults;
};

/* gen_opts_parse and serve_opts_parse fill |opts|. 0, OPT_EXIT_DONE, or OPT_EXIT_USAGE with the
 * mistake reported. */
int gen_opts_parse(struct replay_opts *opts, int argc, char **argv);
int serve_opts_parse(struct replay_opts *opts, int argc, char **argv);

/* replay_own_qpn is the number of the own QP |i|, 0: chosen. A peer by hand has to know all of them
 * beforehand: they count up. */
static inline uint32_t replay_own_qpn(const struct replay_opts *opts, uint32_t i)
{
    if (i == 0)
        return opts->own_qpn_value;
    return opts->by_hand && opts->own_qpn_value != 0 ? opts->own_qpn_value + i : 0;
}
static inline bool replay_own_psn_given(const struct replay_opts *opts, uint32_t i)
{
    return opts->has_own_psn && (i == 0 || opts->by_hand);
}

/* For the command that has more options than these: replay_opts_default fills |opts| as before
 * parsing, replay_opts_settle works out what follows from the shared ones and --connect. 0, or
 * OPT_EXIT_USAGE with the mistake reported. */
void replay_opts_default(struct replay_opts *opts);
int replay_opts_settle(struct replay_opts *opts);

#endif
