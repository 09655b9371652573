/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tick conversion without 128-bit arithmetic. */
#include "ticks.h"

#define NS_PER_S     UINT64_C(1000000000)
#define BINARY_BIT   0x80
#define EXPONENT     0x7f
#define DECIMAL_NS   9  /* 10^-9 s */
#define DECIMAL_LAST 19 /* the largest power of ten in 64 bits */

static uint64_t power_of_ten(unsigned exponent)
{
    uint64_t power = 1;
    while (exponent-- > 0)
        power *= 10;
    return power;
}

void cap_ticks_init(struct cap_ticks *ticks, uint8_t resol, int64_t offset)
{
    const bool binary = (resol & BINARY_BIT) != 0;
    const unsigned exponent = resol & EXPONENT;
    ticks->resol = resol;
    ticks->offset = (uint64_t)offset * NS_PER_S;
    ticks->scale = 0;
    if (!binary && exponent <= DECIMAL_NS)
        ticks->scale = power_of_ten(DECIMAL_NS - exponent);
    else if (binary && exponent <= DECIMAL_NS) /* 10^9 is 2^9 times an odd number */
        ticks->scale = NS_PER_S >> exponent;
}

bool cap_ticks_finer_than_us(uint8_t resol)
{
    /* 2^-20 s is 0.95 us. */
    return (resol & EXPONENT) >= ((resol & BINARY_BIT) != 0 ? 20 : 7);
}

/* 10^9 * |fraction| / 2^|exponent| with |fraction| < 2^exponent, through a product of 96 bits in
 * two halves. */
static uint64_t binary_fraction(uint64_t fraction, unsigned exponent)
{
    const uint64_t low = (fraction & UINT32_MAX) * NS_PER_S;
    const uint64_t high = (fraction >> 32) * NS_PER_S + (low >> 32); /* in units of 2^32 */
    if (exponent < 32)
        return high << (32 - exponent) | (low & UINT32_MAX) >> exponent;
    return exponent - 32 < 64 ? high >> (exponent - 32) : 0;
}

uint64_t cap_ticks_fraction(uint8_t resol, uint64_t count)
{
    const unsigned exponent = resol & EXPONENT;
    if ((resol & BINARY_BIT) == 0) {
        if (exponent <= DECIMAL_NS)
            return count * power_of_ten(DECIMAL_NS - exponent);
        if (exponent - DECIMAL_NS > DECIMAL_LAST)
            return 0;
        return count / power_of_ten(exponent - DECIMAL_NS);
    }
    if (exponent >= 64)
        return binary_fraction(count, exponent);
    const uint64_t seconds = count >> exponent;
    const uint64_t fraction = count & ((UINT64_C(1) << exponent) - 1);
    return seconds * NS_PER_S + binary_fraction(fraction, exponent);
}
