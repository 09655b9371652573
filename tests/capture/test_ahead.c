/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Parts of a file that are read ahead, by the reading thread or another, in time, late or never:
 * the frames are the same, large ones across several parts, and where the file ends as well. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <roce/capture.h>

enum { FRAMES = 6000, BATCH = 64, KEPT = 200 };

/* Frame n is this long and holds the low byte of n. Some are larger than what a part has in front
 * for the beginning of one, and nearly as large as a part. */
static uint32_t length(uint32_t n)
{
    return n % 500 == 499 ? 250000 - n : 300 + n * 37 % 1400;
}

static char path[] = "/tmp/test_ahead.XXXXXX";
static uint64_t size = 24;

static void put32(FILE *f, uint32_t v)
{
    const uint8_t bytes[4] = {(uint8_t)v, (uint8_t)(v >> 8), (uint8_t)(v >> 16),
                              (uint8_t)(v >> 24)};
    assert_int_equal(fwrite(bytes, 1, 4, f), 4);
}

static int make(void **state)
{
    static const uint32_t header[6] = {0xA1B2C3D4, 0x00040002, 0, 0, 262144, 1};
    static uint8_t data[262144];
    const int fd = mkstemp(path);
    FILE *f = fd < 0 ? NULL : fdopen(fd, "wb");
    (void)state;
    if (f == NULL)
        return -1;
    for (int i = 0; i < 6; i++)
        put32(f, header[i]);
    for (uint32_t n = 1; n <= FRAMES; n++) {
        put32(f, n);
        put32(f, 0);
        put32(f, length(n));
        put32(f, length(n));
        memset(data, (int)(n & 0xFF), length(n));
        assert_int_equal(fwrite(data, 1, length(n), f), length(n));
        size += 16 + length(n);
    }
    return fclose(f);
}

static int drop(void **state)
{
    (void)state;
    return unlink(path);
}

static void check(const struct roce_frame *frame)
{
    const uint32_t n = (uint32_t)frame->number;
    assert_int_equal(frame->caplen, length(n));
    for (uint32_t i = 0; i < frame->caplen; i++)
        if (frame->data[i] != (n & 0xFF))
            fail_msg("frame %u: byte %u is %u", n, i, frame->data[i]);
}

static struct roce_reader *open_held(void)
{
    const struct roce_reader_opts opts = {.hold = true};
    struct roce_reader *reader = roce_reader_open(path, &opts, NULL, NULL);
    assert_non_null(reader);
    assert_true(roce_reader_holds(reader));
    return reader;
}

/* Reads all; |ahead| is called before each batch. Frames are checked when KEPT others have come. */
static int read_all(struct roce_reader *reader, void (*ahead)(struct roce_reader *, uint32_t),
                    uint32_t *count)
{
    static struct roce_frame frames[FRAMES + BATCH];
    uint32_t got = 0, checked = 0;
    int n;
    for (;;) {
        ahead(reader, got);
        n = roce_reader_next(reader, frames + got, BATCH);
        if (n <= 0)
            break;
        got += (uint32_t)n;
        for (; checked + KEPT < got; checked++)
            check(&frames[checked]);
        roce_reader_release(reader, checked);
    }
    for (; checked < got; checked++)
        check(&frames[checked]);
    *count = got;
    return n;
}

static uint64_t newest;

/* Up to three parts are reserved, one of them is filled, and so is each that is long gone. */
static void some(struct roce_reader *reader, uint32_t got)
{
    for (int i = 0; i < 3 && newest < roce_reader_turn(reader) + 3; i++) {
        const uint64_t ticket = roce_reader_reserve(reader);
        if (ticket == 0)
            break;
        assert_int_equal(ticket, newest + 1);
        newest = ticket;
    }
    roce_reader_fill(reader, got % 3 == 0 ? newest : roce_reader_turn(reader));
    roce_reader_fill(reader, newest / 2);
    roce_reader_fill(reader, 0);
}

static void test_frames_are_the_same(void **state)
{
    struct roce_reader *reader = open_held();
    uint32_t count;
    (void)state;
    newest = 0;
    assert_int_equal(read_all(reader, some, &count), 0);
    assert_int_equal(count, FRAMES);
    assert_true(newest > 10);
    roce_reader_del(reader);
}

static atomic_ullong offered;
static atomic_bool over;

static void *fill_offered(void *reader)
{
    uint64_t done = 0;
    while (!atomic_load(&over)) {
        const uint64_t ticket = atomic_load(&offered);
        if (ticket != done)
            roce_reader_fill(reader, ticket);
        done = ticket;
    }
    return NULL;
}

static void offer(struct roce_reader *reader, uint32_t got)
{
    const uint64_t ticket = roce_reader_reserve(reader);
    (void)got;
    if (ticket != 0)
        atomic_store(&offered, ticket);
}

static void test_another_thread_fills(void **state)
{
    (void)state;
    for (int round = 0; round < 5; round++) {
        struct roce_reader *reader = open_held();
        pthread_t thread;
        uint32_t count;
        atomic_store(&offered, 0);
        atomic_store(&over, false);
        assert_int_equal(pthread_create(&thread, NULL, fill_offered, reader), 0);
        assert_int_equal(read_all(reader, offer, &count), 0);
        assert_int_equal(count, FRAMES);
        atomic_store(&over, true);
        assert_int_equal(pthread_join(thread, NULL), 0);
        roce_reader_del(reader);
    }
}

/* The last frame lacks its last byte. */
static void test_a_short_file_says_so(void **state)
{
    (void)state;
    assert_int_equal(truncate(path, (off_t)size - 1), 0);
    struct roce_reader *reader = open_held();
    uint32_t count;
    newest = 0;
    assert_int_equal(read_all(reader, some, &count), ROCE_ERR_TRUNCATED);
    assert_int_equal(count, FRAMES - 1);
    assert_non_null(strstr(roce_reader_text(reader), "cut short in packet 6000"));
    roce_reader_del(reader);
}

/* What was reserved lies beyond the end by now. */
static void test_a_file_that_shrinks_says_so(void **state)
{
    (void)state;
    struct roce_reader *reader = open_held();
    struct roce_frame frame;
    while (roce_reader_reserve(reader) != 0)
        ;
    assert_int_equal(truncate(path, 1000), 0);
    int n;
    while ((n = roce_reader_next(reader, &frame, 1)) > 0)
        check(&frame);
    assert_int_equal(n, ROCE_ERR_TRUNCATED);
    assert_string_equal(roce_reader_text(reader), "the file shrank while it was read");
    roce_reader_del(reader);
}

static void test_only_who_holds_reads_ahead(void **state)
{
    struct roce_reader *reader = roce_reader_open(path, NULL, NULL, NULL);
    (void)state;
    assert_non_null(reader);
    assert_int_equal(roce_reader_reserve(reader), 0);
    assert_int_equal(roce_reader_turn(reader), 0);
    roce_reader_del(reader);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_frames_are_the_same),
        cmocka_unit_test(test_another_thread_fills),
        cmocka_unit_test(test_only_who_holds_reads_ahead),
        cmocka_unit_test(test_a_short_file_says_so), /* these two cut the file */
        cmocka_unit_test(test_a_file_that_shrinks_says_so),
    };
    return cmocka_run_group_tests(tests, make, drop);
}
