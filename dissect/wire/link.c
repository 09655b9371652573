/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Link layers: Ethernet with its tags, Linux cooked captures, ERF records, native InfiniBand, and
 * MAC control. */
#include "fields.h"
#include "walk.h"

#define VLAN_SKIP_MAX 8 /* tags followed; kept are ROCE_VLAN_MAX */

static bool is_vlan(uint16_t ethertype)
{
    /* 802.1Q, 802.1ad and the outer tags that older switches used. */
    return ethertype == ROCE_ETHERTYPE_VLAN || ethertype == ROCE_ETHERTYPE_QINQ ||
           ethertype == 0x9100 || ethertype == 0x9200 || ethertype == 0x9300;
}

static enum next mac_control(struct walk *w)
{
    struct roce_packet *pkt = w->pkt;
    const uint8_t *p = walk_need(w, 2, ROCE_LAYER_MAC_CONTROL);
    if (p == NULL)
        return NEXT_STOP;
    const uint16_t opcode = load_be16(p);
    if (opcode == ROCE_MACC_PFC) {
        pkt->kind = ROCE_KIND_PFC;
        p = walk_need(w, ROCE_PFC_LEN, ROCE_LAYER_MAC_CONTROL);
        if (p != NULL)
            roce_pfc_decode(p, ROCE_PFC_LEN, &pkt->pfc);
        return NEXT_STOP;
    }
    if (opcode == ROCE_MACC_PAUSE) {
        pkt->kind = ROCE_KIND_PAUSE;
        p = walk_need(w, ROCE_PAUSE_LEN, ROCE_LAYER_MAC_CONTROL);
        if (p != NULL)
            roce_pause_decode(p, ROCE_PAUSE_LEN, &pkt->pause);
        return NEXT_STOP;
    }
    return walk_fail(w, ROCE_STATUS_UNKNOWN, ROCE_LAYER_MAC_CONTROL, "unknown MAC control opcode");
}

enum next walk_ethertype(struct walk *w)
{
    struct roce_packet *pkt = w->pkt;
    for (int tags = 0; is_vlan(pkt->ethertype); tags++) {
        const uint8_t *p = walk_need(w, ROCE_VLAN_LEN, ROCE_LAYER_VLAN);
        if (p == NULL)
            return NEXT_STOP;
        if (tags == VLAN_SKIP_MAX)
            return walk_fail(w, ROCE_STATUS_UNKNOWN, ROCE_LAYER_VLAN, "too many VLAN tags");
        if (pkt->n_vlan < ROCE_VLAN_MAX)
            pkt->vlan[pkt->n_vlan++] =
                (struct roce_vlan){.tpid = pkt->ethertype, .tci = load_be16(p)};
        pkt->ethertype = load_be16(p + 2);
        w->pos += ROCE_VLAN_LEN;
    }
    switch (pkt->ethertype) {
    case ROCE_ETHERTYPE_IPV4:
        return NEXT_IPV4;
    case ROCE_ETHERTYPE_IPV6:
        return NEXT_IPV6;
    case ROCE_ETHERTYPE_ROCEV1:
        pkt->kind = ROCE_KIND_ROCEV1;
        return NEXT_GRH;
    case ROCE_ETHERTYPE_MPLS:
    case ROCE_ETHERTYPE_MPLS_MC:
        return NEXT_MPLS;
    case ROCE_ETHERTYPE_MAC_CONTROL:
        return mac_control(w);
    }
    return NEXT_STOP;
}

enum next walk_ethernet(struct walk *w)
{
    struct roce_packet *pkt = w->pkt;
    const uint8_t *p = walk_need(w, ROCE_ETH_LEN, ROCE_LAYER_ETH);
    if (p == NULL)
        return NEXT_STOP;
    if (w->depth > 0) {
        /* An inner header: its own tags count from here; the outermost ones are kept aside. */
        if (!w->inner_eth) {
            memcpy(pkt->outer_vlan, pkt->vlan, sizeof(pkt->vlan[0]) * pkt->n_vlan);
            pkt->n_outer_vlan = pkt->n_vlan;
            w->inner_eth = true;
        }
        pkt->n_vlan = 0;
    }
    eth_fields(p, &pkt->eth);
    pkt->ethertype = pkt->eth.ethertype;
    pkt->has |= ROCE_HAS_ETH;
    w->pos += ROCE_ETH_LEN;
    return NEXT_ETHERTYPE;
}

static enum next cooked(struct walk *w, uint32_t len, uint32_t proto_off)
{
    const uint8_t *p = walk_need(w, len, ROCE_LAYER_LINK);
    if (p == NULL)
        return NEXT_STOP;
    w->pkt->ethertype = load_be16(p + proto_off);
    w->pos += len;
    return NEXT_ETHERTYPE;
}

/* ERF: a 16-byte record header, 8-byte extension headers while the top bit of the type byte says
 * so, then the frame; Ethernet types have two more bytes (offset, pad) first. */
static enum next erf_record(struct walk *w)
{
    enum {
        ERF_ETH = 2,
        ERF_COLOR_ETH = 11,
        ERF_DSM_COLOR_ETH = 16,
        ERF_COLOR_HASH_ETH = 20,
        ERF_INFINIBAND = 21,
        ERF_IPV4 = 22,
        ERF_IPV6 = 23,
    };
    const uint8_t *p = walk_need(w, 16, ROCE_LAYER_LINK);
    if (p == NULL)
        return NEXT_STOP;
    const uint8_t type = p[8] & 0x7F;
    bool more = p[8] >> 7;
    w->pos += 16;
    while (more) {
        p = walk_need(w, 8, ROCE_LAYER_LINK);
        if (p == NULL)
            return NEXT_STOP;
        more = p[0] >> 7;
        w->pos += 8;
    }
    switch (type) {
    case ERF_ETH:
    case ERF_COLOR_ETH:
    case ERF_DSM_COLOR_ETH:
    case ERF_COLOR_HASH_ETH:
        if (walk_need(w, 2, ROCE_LAYER_LINK) == NULL)
            return NEXT_STOP;
        w->pos += 2;
        return NEXT_ETHERNET;
    case ERF_INFINIBAND:
        return NEXT_LRH;
    case ERF_IPV4:
        return NEXT_IPV4;
    case ERF_IPV6:
        return NEXT_IPV6;
    }
    return walk_fail(w, ROCE_STATUS_UNKNOWN, ROCE_LAYER_LINK, "unknown ERF record type");
}

/* LRH, IBTA 7.7: VL 4, LVer 4, SL 4, rsv 2, LNH 2, DLID 16, rsv 5, PktLen 11, SLID 16. */
enum next walk_lrh(struct walk *w)
{
    enum { LNH_BTH = 2, LNH_GRH = 3 };
    struct roce_packet *pkt = w->pkt;
    const uint8_t *p = walk_need(w, ROCE_LRH_LEN, ROCE_LAYER_LRH);
    if (p == NULL)
        return NEXT_STOP;
    pkt->lrh.vl = p[0] >> 4;
    pkt->lrh.lver = p[0] & 0xF;
    pkt->lrh.sl = p[1] >> 4;
    pkt->lrh.lnh = p[1] & 3;
    pkt->lrh.dlid = load_be16(p + 2);
    pkt->lrh.pktlen = load_be16(p + 4) & 0x7FF;
    pkt->lrh.slid = load_be16(p + 6);
    pkt->lrh_off = w->pos;
    pkt->has |= ROCE_HAS_LRH;
    if (pkt->lrh.pktlen * 4 < ROCE_LRH_LEN)
        return walk_fail(w, ROCE_STATUS_MALFORMED, ROCE_LAYER_LRH,
                         "LRH packet length below the header length");
    walk_set_end(w, w->pos + pkt->lrh.pktlen * 4U);
    w->pos += ROCE_LRH_LEN;
    if (pkt->lrh.lnh == LNH_BTH) {
        pkt->kind = ROCE_KIND_IB;
        return NEXT_TRANSPORT;
    }
    if (pkt->lrh.lnh == LNH_GRH) {
        pkt->kind = ROCE_KIND_IB;
        return NEXT_GRH;
    }
    return walk_fail(w, ROCE_STATUS_UNKNOWN, ROCE_LAYER_LRH, "raw InfiniBand packet");
}

enum next walk_link(struct walk *w, uint32_t linktype)
{
    switch (linktype) {
    case ROCE_LINK_ETHERNET:
        return NEXT_ETHERNET;
    case ROCE_LINK_SLL:
        return cooked(w, 16, 14);
    case ROCE_LINK_SLL2:
        return cooked(w, 20, 0);
    case ROCE_LINK_ERF:
        return erf_record(w);
    case ROCE_LINK_INFINIBAND:
        return NEXT_LRH;
    case ROCE_LINK_RAW:
    case ROCE_LINK_RAW_BSD:
    case ROCE_LINK_IPV4:
    case ROCE_LINK_IPV6:
        return NEXT_IP;
    }
    return walk_fail(w, ROCE_STATUS_UNKNOWN, ROCE_LAYER_LINK, "link type not supported");
}
