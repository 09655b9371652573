/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The places of header fields: encoding a header with one field set must change the bytes that the
 * list names, and no others. */
#include <string.h>

#include <roce/err.h>
#include <roce/packet.h>

#include "tests/cmocka_all.h"

/* |bytes| differ from zero exactly inside |span|. */
static void check(const uint8_t *bytes, size_t len, enum roce_span_id id)
{
    const struct roce_span span = roce_span(id);
    assert_true(span.off + span.len <= len);
    for (size_t i = 0; i < len; i++)
        if (i < span.off || i >= (size_t)span.off + span.len)
            assert_int_equal(bytes[i], 0);
    assert_int_not_equal(bytes[span.off], 0);
    assert_int_not_equal(bytes[span.off + span.len - 1], 0);
}

#define CHECK(header, type, length, member, value, id)                       \
    do {                                                                     \
        uint8_t bytes[length];                                               \
        struct type h = {0};                                                 \
        h.member = (value);                                                  \
        assert_int_equal(header##_encode(&h, bytes, sizeof(bytes)), length); \
        check(bytes, sizeof(bytes), ROCE_SPAN_##id);                         \
    } while (0)

#define BTH(member, value, id) CHECK(roce_bth, roce_bth, ROCE_BTH_LEN, member, value, id)

static void test_layout_bth(void **state)
{
    (void)state;
    BTH(opcode, 0xFF, BTH_OPCODE);
    BTH(se, true, BTH_SE);
    BTH(migreq, true, BTH_MIGREQ);
    BTH(pad, 3, BTH_PAD);
    BTH(tver, 0xF, BTH_TVER);
    BTH(pkey, 0xFFFF, BTH_PKEY);
    BTH(fecn, true, BTH_FECN);
    BTH(becn, true, BTH_BECN);
    BTH(resv6, 0x3F, BTH_RESV6);
    BTH(dqpn, 0xFFFFFF, BTH_DQPN);
    BTH(ackreq, true, BTH_ACKREQ);
    BTH(resv7, 0x7F, BTH_RESV7);
    BTH(psn, 0xFFFFFF, BTH_PSN);
}

static void test_layout_extended(void **state)
{
    (void)state;
    CHECK(roce_rdeth, roce_rdeth, ROCE_RDETH_LEN, ee_context, 0xFFFFFF, RDETH_EE_CONTEXT);
    CHECK(roce_deth, roce_deth, ROCE_DETH_LEN, qkey, UINT32_MAX, DETH_QKEY);
    CHECK(roce_deth, roce_deth, ROCE_DETH_LEN, src_qp, 0xFFFFFF, DETH_SRC_QP);
    CHECK(roce_xrceth, roce_xrceth, ROCE_XRCETH_LEN, srq, 0xFFFFFF, XRCETH_SRQ);
    CHECK(roce_feth, roce_feth, ROCE_FETH_LEN, plt, 0xF, FETH_PLT);
    CHECK(roce_feth, roce_feth, ROCE_FETH_LEN, sel, 3, FETH_SEL);
    CHECK(roce_reth, roce_reth, ROCE_RETH_LEN, va, UINT64_MAX, RETH_VA);
    CHECK(roce_reth, roce_reth, ROCE_RETH_LEN, rkey, UINT32_MAX, RETH_RKEY);
    CHECK(roce_reth, roce_reth, ROCE_RETH_LEN, dma_length, UINT32_MAX, RETH_DMA_LENGTH);
    CHECK(roce_atomic_eth, roce_atomic_eth, ROCE_ATOMIC_ETH_LEN, va, UINT64_MAX, ATOMIC_VA);
    CHECK(roce_atomic_eth, roce_atomic_eth, ROCE_ATOMIC_ETH_LEN, rkey, UINT32_MAX, ATOMIC_RKEY);
    CHECK(roce_atomic_eth, roce_atomic_eth, ROCE_ATOMIC_ETH_LEN, swap_add, UINT64_MAX,
          ATOMIC_SWAP_ADD);
    CHECK(roce_atomic_eth, roce_atomic_eth, ROCE_ATOMIC_ETH_LEN, compare, UINT64_MAX,
          ATOMIC_COMPARE);
    CHECK(roce_aeth, roce_aeth, ROCE_AETH_LEN, syndrome, 0xFF, AETH_SYNDROME);
    CHECK(roce_aeth, roce_aeth, ROCE_AETH_LEN, msn, 0xFFFFFF, AETH_MSN);
    CHECK(roce_atomic_ack_eth, roce_atomic_ack_eth, ROCE_ATOMIC_ACK_ETH_LEN, original, UINT64_MAX,
          ATOMIC_ACK_ORIGINAL);
    CHECK(roce_ieth, roce_ieth, ROCE_IETH_LEN, rkey, UINT32_MAX, IETH_RKEY);
}

/* IBTA 5.2: headers follow the BTH in the order of their bits. */
static void test_layout_headers(void **state)
{
    (void)state;
    const struct roce_packet pkt = {.bth_off = 42,
                                    .has = ROCE_H_RDETH | ROCE_H_DETH | ROCE_H_RETH | ROCE_H_IMM};
    assert_int_equal(roce_packet_header_off(&pkt, ROCE_H_RDETH), 42 + 12);
    assert_int_equal(roce_packet_header_off(&pkt, ROCE_H_DETH), 42 + 12 + 4);
    assert_int_equal(roce_packet_header_off(&pkt, ROCE_H_RETH), 42 + 12 + 4 + 8);
    assert_int_equal(roce_packet_header_off(&pkt, ROCE_H_IMM), 42 + 12 + 4 + 8 + 16);
}

static void test_udp_decode_reverses_encode(void **state)
{
    (void)state;
    static const uint8_t bytes[] = {0x00, 0x45, 0x12, 0xb7, 0x00, 0x2c, 0xab, 0xcd};
    struct roce_udp udp = {.sport = 7};
    assert_int_equal(roce_udp_decode(bytes, sizeof(bytes) - 1, &udp), ROCE_ERR_TRUNCATED);
    assert_int_equal(udp.sport, 7);
    assert_int_equal(roce_udp_decode(bytes, sizeof(bytes), &udp), ROCE_UDP_LEN);
    assert_int_equal(udp.sport, 69);
    assert_int_equal(udp.dport, 4791);
    assert_int_equal(udp.len, 44);
    assert_int_equal(udp.checksum, 0xabcd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_layout_bth),
        cmocka_unit_test(test_layout_extended),
        cmocka_unit_test(test_layout_headers),
        cmocka_unit_test(test_udp_decode_reverses_encode),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
