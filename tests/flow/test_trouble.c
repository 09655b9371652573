/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Counters of losses and resends where they outgrow the place they have at first. */
#include "episode_rig.h"

/* One before the mirror, asked for by a NAK; the one behind it is sent again, too. */
static void lose_one(struct rig *r, uint32_t psn)
{
    send(r, psn + 1);
    nak(r, psn);
    send(r, psn);
    send(r, psn + 1);
    ack(r, psn + 1);
}

static void test_more_than_16_bits(void **state)
{
    (void)state;
    const uint32_t n = 70000;
    struct rig r;
    open_paired(&r, 14);
    for (uint32_t i = 0; i < n; i++)
        lose_one(&r, 8 + 2 * i);
    roce_flow_finish(r.t);
    const struct roce_flow_counters c = rig_counters(&r, 1, 2, B);
    const struct roce_flow_counters p = rig_counters(&r, 2, 1, A);
    assert_int_equal(c.gap_events, n);
    assert_int_equal(c.gap_psns, n);
    assert_int_equal(c.retransmitted, 2 * n);
    assert_int_equal(c.retransmitted_dup, n);
    assert_int_equal(c.retransmitted_fill, n);
    assert_int_equal(c.loss[ROCE_LOST_UPSTREAM], n);
    assert_int_equal(c.retransmission_cause[ROCE_CAUSE_NAK], n);
    assert_int_equal(c.episodes, n);
    assert_int_equal(p.naks[ROCE_NAK_PSN_SEQUENCE_ERROR], n);
    assert_int_equal(p.acks, 8 + n);
    assert_int_equal(p.gap_events + p.retransmitted + p.episodes, 0);
    rig_close(&r);
}

static void test_more_than_32_bits_of_psns(void **state)
{
    (void)state;
    const uint64_t n = 1100;
    struct rig r;
    rig_open(&r, NULL);
    for (uint32_t i = 0; i <= n; i++)
        rig_data(&r, SEND, 1, 2, B, i * 0x400000, 10);
    const struct roce_flow_counters c = rig_counters(&r, 1, 2, B);
    assert_int_equal(c.gap_events, n);
    assert_true(c.gap_psns == n * 0x3FFFFF);
    rig_close(&r);
}

/* Waits of 19 lengths, from 5 us to 1.3 s, each twice as long as the one before: those from 0.3 s
 * on may be one timeout (IBTA 9.7.6.1.3: T to 4 T). */
static void test_many_waits(void **state)
{
    (void)state;
    struct rig r;
    open_paired(&r, 0);
    const uint32_t waits = 19;
    uint32_t psn = 8;
    for (uint32_t round = 0; round < 3; round++)
        for (uint32_t i = 0; i < waits; i++) {
            send(&r, psn);
            r.now += (5 * US << i) - US;
            send(&r, psn);
            r.now += 3 * US;
            ack(&r, psn++);
        }
    roce_flow_finish(r.t);
    const struct roce_flow_counters c = rig_counters(&r, 1, 2, B);
    assert_int_equal(c.retransmission_cause[ROCE_CAUSE_TIMEOUT], 3 * 3);
    assert_int_equal(c.retransmission_cause[ROCE_CAUSE_EARLY], 3 * (waits - 3));
    assert_int_equal(c.episodes, 3 * waits);
    rig_close(&r);
}

static void request(struct rig *r, uint8_t opcode, uint32_t psn)
{
    rig_data(r, opcode, 2, 1, A, psn, 20);
    r->now += US;
    rig_ack(r, 1, 2, B, psn, 0x1F, psn + 1);
    r->now += US;
}

/* A QP that only answers, and then sends requests of its own, first of one kind and then of another
 * one. */
static void test_naks_before_and_behind_requests(void **state)
{
    (void)state;
    static const uint8_t opcode[] = {SEND, ROCE_OPCODE_RC_WRITE_ONLY, SEND};
    struct rig r;
    open_paired(&r, 14);
    uint32_t psn = 8, naks = 0;
    for (uint32_t kind = 0; kind < 3; kind++)
        for (uint32_t i = 0; i < 3; i++) {
            lose_one(&r, psn);
            psn += 2;
            naks++;
            assert_int_equal(rig_counters(&r, 2, 1, A).naks[ROCE_NAK_PSN_SEQUENCE_ERROR], naks);
            request(&r, opcode[kind], kind * 3 + i);
            assert_int_equal(rig_counters(&r, 2, 1, A).naks[ROCE_NAK_PSN_SEQUENCE_ERROR], naks);
        }
    const struct roce_flow_counters p = rig_counters(&r, 2, 1, A);
    assert_int_equal(p.messages[ROCE_MESSAGE_SEND].started, 6);
    assert_int_equal(p.messages[ROCE_MESSAGE_SEND].completed, 6);
    assert_int_equal(p.messages[ROCE_MESSAGE_SEND].bytes, 6 * 20);
    assert_int_equal(p.messages[ROCE_MESSAGE_WRITE].started, 3);
    assert_int_equal(p.messages[ROCE_MESSAGE_WRITE].completed, 3);
    assert_int_equal(p.messages[ROCE_MESSAGE_WRITE].bytes, 3 * 20);
    assert_int_equal(p.acks, 8 + naks);
    assert_int_equal(rig_counters(&r, 1, 2, B).gap_events, naks);
    rig_close(&r);
}

/* Flows that are gone give their records back. */
static void test_evicted(void **state)
{
    (void)state;
    const struct roce_flow_opts o = {.max_flows = 2};
    uint64_t memory = 0;
    struct rig r;
    rig_open(&r, &o);
    for (uint32_t qp = 0; qp < 100; qp++) {
        for (uint32_t i = 0; i < 1100; i++)
            rig_data(&r, SEND, 1, 2, qp, i * 0x400000, 10);
        struct roce_flow_stats s;
        roce_flow_stats(r.t, &s);
        if (qp == 2)
            memory = s.memory;
        if (qp > 2)
            assert_int_equal(s.memory, memory);
    }
    rig_close(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_more_than_16_bits),
        cmocka_unit_test(test_more_than_32_bits_of_psns),
        cmocka_unit_test(test_many_waits),
        cmocka_unit_test(test_naks_before_and_behind_requests),
        cmocka_unit_test(test_evicted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
