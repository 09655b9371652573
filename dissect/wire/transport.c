/* SPDX-License-Identifier: GPL-2.0-or-later */
/* UDP, BTH, the extended headers in the order the opcode gives them, and the span of the payload.
 */
#include <roce/err.h>

#include "fields.h"
#include "walk.h"

#define DC_LEN            8 /* what NVIDIA's DC transport puts between BTH and payload */
#define DC_CONNECT_LEN    16
#define DC_CONNECT_OPCODE 0x55

#define EXTENDED_MAX 64 /* no extended header is longer */

static bool is_roce_port(const struct roce_decode_opts *opts, uint16_t port)
{
    if (port == ROCE_UDP_PORT)
        return true;
    for (unsigned i = 0; i < opts->n_udp_ports && i < ROCE_UDP_PORTS_MAX; i++)
        if (opts->udp_ports[i] == port)
            return true;
    return false;
}

enum next walk_udp(struct walk *w)
{
    struct roce_packet *pkt = w->pkt;
    const uint8_t *p = walk_need(w, ROCE_UDP_LEN, ROCE_LAYER_UDP);
    if (p == NULL)
        return NEXT_STOP;
    udp_fields(p, &pkt->udp);
    pkt->udp_off = w->pos;
    pkt->has |= ROCE_HAS_UDP;
    w->pos += ROCE_UDP_LEN;
    if (!is_roce_port(w->opts, pkt->udp.dport))
        return walk_udp_tunnel(w);
    pkt->kind = ROCE_KIND_ROCEV2;
    /* The IP length decides where the packet ends; a datagram that says otherwise is still read. */
    if (pkt->udp.len != w->end - pkt->udp_off && !pkt->ip.fragment)
        walk_fail(w, ROCE_STATUS_MALFORMED, ROCE_LAYER_UDP, "UDP length contradicts IP length");
    return NEXT_TRANSPORT;
}

/* The payload lies between the headers (|hdr_len| bytes behind the BTH's first) and pad and ICRC,
 * by the length fields alone, so that a sliced frame still tells its payload length. */
static bool payload_span(struct walk *w, uint32_t hdr_len)
{
    struct roce_packet *pkt = w->pkt;
    const bool fragment = (pkt->has & ROCE_HAS_IP) != 0 && pkt->ip.fragment;
    const uint32_t tail = fragment ? 0 : pkt->bth.pad + (uint32_t)ROCE_ICRC_LEN;
    const uint32_t room = w->end - pkt->bth_off;

    if (room < hdr_len + tail)
        return false;
    pkt->payload_off = pkt->bth_off + hdr_len;
    pkt->payload_len = room - hdr_len - tail;
    pkt->icrc_off = w->end - (fragment ? 0 : ROCE_ICRC_LEN);
    const uint32_t have = w->avail > pkt->payload_off ? w->avail - pkt->payload_off : 0;
    pkt->payload_captured = have < pkt->payload_len ? have : pkt->payload_len;
    pkt->has |= ROCE_HAS_PAYLOAD;
    return true;
}

/* Decodes the one extended header |bit| stands for; returns its length. */
static uint32_t extended_header(struct roce_packet *pkt, unsigned bit, const uint8_t *p, size_t len)
{
    int n = ROCE_ERR_UNKNOWN;
    switch ((enum roce_header)bit) {
    case ROCE_H_RDETH:
        n = roce_rdeth_decode(p, len, &pkt->rdeth);
        break;
    case ROCE_H_DETH:
        n = roce_deth_decode(p, len, &pkt->deth);
        break;
    case ROCE_H_XRCETH:
        n = roce_xrceth_decode(p, len, &pkt->xrceth);
        break;
    case ROCE_H_FETH:
        n = roce_feth_decode(p, len, &pkt->feth);
        break;
    case ROCE_H_RETH:
        n = roce_reth_decode(p, len, &pkt->reth);
        break;
    case ROCE_H_ATOMIC:
        n = roce_atomic_eth_decode(p, len, &pkt->atomic_eth);
        break;
    case ROCE_H_AETH:
        n = roce_aeth_decode(p, len, &pkt->aeth);
        break;
    case ROCE_H_ATOMIC_ACK:
        n = roce_atomic_ack_eth_decode(p, len, &pkt->atomic_ack_eth);
        break;
    case ROCE_H_IMM:
        n = roce_imm_decode(p, len, &pkt->imm);
        break;
    case ROCE_H_IETH:
        n = roce_ieth_decode(p, len, &pkt->ieth);
        break;
    }
    return n < 0 ? 0 : (uint32_t)n;
}

/* The bits of enum roce_header stand in wire order. */
static void extended_headers(struct walk *w, unsigned headers)
{
    while (headers != 0) {
        const unsigned bit = headers & (~headers + 1);
        const uint32_t len = extended_header(w->pkt, bit, w->data + w->pos,
                                             w->pos < w->avail ? w->avail - w->pos : 0);
        if (len == 0) {
            /* Its span fits the length fields, so only the capture can have cut it. */
            walk_fail(w, ROCE_STATUS_TRUNCATED, ROCE_LAYER_XTH, "frame is cut inside the header");
            return;
        }
        w->pkt->has |= bit;
        w->pos += len;
        headers &= headers - 1;
    }
}

/* NVIDIA's DC reuses RD's opcodes (0x40-0x5F); what stands behind its BTH is kept as opaque bytes.
 */
static bool dc_span(struct walk *w)
{
    struct roce_packet *pkt = w->pkt;
    const bool connect = pkt->bth.opcode == DC_CONNECT_OPCODE && !pkt->bth.se;
    pkt->service = ROCE_SERVICE_DC;
    pkt->op = ROCE_OP_NONE;
    pkt->pos = ROCE_POS_ONLY;
    pkt->response = false;
    pkt->dc_off = w->pos;
    pkt->dc_len = connect ? DC_CONNECT_LEN : DC_LEN;
    pkt->has |= ROCE_HAS_DC;
    return payload_span(w, ROCE_BTH_LEN + pkt->dc_len);
}

static bool is_mad(const struct roce_packet *pkt)
{
    return pkt->service == ROCE_SERVICE_UD && (pkt->has & ROCE_H_DETH) &&
           (pkt->bth.dqpn <= ROCE_QPN_GSI || pkt->deth.src_qp <= ROCE_QPN_GSI);
}

void walk_plain_extended(struct roce_packet *pkt, unsigned headers, const uint8_t *p)
{
    pkt->has |= headers;
    /* The two that nearly all others have no part in. */
    if (headers == ROCE_H_RETH) {
        (void)roce_reth_decode(p, ROCE_RETH_LEN, &pkt->reth);
        return;
    }
    if (headers == ROCE_H_AETH) {
        (void)roce_aeth_decode(p, ROCE_AETH_LEN, &pkt->aeth);
        return;
    }
    for (; headers != 0; headers &= headers - 1)
        p += extended_header(pkt, headers & (~headers + 1), p, EXTENDED_MAX);
    if (is_mad(pkt))
        pkt->has |= ROCE_HAS_MAD;
}

enum next walk_transport(struct walk *w)
{
    struct roce_packet *pkt = w->pkt;
    const uint8_t *p = walk_need(w, ROCE_BTH_LEN, ROCE_LAYER_BTH);
    if (p == NULL)
        return NEXT_STOP;
    roce_bth_decode(p, ROCE_BTH_LEN, &pkt->bth);
    const struct roce_opcode_info *info = roce_opcode_info(pkt->bth.opcode);
    pkt->service = info->service;
    pkt->op = info->op;
    pkt->pos = info->pos;
    pkt->response = info->response;
    pkt->bth_off = w->pos;
    pkt->has |= ROCE_HAS_BTH;
    w->pos += ROCE_BTH_LEN;
    pkt->end_off = w->end;

    const bool dc = pkt->bth.opcode >> 5 == ROCE_SERVICE_RD && !w->opts->rd;
    if (dc ? !dc_span(w) : !payload_span(w, ROCE_BTH_LEN + (uint32_t)info->ext_len))
        return walk_fail(w, ROCE_STATUS_MALFORMED, ROCE_LAYER_BTH,
                         "packet is too short for its opcode");
    if (pkt->bth.tver != 0)
        walk_fail(w, ROCE_STATUS_UNKNOWN, ROCE_LAYER_BTH, "unknown transport version");
    if (dc)
        return NEXT_STOP;
    if (info->name == NULL)
        return walk_fail(w, ROCE_STATUS_UNKNOWN, ROCE_LAYER_BTH,
                         pkt->service == ROCE_SERVICE_VENDOR ? "manufacturer-specific opcode"
                                                             : "reserved opcode");
    extended_headers(w, info->headers);
    if (is_mad(pkt))
        pkt->has |= ROCE_HAS_MAD;
    return NEXT_STOP;
}
