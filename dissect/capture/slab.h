/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Buffers of one size, next to each other in a large page: where a hypervisor shadows the guest's
 * page tables, the first touch of each small page costs as much as reading a hundred frames. */
#ifndef CAPTURE_SLAB_H
#define CAPTURE_SLAB_H

#include <stddef.h>
#include <stdint.h>

/* What stays in the second-level cache together with what decoding touches. */
#define CAP_BUFFER_LEN (256u << 10)

/* All zero: nothing taken yet. */
struct cap_slab {
    uint8_t *page;  /* NULL: not asked for yet, or not to be had */
    uint32_t taken; /* bit i: buffer i of the page */
};

/* cap_slab_take returns |len| bytes, not cleared, or NULL: those of CAP_BUFFER_LEN from the page as
 * long as it has any. cap_slab_give takes back what cap_slab_take returned; NULL is ignored.
 * cap_slab_close frees the page, all of whose buffers have been given back. */
uint8_t *cap_slab_take(struct cap_slab *slab, size_t len);
void cap_slab_give(struct cap_slab *slab, uint8_t *buf);
void cap_slab_close(struct cap_slab *slab);

#endif
