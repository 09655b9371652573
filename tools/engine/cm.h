/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Connection manager of one engine device: IBTA 12.9 over the GSI QP with the RDMA-CM's addressing
 * (annex A11), so that rdma_cm programs connect to the engine and the engine to them.
 *
 * Sans-I/O like engine.h and built on its verbs alone. In the loop that drives the device:
 *     eng_dev_read ...; eng_cm_poll(cm, now); eng_cm_expire(cm, now);
 *     while (eng_cm_event(cm, &event)) ...;   eng_dev_write ...
 * and sleep until the earlier of eng_dev_next and eng_cm_next.
 *
 * Active: eng_cm_connect -> ESTABLISHED | REJECTED | UNREACHABLE.
 * Passive: eng_cm_listen -> CONNECT_REQUEST -> eng_cm_accept | eng_cm_reject -> ESTABLISHED ...
 * Both end with DISCONNECTED, after eng_cm_disconnect of either side, and eng_cm_release. */
#ifndef ENGINE_CM_H
#define ENGINE_CM_H

#include <roce/cm.h>

#include "engine/engine.h"

#ifdef __cplusplus
extern "C" {
#endif

#define ENG_CM_REQ_PRIVATE_MAX      92 /* RC and UC; 36 less with an RDMA-CM service id */
#define ENG_CM_REP_PRIVATE_MAX      196
#define ENG_CM_REJ_PRIVATE_MAX      148
#define ENG_CM_SIDR_REQ_PRIVATE_MAX 216 /* UD; 36 less with an RDMA-CM service id */
#define ENG_CM_SIDR_REP_PRIVATE_MAX 136
#define ENG_CM_PRIVATE_MAX          224
#define ENG_CM_UDP_QKEY             UINT32_C(0x01234567) /* Q_Key of the RDMA-CM's UDP port space */

struct eng_cm;
struct eng_cm_conn;

struct eng_cm_cfg {
    uint32_t max_conns;     /* connections, those in TIMEWAIT included; 0: 1024 */
    uint32_t max_listeners; /* 0: 16 */
    uint32_t max_pending;   /* requests not accepted yet; more are dropped; 0: 64 */
    uint8_t timeout;        /* a message is repeated after 4.096 us * 2^n; 0: 18 (1.07 s) */
    uint8_t answer_timeout; /* the same for who waits for us, as requests tell; 0: |timeout| */
    uint8_t retries;        /* 1..15; 0: 15 */
    uint16_t max_mtu;       /* path MTU that the port carries; 0: 4096. Requests for more are
                               rejected (reason 26) */
    uint64_t ca_guid;       /* 0: from |seed|. Two lives of one GUID with the same QPN are taken for
                               a stale connection by the peer, so take another seed each time */
    uint64_t seed;          /* communication ids, starting PSNs, source ports */
};

/* eng_cm_new takes QP 1 of |dev|. NULL: it is taken already, or memory fails. |cfg| may be NULL. */
struct eng_cm *eng_cm_new(struct eng_dev *dev, const struct eng_cm_cfg *cfg, roce_tstamp now);
/* eng_cm_del frees the manager and its connections without a word to the peers; call it before
 * eng_dev_del. The users' QPs stay theirs. */
void eng_cm_del(struct eng_cm *cm);

/* Port spaces of the RDMA-CM (rdma_port_space). */
enum eng_cm_space { ENG_CM_TCP = 0x06, ENG_CM_UDP = 0x11, ENG_CM_IB = 0x3F };
static inline uint64_t eng_cm_service_id(enum eng_cm_space space, uint16_t port)
{
    return UINT64_C(1) << 24 | (uint64_t)space << 16 | port;
}

/* What one side brings to a connection (rdma_conn_param). Zeros are the defaults. */
struct eng_cm_param {
    struct eng_qp *qp;        /* RESET or INIT; moved to RTS by the manager. In INIT receives can be
                                 posted beforehand; when nothing comes of the request it is in
                                 INIT with them still */
    enum eng_service service; /* of |qp|: ENG_RC, ENG_UC; ENG_UD resolves by SIDR */
    void *ctx;                /* the user's, in all events of the connection */
    const void *private_data; /* copied */
    uint8_t private_len;
    uint8_t responder_resources; /* READs and atomics of the peer that we hold: max_dest_rd_atomic.
                                    Accept: never more than the event offers */
    uint8_t initiator_depth;     /* ours that may be outstanding: max_rd_atomic */
    bool flow_control;           /* end-to-end credits; in force when both sides say so */
    bool srq;
    uint8_t retry_count;   /* 0..7: active: asked of the peer and used for our QP; passive: ours is
                              what the request says, this is ignored */
    uint8_t rnr_retry;     /* 0..7: what the peer shall use towards us */
    uint8_t ack_timeout;   /* of our QP and, active, what the peer is told; 0: 14 (67 ms), passive:
                              what the request says */
    uint8_t min_rnr_timer; /* of our QP; 0: 12 (0.64 ms) */
    unsigned access;       /* ENG_REMOTE_*: what the peer may do */
    uint16_t path_mtu;     /* active: 256..4096, 0: max_mtu; passive: the request's is taken */
    uint32_t qkey;         /* UD; 0: ENG_CM_UDP_QKEY */
};

enum eng_cm_event_kind {
    ENG_CM_CONNECT_REQUEST, /* answer with eng_cm_accept or eng_cm_reject */
    ENG_CM_ESTABLISHED,     /* the QP is in RTS and the peer's is at least in RTR */
    ENG_CM_REJECTED,        /* |reason| tells why */
    ENG_CM_UNREACHABLE,     /* no answer after all repetitions */
    ENG_CM_CONNECT_ERROR,   /* the QP refused a move: |error| */
    ENG_CM_DISCONNECTED,    /* either side ended it; the QP is in ERR */
};
const char *eng_cm_event_name(enum eng_cm_event_kind kind);

struct eng_cm_event {
    enum eng_cm_event_kind kind;
    struct eng_cm_conn *conn;
    void *ctx;                /* the connection's; CONNECT_REQUEST: the listener's */
    enum eng_service service; /* ENG_RC, ENG_UC, ENG_UD */
    uint16_t reason;          /* REJECTED: REJ reason (roce_cm_reject_text), UD: SIDR status */
    int error;                /* CONNECT_ERROR: enum roce_err */
    /* CONNECT_REQUEST, ESTABLISHED: */
    uint64_t service_id;
    struct eng_ah ah;                             /* towards the peer */
    bool has_ip;                                  /* |ip| was there (CONNECT_REQUEST) */
    struct roce_cm_ip ip;                         /* who asks: address and port */
    uint32_t remote_qpn, remote_psn;              /* remote_psn: the first that the peer sends */
    uint32_t local_psn;                           /* the first that we send */
    uint32_t qkey;                                /* UD: of the remote QP */
    uint8_t responder_resources, initiator_depth; /* from our side: what eng_cm_param takes */
    bool flow_control, srq;
    uint8_t retry_count, rnr_retry; /* what we are asked to use */
    uint8_t ack_timeout;
    uint16_t path_mtu; /* bytes */
    /* Private data as received, padding included: the standard has no length for it. The RDMA-CM
     * header of a request is not part of it. */
    uint8_t private_len;
    uint8_t private_data[ENG_CM_PRIVATE_MAX];
};
/* eng_cm_event takes the oldest event. Returns 1, or 0: none. Poll until 0 after each eng_cm_poll
 * and eng_cm_expire: they wait while the queue is full. */
int eng_cm_event(struct eng_cm *cm, struct eng_cm_event *event);

/* eng_cm_listen announces requests for |service_id|. ROCE_ERR_FULL: no room; ROCE_ERR_INVALID:
 * somebody listens there. eng_cm_unlisten: requests from now on are rejected (reason 8). */
int eng_cm_listen(struct eng_cm *cm, uint64_t service_id, void *ctx);
void eng_cm_unlisten(struct eng_cm *cm, uint64_t service_id);

/* eng_cm_connect asks for a connection to |service_id| at |ah| (|ah->sport| is for the QP; the
 * source port of the RDMA-CM is |src_port|, 0: chosen). Returns 0 and |*conn|, or ROCE_ERR_FULL, or
 * ROCE_ERR_INVALID: a parameter or the QP's state. */
int eng_cm_connect(struct eng_cm *cm, roce_tstamp now, uint64_t service_id, uint16_t src_port,
                   const struct eng_ah *ah, const struct eng_cm_param *param,
                   struct eng_cm_conn **conn);
/* eng_cm_accept moves the QP to RTS and answers. ROCE_ERR_STATE: there is no request (any more);
 * ROCE_ERR_INVALID: a parameter, or the QP refused. */
int eng_cm_accept(struct eng_cm_conn *conn, roce_tstamp now, const struct eng_cm_param *param);
/* eng_cm_reject answers no and releases |conn|; |reason| is 28 (consumer) or another of IBTA
 * table 106, for UD a SIDR status (2). */
int eng_cm_reject(struct eng_cm_conn *conn, roce_tstamp now, uint16_t reason,
                  const void *private_data, uint8_t private_len);
/* eng_cm_disconnect moves the QP to ERR and tells the peer; DISCONNECTED follows when it has
 * answered or does not. ROCE_ERR_STATE: not established. */
int eng_cm_disconnect(struct eng_cm_conn *conn, roce_tstamp now);
/* eng_cm_release ends what is left of the connection (a request is rejected, an established
 * connection disconnected) and gives the handle back: no event names it any more. A QP must not be
 * deleted before its connection is released or has ended. */
void eng_cm_release(struct eng_cm_conn *conn, roce_tstamp now);

/* eng_cm_poll takes in what QP 1 has received and notices data as the answer that RTU would be.
 * Returns the number of messages. */
int eng_cm_poll(struct eng_cm *cm, roce_tstamp now);
roce_tstamp eng_cm_next(const struct eng_cm *cm); /* ENG_NEVER: waits for messages only */
void eng_cm_expire(struct eng_cm *cm, roce_tstamp now);

/* eng_cm_linger returns until when a DREQ may be repeated because the DREP to it was lost: who goes
 * before leaves the peer to repeat in vain. 0.4 s after the last DREP at most; 0: none was sent. */
roce_tstamp eng_cm_linger(const struct eng_cm *cm);

/* Requests that somebody listens for and that the manager itself rejects, without an event. */
struct eng_cm_refused {
    uint64_t n; /* so far; of the last: */
    uint8_t ip[16];
    uint16_t reason;   /* roce_cm_reject_text */
    uint16_t path_mtu; /* asked for, bytes; 0: none that there is */
};
const struct eng_cm_refused *eng_cm_refused(const struct eng_cm *cm);

/* Own truth. */
struct eng_cm_stats {
    uint64_t received[ROCE_CM_APR - ROCE_CM_REQ + 1]; /* by message, REQ first */
    uint64_t sent[ROCE_CM_APR - ROCE_CM_REQ + 1];     /* repetitions included */
    uint64_t repeated;                                /* sent again for want of an answer */
    uint64_t duplicates;                              /* received again */
    uint64_t malformed;                               /* not a CM message from a QP 1 */
    uint64_t unexpected;                              /* for no connection, or not in this state */
    uint64_t dropped; /* requests beyond max_pending; messages with the send queue full */
};
void eng_cm_stats(const struct eng_cm *cm, struct eng_cm_stats *out);

#ifdef __cplusplus
}
#endif
#endif
