/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Timers against times calculated by hand: T = 4.096 us * 2^t (IBTA 9.7.6.1.3), the RNR table (IBTA
 * table 45), retry counters. */
#include "craft.h"

/* All request frames of side 0, with their times, on a wire that loses everything of one side. */
#define LOG_MAX 64
struct log {
    unsigned n;
    roce_tstamp at[LOG_MAX];
};

static void note(void *ctx, int from, roce_tstamp now, const uint8_t *frame, int len)
{
    struct log *log = ctx;
    (void)frame;
    (void)len;
    if (from == 0 && log->n < LOG_MAX)
        log->at[log->n++] = now;
}

static void send_one(struct rig *r, struct log *log)
{
    r->loop.tap = note;
    r->loop.tap_ctx = log;
    const struct eng_send_wr wr = rig_wr(r, 0, ENG_WR_SEND, 0, 8, 0);
    assert_int_equal(rig_post(r, 0, &wr), 0);
}

static void test_timeout_values(void **state)
{
    (void)state;
    /* by hand: 4096 ns * 2^t */
    static const struct {
        uint8_t t;
        uint64_t ns;
    } cases[] = {{1, 8192},        {8, 1048576},     {12, 16777216},     {14, 67108864},
                 {18, 1073741824}, {20, 4294967296}, {31, 8796093022208}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct rig *r = rig_new(&(struct rig_opts){.timeout = cases[i].t, .retry_cnt = 1});
        struct log log = {0};
        r->loop.wire[0].loss = 1;
        send_one(r, &log);
        rig_run(r, 100000);
        assert_int_equal(log.n, 2);
        assert_int_equal(log.at[1] - log.at[0], cases[i].ns);
        rig_del(r);
    }
}

static void test_retry_counts(void **state)
{
    (void)state;
    for (uint8_t retries = 0; retries <= 7; retries++) {
        struct rig *r = rig_new(&(struct rig_opts){.retry_cnt = retries == 0 ? 0xFF : retries});
        struct log log = {0};
        r->loop.wire[0].loss = 1;
        send_one(r, &log);
        rig_recv(r, 0, 5, 0, 8);
        rig_run(r, 10);
        assert_int_equal(log.n, 1 + retries); /* then silence */
        assert_int_equal(rig_wc(r, 0).status, ENG_WC_RETRY_EXC_ERR);
        assert_int_equal(rig_wc(r, 0).status, ENG_WC_WR_FLUSH_ERR);
        assert_int_equal(eng_qp_state(r->side[0].qp), ENG_ERR);
        assert_int_equal(rig_stats(r, 0).timeouts, 1 + retries);
        rig_del(r);
    }
}

static void test_timeout_zero_waits_for_ever(void **state)
{
    (void)state;
    struct rig *r = rig_new(&(struct rig_opts){.timeout = 0xFF});
    struct log log = {0};
    r->loop.wire[0].loss = 1;
    send_one(r, &log);
    rig_run(r, 1);
    assert_int_equal(log.n, 1);
    assert_int_equal(eng_dev_next(r->side[0].dev, r->loop.now), ENG_NEVER);
    rig_no_wc(r, 0);
    rig_del(r);
}

static bool lose_two_of_three(void *ctx, uint64_t number, uint8_t *frame, int *len)
{
    (void)ctx;
    (void)frame;
    (void)len;
    return number % 3 != 2;
}

/* Each packet gets through at its third try: with a counter that progress did not load again, the
 * second message would fail. */
static void test_progress_loads_the_counter_again(void **state)
{
    (void)state;
    struct rig *r = rig_new(&(struct rig_opts){.retry_cnt = 2});
    r->loop.wire[0].meddle = lose_two_of_three;
    for (uint32_t i = 0; i < 5; i++) {
        rig_recv(r, 1, i, 0, 8);
        const struct eng_send_wr wr = rig_wr(r, 0, ENG_WR_SEND, 0, 8, 0);
        assert_int_equal(rig_post(r, 0, &wr), 0);
        rig_run(r, 10);
        assert_int_equal(rig_wc(r, 0).status, ENG_WC_SUCCESS);
    }
    assert_int_equal(rig_stats(r, 0).timeouts, 10);
    rig_del(r);
}

static bool lose_first_send(void *ctx, uint64_t number, uint8_t *frame, int *len)
{
    (void)ctx;
    (void)frame;
    (void)len;
    return number == 0 || number == 2; /* the packet, and its first repetition */
}

/* A NAK is sent once: when the packet it asked for is lost again, only the timer helps. */
static void test_lost_repetition_waits_for_the_timer(void **state)
{
    (void)state;
    struct rig *r = rig_new(&(struct rig_opts){.timeout = 8});
    struct log log = {0};
    rig_recv(r, 1, 0, 0, 8);
    rig_recv(r, 1, 1, 0, 8);
    r->loop.wire[0].meddle = lose_first_send;
    send_one(r, &log);
    send_one(r, &log);
    rig_run(r, 1);
    assert_int_equal(rig_stats(r, 1).naks_sent, 1);
    assert_int_equal(rig_stats(r, 0).timeouts, 1);
    /* sent at 0 and 0; again 2 us later (one way each), timer from there */
    assert_int_equal(log.n, 6);
    assert_int_equal(log.at[2] - log.at[0], 2000);
    assert_int_equal(log.at[4] - log.at[2], 1048576);
    rig_del(r);
}

static void test_rnr_times(void **state)
{
    (void)state;
    /* IBTA table 45, in units of 10 us */
    static const uint32_t table[32] = {65536, 1,    2,    3,     4,     6,     8,     12,
                                       16,    24,   32,   48,    64,    96,    128,   192,
                                       256,   384,  512,  768,   1024,  1536,  2048,  3072,
                                       4096,  6144, 8192, 12288, 16384, 24576, 32768, 49152};
    for (unsigned code = 0; code < 32; code++) {
        struct rig *r = rig_new(&(struct rig_opts){
            .min_rnr_timer = code == 0 ? 0xFF : (uint8_t)code, .rnr_retry = 1, .timeout = 25});
        struct log log = {0};
        send_one(r, &log);
        rig_run(r, 1000);
        assert_int_equal(log.n, 2);
        /* the NAK takes the way there and back, 2 us */
        assert_int_equal(log.at[1] - log.at[0], 2000 + (uint64_t)table[code] * 10000);
        assert_int_equal(rig_wc(r, 0).status, ENG_WC_RNR_RETRY_EXC_ERR);
        rig_del(r);
    }
}

static void test_rnr_retries(void **state)
{
    (void)state;
    for (uint8_t retries = 0; retries < 7; retries++) {
        struct rig *r = rig_new(&(struct rig_opts){.rnr_retry = retries == 0 ? 0xFF : retries});
        struct log log = {0};
        send_one(r, &log);
        rig_run(r, 10);
        assert_int_equal(log.n, 1 + retries);
        assert_int_equal(rig_wc(r, 0).status, ENG_WC_RNR_RETRY_EXC_ERR);
        assert_int_equal(rig_stats(r, 0).rnr_received, 1 + retries);
        rig_del(r);
    }
}

static void test_rnr_retry_seven_is_for_ever(void **state)
{
    (void)state;
    struct rig *r = rig_new(&(struct rig_opts){.rnr_retry = 7, .min_rnr_timer = 1});
    struct log log = {0};
    send_one(r, &log);
    assert_false(loop_run(&r->loop, r->loop.now + 10000000)); /* 10 ms of 12 us each */
    assert_true(rig_stats(r, 0).rnr_received > 800);
    rig_no_wc(r, 0);
    rig_recv(r, 1, 3, 0, 8);
    rig_run(r, 1);
    assert_int_equal(rig_wc(r, 0).status, ENG_WC_SUCCESS);
    assert_int_equal(rig_wc(r, 1).wr_id, 3);
    assert_int_equal(rig_stats(r, 0).timeouts, 0);
    rig_del(r);
}

/* soft-RoCE sends a sequence NAK behind its RNR NAK: the wait goes on, and no retry is spent. */
static void test_nak_behind_rnr_does_not_shorten_the_wait(void **state)
{
    (void)state;
    struct rig *r = rig_new(&(struct rig_opts){.rnr_retry = 1, .retry_cnt = 0xFF});
    const struct eng_send_wr wr = rig_wr(r, 0, ENG_WR_SEND, 0, 8, 0);
    rig_post(r, 0, &wr);
    rig_post(r, 0, &wr);
    struct seen s;
    assert_true(craft_next(r, 0, &s));
    assert_true(craft_next(r, 0, &s));
    const struct craft rnr = {.opcode = ROCE_OPCODE_RC_ACKNOWLEDGE, .aeth = {.syndrome = 0x2C}};
    const struct craft nak = {.opcode = ROCE_OPCODE_RC_ACKNOWLEDGE, .aeth = {.syndrome = 0x60}};
    craft_send(r, 0, &rnr);
    craft_send(r, 0, &nak);
    craft_send(r, 0, &rnr); /* a second one while the wait runs counts for nothing */
    craft_expect_silence(r, 0);
    assert_int_equal(eng_dev_next(r->side[0].dev, r->loop.now), r->loop.now + 640000);
    r->loop.now += 639999;
    eng_dev_expire(r->side[0].dev, r->loop.now);
    craft_expect_silence(r, 0);
    r->loop.now += 1;
    eng_dev_expire(r->side[0].dev, r->loop.now);
    assert_true(craft_next(r, 0, &s));
    assert_int_equal(s.pkt.bth.psn, 0);
    rig_del(r);
}

/* Progress starts the timer afresh: a READ whose answer takes longer than T as a whole does not
 * time out. */
static void test_progress_starts_the_timer_afresh(void **state)
{
    (void)state;
    struct rig *r =
        rig_new(&(struct rig_opts){.mtu = 256, .timeout = 2, .retry_cnt = 0xFF}); /* 16.4 us */
    r->loop.rate_bps = 1000000000; /* 2.6 us a packet */
    const struct eng_send_wr wr = rig_wr(r, 0, ENG_WR_READ, 0, 100 * 256, 0);
    rig_post(r, 0, &wr);
    rig_run(r, 1);
    assert_int_equal(rig_wc(r, 0).status, ENG_WC_SUCCESS);
    assert_int_equal(rig_stats(r, 0).timeouts, 0);
    rig_del(r);
}

/* Nothing asks for an answer before the end of a message: its length does not matter to the timer.
 */
static void test_long_messages_do_not_time_out(void **state)
{
    (void)state;
    struct rig *r = rig_new(&(struct rig_opts){.mtu = 256, .timeout = 2, .retry_cnt = 0xFF});
    r->loop.rate_bps = 1000000000;
    const struct eng_send_wr wr = rig_wr(r, 0, ENG_WR_WRITE, 0, 100 * 256, 0);
    rig_post(r, 0, &wr);
    rig_run(r, 1);
    assert_int_equal(rig_wc(r, 0).status, ENG_WC_SUCCESS);
    rig_del(r);
}

/* Repeating at a low rate takes longer than T: the timer waits for what asks for an answer. */
static void test_slow_repetition_does_not_time_out(void **state)
{
    (void)state;
    struct rig *r = rig_new(&(struct rig_opts){.mtu = 256, .timeout = 8, .retry_cnt = 1});
    const struct eng_send_wr wr = rig_wr(r, 0, ENG_WR_WRITE, 0, 20 * 256, 0);
    rig_post(r, 0, &wr);
    struct seen s;
    for (int i = 0; i < 20; i++)
        assert_true(craft_next(r, 0, &s));
    const struct eng_qp_attr slow = {.rate_bps = 10000000}; /* 275 us a packet */
    assert_int_equal(eng_qp_modify(r->side[0].qp, r->loop.now, &slow, ENG_ATTR_RATE), 0);
    craft_send(r, 0,
               &(struct craft){
                   .opcode = ROCE_OPCODE_RC_ACKNOWLEDGE, .psn = 3, .aeth = {.syndrome = 0x60}});
    craft_send(r, 0,
               &(struct craft){
                   .opcode = ROCE_OPCODE_RC_ACKNOWLEDGE, .psn = 4, .aeth = {.syndrome = 0x1F}});
    for (uint32_t psn = 5; psn < 20;) {
        eng_dev_expire(r->side[0].dev, r->loop.now);
        if (craft_next(r, 0, &s))
            assert_int_equal(s.pkt.bth.psn, psn++);
        else
            r->loop.now = eng_dev_next(r->side[0].dev, r->loop.now);
    }
    assert_int_equal(rig_stats(r, 0).timeouts, 0);
    assert_int_equal(eng_dev_next(r->side[0].dev, r->loop.now), r->loop.now + 1048576);
    rig_del(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_timeout_values),
        cmocka_unit_test(test_retry_counts),
        cmocka_unit_test(test_timeout_zero_waits_for_ever),
        cmocka_unit_test(test_progress_loads_the_counter_again),
        cmocka_unit_test(test_lost_repetition_waits_for_the_timer),
        cmocka_unit_test(test_rnr_times),
        cmocka_unit_test(test_rnr_retries),
        cmocka_unit_test(test_rnr_retry_seven_is_for_ever),
        cmocka_unit_test(test_nak_behind_rnr_does_not_shorten_the_wait),
        cmocka_unit_test(test_progress_starts_the_timer_afresh),
        cmocka_unit_test(test_long_messages_do_not_time_out),
        cmocka_unit_test(test_slow_repetition_does_not_time_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
