/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the command line of rocedump asked for. */
#ifndef ROCEDUMP_OPTIONS_H
#define ROCEDUMP_OPTIONS_H

#include "common/live.h"

/* The order is that of the words of --time-precision. */
enum precision { PRECISION_AUTO, PRECISION_MICRO, PRECISION_NANO };

enum dump_mode {
    MODE_LINES,   /* one line a packet */
    MODE_DETAILS, /* -V */
    MODE_TABS,    /* --fields alone */
    MODE_CSV,
    MODE_JSON,
    MODE_NDJSON,
    MODE_WRITE, /* -w: frames, no text */
};

struct dump_opts {
    struct common_opts common;
    struct live_opts live;
    const char *filter, *check_filter, *fields;
    bool list_fields, all, details, hex, csv, analysis, follow;
    unsigned times; /* how many t */
    int precision;  /* enum precision */

    enum dump_mode mode; /* what follows from the above */
    const char *file;    /* or the names of the interfaces */
    char interfaces[256];
    char bpf[8192]; /* "" without */
};

/* dump_opts_parse fills |opts|. Returns 0, OPT_EXIT_DONE, or OPT_EXIT_USAGE with the mistake
 * reported. */
int dump_opts_parse(struct dump_opts *opts, int argc, char **argv);

#endif
