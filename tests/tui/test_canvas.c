/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Cells: clipping, characters, and numbers in few columns. */
#include "../cmocka_all.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "canvas.h"
#include "text.h"

/* What tui_canvas_print writes, through a pipe. */
static void printed(const struct canvas *canvas, char *text, size_t size)
{
    int fd[2];
    struct out out;
    assert_int_equal(pipe(fd), 0);
    assert_int_equal(out_init(&out, fd[1]), 0);
    tui_canvas_print(canvas, &out);
    assert_int_equal(out_end(&out), 0);
    close(fd[1]);
    const ssize_t n = read(fd[0], text, size - 1);
    assert_true(n >= 0);
    text[n] = '\0';
    close(fd[0]);
}

static void check(const struct canvas *canvas, const char *want)
{
    char text[512];
    printed(canvas, text, sizeof(text));
    assert_string_equal(text, want);
}

static void test_text_is_cut_with_a_tilde(void **state)
{
    (void)state;
    struct canvas *c = tui_canvas_new(3, 10, false);
    assert_int_equal(tui_canvas_text(c, 0, 0, 10, STYLE_PLAIN, "0123456789"), 10);
    assert_int_equal(tui_canvas_text(c, 1, 0, 10, STYLE_PLAIN, "0123456789a"), 10);
    assert_int_equal(tui_canvas_text(c, 2, 8, 10, STYLE_PLAIN, "abc"), 10);
    check(c, "0123456789\n012345678~\n        a~\n");
    tui_canvas_del(c);
}

static void test_nothing_is_drawn_outside(void **state)
{
    (void)state;
    struct canvas *c = tui_canvas_new(1, 4, false);
    tui_canvas_put(c, -1, 0, 'x', STYLE_PLAIN);
    tui_canvas_put(c, 0, 4, 'x', STYLE_PLAIN);
    tui_canvas_put(c, 1, 0, 'x', STYLE_PLAIN);
    tui_canvas_rule(c, 5, -10, 10);
    tui_canvas_right(c, 0, 2, STYLE_PLAIN, "abcdef");
    tui_canvas_style(c, 0, -5, 50, STYLE_BOLD);
    check(c, "ef\n");
    tui_canvas_del(c);
}

static void test_foreign_characters(void **state)
{
    (void)state;
    struct canvas *c = tui_canvas_new(1, 12, false);
    /* A letter of two bytes stays; wide, combining, control and broken ones become '?'. */
    (void)tui_canvas_text(c, 0, 0, 12, STYLE_PLAIN,
                          "\xC3\xA9\xE4\xBD\xA0\xCC\x81\x1b\xFFz\xE2\x82");
    check(c, "\xC3\xA9????z?\n");
    tui_canvas_del(c);
}

static void test_ascii_stands_in(void **state)
{
    (void)state;
    struct canvas *c = tui_canvas_new(1, 12, true);
    tui_canvas_rule(c, 0, 0, 2);
    tui_canvas_level(c, 0, 2, 1, STYLE_BAR);
    tui_canvas_level(c, 0, 3, 8, STYLE_BAR);
    tui_canvas_bar(c, 0, 4, 3, 20, STYLE_BAR);
    (void)tui_canvas_text(c, 0, 8, 4, STYLE_PLAIN, "\xC3\xA9");
    check(c, "--.@@@# ?\n");
    tui_canvas_del(c);
}

static void test_sizes_are_bounded(void **state)
{
    (void)state;
    struct canvas *c = tui_canvas_new(-5, 1000000, false);
    assert_int_equal(c->rows, 1);
    assert_int_equal(c->cols, CANVAS_COLS_MAX);
    tui_canvas_del(c);
    tui_canvas_del(NULL);
}

static void test_numbers_fit(void **state)
{
    (void)state;
    char b[TUI_TEXT_MAX];
    assert_string_equal(tui_text_count(b, 9999), "9999");
    assert_string_equal(tui_text_count(b, 10000), "10k");
    assert_string_equal(tui_text_count(b, 1900000), "1.9M");
    assert_string_equal(tui_text_count(b, 999999), "1.0M");
    assert_string_equal(tui_text_count5(b, 41213), "41.2k");
    assert_string_equal(tui_text_rate(b, 0), "0");
    assert_string_equal(tui_text_rate(b, 0.5), "0.5");
    assert_string_equal(tui_text_rate(b, 310), "310");
    assert_string_equal(tui_text_rate(b, 1200), "1.20k");
    assert_string_equal(tui_text_fixed(b, 11.94, 1), "11.9");
    assert_string_equal(tui_text_fixed(b, 0.0012, 1), "0.001");
    assert_string_equal(tui_text_fixed(b, 1234.5, 2), "1234");
    assert_string_equal(tui_text_percent(b, 21, 1000), "2.1");
    assert_string_equal(tui_text_percent(b, 1, 0), "-");
    assert_string_equal(tui_text_time(b, 35000), "35us");
    assert_string_equal(tui_text_time(b, 1900000), "1.9ms");
    assert_string_equal(tui_text_time(b, 11200000000), "11s");
    assert_string_equal(tui_text_elapsed(b, UINT64_C(761) * 1000000000), "00:12:41");
    for (uint64_t n = 1; n != 0 && n < UINT64_MAX / 7; n *= 7) {
        assert_true(strlen(tui_text_count(b, n)) <= 4);
        assert_true(strlen(tui_text_count5(b, n)) <= 5);
        assert_true(strlen(tui_text_rate(b, (double)n)) <= 5);
        assert_true(strlen(tui_text_fixed(b, (double)n, 2)) <= 5);
        assert_true(strlen(tui_text_time(b, n)) <= 5);
    }
}

static void test_clock_and_addresses(void **state)
{
    (void)state;
    char b[TUI_TEXT_MAX];
    const uint8_t v6[16] = {0xFE, 0x80, 0,    0,    0,    0,    0,    0,
                            0x12, 0x34, 0x56, 0x78, 0x9a, 0xbc, 0x9c, 0x01};
    const uint8_t v4[16] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 10, 77, 0, 1};
    setenv("TZ", "UTC", 1);
    assert_string_equal(tui_text_clock(b, UINT64_C(1700000000120331000), 3), "22:13:20.120");
    assert_string_equal(tui_text_clock(b, UINT64_C(1700000000120331000), 6), "22:13:20.120331");
    assert_string_equal(tui_text_clock(b, 0, 6), "-");
    assert_string_equal(tui_text_addr(b, v4, 4, 14), "10.77.0.1");
    assert_string_equal(tui_text_addr(b, v6, 6, 14), "fe80::~bc:9c01");
    assert_string_equal(tui_text_addr(b, v6, 6, 45), "fe80::1234:5678:9abc:9c01");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text_is_cut_with_a_tilde),
        cmocka_unit_test(test_nothing_is_drawn_outside),
        cmocka_unit_test(test_foreign_characters),
        cmocka_unit_test(test_ascii_stands_in),
        cmocka_unit_test(test_sizes_are_bounded),
        cmocka_unit_test(test_numbers_fit),
        cmocka_unit_test(test_clock_and_addresses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
