/* SPDX-License-Identifier: GPL-2.0-or-later */
/* IPv4 (RFC 791), IPv6 with its extension headers (RFC 8200) and the GRH of RoCEv1 and InfiniBand
 * (IBTA 8.3). */
#include "fields.h"
#include "walk.h"

#define EXT_HEADERS_MAX 16   /* extension headers followed; no sender has a use for more */
#define PROTO_BTH       0x1B /* GRH next header: IBTA transport */

enum {
    EXT_HOP_BY_HOP = 0,
    EXT_ROUTING = 43,
    EXT_FRAGMENT = 44,
    EXT_AH = 51,
    EXT_DEST_OPTS = 60,
    EXT_MOBILITY = 135,
    EXT_HIP = 139,
    EXT_SHIM6 = 140,
};

enum next walk_ipv4(struct walk *w)
{
    struct roce_packet *pkt = w->pkt;
    const uint8_t *p = walk_need(w, ROCE_IPV4_LEN, ROCE_LAYER_IP);
    if (p == NULL)
        return NEXT_STOP;
    if (p[0] >> 4 != 4)
        return walk_fail(w, ROCE_STATUS_MALFORMED, ROCE_LAYER_IP, "IP version is not 4");

    struct roce_ip *ip = &pkt->ip;
    ipv4_fields(p, ip);
    pkt->ip_off = w->pos;
    pkt->has |= ROCE_HAS_IP;
    if (ip->hdr_len < ROCE_IPV4_LEN)
        return walk_fail(w, ROCE_STATUS_MALFORMED, ROCE_LAYER_IP, "IP header length below 20");
    if (ip->total_len < ip->hdr_len)
        return walk_fail(w, ROCE_STATUS_MALFORMED, ROCE_LAYER_IP,
                         "IP total length below the header length");
    walk_set_end(w, w->pos + ip->total_len);
    if (ip->options && walk_need(w, ip->hdr_len, ROCE_LAYER_IP) == NULL)
        return NEXT_STOP;
    w->pos += ip->hdr_len;
    /* Behind the first fragment there is no UDP header to recognise. */
    return (ip->frag & 0x1FFF) != 0 ? NEXT_STOP : NEXT_PROTO;
}

/* Skips the extension headers; ip->proto becomes the protocol behind them. */
static enum next extension_headers(struct walk *w, struct roce_ip *ip)
{
    for (int i = 0; i < EXT_HEADERS_MAX; i++) {
        uint32_t len = 8;
        const uint8_t *p;
        switch (ip->proto) {
        case EXT_HOP_BY_HOP:
        case EXT_ROUTING:
        case EXT_DEST_OPTS:
        case EXT_MOBILITY:
        case EXT_HIP:
        case EXT_SHIM6:
        case EXT_FRAGMENT:
        case EXT_AH:
            p = walk_need(w, 8, ROCE_LAYER_IP);
            break;
        default:
            return NEXT_PROTO;
        }
        if (p == NULL)
            return NEXT_STOP;
        if (ip->proto == EXT_FRAGMENT) {
            ip->frag = load_be16(p + 2) & 0xFFF9;
            ip->fragment = ip->frag != 0;
        } else {
            len = ip->proto == EXT_AH ? (p[1] + 2U) * 4 : (p[1] + 1U) * 8;
        }
        const bool later_fragment = ip->proto == EXT_FRAGMENT && (ip->frag & 0xFFF8) != 0;
        if (walk_need(w, len, ROCE_LAYER_IP) == NULL)
            return NEXT_STOP;
        ip->proto = p[0];
        ip->options = true;
        ip->hdr_len = (uint16_t)(ip->hdr_len + len);
        w->pos += len;
        if (later_fragment)
            return NEXT_STOP;
    }
    return walk_fail(w, ROCE_STATUS_UNKNOWN, ROCE_LAYER_IP, "too many IPv6 extension headers");
}

static enum next ipv6_shape(struct walk *w, enum roce_layer layer)
{
    struct roce_packet *pkt = w->pkt;
    const uint8_t *p = walk_need(w, ROCE_IPV6_LEN, layer);
    if (p == NULL)
        return NEXT_STOP;
    if (p[0] >> 4 != 6)
        return walk_fail(w, ROCE_STATUS_MALFORMED, layer, "IP version is not 6");

    struct roce_ip *ip = &pkt->ip;
    const uint32_t word = load_be32(p);
    ip->version = 6;
    ip->tos = (uint8_t)(word >> 20);
    ip->flow_label = word & 0xFFFFF;
    ip->total_len = ROCE_IPV6_LEN + (uint32_t)load_be16(p + 4);
    ip->proto = p[6];
    ip->ttl = p[7];
    memcpy(ip->src, p + 8, 16);
    memcpy(ip->dst, p + 24, 16);
    ip->hdr_len = ROCE_IPV6_LEN;
    ip->id = 0;
    ip->frag = 0;
    ip->checksum = 0;
    ip->options = false;
    ip->fragment = false;
    pkt->ip_off = w->pos;
    pkt->has |= ROCE_HAS_IP;
    walk_set_end(w, w->pos + ip->total_len);
    w->pos += ROCE_IPV6_LEN;
    return NEXT_PROTO;
}

enum next walk_ipv6(struct walk *w)
{
    const enum next next = ipv6_shape(w, ROCE_LAYER_IP);
    return next == NEXT_STOP ? next : extension_headers(w, &w->pkt->ip);
}

enum next walk_grh(struct walk *w)
{
    if (ipv6_shape(w, ROCE_LAYER_GRH) == NEXT_STOP)
        return NEXT_STOP;
    w->pkt->has |= ROCE_HAS_GRH;
    if (w->pkt->ip.proto != PROTO_BTH)
        return walk_fail(w, ROCE_STATUS_UNKNOWN, ROCE_LAYER_GRH, "GRH next header is not BTH");
    return NEXT_TRANSPORT;
}
