/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the command line of rocestat asked for. */
#ifndef ROCESTAT_OPTIONS_H
#define ROCESTAT_OPTIONS_H

#include <roce/finding.h>

#include "common/live.h"

enum stat_mode { MODE_TEXT, MODE_JSON, MODE_NDJSON, MODE_CSV };

enum stat_table {
    TABLE_FINDINGS,
    TABLE_CONNECTIONS,
    TABLE_FLOWS,
    TABLE_HOSTS,
    TABLE_PFC,
    TABLE_MESSAGES,
    TABLE_EVENTS,
    TABLE_COUNT,
};

/* The order is that of the words of --csv. */
enum csv_table { CSV_NONE = -1, CSV_FLOWS, CSV_CONNECTIONS, CSV_MESSAGES, CSV_EVENTS };

enum { TOP_TEXT = 20, TOP_RECORDS = 10000, RECORDS_MAX = 1000000, JOBS_MAX = 64 };

struct stat_opts {
    struct common_opts common;
    struct live_opts live;
    bool tables[TABLE_COUNT];
    const char *interval, *sort, *filter, *diff_counters, *fail_on, *listen, *textfile, *forget;
    int csv;                                         /* enum csv_table */
    uint64_t top;                                    /* 0: as many as the mode allows */
    uint64_t storm_ms, timeout_exp, max_flows, jobs; /* 0: not given */

    /* what follows from the above */
    enum stat_mode mode;
    bool chosen;          /* some table was asked for by name */
    uint64_t interval_ns; /* 0: none */
    uint64_t forget_ns;   /* 0: never */
    bool fail_kind[ROCE_FINDING_KINDS];
    int fail_severity; /* findings as grave as this; -1: none */
    int sort_column;   /* enum sort_column */
    const char *file;  /* or the names of the interfaces */
    char interfaces[256];
    char bpf[8192]; /* "" without */
};

/* stat_opts_parse fills |opts|. Returns 0, OPT_EXIT_DONE, or OPT_EXIT_USAGE with the mistake
 * reported. */
int stat_opts_parse(struct stat_opts *opts, int argc, char **argv);

/* stat_opts_wants tells whether |table| belongs to the report. */
bool stat_opts_wants(const struct stat_opts *opts, enum stat_table table);

#endif
