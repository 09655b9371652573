/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a flow keeps once something is not as it should be, in three records. Counters last: two
 * cache lines. What is needed only until it is settled (an episode, a NAK to obey, PSNs to come
 * again) is given back then. What few flows ever have lies apart. */
#ifndef FLOW_TROUBLE_H
#define FLOW_TROUBLE_H

#include <roce/flow.h>

#include "pool.h"

struct roce_flow_table;
struct flow;

#define EARLY_MAX    4
#define AGAIN_MAX    6
#define SILENT_BINS  24 /* 4.096 us << bin; longer waits share the last */
#define SILENT_SLOTS 3

struct trouble {
    uint64_t gap_psns;
    roce_tstamp stepped_ts; /* newest step back; 0: none */
    uint32_t gap_events;
    uint32_t retransmitted, dup, out_of_order; /* retransmitted: dup, and those that fill a gap */
    uint32_t rr_dup, rr_gap;
    uint32_t loss[ROCE_LOST_COUNT];
    uint32_t refused;
    uint32_t cause[ROCE_CAUSE_COUNT];
    uint32_t sequence_naks, rnr;
    uint32_t late_psn; /* an answer that was skipped and came after all; NIL: none */
    /* PSNs from a late request on to the end of those that overtook it */
    uint32_t overtook_psn, overtook_len;
    uint32_t affair; /* struct affair */
    uint32_t rare;   /* struct rare */
    /* Episodes judged by their wait, not yet in |cause|; more bins in struct rare. */
    uint16_t silent_n[SILENT_SLOTS]; /* 0: slot unused */
    uint8_t silent_bin[SILENT_SLOTS];
    uint8_t rnr_timer;
};

_Static_assert(sizeof(struct trouble) == 128, "a flow with losses takes two more cache lines");

/* Counters beyond those of losses. */
struct rare {
    uint32_t mirror_dup, mirror_seen;
    uint32_t icrc_bad, malformed, sliced, reserved;
    uint32_t naks[ROCE_NAK_MAX + 1]; /* sequence errors: |sequence_naks| */
    uint32_t fatal_requests;         /* requests of the flow since */
    uint64_t fatal_frame;
    uint8_t fatal; /* NAK code + 1 of a NAK that stops the requester */
    uint32_t silent[SILENT_BINS];
};

struct episode {
    uint32_t psn;     /* restart PSN */
    uint32_t end;     /* PSN behind the frame resent last */
    uint32_t high;    /* PSN behind the highest frame resent */
    uint32_t count;   /* frames resent */
    uint32_t missing; /* frames that did not get here the last time, from |psn| on */
    uint32_t gap_psn,
        gap_len;   /* the first hole ahead of |psn|, while no pair told what was asked for */
    uint8_t cause; /* unless |silent| */
    uint8_t location;
    bool open;
    bool fill;         /* the restart PSN had not been captured */
    bool late;         /* may still turn out to be reordering */
    bool acked;        /* the restart PSN was answered before */
    bool answered_far; /* the answer acknowledges frames that have not been resent */
    bool silent;       /* neither NAK, RNR nor implied NAK: judged by |wait| */
    bool atomic;
    bool unasked;      /* the newest request before it asked for no answer */
    bool dups;         /* frames captured before were resent */
    bool copied;       /* the network duplicated the frame: nobody resent it */
    bool overtaken;    /* the answer was not lost: a later one overtook it */
    bool reordered;    /* the restart frame came late, or behind a gap that late ones filled */
    bool read;         /* the restart frame is a READ request */
    bool answer_twice; /* the answer was captured once, but its newest copy was not */
    bool in_hole;      /* the frame asked for has not been captured: counted with its hole */
    bool arrived;      /* its original came after all, late */
    bool undecided;    /* closed; whether a frame was lost is told by the answers to come */
    uint32_t answers;  /* that acknowledge all before |answered|, the furthest yet */
    uint32_t answered;
    uint64_t first_frame, last_frame, orig_frame, ask_frame;
    roce_tstamp ts;
    roce_duration wait, late_by;
};

/* What is not settled yet. All zero, and no early episodes: it can be given back. */
struct affair {
    struct episode ep;
    uint32_t repeat_psn, repeats; /* resends of one PSN in a row */
    bool repeat_answered;
    bool has_nak, has_rnr, has_skip; /* asked of this flow's requester, not yet obeyed */
    uint32_t nak_psn, rnr_psn, skip_psn;
    uint64_t nak_frame, rnr_frame, skip_frame;
    roce_tstamp nak_ts, rnr_ts, skip_ts;
    /* the READ issued again last: its PSNs, and how far its new answer was captured */
    uint32_t reread_psn, reread_end, reread_next;
    uint32_t old_count[ROCE_MESSAGE_OPS]; /* messages dropped from the pending list, by operation */
    uint32_t old_psn;
    bool has_old;
    uint8_t again_next;
    /* PSNs whose newest transmission did not get here whole: skipped in a resent stream, or with a
     * wrong ICRC */
    struct {
        uint32_t psn, len;
    } again[AGAIN_MAX];
    uint32_t early[EARLY_MAX]; /* struct early_episode, in order */
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
void trouble_silent_add(struct roce_flow_table *t, struct flow *f, uint32_t bin);
uint64_t trouble_silent(const struct roce_flow_table *t, const struct flow *f, uint32_t bin);

#endif
