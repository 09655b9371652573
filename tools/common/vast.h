/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Room for as many records as a limit allows, of which few will be written. */
#ifndef COMMON_VAST_H
#define COMMON_VAST_H

#include <stddef.h>

/* vast_new returns |n| zeroed records of |size| bytes, on a page boundary, or NULL. A page costs
 * nothing until it is written, under a sanitizer's allocator, too: the system maps it directly. */
void *vast_new(size_t n, size_t size);

/* vast_del gives back what vast_new returned for the same |n| and |size|; NULL is ignored. */
void vast_del(void *vast, size_t n, size_t size);

#endif
