/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Pairing by ACKs that cover whatever came last (IBTA 9.7.5.1.2), not the packet that asked for
 * one. */
#include "rig.h"

#define PACKETS 8

/* Message |m| is PACKETS packets long, and its fifth asks for an ACK; the first ACK covers three of
 * them before the fifth is sent, the second the whole message. */
static void message_with_early_ack(struct rig *r, uint32_t psn, uint32_t m)
{
    for (uint32_t i = 0; i < PACKETS; i++) {
        const uint8_t opcode = i == 0             ? ROCE_OPCODE_RC_SEND_FIRST
                               : i == PACKETS - 1 ? ROCE_OPCODE_RC_SEND_LAST
                                                  : ROCE_OPCODE_RC_SEND_MIDDLE;
        struct roce_packet p = rig_packet(r, opcode, 1, 2, 0x22, psn + i);
        p.payload_len = 1024;
        p.bth.ackreq = i == 4 || i == PACKETS - 1;
        rig_send(r, &p);
        r->now += 1 * US;
        if (i == 3)
            rig_ack(r, 2, 1, 0x11, psn + 2, 0x1F, m);
        r->now += 1 * US;
    }
    r->now += 5 * US;
    rig_ack(r, 2, 1, 0x11, psn + PACKETS - 1, 0x1F, m + 1);
    r->now += 50 * US;
}

static void test_ack_in_front_of_a_packet_that_asks_for_one(void **state)
{
    (void)state;
    struct rig r;
    rig_open(&r, NULL);
    for (uint32_t m = 0; m < 4; m++)
        message_with_early_ack(&r, 0xFFFFF0 + m * PACKETS, m);
    const struct roce_flow_info f = rig_info(&r, 1, 2, 0x22);
    assert_int_equal(f.pairing, ROCE_PAIRING_PSN);
    assert_int_equal(f.peer, rig_flow(&r, 2, 1, 0x11));
    rig_close(&r);
}

/* Packet |i| of the WRITEs of 16 packets of QP |qp|. */
static void stream_packet(struct rig *r, uint32_t qp, uint32_t psn, uint32_t i)
{
    rig_data(r,
             i % 16 == 0    ? ROCE_OPCODE_RC_WRITE_FIRST
             : i % 16 == 15 ? ROCE_OPCODE_RC_WRITE_LAST
                            : ROCE_OPCODE_RC_WRITE_MIDDLE,
             1, 2, qp, psn + i, 1024);
}

/* Ten WRITEs and an ACK for every 11th packet, none of which ends a WRITE: 11 n - 1 is 16 m - 1 for
 * n = 16 first. */
static void test_acks_within_messages(void **state)
{
    (void)state;
    struct rig r;
    rig_open(&r, NULL);
    for (uint32_t i = 0; i < 160; i++) {
        stream_packet(&r, 0x22, 0xFFFFB0, i);
        r.now += 1 * US;
        stream_packet(&r, 0x33, 0x400000, i); /* another QP of the same hosts */
        r.now += 1 * US;
        if (i % 11 == 10)
            rig_ack(&r, 2, 1, 0x11, 0xFFFFB0 + i, 0x1F, (i + 1) / 16);
    }
    const struct roce_flow_info f = rig_info(&r, 1, 2, 0x22);
    assert_int_equal(f.pairing, ROCE_PAIRING_PSN);
    assert_int_equal(f.peer, rig_flow(&r, 2, 1, 0x11));
    assert_int_equal(rig_info(&r, 1, 2, 0x33).pairing, ROCE_PAIRING_NONE);
    rig_close(&r);
}

/* The same where the WRITEs had all been sent a second before: these ACKs are for a QP that was not
 * captured. */
static void test_acks_long_after_are_those_of_another(void **state)
{
    (void)state;
    struct rig r;
    rig_open(&r, NULL);
    for (uint32_t i = 0; i < 160; i++) {
        stream_packet(&r, 0x22, 0, i);
        r.now += 2 * US;
    }
    r.now += 1000 * MS;
    for (uint32_t i = 10; i < 160; i += 11) {
        r.now += 22 * US;
        rig_ack(&r, 2, 1, 0x11, i, 0x1F, (i + 1) / 16);
    }
    roce_flow_finish(r.t);
    assert_int_equal(rig_info(&r, 1, 2, 0x22).pairing, ROCE_PAIRING_NONE);
    rig_close(&r);
}

/* Two QPs that use the same PSNs: nothing tells whose ACKs these are. */
static void test_acks_within_messages_of_two_are_undecided(void **state)
{
    (void)state;
    struct rig r;
    rig_open(&r, NULL);
    for (uint32_t i = 0; i < 160; i++) {
        stream_packet(&r, 0x22, 0, i);
        stream_packet(&r, 0x33, 0, i);
        r.now += 2 * US;
        if (i % 11 == 10)
            rig_ack(&r, 2, 1, 0x11, i, 0x1F, (i + 1) / 16);
    }
    roce_flow_finish(r.t);
    assert_int_equal(rig_info(&r, 1, 2, 0x22).pairing, ROCE_PAIRING_NONE);
    assert_int_equal(rig_info(&r, 1, 2, 0x33).pairing, ROCE_PAIRING_NONE);
    rig_close(&r);
}

/* The receiver asks for packet 3 while the message is being sent; packet 5 is lost before the
 * capture, so that the message is captured in two parts, of which the second begins behind the NAK.
 * Then 6 SENDs are acknowledged. */
static void test_nak_in_front_of_a_hole_in_a_message(void **state)
{
    (void)state;
    struct rig r;
    rig_open(&r, NULL);
    rig_pair(&r, 98, 2);
    for (uint32_t i = 0; i < PACKETS; i++) {
        if (i == 5)
            rig_ack(&r, 2, 1, 0x11, 103, 0x60, 2);
        else
            rig_data(&r,
                     i == 0             ? ROCE_OPCODE_RC_SEND_FIRST
                     : i == PACKETS - 1 ? ROCE_OPCODE_RC_SEND_LAST
                                        : ROCE_OPCODE_RC_SEND_MIDDLE,
                     1, 2, 0x22, 100 + i, 1024);
        r.now += 1 * US;
    }
    for (uint32_t i = 0; i < 6; i++) {
        rig_data(&r, ROCE_OPCODE_RC_SEND_ONLY, 1, 2, 0x22, 100 + PACKETS + i, 64);
        r.now += 5 * US;
        rig_ack(&r, 2, 1, 0x11, 100 + PACKETS + i, 0x1F, 4 + i);
        r.now += 5 * US;
    }
    const struct roce_flow_info f = rig_info(&r, 1, 2, 0x22);
    assert_int_equal(f.pairing, ROCE_PAIRING_PSN);
    assert_int_equal(f.peer, rig_flow(&r, 2, 1, 0x11));
    rig_close(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ack_in_front_of_a_packet_that_asks_for_one),
        cmocka_unit_test(test_acks_within_messages),
        cmocka_unit_test(test_acks_long_after_are_those_of_another),
        cmocka_unit_test(test_acks_within_messages_of_two_are_undecided),
        cmocka_unit_test(test_nak_in_front_of_a_hole_in_a_message),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
