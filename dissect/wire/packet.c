/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One frame from its first byte to its ICRC: a loop over headers, each of which names the next. */
#include <roce/packet.h>
#include <roce/plain.h>

#include "fields.h"
#include "walk.h"

enum { PROTO_IPIP = 4, PROTO_UDP = 17, PROTO_IPV6 = 41, PROTO_GRE = 47, PROTO_MPLS = 137 };

void walk_set_end(struct walk *w, uint32_t end)
{
    /* A layer that claims more than the one around it holds was cut before it came here; the bytes
     * of the outer layer are all there is of it. */
    if (w->avail > w->end)
        w->avail = w->end;
    w->end = end;
    if (w->avail > end)
        w->avail = end;
}

struct roce_tunnel *walk_push_tunnel(struct walk *w, enum roce_tunnel_kind kind,
                                     enum roce_layer layer)
{
    struct roce_packet *pkt = w->pkt;
    if (w->depth++ == ROCE_ENCAP_DEPTH) {
        walk_fail(w, ROCE_STATUS_UNKNOWN, layer, "nested too deeply");
        return NULL;
    }
    if ((pkt->has & (ROCE_HAS_IP | ROCE_HAS_OUTER_IP)) == ROCE_HAS_IP) {
        pkt->outer_ip = pkt->ip;
        pkt->has |= ROCE_HAS_OUTER_IP;
    }
    /* Beyond the ones kept, the last slot is reused: the walk needs a place to write to. */
    if (pkt->n_tunnel < ROCE_TUNNEL_MAX)
        pkt->n_tunnel++;
    struct roce_tunnel *t = &pkt->tunnel[pkt->n_tunnel - 1];
    *t = (struct roce_tunnel){.kind = (uint8_t)kind};
    return t;
}

static enum next ip_in_ip(struct walk *w, enum next inner)
{
    return walk_push_tunnel(w, ROCE_TUNNEL_IPIP, ROCE_LAYER_IP) == NULL ? NEXT_STOP : inner;
}

static enum next walk_proto(struct walk *w)
{
    switch (w->pkt->ip.proto) {
    case PROTO_UDP:
        return walk_udp(w);
    case PROTO_GRE:
        return walk_gre(w);
    case PROTO_IPIP:
        return ip_in_ip(w, NEXT_IPV4);
    case PROTO_IPV6:
        return ip_in_ip(w, NEXT_IPV6);
    case PROTO_MPLS:
        return NEXT_MPLS;
    }
    return NEXT_STOP;
}

static enum next walk_ip(struct walk *w)
{
    const uint8_t *p = walk_need(w, 1, ROCE_LAYER_IP);
    if (p == NULL)
        return NEXT_STOP;
    switch (p[0] >> 4) {
    case 4:
        w->pkt->ethertype = ROCE_ETHERTYPE_IPV4;
        return walk_ipv4(w);
    case 6:
        w->pkt->ethertype = ROCE_ETHERTYPE_IPV6;
        return walk_ipv6(w);
    }
    return walk_fail(w, ROCE_STATUS_MALFORMED, ROCE_LAYER_IP, "IP version is neither 4 nor 6");
}

static enum next step(struct walk *w, enum next next)
{
    switch (next) {
    case NEXT_ETHERNET:
        return walk_ethernet(w);
    case NEXT_ETHERTYPE:
        return walk_ethertype(w);
    case NEXT_IP:
        return walk_ip(w);
    case NEXT_IPV4:
        return walk_ipv4(w);
    case NEXT_IPV6:
        return walk_ipv6(w);
    case NEXT_PROTO:
        return walk_proto(w);
    case NEXT_MPLS:
        return walk_mpls(w);
    case NEXT_GRH:
        return walk_grh(w);
    case NEXT_LRH:
        return walk_lrh(w);
    case NEXT_TRANSPORT:
        return walk_transport(w);
    case NEXT_STOP:
        break;
    }
    return NEXT_STOP;
}

/* A plain frame is read in one go, with what the walk would have said of it. For anything else
 * returns false, and the walk begins anew. */
static bool plain(const struct roce_frame *frame, struct roce_packet *pkt)
{
    struct roce_plain at;
    if (!roce_plain(frame, &at))
        return false;
    const uint8_t *p = frame->data;
    const struct roce_opcode_info *info = at.info;
    const uint32_t caplen = frame->caplen, end = at.end;
    const uint32_t avail = caplen < end ? caplen : end;
    const uint32_t have = avail - at.payload_off;
    pkt->kind = ROCE_KIND_ROCEV2;
    pkt->status = ROCE_STATUS_OK;
    pkt->layer = 0;
    pkt->service = info->service;
    pkt->op = info->op;
    pkt->pos = info->pos;
    pkt->response = info->response;
    pkt->sliced = avail < end;
    pkt->cut_on_wire = frame->origlen < end;
    pkt->n_vlan = pkt->n_outer_vlan = pkt->n_tunnel = 0;
    pkt->ethertype = ROCE_ETHERTYPE_IPV4;
    pkt->has = ROCE_HAS_ETH | ROCE_HAS_IP | ROCE_HAS_UDP | ROCE_HAS_BTH | ROCE_HAS_PAYLOAD;
    pkt->why = NULL;
    pkt->ip_off = ROCE_PLAIN_IP;
    pkt->udp_off = ROCE_PLAIN_UDP;
    pkt->bth_off = ROCE_PLAIN_BTH;
    pkt->lrh_off = pkt->dc_off = pkt->dc_len = 0;
    pkt->payload_off = at.payload_off;
    pkt->payload_len = at.payload_len;
    pkt->payload_captured = have < at.payload_len ? have : at.payload_len;
    pkt->icrc_off = end - ROCE_ICRC_LEN;
    pkt->end_off = end;
    pkt->trailer_len = caplen - avail;
    eth_fields(p, &pkt->eth);
    ipv4_fields(p + ROCE_PLAIN_IP, &pkt->ip);
    udp_fields(p + ROCE_PLAIN_UDP, &pkt->udp);
    bth_fields(p + ROCE_PLAIN_BTH, &pkt->bth);
    walk_plain_extended(pkt, info->headers, p + ROCE_PLAIN_XTH);
    return true;
}

int roce_packet_decode(const struct roce_frame *frame, const struct roce_decode_opts *opts,
                       struct roce_packet *pkt)
{
    static const struct roce_decode_opts defaults;
    if (plain(frame, pkt))
        return ROCE_KIND_ROCEV2;
    struct walk w = {
        .data = frame->data,
        .avail = frame->caplen,
        .end = UINT32_MAX,
        .opts = opts == NULL ? &defaults : opts,
        .pkt = pkt,
    };
    memset(pkt, 0, offsetof(struct roce_packet, eth));

    /* Every step but the entry of a tunnel moves forward, and tunnels are counted: the loop ends.
     */
    for (enum next next = walk_link(&w, frame->linktype); next != NEXT_STOP;)
        next = step(&w, next);

    if (pkt->has & ROCE_HAS_BTH) {
        pkt->sliced = w.avail < w.end;
        pkt->cut_on_wire = frame->origlen < w.end;
        pkt->trailer_len = frame->caplen > w.end ? frame->caplen - w.end : 0;
    }
    return pkt->kind;
}

const char *roce_status_name(enum roce_status status)
{
    switch (status) {
    case ROCE_STATUS_TRUNCATED:
        return "truncated";
    case ROCE_STATUS_MALFORMED:
        return "malformed";
    case ROCE_STATUS_UNKNOWN:
        return "unknown";
    case ROCE_STATUS_OK:
        break;
    }
    return "ok";
}

const char *roce_layer_name(enum roce_layer layer)
{
    switch (layer) {
    case ROCE_LAYER_LINK:
        return "link";
    case ROCE_LAYER_ETH:
        return "eth";
    case ROCE_LAYER_VLAN:
        return "vlan";
    case ROCE_LAYER_MPLS:
        return "mpls";
    case ROCE_LAYER_IP:
        return "ip";
    case ROCE_LAYER_GRE:
        return "gre";
    case ROCE_LAYER_ERSPAN:
        return "erspan";
    case ROCE_LAYER_UDP:
        return "udp";
    case ROCE_LAYER_VXLAN:
        return "vxlan";
    case ROCE_LAYER_GENEVE:
        return "geneve";
    case ROCE_LAYER_LRH:
        return "lrh";
    case ROCE_LAYER_GRH:
        return "grh";
    case ROCE_LAYER_BTH:
        return "bth";
    case ROCE_LAYER_XTH:
        return "xth";
    case ROCE_LAYER_PAYLOAD:
        return "payload";
    case ROCE_LAYER_MAC_CONTROL:
        return "mac_control";
    }
    return "link";
}

const char *roce_tunnel_name(enum roce_tunnel_kind kind)
{
    switch (kind) {
    case ROCE_TUNNEL_VXLAN:
        return "vxlan";
    case ROCE_TUNNEL_VXLAN_GPE:
        return "vxlan_gpe";
    case ROCE_TUNNEL_GENEVE:
        return "geneve";
    case ROCE_TUNNEL_GRE:
        return "gre";
    case ROCE_TUNNEL_NVGRE:
        return "nvgre";
    case ROCE_TUNNEL_ERSPAN1:
        return "erspan1";
    case ROCE_TUNNEL_ERSPAN2:
        return "erspan2";
    case ROCE_TUNNEL_ERSPAN3:
        return "erspan3";
    case ROCE_TUNNEL_IPIP:
        return "ipip";
    case ROCE_TUNNEL_MPLS:
        return "mpls";
    }
    return "unknown";
}
