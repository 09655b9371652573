/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Output buffer, JSON and CSV writers. Expected texts follow RFC 8259, RFC 3629 and RFC 4180. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/csv.h"
#include "common/json.h"

/* A text that is never flushed: what is in the buffer is what was written. */
static void begin(struct out *out)
{
    assert_int_equal(out_init(out, -1), 0);
}

static void assert_text(struct out *out, const char *expected)
{
    assert_int_equal(out->len, strlen(expected));
    assert_memory_equal(out->buf, expected, out->len);
    out->len = 0;
}

static void end(struct out *out)
{
    out->len = 0;
    assert_int_equal(out_end(out), 0);
}

static void test_json_nests_and_separates(void **state)
{
    struct out out;
    struct json json;
    (void)state;
    begin(&out);
    json_init(&json, &out);
    json_open_object(&json, NULL);
    json_uint(&json, "n", UINT64_MAX);
    json_open_object(&json, "o");
    json_close_object(&json);
    json_open_array(&json, "a");
    json_bool(&json, NULL, true);
    json_null(&json, NULL);
    json_open_array(&json, NULL);
    json_close_array(&json);
    json_close_array(&json);
    json_hex64(&json, "h", UINT64_C(0xFEDCBA9876543210));
    json_close_object(&json);
    json_newline(&json);
    json_open_object(&json, NULL);
    json_close_object(&json);
    assert_text(&out, "{\"n\":18446744073709551615,\"o\":{},\"a\":[true,null,[]],"
                      "\"h\":\"0xfedcba9876543210\"}\n{}");
    end(&out);
}

static void test_json_escapes_strings(void **state)
{
    static const struct {
        const char *in;
        size_t len;
        const char *out;
    } cases[] = {
        {"plain", 5, "\"plain\""},
        {"a\"b\\c", 5, "\"a\\\"b\\\\c\""},
        {"\n\r\t\b\x01\x7f", 6, "\"\\n\\r\\t\\u0008\\u0001\\u007f\""},
        {"\0x", 2, "\"\\u0000x\""},
        {"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", 9, "\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\""},
        {"\xc0\xaf", 2, "\"\\ufffd\\ufffd\""},                       /* overlong */
        {"\xe0\x9f\xbf", 3, "\"\\ufffd\\ufffd\\ufffd\""},            /* overlong */
        {"\xed\xa0\x80", 3, "\"\\ufffd\\ufffd\\ufffd\""},            /* surrogate */
        {"\xf4\x90\x80\x80", 4, "\"\\ufffd\\ufffd\\ufffd\\ufffd\""}, /* above U+10FFFF */
        {"\xf0\x8f\xbf\xbf", 4, "\"\\ufffd\\ufffd\\ufffd\\ufffd\""}, /* overlong */
        {"\xe2\x82", 2, "\"\\ufffd\\ufffd\""},                       /* cut */
        {"\x80\xff", 2, "\"\\ufffd\\ufffd\""},
    };
    struct out out;
    struct json json;
    (void)state;
    begin(&out);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        /* An exact-size copy, so that a sanitizer sees one byte too many. */
        char *copy = malloc(cases[i].len);
        assert_non_null(copy);
        memcpy(copy, cases[i].in, cases[i].len);
        json_init(&json, &out);
        json_text(&json, NULL, copy, cases[i].len);
        assert_text(&out, cases[i].out);
        free(copy);
    }
    end(&out);
}

static void test_json_reals(void **state)
{
    struct out out;
    struct json json;
    (void)state;
    begin(&out);
    json_init(&json, &out);
    json_open_array(&json, NULL);
    json_real(&json, NULL, 335.5392);
    json_real(&json, NULL, 0.64);
    json_real(&json, NULL, (double)NAN);
    json_real(&json, NULL, (double)-INFINITY);
    json_close_array(&json);
    assert_text(&out, "[335.5392,0.64,null,null]");
    end(&out);
}

static void test_json_newline_stands_behind_the_comma(void **state)
{
    struct out out;
    struct json json;
    (void)state;
    begin(&out);
    json_init(&json, &out);
    json_open_array(&json, NULL);
    for (unsigned i = 0; i < 2; i++) {
        json_newline(&json);
        json_uint(&json, NULL, i);
    }
    json_newline(&json);
    json_close_array(&json);
    json_newline(&json);
    assert_text(&out, "[\n0,\n1\n]\n");
    end(&out);
}

static void test_csv_quotes_when_needed(void **state)
{
    struct out out;
    struct csv csv;
    (void)state;
    begin(&out);
    csv_init(&csv, &out);
    csv_field(&csv, "", 0);
    csv_field(&csv, "a b", 3);
    csv_field(&csv, "a,b", 3);
    csv_field(&csv, "say \"x\"", 7);
    csv_field(&csv, "two\nlines", 9);
    csv_end_row(&csv);
    csv_field(&csv, "next", 4);
    csv_end_row(&csv);
    assert_text(&out, ",a b,\"a,b\",\"say \"\"x\"\"\",\"two\nlines\"\nnext\n");
    end(&out);
}

static void test_out_passes_all_bytes_through(void **state)
{
    struct out out;
    char got[4096];
    size_t total = 0;
    (void)state;
    FILE *file = tmpfile();
    assert_non_null(file);
    assert_int_equal(out_init(&out, fileno(file)), 0);
    char *large = malloc(300000);
    assert_non_null(large);
    memset(large, 'x', 300000);
    for (int i = 0; i < 1000; i++)
        out_write(&out, "0123456789", 10);
    out_write(&out, large, 300000);
    out_str(&out, "end");
    assert_int_equal(out_end(&out), 0);
    rewind(file);
    for (size_t n; (n = fread(got, 1, sizeof(got), file)) > 0; total += n)
        if (total == 0)
            assert_memory_equal(got, "0123456789012", 13);
    assert_int_equal(total, 10000 + 300000 + 3);
    free(large);
    fclose(file);
}

static void test_out_closed_pipe_is_quiet(void **state)
{
    struct out out;
    int fds[2];
    (void)state;
    signal(SIGPIPE, SIG_IGN);
    assert_int_equal(pipe(fds), 0);
    close(fds[0]);
    assert_int_equal(out_init(&out, fds[1]), 0);
    out_str(&out, "text");
    out_flush(&out);
    assert_false(out_ok(&out));
    assert_true(out.closed);
    assert_int_equal(out_end(&out), 0);
    close(fds[1]);
}

static void test_out_full_device_is_an_error(void **state)
{
    struct out out;
    (void)state;
    const int fd = open("/dev/full", O_WRONLY);
    if (fd < 0)
        skip();
    assert_int_equal(out_init(&out, fd), 0);
    out_str(&out, "text");
    out_flush(&out);
    assert_false(out_ok(&out));
    assert_int_equal(out_end(&out), ENOSPC);
    close(fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_json_nests_and_separates),
        cmocka_unit_test(test_json_escapes_strings),
        cmocka_unit_test(test_json_reals),
        cmocka_unit_test(test_json_newline_stands_behind_the_comma),
        cmocka_unit_test(test_csv_quotes_when_needed),
        cmocka_unit_test(test_out_passes_all_bytes_through),
        cmocka_unit_test(test_out_closed_pipe_is_quiet),
        cmocka_unit_test(test_out_full_device_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
