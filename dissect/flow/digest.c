/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A frame in one cache line. Whatever does not depend on flow state is done here, which another
 * thread than the state's may do; and only this line has to come over from it. Most frames are
 * never decoded any further. */
#include "digest.h"

#include <roce/plain.h>

#include "sign.h"

_Static_assert(sizeof(struct roce_digest) == 64, "a digest is one cache line");

/* Of an opcode: |kind| without the VLAN tag, and what a plain packet of it has. */
#define KIND_MASK  (DIGEST_OP_MASK | DIGEST_POS_MASK << DIGEST_POS_SHIFT)
#define CARRIES_ON 0x20
#define HAS_RETH   0x40
#define HAS_AETH   0x80

static const uint8_t traits[256] = {
#define KIND_OF(op)                                                                \
    ((op) == ROCE_OP_ACK                                           ? DIGEST_ACK    \
     : (op) == ROCE_OP_READ_RESPONSE || (op) == ROCE_OP_ATOMIC_ACK ? DIGEST_ANSWER \
     : (op) == ROCE_OP_WRITE                                       ? DIGEST_WRITE  \
                                                                   : DIGEST_SEND)
#define CARRIED_ON(op) ((op) == ROCE_OP_SEND || (op) == ROCE_OP_WRITE || (op) == ROCE_OP_ACK)
#define OP(value, name, json, text, service, op, pos, headers, payload)                            \
    [value] =                                                                                      \
        KIND_OF(ROCE_OP_##op) | ROCE_POS_##pos << DIGEST_POS_SHIFT |                               \
        (ROCE_SERVICE_##service == ROCE_SERVICE_RC && CARRIED_ON(ROCE_OP_##op) ? CARRIES_ON : 0) | \
        ((headers)&ROCE_H_RETH ? HAS_RETH : 0) | ((headers) == ROCE_H_AETH ? HAS_AETH : 0),
#include <roce/opcode.def>
#undef OP
};

/* Whether nothing about the opcode and the syndrome, 0 without AETH, keeps a packet from being
 * usual. */
static bool is_carried_on(uint8_t opcode, uint8_t syndrome)
{
    return (traits[opcode] & CARRIES_ON) != 0 && roce_aeth_kind(syndrome) == ROCE_AETH_ACK;
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
           is_carried_on(pkt->bth.opcode, pkt->has & ROCE_H_AETH ? pkt->aeth.syndrome : 0);
}

static uint8_t kind_of(const struct roce_packet *pkt)
{
    const uint8_t kind = traits[pkt->bth.opcode] & KIND_MASK;
    if (pkt->n_vlan == 0)
        return kind;
    return (uint8_t)(kind | DIGEST_TAGGED | roce_vlan_pcp(pkt->vlan[0]) << DIGEST_PCP_SHIFT);
}

void digest_packet(const struct roce_flow_table *t, const struct roce_frame *frame,
                   const struct roce_packet *pkt, const struct roce_icrc *icrc,
                   struct roce_digest *d)
{
    d->psn_flags = 0;
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
        d->va = 0;
        d->rkey = 0;
        d->length_msn = pkt->payload_len;
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
        d->qp_opcode = (pkt->bth.dqpn & ROCE_QPN_MASK) | (uint32_t)pkt->bth.opcode << 24;
        d->psn_flags = pkt->bth.psn & ROCE_PSN_MASK;
        d->origlen = (uint16_t)frame->origlen;
        d->payload_len = (uint16_t)pkt->payload_len;
        d->ip_id = pkt->ip.id;
        d->sport = pkt->udp.sport;
        d->tos = pkt->ip.tos;
        d->ttl = pkt->ip.ttl;
    }
    d->psn_flags |= (uint32_t)flags << 24;
}

/* ---- of the bytes ---- */

/* What digest_packet says of a plain frame, not decoded for it. For any other frame, and one whose
 * ICRC is wrong, returns false. */
static bool digest_bytes(const struct roce_flow_table *t, const struct roce_frame *frame,
                         bool check_icrc, struct roce_digest *d)
{
    struct roce_plain at;
    struct roce_plain_fields h;
    if (!roce_plain(frame, &at) || frame->caplen < at.end || frame->origlen < at.end ||
        frame->origlen > UINT16_MAX)
        return false;
    roce_plain_fields(frame, &h);
    /* What comes next on a wire cannot be foretold: no branch asks for it. */
    const uint8_t trait = traits[h.opcode];
    const bool has_reth = (trait & HAS_RETH) != 0, has_aeth = (trait & HAS_AETH) != 0;
    const struct roce_reth reth = roce_plain_reth(frame, has_reth);
    const uint32_t aeth = roce_plain_aeth(frame, has_aeth);
    if (!is_carried_on(h.opcode, (uint8_t)(aeth >> 24)) || (h.tos & 3) == ROCE_ECN_CE)
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
    more ^= sign_reth(reth.va, reth.dma_length) ^ aeth; /* as sign_aeth has it */
    flags |= (uint8_t)(has_reth * DIGEST_RETH);
    d->va = reth.va;
    d->rkey = reth.rkey;
    d->length_msn = reth.dma_length | (aeth & ROCE_PSN_MASK) |
                    (uint32_t)choose(has_reth | has_aeth, 0, at.payload_len);
    /* No member is read back: a word just put together from parts stalls who loads it. */
    flags |= (h.tos & 3) != ROCE_ECN_NOT_ECT ? DIGEST_ECT : 0;
    flags |= h.ackreq ? DIGEST_ACKREQ : 0;
    flags |= h.migreq ? DIGEST_MIGREQ : 0;
    d->ts = frame->ts;
    d->hash = table_hash_v4(t, h.addresses, h.dqpn);
    d->sign = sign_fields(h.psn, h.opcode, h.ip_id, at.payload_len, h.ackreq, more);
    d->addresses = h.addresses;
    d->qp_opcode = h.dqpn | (uint32_t)h.opcode << 24;
    d->psn_flags = h.psn | (uint32_t)flags << 24;
    d->origlen = (uint16_t)frame->origlen;
    d->payload_len = (uint16_t)at.payload_len;
    d->ip_id = h.ip_id;
    d->sport = h.sport;
    d->tos = h.tos;
    d->ttl = h.ttl;
    d->sign_attr = sign_hops(h.ttl, h.tos, 0, frame->data);
    d->kind = trait & KIND_MASK;
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
