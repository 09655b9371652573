/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Room for as much as the limits allow. */
#include "space.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/mman.h>

/* The first SMALL bytes of a space come in small pages, as many as are needed, and all behind them
 * in large ones. */
#define LARGE ((size_t)2 << 20)
#define SMALL ((size_t)64 << 10)

static void *map(size_t bytes)
{
    void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return at == MAP_FAILED ? NULL : at;
}

static void unmap(uint8_t *at, size_t bytes)
{
    if (bytes > 0)
        (void)munmap(at, bytes);
}

#if defined(MADV_HUGEPAGE)
/* |bytes| are whole large pages. Newer kernels align such a mapping by themselves. */
static uint8_t *map_large(size_t bytes)
{
    uint8_t *at = map(bytes);
    const size_t past = (uintptr_t)at % LARGE;
    if (at == NULL || past == 0)
        return at;
    unmap(at, bytes);
    uint8_t *wide = map(bytes + LARGE);
    if (wide == NULL)
        return NULL;
    const size_t before = (LARGE - (uintptr_t)wide % LARGE) % LARGE;
    unmap(wide, before);
    unmap(wide + before + bytes, LARGE - before);
    return wide + before;
}

/* A space of small pages first ends a large page with them; what is in front of them is not used.
 */
static size_t unused(size_t small)
{
    return small == 0 ? 0 : LARGE - small;
}

static size_t mapped(size_t small, size_t bytes)
{
    return (unused(small) + bytes + LARGE - 1) / LARGE * LARGE;
}

static void *new_large(size_t small, size_t bytes)
{
    const size_t len = mapped(small, bytes), from = unused(small) + small;
    uint8_t *at = map_large(len);
    if (at == NULL)
        return NULL;
    (void)madvise(at + from, len - from, MADV_HUGEPAGE);
    return at + unused(small);
}

static void del_large(void *space, size_t small, size_t bytes)
{
    unmap((uint8_t *)space - unused(small), mapped(small, bytes));
}

static bool is_large(size_t bytes)
{
    return bytes >= SMALL + LARGE;
}
#else
static void *new_large(size_t small, size_t bytes)
{
    (void)small;
    return map(bytes);
}

static void del_large(void *space, size_t small, size_t bytes)
{
    (void)small;
    unmap(space, bytes);
}

static bool is_large(size_t bytes)
{
    (void)bytes;
    return false;
}
#endif

void *space_new(size_t n, size_t size)
{
    if (n == 0 || size == 0 || n > (SIZE_MAX - 2 * LARGE) / size)
        return NULL;
    return is_large(n * size) ? new_large(SMALL, n * size) : map(n * size);
}

void space_del(void *space, size_t n, size_t size)
{
    if (space == NULL)
        return;
    if (is_large(n * size))
        del_large(space, SMALL, n * size);
    else
        unmap(space, n * size);
}

void *space_large_new(size_t bytes)
{
    return new_large(0, bytes);
}

void space_large_del(void *space, size_t bytes)
{
    if (space != NULL)
        del_large(space, 0, bytes);
}
