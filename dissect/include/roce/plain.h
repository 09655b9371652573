/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The frame that nearly every one is: Ethernet, IPv4 without options, UDP 4791 and a BTH of a known
 * opcode, of lengths that agree. All its headers lie at fixed places, and it can be read without
 * walking from one to the next. */
#ifndef ROCE_PLAIN_H
#define ROCE_PLAIN_H

#include <roce/bth.h>
#include <roce/net.h>
#include <roce/opcode.h>
#include <roce/types.h>
#include <roce/xth.h>

#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Offsets from the first byte of a plain frame. */
enum roce_plain_off {
    ROCE_PLAIN_IP = ROCE_ETH_LEN,
    ROCE_PLAIN_UDP = ROCE_PLAIN_IP + ROCE_IPV4_LEN,
    ROCE_PLAIN_BTH = ROCE_PLAIN_UDP + ROCE_UDP_LEN,
    ROCE_PLAIN_XTH = ROCE_PLAIN_BTH + ROCE_BTH_LEN, /* extended headers, if there are any */
};

struct roce_plain {
    const struct roce_opcode_info *info;
    uint32_t payload_off, payload_len;
    uint32_t end; /* of the packet by its IP length, ICRC included; may lie behind the captured
                     bytes */
};

static inline uint16_t roce_plain_be16(const uint8_t *p)
{
    return (uint16_t)(p[0] << 8 | p[1]);
}

static inline uint32_t roce_plain_be32(const uint8_t *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

/* roce_plain tells whether |frame| is plain, its headers captured, and fills |plain| if so. RD is
 * never plain. */
static inline bool roce_plain(const struct roce_frame *frame, struct roce_plain *plain)
{
    enum { PROTO_UDP = 17, VERSION_AND_LENGTH = 0x45, SERVICE_SHIFT = 5 };
    const uint8_t *p = frame->data, *ip = p + ROCE_PLAIN_IP, *bth = p + ROCE_PLAIN_BTH;
    /* EtherType, version and length of the header; fragment bits and protocol. */
    const uint32_t kind = ROCE_ETHERTYPE_IPV4 << 16 | VERSION_AND_LENGTH << 8;
    if (frame->linktype != ROCE_LINK_ETHERNET || frame->caplen < ROCE_PLAIN_XTH ||
        (roce_plain_be32(p + 12) & 0xFFFFFF00) != kind ||
        (roce_plain_be32(ip + 6) & 0x3FFF00FF) != PROTO_UDP ||
        roce_plain_be16(p + ROCE_PLAIN_UDP + 2) != ROCE_UDP_PORT)
        return false;
    const uint32_t total_len = roce_plain_be16(ip + 2);
    const uint32_t tail = (bth[1] >> 4 & 3u) + ROCE_ICRC_LEN;
    plain->info = roce_opcode_info(bth[0]);
    plain->end = ROCE_PLAIN_IP + total_len;
    plain->payload_off = ROCE_PLAIN_XTH + (uint32_t)plain->info->ext_len;
    plain->payload_len = plain->end - tail - plain->payload_off;
    return plain->info->name != NULL && bth[0] >> SERVICE_SHIFT != ROCE_SERVICE_RD &&
           (bth[1] & 0xF) == 0 &&
           roce_plain_be16(p + ROCE_PLAIN_UDP + 4) + (uint32_t)ROCE_IPV4_LEN == total_len &&
           plain->end >= plain->payload_off + tail && frame->caplen >= plain->payload_off;
}

/* What flow state asks of the headers of a plain frame. */
struct roce_plain_fields {
    uint64_t addresses; /* IPv4 source and destination, as they lie in the frame */
    uint16_t ip_id, sport;
    uint8_t tos, ttl, opcode;
    bool migreq, ackreq;
    uint32_t dqpn, psn;
};

static inline void roce_plain_fields(const struct roce_frame *frame, struct roce_plain_fields *h)
{
    const uint8_t *ip = frame->data + ROCE_PLAIN_IP, *bth = frame->data + ROCE_PLAIN_BTH;
    const uint32_t second = roce_plain_be32(bth + 4), third = roce_plain_be32(bth + 8);
    memcpy(&h->addresses, ip + 12, sizeof(h->addresses));
    h->ip_id = roce_plain_be16(ip + 4);
    h->tos = ip[1];
    h->ttl = ip[8];
    h->sport = roce_plain_be16(frame->data + ROCE_PLAIN_UDP);
    h->opcode = bth[0];
    h->migreq = (bth[1] >> 6 & 1) != 0;
    h->ackreq = third >> 31 != 0;
    h->dqpn = second & ROCE_QPN_MASK;
    h->psn = third & 0xFFFFFF;
}

/* What lies behind the BTH when |has|, else zeros; without a branch. */
static inline const uint8_t *roce_plain_xth(const struct roce_frame *frame, bool has)
{
    static const uint8_t none[ROCE_RETH_LEN] = {0};
    const uint8_t *at[2] = {none, frame->data + ROCE_PLAIN_XTH};
    return at[has];
}

/* roce_plain_reth reads the RETH, roce_plain_aeth the AETH (its syndrome << 24 | MSN): |has| is
 * whether info->headers have it behind the BTH; all are 0 if not. roce_plain_icrc reads the ICRC,
 * which must have been captured. */
static inline struct roce_reth roce_plain_reth(const struct roce_frame *frame, bool has)
{
    const uint8_t *p = roce_plain_xth(frame, has);
    struct roce_reth reth;
    reth.va = (uint64_t)roce_plain_be32(p) << 32 | roce_plain_be32(p + 4);
    reth.rkey = roce_plain_be32(p + 8);
    reth.dma_length = roce_plain_be32(p + 12);
    return reth;
}

static inline uint32_t roce_plain_aeth(const struct roce_frame *frame, bool has)
{
    return roce_plain_be32(roce_plain_xth(frame, has));
}

static inline uint32_t roce_plain_icrc(const struct roce_frame *frame,
                                       const struct roce_plain *plain)
{
    return roce_plain_be32(frame->data + plain->end - ROCE_ICRC_LEN);
}

#ifdef __cplusplus
}
#endif
#endif
