/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Scenarios by file or by name. */
#ifndef ROCESIM_FIND_H
#define ROCESIM_FIND_H

#include <stddef.h>

enum { FIND_LEN_MAX = 1 << 20 };

/* find_scenario reads the scenario |name|: a file, or one that is installed. The text is the
 * caller's to free; |*len| is its length. NULL: the reason has been told on standard error. */
char *find_scenario(const char *name, size_t *len);

/* find_list prints the names and titles of the installed ones. Returns the exit status. */
int find_list(void);

#endif
