/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Log-linear histogram of durations: 32 buckets an octave, so that a quantile is within 1.6 % of
 * the truth. */
#ifndef ROCE_HIST_H
#define ROCE_HIST_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ROCE_HIST_SUB     32 /* buckets of one octave */
#define ROCE_HIST_OCTAVES 44 /* up to 2^48 ns, 78 hours; longer values go into the last bucket */

/* struct roce_hist is one histogram that its owner embeds; all zero is empty. */
struct roce_hist {
    uint64_t count, min, max; /* min and max are exact; valid when count > 0 */
    uint32_t bucket[ROCE_HIST_OCTAVES * ROCE_HIST_SUB];
};

/* struct roce_hist_summary is what is shown of a histogram; all 0 when count is 0. Unit: that of
 * the values added (ns in this library). */
struct roce_hist_summary {
    uint64_t count, min, p50, p90, p99, max;
};

/* roce_hist_bucket returns the bucket of |value|, below ROCE_HIST_OCTAVES * ROCE_HIST_SUB: values
 * below 32 are exact, above each octave is cut in 32. roce_hist_value returns the middle of
 * |bucket|. */
uint32_t roce_hist_bucket(uint64_t value);
uint64_t roce_hist_value(uint32_t bucket);

void roce_hist_add(struct roce_hist *hist, uint64_t value);
/* roce_hist_merge adds all of |from| to |hist|. */
void roce_hist_merge(struct roce_hist *hist, const struct roce_hist *from);
/* roce_hist_quantile returns the smallest value v such that at least |permille| / 1000 of the
 * values are <= v, within a bucket and clipped to min and max; 0 when empty. */
uint64_t roce_hist_quantile(const struct roce_hist *hist, uint32_t permille);
void roce_hist_summary(const struct roce_hist *hist, struct roce_hist_summary *out);

#ifdef __cplusplus
}
#endif
#endif
