/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Hex text to bytes in an exact-size heap block, so that a sanitizer sees one byte too many. */
#ifndef TESTS_HEX_H
#define TESTS_HEX_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static inline unsigned hex_digit(char c)
{
    return (unsigned)(c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10);
}

/* hex_bytes returns a malloc'd block with the bytes of |hex| (spaces are skipped) and their number
 * in |*len|. */
static inline uint8_t *hex_bytes(const char *hex, size_t *len)
{
    uint8_t *out = malloc(strlen(hex) / 2 + 1);
    size_t n = 0;
    for (const char *p = hex; *p != '\0';) {
        if (*p == ' ') {
            p++;
            continue;
        }
        out[n++] = (uint8_t)(hex_digit(p[0]) << 4 | hex_digit(p[1]));
        p += 2;
    }
    *len = n;
    uint8_t *exact = realloc(out, n > 0 ? n : 1);
    return exact != NULL ? exact : out;
}

/* exact_copy returns the first |len| bytes of |src| in a block of exactly that size. */
static inline uint8_t *exact_copy(const uint8_t *src, size_t len)
{
    uint8_t *out = malloc(len > 0 ? len : 1);
    memcpy(out, src, len);
    return out;
}

#endif
