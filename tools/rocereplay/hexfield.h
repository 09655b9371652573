/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Fields of the records that the example programs exchange: hexadecimal digits of fixed number,
 * divided by colons. */
#ifndef ROCEREPLAY_HEXFIELD_H
#define ROCEREPLAY_HEXFIELD_H

#include <stdbool.h>
#include <stdint.h>

/* hexfield reads |digits| digits at |*at|, before |end|, and moves |*at| behind them. */
static inline bool hexfield(const char **at, const char *end, int digits, uint64_t *value)
{
    uint64_t n = 0;
    if (end - *at < digits)
        return false;
    for (int i = 0; i < digits; i++) {
        const char c = (*at)[i];
        unsigned digit;
        if (c >= '0' && c <= '9')
            digit = (unsigned)(c - '0');
        else if (c >= 'a' && c <= 'f')
            digit = (unsigned)(c - 'a') + 10;
        else if (c >= 'A' && c <= 'F')
            digit = (unsigned)(c - 'A') + 10;
        else
            return false;
        n = n << 4 | digit;
    }
    *at += digits;
    *value = n;
    return true;
}

/* hexfield_colon moves |*at| behind the colon that must be there. */
static inline bool hexfield_colon(const char **at, const char *end)
{
    if (*at >= end || **at != ':')
        return false;
    (*at)++;
    return true;
}

#endif
