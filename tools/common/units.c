/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Units. */
#include "common/units.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <roce/fmt.h>

#define SPEED_MAX_BPS 1e14

int units_parse_speed(const char *text, uint64_t *bps)
{
    /* Case matters here: GB/s would be bytes. */
    static const char *const endings[] = {"", "b", "bps", "b/s", "bit", "bit/s", "bits/s", "bE"};
    /* strtod alone would take "inf", hexadecimal and signs. */
    if (!isdigit((unsigned char)text[0]) || text[1] == 'x' || text[1] == 'X')
        return -1;
    char *end;
    double value = strtod(text, &end);
    while (*end == ' ')
        end++;
    switch (*end) {
    case 'k':
    case 'K':
        value *= 1e3;
        break;
    case 'm':
    case 'M':
        value *= 1e6;
        break;
    case 'g':
    case 'G':
        value *= 1e9;
        break;
    case 't':
    case 'T':
        value *= 1e12;
        break;
    default:
        return -1;
    }
    if (!(value >= 1 && value <= SPEED_MAX_BPS))
        return -1;
    for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++) {
        if (strcmp(end + 1, endings[i]) == 0) {
            *bps = (uint64_t)(value + 0.5);
            return 0;
        }
    }
    return -1;
}

char *units_us(char *out, uint64_t ns)
{
    out = roce_fmt_uint(out, ns / 1000);
    if (ns % 1000 == 0)
        return out;
    *out++ = '.';
    out = roce_fmt_uint_pad(out, ns % 1000, 3);
    while (out[-1] == '0')
        out--;
    return out;
}

static char *scaled(char *out, double value, const char *unit)
{
    static const char *const prefixes[] = {"", "k", "M", "G", "T", "P", "E"};
    size_t i = 0;
    while (value >= 999.995 && i + 1 < sizeof(prefixes) / sizeof(prefixes[0])) {
        value /= 1000;
        i++;
    }
    const int n =
        snprintf(out, UNITS_TEXT_MAX, i == 0 ? "%.0f %s%s" : "%.2f %s%s", value, prefixes[i], unit);
    return out + (n < UNITS_TEXT_MAX ? n : UNITS_TEXT_MAX - 1);
}

char *units_bytes(char *out, uint64_t bytes)
{
    return scaled(out, (double)bytes, "B");
}

char *units_rate(char *out, double bps)
{
    return scaled(out, bps, "b/s");
}
