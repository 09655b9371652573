/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Packets as JSON objects, CSV rows and tab separated lines. */
#ifndef ROCEDUMP_RECORDS_H
#define ROCEDUMP_RECORDS_H

#include "common/csv.h"
#include "common/json.h"
#include "rocedump/columns.h"
#include "rocedump/options.h"

struct records {
    enum dump_mode mode; /* MODE_JSON, MODE_NDJSON, MODE_CSV or MODE_TABS */
    const struct columns *columns;
    struct out *out;
    struct json json;
    struct csv csv;
};

/* records_begin writes what stands before the first packet. */
void records_begin(struct records *records, enum dump_mode mode, const struct columns *columns,
                   struct out *out);
void records_packet(struct records *records, const struct roce_view *view);
/* records_end writes what stands behind the last packet; the document is whole then. */
void records_end(struct records *records);

#endif
