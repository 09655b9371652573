/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rewriting. */
#include "rocereplay/rewrite.h"

#include <roce/cm.h>
#include <roce/icrc.h>
#include <roce/mad.h>
#include <roce/psn.h>
#include <string.h>

#include "rocereplay/rewrite_layers.h"

enum { ARP_SENDER_MAC = 8, ARP_SENDER_IP = 14, ARP_TARGET_MAC = 18, ARP_TARGET_IP = 24 };
enum { MAPPED_V4 = 12 }; /* bytes in front of an IPv4 address in its 16-byte form */

static bool same_bits(const uint8_t *a, const uint8_t *b, unsigned bits)
{
    const unsigned whole = bits / 8, rest = bits % 8;
    if (memcmp(a, b, whole) != 0)
        return false;
    return rest == 0 || ((a[whole] ^ b[whole]) & (0xFF00 >> rest & 0xFF)) == 0;
}

static void put_bits(uint8_t *to, const uint8_t *from, unsigned bits)
{
    const unsigned whole = bits / 8, rest = bits % 8;
    memcpy(to, from, whole);
    if (rest != 0) {
        const uint8_t mask = (uint8_t)(0xFF00 >> rest);
        to[whole] = (uint8_t)((to[whole] & ~mask) | (from[whole] & mask));
    }
}

bool rewrite_map_ip(const struct rewrite *rw, uint8_t ip[16])
{
    for (unsigned i = 0; i < rw->n_ip; i++) {
        const struct rewrite_ip *rule = &rw->ip[i];
        if (!same_bits(ip, rule->from, rule->from_bits))
            continue;
        uint8_t mapped[16];
        memcpy(mapped, ip, 16);
        put_bits(mapped, rule->to, rule->to_bits);
        const bool changed = memcmp(mapped, ip, 16) != 0;
        memcpy(ip, mapped, 16);
        return changed;
    }
    return false;
}

bool rewrite_map_ip4(const struct rewrite *rw, uint8_t ip[4])
{
    uint8_t whole[16];
    roce_ip_v4(whole, ip[0], ip[1], ip[2], ip[3]);
    const bool changed = rewrite_map_ip(rw, whole);
    memcpy(ip, whole + MAPPED_V4, 4);
    return changed;
}

static uint32_t load24(const uint8_t *p)
{
    return (uint32_t)p[0] << 16 | (uint32_t)p[1] << 8 | p[2];
}

static void store24(uint8_t *p, uint32_t v)
{
    p[0] = (uint8_t)(v >> 16);
    p[1] = (uint8_t)(v >> 8);
    p[2] = (uint8_t)v;
}

bool rewrite_map_qp(const struct rewrite *rw, const uint8_t host[16], uint8_t qpn[3])
{
    const uint32_t old = load24(qpn);
    for (unsigned i = 0; i < rw->n_qp; i++) {
        const struct rewrite_qp *rule = &rw->qp[i];
        if (rule->from != old || (rule->has_host && memcmp(rule->host, host, 16) != 0))
            continue;
        store24(qpn, rule->to);
        return rule->to != old;
    }
    return false;
}

bool rewrite_add_psn(const struct rewrite *rw, const struct roce_packet *pkt, const uint8_t src[16],
                     const uint8_t dst[16], uint32_t dqpn, bool response, uint8_t psn[3])
{
    int64_t add = rw->psn_offset;
    if (rw->psn_extra != NULL)
        add += rw->psn_extra(rw->psn_ctx, pkt, src, dst, dqpn, response);
    const uint32_t old = load24(psn), new = roce_psn_add(old, add);
    store24(psn, new);
    return new != old;
}

static bool map_mac(const struct rewrite *rw, uint8_t *mac, enum rewrite_mac_kind place, bool outer)
{
    for (unsigned i = 0; i < rw->n_mac; i++) {
        const struct rewrite_mac *rule = &rw->mac[i];
        const bool fits = rule->kind == REWRITE_MAC_BOTH ? memcmp(mac, rule->from, 6) == 0
                                                         : outer && rule->kind == place;
        if (!fits)
            continue;
        const bool changed = memcmp(mac, rule->to, 6) != 0;
        memcpy(mac, rule->to, 6);
        return changed;
    }
    return false;
}

static bool map_layer(const struct rewrite *rw, uint8_t *data, const struct layer *l, bool outer)
{
    uint8_t *p = data + l->off;
    bool changed = false;
    switch (l->kind) {
    case LAYER_ETH:
        changed |= map_mac(rw, p, REWRITE_MAC_DST, outer);
        changed |= map_mac(rw, p + 6, REWRITE_MAC_SRC, outer);
        break;
    case LAYER_ARP:
        changed |= map_mac(rw, p + ARP_SENDER_MAC, REWRITE_MAC_SRC, outer);
        changed |= map_mac(rw, p + ARP_TARGET_MAC, REWRITE_MAC_DST, false);
        changed |= rewrite_map_ip4(rw, p + ARP_SENDER_IP);
        changed |= rewrite_map_ip4(rw, p + ARP_TARGET_IP);
        break;
    case LAYER_IPV4:
        changed |= rewrite_map_ip4(rw, p + 12);
        changed |= rewrite_map_ip4(rw, p + 16);
        break;
    case LAYER_IPV6: /* a GRH with IPv4 addresses has them in the mapped form (IBTA A17.4.5.2) */
        changed |= rewrite_map_ip(rw, p + 8);
        changed |= rewrite_map_ip(rw, p + 24);
        break;
    case LAYER_UDP:
    case LAYER_GRE:
    case LAYER_TCP:
    case LAYER_ICMPV6:
        break;
    }
    return changed;
}

static bool map_rkey(const struct rewrite *rw, uint8_t *p)
{
    const uint32_t old =
        (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | (uint32_t)p[3];
    for (unsigned i = 0; i < rw->n_rkey; i++) {
        const struct rewrite_rkey *rule = &rw->rkey[i];
        if (!rule->any && rule->from != old)
            continue;
        p[0] = (uint8_t)(rule->to >> 24);
        p[1] = (uint8_t)(rule->to >> 16);
        p[2] = (uint8_t)(rule->to >> 8);
        p[3] = (uint8_t)rule->to;
        return rule->to != old;
    }
    return false;
}

static bool map_mad(const struct rewrite *rw, const struct roce_packet *pkt, uint8_t *data)
{
    struct roce_mad mad;
    uint8_t *p = data + pkt->payload_off;
    if (pkt->payload_captured < ROCE_MAD_LEN || pkt->payload_len < ROCE_MAD_LEN ||
        roce_mad_decode(p, ROCE_MAD_LEN, &mad) < 0 || mad.mgmt_class != ROCE_MAD_CLASS_CM)
        return false;
    return rewrite_cm(rw, pkt, mad.attr_id, p + ROCE_MAD_HDR_LEN);
}

/* |pkt| still holds what was recorded. */
static bool map_transport(const struct rewrite *rw, const struct roce_packet *pkt, uint8_t *data)
{
    static const struct {
        enum roce_header header;
        enum roce_span_id span;
    } keys[] = {
        {ROCE_H_RETH, ROCE_SPAN_RETH_RKEY},
        {ROCE_H_ATOMIC, ROCE_SPAN_ATOMIC_RKEY},
        {ROCE_H_IETH, ROCE_SPAN_IETH_RKEY},
    };
    uint8_t *bth = data + pkt->bth_off;
    const uint8_t *src = pkt->ip.src, *dst = pkt->ip.dst;
    bool changed = false;
    if ((pkt->has & ROCE_HAS_MAD) != 0)
        changed |= map_mad(rw, pkt, data);
    if (pkt->op != ROCE_OP_CNP) /* a CNP has no PSN (annex A17.9.3) */
        changed |= rewrite_add_psn(rw, pkt, src, dst, pkt->bth.dqpn, pkt->response,
                                   bth + roce_span(ROCE_SPAN_BTH_PSN).off);
    changed |= rewrite_map_qp(rw, dst, bth + roce_span(ROCE_SPAN_BTH_DQPN).off);
    if ((pkt->has & ROCE_H_DETH) != 0)
        changed |= rewrite_map_qp(rw, src,
                                  data + roce_packet_header_off(pkt, ROCE_H_DETH) +
                                      roce_span(ROCE_SPAN_DETH_SRC_QP).off);
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
        if ((pkt->has & (uint32_t)keys[i].header) != 0)
            changed |= map_rkey(rw, data + roce_packet_header_off(pkt, keys[i].header) +
                                        roce_span(keys[i].span).off);
    return changed;
}

static void put_icrc(uint8_t *p, uint32_t wire)
{
    p[0] = (uint8_t)(wire >> 24);
    p[1] = (uint8_t)(wire >> 16);
    p[2] = (uint8_t)(wire >> 8);
    p[3] = (uint8_t)wire;
}

/* Makes the ICRC right, or wrong by the bits it was wrong by. */
static bool mend_icrc(const struct rewrite *rw, const struct roce_frame *frame, uint8_t *data,
                      const struct roce_packet *pkt, const struct roce_icrc *was,
                      struct rewritten *out)
{
    struct roce_icrc now;
    roce_icrc_check(frame, pkt, &now);
    if (now.status == ROCE_ICRC_UNCHECKED)
        return false;
    out->was_bad = was->status == ROCE_ICRC_BAD;
    const uint32_t wrong = rw->keep_bad_icrc ? was->value ^ was->expected : 0;
    put_icrc(data + pkt->icrc_off, now.expected ^ wrong);
    out->repaired = out->was_bad && wrong == 0;
    return true;
}

static bool map_all(const struct rewrite *rw, uint8_t *data, const struct layers *layers)
{
    bool changed = false;
    for (int i = 0; i < layers->n; i++)
        changed |= map_layer(rw, data, &layers->at[i], i == 0);
    return changed;
}

/* The UDP header next to the BTH is the last layer whose checksum counts. */
static void add_udp(const struct roce_packet *pkt, struct layers *layers)
{
    if ((pkt->has & ROCE_HAS_UDP) == 0 || layers->n == 0 || layers->n == LAYERS_MAX)
        return;
    const int ip = layers->n - 1;
    const uint32_t end = pkt->udp_off + pkt->udp.len;
    layers->at[layers->n++] = (struct layer){
        .kind = LAYER_UDP,
        .off = pkt->udp_off,
        .head = ROCE_UDP_LEN,
        .end = end < layers->at[ip].end && pkt->udp.len >= ROCE_UDP_LEN ? end : layers->at[ip].end,
        .ip = ip,
    };
}

static enum rewrite_result change_roce(const struct rewrite *rw, const struct roce_frame *frame,
                                       uint8_t *data, const struct roce_packet *pkt,
                                       struct rewritten *out)
{
    struct layers layers;
    struct roce_icrc was;
    const struct roce_frame copy = {.data = data,
                                    .caplen = frame->caplen,
                                    .origlen = frame->origlen,
                                    .linktype = frame->linktype};
    if (pkt->sliced || pkt->cut_on_wire)
        return REWRITE_SLICED;
    roce_icrc_check(frame, pkt, &was);
    layers_walk(data, frame->caplen, frame->linktype, pkt->ip_off, &layers);
    const bool outer = map_all(rw, data, &layers);
    const bool inner = map_transport(rw, pkt, data);
    const bool mended =
        was.status != ROCE_ICRC_UNCHECKED && mend_icrc(rw, &copy, data, pkt, &was, out);
    if (!mended && (outer || inner))
        return REWRITE_UNREPAIRABLE;
    if (!layers.whole && (outer || inner || out->repaired) && pkt->kind != ROCE_KIND_IB)
        return REWRITE_UNREPAIRABLE; /* something in front of it that nobody knows */
    out->changed = outer || inner || out->repaired;
    if (out->changed && layers.whole) {
        add_udp(pkt, &layers);
        layers_checksum(data, &layers);
    }
    return REWRITE_OK;
}

static void change_other(const struct rewrite *rw, const struct roce_frame *frame, uint8_t *data,
                         struct rewritten *out)
{
    struct layers layers;
    layers_walk(data, frame->caplen, frame->linktype, LAYERS_ALL, &layers);
    out->changed = map_all(rw, data, &layers);
    if (out->changed)
        layers_checksum(data, &layers);
}

/* The outermost tag. MAC control frames are never tagged (802.1Qbb). */
static void change_vlan(const struct rewrite *rw, struct rewritten *out)
{
    uint8_t *p = out->data;
    if (rw->vlan == REWRITE_VLAN_KEEP || out->len < ROCE_ETH_LEN + ROCE_VLAN_LEN)
        return;
    const unsigned type = (unsigned)p[12] << 8 | p[13];
    const bool tagged = type == ROCE_ETHERTYPE_VLAN || type == ROCE_ETHERTYPE_QINQ ||
                        type == 0x9100 || type == 0x9200 || type == 0x9300;
    if (type == ROCE_ETHERTYPE_MAC_CONTROL || (rw->vlan == REWRITE_VLAN_STRIP && !tagged))
        return;
    out->changed = true;
    if (rw->vlan == REWRITE_VLAN_STRIP) {
        memmove(p + ROCE_VLAN_LEN, p, 12);
        out->data += ROCE_VLAN_LEN;
        out->len -= ROCE_VLAN_LEN;
        change_vlan(rw, out); /* all of them */
        return;
    }
    if (!tagged || rw->vlan == REWRITE_VLAN_ADD) {
        memmove(p - ROCE_VLAN_LEN, p, 12);
        out->data -= ROCE_VLAN_LEN;
        out->len += ROCE_VLAN_LEN;
        p = out->data;
        p[12] = ROCE_ETHERTYPE_VLAN >> 8;
        p[13] = ROCE_ETHERTYPE_VLAN & 0xFF;
    }
    p[14] = (uint8_t)(rw->vlan_tci >> 8);
    p[15] = (uint8_t)rw->vlan_tci;
}

enum rewrite_result rewrite_apply(const struct rewrite *rw, const struct roce_frame *in,
                                  uint8_t *buf, struct rewritten *out)
{
    struct roce_packet pkt;
    uint8_t *data = buf + REWRITE_ROOM;
    enum rewrite_result result = REWRITE_OK;
    memcpy(data, in->data, in->caplen);
    *out = (struct rewritten){.data = data, .len = in->caplen};
    (void)roce_packet_decode(in, &rw->decode, &pkt);
    out->roce = roce_packet_is_roce(&pkt);
    if (out->roce)
        result = change_roce(rw, in, data, &pkt, out);
    else if (in->caplen < in->origlen)
        result = REWRITE_SLICED;
    else
        change_other(rw, in, data, out);
    if (result == REWRITE_OK && in->linktype == ROCE_LINK_ETHERNET)
        change_vlan(rw, out);
    return result;
}
