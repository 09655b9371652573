/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Flow state as its own files share it. */
#ifndef FLOW_INTERNAL_H
#define FLOW_INTERNAL_H

#include <roce/flow.h>
#include <roce/psn.h>

#include "batch.h"
#include "choose.h"
#include "histpool.h"
#include "pool.h"
#include "trouble.h"

#define HOT_SLOTS    3  /* opcodes whose counters lie where every frame looks */
#define OPCODE_SLOTS 10 /* further ones, in struct wide */
#define BLOCK_SLOTS  12
#define SIG_SLOTS    4
#define PORT_SLOTS   3
#define PORTS_MANY   255
#define MSG_SLOTS    2

enum flow_flag {
    F_LIVE = 1 << 0,
    F_PSN = 1 << 1,     /* request track exists */
    F_SLACK = 1 << 2,   /* the last request was a READ whose PSN count is not known */
    F_MSG = 1 << 3,     /* inside a SEND or WRITE message, msg_* are valid */
    F_MSG_MID = 1 << 4, /* its first packet was not captured */
    F_UNA = 1 << 5,     /* una is valid */
    F_RRESP = 1 << 6,   /* READ response track exists */
    F_UD_MIXED = 1 << 7,
    F_SRC_QP = 1 << 8,
    F_ID_MOVES = 1 << 9,  /* IPv4 identification differs from frame to frame */
    F_MTU_SURE = 1 << 10, /* mtu_mask comes from CM or a First/Middle packet */
    F_MTU_SEEN = 1 << 11, /* mtu_mask was narrowed by the request behind a READ */
    F_CNP_ONLY = 1 << 12, /* no frame with a transport service yet */
    F_DSCP_VARIES = 1 << 13,
    F_MIG0 = 1 << 14,
    F_MIG1 = 1 << 15,
    F_VLAN = 1 << 16,
    F_PAIR_CM = 1 << 17,
    F_PORTS_MIN = 1 << 18,
    F_SIDE1 = 1 << 19,     /* flows[1] of its connection */
    F_AMBIGUOUS = 1 << 20, /* several candidates have been seen for the peer */
    F_DSCP = 1 << 22,      /* dscp is valid */
    F_PORT = 1 << 21,      /* sport is valid */
    F_ASKS = 1 << 24,      /* the newest request frame asks for an answer */
    F_ID_WILD = 1 << 25,   /* its order tells nothing */
    F_MSG_WRITE = 1 << 23, /* the open message is a WRITE */
    F_CROWDED = 1 << 26,   /* many candidates for the peer, all as good */
    F_ECT = 1 << 27,       /* the first frame was ECT */
    F_ICRC_OK = 1 << 28,   /* the first frame's ICRC was right */
    F_SELECTIVE = 1 << 29, /* what was sent behind a missing frame is not sent again with it */
};

struct msg_slot {
    uint32_t started, completed;
    uint64_t bytes;
};

/* One direction towards one QP: five cache lines. The usual frame touches the first two, a request
 * the third as well, and an answer the first and the third of the flow it answers. */
struct flow {
    uint32_t path, dqpn;
    uint32_t flags;
    uint32_t peer;
    uint32_t trouble;  /* struct trouble, once something is not as it should be */
    uint32_t holes;    /* list of struct hole: PSNs skipped and not captured since */
    uint32_t next_psn; /* request track */
    uint32_t prev_end; /* PSN behind the request frame captured last */
    uint64_t packets, bytes;
    roce_tstamp last_ts;
    uint64_t last_frame;

    uint32_t sig[SIG_SLOTS];     /* newest frames, to know a mirror's second copy */
    uint16_t sig_ts[SIG_SLOTS];  /* in units of 2^16 ns */
    uint8_t sig_attr[SIG_SLOTS]; /* hash of TTL, TOS, VLAN, MACs */
    uint16_t sport, ip_id;
    uint64_t payload;
    uint32_t hot_count[HOT_SLOTS]; /* frames of the opcodes seen first */
    uint8_t hot_op[HOT_SLOTS];
    uint8_t n_op; /* opcodes in |hot_op| and |wide| */
    uint8_t sig_pos;
    uint8_t dscp, ttl, pcp;
    uint8_t service;
    uint8_t mtu_mask; /* path MTUs that are possible: bit n is 256 << n */
    uint8_t msg_ops;  /* operations of msg0 and msg1: see message_count */
    uint8_t obs_n;

    /* requests and what completes them */
    roce_tstamp req_ts; /* newest request frame */
    union {
        struct { /* undecided: responses seen, list of struct obs_block */
            uint32_t obs_head, obs_tail;
        };
        roce_tstamp una_ts; /* paired: when |una| last moved */
    };
    struct msg_slot msg0;
    uint32_t pend_head, pend_tail; /* requests that wait for their answer, by PSN */
    union {
        uint32_t una;    /* F_UNA: oldest PSN not acknowledged */
        uint32_t winner; /* undecided: candidate of the last attempt to pair */
    };
    uint32_t msg_no;  /* messages begun */
    uint32_t hist;    /* struct hist_pair */
    uint32_t low_psn; /* lowest PSN captured: first_psn, or an older one resent */
    uint16_t pend_n;
    uint16_t evidence; /* responses of the peer that agreed */
    uint16_t conflicts;
    uint16_t tries; /* responses seen while undecided, for the pace of attempts */

    /* messages of several packets; READs */
    roce_tstamp msg_ts; /* open message: time and number of its first frame */
    uint64_t msg_frame;
    uint32_t msg_psn;
    uint32_t msg_bytes;
    uint32_t msg_packets;
    uint32_t read_psn, read_len; /* the last READ request */
    uint32_t read_end;           /* low half of the VA behind it */
    union {
        struct msg_slot msg1;
        uint32_t naks; /* while there is no msg1: NAKs of sequence errors: see trouble_naks */
    };
    uint32_t first_psn;
    uint32_t ce;

    uint32_t rr_low, rr_next; /* READ response track */
    uint32_t rr_prev;         /* PSN of the newest READ response frame */
    uint32_t rr_holes;
    roce_tstamp first_ts;
    uint64_t first_frame;
    uint64_t ecn_odd;  /* frames not marked CE that differ from the first in being ECT: F_ECT */
    uint64_t icrc_odd; /* frames that differ from the first in having a right ICRC: F_ICRC_OK */
    uint32_t wide;     /* struct wide */
    uint32_t serial, src_qp;
    uint16_t cm; /* CM_NONE: not known */
    uint16_t vlan;
};

_Static_assert(sizeof(struct flow) == 320, "a flow is five cache lines");
_Static_assert(offsetof(struct flow, sig) == 64 && offsetof(struct flow, req_ts) == 128,
               "each group begins a line");
_Static_assert(offsetof(struct flow, msg_ts) == 192 && offsetof(struct flow, rr_low) == 256,
               "each group begins a line");

/* What flows with more than a few opcodes or with several ports need: one cache line. */
struct wide {
    uint32_t spill; /* struct spill */
    uint32_t op_count[OPCODE_SLOTS];
    union {
        uint16_t port[PORT_SLOTS];
        uint32_t ports; /* n_port PORTS_MANY: bitmap of ports */
    };
    uint8_t op[OPCODE_SLOTS];
    uint8_t n_port; /* 0: the flow's |sport| is the only one */
};

_Static_assert(sizeof(struct wide) == 64, "one cache line");

/* Counters of flows that use many opcodes or operations, and the high halves of 32-bit counters. */
struct spill {
    uint32_t op_blocks; /* list of struct op_block */
    uint32_t op_high[HOT_SLOTS + OPCODE_SLOTS];
    struct msg_slot msg[ROCE_MESSAGE_OPS];
    uint32_t started_high[MSG_SLOTS], completed_high[MSG_SLOTS];
};

struct op_block {
    uint32_t next;
    uint8_t op[BLOCK_SLOTS];
    uint32_t count[BLOCK_SLOTS]; /* 0: slot unused */
};

/* While every message was a single packet that asked for its ACK, both latencies are the same and
 * only |message| is kept. Else |message.flag| is the record of the ACKs' latencies + 1. */
struct hist_pair {
    struct hist_head message;
};

/* A request that waits for its answer, or an AckReq frame inside a message. One cache line. */
enum node_kind {
    NODE_END,    /* last packet of a SEND or WRITE */
    NODE_ACKREQ, /* a packet inside one that asks for an ACK */
    NODE_OPEN,   /* a message interrupted by a gap; its end is missing */
    NODE_READ,   /* READ, FLUSH, ATOMIC WRITE: answered by READ responses */
    NODE_ATOMIC,
};
struct node {
    uint32_t next;
    uint32_t hnext, hprev; /* chain of the pairing index; hprev NIL: head, see HPREV_NONE */
    uint32_t owner;
    uint32_t first_psn, last_psn;
    uint32_t msg_no;
    uint8_t kind, op;
    uint8_t flags;
    uint8_t spare;
    roce_tstamp start_ts, ts; /* of the first frame; of the frame with last_psn */
    uint64_t start_frame;
    union {
        uint32_t span;     /* frames from |start_frame| to the one with |last_psn| */
        uint32_t next_psn; /* NODE_READ: next response PSN expected */
    };
    uint32_t bytes; /* of the message, as far as known */
};

static inline uint64_t node_frame(const struct node *node)
{
    return node->start_frame + (node->kind == NODE_READ ? 0 : node->span);
}

/* Moves the beginning of |node| to |frame|; the frame of its last PSN stays. */
static inline void node_begin(struct node *node, uint64_t frame)
{
    node->span += (uint32_t)(node->start_frame - frame);
    node->start_frame = frame;
}

/* A RETH told the length of the whole; SENDs add up. */
static inline uint32_t node_joined_bytes(const struct node *first, uint32_t rest)
{
    return first->op == ROCE_MESSAGE_SEND ? first->bytes + rest : first->bytes;
}
#define NODE_HASHED    1  /* in the pairing index */
#define NODE_ACK       2  /* the frame asks for an ACK */
#define NODE_SKIPPED   4  /* a response passed it unanswered */
#define NODE_COUNTED   8  /* READ: |last_psn| is known */
#define NODE_LAST_SEEN 16 /* READ: its last response came, but not all before it; |ts| when */
#define NODE_NO_START  32 /* first packet not captured: no message latency */

/* Two responses seen while their peer is undecided. */
struct obs {
    roce_tstamp ts;
    uint64_t frame;
    uint32_t psn; /* | kind << 24 */
    uint32_t msn;
};
enum obs_kind {
    OBS_ACK,
    OBS_NAK,
    OBS_FATAL,
    OBS_RNR,
    OBS_READ_FIRST,
    OBS_READ_ONLY,
    OBS_READ_MIDDLE,
    OBS_READ_LAST,
    OBS_ATOMIC,
    OBS_NO_MSN = 0x40, /* READ response without AETH */
};
/* Without OBS_NO_MSN. */
static inline enum obs_kind obs_kind(const struct obs *o)
{
    return (enum obs_kind)(o->psn >> 24 & (OBS_NO_MSN - 1));
}
struct obs_block {
    uint32_t next;
    uint32_t n;
    struct obs obs[2];
    uint64_t spare;
};

_Static_assert(sizeof(struct node) == 64, "a node is one cache line");
_Static_assert(sizeof(struct obs_block) <= 64, "observations share the nodes' pool");

/* PSNs [psn, psn + len) that were skipped. */
struct hole {
    uint32_t next;
    uint32_t psn, len;
    uint32_t middles; /* PSNs of it that proved to be READ responses behind the first */
    uint64_t frame;   /* that showed the hole */
    roce_tstamp ts;
    uint8_t naked;   /* the receiver asked for it */
    uint8_t judged;  /* already counted as lost */
    uint8_t soft;    /* READ responses: may be no responses at all */
    uint8_t before;  /* lies before the first PSN captured */
    uint8_t damaged; /* READ responses that were captured with a wrong ICRC, and not since */
};

struct path {
    uint8_t src[16], dst[16];
    uint32_t tunnel_key;
    uint8_t encapsulated, ip_version, grh;
    uint8_t silent_max; /* highest bin of the waits of silent episodes, + 1 */
    uint32_t reverse;   /* NIL unknown */
    uint32_t flows;
    uint64_t hash;
    uint8_t src_mac[6], dst_mac[6];
    uint8_t tunnel_kind;
    uint8_t direct; /* IPv4 in no tunnel: the last four bytes of the addresses say it all */
    uint8_t pad[2];
};

struct cm_entry {
    struct roce_cm_info info;
    uint32_t comm_a;
    uint32_t tunnel_key;
    bool encapsulated;
    uint32_t chain[3]; /* next in the index, by enum cm_key: entry * 3 + key */
};

/* A copy that may be a mirror's or the network's, until it is known which. */
struct copy {
    uint32_t flow, serial;
    uint8_t opcode;
    bool request, read_response;
    uint8_t ecn; /* enum roce_ecn */
    bool icrc_ok;
    bool same_id; /* the IP identification tells that nobody sent it again */
    uint32_t bytes, payload;
    uint32_t psn;
    uint64_t frame;
    roce_tstamp ts;
    roce_duration wait; /* since the request before it */
};
#define COPIES_MAX 64

/* A frame taken for lost because it was sent again: its original may still come. */
struct resent {
    uint32_t flow, serial, psn;
    uint16_t ip_id;
    bool lost;
    roce_tstamp ts;
};
#define RESENT_MAX 64 /* of all flows */

#define PAIR_INDEX_SIZE 65536
#define OBS_MAX         24 /* responses kept of one flow while its peer is undecided */

#define NODES_BASE 32768 /* nodes beyond one a flow */

#define CM_INDEX_SIZE 4096
#define CM_MAX        65535
#define CM_NONE       UINT16_MAX

struct roce_flow_table {
    struct flow *flows;
    struct pool flow_pool, path_pool, node_pool, hole_pool, trouble_pool, affair_pool, rare_pool,
        excess_pool, wide_pool, spill_pool, op_pool, hist_pool, port_pool, cm_pool, ext_pool;
    struct hist_pool page_pool;
    uint64_t *flow_index, *path_index; /* hash in the high half, id + 1 in the low one */
    uint32_t flow_mask, path_mask, index_max;
    uint64_t seed;
    uint32_t *lru_prev, *lru_next;
    uint32_t lru_head, lru_tail; /* head: least recently seen */
    bool lru_on;
    uint64_t scanned; /* flows looked at for ACKs that the index does not find */
    uint32_t capacity;
    struct roce_flow_opts opts;
    uint64_t evicted, ended, frames, conflicts, forgotten;
    /* age.c: the next look is |age_step| behind |age_from|; times of the two newest flows */
    roce_tstamp age_from, age_ts[2];
    uint64_t age_step;
    uint32_t age_hand;
    uint32_t created, connections;
    bool told_answers; /* events of answered messages are wanted */
    uint32_t cm_hand;  /* the attempt that goes next */
    /* mirror copies */
    uint8_t mirror_state; /* enum mirror_state */
    uint32_t mirror_copies, mirror_frames;
    uint32_t n_copies;
    struct copy copies[COPIES_MAX];
    struct resent resent[RESENT_MAX];
    uint32_t resent_n;
    /* responses that are being applied to a pair just decided */
    struct obs replay[2][OBS_MAX];
    uint32_t replay_n[2], replay_flow[2];
    roce_tstamp now;
    uint64_t frame;
    uint32_t
        pair_index[PAIR_INDEX_SIZE];  /* heads of node chains by (path, PSN), + 1: NIL + 1 is 0 */
    uint32_t cm_index[CM_INDEX_SIZE]; /* heads of chains of attempts; NIL ends them */
};

enum mirror_state { MIRROR_UNDECIDED, MIRROR_NO, MIRROR_YES };

static inline struct flow *flow_at(const struct roce_flow_table *t, uint32_t id)
{
    return &t->flows[id];
}
/* These are on every packet's path: their sizes are known here. */
static inline struct path *path_at(const struct roce_flow_table *t, uint32_t id)
{
    return &((struct path *)(void *)t->path_pool.base)[id];
}
static inline struct node *node_at(const struct roce_flow_table *t, uint32_t id)
{
    return &((struct node *)(void *)t->node_pool.base)[id];
}
static inline struct hist_pair *hist_at(const struct roce_flow_table *t, uint32_t id)
{
    return &((struct hist_pair *)(void *)t->hist_pool.base)[id];
}
static inline struct hole *hole_at(const struct roce_flow_table *t, uint32_t id)
{
    return pool_at(&t->hole_pool, id);
}
static inline uint32_t flow_id(const struct roce_flow_table *t, const struct flow *f)
{
    return (uint32_t)(f - t->flows);
}
static inline bool flow_live(const struct roce_flow_table *t, uint32_t id)
{
    return id < t->flow_pool.fresh && (t->flows[id].flags & F_LIVE) != 0;
}

static inline struct hist_head *hist_of_acks(const struct roce_flow_table *t,
                                             struct hist_pair *pair)
{
    if (pair->message.flag != 0)
        pair = pool_at(&t->hist_pool, pair->message.flag - 1);
    return &pair->message;
}

/* Whether the frame belongs to a flow at all. */
static inline bool flow_has(const struct roce_packet *pkt)
{
    return (pkt->has & (ROCE_HAS_BTH | ROCE_HAS_IP)) == (ROCE_HAS_BTH | ROCE_HAS_IP);
}

/* The frame being processed. */
struct ctx {
    struct roce_flow_table *t;
    const struct roce_frame *frame;
    const struct roce_packet *pkt;
    struct roce_verdict *v;
    struct flow *f;
    uint32_t id;
    bool id_behind; /* sent before the frame captured last, by its IP identification */
    bool copied; /* equal to an earlier frame, IP identification included, but no mirror's copy */
};

/* table.c */
uint32_t table_find_path(const struct roce_flow_table *t, const struct path *key, uint64_t *hash);
uint32_t table_reverse_path(struct roce_flow_table *t, uint32_t path);
uint32_t table_find(const struct roce_flow_table *t, uint32_t path, uint32_t dqpn);
/* table_hash is what the index finds the flow of |pkt| by; table_hash_v4 the same for IPv4
 * addresses as they lie in the frame, in no tunnel. */
uint32_t table_hash(const struct roce_flow_table *t, const struct roce_packet *pkt);
uint32_t table_hash_v4(const struct roce_flow_table *t, uint64_t addresses, uint32_t dqpn);
bool table_is_on_path(const struct path *p, const struct roce_packet *pkt);
/* table_get returns the flow of |pkt|, whose table_hash is |hash|, a new one if need be. */
uint32_t table_get(struct roce_flow_table *t, const struct roce_packet *pkt, uint32_t hash,
                   bool *created);
void table_seen(struct roce_flow_table *t, uint32_t id);
void table_path_key(const struct roce_packet *pkt, struct path *key);
/* table_tell_end says that the flow goes, table_drop lets it go: whoever listens reads it between.
 */
void table_tell_end(struct roce_flow_table *t, uint32_t id);
void table_drop(struct roce_flow_table *t, uint32_t id);
static inline struct trouble *trouble_peek(const struct roce_flow_table *t, const struct flow *f)
{
    return f->trouble == NIL ? NULL : pool_at(&t->trouble_pool, f->trouble);
}
static inline uint32_t naks_apart(const struct flow *f)
{
    return f->msg_ops >> 4 == 0 ? f->naks : 0;
}

/* age.c */
/* age_step looks for flows that are over, some at a time, and lets them go. */
void age_step(struct roce_flow_table *t);

/* update.c: judges what is open of a flow as at the end of the capture */
void flow_finish(struct roce_flow_table *t, uint32_t id);

/* event.c */
bool event_wanted(const struct roce_flow_table *t, enum roce_event_kind kind);
struct roce_event event_make(const struct roce_flow_table *t, enum roce_event_kind kind,
                             uint32_t flow);
void event_emit(const struct roce_flow_table *t, const struct roce_event *e);

/* hole.c: lists of skipped PSNs, newest first */
uint32_t hole_find(const struct roce_flow_table *t, uint32_t list, uint32_t psn);
void hole_add(struct roce_flow_table *t, uint32_t *list, uint32_t psn, uint32_t len, bool soft);
/* hole_fill takes [psn, psn + n) out of the list; the first hole hit is copied to |*was| (len 0:
 * none was). */
void hole_fill(struct roce_flow_table *t, uint32_t *list, uint32_t psn, uint32_t n,
               struct hole *was);
void hole_drop(struct roce_flow_table *t, uint32_t *list);

/* track.c: requests */
void track_request(struct ctx *c);
void track_set_mtu(struct roce_flow_table *t, struct flow *f, uint32_t mtu, bool both);
uint32_t mtu_of(const struct flow *f);
void track_reset(struct roce_flow_table *t, struct flow *f);

/* message.c */
void message_request(struct ctx *c, uint32_t n, bool first_time);
void message_in_order(struct ctx *c, uint32_t n);
void message_gap(struct ctx *c);
void message_count_slow(struct roce_flow_table *t, struct flow *f, uint8_t op, uint32_t started,
                        uint32_t completed, uint64_t bytes);
static const uint16_t msg_offset[MSG_SLOTS] = {offsetof(struct flow, msg0),
                                               offsetof(struct flow, msg1)};
FLOW_INLINE void message_count(struct roce_flow_table *t, struct flow *f, uint8_t op,
                               uint32_t started, uint32_t completed, uint64_t bytes)
{
    /* msg_ops: operation + 1 of msg0 in the low nibble, of msg1 in the high one. Which of them it
     * is cannot be foretold: no branch depends on it. */
    const uint32_t wanted = op + 1u;
    const size_t second = f->msg_ops >> 4 == wanted;
    struct msg_slot *slot = (struct msg_slot *)(void *)((char *)f + msg_offset[second]);
    if ((f->msg_ops >> 4 * second & 0xF) != wanted || slot->started + started < started ||
        slot->completed + completed < completed) {
        message_count_slow(t, f, op, started, completed, bytes);
        return;
    }
    slot->started += started;
    slot->completed += completed;
    slot->bytes += bytes;
}
void message_complete(struct roce_flow_table *t, uint32_t id, struct node *node, roce_tstamp ts,
                      uint64_t frame, struct roce_verdict *v);
enum latency_kind { LATENCY_MESSAGE, LATENCY_ACK, LATENCY_BOTH };
void latency_add(struct roce_flow_table *t, struct flow *f, enum latency_kind kind, uint64_t ns);
#define PEND_MAX 1024 /* of one paired flow */
uint32_t pend_append(struct roce_flow_table *t, uint32_t id, uint32_t psn);
void pend_remove(struct roce_flow_table *t, struct flow *f, uint32_t prev, uint32_t index);
void pend_drop_all(struct roce_flow_table *t, struct flow *f);

/* response.c */
void response_acknowledge(struct roce_flow_table *t, uint32_t id, uint32_t upto,
                          const struct obs *o, struct roce_verdict *v);
void response_frame(struct ctx *c, bool trusted);
void response_contradicted(struct roce_flow_table *t, uint32_t id);
void response_apply(struct roce_flow_table *t, uint32_t from, const struct obs *o,
                    struct roce_verdict *v);
/* Flows share the nodes: about one each, and a fixed number besides. */
static inline bool nodes_short(const struct roce_flow_table *t)
{
    return t->node_pool.used >= NODES_BASE + t->flow_pool.used ||
           t->node_pool.used == t->node_pool.capacity;
}
void obs_drop_all(struct roce_flow_table *t, struct flow *f);
/* obs_next walks the observations of a flow: start with |*block| NIL and |*at| 0. */
const struct obs *obs_next(const struct roce_flow_table *t, const struct flow *f, uint32_t *block,
                           uint32_t *at);

/* pair.c */
void pair_index_add(struct roce_flow_table *t, uint32_t index);
void pair_index_remove(struct roce_flow_table *t, uint32_t index);
void pair_try(struct roce_flow_table *t, uint32_t id, struct roce_verdict *v);
void pair_set(struct roce_flow_table *t, uint32_t a, uint32_t b, bool cm, uint32_t evidence,
              struct roce_verdict *v);
void pair_finish(struct roce_flow_table *t);
void pair_break(struct roce_flow_table *t, uint32_t id, bool conflict);

/* episode.c: steps back of the request track */
void episode_request_behind(struct ctx *c, uint32_t n, bool fill, const struct hole *was);
/* episode_late takes note of a request that is known to be late, not resent. |fill| tells whether
 * it fills a hole, |was|. */
void episode_late(struct ctx *c, bool fill, const struct hole *was);
/* episode_copied takes a copy of a request that proved to be no mirror's. */
void episode_copied(struct roce_flow_table *t, const struct copy *copy);
void episode_request_ahead(struct ctx *c);
/* |acked| is the PSN that a response names; |asks|: it is a NAK of any kind. */
void episode_response(struct roce_flow_table *t, uint32_t id, uint32_t acked, bool asks);
/* episode_answer takes a READ response or atomic ACK, before episode_response does. */
void episode_answer(struct roce_flow_table *t, struct flow *f, uint32_t psn);
/* episode_answer_damaged takes an ACK or atomic ACK with a wrong ICRC. */
void episode_answer_damaged(struct roce_flow_table *t, struct flow *f, uint32_t psn);
/* episode_asks takes a READ or atomic of |n| PSNs, behind the other functions about requests. */
void episode_asks(struct ctx *c, uint32_t n);
void episode_answered_late(struct roce_flow_table *t, struct flow *f);
void episode_obeyed(struct roce_flow_table *t, struct flow *f);
void episode_close(struct roce_flow_table *t, uint32_t id, bool at_end);

/* missing.c: what did not get here whole again */
/* missing_add tells of [psn, psn + len): sent again but not captured, or captured with a wrong
 * ICRC, so that its receiver drops it. */
void missing_add(struct roce_flow_table *t, struct flow *f, uint32_t psn, uint32_t len);
/* missing_naked takes a NAK of |psn|, before it is noted. */
void missing_naked(struct roce_flow_table *t, struct flow *f, uint32_t psn);

/* early.c: episodes from before the pair was known */
void early_pair_known(struct roce_flow_table *t, uint32_t id);
void early_unpaired_end(struct roce_flow_table *t, uint32_t id);

/* loss.c: where it was lost */
struct loss {
    enum roce_location where;
    uint32_t count, psn;
    bool responses, at_end;
    uint64_t hole_frame, resent_frame, ask_frame; /* 0: none */
};
void loss_count(struct roce_flow_table *t, uint32_t id, const struct loss *loss);
void loss_holes_passed(struct roce_flow_table *t, uint32_t id, uint32_t una);
void loss_holes_end(struct roce_flow_table *t, uint32_t id);
/* loss_timeout returns the ACK timeout in ns that CM or the options tell, 0 when none does. */
uint64_t loss_timeout(const struct roce_flow_table *t, const struct flow *f);
/* loss_usual_wait tells whether |wait| is no longer than the hosts of this pair take to answer. */
bool loss_usual_wait(const struct roce_flow_table *t, const struct flow *f, roce_duration wait);
/* loss_long_wait tells whether |wait| is so much longer than answers take that only a timer
 * explains it. */
bool loss_long_wait(const struct roce_flow_table *t, const struct flow *f, roce_duration wait);
uint32_t silent_bin(roce_duration wait);
enum roce_cause silent_cause(const struct roce_flow_table *t, const struct flow *f, uint32_t bin);

/* rresp.c: READ response track */
void rresp_frame(struct ctx *c);
/* rresp_damaged says that the response had a wrong ICRC: its receiver drops it. */
void rresp_damaged(struct ctx *c);
bool rresp_captured(const struct roce_flow_table *t, const struct flow *f, uint32_t psn);
/* rresp_upto returns the first PSN of [from, to) that was not captured, |to| when all were. */
uint32_t rresp_upto(const struct roce_flow_table *t, const struct flow *f, uint32_t from,
                    uint32_t to);

/* conn.c: CM */
void conn_frame(struct ctx *c);
void conn_new_flow(struct roce_flow_table *t, uint32_t id);

/* mirror.c */
bool mirror_copy(struct ctx *c, const struct roce_icrc *icrc);
void mirror_resolve(struct roce_flow_table *t, bool at_end);

/* count.c */
void count_opcode_slow(struct roce_flow_table *t, struct flow *f, uint8_t opcode);
FLOW_INLINE void count_opcode(struct roce_flow_table *t, struct flow *f, uint8_t opcode)
{
    _Static_assert(HOT_SLOTS == 3, "all slots are compared here");
    const uint32_t i = (uint32_t)(f->hot_op[0] != opcode) << (f->hot_op[1] != opcode);
    /* A count of 0 is a slot that is not in use or overflowed; the slow way knows. */
    if (f->hot_op[i] == opcode && f->hot_count[i] - 1 < UINT32_MAX - 1)
        f->hot_count[i]++;
    else
        count_opcode_slow(t, f, opcode);
}
/* count_marks counts what of a frame is not as it was of the flow's first one: nearly nothing. */
static inline void count_marks(struct flow *f, enum roce_ecn ecn, bool icrc_ok)
{
    if (ecn == ROCE_ECN_CE)
        f->ce++;
    else if ((ecn != ROCE_ECN_NOT_ECT) != ((f->flags & F_ECT) != 0))
        f->ecn_odd++;
    if (icrc_ok != ((f->flags & F_ICRC_OK) != 0))
        f->icrc_odd++;
}
struct opcode_counts {
    uint64_t *count; /* 256 of them, zero before */
    uint32_t n;
    uint8_t used[256]; /* |n| opcodes, in the order they came in */
};
void count_opcodes(const struct roce_flow_table *t, const struct flow *f,
                   struct opcode_counts *out);
uint64_t count_requests(const struct roce_flow_table *t, const struct flow *f);
void count_port(struct ctx *c, uint16_t port);
uint32_t count_ports(const struct roce_flow_table *t, const struct flow *f);
/* As trouble_of and trouble_peek. */
struct spill *spill_of(struct roce_flow_table *t, struct flow *f);
const struct spill *spill_peek(const struct roce_flow_table *t, const struct flow *f);
void count_drop(struct roce_flow_table *t, struct flow *f);

#endif
