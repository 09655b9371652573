/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Connection manager, shared by its files: connections, their table and timers, the GSI QP. */
#ifndef ENGINE_CM_CONN_H
#define ENGINE_CM_CONN_H

#include <roce/cm.h>
#include <roce/err.h>
#include <roce/mad.h>

#include "engine/cm.h"

#define CM_NONE     UINT32_MAX
#define CM_RECVS    128 /* receives posted on QP 1 */
#define CM_SENDS    128
#define CM_RECV_LEN (ENG_GRH_LEN + ROCE_MAD_LEN)
#define CM_EVENTS   64

/* IBTA 12.9.7.1 and 12.9.7.2, without the states that last no time here: a REP is answered at once
 * (REP_RCVD), a DREQ, too (DREQ_RCVD); MRA_* are a longer timer. UD (SIDR) uses the first three and
 * ESTABLISHED. */
enum cm_state {
    CM_FREE,
    CM_REQ_SENT,
    CM_REQ_RCVD,
    CM_REP_SENT,
    CM_ESTABLISHED,
    CM_DREQ_SENT,
    CM_TIMEWAIT, /* nothing happens any more; duplicates are answered */
};

enum cm_message { CM_MSG_REQ, CM_MSG_REP, CM_MSG_OTHER }; /* in REJ and MRA: what it answers */
enum cm_transport { CM_TRANSPORT_RC, CM_TRANSPORT_UC };
enum cm_reason { /* IBTA table 106 */
                 CM_NO_RESOURCES = 3,
                 CM_TIMEOUT = 4,
                 CM_INVALID_SERVICE_ID = 8,
                 CM_INVALID_TRANSPORT = 9,
                 CM_STALE = 10,
                 CM_INVALID_GID = 12,
                 CM_INVALID_MTU = 26,
                 CM_CONSUMER = 28,
};

enum cm_key { CM_BY_ID, CM_BY_QPN, CM_KEYS };    /* what the peer is known by */
enum cm_list { CM_WAITING, CM_SPENT, CM_LISTS }; /* REP_SENT; TIMEWAIT and released */
struct cm_links {
    uint32_t prev, next;
};

struct eng_cm_conn {
    struct eng_cm *cm;
    uint32_t local_id, remote_id;
    uint64_t remote_guid; /* SIDR has none: from the address */
    uint64_t tid;         /* of the request: REP, RTU and REJ carry it, too */
    uint64_t service_id;
    uint8_t state; /* enum cm_state */
    uint8_t list;  /* enum cm_list, CM_LISTS: in none */
    bool released; /* the user has given the handle back */
    bool pending;  /* counts against max_pending */
    bool keyed[CM_KEYS];
    enum eng_service service;
    uint8_t repeats; /* left */
    roce_tstamp expiry;
    uint64_t interval;
    uint64_t peer_interval; /* after which the peer repeats a DREQ */
    uint32_t heap_slot;     /* in the timer heap, CM_NONE: no timer */
    uint32_t next[CM_KEYS];
    struct cm_links links;

    struct eng_qp *qp;
    void *ctx;
    struct eng_ah ah;
    uint32_t local_qpn, remote_qpn, qkey;
    uint32_t local_psn, remote_psn; /* local: the peer's message names it; remote: ours does */
    unsigned access;
    /* From our side; while a request waits for its answer: what it offers. */
    uint8_t responder_resources, initiator_depth;
    bool flow_control, remote_srq;
    uint8_t retry_count, rnr_retry; /* what our QP uses */
    uint8_t ack_timeout, min_rnr_timer;
    bool ack_timeout_given;
    uint16_t path_mtu;
    uint8_t mad[ROCE_MAD_LEN]; /* the last message, for repetition */
};

struct cm_event {
    uint32_t conn, local_id;
    struct eng_cm_event event;
};

struct cm_listener {
    bool used;
    uint64_t service_id;
    void *ctx;
};

struct eng_cm {
    struct eng_dev *dev;
    struct eng_pd *pd;
    struct eng_cq *send_cq, *recv_cq;
    struct eng_mr *mr;
    struct eng_qp *gsi;
    uint32_t sends; /* posted on QP 1 and not completed */
    uint8_t recv_buf[CM_RECVS][CM_RECV_LEN];

    struct eng_cm_cfg cfg;
    struct eng_rng rng;
    uint64_t secret; /* of the hash */
    roce_tstamp linger;
    uint32_t id_mask, id_bits;
    struct eng_cm_conn *conns;
    uint32_t *heads[CM_KEYS];
    uint32_t *heap;
    uint32_t n_heap, n_pending;
    uint32_t free_head; /* linked by next[0] */
    struct cm_links ends[CM_LISTS];
    struct cm_listener *listeners;

    struct cm_event *events; /* a ring */
    uint32_t first_event, n_events;
    struct eng_cm_stats stats;
    struct eng_cm_refused refused;
};

/* A message that came in. */
struct cm_in {
    roce_tstamp now;
    struct roce_mad mad;
    struct roce_cm msg;
    const uint8_t *body; /* ROCE_CM_LEN bytes */
    struct eng_ah reply; /* back to where it came from */
};

/* ---- cm_table.c ---- */
void cm_table_init(struct eng_cm *cm);
/* cm_conn_take returns a connection with a communication id, or NULL: all are in use. */
struct eng_cm_conn *cm_conn_take(struct eng_cm *cm);
void cm_conn_free(struct eng_cm_conn *c);
void cm_key_set(struct eng_cm_conn *c, enum cm_key key);
struct eng_cm_conn *cm_find_local(struct eng_cm *cm, uint32_t local_id);
struct eng_cm_conn *cm_find_remote(struct eng_cm *cm, enum cm_key key, uint64_t guid,
                                   uint32_t value);
void cm_list_set(struct eng_cm_conn *c, uint8_t list); /* CM_LISTS: out of the one it is in */
struct eng_cm_conn *cm_list_next(struct eng_cm *cm, enum cm_list list, const struct eng_cm_conn *c);
void cm_pending_set(struct eng_cm_conn *c, bool pending);
/* ---- cm_timer.c ---- */
void cm_timer_set(struct eng_cm_conn *c, roce_tstamp expiry); /* ENG_NEVER: none */
/* ---- cm_gsi.c ---- */
/* cm_mad_build writes |msg| with |private_data| behind it. |mad| has ROCE_MAD_LEN bytes. */
void cm_mad_build(uint8_t *mad, uint64_t tid, const struct roce_cm *msg, const void *private_data,
                  uint8_t private_len);
void cm_mad_send(struct eng_cm *cm, roce_tstamp now, const struct eng_ah *ah, const uint8_t *mad);
int cm_gsi_new(struct eng_cm *cm, roce_tstamp now);
/* cm_gsi_receive takes the next message in. Returns false: there is none. */
bool cm_gsi_receive(struct eng_cm *cm, roce_tstamp now, struct cm_in *in, bool *good);
/* ---- cm_qp.c ---- */
bool cm_param_ok(const struct eng_cm_param *param);
int cm_qp_init(struct eng_cm_conn *c, roce_tstamp now);
int cm_qp_connect(struct eng_cm_conn *c, roce_tstamp now); /* to RTS */
void cm_qp_fail(struct eng_cm_conn *c, roce_tstamp now);   /* to ERR; the QP is the user's again */
uint8_t cm_mtu_code(uint16_t mtu);
uint16_t cm_mtu_bytes(uint8_t code); /* 0: no such code */
/* ---- cm.c: events and what both sides share ---- */
bool cm_event_room(const struct eng_cm *cm);
struct eng_cm_event *cm_event_add(struct eng_cm_conn *c, enum eng_cm_event_kind kind);
void cm_event_private(struct eng_cm_event *event, const struct cm_in *in);
/* cm_conn_send sends the connection's message and repeats it until something is heard. */
void cm_conn_send(struct eng_cm_conn *c, roce_tstamp now);
void cm_conn_repeat(struct eng_cm_conn *c, roce_tstamp now); /* once more, the timer left alone */
uint8_t cm_last_sent(const struct eng_cm_conn *c);           /* enum roce_cm_message */
void cm_conn_end(struct eng_cm_conn *c, roce_tstamp now);    /* TIMEWAIT; the QP fails */
void cm_reject_build(struct eng_cm_conn *c, uint8_t rejected, uint16_t reason,
                     const void *private_data, uint8_t private_len);
struct cm_listener *cm_listener_find(struct eng_cm *cm, uint64_t service_id);
/* cm_from_peer tells whether the message comes from where the connection leads. */
bool cm_from_peer(const struct eng_cm_conn *c, const struct cm_in *in);
/* ---- cm_active.c, cm_passive.c, cm_end.c, cm_sidr.c: one message each ---- */
void cm_on_rep(struct eng_cm *cm, const struct cm_in *in);
void cm_on_mra(struct eng_cm *cm, const struct cm_in *in);
void cm_on_req(struct eng_cm *cm, const struct cm_in *in);
void cm_on_rtu(struct eng_cm *cm, const struct cm_in *in);
void cm_established(struct eng_cm_conn *c, const struct cm_in *in);
void cm_on_rej(struct eng_cm *cm, const struct cm_in *in);
void cm_on_dreq(struct eng_cm *cm, const struct cm_in *in);
void cm_on_drep(struct eng_cm *cm, const struct cm_in *in);
void cm_gave_up(struct eng_cm_conn *c, roce_tstamp now);
void cm_on_sidr_req(struct eng_cm *cm, const struct cm_in *in);
void cm_on_sidr_rep(struct eng_cm *cm, const struct cm_in *in);
void cm_sidr_request(struct eng_cm_conn *c, const struct eng_cm_param *param,
                     const struct roce_cm_ip *ip);
int cm_sidr_accept(struct eng_cm_conn *c, roce_tstamp now, const struct eng_cm_param *param);
void cm_sidr_answer(struct eng_cm_conn *c, uint8_t status, const void *private_data,
                    uint8_t private_len);

#endif
