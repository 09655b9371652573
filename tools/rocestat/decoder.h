/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What one thread needs to select, decode and check batches of frames: expressions are compiled as
 * link types appear. */
#ifndef ROCESTAT_DECODER_H
#define ROCESTAT_DECODER_H

#include "common/selection.h"
#include "rocestat/feed.h"

struct decoder {
    const struct stat_opts *opts;
    struct roce_decode_opts decode;
    struct selection selection;
    bool whole; /* packets are wanted, not digests */
    bool far;   /* frames may lie in another processor's cache */
};

/* decoder_init prepares a zeroed |decoder| for |opts|, which is kept, and the expression |bpf|.
 * Returns an exit status other than EXIT_DONE when it has said what is wrong with an expression;
 * decoder_free is due in either case. */
int decoder_init(struct decoder *decoder, const struct stat_opts *opts, const char *bpf,
                 uint32_t linktype);
void decoder_free(struct decoder *decoder);

/* decoder_run closes up over the frames of |batch| that do not pass, and digests the others for
 * |flows|; without flows, or where whole packets are wanted, it decodes them all. */
void decoder_run(struct decoder *decoder, struct feed_batch *batch,
                 const struct roce_flow_table *flows);

#endif
