/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a number means, for -V. */
#ifndef ROCEDUMP_WORDS_H
#define ROCEDUMP_WORDS_H

#include <roce/field.h>

/* words_put appends the meaning of the field |name| in |view| and returns the end; nothing when its
 * value speaks for itself. At most 200 bytes. */
char *words_put(char *out, const char *name, const struct roce_view *view);

/* words_unit returns the unit of the field |name| with a space in front, "" for a bare number. */
const char *words_unit(const char *name);

#endif
