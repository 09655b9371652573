/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Room for as much as the limits allow. */
#include "space.h"

#include <stdint.h>
#include <sys/mman.h>

/* The first SMALL bytes of a space come in small pages, as many as are needed, and all behind them
 * in large ones: they begin on a large page's boundary. */
#define LARGE ((size_t)2 << 20)
#define SMALL ((size_t)64 << 10)
#define PAGE  ((size_t)4096)

static void *map(size_t bytes)
{
    void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return at == MAP_FAILED ? NULL : at;
}

#if defined(MADV_HUGEPAGE)
static size_t whole(size_t bytes, size_t page)
{
    return (bytes + page - 1) / page * page;
}

/* A large page begins |small| bytes, a multiple of a small page, behind what is returned. */
static void *map_aligned(size_t small, size_t bytes)
{
    const size_t room = bytes + LARGE;
    uint8_t *at = map(room);
    if (at == NULL)
        return NULL;
    uint8_t *large = (uint8_t *)whole((uintptr_t)at + small, LARGE);
    uint8_t *base = large - small, *end = base + bytes;
    if (base > at)
        (void)munmap(at, (size_t)(base - at));
    if (end < at + room)
        (void)munmap(end, (size_t)(at + room - end));
    (void)madvise(large, (size_t)(end - large), MADV_HUGEPAGE);
    return base;
}
#endif

void *space_new(size_t n, size_t size)
{
    if (n == 0 || size == 0 || n > SIZE_MAX / size)
        return NULL;
#if defined(MADV_HUGEPAGE)
    if (n * size >= SMALL + LARGE)
        return map_aligned(SMALL, whole(n * size, PAGE));
#endif
    return map(n * size);
}

void space_del(void *space, size_t n, size_t size)
{
    if (space != NULL)
        (void)munmap(space, n * size);
}

void *space_large_new(size_t bytes)
{
#if defined(MADV_HUGEPAGE)
    return map_aligned(0, whole(bytes, LARGE));
#else
    return map(bytes);
#endif
}

void space_large_del(void *space, size_t bytes)
{
#if defined(MADV_HUGEPAGE)
    space_del(space, 1, whole(bytes, LARGE));
#else
    space_del(space, 1, bytes);
#endif
}
