/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Connections as CM messages tell of them: pairing, parameters, how they end. */
#include "rig.h"

#include <roce/mad.h>

#define SEND ROCE_OPCODE_RC_SEND_ONLY

static void send_cm(struct rig *r, uint8_t from, uint8_t to, const struct roce_cm *cm)
{
    uint8_t bytes[ROCE_MAD_LEN] = {0};
    const struct roce_mad mad = {.base_version = 1,
                                 .mgmt_class = ROCE_MAD_CLASS_CM,
                                 .class_version = 2,
                                 .method = 3,
                                 .attr_id = cm->message};
    assert_true(roce_mad_encode(&mad, bytes, sizeof bytes) > 0);
    assert_true(roce_cm_encode(cm, bytes + ROCE_MAD_HDR_LEN, ROCE_CM_LEN) > 0);
    struct roce_packet p = rig_packet(r, ROCE_OPCODE_UD_SEND_ONLY, from, to, 1, 0);
    p.has |= ROCE_HAS_MAD;
    p.deth.src_qp = 1;
    p.deth.qkey = ROCE_GSI_QKEY;
    p.payload_len = p.payload_captured = ROCE_MAD_LEN;
    p.payload_off = 0;
    p.ip.id = ++r->ip_id;
    const struct roce_frame frame = {
        .data = bytes, .caplen = sizeof bytes, .origlen = 300, .ts = r->now, .number = ++r->frame};
    assert_true(roce_flow_update(r->t, &frame, &p, NULL, &r->v));
    assert_true(r->v.flags & ROCE_V_CM);
    r->now += 50 * US;
}

static void request(struct rig *r, uint8_t from, uint8_t to, uint32_t id, uint32_t qpn)
{
    struct roce_cm cm = {.message = ROCE_CM_REQ,
                         .local_comm_id = id,
                         .local_qpn = qpn,
                         .starting_psn = 700,
                         .retry_count = 7,
                         .rnr_retry = 6,
                         .path_mtu = 3,
                         .max_cm_retries = 15};
    cm.primary.ack_timeout = 10;
    roce_ip_v4(cm.primary.local_gid, 10, 0, 0, from);
    roce_ip_v4(cm.primary.remote_gid, 10, 0, 0, to);
    send_cm(r, from, to, &cm);
}

static void reply(struct rig *r, uint8_t from, uint8_t to, uint32_t id, uint32_t peer_id,
                  uint32_t qpn)
{
    const struct roce_cm cm = {.message = ROCE_CM_REP,
                               .local_comm_id = id,
                               .remote_comm_id = peer_id,
                               .local_qpn = qpn,
                               .starting_psn = 900};
    send_cm(r, from, to, &cm);
}

static void ids(struct rig *r, uint8_t message, uint8_t from, uint8_t to, uint32_t id,
                uint32_t peer_id, uint16_t reason)
{
    const struct roce_cm cm = {.message = message,
                               .local_comm_id = id,
                               .remote_comm_id = peer_id,
                               .reject_reason = reason};
    send_cm(r, from, to, &cm);
}

static void test_accepted_connection(void **state)
{
    (void)state;
    struct rig r;
    rig_open(&r, NULL);
    request(&r, 1, 2, 0xA1, 0x11);
    reply(&r, 2, 1, 0xB1, 0xA1, 0x22);
    ids(&r, ROCE_CM_RTU, 1, 2, 0xA1, 0xB1, 0);
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
    ids(&r, ROCE_CM_DREQ, 2, 1, 0xB1, 0xA1, 0);
    ids(&r, ROCE_CM_DREP, 1, 2, 0xA1, 0xB1, 0);
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
    request(&r, 1, 2, 0xA1, 0x11);
    ids(&r, ROCE_CM_REJ, 2, 1, 0, 0xA1, 28);
    request(&r, 1, 2, 0xA2, 0x12);
    request(&r, 1, 2, 0xA2, 0x12);
    request(&r, 1, 2, 0xA2, 0x12);
    request(&r, 1, 2, 0xA3, 0x13);
    ids(&r, ROCE_CM_REJ, 1, 2, 0xA3, 0, 4);
    request(&r, 1, 2, 0xA4, 0x14);
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
        request(&r, 1, 2, 0xA000 + i, 0x100 + i);
        reply(&r, 2, 1, 0xB000 + i, 0xA000 + i, 0x500 + (i * 7) % 50);
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
    request(&r, 1, 2, 0xA1, 0x11);
    reply(&r, 2, 1, 0xB1, 0xA1, 0x22);
    rig_data(&r, SEND, 1, 2, 0x22, 700, 10);
    rig_ack(&r, 2, 1, 0x11, 700, 0x1F, 1);
    ids(&r, ROCE_CM_DREQ, 1, 2, 0xA1, 0xB1, 0);
    request(&r, 1, 2, 0xA2, 0x11);
    reply(&r, 2, 1, 0xB2, 0xA2, 0x22);
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
