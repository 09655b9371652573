/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the screens show: taken from the model between two frames, drawn from at leisure. */
#ifndef TUI_SNAPSHOT_H
#define TUI_SNAPSHOT_H

#include <roce/observer.h>

#include "log.h"
#include "ring.h"
#include "series.h"

enum {
    SNAP_ROWS_MAX = 65536,  /* flows in one snapshot */
    SNAP_FRAMES_MAX = 4096, /* frames of the QP that is open */
    SNAP_SLICE = 160,       /* bytes of each of them */
    SNAP_PAUSES_MAX = 256,
    SNAP_HOSTS_MAX = 4096,
    SNAP_DROPS_MAX = 256,
};

/* One flow: a line of the QPs screen. Counters are those of roce_flow_counters. */
struct snap_row {
    uint32_t id, serial;
    uint8_t src[16], dst[16];
    uint8_t ip_version;
    uint8_t service; /* enum roce_service */
    uint8_t pairing; /* enum roce_pairing */
    uint8_t dscp, pcp, ttl;
    bool dscp_varies, has_vlan, has_src_qp, sampled, encapsulated;
    bool one_way;   /* nothing of the opposite direction between these hosts was captured */
    bool active;    /* frames in the interval that the rates are about */
    bool has_track; /* gap_psns and resent mean something */
    bool matched;   /* a frame passed the display filter; true without a filter */
    bool has_latency;
    uint16_t vlan, udp_sport;
    uint32_t tunnel_key;
    uint32_t dest_qp, src_qp, peer, connection;
    uint32_t path_mtu;
    uint32_t first_psn, next_psn;
    const char *op;                   /* what it mostly does */
    double bps, pps, cnps_per_second; /* valid with snapshot.has_rates */
    uint64_t packets, bytes, payload_bytes, requests;
    uint64_t gap_events, gap_psns, resent, resent_dup, out_of_order;
    uint64_t naks, rnr_naks, cnps, ce, icrc_bad, lost, mirror_duplicates;
    uint64_t messages; /* completed */
    uint64_t p50_ns, p99_ns, max_ns;
    roce_tstamp first_ts, last_ts;
    uint64_t first_frame, last_frame;
};

/* One frame of the QP that is open, or of its peer. */
struct snap_frame {
    struct ring_record record;
    bool reverse; /* of the peer flow */
    uint32_t linktype;
    uint16_t slice_len;
    uint8_t slice[SNAP_SLICE]; /* the frame's first bytes */
};

/* The QP that is open. */
struct snap_detail {
    bool valid;
    struct snap_row row;
    struct roce_congestion congestion;
    uint64_t episodes[ROCE_CAUSE_COUNT];
    uint64_t loss[ROCE_LOST_COUNT];
    uint64_t naks[ROCE_NAK_MAX + 1];
    struct roce_hist latency; /* of messages, ns */
    struct roce_hist ack;     /* of ACKs, ns */
    uint32_t frames;          /* in |frame|, oldest first */
    bool more;                /* older frames are not in the ring, or too many */
};

/* Which rows' latencies are computed: a quantile costs a walk over a histogram. */
enum snap_latencies {
    SNAP_LATENCIES_DUE, /* those whose messages have grown by an eighth */
    SNAP_LATENCIES_ALL,
    SNAP_LATENCIES_NONE, /* none: tui_model_latency does it for single rows */
};

/* What a snapshot shall have besides the counters. */
struct snap_want {
    bool hosts;
    enum snap_latencies latencies;
    uint32_t detail, detail_serial; /* flow, or ROCE_FLOW_NONE */
    uint64_t detail_until;          /* newest frame number to show; 0: all */
};

struct snapshot {
    roce_tstamp first, now; /* first frame; time of the snapshot: 0 before any frame */
    uint64_t interval_ns;
    bool over;      /* the capture has ended: rates are means of all of it */
    bool has_rates; /* there is an interval to tell rates of */
    double seconds; /* that |rates| is about */
    struct bin rates, sum;
    uint32_t active; /* rows */
    struct roce_capture_totals totals;
    struct roce_flow_stats stats;
    struct roce_observer_stats observer;
    uint64_t link_speed_bps;
    bool filtered;
    struct series recent, whole;
    struct log log;
    struct roce_dscp dscp[ROCE_DSCP_COUNT];
    struct {
        roce_tstamp from, until;
        uint64_t count;
    } drops[SNAP_DROPS_MAX]; /* when the capture dropped frames */
    uint32_t n_drops;
    uint32_t n_pauses;
    struct roce_pause_entry pause[SNAP_PAUSES_MAX];
    uint32_t n_hosts, all_hosts;
    struct roce_host *host; /* SNAP_HOSTS_MAX, by order of appearance */
    uint32_t n_rows, all_rows;
    struct snap_row *row; /* SNAP_ROWS_MAX */
    struct snap_detail detail;
    struct snap_frame *frame; /* SNAP_FRAMES_MAX */
};

/* tui_snapshot_new returns an empty snapshot, or NULL without memory. */
struct snapshot *tui_snapshot_new(void);
void tui_snapshot_del(struct snapshot *snapshot); /* NULL is accepted */

/* tui_snapshot_unsure tells whether the capture dropped frames around |ts|. */
bool tui_snapshot_unsure(const struct snapshot *snapshot, roce_tstamp ts);

/* tui_snapshot_row returns the row of flow |id|, or NULL. */
const struct snap_row *tui_snapshot_row(const struct snapshot *snapshot, uint32_t id);

#endif
