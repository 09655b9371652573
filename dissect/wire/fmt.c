/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Numbers and addresses as text, without printf: these run once or more a packet. */
#include <roce/fmt.h>

#include <string.h>

static const char hex_digits[] = "0123456789abcdef";
static const char two_digits[] =
    "0001020304050607080910111213141516171819202122232425262728293031323334"
    "3536373839404142434445464748495051525354555657585960616263646566676869"
    "707172737475767778798081828384858687888990919293949596979899";

/* Writes the digits of |v| so that they end at |end|; returns where they begin. */
static char *digits_before(char *end, uint64_t v)
{
    while (v >= 100) {
        end -= 2;
        memcpy(end, two_digits + v % 100 * 2, 2);
        v /= 100;
    }
    if (v >= 10) {
        end -= 2;
        memcpy(end, two_digits + v * 2, 2);
    } else {
        *--end = (char)('0' + v);
    }
    return end;
}

char *roce_fmt_uint(char *out, uint64_t v)
{
    char text[ROCE_FMT_UINT_MAX];
    char *end = text + sizeof(text);
    const char *begin = digits_before(end, v);
    const size_t n = (size_t)(end - begin);
    memcpy(out, begin, n);
    return out + n;
}

char *roce_fmt_uint_pad(char *out, uint64_t v, int width)
{
    char text[ROCE_FMT_UINT_MAX];
    char *end = text + sizeof(text);
    memset(text, '0', sizeof(text));
    const char *begin = digits_before(end, v);
    if (end - begin < width)
        begin = end - width;
    const size_t n = (size_t)(end - begin);
    memcpy(out, begin, n);
    return out + n;
}

char *roce_fmt_hex_pad(char *out, uint64_t v, int digits)
{
    *out++ = '0';
    *out++ = 'x';
    for (int shift = (digits - 1) * 4; shift >= 0; shift -= 4)
        *out++ = hex_digits[(v >> shift) & 0xF];
    return out;
}

char *roce_fmt_hex(char *out, uint64_t v)
{
    int digits = 1;
    while (digits < 16 && v >> (digits * 4) != 0)
        digits++;
    return roce_fmt_hex_pad(out, v, digits);
}

char *roce_fmt_str(char *out, const char *s)
{
    const size_t n = strlen(s);
    memcpy(out, s, n);
    return out + n;
}

static char *fmt_v4(char *out, const uint8_t a[4])
{
    for (int i = 0; i < 4; i++) {
        if (i > 0)
            *out++ = '.';
        out = roce_fmt_uint(out, a[i]);
    }
    return out;
}

/* RFC 5952: lower case, no leading zeros, the longest run of at least two zero groups (the first of
 * equals) as "::". */
static char *fmt_v6(char *out, const uint8_t a[16])
{
    static const uint8_t mapped[12] = {[10] = 0xFF, [11] = 0xFF};
    if (memcmp(a, mapped, sizeof(mapped)) == 0)
        return fmt_v4(roce_fmt_str(out, "::ffff:"), a + 12);

    int run = -1;
    int run_len = 1;
    for (int i = 0; i < 8;) {
        int n = 0;
        while (i + n < 8 && a[2 * (i + n)] == 0 && a[2 * (i + n) + 1] == 0)
            n++;
        if (n > run_len) {
            run = i;
            run_len = n;
        }
        i += n > 0 ? n : 1;
    }
    for (int i = 0; i < 8; i++) {
        if (i == run) {
            *out++ = ':';
            *out++ = ':';
            i += run_len - 1;
            continue;
        }
        if (i > 0 && (run < 0 || i != run + run_len))
            *out++ = ':';
        const unsigned group = (unsigned)a[2 * i] << 8 | a[2 * i + 1];
        for (int shift = group > 0xFFF  ? 12
                         : group > 0xFF ? 8
                         : group > 0xF  ? 4
                                        : 0;
             shift >= 0; shift -= 4)
            *out++ = hex_digits[(group >> shift) & 0xF];
    }
    return out;
}

char *roce_fmt_addr(char *out, const uint8_t addr[16], uint8_t ip_version)
{
    return ip_version == 4 ? fmt_v4(out, addr + 12) : fmt_v6(out, addr);
}

char *roce_fmt_mac(char *out, const uint8_t mac[6])
{
    for (int i = 0; i < 6; i++) {
        if (i > 0)
            *out++ = ':';
        *out++ = hex_digits[mac[i] >> 4];
        *out++ = hex_digits[mac[i] & 0xF];
    }
    return out;
}
