/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Time column. */
#include "rocedump/time_column.h"

#include <string.h>
#include <time.h>

#include <roce/fmt.h>

#define NS_PER_SECOND UINT64_C(1000000000)

void time_column_init(struct time_column *column, unsigned times, enum precision precision)
{
    *column = (struct time_column){
        .style = (enum time_style)times, .precision = precision, .second = UINT64_MAX};
    tzset();
}

static char *put_fraction(char *out, uint64_t ns, bool nanosecond)
{
    *out++ = '.';
    return nanosecond ? roce_fmt_uint_pad(out, ns, 9) : roce_fmt_uint_pad(out, ns / 1000, 6);
}

/* Calendar arithmetic once a second of capture time, not once a packet. */
static void fill_second(struct time_column *column, uint64_t second)
{
    const time_t t = (time_t)second;
    struct tm tm;
    column->second = second;
    column->len = 0;
    if (localtime_r(&t, &tm) != NULL)
        column->len = strftime(column->text, sizeof(column->text),
                               column->style == TIME_DATE ? "%Y-%m-%d %H:%M:%S" : "%H:%M:%S", &tm);
}

/* "-" for a clock that ran backwards, then hours, minutes, seconds. */
static char *put_delta(char *out, roce_tstamp ts, roce_tstamp reference, bool nanosecond)
{
    *out++ = ts < reference ? '-' : ' ';
    const uint64_t delta = ts < reference ? reference - ts : ts - reference;
    const uint64_t seconds = delta / NS_PER_SECOND;
    const uint64_t hours = seconds / 3600;
    out = hours < 100 ? roce_fmt_uint_pad(out, hours, 2) : roce_fmt_uint(out, hours);
    *out++ = ':';
    out = roce_fmt_uint_pad(out, seconds / 60 % 60, 2);
    *out++ = ':';
    out = roce_fmt_uint_pad(out, seconds % 60, 2);
    return put_fraction(out, delta % NS_PER_SECOND, nanosecond);
}

char *time_column_put(struct time_column *column, char *out, roce_tstamp ts, bool nanosecond)
{
    if (column->precision != PRECISION_AUTO)
        nanosecond = column->precision == PRECISION_NANO;
    if (!column->started)
        column->reference = ts;
    column->started = true;
    switch (column->style) {
    case TIME_NONE:
        return out;
    case TIME_EPOCH:
        out = roce_fmt_uint(out, ts / NS_PER_SECOND);
        out = put_fraction(out, ts % NS_PER_SECOND, nanosecond);
        break;
    case TIME_SINCE_PREVIOUS:
        out = put_delta(out, ts, column->reference, nanosecond);
        column->reference = ts;
        break;
    case TIME_SINCE_FIRST:
        out = put_delta(out, ts, column->reference, nanosecond);
        break;
    case TIME_OF_DAY:
    case TIME_DATE:
        if (ts / NS_PER_SECOND != column->second)
            fill_second(column, ts / NS_PER_SECOND);
        memcpy(out, column->text, column->len);
        out = put_fraction(out + column->len, ts % NS_PER_SECOND, nanosecond);
        break;
    }
    *out++ = ' ';
    return out;
}

char *time_text(char *out, roce_tstamp ts)
{
    struct time_column column;
    time_column_init(&column, TIME_DATE, PRECISION_NANO);
    out = time_column_put(&column, out, ts, true);
    return out - 1;
}
