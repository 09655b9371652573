/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Bounded big-endian writing with a sticky error, the counterpart of cursor.h. */
#ifndef WIRE_WRITER_H
#define WIRE_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct writer {
    uint8_t *pos;
    uint8_t *end;
    bool overrun;
};

static inline struct writer writer_at(uint8_t *buf, size_t len)
{
    return (struct writer){.pos = buf, .end = buf + len};
}

static inline uint8_t *writer_take(struct writer *w, size_t n)
{
    if ((size_t)(w->end - w->pos) < n) {
        w->overrun = true;
        w->pos = w->end;
        return NULL;
    }
    uint8_t *p = w->pos;
    w->pos += n;
    return p;
}

/* writer_be puts the low |n| bytes of |v|. */
static inline void writer_be(struct writer *w, uint64_t v, unsigned n)
{
    uint8_t *p = writer_take(w, n);
    if (p == NULL)
        return;
    for (unsigned i = 0; i < n; i++)
        p[i] = (uint8_t)(v >> (8 * (n - 1 - i)));
}

static inline void writer_bytes(struct writer *w, const void *src, size_t n)
{
    uint8_t *p = writer_take(w, n);
    if (p != NULL)
        memcpy(p, src, n);
}

static inline void writer_zeros(struct writer *w, size_t n)
{
    uint8_t *p = writer_take(w, n);
    if (p != NULL)
        memset(p, 0, n);
}

#endif
