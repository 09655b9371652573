/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Frames by hand. */
#include "rocereplay/check_craft.h"

#include <roce/icrc.h>
#include <roce/net.h>
#include <roce/opcode.h>
#include <string.h>

#include "port/netif.h"

enum { IP_PROTO_UDP = 17, IP_DF = 0x4000, UDP_SUM_OFF = 6, EXT_MAX = 64 };

struct build {
    uint8_t *at, *end;
};

static void took(struct build *b, int n)
{
    if (n > 0)
        b->at += n;
}

static size_t room(const struct build *b)
{
    return (size_t)(b->end - b->at);
}

/* In the order of the wire (IBTA 5.2). */
static void put_extended(struct build *b, const struct craft *c)
{
    const unsigned headers = roce_opcode_info(c->bth.opcode)->headers;
    if (headers & ROCE_H_DETH)
        took(b, roce_deth_encode(&c->deth, b->at, room(b)));
    if (headers & ROCE_H_RETH)
        took(b, roce_reth_encode(&c->reth, b->at, room(b)));
    if (headers & ROCE_H_ATOMIC)
        took(b, roce_atomic_eth_encode(&c->atomic, b->at, room(b)));
    if (headers & ROCE_H_AETH)
        took(b, roce_aeth_encode(&c->aeth, b->at, room(b)));
    if (headers & ROCE_H_ATOMIC_ACK) {
        const struct roce_atomic_ack_eth eth = {.original = c->original};
        took(b, roce_atomic_ack_eth_encode(&eth, b->at, room(b)));
    }
    if (headers & ROCE_H_IMM)
        took(b, roce_imm_encode(c->imm, b->at, room(b)));
}

static void put_ip(struct build *b, const struct roce_ip *ip)
{
    took(b, ip->version == 4 ? roce_ipv4_encode(ip, b->at, room(b))
                             : roce_ipv6_encode(ip, b->at, room(b)));
}

static void put_link(struct build *b, const struct craft_path *path, bool ipv4)
{
    const uint16_t type = ipv4 ? ROCE_ETHERTYPE_IPV4 : ROCE_ETHERTYPE_IPV6;
    struct roce_eth eth = {.ethertype = path->has_vlan ? (uint16_t)ROCE_ETHERTYPE_VLAN : type};
    memcpy(eth.dst, path->dmac, 6);
    memcpy(eth.src, path->smac, 6);
    took(b, roce_eth_encode(&eth, b->at, room(b)));
    if (path->has_vlan)
        took(b, roce_vlan_encode((struct roce_vlan){ROCE_ETHERTYPE_VLAN, path->vlan_tci}, type,
                                 b->at, room(b)));
}

static struct roce_ip ip_of(const struct craft_path *path, const struct craft *c, size_t transport)
{
    const bool ipv4 = netif_is_ipv4(path->dst_ip);
    struct roce_ip ip = {
        .version = ipv4 ? 4 : 6,
        .tos = c->tos,
        .ttl = c->ttl != 0 ? c->ttl : 64,
        .proto = IP_PROTO_UDP,
        .frag = IP_DF,
        .total_len = (uint32_t)transport + (ipv4 ? ROCE_IPV4_LEN : ROCE_IPV6_LEN),
    };
    memcpy(ip.src, path->src_ip, 16);
    memcpy(ip.dst, path->dst_ip, 16);
    if (c->wrong_source)
        ip.src[15] ^= 0x40;
    return ip;
}

static uint8_t *put_transport(uint8_t *at, const struct craft *c)
{
    struct build b = {.at = at, .end = at + ROCE_BTH_LEN + EXT_MAX};
    struct roce_bth bth = c->bth;
    const uint32_t right = -c->payload_len & 3;
    if (!c->own_pad)
        bth.pad = (uint8_t)right;
    took(&b, roce_bth_encode(&bth, b.at, room(&b)));
    put_extended(&b, c);
    if (c->payload != NULL)
        memcpy(b.at, c->payload, c->payload_len);
    else
        memset(b.at, 0, c->payload_len);
    memset(b.at + c->payload_len, 0, right);
    return b.at + c->payload_len + right;
}

size_t craft_frame(const struct craft_path *path, const struct craft *c, uint8_t buf[CRAFT_MAX])
{
    struct build b = {.at = buf, .end = buf + CRAFT_MAX};
    uint8_t transport[CRAFT_MAX];
    const size_t len = (size_t)(put_transport(transport, c) - transport);
    const size_t udp_len = ROCE_UDP_LEN + len + ROCE_ICRC_LEN;
    struct roce_ip ip = ip_of(path, c, udp_len);
    put_link(&b, path, ip.version == 4);
    uint8_t *start = b.at;
    put_ip(&b, &ip);
    uint8_t *udp = b.at;
    const struct roce_udp header = {.sport = c->sport != 0 ? c->sport : 0xC000,
                                    .dport = ROCE_UDP_PORT,
                                    .len = (uint16_t)udp_len};
    took(&b, roce_udp_encode(&header, b.at, room(&b)));
    memcpy(b.at, transport, len);
    b.at += len;
    const uint32_t icrc =
        roce_icrc_compute(start, (size_t)(b.at - start)) ^ (c->bad_icrc ? 0x00010000U : 0U);
    for (int i = 0; i < ROCE_ICRC_LEN; i++)
        *b.at++ = (uint8_t)(icrc >> 8 * (3 - i));
    if (c->rewritten) {
        struct build again = {.at = start, .end = udp};
        ip.tos = c->new_tos;
        ip.ttl = c->new_ttl;
        put_ip(&again, &ip);
    }
    if (c->udp_checksum) {
        const uint16_t sum = roce_udp_checksum(&ip, udp, udp_len);
        udp[UDP_SUM_OFF] = (uint8_t)(sum >> 8);
        udp[UDP_SUM_OFF + 1] = (uint8_t)sum;
    }
    return (size_t)(b.at - buf);
}
