/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ECN marks and CNPs: delays, runs and rates by hand calculation. */
#include "tests/cmocka_all.h"
#include "tests/flow/scene.h"

static struct shot cnp(uint32_t qp)
{
    return (struct shot){
        .src = 2, .dst = 1, .op = ROCE_OPCODE_CNP, .qp = qp, .len = 16, .dscp = 48};
}

static struct shot marked(uint32_t psn)
{
    struct shot x = scene_send(psn);
    x.ecn = ROCE_ECN_CE;
    x.dscp = 26;
    return x;
}

static uint32_t data_flow(const struct scene *s)
{
    uint8_t src[16], dst[16];
    roce_ip_v4(src, 10, 0, 0, 1);
    roce_ip_v4(dst, 10, 0, 0, 2);
    const uint32_t flow = roce_flow_find(roce_observer_flows(s->obs), src, dst, QP_B, false, 0);
    assert_int_not_equal(flow, ROCE_FLOW_NONE);
    return flow;
}

static struct roce_congestion congestion(const struct scene *s)
{
    struct roce_congestion c;
    assert_true(roce_observer_congestion(s->obs, data_flow(s), &c));
    return c;
}

/* The delay runs from the first CE behind the previous CNP: 4 us, then 7 us (not 3). */
static void test_delay(void **state)
{
    (void)state;
    struct scene s = scene_new(NULL);
    scene_talk(&s, 100, 10);
    scene_shot(&s, 10 * US, marked(110));
    scene_shot(&s, 4 * US, cnp(QP_A));
    scene_shot(&s, 40 * US, marked(111));
    scene_shot(&s, 4 * US, marked(112));
    scene_shot(&s, 3 * US, cnp(QP_A));
    const struct roce_congestion c = congestion(&s);
    assert_int_equal(c.ce, 3);
    assert_int_equal(c.ce_runs, 1);
    assert_true(c.has_cnp);
    assert_int_equal(c.cnps, 2);
    assert_int_equal(c.cnps_without_ce, 0);
    assert_int_equal(c.ce_runs_unanswered, 0);
    assert_int_equal(c.cnp_delay.count, 2);
    assert_int_equal(c.cnp_delay.min, 4000);
    assert_int_equal(c.cnp_delay.max, 7000);
    assert_int_equal(c.cnp_spacing_min, 47000);
    assert_int_equal(c.first_frame, 21);
    struct roce_dscp d;
    assert_true(roce_observer_dscp(s.obs, 26, &d));
    assert_int_equal(d.ce, 3);
    assert_int_equal(d.packets, 3);
    assert_int_equal(d.cnp_delay.count, 2);
    assert_int_equal(d.cnp_delay.min, 4000);
    assert_true(roce_observer_dscp(s.obs, 48, &d));
    assert_int_equal(d.cnps, 2);
    assert_int_equal(d.ce + d.ect + d.not_ect, 0);
    assert_false(roce_observer_dscp(s.obs, 1, &d));
    assert_false(roce_observer_dscp(s.obs, 64, &d));
    scene_free(&s);
}

/* p50 of 1..99 us is 50 us, within a histogram bucket (1.6 %). */
static void test_quantiles(void **state)
{
    (void)state;
    struct scene s = scene_new(NULL);
    scene_talk(&s, 100, 10);
    for (uint32_t i = 1; i < 100; i++) {
        scene_shot(&s, 100 * US, marked(109 + i));
        scene_shot(&s, i * US, cnp(QP_A));
    }
    const struct roce_congestion c = congestion(&s);
    assert_true(c.has_quantiles);
    assert_int_equal(c.cnp_delay.min, 1000);
    assert_int_equal(c.cnp_delay.max, 99000);
    assert_in_range(c.cnp_delay.p50, 49200, 50800);
    assert_in_range(c.cnp_delay.p99, 97400, 99000);
    scene_free(&s);
}

static void test_without_ce(void **state)
{
    (void)state;
    struct scene s = scene_new(NULL);
    scene_talk(&s, 100, 10);
    scene_shot(&s, 10 * US, cnp(QP_A)); /* no mark at all */
    scene_shot(&s, 10 * US, marked(110));
    scene_shot(&s, 1000 * US, cnp(QP_A)); /* just within the interval */
    scene_shot(&s, 1001 * US, cnp(QP_A)); /* too late for it */
    scene_end(&s, 10 * MS);
    const struct roce_congestion c = congestion(&s);
    assert_int_equal(c.cnps, 3);
    assert_int_equal(c.cnps_without_ce, 2);
    assert_int_equal(c.cnp_delay.count, 1);
    const struct roce_finding *f = scene_find(&s, ROCE_FINDING_CNP_WITHOUT_CE);
    assert_non_null(f);
    assert_int_equal(f->severity, ROCE_SEVERITY_NOTE);
    assert_int_equal(f->count, 2);
    assert_int_equal(f->first_frame, 21);
    scene_free(&s);
}

/* Three runs: answered, unanswered, and one that the capture's end leaves open. */
static void test_runs(void **state)
{
    (void)state;
    struct scene s = scene_new(NULL);
    scene_talk(&s, 100, 10);
    scene_shot(&s, 10 * US, marked(110));
    scene_shot(&s, 10 * US, cnp(QP_A));
    scene_shot(&s, 5 * MS, marked(111));
    scene_shot(&s, 900 * US, marked(112)); /* of the same run */
    scene_shot(&s, 5 * MS, marked(113));
    struct roce_congestion c = congestion(&s);
    assert_int_equal(c.ce_runs, 3);
    assert_int_equal(c.ce_runs_unanswered, 1);
    scene_tcp(&s, 2 * MS);
    c = congestion(&s);
    assert_int_equal(c.ce_runs_unanswered, 2);
    scene_free(&s);
}

static void marks(struct scene *s, uint32_t n, bool answered)
{
    scene_talk(s, 100, 10);
    for (uint32_t i = 0; i < n; i++) {
        scene_shot(s, 5 * MS, marked(110 + i));
        if (answered)
            scene_shot(s, 10 * US, cnp(QP_A));
        scene_shot(s, 10 * US, scene_ack(110 + i, ACK_OK, 110 + i));
    }
    scene_end(s, 10 * MS);
}

static void test_missing(void **state)
{
    (void)state;
    struct scene s = scene_new(NULL);
    marks(&s, 12, false);
    const struct roce_finding *f = scene_find(&s, ROCE_FINDING_CNP_MISSING);
    assert_non_null(f);
    assert_int_equal(f->severity, ROCE_SEVERITY_WARNING);
    assert_int_equal(f->count, 12);
    assert_int_equal(f->first_frame, 21);
    assert_int_equal(f->flow, data_flow(&s));
    scene_free(&s);
    s = scene_new(NULL); /* a few marks prove little */
    marks(&s, 3, false);
    assert_int_equal(scene_find(&s, ROCE_FINDING_CNP_MISSING)->severity, ROCE_SEVERITY_NOTE);
    assert_int_equal(scene_alarms(&s), 0);
    scene_free(&s);
    s = scene_new(NULL);
    marks(&s, 12, true);
    assert_null(scene_find(&s, ROCE_FINDING_CNP_MISSING));
    assert_null(scene_find(&s, ROCE_FINDING_CNP_WITHOUT_CE));
    assert_null(scene_find(&s, ROCE_FINDING_CNP_DSCP));
    assert_int_equal(scene_alarms(&s), 0);
    scene_free(&s);
}

/* Without the opposite direction nobody can say that a CNP is missing. */
static void test_one_direction(void **state)
{
    (void)state;
    struct scene s = scene_new(NULL);
    for (uint32_t i = 0; i < 20; i++)
        scene_shot(&s, 5 * MS, marked(100 + i));
    scene_end(&s, 10 * MS);
    assert_false(congestion(&s).has_cnp);
    assert_null(scene_find(&s, ROCE_FINDING_CNP_MISSING));
    scene_free(&s);
}

static void test_dscp_finding(void **state)
{
    (void)state;
    struct scene s = scene_new(NULL);
    scene_talk(&s, 100, 10);
    scene_shot(&s, 10 * US, marked(110));
    struct shot x = cnp(QP_A);
    x.dscp = 26;
    scene_shot(&s, 10 * US, x);
    scene_end(&s, MS);
    const struct roce_finding *f = scene_find(&s, ROCE_FINDING_CNP_DSCP);
    assert_non_null(f);
    char text[ROCE_FINDING_TEXT];
    roce_finding_text(f, text, sizeof text);
    assert_string_equal(text, "1 CNP with DSCP 26, the same as other RoCE frames");
    assert_int_equal(f->n_frames, 1);
    assert_int_equal(f->frames[0], s.frame - 1); /* the last one of the talk */
    scene_free(&s);
}

/* While the pair is unknown, the only marked flow of the two hosts is meant; with two of them
 * nobody can tell, unless DETH names the sender's QP. */
static void test_unpaired(void **state)
{
    (void)state;
    struct scene s = scene_new(NULL);
    struct roce_capture_totals t;
    scene_shot(&s, US, marked(5));
    scene_shot(&s, 4 * US, cnp(QP_A));
    struct roce_congestion c = congestion(&s);
    assert_int_equal(c.cnps, 1);
    assert_int_equal(c.cnp_delay.min, 4000);
    struct shot other = marked(9);
    other.qp = 0x33;
    scene_shot(&s, US, other);
    scene_shot(&s, 4 * US, cnp(QP_A));
    assert_int_equal(congestion(&s).cnps, 1);
    roce_observer_totals(s.obs, &t);
    assert_int_equal(t.cnps, 2);
    assert_int_equal(t.cnps_unmatched, 1);
    struct shot ud = {.src = 1,
                      .dst = 2,
                      .op = ROCE_OPCODE_UD_SEND_ONLY,
                      .qp = 0x44,
                      .src_qp = 0x55,
                      .len = 32,
                      .ecn = ROCE_ECN_CE};
    scene_shot(&s, US, ud);
    const uint32_t flow = s.v.flow;
    scene_shot(&s, 6 * US, cnp(0x55));
    assert_true(roce_observer_congestion(s.obs, flow, &c));
    assert_int_equal(c.cnps, 1);
    assert_int_equal(c.cnp_delay.min, 6000);
    scene_free(&s);
}

/* 1,000-byte payloads: 14 + 20 + 8 + 12 + 1000 + 4 = 1,058 bytes a frame. */
static void stream(struct scene *s, uint32_t *psn, uint32_t n, uint64_t spacing)
{
    for (uint32_t i = 0; i < n; i++) {
        struct shot x = scene_send((*psn)++);
        x.len = 1000;
        x.ack = false;
        x.ecn = ROCE_ECN_ECT0;
        scene_shot(s, spacing, x);
    }
}

/* A frame each 2 us before the CNP and each 4 us behind it: 50 and 25 frames in 100 us. */
static void test_rate_falls(void **state)
{
    (void)state;
    struct scene s = scene_new(NULL);
    uint32_t psn = 200;
    scene_talk(&s, 100, 10);
    psn = 110;
    scene_tcp(&s, 50 * US);
    stream(&s, &psn, 100, 2 * US);
    scene_shot(&s, 1 * US, cnp(QP_A)); /* the window before: 99, 97, ... 1 us ago, 50 frames */
    stream(&s, &psn, 100, 4 * US);
    const struct roce_congestion c = congestion(&s);
    assert_int_equal(c.rate_measured, 1);
    assert_int_equal(c.rate_fell, 1);
    assert_int_equal(c.rate_before_bps, UINT64_C(50) * 1058 * 8 * 10000);
    assert_int_equal(c.rate_after_bps, UINT64_C(25) * 1058 * 8 * 10000);
    scene_free(&s);
}

/* The window is widened until it holds eight frames: 20 us apart that is 1 ms, with 50 of them. */
static void test_rate_wide_window(void **state)
{
    (void)state;
    struct scene s = scene_new(NULL);
    scene_talk(&s, 100, 10);
    uint32_t psn = 110;
    stream(&s, &psn, 100, 20 * US);
    scene_shot(&s, 10 * US, cnp(QP_A));
    stream(&s, &psn, 100, 20 * US);
    const struct roce_congestion c = congestion(&s);
    assert_int_equal(c.rate_measured, 1);
    assert_int_equal(c.rate_fell, 0);
    assert_int_equal(c.rate_before_bps, UINT64_C(50) * 1058 * 8 * 1000);
    assert_int_equal(c.rate_after_bps, UINT64_C(50) * 1058 * 8 * 1000);
    scene_free(&s);
}

static void cnps_and_rates(struct scene *s, bool obeys)
{
    scene_talk(s, 100, 10);
    uint32_t psn = 110;
    stream(s, &psn, 100, 2 * US);
    for (int i = 0; i < 12; i++) {
        scene_shot(s, 1 * US, marked(psn++));
        scene_shot(s, 1 * US, cnp(QP_A));
        stream(s, &psn, 60, obeys ? 6 * US : 2 * US);
        if (obeys)
            stream(s, &psn, 60, 2 * US); /* recovered before the next CNP */
    }
    scene_end(s, MS);
}

static void test_ignored(void **state)
{
    (void)state;
    struct scene s = scene_new(NULL);
    cnps_and_rates(&s, false);
    const struct roce_finding *f = scene_find(&s, ROCE_FINDING_CNP_IGNORED);
    assert_non_null(f);
    assert_int_equal(f->severity, ROCE_SEVERITY_WARNING);
    assert_true(f->count >= 10);
    scene_free(&s);
    s = scene_new(NULL);
    cnps_and_rates(&s, true);
    assert_null(scene_find(&s, ROCE_FINDING_CNP_IGNORED));
    assert_true(congestion(&s).rate_fell >= 10);
    scene_free(&s);
}

/* A flood of marked flows stays within bounds and says so. */
static void test_flood(void **state)
{
    (void)state;
    const struct roce_observer_opts opts = {.max_flows = 20000};
    struct scene s = scene_new(&opts);
    for (uint32_t i = 0; i < 30000; i++) {
        struct shot x = marked(i);
        x.qp = 2 + i;
        scene_shot(&s, 10, x);
    }
    scene_end(&s, MS);
    struct roce_observer_stats stats;
    roce_observer_stats(s.obs, &stats);
    assert_true(stats.congestion_lost > 0);
    struct roce_dscp d;
    assert_true(roce_observer_dscp(s.obs, 26, &d));
    assert_int_equal(d.ce, 30000);
    scene_free(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_delay),        cmocka_unit_test(test_quantiles),
        cmocka_unit_test(test_without_ce),   cmocka_unit_test(test_runs),
        cmocka_unit_test(test_missing),      cmocka_unit_test(test_one_direction),
        cmocka_unit_test(test_dscp_finding), cmocka_unit_test(test_unpaired),
        cmocka_unit_test(test_rate_falls),   cmocka_unit_test(test_rate_wide_window),
        cmocka_unit_test(test_ignored),      cmocka_unit_test(test_flood),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
