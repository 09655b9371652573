/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Seeded random numbers: splitmix64. */
#include "engine/engine.h"

uint64_t eng_rng_next(struct eng_rng *rng)
{
    uint64_t z = rng->state += UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
    return z ^ z >> 31;
}
