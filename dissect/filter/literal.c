/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Numbers and addresses as people type them. The C library's parsers follow the locale or are
 * POSIX; this room is neither. */
#include "literal.h"

#include <string.h>

static int hex_value(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static enum literal digits(const char *s, size_t len, unsigned base, uint64_t *u)
{
    uint64_t v = 0;
    bool big = false;
    if (len == 0)
        return LITERAL_INVALID;
    for (size_t i = 0; i < len; i++) {
        const int d = hex_value(s[i]);
        if (d < 0 || (unsigned)d >= base)
            return LITERAL_INVALID;
        big = big || v > (UINT64_MAX - (unsigned)d) / base;
        v = v * base + (unsigned)d;
    }
    *u = v;
    return big ? LITERAL_TOO_BIG : LITERAL_OK;
}

static bool is_negative(const char *s, size_t len)
{
    return len > 1 && s[0] == '-' && is_digit(s[1]);
}

enum literal literal_uint(const char *s, size_t len, uint64_t *u)
{
    double real;
    if (len > 2 && s[0] == '0' && (s[1] == 'x' || s[1] == 'X'))
        return digits(s + 2, len - 2, 16, u);
    if (is_negative(s, len) || memchr(s, '.', len) != NULL) {
        const enum literal rc = literal_real(s, len, &real);
        return rc == LITERAL_OK ? LITERAL_FRACTION : rc;
    }
    return digits(s, len, 10, u);
}

enum literal literal_real(const char *s, size_t len, double *r)
{
    if (is_negative(s, len))
        return literal_real(s + 1, len - 1, r) == LITERAL_OK ? LITERAL_NEGATIVE : LITERAL_INVALID;
    const char *point = memchr(s, '.', len);
    if (point == NULL) {
        uint64_t u = 0;
        const enum literal rc = literal_uint(s, len, &u);
        *r = (double)u;
        return rc;
    }
    /* An integer below 2^53 divided by a power of ten below 10^23 is rounded once: correctly. */
    uint64_t mantissa = 0;
    double scale = 1;
    const char *end = s + len;
    if (point == s || point + 1 == end)
        return LITERAL_INVALID;
    for (const char *c = s; c < end; c++) {
        if (c == point)
            continue;
        if (!is_digit(*c))
            return LITERAL_INVALID;
        mantissa = mantissa * 10 + (uint64_t)(*c - '0');
        if (c > point)
            scale *= 10;
        if (mantissa >> 53 != 0 || scale > 1e22)
            return LITERAL_TOO_BIG;
    }
    *r = (double)mantissa / scale;
    return LITERAL_OK;
}

/* Dotted decimal: four numbers of at most three digits, no leading zero (which other readers take
 * as octal). */
static bool read_v4(const char *s, size_t len, uint8_t out[4])
{
    size_t i = 0;
    for (int part = 0; part < 4; part++) {
        unsigned v = 0;
        const size_t begin = i;
        while (i < len && i - begin < 3 && is_digit(s[i]))
            v = v * 10 + (unsigned)(s[i++] - '0');
        if (i == begin || v > 255 || (i - begin > 1 && s[begin] == '0'))
            return false;
        if (part < 3 && (i == len || s[i++] != '.'))
            return false;
        out[part] = (uint8_t)v;
    }
    return i == len;
}

static bool read_v6(const char *s, size_t len, uint8_t out[16])
{
    uint8_t bytes[16];
    size_t n = 0;    /* bytes read */
    size_t gap = 17; /* bytes in front of "::"; 17 without one */
    size_t i = 0;
    if (len >= 2 && s[0] == ':' && s[1] == ':') {
        gap = 0;
        i = 2;
    }
    while (i < len) {
        unsigned v = 0;
        size_t end = i;
        while (end < len && end - i < 4 && hex_value(s[end]) >= 0)
            v = v << 4 | (unsigned)hex_value(s[end++]);
        if (end == i || n > 14)
            return false;
        if (end < len && s[end] == '.') { /* the last 32 bits in dotted decimal */
            if (n > 12 || !read_v4(s + i, len - i, bytes + n))
                return false;
            n += 4;
            break;
        }
        bytes[n++] = (uint8_t)(v >> 8);
        bytes[n++] = (uint8_t)v;
        if (end == len)
            break;
        if (s[end] != ':' || end + 1 == len)
            return false;
        i = end + 1;
        if (s[i] == ':') {
            if (gap <= 16)
                return false;
            gap = n;
            i++;
        }
    }
    if (gap > 16 ? n != 16 : n > 14)
        return false;
    memset(out, 0, 16);
    if (gap > 16)
        gap = n;
    memcpy(out, bytes, gap);
    memcpy(out + 16 - (n - gap), bytes + gap, n - gap);
    return true;
}

enum literal literal_addr(const char *s, size_t len, struct literal_addr *out)
{
    const char *slash = memchr(s, '/', len);
    const size_t n = slash != NULL ? (size_t)(slash - s) : len;
    const bool v4 = memchr(s, ':', n) == NULL;
    uint64_t prefix = v4 ? 32 : 128;

    out->v4 = v4;
    if (v4) {
        memset(out->addr, 0, 10);
        out->addr[10] = out->addr[11] = 0xFF;
    }
    if (!(v4 ? read_v4(s, n, out->addr + 12) : read_v6(s, n, out->addr)))
        return LITERAL_INVALID;
    if (slash != NULL) {
        uint64_t given;
        if (digits(slash + 1, len - n - 1, 10, &given) != LITERAL_OK || given > prefix)
            return LITERAL_PREFIX;
        prefix = given;
    }
    out->bits = (unsigned)prefix + (v4 ? 96 : 0);
    return LITERAL_OK;
}

enum literal literal_mac(const char *s, size_t len, uint8_t mac[6])
{
    if (len != 17 || (s[2] != ':' && s[2] != '-'))
        return LITERAL_INVALID;
    for (size_t i = 0; i < 6; i++) {
        const int high = hex_value(s[3 * i]);
        const int low = hex_value(s[3 * i + 1]);
        if (high < 0 || low < 0 || (i < 5 && s[3 * i + 2] != s[2]))
            return LITERAL_INVALID;
        mac[i] = (uint8_t)(high << 4 | low);
    }
    return LITERAL_OK;
}
