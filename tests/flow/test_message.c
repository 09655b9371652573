/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Messages, what completes them, and how long it took; the verdict of requests and responses. */
#include "rig.h"

#define A 0x11
#define B 0x22

static void test_send_of_three_packets(void **state)
{
    (void)state;
    struct rig r;
    rig_open(&r, NULL);
    rig_pair(&r, 0, 8);
    rig_data(&r, ROCE_OPCODE_RC_SEND_FIRST, 1, 2, B, 8, 1024);
    assert_true(r.v.flags & ROCE_V_MSG_FIRST);
    assert_int_equal(r.v.message, 9);
    assert_int_equal(r.v.message_packet, 1);
    assert_int_equal(r.v.in_flight, 1);
    r.now += 3 * US;
    rig_data(&r, ROCE_OPCODE_RC_SEND_MIDDLE, 1, 2, B, 9, 1024);
    assert_int_equal(r.v.flags & (ROCE_V_MSG_FIRST | ROCE_V_MSG_LAST), 0);
    assert_int_equal(r.v.message_packet, 2);
    assert_int_equal(r.v.message_frame, 17);
    r.now += 3 * US;
    rig_data(&r, ROCE_OPCODE_RC_SEND_LAST, 1, 2, B, 10, 52);
    assert_true(r.v.flags & ROCE_V_MSG_LAST);
    assert_int_equal(r.v.message_bytes, 2100);
    assert_int_equal(r.v.in_flight, 3);
    r.now += 20 * US;
    rig_ack(&r, 2, 1, A, 10, 0x1F, 9);
    assert_true(r.v.flags & ROCE_V_MSG_COMPLETES);
    assert_int_equal(r.v.completed, 1);
    assert_int_equal(r.v.message, 9);
    assert_int_equal(r.v.request_frame, 19);
    assert_int_equal(r.v.rtt, 20 * US);
    assert_int_equal(r.v.latency, 26 * US);
    const struct roce_event *e = rig_last_event(&r, ROCE_EVENT_MESSAGE);
    assert_int_equal(e->op, ROCE_MESSAGE_SEND);
    assert_int_equal(e->psn, 8);
    assert_int_equal(e->count, 3);
    assert_int_equal(e->evidence[0], 17);
    assert_int_equal(e->evidence[1], 19);
    assert_int_equal(e->evidence[2], 20);
    const struct roce_flow_counters c = rig_counters(&r, 1, 2, B);
    assert_int_equal(c.messages[ROCE_MESSAGE_SEND].started, 9);
    assert_int_equal(c.messages[ROCE_MESSAGE_SEND].completed, 9);
    assert_int_equal(c.messages[ROCE_MESSAGE_SEND].bytes, 8 * 64 + 2100);
    assert_true(c.has_completed);
    struct roce_hist_summary s;
    assert_true(roce_flow_latency(r.t, rig_flow(&r, 1, 2, B), ROCE_LATENCY_MESSAGE, &s));
    assert_int_equal(s.count, 9);
    assert_int_equal(s.min, 10 * US);
    assert_int_equal(s.max, 26 * US);
    assert_true(roce_flow_latency(r.t, rig_flow(&r, 1, 2, B), ROCE_LATENCY_ACK, &s));
    assert_int_equal(s.count, 9);
    assert_int_equal(s.max, 20 * US);
    rig_close(&r);
}

static void test_one_ack_for_many(void **state)
{
    (void)state;
    struct rig r;
    rig_open(&r, NULL);
    rig_pair(&r, 0xFFFFFC, 8); /* over the wrap */
    for (uint32_t i = 4; i < 9; i++) {
        rig_data(&r, ROCE_OPCODE_RC_WRITE_ONLY, 1, 2, B, i, 32);
        r.now += US;
    }
    rig_ack(&r, 2, 1, A, 8, 0x1F, 13);
    assert_int_equal(r.v.completed, 5);
    assert_int_equal(r.v.rtt, US);
    rig_ack(&r, 2, 1, A, 8, 0x1F, 13);
    assert_true(r.v.flags & ROCE_V_ACK_DUP);
    assert_int_equal(r.v.completed, 0);
    const struct roce_flow_counters c = rig_counters(&r, 1, 2, B);
    assert_int_equal(c.messages[ROCE_MESSAGE_WRITE].completed, 5);
    rig_close(&r);
}

static void test_reads_and_atomics_complete_by_their_answers(void **state)
{
    (void)state;
    struct rig r;
    rig_open(&r, NULL);
    rig_pair(&r, 0, 8);
    rig_read(&r, 1, 2, B, 8, 0x1000, 2500);
    rig_atomic(&r, 1, 2, B, 11);
    r.now += 10 * US;
    rig_answer(&r, ROCE_OPCODE_RC_READ_RESPONSE_FIRST, 2, 1, A, 8, 1024, 9);
    assert_int_equal(r.v.request_frame, 17);
    assert_int_equal(r.v.completed, 0);
    rig_answer(&r, ROCE_OPCODE_RC_READ_RESPONSE_MIDDLE, 2, 1, A, 9, 1024, 0);
    rig_answer(&r, ROCE_OPCODE_RC_READ_RESPONSE_LAST, 2, 1, A, 10, 452, 9);
    assert_int_equal(r.v.completed, 1);
    assert_int_equal(r.v.latency, 10 * US);
    rig_answer(&r, ROCE_OPCODE_RC_ATOMIC_ACKNOWLEDGE, 2, 1, A, 11, 0, 10);
    assert_int_equal(r.v.completed, 1);
    assert_int_equal(r.v.message_op, ROCE_MESSAGE_ATOMIC);
    const struct roce_flow_counters c = rig_counters(&r, 1, 2, B);
    assert_int_equal(c.messages[ROCE_MESSAGE_READ].started, 1);
    assert_int_equal(c.messages[ROCE_MESSAGE_READ].completed, 1);
    assert_int_equal(c.messages[ROCE_MESSAGE_READ].bytes, 2500);
    assert_int_equal(c.messages[ROCE_MESSAGE_ATOMIC].completed, 1);
    assert_int_equal(c.messages[ROCE_MESSAGE_ATOMIC].bytes, 8);
    assert_int_equal(c.gap_events, 0);
    rig_close(&r);
}

static void test_flush_and_atomic_write_complete_by_a_read_response(void **state)
{
    (void)state;
    struct rig r;
    rig_open(&r, NULL);
    rig_pair(&r, 0, 8);
    struct roce_packet p = rig_packet(&r, ROCE_OPCODE_RC_FLUSH, 1, 2, B, 8);
    p.reth.dma_length = 4096;
    rig_send(&r, &p);
    rig_answer(&r, ROCE_OPCODE_RC_READ_RESPONSE_ONLY, 2, 1, A, 8, 0, 9);
    p = rig_packet(&r, ROCE_OPCODE_RC_ATOMIC_WRITE, 1, 2, B, 9);
    p.payload_len = 8;
    rig_send(&r, &p);
    rig_answer(&r, ROCE_OPCODE_RC_READ_RESPONSE_ONLY, 2, 1, A, 9, 0, 10);
    rig_data(&r, ROCE_OPCODE_RC_SEND_ONLY, 1, 2, B, 10, 1);
    const struct roce_flow_counters c = rig_counters(&r, 1, 2, B);
    assert_int_equal(c.messages[ROCE_MESSAGE_FLUSH].completed, 1);
    assert_int_equal(c.messages[ROCE_MESSAGE_ATOMIC_WRITE].completed, 1);
    assert_int_equal(c.messages[ROCE_MESSAGE_ATOMIC_WRITE].bytes, 8);
    assert_int_equal(c.gap_events, 0);
    rig_close(&r);
}

/* The middle of a message was lost and sent again: its latency runs from its first packet. */
static void test_message_with_a_hole(void **state)
{
    (void)state;
    struct rig r;
    rig_open(&r, NULL);
    rig_pair(&r, 0, 8);
    rig_data(&r, ROCE_OPCODE_RC_SEND_FIRST, 1, 2, B, 8, 256);
    r.now += US;
    rig_data(&r, ROCE_OPCODE_RC_SEND_LAST, 1, 2, B, 10, 5);
    r.now += US;
    rig_data(&r, ROCE_OPCODE_RC_SEND_ONLY, 1, 2, B, 11, 5);
    rig_ack(&r, 2, 1, A, 9, 0x60, 8);
    r.now += 5 * US;
    rig_data(&r, ROCE_OPCODE_RC_SEND_MIDDLE, 1, 2, B, 9, 256);
    rig_data(&r, ROCE_OPCODE_RC_SEND_LAST, 1, 2, B, 10, 5);
    rig_ack(&r, 2, 1, A, 10, 0x1F, 9);
    assert_int_equal(r.v.completed, 1);
    assert_int_equal(r.v.latency, 7 * US);
    rig_data(&r, ROCE_OPCODE_RC_SEND_ONLY, 1, 2, B, 11, 5);
    rig_ack(&r, 2, 1, A, 11, 0x1F, 10);
    const struct roce_flow_counters c = rig_counters(&r, 1, 2, B);
    assert_int_equal(c.messages[ROCE_MESSAGE_SEND].started, 10);
    assert_int_equal(c.messages[ROCE_MESSAGE_SEND].completed, 10);
    assert_int_equal(c.messages[ROCE_MESSAGE_SEND].bytes, 8 * 64 + 256 + 256 + 5 + 5);
    rig_close(&r);
}

/* Nothing from before the pair was known is lost from counters and latencies. */
static void test_messages_before_the_pair_was_known(void **state)
{
    (void)state;
    struct rig r;
    rig_open(&r, NULL);
    rig_pair(&r, 500, 2);
    assert_int_equal(rig_info(&r, 1, 2, B).peer, ROCE_FLOW_NONE);
    assert_false(rig_counters(&r, 1, 2, B).has_completed);
    rig_data(&r, ROCE_OPCODE_RC_SEND_ONLY, 1, 2, B, 502, 64);
    r.now += 30 * US;
    rig_ack(&r, 2, 1, A, 502, 0x1F, 3);
    assert_true(r.v.flags & ROCE_V_PAIRED_NOW);
    assert_int_equal(r.v.rtt, 30 * US);
    struct roce_hist_summary s;
    assert_true(roce_flow_latency(r.t, rig_flow(&r, 1, 2, B), ROCE_LATENCY_ACK, &s));
    assert_int_equal(s.count, 3);
    assert_int_equal(s.min, 10 * US);
    assert_int_equal(s.max, 30 * US);
    assert_int_equal(rig_counters(&r, 1, 2, B).messages[ROCE_MESSAGE_SEND].completed, 3);
    struct roce_connection c;
    assert_true(roce_connection_next(r.t, ROCE_FLOW_NONE, &c));
    assert_int_equal(c.flows[0], rig_flow(&r, 1, 2, B));
    assert_int_equal(c.qp[0], A);
    assert_int_equal(c.qp[1], B);
    assert_int_equal(c.pairing, ROCE_PAIRING_PSN);
    assert_int_equal(c.evidence, 3);
    assert_false(roce_connection_next(r.t, c.id, &c));
    rig_close(&r);
}

/* More messages than can be remembered one by one still complete when they are acknowledged. */
static void test_more_outstanding_than_remembered(void **state)
{
    (void)state;
    struct rig r;
    rig_open(&r, NULL);
    rig_pair(&r, 0, 8);
    for (uint32_t i = 8; i < 3000; i++)
        rig_data(&r, ROCE_OPCODE_RC_SEND_ONLY, 1, 2, B, i, 1);
    rig_ack(&r, 2, 1, A, 2999, 0x1F, 3000);
    assert_int_equal(rig_counters(&r, 1, 2, B).messages[ROCE_MESSAGE_SEND].completed, 3000);
    rig_close(&r);
}

static void test_ack_request_inside_a_message(void **state)
{
    (void)state;
    struct rig r;
    rig_open(&r, NULL);
    rig_pair(&r, 0, 8);
    rig_data(&r, ROCE_OPCODE_RC_WRITE_FIRST, 1, 2, B, 8, 1024);
    struct roce_packet p = rig_packet(&r, ROCE_OPCODE_RC_WRITE_MIDDLE, 1, 2, B, 9);
    p.payload_len = 1024;
    p.bth.ackreq = true;
    rig_send(&r, &p);
    r.now += 4 * US;
    rig_ack(&r, 2, 1, A, 9, 0x1F, 8);
    assert_int_equal(r.v.completed, 0);
    assert_int_equal(r.v.rtt, 4 * US);
    struct roce_hist_summary s;
    roce_flow_latency(r.t, rig_flow(&r, 1, 2, B), ROCE_LATENCY_ACK, &s);
    assert_int_equal(s.count, 9);
    assert_int_equal(s.min, 4 * US);
    roce_flow_latency(r.t, rig_flow(&r, 1, 2, B), ROCE_LATENCY_MESSAGE, &s);
    assert_int_equal(s.count, 8);
    assert_int_equal(s.min, 10 * US);
    rig_close(&r);
}

/* A response whose ICRC is wrong was dropped by its receiver. */
static void test_a_broken_ack_completes_nothing(void **state)
{
    (void)state;
    struct rig r;
    rig_open(&r, NULL);
    rig_pair(&r, 0, 8);
    rig_data(&r, ROCE_OPCODE_RC_SEND_ONLY, 1, 2, B, 8, 1);
    r.icrc = ROCE_ICRC_BAD;
    rig_ack(&r, 2, 1, A, 8, 0x1F, 9);
    assert_int_equal(r.v.completed, 0);
    assert_int_equal(rig_counters(&r, 2, 1, A).acks, 9);
    r.icrc = ROCE_ICRC_OK;
    rig_ack(&r, 2, 1, A, 8, 0x1F, 9);
    assert_int_equal(r.v.completed, 1);
    rig_close(&r);
}

static void test_xrc(void **state)
{
    (void)state;
    struct rig r;
    rig_open(&r, NULL);
    for (uint32_t i = 0; i < 6; i++) {
        rig_data(&r, ROCE_OPCODE_XRC_SEND_ONLY, 1, 2, B, i, 10);
        r.now += US;
        struct roce_packet p = rig_packet(&r, ROCE_OPCODE_XRC_ACKNOWLEDGE, 2, 1, A, i);
        p.aeth.syndrome = 0x1F;
        p.aeth.msn = i + 1;
        rig_send(&r, &p);
    }
    assert_int_equal(rig_info(&r, 1, 2, B).peer, rig_flow(&r, 2, 1, A));
    assert_int_equal(rig_counters(&r, 1, 2, B).messages[ROCE_MESSAGE_SEND].completed, 6);
    assert_int_equal(rig_counters(&r, 2, 1, A).acks, 6);
    rig_close(&r);
}

/* Quantiles of a known distribution: 1..1000 us, against its own order statistics. */
static void test_histogram(void **state)
{
    (void)state;
    static struct roce_hist h, twice;
    memset(&h, 0, sizeof h);
    for (uint64_t v = 1; v <= 1000; v++)
        roce_hist_add(&h, v * 1000);
    struct roce_hist_summary s;
    roce_hist_summary(&h, &s);
    assert_int_equal(s.count, 1000);
    assert_int_equal(s.min, 1000);
    assert_int_equal(s.max, 1000000);
    assert_in_range(s.p50, 500000 * 98 / 100, 500000 * 102 / 100);
    assert_in_range(s.p90, 900000 * 98 / 100, 900000 * 102 / 100);
    assert_in_range(s.p99, 990000 * 98 / 100, 990000 * 102 / 100);
    for (uint64_t v = 1; v != 0 && v < UINT64_C(1) << 47; v = v * 3 + 1) {
        const uint64_t middle = roce_hist_value(roce_hist_bucket(v));
        assert_true(middle <= v + v / 32 && middle + v / 32 >= v);
    }
    assert_true(roce_hist_bucket(UINT64_MAX) < ROCE_HIST_OCTAVES * ROCE_HIST_SUB);
    memset(&twice, 0, sizeof twice);
    roce_hist_merge(&twice, &h);
    roce_hist_merge(&twice, &h);
    assert_int_equal(twice.count, 2000);
    assert_int_equal(roce_hist_quantile(&twice, 500), s.p50);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_send_of_three_packets),
        cmocka_unit_test(test_one_ack_for_many),
        cmocka_unit_test(test_reads_and_atomics_complete_by_their_answers),
        cmocka_unit_test(test_flush_and_atomic_write_complete_by_a_read_response),
        cmocka_unit_test(test_message_with_a_hole),
        cmocka_unit_test(test_messages_before_the_pair_was_known),
        cmocka_unit_test(test_more_outstanding_than_remembered),
        cmocka_unit_test(test_ack_request_inside_a_message),
        cmocka_unit_test(test_a_broken_ack_completes_nothing),
        cmocka_unit_test(test_xrc),
        cmocka_unit_test(test_histogram),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
