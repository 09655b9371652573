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

/* Bytes of a word from |off| on that |len| bytes reach into. */
static size_t part(size_t len, uint64_t off)
{
    const size_t rest = 8 - (size_t)(off % 8);
    return len < rest ? len : rest;
}

void pattern_fill(uint8_t *buf, size_t len, uint64_t number, uint64_t off)
{
    uint8_t w[8];
    for (; len >= 8 && off % 8 == 0; buf += 8, len -= 8, off += 8)
        word(number, off / 8, buf);
    while (len > 0) {
        const size_t n = part(len, off);
        word(number, off / 8, w);
        memcpy(buf, w + off % 8, n);
        buf += n;
        len -= n;
        off += n;
    }
}

bool pattern_matches(const uint8_t *buf, size_t len, uint64_t number, uint64_t off)
{
    uint8_t w[8];
    for (; len >= 8 && off % 8 == 0; buf += 8, len -= 8, off += 8) {
        word(number, off / 8, w);
        if (memcmp(buf, w, 8) != 0)
            return false;
    }
    while (len > 0) {
        const size_t n = part(len, off);
        word(number, off / 8, w);
        if (memcmp(buf, w + off % 8, n) != 0)
            return false;
        buf += n;
        len -= n;
        off += n;
    }
    return true;
}
