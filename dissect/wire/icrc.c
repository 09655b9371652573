/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Invariant CRC, IBTA 7.8.1 and annex A17.3.3: the headers that routers may change are copied and
 * masked on the stack, everything behind them is read in place. */
#include <roce/icrc.h>

#include <libdeflate.h>
#include <string.h>

#include "cursor.h"

/* The CRC begins over eight bytes of ones that stand for the LRH; this is libdeflate_crc32(0, eight
 * ones, 8). */
#define CRC_AFTER_ONES UINT32_C(0x2144DF1C)
#define BTH_RESV_OFF   4 /* FECN, BECN, resv6: masked as a byte */
#define IP_PROTO_UDP   17

/* Headers up to and with the BTH, in the order the ICRC covers them; ones mark what routers may
 * change. */
#define V4_LEN   (ROCE_IPV4_LEN + ROCE_UDP_LEN + ROCE_BTH_LEN)
#define V6_LEN   (ROCE_IPV6_LEN + ROCE_UDP_LEN + ROCE_BTH_LEN)
#define GRH_LEN  (ROCE_GRH_LEN + ROCE_BTH_LEN)
#define HEAD_MAX (ROCE_LRH_LEN + V6_LEN)
/* Up to this size one CRC over one small copy beats two calls. */
#define SMALL_MAX 192

/* DSCP and ECN, TTL, header checksum; UDP checksum; FECN, BECN and resv6. */
static const uint8_t mask_v4[V4_LEN] = {
    [1] = 0xFF, [8] = 0xFF, [10] = 0xFF, [11] = 0xFF, [26] = 0xFF, [27] = 0xFF, [32] = 0xFF,
};
/* Traffic class, flow label, hop limit; UDP checksum; FECN, BECN and resv6. */
static const uint8_t mask_v6[V6_LEN] = {
    [0] = 0x0F, [1] = 0xFF,  [2] = 0xFF,  [3] = 0xFF,
    [7] = 0xFF, [46] = 0xFF, [47] = 0xFF, [52] = 0xFF,
};
static const uint8_t mask_grh[GRH_LEN] = {
    [0] = 0x0F, [1] = 0xFF, [2] = 0xFF, [3] = 0xFF, [7] = 0xFF, [44] = 0xFF,
};

/* The CRC is stored least significant byte first; as a number read in wire order it is swapped. */
static uint32_t wire_order(uint32_t crc)
{
    return crc << 24 | (crc & 0xFF00) << 8 | (crc >> 8 & 0xFF00) | crc >> 24;
}

/* |mask| covers the first |head_len| of |len| bytes. The lengths are constants where it is called,
 * so that the masking is a few wide instructions: single bytes stored just before a wide load would
 * stall it. */
static inline uint32_t crc_masked(uint32_t crc, const uint8_t *start, size_t len,
                                  const uint8_t *mask, size_t head_len)
{
    uint8_t head[SMALL_MAX];
    for (size_t i = 0; i < head_len; i++)
        head[i] = start[i] | mask[i];
    const uint8_t *tail = start + head_len;
    const size_t tail_len = len - head_len;
    if (len <= SMALL_MAX) {
        memcpy(head + head_len, tail, tail_len);
        return libdeflate_crc32(crc, head, len);
    }
    crc = libdeflate_crc32(crc, head, head_len);
    return libdeflate_crc32(crc, tail, tail_len);
}

uint32_t roce_icrc_compute(const uint8_t *ip, size_t len)
{
    if (ip[0] >> 4 == 4)
        return wire_order(crc_masked(CRC_AFTER_ONES, ip, len, mask_v4, V4_LEN));
    if (ip[6] == IP_PROTO_UDP)
        return wire_order(crc_masked(CRC_AFTER_ONES, ip, len, mask_v6, V6_LEN));
    return wire_order(crc_masked(CRC_AFTER_ONES, ip, len, mask_grh, GRH_LEN));
}

/* Native InfiniBand: the LRH is there and covered, its virtual lane masked, so no ones stand for
 * it. */
static uint32_t compute_native(const uint8_t *frame, const struct roce_packet *pkt)
{
    uint8_t mask[HEAD_MAX] = {0xF0};
    const bool grh = (pkt->has & ROCE_HAS_GRH) != 0;
    const size_t len = pkt->icrc_off - pkt->lrh_off;
    if (grh)
        memcpy(mask + ROCE_LRH_LEN, mask_grh, GRH_LEN);
    else
        mask[ROCE_LRH_LEN + BTH_RESV_OFF] = 0xFF;
    return wire_order(crc_masked(0, frame + pkt->lrh_off, len, mask,
                                 ROCE_LRH_LEN + (grh ? GRH_LEN : ROCE_BTH_LEN)));
}

static enum roce_icrc_reason unjudged(const struct roce_packet *pkt)
{
    if (!(pkt->has & ROCE_HAS_BTH) || !(pkt->has & ROCE_HAS_PAYLOAD))
        return pkt->status == ROCE_STATUS_TRUNCATED ? ROCE_ICRC_SLICED : ROCE_ICRC_MALFORMED;
    if ((pkt->has & ROCE_HAS_IP) && pkt->ip.fragment)
        return ROCE_ICRC_FRAGMENT;
    if (pkt->sliced)
        return ROCE_ICRC_SLICED;
    if ((pkt->has & ROCE_HAS_IP) && pkt->ip.options)
        return ROCE_ICRC_IP_OPTIONS;
    return ROCE_ICRC_JUDGED;
}

void roce_icrc_check(const struct roce_frame *frame, const struct roce_packet *pkt,
                     struct roce_icrc *icrc)
{
    const enum roce_icrc_reason reason = unjudged(pkt);
    *icrc = (struct roce_icrc){.status = ROCE_ICRC_UNCHECKED, .reason = (uint8_t)reason};
    if (reason != ROCE_ICRC_JUDGED && reason != ROCE_ICRC_IP_OPTIONS)
        return;
    icrc->has_value = true;
    icrc->value = load_be32(frame->data + pkt->icrc_off);
    if (reason != ROCE_ICRC_JUDGED)
        return;
    if (pkt->kind == ROCE_KIND_IB)
        icrc->expected = compute_native(frame->data, pkt);
    else
        icrc->expected = roce_icrc_compute(frame->data + pkt->ip_off, pkt->icrc_off - pkt->ip_off);
    icrc->status = icrc->value == icrc->expected ? ROCE_ICRC_OK : ROCE_ICRC_BAD;
}

const char *roce_icrc_status_name(enum roce_icrc_status status)
{
    switch (status) {
    case ROCE_ICRC_OK:
        return "ok";
    case ROCE_ICRC_BAD:
        return "bad";
    case ROCE_ICRC_UNCHECKED:
        break;
    }
    return "unchecked";
}

const char *roce_icrc_reason_name(enum roce_icrc_reason reason)
{
    switch (reason) {
    case ROCE_ICRC_NOT_ASKED:
        return "not_asked";
    case ROCE_ICRC_SLICED:
        return "sliced";
    case ROCE_ICRC_FRAGMENT:
        return "fragment";
    case ROCE_ICRC_IP_OPTIONS:
        return "ip_options";
    case ROCE_ICRC_MALFORMED:
        return "malformed";
    case ROCE_ICRC_JUDGED:
        break;
    }
    return "";
}
