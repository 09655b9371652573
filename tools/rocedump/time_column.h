/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The time column of a line, in the forms of tcpdump's -t. */
#ifndef ROCEDUMP_TIME_COLUMN_H
#define ROCEDUMP_TIME_COLUMN_H

#include "rocedump/options.h"

#include <roce/types.h>

enum time_style {
    TIME_OF_DAY,
    TIME_NONE,
    TIME_EPOCH,
    TIME_SINCE_PREVIOUS,
    TIME_DATE,
    TIME_SINCE_FIRST,
};

struct time_column {
    enum time_style style;
    enum precision precision;
    bool started;
    roce_tstamp reference; /* first or previous line */
    uint64_t second;       /* that |text| stands for */
    char text[64];
    size_t len;
};

#define TIME_COLUMN_MAX 96

/* time_column_init takes the number of t's that -t was given. Times of day are local time (TZ). */
void time_column_init(struct time_column *column, unsigned times, enum precision precision);

/* time_column_put writes the time and a space behind it (nothing for -t) and returns the end.
 * |nanosecond| tells whether the capture's clock is finer than a microsecond. */
char *time_column_put(struct time_column *column, char *out, roce_tstamp ts, bool nanosecond);

/* time_text writes "2024-05-06 07:08:09.123456789" in local time and returns the end. */
char *time_text(char *out, roce_tstamp ts);

#endif
