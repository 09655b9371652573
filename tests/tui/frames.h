/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Frames of hand-made traffic between 10.0.0.1 and 10.0.0.2, and feeding them to a model. */
#ifndef TESTS_TUI_FRAMES_H
#define TESTS_TUI_FRAMES_H

#include <string.h>

#include <roce/icrc.h>
#include <roce/packet.h>

#include "model.h"

#define FRAMES_T0  UINT64_C(1700000000000000000) /* a whole second */
#define FRAMES_SEC UINT64_C(1000000000)
#define FRAMES_MS  UINT64_C(1000000)

struct frames_spec {
    uint8_t opcode;
    uint32_t qpn, psn;
    uint16_t payload;
    uint8_t tos, syndrome;
    bool reverse; /* from 10.0.0.2 */
    bool ackreq, bad_icrc;
};

/* Writes the frame into |out|, 4096 bytes; returns its length. */
static inline uint32_t frames_build(uint8_t *out, const struct frames_spec *spec)
{
    const struct roce_opcode_info *info = roce_opcode_info(spec->opcode);
    const uint8_t pad = (uint8_t)((4 - spec->payload % 4) % 4);
    const uint32_t udp_len = ROCE_UDP_LEN + ROCE_BTH_LEN + info->ext_len + spec->payload + pad +
                             ROCE_ICRC_LEN + (spec->opcode == ROCE_OPCODE_CNP ? 16 : 0);
    struct roce_ip ip = {.version = 4,
                         .tos = spec->tos,
                         .ttl = 64,
                         .proto = 17,
                         .frag = 0x4000,
                         .total_len = 20 + udp_len};
    roce_ip_v4(ip.src, 10, 0, 0, spec->reverse ? 2 : 1);
    roce_ip_v4(ip.dst, 10, 0, 0, spec->reverse ? 1 : 2);
    const struct roce_eth eth = {
        .dst = {2, 0, 0, 0, 0, 2}, .src = {2, 0, 0, 0, 0, 1}, .ethertype = 0x0800};
    const struct roce_udp udp = {.sport = 49152, .dport = ROCE_UDP_PORT, .len = (uint16_t)udp_len};
    const struct roce_bth bth = {.opcode = spec->opcode,
                                 .migreq = true,
                                 .pad = pad,
                                 .pkey = ROCE_PKEY_DEFAULT,
                                 .dqpn = spec->qpn,
                                 .ackreq = spec->ackreq,
                                 .psn = spec->psn};
    uint8_t *p = out;
    memset(out, 0, 4096);
    p += roce_eth_encode(&eth, p, 64);
    p += roce_ipv4_encode(&ip, p, 64);
    p += roce_udp_encode(&udp, p, 64);
    p += roce_bth_encode(&bth, p, 64);
    if ((info->headers & ROCE_H_AETH) != 0)
        p += roce_aeth_encode(&(struct roce_aeth){.syndrome = spec->syndrome, .msn = 1}, p, 64);
    p = out + ROCE_ETH_LEN + 20 + udp_len - ROCE_ICRC_LEN;
    const uint32_t icrc = roce_icrc_compute(out + ROCE_ETH_LEN, (size_t)(p - out) - ROCE_ETH_LEN) ^
                          (spec->bad_icrc ? 1 : 0);
    for (int i = 3; i >= 0; i--)
        *p++ = (uint8_t)(icrc >> (8 * i));
    return (uint32_t)(p - out);
}

/* A PFC frame that stops |priority| for |quanta|, or lets it go on with 0. */
static inline uint32_t frames_pfc(uint8_t *out, uint8_t priority, uint16_t quanta)
{
    const struct roce_eth eth = {
        .dst = {1, 0x80, 0xC2, 0, 0, 1}, .src = {2, 0, 0, 0, 0, 9}, .ethertype = 0x8808};
    struct roce_pfc pfc = {.enable = (uint16_t)(1U << priority)};
    pfc.quanta[priority] = quanta;
    memset(out, 0, 60);
    (void)roce_pfc_encode(&pfc, out + roce_eth_encode(&eth, out, 64), 64);
    return 60;
}

static inline void frames_feed(struct model *model, const uint8_t *data, uint32_t len,
                               roce_tstamp ts)
{
    static struct model_batch batch;
    static uint64_t number;
    batch.frame[0] = (struct roce_frame){.data = data,
                                         .caplen = len,
                                         .origlen = len,
                                         .ts = ts,
                                         .number = ++number,
                                         .linktype = ROCE_LINK_ETHERNET};
    (void)roce_packet_decode(&batch.frame[0], NULL, &batch.packet[0]);
    batch.checked = true;
    roce_icrc_check(&batch.frame[0], &batch.packet[0], &batch.icrc[0]);
    batch.count = 1;
    tui_model_feed(model, &batch, 0, 1);
}

static inline void frames_send(struct model *model, const struct frames_spec *spec, roce_tstamp ts)
{
    uint8_t data[4096];
    const uint32_t len = frames_build(data, spec);
    frames_feed(model, data, len, ts);
}

static const struct model_opts FRAMES_OPTS = {.max_flows = 1000,
                                              .interval_ns = 1000000000,
                                              .ring_bytes = 1 << 20,
                                              .ring_slice = 256,
                                              .ce_permille = 50};

#endif
