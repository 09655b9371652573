/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Episodes of READs and atomics: the answer was lost. */
#include "episode_rig.h"

static void test_implied_nak_of_an_atomic(void **state)
{
    (void)state;
    struct rig r;
    open_paired(&r, 0);
    rig_atomic(&r, 1, 2, B, START + 8);
    rig_atomic(&r, 1, 2, B, START + 9);
    rig_answer(&r, ROCE_OPCODE_RC_ATOMIC_ACKNOWLEDGE, 2, 1, A, START + 9, 0, 10);
    r.now += 3 * US;
    rig_atomic(&r, 1, 2, B, START + 8);
    assert_int_equal(r.v.cause, ROCE_CAUSE_IMPLIED_NAK);
    assert_int_equal(r.v.wait, 3 * US);
    rig_atomic(&r, 1, 2, B, START + 9);
    rig_answer(&r, ROCE_OPCODE_RC_ATOMIC_ACKNOWLEDGE, 2, 1, A, START + 8, 0, 10);
    rig_answer(&r, ROCE_OPCODE_RC_ATOMIC_ACKNOWLEDGE, 2, 1, A, START + 9, 0, 10);
    finish_and_compare(&r, &(struct expected){.implied = 1, .peer_up = 1});
}

static void responses(struct rig *r, uint32_t psn, uint32_t n, uint32_t skip)
{
    for (uint32_t i = 0; i < n; i++) {
        const uint8_t op = n == 1       ? ROCE_OPCODE_RC_READ_RESPONSE_ONLY
                           : i == 0     ? ROCE_OPCODE_RC_READ_RESPONSE_FIRST
                           : i == n - 1 ? ROCE_OPCODE_RC_READ_RESPONSE_LAST
                                        : ROCE_OPCODE_RC_READ_RESPONSE_MIDDLE;
        if (i != skip)
            rig_answer(r, op, 2, 1, A, START + psn + i, i == n - 1 ? 100 : 1024, 9);
    }
}

static void test_read_response_lost_before_the_mirror(void **state)
{
    (void)state;
    struct rig r;
    open_paired(&r, 0);
    rig_read(&r, 1, 2, B, START + 8, 0x1000, 3 * 1024 + 100);
    responses(&r, 8, 4, 2);
    r.now += 2 * US;
    rig_read(&r, 1, 2, B, START + 10, 0x1000 + 2048, 1024 + 100);
    assert_int_equal(r.v.cause, ROCE_CAUSE_IMPLIED_NAK);
    responses(&r, 10, 2, 99);
    send(&r, 12);
    const struct roce_flow_counters c = rig_counters(&r, 2, 1, A);
    assert_int_equal(c.read_response_gap_events, 1);
    assert_int_equal(c.read_response_dup, 1);
    const struct roce_flow_counters q = rig_counters(&r, 1, 2, B);
    assert_int_equal(q.messages[ROCE_MESSAGE_READ].started, 1);
    assert_int_equal(q.messages[ROCE_MESSAGE_READ].completed, 1);
    finish_and_compare(&r, &(struct expected){.implied = 1, .peer_up = 1});
}

static void test_read_response_lost_behind_the_mirror(void **state)
{
    (void)state;
    struct rig r;
    open_paired(&r, 0);
    rig_read(&r, 1, 2, B, START + 8, 0x1000, 3 * 1024 + 100);
    responses(&r, 8, 4, 99);
    r.now += 2 * US;
    rig_read(&r, 1, 2, B, START + 10, 0x1000 + 2048, 1024 + 100);
    assert_int_equal(r.v.cause, ROCE_CAUSE_IMPLIED_NAK);
    responses(&r, 10, 2, 99);
    send(&r, 12);
    finish_and_compare(&r, &(struct expected){.implied = 1, .peer_down = 1});
}

/* Three READs: the first answer is lost behind the mirror, all are issued again, and of the new
 * answers the second is lost before the mirror. */
static void test_second_answer_lost_before_the_mirror(void **state)
{
    (void)state;
    struct rig r;
    open_paired(&r, 0);
    for (uint32_t i = 8; i < 11; i++)
        rig_read(&r, 1, 2, B, START + i, 0x1000 * i, 100);
    for (uint32_t i = 8; i < 11; i++)
        responses(&r, i, 1, 99);
    r.now += 2 * US;
    for (uint32_t i = 8; i < 11; i++)
        rig_read(&r, 1, 2, B, START + i, 0x1000 * i, 100);
    r.now += 3 * US;
    responses(&r, 8, 1, 99);
    responses(&r, 10, 1, 99);
    r.now += 2 * US;
    for (uint32_t i = 9; i < 11; i++)
        rig_read(&r, 1, 2, B, START + i, 0x1000 * i, 100);
    assert_int_equal(r.v.cause, ROCE_CAUSE_IMPLIED_NAK);
    r.now += 3 * US;
    for (uint32_t i = 9; i < 11; i++)
        responses(&r, i, 1, 99);
    finish_and_compare(&r, &(struct expected){.implied = 2, .peer_down = 1, .peer_up = 1});
}

/* The answer to the READ at 8 is lost behind the mirror, the SEND at 9, too: the NAK for 9
 * acknowledges the READ, which its requester has no answer to. */
static void test_nak_of_the_next_request_passes_a_read(void **state)
{
    (void)state;
    struct rig r;
    open_paired(&r, 0);
    rig_read(&r, 1, 2, B, START + 8, 0x1000, 100);
    r.now += 3 * US;
    responses(&r, 8, 1, 99);
    send(&r, 9);
    send(&r, 10);
    nak(&r, 9);
    r.now += 2 * US;
    rig_read(&r, 1, 2, B, START + 8, 0x1000, 100);
    assert_int_equal(r.v.cause, ROCE_CAUSE_IMPLIED_NAK);
    r.now += 1 * US;
    send(&r, 9);
    send(&r, 10);
    responses(&r, 8, 1, 99);
    ack(&r, 10);
    finish_and_compare(&r, &(struct expected){.implied = 1, .peer_down = 1});
}

/* The pair becomes known by the third of three READs, when the response at START + 2 is a hole
 * already and later ones have passed it. */
static void test_read_response_lost_before_the_pair_is_known(void **state)
{
    (void)state;
    struct rig r;
    rig_open(&r, NULL);
    rig_data(&r, ROCE_OPCODE_RC_WRITE_FIRST, 1, 2, B, START - 2, 1024);
    rig_data(&r, ROCE_OPCODE_RC_WRITE_LAST, 1, 2, B, START - 1, 100);
    r.now += 5 * US;
    rig_read(&r, 1, 2, B, START, 0x1000, 3 * 1024 + 100);
    rig_read(&r, 1, 2, B, START + 4, 0x9000, 100);
    rig_read(&r, 1, 2, B, START + 5, 0xA000, 100);
    r.now += 5 * US;
    rig_answer(&r, ROCE_OPCODE_RC_READ_RESPONSE_FIRST, 2, 1, A, START, 1024, 2);
    rig_answer(&r, ROCE_OPCODE_RC_READ_RESPONSE_MIDDLE, 2, 1, A, START + 1, 1024, 0);
    rig_answer(&r, ROCE_OPCODE_RC_READ_RESPONSE_LAST, 2, 1, A, START + 3, 100, 2);
    rig_answer(&r, ROCE_OPCODE_RC_READ_RESPONSE_ONLY, 2, 1, A, START + 4, 100, 3);
    rig_answer(&r, ROCE_OPCODE_RC_READ_RESPONSE_ONLY, 2, 1, A, START + 5, 100, 4);
    assert_int_equal(rig_info(&r, 1, 2, B).peer, rig_flow(&r, 2, 1, A));
    r.now += 2 * US;
    rig_read(&r, 1, 2, B, START + 2, 0x1000 + 2048, 1024 + 100);
    assert_int_equal(r.v.cause, ROCE_CAUSE_IMPLIED_NAK);
    rig_read(&r, 1, 2, B, START + 4, 0x9000, 100);
    rig_read(&r, 1, 2, B, START + 5, 0xA000, 100);
    r.now += 5 * US;
    responses(&r, 2, 2, 99);
    responses(&r, 4, 1, 99);
    responses(&r, 5, 1, 99);
    finish_and_compare(&r, &(struct expected){.implied = 1, .peer_up = 1});
}

/* The same where the last response of the first READ is missing, and the second READ's answers show
 * it. */
static void test_last_response_lost_before_the_pair_is_known(void **state)
{
    (void)state;
    struct rig r;
    rig_open(&r, NULL);
    rig_data(&r, ROCE_OPCODE_RC_WRITE_FIRST, 1, 2, B, START - 2, 1024);
    rig_data(&r, ROCE_OPCODE_RC_WRITE_LAST, 1, 2, B, START - 1, 100);
    r.now += 5 * US;
    rig_read(&r, 1, 2, B, START, 0x1000, 3 * 1024 + 100);
    rig_read(&r, 1, 2, B, START + 4, 0x9000, 100);
    rig_read(&r, 1, 2, B, START + 5, 0xA000, 100);
    r.now += 5 * US;
    rig_answer(&r, ROCE_OPCODE_RC_READ_RESPONSE_FIRST, 2, 1, A, START, 1024, 2);
    rig_answer(&r, ROCE_OPCODE_RC_READ_RESPONSE_MIDDLE, 2, 1, A, START + 1, 1024, 0);
    rig_answer(&r, ROCE_OPCODE_RC_READ_RESPONSE_MIDDLE, 2, 1, A, START + 2, 1024, 0);
    rig_answer(&r, ROCE_OPCODE_RC_READ_RESPONSE_ONLY, 2, 1, A, START + 4, 100, 3);
    rig_answer(&r, ROCE_OPCODE_RC_READ_RESPONSE_ONLY, 2, 1, A, START + 5, 100, 4);
    assert_int_equal(rig_info(&r, 1, 2, B).peer, rig_flow(&r, 2, 1, A));
    r.now += 2 * US;
    rig_read(&r, 1, 2, B, START + 3, 0x1000 + 3072, 100);
    assert_int_equal(r.v.cause, ROCE_CAUSE_IMPLIED_NAK);
    rig_read(&r, 1, 2, B, START + 4, 0x9000, 100);
    rig_read(&r, 1, 2, B, START + 5, 0xA000, 100);
    r.now += 5 * US;
    for (uint32_t i = 3; i < 6; i++)
        responses(&r, i, 1, 99);
    roce_flow_finish(r.t);
    assert_int_equal(rig_last_event(&r, ROCE_EVENT_EPISODE)->location, ROCE_LOST_UPSTREAM);
    rig_close(&r);
}

/* The answer to 8 is lost before the mirror, and so is the READ of 8 that is issued again: what is
 * captured of it begins with 9, which nobody missed. An implied NAK is obeyed once: 8 is sent again
 * when the timer runs out. */
static void test_first_read_issued_again_lost_before_the_mirror(void **state)
{
    (void)state;
    struct rig r;
    open_paired(&r, 0);
    for (int i = 0; i < 3; i++) {
        for (uint32_t k = i == 1 ? 9 : 8; k < 11; k++)
            rig_read(&r, 1, 2, B, START + k, 0x1000 * k, 100);
        r.now += 3 * US;
        for (uint32_t k = i < 2 ? 9 : 8; k < 11; k++)
            responses(&r, k, 1, 99);
        r.now += i == 0 ? 2 * US : 4 * MS;
    }
    send(&r, 11);
    ack(&r, 11);
    for (uint32_t i = 0; i < r.events; i++)
        if (r.event[i].kind == ROCE_EVENT_EPISODE)
            assert_int_equal(r.event[i].location, ROCE_LOST_UPSTREAM);
    finish_and_compare(&r, &(struct expected){.implied = 1, .timeout = 1, .peer_up = 1, .up = 1});
}

/* The answer to 9 is lost by the capture: its requester goes on. It is that to 13 which is lost
 * behind the mirror, later. */
static void test_old_hole_is_no_reason(void **state)
{
    (void)state;
    struct rig r;
    open_paired(&r, 0);
    for (uint32_t k = 8; k < 15; k++) {
        rig_read(&r, 1, 2, B, START + k, 0x1000 * k, 100);
        r.now += 3 * US;
        if (k != 9)
            responses(&r, k, 1, 99);
        r.now += 3 * US;
    }
    for (uint32_t k = 13; k < 15; k++)
        rig_read(&r, 1, 2, B, START + k, 0x1000 * k, 100);
    r.now += 3 * US;
    for (uint32_t k = 13; k < 15; k++)
        responses(&r, k, 1, 99);
    send(&r, 15);
    ack(&r, 15);
    assert_int_equal(rig_last_event(&r, ROCE_EVENT_EPISODE)->location, ROCE_LOST_DOWNSTREAM);
    finish_and_compare(&r, &(struct expected){.implied = 1, .peer_down = 1, .peer_capture = 1});
}

static void test_read_response_lost_by_the_capture_only(void **state)
{
    (void)state;
    struct rig r;
    open_paired(&r, 0);
    rig_read(&r, 1, 2, B, START + 8, 0x1000, 3 * 1024 + 100);
    responses(&r, 8, 4, 2);
    r.now += 10 * US;
    send(&r, 12);
    ack(&r, 12);
    send(&r, 13);
    roce_flow_finish(r.t);
    const struct roce_flow_counters q = rig_counters(&r, 1, 2, B);
    assert_int_equal(q.messages[ROCE_MESSAGE_READ].completed, 1);
    finish_and_compare(&r, &(struct expected){.peer_capture = 1});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_implied_nak_of_an_atomic),
        cmocka_unit_test(test_read_response_lost_before_the_mirror),
        cmocka_unit_test(test_read_response_lost_behind_the_mirror),
        cmocka_unit_test(test_second_answer_lost_before_the_mirror),
        cmocka_unit_test(test_nak_of_the_next_request_passes_a_read),
        cmocka_unit_test(test_read_response_lost_before_the_pair_is_known),
        cmocka_unit_test(test_last_response_lost_before_the_pair_is_known),
        cmocka_unit_test(test_first_read_issued_again_lost_before_the_mirror),
        cmocka_unit_test(test_old_hole_is_no_reason),
        cmocka_unit_test(test_read_response_lost_by_the_capture_only),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
