/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Timeouts told by what asked for an answer, and whether that got here. */
#include "episode_rig.h"

#define FIRST  ROCE_OPCODE_RC_SEND_FIRST
#define MIDDLE ROCE_OPCODE_RC_SEND_MIDDLE
#define LAST   ROCE_OPCODE_RC_SEND_LAST

static void part(struct rig *r, uint8_t opcode, uint32_t psn)
{
    rig_data(r, opcode, 1, 2, B, START + psn, opcode == LAST ? 100 : 1024);
    r->now += US;
}

/* 9 is lost before the mirror, and so is the NAK that asks for it. What follows is thrown away
 * behind the mirror, the request for an answer with 10, too. */
static void test_hole_without_a_nak(void **state)
{
    (void)state;
    struct rig r;
    open_paired(&r, 0);
    part(&r, FIRST, 8);
    part(&r, LAST, 10);
    r.now += 4 * MS;
    part(&r, FIRST, 8);
    part(&r, MIDDLE, 9);
    part(&r, LAST, 10);
    ack(&r, 10);
    send(&r, 11);
    ack(&r, 11);
    assert_int_equal(last_location(&r), ROCE_LOST_UPSTREAM);
    finish_and_compare(&r, &(struct expected){.timeout = 1, .up = 1});
}

/* 8 asked for an answer and got none: that the message behind it stops in its midst, as its sender
 * may not have more under way, says nothing. */
static void test_window_is_full(void **state)
{
    (void)state;
    struct rig r;
    open_paired(&r, 0);
    for (int i = 0; i < 2; i++) {
        send(&r, 8);
        part(&r, FIRST, 9);
        part(&r, MIDDLE, 10);
        r.now += i == 0 ? 4 * MS : 3 * US;
    }
    ack(&r, 8);
    part(&r, LAST, 11);
    ack(&r, 11);
    assert_int_equal(last_location(&r), ROCE_LOST_DOWNSTREAM);
    finish_and_compare(&r, &(struct expected){.timeout = 1, .down = 1});
}

/* Of what is resent after a NAK the end, which asks for an answer, is lost before the mirror. */
static void test_tail_of_a_resend_lost_before_the_mirror(void **state)
{
    (void)state;
    struct rig r;
    open_paired(&r, 0);
    for (int i = 0; i < 3; i++) {
        part(&r, FIRST, 8);
        part(&r, MIDDLE, 9);
        if (i != 1)
            part(&r, LAST, 10);
        if (i == 0)
            nak(&r, 8);
        r.now += i == 1 ? 4 * MS : 3 * US;
    }
    ack(&r, 10);
    send(&r, 11);
    ack(&r, 11);
    assert_int_equal(last_location(&r), ROCE_LOST_UPSTREAM);
    finish_and_compare(&r, &(struct expected){.nak = 1, .timeout = 1, .down = 1, .up = 1});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hole_without_a_nak),
        cmocka_unit_test(test_window_is_full),
        cmocka_unit_test(test_tail_of_a_resend_lost_before_the_mirror),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
