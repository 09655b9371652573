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

void space_del(void *space, size_t n, size_t size)
{
    if (space != NULL)
        (void)munmap(space, n * size);
}
