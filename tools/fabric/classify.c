/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the network reads of a frame: destination, priority, ECN, and the hash that spreads flows
 * over ways of the same length. */
#include "inner.h"

#include <roce/net.h>
#include <string.h>

#define PROTO_UDP    17
#define IPV4_TOS_OFF 1
#define IPV4_PROTO   9
#define IPV4_SUM_OFF 10
#define IPV4_SRC_OFF 12
#define IPV4_DST_OFF 16
#define IPV6_NEXT    6
#define IPV6_SRC_OFF 8
#define IPV6_DST_OFF 24

static uint16_t load_be16(const uint8_t *p)
{
    return (uint16_t)(p[0] << 8 | p[1]);
}

static uint32_t load32(const uint8_t *p)
{
    uint32_t v;
    memcpy(&v, p, sizeof(v));
    return v;
}

static uint64_t hash_ip(const uint8_t ip[16])
{
    uint64_t halves[2];
    memcpy(halves, ip, sizeof(halves));
    return mix64(halves[0] ^ mix64(halves[1]));
}

const struct address *address_find(const struct fab *fab, const uint8_t ip[16])
{
    if (fab->addresses == NULL)
        return NULL;
    for (uint32_t i = (uint32_t)hash_ip(ip) & fab->address_mask;; i = (i + 1) & fab->address_mask) {
        const struct address *address = &fab->addresses[i];
        if (address->host == 0 || memcmp(address->ip, ip, 16) == 0)
            return address;
    }
}

static void read_ip(const struct fab *fab, struct frame *frame, uint32_t off, bool ipv4)
{
    const uint8_t *ip = frame->data + off;
    const uint32_t ip_len = ipv4 ? ROCE_IPV4_LEN : ROCE_IPV6_LEN;
    uint8_t src[16], dst[16];
    if (off + ip_len > frame->len)
        return;
    if (ipv4) {
        roce_ip_v4(src, ip[IPV4_SRC_OFF], ip[IPV4_SRC_OFF + 1], ip[IPV4_SRC_OFF + 2],
                   ip[IPV4_SRC_OFF + 3]);
        roce_ip_v4(dst, ip[IPV4_DST_OFF], ip[IPV4_DST_OFF + 1], ip[IPV4_DST_OFF + 2],
                   ip[IPV4_DST_OFF + 3]);
    } else {
        memcpy(src, ip + IPV6_SRC_OFF, 16);
        memcpy(dst, ip + IPV6_DST_OFF, 16);
    }
    const uint8_t proto = ipv4 ? ip[IPV4_PROTO] : ip[IPV6_NEXT];
    uint64_t tuple = proto;
    if (proto == PROTO_UDP && off + ip_len + 4 <= frame->len)
        tuple |= (uint64_t)load32(ip + ip_len) << 8;
    frame->hash = (uint32_t)(mix64(hash_ip(src) ^ mix64(hash_ip(dst) ^ mix64(tuple))) >> 32);
    frame->ip_off = (uint8_t)off;
    const struct address *address = address_find(fab, dst);
    if (address != NULL && address->host != 0)
        frame->host = (uint16_t)(address->host - 1);
}

void frame_classify(const struct fab *fab, struct frame *frame)
{
    const uint8_t *p = frame->data;
    uint32_t off = ROCE_ETH_LEN;
    frame->hash = 0;
    frame->host = FRAME_NO_HOST;
    frame->priority = 0;
    frame->ip_off = 0;
    frame->control = 0;
    if (frame->len < ROCE_ETH_LEN)
        return;
    uint16_t type = load_be16(p + 12);
    frame->control = type == ROCE_ETHERTYPE_MAC_CONTROL;
    const bool tagged = type == ROCE_ETHERTYPE_VLAN && frame->len >= ROCE_ETH_LEN + ROCE_VLAN_LEN;
    if (tagged) {
        frame->priority = p[14] >> 5;
        type = load_be16(p + 16);
        off += ROCE_VLAN_LEN;
    }
    if (type != ROCE_ETHERTYPE_IPV4 && type != ROCE_ETHERTYPE_IPV6)
        return;
    read_ip(fab, frame, off, type == ROCE_ETHERTYPE_IPV4);
    if (!tagged && frame->ip_off != 0) /* trust DSCP: its upper three bits (roce/pause.h) */
        frame->priority = type == ROCE_ETHERTYPE_IPV4 ? p[off + IPV4_TOS_OFF] >> 5
                                                      : (uint8_t)((p[off] & 0x0F) >> 1);
}

/* The version nibble tells IPv4 from IPv6; ECN is the low end of the traffic class, which in IPv6
 * straddles two bytes (RFC 8200 3). */
static bool is_ipv4(const uint8_t *ip)
{
    return ip[0] >> 4 == 4;
}

bool frame_is_ect(const struct frame *frame)
{
    if (frame->ip_off == 0)
        return false;
    const uint8_t *ip = frame->data + frame->ip_off;
    const int ecn = is_ipv4(ip) ? ip[IPV4_TOS_OFF] & 3 : ip[1] >> 4 & 3;
    return ecn == ROCE_ECN_ECT0 || ecn == ROCE_ECN_ECT1;
}

void frame_mark_ce(struct frame *frame)
{
    uint8_t *ip = frame->data + frame->ip_off;
    if (!is_ipv4(ip)) {
        ip[1] |= ROCE_ECN_CE << 4;
        return;
    }
    const uint16_t old = load_be16(ip);
    ip[IPV4_TOS_OFF] |= ROCE_ECN_CE;
    /* RFC 1624: the sum of the complements, the old word taken out, the new one put in. */
    uint32_t sum = (uint16_t)~load_be16(ip + IPV4_SUM_OFF);
    sum += (uint16_t)~old;
    sum += load_be16(ip);
    sum = (sum & 0xFFFF) + (sum >> 16);
    sum = (sum & 0xFFFF) + (sum >> 16);
    ip[IPV4_SUM_OFF] = (uint8_t)(~sum >> 8);
    ip[IPV4_SUM_OFF + 1] = (uint8_t)~sum;
}
