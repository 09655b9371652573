/* SPDX-License-Identifier: GPL-2.0-or-later */
/* rocereplay play: what its command line asked for, and its two ways. */
#ifndef ROCEREPLAY_PLAY_H
#define ROCEREPLAY_PLAY_H

#include "rocereplay/options.h"
#include "rocereplay/rewrite.h"
#include "rocereplay/schedule.h"

struct play_opts {
    struct replay_opts base;
    const char *multiplier, *pps, *mbps, *loop, *duration, *psn_offset, *host;
    struct opt_names map_ip, map_mac, map_qp;
    struct opt_ports ports;
    uint64_t limit, stats, depth; /* |limit|, |stats| 0: none */
    uint32_t memory;
    bool raw, topspeed, one_at_a_time, preload, roce_only, loop_psn, keep_bad_icrc;

    /* what follows from the above */
    const char *file;
    bool has_mtu; /* --mtu was given */
    struct schedule_cfg pace;
    uint64_t loops; /* 0: for ever */
    uint64_t duration_ns;
    struct rewrite rules;
    bool has_host;
    uint8_t host_addr[16];
};

/* play_opts_parse fills |opts|. 0, OPT_EXIT_DONE, or OPT_EXIT_USAGE with the mistake reported. */
int play_opts_parse(struct play_opts *opts, int argc, char **argv);

/* raw_play sends the recorded frames; stateful_play re-issues the recorded messages. An exit
 * status. */
int raw_play(const struct play_opts *opts);
int stateful_play(const struct play_opts *opts);

#endif
