/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Flow state for a caller that has many frames at hand: what they will touch is fetched while
 * others are worked on, and verdicts that nobody reads are not written. */
#ifndef FLOW_BATCH_H
#define FLOW_BATCH_H

#include <roce/flow.h>

/* The usual course is one piece of code; what is seldom done would make it longer. */
#if defined(__GNUC__)
#define FLOW_SELDOM __attribute__((noinline)) static
#define FLOW_INLINE __attribute__((always_inline)) static inline
#else
#define FLOW_SELDOM static
#define FLOW_INLINE static inline
#endif

/* Packets looked up at once: what they touch fits into the first-level cache. */
#define LOOK_MAX 32

/* Where a packet's flow was found. */
struct look {
    uint64_t hash;
    uint32_t id; /* ROCE_FLOW_NONE: not found */
};

/* flow_look fills |look| for |n| packets, at most LOOK_MAX, and fetches what they will touch.
 * |hash| is NULL or has their hashes. */
void flow_look(const struct roce_flow_table *t, const struct roce_packet *pkt, const uint64_t *hash,
               int n, struct look *look);

enum flow_course {
    FLOW_NONE, /* the frame belongs to no flow */
    FLOW_ANY,
    FLOW_USUAL, /* nothing happened but that a flow went on: see usual.c */
};

/* flow_update is roce_flow_update. |look| may be NULL. With |brief|, only |flow|, |flags|, |psns|,
 * |in_flight| and |delta| of the verdict are valid after FLOW_USUAL. */
enum flow_course flow_update(struct roce_flow_table *t, const struct look *look,
                             const struct roce_frame *frame, const struct roce_packet *pkt,
                             const struct roce_icrc *icrc, bool brief, struct roce_verdict *v);

#endif
