/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Links: when frames arrive, how many of them, and what a tap sees. */
#include "rig.h"

struct tapped {
    int n;
    roce_tstamp at[8];
    enum fab_direction direction[8];
    size_t len[8];
};

static void tap(void *ctx, roce_tstamp now, enum fab_direction direction, const uint8_t *frame,
                size_t len)
{
    struct tapped *t = ctx;
    (void)frame;
    if (t->n < 8) {
        t->at[t->n] = now;
        t->direction[t->n] = direction;
        t->len[t->n] = len;
    }
    t->n++;
}

static struct rig *pair(const struct fab_link_cfg *link, struct rig_host **a, struct rig_host **b)
{
    struct rig *rig = rig_new(7);
    *a = rig_host(rig);
    *b = rig_host(rig);
    (*a)->rate_bps = (*b)->rate_bps = link->rate_bps;
    assert_int_equal(fab_link_new(rig->fab, (*a)->node, (*b)->node, link), 0);
    return rig;
}

/* 976 bytes and 24 more are 8000 bits: 200 ns at 40 Gb/s. */
static void test_frame_takes_its_bits_and_the_way(void **state)
{
    (void)state;
    struct rig_host *a, *b;
    struct tapped at_a = {0}, at_b = {0};
    struct rig *rig =
        pair(&(struct fab_link_cfg){.rate_bps = 40 * RIG_G, .delay_ns = 1000}, &a, &b);
    fab_tap_new(rig->fab, a->node, 0, tap, &at_a);
    fab_tap_new(rig->fab, b->node, 0, tap, &at_b);
    rig_send(a, b, 976, 0x62)->limit = 3;
    rig_start(rig);
    fab_run(rig->fab, 1199);
    assert_int_equal(b->received, 0);
    fab_run(rig->fab, 1200);
    assert_int_equal(b->received, 1);
    fab_run(rig->fab, 1000000);
    assert_int_equal(b->received, 3);
    assert_int_equal(b->last, 1600);
    assert_int_equal(at_a.n, 3);
    assert_int_equal(at_b.n, 3);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(at_a.direction[i], FAB_OUT);
        assert_int_equal(at_a.at[i], i * 200);
        assert_int_equal(at_b.direction[i], FAB_IN);
        assert_int_equal(at_b.at[i], 1200 + i * 200);
        assert_int_equal(at_b.len[i], 976);
    }
    assert_int_equal(fab_hops(rig->fab), 3);
    rig_del(rig);
}

/* 100 Gb/s, 1100 + 24 bytes: 89.92 ns each. Nothing is lost to rounding. */
static void test_line_rate_is_exact(void **state)
{
    (void)state;
    struct rig_host *a, *b;
    struct rig *rig = pair(&(struct fab_link_cfg){.rate_bps = 100 * RIG_G}, &a, &b);
    rig_send(a, b, 1100, 0x62);
    rig_start(rig);
    fab_run(rig->fab, 10000000);
    assert_int_equal(b->received, 111209); /* 10 ms / 89.92 ns = 111209.96 */
    rig_del(rig);
}

static void test_lossy_link_loses_its_share(void **state)
{
    (void)state;
    struct rig_host *a, *b;
    struct rig *rig =
        pair(&(struct fab_link_cfg){.rate_bps = 100 * RIG_G, .loss = 1.0 / 64}, &a, &b);
    rig_send(a, b, 226, 0x62)->limit = 640000;
    rig_start(rig);
    fab_run(rig->fab, UINT64_C(100000000));
    const struct fab_port_stats stats = rig_port(rig, a->node, 0);
    /* 10000 expected, standard deviation 99. */
    assert_in_range(stats.drops[FAB_DROP_LOSS], 9600, 10400);
    assert_int_equal(b->received + stats.drops[FAB_DROP_LOSS], 640000);
    assert_int_equal(stats.tx_frames, 640000);
    assert_int_equal(b->out_of_order, 0);
    rig_del(rig);
}

/* 1250 bytes are 10^4 bits: at 10^-6 one frame in a hundred. */
static void test_bit_errors_fail_the_fcs(void **state)
{
    (void)state;
    struct rig_host *a, *b;
    struct rig *rig =
        pair(&(struct fab_link_cfg){.rate_bps = 100 * RIG_G, .bit_errors = 1e-6}, &a, &b);
    rig_send(a, b, 1250, 0x62)->limit = 100000;
    rig_start(rig);
    fab_run(rig->fab, UINT64_C(100000000));
    const struct fab_port_stats stats = rig_port(rig, b->node, 0);
    assert_in_range(stats.drops[FAB_DROP_FCS], 870, 1130); /* 1000, 31.5 */
    assert_int_equal(b->received + stats.drops[FAB_DROP_FCS], 100000);
    rig_del(rig);
}

static void test_faults_may_hold_for_one_direction(void **state)
{
    (void)state;
    struct rig_host *a, *b;
    struct rig *rig = pair(
        &(struct fab_link_cfg){.rate_bps = 100 * RIG_G, .loss = 0.5, .only_forward = true}, &a, &b);
    rig_send(a, b, 500, 0x62)->limit = 1000;
    rig_send(b, a, 500, 0x62)->limit = 1000;
    rig_start(rig);
    fab_run(rig->fab, UINT64_C(10000000));
    assert_int_equal(a->received, 1000);
    assert_in_range(b->received, 400, 600);
    rig_del(rig);
}

static void test_impossible_links_are_refused(void **state)
{
    (void)state;
    struct rig *rig = rig_new(1);
    struct rig_host *a = rig_host(rig), *b = rig_host(rig);
    const struct fab_link_cfg good = {.rate_bps = RIG_G}, still = {.rate_bps = 0};
    assert_int_equal(fab_link_new(rig->fab, a->node, b->node, &still), ROCE_ERR_INVALID);
    assert_int_equal(fab_link_new(rig->fab, a->node, a->node, &good), ROCE_ERR_INVALID);
    assert_int_equal(fab_link_new(rig->fab, a->node, 9, &good), ROCE_ERR_INVALID);
    assert_int_equal(fab_link_new(rig->fab, a->node, b->node, &good), 0);
    assert_int_equal(fab_link_new(rig->fab, a->node, b->node, &good), ROCE_ERR_FULL);
    rig_start(rig);
    assert_int_equal(fab_start_new(rig->fab, NULL), ROCE_ERR_STATE);
    assert_int_equal(fab_run(rig->fab, 1000) < 10, true);
    rig_del(rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_frame_takes_its_bits_and_the_way),
        cmocka_unit_test(test_line_rate_is_exact),
        cmocka_unit_test(test_lossy_link_loses_its_share),
        cmocka_unit_test(test_bit_errors_fail_the_fcs),
        cmocka_unit_test(test_faults_may_hold_for_one_direction),
        cmocka_unit_test(test_impossible_links_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
