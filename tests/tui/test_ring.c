/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The ring of newest frames and the series of counters, against plain lists. */
#include "../cmocka_all.h"

#include <stdlib.h>
#include <string.h>

#include "ring.h"
#include "series.h"

enum { FRAMES = 40000, FLOWS = 7 };

static uint32_t next_random(uint32_t *state)
{
    *state = *state * 1664525 + 1013904223;
    return *state >> 8;
}

/* Frames of random length into a ring of 1 MiB: what is walked is a run of the newest frames
 * without a hole, intact, and the chains of flows agree with it. */
static void check_ring(uint32_t seed, uint32_t slice, uint32_t max_len)
{
    static uint64_t mark[FRAMES], newest[FLOWS];
    static uint32_t len[FRAMES];
    static uint8_t data[2048];
    struct ring ring;
    memset(newest, 0, sizeof(newest));
    assert_int_equal(tui_ring_init(&ring, 1, slice), 0);
    assert_int_equal(tui_ring_oldest(&ring), 0);
    for (uint32_t i = 0; i < FRAMES; i++) {
        const uint32_t flow = next_random(&seed) % FLOWS;
        len[i] = next_random(&seed) % (max_len + 1);
        memset(data, (int)(i & 0xFF), len[i]);
        struct ring_record record = {
            .before = newest[flow], .number = i + 1, .flow = flow, .ts = i, .origlen = len[i]};
        const struct roce_frame frame = {
            .data = data, .caplen = len[i], .origlen = len[i], .linktype = 1 + i % 3};
        mark[i] = newest[flow] = tui_ring_push(&ring, &record, &frame);
        if (i % 997 != 0 && i + 1 != FRAMES)
            continue;
        uint64_t at = tui_ring_oldest(&ring), number = 0;
        uint32_t count = 0;
        for (; at != 0; at = tui_ring_next(&ring, at), count++) {
            const struct ring_record *r = tui_ring_get(&ring, at);
            struct roce_frame f;
            assert_non_null(r);
            assert_true(number == 0 || r->number == number + 1);
            number = r->number;
            assert_int_equal(at, mark[number - 1]);
            tui_ring_frame(&ring, r, &f);
            assert_int_equal(f.origlen, len[number - 1]);
            assert_int_equal(f.caplen, len[number - 1] < slice ? len[number - 1] : slice);
            assert_int_equal(f.linktype, 1 + (number - 1) % 3);
            if (f.caplen > 0)
                assert_int_equal(f.data[f.caplen - 1], (number - 1) & 0xFF);
        }
        assert_int_equal(number, i + 1);
        /* A block and the longest record may be lost to bookkeeping. */
        const uint32_t room = 64 + (slice < max_len ? slice : max_len) + 63;
        assert_true(count >= i + 1 || count >= ((1 << 20) - RING_BLOCK) / room - 2);
    }
    /* The chain of a flow ends where frames were overwritten, never in another flow. */
    for (uint32_t flow = 0; flow < FLOWS; flow++) {
        uint64_t number = UINT64_MAX;
        for (const struct ring_record *r = tui_ring_get(&ring, newest[flow]); r != NULL;
             r = tui_ring_get(&ring, r->before)) {
            assert_int_equal(r->flow, flow);
            assert_true(r->number < number);
            number = r->number;
        }
    }
    tui_ring_clear(&ring);
    assert_int_equal(tui_ring_oldest(&ring), 0);
    assert_null(tui_ring_get(&ring, mark[FRAMES - 1]));
    tui_ring_free(&ring);
}

static void test_ring_of_headers(void **state)
{
    (void)state;
    check_ring(1, 0, 2000);
}

static void test_ring_of_slices(void **state)
{
    (void)state;
    check_ring(2, 256, 2000);
    check_ring(3, 65535, 1500);
    check_ring(4, 100, 90);
}

static uint64_t total(const struct series *s)
{
    uint64_t sum = s->open.packets;
    for (uint32_t i = 0; i < s->count; i++)
        sum += tui_series_at(s, i)->packets;
    return sum;
}

static void test_growing_series_keeps_all(void **state)
{
    (void)state;
    static struct series s;
    uint32_t seed = 5;
    uint64_t fed = 0, ts = 1000;
    tui_series_begin(&s, 0, 1000, true);
    for (int i = 0; i < 100000; i++) {
        ts += next_random(&seed) % 3000;
        tui_series_skip(&s, ts);
        assert_true(ts >= s.start && ts < tui_series_end(&s));
        assert_true(tui_series_end(&s) - ts <= s.length_ns);
        s.open.packets++;
        fed++;
    }
    assert_int_equal(s.start, 0);
    assert_int_equal(total(&s), fed);
    assert_true(s.count < SERIES_BINS);
    /* Far ahead: still no more than its bins, and quickly. */
    tui_series_skip(&s, UINT64_C(1) << 60);
    assert_int_equal(total(&s), fed);
}

static void test_sliding_series_keeps_the_newest(void **state)
{
    (void)state;
    static struct series s;
    tui_series_begin(&s, 5000, 1000, false);
    for (uint64_t i = 0; i < 3000; i++) {
        s.open.packets = i;
        tui_series_close(&s);
    }
    assert_int_equal(s.count, SERIES_BINS);
    assert_int_equal(tui_series_at(&s, SERIES_BINS - 1)->packets, 2999);
    assert_int_equal(tui_series_at(&s, 0)->packets, 3000 - SERIES_BINS);
    assert_int_equal(tui_series_end(&s), 5000 + 3001 * 1000);
    /* A silence of years. */
    const uint64_t far = UINT64_C(1) << 58;
    tui_series_skip(&s, far);
    assert_true(far < tui_series_end(&s) && far >= tui_series_end(&s) - 1000);
    assert_int_equal(tui_series_at(&s, SERIES_BINS - 1)->packets, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ring_of_headers),
        cmocka_unit_test(test_ring_of_slices),
        cmocka_unit_test(test_growing_series_keeps_all),
        cmocka_unit_test(test_sliding_series_keeps_the_newest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
