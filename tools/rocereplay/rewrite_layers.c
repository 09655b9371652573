/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The walk over a frame's outer headers, and their checksums. */
#include "rocereplay/rewrite_layers.h"

#include <string.h>

enum {
    PROTO_ICMP = 1,
    PROTO_IPIP = 4,
    PROTO_TCP = 6,
    PROTO_UDP = 17,
    PROTO_IPV6 = 41,
    PROTO_GRE = 47,
    PROTO_ICMPV6 = 58,
    PROTO_MPLS = 137,
    PORT_VXLAN = 4789,
    PORT_VXLAN_GPE = 4790,
    PORT_GENEVE = 6081,
    TYPE_TEB = 0x6558,
    TYPE_ERSPAN = 0x88BE,
    TYPE_ERSPAN3 = 0x22EB,
    GRE_CHECKSUM = 0x8000,
    GRE_KEY = 0x2000,
    GRE_SEQUENCE = 0x1000,
    SLL_LEN = 16,
    SLL2_LEN = 20,
    ARP_LEN = 28,
    TCP_CHECKSUM_OFF = 16,
};

struct walker {
    const uint8_t *data;
    uint32_t len, stop;
    struct layers *out;
};

/* What comes next, and where. */
enum ahead { AHEAD_END, AHEAD_ETH, AHEAD_TYPE, AHEAD_IP, AHEAD_MPLS };

static uint16_t be16(const uint8_t *p)
{
    return (uint16_t)(p[0] << 8 | p[1]);
}

static void put16(uint8_t *p, uint16_t v)
{
    p[0] = (uint8_t)(v >> 8);
    p[1] = (uint8_t)v;
}

static bool has(const struct walker *w, uint32_t off, uint32_t n)
{
    return off <= w->len && n <= w->len - off;
}

static bool add(struct walker *w, struct layer layer)
{
    if (w->out->n == LAYERS_MAX)
        return false;
    w->out->at[w->out->n++] = layer;
    return true;
}

static bool is_tag(uint16_t type)
{
    return type == 0x8100 || type == 0x88A8 || type == 0x9100 || type == 0x9200 || type == 0x9300;
}

static enum ahead ethernet(struct walker *w, uint32_t *pos, uint16_t *type)
{
    if (!has(w, *pos, ROCE_ETH_LEN) ||
        !add(w, (struct layer){.kind = LAYER_ETH, .off = *pos, .head = ROCE_ETH_LEN}))
        return AHEAD_END;
    *type = be16(w->data + *pos + 12);
    *pos += ROCE_ETH_LEN;
    while (is_tag(*type) && has(w, *pos, ROCE_VLAN_LEN)) {
        *type = be16(w->data + *pos + 2);
        *pos += ROCE_VLAN_LEN;
    }
    return AHEAD_TYPE;
}

static enum ahead by_type(struct walker *w, uint32_t pos, uint16_t type)
{
    switch (type) {
    case TYPE_TEB:
        return AHEAD_ETH;
    case ROCE_ETHERTYPE_IPV4:
    case ROCE_ETHERTYPE_IPV6:
    case ROCE_ETHERTYPE_ROCEV1:
        return AHEAD_IP;
    case ROCE_ETHERTYPE_MPLS:
    case ROCE_ETHERTYPE_MPLS_MC:
        return AHEAD_MPLS;
    case ROCE_ETHERTYPE_ARP: /* hardware Ethernet, protocol IPv4 (RFC 826) */
        if (has(w, pos, ARP_LEN) && memcmp(w->data + pos, "\0\1\10\0\6\4", 6) == 0)
            (void)add(w, (struct layer){.kind = LAYER_ARP, .off = pos, .head = ARP_LEN});
        return AHEAD_END;
    default:
        return AHEAD_END;
    }
}

/* As roce_packet_decode reads it: nothing names what is behind the labels. */
static enum ahead mpls(struct walker *w, uint32_t *pos)
{
    do {
        if (!has(w, *pos, 4))
            return AHEAD_END;
        *pos += 4;
    } while ((w->data[*pos - 2] & 1) == 0);
    if (!has(w, *pos, 4))
        return AHEAD_END;
    const unsigned nibble = w->data[*pos] >> 4;
    if (nibble == 4 || nibble == 6)
        return AHEAD_IP;
    if (nibble == 0)
        *pos += 4;
    return AHEAD_ETH;
}

static enum ahead gre(struct walker *w, uint32_t *pos, uint16_t *type, uint32_t end)
{
    if (!has(w, *pos, 4))
        return AHEAD_END;
    const uint16_t flags = be16(w->data + *pos);
    *type = be16(w->data + *pos + 2);
    const uint32_t head = 4U + ((flags & GRE_CHECKSUM) != 0 ? 4 : 0) +
                          ((flags & GRE_KEY) != 0 ? 4 : 0) + ((flags & GRE_SEQUENCE) != 0 ? 4 : 0);
    if ((flags & ~(GRE_CHECKSUM | GRE_KEY | GRE_SEQUENCE)) != 0 || !has(w, *pos, head))
        return AHEAD_END;
    if ((flags & GRE_CHECKSUM) != 0 &&
        !add(w, (struct layer){.kind = LAYER_GRE, .off = *pos, .head = head, .end = end}))
        return AHEAD_END;
    *pos += head;
    if (*type == TYPE_ERSPAN) {
        *pos += (flags & GRE_SEQUENCE) != 0 ? 8 : 0;
        return AHEAD_ETH;
    }
    if (*type == TYPE_ERSPAN3 && has(w, *pos, 12)) {
        const unsigned frame_type = w->data[*pos + 10] >> 2 & 0x1F;
        *pos += (w->data[*pos + 11] & 1) != 0 ? 20 : 12;
        return frame_type == 2 ? AHEAD_IP : AHEAD_ETH;
    }
    return AHEAD_TYPE;
}

static enum ahead udp(struct walker *w, uint32_t *pos, uint16_t *type, uint32_t ip_end, int ip)
{
    if (!has(w, *pos, ROCE_UDP_LEN))
        return AHEAD_END;
    const uint8_t *p = w->data + *pos;
    const uint16_t dport = be16(p + 2);
    const uint32_t end = *pos + be16(p + 4);
    if (!add(w, (struct layer){.kind = LAYER_UDP,
                               .off = *pos,
                               .head = ROCE_UDP_LEN,
                               .end = end <= ip_end ? end : ip_end,
                               .ip = ip}))
        return AHEAD_END;
    *pos += ROCE_UDP_LEN;
    if (!has(w, *pos, 8))
        return AHEAD_END;
    p = w->data + *pos;
    switch (dport) {
    case PORT_VXLAN:
        *pos += 8;
        return AHEAD_ETH;
    case PORT_VXLAN_GPE:
        *pos += 8;
        return p[3] == 3 ? AHEAD_ETH : AHEAD_IP;
    case PORT_GENEVE:
        *type = be16(p + 2);
        *pos += 8 + (p[0] & 0x3FU) * 4;
        return AHEAD_TYPE;
    default:
        return AHEAD_END;
    }
}

static enum ahead by_proto(struct walker *w, uint32_t *pos, uint16_t *type, uint8_t proto, int ip)
{
    const uint32_t end = w->out->at[ip].end;
    switch (proto) {
    case PROTO_UDP:
        return udp(w, pos, type, end, ip);
    case PROTO_GRE:
        return gre(w, pos, type, end);
    case PROTO_IPIP:
    case PROTO_IPV6:
        return AHEAD_IP;
    case PROTO_MPLS:
        return AHEAD_MPLS;
    case PROTO_TCP:
    case PROTO_ICMPV6:
        if (has(w, *pos, proto == PROTO_TCP ? 20 : 4))
            (void)add(w, (struct layer){.kind = proto == PROTO_TCP ? LAYER_TCP : LAYER_ICMPV6,
                                        .off = *pos,
                                        .head = proto == PROTO_TCP ? 20 : 4,
                                        .end = end,
                                        .ip = ip});
        return AHEAD_END;
    default:
        return AHEAD_END;
    }
}

/* |*done| tells that this is the header at |stop|. */
static enum ahead ipv4(struct walker *w, uint32_t *pos, uint16_t *type, bool *done)
{
    if (!has(w, *pos, ROCE_IPV4_LEN))
        return AHEAD_END;
    const uint8_t *p = w->data + *pos;
    const uint32_t head = (p[0] & 0xFU) * 4, total = be16(p + 2);
    if (head < ROCE_IPV4_LEN || total < head || !has(w, *pos, head))
        return AHEAD_END;
    const uint32_t end = has(w, *pos, total) ? *pos + total : w->len;
    const int ip = w->out->n;
    if (!add(w, (struct layer){.kind = LAYER_IPV4, .off = *pos, .head = head, .end = end}))
        return AHEAD_END;
    *done = *pos == w->stop;
    *pos += head;
    const bool fragment = (be16(p + 6) & 0x3FFF) != 0;
    return *done || fragment ? AHEAD_END : by_proto(w, pos, type, p[9], ip);
}

/* Hop-by-hop, routing, destination options; a fragment ends the walk (RFC 8200 4). */
static bool skip_extensions(const struct walker *w, uint32_t *pos, uint8_t *proto)
{
    for (int i = 0; i < 8 && (*proto == 0 || *proto == 43 || *proto == 60); i++) {
        if (!has(w, *pos, 8))
            return false;
        *proto = w->data[*pos];
        *pos += 8 + w->data[*pos + 1] * 8U;
    }
    return true;
}

static enum ahead ipv6(struct walker *w, uint32_t *pos, uint16_t *type, bool *done)
{
    if (!has(w, *pos, ROCE_IPV6_LEN))
        return AHEAD_END;
    const uint32_t total = ROCE_IPV6_LEN + be16(w->data + *pos + 4);
    const uint32_t end = has(w, *pos, total) ? *pos + total : w->len;
    const int ip = w->out->n;
    if (!add(w, (struct layer){.kind = LAYER_IPV6, .off = *pos, .head = ROCE_IPV6_LEN, .end = end}))
        return AHEAD_END;
    *done = *pos == w->stop;
    uint8_t proto = w->data[*pos + 6];
    *pos += ROCE_IPV6_LEN;
    if (*done || !skip_extensions(w, pos, &proto))
        return AHEAD_END;
    return by_proto(w, pos, type, proto, ip);
}

static enum ahead first(uint32_t linktype, const uint8_t *data, uint32_t len, uint32_t *pos,
                        uint16_t *type)
{
    switch (linktype) {
    case ROCE_LINK_ETHERNET:
        return AHEAD_ETH;
    case ROCE_LINK_RAW:
    case ROCE_LINK_RAW_BSD:
    case ROCE_LINK_IPV4:
    case ROCE_LINK_IPV6:
        return AHEAD_IP;
    case ROCE_LINK_SLL:
    case ROCE_LINK_SLL2: {
        const bool old = linktype == ROCE_LINK_SLL;
        *pos = old ? SLL_LEN : SLL2_LEN;
        if (len < *pos)
            return AHEAD_END;
        *type = be16(data + (old ? 14 : 0));
        while (is_tag(*type) && len - *pos >= ROCE_VLAN_LEN) {
            *type = be16(data + *pos + 2);
            *pos += ROCE_VLAN_LEN;
        }
        return AHEAD_TYPE;
    }
    default:
        return AHEAD_END;
    }
}

void layers_walk(const uint8_t *data, uint32_t len, uint32_t linktype, uint32_t stop,
                 struct layers *out)
{
    struct walker w = {.data = data, .len = len, .stop = stop, .out = out};
    uint32_t pos = 0;
    uint16_t type = 0;
    bool done = false;
    out->n = 0;
    enum ahead ahead = first(linktype, data, len, &pos, &type);
    while (ahead != AHEAD_END) {
        if (ahead == AHEAD_TYPE)
            ahead = by_type(&w, pos, type);
        else if (ahead == AHEAD_ETH)
            ahead = ethernet(&w, &pos, &type);
        else if (ahead == AHEAD_MPLS)
            ahead = mpls(&w, &pos);
        else if (!has(&w, pos, 1))
            ahead = AHEAD_END;
        else if (data[pos] >> 4 == 4)
            ahead = ipv4(&w, &pos, &type, &done);
        else
            ahead = data[pos] >> 4 == 6 ? ipv6(&w, &pos, &type, &done) : AHEAD_END;
    }
    out->whole = done || stop == LAYERS_ALL;
}

static uint32_t sum16(uint32_t sum, const uint8_t *p, uint32_t n)
{
    for (; n > 1; p += 2, n -= 2)
        sum += be16(p);
    sum += n != 0 ? (uint32_t)p[0] << 8 : 0;
    return (sum & 0xFFFF) + (sum >> 16);
}

static uint16_t fold(uint32_t sum)
{
    while (sum >> 16 != 0)
        sum = (sum & 0xFFFF) + (sum >> 16);
    return (uint16_t)~sum;
}

static uint32_t pseudo_header(const uint8_t *data, const struct layer *ip, uint8_t proto,
                              uint32_t len)
{
    const uint8_t *p = data + ip->off;
    const bool v4 = ip->kind == LAYER_IPV4;
    return sum16(0, p + (v4 ? 12 : 8), v4 ? 8 : 32) + proto + (len & 0xFFFF) + (len >> 16);
}

static void checksum_transport(uint8_t *data, const struct layers *layers, const struct layer *l)
{
    const struct layer *ip = &layers->at[l->ip];
    const uint32_t len = l->end - l->off;
    uint8_t proto = PROTO_UDP;
    uint32_t at = 6;
    if (l->kind == LAYER_TCP) {
        proto = PROTO_TCP;
        at = TCP_CHECKSUM_OFF;
    } else if (l->kind == LAYER_ICMPV6) {
        proto = PROTO_ICMPV6;
        at = 2;
    }
    uint8_t *p = data + l->off;
    if (l->kind == LAYER_UDP && be16(p + at) == 0)
        return;
    put16(p + at, 0);
    const uint16_t sum = fold(sum16(pseudo_header(data, ip, proto, len), p, len));
    put16(p + at, sum == 0 && l->kind == LAYER_UDP ? 0xFFFF : sum);
}

void layers_checksum(uint8_t *data, const struct layers *layers)
{
    for (int i = layers->n - 1; i >= 0; i--) {
        const struct layer *l = &layers->at[i];
        uint8_t *p = data + l->off;
        if (l->end < l->off + l->head) /* its length says less than its own header takes */
            continue;
        switch (l->kind) {
        case LAYER_IPV4:
            put16(p + 10, roce_ipv4_checksum(p, l->head));
            break;
        case LAYER_GRE:
            put16(p + 4, 0);
            put16(p + 4, fold(sum16(0, p, l->end - l->off)));
            break;
        case LAYER_UDP:
        case LAYER_TCP:
        case LAYER_ICMPV6:
            checksum_transport(data, layers, l);
            break;
        case LAYER_ETH:
        case LAYER_ARP:
        case LAYER_IPV6:
            break;
        }
    }
}
