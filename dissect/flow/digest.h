/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the members of struct roce_digest hold. */
#ifndef FLOW_DIGEST_H
#define FLOW_DIGEST_H

#include <roce/flow.h>
#include <roce/psn.h>

#include <string.h>

enum digest_flag {
    DIGEST_ECT = 1 << 0, /* these two are in the order of F_ECT and F_ICRC_OK: see usual.c */
    DIGEST_ICRC_OK = 1 << 1,
    DIGEST_FLOW = 1 << 2,   /* the frame belongs to a flow; without, nothing else is valid */
    DIGEST_PLAIN = 1 << 3,  /* it may be usual; without, only what tells the flow is valid */
    DIGEST_DIRECT = 1 << 4, /* IPv4 in no tunnel: |addresses| say it all */
    DIGEST_ACKREQ = 1 << 5,
    DIGEST_MIGREQ = 1 << 6,
    DIGEST_RETH = 1 << 7,
};

/* |kind|: two bits of what it does, two of enum roce_pos, a VLAN tag and its PCP. */
enum digest_op {
    DIGEST_SEND, /* as enum roce_message_op */
    DIGEST_WRITE,
    DIGEST_ACK,
    DIGEST_ANSWER, /* another response; not plain */
};
#define DIGEST_RESPONSE  2
#define DIGEST_OP_MASK   3
#define DIGEST_POS_SHIFT 2
#define DIGEST_POS_MASK  3
#define DIGEST_TAGGED    0x10
#define DIGEST_PCP_SHIFT 5

static inline uint32_t digest_qp(const struct roce_digest *d)
{
    return d->qp_opcode & ROCE_QPN_MASK;
}
static inline uint8_t digest_opcode(const struct roce_digest *d)
{
    return (uint8_t)(d->qp_opcode >> 24);
}
static inline uint32_t digest_psn(const struct roce_digest *d)
{
    return d->psn_flags & ROCE_PSN_MASK;
}
static inline uint8_t digest_flags(const struct roce_digest *d)
{
    return (uint8_t)(d->psn_flags >> 24);
}
static inline uint8_t digest_op(const struct roce_digest *d)
{
    return d->kind & DIGEST_OP_MASK;
}
static inline uint8_t digest_pos(const struct roce_digest *d)
{
    return d->kind >> DIGEST_POS_SHIFT & DIGEST_POS_MASK;
}

/* As roce_packet_priority. */
static inline uint8_t digest_priority(const struct roce_digest *d)
{
    return d->kind & DIGEST_TAGGED ? d->kind >> DIGEST_PCP_SHIFT : d->tos >> 5;
}

/* IPv4 addresses as they lie in a frame, side by side. */
static inline uint64_t digest_addresses(const uint8_t src[16], const uint8_t dst[16])
{
    uint8_t bytes[8];
    uint64_t addresses;
    memcpy(bytes, src + 12, 4);
    memcpy(bytes + 4, dst + 12, 4);
    memcpy(&addresses, bytes, sizeof addresses);
    return addresses;
}

/* The number of the frame, in a batch that begins with frame |first|. */
static inline uint64_t digest_number(const struct roce_digest *d, uint64_t first)
{
    return first + (uint32_t)(d->number - (uint32_t)first);
}

/* digest_packet is roce_flow_digest for a packet that is decoded already. */
void digest_packet(const struct roce_flow_table *t, const struct roce_frame *frame,
                   const struct roce_packet *pkt, const struct roce_icrc *icrc,
                   struct roce_digest *d);

#endif
