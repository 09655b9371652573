/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Episodes of READs and atomics that are issued again, answered before: the answers to the newest
 * copies count. */
#include "episode_rig.h"

/* The answer to 8 is lost behind the mirror. Of those that follow the new requests the ACK of the
 * SENDs comes before the answer to 9, as responders acknowledge what they see again with the newest
 * PSN they have: the requester asks for 9 once more although nothing was lost. */
static void test_ack_of_duplicates_passes_a_read(void **state)
{
    (void)state;
    struct rig r;
    open_paired(&r, 0);
    for (uint32_t i = 8; i < 10; i++)
        read_one(&r, i);
    send(&r, 10);
    only(&r, 8);
    only(&r, 9);
    ack(&r, 10);
    for (uint32_t i = 8; i < 10; i++)
        read_one(&r, i);
    send(&r, 10);
    only(&r, 8);
    ack(&r, 10);
    only(&r, 9);
    read_one(&r, 9);
    send(&r, 10);
    only(&r, 9);
    ack(&r, 10);
    send(&r, 11);
    ack(&r, 11);
    assert_int_equal(last_location(&r), ROCE_LOST_NONE);
    finish_and_compare(&r, &(struct expected){.implied = 2, .peer_down = 1});
}

/* The same, and the READ that the ACK passes is the newest request, so that the ACK names it. */
static void test_ack_of_duplicates_names_a_read(void **state)
{
    (void)state;
    struct rig r;
    open_paired(&r, 0);
    read_one(&r, 8);
    send(&r, 9);
    read_one(&r, 10);
    only(&r, 8);
    ack(&r, 9);
    only(&r, 10);
    read_one(&r, 8);
    send(&r, 9);
    read_one(&r, 10);
    only(&r, 8);
    ack(&r, 10);
    only(&r, 10);
    read_one(&r, 10);
    assert_int_equal(r.v.cause, ROCE_CAUSE_IMPLIED_NAK);
    only(&r, 10);
    send(&r, 11);
    ack(&r, 11);
    assert_int_equal(last_location(&r), ROCE_LOST_NONE);
    finish_and_compare(&r, &(struct expected){.implied = 2, .peer_down = 1});
}

/* The same, and the READ that the ACK passed is lost before the mirror when it is issued again: the
 * stream begins with 11 here. The ACK of 11 passes it once more. */
static void test_read_passed_by_an_ack_lost_before_the_mirror(void **state)
{
    (void)state;
    struct rig r;
    open_paired(&r, 0);
    for (int i = 0; i < 2; i++) {
        read_one(&r, 8);
        send(&r, 9);
        read_one(&r, 10);
        send(&r, 11);
        only(&r, 8);
        if (i == 0)
            ack(&r, 9);
        else
            ack(&r, 11);
        only(&r, 10);
        if (i == 0)
            ack(&r, 11);
    }
    send(&r, 11);
    assert_int_equal(r.v.cause, ROCE_CAUSE_IMPLIED_NAK);
    ack(&r, 11);
    read_one(&r, 10);
    assert_int_equal(last_location(&r), ROCE_LOST_NONE);
    send(&r, 11);
    only(&r, 10);
    ack(&r, 11);
    send(&r, 12);
    ack(&r, 12);
    assert_int_equal(last_location(&r), ROCE_LOST_UPSTREAM);
    finish_and_compare(&r, &(struct expected){.implied = 3, .up = 1, .peer_down = 1});
}

static void atomic(struct rig *r, uint32_t psn)
{
    rig_atomic(r, 1, 2, B, START + psn);
    r->now += US;
}

/* The first answer to 8 is lost behind the mirror, the second one to 9 before it. */
static void test_second_answer_of_an_atomic_lost_before_the_mirror(void **state)
{
    (void)state;
    struct rig r;
    const uint8_t op = ROCE_OPCODE_RC_ATOMIC_ACKNOWLEDGE;
    open_paired(&r, 0);
    for (uint32_t i = 8; i < 11; i++)
        atomic(&r, i);
    for (uint32_t i = 8; i < 11; i++)
        answer(&r, op, i);
    for (uint32_t i = 8; i < 11; i++)
        atomic(&r, i);
    answer(&r, op, 8);
    answer(&r, op, 10);
    for (uint32_t i = 9; i < 11; i++)
        atomic(&r, i);
    for (uint32_t i = 9; i < 11; i++)
        answer(&r, op, i);
    send(&r, 11);
    ack(&r, 11);
    assert_int_equal(last_location(&r), ROCE_LOST_UPSTREAM);
    finish_and_compare(&r, &(struct expected){.implied = 2, .peer_down = 1, .peer_up = 1});
}

/* 10 to 13 belong to one READ. Its new answers come behind an ACK that skips it, and 12 is lost
 * before the mirror: the requester asks for 10 because of the ACK, gets 10 and 11 that are under
 * way already, and asks for 12. */
static void test_late_answers_count_for_the_next_step(void **state)
{
    (void)state;
    struct rig r;
    open_paired(&r, 0);
    read_one(&r, 8);
    send(&r, 9);
    rig_read(&r, 1, 2, B, START + 10, 0x10000, 3 * 1024 + 100);
    only(&r, 8);
    ack(&r, 9);
    answer(&r, ROCE_OPCODE_RC_READ_RESPONSE_FIRST, 10);
    answer(&r, ROCE_OPCODE_RC_READ_RESPONSE_MIDDLE, 11);
    answer(&r, ROCE_OPCODE_RC_READ_RESPONSE_MIDDLE, 12);
    answer(&r, ROCE_OPCODE_RC_READ_RESPONSE_LAST, 13);
    read_one(&r, 8);
    send(&r, 9);
    rig_read(&r, 1, 2, B, START + 10, 0x10000, 3 * 1024 + 100);
    only(&r, 8);
    ack(&r, 13);
    answer(&r, ROCE_OPCODE_RC_READ_RESPONSE_FIRST, 10);
    answer(&r, ROCE_OPCODE_RC_READ_RESPONSE_MIDDLE, 11);
    answer(&r, ROCE_OPCODE_RC_READ_RESPONSE_LAST, 13);
    rig_read(&r, 1, 2, B, START + 10, 0x10000, 3 * 1024 + 100);
    rig_read(&r, 1, 2, B, START + 12, 0x10000 + 2048, 1024 + 100);
    assert_int_equal(last_location(&r), ROCE_LOST_NONE);
    answer(&r, ROCE_OPCODE_RC_READ_RESPONSE_FIRST, 12);
    answer(&r, ROCE_OPCODE_RC_READ_RESPONSE_LAST, 13);
    send(&r, 14);
    ack(&r, 14);
    assert_int_equal(last_location(&r), ROCE_LOST_UPSTREAM);
    finish_and_compare(&r, &(struct expected){.implied = 3, .peer_down = 1, .peer_up = 1});
}

static void two(struct rig *r, uint32_t psn)
{
    answer(r, ROCE_OPCODE_RC_READ_RESPONSE_FIRST, psn);
    answer(r, ROCE_OPCODE_RC_READ_RESPONSE_LAST, psn + 1);
}

/* 8 and 9, 10 and 11 belong to READs. Of the first answers that to 8 is lost behind the mirror; all
 * is issued again, and the READ of 10 is lost there. Its responder had answered it before and
 * misses nothing, so that the answer to 12 comes in front of both to 10 and 11. Where the one to 10
 * comes, the request arrived, and the one to 11 was lost before the mirror. */
static void test_read_issued_again_lost_behind_the_mirror(void **state)
{
    (void)state;
    for (int came = 0; came < 2; came++) {
        struct rig r;
        open_paired(&r, 0);
        for (int i = 0; i < 2; i++) {
            rig_read(&r, 1, 2, B, START + 8, 0x8000, 1024 + 100);
            rig_read(&r, 1, 2, B, START + 10, 0xA000, 1024 + 100);
            read_one(&r, 12);
            two(&r, 8);
            if (i == 0)
                two(&r, 10);
            else if (came)
                answer(&r, ROCE_OPCODE_RC_READ_RESPONSE_FIRST, 10);
            only(&r, 12);
        }
        rig_read(&r, 1, 2, B, START + 10 + (uint32_t)came, 0xA000, came ? 100 : 1024 + 100);
        read_one(&r, 12);
        if (came)
            only(&r, 11);
        else
            two(&r, 10);
        only(&r, 12);
        send(&r, 13);
        ack(&r, 13);
        assert_int_equal(last_location(&r), came ? ROCE_LOST_UPSTREAM : ROCE_LOST_DOWNSTREAM);
        finish_and_compare(&r, came ? &(struct expected){.implied = 2, .peer_down = 1, .peer_up = 1}
                                    : &(struct expected){.implied = 2, .peer_down = 1, .down = 1});
    }
}

/* The answers to both READs are lost behind the mirror. An implied NAK would have been obeyed
 * within microseconds, as all else is here: it is the timer that ran out. */
static void test_a_timer_is_no_implied_nak(void **state)
{
    (void)state;
    struct rig r;
    open_paired(&r, 0);
    read_one(&r, 8);
    read_one(&r, 9);
    only(&r, 8);
    only(&r, 9);
    r.now += 4 * MS;
    read_one(&r, 8);
    assert_int_equal(r.v.cause, ROCE_CAUSE_TIMEOUT);
    read_one(&r, 9);
    only(&r, 8);
    only(&r, 9);
    send(&r, 10);
    ack(&r, 10);
    finish_and_compare(&r, &(struct expected){.timeout = 1, .peer_down = 1});
}

/* The answer to 9 is lost before the mirror, twice. An implied NAK is obeyed once: then the timer
 * runs out. */
static void test_answer_lost_twice_until_the_timeout(void **state)
{
    (void)state;
    struct rig r;
    open_paired(&r, 0);
    read_one(&r, 8);
    only(&r, 8);
    for (int i = 0; i < 3; i++) {
        read_one(&r, 9);
        read_one(&r, 10);
        if (i == 2)
            only(&r, 9);
        only(&r, 10);
        r.now += i == 1 ? 4 * MS : 2 * US;
    }
    send(&r, 11);
    ack(&r, 11);
    assert_int_equal(last_location(&r), ROCE_LOST_UPSTREAM);
    finish_and_compare(&r, &(struct expected){.implied = 1, .timeout = 1, .peer_up = 2});
}

/* 8 and 9 belong to a READ. The answer to 8 is lost behind the mirror, then the READ itself. */
static void test_read_lost_until_the_timeout(void **state)
{
    (void)state;
    struct rig r;
    open_paired(&r, 0);
    for (int i = 0; i < 3; i++) {
        rig_read(&r, 1, 2, B, START + 8, 0x8000, 1024 + 100);
        read_one(&r, 10);
        if (i != 1)
            two(&r, 8);
        only(&r, 10);
        r.now += i == 1 ? 4 * MS : 2 * US;
    }
    send(&r, 11);
    ack(&r, 11);
    assert_int_equal(last_location(&r), ROCE_LOST_DOWNSTREAM);
    finish_and_compare(&r,
                       &(struct expected){.implied = 1, .timeout = 1, .peer_down = 1, .down = 1});
}

/* The answer to 8 tells that the READ of 8 and 9 arrived. */
static void test_last_response_lost_before_the_mirror(void **state)
{
    (void)state;
    struct rig r;
    open_paired(&r, 0);
    rig_read(&r, 1, 2, B, START + 8, 0x8000, 1024 + 100);
    answer(&r, ROCE_OPCODE_RC_READ_RESPONSE_FIRST, 8);
    r.now += 4 * MS;
    read_one(&r, 9);
    only(&r, 9);
    send(&r, 10);
    ack(&r, 10);
    assert_int_equal(last_location(&r), ROCE_LOST_UPSTREAM);
    finish_and_compare(&r, &(struct expected){.timeout = 1, .peer_up = 1});
}

/* The first answer to 8 is lost behind the mirror, and so is the READ that is issued again for
 * both: it asks for an answer itself, whatever comes behind it. 11 is lost before the mirror, and
 * its NAK is not obeyed, since 8 has no answer. */
static void test_read_issued_again_in_front_of_a_hole(void **state)
{
    (void)state;
    struct rig r;
    open_paired(&r, 9);
    for (int i = 0; i < 2; i++) {
        rig_read(&r, 1, 2, B, START + 8, 0x8000, 1024 + 100);
        if (i == 0)
            two(&r, 8);
    }
    read_one(&r, 10);
    only(&r, 10);
    send(&r, 12);
    nak(&r, 11);
    r.now += 4 * MS;
    rig_read(&r, 1, 2, B, START + 8, 0x8000, 1024 + 100);
    read_one(&r, 10);
    send(&r, 11);
    send(&r, 12);
    two(&r, 8);
    only(&r, 10);
    ack(&r, 12);
    send(&r, 13);
    ack(&r, 13);
    assert_int_equal(last_location(&r), ROCE_LOST_DOWNSTREAM);
    finish_and_compare(
        &r, &(struct expected){.implied = 1, .timeout = 1, .up = 1, .down = 1, .peer_down = 1});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ack_of_duplicates_passes_a_read),
        cmocka_unit_test(test_ack_of_duplicates_names_a_read),
        cmocka_unit_test(test_read_passed_by_an_ack_lost_before_the_mirror),
        cmocka_unit_test(test_second_answer_of_an_atomic_lost_before_the_mirror),
        cmocka_unit_test(test_late_answers_count_for_the_next_step),
        cmocka_unit_test(test_read_issued_again_lost_behind_the_mirror),
        cmocka_unit_test(test_a_timer_is_no_implied_nak),
        cmocka_unit_test(test_answer_lost_twice_until_the_timeout),
        cmocka_unit_test(test_read_lost_until_the_timeout),
        cmocka_unit_test(test_last_response_lost_before_the_mirror),
        cmocka_unit_test(test_read_issued_again_in_front_of_a_hole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
