/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The flow table: keys, capacity and eviction, per-flow attributes. */
#include "rig.h"

#define SEND ROCE_OPCODE_RC_SEND_ONLY

static void test_key_is_addresses_and_qp(void **state)
{
    (void)state;
    struct rig r;
    rig_open(&r, NULL);
    rig_data(&r, SEND, 1, 2, 0x11, 0, 10);
    const uint32_t first = r.v.flow;
    rig_data(&r, SEND, 1, 2, 0x12, 0, 10);
    assert_int_not_equal(r.v.flow, first);
    rig_data(&r, SEND, 2, 1, 0x11, 0, 10); /* the same number on the other host is another QP */
    assert_int_not_equal(r.v.flow, first);
    rig_data(&r, SEND, 3, 2, 0x11, 0, 10);
    assert_int_not_equal(r.v.flow, first);
    r.sport = 1; /* the source port is no part of the key */
    rig_data(&r, SEND, 1, 2, 0x11, 1, 10);
    assert_int_equal(r.v.flow, first);
    assert_int_equal(rig_counters(&r, 1, 2, 0x11).udp_source_ports, 2);
    r.ipv6 = true;
    rig_data(&r, SEND, 1, 2, 0x11, 0, 10);
    assert_int_not_equal(r.v.flow, first);
    uint32_t n = 0;
    for (uint32_t id = roce_flow_first(r.t); id != ROCE_FLOW_NONE; id = roce_flow_next(r.t, id))
        n++;
    assert_int_equal(n, 5);
    rig_close(&r);
}

static uint32_t send_in_tunnel(struct rig *r, uint8_t kind, bool has_key, uint32_t key)
{
    struct roce_packet p = rig_packet(r, SEND, 1, 2, 0x11, 5);
    p.n_tunnel = 1;
    p.tunnel[0].kind = kind;
    p.tunnel[0].has_key = has_key;
    p.tunnel[0].key = key;
    rig_send(r, &p);
    return r->v.flow;
}

static void test_tenants_do_not_mix(void **state)
{
    (void)state;
    struct rig r;
    rig_open(&r, NULL);
    rig_data(&r, SEND, 1, 2, 0x11, 5, 10);
    const uint32_t plain = r.v.flow;
    const uint32_t vni7 = send_in_tunnel(&r, ROCE_TUNNEL_VXLAN, true, 7);
    const uint32_t vni8 = send_in_tunnel(&r, ROCE_TUNNEL_VXLAN, true, 8);
    const uint32_t vni0 = send_in_tunnel(&r, ROCE_TUNNEL_VXLAN, true, 0);
    assert_true(plain != vni7 && vni7 != vni8 && vni0 != plain && vni0 != vni7);
    assert_int_equal(send_in_tunnel(&r, ROCE_TUNNEL_VXLAN, true, 7), vni7);
    /* An encapsulation without a key, and labels that differ by direction, are no tenants. */
    assert_int_equal(send_in_tunnel(&r, ROCE_TUNNEL_ERSPAN2, false, 0), plain);
    assert_int_equal(send_in_tunnel(&r, ROCE_TUNNEL_MPLS, true, 77), plain);
    /* The low byte of an NVGRE key spreads load. */
    assert_int_equal(send_in_tunnel(&r, ROCE_TUNNEL_NVGRE, true, 0x901),
                     send_in_tunnel(&r, ROCE_TUNNEL_NVGRE, true, 0x9FF));
    struct roce_flow_info i;
    assert_true(roce_flow_info(r.t, vni7, &i));
    assert_true(i.encapsulated);
    assert_int_equal(i.tunnel_key, 7);
    struct roce_ip ip;
    rig_address(&r, &ip, 1, 2);
    assert_int_equal(roce_flow_find(r.t, ip.src, ip.dst, 0x11, true, 8), vni8);
    rig_close(&r);
}

static void test_least_recently_seen_flow_goes(void **state)
{
    (void)state;
    struct rig r;
    const struct roce_flow_opts o = {.max_flows = 4};
    rig_open(&r, &o);
    for (uint32_t qp = 1; qp <= 4; qp++)
        rig_data(&r, SEND, 1, 2, 0x100 + qp, 0, 10);
    rig_data(&r, SEND, 1, 2, 0x101, 1, 10); /* 0x102 is the oldest now */
    rig_data(&r, SEND, 1, 2, 0x105, 0, 10);
    assert_int_equal(rig_flow(&r, 1, 2, 0x102), ROCE_FLOW_NONE);
    assert_int_not_equal(rig_flow(&r, 1, 2, 0x101), ROCE_FLOW_NONE);
    rig_data(&r, SEND, 1, 2, 0x106, 0, 10);
    assert_int_equal(rig_flow(&r, 1, 2, 0x103), ROCE_FLOW_NONE);
    struct roce_flow_stats s;
    roce_flow_stats(r.t, &s);
    assert_int_equal(s.flows, 4);
    assert_int_equal(s.evicted, 2);
    assert_int_equal(rig_count_events(&r, ROCE_EVENT_FLOW_EVICTED), 2);
    /* A flow that comes back begins anew. */
    rig_data(&r, SEND, 1, 2, 0x102, 9, 10);
    assert_true(r.v.flags & ROCE_V_NEW_FLOW);
    assert_int_equal(rig_counters(&r, 1, 2, 0x102).packets, 1);
    rig_close(&r);
}

/* Frames |n| to |n| + 2 of QP |qp|: the middle one is lost before the mirror, NAKed and sent again,
 * once everything has been answered. */
static void lose_one(struct rig *r, uint32_t qp, uint32_t n)
{
    rig_data(r, SEND, 1, 2, qp, n, 10);
    rig_data(r, SEND, 1, 2, qp, n + 2, 10);
    rig_ack(r, 2, 1, qp, n, 0x1F, n + 1);
    rig_ack(r, 2, 1, qp, n + 1, 0x60, n + 1);
    r->now += 5 * US;
    rig_data(r, SEND, 1, 2, qp, n + 1, 10);
    rig_data(r, SEND, 1, 2, qp, n + 2, 10);
    r->now += 5 * US;
    rig_ack(r, 2, 1, qp, n + 2, 0x1F, n + 3);
    rig_data(r, SEND, 1, 2, qp, n + 3, 10);
    rig_ack(r, 2, 1, qp, n + 3, 0x1F, n + 4);
}

/* 64 bytes more than without, of two flows, and what one episode that is open takes, no matter how
 * many were. */
static void test_losses_take_one_cache_line_a_pair(void **state)
{
    (void)state;
    struct rig r;
    const uint32_t pairs = 100;
    const uint64_t one_episode = 512;
    struct roce_flow_stats before, after;
    rig_open(&r, NULL);
    for (uint32_t i = 0; i < 8 * pairs; i++) {
        const uint32_t psn = i / 8 * 1000 + i % 8;
        rig_data(&r, SEND, 1, 2, 0x100 + i / 8, psn, 10);
        r.now += 10 * US;
        rig_ack(&r, 2, 1, 0x100 + i / 8, psn, 0x1F, i % 8 + 1);
    }
    roce_flow_stats(r.t, &before);
    assert_int_equal(before.connections, pairs);
    for (uint32_t i = 0; i < 4 * pairs; i++)
        lose_one(&r, 0x100 + i % pairs, i % pairs * 1000 + 8 + i / pairs * 4);
    roce_flow_stats(r.t, &after);
    assert_int_equal(rig_counters(&r, 1, 2, 0x100).loss[ROCE_LOST_UPSTREAM], 4);
    assert_int_equal(rig_counters(&r, 1, 2, 0x100).retransmission_cause[ROCE_CAUSE_NAK], 4);
    assert_int_equal(after.flows, 2 * pairs);
    assert_true(after.memory_per_flow_max - before.memory_per_flow_max <=
                (64 + one_episode / pairs) / 2);
    assert_true(after.memory_per_flow_max <= 512);
    rig_close(&r);
}

/* Each frame opens another flow, on another address every time: the table stays within its bound.
 */
static void test_hostile_stream_is_bounded(void **state)
{
    (void)state;
    struct rig r;
    const struct roce_flow_opts o = {.max_flows = 512};
    rig_open(&r, &o);
    uint64_t memory = 0;
    for (uint32_t i = 0; i < 60000; i++) {
        struct roce_packet p = rig_packet(&r, SEND, 1, 2, i, i);
        p.ip.src[14] = (uint8_t)(i >> 8);
        p.ip.src[15] = (uint8_t)i;
        p.bth.ackreq = true;
        rig_send(&r, &p);
        struct roce_flow_stats s;
        if (i == 5000 || i == 59999) {
            roce_flow_stats(r.t, &s);
            assert_int_equal(s.flows, 512);
            assert_int_equal(s.evicted, i + 1 - 512);
            if (i == 5000)
                memory = s.memory;
            assert_int_equal(s.memory, memory);
        }
    }
    rig_close(&r);
}

static void test_eviction_dissolves_the_pair(void **state)
{
    (void)state;
    struct rig r;
    const struct roce_flow_opts o = {.max_flows = 2};
    rig_open(&r, &o);
    rig_pair(&r, 100, 6);
    assert_int_equal(rig_info(&r, 1, 2, 0x22).pairing, ROCE_PAIRING_PSN);
    rig_ack(&r, 2, 1, 0x11, 105, 0x1F, 6);
    rig_data(&r, SEND, 3, 4, 0x99, 0, 10); /* takes the place of the requests' flow */
    assert_int_equal(rig_flow(&r, 1, 2, 0x22), ROCE_FLOW_NONE);
    assert_int_equal(rig_info(&r, 2, 1, 0x11).peer, ROCE_FLOW_NONE);
    struct roce_flow_stats s;
    roce_flow_stats(r.t, &s);
    assert_int_equal(s.connections, 0);
    rig_close(&r);
}

static void test_extension_is_zero_for_a_new_flow(void **state)
{
    (void)state;
    struct rig r;
    const struct roce_flow_opts o = {.max_flows = 1, .ext_bytes = 20};
    rig_open(&r, &o);
    rig_data(&r, SEND, 1, 2, 1, 0, 10);
    uint8_t *ext = roce_flow_ext(r.t, r.v.flow);
    assert_non_null(ext);
    memset(ext, 0xAA, 20);
    rig_data(&r, SEND, 1, 2, 2, 0, 10);
    ext = roce_flow_ext(r.t, r.v.flow);
    for (int i = 0; i < 20; i++)
        assert_int_equal(ext[i], 0);
    assert_null(roce_flow_ext(r.t, 1));
    rig_close(&r);
}

static void test_extension_is_counted(void **state)
{
    (void)state;
    struct roce_flow_stats s[2];
    for (uint32_t i = 0; i < 2; i++) {
        struct rig r;
        const struct roce_flow_opts o = {.max_flows = 200, .ext_bytes = 24 * i};
        rig_open(&r, &o);
        for (uint32_t qp = 0; qp < 100; qp++)
            rig_data(&r, SEND, 1, 2, qp, 0, 10);
        roce_flow_stats(r.t, &s[i]);
        rig_close(&r);
    }
    assert_int_equal(s[1].memory - s[0].memory, 24 * 100);
    assert_int_equal(s[1].memory_per_flow_max - s[0].memory_per_flow_max, 24);
}

static void test_every_opcode_is_counted(void **state)
{
    (void)state;
    struct rig r;
    rig_open(&r, NULL);
    for (int round = 0; round < 3; round++)
        for (int op = 0; op < 256; op++) {
            struct roce_packet p = rig_packet(&r, (uint8_t)op, 1, 2, 0x11, 0);
            rig_send(&r, &p);
        }
    const struct roce_flow_counters c = rig_counters(&r, 1, 2, 0x11);
    assert_int_equal(c.packets, 768);
    for (int op = 0; op < 256; op++)
        assert_int_equal(c.opcodes[op], 3);
    /* opcode.def: six response opcodes each in RC, RD and XRC. */
    assert_int_equal(c.responses, 3 * 18);
    assert_int_equal(c.cnps, 3);
    rig_close(&r);
}

static void test_source_ports_are_counted(void **state)
{
    (void)state;
    struct rig r;
    rig_open(&r, NULL);
    for (uint32_t i = 0; i < 3000; i++) {
        r.sport = (uint16_t)(49152 + i % 1500);
        rig_data(&r, SEND, 1, 2, 0x11, i, 10);
        assert_int_equal((r.v.flags & ROCE_V_NEW_PORT) != 0, i < 1500);
    }
    assert_int_equal(rig_counters(&r, 1, 2, 0x11).udp_source_ports, 1500);
    assert_false(rig_counters(&r, 1, 2, 0x11).udp_source_ports_min);
    rig_close(&r);
}

/* The first port lies apart from the next ones, and these from the many. */
static void test_few_source_ports(void **state)
{
    (void)state;
    struct rig r;
    rig_open(&r, NULL);
    static const uint16_t port[] = {7, 7, 8, 7, 9, 8, 10, 7, 9, 10, 11};
    static const uint32_t distinct[] = {1, 1, 2, 2, 3, 3, 4, 4, 4, 4, 5};
    for (uint32_t i = 0; i < sizeof port / sizeof port[0]; i++) {
        r.sport = port[i];
        rig_data(&r, SEND, 1, 2, 0x11, i, 10);
        assert_int_equal(rig_counters(&r, 1, 2, 0x11).udp_source_ports, distinct[i]);
        const bool new_port = i == 0 || distinct[i] != distinct[i - 1];
        assert_int_equal((r.v.flags & ROCE_V_NEW_PORT) != 0, new_port);
    }
    rig_close(&r);
}

static void test_attributes(void **state)
{
    (void)state;
    struct rig r;
    rig_open(&r, NULL);
    struct roce_packet p = rig_packet(&r, SEND, 1, 2, 0x11, 0);
    p.ip.tos = 26 << 2 | 2;
    p.n_vlan = 1;
    p.vlan[0] = (struct roce_vlan){0x8100, 3 << 13 | 77};
    p.payload_len = 100;
    p.bth.migreq = true;
    rig_send(&r, &p);
    p.bth.psn = 1;
    p.ip.tos = 26 << 2 | 3;
    r.icrc = ROCE_ICRC_BAD;
    rig_send(&r, &p);
    p.bth.psn = 2;
    p.ip.tos = 26 << 2;
    r.icrc = ROCE_ICRC_UNCHECKED;
    p.sliced = true;
    rig_send(&r, &p);
    const struct roce_flow_info i = rig_info(&r, 1, 2, 0x11);
    assert_true(i.has_vlan);
    assert_int_equal(i.vlan, 77);
    assert_int_equal(i.pcp, 3);
    assert_int_equal(i.dscp, 26);
    assert_false(i.dscp_varies);
    assert_true(i.migreq_one);
    assert_false(i.migreq_zero);
    assert_int_equal(i.service, ROCE_SERVICE_RC);
    assert_int_equal(i.src_mac[5], 1);
    assert_int_equal(i.first_frame, 1);
    assert_int_equal(i.last_frame, 3);
    const struct roce_flow_counters c = rig_counters(&r, 1, 2, 0x11);
    assert_int_equal(c.bytes, 3 * 158);
    assert_int_equal(c.payload_bytes, 300);
    assert_int_equal(c.ect, 1);
    assert_int_equal(c.ce, 1);
    assert_int_equal(c.not_ect, 1);
    assert_int_equal(c.icrc_ok, 1);
    assert_int_equal(c.icrc_bad, 1);
    assert_int_equal(c.icrc_unchecked, 1);
    assert_int_equal(c.sliced, 1);
    rig_close(&r);
}

static void test_sampled_mirror(void **state)
{
    (void)state;
    struct rig r;
    rig_open(&r, NULL);
    for (uint32_t i = 0; i < 100; i++)
        rig_data(&r, SEND, 1, 2, 0x22, i * 17 + i % 5, 64);
    assert_true(rig_info(&r, 1, 2, 0x22).sampled);
    for (uint32_t i = 0; i < 1000; i++)
        rig_data(&r, SEND, 1, 2, 0x23, i, 64);
    assert_false(rig_info(&r, 1, 2, 0x23).sampled);
    rig_close(&r);
}

static void test_batches_give_the_same(void **state)
{
    (void)state;
    enum { N = 3000, BATCH = 48 };
    static struct roce_packet p[N];
    struct rig r;
    rig_open(&r, NULL);
    for (uint32_t i = 0; i < N; i++) {
        p[i] = rig_packet(&r, SEND, (uint8_t)(1 + i % 7), 9, 0x100 + i * 7 % 50, i / 50);
        p[i].ip.id = (uint16_t)i;
    }
    struct roce_flow_table *t = roce_flow_table_new(NULL);
    for (uint32_t i = 0; i < N; i++) {
        for (uint32_t k = i; i % BATCH == 0 && k < i + BATCH + 5 && k < N; k++)
            roce_flow_prefetch(t, &p[k]); /* five too many: hints that do not fit do no harm */
        const struct roce_frame frame = {.ts = i * US, .number = i + 1, .origlen = 100};
        struct roce_verdict a, b;
        roce_flow_update(r.t, &frame, &p[i], NULL, &a);
        roce_flow_update(t, &frame, &p[i], NULL, &b);
        assert_int_equal(a.flow, b.flow);
        assert_int_equal(a.flags, b.flags);
    }
    roce_flow_table_del(t);
    rig_close(&r);
}

static void test_frames_that_are_no_flow(void **state)
{
    (void)state;
    struct rig r;
    rig_open(&r, NULL);
    struct roce_packet p;
    memset(&p, 0, sizeof p);
    p.kind = ROCE_KIND_PFC;
    const struct roce_frame frame = {.origlen = 60, .ts = 1, .number = 1};
    assert_false(roce_flow_update(r.t, &frame, &p, NULL, &r.v));
    assert_int_equal(r.v.flow, ROCE_FLOW_NONE);
    assert_int_equal(roce_flow_first(r.t), ROCE_FLOW_NONE);
    rig_close(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_key_is_addresses_and_qp),
        cmocka_unit_test(test_tenants_do_not_mix),
        cmocka_unit_test(test_least_recently_seen_flow_goes),
        cmocka_unit_test(test_losses_take_one_cache_line_a_pair),
        cmocka_unit_test(test_hostile_stream_is_bounded),
        cmocka_unit_test(test_eviction_dissolves_the_pair),
        cmocka_unit_test(test_extension_is_zero_for_a_new_flow),
        cmocka_unit_test(test_extension_is_counted),
        cmocka_unit_test(test_every_opcode_is_counted),
        cmocka_unit_test(test_source_ports_are_counted),
        cmocka_unit_test(test_few_source_ports),
        cmocka_unit_test(test_attributes),
        cmocka_unit_test(test_sampled_mirror),
        cmocka_unit_test(test_batches_give_the_same),
        cmocka_unit_test(test_frames_that_are_no_flow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
