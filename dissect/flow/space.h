/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Room for as much as the limits allow, of which a page costs nothing until it is written. */
#ifndef FLOW_SPACE_H
#define FLOW_SPACE_H

#include <stddef.h>

/* space_new returns room for |n| zeroed records of |size| bytes, on a page boundary, or NULL. The
 * system maps it directly: an allocator that marks or fills what it hands out (as those that look
 * for errors do) would touch all of it. */
void *space_new(size_t n, size_t size);
/* space_del gives back what space_new returned for the same |n| and |size|; NULL is ignored. */
void space_del(void *space, size_t n, size_t size);

/* space_large_new returns |bytes| zeroed bytes that will be touched here and there: large pages
 * from the first, on such a page's boundary, or NULL. space_large_del gives them back; NULL is
 * ignored.
 */
void *space_large_new(size_t bytes);
void space_large_del(void *space, size_t bytes);

#endif
