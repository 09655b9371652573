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

/* A hash of what no hop changes. */
static inline uint32_t sign_packet(const struct roce_packet *pkt, const struct roce_icrc *icrc)
{
    const uint64_t length = pkt->has & ROCE_HAS_PAYLOAD ? pkt->payload_len : 0;
    const uint64_t what = pkt->bth.psn | (uint64_t)pkt->bth.opcode << 24 |
                          (uint64_t)pkt->ip.id << 32 | length << 48 |
                          (uint64_t)pkt->bth.ackreq << 63;
    uint64_t more = icrc != NULL && icrc->has_value ? icrc->value : 0;
    if (pkt->has & ROCE_H_AETH)
        more ^= (uint64_t)pkt->aeth.syndrome << 24 | pkt->aeth.msn;
    else if (pkt->has & ROCE_H_RETH)
        more ^= pkt->reth.va ^ (uint64_t)pkt->reth.dma_length << 32;
    const uint64_t h = what * UINT64_C(0x9E3779B97F4A7C15) ^ more * UINT64_C(0xC2B2AE3D27D4EB4F);
    return (uint32_t)(h >> 32) ^ (uint32_t)h;
}

/* A hash of what a router or a mirror changes. */
static inline uint8_t sign_attributes(const struct roce_packet *pkt)
{
    uint32_t h = (uint32_t)pkt->ip.ttl << 8 | pkt->ip.tos;
    if (pkt->n_vlan > 0)
        h += (uint32_t)pkt->vlan[0].tci << 16 | pkt->n_vlan;
    if (pkt->has & ROCE_HAS_ETH) {
        uint32_t src, dst;
        memcpy(&src, pkt->eth.src + 2, sizeof src);
        memcpy(&dst, pkt->eth.dst + 2, sizeof dst);
        h += src * 3 + dst * 5;
    }
    return (uint8_t)(h * UINT32_C(0x9E3779B1) >> 24);
}

/* The time of a frame as |sig_ts| has it. */
static inline uint16_t sign_time(roce_tstamp ts)
{
    return (uint16_t)(ts >> SIGN_TS_SHIFT);
}

/* Whether the sender numbered |pkt| before the frame captured last. */
static inline bool sign_id_behind(const struct flow *f, const struct roce_packet *pkt)
{
    const uint16_t back = (uint16_t)(f->ip_id - pkt->ip.id);
    const uint16_t max = f->packets > SIGN_ID_NEW ? SIGN_ID_BACK_MAX : SIGN_ID_BACK_NEW;
    return back > 0 && back < max && pkt->ip.version == 4;
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
