/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Bounded big-endian reading with a sticky error: past the end every read gives 0, and one question
 * at the end tells. */
#ifndef WIRE_CURSOR_H
#define WIRE_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct cursor {
    const uint8_t *pos;
    const uint8_t *end;
    bool overrun;
};

static inline struct cursor cursor_at(const uint8_t *buf, size_t len)
{
    return (struct cursor){.pos = buf, .end = buf + len};
}

static inline size_t cursor_left(const struct cursor *c)
{
    return (size_t)(c->end - c->pos);
}

/* cursor_take returns the next |n| bytes, or NULL and sets the sticky error. */
static inline const uint8_t *cursor_take(struct cursor *c, size_t n)
{
    if (cursor_left(c) < n) {
        c->overrun = true;
        c->pos = c->end;
        return NULL;
    }
    const uint8_t *p = c->pos;
    c->pos += n;
    return p;
}

/* Spelled out: compilers make one load and a byte swap of each. */
static inline uint16_t load_be16(const uint8_t *p)
{
    return (uint16_t)(p[0] << 8 | p[1]);
}

static inline uint32_t load_be24(const uint8_t *p)
{
    return (uint32_t)p[0] << 16 | (uint32_t)p[1] << 8 | p[2];
}

static inline uint32_t load_be32(const uint8_t *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static inline uint64_t load_be64(const uint8_t *p)
{
    return (uint64_t)load_be32(p) << 32 | load_be32(p + 4);
}

static inline uint64_t load_be(const uint8_t *p, unsigned n)
{
    uint64_t v = 0;
    for (unsigned i = 0; i < n; i++)
        v = v << 8 | p[i];
    return v;
}

static inline uint64_t cursor_be(struct cursor *c, unsigned n)
{
    const uint8_t *p = cursor_take(c, n);
    return p == NULL ? 0 : load_be(p, n);
}

static inline uint8_t cursor_u8(struct cursor *c)
{
    return (uint8_t)cursor_be(c, 1);
}

static inline uint16_t cursor_be16(struct cursor *c)
{
    return (uint16_t)cursor_be(c, 2);
}

static inline uint32_t cursor_be24(struct cursor *c)
{
    return (uint32_t)cursor_be(c, 3);
}

static inline uint32_t cursor_be32(struct cursor *c)
{
    return (uint32_t)cursor_be(c, 4);
}

static inline uint64_t cursor_be64(struct cursor *c)
{
    return cursor_be(c, 8);
}

/* cursor_bytes copies |n| bytes to |out|, zeros when they are not there. */
static inline void cursor_bytes(struct cursor *c, void *out, size_t n)
{
    const uint8_t *p = cursor_take(c, n);
    if (p == NULL)
        memset(out, 0, n);
    else
        memcpy(out, p, n);
}

#endif
