/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The report of a check: text, JSON, TAP. */
#ifndef ROCEREPLAY_CHECK_REPORT_H
#define ROCEREPLAY_CHECK_REPORT_H

#include "rocereplay/check.h"

enum check_format { CHECK_FORMAT_TEXT, CHECK_FORMAT_JSON, CHECK_FORMAT_TAP };

struct check_report {
    const char *peer, *evidence; /* |evidence| NULL: none recorded */
    const struct check_result *results;
    unsigned n;
    enum check_format format;
    bool brief; /* text: what did not pass alone */
    bool whole; /* false: the run was cut short */
};

/* check_report_print writes to standard output; 0, or -1 with a message printed. */
int check_report_print(const struct check_report *report);
int check_list_print(enum check_format format);

const char *check_verdict_name(enum check_verdict verdict); /* "pass", "fail", "not_observable" */

#endif
