/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A lane: one queue pair with its memory, and what is known of the peer's. */
#ifndef ROCEREPLAY_LANE_H
#define ROCEREPLAY_LANE_H

#include "rocereplay/station.h"

/* What an exchange tells of the other side. */
struct remote {
    uint8_t ip[16];
    uint32_t qpn, psn, rkey;
    uint64_t va, len; /* its memory; |len| 0: not told */
    uint16_t mtu;     /* 0: not told */
    uint8_t rd_atomic;
    uint32_t qkey;            /* UD */
    enum eng_service service; /* of rocereplay's own exchange */
};

struct lane_cfg {
    enum eng_service service;
    uint64_t local_len;  /* bytes that we send from, read and receive into */
    uint64_t target_len; /* bytes that the peer reads and writes */
    bool shared;         /* one memory for both, as in the example programs */
    uint32_t max_send, max_recv;
    uint32_t qpn, psn; /* own; qpn 0: chosen */
    bool has_psn;
    uint32_t qkey;     /* UD */
    struct eng_cq *cq; /* of both directions; NULL: the station's two */
};

struct lane {
    struct station *st;
    struct lane_cfg cfg;
    struct eng_qp *qp;
    uint32_t qpn, psn;
    uint8_t *local, *target;
    uint64_t local_va, target_va;
    struct eng_mr *local_mr, *target_mr;
    struct remote remote;
    struct eng_ah ah;
};

/* lane_open makes memory and a QP in INIT; lane_close frees them, after telling |st->truth|. 0, or
 * -1 with a message printed. */
int lane_open(struct lane *lane, struct station *st, const struct lane_cfg *cfg);
void lane_close(struct lane *lane);

/* lane_path fills |ah| for |ip|, as the options say. 0, or -1 with a message printed. */
int lane_path(const struct station *st, const uint8_t ip[16], struct eng_ah *ah);
/* lane_connect moves the QP to RTS towards |remote|. */
int lane_connect(struct lane *lane, const struct remote *remote);
/* lane_cm_param is what a connection manager is to connect |lane|'s QP with: the peer may do all,
 * and |lane| is the context. */
struct eng_cm_param lane_cm_param(struct lane *lane);
/* lane_connected notes what a connection manager has connected. */
void lane_connected(struct lane *lane, const struct remote *remote, const struct eng_ah *ah);

/* lane_control gives a QP in RTS the rate and the congestion control that the options ask for;
 * lane_connect has done so. 0, or -1 with a message printed. */
int lane_control(struct lane *lane);

struct eng_sge lane_local(const struct lane *lane, uint64_t off, uint32_t len);
uint32_t lane_rkey(const struct lane *lane);

#endif
