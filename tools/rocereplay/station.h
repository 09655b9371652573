/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A station: one engine device behind a port, its memory, completion queues and the clock they run
 * on. Two stations in one process, joined by a loopback, run as twins. */
#ifndef ROCEREPLAY_STATION_H
#define ROCEREPLAY_STATION_H

#include "engine/cm.h"
#include "engine/engine.h"
#include "port/loop.h"
#include "port/netif.h"
#include "rocereplay/options.h"

struct truth;

struct station {
    const struct replay_opts *opts;
    struct eng_dev *dev;
    struct eng_pd *pd;
    struct eng_cq *send_cq, *recv_cq;
    struct eng_cm *cm; /* NULL without connection manager */
    struct port_loop loop;
    struct port *fault, *file,
        *iface; /* layers of the port that |loop| uses; NULL when not there */
    struct netif netif;
    uint8_t ip[16];
    uint64_t seed;
    uint64_t next_va;        /* addresses of memory, as peers see them, do not tell ours */
    struct station *twin;    /* moves in the same turn */
    roce_tstamp virtual_now; /* computed time; 0: the clock's */
    roce_tstamp epoch;       /* added to its time for time stamps */
    void (*work)(void *ctx, roce_tstamp now); /* what else each turn does; may be NULL */
    void *work_ctx;
    struct truth *truth;
    uint64_t refused;          /* of eng_cm_refused, those told of */
    roce_tstamp refused_again; /* not before */
};

/* station_best_mtu returns the largest path MTU that interface |name| carries, IPv6 or
 * not; 256 when it cannot tell. */
uint16_t station_best_mtu(const char *name);

/* station_open opens the interface of |opts|; |peer_ip| decides between IPv4 and IPv6, NULL: IPv4
 * when there is one. 0, or -1 with a message printed. */
int station_open(struct station *st, const struct replay_opts *opts, const uint8_t *peer_ip);
/* station_open_pair opens two stations in memory; frames are recorded at the first, faults strike
 * there. */
int station_open_pair(struct station *st, struct station *twin, const struct replay_opts *opts);
/* station_queues makes the completion queues for |n_send| and |n_recv| entries. */
int station_queues(struct station *st, uint32_t n_send, uint32_t n_recv);
/* station_drop_queues frees them again, after the QPs that use them. */
void station_drop_queues(struct station *st);
/* station_close ends all; 0, or -1 when the capture file could not be written (message printed). */
int station_close(struct station *st);

roce_tstamp station_now(const struct station *st);
/* station_turn moves frames once. Returns how many (0: idle), or -1 with a message printed. */
int station_turn(struct station *st);
/* station_idle sleeps (or moves the computed time on) until something is due, |until|, or |fd| is
 * ready for |events|; returns whether |fd| is ready. */
bool station_idle(struct station *st, roce_tstamp until, int fd, short events);
/* station_settle turns until for some ms no frame has moved. 0, or -1 with a message printed. */
int station_settle(struct station *st);
/* station_leave settles, and answers DREQs that are repeated because our DREP was lost. */
int station_leave(struct station *st);

#endif
