/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Frames that the capture holds twice: a mirror's copies, the network's, and what only looks alike.
 */
#include "rig.h"

#define SEND ROCE_OPCODE_RC_SEND_ONLY

static void twice(struct rig *r, uint32_t psn, uint8_t ttl)
{
    r->keep_id = false;
    rig_data(r, SEND, 1, 2, 0x22, psn, 64);
    r->now += US;
    r->keep_id = true;
    r->ttl = ttl;
    rig_data(r, SEND, 1, 2, 0x22, psn, 64);
    r->ttl = 64;
    r->now += 20 * US;
}

static void test_mirror_of_both_sides_of_a_router(void **state)
{
    (void)state;
    struct rig r;
    rig_open(&r, NULL);
    for (uint32_t i = 0; i < 10; i++) {
        twice(&r, i, 63);
        assert_true(r.v.flags & ROCE_V_MIRROR_DUP);
    }
    const struct roce_flow_counters c = rig_counters(&r, 1, 2, 0x22);
    assert_int_equal(c.packets, 10);
    assert_int_equal(c.bytes, 10 * 122);
    assert_int_equal(c.mirror_duplicates, 10);
    assert_int_equal(c.retransmitted, 0);
    assert_int_equal(c.icrc_ok, 10);
    rig_close(&r);
}

static void test_mirror_of_both_sides_of_a_switch(void **state)
{
    (void)state;
    for (uint32_t n = 1; n <= 300; n += 299) {
        struct rig r;
        rig_open(&r, NULL);
        for (uint32_t i = 0; i < n; i++)
            twice(&r, i, 64);
        roce_flow_finish(r.t);
        const struct roce_flow_counters c = rig_counters(&r, 1, 2, 0x22);
        assert_int_equal(c.packets, n);
        assert_int_equal(c.mirror_duplicates, n);
        assert_int_equal(c.retransmitted, 0);
        rig_close(&r);
    }
}

/* Two frames in a hundred come twice: the network duplicates them. They count as what they are. */
static void test_network_duplicates_are_no_mirror(void **state)
{
    (void)state;
    struct rig r;
    rig_open(&r, NULL);
    for (uint32_t i = 0; i < 100; i++) {
        if (i == 3 || i == 90) {
            twice(&r, i, 64);
        } else {
            r.keep_id = false;
            rig_data(&r, SEND, 1, 2, 0x22, i, 64);
        }
        r.now += US;
    }
    roce_flow_finish(r.t);
    const struct roce_flow_counters c = rig_counters(&r, 1, 2, 0x22);
    assert_int_equal(c.packets, 102);
    assert_int_equal(c.mirror_duplicates, 0);
    assert_int_equal(c.retransmitted_dup, 2);
    assert_int_equal(c.opcodes[SEND], 102);
    assert_int_equal(c.retransmission_cause[ROCE_CAUSE_UNKNOWN], 2);
    assert_int_equal(rig_count_events(&r, ROCE_EVENT_EPISODE), 2);
    assert_int_equal(rig_last_event(&r, ROCE_EVENT_EPISODE)->location, ROCE_LOST_NONE);
    rig_close(&r);
}

/* CNPs to a QP 8 us apart, equal to the last bit since their IP identification is 0. */
static void notify(struct rig *r, uint32_t n)
{
    r->keep_id = true;
    for (uint32_t i = 0; i < n; i++) {
        struct roce_packet p = rig_packet(r, ROCE_OPCODE_CNP, 2, 1, 0x21, 0);
        r->ip_id = 0;
        rig_send(r, &p);
        r->now += 8 * US;
    }
    r->keep_id = false;
}

static void test_equal_cnps_are_no_copies(void **state)
{
    (void)state;
    for (int moving = 0; moving < 2; moving++) {
        struct rig r;
        rig_open(&r, NULL);
        notify(&r, 100);
        for (uint32_t i = 0; i < 100; i++) {
            r.ip_id = (uint16_t)(1000 + i);
            rig_data(&r, SEND, 1, 2, 0x22, i, 64);
            if (moving) /* the CNPs' flow has numbered frames, too */
                rig_ack(&r, 2, 1, 0x21, i, 0x1F, i + 1);
        }
        notify(&r, 1000);
        roce_flow_finish(r.t);
        const struct roce_flow_counters c = rig_counters(&r, 2, 1, 0x21);
        assert_int_equal(c.cnps, 1100);
        assert_int_equal(c.packets, moving ? 1200 : 1100);
        assert_int_equal(c.mirror_duplicates, 0);
        rig_close(&r);
    }
}

/* A mirror that doubles doubles them as well. */
static void test_cnps_twice_are_copies(void **state)
{
    (void)state;
    struct rig r;
    rig_open(&r, NULL);
    for (uint32_t i = 0; i < 100; i++)
        twice(&r, i, 64);
    r.keep_id = true;
    for (uint32_t i = 0; i < 200; i++) {
        struct roce_packet p = rig_packet(&r, ROCE_OPCODE_CNP, 2, 1, 0x21, 0);
        r.ip_id = 0;
        rig_send(&r, &p);
        r.now += i % 2 == 0 ? 1 * US : 300 * US;
    }
    const struct roce_flow_counters c = rig_counters(&r, 2, 1, 0x21);
    assert_int_equal(c.cnps, 100);
    assert_int_equal(c.mirror_duplicates, 100);
    rig_close(&r);
}

/* A sender that resends has counted its IP identification up. */
static void test_quick_resend_is_no_mirror_copy(void **state)
{
    (void)state;
    struct rig r;
    rig_open(&r, NULL);
    for (uint32_t i = 0; i < 20; i++) {
        rig_data(&r, SEND, 1, 2, 0x22, i, 64);
        r.now += US;
        rig_data(&r, SEND, 1, 2, 0x22, i, 64);
        r.now += US;
    }
    const struct roce_flow_counters c = rig_counters(&r, 1, 2, 0x22);
    assert_int_equal(c.mirror_duplicates, 0);
    assert_int_equal(c.retransmitted_dup, 20);
    rig_close(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_mirror_of_both_sides_of_a_router),
        cmocka_unit_test(test_mirror_of_both_sides_of_a_switch),
        cmocka_unit_test(test_network_duplicates_are_no_mirror),
        cmocka_unit_test(test_equal_cnps_are_no_copies),
        cmocka_unit_test(test_cnps_twice_are_copies),
        cmocka_unit_test(test_quick_resend_is_no_mirror_copy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
