/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Episodes of frames that were captured with a wrong ICRC: they were damaged before they got here,
 * and who receives them drops them. */
#include "episode_rig.h"

/* With a wrong ICRC. */
static void damaged_only(struct rig *r, uint32_t psn)
{
    r->icrc = ROCE_ICRC_BAD;
    only(r, psn);
    r->icrc = ROCE_ICRC_OK;
}

static void damaged_ack(struct rig *r, uint32_t psn)
{
    r->icrc = ROCE_ICRC_BAD;
    ack(r, psn);
    r->icrc = ROCE_ICRC_OK;
}

/* Of the responses to 8 to 11 that to 10 is damaged, asked for again, and captured twice so. */
static void test_read_response_damaged(void **state)
{
    (void)state;
    struct rig r;
    open_paired(&r, 0);
    rig_read(&r, 1, 2, B, START + 8, 0x8000, 3 * 1024 + 100);
    answer(&r, ROCE_OPCODE_RC_READ_RESPONSE_FIRST, 8);
    answer(&r, ROCE_OPCODE_RC_READ_RESPONSE_MIDDLE, 9);
    r.icrc = ROCE_ICRC_BAD;
    answer(&r, ROCE_OPCODE_RC_READ_RESPONSE_MIDDLE, 10);
    r.icrc = ROCE_ICRC_OK;
    answer(&r, ROCE_OPCODE_RC_READ_RESPONSE_LAST, 11);
    rig_read(&r, 1, 2, B, START + 10, 0x8000 + 2048, 1024 + 100);
    assert_int_equal(r.v.cause, ROCE_CAUSE_IMPLIED_NAK);
    answer(&r, ROCE_OPCODE_RC_READ_RESPONSE_FIRST, 10);
    assert_true(r.v.flags & ROCE_V_READ_RESPONSE_DUP);
    answer(&r, ROCE_OPCODE_RC_READ_RESPONSE_LAST, 11);
    send(&r, 12);
    ack(&r, 12);
    assert_int_equal(last_location(&r), ROCE_LOST_UPSTREAM);
    const struct roce_flow_counters p = rig_counters(&r, 2, 1, A);
    assert_int_equal(p.read_response_dup, 2);
    assert_int_equal(p.read_response_gap_events, 0);
    finish_and_compare(&r, &(struct expected){.implied = 1, .peer_up = 1});
}

static void test_read_response_damaged_until_the_timeout(void **state)
{
    (void)state;
    struct rig r;
    open_paired(&r, 0);
    read_one(&r, 8);
    damaged_only(&r, 8);
    r.now += 4 * MS;
    read_one(&r, 8);
    only(&r, 8);
    send(&r, 9);
    ack(&r, 9);
    assert_int_equal(last_location(&r), ROCE_LOST_UPSTREAM);
    finish_and_compare(&r, &(struct expected){.timeout = 1, .peer_up = 1});
}

/* The newest copy counts: the damaged answer is followed by one that is whole, lost behind the
 * mirror. */
static void test_second_answer_is_whole(void **state)
{
    (void)state;
    struct rig r;
    open_paired(&r, 0);
    read_one(&r, 8);
    damaged_only(&r, 8);
    for (int i = 0; i < 2; i++) {
        r.now += 4 * MS;
        read_one(&r, 8);
        only(&r, 8);
    }
    send(&r, 9);
    ack(&r, 9);
    assert_int_equal(last_location(&r), ROCE_LOST_DOWNSTREAM);
    finish_and_compare(&r, &(struct expected){.timeout = 2, .peer_up = 1, .peer_down = 1});
}

/* Damaged by what captures alone: the requester goes on. */
static void test_damaged_response_that_arrived(void **state)
{
    (void)state;
    struct rig r;
    open_paired(&r, 0);
    read_one(&r, 8);
    damaged_only(&r, 8);
    send(&r, 9);
    ack(&r, 9);
    send(&r, 10);
    ack(&r, 10);
    finish_and_compare(&r, &(struct expected){0});
}

static void test_ack_damaged(void **state)
{
    (void)state;
    struct rig r;
    open_paired(&r, 0);
    send(&r, 8);
    send(&r, 9);
    ack(&r, 8);
    damaged_ack(&r, 9);
    r.now += 4 * MS;
    send(&r, 9);
    ack(&r, 9);
    send(&r, 10);
    ack(&r, 10);
    assert_int_equal(last_location(&r), ROCE_LOST_UPSTREAM);
    finish_and_compare(&r, &(struct expected){.timeout = 1, .peer_up = 1});
}

/* The ACK of 9 makes up for the damaged one: what is lost behind it is another matter. */
static void test_ack_damaged_and_made_up_for(void **state)
{
    (void)state;
    struct rig r;
    open_paired(&r, 0);
    send(&r, 8);
    send(&r, 9);
    damaged_ack(&r, 8);
    ack(&r, 9);
    send(&r, 10);
    r.now += 4 * MS;
    send(&r, 10);
    ack(&r, 10);
    send(&r, 11);
    ack(&r, 11);
    assert_int_equal(last_location(&r), ROCE_LOST_DOWNSTREAM);
    finish_and_compare(&r, &(struct expected){.timeout = 1, .down = 1});
}

static void test_atomic_ack_damaged(void **state)
{
    (void)state;
    struct rig r;
    open_paired(&r, 0);
    rig_atomic(&r, 1, 2, B, START + 8);
    r.now += US;
    r.icrc = ROCE_ICRC_BAD;
    answer(&r, ROCE_OPCODE_RC_ATOMIC_ACKNOWLEDGE, 8);
    r.icrc = ROCE_ICRC_OK;
    r.now += 4 * MS;
    rig_atomic(&r, 1, 2, B, START + 8);
    r.now += US;
    answer(&r, ROCE_OPCODE_RC_ATOMIC_ACKNOWLEDGE, 8);
    send(&r, 9);
    ack(&r, 9);
    assert_int_equal(last_location(&r), ROCE_LOST_UPSTREAM);
    finish_and_compare(&r, &(struct expected){.timeout = 1, .peer_up = 1});
}

/* 10 alone asks for an answer: that none came is no word about 8. */
static void test_request_that_asks_damaged(void **state)
{
    (void)state;
    struct rig r;
    open_paired(&r, 0);
    for (int i = 0; i < 2; i++) {
        rig_data(&r, ROCE_OPCODE_RC_SEND_FIRST, 1, 2, B, START + 8, 1024);
        rig_data(&r, ROCE_OPCODE_RC_SEND_MIDDLE, 1, 2, B, START + 9, 1024);
        r.icrc = i == 0 ? ROCE_ICRC_BAD : ROCE_ICRC_OK;
        rig_data(&r, ROCE_OPCODE_RC_SEND_LAST, 1, 2, B, START + 10, 100);
        r.icrc = ROCE_ICRC_OK;
        r.now += i == 0 ? 4 * MS : 3 * US;
    }
    ack(&r, 10);
    send(&r, 11);
    ack(&r, 11);
    assert_int_equal(last_location(&r), ROCE_LOST_UPSTREAM);
    assert_int_equal(rig_last_event(&r, ROCE_EVENT_LOSS)->psn, START + 10);
    finish_and_compare(&r, &(struct expected){.timeout = 1, .up = 1});
}

/* 8 asks for an answer, too, and got none although it was whole. */
static void test_request_before_the_damaged_one_asks(void **state)
{
    (void)state;
    struct rig r;
    open_paired(&r, 0);
    for (int i = 0; i < 2; i++) {
        send(&r, 8);
        r.icrc = i == 0 ? ROCE_ICRC_BAD : ROCE_ICRC_OK;
        send(&r, 9);
        r.icrc = ROCE_ICRC_OK;
        r.now += i == 0 ? 4 * MS : 3 * US;
    }
    ack(&r, 9);
    send(&r, 10);
    ack(&r, 10);
    assert_int_equal(last_location(&r), ROCE_LOST_DOWNSTREAM);
    finish_and_compare(&r, &(struct expected){.timeout = 1, .down = 1});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_read_response_damaged),
        cmocka_unit_test(test_read_response_damaged_until_the_timeout),
        cmocka_unit_test(test_second_answer_is_whole),
        cmocka_unit_test(test_damaged_response_that_arrived),
        cmocka_unit_test(test_ack_damaged),
        cmocka_unit_test(test_ack_damaged_and_made_up_for),
        cmocka_unit_test(test_atomic_ack_damaged),
        cmocka_unit_test(test_request_that_asks_damaged),
        cmocka_unit_test(test_request_before_the_damaged_one_asks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
