/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Text of numbers and addresses, against the C library's. */
#include <arpa/inet.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <roce/fmt.h>

#include "tests/cmocka_all.h"

static void check(char *end, char *begin, const char *want)
{
    *end = '\0';
    assert_string_equal(begin, want);
}

static void test_numbers(void **state)
{
    (void)state;
    static const uint64_t values[] = {0,   1,    9,     10,        99,         100,       101,
                                      999, 1000, 65535, 123456789, UINT32_MAX, UINT64_MAX};
    char out[64];
    char want[64];
    for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
        snprintf(want, sizeof(want), "%" PRIu64, values[i]);
        check(roce_fmt_uint(out, values[i]), out, want);
        snprintf(want, sizeof(want), "%09" PRIu64, values[i]);
        check(roce_fmt_uint_pad(out, values[i], 9), out, want);
        snprintf(want, sizeof(want), "0x%" PRIx64, values[i]);
        check(roce_fmt_hex(out, values[i]), out, want);
    }
    check(roce_fmt_hex_pad(out, 0x1f, 6), out, "0x00001f");
    check(roce_fmt_str(out, "abc"), out, "abc");
}

static void test_addresses(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "::",
        "::1",
        "1::",
        "2001:db8::1",
        "2001:db8:0:1:1:1:1:1",
        "2001:0:0:1::1",
        "fe80::ff:fe00:1",
        "1:2:3:4:5:6:7:8",
        "::ffff:15.0.0.2",
        "1::2:0:0:3",
        "0:0:1::",
        "a:b:c:d:e:f:0:0",
    };
    char out[64];
    char want[64];
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        uint8_t addr[16];
        assert_int_equal(inet_pton(AF_INET6, texts[i], addr), 1);
        inet_ntop(AF_INET6, addr, want, sizeof(want));
        check(roce_fmt_addr(out, addr, 6), out, want);
    }
    const uint8_t v4[16] = {[10] = 0xff, 0xff, 10, 0, 255, 1};
    check(roce_fmt_addr(out, v4, 4), out, "10.0.255.1");
    const uint8_t mac[6] = {0, 0x1b, 0xff, 1, 2, 3};
    check(roce_fmt_mac(out, mac), out, "00:1b:ff:01:02:03");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_addresses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
