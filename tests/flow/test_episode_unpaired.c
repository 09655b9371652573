/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Episodes from before the pair is known, or without one. */
#include "episode_rig.h"

/* A requester that goes back to the beginning of the message, before the pair is known: PSNs 0-6
 * are one message, of which 2 is lost. The twin is the same behind eight messages that pair. */
static void test_message_begun_again(void **state)
{
    (void)state;
    for (int paired = 0; paired < 2; paired++) {
        struct rig r;
        uint32_t at = 0;
        if (paired) {
            open_paired(&r, 0);
            at = 8;
        } else {
            rig_open(&r, NULL);
        }
        for (uint32_t i = 0; i < 6; i++) {
            if (i == 2)
                continue;
            rig_data(&r, i == 0 ? ROCE_OPCODE_RC_SEND_FIRST : ROCE_OPCODE_RC_SEND_MIDDLE, 1, 2, B,
                     START + at + i, 1024);
            r.now += US;
            if (i == 4)
                nak(&r, at + 2);
        }
        for (uint32_t i = 0; i < 7; i++) {
            rig_data(&r,
                     i == 0   ? ROCE_OPCODE_RC_SEND_FIRST
                     : i == 6 ? ROCE_OPCODE_RC_SEND_LAST
                              : ROCE_OPCODE_RC_SEND_MIDDLE,
                     1, 2, B, START + at + i, 1024);
            r.now += US;
        }
        ack(&r, at + 6);
        for (uint32_t i = 7; i < 20; i++) {
            send(&r, at + i);
            ack(&r, at + i);
        }
        assert_int_equal(rig_info(&r, 1, 2, B).peer, rig_flow(&r, 2, 1, A));
        if (paired) {
            finish_and_compare(&r, &(struct expected){.nak = 1, .up = 1});
            continue;
        }
        roce_flow_finish(r.t);
        assert_int_equal(rig_counters(&r, 1, 2, B).retransmission_cause[ROCE_CAUSE_NAK], 1);
        assert_int_equal(rig_counters(&r, 1, 2, B).loss[ROCE_LOST_UPSTREAM], 1);
        assert_int_equal(rig_counters(&r, 1, 2, B).loss[ROCE_LOST_DOWNSTREAM], 0);
        assert_int_equal(rig_last_event(&r, ROCE_EVENT_EPISODE)->location, ROCE_LOST_UPSTREAM);
        rig_close(&r);
    }
}

/* 1 is lost before the mirror; in the stream that is sent again 2 is. What follows 1 had been here
 * before, so that 1 was sent again, too, and is not just late. */
static void test_next_one_lost_before_the_pair(void **state)
{
    (void)state;
    struct rig r;
    rig_open(&r, NULL);
    for (uint32_t i = 0; i < 4; i++)
        if (i != 1)
            send(&r, i);
    nak(&r, 1);
    send(&r, 1);
    send(&r, 3);
    nak(&r, 2);
    for (uint32_t i = 2; i < 20; i++) {
        send(&r, i);
        if (i > 2)
            ack(&r, i);
    }
    assert_int_equal(rig_info(&r, 1, 2, B).peer, rig_flow(&r, 2, 1, A));
    finish_and_compare(&r, &(struct expected){.nak = 2, .up = 2});
}

/* The same PSN is lost before the mirror once more, in the stream that begins again. */
static void test_message_begun_again_twice(void **state)
{
    (void)state;
    struct rig r;
    open_paired(&r, 0);
    for (uint32_t round = 0; round < 3; round++) {
        for (uint32_t i = 8; i < 13; i++) {
            if (i == 10 && round < 2)
                continue;
            rig_data(&r, i == 8 ? ROCE_OPCODE_RC_SEND_FIRST : ROCE_OPCODE_RC_SEND_MIDDLE, 1, 2, B,
                     START + i, 1024);
            r.now += US;
        }
        if (round < 2)
            nak(&r, 10);
    }
    rig_data(&r, ROCE_OPCODE_RC_SEND_LAST, 1, 2, B, START + 13, 1024);
    ack(&r, 13);
    finish_and_compare(&r, &(struct expected){.nak = 2, .up = 2});
}

/* What happened before the pair was known is judged when it is. */
static void test_before_the_pair_is_known(void **state)
{
    (void)state;
    struct rig r;
    rig_open(&r, NULL);
    send(&r, 0);
    send(&r, 1);
    send(&r, 2);
    nak(&r, 1);
    send(&r, 1);
    send(&r, 2);
    ack(&r, 2);
    send(&r, 3);
    for (uint32_t i = 3; i < 8; i++) {
        ack(&r, i);
        send(&r, i + 1);
    }
    finish_and_compare(&r, &(struct expected){.nak = 1, .down = 1});
}

static void send_and_pair(struct rig *r, uint32_t psn)
{
    for (uint32_t i = psn; i < psn + 10; i++) {
        send(r, i);
        ack(r, i);
    }
    assert_int_equal(rig_info(r, 1, 2, B).peer, rig_flow(r, 2, 1, A));
}

/* 1 was lost before the capture point, and sent again alone. */
static void test_resent_alone_before_the_pair(void **state)
{
    (void)state;
    struct rig r;
    rig_open(&r, NULL);
    send(&r, 0);
    send(&r, 2);
    send(&r, 3);
    nak(&r, 1);
    send(&r, 1);
    ack(&r, 3);
    send_and_pair(&r, 4);
    assert_int_equal(rig_last_event(&r, ROCE_EVENT_EPISODE)->location, ROCE_LOST_UPSTREAM);
    finish_and_compare(&r, &(struct expected){.nak = 1, .up = 1});
}

static void test_late_before_the_pair(void **state)
{
    (void)state;
    struct rig r;
    rig_open(&r, NULL);
    send(&r, 0);
    send(&r, 2);
    send(&r, 1);
    send(&r, 3);
    ack(&r, 3);
    send_and_pair(&r, 4);
    assert_int_equal(rig_last_event(&r, ROCE_EVENT_OUT_OF_ORDER)->duration, US);
    finish_and_compare(&r, &(struct expected){.late = 1});
}

static void test_late_without_a_pair(void **state)
{
    (void)state;
    struct rig r;
    rig_open(&r, NULL);
    for (uint32_t i = 0; i < 12; i += 2) {
        send(&r, i + 1);
        send(&r, i);
    }
    roce_flow_finish(r.t);
    const struct roce_flow_counters c = rig_counters(&r, 1, 2, B);
    assert_int_equal(c.out_of_order, 6);
    assert_int_equal(c.retransmission_cause[ROCE_CAUSE_UNKNOWN], 0);
    assert_int_equal(c.loss[ROCE_LOST_UPSTREAM] + c.loss[ROCE_LOST_UNKNOWN], 0);
    rig_close(&r);
}

/* The NAK of 3 passes before the one of 1 is obeyed; 1 had come by then, late. */
static void test_two_naks_before_the_pair(void **state)
{
    (void)state;
    struct rig r;
    rig_open(&r, NULL);
    for (uint32_t i = 0; i < 6; i++)
        send(&r, i);
    nak(&r, 1);
    nak(&r, 3);
    send(&r, 1);
    send(&r, 6);
    send(&r, 3);
    send(&r, 7);
    ack(&r, 7);
    send_and_pair(&r, 8);
    finish_and_compare(&r, &(struct expected){.nak = 2, .down = 1});
}

static void test_one_direction_only(void **state)
{
    (void)state;
    struct rig r;
    rig_open(&r, NULL);
    for (uint32_t i = 0; i < 4; i++)
        send(&r, i);
    r.now += 30 * US;
    send(&r, 2);
    send(&r, 3);
    send(&r, 4);
    roce_flow_finish(r.t);
    const struct roce_flow_counters c = rig_counters(&r, 1, 2, B);
    assert_int_equal(c.retransmission_cause[ROCE_CAUSE_UNKNOWN], 1);
    assert_int_equal(c.loss[ROCE_LOST_UNKNOWN], 1);
    assert_false(c.has_completed);
    rig_close(&r);
}

/* A frame that the network duplicates is no retransmission of anybody. */
static void test_duplicated_by_the_network(void **state)
{
    (void)state;
    struct rig r;
    open_paired(&r, 0);
    for (uint32_t i = 8; i < 100; i++) {
        send(&r, i);
        ack(&r, i);
    }
    r.keep_id = true;
    r.ip_id++;
    rig_data(&r, SEND, 1, 2, B, START + 100, 64);
    rig_data(&r, SEND, 1, 2, B, START + 100, 64);
    assert_int_equal(rig_counters(&r, 1, 2, B).retransmitted_dup, 1);
    finish_and_compare(&r, &(struct expected){.unknown = 1});
}

static void test_silence_after_a_fatal_nak(void **state)
{
    (void)state;
    struct rig r;
    open_paired(&r, 0);
    send(&r, 8);
    rig_ack(&r, 2, 1, A, START + 8, 0x62, 8);
    roce_flow_finish(r.t);
    const struct roce_event *e = rig_last_event(&r, ROCE_EVENT_SILENT);
    assert_non_null(e);
    assert_int_equal(e->code, ROCE_NAK_REMOTE_ACCESS_ERROR);
    assert_int_equal(e->evidence[0], 18);
    assert_int_equal(rig_counters(&r, 2, 1, A).naks[ROCE_NAK_REMOTE_ACCESS_ERROR], 1);
    rig_close(&r);

    open_paired(&r, 14);
    send(&r, 8);
    for (int i = 0; i < 3; i++) {
        r.now += 68 * MS;
        send(&r, 8);
    }
    roce_flow_finish(r.t);
    e = rig_last_event(&r, ROCE_EVENT_SILENT);
    assert_non_null(e);
    assert_int_equal(e->code, 0xFF);
    assert_int_equal(e->count, 3);
    rig_close(&r);

    open_paired(&r, 0);
    send(&r, 8);
    ack(&r, 8);
    roce_flow_finish(r.t);
    assert_null(rig_last_event(&r, ROCE_EVENT_SILENT));
    rig_close(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_message_begun_again),
        cmocka_unit_test(test_next_one_lost_before_the_pair),
        cmocka_unit_test(test_message_begun_again_twice),
        cmocka_unit_test(test_before_the_pair_is_known),
        cmocka_unit_test(test_resent_alone_before_the_pair),
        cmocka_unit_test(test_late_before_the_pair),
        cmocka_unit_test(test_late_without_a_pair),
        cmocka_unit_test(test_two_naks_before_the_pair),
        cmocka_unit_test(test_one_direction_only),
        cmocka_unit_test(test_duplicated_by_the_network),
        cmocka_unit_test(test_silence_after_a_fatal_nak),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
