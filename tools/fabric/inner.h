/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The parts of the network, as its files see them. */
#ifndef FABRIC_INNER_H
#define FABRIC_INNER_H

#include "event.h"
#include "fabric.h"
#include "frame.h"
#include "rng.h"

#include <stdlib.h>

#define PS_PER_NS 1000
#define NO_TIME   UINT64_MAX

#define DEPTH_BITS    4 /* steps of an octave: 2^4, 6 % */
#define DEPTH_UNIT    6 /* finest step: 2^6 bytes */
#define DEPTH_BUCKETS 416

struct node;
struct port;

/* How deep a queue was, for how long. */
struct depth {
    uint64_t since;   /* ps: the present depth holds since then */
    uint64_t started; /* ps */
    uint64_t max;
    double area;                  /* bytes times ps */
    uint64_t held[DEPTH_BUCKETS]; /* ps spent in each step */
};

struct queue {
    struct fifo fifo;
    uint32_t frames;
    uint64_t bytes;
    uint64_t tx_frames, tx_bytes;
    int64_t deficit; /* DWRR */
    bool stormed;    /* the watchdog gave it up */
    uint64_t polled_tx, polled_pfc;
    uint64_t stuck, quiet; /* ps, for the watchdog */
    struct depth depth;
};

/* What one ingress holds of the shared buffer. */
struct ingress {
    uint64_t used;     /* reserve first, then shared */
    uint64_t headroom; /* after XOFF */
};

struct tap {
    struct tap *next;
    fab_tap *call;
    void *ctx;
};

struct port {
    struct fab *fab;
    struct node *node;
    struct port *peer;
    uint32_t id; /* of all ports of the network */
    uint16_t index;
    uint8_t mac[6];
    uint64_t rate_bps, delay; /* ps */
    double loss, bit_errors, corrupt;
    uint64_t rng;

    bool busy;
    struct fifo wire; /* frames on their way to the peer, in order of arrival */
    struct event tx_end, arrive, pause_end, refresh;
    struct tap *taps;

    uint8_t off;  /* bit n: we want priority n of the peer to pause */
    uint8_t tell; /* bit n: and have to say so, or that it may go on */
    uint64_t paused_until[FAB_PRIORITIES], paused_since[FAB_PRIORITIES]; /* by the peer, ps */
    uint64_t paused_sum[FAB_PRIORITIES];
    uint8_t paused;                  /* bit n: priority n may not leave before paused_until */
    uint64_t pfc_rx[FAB_PRIORITIES]; /* XOFFs */

    struct queue *queue; /* of a switch: FAB_PRIORITIES */
    uint8_t backlog;     /* bit n: queue n is not empty */
    struct ingress ingress[FAB_PRIORITIES];
    uint64_t headroom; /* each lossless priority may use so many bytes after XOFF */
    uint8_t turn;      /* DWRR: priority served last */
    struct fab_port_stats stats;
};

struct host {
    struct fab_host_cfg cfg;
    struct event wake, drain;
    struct fifo sink;
    uint64_t held, held_of[FAB_PRIORITIES];
    bool draining;
};

struct route {
    uint32_t first; /* in struct sw.ways */
    uint16_t n;
};

struct sw {
    struct fab_switch_cfg cfg;
    struct event watchdog;
    uint64_t shared, shared_used, used, max_used;
    uint64_t salt;
    struct route *routes; /* by host's node number */
    uint16_t *ways;
    uint32_t n_ways;
    uint16_t *fixed; /* by host's node number: port + 1, or 0 */
    uint32_t *held;  /* frames in egress e that came in by port i: [(e * ports + i) * 8 + prio] */
};

struct node {
    struct fab *fab;
    int index;
    bool is_switch;
    struct port **ports;
    uint16_t n_ports;
    union {
        struct host host;
        struct sw sw;
    } u;
};

/* fab_waits looks at each queue once: one place for each, and one on the path. */
struct wait_mark {
    struct port *port;
    uint32_t path; /* place number of the queue that is here on the path */
    uint16_t edge; /* egress of the peer to look at next */
    uint8_t state; /* 0: new, 1: on the path, 2: done */
};

struct address {
    uint8_t ip[16];
    uint16_t host; /* node + 1; 0: empty */
};

struct fab {
    struct fab_cfg cfg;
    struct events events;
    struct frame_pool pool;
    uint64_t now; /* ps */
    uint64_t hops;
    struct node **nodes;
    int n_nodes;
    uint32_t n_ports;
    struct address *addresses; /* open addressing, at most half full */
    uint32_t address_mask;
    struct wait_mark *marks; /* room for fab_waits */
    bool started;
    uint8_t scratch[FAB_FRAME_MAX];
};

static inline roce_tstamp now_ns(const struct fab *fab)
{
    return fab->now / PS_PER_NS;
}

/* wire_ps returns how long |len| bytes and what goes around them take. */
static inline uint64_t wire_ps(const struct port *port, uint64_t len)
{
    return (len + FAB_WIRE_EXTRA) * 8 * UINT64_C(1000000000000) / port->rate_bps;
}

/* classify.c */
/* frame_classify finds out what the network has to know of the frame in |frame->data|. */
void frame_classify(const struct fab *fab, struct frame *frame);
bool frame_is_ect(const struct frame *frame);
void frame_mark_ce(struct frame *frame);
const struct address *address_find(const struct fab *fab, const uint8_t ip[16]);

/* port.c */
void port_kick(struct port *port); /* sends the next frame when the port is free */
void port_tx_end(struct port *port);
void port_arrive(struct port *port); /* at the peer */

/* pfc.c */
/* pfc_peer wants |priority| of the peer off or on; |held| are the bytes that are the reason. */
void pfc_peer(struct port *port, int priority, bool off, uint64_t held);
struct frame *pfc_frame(struct port *port); /* what has to be told, or NULL */
void pfc_refresh(struct port *port);
void pfc_end(struct port *port);
void pfc_read(struct port *port, const struct frame *frame);
void pfc_settle(struct port *port, int priority);
static inline bool pfc_holds(const struct port *port, int priority)
{
    return (port->paused >> priority & 1) != 0 && port->paused_until[priority] > port->fab->now;
}

/* host.c */
void host_arrive(struct port *port, struct frame *frame);
struct frame *host_next(struct port *port);
void host_drain(struct node *node);

/* switch.c */
void switch_arrive(struct port *port, struct frame *frame);
struct frame *switch_next(struct port *port);
uint64_t switch_flush(struct port *port, int priority); /* drops all; returns how many */

/* buffer.c */
/* buffer_start settles the shares once the links are known. False: nothing is left to share. */
bool buffer_start(struct node *node);
/* buffer_take makes room for |frame|, or drops it and returns false. */
bool buffer_take(struct node *node, struct port *in, struct port *out, struct frame *frame);
void buffer_give(struct node *node, struct port *in, const struct frame *frame);

/* route.c */
int routes_new(struct fab *fab);

/* watchdog.c */
void watchdog_poll(struct node *node);

/* queue.c */
void queue_push(struct queue *queue, struct frame *frame, uint64_t now);
struct frame *queue_pop(struct queue *queue, uint64_t now);
void queue_settle(struct queue *queue, uint64_t now);

/* trace.c */
void trace(const struct port *port, enum fab_trace_kind kind, int priority, uint64_t arg,
           const struct frame *frame);
/* frame_drop counts, tells and frees. */
void frame_drop(struct port *port, enum fab_drop why, struct frame *frame);

static inline uint32_t *held_of(const struct node *node, const struct port *out, uint32_t in,
                                uint32_t priority)
{
    return &node->u.sw
                .held[((uint32_t)out->index * node->n_ports + in) * FAB_PRIORITIES + priority];
}

#endif
