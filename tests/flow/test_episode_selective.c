/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Requesters that send again only what is missing, and NAKs of frames that were only late: several
 * of them are under way at a time. */
#include "episode_rig.h"

static void sends(struct rig *r, uint32_t first, uint32_t last)
{
    for (uint32_t i = first; i <= last; i++)
        send(r, i);
}

/* 9 was overtaken behind the capture point, and arrived before its requester obeyed the NAK. */
static void test_nak_obeyed_behind_the_ack(void **state)
{
    (void)state;
    struct rig r;
    open_paired(&r, 0);
    sends(&r, 8, 11);
    nak(&r, 9);
    const uint64_t asked = r.frame;
    ack(&r, 11);
    send(&r, 12);
    send(&r, 9);
    assert_int_equal(r.v.cause, ROCE_CAUSE_NAK);
    send(&r, 13);
    const struct roce_event *e = rig_last_event(&r, ROCE_EVENT_EPISODE);
    assert_int_equal(e->location, ROCE_LOST_NONE);
    assert_int_equal(e->evidence[1], asked);
    assert_int_equal(e->duration, 3 * US);
    ack(&r, 13);
    finish_and_compare(&r, &(struct expected){.nak = 1});
}

/* The responder dropped all behind 8 until it came: the NAK of 9 tells of the second one, which
 * came in the end. */
static void test_nak_of_the_second_of_two(void **state)
{
    (void)state;
    struct rig r;
    open_paired(&r, 0);
    sends(&r, 8, 11);
    nak(&r, 8);
    sends(&r, 8, 11);
    nak(&r, 9);
    ack(&r, 10);
    sends(&r, 9, 12);
    ack(&r, 12);
    finish_and_compare(&r, &(struct expected){.nak = 2, .down = 1});
}

/* Nobody asks again for what was acknowledged: this is the requester's timer, 4.096 us * 2^8. */
static void test_nak_not_obeyed(void **state)
{
    (void)state;
    struct rig r;
    open_paired(&r, 8);
    sends(&r, 8, 11);
    nak(&r, 9);
    ack(&r, 11);
    r.now += 2 * MS;
    send(&r, 9);
    send(&r, 10);
    send(&r, 11);
    ack(&r, 11);
    finish_and_compare(&r, &(struct expected){.timeout = 1, .peer_down = 1});
}

/* The NAK of 11 acknowledges 9, which came late, and says that 11 did not arrive. */
static void test_naks_obeyed_one_by_one(void **state)
{
    (void)state;
    struct rig r;
    open_paired(&r, 0);
    sends(&r, 8, 13);
    nak(&r, 9);
    nak(&r, 11);
    send(&r, 9);
    send(&r, 14);
    send(&r, 11);
    assert_int_equal(r.v.cause, ROCE_CAUSE_NAK);
    send(&r, 15);
    ack(&r, 15);
    finish_and_compare(&r, &(struct expected){.nak = 2, .down = 1});
}

/* Without a frame in between: each resend is an episode of its own. Only 14 is not acknowledged by
 * then. */
static void test_resends_in_a_row(void **state)
{
    (void)state;
    struct rig r;
    open_paired(&r, 0);
    sends(&r, 8, 16);
    nak(&r, 9);
    nak(&r, 11);
    nak(&r, 14);
    send(&r, 9);
    send(&r, 11);
    assert_true(r.v.flags & ROCE_V_EPISODE);
    send(&r, 14);
    send(&r, 17);
    ack(&r, 17);
    finish_and_compare(&r, &(struct expected){.nak = 3, .down = 1});
}

/* The requester goes back twice: to 9, which came late, and before it is through to 10. */
static void test_go_back_twice(void **state)
{
    (void)state;
    struct rig r;
    open_paired(&r, 0);
    sends(&r, 8, 12);
    nak(&r, 9);
    nak(&r, 10);
    sends(&r, 9, 11);
    send(&r, 10);
    assert_true(r.v.flags & ROCE_V_EPISODE);
    assert_int_equal(r.v.cause, ROCE_CAUSE_NAK);
    sends(&r, 11, 13);
    ack(&r, 13);
    finish_and_compare(&r, &(struct expected){.nak = 2, .down = 1});
}

/* 10 and 11 are acknowledged, though only 9 was sent again: 12 was not resent and lost again on its
 * way here, it was lost behind the capture point the first time. */
static void test_kept_behind_what_is_missing(void **state)
{
    (void)state;
    struct rig r;
    open_paired(&r, 0);
    sends(&r, 8, 14);
    nak(&r, 9);
    send(&r, 9);
    send(&r, 15);
    nak(&r, 12);
    send(&r, 12);
    send(&r, 16);
    nak(&r, 13);
    send(&r, 13);
    send(&r, 17);
    ack(&r, 17);
    finish_and_compare(&r, &(struct expected){.nak = 3, .down = 3});
}

/* 9 was sent again with all behind it, of which 10 to 13 did not get here; 10 is what the responder
 * waits for. */
static void test_lost_behind_what_is_resent(void **state)
{
    (void)state;
    struct rig r;
    open_paired(&r, 0);
    sends(&r, 8, 13);
    nak(&r, 9);
    send(&r, 9);
    send(&r, 14);
    nak(&r, 10);
    sends(&r, 10, 15);
    ack(&r, 15);
    finish_and_compare(&r, &(struct expected){.nak = 2, .down = 1, .up = 4});
}

/* The answer to 8 acknowledges far past it: it is one like it that was lost. */
static void test_timeouts_of_what_is_missing(void **state)
{
    (void)state;
    struct rig r;
    open_paired(&r, 8);
    sends(&r, 8, 12);
    r.now += 2 * MS;
    send(&r, 8);
    ack(&r, 11);
    r.now += 2 * MS;
    send(&r, 12);
    assert_int_equal(r.v.cause, ROCE_CAUSE_TIMEOUT);
    ack(&r, 12);
    finish_and_compare(&r, &(struct expected){.timeout = 2, .down = 1, .peer_up = 1});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nak_obeyed_behind_the_ack),
        cmocka_unit_test(test_nak_of_the_second_of_two),
        cmocka_unit_test(test_nak_not_obeyed),
        cmocka_unit_test(test_naks_obeyed_one_by_one),
        cmocka_unit_test(test_resends_in_a_row),
        cmocka_unit_test(test_go_back_twice),
        cmocka_unit_test(test_kept_behind_what_is_missing),
        cmocka_unit_test(test_lost_behind_what_is_resent),
        cmocka_unit_test(test_timeouts_of_what_is_missing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
