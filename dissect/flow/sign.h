/* SPDX-License-Identifier: GPL-2.0-or-later */
/* By what a frame is known again when the capture holds it twice. */
#ifndef FLOW_SIGN_H
#define FLOW_SIGN_H

#include "internal.h"

#include <string.h>

#define SIGN_TS_SHIFT 16
/* Further back it is the next round of the 16-bit number; in a flow of no more than SIGN_ID_NEW
 * frames it may be a random number, too. */
#define SIGN_ID_BACK_MAX 4096
#define SIGN_ID_BACK_NEW 64
#define SIGN_ID_NEW      16

/* A hash of what no hop changes. |more|: what the extended headers and the ICRC add. */
static inline uint32_t sign_fields(uint32_t psn, uint8_t opcode, uint16_t ip_id, uint64_t length,
                                   bool ackreq, uint64_t more)
{
    const uint64_t what = psn | (uint64_t)opcode << 24 | (uint64_t)ip_id << 32 | length << 48 |
                          (uint64_t)ackreq << 63;
    const uint64_t h = what * UINT64_C(0x9E3779B97F4A7C15) ^ more * UINT64_C(0xC2B2AE3D27D4EB4F);
    return (uint32_t)(h >> 32) ^ (uint32_t)h;
}

static inline uint64_t sign_aeth(uint8_t syndrome, uint32_t msn)
{
    return (uint64_t)syndrome << 24 | msn;
}

static inline uint64_t sign_reth(uint64_t va, uint32_t length)
{
    return va ^ (uint64_t)length << 32;
}

static inline uint32_t sign_packet(const struct roce_packet *pkt, const struct roce_icrc *icrc)
{
    uint64_t more = icrc != NULL && icrc->has_value ? icrc->value : 0;
    if (pkt->has & ROCE_H_AETH)
        more ^= sign_aeth(pkt->aeth.syndrome, pkt->aeth.msn);
    else if (pkt->has & ROCE_H_RETH)
        more ^= sign_reth(pkt->reth.va, pkt->reth.dma_length);
    return sign_fields(pkt->bth.psn, pkt->bth.opcode, pkt->ip.id,
                       pkt->has & ROCE_HAS_PAYLOAD ? pkt->payload_len : 0, pkt->bth.ackreq, more);
}

/* A hash of what a router or a mirror changes. |macs|: destination and source, or NULL. */
static inline uint8_t sign_hops(uint8_t ttl, uint8_t tos, uint32_t tags, const uint8_t *macs)
{
    uint64_t h = ((uint64_t)tags << 16) + ((uint32_t)ttl << 8 | tos);
    if (macs != NULL) {
        uint64_t first;
        uint32_t last;
        memcpy(&first, macs, sizeof first);
        memcpy(&last, macs + 8, sizeof last);
        h += (first ^ (uint64_t)last << 24) * UINT64_C(0xC2B2AE3D27D4EB4F);
    }
    return (uint8_t)(h * UINT64_C(0x9E3779B97F4A7C15) >> 56);
}

static inline uint8_t sign_attributes(const struct roce_packet *pkt)
{
    _Static_assert(offsetof(struct roce_eth, src) == 6, "the addresses lie as in the frame");
    return sign_hops(pkt->ip.ttl, pkt->ip.tos,
                     pkt->n_vlan > 0 ? (uint32_t)pkt->vlan[0].tci << 16 | pkt->n_vlan : 0,
                     pkt->has & ROCE_HAS_ETH ? pkt->eth.dst : NULL);
}

/* The time of a frame as |sig_ts| has it. */
static inline uint16_t sign_time(roce_tstamp ts)
{
    return (uint16_t)(ts >> SIGN_TS_SHIFT);
}

/* Whether the sender numbered a frame |id| before the one captured last. IPv6 has no such number:
 * always 0. */
static inline bool sign_id_behind(const struct flow *f, uint16_t id)
{
    const uint16_t back = (uint16_t)(f->ip_id - id);
    const uint16_t max = f->packets > SIGN_ID_NEW ? SIGN_ID_BACK_MAX : SIGN_ID_BACK_NEW;
    return back > 0 && back < max;
}

static inline bool sign_known(const struct flow *f, uint32_t sig)
{
    _Static_assert(SIG_SLOTS == 4, "all slots are compared here");
    return sig == f->sig[0] || sig == f->sig[1] || sig == f->sig[2] || sig == f->sig[3];
}

static inline void sign_keep(struct flow *f, uint32_t sig, uint16_t ts, uint8_t attr)
{
    const uint32_t pos = f->sig_pos % SIG_SLOTS;
    f->sig[pos] = sig;
    f->sig_ts[pos] = ts;
    f->sig_attr[pos] = attr;
    f->sig_pos = (uint8_t)((pos + 1) % SIG_SLOTS);
}

#endif
