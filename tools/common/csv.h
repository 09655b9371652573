/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Comma separated values, quoted as RFC 4180 says; lines end with a line feed alone, which every
 * reader of the format takes and line tools need. */
#ifndef TOOLS_CSV_H
#define TOOLS_CSV_H

#include "common/out.h"

struct csv {
    struct out *out;
    bool started; /* the row has a field already */
};

void csv_init(struct csv *csv, struct out *out);
/* csv_field appends one field of |n| bytes to the row; |n| 0 is an empty field. */
void csv_field(struct csv *csv, const char *text, size_t n);
void csv_end_row(struct csv *csv);

#endif
