/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A published RoCEv2 packet inside every encapsulation and link type: the same facts, the same good
 * ICRC. */
#include <stdbool.h>
#include <stdio.h>

#include <roce/icrc.h>
#include <roce/packet.h>

#include "tests/cmocka_all.h"
#include "tests/hex.h"

/* Scapy's UC SEND Only: PSN 0xcf1710, DestQP 0xd3, ICRC 78 f3 53 f3 on the wire. */
#define ETH "248a07a8fa22248a07a8fa22"
#define INNER_IP                                                                       \
    "45010040047840004011b4d5c0a80007c0a80007c00012b7002caca22460ffff000000d300cf1710" \
    "4630818be28935d90e9a95505401be885e50000078f353f3"
#define INNER ETH "0800" INNER_IP

/* An outer header is hex in which "LLLL" stands for the big-endian count of bytes from 4 hex digits
 * before... the IPv4 header's start, "PPPP" for the bytes behind an IPv6 header and "UUUU" for
 * those from the UDP header's start. */
struct encap {
    const char *name;
    uint32_t linktype;
    const char *hex;
    unsigned n_tunnel;
    int kinds[4];
    int64_t key;          /* of the first tunnel; -1 none */
    unsigned n_vlan, vid; /* tags of the inner Ethernet header, the last tag's VID */
    unsigned n_outer_vlan;
};

#define OUTER4(proto)  \
    "4500LLLL00000000" \
    "40" proto "0000"  \
    "0a000001"         \
    "0a000002"
#define OUTER6(nh)                     \
    "60000000PPPP" nh "40"             \
    "20010db8000000000000000000000001" \
    "20010db8000000000000000000000002"
#define UDP(dport) "3039" dport "UUUU0000"
#define E          ROCE_LINK_ETHERNET

static const struct encap encaps[] = {
    {"plain", E, INNER, 0, {0}, -1, 0, 0, 0},
    {"802.1Q",
     E,
     ETH "81006064"
         "0800" INNER_IP,
     0,
     {0},
     -1,
     1,
     100,
     0},
    {"priority tag",
     E,
     ETH "8100a000"
         "0800" INNER_IP,
     0,
     {0},
     -1,
     1,
     0,
     0},
    {"QinQ",
     E,
     ETH "88a8600a"
         "8100600b"
         "0800" INNER_IP,
     0,
     {0},
     -1,
     2,
     11,
     0},
    {"0x9100 x3",
     E,
     ETH "91000001"
         "92000002"
         "81000003"
         "0800" INNER_IP,
     0,
     {0},
     -1,
     3,
     3,
     0},
    {"VXLAN",
     E,
     ETH "0800" OUTER4("11") UDP("12b5") "0800000000012300" INNER,
     1,
     {ROCE_TUNNEL_VXLAN},
     0x123,
     0,
     0,
     0},
    {"VXLAN, outer and inner tags",
     E,
     ETH "81006007"
         "0800" OUTER4("11") UDP("12b5") "08000000fffffe00" ETH "8100a00c"
                                         "0800" INNER_IP,
     1,
     {ROCE_TUNNEL_VXLAN},
     0xfffffe,
     1,
     12,
     1},
    {"VXLAN over IPv6",
     E,
     ETH "86dd" OUTER6("11") UDP("12b5") "0800000000000100" INNER,
     1,
     {ROCE_TUNNEL_VXLAN},
     1,
     0,
     0,
     0},
    {"VXLAN-GPE IPv4",
     E,
     ETH "0800" OUTER4("11") UDP("12b6") "0c00000100000700" INNER_IP,
     1,
     {ROCE_TUNNEL_VXLAN_GPE},
     7,
     0,
     0,
     0},
    {"GENEVE with options",
     E,
     ETH "0800" OUTER4("11") UDP("17c1") "0200655800004200"
                                         "0102030400000000" INNER,
     1,
     {ROCE_TUNNEL_GENEVE},
     0x42,
     0,
     0,
     0},
    {"GRE IPv4", E, ETH "0800" OUTER4("2f") "00000800" INNER_IP, 1, {ROCE_TUNNEL_GRE}, -1, 0, 0, 0},
    {"GRE checksum key sequence",
     E,
     ETH "0800" OUTER4("2f") "b0000800"
                             "abcd0000"
                             "00000055"
                             "00000001" INNER_IP,
     1,
     {ROCE_TUNNEL_GRE},
     0x55,
     0,
     0,
     0},
    {"NVGRE",
     E,
     ETH "0800" OUTER4("2f") "20006558"
                             "00123401" INNER,
     1,
     {ROCE_TUNNEL_NVGRE},
     0x123401,
     0,
     0,
     0},
    {"ERSPAN I",
     E,
     ETH "0800" OUTER4("2f") "000088be" INNER,
     1,
     {ROCE_TUNNEL_ERSPAN1},
     -1,
     0,
     0,
     0},
    {"ERSPAN II",
     E,
     ETH "0800" OUTER4("2f") "100088be"
                             "00000001"
                             "1064000500000000" INNER,
     1,
     {ROCE_TUNNEL_ERSPAN2},
     -1,
     0,
     0,
     0},
    {"ERSPAN III",
     E,
     ETH "0800" OUTER4("2f") "100022eb"
                             "00000001"
                             "20640005"
                             "11223344"
                             "00000000" INNER,
     1,
     {ROCE_TUNNEL_ERSPAN3},
     -1,
     0,
     0,
     0},
    {"ERSPAN III with subheader, IP",
     E,
     ETH "0800" OUTER4("2f") "100022eb"
                             "00000001"
                             "20640005"
                             "11223344"
                             "00000809"
                             "1000000000000000" INNER_IP,
     1,
     {ROCE_TUNNEL_ERSPAN3},
     -1,
     0,
     0,
     0},
    {"IP in IP", E, ETH "0800" OUTER4("04") INNER_IP, 1, {ROCE_TUNNEL_IPIP}, -1, 0, 0, 0},
    {"IPv4 in IPv6", E, ETH "86dd" OUTER6("04") INNER_IP, 1, {ROCE_TUNNEL_IPIP}, -1, 0, 0, 0},
    {"MPLS IP",
     E,
     ETH "8847"
         "000640ff"
         "000651ff" INNER_IP,
     1,
     {ROCE_TUNNEL_MPLS},
     0x65,
     0,
     0,
     0},
    {"MPLS pseudowire",
     E,
     ETH "8847"
         "000651ff"
         "00000000" INNER,
     1,
     {ROCE_TUNNEL_MPLS},
     0x65,
     0,
     0,
     0},
    {"ERSPAN II over VXLAN",
     E,
     ETH "0800" OUTER4("2f") "100088be"
                             "00000001"
                             "1064000500000000" ETH "0800" OUTER4("11")
                                 UDP("12b5") "0800000000000900" INNER,
     2,
     {ROCE_TUNNEL_ERSPAN2, ROCE_TUNNEL_VXLAN},
     -1,
     0,
     0,
     0},
    {"SLL with tag, VXLAN",
     ROCE_LINK_SLL,
     "0000000100060102030405060000"
     "8100"
     "0064"
     "0800" OUTER4("11") UDP("12b5") "0800000000000900" INNER,
     1,
     {ROCE_TUNNEL_VXLAN},
     9,
     0,
     0,
     1},
    {"ERSPAN II, VXLAN with tags in the middle",
     E,
     ETH "0800" OUTER4("2f") "100088be"
                             "00000001"
                             "1064000500000000" ETH "81000005"
                             "0800" OUTER4("11") UDP("12b5") "0800000000000900" INNER,
     2,
     {ROCE_TUNNEL_ERSPAN2, ROCE_TUNNEL_VXLAN},
     -1,
     0,
     0,
     0},
    {"raw IP", ROCE_LINK_RAW, INNER_IP, 0, {0}, -1, 0, 0, 0},
    {"raw IPv4", ROCE_LINK_IPV4, INNER_IP, 0, {0}, -1, 0, 0, 0},
    {"SLL",
     ROCE_LINK_SLL,
     "0000000100060102030405060000"
     "0800" INNER_IP,
     0,
     {0},
     -1,
     0,
     0,
     0},
    {"SLL with tag",
     ROCE_LINK_SLL,
     "0000000100060102030405060000"
     "8100"
     "0064"
     "0800" INNER_IP,
     0,
     {0},
     -1,
     1,
     100,
     0},
    {"SLL2",
     ROCE_LINK_SLL2,
     "0800"
     "0000"
     "00000002"
     "0001"
     "00"
     "06"
     "0102030405060000" INNER_IP,
     0,
     {0},
     -1,
     0,
     0,
     0},
    {"ERF Ethernet",
     ROCE_LINK_ERF,
     "0000000000000000"
     "02"
     "04"
     "0064"
     "0000"
     "0052"
     "0000" INNER,
     0,
     {0},
     -1,
     0,
     0,
     0},
    {"ERF Ethernet, two extension headers",
     ROCE_LINK_ERF,
     "0000000000000000"
     "82"
     "04"
     "0074"
     "0000"
     "0052"
     "8000000000000000"
     "0000000000000000"
     "0000" INNER,
     0,
     {0},
     -1,
     0,
     0,
     0},
    {"ERF colour Ethernet",
     ROCE_LINK_ERF,
     "0000000000000000"
     "0b"
     "04"
     "0064"
     "0000"
     "0052"
     "0000" INNER,
     0,
     {0},
     -1,
     0,
     0,
     0},
    {"ERF IPv4",
     ROCE_LINK_ERF,
     "0000000000000000"
     "16"
     "04"
     "0064"
     "0000"
     "0052" INNER_IP,
     0,
     {0},
     -1,
     0,
     0,
     0},
};

/* Replaces the length marks of |hex|: LLLL counts from two bytes before the mark, UUUU from four
 * before, PPPP from 36 bytes behind the mark's start. */
static char *fill_lengths(const char *hex)
{
    char *out = strdup(hex);
    for (char *p = out; *p != '\0'; p++) {
        const size_t rest = strlen(p) / 2;
        size_t value = 0;
        if (strncmp(p, "LLLL", 4) == 0)
            value = rest + 2;
        else if (strncmp(p, "UUUU", 4) == 0)
            value = rest + 4;
        else if (strncmp(p, "PPPP", 4) == 0)
            value = rest - 36;
        else
            continue;
        char text[8];
        snprintf(text, sizeof(text), "%04x", (unsigned)value);
        memcpy(p, text, 4);
    }
    return out;
}

static uint8_t *build(const struct encap *e, size_t *len)
{
    char *hex = fill_lengths(e->hex);
    uint8_t *bytes = hex_bytes(hex, len);
    free(hex);
    return bytes;
}

static void test_every_encapsulation(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(encaps) / sizeof(encaps[0]); i++) {
        const struct encap *e = &encaps[i];
        size_t len;
        uint8_t *bytes = build(e, &len);
        struct roce_packet pkt;
        struct roce_icrc icrc;
        const struct roce_frame frame = {.data = bytes,
                                         .caplen = (uint32_t)len,
                                         .origlen = (uint32_t)len,
                                         .linktype = e->linktype};
        print_message("%s\n", e->name);
        assert_int_equal(roce_packet_decode(&frame, NULL, &pkt), ROCE_KIND_ROCEV2);
        assert_int_equal(pkt.status, ROCE_STATUS_OK);
        assert_int_equal(pkt.bth.psn, 0xcf1710);
        assert_int_equal(pkt.bth.dqpn, 0xd3);
        assert_int_equal(pkt.payload_len, 18);
        assert_int_equal(pkt.n_tunnel, e->n_tunnel);
        for (unsigned t = 0; t < e->n_tunnel; t++)
            assert_int_equal(pkt.tunnel[t].kind, e->kinds[t]);
        if (e->n_tunnel > 0) {
            assert_int_equal(pkt.tunnel[0].has_key, e->key >= 0);
            if (e->key >= 0)
                assert_int_equal(pkt.tunnel[0].key, e->key);
        }
        assert_int_equal(pkt.n_vlan, e->n_vlan);
        if (e->n_vlan > 0)
            assert_int_equal(roce_vlan_vid(pkt.vlan[e->n_vlan - 1]), e->vid);
        assert_int_equal(pkt.n_outer_vlan, e->n_outer_vlan);
        roce_icrc_check(&frame, &pkt, &icrc);
        assert_int_equal(icrc.status, ROCE_ICRC_OK);
        assert_int_equal(icrc.value, 0x78f353f3);
        free(bytes);
    }
}

/* Each prefix: never malformed, never a read beyond, and the BTH as soon as its 12 bytes are there.
 */
static void test_every_prefix(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(encaps) / sizeof(encaps[0]); i++) {
        size_t len;
        uint8_t *bytes = build(&encaps[i], &len);
        for (size_t cut = 0; cut <= len; cut++) {
            uint8_t *prefix = exact_copy(bytes, cut);
            struct roce_packet pkt;
            const struct roce_frame frame = {.data = prefix,
                                             .caplen = (uint32_t)cut,
                                             .origlen = (uint32_t)len,
                                             .linktype = encaps[i].linktype};
            roce_packet_decode(&frame, NULL, &pkt);
            assert_int_not_equal(pkt.status, ROCE_STATUS_MALFORMED);
            assert_int_not_equal(pkt.status, ROCE_STATUS_UNKNOWN);
            /* BTH, 18 bytes of payload, 2 of pad, ICRC. */
            assert_int_equal(roce_packet_is_roce(&pkt), cut >= len - 24);
            free(prefix);
        }
        free(bytes);
    }
}

static void test_erspan_fields(void **state)
{
    (void)state;
    const struct encap e = {"",
                            E,
                            ETH "0800" OUTER4("2f") "100022eb"
                                                    "00000001"
                                                    "20640405"
                                                    "11223344"
                                                    "00000000" INNER,
                            0,
                            {0},
                            0,
                            0,
                            0,
                            0};
    size_t len;
    uint8_t *bytes = build(&e, &len);
    struct roce_packet pkt;
    const struct roce_frame frame = {
        .data = bytes, .caplen = (uint32_t)len, .origlen = (uint32_t)len, .linktype = E};
    roce_packet_decode(&frame, NULL, &pkt);
    assert_int_equal(pkt.tunnel[0].session, 5);
    assert_true(pkt.tunnel[0].cut);
    assert_int_equal(pkt.tunnel[0].tstamp, 0x11223344);
    assert_int_equal(pkt.outer_ip.dst[15], 2);
    assert_int_equal(pkt.ip.dst[15], 7);
    free(bytes);
}

/* A chain of IP-in-IP headers deeper than the bound is unknown, not followed. */
static void test_depth_is_bounded(void **state)
{
    (void)state;
    for (unsigned depth = ROCE_ENCAP_DEPTH - 1; depth <= ROCE_ENCAP_DEPTH + 2; depth++) {
        char hex[4096] = ETH "0800";
        for (unsigned i = 0; i < depth; i++)
            strcat(hex, OUTER4("04"));
        strcat(hex, INNER_IP);
        const struct encap e = {"", E, hex, 0, {0}, 0, 0, 0, 0};
        size_t len;
        uint8_t *bytes = build(&e, &len);
        struct roce_packet pkt;
        const struct roce_frame frame = {
            .data = bytes, .caplen = (uint32_t)len, .origlen = (uint32_t)len, .linktype = E};
        roce_packet_decode(&frame, NULL, &pkt);
        if (depth <= ROCE_ENCAP_DEPTH) {
            assert_true(roce_packet_is_roce(&pkt));
        } else {
            assert_int_equal(pkt.kind, ROCE_KIND_OTHER);
            assert_int_equal(pkt.status, ROCE_STATUS_UNKNOWN);
        }
        free(bytes);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_encapsulation),
        cmocka_unit_test(test_every_prefix),
        cmocka_unit_test(test_erspan_fields),
        cmocka_unit_test(test_depth_is_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
