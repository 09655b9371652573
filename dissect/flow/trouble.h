/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a flow keeps once something is not as it should be, in records of their own. Counters of
 * losses and resends: one cache line. What is needed only until it is settled (an episode, a NAK to
 * obey, PSNs to come again) is given back then. What fewer flows have, and the high parts of
 * counters, lie apart. */
#ifndef FLOW_TROUBLE_H
#define FLOW_TROUBLE_H

#include <roce/flow.h>

#include "pool.h"
#include "waits.h"

struct roce_flow_table;
struct flow;

#define EARLY_MAX    4
#define AGAIN_MAX    6
#define SILENT_BINS  24 /* 4.096 us << bin; longer waits share the last */
#define SILENT_SLOTS 2

enum trouble_count {
    COUNT_GAPS,
    COUNT_RETRANSMITTED, /* duplicates, and those that fill a gap */
    COUNT_DUPLICATES,
    COUNT_RR_DUPLICATES,
    COUNT_RR_GAPS,
    COUNT_SEQUENCE_NAKS,
    COUNT_LOSS, /* by enum roce_location */
    COUNT_CAUSE = COUNT_LOSS + ROCE_LOST_COUNT,
    TROUBLE_COUNTS = COUNT_CAUSE + ROCE_CAUSE_COUNT,
};

struct trouble {
    roce_tstamp stepped_ts;         /* newest step back; 0: none */
    uint32_t affair;                /* struct affair */
    uint32_t rare;                  /* struct rare */
    uint32_t excess;                /* list of struct excess */
    uint32_t gap_psns;              /* low half */
    uint16_t count[TROUBLE_COUNTS]; /* low parts: see trouble_total */
    /* Episodes judged by their wait, not yet in a cause; more bins in struct excess. */
    uint16_t silent_n[SILENT_SLOTS]; /* 0: slot unused */
    uint8_t silent_bin[SILENT_SLOTS];
};

_Static_assert(sizeof(struct trouble) == 64, "a flow with losses takes one more cache line");

/* What fewer flows have. */
struct rare {
    uint64_t fatal_frame;
    uint32_t fatal_requests; /* requests of the flow since */
    uint32_t mirror_dup, mirror_seen;
    uint32_t icrc_bad, malformed, sliced, reserved;
    uint32_t out_of_order, rnr, refused;
    uint32_t naks[ROCE_NAK_MAX + 1]; /* sequence errors: COUNT_SEQUENCE_NAKS */
    uint32_t late_psn;               /* an answer that was skipped and came after all; NIL: none */
    /* PSNs from a late request on to the end of those that overtook it */
    uint32_t overtook_psn, overtook_len;
    uint8_t fatal; /* NAK code + 1 of a NAK that stops the requester */
    uint8_t rnr_timer;
};

/* High parts of counters and waits that have no slot, a few of those that there are. */
#define EXCESS_SLOTS 12
enum excess_kind {
    EXCESS_COUNT,                     /* + enum trouble_count: in units of 2^16 */
    EXCESS_GAP_PSNS = TROUBLE_COUNTS, /* in units of 2^32 */
    EXCESS_SILENT,                    /* + bin */
    EXCESS_KINDS = EXCESS_SILENT + SILENT_BINS,
};
struct excess {
    uint32_t next;
    uint8_t kind[EXCESS_SLOTS];
    uint32_t n[EXCESS_SLOTS]; /* 0: slot unused */
};
#define EXCESS_MAX ((EXCESS_KINDS + EXCESS_SLOTS - 1) / EXCESS_SLOTS) /* of one flow */

struct episode {
    uint32_t psn;              /* restart PSN */
    uint32_t end;              /* PSN behind the frame resent last */
    uint32_t high;             /* PSN behind the highest frame resent */
    uint32_t count;            /* frames resent */
    uint32_t missing;          /* frames that did not get here the last time, from |psn| on */
    uint32_t gap_psn, gap_len; /* the first hole ahead of |psn|, while no pair told what was asked
                                  for; |unasked|: what did ask */
    uint8_t cause;             /* unless |silent| */
    uint8_t location;
    bool open;
    bool fill;         /* the restart PSN had not been captured */
    bool late;         /* may still turn out to be reordering */
    bool acked;        /* the restart PSN was answered before */
    bool answered_far; /* the answer acknowledges frames that have not been resent */
    bool silent;       /* neither NAK, RNR nor implied NAK: judged by |wait| */
    bool atomic;
    bool unasked;      /* no request before |gap_psn|, which is missing, asked for an answer */
    bool dups;         /* frames captured before were resent */
    bool copied;       /* the network duplicated the frame: nobody resent it */
    bool overtaken;    /* the answer was not lost: a later one overtook it */
    bool reordered;    /* the restart frame came late, or behind a gap that late ones filled */
    bool read;         /* the restart frame is a READ request */
    bool answer_lost;  /* the newest answer was lost, or damaged, before it got here */
    bool ignored;      /* the newest copy of the request did not arrive */
    bool answer_twice; /* the answer was captured once, but its newest copy was not */
    bool in_hole;      /* the frame asked for has not been captured whole: counted with its hole */
    bool arrived;      /* its original came after all, late */
    bool undecided;    /* closed; whether a frame was lost is told by the answers to come */
    uint32_t answers;  /* that acknowledge all before |answered|, the furthest yet */
    uint32_t answered;
    uint64_t first_frame, last_frame, orig_frame, ask_frame;
    roce_tstamp ts;
    roce_duration wait, late_by;
};

#define MISSING_HOLE UINT32_MAX /* the frame was never captured: counted with its hole */

/* What is not settled yet. All zero, no early episodes and no NAKs: it can be given back. */
struct affair {
    struct episode ep;
    uint32_t repeat_psn, repeats; /* resends of one PSN in a row */
    bool repeat_answered;
    bool has_nak, has_rnr, has_skip; /* asked of this flow's requester, not yet obeyed */
    uint32_t nak_psn, rnr_psn, skip_psn;
    uint32_t nak_missing; /* frames that did not get here in the stream that |nak_psn| is about, or
                             MISSING_HOLE */
    uint32_t bad_ack;     /* |has_bad_ack|: what an ACK with a wrong ICRC acknowledges */
    uint64_t nak_frame, rnr_frame, skip_frame;
    roce_tstamp nak_ts, rnr_ts, skip_ts;
    struct waits waits;
    uint32_t old_count[ROCE_MESSAGE_OPS]; /* messages dropped from the pending list, by operation */
    uint32_t old_psn;
    bool has_old, has_bad_ack;
    uint8_t again_next;
    bool alone; /* the frame before |alone_psn| was sent again, and not those behind it */
    uint32_t alone_psn;
    /* PSNs whose newest transmission did not get here whole: skipped in a resent stream, or with a
     * wrong ICRC */
    struct {
        uint32_t psn, len;
    } again[AGAIN_MAX];
    uint32_t early[EARLY_MAX]; /* struct early_episode, in order */
    uint32_t naks;             /* NAKs to obey besides the newest: see naks.h */
};

/* The *_of functions return the record of |f|, a new one if need be; the *_peek ones return NULL
 * when there is none. */
struct trouble *trouble_of(struct roce_flow_table *t, struct flow *f);
struct affair *affair_of(struct roce_flow_table *t, struct flow *f);
struct affair *affair_peek(const struct roce_flow_table *t, const struct flow *f);
struct rare *rare_of(struct roce_flow_table *t, struct flow *f);
struct rare *rare_peek(const struct roce_flow_table *t, const struct flow *f);
/* affair_settled gives the record back when nothing is left to settle. */
void affair_settled(struct roce_flow_table *t, struct flow *f);
void trouble_drop(struct roce_flow_table *t, struct flow *f);
/* trouble_add counts |n| more, trouble_take_back one less, if there is one. */
void trouble_add(struct roce_flow_table *t, struct flow *f, enum trouble_count count, uint32_t n);
bool trouble_take_back(struct roce_flow_table *t, struct flow *f, enum trouble_count count);
/* trouble_total returns 0 for a flow without trouble, as the others below. */
uint64_t trouble_total(const struct roce_flow_table *t, const struct flow *f,
                       enum trouble_count count);
/* trouble_nak counts a NAK of a sequence error: flows of responses do so without a record.
 * trouble_naks_move makes room for msg1. */
void trouble_nak(struct roce_flow_table *t, struct flow *f);
void trouble_naks_move(struct roce_flow_table *t, struct flow *f);
uint64_t trouble_naks(const struct roce_flow_table *t, const struct flow *f);
void trouble_gap(struct roce_flow_table *t, struct flow *f, uint32_t missing);
uint64_t trouble_gap_psns(const struct roce_flow_table *t, const struct flow *f);
void trouble_silent_add(struct roce_flow_table *t, struct flow *f, uint32_t bin);
uint64_t trouble_silent(const struct roce_flow_table *t, const struct flow *f, uint32_t bin);

#endif
