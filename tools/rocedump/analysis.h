/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Flow state for the computed fields, and the look ahead that tells in which frame a request is
 * acknowledged. */
#ifndef ROCEDUMP_ANALYSIS_H
#define ROCEDUMP_ANALYSIS_H

#include <roce/flow.h>

struct analysis {
    struct roce_flow_table *table;
    struct acks *acks; /* NULL without a look ahead */
    struct roce_verdict verdict;
};

/* analysis_init makes an empty state. Returns 0, or -1 without memory. */
int analysis_init(struct analysis *analysis);

/* analysis_ahead_begin prepares to learn the acknowledgements in a pass of its own: analysis_update
 * with every frame, then analysis_ahead_end, then the frames again from the first. Both return 0,
 * or -1 without memory. */
int analysis_ahead_begin(struct analysis *analysis);
int analysis_ahead_end(struct analysis *analysis);

/* analysis_update feeds a frame. Returns its verdict, valid until the next call, or NULL when it is
 * of no flow. */
const struct roce_verdict *analysis_update(struct analysis *analysis,
                                           const struct roce_frame *frame,
                                           const struct roce_packet *pkt,
                                           const struct roce_icrc *icrc);

/* analysis_acked_in returns the frame that acknowledges |frame|, the newest one given to
 * analysis_update, or 0. */
uint64_t analysis_acked_in(struct analysis *analysis, const struct roce_frame *frame,
                           const struct roce_packet *pkt);

void analysis_free(struct analysis *analysis);

#endif
