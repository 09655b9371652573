/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Flow and QP state of an observer: a bounded table of flows (source IP, destination IP, DestQP,
 * encapsulation key), their PSN tracks, messages, pairs and losses. No I/O, no clock, no threads;
 * heap only in roce_flow_table_new. */
#ifndef ROCE_FLOW_H
#define ROCE_FLOW_H

#include <roce/event.h>
#include <roce/hist.h>
#include <roce/icrc.h>
#include <roce/packet.h>
#include <roce/verdict.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ROCE_FLOW_MAX_DEFAULT 1000000
/* What programs that watch for days use for idle_ns and idle_keep. */
#define ROCE_FLOW_IDLE_NS   UINT64_C(60000000000)
#define ROCE_FLOW_IDLE_KEEP 4096

struct roce_flow_table;

struct roce_flow_opts {
    uint32_t max_flows;  /* capacity; 0: ROCE_FLOW_MAX_DEFAULT. Memory is reserved for it, but only
                            touched as flows appear */
    uint8_t timeout_exp; /* ACK timeout 4.096 us * 2^n assumed where CM told none; 0: estimate */
    bool no_latency;     /* keep no latency histograms */
    uint32_t ext_bytes;  /* bytes of caller's state per flow: roce_flow_ext */
    /* A flow is over when it, and its peer, sent nothing for |idle_ns|; sooner after a DREQ, later
     * when something happened to it. It is judged as at the end of the capture and gives its place
     * back when new ones come. 0: flows stay. While there are no more flows than |idle_keep|, they
     * stay in any case. */
    uint64_t idle_ns;
    uint32_t idle_keep;
    struct roce_flow_ops ops;
};

/* roce_flow_table_new returns an empty table, or NULL without memory. |opts| may be NULL. */
struct roce_flow_table *roce_flow_table_new(const struct roce_flow_opts *opts);
void roce_flow_table_del(struct roce_flow_table *table); /* NULL is accepted */

/* roce_flow_update feeds one frame; frames come in capture order. |icrc| may be NULL (not asked).
 * |verdict| is always filled. Returns true when the frame belongs to a flow: it has a BTH and an IP
 * header or GRH (MAC control frames and others do not). Frames whose headers are cut keep the
 * counters that they can. */
bool roce_flow_update(struct roce_flow_table *table, const struct roce_frame *frame,
                      const struct roce_packet *pkt, const struct roce_icrc *icrc,
                      struct roce_verdict *verdict);

/* struct roce_digest is what flow state reads of a packet that only carries its flow on, in one
 * cache line. Only the library reads it. */
struct roce_digest {
    roce_tstamp ts;
    uint32_t hash, sign;
    uint64_t addresses;
    uint32_t qp_opcode, psn_flags; /* 24 bits and 8, in one store */
    uint16_t origlen, payload_len, ip_id, sport;
    uint8_t tos, ttl, sign_attr, kind;
    uint32_t number, rkey;
    uint32_t length_msn; /* of the RETH the length, of an ACK the MSN, or else as payload_len */
    uint64_t va;
};

/* roce_flow_digest fills |digest| for |frame|. Most frames need no more; for the others it decodes
 * the packet into |pkt|, and the ICRC into |icrc| with |check_icrc|, as roce_packet_decode and
 * roce_icrc_check do, and returns true. |opts| may be NULL, |icrc| too without |check_icrc|. It
 * reads nothing of |table| that ever changes: other threads may call it while one updates. */
bool roce_flow_digest(const struct roce_flow_table *table, const struct roce_frame *frame,
                      const struct roce_decode_opts *opts, bool check_icrc, struct roce_packet *pkt,
                      struct roce_icrc *icrc, struct roce_digest *digest);

/* roce_flow_prefetch asks the processor to fetch what roce_flow_update will touch for |pkt|; for
 * callers that decode a batch before they update. */
void roce_flow_prefetch(struct roce_flow_table *table, const struct roce_packet *pkt);

/* roce_flow_finish judges what is still open (holes, episodes, undecided pairs) at the end of the
 * capture. Further updates are allowed; it may be called again. */
void roce_flow_finish(struct roce_flow_table *table);

/* What the flow is. */
struct roce_flow_info {
    uint32_t id;
    uint32_t serial;          /* counts flows ever created; another one in the same place after an
                                 eviction has another serial */
    uint8_t src[16], dst[16]; /* as struct roce_ip */
    uint8_t ip_version;       /* 4 or 6 */
    bool grh;                 /* RoCEv1 or InfiniBand */
    bool encapsulated;        /* |tunnel_key| takes part in the key */
    uint8_t tunnel_kind;      /* enum roce_tunnel_kind */
    uint32_t tunnel_key;
    uint32_t dest_qp;
    uint8_t service; /* enum roce_service of the first frame that has one (not CNP) */
    uint32_t src_qp; /* QP that sends: by pair, or by DETH when there is a single one */
    bool has_src_qp;
    uint8_t pairing;           /* enum roce_pairing */
    uint32_t peer, connection; /* or ROCE_FLOW_NONE */
    uint32_t pairing_evidence, pairing_conflicts;
    uint32_t path_mtu;              /* 0 unknown */
    uint8_t src_mac[6], dst_mac[6]; /* of the first frame; zero without Ethernet */
    uint16_t vlan;                  /* VLAN id of the innermost header's outer tag; 0 without */
    bool has_vlan;
    uint8_t pcp;
    uint8_t dscp; /* newest of a frame that is no CNP; likewise |ttl| */
    uint8_t ttl;
    bool dscp_varies;
    uint16_t udp_sport; /* newest */
    bool migreq_zero;   /* at least one frame without MigReq */
    bool migreq_one;
    uint64_t first_frame, last_frame;
    roce_tstamp first_ts, last_ts;
    bool sampled; /* the mirror seems to sample: most frames are missing regularly */
};

struct roce_message_counters {
    uint64_t started, completed;
    uint64_t bytes; /* payload of SEND and WRITE; length of READs; 8 for each atomic */
};

/* Counters of a flow under the names of the observer vocabulary. A has_ flag that is false means
 * the capture cannot show it ("null"). */
struct roce_flow_counters {
    uint64_t packets, bytes, payload_bytes;
    uint64_t opcodes[256];
    uint64_t requests, responses;
    uint64_t acks;
    uint64_t naks[ROCE_NAK_MAX + 1]; /* by enum roce_nak */
    uint64_t rnr_naks;
    uint64_t aeth_reserved; /* ACKNOWLEDGE frames of reserved syndromes */
    uint8_t rnr_timer;      /* code of the newest RNR NAK; valid when rnr_naks > 0 */
    uint64_t cnps;
    uint64_t ect, ce, not_ect;
    uint64_t icrc_ok, icrc_bad, icrc_unchecked;
    bool has_psn; /* a request track exists: RC, UC, XRC, and UD of a single source QP */
    uint32_t first_psn, next_psn;
    uint64_t gap_events, gap_psns;
    uint64_t retransmitted, retransmitted_dup, retransmitted_fill;
    uint64_t out_of_order;
    uint64_t mirror_duplicates;
    uint64_t read_response_dup, read_response_gap_events;
    struct roce_message_counters messages[ROCE_MESSAGE_OPS];
    bool has_completed; /* completed, ack_us, message_us can be known: the flow is paired */
    uint64_t loss[ROCE_LOST_COUNT];
    uint64_t loss_refused; /* of loss[ROCE_LOST_DOWNSTREAM]: refused by RNR NAK, not lost */
    uint64_t retransmission_cause[ROCE_CAUSE_COUNT];
    uint64_t episodes; /* sum of retransmission_cause */
    uint32_t udp_source_ports;
    bool udp_source_ports_min; /* more may have been there than were told apart */
    uint64_t malformed;        /* frames of this flow the decoder could not finish */
    uint64_t sliced;           /* frames cut by snap length or mirror */
};

/* Flows are numbered from 0; places of evicted flows are used again. roce_flow_first and
 * roce_flow_next walk in order of number; ROCE_FLOW_NONE ends. */
uint32_t roce_flow_first(const struct roce_flow_table *table);
uint32_t roce_flow_next(const struct roce_flow_table *table, uint32_t id);

/* These return false, and leave the output alone, when |id| names no flow. */
bool roce_flow_info(const struct roce_flow_table *table, uint32_t id, struct roce_flow_info *out);
bool roce_flow_counters(const struct roce_flow_table *table, uint32_t id,
                        struct roce_flow_counters *out);

enum roce_latency { ROCE_LATENCY_MESSAGE, ROCE_LATENCY_ACK };
/* roce_flow_latency sums up a latency of the flow, in ns; count 0 when there is none. */
bool roce_flow_latency(const struct roce_flow_table *table, uint32_t id, enum roce_latency which,
                       struct roce_hist_summary *out);
/* roce_flow_latency_add adds the flow's histogram to |hist|, for totals. */
bool roce_flow_latency_add(const struct roce_flow_table *table, uint32_t id,
                           enum roce_latency which, struct roce_hist *hist);

/* roce_flow_ext returns the caller's block of opts.ext_bytes for |id|: zero when the flow is new, 8
 * byte aligned; NULL without such a flow or block. */
void *roce_flow_ext(const struct roce_flow_table *table, uint32_t id);

/* roce_flow_find returns the flow of a key, or ROCE_FLOW_NONE; without encapsulation |tunnel_key|
 * is 0 and |encapsulated| false. */
uint32_t roce_flow_find(const struct roce_flow_table *table, const uint8_t src[16],
                        const uint8_t dst[16], uint32_t dest_qp, bool encapsulated,
                        uint32_t tunnel_key);

/* What CM said of a connection. */
enum roce_cm_state {
    ROCE_CM_NONE, /* no CM message was captured */
    ROCE_CM_REQUESTED,
    ROCE_CM_REPLIED,
    ROCE_CM_ESTABLISHED, /* RTU, or data after the REP */
    ROCE_CM_REJECTED,
    ROCE_CM_TIMED_OUT, /* a REJ with reason timeout, or requests repeated without any answer */
    ROCE_CM_CLOSED,    /* DREQ */
};

struct roce_cm_info {
    uint8_t state;     /* enum roce_cm_state */
    uint8_t transport; /* REQ: 0 RC, 1 UC, 3 extended (XRC) */
    uint16_t reject_reason;
    uint32_t qp_a, qp_b;   /* REQ sender's, REP sender's */
    uint32_t psn_a, psn_b; /* starting PSNs that a, b named: what the other begins to send with */
    uint32_t path_mtu;     /* bytes; 0 unknown */
    uint8_t ack_timeout;   /* exponent; of the REQ's primary path */
    uint8_t retry_count, rnr_retry_a, rnr_retry_b;
    uint8_t responder_resources, initiator_depth;
    uint8_t max_cm_retries;
    bool has_ip;
    struct roce_cm_ip ip;
    uint64_t service_id;
    uint32_t req_count, rep_count; /* frames, repeats included */
    uint64_t req_frame, rep_frame, rtu_frame, rej_frame, dreq_frame, drep_frame; /* 0: none */
    roce_tstamp req_ts, rep_ts, rtu_ts, rej_ts, dreq_ts;
    uint8_t host_a[16], host_b[16]; /* REQ sender, REQ receiver */
    uint8_t ip_version;
    uint32_t flow_ab, flow_ba; /* data flows, or ROCE_FLOW_NONE */
};

/* CM attempts are kept in order of their REQ, up to a bound; index from 0. With opts.idle_ns the
 * place of an old one that has no flow any more is used again. */
uint32_t roce_cm_count(const struct roce_flow_table *table);
bool roce_cm_get(const struct roce_flow_table *table, uint32_t index, struct roce_cm_info *out);

/* A connection: two flows that are the two directions of one QP pair. flows[0] is the direction
 * whose first frame came first. */
struct roce_connection {
    uint32_t id;
    uint32_t flows[2];
    uint8_t service; /* enum roce_service */
    uint32_t qp[2];  /* qp[0] sends flows[0] */
    uint8_t pairing; /* enum roce_pairing */
    uint32_t evidence, conflicts;
    uint32_t path_mtu; /* 0 unknown */
    uint32_t cm;       /* index for roce_cm_get, or ROCE_FLOW_NONE */
};

/* Walk the connections in order of flows[0]: start with |after| ROCE_FLOW_NONE, then the id of the
 * one before. Returns false at the end. */
bool roce_connection_next(const struct roce_flow_table *table, uint32_t after,
                          struct roce_connection *out);

struct roce_flow_stats {
    uint32_t flows, capacity; /* now; at most */
    uint32_t created;
    uint64_t evicted; /* for lack of room */
    uint64_t ended;   /* over: see roce_flow_opts.idle_ns */
    uint64_t frames;  /* frames of flows */
    uint32_t connections;
    uint64_t pairing_conflicts;
    uint64_t memory; /* bytes touched: table, index, tracks, histograms, caller's state */
    uint64_t memory_per_flow_max; /* bytes a flow has without its histograms, at most so far */
    uint64_t forgotten;           /* open messages, holes and samples given up for lack of room */
};
void roce_flow_stats(const struct roce_flow_table *table, struct roce_flow_stats *out);
uint32_t roce_flow_capacity(const struct roce_flow_table *table);

#ifdef __cplusplus
}
#endif
#endif
