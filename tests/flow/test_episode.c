/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Retransmission episodes: one story each, its cause, and where the frame was lost. */
#include "episode_rig.h"

static void test_clean(void **state)
{
    (void)state;
    struct rig r;
    open_paired(&r, 0);
    for (uint32_t i = 8; i < 20; i++) {
        send(&r, i);
        ack(&r, i);
    }
    roce_flow_finish(r.t);
    assert_int_equal(rig_count_events(&r, ROCE_EVENT_EPISODE), 0);
    assert_int_equal(rig_count_events(&r, ROCE_EVENT_LOSS), 0);
    finish_and_compare(&r, &(struct expected){0});
}

static void test_lost_before_the_mirror_and_naked(void **state)
{
    (void)state;
    struct rig r;
    open_paired(&r, 0);
    send(&r, 8);
    send(&r, 10); /* 9 is missing */
    send(&r, 11);
    nak(&r, 9);
    r.now += 5 * US;
    send(&r, 9);
    assert_true(r.v.flags & ROCE_V_EPISODE);
    assert_int_equal(r.v.cause, ROCE_CAUSE_NAK);
    assert_int_equal(r.v.wait, 6 * US);
    send(&r, 10);
    send(&r, 11);
    ack(&r, 11);
    send(&r, 12);
    const struct roce_event *e = rig_last_event(&r, ROCE_EVENT_EPISODE);
    assert_non_null(e);
    assert_int_equal(e->psn, START + 9);
    assert_int_equal(e->count, 3);
    assert_int_equal(e->location, ROCE_LOST_UPSTREAM);
    assert_int_equal(e->evidence[1], 20); /* the NAK: 16 frames of the pairing, 3 SENDs */
    assert_int_equal(e->evidence[2], 21);
    assert_int_equal(e->evidence[3], 23);
    finish_and_compare(&r, &(struct expected){.nak = 1, .up = 1});
}

static void test_lost_behind_the_mirror_and_naked(void **state)
{
    (void)state;
    struct rig r;
    open_paired(&r, 0);
    for (uint32_t i = 8; i < 12; i++)
        send(&r, i);
    nak(&r, 9);
    for (uint32_t i = 9; i < 12; i++)
        send(&r, i);
    ack(&r, 11);
    send(&r, 12);
    finish_and_compare(&r, &(struct expected){.nak = 1, .down = 1});
}

/* A requester that goes back to the first packet of the message obeys the NAK as well. */
static void test_go_back_to_the_message(void **state)
{
    (void)state;
    struct rig r;
    open_paired(&r, 0);
    rig_data(&r, ROCE_OPCODE_RC_WRITE_FIRST, 1, 2, B, START + 8, 1024);
    rig_data(&r, ROCE_OPCODE_RC_WRITE_MIDDLE, 1, 2, B, START + 9, 1024);
    rig_data(&r, ROCE_OPCODE_RC_WRITE_LAST, 1, 2, B, START + 10, 24);
    nak(&r, 10);
    rig_data(&r, ROCE_OPCODE_RC_WRITE_FIRST, 1, 2, B, START + 8, 1024);
    assert_int_equal(r.v.cause, ROCE_CAUSE_NAK);
    finish_and_compare(&r, &(struct expected){.nak = 1, .down = 1});
}

static void test_lost_again_in_the_resent_stream(void **state)
{
    (void)state;
    struct rig r;
    open_paired(&r, 0);
    for (uint32_t i = 8; i < 13; i++)
        send(&r, i);
    nak(&r, 8);
    send(&r, 8);
    send(&r, 9);
    send(&r, 11); /* 10 does not come this time */
    send(&r, 12);
    nak(&r, 10);
    for (uint32_t i = 10; i < 13; i++)
        send(&r, i);
    ack(&r, 12);
    finish_and_compare(&r, &(struct expected){.nak = 2, .down = 1, .up = 1});
}

static void test_receiver_not_ready(void **state)
{
    (void)state;
    struct rig r;
    open_paired(&r, 0);
    send(&r, 8);
    send(&r, 9);
    rig_ack(&r, 2, 1, A, START + 8, 0x20 | 12, 8);
    rig_ack(&r, 2, 1, A, START + 8, 0x60, 8); /* soft-RoCE: NAKs what is behind it, too */
    r.now += 700 * US;
    send(&r, 8);
    assert_int_equal(r.v.cause, ROCE_CAUSE_RNR);
    send(&r, 9);
    ack(&r, 9);
    const struct roce_event *e = rig_last_event(&r, ROCE_EVENT_RNR);
    assert_int_equal(e->duration, 640 * US);
    const struct roce_flow_counters c = rig_counters(&r, 2, 1, A);
    assert_int_equal(c.rnr_naks, 1);
    assert_int_equal(c.rnr_timer, 12);
    finish_and_compare(&r, &(struct expected){.rnr = 1, .down = 1});
}

static void test_timeout_told_by_the_options(void **state)
{
    (void)state;
    struct rig r;
    open_paired(&r, 14); /* 67.1 ms */
    send(&r, 8);
    r.now += 68 * MS;
    send(&r, 8);
    assert_int_equal(r.v.cause, ROCE_CAUSE_TIMEOUT);
    ack(&r, 8);
    finish_and_compare(&r, &(struct expected){.timeout = 1, .down = 1});

    /* The twin: sooner than the timer allows. */
    open_paired(&r, 14);
    send(&r, 8);
    r.now += 4 * MS;
    send(&r, 8);
    ack(&r, 8);
    finish_and_compare(&r, &(struct expected){.early = 1, .down = 1});
}

/* Without any word on it, the timeout is what the longest silences say. */
static void test_timeout_estimated(void **state)
{
    (void)state;
    struct rig r;
    open_paired(&r, 0);
    for (uint32_t i = 8; i < 11; i++) {
        send(&r, i);
        r.now += i == 9 ? 700 * US : 540 * MS;
        send(&r, i);
        ack(&r, i);
    }
    finish_and_compare(&r, &(struct expected){.timeout = 2, .early = 1, .down = 3});
}

/* 8, 9 and 10 after as long as the ACK timeout once more, and 11 behind them. */
static void send_twice(struct rig *r)
{
    open_paired(r, 14);
    for (int copy = 0; copy < 2; copy++) {
        for (uint32_t i = 8; i < 11; i++)
            send(r, i);
        r->now += 68 * MS;
    }
    send(r, 11);
}

/* Nothing was lost: what was sent twice was answered twice, only late. */
static void test_sent_twice_and_answered_twice(void **state)
{
    (void)state;
    struct rig r;
    /* One packet. */
    open_paired(&r, 14);
    send(&r, 8);
    r.now += 4 * MS;
    send(&r, 8);
    ack(&r, 8);
    ack(&r, 8);
    send(&r, 9);
    ack(&r, 9);
    finish_and_compare(&r, &(struct expected){.early = 1});

    /* The requester goes on before the answers come; those to copies name the newest PSN. */
    send_twice(&r);
    for (uint32_t i = 8; i < 11; i++)
        ack(&r, i);
    for (uint32_t i = 8; i < 11; i++)
        ack(&r, 10);
    ack(&r, 11);
    finish_and_compare(&r, &(struct expected){.timeout = 1});

    /* The twin: 10 was lost behind the mirror; each copy that arrives is answered. */
    open_paired(&r, 14);
    for (int copy = 0; copy < 2; copy++) {
        rig_data(&r, ROCE_OPCODE_RC_SEND_FIRST, 1, 2, B, START + 8, 1024);
        rig_data(&r, ROCE_OPCODE_RC_SEND_MIDDLE, 1, 2, B, START + 9, 1024);
        rig_data(&r, ROCE_OPCODE_RC_SEND_LAST, 1, 2, B, START + 10, 64);
        r.now += 68 * MS;
    }
    ack(&r, 9);
    ack(&r, 9);
    ack(&r, 10);
    send(&r, 11);
    ack(&r, 11);
    finish_and_compare(&r, &(struct expected){.timeout = 1, .down = 1});

    /* And 8 lost, so that 9 and 10 were refused. */
    send_twice(&r);
    for (uint32_t i = 8; i < 12; i++)
        ack(&r, i);
    finish_and_compare(&r, &(struct expected){.timeout = 1, .down = 1});
}

static void test_answer_lost_behind_the_mirror(void **state)
{
    (void)state;
    struct rig r;
    open_paired(&r, 14);
    send(&r, 8);
    ack(&r, 8); /* passed here, never arrived */
    r.now += 68 * MS;
    send(&r, 8);
    ack(&r, 8);
    finish_and_compare(&r, &(struct expected){.timeout = 1, .peer_down = 1});
}

static void test_answer_lost_before_the_mirror(void **state)
{
    (void)state;
    struct rig r;
    open_paired(&r, 14);
    send(&r, 8);
    send(&r, 9);
    send(&r, 10);
    r.now += 68 * MS;
    send(&r, 8);
    ack(&r, 10); /* the responder had had them all */
    send(&r, 9);
    send(&r, 10);
    ack(&r, 10);
    finish_and_compare(&r, &(struct expected){.timeout = 1, .peer_up = 1});
}

static void test_resent_although_acknowledged(void **state)
{
    (void)state;
    struct rig r;
    open_paired(&r, 14);
    send(&r, 8);
    ack(&r, 8);
    send(&r, 8);
    ack(&r, 8);
    finish_and_compare(&r, &(struct expected){.spurious = 1});
}

/* The newest request here asks for no answer, so that its requester cannot be waiting for one: the
 * tail of the message was lost before the mirror. */
static void test_tail_lost_before_the_mirror(void **state)
{
    (void)state;
    struct rig r;
    open_paired(&r, 14);
    rig_data(&r, ROCE_OPCODE_RC_SEND_FIRST, 1, 2, B, START + 8, 1024);
    r.now += 68 * MS;
    rig_data(&r, ROCE_OPCODE_RC_SEND_FIRST, 1, 2, B, START + 8, 1024);
    rig_data(&r, ROCE_OPCODE_RC_SEND_LAST, 1, 2, B, START + 9, 10);
    rig_ack(&r, 2, 1, A, START + 9, 0x1F, 9);
    finish_and_compare(&r, &(struct expected){.timeout = 1, .up = 1});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_clean),
        cmocka_unit_test(test_lost_before_the_mirror_and_naked),
        cmocka_unit_test(test_lost_behind_the_mirror_and_naked),
        cmocka_unit_test(test_go_back_to_the_message),
        cmocka_unit_test(test_lost_again_in_the_resent_stream),
        cmocka_unit_test(test_receiver_not_ready),
        cmocka_unit_test(test_timeout_told_by_the_options),
        cmocka_unit_test(test_timeout_estimated),
        cmocka_unit_test(test_sent_twice_and_answered_twice),
        cmocka_unit_test(test_answer_lost_behind_the_mirror),
        cmocka_unit_test(test_answer_lost_before_the_mirror),
        cmocka_unit_test(test_resent_although_acknowledged),
        cmocka_unit_test(test_tail_lost_before_the_mirror),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
