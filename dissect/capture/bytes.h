/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unaligned loads in the byte order of the file, and what the compiler can be told. */
#ifndef CAPTURE_BYTES_H
#define CAPTURE_BYTES_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#if defined(__GNUC__)
#define CAP_INLINE      static inline __attribute__((always_inline))
#define CAP_LIKELY(x)   __builtin_expect((x), 1)
#define CAP_UNLIKELY(x) __builtin_expect((x), 0)
/* Through an integer, because the address may lie outside the object. */
#define CAP_PREFETCH_AT(p, distance) __builtin_prefetch((const void *)((uintptr_t)(p) + (distance)))
#define CAP_PRINTF(f, a)             __attribute__((format(printf, f, a)))
#else
#define CAP_INLINE                   static inline
#define CAP_LIKELY(x)                (x)
#define CAP_UNLIKELY(x)              (x)
#define CAP_PREFETCH_AT(p, distance) ((void)(p))
#define CAP_PRINTF(f, a)
#endif

/* |swap|: the file's byte order is not the machine's. A constant wherever speed counts. */
CAP_INLINE uint16_t cap_u16(const uint8_t *p, bool swap)
{
    uint16_t v;
    memcpy(&v, p, sizeof(v));
    return swap ? (uint16_t)(v << 8 | v >> 8) : v;
}

CAP_INLINE uint32_t cap_u32(const uint8_t *p, bool swap)
{
    uint32_t v;
    memcpy(&v, p, sizeof(v));
    return swap ? v << 24 | (v << 8 & 0xff0000) | (v >> 8 & 0xff00) | v >> 24 : v;
}

CAP_INLINE uint64_t cap_u64(const uint8_t *p, bool swap)
{
    uint64_t v;
    memcpy(&v, p, sizeof(v));
    if (!swap)
        return v;
    return (uint64_t)cap_u32(p, true) << 32 | cap_u32(p + 4, true);
}

#endif
