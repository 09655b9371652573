/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Notification point, DCQCN's reaction point, pacing, pause frames: against values calculated from
 * the published formulas. */
#include "craft.h"

#include <math.h>

#define LINK       UINT64_C(40000000000)
#define US         UINT64_C(1000)
#define NEAR(a, b) assert_true(fabs((a) - (b)) <= 0.001 * fabs(b))

static struct rig *start(struct eng_dcqcn *cc)
{
    return rig_new(&(struct rig_opts){
        .dev = {.link_bps = LINK, .cnp_gap_ns = 50 * US, .cnp_dscp = 48, .cnp_pcp = 6},
        .cc = cc,
        .depth = 1024});
}

static void cnp(struct rig *r, roce_tstamp at)
{
    r->loop.now = at;
    eng_dev_expire(r->side[0].dev, at);
    const struct craft c = {.opcode = ROCE_OPCODE_CNP, .len = 16};
    assert_int_equal(craft_send(r, 0, &c), 1);
}

static double rate_at(struct rig *r, roce_tstamp at)
{
    r->loop.now = at;
    eng_dev_expire(r->side[0].dev, at);
    return rig_stats(r, 0).rate_bps;
}

/* Alpha is 1 at the first CNP: 40 G becomes 20 G; half of what is missing comes back each time. */
static void test_paper_cut_and_recovery(void **state)
{
    (void)state;
    struct eng_dcqcn cc;
    eng_dcqcn_preset(ENG_DCQCN_PAPER, &cc);
    struct rig *r = start(&cc);
    NEAR(rig_stats(r, 0).rate_bps, 40e9);
    const roce_tstamp t0 = r->loop.now;
    cnp(r, t0);
    NEAR(rig_stats(r, 0).rate_bps, 20e9);
    NEAR(rig_stats(r, 0).alpha, 1.0);
    static const double want[] = {30e9, 35e9, 37.5e9, 38.75e9, 39.375e9};
    for (unsigned i = 0; i < 5; i++) {
        if (i > 0)
            NEAR(rate_at(r, t0 + (i + 1) * 55 * US - 1), want[i - 1]);
        NEAR(rate_at(r, t0 + (i + 1) * 55 * US), want[i]);
    }
    rig_del(r);
}

/* alpha <- (1 - g) alpha each 55 us: half after ln 0.5 / ln(1 - 1/256) = 177.10 periods. */
static void test_paper_alpha_half_life(void **state)
{
    (void)state;
    struct eng_dcqcn cc;
    eng_dcqcn_preset(ENG_DCQCN_PAPER, &cc);
    cc.rai_bps = cc.rhai_bps = 0;
    cc.timer_ns = 4000000 * US; /* no recovery in this test */
    struct rig *r = start(&cc);
    const roce_tstamp t0 = r->loop.now;
    cnp(r, t0);
    /* the second CNP, 177 periods later, cuts by half of alpha */
    const double alpha = pow(1 - 1.0 / 256, 177);
    NEAR(alpha, 0.5002);
    cnp(r, t0 + 177 * 55 * US);
    NEAR(rig_stats(r, 0).rate_bps, 20e9 * (1 - alpha / 2));
    NEAR(rig_stats(r, 0).alpha, (1 - 1.0 / 256) * alpha + 1.0 / 256);
    rig_del(r);
}

/* Behind F steps of fast recovery the target rises by R_AI a step, and the rate follows; far enough
 * on, both rise by R_AI per T: 40 Mb/s per 55 us. */
static void test_paper_additive_slope(void **state)
{
    (void)state;
    struct eng_dcqcn cc;
    eng_dcqcn_preset(ENG_DCQCN_PAPER, &cc);
    cc.byte_counter = UINT64_C(1) << 60; /* never: min(i, j) stays 0, no hyper increase */
    struct rig *r = start(&cc);
    roce_tstamp t0 = r->loop.now;
    cnp(r, t0);
    cnp(r, t0 + 50 * US); /* the second cut takes the target to 20 G */
    t0 += 50 * US;
    const double alpha = 1.0; /* 1 - g + g */
    double rc = 20e9 * (1 - alpha / 2), rt = 20e9;
    for (unsigned i = 0; i < 100; i++) {
        if (i >= 5)
            rt += 40e6;
        rc = (rc + rt) / 2;
        NEAR(rate_at(r, t0 + (i + 1) * 55 * US), rc);
    }
    const double before = rate_at(r, t0 + 110 * 55 * US);
    const double after = rate_at(r, t0 + 120 * 55 * US);
    NEAR(after - before, 10 * 40e6);
    rig_del(r);
}

static void test_paper_hyper_increase(void **state)
{
    (void)state;
    struct eng_dcqcn cc;
    eng_dcqcn_preset(ENG_DCQCN_PAPER, &cc);
    cc.byte_counter = 0; /* by time alone */
    struct rig *r = start(&cc);
    roce_tstamp t0 = r->loop.now;
    cnp(r, t0);
    cnp(r, t0 + 1);
    t0++;
    double rc = 10e9, rt = 20e9;
    for (unsigned i = 0; i < 20; i++) { /* 5 of recovery, one additive, then ever larger ones */
        if (i > 5)
            rt += (i - 5) * 200e6;
        else if (i == 5)
            rt += 40e6;
        rt = rt > 40e9 ? 40e9 : rt;
        rc = (rc + rt) / 2;
        NEAR(rate_at(r, t0 + (i + 1) * 55 * US), rc);
    }
    rig_del(r);
}

/* NIC form: at most one cut in 4 us; alpha by periods of 1 us; G = 1019/1024 is what is kept. */
static void test_nic_samples(void **state)
{
    (void)state;
    struct eng_dcqcn cc;
    eng_dcqcn_preset(ENG_DCQCN_NIC, &cc);
    NEAR(cc.g, 5.0 / 1024);
    cc.min_dec = 0;
    struct rig *r = start(&cc);
    const roce_tstamp t0 = r->loop.now;
    double alpha = 1023.0 / 1024;
    cnp(r, t0);
    double rate = 40e9 * (1 - alpha / 2);
    NEAR(rig_stats(r, 0).rate_bps, rate);
    cnp(r, t0 + 1 * US + 500); /* within the 4 us: remembered */
    cnp(r, t0 + 1 * US + 600);
    NEAR(rig_stats(r, 0).rate_bps, rate);
    /* periods: the first without, the second with a CNP, two more without */
    alpha = alpha * 1019 / 1024;
    alpha = alpha * 1019 / 1024 + 5.0 / 1024;
    alpha = alpha * pow(1019.0 / 1024, 2);
    NEAR(rate_at(r, t0 + 4 * US - 1), rate);
    NEAR(rate_at(r, t0 + 4 * US), rate * (1 - alpha / 2));
    NEAR(rig_stats(r, 0).alpha, alpha);
    NEAR(rate_at(r, t0 + 200 * US), rate * (1 - alpha / 2)); /* one cut, no more */
    rig_del(r);
}

static void test_bounds_of_a_cut(void **state)
{
    (void)state;
    struct eng_dcqcn cc;
    eng_dcqcn_preset(ENG_DCQCN_NIC, &cc);
    cc.min_dec = 0.75;
    cc.first_cnp_bps = 10e9;
    cc.min_bps = 6e9;
    struct rig *r = start(&cc);
    roce_tstamp t0 = r->loop.now;
    cnp(r, t0);
    NEAR(rig_stats(r, 0).rate_bps, 7.5e9); /* three quarters of 10 G */
    cnp(r, t0 + 4 * US);
    NEAR(rig_stats(r, 0).rate_bps, 6e9); /* not below the least */
    rig_del(r);
}

/* CLAMP_TGT_RATE_AFTER_TIME_INC: the target falls to the rate only if time has raised it since the
 * last cut. */
static void test_target_after_time_increase(void **state)
{
    (void)state;
    struct eng_dcqcn cc;
    eng_dcqcn_preset(ENG_DCQCN_NIC, &cc);
    cc.byte_counter = 0;
    cc.min_dec = 0.5;
    struct rig *r = start(&cc);
    const roce_tstamp t0 = r->loop.now;
    cnp(r, t0);
    cnp(r, t0 + 10 * US); /* no increase between: the target stays 40 G */
    const double rate = rig_stats(r, 0).rate_bps;
    const double after = rate_at(r, t0 + 10 * US + 300 * US);
    NEAR(after, (rate + 40e9) / 2);
    cnp(r, t0 + 320 * US); /* now the target falls to |after| */
    const double low = rig_stats(r, 0).rate_bps;
    NEAR(rate_at(r, t0 + 320 * US + 300 * US), (low + after) / 2);
    rig_del(r);
}

static void test_byte_counter_increases(void **state)
{
    (void)state;
    struct eng_dcqcn cc;
    eng_dcqcn_preset(ENG_DCQCN_PAPER, &cc);
    cc.timer_ns = 4000000 * US;
    cc.byte_counter = 10 * (1024 + 14 + 20 + 8 + 12 + 4); /* ten Middles */
    struct rig *r = start(&cc);
    cnp(r, r->loop.now);
    NEAR(rig_stats(r, 0).rate_bps, 20e9);
    const struct eng_send_wr wr = rig_wr(r, 0, ENG_WR_WRITE, 0, 512 * 1024, 0);
    rig_post(r, 0, &wr);
    uint8_t buf[ENG_FRAME_MAX];
    for (int i = 0; i < 10; i++) { /* First is longer by its RETH: the tenth frame fills it */
        assert_int_equal(eng_dev_write(r->side[0].dev, r->loop.now, buf, sizeof(buf)) > 0, 1);
        NEAR(rig_stats(r, 0).rate_bps, i < 9 ? 20e9 : 30e9);
        r->loop.now = eng_dev_next(r->side[0].dev, r->loop.now);
        eng_dev_expire(r->side[0].dev, r->loop.now);
    }
    rig_del(r);
}

/* Frames leave at the rate: n frames of b bytes, with 24 for preamble, FCS and gap. */
static void test_pacing(void **state)
{
    (void)state;
    struct rig *r = rig_new(&(struct rig_opts){.rate_bps = 1000000000});
    const struct eng_send_wr wr = rig_wr(r, 0, ENG_WR_WRITE, 0, 1024 * 1000, 0);
    rig_post(r, 0, &wr);
    const roce_tstamp t0 = r->loop.now;
    uint8_t buf[ENG_FRAME_MAX];
    uint64_t bytes = 0;
    for (int i = 0; i < 1000; i++) {
        int len = eng_dev_write(r->side[0].dev, r->loop.now, buf, sizeof(buf));
        while (len == 0) {
            const roce_tstamp next = eng_dev_next(r->side[0].dev, r->loop.now);
            assert_true(next > r->loop.now && next != ENG_NEVER);
            r->loop.now = next;
            eng_dev_expire(r->side[0].dev, next);
            len = eng_dev_write(r->side[0].dev, r->loop.now, buf, sizeof(buf));
        }
        assert_int_equal(r->loop.now - t0, bytes * 8); /* 1 bit a ns, to the ns */
        bytes += (uint64_t)len + 24;
    }
    rig_del(r);
}

static void test_pacer_does_not_save_up(void **state)
{
    (void)state;
    struct rig *r = rig_new(&(struct rig_opts){.rate_bps = 1000000000, .depth = 1024});
    const struct eng_send_wr wr = rig_wr(r, 0, ENG_WR_WRITE, 0, 1024, 0);
    uint8_t buf[ENG_FRAME_MAX];
    rig_post(r, 0, &wr);
    assert_true(eng_dev_write(r->side[0].dev, r->loop.now, buf, sizeof(buf)) > 0);
    r->loop.now += 1000000000; /* idle for a second */
    for (int i = 0; i < 200; i++)
        rig_post(r, 0, &wr);
    assert_true(eng_dev_write(r->side[0].dev, r->loop.now, buf, sizeof(buf)) > 0);
    assert_int_equal(eng_dev_write(r->side[0].dev, r->loop.now, buf, sizeof(buf)), 0);
    /* a caller who comes late catches up, but not more than 100 us: some 11 frames of 8.9 us */
    r->loop.now += 1000000;
    eng_dev_expire(r->side[0].dev, r->loop.now);
    int n = 0;
    while (eng_dev_write(r->side[0].dev, r->loop.now, buf, sizeof(buf)) > 0)
        n++;
    assert_in_range(n, 11, 12);
    rig_del(r);
}

static void test_cnp_on_the_wire(void **state)
{
    (void)state;
    struct rig *r = start(NULL);
    for (uint32_t i = 0; i < 64; i++)
        rig_recv(r, 1, i, 0, 64);
    const roce_tstamp t0 = r->loop.now;
    struct seen s;
    for (uint32_t i = 0; i < 50; i++) { /* a marked packet each 5 us: one CNP in 50 us */
        r->loop.now = t0 + i * 5 * US;
        craft_send(r, 1,
                   &(struct craft){.opcode = ROCE_OPCODE_RC_SEND_ONLY, .psn = i, .tos = 0x6B});
        const bool got = craft_next(r, 1, &s);
        assert_int_equal(got, i % 10 == 0);
        if (!got)
            continue;
        assert_int_equal(s.pkt.bth.opcode, 0x81);
        assert_int_equal(s.len, 74);
        assert_int_equal(s.pkt.bth.dqpn, eng_qp_num(r->side[0].qp));
        assert_int_equal(s.pkt.bth.psn, 0);
        assert_true(s.pkt.bth.becn);
        assert_false(s.pkt.bth.migreq || s.pkt.bth.ackreq);
        assert_int_equal(s.pkt.ip.tos, 48 << 2 | 2);
        for (uint32_t k = 0; k < 16; k++)
            assert_int_equal(s.bytes[s.pkt.payload_off + k], 0);
    }
    assert_int_equal(rig_stats(r, 1).ce_received, 50);
    assert_int_equal(rig_stats(r, 1).cnp_sent, 5);
    /* a marked ACK has no data behind it to slow down */
    r->loop.now += 1000 * US;
    const struct eng_send_wr wr = rig_wr(r, 1, ENG_WR_SEND, 0, 4, 0);
    rig_post(r, 1, &wr);
    assert_true(craft_next(r, 1, &s));
    craft_send(r, 1,
               &(struct craft){
                   .opcode = ROCE_OPCODE_RC_ACKNOWLEDGE, .tos = 0x6B, .aeth = {.syndrome = 0x1F}});
    craft_expect_silence(r, 1);
    rig_del(r);
}

static void pause(struct rig *r, bool pfc, unsigned prio, uint16_t quanta)
{
    uint8_t f[60] = {0x01, 0x80, 0xC2, 0, 0, 1, 2, 2, 2, 2, 2, 2, 0x88, 0x08};
    f[14] = pfc ? 1 : 0;
    f[15] = 1;
    if (pfc) {
        f[17] = (uint8_t)(1 << prio);
        f[18 + 2 * prio] = (uint8_t)(quanta >> 8);
        f[19 + 2 * prio] = (uint8_t)quanta;
    } else {
        f[16] = (uint8_t)(quanta >> 8);
        f[17] = (uint8_t)quanta;
    }
    assert_int_equal(eng_dev_read(r->side[0].dev, r->loop.now, f, sizeof(f)), 0);
}

/* Untagged, the priority is the DSCP's upper three bits: 26 >> 3 = 3. */
static void test_pause_frames(void **state)
{
    (void)state;
    struct rig *r = rig_new(&(struct rig_opts){.dev = {.link_bps = UINT64_C(10000000000)},
                                               .ah = {.tclass = 26 << 2 | 2}});
    const struct eng_send_wr wr = rig_wr(r, 0, ENG_WR_WRITE, 0, 100000, 0);
    rig_post(r, 0, &wr);
    const roce_tstamp t0 = r->loop.now;
    struct seen s;
    pause(r, true, 4, 1000); /* another priority */
    assert_true(craft_next(r, 0, &s));
    pause(r, true, 3, 1000); /* 51.2 ns each at 10 Gb/s */
    craft_expect_silence(r, 0);
    assert_int_equal(eng_dev_next(r->side[0].dev, t0), t0 + 51200);
    r->loop.now = t0 + 51199;
    craft_expect_silence(r, 0);
    r->loop.now = t0 + 51200;
    assert_true(craft_next(r, 0, &s));
    pause(r, true, 3, 65535);
    craft_expect_silence(r, 0);
    pause(r, true, 3, 0); /* XON */
    assert_true(craft_next(r, 0, &s));
    pause(r, false, 0, 10); /* PAUSE stops all */
    craft_expect_silence(r, 0);
    pause(r, false, 0, 0);
    assert_true(craft_next(r, 0, &s));
    struct eng_dev_stats stats;
    eng_dev_stats(r->side[0].dev, &stats);
    assert_int_equal(stats.pfc_rx, 4);
    assert_int_equal(stats.pause_rx, 2);
    rig_del(r);
}

/* A READ's data is the responder's to slow down. */
static void test_reads_are_paced_by_the_responder(void **state)
{
    (void)state;
    struct rig *r = rig_new(&(struct rig_opts){.mtu = 1024, .rate_bps = 1000000000, .timeout = 14});
    const struct eng_send_wr wr = rig_wr(r, 0, ENG_WR_READ, 0, 1000 * 1024, 0);
    rig_post(r, 0, &wr);
    const roce_tstamp t0 = r->loop.now;
    rig_run(r, 1);
    assert_int_equal(rig_wc(r, 0).status, ENG_WC_SUCCESS);
    const uint64_t frame = 14 + 20 + 8 + 12 + 1024 + 4 + 24;
    const double expect = (double)(1000 * frame * 8);
    assert_true(fabs((double)(r->loop.now - t0) - expect) < 0.01 * expect);
    rig_del(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_paper_cut_and_recovery),
        cmocka_unit_test(test_paper_alpha_half_life),
        cmocka_unit_test(test_paper_additive_slope),
        cmocka_unit_test(test_paper_hyper_increase),
        cmocka_unit_test(test_nic_samples),
        cmocka_unit_test(test_bounds_of_a_cut),
        cmocka_unit_test(test_target_after_time_increase),
        cmocka_unit_test(test_byte_counter_increases),
        cmocka_unit_test(test_pacing),
        cmocka_unit_test(test_pacer_does_not_save_up),
        cmocka_unit_test(test_cnp_on_the_wire),
        cmocka_unit_test(test_pause_frames),
        cmocka_unit_test(test_reads_are_paced_by_the_responder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
