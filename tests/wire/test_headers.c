/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Each header: known bytes decode to known values, the values encode to the bytes, one byte less is
 * an error. */
#include <stdbool.h>
#include <string.h>

#include <roce/aeth.h>
#include <roce/bth.h>
#include <roce/err.h>
#include <roce/mad.h>
#include <roce/net.h>
#include <roce/pfc.h>
#include <roce/psn.h>
#include <roce/xth.h>

#include "tests/cmocka_all.h"
#include "tests/hex.h"

/* Bytes of |hex| decoded into |h| by X_decode, encoded again, and both refused with one byte less.
 */
#define ROUND_TRIP(X, hex, h)                                                   \
    do {                                                                        \
        size_t len_;                                                            \
        uint8_t out_[64];                                                       \
        uint8_t *in_ = hex_bytes((hex), &len_);                                 \
        uint8_t *cut_ = exact_copy(in_, len_ - 1);                              \
        memset(&(h), 0, sizeof(h));                                             \
        assert_int_equal(X##_decode(cut_, len_ - 1, &(h)), ROCE_ERR_TRUNCATED); \
        assert_int_equal(X##_decode(in_, len_, &(h)), (int)len_);               \
        assert_int_equal(X##_encode(&(h), out_, len_ - 1), ROCE_ERR_NOSPACE);   \
        assert_int_equal(X##_encode(&(h), out_, sizeof(out_)), (int)len_);      \
        assert_memory_equal(out_, in_, len_);                                   \
        free(cut_);                                                             \
        free(in_);                                                              \
    } while (0)

static void test_bth_every_bit(void **state)
{
    (void)state;
    struct roce_bth h;
    ROUND_TRIP(roce_bth, "04 b3 8001 40 abcdef 80 123456", h);
    assert_int_equal(h.opcode, 4);
    assert_true(h.se && !h.migreq && h.becn && !h.fecn && h.ackreq);
    assert_int_equal(h.pad, 3);
    assert_int_equal(h.tver, 3);
    assert_int_equal(h.pkey, 0x8001);
    assert_int_equal(h.dqpn, 0xabcdef);
    assert_int_equal(h.psn, 0x123456);
    ROUND_TRIP(roce_bth, "11 40 ffff bf 000001 7f ffffff", h);
    assert_true(!h.se && h.migreq && h.fecn && !h.becn && !h.ackreq);
    assert_int_equal(h.resv6, 0x3f);
    assert_int_equal(h.resv7, 0x7f);
}

static void test_extended_headers(void **state)
{
    (void)state;
    struct roce_reth reth;
    struct roce_deth deth;
    struct roce_rdeth rdeth;
    struct roce_xrceth xrceth;
    struct roce_feth feth;
    struct roce_atomic_eth at;
    struct roce_atomic_ack_eth ack;
    struct roce_ieth ieth;
    struct roce_aeth aeth;
    ROUND_TRIP(roce_reth, "000055d4c0726000 000047b3 80000000", reth);
    assert_true(reth.va == UINT64_C(0x55d4c0726000) && reth.rkey == 0x47b3);
    assert_int_equal(reth.dma_length, 0x80000000);
    ROUND_TRIP(roce_deth, "80010000 00fedcba", deth);
    assert_true(deth.qkey == 0x80010000 && deth.src_qp == 0xfedcba);
    ROUND_TRIP(roce_rdeth, "00010203", rdeth);
    assert_int_equal(rdeth.ee_context, 0x10203);
    ROUND_TRIP(roce_xrceth, "00abcdef", xrceth);
    assert_int_equal(xrceth.srq, 0xabcdef);
    ROUND_TRIP(roce_feth, "ffffffd3", feth);
    assert_int_equal(feth.plt, 3);
    assert_int_equal(feth.sel, 1);
    assert_int_equal(feth.reserved, 0x3ffffff);
    ROUND_TRIP(roce_atomic_eth, "0000000000001000 00000099 1111111122222222 3333333344444444", at);
    assert_true(at.va == 0x1000 && at.rkey == 0x99);
    assert_true(at.swap_add == UINT64_C(0x1111111122222222) &&
                at.compare == UINT64_C(0x3333333344444444));
    ROUND_TRIP(roce_atomic_ack_eth, "8877665544332211", ack);
    assert_true(ack.original == UINT64_C(0x8877665544332211));
    ROUND_TRIP(roce_ieth, "deadbeef", ieth);
    assert_int_equal(ieth.rkey, 0xdeadbeef);
    ROUND_TRIP(roce_aeth, "60 000102", aeth);
    assert_true(aeth.syndrome == 0x60 && aeth.msn == 0x102);
    uint32_t imm = 0;
    const uint8_t bytes[4] = {0xca, 0xfe, 0, 1};
    uint8_t out[4];
    assert_int_equal(roce_imm_decode(bytes, 3, &imm), ROCE_ERR_TRUNCATED);
    assert_int_equal(roce_imm_decode(bytes, 4, &imm), 4);
    assert_int_equal(imm, 0xcafe0001);
    assert_int_equal(roce_imm_encode(imm, out, 4), 4);
    assert_memory_equal(out, bytes, 4);
}

/* IBTA tables 43-45. */
static void test_syndromes(void **state)
{
    (void)state;
    assert_int_equal(roce_aeth_kind(0x1f), ROCE_AETH_ACK);
    assert_int_equal(roce_aeth_kind(0x20), ROCE_AETH_RNR_NAK);
    assert_int_equal(roce_aeth_kind(0x40), ROCE_AETH_RESERVED);
    assert_int_equal(roce_aeth_kind(0x60), ROCE_AETH_NAK);
    assert_int_equal(roce_aeth_kind(0x80), ROCE_AETH_RESERVED);
    assert_int_equal(roce_aeth_credits(0), 0);
    assert_int_equal(roce_aeth_credits(13), 96);
    assert_int_equal(roce_aeth_credits(30), 32768);
    assert_int_equal(roce_aeth_credits(31), -1);
    assert_int_equal(roce_aeth_credits(200), -1);
    assert_true(roce_aeth_rnr_ns(0) == 655360000);
    assert_true(roce_aeth_rnr_ns(1) == 10000);
    assert_true(roce_aeth_rnr_ns(12) == 640000);
    assert_true(roce_aeth_rnr_ns(25) == 61440000);
    assert_true(roce_aeth_rnr_ns(31) == 491520000);
    assert_true(roce_aeth_rnr_ns(0x20 | 12) == 640000);
    assert_string_equal(roce_nak_name(0), "psn_sequence_error");
    assert_string_equal(roce_nak_name(2), "remote_access_error");
    assert_string_equal(roce_nak_text(4), "invalid RD request");
    assert_null(roce_nak_name(5));
    assert_null(roce_nak_text(31));
}

/* Each table grows by doubling: from code 5 on, code n+2 is twice code n. */
static void test_code_tables_double(void **state)
{
    (void)state;
    for (uint8_t code = 5; code + 2 <= 30; code++)
        assert_int_equal(roce_aeth_credits((uint8_t)(code + 2)), 2 * roce_aeth_credits(code));
    for (uint8_t code = 5; code + 2 <= 31; code++)
        assert_true(roce_aeth_rnr_ns((uint8_t)(code + 2)) == 2 * roce_aeth_rnr_ns(code));
}

static void test_pfc_and_pause(void **state)
{
    (void)state;
    struct roce_pfc pfc;
    struct roce_pause pause;
    ROUND_TRIP(roce_pfc, "0101 0009 ffff 0000 0000 0001 0000 0000 0000 0000", pfc);
    assert_int_equal(pfc.enable, 9);
    assert_int_equal(pfc.quanta[0], 0xffff);
    assert_int_equal(pfc.quanta[3], 1);
    ROUND_TRIP(roce_pause, "0001 8000", pause);
    assert_int_equal(pause.quanta, 0x8000);
    const uint8_t other[20] = {0x00, 0x06};
    assert_int_equal(roce_pfc_decode(other, 20, &pfc), ROCE_ERR_UNKNOWN);
    assert_int_equal(roce_pause_decode(other, 4, &pause), ROCE_ERR_UNKNOWN);
    /* 65535 quanta: 335.5392 us at 100 Gb/s, 3.3553920 ms at 10 Gb/s. */
    assert_true(roce_pause_ns(65535, UINT64_C(100000000000)) == 335539);
    assert_true(roce_pause_ns(65535, UINT64_C(10000000000)) == 3355392);
    assert_true(roce_pause_ns(1, UINT64_C(400000000000)) == 1);
    assert_true(roce_pause_ns(1, 0) == 0);
}

static void test_psn_arithmetic(void **state)
{
    (void)state;
    assert_int_equal(roce_psn_add(0xfffffe, 3), 1);
    assert_int_equal(roce_psn_add(1, -2), 0xffffff);
    assert_int_equal(roce_psn_diff(0, 0xffffff), 1);
    assert_int_equal(roce_psn_diff(0xffffff, 0), -1);
    assert_int_equal(roce_psn_diff(0x7fffff, 0), 0x7fffff);
    assert_int_equal(roce_psn_diff(0x800000, 0), -0x800000);
    assert_int_equal(roce_psn_count(0, 1024), 1);
    assert_int_equal(roce_psn_count(1024, 1024), 1);
    assert_int_equal(roce_psn_count(1025, 1024), 2);
    assert_int_equal(roce_psn_count(UINT32_C(0x80000000), 256), 8388608);
}

/* The checksums of Scapy's published packets: IP 0xb4d5, UDP 0xaca2; over IPv6 0xe7c5. */
static void test_network_headers(void **state)
{
    (void)state;
    size_t len;
    uint8_t out[64];
    struct roce_ip ip = {.version = 4,
                         .tos = 1,
                         .ttl = 64,
                         .proto = 17,
                         .total_len = 64,
                         .id = 0x0478,
                         .frag = 0x4000};
    roce_ip_v4(ip.src, 192, 168, 0, 7);
    roce_ip_v4(ip.dst, 192, 168, 0, 7);
    uint8_t *want = hex_bytes("45010040047840004011b4d5c0a80007c0a80007", &len);
    assert_int_equal(roce_ipv4_encode(&ip, out, 19), ROCE_ERR_NOSPACE);
    assert_int_equal(roce_ipv4_encode(&ip, out, sizeof(out)), 20);
    assert_memory_equal(out, want, 20);
    assert_int_equal(roce_ipv4_checksum(want, 20), 0xb4d5);
    free(want);

    uint8_t *udp = hex_bytes("c00012b7002caca22460ffff000000d300cf1710"
                             "4630818be28935d90e9a95505401be885e50000078f353f3",
                             &len);
    assert_int_equal(roce_udp_checksum(&ip, udp, len), 0xaca2);
    const struct roce_udp h = {.sport = 0xc000, .dport = 4791, .len = 44, .checksum = 0xaca2};
    assert_int_equal(roce_udp_encode(&h, out, sizeof(out)), 8);
    assert_memory_equal(out, udp, 8);
    free(udp);

    struct roce_ip ip6 = {
        .version = 6, .tos = 0xe2, .ttl = 255, .proto = 17, .flow_label = 0x1face, .total_len = 84};
    uint8_t *v6 = hex_bytes(
        "6e21face002c11ff2022000000000000000000000000102320230000000000000000000000001024", &len);
    memcpy(ip6.src, v6 + 8, 16);
    memcpy(ip6.dst, v6 + 24, 16);
    assert_int_equal(roce_ipv6_encode(&ip6, out, sizeof(out)), 40);
    assert_memory_equal(out, v6, 40);
    free(v6);
    udp = hex_bytes(
        "c00012b7002ce7c52460ffff000000d300cf17104630818be28935d90e9a95505401be885e5000003e5b743b",
        &len);
    assert_int_equal(roce_udp_checksum(&ip6, udp, len), 0xe7c5);
    free(udp);

    const struct roce_eth eth = {
        .dst = {1, 2, 3, 4, 5, 6}, .src = {7, 8, 9, 10, 11, 12}, .ethertype = 0x8100};
    want = hex_bytes("0102030405060708090a0b0c8100", &len);
    assert_int_equal(roce_eth_encode(&eth, out, sizeof(out)), 14);
    assert_memory_equal(out, want, 14);
    free(want);
    const struct roce_vlan tag = {.tpid = 0x8100, .tci = 0x6064};
    assert_int_equal(roce_vlan_encode(tag, 0x0800, out, 3), ROCE_ERR_NOSPACE);
    assert_int_equal(roce_vlan_encode(tag, 0x0800, out, 4), 4);
    assert_memory_equal(out, "\x60\x64\x08\x00", 4);
    const struct roce_lrh lrh = {
        .vl = 3, .sl = 4, .lnh = 2, .dlid = 0x11, .slid = 0x22, .pktlen = 7};
    assert_int_equal(roce_lrh_encode(&lrh, out, sizeof(out)), 8);
    assert_memory_equal(out, "\x30\x42\x00\x11\x00\x07\x00\x22", 8);
}

static void test_mad_header(void **state)
{
    (void)state;
    struct roce_mad mad;
    ROUND_TRIP(roce_mad, "01 07 02 03 0004 0506 1122334455667788 0010 0000 aabbccdd", mad);
    assert_int_equal(mad.mgmt_class, ROCE_MAD_CLASS_CM);
    assert_int_equal(mad.method, 3);
    assert_int_equal(mad.attr_id, 0x10);
    assert_true(mad.tid == UINT64_C(0x1122334455667788));
    assert_int_equal(mad.attr_mod, 0xaabbccdd);
    assert_string_equal(roce_mad_class_name(7), "cm");
    assert_null(roce_mad_class_name(0x42));
}

static void test_error_texts(void **state)
{
    (void)state;
    assert_string_equal(roce_strerror(0), "success");
    assert_string_equal(roce_strerror(ROCE_ERR_TRUNCATED), "cut short");
    assert_string_equal(roce_strerror(-9999), "unknown error");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bth_every_bit),   cmocka_unit_test(test_extended_headers),
        cmocka_unit_test(test_syndromes),       cmocka_unit_test(test_code_tables_double),
        cmocka_unit_test(test_pfc_and_pause),   cmocka_unit_test(test_psn_arithmetic),
        cmocka_unit_test(test_network_headers), cmocka_unit_test(test_mad_header),
        cmocka_unit_test(test_error_texts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
