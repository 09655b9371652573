/* SPDX-License-Identifier: GPL-2.0-or-later */
/* 24-bit packet sequence number arithmetic (IBTA 9.7.2): all comparisons are modulo 2^24. */
#ifndef ROCE_PSN_H
#define ROCE_PSN_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ROCE_PSN_MASK UINT32_C(0xFFFFFF)

/* roce_psn_add returns |psn| + |n| modulo 2^24; |n| may be negative. */
static inline uint32_t roce_psn_add(uint32_t psn, int64_t n)
{
    return (uint32_t)((uint64_t)psn + (uint64_t)n) & ROCE_PSN_MASK;
}

/* roce_psn_diff returns the distance from |b| to |a|, -2^23 .. 2^23-1: positive when |a| is ahead.
 */
static inline int32_t roce_psn_diff(uint32_t a, uint32_t b)
{
    const uint32_t d = (a - b) & ROCE_PSN_MASK;
    return d < UINT32_C(0x800000) ? (int32_t)d : (int32_t)d - 0x1000000;
}

/* roce_psn_count returns how many PSNs a message of |len| bytes takes at path MTU |mtu|
 * (256..4096): at least one (IBTA 9.7.2.1). */
static inline uint32_t roce_psn_count(uint32_t len, uint32_t mtu)
{
    return len == 0 ? 1 : (len - 1) / mtu + 1;
}

#ifdef __cplusplus
}
#endif
#endif
