/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Hand-made traffic for the observer: real frames, built with the encoders and decoded again. */
#ifndef TESTS_FLOW_SCENE_H
#define TESTS_FLOW_SCENE_H

#include <roce/icrc.h>
#include <roce/observer.h>

#include <stdio.h>
#include <string.h>

#define SCENE_START UINT64_C(1700000000000000000) /* ns */
#define US          UINT64_C(1000)
#define MS          UINT64_C(1000000)

struct scene {
    struct roce_observer *obs;
    struct roce_observer *twin; /* NULL, or sees the same frames through digests */
    uint64_t frame;
    roce_tstamp now;
    bool check_icrc;
    struct roce_verdict v;
    uint16_t ip_id;
};

/* One RoCE frame. 0 is the usual value of everything but src, dst, op, qp, psn. */
struct shot {
    uint8_t src, dst; /* last byte of 10.0.0.x */
    uint8_t op;
    uint32_t qp, psn;
    uint32_t len; /* payload */
    bool ack;     /* AckReq */
    uint8_t syndrome;
    uint32_t msn;
    uint64_t va;
    uint32_t rkey, dma;
    uint32_t src_qp;
    uint8_t ecn, dscp;
    uint16_t sport; /* 0: 0xC000 */
    uint8_t ttl;    /* 0: 64 */
    uint8_t pcp;    /* with |tagged| */
    bool tagged;
    bool no_migreq;
    bool bad_icrc;
    uint32_t cut;           /* bytes left out at the end of the captured frame */
    bool short_ip;          /* IP length too small for the headers */
    const uint8_t *payload; /* |len| bytes; NULL: a pattern that differs from frame to frame */
    uint32_t qkey;          /* 0: 0x11111111 */
};

static inline struct scene scene_new(const struct roce_observer_opts *opts)
{
    return (struct scene){.obs = roce_observer_new(opts), .now = SCENE_START};
}

static inline void scene_free(struct scene *s)
{
    roce_observer_del(s->obs);
}

static inline void scene_feed(struct scene *s, const uint8_t *data, uint32_t caplen, uint32_t len)
{
    const struct roce_frame frame = {.data = data,
                                     .caplen = caplen,
                                     .origlen = len,
                                     .ts = s->now,
                                     .number = ++s->frame,
                                     .linktype = ROCE_LINK_ETHERNET};
    struct roce_packet pkt;
    struct roce_icrc icrc;
    roce_packet_decode(&frame, NULL, &pkt);
    if (s->check_icrc)
        roce_icrc_check(&frame, &pkt, &icrc);
    roce_observer_update(s->obs, &frame, &pkt, s->check_icrc ? &icrc : NULL, &s->v);
    if (s->twin == NULL)
        return;
    struct roce_digest digest;
    (void)roce_flow_digest(roce_observer_flows(s->twin), &frame, NULL, s->check_icrc, &pkt, &icrc,
                           &digest);
    const struct roce_batch one = {.n = 1,
                                   .frame = &frame,
                                   .digest = &digest,
                                   .packet = &pkt,
                                   .icrc = s->check_icrc ? &icrc : NULL};
    roce_observer_update_batch(s->twin, &one);
}

/* scene_shot sends one frame |after| ns behind the last one. */
static inline void scene_shot(struct scene *s, uint64_t after, struct shot x)
{
    uint8_t b[5000] = {0};
    const struct roce_opcode_info *info = roce_opcode_info(x.op);
    uint32_t at = 0;
    const uint8_t pad = (uint8_t)(-x.len & 3);
    struct roce_eth eth = {.dst = {2, 0, 0, 0, 0, x.dst}, .src = {2, 0, 0, 0, 0, x.src}};
    eth.ethertype = x.tagged ? ROCE_ETHERTYPE_VLAN : ROCE_ETHERTYPE_IPV4;
    at += (uint32_t)roce_eth_encode(&eth, b, sizeof b);
    if (x.tagged) {
        const struct roce_vlan tag = {.tpid = ROCE_ETHERTYPE_VLAN,
                                      .tci = (uint16_t)(x.pcp << 13 | 7)};
        at += (uint32_t)roce_vlan_encode(tag, ROCE_ETHERTYPE_IPV4, b + at, sizeof b - at);
    }
    const uint32_t ip_off = at;
    const uint32_t body = ROCE_BTH_LEN + info->ext_len + x.len + pad + ROCE_ICRC_LEN;
    struct roce_ip ip = {.version = 4,
                         .tos = (uint8_t)(x.dscp << 2 | x.ecn),
                         .ttl = x.ttl != 0 ? x.ttl : 64,
                         .proto = 17,
                         .id = s->ip_id++,
                         .frag = 0x4000,
                         .total_len = ROCE_IPV4_LEN + ROCE_UDP_LEN + body};
    roce_ip_v4(ip.src, 10, 0, 0, x.src);
    roce_ip_v4(ip.dst, 10, 0, 0, x.dst);
    if (x.short_ip)
        ip.total_len = ROCE_IPV4_LEN + ROCE_UDP_LEN + ROCE_BTH_LEN + 2;
    at += (uint32_t)roce_ipv4_encode(&ip, b + at, sizeof b - at);
    const struct roce_udp udp = {.sport = x.sport != 0 ? x.sport : 0xC000,
                                 .dport = ROCE_UDP_PORT,
                                 .len = (uint16_t)(ip.total_len - ROCE_IPV4_LEN)};
    at += (uint32_t)roce_udp_encode(&udp, b + at, sizeof b - at);
    const struct roce_bth bth = {.opcode = x.op,
                                 .migreq = !x.no_migreq,
                                 .pad = pad,
                                 .pkey = ROCE_PKEY_DEFAULT,
                                 .dqpn = x.qp,
                                 .ackreq = x.ack,
                                 .becn = info->op == ROCE_OP_CNP,
                                 .psn = x.psn & 0xFFFFFF};
    at += (uint32_t)roce_bth_encode(&bth, b + at, sizeof b - at);
    uint32_t ext = at;
    if (info->headers & ROCE_H_DETH)
        ext += (uint32_t)roce_deth_encode(
            &(struct roce_deth){x.qkey != 0 ? x.qkey : 0x11111111, x.src_qp}, b + ext,
            sizeof b - ext);
    if (info->headers & ROCE_H_RETH)
        ext += (uint32_t)roce_reth_encode(&(struct roce_reth){x.va, x.rkey, x.dma}, b + ext,
                                          sizeof b - ext);
    if (info->headers & ROCE_H_AETH)
        ext += (uint32_t)roce_aeth_encode(&(struct roce_aeth){x.syndrome, x.msn & 0xFFFFFF},
                                          b + ext, sizeof b - ext);
    at += info->ext_len;
    /* Payloads differ from frame to frame, or a resend could not be told from a mirror's copy. */
    for (uint32_t i = 0; i < x.len; i++)
        b[at + i] = x.payload != NULL ? x.payload[i] : (uint8_t)(x.psn + i);
    at += x.len + pad;
    const uint32_t icrc = roce_icrc_compute(b + ip_off, at - ip_off) ^ (x.bad_icrc ? 1 : 0);
    for (int i = 0; i < 4; i++)
        b[at++] = (uint8_t)(icrc >> (24 - 8 * i));
    s->now += after;
    scene_feed(s, b, at - x.cut, at);
}

/* scene_pause sends a PFC frame (|priority| below 8) or an 802.3x PAUSE from 02:00:00:00:00:|mac|.
 */
static inline void scene_pause(struct scene *s, uint64_t after, uint8_t mac, uint8_t priority,
                               uint16_t quanta)
{
    uint8_t b[60] = {0};
    const struct roce_eth eth = {.dst = {1, 0x80, 0xC2, 0, 0, 1},
                                 .src = {2, 0, 0, 0, 0, mac},
                                 .ethertype = ROCE_ETHERTYPE_MAC_CONTROL};
    const int at = roce_eth_encode(&eth, b, sizeof b);
    struct roce_pfc pfc = {.enable = (uint16_t)(1U << (priority & 7))};
    const struct roce_pause pause = {quanta};
    pfc.quanta[priority & 7] = quanta;
    if (priority < 8)
        roce_pfc_encode(&pfc, b + at, sizeof b - (size_t)at);
    else
        roce_pause_encode(&pause, b + at, sizeof b - (size_t)at);
    s->now += after;
    scene_feed(s, b, sizeof b, sizeof b);
}

/* scene_tcp sends a frame that is no RoCE. */
static inline void scene_tcp(struct scene *s, uint64_t after)
{
    uint8_t b[60] = {0};
    const struct roce_eth eth = {.ethertype = ROCE_ETHERTYPE_IPV4};
    struct roce_ip ip = {.version = 4, .ttl = 64, .proto = 6, .total_len = 40};
    int at = roce_eth_encode(&eth, b, sizeof b);
    roce_ip_v4(ip.src, 10, 0, 0, 8);
    roce_ip_v4(ip.dst, 10, 0, 0, 9);
    at += roce_ipv4_encode(&ip, b + at, sizeof b - (size_t)at);
    b[at + 12] = 0x50;
    s->now += after;
    scene_feed(s, b, sizeof b, sizeof b);
}

/* The pair of most scenes: host 1 sends to QP 0x22 of host 2, which answers to QP 0x11. */
#define QP_A 0x11
#define QP_B 0x22

static inline struct shot scene_send(uint32_t psn)
{
    return (struct shot){.src = 1,
                         .dst = 2,
                         .op = ROCE_OPCODE_RC_SEND_ONLY,
                         .qp = QP_B,
                         .psn = psn,
                         .len = 64,
                         .ack = true};
}

static inline struct shot scene_ack(uint32_t psn, uint8_t syndrome, uint32_t msn)
{
    return (struct shot){.src = 2,
                         .dst = 1,
                         .op = ROCE_OPCODE_RC_ACKNOWLEDGE,
                         .qp = QP_A,
                         .psn = psn,
                         .syndrome = syndrome,
                         .msn = msn};
}

#define ACK_OK     0x1F
#define NAK_SEQ    0x60
#define NAK_ACCESS 0x62

/* scene_talk sends |n| SENDs from |psn| on, each acknowledged 5 us later, 20 us apart. */
static inline void scene_talk(struct scene *s, uint32_t psn, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        scene_shot(s, 15 * US, scene_send(psn + i));
        scene_shot(s, 5 * US, scene_ack(psn + i, ACK_OK, psn + i));
    }
}

/* scene_end lets |idle| ns pass with a frame that is no RoCE at the end, and judges. */
static inline void scene_end(struct scene *s, uint64_t idle)
{
    scene_tcp(s, idle);
    roce_observer_finish(s->obs);
}

/* scene_find returns the first finding of |kind|, or NULL. */
static inline const struct roce_finding *scene_find(const struct scene *s,
                                                    enum roce_finding_kind kind)
{
    uint32_t n;
    const struct roce_finding *f = roce_observer_findings(s->obs, &n);
    for (uint32_t i = 0; i < n; i++)
        if (f[i].kind == kind)
            return &f[i];
    return NULL;
}

/* scene_alarms counts errors and warnings, and prints them. */
static inline uint32_t scene_alarms(const struct scene *s)
{
    uint32_t n, alarms = 0;
    const struct roce_finding *f = roce_observer_findings(s->obs, &n);
    for (uint32_t i = 0; i < n; i++) {
        char text[ROCE_FINDING_TEXT];
        if (f[i].severity == ROCE_SEVERITY_NOTE)
            continue;
        roce_finding_text(&f[i], text, sizeof text);
        fprintf(stderr, "%s: %s\n", roce_finding_info((enum roce_finding_kind)f[i].kind)->name,
                text);
        alarms++;
    }
    return alarms;
}

#endif
