/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Link, network and UDP headers as far as RoCE needs them, and their encoders. */
#ifndef ROCE_NET_H
#define ROCE_NET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ROCE_UDP_PORT 4791
#define ROCE_ETH_LEN  14
#define ROCE_VLAN_LEN 4
#define ROCE_IPV4_LEN 20 /* without options */
#define ROCE_IPV6_LEN 40
#define ROCE_GRH_LEN  40
#define ROCE_UDP_LEN  8
#define ROCE_LRH_LEN  8
#define ROCE_ICRC_LEN 4

enum roce_ethertype {
    ROCE_ETHERTYPE_IPV4 = 0x0800,
    ROCE_ETHERTYPE_ARP = 0x0806,
    ROCE_ETHERTYPE_VLAN = 0x8100,
    ROCE_ETHERTYPE_IPV6 = 0x86DD,
    ROCE_ETHERTYPE_MAC_CONTROL = 0x8808,
    ROCE_ETHERTYPE_MPLS = 0x8847,
    ROCE_ETHERTYPE_MPLS_MC = 0x8848,
    ROCE_ETHERTYPE_QINQ = 0x88A8,
    ROCE_ETHERTYPE_ROCEV1 = 0x8915,
};

enum roce_ecn {
    ROCE_ECN_NOT_ECT = 0,
    ROCE_ECN_ECT1 = 1,
    ROCE_ECN_ECT0 = 2,
    ROCE_ECN_CE = 3
}; /* RFC 3168 5 */

struct roce_vlan {
    uint16_t tpid; /* 0x8100, 0x88A8, 0x9100, ... */
    uint16_t tci;
};
static inline uint16_t roce_vlan_vid(struct roce_vlan v)
{
    return v.tci & 0xFFF;
}
static inline uint8_t roce_vlan_pcp(struct roce_vlan v)
{
    return (uint8_t)(v.tci >> 13);
}
static inline bool roce_vlan_dei(struct roce_vlan v)
{
    return (v.tci >> 12) & 1;
}

struct roce_eth {
    uint8_t dst[6], src[6];
    uint16_t ethertype;
};

/* struct roce_ip is an IPv4, IPv6 or GRH header in one shape. IPv4 addresses are kept as
 * ::ffff:a.b.c.d in the 16-byte fields, the form of a RoCE GID (IBTA A17.4.5.2), so that one
 * comparison serves all. */
struct roce_ip {
    uint8_t version;  /* 4 or 6 (a GRH is 6) */
    uint8_t tos;      /* DSCP << 2 | ECN */
    uint8_t ttl;      /* or hop limit */
    uint8_t proto;    /* protocol behind all extension headers */
    uint16_t hdr_len; /* bytes, with options or extension headers */
    uint16_t id;      /* IPv4 identification */
    uint16_t frag; /* IPv4: reserved, DF, MF flags and offset as on the wire; IPv6: offset | MF of a
                      fragment header */
    bool options;  /* IPv4 options or IPv6 extension headers are there */
    bool fragment; /* MF set or offset not 0 */
    uint32_t flow_label; /* IPv6, GRH: 20 bits */
    uint32_t total_len;  /* bytes from the first byte of this header, by its own length field */
    uint16_t checksum;   /* IPv4 */
    uint8_t src[16], dst[16];
};
static inline uint8_t roce_ip_dscp(const struct roce_ip *ip)
{
    return ip->tos >> 2;
}
static inline enum roce_ecn roce_ip_ecn(const struct roce_ip *ip)
{
    return (enum roce_ecn)(ip->tos & 3);
}

struct roce_udp {
    uint16_t sport, dport;
    uint16_t len; /* header included */
    uint16_t checksum;
};

struct roce_lrh {
    uint8_t vl, lver, sl, lnh; /* lnh: 2 BTH, 3 GRH */
    uint16_t dlid, slid;
    uint16_t pktlen; /* 4-byte words from LRH to ICRC */
};

int roce_eth_encode(const struct roce_eth *h, uint8_t *buf, size_t len);
int roce_vlan_encode(struct roce_vlan v, uint16_t inner_ethertype, uint8_t *buf, size_t len);
/* roce_ipv4_encode writes 20 bytes (no options) with a correct header checksum; |h->total_len| is
 * the IP total length, |h->frag| the flags (DF is 0x4000). Returns the length or ROCE_ERR_NOSPACE.
 */
int roce_ipv4_encode(const struct roce_ip *h, uint8_t *buf, size_t len);
/* roce_ipv6_encode writes 40 bytes; payload length is |h->total_len| - 40. A GRH is the same with
 * proto 0x1B. */
int roce_ipv6_encode(const struct roce_ip *h, uint8_t *buf, size_t len);
int roce_udp_encode(const struct roce_udp *h, uint8_t *buf, size_t len);
/* roce_udp_decode reads the header from |buf|. Returns ROCE_UDP_LEN, or ROCE_ERR_TRUNCATED and then
 * |h| is untouched. */
int roce_udp_decode(const uint8_t *buf, size_t len, struct roce_udp *h);
int roce_lrh_encode(const struct roce_lrh *h, uint8_t *buf, size_t len);

/* roce_ipv4_checksum returns the RFC 791 header checksum of |len| bytes whose checksum field is
 * taken as 0. */
uint16_t roce_ipv4_checksum(const uint8_t *hdr, size_t len);
/* roce_udp_checksum returns the checksum of the datagram at |udp| (header, payload and ICRC; its
 * checksum field is taken as 0) over the pseudo header of |ip|; never 0 (RFC 768: 0xFFFF stands for
 * it). */
uint16_t roce_udp_checksum(const struct roce_ip *ip, const uint8_t *udp, size_t len);

/* roce_ip_v4 stores |a|.|b|.|c|.|d| in the mapped form of struct roce_ip. */
static inline void roce_ip_v4(uint8_t out[16], uint8_t a, uint8_t b, uint8_t c, uint8_t d)
{
    const uint8_t mapped[16] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, a, b, c, d};
    memcpy(out, mapped, sizeof(mapped));
}

#ifdef __cplusplus
}
#endif
#endif
