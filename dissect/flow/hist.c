/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Log-linear histogram of durations. */
#include <roce/hist.h>

#define SUB_BITS 5

static uint32_t highest_bit(uint64_t v)
{
#if defined(__GNUC__)
    return 63 - (uint32_t)__builtin_clzll(v);
#else
    uint32_t bit = 0;
    for (uint32_t step = 32; step > 0; step /= 2)
        if (v >> step != 0) {
            bit += step;
            v >>= step;
        }
    return bit;
#endif
}

uint32_t roce_hist_bucket(uint64_t value)
{
    if (value < ROCE_HIST_SUB)
        return (uint32_t)value;
    const uint32_t octave = highest_bit(value) - SUB_BITS;
    if (octave + 1 >= ROCE_HIST_OCTAVES)
        return ROCE_HIST_OCTAVES * ROCE_HIST_SUB - 1;
    return (octave + 1) * ROCE_HIST_SUB + (uint32_t)((value >> octave) & (ROCE_HIST_SUB - 1));
}

uint64_t roce_hist_value(uint32_t bucket)
{
    if (bucket < ROCE_HIST_SUB)
        return bucket;
    const uint32_t octave = bucket / ROCE_HIST_SUB - 1;
    const uint64_t low = (uint64_t)(ROCE_HIST_SUB + bucket % ROCE_HIST_SUB) << octave;
    return low + ((UINT64_C(1) << octave) >> 1);
}

void roce_hist_add(struct roce_hist *hist, uint64_t value)
{
    if (hist->count == 0 || value < hist->min)
        hist->min = value;
    if (value > hist->max)
        hist->max = value;
    hist->count++;
    hist->bucket[roce_hist_bucket(value)]++;
}

void roce_hist_merge(struct roce_hist *hist, const struct roce_hist *from)
{
    if (from->count == 0)
        return;
    if (hist->count == 0 || from->min < hist->min)
        hist->min = from->min;
    if (from->max > hist->max)
        hist->max = from->max;
    hist->count += from->count;
    for (int i = 0; i < ROCE_HIST_OCTAVES * ROCE_HIST_SUB; i++)
        hist->bucket[i] += from->bucket[i];
}

uint64_t roce_hist_quantile(const struct roce_hist *hist, uint32_t permille)
{
    if (hist->count == 0)
        return 0;
    const uint64_t rank = (hist->count * permille + 999) / 1000;
    uint64_t seen = 0;
    for (uint32_t i = 0; i < ROCE_HIST_OCTAVES * ROCE_HIST_SUB; i++) {
        seen += hist->bucket[i];
        if (seen > 0 && seen >= rank) {
            const uint64_t v = roce_hist_value(i);
            if (v < hist->min)
                return hist->min;
            return v > hist->max ? hist->max : v;
        }
    }
    return hist->max;
}

void roce_hist_summary(const struct roce_hist *hist, struct roce_hist_summary *out)
{
    *out = (struct roce_hist_summary){0};
    if (hist->count == 0)
        return;
    out->count = hist->count;
    out->min = hist->min;
    out->max = hist->max;
    out->p50 = roce_hist_quantile(hist, 500);
    out->p90 = roce_hist_quantile(hist, 900);
    out->p99 = roce_hist_quantile(hist, 990);
}
