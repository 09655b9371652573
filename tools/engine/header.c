/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From address handle to headers, from headers to frame. */
#include "header.h"

#include <roce/icrc.h>
#include <roce/net.h>

#include "device.h"

#define IP_PROTO_UDP 17
#define DEFAULT_TTL  64
#define IP_DF        0x4000 /* RoCE packets are never fragmented: a fragment has no ICRC to check */
#define IPV4_LEN_OFF 2
#define IPV4_ID_OFF  4
#define IPV4_SUM_OFF 10
#define IPV6_LEN_OFF 4
#define UDP_LEN_OFF  4
#define UDP_SUM_OFF  6

static bool is_mapped(const uint8_t ip[16])
{
    static const uint8_t prefix[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF};
    return memcmp(ip, prefix, sizeof(prefix)) == 0;
}

/* The port that the Linux verbs derive from both QPNs where no flow label is set: the same in both
 * directions (rdma_calc_flow_label, rdma_flow_label_to_udp_sport). */
static uint16_t port_of(uint32_t qpn, uint32_t dqpn)
{
    uint64_t v = (uint64_t)qpn * dqpn;
    v ^= v >> 20;
    v ^= v >> 40;
    const uint32_t label = (uint32_t)v & 0xFFFFF;
    return (uint16_t)(0xC000 | ((label & 0x3FFF) ^ (label >> 14)));
}

static uint8_t *put_eth(uint8_t *p, const struct eng_dev *dev, const struct eng_ah *ah, bool ipv4)
{
    const uint32_t type = ipv4 ? ROCE_ETHERTYPE_IPV4 : ROCE_ETHERTYPE_IPV6;
    memcpy(p, ah->dmac, 6);
    memcpy(p + 6, dev->cfg.mac, 6);
    p += 12;
    if (ah->has_vlan) {
        store_be16(p, ROCE_ETHERTYPE_VLAN);
        store_be16(p + 2, ah->vlan_tci);
        p += ROCE_VLAN_LEN;
    }
    store_be16(p, type);
    return p + 2;
}

void header_make(struct header *h, const struct eng_dev *dev, const struct eng_ah *ah, uint32_t qpn,
                 uint32_t dqpn, uint16_t pkey)
{
    memset(h, 0, sizeof(*h));
    const bool ipv4 = is_mapped(ah->dst_ip);
    struct roce_ip ip = {.version = ipv4 ? 4 : 6,
                         .tos = ah->tclass,
                         .ttl = ah->ttl != 0 ? ah->ttl : DEFAULT_TTL,
                         .proto = IP_PROTO_UDP,
                         .frag = IP_DF,
                         .flow_label = ah->flow_label,
                         .total_len = ipv4 ? 0 : ROCE_IPV6_LEN};
    memcpy(ip.src, ah->src_ip, sizeof(ip.src));
    memcpy(ip.dst, ah->dst_ip, sizeof(ip.dst));

    uint8_t *p = put_eth(h->bytes, dev, ah, ipv4);
    h->ip_off = (uint8_t)(p - h->bytes);
    if (ipv4) {
        roce_ipv4_encode(&ip, p, ROCE_IPV4_LEN);
        h->ip_sum = (uint16_t) ~(p[IPV4_SUM_OFF] << 8 | p[IPV4_SUM_OFF + 1]);
        p += ROCE_IPV4_LEN;
    } else {
        roce_ipv6_encode(&ip, p, ROCE_IPV6_LEN);
        p += ROCE_IPV6_LEN;
    }
    const struct roce_udp udp = {.sport = ah->sport != 0 ? ah->sport : port_of(qpn, dqpn),
                                 .dport = ROCE_UDP_PORT};
    roce_udp_encode(&udp, p, ROCE_UDP_LEN);
    const struct roce_bth bth = {.migreq = dev->cfg.migreq, .pkey = pkey, .dqpn = dqpn};
    roce_bth_encode(&bth, p + ROCE_UDP_LEN, ROCE_BTH_LEN);
    h->len = (uint8_t)(p + ROCE_UDP_LEN + ROCE_BTH_LEN - h->bytes);
    h->ipv4 = ipv4;
    h->prio = ah->has_vlan ? (uint8_t)(ah->vlan_tci >> 13) : ah->tclass >> 5;
}

bool header_answers(const struct header *h, const struct roce_packet *pkt)
{
    const uint8_t *ip = h->bytes + h->ip_off;
    if (h->ipv4)
        return pkt->ip.version == 4 && memcmp(ip + 12, pkt->ip.dst + 12, 4) == 0 &&
               memcmp(ip + 16, pkt->ip.src + 12, 4) == 0;
    return pkt->ip.version == 6 && memcmp(ip + 8, pkt->ip.dst, 16) == 0 &&
           memcmp(ip + 24, pkt->ip.src, 16) == 0;
}

/* Not on the fast path: UDP checksums are rarely asked for. */
static void put_udp_checksum(const struct header *h, uint8_t *buf, uint32_t len)
{
    uint8_t *ip_header = buf + h->ip_off;
    uint8_t *udp = buf + h->len - ROCE_BTH_LEN - ROCE_UDP_LEN;
    struct roce_ip ip = {.version = h->ipv4 ? 4 : 6};
    if (h->ipv4) {
        memcpy(ip.src + 12, ip_header + 12, 4);
        memcpy(ip.dst + 12, ip_header + 16, 4);
    } else {
        memcpy(ip.src, ip_header + 8, 16);
        memcpy(ip.dst, ip_header + 24, 16);
    }
    store_be16(udp + UDP_SUM_OFF, roce_udp_checksum(&ip, udp, len));
}

int header_finish(const struct header *h, const struct eng_dev *dev, uint8_t *buf, uint8_t *end,
                  uint32_t payload_len, struct bth_vary bth, uint16_t ip_id)
{
    const uint32_t pad = -payload_len & 3;
    memset(end, 0, 4);
    end += pad;
    uint8_t *ip = buf + h->ip_off;
    uint8_t *b = buf + h->len - ROCE_BTH_LEN;
    const uint32_t ip_len = (uint32_t)(end - ip) + ROCE_ICRC_LEN;
    const uint32_t udp_len = (uint32_t)(end - b) + ROCE_UDP_LEN + ROCE_ICRC_LEN;
    if (h->ipv4) {
        store_be16(ip + IPV4_LEN_OFF, ip_len);
        store_be16(ip + IPV4_ID_OFF, ip_id);
        uint32_t sum = (uint32_t)h->ip_sum + ip_len + ip_id; /* RFC 1624 */
        sum = (sum & 0xFFFF) + (sum >> 16);
        sum = (sum & 0xFFFF) + (sum >> 16);
        store_be16(ip + IPV4_SUM_OFF, ~sum);
    } else {
        store_be16(ip + IPV6_LEN_OFF, ip_len - ROCE_IPV6_LEN);
    }
    store_be16(b - ROCE_UDP_LEN + UDP_LEN_OFF, udp_len);
    b[0] = bth.opcode;
    b[1] = (uint8_t)((b[1] & 0x4F) | (bth.se ? 0x80 : 0) | pad << 4);
    store_be32(b + 8, (bth.psn & 0xFFFFFF) | (bth.ackreq ? UINT32_C(0x80000000) : 0));
    store_be32(end, dev->cfg.no_icrc ? 0 : roce_icrc_compute(ip, (size_t)(end - ip)));
    if (dev->cfg.udp_checksum)
        put_udp_checksum(h, buf, udp_len);
    return (int)(end - buf) + ROCE_ICRC_LEN;
}
