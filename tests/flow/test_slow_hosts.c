/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Hosts that take long to answer, and resend what was not lost: steps back as two slow guests took
 * them whose own counters say that every packet arrived, and their twins where a frame was lost. */
#include "rig.h"

#define FIRST ROCE_OPCODE_RC_SEND_FIRST
#define LAST  ROCE_OPCODE_RC_SEND_LAST
#define A     0x11 /* of host 1 */
#define B     0x22 /* of host 2 */
#define START 1000

static void first(struct rig *r, uint32_t psn)
{
    rig_data(r, FIRST, 1, 2, B, START + psn, 1024);
}

static void last(struct rig *r, uint32_t psn)
{
    rig_data(r, LAST, 1, 2, B, START + psn, 1024);
}

static void ack(struct rig *r, uint32_t psn)
{
    rig_ack(r, 2, 1, A, START + psn, 0x1F, psn / 2);
}

/* Messages of two packets, each answered within 10 ms; the next PSN is START + 8. */
static void open_slow(struct rig *r, uint8_t timeout_exp)
{
    const struct roce_flow_opts o = {.max_flows = 100, .timeout_exp = timeout_exp};
    rig_open(r, &o);
    for (uint32_t i = 0; i < 8; i += 2) {
        first(r, i);
        last(r, i + 1);
        r->now += 10000 * US;
        ack(r, i + 1);
        r->now += 10000 * US;
    }
    assert_int_equal(rig_info(r, 1, 2, B).peer, rig_flow(r, 2, 1, A));
    r->events = 0;
}

static uint64_t lost(const struct rig *r)
{
    const struct roce_flow_counters c = rig_counters(r, 1, 2, B), p = rig_counters(r, 2, 1, A);
    uint64_t n = 0;
    for (int i = 0; i < ROCE_LOST_COUNT; i++)
        n += c.loss[i] + p.loss[i];
    return n;
}

static void expect(struct rig *r, enum roce_location location, uint64_t frames)
{
    roce_flow_finish(r->t);
    assert_int_equal(rig_count_events(r, ROCE_EVENT_EPISODE), 1);
    assert_int_equal(rig_last_event(r, ROCE_EVENT_EPISODE)->location, location);
    assert_int_equal(lost(r), frames);
    rig_close(r);
}

/* The answer to what was sent first crosses the resend of the first packet: three answers to two
 * packets resent. */
static void test_the_answer_crosses_the_resend(void **state)
{
    (void)state;
    struct rig r;
    open_slow(&r, 0);
    first(&r, 8);
    last(&r, 9);
    r.now += 970 * US;
    first(&r, 8);
    r.now += 8000 * US;
    ack(&r, 9);
    last(&r, 9);
    r.now += 8000 * US;
    ack(&r, 9);
    ack(&r, 9);
    first(&r, 10);
    expect(&r, ROCE_LOST_NONE, 0);
}

/* Begun again in its midst, sooner than any answer came yet: |wait| after the first packet. */
static void begun_again(struct rig *r, uint8_t timeout_exp, uint64_t wait)
{
    open_slow(r, timeout_exp);
    first(r, 8);
    r->now += wait;
    first(r, 8);
    last(r, 9);
    r->now += 10000 * US;
    ack(r, 8);
    ack(r, 9);
    first(r, 10);
}

static void test_a_message_is_begun_again(void **state)
{
    (void)state;
    struct rig r;
    begun_again(&r, 0, 590 * US);
    expect(&r, ROCE_LOST_UNKNOWN, 0);
    /* Ten times as long as answers take: its end was lost on its way to the mirror. */
    begun_again(&r, 0, 100000 * US);
    expect(&r, ROCE_LOST_UPSTREAM, 1);
    /* As long as the timeout that is known: 4.096 us * 2^11 = 8.4 ms. */
    begun_again(&r, 11, 8400 * US);
    expect(&r, ROCE_LOST_UPSTREAM, 1);
}

/* Sent again |wait| after its ACK was captured. */
static void sent_again(struct rig *r, uint8_t timeout_exp, uint64_t wait)
{
    open_slow(r, timeout_exp);
    first(r, 8);
    last(r, 9);
    r->now += 10000 * US;
    ack(r, 9);
    r->now += wait;
    first(r, 8);
    last(r, 9);
    r->now += 10000 * US;
    ack(r, 9);
    ack(r, 9);
    first(r, 10);
}

static void test_the_sender_is_slow_to_read_the_ack(void **state)
{
    (void)state;
    struct rig r;
    sent_again(&r, 0, 16000 * US);
    expect(&r, ROCE_LOST_UNKNOWN, 0);
    /* 1.1 s: the ACK did not get there. */
    sent_again(&r, 0, 1100000 * US);
    expect(&r, ROCE_LOST_DOWNSTREAM, 1);
    sent_again(&r, 11, 8400 * US);
    expect(&r, ROCE_LOST_DOWNSTREAM, 1);
}

/* A message takes 10 ms to send, its ACK comes at once: 2 ms of silence are a timeout. */
static void test_messages_are_large(void **state)
{
    (void)state;
    struct rig r;
    const struct roce_flow_opts o = {.max_flows = 100};
    rig_open(&r, &o);
    for (uint32_t i = 0; i < 10; i += 2) {
        first(&r, i);
        r.now += 10000 * US;
        last(&r, i + 1);
        r.now += 20 * US;
        ack(&r, i + 1);
    }
    first(&r, 10);
    r.now += 10000 * US;
    last(&r, 11);
    r.now += 2000 * US;
    last(&r, 11);
    r.now += 20 * US;
    ack(&r, 11);
    first(&r, 12);
    r.now += 20 * US;
    ack(&r, 12);
    expect(&r, ROCE_LOST_DOWNSTREAM, 1);
}

/* Answers take 20 us. Then message by message is lost behind the mirror until most of all were
 * acknowledged no sooner than 4 ms after they were sent first: that says nothing about the hosts.
 */
static void test_most_messages_were_sent_again(void **state)
{
    (void)state;
    struct rig r;
    const uint32_t whole = 8, lost_ones = 12;
    rig_open(&r, NULL);
    for (uint32_t i = 0; i < whole + lost_ones; i++) {
        rig_data(&r, ROCE_OPCODE_RC_SEND_ONLY, 1, 2, B, START + i, 64);
        if (i >= whole) {
            r.now += 4000 * US;
            rig_data(&r, ROCE_OPCODE_RC_SEND_ONLY, 1, 2, B, START + i, 64);
        }
        r.now += 20 * US;
        rig_ack(&r, 2, 1, A, START + i, 0x1F, i + 1);
        r.now += 20 * US;
    }
    roce_flow_finish(r.t);
    const struct roce_flow_counters c = rig_counters(&r, 1, 2, B);
    assert_int_equal(c.retransmission_cause[ROCE_CAUSE_TIMEOUT], lost_ones);
    assert_int_equal(c.loss[ROCE_LOST_DOWNSTREAM], lost_ones);
    rig_close(&r);
}

/* Answers to both packets of the resend, and to no other: the last packet may have been lost. */
static void test_answered_once(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        struct rig r;
        open_slow(&r, 0);
        first(&r, 8);
        last(&r, 9);
        r.now += i == 0 ? 12000 * US : 120000 * US;
        first(&r, 8);
        last(&r, 9);
        r.now += 8000 * US;
        ack(&r, 8);
        ack(&r, 9);
        first(&r, 10);
        r.now += 10000 * US;
        ack(&r, 10);
        expect(&r, i == 0 ? ROCE_LOST_UNKNOWN : ROCE_LOST_DOWNSTREAM, (uint64_t)i);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_answer_crosses_the_resend),
        cmocka_unit_test(test_a_message_is_begun_again),
        cmocka_unit_test(test_the_sender_is_slow_to_read_the_ack),
        cmocka_unit_test(test_messages_are_large),
        cmocka_unit_test(test_most_messages_were_sent_again),
        cmocka_unit_test(test_answered_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
