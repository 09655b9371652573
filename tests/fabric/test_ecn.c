/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ECN marking: by the length of the queue, never on frames that are not capable of it, with the
 * checksum kept right and the ICRC untouched. */
#include "rig.h"

/* A queue that stays near |bytes|: filled once, then fed at the rate it is drained. Returns the
 * part of frames marked behind the filling. */
static double marked_at(uint32_t bytes, const struct fab_ecn *ecn, bool dequeue, uint8_t tos,
                        uint64_t *marked)
{
    struct fab_switch_cfg cfg;
    fab_switch_defaults(&cfg);
    cfg.ecn[3] = *ecn;
    cfg.mark_dequeue = dequeue;
    struct rig *rig = rig_new(11);
    struct rig_host *a = rig_host(rig), *b = rig_host(rig), *c = rig_host(rig);
    const int s = rig_switch(rig, &cfg);
    rig_join(rig, a, s, 40 * RIG_G, 100);
    rig_join(rig, b, s, 40 * RIG_G, 100);
    const int out = rig_join(rig, c, s, 40 * RIG_G, 100);
    /* |a| feeds at the full rate, |b| fills by |bytes| on top of it. */
    rig_send(a, c, 976, tos);
    rig_send(b, c, 976, tos)->limit = bytes / 976;
    rig_start(rig);
    fab_run(rig->fab, 1000000);
    const uint64_t frames = c->received, before = rig_port(rig, s, out).marked;
    fab_run(rig->fab, 41000000);
    struct fab_queue_stats stats;
    fab_queue_stats(rig->fab, s, out, 3, &stats);
    assert_in_range(stats.p50, bytes * 9 / 10, bytes * 11 / 10);
    *marked = rig_port(rig, s, out).marked;
    const double part = (double)(*marked - before) / (double)(c->received - frames);
    assert_int_equal(rig->traced[FAB_TRACE_MARK], *marked);
    rig_del(rig);
    return part;
}

static void test_marking_follows_the_curve(void **state)
{
    (void)state;
    const struct fab_ecn ecn = {.kmin = 40000, .kmax = 200000, .pmax = 0.2};
    uint64_t marked;
    for (int dequeue = 0; dequeue < 2; dequeue++) {
        assert_true(marked_at(38000, &ecn, dequeue, 0x62, &marked) == 0);
        assert_int_equal(marked, 0);
        assert_true(marked_at(210000, &ecn, dequeue, 0x62, &marked) == 1);
        /* 120 KB: 0.2 * 80 / 160 = 0.1 of 200000 frames; standard deviation 0.0007. The queue
         * swings by a frame: 0.0012. */
        const double half = marked_at(120000, &ecn, dequeue, 0x62, &marked);
        assert_true(half > 0.096 && half < 0.104);
        assert_true(marked_at(120000, &ecn, dequeue, 0x61, &marked) > 0.096); /* ECT(1) */
        assert_true(marked_at(210000, &ecn, dequeue, 0x60, &marked) == 0);    /* Not-ECT */
    }
}

static void mark_one(bool v6, bool tagged, uint8_t tos)
{
    struct fab_switch_cfg cfg;
    fab_switch_defaults(&cfg);
    cfg.ecn[3] = (struct fab_ecn){.kmin = 0, .kmax = 1, .pmax = 1};
    struct rig *rig = rig_new(2);
    struct rig_host *a = rig_host_sink(rig, v6, NULL), *b = rig_host_sink(rig, v6, NULL);
    struct rig_host *c = rig_host_sink(rig, v6, NULL);
    const int s = rig_switch(rig, &cfg);
    rig_join(rig, a, s, 40 * RIG_G, 100);
    rig_join(rig, b, s, 40 * RIG_G, 100);
    rig_join(rig, c, s, 40 * RIG_G, 100);
    for (int i = 0; i < 2; i++) {
        struct rig_stream *stream = rig_send(i == 0 ? a : b, c, 500, tos);
        stream->limit = 3;
        stream->v6 = v6;
        stream->tagged = tagged;
    }
    rig_start(rig);
    fab_run(rig->fab, 1000000);
    assert_int_equal(c->received, 6);
    assert_true(c->marked >= 2);
    const uint8_t *ip = c->newest + ROCE_ETH_LEN + (tagged ? ROCE_VLAN_LEN : 0);
    const int tclass = v6 ? (ip[0] << 4 | ip[1] >> 4) & 0xFF : ip[1];
    assert_int_equal(tclass, (tagged ? tos & 3 : tos) | ROCE_ECN_CE);
    if (v6) {
        assert_int_equal(ip[0] >> 4, 6);
    } else {
        const uint16_t sum = (uint16_t)(ip[10] << 8 | ip[11]);
        assert_int_equal(sum, roce_ipv4_checksum(ip, ROCE_IPV4_LEN));
    }
    rig_del(rig);
}

static void test_mark_keeps_the_header_right(void **state)
{
    (void)state;
    for (int tos = 0x61; tos <= 0x62; tos++) {
        mark_one(false, false, (uint8_t)tos);
        mark_one(false, true, (uint8_t)tos);
        mark_one(true, false, (uint8_t)tos);
        mark_one(true, true, (uint8_t)tos);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_marking_follows_the_curve),
        cmocka_unit_test(test_mark_keeps_the_header_right),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
