/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The queue pair: all that an actor knows of itself. */
#ifndef ENGINE_QP_H
#define ENGINE_QP_H

#include <roce/opcode.h>
#include <roce/packet.h>

#include "ahead.h"
#include "cc.h"
#include "cq.h"
#include "device.h"
#include "srq.h"
#include "wr.h"

#define ACK_RING    8 /* ACKs that wait for their turn; a further one merges with the newest */
#define PSN_MAX_OUT UINT32_C(0x7FFFFF) /* more outstanding, and old and new look alike */

/* PSNs are kept as 64-bit numbers that do not wrap; the wire has their low 24 bits. An incoming PSN
 * becomes one relative to a number that it cannot be far from (IBTA 9.7.2). */
static inline uint64_t psn_extend(uint64_t near, uint32_t psn)
{
    const uint32_t d = (psn - (uint32_t)near) & 0xFFFFFF;
    return d < 0x800000 ? near + d : near + d - 0x1000000;
}

/* Since there was progress: nothing; went back for an implied NAK; and has waited in vain since. */
enum implied { IMPLIED_NONE, IMPLIED_WENT_BACK, IMPLIED_TIMED_OUT };

/* |una| .. |next| are outstanding. The cursor |cur|, |cur_psn| is where the next packet comes from:
 * at |next|, or behind it after going back. */
struct requester {
    uint32_t tail, cur, head; /* send queue: oldest, being sent, next free; they run freely */
    uint32_t unasked;         /* packets since |asked| */
    uint64_t una, cur_psn, next;
    uint64_t asked;     /* one past the newest PSN that asked for an answer */
    uint32_t ssn, lsn;  /* message number of the newest WQE; the one that credits reach to */
    uint16_t rd_atomic; /* READs, atomics, FLUSHes outstanding */
    uint16_t rd_asked;  /* of these, before the cursor: asked for since it last went back */
    uint16_t heard;     /* low bits of the PSN of the newest response behind a hole */
    uint8_t rd_limit;   /* READs of several packets are asked for while |rd_asked| is below */
    uint8_t rd_whole;   /* answered since that limit moved */
    uint8_t retry_left, rnr_left;
    uint8_t local_error; /* enum eng_wc_status of the WQE at the cursor, which waits for those
                            before it */
    uint8_t implied;     /* enum implied */
    struct ahead ahead;  /* of the oldest READ, behind |una| */
};

enum answer_kind { ANSWER_READ, ANSWER_ATOMIC, ANSWER_EMPTY };

/* A READ, atomic, FLUSH or ATOMIC WRITE at the responder: being answered, and then kept in case it
 * comes again. */
struct answer {
    uint64_t psn; /* of its request */
    uint64_t va;
    uint64_t value; /* atomics: what was there before */
    uint32_t rkey;
    uint32_t end;         /* READ: bytes up to which it is being answered, from |va| */
    uint32_t length;      /* READ: bytes of the request as it came first */
    uint32_t n_psn;       /* as it came first */
    uint32_t begin, next; /* packets, from 0: first of this answer, next to be sent */
    uint32_t msn;
    uint8_t kind; /* enum answer_kind */
    uint8_t opcode;
    bool active; /* not wholly sent */
    bool again;  /* a duplicate asked: it has been wholly sent before */
};

struct pending_ack {
    uint32_t psn;   /* low bits of the extended PSN */
    uint32_t msn_n; /* MSN << 8 | requests it answers */
};

enum message_kind { MESSAGE_NONE, MESSAGE_SEND, MESSAGE_WRITE };

struct responder {
    uint64_t epsn;  /* expected */
    uint64_t begin; /* first PSN of the message in progress */
    uint32_t msn;
    uint8_t message;  /* enum message_kind: the one in progress */
    bool deaf;        /* a NAK for the expected PSN is out: silent until that PSN comes */
    bool resync;      /* UC: skip to the next First or Only */
    bool has_wqe;     /* |wqe| is taken */
    bool nak_waits;   /* |nak_*| is to be sent */
    bool last_words;  /* in error: what is to be answered still goes out */
    bool established; /* a packet has come in */
    uint8_t nak_syndrome;
    uint8_t ack_head, ack_count;
    uint32_t nak_psn;
    uint32_t received; /* bytes of the message in progress */
    uint32_t rkey, dma_length;
    uint64_t va;
    struct recv_wqe wqe;
    uint32_t tail, head;                            /* receive queue; they run freely */
    uint32_t answer_tail, answer_next, answer_head; /* saved from tail, to be sent from next */
    struct pending_ack acks[ACK_RING];
    roce_tstamp cnp_at; /* no CNP before */
};

struct pacer {
    roce_tstamp at; /* next packet not before */
    float rest;     /* fraction of a ns */
    bool idle;      /* there was nothing to send: time missed is not caught up */
};

struct eng_qp {
    struct eng_dev *dev;
    struct eng_pd *pd;
    struct eng_cq *send_cq, *recv_cq;
    struct eng_srq *srq;
    struct send_wqe *sq;
    uint8_t *inline_data; /* |max_inline| bytes a WQE */
    struct eng_ah *ahs;   /* UD: of each WQE, and the one that |head| was made from */
    struct recv_wqe *rq;
    struct answer *answers;
    uint32_t sq_mask, max_send_wr; /* rings have a power of two of elements */
    uint32_t rq_mask, max_recv_wr;
    uint16_t max_inline;
    uint16_t answer_mask;
    uint8_t max_answers;
    uint8_t service, state;
    bool sq_sig_all;

    uint32_t qpn, dest_qpn, qkey;
    uint16_t pkey, ip_id;
    uint32_t mtu;
    uint32_t window, ack_every;
    uint8_t access_flags; /* enum eng_access below 256 */
    uint8_t flush_flags;  /* enum eng_access >> 8 */
    uint8_t timeout, retry_cnt, rnr_retry, min_rnr_timer;
    uint8_t max_rd_atomic, max_dest_rd_atomic;
    bool credits, go_back_0;
    bool responses_first; /* whose turn it is among READ responses and requests */
    uint8_t opcode_base;  /* 0x00, 0x20, 0x60, 0xA0 */

    struct header head; /* UD: of the newest destination */
    struct requester s;
    struct responder r;
    struct qp_timers timer;
    struct ready_link link[READY_CLASSES];
    uint32_t timer_pos; /* place in the heap of timers, from 1; 0: not in it */
    bool queued[READY_CLASSES];
    uint8_t queued_prio[READY_CLASSES];
    struct pacer pacer;
    uint64_t rate_bps;
    struct cc cc;
    struct eng_qp_stats stats; /* without rate and alpha */
};

/* A request or response that is for this QP, as the decoder found it. */
struct rx {
    const struct roce_packet *pkt;
    const struct roce_opcode_info *info;
    const uint8_t *frame;
    const uint8_t *payload;
    uint32_t len;
};

static inline struct send_wqe *qp_send_wqe(const struct eng_qp *qp, uint32_t index)
{
    return &qp->sq[index & qp->sq_mask];
}

/* qp_complete_send ends the oldest send with |status|; it leaves the queue. */
void qp_complete_send(struct eng_qp *qp, roce_tstamp now, enum eng_wc_status status);
/* qp_complete_recv ends a receive. */
void qp_complete_recv(struct eng_qp *qp, const struct eng_wc *wc);
/* qp_error moves the QP to the error state: both queues are flushed. */
void qp_error(struct eng_qp *qp, roce_tstamp now);
/* qp_send_error ends the oldest send with |status|, and with it the queue (UC, UD: SQE state) or
 * the QP. */
void qp_send_error(struct eng_qp *qp, roce_tstamp now, enum eng_wc_status status);
void qp_set_state(struct eng_qp *qp, roce_tstamp now, enum eng_qp_state state);
/* qp_reset forgets all work and all that the QP learned; what was posted vanishes without
 * completion. */
void qp_reset(struct eng_qp *qp);

static inline void qp_drop(struct eng_qp *qp, roce_tstamp now, enum eng_drop why, uint64_t psn)
{
    qp->dev->stats.drops[why]++;
    device_trace(qp->dev, now, ENG_TRACE_DROP, ENG_CAUSE_NONE, qp->qpn, psn, why);
}

#endif
