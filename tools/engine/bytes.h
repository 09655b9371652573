/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Big-endian stores at a moving position, for buffers whose room is known. */
#ifndef ENGINE_BYTES_H
#define ENGINE_BYTES_H

#include <stdint.h>

static inline void store_be16(uint8_t *p, uint32_t v)
{
    p[0] = (uint8_t)(v >> 8);
    p[1] = (uint8_t)v;
}

static inline void store_be32(uint8_t *p, uint32_t v)
{
    p[0] = (uint8_t)(v >> 24);
    p[1] = (uint8_t)(v >> 16);
    p[2] = (uint8_t)(v >> 8);
    p[3] = (uint8_t)v;
}

static inline uint8_t *put_be32(uint8_t *p, uint32_t v)
{
    store_be32(p, v);
    return p + 4;
}

static inline uint8_t *put_be64(uint8_t *p, uint64_t v)
{
    store_be32(p, (uint32_t)(v >> 32));
    store_be32(p + 4, (uint32_t)v);
    return p + 8;
}

#endif
