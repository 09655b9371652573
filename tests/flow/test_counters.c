/* SPDX-License-Identifier: GPL-2.0-or-later */
/* NIC counters of hosts: each from a hand-made exchange, by direction, unknown without frames. */
#include "tests/cmocka_all.h"
#include "tests/flow/scene.h"

#include <roce/err.h>

static const struct roce_host *host(struct scene *s, uint8_t last)
{
    const uint32_t n = roce_observer_hosts(s->obs);
    for (uint32_t i = 0; i < n; i++)
        if (roce_observer_host(s->obs, i)->addr[15] == last)
            return roce_observer_host(s->obs, i);
    fail_msg("no host %u", last);
    return NULL;
}

static void test_names(void **state)
{
    (void)state;
    for (int i = 0; i < ROCE_HW_COUNT; i++) {
        assert_int_equal(roce_hw_by_name(roce_hw_name((enum roce_hw)i)), i);
        assert_true(strlen(roce_hw_text((enum roce_hw)i)) > 10);
    }
    assert_int_equal(roce_hw_by_name("rx_bytes"), ROCE_ERR_UNKNOWN);
    assert_string_equal(roce_hw_name(ROCE_HW_COUNT), "unknown");
}

/* Host 1 sends everything, host 2 answers. */
static void test_sides(void **state)
{
    (void)state;
    struct scene s = scene_new(NULL);
    scene_talk(&s, 100, 10);
    struct shot x = scene_send(110);
    x.op = ROCE_OPCODE_RC_WRITE_ONLY;
    x.dma = 64;
    x.ecn = ROCE_ECN_CE;
    scene_shot(&s, US, x);
    scene_shot(&s, US, scene_ack(110, ACK_OK, 110));
    x = (struct shot){.src = 2, .dst = 1, .op = ROCE_OPCODE_CNP, .qp = QP_A, .len = 16};
    scene_shot(&s, US, x);
    x = scene_send(111);
    x.op = ROCE_OPCODE_RC_READ_REQUEST;
    x.dma = 100;
    x.len = 0;
    scene_shot(&s, US, x);
    x = scene_ack(111, ACK_OK, 111);
    x.op = ROCE_OPCODE_RC_READ_RESPONSE_ONLY;
    x.len = 100;
    scene_shot(&s, US, x);
    x = scene_send(112);
    x.op = ROCE_OPCODE_RC_FETCH_ADD;
    x.len = 0;
    scene_shot(&s, US, x);
    scene_shot(&s, US, scene_ack(112, NAK_SEQ, 111));
    scene_shot(&s, US, scene_ack(112, 0x2E, 111));
    scene_shot(&s, US, scene_ack(112, 0x61, 111));
    scene_shot(&s, US, scene_ack(112, 0x62, 111));
    scene_shot(&s, US, scene_ack(112, 0x63, 111));
    const uint64_t *one = host(&s, 1)->hw, *two = host(&s, 2)->hw;
    assert_int_equal(two[ROCE_HW_RX_WRITE_REQUESTS], 1);
    assert_int_equal(two[ROCE_HW_RX_READ_REQUESTS], 1);
    assert_int_equal(two[ROCE_HW_RX_ATOMIC_REQUESTS], 1);
    assert_int_equal(two[ROCE_HW_NP_ECN_MARKED_ROCE_PACKETS], 1);
    assert_int_equal(two[ROCE_HW_NP_CNP_SENT], 1);
    assert_int_equal(two[ROCE_HW_OUT_OF_SEQUENCE], 1);
    assert_int_equal(two[ROCE_HW_OUT_OF_BUFFER], 1);
    assert_int_equal(two[ROCE_HW_RESP_REMOTE_ACCESS_ERRORS], 1);
    assert_int_equal(two[ROCE_HW_RP_CNP_HANDLED], 0);
    assert_int_equal(two[ROCE_HW_REQ_CQE_ERROR], 0);
    assert_int_equal(one[ROCE_HW_RP_CNP_HANDLED], 1);
    assert_int_equal(one[ROCE_HW_PACKET_SEQ_ERR], 1);
    assert_int_equal(one[ROCE_HW_RNR_NAK_RETRY_ERR], 1);
    assert_int_equal(one[ROCE_HW_REQ_REMOTE_ACCESS_ERRORS], 1);
    assert_int_equal(one[ROCE_HW_REQ_REMOTE_INVALID_REQUEST], 1);
    assert_int_equal(one[ROCE_HW_REQ_REMOTE_OPERATIONAL_ERRORS], 1);
    assert_int_equal(one[ROCE_HW_REQ_CQE_ERROR], 3);
    assert_int_equal(one[ROCE_HW_RX_WRITE_REQUESTS], 0);
    assert_int_equal(one[ROCE_HW_NP_CNP_SENT], 0);
    assert_int_equal(host(&s, 1)->packets_out, 13);
    assert_int_equal(host(&s, 1)->packets_in, 18);
    assert_int_equal(host(&s, 2)->packets_in, 13);
    scene_free(&s);
}

static void test_unknown(void **state)
{
    (void)state;
    struct scene s = scene_new(NULL);
    scene_shot(&s, US, scene_send(1));
    assert_true(roce_host_has(host(&s, 2), ROCE_HW_RX_WRITE_REQUESTS));
    assert_false(roce_host_has(host(&s, 2), ROCE_HW_NP_CNP_SENT));
    assert_false(roce_host_has(host(&s, 1), ROCE_HW_RP_CNP_HANDLED));
    assert_true(roce_host_has(host(&s, 1), ROCE_HW_LOCAL_ACK_TIMEOUT_ERR));
    scene_free(&s);
}

static void test_icrc(void **state)
{
    (void)state;
    struct scene s = scene_new(NULL);
    s.check_icrc = true;
    scene_talk(&s, 1, 3);
    struct shot x = scene_send(4);
    x.bad_icrc = true;
    scene_shot(&s, US, x);
    assert_int_equal(host(&s, 2)->hw[ROCE_HW_RX_ICRC_ENCAPSULATED], 1);
    assert_int_equal(host(&s, 1)->hw[ROCE_HW_RX_ICRC_ENCAPSULATED], 0);
    scene_free(&s);
}

/* An ACK is lost behind the mirror, the SEND comes again: the responder had it already. The timeout
 * is the sender's. */
static void test_resends(void **state)
{
    (void)state;
    const struct roce_observer_opts opts = {.timeout_exp = 14};
    struct scene s = scene_new(&opts);
    scene_talk(&s, 100, 10);
    scene_shot(&s, US, scene_send(110));
    scene_shot(&s, 5 * US, scene_ack(110, ACK_OK, 110));
    scene_shot(&s, 68 * MS, scene_send(110));
    scene_shot(&s, 5 * US, scene_ack(110, ACK_OK, 110));
    scene_talk(&s, 111, 5);
    scene_end(&s, MS);
    assert_int_equal(host(&s, 2)->hw[ROCE_HW_DUPLICATE_REQUEST], 1);
    assert_int_equal(host(&s, 1)->hw[ROCE_HW_DUPLICATE_REQUEST], 0);
    scene_free(&s);
}

/* Counters of evicted flows stay with their hosts. */
static void test_evicted(void **state)
{
    (void)state;
    const struct roce_observer_opts opts = {.max_flows = 16};
    struct scene s = scene_new(&opts);
    for (uint32_t i = 0; i < 200; i++) {
        struct shot x = scene_send(i);
        x.op = ROCE_OPCODE_RC_WRITE_ONLY;
        x.qp = 2 + i;
        x.dma = 64;
        scene_shot(&s, US, x);
    }
    assert_int_equal(host(&s, 2)->hw[ROCE_HW_RX_WRITE_REQUESTS], 200);
    assert_int_equal(host(&s, 2)->packets_in, 200);
    assert_int_equal(host(&s, 2)->flows_in, 200);
    assert_int_equal(host(&s, 1)->packets_out, 200);
    scene_free(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),   cmocka_unit_test(test_sides),
        cmocka_unit_test(test_unknown), cmocka_unit_test(test_icrc),
        cmocka_unit_test(test_resends), cmocka_unit_test(test_evicted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
