/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Pieces of text. */
#include "rocestat/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <roce/fmt.h>

void text_print(struct out *out, const char *format, ...)
{
    char line[1024];
    va_list args;
    va_start(args, format);
    const int n = vsnprintf(line, sizeof(line), format, args);
    va_end(args);
    if (n > 0)
        out_write(out, line, (size_t)n < sizeof(line) ? (size_t)n : sizeof(line) - 1);
}

void text_wrap(struct out *out, const char *text, int column)
{
    int at = column;
    while (*text != '\0') {
        const size_t len = strcspn(text, " ");
        if (at > column && at + 1 + (int)len > TEXT_WIDTH) {
            text_print(out, "\n%*s", column, "");
            at = column;
        }
        if (at > column) {
            out_str(out, " ");
            at++;
        }
        out_write(out, text, len);
        at += (int)len;
        text += len;
        while (*text == ' ')
            text++;
    }
    out_str(out, "\n");
}

const char *text_short(char *buf, bool has, uint64_t n)
{
    static const char prefixes[] = "kMGTPE";
    if (!has) {
        (void)snprintf(buf, TEXT_SHORT_MAX, "n/a");
        return buf;
    }
    if (n < 1000) {
        (void)snprintf(buf, TEXT_SHORT_MAX, "%u", (unsigned)n);
        return buf;
    }
    double value = (double)n / 1000;
    size_t i = 0;
    while (value >= 999.5 && prefixes[i + 1] != '\0') {
        value /= 1000;
        i++;
    }
    (void)snprintf(buf, TEXT_SHORT_MAX, "%.*f%c", value < 9.95 ? 1 : 0, value, prefixes[i]);
    return buf;
}

const char *text_time(char *buf, bool has, uint64_t ns)
{
    static const char *const units[] = {"ns", "us", "ms", "s"};
    if (!has) {
        (void)snprintf(buf, TEXT_SHORT_MAX, "n/a");
        return buf;
    }
    double value = (double)ns;
    size_t i = 0;
    while (value >= 999.5 && i < 3) {
        value /= 1000;
        i++;
    }
    (void)snprintf(buf, TEXT_SHORT_MAX, "%.*f%s", i > 0 && value < 9.95 ? 1 : 0, value, units[i]);
    return buf;
}

const char *text_addr(char *buf, const uint8_t addr[16], uint8_t ip_version)
{
    char full[ROCE_FMT_ADDR_MAX + 1];
    char *end = roce_fmt_addr(full, addr, ip_version);
    *end = '\0';
    const size_t len = (size_t)(end - full);
    if (len <= 15)
        (void)snprintf(buf, TEXT_SHORT_MAX, "%.15s", full);
    else
        (void)snprintf(buf, TEXT_SHORT_MAX, "%.7s~%.7s", full, end - 7);
    return buf;
}

const char *text_noun(char *buf, size_t size, uint64_t n, const char *noun)
{
    (void)snprintf(buf, size, "%llu %s%s", (unsigned long long)n, noun, n == 1 ? "" : "s");
    return buf;
}

const char *text_clock(char *buf, uint64_t ts)
{
    const time_t second = (time_t)(ts / UINT64_C(1000000000));
    struct tm tm;
    if (localtime_r(&second, &tm) == NULL) {
        (void)snprintf(buf, TEXT_SHORT_MAX, "?");
        return buf;
    }
    (void)snprintf(buf, TEXT_SHORT_MAX, "%02d:%02d:%02d.%06u", tm.tm_hour % 24, tm.tm_min % 60,
                   tm.tm_sec % 61, (unsigned)(ts % UINT64_C(1000000000) / 1000));
    return buf;
}
