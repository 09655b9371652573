/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The report at the end, in the form that was asked for. */
#ifndef ROCESTAT_REPORT_H
#define ROCESTAT_REPORT_H

#include "common/out.h"
#include "rocestat/interval.h"
#include "rocestat/journal.h"
#include "rocestat/record.h"
#include "rocestat/saved.h"
#include "rocestat/sort.h"

struct report {
    const struct stat_opts *opts;
    struct roce_observer *obs;
    struct roce_capture_totals totals;
    struct record_capture capture;
    struct journal *journal;
    const struct saved *saved; /* NULL without --diff-counters */
    uint32_t *ids;             /* of the flows that are shown, in order */
    uint32_t shown;
    struct flow_sums sums;
    uint32_t hosts;
    uint32_t saved_host; /* whose counters those are, or ROCE_FLOW_NONE */
    struct out *out;
    struct out *series; /* what report_interval wrote, to be copied into the report; NULL without */
    bool colour;
};

void report_text(struct report *report);
void report_json(struct report *report);
void report_ndjson(struct report *report);
void report_csv(struct report *report);

/* report_verdict writes the sentence that comes first; returns its length. */
size_t report_verdict(const struct report *report, char *text, size_t size);

/* report_interval prints |interval|, now over: to the output where records are streamed, else to
 * the series. */
void report_interval(struct report *report, const struct interval *interval);

/* report_interval_text is its form for people. */
void report_interval_text(struct out *out, const struct interval *interval);

#endif
