/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Packets off the beaten track: odd ports, reserved bits, contradicting lengths, options,
 * fragments, rare opcodes. */
#include <stdbool.h>
#include <stdio.h>

#include <roce/icrc.h>
#include <roce/packet.h>

#include "tests/cmocka_all.h"
#include "tests/hex.h"

enum verdict { OK, BAD, IP_OPTIONS, FRAGMENT, SLICED, MALFORMED };

struct odd {
    const char *name, *hex;
    int kind, status, layer;
    enum verdict verdict;
    bool rd, fecn;
    unsigned has, sport, resv6, resv7, tver, trailer, syndrome, msn, plt, sel;
    int payload; /* -1: no payload span */
    uint32_t srq, imm, ee, qkey, src_qp, inv_rkey;
};

#define SPORT(n)    .sport = (n)
#define ACK         .has = ROCE_H_AETH, .syndrome = 0x1f, .msn = 9
#define RETH        .has = ROCE_H_RETH /* 0x1122334455667788 0xaabbccdd */
#define RETH_AND(h) .has = ROCE_H_RETH | (h)

static const struct odd cases[] = {
#define CASE(name_, hex_, kind_, status_, layer_, verdict_, ...) \
    {.name = #name_,                                             \
     .hex = (hex_),                                              \
     .kind = ROCE_KIND_##kind_,                                  \
     .status = ROCE_STATUS_##status_,                            \
     .layer = ROCE_LAYER_##layer_,                               \
     .verdict = (verdict_),                                      \
     __VA_ARGS__},
#include "odd.def"
#undef CASE
};

#define XTH_MASK (0x3FFu | ROCE_HAS_DC)

static void check_headers(const struct odd *c, const struct roce_packet *pkt)
{
    assert_int_equal(pkt->has & XTH_MASK, c->has);
    if (c->has & ROCE_H_AETH) {
        assert_int_equal(pkt->aeth.syndrome, c->syndrome);
        assert_int_equal(pkt->aeth.msn, c->msn);
    }
    if (c->has & ROCE_H_RETH) {
        assert_true(pkt->reth.va == UINT64_C(0x1122334455667788));
        assert_int_equal(pkt->reth.rkey, 0xaabbccdd);
    }
    if (c->has & ROCE_H_XRCETH)
        assert_int_equal(pkt->xrceth.srq, c->srq);
    if (c->has & ROCE_H_IMM)
        assert_int_equal(pkt->imm, c->imm);
    if (c->has & ROCE_H_RDETH)
        assert_int_equal(pkt->rdeth.ee_context, c->ee);
    if (c->has & ROCE_H_DETH) {
        assert_int_equal(pkt->deth.qkey, c->qkey);
        assert_int_equal(pkt->deth.src_qp, c->src_qp);
    }
    if (c->has & ROCE_H_IETH)
        assert_int_equal(pkt->ieth.rkey, c->inv_rkey);
    if (c->has & ROCE_H_FETH) {
        assert_int_equal(pkt->feth.plt, c->plt);
        assert_int_equal(pkt->feth.sel, c->sel);
    }
    if (c->has & ROCE_H_ATOMIC) {
        assert_true(pkt->atomic_eth.va == 0x1000 && pkt->atomic_eth.rkey == 0x99);
        assert_true(pkt->atomic_eth.swap_add == UINT64_C(0x1111111122222222));
        assert_true(pkt->atomic_eth.compare == UINT64_C(0x3333333344444444));
    }
    if (c->has & ROCE_H_ATOMIC_ACK)
        assert_true(pkt->atomic_ack_eth.original == UINT64_C(0x8877665544332211));
}

static void check_icrc(const struct odd *c, const struct roce_frame *frame,
                       const struct roce_packet *pkt)
{
    static const int reasons[] = {ROCE_ICRC_JUDGED,   ROCE_ICRC_JUDGED, ROCE_ICRC_IP_OPTIONS,
                                  ROCE_ICRC_FRAGMENT, ROCE_ICRC_SLICED, ROCE_ICRC_MALFORMED};
    struct roce_icrc icrc;
    roce_icrc_check(frame, pkt, &icrc);
    assert_int_equal(icrc.reason, reasons[c->verdict]);
    assert_int_equal(icrc.status, c->verdict == OK    ? ROCE_ICRC_OK
                                  : c->verdict == BAD ? ROCE_ICRC_BAD
                                                      : ROCE_ICRC_UNCHECKED);
}

static void test_odd_packets(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const struct odd *c = &cases[i];
        const struct roce_decode_opts opts = {.rd = c->rd};
        size_t len;
        uint8_t *bytes = hex_bytes(c->hex, &len);
        const struct roce_frame frame = {.data = bytes,
                                         .caplen = (uint32_t)len,
                                         .origlen = (uint32_t)len,
                                         .linktype = c->kind == ROCE_KIND_IB ? ROCE_LINK_INFINIBAND
                                                                             : ROCE_LINK_ETHERNET};
        struct roce_packet pkt;
        print_message("%s\n", c->name);
        assert_int_equal(roce_packet_decode(&frame, &opts, &pkt), c->kind);
        assert_int_equal(pkt.status, c->status);
        assert_int_equal(pkt.layer, c->layer);
        assert_int_equal(pkt.bth.psn, 0x123456);
        assert_int_equal(pkt.bth.dqpn, 0x77);
        assert_int_equal(pkt.bth.resv6, c->resv6);
        assert_int_equal(pkt.bth.resv7, c->resv7);
        assert_int_equal(pkt.bth.tver, c->tver);
        assert_int_equal(pkt.trailer_len, c->trailer);
        if (c->sport != 0)
            assert_int_equal(pkt.udp.sport, c->sport);
        assert_int_equal((pkt.has & ROCE_HAS_PAYLOAD) != 0, c->payload >= 0);
        if (c->payload >= 0)
            assert_int_equal(pkt.payload_len, c->payload);
        check_headers(c, &pkt);
        check_icrc(c, &frame, &pkt);
        free(bytes);
    }
}

/* Common frames are read in one go, others header by header: as a Linux cooked capture, which is
 * never read in one go, each packet, whole or cut, says the same as on Ethernet. */
static void test_both_ways_of_reading_agree(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const struct roce_decode_opts opts = {.rd = cases[i].rd};
        size_t len;
        uint8_t *bytes = hex_bytes(cases[i].hex, &len);
        if (cases[i].kind == ROCE_KIND_IB) {
            free(bytes);
            continue;
        }
        for (size_t cut = 14; cut <= len; cut++) {
            uint8_t *eth = exact_copy(bytes, cut);
            uint8_t *sll = calloc(1, cut + 2);
            memcpy(sll + 14, eth + 12, cut - 12);
            struct roce_frame frame = {.data = eth,
                                       .caplen = (uint32_t)cut,
                                       .origlen = (uint32_t)len,
                                       .linktype = ROCE_LINK_ETHERNET};
            struct roce_packet a;
            struct roce_packet b;
            memset(&a, 0, sizeof(a));
            memset(&b, 0, sizeof(b));
            roce_packet_decode(&frame, &opts, &a);
            frame.data = sll;
            frame.caplen += 2;
            frame.origlen += 2;
            frame.linktype = ROCE_LINK_SLL;
            roce_packet_decode(&frame, &opts, &b);
            assert_int_equal(a.kind, b.kind);
            assert_int_equal(a.status, b.status);
            assert_int_equal(a.has, b.has | ROCE_HAS_ETH);
            assert_int_equal(a.sliced, b.sliced);
            assert_int_equal(a.cut_on_wire, b.cut_on_wire);
            assert_int_equal(a.trailer_len, b.trailer_len);
            if (a.has & ROCE_HAS_BTH) {
                assert_int_equal(a.ip_off + 2, b.ip_off);
                assert_int_equal(a.bth_off + 2, b.bth_off);
                assert_int_equal(a.end_off + 2, b.end_off);
                assert_int_equal(a.payload_len, b.payload_len);
                assert_int_equal(a.payload_captured, b.payload_captured);
                assert_memory_equal(&a.ip, &b.ip, sizeof(a.ip));
                assert_memory_equal(&a.udp, &b.udp, sizeof(a.udp));
                assert_memory_equal(&a.bth, &b.bth, sizeof(a.bth));
                assert_memory_equal(&a.reth, &b.reth, sizeof(a.reth));
                assert_memory_equal(&a.aeth, &b.aeth, sizeof(a.aeth));
            }
            free(sll);
            free(eth);
        }
        free(bytes);
    }
}

static void decode_hex(const char *hex, struct roce_packet *pkt)
{
    size_t len;
    uint8_t *bytes = hex_bytes(hex, &len);
    const struct roce_frame frame = {.data = bytes,
                                     .caplen = (uint32_t)len,
                                     .origlen = (uint32_t)len,
                                     .linktype = ROCE_LINK_ETHERNET};
    roce_packet_decode(&frame, NULL, pkt);
    free(bytes);
}

static void test_later_fragment_is_no_roce(void **state)
{
    (void)state;
    struct roce_packet pkt;
    decode_hex("0200000000020200000000010800450000480001000540116698"
               "0a0000010a000002"
               "c00012b7003400001100ffff00000077001234561f000009",
               &pkt);
    assert_int_equal(pkt.kind, ROCE_KIND_OTHER);
    assert_int_equal(pkt.status, ROCE_STATUS_OK);
    assert_true(pkt.ip.fragment);
}

static void test_further_udp_port(void **state)
{
    (void)state;
    size_t len;
    uint8_t *bytes = hex_bytes(cases[0].hex, &len);
    bytes[36] = 0x12; /* UDP destination port 4800 */
    bytes[37] = 0xc0;
    const struct roce_decode_opts opts = {.udp_ports = {5000, 4800}, .n_udp_ports = 2};
    const struct roce_frame frame = {.data = bytes,
                                     .caplen = (uint32_t)len,
                                     .origlen = (uint32_t)len,
                                     .linktype = ROCE_LINK_ETHERNET};
    struct roce_packet pkt;
    assert_int_equal(roce_packet_decode(&frame, NULL, &pkt), ROCE_KIND_OTHER);
    assert_int_equal(roce_packet_decode(&frame, &opts, &pkt), ROCE_KIND_ROCEV2);
    free(bytes);
}

static void test_vlan_fields(void **state)
{
    (void)state;
    const struct roce_vlan v = {.tpid = 0x8100, .tci = 0xb064}; /* PCP 5, DEI 1, VID 100 */
    assert_int_equal(roce_vlan_pcp(v), 5);
    assert_true(roce_vlan_dei(v));
    assert_int_equal(roce_vlan_vid(v), 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_odd_packets),
        cmocka_unit_test(test_both_ways_of_reading_agree),
        cmocka_unit_test(test_later_fragment_is_no_roce),
        cmocka_unit_test(test_further_udp_port),
        cmocka_unit_test(test_vlan_fields),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
