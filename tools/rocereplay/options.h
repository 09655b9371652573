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

enum replay_app { APP_LOAD, APP_RPING, APP_ECHO };
enum replay_tool { TOOL_SEND, TOOL_WRITE, TOOL_READ, TOOL_ATOMIC };

enum { TCP_PORT = 18515, RPING_PORT = 7174, UCMATOSE_PORT = 7471, CM_PORT = 18515 };
enum { QPS_MAX = 65536, DEPTH_MAX = 65536 };

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
    uint32_t peer_qpn, peer_psn, peer_rkey, own_qpn_value, own_psn_value;
    uint64_t peer_va;
    uint8_t peer_addr[16], own_addr[16];
    struct fault_plan faults;
};

/* gen_opts_parse and serve_opts_parse fill |opts|. 0, OPT_EXIT_DONE, or OPT_EXIT_USAGE with the
 * mistake reported. */
int gen_opts_parse(struct replay_opts *opts, int argc, char **argv);
int serve_opts_parse(struct replay_opts *opts, int argc, char **argv);

/* For the command that has more options than these: replay_opts_default fills |opts| as before
 * parsing, replay_opts_settle works out what follows from the shared ones and --connect. 0, or
 * OPT_EXIT_USAGE with the mistake reported. */
void replay_opts_default(struct replay_opts *opts);
int replay_opts_settle(struct replay_opts *opts);

#endif
