/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Encoders of the link, network and UDP headers, and their checksums; most decoders are link.c and
 * ip.c. */
#include <roce/net.h>

#include <string.h>

#include <roce/err.h>

#include "cursor.h"
#include "writer.h"

int roce_eth_encode(const struct roce_eth *h, uint8_t *buf, size_t len)
{
    struct writer w = writer_at(buf, len);
    writer_bytes(&w, h->dst, sizeof(h->dst));
    writer_bytes(&w, h->src, sizeof(h->src));
    writer_be(&w, h->ethertype, 2);
    return w.overrun ? ROCE_ERR_NOSPACE : ROCE_ETH_LEN;
}

int roce_vlan_encode(struct roce_vlan v, uint16_t inner_ethertype, uint8_t *buf, size_t len)
{
    struct writer w = writer_at(buf, len);
    writer_be(&w, v.tci, 2);
    writer_be(&w, inner_ethertype, 2);
    return w.overrun ? ROCE_ERR_NOSPACE : ROCE_VLAN_LEN;
}

int roce_ipv4_encode(const struct roce_ip *h, uint8_t *buf, size_t len)
{
    struct writer w = writer_at(buf, len);
    writer_be(&w, 0x45, 1);
    writer_be(&w, h->tos, 1);
    writer_be(&w, h->total_len, 2);
    writer_be(&w, h->id, 2);
    writer_be(&w, h->frag, 2);
    writer_be(&w, h->ttl, 1);
    writer_be(&w, h->proto, 1);
    writer_be(&w, 0, 2);
    writer_bytes(&w, h->src + 12, 4);
    writer_bytes(&w, h->dst + 12, 4);
    if (w.overrun)
        return ROCE_ERR_NOSPACE;
    const uint16_t sum = roce_ipv4_checksum(buf, ROCE_IPV4_LEN);
    buf[10] = (uint8_t)(sum >> 8);
    buf[11] = (uint8_t)sum;
    return ROCE_IPV4_LEN;
}

int roce_ipv6_encode(const struct roce_ip *h, uint8_t *buf, size_t len)
{
    struct writer w = writer_at(buf, len);
    writer_be(&w, UINT64_C(6) << 28 | (uint64_t)h->tos << 20 | (h->flow_label & 0xFFFFFU), 4);
    writer_be(&w, h->total_len - ROCE_IPV6_LEN, 2);
    writer_be(&w, h->proto, 1);
    writer_be(&w, h->ttl, 1);
    writer_bytes(&w, h->src, 16);
    writer_bytes(&w, h->dst, 16);
    return w.overrun ? ROCE_ERR_NOSPACE : ROCE_IPV6_LEN;
}

int roce_udp_encode(const struct roce_udp *h, uint8_t *buf, size_t len)
{
    struct writer w = writer_at(buf, len);
    writer_be(&w, h->sport, 2);
    writer_be(&w, h->dport, 2);
    writer_be(&w, h->len, 2);
    writer_be(&w, h->checksum, 2);
    return w.overrun ? ROCE_ERR_NOSPACE : ROCE_UDP_LEN;
}

int roce_udp_decode(const uint8_t *buf, size_t len, struct roce_udp *h)
{
    if (len < ROCE_UDP_LEN)
        return ROCE_ERR_TRUNCATED;
    h->sport = load_be16(buf);
    h->dport = load_be16(buf + 2);
    h->len = load_be16(buf + 4);
    h->checksum = load_be16(buf + 6);
    return ROCE_UDP_LEN;
}

int roce_lrh_encode(const struct roce_lrh *h, uint8_t *buf, size_t len)
{
    struct writer w = writer_at(buf, len);
    writer_be(&w, (h->vl & 0xFU) << 4 | (h->lver & 0xFU), 1);
    writer_be(&w, (h->sl & 0xFU) << 4 | (h->lnh & 3U), 1);
    writer_be(&w, h->dlid, 2);
    writer_be(&w, h->pktlen & 0x7FFU, 2);
    writer_be(&w, h->slid, 2);
    return w.overrun ? ROCE_ERR_NOSPACE : ROCE_LRH_LEN;
}

/* One's complement sum of big-endian 16-bit words, RFC 1071; |sum| carries on over even-length
 * pieces. */
static uint32_t sum_words(uint32_t sum, const uint8_t *p, size_t len)
{
    for (; len >= 2; p += 2, len -= 2) {
        sum += load_be16(p);
        sum = (sum & 0xFFFF) + (sum >> 16);
    }
    if (len == 1)
        sum += (uint32_t)*p << 8;
    return (sum & 0xFFFF) + (sum >> 16);
}

uint16_t roce_ipv4_checksum(const uint8_t *hdr, size_t len)
{
    uint32_t sum = sum_words(0, hdr, len < 10 ? len : 10);
    if (len > 12)
        sum = sum_words(sum, hdr + 12, len - 12);
    return (uint16_t)~sum;
}

uint16_t roce_udp_checksum(const struct roce_ip *ip, const uint8_t *udp, size_t len)
{
    const size_t skip = ip->version == 4 ? 12 : 0;
    uint32_t sum = sum_words(0, ip->src + skip, 16 - skip);
    sum = sum_words(sum, ip->dst + skip, 16 - skip);
    const uint8_t tail[6] = {
        0, 17, (uint8_t)(len >> 24), (uint8_t)(len >> 16), (uint8_t)(len >> 8), (uint8_t)len};
    sum = sum_words(sum, tail, sizeof(tail));
    sum = sum_words(sum, udp, len < 6 ? len : 6);
    if (len > 8)
        sum = sum_words(sum, udp + 8, len - 8);
    const uint16_t result = (uint16_t)~sum;
    return result == 0 ? 0xFFFF : result;
}
