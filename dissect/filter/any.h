/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Words of the filter language that stand for several fields (ANY lines of fields.def). */
#ifndef FILTER_ANY_H
#define FILTER_ANY_H

#include <stddef.h>

#define ANY_MAX 3

struct any {
    const char *word;
    const char *names[ANY_MAX]; /* field names, NULL behind the last */
};

size_t any_count(void);
const struct any *any_at(size_t index);

#endif
