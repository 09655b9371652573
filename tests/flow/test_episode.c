/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Retransmission episodes: one story each, its cause, and where the frame was lost. */
#include "rig.h"

#define SEND  ROCE_OPCODE_RC_SEND_ONLY
#define A     0x11 /* of host 1 */
#define B     0x22 /* of host 2 */
#define START 1000

/* A rig whose pair is known after eight messages, the next PSN being START + 8. */
static void open_paired(struct rig *r, uint8_t timeout_exp)
{
    const struct roce_flow_opts o = {.max_flows = 100, .timeout_exp = timeout_exp};
    rig_open(r, &o);
    rig_pair(r, START, 8);
    assert_int_equal(rig_info(r, 1, 2, B).peer, rig_flow(r, 2, 1, A));
    r->events = 0;
}

static void send(struct rig *r, uint32_t psn)
{
    rig_data(r, SEND, 1, 2, B, START + psn, 64);
    r->now += US;
}
static void ack(struct rig *r, uint32_t psn)
{
    rig_ack(r, 2, 1, A, START + psn, 0x1F, psn + 1);
    r->now += US;
}
static void nak(struct rig *r, uint32_t psn)
{
    rig_ack(r, 2, 1, A, START + psn, 0x60, psn);
    r->now += US;
}

struct expected {
    uint64_t nak, timeout, rnr, implied, early, spurious, unknown;
    uint64_t up, down, capture, nobody_knows, late;
    uint64_t peer_up, peer_down, peer_capture;
};

static void finish_and_compare(struct rig *r, const struct expected *x)
{
    roce_flow_finish(r->t);
    const struct roce_flow_counters c = rig_counters(r, 1, 2, B);
    const struct roce_flow_counters p = rig_counters(r, 2, 1, A);
    assert_int_equal(c.retransmission_cause[ROCE_CAUSE_NAK], x->nak);
    assert_int_equal(c.retransmission_cause[ROCE_CAUSE_TIMEOUT], x->timeout);
    assert_int_equal(c.retransmission_cause[ROCE_CAUSE_RNR], x->rnr);
    assert_int_equal(c.retransmission_cause[ROCE_CAUSE_IMPLIED_NAK], x->implied);
    assert_int_equal(c.retransmission_cause[ROCE_CAUSE_EARLY], x->early);
    assert_int_equal(c.retransmission_cause[ROCE_CAUSE_SPURIOUS], x->spurious);
    assert_int_equal(c.retransmission_cause[ROCE_CAUSE_UNKNOWN], x->unknown);
    assert_int_equal(c.loss[ROCE_LOST_UPSTREAM], x->up);
    assert_int_equal(c.loss[ROCE_LOST_DOWNSTREAM], x->down);
    assert_int_equal(c.loss[ROCE_LOST_CAPTURE], x->capture);
    assert_int_equal(c.loss[ROCE_LOST_UNKNOWN], x->nobody_knows);
    assert_int_equal(c.out_of_order, x->late);
    assert_int_equal(p.loss[ROCE_LOST_UPSTREAM], x->peer_up);
    assert_int_equal(p.loss[ROCE_LOST_DOWNSTREAM], x->peer_down);
    assert_int_equal(p.loss[ROCE_LOST_CAPTURE], x->peer_capture);
    rig_close(r);
}

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
        rig_close(&r);
    }
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

static void test_lost_by_the_capture_only(void **state)
{
    (void)state;
    struct rig r;
    open_paired(&r, 0);
    send(&r, 8);
    send(&r, 11);
    ack(&r, 11); /* the responder has had 9 and 10 */
    send(&r, 12);
    ack(&r, 12);
    const struct roce_event *e = rig_last_event(&r, ROCE_EVENT_LOSS);
    assert_int_equal(e->location, ROCE_LOST_CAPTURE);
    assert_int_equal(e->psn, START + 9);
    assert_int_equal(e->count, 2);
    finish_and_compare(&r, &(struct expected){.capture = 2});
}

/* The ACK of a request that the capture missed comes before the hole shows. */
static void test_capture_loss_at_the_tail(void **state)
{
    (void)state;
    struct rig r;
    open_paired(&r, 0);
    ack(&r, 8);
    assert_true(r.v.flags & ROCE_V_ACK_GHOST);
    send(&r, 9);
    ack(&r, 9);
    assert_int_equal(rig_info(&r, 1, 2, B).pairing_conflicts, 0);
    finish_and_compare(&r, &(struct expected){.capture = 1});
}

static void test_late_is_not_resent(void **state)
{
    (void)state;
    struct rig r;
    open_paired(&r, 0);
    send(&r, 8);
    send(&r, 10);
    send(&r, 9);
    send(&r, 11);
    ack(&r, 11);
    const struct roce_event *e = rig_last_event(&r, ROCE_EVENT_OUT_OF_ORDER);
    assert_non_null(e);
    assert_int_equal(e->psn, START + 9);
    assert_int_equal(e->duration, US);
    assert_int_equal(rig_count_events(&r, ROCE_EVENT_EPISODE), 0);
    finish_and_compare(&r, &(struct expected){.late = 1});
}

/* A sender that counts its frames gives a late one away, whatever was asked for in the meantime. */
static void test_late_behind_the_nak(void **state)
{
    (void)state;
    struct rig r;
    open_paired(&r, 0);
    for (uint32_t i = 8; i < 20; i++) {
        send(&r, i);
        ack(&r, i);
    }
    r.ip_id++; /* of 20, which takes a detour */
    send(&r, 21);
    nak(&r, 20);
    const uint16_t newest = r.ip_id;
    r.ip_id = (uint16_t)(newest - 3);
    send(&r, 20);
    assert_false(r.v.flags & ROCE_V_EPISODE);
    r.ip_id = newest;
    send(&r, 20); /* now the NAK is obeyed */
    assert_true(r.v.flags & ROCE_V_EPISODE);
    assert_int_equal(r.v.cause, ROCE_CAUSE_NAK);
    send(&r, 21);
    ack(&r, 21);
    const struct roce_flow_counters c = rig_counters(&r, 1, 2, B);
    assert_int_equal(c.retransmitted_fill, 1);
    assert_int_equal(c.retransmitted_dup, 2);
    /* Both arrived: 20 late, 21 ahead of it. */
    finish_and_compare(&r, &(struct expected){.nak = 1, .late = 1});
}

/* Of 20 to 24, all but 22 are late; a receiver that takes frames in order alone has dropped 22. A
 * later NAK is about a frame that did get lost. */
static void test_thrown_away_ahead_of_late_frames(void **state)
{
    (void)state;
    static const uint32_t order[] = {22, 20, 21, 23, 24};
    struct rig r;
    open_paired(&r, 0);
    for (uint32_t i = 8; i < 20; i++) {
        send(&r, i);
        ack(&r, i);
    }
    const uint16_t before = r.ip_id;
    for (int i = 0; i < 5; i++) {
        r.ip_id = (uint16_t)(before + order[i] - 20);
        send(&r, order[i]);
    }
    ack(&r, 21);
    nak(&r, 22);
    for (uint32_t i = 22; i < 25; i++)
        send(&r, i);
    ack(&r, 24);
    send(&r, 25);
    send(&r, 26);
    nak(&r, 25);
    assert_int_equal(rig_last_event(&r, ROCE_EVENT_EPISODE)->location, ROCE_LOST_NONE);
    send(&r, 25);
    send(&r, 26);
    ack(&r, 26);
    roce_flow_finish(r.t);
    assert_int_equal(rig_last_event(&r, ROCE_EVENT_EPISODE)->location, ROCE_LOST_DOWNSTREAM);
    finish_and_compare(&r, &(struct expected){.nak = 2, .late = 2, .down = 1});
}

/* A flow's first frames tell their order by the identification, too: here a NAK and its answer come
 * before the originals of a burst of 30, of which every tenth takes the short way. */
static void test_late_from_the_first_frame_on(void **state)
{
    (void)state;
    struct rig r;
    const struct roce_flow_opts o = {.max_flows = 100};
    rig_open(&r, &o);
    for (uint32_t i = 9; i < 30; i += 10) {
        r.ip_id = (uint16_t)(100 + i);
        send(&r, i);
    }
    nak(&r, 0);
    for (uint32_t i = 0; i < 30; i++) {
        if (i % 10 == 9)
            continue;
        r.ip_id = (uint16_t)(100 + i);
        send(&r, i);
    }
    roce_flow_finish(r.t);
    const struct roce_flow_counters c = rig_counters(&r, 1, 2, B);
    assert_int_equal(c.out_of_order, 27);
    for (int i = 0; i < ROCE_LOST_COUNT; i++)
        assert_int_equal(c.loss[i], 0);
    rig_close(&r);
}

static void test_open_hole_at_the_end(void **state)
{
    (void)state;
    struct rig r;
    open_paired(&r, 0);
    send(&r, 8);
    send(&r, 10);
    finish_and_compare(&r, &(struct expected){.nobody_knows = 1});
    /* With the NAK captured it is known. */
    open_paired(&r, 0);
    send(&r, 8);
    send(&r, 10);
    nak(&r, 9);
    finish_and_compare(&r, &(struct expected){.up = 1});
}

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
        cmocka_unit_test(test_clean),
        cmocka_unit_test(test_lost_before_the_mirror_and_naked),
        cmocka_unit_test(test_message_begun_again),
        cmocka_unit_test(test_message_begun_again_twice),
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
        cmocka_unit_test(test_lost_by_the_capture_only),
        cmocka_unit_test(test_capture_loss_at_the_tail),
        cmocka_unit_test(test_late_is_not_resent),
        cmocka_unit_test(test_late_behind_the_nak),
        cmocka_unit_test(test_thrown_away_ahead_of_late_frames),
        cmocka_unit_test(test_late_from_the_first_frame_on),
        cmocka_unit_test(test_open_hole_at_the_end),
        cmocka_unit_test(test_implied_nak_of_an_atomic),
        cmocka_unit_test(test_read_response_lost_before_the_mirror),
        cmocka_unit_test(test_read_response_lost_behind_the_mirror),
        cmocka_unit_test(test_read_response_lost_by_the_capture_only),
        cmocka_unit_test(test_before_the_pair_is_known),
        cmocka_unit_test(test_one_direction_only),
        cmocka_unit_test(test_duplicated_by_the_network),
        cmocka_unit_test(test_silence_after_a_fatal_nak),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
