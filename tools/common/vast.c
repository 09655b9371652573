/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Room for as many records as a limit allows. */
#include "common/vast.h"

#include <stdint.h>
#include <sys/mman.h>

void *vast_new(size_t n, size_t size)
{
    if (n == 0 || size == 0 || n > SIZE_MAX / size)
        return NULL;
    void *vast = mmap(NULL, n * size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return vast == MAP_FAILED ? NULL : vast;
}

void vast_del(void *vast, size_t n, size_t size)
{
    if (vast != NULL)
        (void)munmap(vast, n * size);
}
