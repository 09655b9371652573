/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A frame in one cache line. Whatever does not depend on flow state is done here, which another
 * thread than the state's may do; and only this line has to come over from it. Most frames are
 * never decoded any further. */
#include "digest.h"

#include <roce/plain.h>

#include "sign.h"

_Static_assert(sizeof(struct roce_digest) == 64, "a digest is one cache line");

/* |kind| without the VLAN tag, by opcode. */
static const uint8_t kinds[256] = {
#define KIND_OF(op)                                                                \
    ((op) == ROCE_OP_ACK                                           ? DIGEST_ACK    \
     : (op) == ROCE_OP_READ_RESPONSE || (op) == ROCE_OP_ATOMIC_ACK ? DIGEST_ANSWER \
     : (op) == ROCE_OP_WRITE                                       ? DIGEST_WRITE  \
                                                                   : DIGEST_SEND)
#define OP(value, name, json, text, service, op, pos, headers, payload) \
    [value] = KIND_OF(ROCE_OP_##op) | ROCE_POS_##pos << DIGEST_POS_SHIFT,
#include <roce/opcode.def>
#undef OP
};

/* Whether nothing about the opcode and the syndrome keeps a packet from being usual. */
static bool is_carried_on(uint8_t service, uint8_t op, uint8_t syndrome)
{
    return service == ROCE_SERVICE_RC &&
           (op <= ROCE_OP_WRITE ||
            (op == ROCE_OP_ACK && roce_aeth_kind(syndrome) == ROCE_AETH_ACK));
}

/* ---- of a packet ---- */

static bool is_plain(const struct roce_frame *frame, const struct roce_packet *pkt,
                     const struct roce_icrc *icrc)
{
    const uint32_t whole = ROCE_HAS_UDP | ROCE_HAS_PAYLOAD;
    return pkt->status == ROCE_STATUS_OK && !pkt->sliced && !pkt->cut_on_wire &&
           (pkt->has & whole) == whole && frame->origlen <= UINT16_MAX &&
           pkt->payload_len <= UINT16_MAX && roce_ip_ecn(&pkt->ip) != ROCE_ECN_CE &&
           (icrc == NULL || icrc->status != ROCE_ICRC_BAD) &&
           (pkt->op != ROCE_OP_ACK || (pkt->has & ROCE_H_AETH) != 0) &&
           is_carried_on(pkt->service, pkt->op, pkt->aeth.syndrome);
}

static uint8_t kind_of(const struct roce_packet *pkt)
{
    const uint8_t kind = kinds[pkt->bth.opcode];
    if (pkt->n_vlan == 0)
        return kind;
    return (uint8_t)(kind | DIGEST_TAGGED | roce_vlan_pcp(pkt->vlan[0]) << DIGEST_PCP_SHIFT);
}

void digest_packet(const struct roce_flow_table *t, const struct roce_frame *frame,
                   const struct roce_packet *pkt, const struct roce_icrc *icrc,
                   struct roce_digest *d)
{
    d->flags = 0;
    d->hash = 0;
    if (!flow_has(pkt))
        return;
    uint8_t flags = DIGEST_FLOW;
    d->hash = table_hash(t, pkt);
    d->kind = kind_of(pkt);
    if (is_plain(frame, pkt, icrc)) {
        flags |= DIGEST_PLAIN;
        flags |= pkt->ip.version == 4 && pkt->n_tunnel == 0 ? DIGEST_DIRECT : 0;
        flags |= roce_ip_ecn(&pkt->ip) != ROCE_ECN_NOT_ECT ? DIGEST_ECT : 0;
        flags |= icrc != NULL && icrc->status == ROCE_ICRC_OK ? DIGEST_ICRC_OK : 0;
        flags |= pkt->bth.ackreq ? DIGEST_ACKREQ : 0;
        flags |= pkt->bth.migreq ? DIGEST_MIGREQ : 0;
        if (pkt->has & ROCE_H_RETH) {
            flags |= DIGEST_RETH;
            d->va = pkt->reth.va;
            d->rkey = pkt->reth.rkey;
            d->length_msn = pkt->reth.dma_length;
        } else if (pkt->has & ROCE_H_AETH) {
            d->length_msn = pkt->aeth.msn;
        }
        d->ts = frame->ts;
        d->number = (uint32_t)frame->number;
        d->sign = sign_packet(pkt, icrc);
        d->sign_attr = sign_attributes(pkt);
        d->addresses = digest_addresses(pkt->ip.src, pkt->ip.dst);
        d->dqpn = pkt->bth.dqpn & ROCE_QPN_MASK;
        d->opcode = pkt->bth.opcode;
        d->psn = pkt->bth.psn & ROCE_PSN_MASK;
        d->origlen = (uint16_t)frame->origlen;
        d->payload_len = (uint16_t)pkt->payload_len;
        d->ip_id = pkt->ip.id;
        d->sport = pkt->udp.sport;
        d->tos = pkt->ip.tos;
        d->ttl = pkt->ip.ttl;
    }
    d->flags = flags;
}

/* ---- of the bytes ---- */

/* What digest_packet says of a plain frame, not decoded for it. For any other frame, and one whose
 * ICRC is wrong, returns false. */
static bool digest_bytes(const struct roce_flow_table *t, const struct roce_frame *frame,
                         bool check_icrc, struct roce_digest *d)
{
    struct roce_plain at;
    struct roce_plain_fields h;
    struct roce_reth reth;
    if (!roce_plain(frame, &at) || frame->caplen < at.end || frame->origlen < at.end ||
        frame->origlen > UINT16_MAX)
        return false;
    roce_plain_fields(frame, &h);
    const bool has_aeth = at.info->headers == ROCE_H_AETH;
    const uint32_t aeth = has_aeth ? roce_plain_aeth(frame) : 0;
    if (!is_carried_on(at.info->service, at.info->op, (uint8_t)(aeth >> 24)) ||
        (h.tos & 3) == ROCE_ECN_CE)
        return false;
    uint64_t more = 0;
    uint8_t flags = DIGEST_FLOW | DIGEST_PLAIN | DIGEST_DIRECT;
    if (check_icrc) {
        more = roce_plain_icrc(frame, &at);
        if (more !=
            roce_icrc_compute(frame->data + ROCE_PLAIN_IP, at.end - ROCE_ICRC_LEN - ROCE_PLAIN_IP))
            return false;
        flags |= DIGEST_ICRC_OK;
    }
    if (at.info->headers & ROCE_H_RETH) {
        roce_plain_reth(frame, &reth);
        flags |= DIGEST_RETH;
        more ^= sign_reth(reth.va, reth.dma_length);
        d->va = reth.va;
        d->rkey = reth.rkey;
        d->length_msn = reth.dma_length;
    } else if (has_aeth) {
        more ^= aeth; /* as sign_aeth has it */
        d->length_msn = aeth & ROCE_PSN_MASK;
    }
    /* No member is read back: a word just put together from parts stalls who loads it. */
    flags |= (h.tos & 3) != ROCE_ECN_NOT_ECT ? DIGEST_ECT : 0;
    flags |= h.ackreq ? DIGEST_ACKREQ : 0;
    flags |= h.migreq ? DIGEST_MIGREQ : 0;
    d->ts = frame->ts;
    d->hash = table_hash_v4(t, h.addresses, h.dqpn);
    d->sign = sign_fields(h.psn, h.opcode, h.ip_id, at.payload_len, h.ackreq, more);
    d->addresses = h.addresses;
    d->dqpn = h.dqpn & ROCE_QPN_MASK;
    d->opcode = h.opcode;
    d->psn = h.psn & ROCE_PSN_MASK;
    d->flags = flags;
    d->origlen = (uint16_t)frame->origlen;
    d->payload_len = (uint16_t)at.payload_len;
    d->ip_id = h.ip_id;
    d->sport = h.sport;
    d->tos = h.tos;
    d->ttl = h.ttl;
    d->sign_attr = sign_hops(h.ttl, h.tos, 0, frame->data);
    d->kind = kinds[h.opcode];
    d->number = (uint32_t)frame->number;
    return true;
}

bool roce_flow_digest(const struct roce_flow_table *table, const struct roce_frame *frame,
                      const struct roce_decode_opts *opts, bool check_icrc, struct roce_packet *pkt,
                      struct roce_icrc *icrc, struct roce_digest *digest)
{
    if (digest_bytes(table, frame, check_icrc, digest))
        return false;
    roce_packet_decode(frame, opts, pkt);
    if (check_icrc && roce_packet_is_roce(pkt))
        roce_icrc_check(frame, pkt, icrc);
    else if (check_icrc)
        *icrc = (struct roce_icrc){.status = ROCE_ICRC_UNCHECKED, .reason = ROCE_ICRC_NOT_ASKED};
    digest_packet(table, frame, pkt, check_icrc ? icrc : NULL, digest);
    return true;
}
