/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The observer's own state as its files share it: what flow state does not keep. */
#ifndef FLOW_WATCH_H
#define FLOW_WATCH_H

#include <roce/observer.h>
#include <roce/psn.h>

/* ---- what just went by ---- */

#define RECENT_MAX  2048 /* frames; must be a power of two */
#define REQUEST_MAX 512  /* requests with an address; likewise */

/* The newest RoCE frames of all flows, so that a sender's rate before its first CNP is known
 * without measuring every flow all the time. */
struct recent_frame {
    uint32_t flow, bytes;
    roce_tstamp ts;
};

/* The newest requests that name memory, so that a NAK can name it too. */
struct recent_request {
    uint64_t va;
    uint32_t flow, psn, rkey, length;
    uint8_t op; /* enum roce_op */
};

struct recent {
    uint64_t n_frames, n_requests; /* ever added; the newest is at (n - 1) & (MAX - 1) */
    struct recent_frame frame[RECENT_MAX];
    struct recent_request request[REQUEST_MAX + 1]; /* the last is none */
};

/* ---- congestion ---- */

#define CONG_MAX     16384 /* flows with CE or CNP that are watched */
#define CONG_HISTS   1024  /* of these, with a histogram */
#define CONG_INDEX   4096  /* heads of chains by address pair; a power of two */
#define CONG_CHAIN   64    /* records looked at for a CNP without a pair */
#define CONG_SPANS   3     /* widths of the rate windows */
#define CONG_PENDING 128   /* CNPs of one width waiting for their second window; a power of two */

struct cong {
    uint32_t flow;   /* ROCE_FLOW_NONE: free */
    uint32_t serial; /* changes whenever the record is given away */
    uint32_t next;   /* in the chain of its address pair, or in the free list; index + 1 */
    uint32_t prev;   /* in the chain; 0: the first */
    uint32_t hist;   /* index + 1; 0: none left */
    uint8_t src[16], dst[16];
    uint8_t dscp; /* of the newest CE */
    bool run_open, run_answered;
    bool waiting; /* a CE came after the last CNP, at |waiting_ts| */
    roce_tstamp waiting_ts, last_ce_ts, last_cnp_ts;
    uint64_t ce, runs, unanswered, cnps, without_ce;
    uint64_t delays, delay_min, delay_max; /* as in the histogram */
    roce_duration spacing_min;
    uint64_t measured, fell, before_sum, after_sum, before_max;
    uint64_t first_frame, run_frame, unanswered_frame, without_frame, cnp_frame;
};

struct cong_pending {
    uint32_t rec, serial;
    roce_tstamp from, due; /* window behind the CNP */
    uint64_t before_bps;
};

struct cong_queue {
    uint32_t head, n;
    struct cong_pending item[CONG_PENDING];
};

struct dscp_state {
    uint64_t bytes, cnps, ecn[4]; /* frames by enum roce_ecn; CNPs apart */
    uint64_t cnp_frame;           /* the first CNP */
    uint64_t tagged;              /* of all: in a VLAN, so that PCP is the priority */
};

struct congestion {
    struct cong *rec;
    struct roce_hist *hist;
    uint32_t capacity, fresh, free; /* free: index + 1 */
    uint32_t hist_fresh;
    roce_tstamp next_due; /* of all pending measurements; UINT64_MAX without */
    uint64_t lost;
    struct cong_queue queue[CONG_SPANS];
    uint32_t index[CONG_INDEX]; /* index + 1 */
    struct dscp_state dscp[ROCE_DSCP_COUNT];
    struct roce_hist *dscp_hist; /* ROCE_DSCP_COUNT */
};

/* ---- pauses ---- */

#define PAUSE_SENDERS 1024
#define PAUSE_INDEX   4096 /* a power of two, above PAUSE_SENDERS */
#define PAUSE_CLASSES 9    /* eight priorities and 802.3x PAUSE */

struct pause_class {
    struct roce_pause_entry e; /* paused_ns, longest_ns as accounted so far */
    bool seen, active, stormed, xoff_last;
    uint16_t quanta;              /* of the newest XOFF */
    roce_tstamp begin, from, end; /* of the pause that is on: begun, accounted up to, ends */
    uint64_t begin_frame;
};

struct pause_sender {
    uint8_t mac[6];
    struct pause_class class[PAUSE_CLASSES];
};

/* The newest pause of one priority that is over, to find who fell silent with it. */
struct pause_past {
    roce_tstamp begin, end; /* end 0: none */
    uint16_t sender;
    uint8_t class;
};

struct pauses {
    struct pause_sender *sender;
    uint16_t index[PAUSE_INDEX]; /* sender + 1 */
    uint32_t n;
    uint64_t lost;
    struct pause_past past[8];
};

/* ---- incidents: what a finding will be made of ---- */

#define TROUBLE_MAX   16384 /* flows with incidents */
#define INCIDENT_MAX  16384 /* (kind, flow) */
#define KIND_FINDINGS 64    /* findings of one kind; the others are summed up in one more */

struct incident {
    uint32_t next; /* index + 1; of the same flow */
    uint8_t kind;  /* enum roce_finding_kind */
    uint8_t n_frames;
    uint8_t has;
    uint64_t first_frame;
    uint64_t count;
    uint64_t frames[ROCE_FINDING_FRAMES];
    uint64_t value[ROCE_FINDING_VALUES];
    const char *word;
};

#define IDLE_EXP_MIN 12 /* ACK timeouts looked for in silences: 16.8 ms to 4.29 s */
#define IDLE_EXP_MAX 20

/* What is remembered of a flow of requests that something happened to. */
struct watch_trouble {
    uint32_t flow;      /* ROCE_FLOW_NONE: free */
    uint32_t incidents; /* index + 1 */
    uint32_t next;      /* in the free list; index + 1 */
    bool has_nak, has_hole, has_rnr, has_resend;
    bool answer_lost; /* the episode that is being told was about answer_psn, whose answer was lost
                       */
    bool rnr_sent;    /* RNR and fatal NAKs kept here are this flow's own: whom they refused is not
                         known */
    uint32_t nak_psn, hole_psn, rnr_psn, resend_psn, answer_psn;
    uint32_t rnr_repeats; /* RNR NAKs of rnr_psn */
    roce_tstamp nak_ts, hole_ts, rnr_ts;
    roce_tstamp resend_ts, resend_last_ts; /* first and newest step back to resend_psn */
    uint32_t resends;                      /* of resend_psn */
    uint64_t resend_gap, resent_frame;     /* longest time between them; newest frame resent */
    uint64_t nak_frame, hole_frame, rnr_frame, rnr_timer;
    /* resend that may be going back to zero */
    bool zero_open;
    uint32_t zero_next, zero_start, zero_nak;
    uint64_t zero_frame;
    uint64_t refused;      /* of the flow's losses: refused by RNR NAK */
    uint64_t duplicates;   /* frames resent although they had been answered */
    uint64_t silent_after; /* newest frame of the flow when it was found silent */
    uint8_t idle_exp;
    uint16_t idle_match, idle_other; /* silences equal to that timeout, and other ones */
    uint64_t idle_frame;
};

struct finding_list {
    struct roce_finding *item;
    uint32_t n;
    uint16_t of_kind[ROCE_FINDING_KINDS][KIND_FINDINGS]; /* indexes into item */
    uint16_t n_of_kind[ROCE_FINDING_KINDS];
    struct roce_finding more[ROCE_FINDING_KINDS]; /* flows 0: nothing */
};
#define LIST_MAX (ROCE_FINDING_KINDS * (KIND_FINDINGS + 1))

struct incidents {
    struct watch_trouble *trouble;
    struct incident *incident;
    uint32_t trouble_fresh, trouble_free, incident_fresh, incident_free;
    uint64_t lost;
    struct incident plain[ROCE_FINDING_KINDS]; /* without a flow, or of flows beyond the limit */
    struct finding_list evicted, current;
    struct roce_finding *sorted; /* LIST_MAX */
    uint32_t n_sorted;
};

/* ---- hosts and address pairs ---- */

#define HOST_MAX   16384
#define HOST_INDEX 32768
#define PAIR_MAX   16384
#define PAIR_INDEX 32768

struct host_state {
    struct roce_host evicted; /* flows that are gone; carries the address */
    struct roce_host sum;     /* of the newest roce_observer_hosts */
};

/* All flows from one address to another. */
struct host_pair {
    uint8_t src[16], dst[16];
    uint8_t ip_version;
    bool port_differs, grh;
    uint16_t port;
    uint32_t flows;             /* RC, XRC and UC */
    uint32_t reliable;          /* RC and XRC */
    uint32_t unpaired_from;     /* unpaired RC and XRC flows with responses */
    uint32_t unpaired_to;       /* and with requests */
    roce_tstamp from_ts, to_ts; /* newest frames of these */
    uint64_t first_frame;
};

struct hosts {
    struct host_state *host;
    struct host_pair *pair;
    uint16_t *host_index; /* + 1 */
    uint16_t *pair_index;
    uint32_t n_hosts, n_pairs;
    uint64_t lost;
    /* since hosts_begin: flows that are no CNPs only */
    uint32_t connected, migreq_zero, sampled, unpaired;
    uint64_t migreq_frame, sampled_frame;
};

/* ---- all of it ---- */

/* One block per flow in the flow table: indexes + 1, 0 while the flow is healthy. */
struct watch_ext {
    uint32_t congestion, trouble;
    uint32_t mtu;       /* payload of its First and Middle packets; 0: not known yet, or none */
    uint32_t mtu_frame; /* that told it; 0: none, or beyond 2^32 */
};

struct roce_observer {
    struct roce_flow_table *flows;
    struct roce_observer_opts opts;
    bool running;  /* inside flow_run, which is ahead of |now| and |frame| */
    bool mtu_told; /* the frame under way told a path MTU */
    roce_tstamp now;
    uint64_t frame;
    uint64_t storm_ns;
    struct roce_capture_totals totals;
    struct congestion *congestion;
    struct pauses *pauses;
    struct incidents *incidents;
    struct hosts *hosts;
    uint64_t tagged[8];   /* RoCE frames in a VLAN, by PCP */
    uint64_t data_ecn[4]; /* frames with payload of connected services, by enum roce_ecn */
    uint64_t not_ect_frame, sliced_frame;
    uint64_t unmatched_frame; /* first CNP of unknown flow */
    struct recent recent;
};

static inline struct watch_ext *watch_ext(const struct roce_observer *obs, uint32_t flow)
{
    return roce_flow_ext(obs->flows, flow);
}

/* congestion.c */
struct congestion *congestion_new(uint32_t max_flows);
void congestion_del(struct congestion *c);
/* congestion_ce takes a CE mark of |v->flow|; congestion_cnp a CNP; congestion_poll what is due. */
void congestion_ce(struct roce_observer *obs, const struct roce_packet *pkt,
                   const struct roce_verdict *v);
void congestion_cnp(struct roce_observer *obs, const struct roce_packet *pkt,
                    const struct roce_verdict *v);
void congestion_poll(struct roce_observer *obs);
void congestion_evict(struct roce_observer *obs, uint32_t flow);
struct cong *congestion_peek(const struct roce_observer *obs, uint32_t flow);

/* pause.c */
struct pauses *pauses_new(void);
void pauses_del(struct pauses *p);
void pauses_frame(struct roce_observer *obs, const struct roce_packet *pkt);
/* pauses_data looks whether |v->flow| was silenced by a pause of |priority|. */
void pauses_data(struct roce_observer *obs, uint8_t priority, const struct roce_verdict *v);

/* incident.c */
struct incidents *incidents_new(void);
void incidents_del(struct incidents *in);
/* incident_add counts one more |kind| of |flow| (or ROCE_FLOW_NONE) and keeps |frame|, 0 without,
 * as evidence. Returns the record for its values, never NULL. */
struct incident *incident_add(struct roce_observer *obs, uint32_t flow, enum roce_finding_kind kind,
                              uint64_t frame);
void incident_frame(struct incident *incident, uint64_t frame);
void incident_max(struct incident *incident, uint32_t index, uint64_t value);
void incident_sum(struct incident *incident, uint32_t index, uint64_t value);
void incident_set(struct incident *incident, uint32_t index, uint64_t value);
/* trouble_at returns what is remembered of |flow|: NULL when there is no room. trouble_watched
 * returns NULL when nothing is. */
struct watch_trouble *trouble_at(struct roce_observer *obs, uint32_t flow);
struct watch_trouble *trouble_watched(const struct roce_observer *obs, uint32_t flow);
const struct incident *incident_peek(const struct roce_observer *obs, uint32_t flow,
                                     enum roce_finding_kind kind);
/* incident_swap gives each of two flows the other's record of |kind|. */
void incident_swap(struct roce_observer *obs, uint32_t a, uint32_t b, enum roce_finding_kind kind);
void incidents_evict(struct roce_observer *obs, uint32_t flow);

/* symptom.c: frames and events to incidents */
void symptom_nak(struct roce_observer *obs, const struct roce_packet *pkt,
                 const struct roce_verdict *v);
void symptom_resent(struct roce_observer *obs, const struct roce_packet *pkt,
                    const struct roce_verdict *v);
/* symptom_mtu takes a First or Middle packet whose size is news. */
void symptom_mtu(struct roce_observer *obs, const struct roce_packet *pkt,
                 const struct roce_verdict *v);
void symptom_silence(struct roce_observer *obs, const struct roce_verdict *v);
void symptom_event(struct roce_observer *obs, const struct roce_event *event);
uint32_t symptom_mask(void);

/* hosts.c */
struct hosts *hosts_new(void);
void hosts_del(struct hosts *h);
void hosts_evict(struct roce_observer *obs, uint32_t flow);
/* hosts_begin forgets the sums by address pair, hosts_take adds one flow to them. */
void hosts_begin(struct roce_observer *obs);
void hosts_take(struct roce_observer *obs, const struct roce_flow_info *info);
const struct host_pair *hosts_pair(const struct roce_observer *obs, const uint8_t src[16],
                                   const uint8_t dst[16]);

/* counters.c */
void counters_add(const struct roce_observer *obs, uint32_t flow, struct roce_host *src,
                  struct roce_host *dst);

/* judge.c */
struct roce_finding judge_make(enum roce_finding_kind kind, enum roce_severity severity,
                               uint64_t count);
void judge_value(struct roce_finding *finding, uint32_t index, uint64_t value);
void judge_evidence(struct roce_finding *finding, const struct incident *incident);
void judge_flow(const struct roce_observer *obs, struct finding_list *list, uint32_t flow,
                bool gone);
void judge_evicted(struct roce_observer *obs, uint32_t flow);
void judge_all(struct roce_observer *obs);

/* judge_capture.c: findings about the capture as a whole */
void judge_capture(struct roce_observer *obs);

/* judge_list.c */
void list_reset(struct finding_list *list);
void list_add(struct finding_list *list, const struct roce_finding *finding);
uint32_t list_sort(const struct finding_list *list, struct roce_finding *out);

#endif
