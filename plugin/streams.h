/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How the columns of a statistics table are written. */
#ifndef PLUGIN_STREAMS_H
#define PLUGIN_STREAMS_H

#define FORMAT_UINT   "%u"
#define FORMAT_STRING "%s"
#define FORMAT_FLOAT  "%.3f"

/* A count that does not fit stays at the largest one. */
#define VALUE_UINT(n)   .uint_value = (guint)MIN((uint64_t)(n), UINT32_MAX)
#define VALUE_STRING(s) .string_value = (s)
#define VALUE_FLOAT(d)  .float_value = (d)

#endif
