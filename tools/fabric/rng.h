/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Seeded random numbers, one stream for each port: what one port draws does not move another's. */
#ifndef FABRIC_RNG_H
#define FABRIC_RNG_H

#include <stdbool.h>
#include <stdint.h>

/* mix64 is the finaliser of splitmix64: every bit of |z| reaches every bit of the result. */
static inline uint64_t mix64(uint64_t z)
{
    z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
    return z ^ z >> 31;
}

static inline uint64_t rng_next(uint64_t *state)
{
    *state += UINT64_C(0x9E3779B97F4A7C15);
    return mix64(*state);
}

/* rng_hit is true with probability |p|. Nothing is drawn for a p of 0. */
static inline bool rng_hit(uint64_t *state, double p)
{
    return p > 0 && (double)(rng_next(state) >> 11) * 0x1p-53 < p;
}

#endif
