/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Contents of checked messages. */
#include "rocereplay/pattern.h"

#include <string.h>

/* The bytes of word |i|: a mix (splitmix64) of both numbers. */
static void word(uint64_t number, uint64_t i, uint8_t out[8])
{
    uint64_t z = (number + 1) * 0x9E3779B97F4A7C15U + i * 0xD1B54A32D192ED03U;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9U;
    z = (z ^ z >> 27) * 0x94D049BB133111EBU;
    z ^= z >> 31;
    for (unsigned k = 0; k < 8; k++)
        out[k] = (uint8_t)(z >> 8 * k);
}

void pattern_fill(uint8_t *buf, size_t len, uint64_t number, uint64_t off)
{
    uint8_t w[8];
    while (len > 0) {
        const size_t skip = off % 8, n = len < 8 - skip ? len : 8 - skip;
        word(number, off / 8, w);
        memcpy(buf, w + skip, n);
        buf += n;
        len -= n;
        off += n;
    }
}

bool pattern_matches(const uint8_t *buf, size_t len, uint64_t number, uint64_t off)
{
    uint8_t w[8];
    while (len > 0) {
        const size_t skip = off % 8, n = len < 8 - skip ? len : 8 - skip;
        word(number, off / 8, w);
        if (memcmp(buf, w + skip, n) != 0)
            return false;
        buf += n;
        len -= n;
        off += n;
    }
    return true;
}
