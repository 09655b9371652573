/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Episodes and what looks like one: frames that the capture missed, or that came late. */
#include "episode_rig.h"

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

/* 20 takes a detour; its receiver asks for it, and it is sent again before it comes. Nothing was
 * lost: it came twice, the second time by itself. */
static void test_original_behind_its_resend(void **state)
{
    (void)state;
    for (uint32_t more = 0; more < 6; more += 5) {
        struct rig r;
        open_paired(&r, 0);
        for (uint32_t i = 8; i < 20; i++) {
            send(&r, i);
            ack(&r, i);
        }
        const uint16_t before = r.ip_id++;
        send(&r, 21);
        nak(&r, 20);
        send(&r, 20);
        const uint16_t resend = r.ip_id;
        for (uint32_t i = 21; i < 21 + more; i++)
            send(&r, i);
        const uint16_t newest = r.ip_id;
        if (more > 0) {
            r.ip_id = (uint16_t)(resend - 1); /* the rig counts it up */
            send(&r, 20);                     /* a late copy of the resend tells nothing */
        }
        assert_int_equal(rig_counters(&r, 1, 2, B).loss[ROCE_LOST_UPSTREAM], 1);
        r.ip_id = before;
        send(&r, 20);
        r.ip_id = newest;
        ack(&r, 21 + more);
        send(&r, 22 + more);
        ack(&r, 22 + more);
        assert_int_equal(rig_last_event(&r, ROCE_EVENT_EPISODE)->psn, START + 20);
        if (more == 0) /* its episode had not been told yet */
            assert_int_equal(rig_last_event(&r, ROCE_EVENT_EPISODE)->location, ROCE_LOST_NONE);
        roce_flow_finish(r.t);
        assert_int_equal(rig_counters(&r, 1, 2, B).loss[ROCE_LOST_UPSTREAM], 0);
        assert_int_equal(rig_counters(&r, 1, 2, B).out_of_order, 0);
        rig_close(&r);
    }
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lost_by_the_capture_only),
        cmocka_unit_test(test_capture_loss_at_the_tail),
        cmocka_unit_test(test_late_is_not_resent),
        cmocka_unit_test(test_late_behind_the_nak),
        cmocka_unit_test(test_original_behind_its_resend),
        cmocka_unit_test(test_thrown_away_ahead_of_late_frames),
        cmocka_unit_test(test_late_from_the_first_frame_on),
        cmocka_unit_test(test_open_hole_at_the_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
