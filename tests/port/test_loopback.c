/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The cable in memory: order, delay, rate, and losses exactly where the mask says. */
#include "cmocka_all.h"

#include <string.h>

#include "port/line.h"
#include "port/loopback.h"

static void cable(struct loopback_cfg cfg, struct port *ends[2])
{
    assert_int_equal(loopback_new(&cfg, ends), 0);
}

static void put(struct port *end, uint8_t id, size_t len, roce_tstamp now)
{
    uint8_t *room = end->ops->room(end, len);
    assert_non_null(room);
    memset(room, id, len);
    assert_int_equal(end->ops->commit(end, len, now), 0);
}

/* Takes a frame and checks that it is |id|, whole; -1: none is there. */
static void take(struct port *end, int id, size_t len, roce_tstamp now)
{
    struct roce_frame frame;
    const int rc = end->ops->receive(end, now, &frame);
    if (id < 0) {
        assert_int_equal(rc, 0);
        return;
    }
    assert_int_equal(rc, 1);
    assert_int_equal(frame.caplen, len);
    assert_int_equal(frame.origlen, len);
    for (size_t i = 0; i < len; i++)
        assert_int_equal(frame.data[i], id);
}

static void close_both(struct port *ends[2])
{
    port_del(ends[0]);
    port_del(ends[1]);
}

static void test_loopback_keeps_order_both_ways(void **state)
{
    struct port *ends[2];
    (void)state;
    cable((struct loopback_cfg){0}, ends);
    for (uint8_t i = 0; i < 200; i++)
        put(ends[0], i, 1U + i, 5);
    put(ends[1], 77, 60, 5);
    for (uint8_t i = 0; i < 200; i++)
        take(ends[1], i, 1U + i, 5);
    take(ends[1], -1, 0, 5);
    take(ends[0], 77, 60, 5);
    close_both(ends);
}

static void test_loopback_is_full_at_its_capacity(void **state)
{
    struct port *ends[2];
    (void)state;
    cable((struct loopback_cfg){.capacity = 3, .frame_len = 100}, ends);
    assert_null(ends[0]->ops->room(ends[0], 101));
    put(ends[0], 1, 100, 0);
    put(ends[0], 2, 100, 0);
    put(ends[0], 3, 100, 0);
    assert_null(ends[0]->ops->room(ends[0], 100));
    take(ends[1], 1, 100, 0);
    assert_null(ends[0]->ops->room(ends[0], 100)); /* still borrowed */
    take(ends[1], 2, 100, 0);
    put(ends[0], 4, 100, 0);
    take(ends[1], 3, 100, 0);
    take(ends[1], 4, 100, 0);
    close_both(ends);
}

/* 1 Gb/s: 976 bytes and 24 of preamble, FCS and gap take 8 us; then 5 us of cable. */
static void test_loopback_takes_its_time(void **state)
{
    struct port *ends[2];
    (void)state;
    cable((struct loopback_cfg){.way[0] = {.rate_bps = 1000000000, .delay_ns = 5000}}, ends);
    struct port *a = ends[0], *b = ends[1];
    assert_int_equal(a->ops->flush(a, 1000), 0);
    assert_true(b->ops->next(b) == PORT_NEVER);
    put(a, 1, 976, 1000);
    assert_null(a->ops->room(a, 976)); /* the first is still leaving */
    assert_int_equal(a->ops->next(a), 9000);
    assert_int_equal(b->ops->next(b), 14000);
    take(b, -1, 0, 13999);
    take(b, 1, 976, 14000);
    assert_int_equal(a->ops->flush(a, 9000), 0);
    put(a, 2, 976, 9000);
    assert_int_equal(b->ops->next(b), 22000);
    close_both(ends);
}

static void test_loopback_loses_what_the_mask_says(void **state)
{
    struct port *ends[2];
    struct loopback_count count;
    (void)state;
    const uint64_t mask = UINT64_C(0x8000000000000025); /* 0, 2, 5, 63 */
    cable((struct loopback_cfg){.way[0].drop_mask = mask}, ends);
    for (uint8_t i = 0; i < 100; i++)
        put(ends[0], i, 64, 0);
    for (uint8_t i = 0; i < 100; i++)
        if (i != 0 && i != 2 && i != 5 && i != 63)
            take(ends[1], i, 64, 0);
    take(ends[1], -1, 0, 0);
    loopback_count(ends[0], &count);
    assert_int_equal(count.sent, 100);
    assert_int_equal(count.dropped, 4);
    close_both(ends);
}

/* Of 20,000 frames at 1 % the number lost lies within five standard deviations (14) of 200; and the
 * seed decides. */
static uint64_t lost_with_seed(uint64_t seed)
{
    struct port *ends[2];
    struct loopback_count count;
    cable((struct loopback_cfg){.way[0].drop = 10000, .seed = seed}, ends);
    for (int i = 0; i < 20000; i++) {
        struct roce_frame frame;
        put(ends[0], (uint8_t)i, 8, 0);
        (void)ends[1]->ops->receive(ends[1], 0, &frame);
    }
    loopback_count(ends[0], &count);
    close_both(ends);
    return count.dropped;
}

static void test_loopback_chances_have_a_seed(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed < 6; seed++) {
        const uint64_t lost = lost_with_seed(seed);
        assert_in_range(lost, 130, 270);
        assert_int_equal(lost, lost_with_seed(seed));
    }
}

static void test_loopback_doubles_and_reorders(void **state)
{
    struct port *ends[2];
    struct loopback_count count;
    (void)state;
    cable((struct loopback_cfg){.way[0].dup = 1000000}, ends);
    put(ends[0], 9, 30, 0);
    take(ends[1], 9, 30, 0);
    take(ends[1], 9, 30, 0);
    take(ends[1], -1, 0, 0);
    close_both(ends);

    cable((struct loopback_cfg){.way[0] = {.reorder = 1000000, .reorder_ns = 100}}, ends);
    put(ends[0], 1, 30, 0);
    put(ends[0], 2, 30, 50);
    take(ends[1], -1, 0, 99);
    take(ends[1], 1, 30, 100);
    take(ends[1], 2, 30, 150);
    loopback_count(ends[0], &count);
    assert_int_equal(count.reordered, 2);
    close_both(ends);
}

/* Against a plain sort: frames put with any times come out by time, those of one time in order. */
static void test_line_sorts_by_arrival(void **state)
{
    enum { N = 500 };
    roce_tstamp when[N];
    uint32_t x = 1;
    (void)state;
    struct line *line = line_new(N, 4);
    assert_non_null(line);
    for (uint32_t i = 0; i < N; i++) {
        x = x * 1664525U + 1013904223U;
        when[i] = x >> 24; /* many of them equal */
        uint8_t *room = line_room(line);
        memcpy(room, &i, sizeof(i));
        line_put(line, sizeof(i), when[i]);
    }
    assert_null(line_room(line));
    roce_tstamp last = 0;
    uint32_t last_id = 0;
    for (uint32_t n = 0; n < N; n++) {
        size_t len;
        uint32_t id;
        const roce_tstamp next = line_next(line);
        if (next > 0)
            assert_null(line_take(line, next - 1, &len));
        const uint8_t *data = line_take(line, next, &len);
        assert_non_null(data);
        memcpy(&id, data, sizeof(id));
        assert_int_equal(when[id], next);
        assert_true(next > last || (next == last && (n == 0 || id > last_id)));
        last = next;
        last_id = id;
    }
    assert_true(line_next(line) == UINT64_MAX);
    line_del(line);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_loopback_keeps_order_both_ways),
        cmocka_unit_test(test_loopback_is_full_at_its_capacity),
        cmocka_unit_test(test_loopback_takes_its_time),
        cmocka_unit_test(test_loopback_loses_what_the_mask_says),
        cmocka_unit_test(test_loopback_chances_have_a_seed),
        cmocka_unit_test(test_loopback_doubles_and_reorders),
        cmocka_unit_test(test_line_sorts_by_arrival),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
