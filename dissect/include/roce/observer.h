/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The observer: the one object a front end feeds with frames and asks for everything that the
 * toolkit says about a capture. No I/O, no clock, no threads; heap only in roce_observer_new. */
#ifndef ROCE_OBSERVER_H
#define ROCE_OBSERVER_H

#include <roce/congestion.h>
#include <roce/finding.h>
#include <roce/flow.h>
#include <roce/hwcounters.h>
#include <roce/pause.h>

#ifdef __cplusplus
extern "C" {
#endif

struct roce_observer;

struct roce_observer_opts {
    uint32_t max_flows;       /* 0: ROCE_FLOW_MAX_DEFAULT */
    uint64_t link_speed_bps;  /* for the time of pauses; 0: unknown, and so are the durations */
    uint32_t storm_ms;        /* 0: ROCE_STORM_MS_DEFAULT */
    uint8_t timeout_exp;      /* as struct roce_flow_opts */
    bool no_latency;          /* likewise */
    uint64_t idle_ns;         /* likewise */
    uint32_t idle_keep;       /* likewise */
    struct roce_flow_ops ops; /* caller's own event callback; it is called from inside update and
                                 finish */
};

/* What the capture as a whole holds. */
struct roce_capture_totals {
    uint64_t packets, bytes;             /* all frames; bytes on the wire without FCS */
    uint64_t roce_packets;               /* frames with a BTH */
    uint64_t rocev1, rocev2, infiniband; /* of these */
    uint64_t encapsulated;               /* of these: inside a tunnel */
    uint64_t pfc_packets, pause_packets;
    uint64_t malformed; /* RoCE, PFC and PAUSE frames whose lengths or values contradict */
    uint64_t unknown;   /* frames of a version or type this library does not know */
    uint64_t truncated; /* frames that end inside a header */
    uint64_t sliced;    /* RoCE frames whose captured bytes end early */
    uint64_t icrc_ok, icrc_bad, icrc_unchecked;
    uint64_t dropped;        /* as told by roce_observer_dropped */
    uint64_t cnps;           /* all CNPs, mirror duplicates left out */
    uint64_t cnps_unmatched; /* of these: no data flow could be named for them */
    /* what else there is */
    uint64_t arp, tcp, udp, icmp, ip, other; /* ip: other protocols over IP; other: all else */
    bool has_ts;
    roce_tstamp first_ts, last_ts; /* earliest, latest */
};

/* roce_observer_new returns an empty observer, or NULL without memory. |opts| may be NULL. */
struct roce_observer *roce_observer_new(const struct roce_observer_opts *opts);
void roce_observer_del(struct roce_observer *obs); /* NULL is accepted */

/* roce_observer_update feeds any frame, in capture order: RoCE, pause frames, malformed ones, all
 * else. |icrc| may be NULL (not asked); |verdict| is always filled. Returns true when the frame
 * belongs to a flow. */
bool roce_observer_update(struct roce_observer *obs, const struct roce_frame *frame,
                          const struct roce_packet *pkt, const struct roce_icrc *icrc,
                          struct roce_verdict *verdict);

/* Frames for roce_observer_update_batch. Their numbers ascend by less than 2^32 in all. */
struct roce_batch {
    int n;
    const struct roce_frame *frame;
    /* NULL: all packets are there. Else of each frame what roce_flow_digest, asked for the ICRC if
     * |icrc| is given, has filled; the members of |packet| and |icrc| that it has not filled are
     * not read. Frames that prove to need it are decoded with |decode|. */
    const struct roce_digest *digest;
    const struct roce_decode_opts *decode; /* may be NULL */
    const struct roce_packet *packet;
    const struct roce_icrc *icrc; /* NULL: not asked */
};

/* roce_observer_update_batch feeds frames like roce_observer_update, cheaper, and without telling
 * what state makes of each. */
void roce_observer_update_batch(struct roce_observer *obs, const struct roce_batch *batch);

/* roce_observer_update_brief does the same with packets that are decoded, |n| of each; |icrc| may
 * be NULL. It tells what state makes of each frame in |verdict|: of frames that go on as those
 * before them did only flow, flags, psns, in_flight, completed and delta, of all others everything.
 */
void roce_observer_update_brief(struct roce_observer *obs, const struct roce_frame *frame,
                                const struct roce_packet *pkt, const struct roce_icrc *icrc, int n,
                                struct roce_verdict *verdict);

/* roce_observer_prefetch asks the processor to fetch what roce_observer_update will touch for
 * |pkt|; for callers that decode a batch before they update. */
void roce_observer_prefetch(struct roce_observer *obs, const struct roce_packet *pkt);

/* roce_observer_dropped tells how many frames the capturer is known to have dropped so far, in all:
 * the newest call counts. */
void roce_observer_dropped(struct roce_observer *obs, uint64_t total);

/* roce_observer_judge builds the findings from what is known so far, without ending anything.
 * roce_observer_finish judges what is still open as well (roce_flow_finish); further updates are
 * allowed and it may be called again. */
void roce_observer_judge(struct roce_observer *obs);
void roce_observer_finish(struct roce_observer *obs);

/* The flow table, for all that flow.h offers to readers. */
const struct roce_flow_table *roce_observer_flows(const struct roce_observer *obs);
void roce_observer_totals(const struct roce_observer *obs, struct roce_capture_totals *out);

/* roce_observer_findings returns the findings of the newest judge or finish in their order, and
 * their number in |*count|. The list changes with the next judge or finish. */
const struct roce_finding *roce_observer_findings(const struct roce_observer *obs, uint32_t *count);

/* roce_observer_congestion returns false when |flow| showed neither CE nor CNP: all is 0 then. */
bool roce_observer_congestion(const struct roce_observer *obs, uint32_t flow,
                              struct roce_congestion *out);
/* roce_observer_dscp returns false when no RoCE frame had |dscp| (below ROCE_DSCP_COUNT). */
bool roce_observer_dscp(const struct roce_observer *obs, uint8_t dscp, struct roce_dscp *out);

/* roce_observer_pause walks the (sender, priority) pairs that pause frames named, senders in order
 * of appearance: start with |*cursor| 0. Returns false at the end. That no pause frame was captured
 * does not say that none was sent. */
bool roce_observer_pause(const struct roce_observer *obs, uint32_t *cursor,
                         struct roce_pause_entry *out);

/* roce_observer_hosts sums up the flows by host and returns how many hosts there are, in order of
 * appearance; roce_observer_host returns one of them as of the newest roce_observer_hosts. */
uint32_t roce_observer_hosts(struct roce_observer *obs);
const struct roce_host *roce_observer_host(const struct roce_observer *obs, uint32_t index);

/* roce_observer_flow_hw writes what the frames of |flow| add to the counters of the host they go to
 * (|in|) and of the host they come from (|out|), by enum roce_hw. Returns false, and leaves the
 * output alone, when |flow| names no flow. */
bool roce_observer_flow_hw(const struct roce_observer *obs, uint32_t flow,
                           uint64_t in[ROCE_HW_COUNT], uint64_t out[ROCE_HW_COUNT]);

/* What the observer had to give up for lack of room. */
struct roce_observer_stats {
    uint64_t congestion_lost; /* CE or CNP of a flow beyond those that are watched */
    uint64_t incidents_lost;  /* incidents kept as counts only, without evidence frames */
    uint64_t senders_lost;    /* pause frames of a sender beyond those that are kept */
    uint64_t hosts_lost;      /* flow ends at hosts beyond those that are kept */
};
void roce_observer_stats(const struct roce_observer *obs, struct roce_observer_stats *out);

#ifdef __cplusplus
}
#endif
#endif
