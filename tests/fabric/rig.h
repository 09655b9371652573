/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Hosts that send numbered frames at a rate and obey pauses, without a transport: what comes out of
 * the network can be held against what went in. */
#ifndef TESTS_FABRIC_RIG_H
#define TESTS_FABRIC_RIG_H

#include <stdlib.h>
#include <string.h>

#include <roce/err.h>
#include <roce/net.h>
#include <roce/pfc.h>

#include "fabric/fabric.h"
#include "tests/cmocka_all.h"

#define RIG_HOSTS   64
#define RIG_STREAMS 8
#define RIG_HEAD    (ROCE_ETH_LEN + ROCE_IPV4_LEN + ROCE_UDP_LEN)
#define RIG_G       UINT64_C(1000000000)

struct rig_stream {
    int to;       /* host */
    uint32_t len; /* of a frame, without FCS */
    uint8_t tos;  /* priority << 5 | ECN */
    uint16_t sport;
    uint64_t rate_bps; /* on the wire; 0: as fast as the link */
    uint64_t limit;    /* frames; 0: no end */
    roce_tstamp start;
    bool v6, tagged; /* tagged: VLAN tag with the priority, DSCP 0 */
    uint64_t sent;
    roce_tstamp due;
};

struct rig_host {
    struct rig *rig;
    int node, number;
    struct rig_stream stream[RIG_STREAMS];
    int n_streams, turn;
    roce_tstamp paused_until[8];
    uint64_t rate_bps;
    uint64_t received, received_bytes, marked, out_of_order, missing, pfc;
    uint64_t from[RIG_HOSTS][RIG_STREAMS]; /* frames received */
    uint64_t next[RIG_HOSTS][RIG_STREAMS]; /* number expected */
    roce_tstamp first, last;               /* arrivals */
    uint8_t newest[FAB_FRAME_MAX];
    size_t newest_len;
};

struct rig {
    struct fab *fab;
    struct rig_host host[RIG_HOSTS];
    int n_hosts;
    uint64_t traced[FAB_TRACE_RESTORED + 1];
    uint64_t digest; /* of all that was traced and received */
};

static inline void rig_digest(struct rig *rig, const void *data, size_t len)
{
    const uint8_t *p = data;
    for (size_t i = 0; i < len; i++)
        rig->digest = (rig->digest ^ p[i]) * UINT64_C(0x100000001B3);
}

static inline void rig_put32(uint8_t *p, uint32_t v)
{
    for (int i = 0; i < 4; i++)
        p[i] = (uint8_t)(v >> (24 - 8 * i));
}

static inline uint32_t rig_get32(const uint8_t *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static inline void rig_ip(uint8_t ip[16], int host, bool v6)
{
    if (v6) {
        memset(ip, 0, 16);
        ip[0] = 0xfd;
        ip[15] = (uint8_t)(host + 1);
    } else {
        roce_ip_v4(ip, 10, 0, 0, (uint8_t)(host + 1));
    }
}

static inline int rig_frame(const struct rig_host *host, int index, const struct rig_stream *s,
                            uint8_t *buf)
{
    const uint8_t priority = s->tos >> 5;
    struct roce_eth eth = {.dst = {2, 0, 0, 0, 0, (uint8_t)(s->to + 1)},
                           .src = {2, 0, 0, 0, 0, (uint8_t)(host->number + 1)},
                           .ethertype = s->v6 ? ROCE_ETHERTYPE_IPV6 : ROCE_ETHERTYPE_IPV4};
    uint32_t at = ROCE_ETH_LEN;
    if (s->tagged) {
        const struct roce_vlan tag = {.tpid = ROCE_ETHERTYPE_VLAN,
                                      .tci = (uint16_t)(priority << 13)};
        roce_vlan_encode(tag, eth.ethertype, buf + at, ROCE_VLAN_LEN);
        eth.ethertype = ROCE_ETHERTYPE_VLAN;
        at += ROCE_VLAN_LEN;
    }
    roce_eth_encode(&eth, buf, ROCE_ETH_LEN);
    struct roce_ip ip = {.version = s->v6 ? 6 : 4,
                         .tos = s->tagged ? s->tos & 3 : s->tos,
                         .ttl = 64,
                         .proto = 17,
                         .frag = 0x4000,
                         .total_len = s->len - at};
    rig_ip(ip.src, host->number, s->v6);
    rig_ip(ip.dst, s->to, s->v6);
    if (s->v6)
        at += (uint32_t)roce_ipv6_encode(&ip, buf + at, ROCE_IPV6_LEN);
    else
        at += (uint32_t)roce_ipv4_encode(&ip, buf + at, ROCE_IPV4_LEN);
    const struct roce_udp udp = {
        .sport = s->sport, .dport = ROCE_UDP_PORT, .len = (uint16_t)(s->len - at)};
    at += (uint32_t)roce_udp_encode(&udp, buf + at, ROCE_UDP_LEN);
    memset(buf + at, 0, s->len - at);
    /* At the end, where every kind of frame has it at the same place. */
    uint8_t *note = buf + s->len - 12;
    rig_put32(note, (uint32_t)host->number);
    rig_put32(note + 4, (uint32_t)index);
    rig_put32(note + 8, (uint32_t)s->sent);
    return (int)s->len;
}

static inline roce_tstamp rig_ready(const struct rig_host *host, const struct rig_stream *s)
{
    if (s->limit != 0 && s->sent >= s->limit)
        return FAB_NEVER;
    const roce_tstamp pause = host->paused_until[s->tos >> 5];
    const roce_tstamp due = s->due > s->start ? s->due : s->start;
    return pause > due ? pause : due;
}

static inline int rig_give(void *ctx, roce_tstamp now, uint8_t *buf, size_t len)
{
    struct rig_host *host = ctx;
    for (int i = 0; i < host->n_streams; i++) {
        const int index = (host->turn + i) % host->n_streams;
        struct rig_stream *s = &host->stream[index];
        if (rig_ready(host, s) > now)
            continue;
        assert_true(s->len <= len);
        const int n = rig_frame(host, index, s, buf);
        s->sent++;
        if (s->rate_bps != 0)
            s->due = s->start + (s->sent * (s->len + FAB_WIRE_EXTRA) * 8 * RIG_G) / s->rate_bps;
        host->turn = index + 1;
        return n;
    }
    return 0;
}

static inline roce_tstamp rig_next(void *ctx, roce_tstamp now)
{
    struct rig_host *host = ctx;
    (void)now;
    roce_tstamp next = FAB_NEVER;
    for (int i = 0; i < host->n_streams; i++) {
        const roce_tstamp ready = rig_ready(host, &host->stream[i]);
        next = ready < next ? ready : next;
    }
    return next;
}

static inline void rig_expire(void *ctx, roce_tstamp now)
{
    (void)ctx;
    (void)now;
}

static inline void rig_arrive(void *ctx, roce_tstamp now, const uint8_t *frame, size_t len)
{
    struct rig_host *host = ctx;
    if (frame[12] == 0x88 && frame[13] == 0x08) {
        struct roce_pfc pfc;
        assert_true(roce_pfc_decode(frame + ROCE_ETH_LEN, len - ROCE_ETH_LEN, &pfc) > 0);
        for (int p = 0; p < 8; p++)
            if ((pfc.enable >> p & 1) != 0)
                host->paused_until[p] = now + roce_pause_ns(pfc.quanta[p], host->rate_bps);
        host->pfc++;
        return;
    }
    const uint8_t *note = frame + len - 12;
    const uint32_t from = rig_get32(note), stream = rig_get32(note + 4), n = rig_get32(note + 8);
    assert_true(from < RIG_HOSTS && stream < RIG_STREAMS);
    if (host->received == 0)
        host->first = now;
    host->last = now;
    host->received++;
    host->received_bytes += len;
    host->from[from][stream]++;
    if (n < host->next[from][stream])
        host->out_of_order++;
    else
        host->missing += n - host->next[from][stream];
    host->next[from][stream] = n + 1;
    const bool tagged = frame[12] == 0x81;
    const uint8_t *ip = frame + ROCE_ETH_LEN + (tagged ? ROCE_VLAN_LEN : 0);
    const unsigned ecn = ip[0] >> 4 == 4 ? ip[1] & 3 : ip[1] >> 4 & 3;
    host->marked += ecn == ROCE_ECN_CE;
    memcpy(host->newest, frame, len);
    host->newest_len = len;
    rig_digest(host->rig, &now, sizeof(now));
    rig_digest(host->rig, note, 12);
}

static const struct fab_host_ops rig_ops = {
    .arrive = rig_arrive, .give = rig_give, .next = rig_next, .expire = rig_expire};

static inline void rig_trace(void *ctx, const struct fab_trace *event)
{
    struct rig *rig = ctx;
    rig->traced[event->kind]++;
    const uint64_t words[4] = {event->now, event->kind,
                               (uint64_t)event->node << 32 | (unsigned)event->port, event->arg};
    rig_digest(rig, words, sizeof(words));
}

static inline struct rig *rig_new(uint64_t seed)
{
    struct rig *rig = calloc(1, sizeof(*rig));
    assert_non_null(rig);
    const struct fab_cfg cfg = {.seed = seed, .trace = rig_trace, .trace_ctx = rig};
    rig->fab = fab_new(&cfg);
    assert_non_null(rig->fab);
    rig->digest = UINT64_C(0xCBF29CE484222325);
    return rig;
}

static inline void rig_del(struct rig *rig)
{
    fab_del(rig->fab);
    free(rig);
}

static inline struct rig_host *rig_host_sink(struct rig *rig, bool v6, const struct fab_sink *sink)
{
    assert_true(rig->n_hosts < RIG_HOSTS);
    struct rig_host *host = &rig->host[rig->n_hosts];
    host->rig = rig;
    host->number = rig->n_hosts++;
    struct fab_host_cfg cfg = {
        .ops = &rig_ops, .ctx = host, .mac = {2, 0, 0, 0, 0, (uint8_t)(host->number + 1)}};
    if (sink != NULL)
        cfg.sink = *sink;
    rig_ip(cfg.ip, host->number, v6);
    host->node = fab_host_new(rig->fab, &cfg);
    assert_true(host->node >= 0);
    return host;
}

static inline struct rig_host *rig_host(struct rig *rig)
{
    return rig_host_sink(rig, false, NULL);
}

static inline int rig_switch(struct rig *rig, const struct fab_switch_cfg *cfg)
{
    struct fab_switch_cfg own;
    fab_switch_defaults(&own);
    if (cfg != NULL)
        own = *cfg;
    own.mac[0] = 2;
    own.mac[1] = 1;
    const int node = fab_switch_new(rig->fab, &own);
    assert_true(node >= 0);
    return node;
}

/* Joins |host| and |node|; returns the port of |node|. */
static inline int rig_join(struct rig *rig, struct rig_host *host, int node, uint64_t rate_bps,
                           uint64_t delay_ns)
{
    const struct fab_link_cfg cfg = {.rate_bps = rate_bps, .delay_ns = delay_ns};
    int port = -1;
    host->rate_bps = rate_bps;
    assert_int_equal(fab_link_new(rig->fab, host->node, node, &cfg), 0);
    fab_peer(rig->fab, host->node, 0, &port);
    return port;
}

static inline struct rig_stream *rig_send(struct rig_host *host, const struct rig_host *to,
                                          uint32_t len, uint8_t tos)
{
    assert_true(host->n_streams < RIG_STREAMS);
    struct rig_stream *s = &host->stream[host->n_streams];
    *s = (struct rig_stream){.to = to->number,
                             .len = len,
                             .tos = tos,
                             .sport = (uint16_t)(0xC000 + host->number * 16 + host->n_streams)};
    host->n_streams++;
    return s;
}

static inline void rig_start(struct rig *rig)
{
    assert_int_equal(fab_start_new(rig->fab, NULL), 0);
}

static inline struct fab_port_stats rig_port(struct rig *rig, int node, int port)
{
    struct fab_port_stats stats;
    fab_port_stats(rig->fab, node, port, &stats);
    return stats;
}

#endif
