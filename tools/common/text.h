/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Text appended at a moving end, for the lines that are written a million times a second. */
#ifndef TOOLS_TEXT_H
#define TOOLS_TEXT_H

#include <stddef.h>
#include <string.h>

/* text_put appends |n| bytes and returns the new end; the caller has ensured the room. */
static inline char *text_put(char *out, const char *s, size_t n)
{
    memcpy(out, s, n);
    return out + n;
}

/* TEXT appends a string constant without measuring it. */
#define TEXT(out, constant) text_put((out), (constant), sizeof(constant) - 1)

/* text_pad fills with spaces until |width| bytes stand behind |begin|; returns the new end. */
static inline char *text_pad(char *out, const char *begin, size_t width)
{
    const size_t used = (size_t)(out - begin);
    if (used >= width)
        return out;
    memset(out, ' ', width - used);
    return out + (width - used);
}

#endif
