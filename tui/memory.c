/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Memory in large pages. The first write to each page of 4 KiB takes a fault, which costs as much
 * as counting some dozens of frames; in a virtual machine, several times that. */
#include "memory.h"

#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { LINE = 64, LARGE = 2 << 20, WORTH_ONE = LARGE / 4 };

void *tui_memory_new(size_t size)
{
    const size_t align = size < WORTH_ONE ? LINE : LARGE;
    void *memory = aligned_alloc(align, (size + align - 1) / align * align);
#if defined(MADV_HUGEPAGE)
    /* Without such pages those of 4 KiB are as good. */
    if (memory != NULL && align == LARGE)
        (void)madvise(memory, (size + align - 1) / align * align, MADV_HUGEPAGE);
#endif
    return memory;
}
