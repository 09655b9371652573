/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The plain fields of the three headers that nearly every frame begins with; the caller has ensured
 * their bytes. */
#ifndef WIRE_FIELDS_H
#define WIRE_FIELDS_H

#include <roce/bth.h>
#include <roce/net.h>

#include "cursor.h"

/* They stand in the walk and in the short way past it, and are part of both. */
#if defined(__GNUC__)
#define FIELDS __attribute__((always_inline)) static inline
#else
#define FIELDS static inline
#endif

FIELDS void eth_fields(const uint8_t *p, struct roce_eth *eth)
{
    memcpy(eth->dst, p, 6);
    memcpy(eth->src, p + 6, 6);
    eth->ethertype = load_be16(p + 12);
}

/* The fixed 20 bytes of RFC 791. */
FIELDS void ipv4_fields(const uint8_t *p, struct roce_ip *ip)
{
    const uint32_t word[3] = {load_be32(p), load_be32(p + 4), load_be32(p + 8)};
    ip->version = 4;
    ip->hdr_len = (uint16_t)((word[0] >> 24 & 0xFU) * 4);
    ip->tos = (uint8_t)(word[0] >> 16);
    ip->total_len = word[0] & 0xFFFF;
    ip->id = (uint16_t)(word[1] >> 16);
    ip->frag = (uint16_t)word[1];
    ip->ttl = (uint8_t)(word[2] >> 24);
    ip->proto = (uint8_t)(word[2] >> 16);
    ip->checksum = (uint16_t)word[2];
    roce_ip_v4(ip->src, p[12], p[13], p[14], p[15]);
    roce_ip_v4(ip->dst, p[16], p[17], p[18], p[19]);
    ip->flow_label = 0;
    ip->options = ip->hdr_len > ROCE_IPV4_LEN;
    ip->fragment = (ip->frag & 0x3FFF) != 0; /* MF or an offset */
}

FIELDS void udp_fields(const uint8_t *p, struct roce_udp *udp)
{
    udp->sport = load_be16(p);
    udp->dport = load_be16(p + 2);
    udp->len = load_be16(p + 4);
    udp->checksum = load_be16(p + 6);
}

/*
 *  0                   1                   2                   3
 *  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
 * +---------------+-+-+---+-------+-------------------------------+
 * |    OpCode     |S|M|Pad| TVer  |             P_Key             |
 * +-+-+-----------+-+-+---+-------+-------------------------------+
 * |F|B|   resv6   |                   DestQP                      |
 * +-+-+-----------+-----------------------------------------------+
 * |A|   resv7     |                     PSN                       |
 * +-+-------------+-----------------------------------------------+
 */
FIELDS void bth_fields(const uint8_t *buf, struct roce_bth *bth)
{
    /* Words first: stores to |bth| could change |buf| for all the compiler knows. */
    const uint32_t first = load_be32(buf);
    const uint32_t second = load_be32(buf + 4);
    const uint32_t third = load_be32(buf + 8);
    bth->opcode = (uint8_t)(first >> 24);
    bth->se = first >> 23 & 1;
    bth->migreq = first >> 22 & 1;
    bth->pad = first >> 20 & 3;
    bth->tver = first >> 16 & 0xF;
    bth->pkey = (uint16_t)first;
    bth->fecn = second >> 31;
    bth->becn = second >> 30 & 1;
    bth->resv6 = second >> 24 & 0x3F;
    bth->dqpn = second & ROCE_QPN_MASK;
    bth->ackreq = third >> 31;
    bth->resv7 = third >> 24 & 0x7F;
    bth->psn = third & ROCE_QPN_MASK;
}

#endif
