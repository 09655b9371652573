/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Frames changed and frames added. */
#include "rocereplay/inject.h"

#include <roce/icrc.h>
#include <string.h>

enum {
    PFC_FRAME_LEN = 60, /* least length of Ethernet, without FCS */
    CNP_PAYLOAD_LEN = 16,
    UNLIMITED_CREDITS = 0x1F,
    XRC_BIT = 0xA0, /* of XRC opcodes, whose low bits are those of RC */
};

static bool is_plain_ack(const struct roce_packet *pkt)
{
    return pkt->op == ROCE_OP_ACK && (pkt->has & ROCE_H_AETH) != 0 &&
           roce_aeth_kind(pkt->aeth.syndrome) == ROCE_AETH_ACK;
}

bool inject_fits(enum fault_kind kind, const struct roce_packet *pkt)
{
    const bool reliable = pkt->service == ROCE_SERVICE_RC || pkt->service == ROCE_SERVICE_XRC;
    const bool bare = pkt->n_tunnel == 0 && !pkt->ip.options && !pkt->sliced;
    switch (kind) {
    case FAULT_DROP:
    case FAULT_DUP:
    case FAULT_REORDER:
    case FAULT_DELAY:
    case FAULT_CE:
    case FAULT_BAD_ICRC:
        return true;
    case FAULT_CORRUPT:
        return bare && pkt->payload_len > 0;
    case FAULT_SUPPRESS_ACK:
        return is_plain_ack(pkt);
    case FAULT_NAK:
    case FAULT_RNR:
        return bare && is_plain_ack(pkt);
    case FAULT_GHOST_ACK:
        return bare && reliable;
    case FAULT_CNP:
        return bare && pkt->op != ROCE_OP_CNP;
    case FAULT_PFC_XOFF:
    case FAULT_PFC_XON:
        return (pkt->has & ROCE_HAS_ETH) != 0;
    case FAULT_KINDS:
        break;
    }
    return false;
}

static void put16(uint8_t *p, uint32_t v)
{
    p[0] = (uint8_t)(v >> 8);
    p[1] = (uint8_t)v;
}

/* The checksums of a frame whose BTH or what is behind it has changed; the IP header is the one of
 * |pkt|, with the total length |ip_len|. */
static void mend(const struct roce_packet *pkt, uint8_t *frame, uint32_t ip_len)
{
    uint8_t *ip = frame + pkt->ip_off, *udp = frame + pkt->udp_off;
    const uint32_t covered = ip_len - ROCE_ICRC_LEN;
    const bool with_udp = udp[6] != 0 || udp[7] != 0;
    const uint32_t icrc = roce_icrc_compute(ip, covered);
    for (unsigned i = 0; i < ROCE_ICRC_LEN; i++)
        ip[covered + i] = (uint8_t)(icrc >> (24 - 8 * i));
    if (!with_udp)
        return;
    put16(udp + 6, 0);
    put16(udp + 6, roce_udp_checksum(&pkt->ip, udp, pkt->ip_off + ip_len - pkt->udp_off));
}

void inject_corrupt(const struct roce_packet *pkt, uint8_t *frame)
{
    frame[pkt->payload_off + pkt->payload_len / 2] ^= 0xFF;
    mend(pkt, frame, pkt->end_off - pkt->ip_off);
}

void inject_syndrome(const struct roce_packet *pkt, uint8_t *frame, uint8_t syndrome)
{
    frame[roce_packet_header_off(pkt, ROCE_H_AETH)] = syndrome;
    mend(pkt, frame, pkt->end_off - pkt->ip_off);
}

/* The headers of |frame| up to the BTH, with lengths for |len| bytes from there to the ICRC. */
static uint32_t put_headers(const struct roce_packet *pkt, const uint8_t *frame, uint32_t len,
                            uint8_t *out)
{
    const uint32_t udp_len = ROCE_UDP_LEN + len + ROCE_ICRC_LEN;
    const uint32_t ip_len = pkt->udp_off - pkt->ip_off + udp_len;
    memcpy(out, frame, pkt->bth_off);
    put16(out + pkt->udp_off + 4, udp_len);
    if (pkt->ip.version == 6) {
        put16(out + pkt->ip_off + 4, ip_len - ROCE_IPV6_LEN);
    } else {
        uint8_t *ip = out + pkt->ip_off;
        put16(ip + 2, ip_len);
        put16(ip + 10, roce_ipv4_checksum(ip, ROCE_IPV4_LEN));
    }
    return ip_len;
}

static size_t make_pfc(const struct roce_packet *pkt, uint32_t arg, uint8_t *out)
{
    static const uint8_t group[6] = {0x01, 0x80, 0xC2, 0x00, 0x00, 0x01}; /* 802.1Qbb 36.1 */
    const unsigned priority = arg >> 16 & 7;
    struct roce_eth eth = {.ethertype = ROCE_ETHERTYPE_MAC_CONTROL};
    struct roce_pfc pfc = {.enable = (uint16_t)(1U << priority)};
    memcpy(eth.dst, group, 6);
    memcpy(eth.src, pkt->eth.src, 6);
    pfc.quanta[priority] = (uint16_t)arg;
    memset(out, 0, PFC_FRAME_LEN);
    (void)roce_eth_encode(&eth, out, ROCE_ETH_LEN);
    (void)roce_pfc_encode(&pfc, out + ROCE_ETH_LEN, ROCE_PFC_LEN);
    return PFC_FRAME_LEN;
}

static size_t make_packet(enum fault_kind kind, const struct roce_packet *pkt, const uint8_t *frame,
                          uint32_t psn, uint8_t *out)
{
    const bool cnp = kind == FAULT_CNP;
    const uint32_t behind = cnp ? CNP_PAYLOAD_LEN : ROCE_AETH_LEN;
    struct roce_bth bth = {
        .opcode = ROCE_OPCODE_CNP,
        .becn = cnp,
        .migreq = !cnp && pkt->bth.migreq,
        .pkey = pkt->bth.pkey,
        .dqpn = pkt->bth.dqpn,
        .psn = cnp ? 0 : psn,
    };
    if (pkt->bth_off + ROCE_BTH_LEN + behind + ROCE_ICRC_LEN > INJECT_FRAME_MAX)
        return 0;
    if (!cnp)
        bth.opcode = pkt->service == ROCE_SERVICE_XRC ? ROCE_OPCODE_RC_ACKNOWLEDGE | XRC_BIT
                                                      : ROCE_OPCODE_RC_ACKNOWLEDGE;
    const uint32_t ip_len = put_headers(pkt, frame, ROCE_BTH_LEN + behind, out);
    uint8_t *p = out + pkt->bth_off;
    (void)roce_bth_encode(&bth, p, ROCE_BTH_LEN);
    memset(p + ROCE_BTH_LEN, 0, behind);
    if (!cnp) {
        const struct roce_aeth aeth = {
            .syndrome = UNLIMITED_CREDITS,
            .msn = (pkt->has & ROCE_H_AETH) != 0 ? pkt->aeth.msn : 0,
        };
        (void)roce_aeth_encode(&aeth, p + ROCE_BTH_LEN, ROCE_AETH_LEN);
    }
    mend(pkt, out, ip_len);
    return pkt->ip_off + ip_len;
}

size_t inject_make(enum fault_kind kind, const struct roce_packet *pkt, const uint8_t *frame,
                   uint32_t arg, uint8_t out[INJECT_FRAME_MAX])
{
    switch (kind) {
    case FAULT_GHOST_ACK:
    case FAULT_CNP:
        return make_packet(kind, pkt, frame, arg, out);
    case FAULT_PFC_XOFF:
    case FAULT_PFC_XON:
        return make_pfc(pkt, arg, out);
    case FAULT_DROP:
    case FAULT_DUP:
    case FAULT_REORDER:
    case FAULT_DELAY:
    case FAULT_CE:
    case FAULT_BAD_ICRC:
    case FAULT_CORRUPT:
    case FAULT_SUPPRESS_ACK:
    case FAULT_NAK:
    case FAULT_RNR:
    case FAULT_KINDS:
        break;
    }
    return 0;
}
