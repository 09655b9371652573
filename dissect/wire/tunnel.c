/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Encapsulations met on mirror ports: GRE (RFC 2784, 2890), NVGRE (RFC 7637), ERSPAN I-III
 * (draft-foschiano-erspan-03), VXLAN (RFC 7348) and its GPE, GENEVE (RFC 8926), MPLS (RFC 3032,
 * 4385). */
#include "walk.h"

#define MPLS_LABELS_MAX 16

enum {
    PORT_VXLAN = 4789,
    PORT_VXLAN_GPE = 4790,
    PORT_GENEVE = 6081,
    GRE_CHECKSUM = 0x8000,
    GRE_ROUTING = 0x4000,
    GRE_KEY = 0x2000,
    GRE_SEQUENCE = 0x1000,
    GRE_VERSION = 0x0007,
    PROTO_TEB = 0x6558, /* transparent Ethernet bridging */
    PROTO_ERSPAN = 0x88BE,
    PROTO_ERSPAN3 = 0x22EB,
};

static enum next by_ethertype(struct walk *w, uint16_t proto)
{
    if (proto == PROTO_TEB)
        return NEXT_ETHERNET;
    w->pkt->ethertype = proto;
    return NEXT_ETHERTYPE;
}

enum next walk_mpls(struct walk *w)
{
    struct roce_tunnel *t = walk_push_tunnel(w, ROCE_TUNNEL_MPLS, ROCE_LAYER_MPLS);
    if (t == NULL)
        return NEXT_STOP;
    for (int i = 0;; i++) {
        const uint8_t *p = walk_need(w, 4, ROCE_LAYER_MPLS);
        if (p == NULL)
            return NEXT_STOP;
        if (i == MPLS_LABELS_MAX)
            return walk_fail(w, ROCE_STATUS_UNKNOWN, ROCE_LAYER_MPLS, "too many MPLS labels");
        const uint32_t entry = load_be32(p);
        w->pos += 4;
        if (entry >> 8 & 1) {
            t->has_key = true;
            t->key = entry >> 12;
            break;
        }
    }
    /* Nothing names the payload: an IP version nibble, or the zero nibble of a pseudowire control
     * word before Ethernet (RFC 4385). */
    const uint8_t *p = walk_need(w, 4, ROCE_LAYER_MPLS);
    if (p == NULL)
        return NEXT_STOP;
    switch (p[0] >> 4) {
    case 4:
        return NEXT_IPV4;
    case 6:
        return NEXT_IPV6;
    case 0:
        w->pos += 4;
        break;
    }
    return NEXT_ETHERNET;
}

static enum next erspan2(struct walk *w, struct roce_tunnel *t)
{
    const uint8_t *p = walk_need(w, 8, ROCE_LAYER_ERSPAN);
    if (p == NULL)
        return NEXT_STOP;
    if (p[0] >> 4 != 1)
        return walk_fail(w, ROCE_STATUS_UNKNOWN, ROCE_LAYER_ERSPAN, "unknown ERSPAN version");
    t->cut = (p[2] >> 2) & 1;
    t->session = load_be16(p + 2) & 0x3FF;
    w->pos += 8;
    return NEXT_ETHERNET;
}

static enum next erspan3(struct walk *w, struct roce_tunnel *t)
{
    const uint8_t *p = walk_need(w, 12, ROCE_LAYER_ERSPAN);
    if (p == NULL)
        return NEXT_STOP;
    if (p[0] >> 4 != 2)
        return walk_fail(w, ROCE_STATUS_UNKNOWN, ROCE_LAYER_ERSPAN, "unknown ERSPAN version");
    t->cut = (p[2] >> 2) & 1;
    t->session = load_be16(p + 2) & 0x3FF;
    t->tstamp = load_be32(p + 4);
    const unsigned frame_type = p[10] >> 2 & 0x1F;
    const uint32_t len = p[11] & 1 ? 20 : 12; /* O: platform subheader */
    if (walk_need(w, len, ROCE_LAYER_ERSPAN) == NULL)
        return NEXT_STOP;
    w->pos += len;
    if (frame_type == 0)
        return NEXT_ETHERNET;
    if (frame_type == 2)
        return NEXT_IP;
    return walk_fail(w, ROCE_STATUS_UNKNOWN, ROCE_LAYER_ERSPAN, "unknown ERSPAN frame type");
}

static enum roce_tunnel_kind gre_kind(uint16_t flags, uint16_t proto)
{
    if (proto == PROTO_ERSPAN)
        return flags & GRE_SEQUENCE ? ROCE_TUNNEL_ERSPAN2 : ROCE_TUNNEL_ERSPAN1;
    if (proto == PROTO_ERSPAN3)
        return ROCE_TUNNEL_ERSPAN3;
    return proto == PROTO_TEB && flags & GRE_KEY ? ROCE_TUNNEL_NVGRE : ROCE_TUNNEL_GRE;
}

enum next walk_gre(struct walk *w)
{
    const uint8_t *p = walk_need(w, 4, ROCE_LAYER_GRE);
    if (p == NULL)
        return NEXT_STOP;
    const uint16_t flags = load_be16(p);
    const uint16_t proto = load_be16(p + 2);
    if (flags & (GRE_VERSION | GRE_ROUTING))
        return walk_fail(w, ROCE_STATUS_UNKNOWN, ROCE_LAYER_GRE, "unknown GRE version or routing");
    const uint32_t key_off = flags & GRE_CHECKSUM ? 8 : 4;
    const uint32_t len = key_off + (flags & GRE_KEY ? 4 : 0) + (flags & GRE_SEQUENCE ? 4 : 0);
    p = walk_need(w, len, ROCE_LAYER_GRE);
    if (p == NULL)
        return NEXT_STOP;
    const enum roce_tunnel_kind kind = gre_kind(flags, proto);
    struct roce_tunnel *t = walk_push_tunnel(w, kind, ROCE_LAYER_GRE);
    if (t == NULL)
        return NEXT_STOP;
    if (flags & GRE_KEY) {
        t->has_key = true;
        t->key = load_be32(p + key_off);
    }
    w->pos += len;
    if (kind == ROCE_TUNNEL_ERSPAN1)
        return NEXT_ETHERNET;
    if (kind == ROCE_TUNNEL_ERSPAN2)
        return erspan2(w, t);
    return kind == ROCE_TUNNEL_ERSPAN3 ? erspan3(w, t) : by_ethertype(w, proto);
}

static enum next vxlan(struct walk *w, enum roce_tunnel_kind kind)
{
    enum { FLAG_VNI = 0x08, GPE_IPV4 = 1, GPE_IPV6 = 2, GPE_ETHERNET = 3 };
    const uint8_t *p = walk_need(w, 8, ROCE_LAYER_VXLAN);
    if (p == NULL)
        return NEXT_STOP;
    struct roce_tunnel *t = walk_push_tunnel(w, kind, ROCE_LAYER_VXLAN);
    if (t == NULL)
        return NEXT_STOP;
    t->has_key = (p[0] & FLAG_VNI) != 0;
    t->key = load_be24(p + 4);
    w->pos += 8;
    if (kind == ROCE_TUNNEL_VXLAN || p[3] == GPE_ETHERNET)
        return NEXT_ETHERNET;
    if (p[3] == GPE_IPV4)
        return NEXT_IPV4;
    if (p[3] == GPE_IPV6)
        return NEXT_IPV6;
    return walk_fail(w, ROCE_STATUS_UNKNOWN, ROCE_LAYER_VXLAN, "unknown VXLAN-GPE next protocol");
}

static enum next geneve(struct walk *w)
{
    const uint8_t *p = walk_need(w, 8, ROCE_LAYER_GENEVE);
    if (p == NULL)
        return NEXT_STOP;
    if (p[0] >> 6 != 0)
        return walk_fail(w, ROCE_STATUS_UNKNOWN, ROCE_LAYER_GENEVE, "unknown GENEVE version");
    const uint32_t len = 8 + (p[0] & 0x3FU) * 4;
    if (walk_need(w, len, ROCE_LAYER_GENEVE) == NULL)
        return NEXT_STOP;
    struct roce_tunnel *t = walk_push_tunnel(w, ROCE_TUNNEL_GENEVE, ROCE_LAYER_GENEVE);
    if (t == NULL)
        return NEXT_STOP;
    t->has_key = true;
    t->key = load_be24(p + 4);
    w->pos += len;
    return by_ethertype(w, load_be16(p + 2));
}

enum next walk_udp_tunnel(struct walk *w)
{
    switch (w->pkt->udp.dport) {
    case PORT_VXLAN:
        return vxlan(w, ROCE_TUNNEL_VXLAN);
    case PORT_VXLAN_GPE:
        return vxlan(w, ROCE_TUNNEL_VXLAN_GPE);
    case PORT_GENEVE:
        return geneve(w);
    }
    return NEXT_STOP;
}
