/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The network: hosts, switches and links in discrete events. Real frames flow, byte for byte, so
 * that a capture at any port needs no reconstruction. No I/O and no clock: the same seed gives the
 * same events.
 *
 * Life: fab_new, nodes, links, routes and taps, fab_start_new, then fab_run up to some time, again
 * and again; between two runs anything can be asked. Times are ns from 0; inside they are ps, so
 * that no rate is rounded.
 *
 * Nodes and the ports of a node are small numbers from 0, in the order of their making. Functions
 * that return int give 0 or more, or a negative enum roce_err. */
#ifndef FABRIC_H
#define FABRIC_H

#include <roce/types.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define FAB_NEVER      UINT64_MAX
#define FAB_PRIORITIES 8
#define FAB_FRAME_MAX  (4096 + 256) /* bytes without FCS */
#define FAB_WIRE_EXTRA 24           /* FCS, preamble and gap of each frame (802.3 3.1.1, 4.4.2) */
#define FAB_NODES_MAX  4096
#define FAB_PORTS_MAX  512 /* of one switch */

struct fab;

/* ---- truth: what the network did ---- */
enum fab_trace_kind {
    FAB_TRACE_DROP,      /* arg = enum fab_drop */
    FAB_TRACE_MARK,      /* CE was set; arg = bytes in the queue */
    FAB_TRACE_XOFF_SENT, /* arg = bytes that the ingress holds; refreshes are not told */
    FAB_TRACE_XON_SENT,
    FAB_TRACE_PAUSED, /* the priority may not leave this port */
    FAB_TRACE_RESUMED,
    FAB_TRACE_STORM,    /* the watchdog gave the queue up; arg = frames dropped */
    FAB_TRACE_RESTORED, /* and took it back */
};
enum fab_drop {
    FAB_DROP_NO_ROUTE,
    FAB_DROP_BUFFER,   /* lossy priority: no room */
    FAB_DROP_HEADROOM, /* lossless priority: headroom too small */
    FAB_DROP_LOSS,     /* the link lost it */
    FAB_DROP_FCS,      /* bit errors: the receiving MAC dropped it */
    FAB_DROP_STORM,    /* by the watchdog */
    FAB_DROP_SINK,     /* the host's own receive buffer was full */
    FAB_DROP_MEMORY,   /* no memory for the frame: the simulation is too small, not the network */
    FAB_DROPS
};
const char *fab_drop_name(enum fab_drop drop);        /* "no_route", ... */
const char *fab_trace_name(enum fab_trace_kind kind); /* "drop", "mark", ... */

struct fab_trace {
    roce_tstamp now;
    uint8_t kind; /* enum fab_trace_kind */
    uint8_t priority;
    int node, port;
    uint64_t arg;
    const uint8_t *frame; /* DROP, MARK: borrowed for the call; else NULL */
    size_t len;
};

struct fab_cfg {
    uint64_t seed;
    void (*trace)(void *ctx, const struct fab_trace *event); /* may be NULL */
    void *trace_ctx;
};
struct fab *fab_new(const struct fab_cfg *cfg); /* NULL when memory fails */
void fab_del(struct fab *fab);                  /* NULL is allowed */

/* ---- hosts ---- */
/* What a host does; |ctx| is its own. It obeys pauses itself: it sees the pause frames. */
struct fab_host_ops {
    /* arrive takes in a frame, borrowed for the call. */
    void (*arrive)(void *ctx, roce_tstamp now, const uint8_t *frame, size_t len);
    /* give writes the next frame that may leave now to |buf|; returns its length, or 0. */
    int (*give)(void *ctx, roce_tstamp now, uint8_t *buf, size_t len);
    /* next tells when expire or give is wanted: not later than |now| when at once, FAB_NEVER when
     * only a frame that arrives changes anything. */
    roce_tstamp (*next)(void *ctx, roce_tstamp now);
    void (*expire)(void *ctx, roce_tstamp now);
};

#define FAB_AT_ONCE 0          /* rate of a sink that takes frames as they arrive */
#define FAB_STALLED UINT64_MAX /* and of one that takes none */

/* What stands between the wire and the host: a buffer that is drained at a rate. A host that is
 * slower than its link pauses the network (PFC) where |lossless| says so, and drops else. */
struct fab_sink {
    uint64_t drain_bps; /* or FAB_AT_ONCE, FAB_STALLED */
    uint32_t buffer;    /* bytes; 0: 256 KiB */
    uint32_t xoff, xon; /* bytes held of a priority; 0: half and a quarter of the buffer */
    uint8_t lossless;   /* bit n: priority n is paused */
};
struct fab_host_cfg {
    const struct fab_host_ops *ops;
    void *ctx;
    uint8_t mac[6];
    uint8_t ip[16]; /* frames to this address come here; IPv4 as ::ffff:a.b.c.d */
    struct fab_sink sink;
};
/* fab_host_new adds a host and returns its number. ROCE_ERR_FULL, ROCE_ERR_NOMEM. */
int fab_host_new(struct fab *fab, const struct fab_host_cfg *cfg);
/* fab_host_drain changes the rate of the sink from now on. fab_host_wake asks the host again
 * whether it has something to send: work was given to it outside of its callbacks. */
void fab_host_drain(struct fab *fab, int host, uint64_t drain_bps);
void fab_host_wake(struct fab *fab, int host);

/* ---- switches ---- */
/* Marking by the length of the egress queue: never up to |kmin| bytes, always above |kmax|, with
 * linear probability up to |pmax| between. Frames that are not ECN capable are never marked. */
struct fab_ecn {
    uint32_t kmin, kmax; /* bytes; kmax 0: no marking */
    double pmax;
};
struct fab_watchdog {
    uint64_t poll_ns;    /* 0: no watchdog */
    uint64_t detect_ns;  /* a queue that is paused and sends nothing for so long is stormed */
    uint64_t restore_ns; /* no pause for so long: the queue is taken back */
    bool forward;        /* a stormed queue sends in spite of the pause; false: it drops */
};
struct fab_switch_cfg {
    uint8_t mac[6];     /* the last byte counts up by port */
    uint32_t buffer;    /* bytes shared by all ports */
    uint8_t lossless;   /* bit n: priority n is protected by PFC */
    double alpha;       /* XOFF when one ingress uses more than alpha times the free shared bytes */
    uint32_t xoff;      /* a fixed threshold instead, bytes; 0: alpha */
    uint32_t xon_gap;   /* XON when use is so far below the threshold, bytes */
    uint32_t reserve;   /* bytes of each port and lossless priority that are never shared */
    uint32_t headroom;  /* bytes each port and lossless priority may use after XOFF; 0: by the rate
                           and delay of the link */
    double lossy_alpha; /* lossy frames are dropped when their egress queue holds more than this
                           times the free shared bytes */
    uint16_t quanta;    /* pause time asked for */
    uint32_t weight[FAB_PRIORITIES]; /* share of the priority (DWRR); 0: strict, the higher the
                                        priority the earlier, before all that share */
    struct fab_ecn ecn[FAB_PRIORITIES];
    bool mark_dequeue; /* mark when a frame leaves the queue, by what is left; else when it enters
                        */
    struct fab_watchdog watchdog;
};
/* fab_switch_defaults fills |cfg|: 12 MB, priority 3 lossless, alpha 1/8, no marking, no watchdog.
 */
void fab_switch_defaults(struct fab_switch_cfg *cfg);
int fab_switch_new(struct fab *fab, const struct fab_switch_cfg *cfg);

/* ---- links ---- */
struct fab_link_cfg {
    uint64_t rate_bps;
    uint64_t delay_ns; /* one way */
    double loss;       /* probability that a frame vanishes, pause frames excepted */
    double bit_errors; /* probability for each bit; a hit frame fails its FCS at the receiver */
    double corrupt;    /* probability that a frame arrives with one bit of its payload changed and
                          a good FCS, as by a memory error: only the ICRC tells */
    bool only_forward; /* loss, bit_errors and corrupt hold from |a| to |b| only */
};
/* fab_link_new joins nodes |a| and |b| by a full-duplex link: each gets a new port. A host has one
 * link. Returns the port of |a|; that of |b| is the newest there. ROCE_ERR_INVALID, ROCE_ERR_FULL,
 * ROCE_ERR_NOMEM. */
int fab_link_new(struct fab *fab, int a, int b, const struct fab_link_cfg *cfg);
int fab_ports(const struct fab *fab, int node); /* how many */
/* fab_peer returns the node at the other end of the link of |port|, its port in |*peer_port|. */
int fab_peer(const struct fab *fab, int node, int port, int *peer_port);
uint64_t fab_rate(const struct fab *fab, int node, int port);

/* fab_route_new sends what switch |node| gets for |host| to |port| instead of the shortest ways;
 * before fab_start_new. */
int fab_route_new(struct fab *fab, int node, int host, int port);

/* ---- taps ---- */
enum fab_direction { FAB_IN, FAB_OUT }; /* as seen from the node */
typedef void fab_tap(void *ctx, roce_tstamp now, enum fab_direction direction, const uint8_t *frame,
                     size_t len);
/* fab_tap_new calls |tap| for each frame that leaves |port| (as its first bit does) or has arrived
 * there. */
int fab_tap_new(struct fab *fab, int node, int port, fab_tap *tap, void *ctx);

/* ---- running ---- */
/* fab_start_new settles the routes (shortest ways, several of the same length are shared by a hash
 * of addresses, protocol and ports) and the buffers. ROCE_ERR_INVALID: headroom and reserves leave
 * a switch no shared buffer; |*node| (may be NULL) is that switch. */
int fab_start_new(struct fab *fab, int *node);
/* fab_run handles all events up to and including |until|. Returns how many there were. */
uint64_t fab_run(struct fab *fab, roce_tstamp until);
roce_tstamp fab_now(const struct fab *fab);
uint64_t fab_hops(const struct fab *fab); /* frames that arrived at some node, since the start */

struct fab_port_stats {
    uint64_t tx_frames, tx_bytes, rx_frames, rx_bytes; /* without FCS */
    uint64_t tx_wire_bits; /* with preamble, FCS and gap: against the rate this is the use */
    uint64_t drops[FAB_DROPS];
    uint64_t marked;
    uint64_t pfc_tx, pfc_rx;                  /* frames, refreshes included */
    uint64_t xoff_sent[FAB_PRIORITIES];       /* times that the priority went from on to off */
    uint64_t paused_ns[FAB_PRIORITIES];       /* this port was kept from sending */
    uint64_t paused_since_ns[FAB_PRIORITIES]; /* 0: is not paused; else for how long now */
    uint64_t storms;
};
void fab_port_stats(struct fab *fab, int node, int port, struct fab_port_stats *out);

/* An egress queue of a switch. Means and percentiles are over time since the start, or since
 * fab_queue_restart. */
struct fab_queue_stats {
    uint32_t frames;
    uint64_t bytes, max_bytes;
    double mean_bytes;
    uint64_t p50, p90, p99; /* bytes, to within 6 % */
    uint64_t tx_frames, tx_bytes;
};
void fab_queue_stats(struct fab *fab, int node, int port, int priority,
                     struct fab_queue_stats *out);
uint64_t fab_queue_bytes(const struct fab *fab, int node, int port, int priority); /* now */
void fab_queue_restart(struct fab *fab, int node, int port, int priority);

struct fab_buffer_stats {
    uint64_t size, used, max_used; /* bytes, headroom included */
    uint64_t shared, shared_used;
    uint64_t headroom; /* of each lossless priority of all ports together */
};
void fab_buffer_stats(const struct fab *fab, int node, struct fab_buffer_stats *out);

/* One queue that waits: paused by |peer|, whose ingress is full because of the next one. */
struct fab_wait {
    int node, port, priority, peer;
    uint64_t bytes;
    uint64_t tx_frames; /* unchanged at a later look: no progress between */
};
/* fab_waits looks for a cycle of paused egress queues, each held up by the next (cyclic buffer
 * dependency), writes it to |cycle| (up to |max|) and returns its length; 0: none. */
int fab_waits(struct fab *fab, struct fab_wait *cycle, int max);

#ifdef __cplusplus
}
#endif
#endif
