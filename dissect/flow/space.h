/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Room for as much as the limits allow, of which a page costs nothing until it is written. */
#ifndef FLOW_SPACE_H
#define FLOW_SPACE_H

#include <stddef.h>

/* space_new returns room for |n| zeroed records of |size| bytes, on a page boundary, or NULL. The
 * system maps it directly: an allocator that marks or fills what it hands out (as those that look
 * for errors do) would touch all of it. */
void *space_new(size_t n, size_t size);
/* space_use says that of |space|, which has |bytes|, those from |from| to |to| are about to be
 * written: where the system has large pages, that takes a fault every 2 MiB, not every 4 KiB. A
 * page that was touched before stays small, so that this is to be said early. */
void space_use(void *space, size_t bytes, size_t from, size_t to);
/* space_del gives back what space_new returned for the same |n| and |size|; NULL is ignored. */
void space_del(void *space, size_t n, size_t size);

#endif
