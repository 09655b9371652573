/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Congestion as a mirror shows it: ECN marks, CNPs, and what the senders made of them. */
#ifndef ROCE_CONGESTION_H
#define ROCE_CONGESTION_H

#include <roce/hist.h>
#include <roce/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* CE marks closer together than this are one run; a CNP later than this behind the newest CE was
 * not caused by it. Far above the CNP interval of any NIC (4 us to 50 us), far below an ACK
 * timeout. */
#define ROCE_CNP_INTERVAL_NS 1000000

#define ROCE_DSCP_COUNT 64
#define ROCE_CNP_DSCP   48 /* what NICs use unless told otherwise */

/* struct roce_dscp sums up the RoCE frames of one DSCP; mirror duplicates are left out. */
struct roce_dscp {
    uint64_t packets, bytes;            /* all RoCE frames of this DSCP, CNPs among them */
    uint64_t cnps;                      /* CNPs that carry this DSCP themselves */
    uint64_t not_ect, ect, ce;          /* frames that are no CNP */
    struct roce_hist_summary cnp_delay; /* CE -> CNP in ns, for marked data of this DSCP */
};

/* struct roce_congestion is about the sender of one flow of data: the marks its frames carry, and
 * the CNPs that the receiver returns (they travel in the peer flow). The delay runs from the first
 * CE behind the previous CNP to the CNP. */
struct roce_congestion {
    uint64_t ce;      /* frames marked CE */
    uint64_t ce_runs; /* runs of CE marks, see ROCE_CNP_INTERVAL_NS */
    bool has_cnp;     /* frames of the opposite direction were captured: the members below mean
                         something */
    uint64_t ce_runs_unanswered; /* runs without a CNP up to ROCE_CNP_INTERVAL_NS behind them */
    uint64_t cnps;               /* CNPs for this flow's sender */
    uint64_t cnps_without_ce;    /* of these, without a CE mark in the last interval */
    struct roce_hist_summary cnp_delay; /* ns; p50, p90, p99 are 0 when has_quantiles is false */
    bool has_quantiles; /* false: too many flows were congested to keep a histogram here */
    roce_duration cnp_spacing_min; /* ns between two CNPs; -1 with fewer than two */
    /* Rate of the sender in a window before each CNP and in an equal one behind it, which begins
     * 20 us later so that the sender can react. */
    uint64_t rate_measured;   /* CNPs with enough frames in the window before */
    uint64_t rate_fell;       /* of these, the rate behind was lower by at least 5 % */
    uint64_t rate_before_bps; /* mean of those before; bits on the wire, without FCS and gaps */
    uint64_t rate_after_bps;
    uint64_t rate_max_bps; /* highest window before a CNP */
    uint64_t first_frame;  /* first CE or CNP */
};

#ifdef __cplusplus
}
#endif
#endif
