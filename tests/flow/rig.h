/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Hand-made packets for the tests of flow state: one call a frame, time and frame number by the
 * rig. */
#ifndef TESTS_FLOW_RIG_H
#define TESTS_FLOW_RIG_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <roce/flow.h>

#define US UINT64_C(1000)
#define MS UINT64_C(1000000)

struct rig {
    struct roce_flow_table *t;
    struct roce_verdict v; /* of the newest frame */
    roce_tstamp now;
    uint64_t frame;
    uint16_t ip_id;
    uint8_t ttl;
    uint8_t tos;
    uint16_t sport;
    bool ipv6;
    uint8_t icrc; /* enum roce_icrc_status, given with each frame */
    bool keep_id; /* do not count the IP identification up */
    struct roce_event event[256];
    uint32_t events;
};

static void rig_event(void *ctx, const struct roce_event *e)
{
    struct rig *r = ctx;
    if (e->kind == ROCE_EVENT_FLOW_NEW || e->kind == ROCE_EVENT_ACKED)
        return;
    if (r->events < sizeof r->event / sizeof r->event[0])
        r->event[r->events++] = *e;
}

static inline void rig_open(struct rig *r, const struct roce_flow_opts *opts)
{
    memset(r, 0, sizeof *r);
    struct roce_flow_opts o = {.max_flows = 1000};
    if (opts != NULL)
        o = *opts;
    o.ops = (struct roce_flow_ops){.ctx = r, .event = rig_event};
    r->t = roce_flow_table_new(&o);
    assert_non_null(r->t);
    r->now = UINT64_C(1700000000000000000);
    r->ttl = 64;
    r->tos = 0x02;
    r->sport = 49152;
    r->icrc = ROCE_ICRC_OK;
}

static inline void rig_close(struct rig *r)
{
    roce_flow_table_del(r->t);
}

/* Hosts are numbers: 10.0.0.n. */
static inline void rig_address(const struct rig *r, struct roce_ip *ip, uint8_t from, uint8_t to)
{
    if (r->ipv6) {
        ip->version = 6;
        memset(ip->src, 0, 16);
        ip->src[0] = 0xFD;
        memcpy(ip->dst, ip->src, 16);
        ip->src[15] = from;
        ip->dst[15] = to;
    } else {
        ip->version = 4;
        roce_ip_v4(ip->src, 10, 0, 0, from);
        roce_ip_v4(ip->dst, 10, 0, 0, to);
    }
}

/* A packet of |opcode| from host |from| to QP |qp| of host |to|. */
static inline struct roce_packet rig_packet(const struct rig *r, uint8_t opcode, uint8_t from,
                                            uint8_t to, uint32_t qp, uint32_t psn)
{
    const struct roce_opcode_info *info = roce_opcode_info(opcode);
    struct roce_packet p;
    memset(&p, 0, sizeof p);
    p.kind = ROCE_KIND_ROCEV2;
    p.service = info->service;
    p.op = info->op;
    p.pos = info->pos;
    p.response = info->response;
    p.has =
        info->headers | ROCE_HAS_BTH | ROCE_HAS_IP | ROCE_HAS_UDP | ROCE_HAS_PAYLOAD | ROCE_HAS_ETH;
    rig_address(r, &p.ip, from, to);
    p.ip.tos = r->tos;
    p.ip.ttl = r->ttl;
    p.udp.sport = r->sport;
    p.udp.dport = ROCE_UDP_PORT;
    p.eth.src[5] = from;
    p.eth.dst[5] = to;
    p.bth.opcode = opcode;
    p.bth.dqpn = qp;
    p.bth.psn = psn & 0xFFFFFF;
    return p;
}

static inline void rig_send(struct rig *r, struct roce_packet *p)
{
    if (!r->keep_id && p->ip.version == 4)
        r->ip_id++;
    p->ip.id = p->ip.version == 4 ? r->ip_id : 0;
    const struct roce_frame frame = {
        .origlen = 58 + p->payload_len, .ts = r->now, .number = ++r->frame};
    const struct roce_icrc icrc = {.status = r->icrc};
    assert_true(roce_flow_update(r->t, &frame, p, &icrc, &r->v));
}

/* A SEND or WRITE packet of |len| bytes; the last one of a message asks for an ACK. */
static inline void rig_data(struct rig *r, uint8_t opcode, uint8_t from, uint8_t to, uint32_t qp,
                            uint32_t psn, uint32_t len)
{
    struct roce_packet p = rig_packet(r, opcode, from, to, qp, psn);
    p.payload_len = len;
    p.reth.dma_length = len;
    p.bth.ackreq = p.pos == ROCE_POS_LAST || p.pos == ROCE_POS_ONLY;
    rig_send(r, &p);
}

static inline void rig_read(struct rig *r, uint8_t from, uint8_t to, uint32_t qp, uint32_t psn,
                            uint64_t va, uint32_t len)
{
    struct roce_packet p = rig_packet(r, ROCE_OPCODE_RC_READ_REQUEST, from, to, qp, psn);
    p.reth.va = va;
    p.reth.dma_length = len;
    p.bth.ackreq = true;
    rig_send(r, &p);
}

static inline void rig_atomic(struct rig *r, uint8_t from, uint8_t to, uint32_t qp, uint32_t psn)
{
    struct roce_packet p = rig_packet(r, ROCE_OPCODE_RC_FETCH_ADD, from, to, qp, psn);
    p.bth.ackreq = true;
    rig_send(r, &p);
}

/* ACK (syndrome 0x1F), NAK (0x60 + code), RNR NAK (0x20 + timer). */
static inline void rig_ack(struct rig *r, uint8_t from, uint8_t to, uint32_t qp, uint32_t psn,
                           uint8_t syndrome, uint32_t msn)
{
    struct roce_packet p = rig_packet(r, ROCE_OPCODE_RC_ACKNOWLEDGE, from, to, qp, psn);
    p.aeth.syndrome = syndrome;
    p.aeth.msn = msn;
    rig_send(r, &p);
}

static inline void rig_answer(struct rig *r, uint8_t opcode, uint8_t from, uint8_t to, uint32_t qp,
                              uint32_t psn, uint32_t len, uint32_t msn)
{
    struct roce_packet p = rig_packet(r, opcode, from, to, qp, psn);
    p.payload_len = len;
    p.aeth.syndrome = 0x1F;
    p.aeth.msn = msn;
    rig_send(r, &p);
}

static inline uint32_t rig_flow(const struct rig *r, uint8_t from, uint8_t to, uint32_t qp)
{
    struct roce_ip ip;
    rig_address(r, &ip, from, to);
    return roce_flow_find(r->t, ip.src, ip.dst, qp, false, 0);
}

static inline struct roce_flow_counters rig_counters(const struct rig *r, uint8_t from, uint8_t to,
                                                     uint32_t qp)
{
    struct roce_flow_counters c;
    assert_true(roce_flow_counters(r->t, rig_flow(r, from, to, qp), &c));
    return c;
}

static inline struct roce_flow_info rig_info(const struct rig *r, uint8_t from, uint8_t to,
                                             uint32_t qp)
{
    struct roce_flow_info i;
    assert_true(roce_flow_info(r->t, rig_flow(r, from, to, qp), &i));
    return i;
}

static inline uint32_t rig_count_events(const struct rig *r, enum roce_event_kind kind)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < r->events; i++)
        n += r->event[i].kind == kind;
    return n;
}

static inline const struct roce_event *rig_last_event(const struct rig *r,
                                                      enum roce_event_kind kind)
{
    for (uint32_t i = r->events; i-- > 0;)
        if (r->event[i].kind == kind)
            return &r->event[i];
    return NULL;
}

/* QP A of host 1 (number 0x11) and QP B of host 2 (number 0x22) exchange |n| one-packet SENDs, so
 * that they are paired; A's next PSN is |psn| + |n|. */
static inline void rig_pair(struct rig *r, uint32_t psn, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        rig_data(r, ROCE_OPCODE_RC_SEND_ONLY, 1, 2, 0x22, psn + i, 64);
        r->now += 10 * US;
        rig_ack(r, 2, 1, 0x11, psn + i, 0x1F, i + 1);
        r->now += 10 * US;
    }
}

#endif
