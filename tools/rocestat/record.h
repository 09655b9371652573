/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The records of the report, for JSON and CSV: what docs/rocestat-json.md documents. Each function
 * emits the members of one object. */
#ifndef ROCESTAT_RECORD_H
#define ROCESTAT_RECORD_H

#include "rocestat/emit.h"
#include "rocestat/view.h"

#define RECORD_SCHEMA "rocestat/1"

void record_flow(struct emit *emit, const struct flow_view *view);

/* An all zero connection serves for the heading of CSV. */
void record_connection(struct emit *emit, const struct roce_observer *obs,
                       const struct roce_connection *connection);

/* A CM attempt: also those that never became a connection. */
void record_cm_members(struct emit *emit, const struct roce_cm_info *cm);

/* What the report says of the capture besides what the observer saw. */
struct record_capture {
    const char *file;
    uint32_t linktype;
    bool has_dropped;
    uint64_t dropped;
    bool cut_short; /* input ended in an error */
};
void record_capture(struct emit *emit, const struct record_capture *capture,
                    const struct roce_capture_totals *totals);
void record_icrc(struct emit *emit, const struct roce_capture_totals *totals);
void record_table(struct emit *emit, const struct roce_observer *obs);

void record_pause(struct emit *emit, const struct roce_pause_entry *entry);
void record_dscp(struct emit *emit, uint8_t value, const struct roce_dscp *dscp);
void record_finding(struct emit *emit, const struct roce_finding *finding);

/* Name, number and value in us of a latency or delay summary, null when |has| does not hold. */
void record_summary(struct emit *emit, const char *key, bool has, bool has_quantiles,
                    const struct roce_hist_summary *summary);

#endif
