/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The transport engine: RoCEv2 queue pairs with the words of verbs, without I/O. Frames, time and
 * randomness are arguments, so that the same engine drives an interface, a capture file, a loopback
 * and a simulated network.
 *
 * Life: post work (eng_post_send), then alternate eng_dev_read (a frame that arrived),
 * eng_dev_write (the next frame to send), eng_dev_expire (timers), until eng_cq_poll tells the
 * completions. No call blocks or makes a system call; nothing is allocated outside *_new. |now| is
 * in ns of any clock that does not run backwards. Objects of one device belong to one thread.
 *
 * Functions that return int give 0 (or a count) or a negative enum roce_err. */
#ifndef ENGINE_H
#define ENGINE_H

#include <roce/net.h>
#include <roce/types.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ENG_NEVER      UINT64_MAX /* an expiry that does not come */
#define ENG_SGE_MAX    4          /* gather and scatter entries of one work request */
#define ENG_INLINE_MAX 256        /* bytes of an inline send */
#define ENG_MSG_MAX    (UINT32_C(1) << 31)
#define ENG_GRH_LEN    40 /* in front of what a UD receive buffer gets (for IPv4 in its last 20) */
#define ENG_FRAME_MAX  (4096 + 256) /* bytes of the largest frame that eng_dev_write makes */

struct eng_dev; /* one port of one device: QPs, memory, timers */
struct eng_pd;
struct eng_mr;
struct eng_cq;
struct eng_srq;
struct eng_qp;

/* ---- random numbers: seeded, same seed same numbers ---- */
struct eng_rng {
    uint64_t state;
};
uint64_t eng_rng_next(struct eng_rng *rng);

/* ---- address handle: what the headers below the BTH say; pause frames stop the priority of the
 * VLAN tag, without one DSCP >> 3 ---- */
struct eng_ah {
    uint8_t dmac[6];
    uint8_t src_ip[16], dst_ip[16]; /* IPv4 as ::ffff:a.b.c.d, as in struct roce_ip */
    uint8_t tclass;                 /* DSCP << 2 | ECN: 2 (ECT(0)) makes the flow markable */
    uint8_t ttl;                    /* 0: 64 */
    bool has_vlan;
    uint16_t vlan_tci;
    uint32_t flow_label; /* IPv6 */
    uint16_t sport;      /* 0: from both QPNs, 0xC000..0xFFFF */
};

/* ---- congestion control ---- */
/* DCQCN parameters of the reaction point; eng_dcqcn_preset fills them. */
struct eng_dcqcn {
    double g;                   /* gain of alpha, 0..1 */
    double alpha_initial;       /* at the first CNP */
    uint64_t alpha_ns;          /* period without CNP after which alpha decays */
    bool sampled;               /* NIC form: alpha and cuts by period; else the paper's, per CNP */
    uint64_t cut_ns;            /* sampled: at most one cut in this period */
    uint64_t timer_ns;          /* T: increase timer */
    uint64_t byte_counter;      /* B: increase each so many bytes; 0: timer only */
    uint32_t threshold;         /* F: fast recovery steps */
    double rai_bps, rhai_bps;   /* additive and hyper increase */
    double min_bps;             /* the rate never falls below */
    double min_dec;             /* one cut leaves at least this part of the rate; 0: no bound */
    double first_cnp_bps;       /* rate at the first CNP; 0: keeps */
    bool clamp, clamp_after_ti; /* CLAMP_TGT_RATE, CLAMP_TGT_RATE_AFTER_TIME_INC */
};
enum eng_dcqcn_preset { ENG_DCQCN_PAPER, ENG_DCQCN_NIC };
void eng_dcqcn_preset(enum eng_dcqcn_preset preset, struct eng_dcqcn *out);

/* ---- truth: what the engine did, for logs and tests ---- */
enum eng_trace_kind {
    ENG_TRACE_RETRANSMIT, /* requester went back: psn = first resent, arg = PSNs in flight behind
                             it, cause tells why */
    ENG_TRACE_TIMEOUT,    /* ACK timer fired: psn = oldest unacknowledged */
    ENG_TRACE_NAK_SENT,   /* arg = syndrome */
    ENG_TRACE_NAK_RECEIVED,
    ENG_TRACE_RNR_SENT,
    ENG_TRACE_RNR_RECEIVED,
    ENG_TRACE_DUPLICATE, /* a request seen before came again */
    ENG_TRACE_CE,        /* a CE-marked packet came in */
    ENG_TRACE_CNP_SENT,
    ENG_TRACE_CNP_RECEIVED,
    ENG_TRACE_RATE,    /* arg = new rate in bits per second */
    ENG_TRACE_STATE,   /* arg = enum eng_qp_state */
    ENG_TRACE_DROP,    /* an incoming packet was dropped: arg = enum eng_drop */
    ENG_TRACE_MESSAGE, /* a request message completed at the responder: arg = bytes */
};
enum eng_cause {
    ENG_CAUSE_NONE,
    ENG_CAUSE_NAK,
    ENG_CAUSE_IMPLIED,
    ENG_CAUSE_RNR,
    ENG_CAUSE_TIMEOUT
};
enum eng_drop {
    ENG_DROP_NOT_ROCE,
    ENG_DROP_MALFORMED,
    ENG_DROP_ICRC,
    ENG_DROP_QPN,
    ENG_DROP_STATE,
    ENG_DROP_SERVICE,
    ENG_DROP_PKEY,
    ENG_DROP_QKEY,
    ENG_DROP_ADDRESS, /* not from the peer's address, or not to ours */
    ENG_DROP_PSN,     /* ahead of the expected PSN, already NAKed */
    ENG_DROP_GHOST,   /* a response to nothing outstanding */
    ENG_DROP_DUPLICATE,
    ENG_DROP_NO_WQE, /* UC, UD: no receive posted */
    ENG_DROP_SEQUENCE,
    ENG_DROP_ACCESS,
    ENG_DROPS
};
struct eng_trace {
    roce_tstamp now;
    uint8_t kind;  /* enum eng_trace_kind */
    uint8_t cause; /* enum eng_cause */
    uint32_t qpn;  /* ours; 0 when no QP is concerned */
    uint32_t psn;
    uint64_t arg;
};

/* ---- device ---- */
struct eng_dev_cfg {
    uint8_t mac[6];
    uint8_t ip[16];          /* frames to another address are not ours; all zero: any */
    uint32_t max_qp, max_mr; /* 0: 1024 */
    uint64_t link_bps;       /* for pacing and pause quanta; 0: unknown, only rate limits pace and
                                pauses last as at 1 Gb/s */
    uint64_t seed;           /* QPNs, keys, PSNs of the GSI QP */
    bool no_icrc;            /* ICRCs are neither made nor checked (simulation) */
    bool udp_checksum;       /* UDP checksum made; otherwise 0 (IBTA A17.3.1.2) */
    bool migreq;             /* the M bit of what we send: true as RNICs do */
    uint64_t cnp_gap_ns;     /* notification point: least time between CNPs of one QP; 0: no CNPs */
    uint8_t cnp_dscp;        /* of CNPs, 48 is usual */
    uint8_t cnp_pcp;         /* with VLAN: priority of CNPs */
    uint8_t ack_coalesce;    /* packets that one ACK may cover although each asked; 0, 1: none. No
                                ACK is held back: they merge while they wait to be written, of
                                which at most 8 do */
    void (*trace)(void *ctx, const struct eng_trace *event); /* may be NULL */
    void *trace_ctx;
};
/* eng_dev_new returns NULL when memory fails. eng_dev_del frees the device and all that was made on
 * it; memory regions' bytes stay the caller's. */
struct eng_dev *eng_dev_new(const struct eng_dev_cfg *cfg);
void eng_dev_del(struct eng_dev *dev);

/* eng_dev_read takes in one Ethernet frame (borrowed for the call). Returns 1 when it was for a QP
 * of the device, 0 when it was dropped (counted by reason). PFC and PAUSE frames set the pause. */
int eng_dev_read(struct eng_dev *dev, roce_tstamp now, const uint8_t *frame, size_t len);
/* eng_dev_write writes the next frame that may leave at |now| to |buf| (at least ENG_FRAME_MAX
 * bytes, else ROCE_ERR_NOSPACE). Returns its length without FCS, or 0: nothing may leave now.
 * Responses and CNPs go first, then QPs in turn, paced by their rate. */
int eng_dev_write(struct eng_dev *dev, roce_tstamp now, uint8_t *buf, size_t len);
/* eng_dev_next returns when the device next wants eng_dev_expire or eng_dev_write: a time not later
 * than |now| when it has something to send at once, ENG_NEVER when it waits for frames only. */
roce_tstamp eng_dev_next(struct eng_dev *dev, roce_tstamp now);
/* eng_dev_expire handles all timers up to |now|. */
void eng_dev_expire(struct eng_dev *dev, roce_tstamp now);

struct eng_dev_stats {
    uint64_t rx_packets, rx_bytes, tx_packets, tx_bytes; /* frames, without FCS */
    uint64_t drops[ENG_DROPS];
    uint64_t pfc_rx, pause_rx;
};
void eng_dev_stats(const struct eng_dev *dev, struct eng_dev_stats *out);

/* ---- protection domain and memory ---- */
enum eng_access { /* ibv_access_flags */
                  ENG_LOCAL_WRITE = 1,
                  ENG_REMOTE_WRITE = 2,
                  ENG_REMOTE_READ = 4,
                  ENG_REMOTE_ATOMIC = 8,
                  ENG_FLUSH_GLOBAL = 256,
                  ENG_FLUSH_PERSISTENT = 512,
};
struct eng_pd *eng_pd_new(struct eng_dev *dev);
void eng_pd_del(struct eng_pd *pd);

/* eng_mr_new registers |len| bytes at |mem|, addressed as |va| (often the pointer's own value) by
 * SGEs and by the peer. |mem| stays the caller's and must outlive the region; NULL: no memory
 * stands behind it, reads give zeros and writes vanish. Remote write and atomic need
 * ENG_LOCAL_WRITE (ROCE_ERR_INVALID through |err|, which may be NULL). */
struct eng_mr *eng_mr_new(struct eng_pd *pd, void *mem, uint64_t len, uint64_t va, unsigned access,
                          int *err);
void eng_mr_del(struct eng_mr *mr); /* keys are refused from then on */
uint32_t eng_mr_lkey(const struct eng_mr *mr);
uint32_t eng_mr_rkey(const struct eng_mr *mr);

/* ---- completions ---- */
enum eng_wc_status { /* ibv_wc_status */
                     ENG_WC_SUCCESS,
                     ENG_WC_LOC_LEN_ERR,
                     ENG_WC_LOC_QP_OP_ERR,
                     ENG_WC_LOC_EEC_OP_ERR,
                     ENG_WC_LOC_PROT_ERR,
                     ENG_WC_WR_FLUSH_ERR,
                     ENG_WC_MW_BIND_ERR,
                     ENG_WC_BAD_RESP_ERR,
                     ENG_WC_LOC_ACCESS_ERR,
                     ENG_WC_REM_INV_REQ_ERR,
                     ENG_WC_REM_ACCESS_ERR,
                     ENG_WC_REM_OP_ERR,
                     ENG_WC_RETRY_EXC_ERR,
                     ENG_WC_RNR_RETRY_EXC_ERR,
                     ENG_WC_LOC_RDD_VIOL_ERR,
                     ENG_WC_REM_INV_RD_REQ_ERR,
                     ENG_WC_REM_ABORT_ERR,
                     ENG_WC_INV_EECN_ERR,
                     ENG_WC_INV_EEC_STATE_ERR,
                     ENG_WC_FATAL_ERR,
                     ENG_WC_RESP_TIMEOUT_ERR,
                     ENG_WC_GENERAL_ERR,
};
const char *eng_wc_status_text(enum eng_wc_status status); /* never NULL */

enum eng_wr_op { /* what a send queue does */
                 ENG_WR_SEND,
                 ENG_WR_SEND_IMM,
                 ENG_WR_SEND_INV,
                 ENG_WR_WRITE,
                 ENG_WR_WRITE_IMM,
                 ENG_WR_READ,
                 ENG_WR_CMP_SWAP,
                 ENG_WR_FETCH_ADD,
                 ENG_WR_ATOMIC_WRITE,
                 ENG_WR_FLUSH,
                 ENG_WR_OPS
};
enum eng_wc_op { ENG_WC_SEND_SIDE, ENG_WC_RECV, ENG_WC_RECV_WRITE_IMM };

struct eng_wc {
    uint64_t wr_id;
    uint8_t status; /* enum eng_wc_status; on error only wr_id, status and qpn are valid */
    uint8_t op;     /* enum eng_wc_op */
    uint8_t wr_op;  /* enum eng_wr_op with ENG_WC_SEND_SIDE */
    bool has_imm, has_inv, has_grh, solicited;
    uint32_t qpn;      /* the local QP */
    uint32_t src_qp;   /* UD */
    uint32_t imm;      /* as a number of network order */
    uint32_t inv_rkey; /* region that the peer invalidated */
    uint32_t byte_len; /* received bytes, the 40 of UD included; READ, atomic: bytes placed */
    roce_tstamp now;   /* when it was completed */
    uint8_t smac[6];   /* UD: where the frame came from; with has_vlan its tag, too */
    bool has_vlan;
    uint16_t vlan_tci;
};
struct eng_cq *eng_cq_new(struct eng_dev *dev, uint32_t capacity);
void eng_cq_del(struct eng_cq *cq);
/* eng_cq_poll takes up to |n| completions, oldest first. Returns their number, or ROCE_ERR_OVERFLOW
 * once the queue has run over: its QPs are in error then, and what it holds can still be polled
 * before the error is told. */
int eng_cq_poll(struct eng_cq *cq, struct eng_wc *wc, int n);

/* ---- shared receive queue ---- */
struct eng_recv_wr {
    uint64_t wr_id;
    uint32_t n_sge;
    struct eng_sge {
        uint64_t addr; /* within the region's va range */
        uint32_t length;
        uint32_t lkey;
    } sge[ENG_SGE_MAX];
};
struct eng_srq *eng_srq_new(struct eng_pd *pd, uint32_t capacity);
void eng_srq_del(struct eng_srq *srq);
int eng_srq_post(struct eng_srq *srq, const struct eng_recv_wr *wr); /* ROCE_ERR_FULL */
uint32_t eng_srq_num(const struct eng_srq *srq);                     /* what an XRCETH names */
/* eng_srq_limit arms the limit event: eng_srq_limited turns true, once, when fewer than |limit|
 * receives are left. */
void eng_srq_limit(struct eng_srq *srq, uint32_t limit);
bool eng_srq_limited(struct eng_srq *srq);

/* ---- queue pair ---- */
enum eng_service { ENG_RC, ENG_UC, ENG_UD, ENG_XRC_TGT };
enum eng_qp_state { ENG_RESET, ENG_INIT, ENG_RTR, ENG_RTS, ENG_SQD, ENG_SQE, ENG_ERR };
const char *eng_qp_state_name(enum eng_qp_state state);

struct eng_qp_cfg {
    enum eng_service service;
    struct eng_cq *send_cq, *recv_cq;
    struct eng_srq *srq; /* NULL: a receive queue of its own; XRC_TGT: by each packet's XRCETH */
    uint32_t max_send_wr, max_recv_wr;
    bool sq_sig_all;     /* each send completes visibly */
    uint32_t qpn;        /* 0: the device chooses; 1: the GSI QP (UD, Q_Key 0x80010000) */
    uint16_t max_inline; /* bytes of an inline send; 0: ENG_INLINE_MAX */
    uint8_t max_answers; /* most that max_dest_rd_atomic may become; 0: 128 */
};
/* Attributes of eng_qp_modify: bits of |mask|; the table of transport states decides which each
 * move needs (IBTA 11.2.5.2). */
enum eng_qp_attr_mask {
    ENG_ATTR_STATE = 1 << 0,
    ENG_ATTR_ACCESS = 1 << 1,
    ENG_ATTR_QKEY = 1 << 2,
    ENG_ATTR_AV = 1 << 3,
    ENG_ATTR_PATH_MTU = 1 << 4,
    ENG_ATTR_TIMEOUT = 1 << 5,
    ENG_ATTR_RETRY_CNT = 1 << 6,
    ENG_ATTR_RNR_RETRY = 1 << 7,
    ENG_ATTR_RQ_PSN = 1 << 8,
    ENG_ATTR_SQ_PSN = 1 << 9,
    ENG_ATTR_MAX_RD_ATOMIC = 1 << 10,
    ENG_ATTR_MAX_DEST_RD_ATOMIC = 1 << 11,
    ENG_ATTR_MIN_RNR_TIMER = 1 << 12,
    ENG_ATTR_DEST_QPN = 1 << 13,
    ENG_ATTR_PKEY = 1 << 14,
    ENG_ATTR_WINDOW = 1 << 15,  /* ours: most PSNs outstanding */
    ENG_ATTR_CREDITS = 1 << 16, /* ours: end-to-end credits were negotiated */
    ENG_ATTR_CC = 1 << 17,      /* ours: congestion control */
    ENG_ATTR_RATE = 1 << 18,    /* ours: rate limit */
    ENG_ATTR_ACK_EVERY = 1 << 19,
    ENG_ATTR_GO_BACK_0 = 1 << 20, /* ours, RC: the loss recovery of early RNICs */
};
struct eng_qp_attr {
    enum eng_qp_state state;
    unsigned access; /* ENG_REMOTE_*: what the peer may do */
    uint16_t pkey;   /* default 0xFFFF */
    uint32_t qkey;
    struct eng_ah av;
    uint16_t path_mtu; /* 256, 512, 1024, 2048, 4096 */
    uint8_t timeout;   /* 4.096 us * 2^n; 0: never */
    uint8_t retry_cnt; /* 0..7 */
    uint8_t rnr_retry; /* 0..7, 7: for ever */
    uint8_t min_rnr_timer;
    uint32_t rq_psn, sq_psn, dest_qpn;
    uint8_t max_rd_atomic, max_dest_rd_atomic; /* 0..128 */
    uint32_t window;                           /* 1..2^23-1; default 2^23-1 */
    bool credits;
    bool dcqcn; /* false: no reaction point */
    struct eng_dcqcn cc;
    uint64_t rate_bps;  /* 0: line rate */
    uint32_t ack_every; /* AckReq also on each so many packets of a message; 0: on its last only */
    /* A message that lost a packet begins anew: the responder forgets what it had of it, the
     * requester goes back to its first PSN and takes no ACK for a part. Both ends need it, and a
     * window that holds a whole message. NAKs do not use up retries: early RNICs went on for ever.
     */
    bool go_back_0;
};
/* eng_qp_new: NULL when the table is full, the QPN is taken or memory fails. */
struct eng_qp *eng_qp_new(struct eng_pd *pd, const struct eng_qp_cfg *cfg);
void eng_qp_del(struct eng_qp *qp);
/* eng_qp_modify moves the QP and sets attributes. ROCE_ERR_INVALID: a move that does not exist, an
 * attribute missing, not allowed here or out of range; nothing is changed then. */
int eng_qp_modify(struct eng_qp *qp, roce_tstamp now, const struct eng_qp_attr *attr,
                  unsigned mask);
enum eng_qp_state eng_qp_state(const struct eng_qp *qp);
uint32_t eng_qp_num(const struct eng_qp *qp);
bool eng_qp_drained(const struct eng_qp *qp); /* SQD and nothing of the send queue is on the wire */
bool eng_qp_established(const struct eng_qp *qp); /* a packet has come in since RTR */

struct eng_send_wr {
    uint64_t wr_id;
    enum eng_wr_op op;
    bool signaled, solicited, fence;
    const void *inline_data; /* not NULL: |inline_len| bytes are copied now; n_sge is ignored */
    uint32_t inline_len;     /* at most ENG_INLINE_MAX */
    uint32_t n_sge;          /* READ, atomics: where the answer goes */
    struct eng_sge sge[ENG_SGE_MAX];
    uint32_t imm;
    uint32_t inv_rkey;
    uint64_t remote_va; /* WRITE, READ, atomics, FLUSH */
    uint32_t rkey;
    uint64_t compare_add, swap; /* CmpSwap: compare, swap; FetchAdd: add */
    uint64_t atomic_write;      /* ATOMIC_WRITE: the 8 bytes, as in memory */
    uint32_t flush_length;
    uint8_t flush_type, flush_level; /* placement type and selectivity of the FETH */
    struct eng_ah ah;                /* UD */
    uint32_t dest_qpn, qkey;         /* UD; a Q_Key with its top bit set means the QP's own */
};
/* eng_post_send queues |wr|. ROCE_ERR_FULL: the send queue is full; ROCE_ERR_STATE: not RTS, SQD or
 * ERR (where it is flushed); ROCE_ERR_INVALID: the service has no such operation, or a length that
 * it cannot carry. Memory is read when the packet is made: until the completion it must not change.
 */
int eng_post_send(struct eng_qp *qp, roce_tstamp now, const struct eng_send_wr *wr);
int eng_post_recv(struct eng_qp *qp, roce_tstamp now, const struct eng_recv_wr *wr);

/* Own truth of one QP. */
struct eng_qp_stats {
    uint64_t tx_packets, rx_packets; /* frames of this QP, all kinds */
    uint64_t tx_payload, rx_payload; /* bytes of payload, resent ones included */
    uint64_t msgs_sent, msgs_received;
    uint64_t retransmitted; /* request packets sent again */
    uint64_t naks_sent, naks_received, rnr_sent, rnr_received, timeouts, implied_naks;
    uint64_t duplicates, gaps; /* duplicate requests; PSN gaps seen by the responder */
    uint64_t acks_sent, acks_received;
    uint64_t ce_received, cnp_sent, cnp_received;
    double rate_bps; /* what the reaction point allows now */
    double alpha;
};
void eng_qp_stats(const struct eng_qp *qp, struct eng_qp_stats *out);

#ifdef __cplusplus
}
#endif
#endif
