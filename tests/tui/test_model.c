/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rates, intervals, events and the display filter, with figures worked out by hand. */
#include "../cmocka_all.h"

#include "frames.h"
#include "ui.h"

static const struct frames_spec SEND = {
    .opcode = ROCE_OPCODE_RC_SEND_ONLY, .qpn = 0x12, .payload = 1000, .ackreq = true};
static const struct snap_want NOTHING = {.detail = ROCE_FLOW_NONE};

struct fixture {
    struct model *model;
    struct snapshot *snap;
};

static int set_up(void **state)
{
    static struct fixture f;
    f.model = tui_model_new(&FRAMES_OPTS);
    f.snap = tui_snapshot_new();
    *state = &f;
    return f.model == NULL || f.snap == NULL;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    tui_model_del(f->model);
    tui_snapshot_del(f->snap);
    return 0;
}

static const struct snapshot *snap(struct fixture *f)
{
    tui_model_snapshot(f->model, &NOTHING, f->snap);
    return f->snap;
}

static struct frames_spec send_of(uint32_t psn)
{
    struct frames_spec spec = SEND;
    spec.psn = psn;
    return spec;
}

static void test_no_rate_before_a_whole_interval(void **state)
{
    struct fixture *f = *state;
    struct frames_spec spec = send_of(1);
    assert_false(snap(f)->has_rates);
    assert_int_equal(f->snap->now, 0);
    frames_send(f->model, &spec, FRAMES_T0 + 500 * FRAMES_MS);
    assert_false(snap(f)->has_rates);
    spec = send_of(2);
    frames_send(f->model, &spec, FRAMES_T0 + 1001 * FRAMES_MS);
    assert_true(snap(f)->has_rates);
    assert_int_equal(f->snap->rates.packets, 1);
}

/* 100 frames in a second; the frame: 14 + 20 + 8 + 12 + 1000 + 4 = 1058 bytes. */
static void test_rates_of_an_interval(void **state)
{
    struct fixture *f = *state;
    for (uint32_t i = 0; i < 100; i++) {
        const struct frames_spec spec = send_of(i);
        frames_send(f->model, &spec, FRAMES_T0 + i * 10 * FRAMES_MS);
    }
    const struct frames_spec spec = send_of(100);
    frames_send(f->model, &spec, FRAMES_T0 + FRAMES_SEC + 1);
    const struct snapshot *s = snap(f);
    assert_int_equal(s->rates.packets, 100);
    assert_int_equal(s->rates.bytes, 105800);
    assert_int_equal(s->n_rows, 1);
    assert_true(s->row[0].bps == 8 * 105800.0);
    assert_true(s->row[0].pps == 100.0);
    assert_true(s->row[0].active);
    assert_int_equal(s->row[0].packets, 101);
    /* Two intervals later nothing of it is left. */
    tui_model_advance(f->model, FRAMES_T0 + 3 * FRAMES_SEC + 1);
    s = snap(f);
    assert_int_equal(s->rates.packets, 0);
    assert_false(s->row[0].active);
    assert_true(s->row[0].bps == 0);
    assert_int_equal(s->row[0].packets, 101);
}

static void test_means_at_the_end(void **state)
{
    struct fixture *f = *state;
    for (uint32_t i = 0; i <= 4; i++) {
        const struct frames_spec spec = send_of(i);
        frames_send(f->model, &spec, FRAMES_T0 + i * FRAMES_SEC / 2);
    }
    tui_model_finish(f->model);
    const struct snapshot *s = snap(f);
    assert_true(s->over && s->has_rates);
    assert_true(s->seconds == 2.0);
    assert_true(s->row[0].bps == 5 * 1058 * 8 / 2.0);
    assert_int_equal(s->sum.packets, 5);
}

static void test_gap_is_an_event(void **state)
{
    struct fixture *f = *state;
    struct frames_spec spec = send_of(10);
    frames_send(f->model, &spec, FRAMES_T0);
    spec = send_of(14);
    frames_send(f->model, &spec, FRAMES_T0 + FRAMES_MS);
    const struct snapshot *s = snap(f);
    assert_int_equal(s->row[0].gap_events, 1);
    assert_int_equal(s->row[0].gap_psns, 3);
    assert_int_equal(s->log.count, 1);
    assert_int_equal(s->log.entry[0].type, LOG_TYPE_GAP);
    assert_int_equal(s->log.entry[0].psn, 11);
    assert_int_equal(s->log.entry[0].count, 3);
    assert_int_equal(s->log.entry[0].dest_qp, 0x12);
    assert_false(tui_snapshot_unsure(s, s->log.entry[0].ts));
}

/* What the capture dropped in the same interval makes a gap unsure, not another one's. */
static void test_drops_make_gaps_unsure(void **state)
{
    struct fixture *f = *state;
    char text[256];
    struct frames_spec spec = send_of(10);
    frames_send(f->model, &spec, FRAMES_T0);
    spec = send_of(12);
    frames_send(f->model, &spec, FRAMES_T0 + 100 * FRAMES_MS);
    tui_model_dropped(f->model, 7, 0);
    spec = send_of(13);
    frames_send(f->model, &spec, FRAMES_T0 + FRAMES_SEC + FRAMES_MS);
    spec = send_of(15);
    frames_send(f->model, &spec, FRAMES_T0 + 2 * FRAMES_SEC + FRAMES_MS);
    const struct snapshot *s = snap(f);
    assert_true(tui_snapshot_unsure(s, FRAMES_T0 + 100 * FRAMES_MS));
    assert_false(tui_snapshot_unsure(s, FRAMES_T0 + 2 * FRAMES_SEC + FRAMES_MS));
    int drops = 0;
    for (uint64_t i = 0; i < s->log.count; i++)
        drops += s->log.entry[i].type == LOG_TYPE_CAPTURE && s->log.entry[i].count == 7;
    assert_int_equal(drops, 1);
    assert_non_null(strstr(tui_log_detail(text, sizeof(text), &s->log.entry[0], true), "unsure"));
    assert_null(strstr(tui_log_detail(text, sizeof(text), &s->log.entry[0], true), "lost"));
}

/* Live, the counter is ahead of the frames: those before the drops still lie in the ring. The gap
 * comes with the first frame behind them. */
static void test_drops_read_ahead_make_gaps_unsure(void **state)
{
    struct fixture *f = *state;
    struct frames_spec spec = send_of(10);
    frames_send(f->model, &spec, FRAMES_T0);
    tui_model_dropped(f->model, 0, FRAMES_T0 + FRAMES_MS);
    spec = send_of(11);
    frames_send(f->model, &spec, FRAMES_T0 + 100 * FRAMES_MS);
    tui_model_dropped(f->model, 7, FRAMES_T0 + 3 * FRAMES_SEC);
    spec = send_of(15);
    frames_send(f->model, &spec, FRAMES_T0 + 3 * FRAMES_SEC + FRAMES_MS);
    tui_model_dropped(f->model, 7, FRAMES_T0 + 6 * FRAMES_SEC);
    spec = send_of(17);
    frames_send(f->model, &spec, FRAMES_T0 + 6 * FRAMES_SEC);
    const struct snapshot *s = snap(f);
    assert_true(tui_snapshot_unsure(s, FRAMES_T0 + 3 * FRAMES_SEC + FRAMES_MS));
    assert_false(tui_snapshot_unsure(s, FRAMES_T0 + 6 * FRAMES_SEC));
}

static void test_drops_before_a_reset_are_not_told_again(void **state)
{
    struct fixture *f = *state;
    tui_model_dropped_before(f->model, 7);
    struct frames_spec spec = send_of(10);
    frames_send(f->model, &spec, FRAMES_T0);
    tui_model_dropped(f->model, 7, FRAMES_T0 + FRAMES_MS);
    spec = send_of(12);
    frames_send(f->model, &spec, FRAMES_T0 + FRAMES_SEC);
    const struct snapshot *s = snap(f);
    assert_int_equal(s->n_drops, 0);
    assert_int_equal(s->log.count, 1); /* the gap */
}

/* A single wild time stamp moves nothing; a clock that was set is followed. */
static void test_wild_time_stamps(void **state)
{
    struct fixture *f = *state;
    uint32_t psn = 0;
    struct frames_spec spec = send_of(psn++);
    frames_send(f->model, &spec, FRAMES_T0);
    spec = send_of(psn++);
    frames_send(f->model, &spec, FRAMES_T0 + 400 * 86400 * FRAMES_SEC);
    spec = send_of(psn++);
    frames_send(f->model, &spec, 1);
    spec = send_of(psn++);
    frames_send(f->model, &spec, UINT64_MAX);
    spec = send_of(psn++);
    frames_send(f->model, &spec, FRAMES_T0 + FRAMES_SEC);
    assert_int_equal(snap(f)->now, FRAMES_T0 + FRAMES_SEC);
    assert_int_equal(f->snap->rates.packets, 4);
    const roce_tstamp later = FRAMES_T0 + 900 * 86400 * FRAMES_SEC;
    for (uint32_t i = 0; i < 200; i++) {
        spec = send_of(psn++);
        frames_send(f->model, &spec, later + i * FRAMES_MS);
    }
    assert_int_equal(snap(f)->now, later + 199 * FRAMES_MS);
    assert_int_equal(f->snap->totals.packets, psn);
}

static void test_bad_icrc_and_ce_rate(void **state)
{
    struct fixture *f = *state;
    struct frames_spec spec = send_of(0);
    spec.bad_icrc = true;
    frames_send(f->model, &spec, FRAMES_T0);
    /* 100 frames of DSCP 26, ten of them CE: 10 % is beyond 5 %. */
    for (uint32_t i = 1; i <= 100; i++) {
        spec = send_of(i);
        spec.tos = (uint8_t)(26 << 2 | (i % 10 == 0 ? 3 : 2));
        frames_send(f->model, &spec, FRAMES_T0 + i * FRAMES_MS);
    }
    tui_model_advance(f->model, FRAMES_T0 + FRAMES_SEC);
    const struct snapshot *s = snap(f);
    assert_int_equal(s->log.count, 2);
    assert_int_equal(s->log.entry[0].type, LOG_TYPE_ICRC);
    assert_int_equal(s->log.entry[1].type, LOG_TYPE_CE_RATE);
    assert_int_equal(s->log.entry[1].code, 26);
    assert_int_equal(s->log.entry[1].count, 100); /* permille */
    assert_int_equal(s->row[0].ce, 10);
    assert_int_equal(s->row[0].icrc_bad, 1);
}

/* 65535 quanta at 100 Gb/s are 65535 * 512 / 100 ns = 335.539 us; the XON comes after 200 us. */
static void test_pauses(void **state)
{
    struct fixture *f = *state;
    struct model_opts opts = FRAMES_OPTS;
    uint8_t data[64];
    opts.link_speed_bps = UINT64_C(100000000000);
    tui_model_del(f->model);
    f->model = tui_model_new(&opts);
    frames_feed(f->model, data, frames_pfc(data, 3, 65535), FRAMES_T0);
    frames_feed(f->model, data, frames_pfc(data, 3, 0), FRAMES_T0 + 200000);
    frames_feed(f->model, data, frames_pfc(data, 3, 65535), FRAMES_T0 + 500 * FRAMES_MS);
    tui_model_advance(f->model, FRAMES_T0 + 600 * FRAMES_MS);
    tui_model_advance(f->model, FRAMES_T0 + FRAMES_SEC);
    const struct snapshot *s = snap(f);
    assert_int_equal(s->rates.xoff[3], 2);
    assert_int_equal(s->rates.xon[3], 1);
    assert_int_equal(s->log.count, 2); /* the second XOFF of the second is a repeat */
    assert_int_equal(s->log.entry[0].type, LOG_TYPE_PFC_XOFF);
    assert_int_equal(s->log.entry[0].repeats, 2);
    assert_int_equal(s->log.entry[0].duration, 335539);
    assert_int_equal(s->log.entry[1].type, LOG_TYPE_PFC_XON);
    assert_int_equal(s->log.entry[1].duration, 200000);
    assert_int_equal(s->n_pauses, 1);
    assert_int_equal(s->pause[0].priority, 3);
}

static void test_filter_matches_flows(void **state)
{
    struct fixture *f = *state;
    struct roce_filter_error error;
    struct frames_spec spec = send_of(1);
    frames_send(f->model, &spec, FRAMES_T0);
    spec.qpn = 0x34;
    frames_send(f->model, &spec, FRAMES_T0 + 1);
    struct roce_filter *filter = roce_filter_compile("qp == 0x34", &error);
    assert_non_null(filter);
    /* Frames that came before count, too, from the ring. */
    tui_model_filter(f->model, filter);
    const struct snapshot *s = snap(f);
    assert_false(s->row[0].matched);
    assert_true(s->row[1].matched);
    tui_model_filter(f->model, NULL);
    assert_true(snap(f)->row[0].matched);
    roce_filter_del(filter);
    filter = roce_filter_compile("gap", &error);
    assert_non_null(filter);
    tui_model_filter(f->model, filter);
    assert_false(snap(f)->row[0].matched || f->snap->row[1].matched);
    spec = send_of(5);
    frames_send(f->model, &spec, FRAMES_T0 + 2);
    assert_true(snap(f)->row[0].matched);
    assert_false(f->snap->row[1].matched);
    tui_model_filter(f->model, NULL);
    roce_filter_del(filter);
}

/* Request and answer of a pair lie in the detail in their order. */
static void test_detail_has_both_directions(void **state)
{
    struct fixture *f = *state;
    for (uint32_t i = 0; i < 20; i++) {
        const struct frames_spec spec = send_of(i);
        const struct frames_spec ack = {.opcode = ROCE_OPCODE_RC_ACKNOWLEDGE,
                                        .qpn = 0x99,
                                        .psn = i,
                                        .syndrome = 0x1F,
                                        .reverse = true};
        frames_send(f->model, &spec, FRAMES_T0 + 2 * i * FRAMES_MS);
        frames_send(f->model, &ack, FRAMES_T0 + (2 * i + 1) * FRAMES_MS);
    }
    tui_model_snapshot(f->model, &NOTHING, f->snap);
    assert_int_equal(f->snap->n_rows, 2);
    assert_int_equal(f->snap->row[0].peer, 1);
    struct snap_want want = {.detail = 0, .detail_serial = f->snap->row[0].serial};
    tui_model_snapshot(f->model, &want, f->snap);
    assert_true(f->snap->detail.valid);
    assert_int_equal(f->snap->detail.frames, 40);
    for (uint32_t i = 0; i < 40; i++) {
        assert_int_equal(f->snap->frame[i].reverse, i % 2);
        assert_int_equal(f->snap->frame[i].record.psn, i / 2);
        assert_int_equal(f->snap->frame[i].slice_len,
                         i % 2 == 0 ? SNAP_SLICE : 14 + 20 + 8 + 12 + 4 + 4);
    }
    assert_int_equal(f->snap->detail.latency.count, 20);
    assert_int_equal(f->snap->detail.latency.max, FRAMES_MS);
    /* Another flow in its place is not this one. */
    want.detail_serial++;
    tui_model_snapshot(f->model, &want, f->snap);
    assert_false(f->snap->detail.valid);
}

/* The frames around a gap are there long after the ring has turned. */
static void test_frames_around_a_gap_are_kept(void **state)
{
    struct fixture *f = *state;
    uint64_t ms = 0;
    for (uint32_t i = 0; i < 200; i++) {
        const struct frames_spec spec = send_of(i < 100 ? i : i + 3);
        frames_send(f->model, &spec, FRAMES_T0 + ms++ * FRAMES_MS);
    }
    for (uint32_t i = 0; i < 20000; i++) {
        struct frames_spec spec = send_of(i);
        spec.qpn = 0x77;
        frames_send(f->model, &spec, FRAMES_T0 + ms++ * FRAMES_MS);
    }
    const uint32_t serial = snap(f)->row[0].serial;
    const struct snap_want want = {.detail = 0, .detail_serial = serial};
    tui_model_snapshot(f->model, &want, f->snap);
    /* 32 frames up to the gap, 63 behind the frame that showed it. */
    assert_int_equal(f->snap->detail.frames, 32 + 63);
    assert_int_equal(f->snap->frame[0].record.psn, 100 + 3 - 3 - 31);
    assert_int_equal(f->snap->frame[31].record.psn, 103);
    assert_int_equal(f->snap->frame[31].record.missing, 3);
    assert_int_equal(f->snap->frame[94].record.psn, 103 + 63);
    assert_true(f->snap->detail.more);
}

/* More flows than the table holds: bounded, and said. */
static void test_churn_is_bounded(void **state)
{
    struct fixture *f = *state;
    for (uint32_t i = 0; i < 50000; i++) {
        struct frames_spec spec = send_of(1);
        spec.qpn = 100 + i;
        spec.payload = 0;
        frames_send(f->model, &spec, FRAMES_T0 + i * FRAMES_MS);
    }
    const struct snapshot *s = snap(f);
    assert_int_equal(s->n_rows, 1000);
    assert_int_equal(s->stats.evicted, 49000);
    assert_int_equal(s->totals.packets, 50000);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_no_rate_before_a_whole_interval),
        TEST(test_rates_of_an_interval),
        TEST(test_means_at_the_end),
        TEST(test_gap_is_an_event),
        TEST(test_drops_make_gaps_unsure),
        TEST(test_drops_read_ahead_make_gaps_unsure),
        TEST(test_drops_before_a_reset_are_not_told_again),
        TEST(test_wild_time_stamps),
        TEST(test_bad_icrc_and_ce_rate),
        TEST(test_pauses),
        TEST(test_filter_matches_flows),
        TEST(test_detail_has_both_directions),
        TEST(test_frames_around_a_gap_are_kept),
        TEST(test_churn_is_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
