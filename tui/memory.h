/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Memory of some MiB that is filled bit by bit. */
#ifndef TUI_MEMORY_H
#define TUI_MEMORY_H

#include <stddef.h>

/* tui_memory_new returns |size| bytes, aligned to a cache line at least, whose content is
 * undefined, or NULL. They come in large pages where the system has some: a page that nothing was
 * written to costs nothing, and one is touched for the first time only every 2 MiB. free releases
 * them. */
void *tui_memory_new(size_t size);

#endif
