/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Numbers in few columns. */
#include "text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <roce/fmt.h>

#include "common/units.h"

const char *tui_text_set(char *buf, const char *text)
{
    (void)snprintf(buf, TUI_TEXT_MAX, "%s", text);
    return buf;
}

static const char prefixes[] = "kMGTPE";

/* Scales to below 1000 and returns the prefix. */
static char scale(double *value, double limit)
{
    int i = -1;
    while (*value >= limit && i + 1 < (int)sizeof(prefixes) - 1) {
        *value /= 1000;
        limit = 999.5;
        i++;
    }
    return i < 0 ? '\0' : prefixes[i];
}

const char *tui_text_count(char *buf, uint64_t n)
{
    double value = (double)n;
    const char prefix = scale(&value, 10000);
    if (prefix == '\0')
        (void)snprintf(buf, TUI_TEXT_MAX, "%" PRIu64, n);
    else
        (void)snprintf(buf, TUI_TEXT_MAX, "%.*f%c", value < 9.95 ? 1 : 0, value, prefix);
    return buf;
}

const char *tui_text_count5(char *buf, uint64_t n)
{
    *units_count(buf, n) = '\0';
    return buf;
}

static int digits_of(double value)
{
    return value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
}

const char *tui_text_rate(char *buf, double per_second)
{
    const char prefix = scale(&per_second, 999.5);
    if (prefix != '\0')
        (void)snprintf(buf, TUI_TEXT_MAX, "%.*f%c", digits_of(per_second), per_second, prefix);
    else if (per_second > 0 && per_second < 9.95 && per_second != (double)(int)per_second)
        (void)snprintf(buf, TUI_TEXT_MAX, "%.1f", per_second);
    else
        (void)snprintf(buf, TUI_TEXT_MAX, "%.0f", per_second);
    return buf;
}

const char *tui_text_fixed(char *buf, double value, int decimals)
{
    if (value >= 99999.5)
        return tui_text_count5(buf, (uint64_t)value);
    if (value > 0 && value < 0.9995)
        decimals = 3;
    while (decimals > 0 && value >= (decimals == 1 ? 999.95 : 99.995))
        decimals--;
    (void)snprintf(buf, TUI_TEXT_MAX, "%.*f", decimals, value);
    return buf;
}

const char *tui_text_percent(char *buf, uint64_t part, uint64_t whole)
{
    if (whole == 0)
        return tui_text_set(buf, "-");
    const double percent = 100.0 * (double)part / (double)whole;
    (void)snprintf(buf, TUI_TEXT_MAX, "%.*f", percent < 99.95 ? 1 : 0, percent);
    return buf;
}

const char *tui_text_time(char *buf, uint64_t ns)
{
    static const char *const unit[] = {"ns", "us", "ms", "s"};
    double value = (double)ns;
    int i = 0;
    while (value >= 999.5 && i < 3) {
        value /= 1000;
        i++;
    }
    if (i == 3 && value >= 999.5)
        (void)snprintf(buf, TUI_TEXT_MAX, "%.0fm", value / 60 < 9999 ? value / 60 : 9999);
    else
        (void)snprintf(buf, TUI_TEXT_MAX, "%.*f%s", i > 0 && value < 9.95 ? 1 : 0, value, unit[i]);
    return buf;
}

const char *tui_text_long_time(char *buf, uint64_t ns)
{
    *units_time(buf, ns) = '\0';
    return buf;
}

const char *tui_text_bit_rate(char *buf, double bps)
{
    *units_rate(buf, bps) = '\0';
    return buf;
}

const char *tui_text_byte_rate(char *buf, double bytes_per_s)
{
    char text[TUI_TEXT_MAX];
    *units_bytes(text, (uint64_t)bytes_per_s) = '\0';
    (void)snprintf(buf, TUI_TEXT_MAX, "%.40s/s", text);
    return buf;
}

const char *tui_text_bytes(char *buf, uint64_t bytes)
{
    *units_bytes(buf, bytes) = '\0';
    return buf;
}

const char *tui_text_elapsed(char *buf, uint64_t ns)
{
    const uint64_t s = ns / 1000000000;
    (void)snprintf(buf, TUI_TEXT_MAX, "%02" PRIu64 ":%02u:%02u", s / 3600, (unsigned)(s / 60 % 60),
                   (unsigned)(s % 60));
    return buf;
}

const char *tui_text_clock(char *buf, roce_tstamp ts, int digits)
{
    const time_t seconds = (time_t)(ts / 1000000000);
    struct tm tm;
    if (ts == 0 || localtime_r(&seconds, &tm) == NULL)
        return tui_text_set(buf, "-");
    const int n = snprintf(buf, TUI_TEXT_MAX, "%02d:%02d:%02d", tm.tm_hour, tm.tm_min, tm.tm_sec);
    if (digits > 0)
        (void)snprintf(buf + n, TUI_TEXT_MAX - (size_t)n, ".%.*s", digits,
                       (char[]){(char)('0' + ts / 100000000 % 10), (char)('0' + ts / 10000000 % 10),
                                (char)('0' + ts / 1000000 % 10), (char)('0' + ts / 100000 % 10),
                                (char)('0' + ts / 10000 % 10), (char)('0' + ts / 1000 % 10), 0});
    return buf;
}

const char *tui_text_addr(char *buf, const uint8_t addr[16], uint8_t ip_version, int width)
{
    /* GIDs of RoCEv1 carry IPv4 addresses, too; people know them without the prefix. */
    static const uint8_t mapped[12] = {[10] = 0xFF, [11] = 0xFF};
    if (width < ROCE_FMT_ADDR_MAX - 1 && memcmp(addr, mapped, sizeof(mapped)) == 0)
        ip_version = 4;
    *roce_fmt_addr(buf, addr, ip_version) = '\0';
    const int len = (int)strlen(buf);
    if (len <= width || width < 3)
        return buf;
    /* The end tells hosts apart better than the beginning. */
    const int back = width / 2, front = width - back - 1;
    buf[front] = '~';
    memmove(buf + front + 1, buf + len - back, (size_t)back + 1);
    return buf;
}

const char *tui_text_mac(char *buf, const uint8_t mac[6])
{
    *roce_fmt_mac(buf, mac) = '\0';
    return buf;
}
