/* SPDX-License-Identifier: GPL-2.0-or-later */
/* -V: every field of every layer, one a line. */
#ifndef ROCEDUMP_DETAILS_H
#define ROCEDUMP_DETAILS_H

#include "rocedump/columns.h"
#include "rocedump/line.h"

/* details_print writes the packet's one-line summary, then layer by layer its fields as "Label:
 * value (words)". */
void details_print(struct line_printer *printer, const struct columns *columns,
                   const struct roce_view *view, bool nanosecond);

/* details_heading names the layer of the field |name|; NULL for a field without one. */
const char *details_heading(const char *name);

#endif
