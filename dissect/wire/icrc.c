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
#define HEAD_MAX       (ROCE_LRH_LEN + ROCE_GRH_LEN + ROCE_UDP_LEN + ROCE_BTH_LEN)
/* Up to this size one CRC over one small copy beats two calls. */
#define SMALL_MAX 160

/* The CRC is stored least significant byte first; as a number read in wire order it is swapped. */
static uint32_t wire_order(uint32_t crc)
{
    return crc << 24 | (crc & 0xFF00) << 8 | (crc >> 8 & 0xFF00) | crc >> 24;
}

static void mask_ipv4(uint8_t *ip)
{
    ip[1] = 0xFF;  /* DSCP, ECN */
    ip[8] = 0xFF;  /* TTL */
    ip[10] = 0xFF; /* header checksum */
    ip[11] = 0xFF;
}

static void mask_ipv6(uint8_t *ip)
{
    ip[0] |= 0x0F; /* traffic class */
    ip[1] = 0xFF;
    ip[2] = 0xFF; /* flow label */
    ip[3] = 0xFF;
    ip[7] = 0xFF; /* hop limit */
}

static uint32_t crc_masked(uint32_t crc, const uint8_t *start, size_t len, size_t ip_off,
                           size_t udp_off, size_t bth_off)
{
    const size_t head_len = bth_off + ROCE_BTH_LEN;
    const size_t copied = len <= SMALL_MAX ? len : head_len;
    uint8_t head[SMALL_MAX > HEAD_MAX ? SMALL_MAX : HEAD_MAX];

    memcpy(head, start, copied);
    if (ip_off > 0)
        head[0] |= 0xF0; /* LRH: virtual lane */
    if (ip_off < bth_off) {
        if (head[ip_off] >> 4 == 4)
            mask_ipv4(head + ip_off);
        else
            mask_ipv6(head + ip_off);
    }
    if (udp_off < bth_off) {
        head[udp_off + 6] = 0xFF; /* checksum */
        head[udp_off + 7] = 0xFF;
    }
    head[bth_off + BTH_RESV_OFF] = 0xFF;
    crc = libdeflate_crc32(crc, head, copied);
    return copied == len ? crc : libdeflate_crc32(crc, start + copied, len - copied);
}

uint32_t roce_icrc_compute(const uint8_t *ip, size_t len)
{
    const bool v4 = ip[0] >> 4 == 4;
    const size_t ip_len = v4 ? ROCE_IPV4_LEN : ROCE_IPV6_LEN;
    const bool udp = v4 || ip[6] == 17;
    return wire_order(
        crc_masked(CRC_AFTER_ONES, ip, len, 0, ip_len, ip_len + (udp ? ROCE_UDP_LEN : 0)));
}

/* Native InfiniBand: the LRH is there and covered, so no ones stand for it. */
static uint32_t compute_native(const uint8_t *frame, const struct roce_packet *pkt)
{
    const uint32_t lrh = pkt->lrh_off;
    const size_t bth = pkt->bth_off - lrh;
    return wire_order(crc_masked(0, frame + lrh, pkt->icrc_off - lrh, ROCE_LRH_LEN, bth, bth));
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
