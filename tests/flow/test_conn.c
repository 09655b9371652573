/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Connections as CM messages tell of them: pairing, parameters, how they end. */
#include "cm_rig.h"

#define SEND ROCE_OPCODE_RC_SEND_ONLY

static void test_accepted_connection(void **state)
{
    (void)state;
    struct rig r;
    rig_open(&r, NULL);
    cm_request(&r, 1, 2, 0xA1, 0x11);
    cm_reply(&r, 2, 1, 0xB1, 0xA1, 0x22);
    cm_ids(&r, ROCE_CM_RTU, 1, 2, 0xA1, 0xB1, 0);
    struct roce_cm_info i;
    assert_int_equal(roce_cm_count(r.t), 1);
    assert_true(roce_cm_get(r.t, 0, &i));
    assert_int_equal(i.state, ROCE_CM_ESTABLISHED);
    assert_int_equal(i.qp_a, 0x11);
    assert_int_equal(i.qp_b, 0x22);
    assert_int_equal(i.psn_a, 700);
    assert_int_equal(i.psn_b, 900);
    assert_int_equal(i.path_mtu, 1024);
    assert_int_equal(i.retry_count, 7);
    assert_int_equal(i.flow_ab, ROCE_FLOW_NONE);
    /* Paired as soon as both directions have a frame, and the path MTU is known at once. */
    rig_read(&r, 1, 2, 0x22, 700, 0x1000, 4096);
    assert_int_equal(r.v.psns, 4);
    assert_int_equal(rig_info(&r, 1, 2, 0x22).pairing, ROCE_PAIRING_NONE);
    rig_answer(&r, ROCE_OPCODE_RC_READ_RESPONSE_FIRST, 2, 1, 0x11, 700, 1024, 1);
    assert_int_equal(r.v.pairing, ROCE_PAIRING_CM);
    assert_int_equal(r.v.request_frame, 4);
    assert_int_equal(rig_info(&r, 1, 2, 0x22).peer, rig_flow(&r, 2, 1, 0x11));
    assert_true(roce_cm_get(r.t, 0, &i));
    assert_int_equal(i.flow_ab, rig_flow(&r, 1, 2, 0x22));
    assert_int_equal(i.flow_ba, rig_flow(&r, 2, 1, 0x11));
    /* 4.096 us * 2^10 = 4.2 ms is this connection's timeout. */
    rig_data(&r, SEND, 1, 2, 0x22, 704, 10);
    r.now += 5 * MS;
    rig_data(&r, SEND, 1, 2, 0x22, 704, 10);
    assert_int_equal(rig_last_event(&r, ROCE_EVENT_CM)->code, ROCE_CM_RTU);
    cm_ids(&r, ROCE_CM_DREQ, 2, 1, 0xB1, 0xA1, 0);
    cm_ids(&r, ROCE_CM_DREP, 1, 2, 0xA1, 0xB1, 0);
    roce_flow_finish(r.t);
    assert_int_equal(rig_counters(&r, 1, 2, 0x22).retransmission_cause[ROCE_CAUSE_TIMEOUT], 1);
    assert_true(roce_cm_get(r.t, 0, &i));
    assert_int_equal(i.state, ROCE_CM_CLOSED);
    assert_int_equal(i.req_frame, 1);
    assert_int_equal(i.rep_frame, 2);
    assert_int_equal(i.rtu_frame, 3);
    assert_int_equal(i.dreq_frame, 8);
    assert_int_equal(i.drep_frame, 9);
    rig_close(&r);
}

static void test_rejected_and_unanswered(void **state)
{
    (void)state;
    struct rig r;
    rig_open(&r, NULL);
    cm_request(&r, 1, 2, 0xA1, 0x11);
    cm_ids(&r, ROCE_CM_REJ, 2, 1, 0, 0xA1, 28);
    cm_request(&r, 1, 2, 0xA2, 0x12);
    cm_request(&r, 1, 2, 0xA2, 0x12);
    cm_request(&r, 1, 2, 0xA2, 0x12);
    cm_request(&r, 1, 2, 0xA3, 0x13);
    cm_ids(&r, ROCE_CM_REJ, 1, 2, 0xA3, 0, 4);
    cm_request(&r, 1, 2, 0xA4, 0x14);
    struct roce_cm_info i;
    assert_int_equal(roce_cm_count(r.t), 4);
    roce_cm_get(r.t, 0, &i);
    assert_int_equal(i.state, ROCE_CM_REJECTED);
    assert_int_equal(i.reject_reason, 28);
    roce_cm_get(r.t, 1, &i);
    assert_int_equal(i.state, ROCE_CM_TIMED_OUT);
    assert_int_equal(i.req_count, 3);
    roce_cm_get(r.t, 2, &i);
    assert_int_equal(i.state, ROCE_CM_TIMED_OUT);
    roce_cm_get(r.t, 3, &i);
    assert_int_equal(i.state, ROCE_CM_REQUESTED);
    assert_false(roce_cm_get(r.t, 4, &i));
    rig_close(&r);
}

/* Many QPs with the same PSNs: CM names the pairs where nothing else could. */
static void test_pairs_of_equal_psns(void **state)
{
    (void)state;
    struct rig r;
    rig_open(&r, NULL);
    for (uint32_t i = 0; i < 50; i++) {
        cm_request(&r, 1, 2, 0xA000 + i, 0x100 + i);
        cm_reply(&r, 2, 1, 0xB000 + i, 0xA000 + i, 0x500 + (i * 7) % 50);
    }
    for (uint32_t psn = 0; psn < 2; psn++) {
        for (uint32_t i = 0; i < 50; i++)
            rig_data(&r, SEND, 1, 2, 0x500 + (i * 7) % 50, psn, 8);
        for (uint32_t i = 0; i < 50; i++)
            rig_ack(&r, 2, 1, 0x100 + i, psn, 0x1F, psn + 1);
    }
    for (uint32_t i = 0; i < 50; i++) {
        const struct roce_flow_info f = rig_info(&r, 1, 2, 0x500 + (i * 7) % 50);
        assert_int_equal(f.pairing, ROCE_PAIRING_CM);
        assert_int_equal(f.peer, rig_flow(&r, 2, 1, 0x100 + i));
        assert_int_equal(f.src_qp, 0x100 + i);
    }
    rig_close(&r);
}

/* A QP number that is used again belongs to another QP: its PSNs are no gap. */
static void test_qp_number_used_again(void **state)
{
    (void)state;
    struct rig r;
    rig_open(&r, NULL);
    cm_request(&r, 1, 2, 0xA1, 0x11);
    cm_reply(&r, 2, 1, 0xB1, 0xA1, 0x22);
    rig_data(&r, SEND, 1, 2, 0x22, 700, 10);
    rig_ack(&r, 2, 1, 0x11, 700, 0x1F, 1);
    cm_ids(&r, ROCE_CM_DREQ, 1, 2, 0xA1, 0xB1, 0);
    cm_request(&r, 1, 2, 0xA2, 0x11);
    cm_reply(&r, 2, 1, 0xB2, 0xA2, 0x22);
    rig_data(&r, SEND, 1, 2, 0x22, 0x654321, 10);
    rig_ack(&r, 2, 1, 0x11, 0x654321, 0x1F, 1);
    const struct roce_flow_counters c = rig_counters(&r, 1, 2, 0x22);
    assert_int_equal(c.gap_events + c.retransmitted, 0);
    assert_int_equal(c.messages[ROCE_MESSAGE_SEND].completed, 2);
    assert_int_equal(rig_info(&r, 1, 2, 0x22).peer, rig_flow(&r, 2, 1, 0x11));
    rig_close(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_accepted_connection),
        cmocka_unit_test(test_rejected_and_unanswered),
        cmocka_unit_test(test_pairs_of_equal_psns),
        cmocka_unit_test(test_qp_number_used_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
