/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Units, colour decision and progress line; values by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "common/colour.h"
#include "common/progress.h"
#include "common/units.h"

static void test_units_speed(void **state)
{
    static const struct {
        const char *text;
        uint64_t bps;
    } good[] = {
        {"100G", 100000000000},     {"25g", 25000000000},     {"400Gbps", 400000000000},
        {"2.5G", 2500000000},       {"100GbE", 100000000000}, {"10 Gbit/s", 10000000000},
        {"40Gb/s", 40000000000},    {"1.6T", 1600000000000},  {"800M", 800000000},
        {"56000Mbps", 56000000000}, {"9600k", 9600000},
    };
    static const char *const bad[] = {"",      "100",     "G",     "-1G",  "0G",   "1e99G", "inf",
                                      "0x10G", "100GB/s", "100Gx", "101T", "1 0G", "nan"};
    uint64_t bps;
    (void)state;
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        bps = 0;
        assert_int_equal(units_parse_speed(good[i].text, &bps), 0);
        assert_int_equal(bps, good[i].bps);
    }
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        assert_int_equal(units_parse_speed(bad[i], &bps), -1);
}

static void assert_us(uint64_t ns, const char *expected)
{
    char text[UNITS_TEXT_MAX];
    *units_us(text, ns) = '\0';
    assert_string_equal(text, expected);
}

static void test_units_text(void **state)
{
    char text[UNITS_TEXT_MAX];
    (void)state;
    assert_us(0, "0");
    assert_us(512, "0.512");
    assert_us(5120, "5.12");
    assert_us(335539, "335.539");
    assert_us(335500, "335.5");
    assert_us(1000000, "1000");
    assert_us(1005, "1.005");
    *units_bytes(text, 999) = '\0';
    assert_string_equal(text, "999 B");
    *units_bytes(text, 1500000000) = '\0';
    assert_string_equal(text, "1.50 GB");
    *units_bytes(text, UINT64_MAX) = '\0';
    assert_string_equal(text, "18.45 EB");
    *units_rate(text, 97.31e9) = '\0';
    assert_string_equal(text, "97.31 Gb/s");
    *units_rate(text, 999999.9) = '\0';
    assert_string_equal(text, "1.00 Mb/s");
}

static void test_units_duration(void **state)
{
    static const struct {
        const char *text;
        uint64_t ns;
    } good[] = {
        {"1s", 1000000000}, {"250ms", 250000000}, {"10us", 10000},       {"1.5 s", 1500000000},
        {"500ns", 500},     {"2m", 120000000000}, {"1h", 3600000000000},
    };
    static const char *const bad[] = {"",     "1",    "s",  "-1s", "0s",
                                      "infs", "0x1s", "1S", "1ss", "400000h"};
    uint64_t ns;
    (void)state;
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        ns = 0;
        assert_int_equal(units_parse_duration(good[i].text, &ns), 0);
        assert_int_equal(ns, good[i].ns);
    }
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        assert_int_equal(units_parse_duration(bad[i], &ns), -1);
}

static void test_units_short_forms(void **state)
{
    static const struct {
        uint64_t value;
        const char *time, *count;
    } forms[] = {
        {0, "0 ns", "0"},
        {999, "999 ns", "999"},
        {1000, "1.00 us", "1000"},
        {9996, "10.0 us", "9996"},
        {34216, "34.2 us", "34.2k"},
        {99960, "100 us", "100k"},
        {999499, "999 us", "999k"},
        {999500, "1.00 ms", "1.00M"},
        {1900000000, "1.90 s", "1.90G"},
        {UINT64_C(5000000000000), "5000 s", "5.00T"},
    };
    char text[UNITS_TEXT_MAX];
    (void)state;
    for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
        *units_time(text, forms[i].value) = '\0';
        assert_string_equal(text, forms[i].time);
        *units_count(text, forms[i].value) = '\0';
        assert_string_equal(text, forms[i].count);
    }
}

static void test_colour_order_of_wishes(void **state)
{
    (void)state;
    assert_int_equal(setenv("NO_COLOR", "1", 1), 0);
    assert_true(colour_wanted(COLOUR_ALWAYS, 1));
    assert_false(colour_wanted(COLOUR_AUTO, 1));
    assert_false(colour_wanted(COLOUR_NEVER, 1));
    assert_int_equal(setenv("NO_COLOR", "", 1), 0);
    assert_false(colour_wanted(COLOUR_AUTO, -1)); /* no terminal */
}

static void test_progress_line(void **state)
{
    char line[PROGRESS_LINE_MAX];
    (void)state;
    progress_format(line, 1200000000, 4000000000, 2000000000);
    assert_string_equal(line, "1.20 GB of 4.00 GB, 30 %, 600.00 MB/s, 5 s left");
    progress_format(line, 0, 4000000000, 0);
    assert_string_equal(line, "0 B of 4.00 GB, 0 %, 0 B/s, 0 s left");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_units_speed),
        cmocka_unit_test(test_units_text),
        cmocka_unit_test(test_units_duration),
        cmocka_unit_test(test_units_short_forms),
        cmocka_unit_test(test_colour_order_of_wishes),
        cmocka_unit_test(test_progress_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
