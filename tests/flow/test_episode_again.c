/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Episodes in which frames of the resent stream are lost once more. */
#include "episode_rig.h"

static void send_all(struct rig *r, uint32_t first, uint32_t last, uint32_t skip)
{
    for (uint32_t i = first; i <= last; i++)
        if (i != skip)
            send(r, i);
}

/* 9 is lost before the mirror, and so is its resend: the stream that obeys the NAK begins with 10
 * here. */
static void test_resend_of_a_hole_lost_before_the_mirror(void **state)
{
    (void)state;
    struct rig r;
    open_paired(&r, 0);
    send_all(&r, 8, 11, 9);
    nak(&r, 9);
    send_all(&r, 10, 11, 99);
    nak(&r, 9);
    send(&r, 9);
    assert_int_equal(last_location(&r), ROCE_LOST_UPSTREAM);
    send_all(&r, 10, 12, 99);
    ack(&r, 12);
    finish_and_compare(&r, &(struct expected){.nak = 2, .up = 1});
}

/* 9 is lost behind the mirror, its resend before it. 10 was missing in an earlier stream, which
 * says nothing about 9. */
static void test_resend_lost_next_to_one_lost_before(void **state)
{
    (void)state;
    struct rig r;
    open_paired(&r, 0);
    send_all(&r, 8, 12, 99);
    nak(&r, 8);
    send_all(&r, 8, 12, 10);
    nak(&r, 9);
    send_all(&r, 10, 12, 99);
    nak(&r, 9);
    send_all(&r, 9, 13, 99);
    ack(&r, 13);
    finish_and_compare(&r, &(struct expected){.nak = 3, .down = 2, .up = 1});
}

/* 10 is missing in the first stream that is sent again, and comes in the second one; that one is
 * lost behind the mirror. */
static void test_missing_once_and_lost_later(void **state)
{
    (void)state;
    struct rig r;
    open_paired(&r, 0);
    send_all(&r, 8, 12, 99);
    nak(&r, 8);
    send_all(&r, 8, 12, 10);
    nak(&r, 9);
    send_all(&r, 9, 12, 99);
    nak(&r, 10);
    send_all(&r, 10, 13, 99);
    ack(&r, 13);
    finish_and_compare(&r, &(struct expected){.nak = 3, .down = 3});
}

/* 10 is missing in the stream that obeys the first NAK. Before the NAK of 10 comes from a slow
 * host, the requester's timer has sent all again, 10 too: the NAK is about the stream before. */
static void test_nak_of_the_stream_before(void **state)
{
    (void)state;
    struct rig r;
    open_paired(&r, 0);
    send_all(&r, 8, 12, 99);
    nak(&r, 8);
    send_all(&r, 8, 12, 10);
    ack(&r, 8);
    r.now += 4 * MS;
    send(&r, 9);
    nak(&r, 10);
    send_all(&r, 10, 12, 99);
    send(&r, 10);
    assert_int_equal(r.v.cause, ROCE_CAUSE_NAK);
    send_all(&r, 11, 13, 99);
    ack(&r, 13);
    assert_int_equal(last_location(&r), ROCE_LOST_UPSTREAM);
    rig_close(&r);
}

/* The answer to 9 is lost before the mirror, and so is 11. When the NAK of 11 passes, the requester
 * has begun to obey the implied one: 11 comes before it learns of the NAK. */
static void test_nak_of_a_hole_filled_meanwhile(void **state)
{
    (void)state;
    struct rig r;
    open_paired(&r, 0);
    for (uint32_t i = 8; i < 11; i++)
        read_one(&r, i);
    send(&r, 12);
    only(&r, 8);
    only(&r, 10);
    for (uint32_t i = 9; i < 11; i++)
        read_one(&r, i);
    nak(&r, 11);
    send_all(&r, 11, 12, 99);
    send_all(&r, 11, 12, 99);
    only(&r, 9);
    only(&r, 10);
    ack(&r, 12);
    send(&r, 13);
    ack(&r, 13);
    assert_int_equal(last_location(&r), ROCE_LOST_UPSTREAM);
    finish_and_compare(&r, &(struct expected){.nak = 1, .implied = 1, .up = 1, .peer_up = 1});
}

/* 8 is lost behind the mirror. In the stream that is sent again 9 comes with a wrong ICRC: damaged
 * before the mirror, dropped by its receiver, and asked for. */
static void test_resend_damaged_before_the_mirror(void **state)
{
    (void)state;
    struct rig r;
    open_paired(&r, 0);
    send_all(&r, 8, 11, 99);
    nak(&r, 8);
    send(&r, 8);
    r.icrc = ROCE_ICRC_BAD;
    send(&r, 9);
    r.icrc = ROCE_ICRC_OK;
    send_all(&r, 10, 11, 99);
    nak(&r, 9);
    send_all(&r, 9, 12, 99);
    ack(&r, 12);
    assert_int_equal(last_location(&r), ROCE_LOST_UPSTREAM);
    finish_and_compare(&r, &(struct expected){.nak = 2, .down = 1, .up = 1});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_resend_of_a_hole_lost_before_the_mirror),
        cmocka_unit_test(test_resend_lost_next_to_one_lost_before),
        cmocka_unit_test(test_missing_once_and_lost_later),
        cmocka_unit_test(test_nak_of_the_stream_before),
        cmocka_unit_test(test_nak_of_a_hole_filled_meanwhile),
        cmocka_unit_test(test_resend_damaged_before_the_mirror),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
