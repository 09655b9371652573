/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Flow state for a caller that has many frames at hand: what they will touch is fetched while
 * others are worked on, and frames that only carry their flows on go through in runs. */
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

/* Frames looked up at once: what they touch fits into the first-level cache. */
#define LOOK_MAX 32

/* flow_look finds the flows of |n| frames, at most LOOK_MAX, as far as they are known, and fetches
 * what the frames will touch. Another flow may lie at |id| by the time it is used. */
void flow_look(const struct roce_flow_table *t, const struct roce_digest *d, int n, uint32_t *id);

/* What flow_run makes of a frame: members as in struct roce_verdict. */
struct went {
    roce_duration delta;
    uint32_t flow, flags, psns, in_flight, completed;
};

/* Frames of a batch. */
struct run {
    const struct roce_frame *frame;
    const struct roce_packet *pkt; /* of digests that are not plain, at least */
    const struct roce_icrc *icrc;  /* likewise; NULL: not asked */
    const struct roce_digest *digest;
    const uint32_t *id; /* of flow_look */
    int n;
    bool decoded;   /* all of |pkt| and |icrc| are there */
    uint64_t first; /* see digest_number */
    const struct roce_decode_opts *opts;
};

/* run_packet returns the packet of frame |i|, decoded to |space| if it has not been yet. */
const struct roce_packet *run_packet(const struct run *run, int i, struct roce_packet *space);

/* flow_run takes frames as long as they are usual, and returns how many: all |run->n|, or the next
 * one is for flow_update, or the last one ended a silence of |silence| or more. */
int flow_run(struct roce_flow_table *t, const struct run *run, roce_duration silence,
             struct went *went);

#endif
