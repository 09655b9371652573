/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Switches: latency, shares of priorities, ways of the same length, lossy buffers. */
#include "rig.h"

/* Store and forward: two transmissions and two ways. */
static void test_switch_stores_and_forwards(void **state)
{
    (void)state;
    struct rig *rig = rig_new(1);
    struct rig_host *a = rig_host(rig), *b = rig_host(rig);
    const int s = rig_switch(rig, NULL);
    rig_join(rig, a, s, 40 * RIG_G, 1000);
    rig_join(rig, b, s, 10 * RIG_G, 500);
    rig_send(a, b, 976, 0x62)->limit = 1;
    rig_start(rig);
    fab_run(rig->fab, 1000000);
    assert_int_equal(b->received, 1);
    assert_int_equal(b->first, 200 + 1000 + 800 + 500);
    rig_del(rig);
}

static void test_frames_without_a_way_are_dropped(void **state)
{
    (void)state;
    struct rig *rig = rig_new(1);
    struct rig_host *a = rig_host(rig), *lonely = rig_host(rig);
    const int s = rig_switch(rig, NULL);
    const int port = rig_join(rig, a, s, 40 * RIG_G, 0);
    rig_send(a, lonely, 500, 0x62)->limit = 5;
    rig_start(rig);
    fab_run(rig->fab, 1000000);
    assert_int_equal(rig_port(rig, s, port).drops[FAB_DROP_NO_ROUTE], 5);
    assert_int_equal(rig->traced[FAB_TRACE_DROP], 5);
    rig_del(rig);
}

/* Three sources of a priority each into one link of a third of their sum. */
static void share(const struct fab_switch_cfg *cfg, const uint8_t tos[3], double part[3])
{
    struct rig *rig = rig_new(1);
    struct rig_host *from[3];
    for (int i = 0; i < 3; i++)
        from[i] = rig_host(rig);
    struct rig_host *to = rig_host(rig);
    const int s = rig_switch(rig, cfg);
    for (int i = 0; i < 3; i++)
        rig_join(rig, from[i], s, 10 * RIG_G, 100);
    rig_join(rig, to, s, 10 * RIG_G, 100);
    for (int i = 0; i < 3; i++)
        rig_send(from[i], to, i == 1 ? 4000 : 1000, tos[i]);
    rig_start(rig);
    fab_run(rig->fab, UINT64_C(20000000));
    double sum = 0;
    for (int i = 0; i < 3; i++) {
        part[i] = (double)to->from[i][0] * (i == 1 ? 4000 : 1000);
        sum += part[i];
    }
    for (int i = 0; i < 3; i++)
        part[i] /= sum;
    assert_int_equal(to->out_of_order, 0);
    rig_del(rig);
}

static bool near(double value, double wanted)
{
    return value > wanted - 0.01 && value < wanted + 0.01;
}

static void test_strict_priority_starves_the_lower(void **state)
{
    (void)state;
    struct fab_switch_cfg cfg;
    fab_switch_defaults(&cfg);
    const uint8_t tos[3] = {0x22, 0x62, 0xC2}; /* priorities 1, 3, 6 */
    double part[3];
    share(&cfg, tos, part);
    assert_true(near(part[2], 1));
}

/* Weights 1, 3 and a strict one would take all: shares go by bytes, not by frames. */
static void test_weights_share_by_bytes(void **state)
{
    (void)state;
    struct fab_switch_cfg cfg;
    fab_switch_defaults(&cfg);
    cfg.weight[1] = 1;
    cfg.weight[3] = 3;
    cfg.weight[6] = 4;
    const uint8_t tos[3] = {0x22, 0x62, 0xC2};
    double part[3];
    share(&cfg, tos, part);
    assert_true(near(part[0], 1.0 / 8));
    assert_true(near(part[1], 3.0 / 8));
    assert_true(near(part[2], 4.0 / 8));
}

/* Two leaves, four spines: 64 flows spread over all spines, none is reordered, and the same flow
 * always takes the same way. */
static void test_flows_spread_over_ways_of_the_same_length(void **state)
{
    (void)state;
    struct rig *rig = rig_new(5);
    struct rig_host *from[8], *to = rig_host(rig);
    const int leaf = rig_switch(rig, NULL), far = rig_switch(rig, NULL);
    rig_join(rig, to, far, 100 * RIG_G, 100);
    for (int i = 0; i < 8; i++) {
        from[i] = rig_host(rig);
        rig_join(rig, from[i], leaf, 10 * RIG_G, 100);
        for (int k = 0; k < 8; k++) {
            struct rig_stream *s = rig_send(from[i], to, 500, 0x62);
            s->limit = 100;
            s->rate_bps = RIG_G;
        }
    }
    int port[4];
    for (int i = 0; i < 4; i++) {
        const int spine = rig_switch(rig, NULL);
        /* Ways of different delay: flows that changed theirs would be reordered. */
        const struct fab_link_cfg cfg = {.rate_bps = 40 * RIG_G,
                                         .delay_ns = 100 + 700 * (uint64_t)i};
        port[i] = fab_link_new(rig->fab, leaf, spine, &cfg);
        assert_true(port[i] >= 0);
        assert_true(fab_link_new(rig->fab, spine, far, &cfg) >= 0);
    }
    rig_start(rig);
    fab_run(rig->fab, 10000000);
    uint64_t sum = 0;
    for (int i = 0; i < 4; i++) {
        const uint64_t frames = rig_port(rig, leaf, port[i]).tx_frames;
        assert_int_equal(frames % 100, 0);
        /* Binomial of 64 in 1/4: 16, standard deviation 3.5. */
        assert_in_range(frames, 500, 2800);
        sum += frames;
    }
    assert_int_equal(sum, 6400);
    assert_int_equal(to->received, 6400);
    assert_int_equal(to->out_of_order, 0);
    assert_int_equal(to->missing, 0);
    rig_del(rig);
}

/* A route of its own overrides the shortest. */
static void test_fixed_route_is_taken(void **state)
{
    (void)state;
    struct rig *rig = rig_new(1);
    struct rig_host *a = rig_host(rig), *b = rig_host(rig);
    const struct fab_link_cfg cfg = {.rate_bps = 40 * RIG_G, .delay_ns = 100};
    const int s = rig_switch(rig, NULL), t = rig_switch(rig, NULL), u = rig_switch(rig, NULL);
    rig_join(rig, a, s, 40 * RIG_G, 100);
    rig_join(rig, b, t, 40 * RIG_G, 100);
    fab_link_new(rig->fab, s, t, &cfg);
    const int detour = fab_link_new(rig->fab, s, u, &cfg);
    fab_link_new(rig->fab, u, t, &cfg);
    assert_int_equal(fab_route_new(rig->fab, s, b->node, detour), 0);
    assert_int_equal(fab_route_new(rig->fab, s, b->node, 7), ROCE_ERR_INVALID);
    rig_send(a, b, 976, 0x62)->limit = 1;
    rig_start(rig);
    fab_run(rig->fab, 1000000);
    assert_int_equal(b->received, 1);
    assert_int_equal(b->first, 4 * 200 + 4 * 100);
    rig_del(rig);
}

/* A lossy queue grows until it holds alpha times what is free: q = alpha (B - q), so q = B / 2 for
 * alpha 1 and B / 3 for alpha 1/2. */
static void lossy(double alpha, uint64_t wanted)
{
    struct fab_switch_cfg cfg;
    fab_switch_defaults(&cfg);
    cfg.lossless = 0;
    cfg.buffer = 600000;
    cfg.lossy_alpha = alpha;
    struct rig *rig = rig_new(1);
    struct rig_host *a = rig_host(rig), *b = rig_host(rig), *c = rig_host(rig);
    const int s = rig_switch(rig, &cfg);
    rig_join(rig, a, s, 40 * RIG_G, 100);
    rig_join(rig, b, s, 40 * RIG_G, 100);
    const int out = rig_join(rig, c, s, 40 * RIG_G, 100);
    rig_send(a, c, 1000, 0x62);
    rig_send(b, c, 1000, 0x62);
    rig_start(rig);
    fab_run(rig->fab, 1000000);
    fab_queue_restart(rig->fab, s, out, 3);
    fab_run(rig->fab, 3000000);
    struct fab_queue_stats stats;
    fab_queue_stats(rig->fab, s, out, 3, &stats);
    assert_in_range(stats.max_bytes, wanted - 2000, wanted + 2000);
    assert_in_range((uint64_t)stats.mean_bytes, wanted - 3000, wanted + 2000);
    assert_in_range(stats.p50, wanted * 94 / 100, wanted * 106 / 100);
    assert_true(rig_port(rig, s, out).drops[FAB_DROP_BUFFER] > 0);
    assert_int_equal(rig->traced[FAB_TRACE_XOFF_SENT], 0);
    rig_del(rig);
}

static void test_lossy_queue_takes_its_share_of_the_buffer(void **state)
{
    (void)state;
    lossy(1, 300000);
    lossy(0.5, 200000);
}

static void test_headroom_must_fit_the_buffer(void **state)
{
    (void)state;
    struct fab_switch_cfg cfg;
    fab_switch_defaults(&cfg);
    cfg.buffer = 20000; /* two ports of 13 KB of headroom */
    struct rig *rig = rig_new(1);
    struct rig_host *a = rig_host(rig), *b = rig_host(rig);
    const int s = rig_switch(rig, &cfg);
    rig_join(rig, a, s, 40 * RIG_G, 100);
    rig_join(rig, b, s, 40 * RIG_G, 100);
    int node = -1;
    assert_int_equal(fab_start_new(rig->fab, &node), ROCE_ERR_INVALID);
    assert_int_equal(node, s);
    rig_del(rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_switch_stores_and_forwards),
        cmocka_unit_test(test_frames_without_a_way_are_dropped),
        cmocka_unit_test(test_strict_priority_starves_the_lower),
        cmocka_unit_test(test_weights_share_by_bytes),
        cmocka_unit_test(test_flows_spread_over_ways_of_the_same_length),
        cmocka_unit_test(test_fixed_route_is_taken),
        cmocka_unit_test(test_lossy_queue_takes_its_share_of_the_buffer),
        cmocka_unit_test(test_headroom_must_fit_the_buffer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
