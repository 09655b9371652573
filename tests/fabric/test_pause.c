/* SPDX-License-Identifier: GPL-2.0-or-later */
/* PFC: nothing is lost, pauses begin and end, headroom is enough and no more than that. */
#include "rig.h"

struct net {
    struct rig *rig;
    struct rig_host *from[4], *to;
    int s, in[4], out;
};

/* |n| sources at 40 Gb/s into one link. */
static struct net incast(const struct fab_switch_cfg *cfg, int n, uint64_t delay_ns)
{
    struct net net = {.rig = rig_new(3)};
    for (int i = 0; i < n; i++)
        net.from[i] = rig_host(net.rig);
    net.to = rig_host(net.rig);
    net.s = rig_switch(net.rig, cfg);
    for (int i = 0; i < n; i++)
        net.in[i] = rig_join(net.rig, net.from[i], net.s, 40 * RIG_G, delay_ns);
    net.out = rig_join(net.rig, net.to, net.s, 40 * RIG_G, delay_ns);
    return net;
}

static struct fab_switch_cfg fixed(uint32_t xoff, uint32_t xon_gap)
{
    struct fab_switch_cfg cfg;
    fab_switch_defaults(&cfg);
    cfg.buffer = 1000000;
    cfg.xoff = xoff;
    cfg.xon_gap = xon_gap;
    return cfg;
}

static uint64_t all_drops(struct net *net, int n)
{
    uint64_t sum = 0;
    for (int i = 0; i <= n; i++) {
        const int port = i < n ? net->in[i] : net->out;
        const struct fab_port_stats stats = rig_port(net->rig, net->s, port);
        for (int k = 0; k < FAB_DROPS; k++)
            sum += stats.drops[k];
    }
    return sum;
}

/* The receiver gets its full link, no frame is lost, both senders are paused half of the time. */
static void test_incast_is_lossless(void **state)
{
    (void)state;
    const struct fab_switch_cfg cfg = fixed(50000, 10000);
    struct net net = incast(&cfg, 2, 500);
    for (int i = 0; i < 2; i++)
        rig_send(net.from[i], net.to, 976, 0x62);
    rig_start(net.rig);
    fab_run(net.rig->fab, 10000000);
    assert_int_equal(all_drops(&net, 2), 0);
    assert_int_equal(net.to->missing, 0);
    assert_int_equal(net.to->out_of_order, 0);
    assert_in_range(net.to->received, 49980, 50000); /* 10 ms / 200 ns */
    for (int i = 0; i < 2; i++) {
        const struct fab_port_stats at_host = rig_port(net.rig, net.from[i]->node, 0);
        const struct fab_port_stats at_switch = rig_port(net.rig, net.s, net.in[i]);
        assert_in_range(at_host.paused_ns[3], 4700000, 5300000);
        assert_true(at_switch.xoff_sent[3] > 10);
        assert_true(at_host.pfc_rx >= 2 * at_switch.xoff_sent[3] - 1);
        assert_int_equal(at_host.paused_ns[2], 0);
        const double share = (double)net.to->from[i][0] / (double)net.to->received;
        assert_true(share > 0.48 && share < 0.52);
    }
    rig_del(net.rig);
}

/* With the way, the pause frame and the frames under way counted, the headroom that is left to the
 * switch to choose is never overrun, and half of it is. */
static void test_headroom_holds_what_still_comes(void **state)
{
    (void)state;
    for (int half = 0; half < 2; half++) {
        struct fab_switch_cfg cfg = fixed(50000, 10000);
        if (half) /* 40 Gb/s there and back: 2 * 5 us * 5 B/ns = 50 KB */
            cfg.headroom = 25000;
        struct net net = incast(&cfg, 2, 5000);
        for (int i = 0; i < 2; i++)
            rig_send(net.from[i], net.to, 4000, 0x62);
        rig_start(net.rig);
        fab_run(net.rig->fab, 5000000);
        uint64_t lost = 0;
        for (int i = 0; i < 2; i++)
            lost += rig_port(net.rig, net.s, net.in[i]).drops[FAB_DROP_HEADROOM];
        if (half)
            assert_true(lost > 0);
        else
            assert_int_equal(lost, 0);
        rig_del(net.rig);
    }
}

struct pauses {
    int n;
    roce_tstamp at[64];
    struct roce_pfc pfc[64];
    uint8_t mac[6];
};

static void tap(void *ctx, roce_tstamp now, enum fab_direction direction, const uint8_t *frame,
                size_t len)
{
    struct pauses *p = ctx;
    if (direction != FAB_OUT || frame[12] != 0x88 || frame[13] != 0x08 || p->n == 64)
        return;
    static const uint8_t to[6] = {0x01, 0x80, 0xC2, 0x00, 0x00, 0x01};
    assert_int_equal(len, 60);
    assert_memory_equal(frame, to, 6);
    memcpy(p->mac, frame + 6, 6);
    assert_true(roce_pfc_decode(frame + 14, len - 14, &p->pfc[p->n]) > 0);
    p->at[p->n++] = now;
}

/* A receiver that takes nothing is paused for ever: XOFF is said again before it runs out. 65535
 * quanta are 838.848 us at 40 Gb/s. */
static void test_pause_is_refreshed_in_time(void **state)
{
    (void)state;
    struct pauses seen = {0};
    struct rig *rig = rig_new(1);
    const struct fab_sink sink = {.drain_bps = FAB_STALLED, .buffer = 100000, .lossless = 1 << 3};
    struct rig_host *a = rig_host(rig), *b = rig_host_sink(rig, false, &sink);
    const int s = rig_switch(rig, NULL);
    rig_join(rig, a, s, 40 * RIG_G, 100);
    const int out = rig_join(rig, b, s, 40 * RIG_G, 100);
    fab_tap_new(rig->fab, b->node, 0, tap, &seen);
    rig_send(a, b, 976, 0x62);
    rig_start(rig);
    fab_run(rig->fab, 10000000);
    assert_true(seen.n > 12 && seen.n < 40);
    const uint8_t mac[6] = {2, 0, 0, 0, 0, 2};
    assert_memory_equal(seen.mac, mac, 6);
    for (int i = 0; i < seen.n; i++) {
        assert_int_equal(seen.pfc[i].enable, 1 << 3);
        assert_int_equal(seen.pfc[i].quanta[3], 65535);
        if (i > 0)
            assert_true(seen.at[i] - seen.at[i - 1] < 838848);
    }
    const struct fab_port_stats stats = rig_port(rig, s, out);
    /* The first XOFF is sent by the 52nd frame, some 11 us after the start. */
    assert_in_range(stats.paused_ns[3], 9980000, 9990000);
    assert_in_range(stats.paused_since_ns[3], 9980000, 9990000);
    const uint64_t before = b->received;
    assert_int_equal(before, 0);

    /* When it goes on, XON is said and all that waits comes through. */
    fab_host_drain(rig->fab, b->node, 20 * RIG_G);
    fab_run(rig->fab, 20000000);
    assert_int_equal(rig_port(rig, b->node, 0).drops[FAB_DROP_SINK], 0);
    assert_int_equal(b->missing, 0);
    /* 20 Gb/s of frames of 976 bytes without their gaps: 390.4 ns each. */
    assert_in_range(b->received, 25600, 25620);
    rig_del(rig);
}

/* A sink that may not pause drops what it cannot hold. */
static void test_sink_without_pause_drops(void **state)
{
    (void)state;
    struct rig *rig = rig_new(1);
    const struct fab_sink sink = {.drain_bps = 20 * RIG_G, .buffer = 50000};
    struct rig_host *a = rig_host(rig), *b = rig_host_sink(rig, false, &sink);
    const struct fab_link_cfg link = {.rate_bps = 40 * RIG_G};
    a->rate_bps = 40 * RIG_G;
    assert_int_equal(fab_link_new(rig->fab, a->node, b->node, &link), 0);
    rig_send(a, b, 976, 0x62)->limit = 50000;
    rig_start(rig);
    fab_run(rig->fab, 20000000);
    const uint64_t lost = rig_port(rig, b->node, 0).drops[FAB_DROP_SINK];
    assert_int_equal(b->received + lost, 50000);
    assert_in_range(b->received, 25500, 25800);
    rig_del(rig);
}

/* Two flows from one host, one to a slow receiver, one to an idle one: the pause for the first
 * stops the second. With the victim on another priority it does not. */
static uint64_t victim_frames(uint8_t victim_tos)
{
    struct fab_switch_cfg cfg = fixed(50000, 10000);
    cfg.lossless = 1 << 3 | 1 << 4;
    struct rig *rig = rig_new(1);
    const struct fab_sink sink = {.drain_bps = RIG_G, .buffer = 100000, .lossless = 1 << 3};
    struct rig_host *a = rig_host(rig), *slow = rig_host_sink(rig, false, &sink);
    struct rig_host *idle = rig_host(rig);
    const int s = rig_switch(rig, &cfg);
    rig_join(rig, a, s, 40 * RIG_G, 100);
    rig_join(rig, slow, s, 40 * RIG_G, 100);
    rig_join(rig, idle, s, 40 * RIG_G, 100);
    rig_send(a, slow, 976, 0x62)->rate_bps = 20 * RIG_G;
    rig_send(a, idle, 976, victim_tos)->rate_bps = 20 * RIG_G;
    rig_start(rig);
    fab_run(rig->fab, 10000000);
    const uint64_t frames = idle->received;
    rig_del(rig);
    return frames;
}

static void test_pause_stops_an_innocent_flow(void **state)
{
    (void)state;
    assert_in_range(victim_frames(0x62), 500, 5000);
    assert_in_range(victim_frames(0x82), 24900, 25010); /* 20 Gb/s: 400 ns a frame */
}

/* Dynamic threshold: one ingress alone settles where use = alpha * (shared - use). */
static void test_dynamic_threshold_moves_with_use(void **state)
{
    (void)state;
    struct fab_switch_cfg cfg;
    fab_switch_defaults(&cfg);
    cfg.buffer = 1000000;
    cfg.alpha = 1;
    cfg.headroom = 50000;
    struct rig *rig = rig_new(1);
    const struct fab_sink sink = {.drain_bps = FAB_STALLED, .buffer = 20000, .lossless = 1 << 3};
    struct rig_host *a = rig_host(rig), *b = rig_host_sink(rig, false, &sink);
    const int s = rig_switch(rig, &cfg);
    rig_join(rig, a, s, 40 * RIG_G, 100);
    const int out = rig_join(rig, b, s, 40 * RIG_G, 100);
    rig_send(a, b, 976, 0x62);
    rig_start(rig);
    fab_run(rig->fab, 5000000);
    struct fab_buffer_stats buffer;
    struct fab_queue_stats queue;
    fab_buffer_stats(rig->fab, s, &buffer);
    fab_queue_stats(rig->fab, s, out, 3, &queue);
    assert_int_equal(buffer.shared, 1000000 - 2 * 50000);
    assert_in_range(buffer.shared_used, 449000, 450000);
    assert_int_equal(buffer.used, queue.bytes);
    assert_true(buffer.used - buffer.shared_used < 10000); /* some frames of headroom */
    rig_del(rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_incast_is_lossless),
        cmocka_unit_test(test_headroom_holds_what_still_comes),
        cmocka_unit_test(test_pause_is_refreshed_in_time),
        cmocka_unit_test(test_sink_without_pause_drops),
        cmocka_unit_test(test_pause_stops_an_innocent_flow),
        cmocka_unit_test(test_dynamic_threshold_moves_with_use),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
