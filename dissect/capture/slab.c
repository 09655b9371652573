/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Buffers of one size, next to each other in a large page. */
#include "slab.h"

#include <assert.h>
#include <stdlib.h>
#include <sys/mman.h>

#define PAGE_LEN ((size_t)2 << 20)
enum { BUFFERS = PAGE_LEN / CAP_BUFFER_LEN };

/* A checker of bounds wants each buffer by itself. */
#if defined(__SANITIZE_ADDRESS__) || !defined(MADV_HUGEPAGE)
#define APART 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define APART 1
#endif
#endif

static uint8_t *new_page(void)
{
#if defined(APART)
    return NULL;
#else
    uint8_t *page = aligned_alloc(PAGE_LEN, PAGE_LEN);
    if (page != NULL)
        (void)madvise(page, PAGE_LEN, MADV_HUGEPAGE);
    return page;
#endif
}

uint8_t *cap_slab_take(struct cap_slab *slab, size_t len)
{
    if (len == CAP_BUFFER_LEN && slab->page == NULL)
        slab->page = new_page();
    if (len == CAP_BUFFER_LEN && slab->page != NULL)
        for (uint32_t i = 0; i < BUFFERS; i++)
            if ((slab->taken >> i & 1) == 0) {
                slab->taken |= 1u << i;
                return slab->page + (size_t)i * CAP_BUFFER_LEN;
            }
    return malloc(len);
}

void cap_slab_give(struct cap_slab *slab, uint8_t *buf)
{
    const uintptr_t at = (uintptr_t)buf - (uintptr_t)slab->page;
    if (slab->page != NULL && buf != NULL && at < PAGE_LEN)
        slab->taken &= ~(1u << at / CAP_BUFFER_LEN);
    else
        free(buf);
}

void cap_slab_close(struct cap_slab *slab)
{
    assert(slab->taken == 0);
    free(slab->page);
    *slab = (struct cap_slab){0};
}
