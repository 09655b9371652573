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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ack_in_front_of_a_packet_that_asks_for_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
