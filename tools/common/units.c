/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Units. */
#include "common/units.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <roce/fmt.h>

#define SPEED_MAX_BPS   1e14
#define DURATION_MAX_NS (366 * 86400e9)

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

int units_parse_duration(const char *text, uint64_t *ns)
{
    static const struct {
        const char *unit;
        double ns;
    } units[] = {
        {"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}, {"m", 60e9}, {"min", 60e9}, {"h", 3600e9},
    };
    if (!isdigit((unsigned char)text[0]) || text[1] == 'x' || text[1] == 'X')
        return -1;
    char *end;
    const double value = strtod(text, &end);
    while (*end == ' ')
        end++;
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        if (strcmp(end, units[i].unit) != 0)
            continue;
        const double total = value * units[i].ns;
        if (!(total >= 1 && total <= DURATION_MAX_NS))
            return -1;
        *ns = (uint64_t)(total + 0.5);
        return 0;
    }
    return -1;
}

int units_parse_forget(const char *text, uint64_t *ns)
{
    if (text == NULL)
        return 0;
    if (strcmp(text, "never") != 0)
        return units_parse_duration(text, ns);
    *ns = 0;
    return 0;
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

/* Three significant digits of |value| below 1000. */
static int digits(double value)
{
    return value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
}

char *units_time(char *out, uint64_t ns)
{
    static const struct {
        double ns;
        const char *unit;
    } units[] = {{1e3, "us"}, {1e6, "ms"}, {1e9, "s"}};
    if (ns < 1000) {
        const int n = snprintf(out, UNITS_TEXT_MAX, "%u ns", (unsigned)ns);
        return out + n;
    }
    size_t i = 0;
    while (i < 2 && (double)ns / units[i].ns >= 999.5)
        i++;
    const double value = (double)ns / units[i].ns;
    const int n = snprintf(out, UNITS_TEXT_MAX, "%.*f %s", digits(value), value, units[i].unit);
    return out + (n < UNITS_TEXT_MAX ? n : UNITS_TEXT_MAX - 1);
}

char *units_count(char *out, uint64_t n)
{
    static const char prefixes[] = "kMGTPE";
    if (n < 10000)
        return roce_fmt_uint(out, n);
    double value = (double)n / 1000;
    size_t i = 0;
    while (value >= 999.5 && prefixes[i + 1] != '\0') {
        value /= 1000;
        i++;
    }
    const int len = snprintf(out, UNITS_TEXT_MAX, "%.*f%c", digits(value), value, prefixes[i]);
    return out + (len < UNITS_TEXT_MAX ? len : UNITS_TEXT_MAX - 1);
}
