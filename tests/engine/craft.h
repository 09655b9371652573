/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A peer made by hand: frames of any content towards one side of a rig, and a look at what it
 * answers. Built with the library's encoders alone. */
#ifndef TESTS_ENGINE_CRAFT_H
#define TESTS_ENGINE_CRAFT_H

#include <roce/icrc.h>
#include <roce/opcode.h>
#include <roce/packet.h>

#include "rig.h"

/* What a frame says. Members that the opcode has no header for are ignored. */
struct craft {
    uint8_t opcode;
    uint32_t psn;
    bool ackreq, se;
    struct roce_reth reth;
    struct roce_atomic_eth atomic;
    struct roce_aeth aeth;
    struct roce_deth deth;
    struct roce_xrceth xrceth;
    struct roce_feth feth;
    uint64_t original;
    uint32_t imm, inv_rkey;
    const uint8_t *payload; /* NULL: zeros */
    uint32_t len;
    /* faults */
    uint32_t dqpn; /* 0: the QP's */
    uint16_t pkey; /* 0: 0xFFFF */
    uint8_t tver;
    uint8_t tos;
    uint8_t pad; /* added to the right one, modulo 4 */
    uint8_t src; /* last byte of the source address; 0: the peer's */
    bool bad_icrc;
};

static inline size_t craft_headers(const struct craft *c, uint8_t *p, size_t room)
{
    const unsigned h = roce_opcode_info(c->opcode)->headers;
    size_t n = 0;
    if (h & ROCE_H_DETH)
        n += (size_t)roce_deth_encode(&c->deth, p + n, room - n);
    if (h & ROCE_H_XRCETH)
        n += (size_t)roce_xrceth_encode(&c->xrceth, p + n, room - n);
    if (h & ROCE_H_FETH)
        n += (size_t)roce_feth_encode(&c->feth, p + n, room - n);
    if (h & ROCE_H_RETH)
        n += (size_t)roce_reth_encode(&c->reth, p + n, room - n);
    if (h & ROCE_H_ATOMIC)
        n += (size_t)roce_atomic_eth_encode(&c->atomic, p + n, room - n);
    if (h & ROCE_H_AETH)
        n += (size_t)roce_aeth_encode(&c->aeth, p + n, room - n);
    if (h & ROCE_H_ATOMIC_ACK) {
        const struct roce_atomic_ack_eth a = {.original = c->original};
        n += (size_t)roce_atomic_ack_eth_encode(&a, p + n, room - n);
    }
    if (h & ROCE_H_IMM)
        n += (size_t)roce_imm_encode(c->imm, p + n, room - n);
    if (h & ROCE_H_IETH) {
        const struct roce_ieth e = {.rkey = c->inv_rkey};
        n += (size_t)roce_ieth_encode(&e, p + n, room - n);
    }
    return n;
}

/* Writes the frame from the peer of side |to| to |buf|; returns its length. */
static inline size_t craft_frame(const struct rig *r, int to, const struct craft *c, uint8_t *buf)
{
    const size_t room = ENG_FRAME_MAX;
    uint8_t transport[ENG_FRAME_MAX];
    const uint32_t pad = (-c->len & 3);
    const struct roce_bth bth = {.opcode = c->opcode,
                                 .se = c->se,
                                 .pad = (uint8_t)((pad + c->pad) & 3),
                                 .tver = c->tver,
                                 .pkey = c->pkey != 0 ? c->pkey : 0xFFFF,
                                 .dqpn = c->dqpn != 0 ? c->dqpn : eng_qp_num(r->side[to].qp),
                                 .ackreq = c->ackreq,
                                 .psn = c->psn};
    size_t n = (size_t)roce_bth_encode(&bth, transport, room);
    n += craft_headers(c, transport + n, room - n);
    memset(transport + n, 0, c->len + pad);
    if (c->payload != NULL)
        memcpy(transport + n, c->payload, c->len);
    n += c->len + pad;

    const struct roce_eth eth = {.ethertype = ROCE_ETHERTYPE_IPV4};
    struct roce_ip ip = {.tos = c->tos,
                         .ttl = 64,
                         .proto = 17,
                         .frag = 0x4000,
                         .total_len = (uint32_t)(ROCE_IPV4_LEN + ROCE_UDP_LEN + n + ROCE_ICRC_LEN)};
    roce_ip_v4(ip.src, 10, 0, 0, c->src != 0 ? c->src : (uint8_t)(2 - to));
    roce_ip_v4(ip.dst, 10, 0, 0, (uint8_t)(to + 1));
    const struct roce_udp udp = {
        .sport = 0xC000, .dport = 4791, .len = (uint16_t)(ROCE_UDP_LEN + n + ROCE_ICRC_LEN)};
    size_t at = (size_t)roce_eth_encode(&eth, buf, room);
    at += (size_t)roce_ipv4_encode(&ip, buf + at, room - at);
    at += (size_t)roce_udp_encode(&udp, buf + at, room - at);
    memcpy(buf + at, transport, n);
    at += n;
    uint32_t icrc = roce_icrc_compute(buf + ROCE_ETH_LEN, at - ROCE_ETH_LEN);
    if (c->bad_icrc)
        icrc ^= 1;
    for (int i = 0; i < 4; i++)
        buf[at++] = (uint8_t)(icrc >> (24 - 8 * i));
    return at;
}

/* Hands the frame to side |to| at the loop's time; returns what eng_dev_read says. */
static inline int craft_send(struct rig *r, int to, const struct craft *c)
{
    uint8_t buf[ENG_FRAME_MAX];
    const size_t len = craft_frame(r, to, c, buf);
    uint8_t *exact = malloc(len);
    memcpy(exact, buf, len);
    const int result = eng_dev_read(r->side[to].dev, r->loop.now, exact, len);
    free(exact);
    return result;
}

/* The next frame of side |from|, decoded. False: there is none. */
struct seen {
    struct roce_packet pkt;
    uint8_t bytes[ENG_FRAME_MAX];
    int len;
};
static inline bool craft_next(struct rig *r, int from, struct seen *s)
{
    s->len = eng_dev_write(r->side[from].dev, r->loop.now, s->bytes, sizeof(s->bytes));
    if (s->len <= 0)
        return false;
    const struct roce_frame frame = {.data = s->bytes,
                                     .caplen = (uint32_t)s->len,
                                     .origlen = (uint32_t)s->len,
                                     .linktype = ROCE_LINK_ETHERNET};
    struct roce_icrc icrc;
    roce_packet_decode(&frame, NULL, &s->pkt);
    assert_int_equal(s->pkt.status, ROCE_STATUS_OK);
    roce_icrc_check(&frame, &s->pkt, &icrc);
    assert_int_equal(icrc.status, ROCE_ICRC_OK);
    return true;
}

/* The next frame of side |from| is an Acknowledge with these values, and the only one. */
static inline void craft_expect_ack(struct rig *r, int from, uint8_t syndrome, uint32_t psn,
                                    uint32_t msn)
{
    struct seen s;
    assert_true(craft_next(r, from, &s));
    assert_int_equal(s.pkt.op, ROCE_OP_ACK);
    assert_int_equal(s.pkt.aeth.syndrome, syndrome);
    assert_int_equal(s.pkt.bth.psn, psn);
    assert_int_equal(s.pkt.aeth.msn, msn);
    assert_false(craft_next(r, from, &s));
}

static inline void craft_expect_silence(struct rig *r, int from)
{
    struct seen s;
    assert_false(craft_next(r, from, &s));
}

#endif
