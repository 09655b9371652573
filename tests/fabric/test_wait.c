/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Cyclic buffer dependency: a ring of switches whose routes all go round the same way stops, the
 * cycle is named, and the watchdog breaks it. */
#include "rig.h"

#define RING 4

struct ring {
    struct rig *rig;
    struct rig_host *host[RING];
    int node[RING], out[RING]; /* port to the next switch */
};

/* Each host sends to the one two switches ahead; all routes go clockwise when |round|. */
static struct ring ring_new(bool round, uint64_t watchdog_ns)
{
    struct ring ring = {.rig = rig_new(9)};
    struct fab_switch_cfg cfg;
    fab_switch_defaults(&cfg);
    cfg.buffer = 400000;
    cfg.xoff = 40000;
    if (watchdog_ns != 0)
        cfg.watchdog = (struct fab_watchdog){
            .poll_ns = watchdog_ns / 4, .detect_ns = watchdog_ns, .restore_ns = watchdog_ns};
    const struct fab_link_cfg link = {.rate_bps = 40 * RIG_G, .delay_ns = 1000};
    for (int i = 0; i < RING; i++) {
        ring.host[i] = rig_host(ring.rig);
        ring.node[i] = rig_switch(ring.rig, &cfg);
        rig_join(ring.rig, ring.host[i], ring.node[i], 40 * RIG_G, 1000);
    }
    for (int i = 0; i < RING; i++) {
        ring.out[i] = fab_link_new(ring.rig->fab, ring.node[i], ring.node[(i + 1) % RING], &link);
        assert_true(ring.out[i] > 0);
    }
    for (int i = 0; i < RING && round; i++)
        for (int k = 0; k < RING; k++)
            if (k != i)
                assert_int_equal(
                    fab_route_new(ring.rig->fab, ring.node[i], ring.host[k]->node, ring.out[i]), 0);
    for (int i = 0; i < RING; i++)
        rig_send(ring.host[i], ring.host[(i + 2) % RING], 976, 0x62);
    rig_start(ring.rig);
    return ring;
}

static uint64_t received(const struct ring *ring)
{
    uint64_t sum = 0;
    for (int i = 0; i < RING; i++)
        sum += ring->host[i]->received;
    return sum;
}

static void test_ring_stops_and_the_cycle_is_named(void **state)
{
    (void)state;
    struct ring ring = ring_new(true, 0);
    struct fab_wait cycle[16], later[16];
    fab_run(ring.rig->fab, 5000000);
    const uint64_t before = received(&ring);
    assert_int_equal(fab_waits(ring.rig->fab, cycle, 16), RING);
    fab_run(ring.rig->fab, 50000000);
    assert_int_equal(received(&ring), before);
    assert_int_equal(fab_waits(ring.rig->fab, later, 16), RING);
    for (int i = 0; i < RING; i++) {
        int at = 0;
        while (ring.node[at] != later[i].node)
            assert_true(++at < RING);
        assert_int_equal(later[i].port, ring.out[at]);
        assert_int_equal(later[i].peer, ring.node[(at + 1) % RING]);
        assert_int_equal(later[(i + 1) % RING].node, later[i].peer);
        assert_int_equal(later[i].priority, 3);
        assert_true(later[i].bytes > 0);
        assert_int_equal(later[i].tx_frames, cycle[i].tx_frames);
    }
    rig_del(ring.rig);
}

/* Congestion that spreads over two switches pauses them again and again, but never in a circle. */
static void test_no_cycle_without_cyclic_routes(void **state)
{
    (void)state;
    struct rig *rig = rig_new(1);
    struct fab_switch_cfg cfg;
    fab_switch_defaults(&cfg);
    cfg.xoff = 40000;
    struct rig_host *a = rig_host(rig), *b = rig_host(rig), *c = rig_host(rig);
    const int s = rig_switch(rig, &cfg), t = rig_switch(rig, &cfg);
    const struct fab_link_cfg link = {.rate_bps = 40 * RIG_G, .delay_ns = 1000};
    rig_join(rig, a, s, 40 * RIG_G, 1000);
    rig_join(rig, b, s, 40 * RIG_G, 1000);
    rig_join(rig, c, t, 10 * RIG_G, 1000);
    fab_link_new(rig->fab, s, t, &link);
    rig_send(a, c, 976, 0x62);
    rig_send(b, c, 976, 0x62);
    rig_start(rig);
    struct fab_wait cycle[4];
    for (int i = 1; i < 500; i++) {
        fab_run(rig->fab, (roce_tstamp)i * 10000);
        assert_int_equal(fab_waits(rig->fab, cycle, 4), 0);
    }
    assert_true(rig->traced[FAB_TRACE_PAUSED] > 100);
    rig_del(rig);
}

/* The burst that closed the circle is lost in part; what is sent later passes. */
static void test_watchdog_breaks_the_cycle(void **state)
{
    (void)state;
    struct ring ring = ring_new(true, 1000000);
    for (int i = 0; i < RING; i++) {
        struct rig_stream *later = rig_send(ring.host[i], ring.host[(i + 2) % RING], 976, 0x62);
        ring.host[i]->stream[0].limit = 4000;
        later->start = 20000000;
        later->rate_bps = 10 * RIG_G;
        later->limit = 5000;
    }
    struct fab_wait cycle[16];
    fab_run(ring.rig->fab, 900000);
    assert_int_equal(fab_waits(ring.rig->fab, cycle, 16), RING);
    fab_run(ring.rig->fab, 20000000);
    assert_int_equal(fab_waits(ring.rig->fab, cycle, 16), 0);
    assert_true(ring.rig->traced[FAB_TRACE_STORM] >= 1);
    assert_int_equal(ring.rig->traced[FAB_TRACE_RESTORED], ring.rig->traced[FAB_TRACE_STORM]);
    uint64_t dropped = 0, lost = 0;
    for (int i = 0; i < RING; i++) {
        for (int k = 0; k < fab_ports(ring.rig->fab, ring.node[i]); k++)
            dropped += rig_port(ring.rig, ring.node[i], k).drops[FAB_DROP_STORM];
        lost += 4000 - ring.host[(i + 2) % RING]->from[i][0];
    }
    assert_true(dropped > 0);
    assert_int_equal(lost, dropped);
    fab_run(ring.rig->fab, 40000000);
    for (int i = 0; i < RING; i++)
        assert_int_equal(ring.host[(i + 2) % RING]->from[i][1], 5000);
    rig_del(ring.rig);
}

/* A receiver that stands still is no cycle, but a storm: the watchdog drops what is for it, the
 * other flow of the same sender goes on, and the queue is taken back when the receiver recovers. */
static void test_watchdog_frees_the_victim(void **state)
{
    (void)state;
    for (int forward = 0; forward < 2; forward++) {
        struct fab_switch_cfg cfg;
        fab_switch_defaults(&cfg);
        cfg.buffer = 400000;
        cfg.xoff = 40000;
        cfg.watchdog = (struct fab_watchdog){.poll_ns = 250000,
                                             .detect_ns = 1000000,
                                             .restore_ns = 1000000,
                                             .forward = forward != 0};
        struct rig *rig = rig_new(1);
        const struct fab_sink sink = {
            .drain_bps = FAB_STALLED, .buffer = 100000, .lossless = 1 << 3};
        struct rig_host *a = rig_host(rig), *dead = rig_host_sink(rig, false, &sink);
        struct rig_host *victim = rig_host(rig);
        const int s = rig_switch(rig, &cfg);
        rig_join(rig, a, s, 40 * RIG_G, 100);
        const int out = rig_join(rig, dead, s, 40 * RIG_G, 100);
        rig_join(rig, victim, s, 40 * RIG_G, 100);
        rig_send(a, dead, 976, 0x62)->rate_bps = 10 * RIG_G;
        rig_send(a, victim, 976, 0x62)->rate_bps = 10 * RIG_G;
        rig_start(rig);
        fab_run(rig->fab, 900000);
        const uint64_t before = victim->received;
        struct fab_wait cycle[4];
        assert_int_equal(fab_waits(rig->fab, cycle, 4), 0);
        fab_run(rig->fab, 20000000);
        assert_true(victim->received > before + 20000); /* 10 Gb/s for 18 ms: 22500 */
        assert_int_equal(rig->traced[FAB_TRACE_STORM], 1);
        assert_int_equal(rig->traced[FAB_TRACE_RESTORED], 0);
        const uint64_t dropped = rig_port(rig, s, out).drops[FAB_DROP_STORM];
        const uint64_t overrun = rig_port(rig, dead->node, 0).drops[FAB_DROP_SINK];
        assert_true(forward ? dropped == 0 && overrun > 20000 : dropped > 20000 && overrun == 0);

        fab_host_drain(rig->fab, dead->node, FAB_AT_ONCE);
        fab_run(rig->fab, 25000000);
        assert_int_equal(rig->traced[FAB_TRACE_RESTORED], 1);
        const uint64_t got = dead->received;
        fab_run(rig->fab, 30000000);
        assert_true(dead->received > got + 6000);
        rig_del(rig);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ring_stops_and_the_cycle_is_named),
        cmocka_unit_test(test_no_cycle_without_cyclic_routes),
        cmocka_unit_test(test_watchdog_breaks_the_cycle),
        cmocka_unit_test(test_watchdog_frees_the_victim),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
