/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Frames of a file outlive further batches when the reader was asked to hold them: of a plain one
 * and of one that is compressed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include <roce/capture.h>

enum { FRAMES = 4000, BATCH = 64 };

/* Frame n is this long and holds the low byte of n: all of them do not fit into two windows. */
static uint32_t length(uint32_t n)
{
    return 60 + n * 37 % 1400;
}

static void put32(FILE *f, uint32_t v)
{
    const uint8_t bytes[4] = {(uint8_t)v, (uint8_t)(v >> 8), (uint8_t)(v >> 16),
                              (uint8_t)(v >> 24)};
    assert_int_equal(fwrite(bytes, 1, 4, f), 4);
}

static void write_capture(const char *path)
{
    static const uint32_t header[6] = {0xA1B2C3D4, 0x00040002, 0, 0, 65535, 1};
    uint8_t data[2048];
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    for (int i = 0; i < 6; i++)
        put32(f, header[i]);
    for (uint32_t n = 1; n <= FRAMES; n++) {
        put32(f, n);
        put32(f, 0);
        put32(f, length(n));
        put32(f, length(n));
        memset(data, (int)(n & 0xFF), length(n));
        assert_int_equal(fwrite(data, 1, length(n), f), length(n));
    }
    assert_int_equal(fclose(f), 0);
}

static void check(const struct roce_frame *frame)
{
    const uint32_t n = (uint32_t)frame->number;
    assert_int_equal(frame->caplen, length(n));
    for (uint32_t i = 0; i < frame->caplen; i++)
        assert_int_equal(frame->data[i], n & 0xFF);
}

static char path[] = "/tmp/test_hold.XXXXXX";
static char packed[sizeof path + 3];

static void pack(void)
{
    char data[4096];
    snprintf(packed, sizeof packed, "%s.gz", path);
    FILE *in = fopen(path, "rb");
    gzFile out = gzopen(packed, "wb1");
    assert_non_null(in);
    assert_non_null(out);
    for (size_t n; (n = fread(data, 1, sizeof data, in)) > 0;)
        assert_int_equal(gzwrite(out, data, (unsigned)n), (int)n);
    assert_int_equal(gzclose(out), Z_OK);
    (void)fclose(in);
}

static int make(void **state)
{
    const int fd = mkstemp(path);
    (void)state;
    if (fd < 0)
        return -1;
    (void)close(fd);
    write_capture(path);
    pack();
    return 0;
}

static int drop(void **state)
{
    (void)state;
    return unlink(path) + unlink(packed);
}

static void keeps_all(const char *file)
{
    static struct roce_frame frames[FRAMES];
    const struct roce_reader_opts opts = {.hold = true};
    struct roce_reader *reader = roce_reader_open(file, &opts, NULL, NULL);
    uint32_t got = 0;
    int n;
    assert_non_null(reader);
    assert_true(roce_reader_holds(reader));
    while (got < FRAMES && (n = roce_reader_next(reader, frames + got, FRAMES - (int)got)) > 0)
        got += (uint32_t)n;
    assert_int_equal(got, FRAMES);
    for (uint32_t i = 0; i < FRAMES; i++)
        check(&frames[i]);
    roce_reader_del(reader);
}

static void test_hold_keeps_all_frames(void **state)
{
    (void)state;
    keeps_all(path);
    keeps_all(packed);
}

/* What lies behind the released frame stays valid, in every window. */
static void releases_what_is_named(const char *file)
{
    static struct roce_frame frames[FRAMES];
    const struct roce_reader_opts opts = {.hold = true};
    struct roce_reader *reader = roce_reader_open(file, &opts, NULL, NULL);
    uint32_t got = 0, checked = 0;
    int n;
    assert_non_null(reader);
    while ((n = roce_reader_next(reader, frames + got, BATCH)) > 0) {
        got += (uint32_t)n;
        for (; checked + 300 < got; checked++)
            check(&frames[checked]);
        roce_reader_release(reader, checked);
        if (got == FRAMES)
            break;
    }
    for (; checked < got; checked++)
        check(&frames[checked]);
    assert_int_equal(got, FRAMES);
    roce_reader_del(reader);
}

static void test_hold_releases_only_what_is_named(void **state)
{
    (void)state;
    releases_what_is_named(path);
    releases_what_is_named(packed);
}

static void test_hold_is_off_unless_asked(void **state)
{
    struct roce_reader *reader = roce_reader_open(path, NULL, NULL, NULL);
    (void)state;
    assert_non_null(reader);
    assert_false(roce_reader_holds(reader));
    roce_reader_release(reader, UINT64_MAX);
    roce_reader_del(reader);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hold_keeps_all_frames),
        cmocka_unit_test(test_hold_releases_only_what_is_named),
        cmocka_unit_test(test_hold_is_off_unless_asked),
    };
    return cmocka_run_group_tests(tests, make, drop);
}
