/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Room for as much as the limits allow. */
#include "space.h"

#include <stdint.h>
#include <sys/mman.h>

void *space_new(size_t n, size_t size)
{
    if (n == 0 || size == 0 || n > SIZE_MAX / size)
        return NULL;
    void *space = mmap(NULL, n * size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return space == MAP_FAILED ? NULL : space;
}

#define LARGE ((uintptr_t)2 << 20)

void space_use(void *space, size_t bytes, size_t from, size_t to)
{
#if defined(MADV_HUGEPAGE)
    const uintptr_t base = (uintptr_t)space;
    const uintptr_t begin = (base + from + LARGE - 1) / LARGE * LARGE;
    uintptr_t end = (base + to + LARGE - 1) / LARGE * LARGE;
    if (end > base + bytes)
        end = (base + bytes) / LARGE * LARGE;
    if (begin < end)
        (void)madvise((void *)begin, end - begin, MADV_HUGEPAGE);
#else
    (void)space;
    (void)bytes;
    (void)from;
    (void)to;
#endif
}

void space_del(void *space, size_t n, size_t size)
{
    if (space != NULL)
        (void)munmap(space, n * size);
}
