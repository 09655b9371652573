/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Small histograms for many flows: a few samples are kept as they are, more of them in pages of one
 * octave each, taken from a bounded pool. */
#ifndef FLOW_HISTPOOL_H
#define FLOW_HISTPOOL_H

#include <roce/hist.h>

#include "pool.h"

#define HIST_INLINE 18

struct hist_head {
    uint64_t min, max;
    uint32_t count;
    uint32_t pages; /* list of octave pages, NIL while the samples are inline */
    union {
        uint16_t sample[HIST_INLINE]; /* buckets */
        struct {                      /* with pages: the one used last */
            uint32_t octave, page;
        } last;
    };
};

struct hist_page {
    uint32_t next;
    uint32_t octave;
    uint32_t count[ROCE_HIST_SUB];
};

/* hist_head_add adds |value|. When |pages| is exhausted, a new octave's samples are put into the
 * nearest page there is, or only counted. Returns false in that case. */
bool hist_head_add(struct hist_head *head, struct pool *pages, uint64_t value);
void hist_head_expand(const struct hist_head *head, const struct pool *pages,
                      struct roce_hist *out);
/* hist_head_copy fills an empty head with the samples of |from|. */
bool hist_head_copy(struct hist_head *head, struct pool *pages, const struct hist_head *from);
void hist_head_drop(struct hist_head *head, struct pool *pages);

#endif
