/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The requester against answers made by hand: what it sends, what it takes for an answer, where it
 * goes back to (IBTA 9.7.3, 9.7.5, 9.7.7). Its first PSN is 0xFFFFFE, the MTU 256. */
#include <roce/err.h>

#include "craft.h"

#define PSN0 UINT32_C(0xFFFFFE)

static struct rig *start(struct rig_opts o)
{
    o.mtu = 256;
    o.psn[0] = PSN0;
    struct rig *r = rig_new(&o);
    rig_fill(r->side[0].mem, 65536, 3);
    return r;
}

static uint32_t psn(uint32_t n)
{
    return (PSN0 + n) & 0xFFFFFF;
}

static void post(struct rig *r, enum eng_wr_op op, uint32_t len)
{
    const struct eng_send_wr wr = rig_wr(r, 0, op, 0, len, 0);
    assert_int_equal(rig_post(r, 0, &wr), 0);
}

/* The next frame has this opcode, the |n|th PSN, and asks for an answer or not. */
static struct seen expect(struct rig *r, uint8_t opcode, uint32_t n, bool ackreq)
{
    struct seen s;
    assert_true(craft_next(r, 0, &s));
    assert_int_equal(s.pkt.bth.opcode, opcode);
    assert_int_equal(s.pkt.bth.psn, psn(n));
    assert_int_equal(s.pkt.bth.ackreq, ackreq);
    return s;
}

static void answer(struct rig *r, uint8_t syndrome, uint32_t n)
{
    craft_send(r, 0,
               &(struct craft){.opcode = ROCE_OPCODE_RC_ACKNOWLEDGE,
                               .psn = psn(n),
                               .aeth = {.syndrome = syndrome}});
}

static void read_answer(struct rig *r, uint8_t opcode, uint32_t n, const uint8_t *data,
                        uint32_t len)
{
    craft_send(r, 0,
               &(struct craft){.opcode = opcode,
                               .psn = psn(n),
                               .aeth = {.syndrome = 0x1F},
                               .payload = data,
                               .len = len});
}

static void expect_status(struct rig *r, enum eng_wc_status status)
{
    assert_int_equal(rig_wc(r, 0).status, status);
}

static void test_cuts_messages(void **state)
{
    (void)state;
    struct rig *r = start((struct rig_opts){0});
    post(r, ENG_WR_WRITE, 3 * 256 + 5);
    const struct seen s = expect(r, ROCE_OPCODE_RC_WRITE_FIRST, 0, false);
    assert_int_equal(s.pkt.reth.va, RIG_VA);
    assert_int_equal(s.pkt.reth.dma_length, 773);
    assert_int_equal(s.pkt.reth.rkey, eng_mr_rkey(r->side[1].mr));
    assert_true(s.pkt.bth.migreq);
    assert_int_equal(s.pkt.bth.dqpn, eng_qp_num(r->side[1].qp));
    expect(r, ROCE_OPCODE_RC_WRITE_MIDDLE, 1, false);
    expect(r, ROCE_OPCODE_RC_WRITE_MIDDLE, 2, false);
    const struct seen last = expect(r, ROCE_OPCODE_RC_WRITE_LAST, 3, true);
    assert_int_equal(last.pkt.bth.pad, 3);
    assert_int_equal(last.pkt.payload_len, 5);
    assert_memory_equal(last.bytes + last.pkt.payload_off, r->side[0].mem + 768, 5);
    craft_expect_silence(r, 0);
    rig_no_wc(r, 0);
    answer(r, 0x1F, 3);
    expect_status(r, ENG_WC_SUCCESS);
    rig_del(r);
}

static void test_one_ack_completes_many(void **state)
{
    (void)state;
    struct rig *r = start((struct rig_opts){0});
    for (int i = 0; i < 4; i++)
        post(r, ENG_WR_SEND, 300);
    struct seen s;
    for (int i = 0; i < 8; i++)
        assert_true(craft_next(r, 0, &s));
    answer(r, 0x1F, 4); /* in the middle of the third */
    expect_status(r, ENG_WC_SUCCESS);
    expect_status(r, ENG_WC_SUCCESS);
    rig_no_wc(r, 0);
    answer(r, 0x1F, 7);
    expect_status(r, ENG_WC_SUCCESS);
    expect_status(r, ENG_WC_SUCCESS);
    rig_del(r);
}

static void test_ghosts_are_ignored(void **state)
{
    (void)state;
    struct rig *r = start((struct rig_opts){0});
    answer(r, 0x1F, 0); /* nothing was sent */
    post(r, ENG_WR_SEND, 600);
    struct seen s;
    for (int i = 0; i < 3; i++)
        assert_true(craft_next(r, 0, &s));
    answer(r, 0x1F, 3); /* not sent yet */
    answer(r, 0x60, 3);
    answer(r, 0x1F, (uint32_t)-1); /* long ago */
    answer(r, 0x60, (uint32_t)-5);
    for (uint8_t reserved = 0x40; reserved < 0x60; reserved++)
        answer(r, reserved, 0);
    for (uint8_t nak = 0x65; nak < 0x80; nak++)
        answer(r, nak, 0);
    rig_no_wc(r, 0);
    craft_expect_silence(r, 0);
    assert_int_equal(eng_qp_state(r->side[0].qp), ENG_RTS);
    answer(r, 0x1F, 2);
    expect_status(r, ENG_WC_SUCCESS);
    rig_del(r);
}

static void test_goes_back_where_the_nak_says(void **state)
{
    (void)state;
    struct rig *r = start((struct rig_opts){0});
    post(r, ENG_WR_SEND, 256);
    post(r, ENG_WR_WRITE, 4 * 256);
    struct seen s;
    for (int i = 0; i < 5; i++)
        assert_true(craft_next(r, 0, &s));
    answer(r, 0x60, 2); /* acknowledges the SEND and the WRITE's First */
    expect_status(r, ENG_WC_SUCCESS);
    expect(r, ROCE_OPCODE_RC_WRITE_MIDDLE, 2, false);
    expect(r, ROCE_OPCODE_RC_WRITE_MIDDLE, 3, false);
    expect(r, ROCE_OPCODE_RC_WRITE_LAST, 4, true);
    craft_expect_silence(r, 0);
    assert_int_equal(rig_stats(r, 0).retransmitted, 3);
    answer(r, 0x1F, 4);
    expect_status(r, ENG_WC_SUCCESS);
    rig_del(r);
}

static void test_ack_saves_resending(void **state)
{
    (void)state;
    struct rig *r = start((struct rig_opts){0});
    post(r, ENG_WR_SEND, 5 * 256);
    struct seen s;
    for (int i = 0; i < 5; i++)
        assert_true(craft_next(r, 0, &s));
    answer(r, 0x60, 0);
    expect(r, ROCE_OPCODE_RC_SEND_FIRST, 0, false);
    answer(r, 0x1F, 3); /* the NAK was out of date */
    expect(r, ROCE_OPCODE_RC_SEND_LAST, 4, true);
    craft_expect_silence(r, 0);
    rig_del(r);
}

static void test_fatal_naks(void **state)
{
    (void)state;
    static const enum eng_wc_status want[] = {ENG_WC_REM_INV_REQ_ERR, ENG_WC_REM_ACCESS_ERR,
                                              ENG_WC_REM_OP_ERR, ENG_WC_REM_INV_RD_REQ_ERR};
    for (uint8_t i = 0; i < 4; i++) {
        struct rig *r = start((struct rig_opts){0});
        for (int k = 0; k < 3; k++)
            post(r, ENG_WR_WRITE, 300);
        rig_recv(r, 0, 99, 0, 10);
        struct seen s;
        for (int k = 0; k < 6; k++)
            assert_true(craft_next(r, 0, &s));
        answer(r, (uint8_t)(0x61 + i), 3); /* the second's last packet */
        expect_status(r, ENG_WC_SUCCESS);
        expect_status(r, want[i]);
        expect_status(r, ENG_WC_WR_FLUSH_ERR);
        const struct eng_wc wc = rig_wc(r, 0);
        assert_int_equal(wc.wr_id, 99);
        assert_int_equal(wc.status, ENG_WC_WR_FLUSH_ERR);
        assert_int_equal(eng_qp_state(r->side[0].qp), ENG_ERR);
        craft_expect_silence(r, 0);
        rig_del(r);
    }
}

static void test_read_spends_the_psns_of_its_answers(void **state)
{
    (void)state;
    struct rig *r = start((struct rig_opts){0});
    post(r, ENG_WR_READ, 3 * 256 + 1);
    post(r, ENG_WR_SEND, 4);
    const struct seen s = expect(r, ROCE_OPCODE_RC_READ_REQUEST, 0, true);
    assert_int_equal(s.pkt.reth.dma_length, 769);
    expect(r, ROCE_OPCODE_RC_SEND_ONLY, 4, true);
    uint8_t data[256];
    memset(data, 7, sizeof(data));
    read_answer(r, ROCE_OPCODE_RC_READ_RESPONSE_FIRST, 0, data, 256);
    read_answer(r, ROCE_OPCODE_RC_READ_RESPONSE_MIDDLE, 1, data, 256);
    read_answer(r, ROCE_OPCODE_RC_READ_RESPONSE_MIDDLE, 2, data, 256);
    rig_no_wc(r, 0);
    read_answer(r, ROCE_OPCODE_RC_READ_RESPONSE_LAST, 3, data, 1);
    expect_status(r, ENG_WC_SUCCESS);
    for (int i = 0; i < 769; i++)
        assert_int_equal(r->side[0].mem[i], 7);
    answer(r, 0x1F, 4);
    expect_status(r, ENG_WC_SUCCESS);
    rig_del(r);
}

static void test_lost_read_data_is_asked_for_again(void **state)
{
    (void)state;
    struct rig *r = start((struct rig_opts){0});
    post(r, ENG_WR_READ, 5 * 256);
    expect(r, ROCE_OPCODE_RC_READ_REQUEST, 0, true);
    uint8_t data[256] = {0};
    read_answer(r, ROCE_OPCODE_RC_READ_RESPONSE_FIRST, 0, data, 256);
    read_answer(r, ROCE_OPCODE_RC_READ_RESPONSE_MIDDLE, 2, data, 256); /* 1 is lost */
    const struct seen s = expect(r, ROCE_OPCODE_RC_READ_REQUEST, 1, true);
    assert_int_equal(s.pkt.reth.va, RIG_VA + 256);
    assert_int_equal(s.pkt.reth.dma_length, 4 * 256);
    /* the rest of the old answer says nothing new */
    read_answer(r, ROCE_OPCODE_RC_READ_RESPONSE_MIDDLE, 3, data, 256);
    read_answer(r, ROCE_OPCODE_RC_READ_RESPONSE_LAST, 4, data, 256);
    craft_expect_silence(r, 0);
    assert_int_equal(rig_stats(r, 0).implied_naks, 1);
    read_answer(r, ROCE_OPCODE_RC_READ_RESPONSE_FIRST, 1, data, 256);
    read_answer(r, ROCE_OPCODE_RC_READ_RESPONSE_MIDDLE, 2, data, 256);
    read_answer(r, ROCE_OPCODE_RC_READ_RESPONSE_MIDDLE, 3, data, 256);
    read_answer(r, ROCE_OPCODE_RC_READ_RESPONSE_LAST, 4, data, 256);
    expect_status(r, ENG_WC_SUCCESS);
    assert_int_equal(rig_stats(r, 0).retransmitted, 1); /* one request */
    rig_del(r);
}

/* Two packets are lost: each is waited for alone, and the other data stay as they came first. */
static void test_read_data_behind_a_hole_are_kept(void **state)
{
    (void)state;
    struct rig *r = start((struct rig_opts){0});
    uint8_t early[256], late[256];
    memset(early, 1, sizeof(early));
    memset(late, 2, sizeof(late));
    post(r, ENG_WR_READ, 6 * 256);
    expect(r, ROCE_OPCODE_RC_READ_REQUEST, 0, true);
    read_answer(r, ROCE_OPCODE_RC_READ_RESPONSE_FIRST, 0, early, 256);
    read_answer(r, ROCE_OPCODE_RC_READ_RESPONSE_MIDDLE, 2, early, 256); /* 1 is lost */
    read_answer(r, ROCE_OPCODE_RC_READ_RESPONSE_MIDDLE, 4, early, 256); /* and 3 */
    read_answer(r, ROCE_OPCODE_RC_READ_RESPONSE_LAST, 5, early, 256);
    const struct seen s = expect(r, ROCE_OPCODE_RC_READ_REQUEST, 1, true);
    assert_int_equal(s.pkt.reth.dma_length, 5 * 256);
    read_answer(r, ROCE_OPCODE_RC_READ_RESPONSE_FIRST, 1, late, 256);
    read_answer(r, ROCE_OPCODE_RC_READ_RESPONSE_MIDDLE, 2, late, 256);
    rig_no_wc(r, 0);
    read_answer(r, ROCE_OPCODE_RC_READ_RESPONSE_MIDDLE, 3, late, 256);
    expect_status(r, ENG_WC_SUCCESS);
    read_answer(r, ROCE_OPCODE_RC_READ_RESPONSE_MIDDLE, 4, late, 256);
    craft_expect_silence(r, 0);
    static const uint8_t whose[6] = {1, 2, 1, 2, 1, 1};
    for (int i = 0; i < 6 * 256; i++)
        assert_int_equal(r->side[0].mem[i], whose[i / 256]);
    rig_del(r);
}

/* More holes than can be kept in mind: what is forgotten comes again. */
static void test_many_holes_in_read_data(void **state)
{
    (void)state;
    struct rig *r = start((struct rig_opts){0});
    uint8_t data[256];
    post(r, ENG_WR_READ, 60 * 256);
    expect(r, ROCE_OPCODE_RC_READ_REQUEST, 0, true);
    for (uint32_t step = 3; step > 0; step--)
        for (uint32_t i = step - 1; i < 60; i += step) {
            const bool first = i == 0, last = i == 59;
            memset(data, (int)i + 1, sizeof(data));
            read_answer(r,
                        first  ? ROCE_OPCODE_RC_READ_RESPONSE_FIRST
                        : last ? ROCE_OPCODE_RC_READ_RESPONSE_LAST
                               : ROCE_OPCODE_RC_READ_RESPONSE_MIDDLE,
                        i, data, 256);
        }
    expect_status(r, ENG_WC_SUCCESS);
    for (int i = 0; i < 60 * 256; i++)
        assert_int_equal(r->side[0].mem[i], i / 256 + 1);
    rig_del(r);
}

/* What comes behind a lost answer is thrown away: the READs that follow are asked for again when
 * the one before is whole, first one, then two. */
static void test_reads_after_a_loss_are_asked_for_in_turn(void **state)
{
    (void)state;
    struct rig *r = start((struct rig_opts){0});
    uint8_t data[256] = {0};
    for (uint32_t i = 0; i < 4; i++) {
        post(r, ENG_WR_READ, 2 * 256);
        expect(r, ROCE_OPCODE_RC_READ_REQUEST, 2 * i, true);
    }
    read_answer(r, ROCE_OPCODE_RC_READ_RESPONSE_FIRST, 2, data, 256); /* 0 and 1 are lost */
    expect(r, ROCE_OPCODE_RC_READ_REQUEST, 0, true);
    craft_expect_silence(r, 0);
    read_answer(r, ROCE_OPCODE_RC_READ_RESPONSE_FIRST, 0, data, 256);
    craft_expect_silence(r, 0);
    read_answer(r, ROCE_OPCODE_RC_READ_RESPONSE_LAST, 1, data, 256);
    expect(r, ROCE_OPCODE_RC_READ_REQUEST, 2, true);
    expect(r, ROCE_OPCODE_RC_READ_REQUEST, 4, true);
    craft_expect_silence(r, 0);
    read_answer(r, ROCE_OPCODE_RC_READ_RESPONSE_FIRST, 2, data, 256);
    read_answer(r, ROCE_OPCODE_RC_READ_RESPONSE_LAST, 3, data, 256);
    expect(r, ROCE_OPCODE_RC_READ_REQUEST, 6, true);
    for (uint32_t i = 4; i < 8; i += 2) {
        read_answer(r, ROCE_OPCODE_RC_READ_RESPONSE_FIRST, i, data, 256);
        read_answer(r, ROCE_OPCODE_RC_READ_RESPONSE_LAST, i + 1, data, 256);
    }
    for (int i = 0; i < 4; i++)
        expect_status(r, ENG_WC_SUCCESS);
    assert_int_equal(rig_stats(r, 0).retransmitted, 4);
    rig_del(r);
}

/* A peer that is still answering what was asked before has not gone: no timeout, however long the
 * old answers take. */
static void test_old_read_data_keeps_the_timer_off(void **state)
{
    (void)state;
    struct rig *r = start((struct rig_opts){.timeout = 8}); /* 4.096 us * 2^8: 1,048,576 ns */
    uint8_t data[256] = {0};
    post(r, ENG_WR_READ, 40 * 256);
    expect(r, ROCE_OPCODE_RC_READ_REQUEST, 0, true);
    for (uint32_t i = 1; i < 39; i++) { /* 0 is lost */
        r->loop.now += 1000000;
        read_answer(r, ROCE_OPCODE_RC_READ_RESPONSE_MIDDLE, i, data, 256);
        assert_true(eng_dev_next(r->side[0].dev, r->loop.now) >= r->loop.now);
        eng_dev_expire(r->side[0].dev, r->loop.now);
        if (i == 1)
            expect(r, ROCE_OPCODE_RC_READ_REQUEST, 0, true);
    }
    craft_expect_silence(r, 0);
    assert_int_equal(rig_stats(r, 0).timeouts, 0);
    r->loop.now +=
        UINT64_C(4) * 1048576 - 1; /* the longest that a timeout may be (IBTA 9.7.6.1.3) */
    eng_dev_expire(r->side[0].dev, r->loop.now);
    craft_expect_silence(r, 0);
    r->loop.now += 1;
    eng_dev_expire(r->side[0].dev, r->loop.now);
    expect(r, ROCE_OPCODE_RC_READ_REQUEST, 0, true);
    assert_int_equal(rig_stats(r, 0).timeouts, 1);
    rig_del(r);
}

/* The peer pauses in the middle of an old answer for longer than the timer waits, and goes on: that
 * spends no retry. Its next answer begins further back, and what is missing there does. */
static void test_old_read_data_after_a_timeout_say_nothing(void **state)
{
    (void)state;
    struct rig *r = start((struct rig_opts){.timeout = 8, .retry_cnt = 3});
    uint8_t data[256] = {0};
    post(r, ENG_WR_READ, 40 * 256);
    expect(r, ROCE_OPCODE_RC_READ_REQUEST, 0, true);
    read_answer(r, ROCE_OPCODE_RC_READ_RESPONSE_MIDDLE, 1, data, 256); /* 0 is lost */
    expect(r, ROCE_OPCODE_RC_READ_REQUEST, 0, true);
    r->loop.now += UINT64_C(1048576);
    eng_dev_expire(r->side[0].dev, r->loop.now);
    expect(r, ROCE_OPCODE_RC_READ_REQUEST, 0, true);
    for (uint32_t i = 2; i < 20; i++)
        read_answer(r, ROCE_OPCODE_RC_READ_RESPONSE_MIDDLE, i, data, 256);
    craft_expect_silence(r, 0);
    assert_int_equal(rig_stats(r, 0).implied_naks, 1);
    r->loop.now += UINT64_C(4) * 1048576;
    eng_dev_expire(r->side[0].dev, r->loop.now);
    expect(r, ROCE_OPCODE_RC_READ_REQUEST, 0, true); /* the third of three retries */
    assert_int_equal(rig_stats(r, 0).timeouts, 2);
    read_answer(r, ROCE_OPCODE_RC_READ_RESPONSE_FIRST, 0, data, 256);
    read_answer(r, ROCE_OPCODE_RC_READ_RESPONSE_MIDDLE, 21, data, 256); /* 20 is lost */
    expect(r, ROCE_OPCODE_RC_READ_REQUEST, 20, true);
    r->loop.now += UINT64_C(1048576);
    eng_dev_expire(r->side[0].dev, r->loop.now);
    expect(r, ROCE_OPCODE_RC_READ_REQUEST, 20, true);
    read_answer(r, ROCE_OPCODE_RC_READ_RESPONSE_MIDDLE, 21, data, 256); /* again */
    expect(r, ROCE_OPCODE_RC_READ_REQUEST, 20, true);
    assert_int_equal(rig_stats(r, 0).implied_naks, 3);
    rig_del(r);
}

static void test_ack_beyond_a_read_implies_a_nak(void **state)
{
    (void)state;
    struct rig *r = start((struct rig_opts){0});
    post(r, ENG_WR_SEND, 4);
    post(r, ENG_WR_FETCH_ADD, 8);
    post(r, ENG_WR_SEND, 4);
    struct seen s;
    for (int i = 0; i < 3; i++)
        assert_true(craft_next(r, 0, &s));
    answer(r, 0x1F, 2);
    expect_status(r, ENG_WC_SUCCESS); /* the first SEND, not the atomic */
    rig_no_wc(r, 0);
    expect(r, ROCE_OPCODE_RC_FETCH_ADD, 1, true);
    expect(r, ROCE_OPCODE_RC_SEND_ONLY, 2, true);
    rig_del(r);
}

static void test_responses_that_do_not_fit(void **state)
{
    (void)state;
    static const struct {
        enum eng_wr_op op;
        uint32_t len;
        uint8_t opcode;
        uint32_t answer;
        enum eng_wc_status want;
    } cases[] = {
        {ENG_WR_SEND, 4, ROCE_OPCODE_RC_READ_RESPONSE_ONLY, 4, ENG_WC_BAD_RESP_ERR},
        {ENG_WR_READ, 4, ROCE_OPCODE_RC_ATOMIC_ACKNOWLEDGE, 0, ENG_WC_BAD_RESP_ERR},
        {ENG_WR_FETCH_ADD, 8, ROCE_OPCODE_RC_READ_RESPONSE_ONLY, 8, ENG_WC_BAD_RESP_ERR},
        {ENG_WR_FLUSH, 8, ROCE_OPCODE_RC_READ_RESPONSE_ONLY, 8, ENG_WC_BAD_RESP_ERR},
        {ENG_WR_ATOMIC_WRITE, 8, ROCE_OPCODE_RC_READ_RESPONSE_FIRST, 256, ENG_WC_BAD_RESP_ERR},
        {ENG_WR_READ, 100, ROCE_OPCODE_RC_READ_RESPONSE_ONLY, 99, ENG_WC_LOC_LEN_ERR},
        {ENG_WR_READ, 100, ROCE_OPCODE_RC_READ_RESPONSE_ONLY, 101, ENG_WC_LOC_LEN_ERR},
        {ENG_WR_READ, 100, ROCE_OPCODE_RC_READ_RESPONSE_FIRST, 256, ENG_WC_LOC_LEN_ERR},
        {ENG_WR_READ, 512, ROCE_OPCODE_RC_READ_RESPONSE_FIRST, 255, ENG_WC_LOC_LEN_ERR},
        {ENG_WR_READ, 512, ROCE_OPCODE_RC_READ_RESPONSE_ONLY, 512, ENG_WC_LOC_LEN_ERR},
        {ENG_WR_READ, 512, ROCE_OPCODE_RC_READ_RESPONSE_LAST, 256, ENG_WC_LOC_LEN_ERR},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct rig *r = start((struct rig_opts){0});
        struct eng_send_wr wr = rig_wr(r, 0, cases[i].op, 0, cases[i].len, 0);
        wr.flush_type = 1;
        wr.flush_length = 8;
        assert_int_equal(rig_post(r, 0, &wr), 0);
        struct seen s;
        assert_true(craft_next(r, 0, &s));
        read_answer(r, cases[i].opcode, 0, NULL, cases[i].answer);
        expect_status(r, cases[i].want);
        assert_int_equal(eng_qp_state(r->side[0].qp), ENG_ERR);
        rig_del(r);
    }
}

static void test_no_more_reads_than_agreed(void **state)
{
    (void)state;
    struct rig *r = start((struct rig_opts){.rd_atomic = 2});
    for (int i = 0; i < 3; i++)
        post(r, ENG_WR_READ, 4);
    post(r, ENG_WR_SEND, 4);
    expect(r, ROCE_OPCODE_RC_READ_REQUEST, 0, true);
    expect(r, ROCE_OPCODE_RC_READ_REQUEST, 1, true);
    craft_expect_silence(r, 0); /* the SEND keeps its place, too */
    read_answer(r, ROCE_OPCODE_RC_READ_RESPONSE_ONLY, 0, NULL, 4);
    expect(r, ROCE_OPCODE_RC_READ_REQUEST, 2, true);
    expect(r, ROCE_OPCODE_RC_SEND_ONLY, 3, true);
    rig_del(r);
}

static void test_fence_waits_for_reads(void **state)
{
    (void)state;
    struct rig *r = start((struct rig_opts){0});
    post(r, ENG_WR_SEND, 4);
    post(r, ENG_WR_READ, 4);
    struct eng_send_wr wr = rig_wr(r, 0, ENG_WR_SEND, 0, 4, 0);
    wr.fence = true;
    rig_post(r, 0, &wr);
    expect(r, ROCE_OPCODE_RC_SEND_ONLY, 0, true);
    expect(r, ROCE_OPCODE_RC_READ_REQUEST, 1, true);
    craft_expect_silence(r, 0);
    answer(r, 0x1F, 0);
    craft_expect_silence(r, 0);
    read_answer(r, ROCE_OPCODE_RC_READ_RESPONSE_ONLY, 1, NULL, 4);
    expect(r, ROCE_OPCODE_RC_SEND_ONLY, 2, true);
    rig_del(r);
}

static void test_window(void **state)
{
    (void)state;
    struct rig *r = start((struct rig_opts){.window = 4});
    post(r, ENG_WR_SEND, 6 * 256);
    post(r, ENG_WR_READ, 6 * 256);
    expect(r, ROCE_OPCODE_RC_SEND_FIRST, 0, false);
    expect(r, ROCE_OPCODE_RC_SEND_MIDDLE, 1, true); /* half of it: the window shall not close */
    expect(r, ROCE_OPCODE_RC_SEND_MIDDLE, 2, false);
    expect(r, ROCE_OPCODE_RC_SEND_MIDDLE, 3, true);
    craft_expect_silence(r, 0);
    answer(r, 0x1F, 1);
    expect(r, ROCE_OPCODE_RC_SEND_MIDDLE, 4, false);
    expect(r, ROCE_OPCODE_RC_SEND_LAST, 5, true);
    craft_expect_silence(r, 0); /* six PSNs do not fit */
    answer(r, 0x1F, 5);
    expect(r, ROCE_OPCODE_RC_READ_REQUEST, 6, true); /* they go alone */
    rig_del(r);
}

static void test_asks_each_so_many(void **state)
{
    (void)state;
    struct rig *r = start((struct rig_opts){.ack_every = 3});
    post(r, ENG_WR_SEND, 8 * 256);
    for (uint32_t i = 0; i < 8; i++) {
        struct seen s;
        assert_true(craft_next(r, 0, &s));
        assert_int_equal(s.pkt.bth.ackreq, i == 2 || i == 5 || i == 7);
    }
    rig_del(r);
}

static void credit_ack(struct rig *r, uint32_t n, uint8_t code, uint32_t msn)
{
    craft_send(r, 0,
               &(struct craft){.opcode = ROCE_OPCODE_RC_ACKNOWLEDGE,
                               .psn = psn(n),
                               .aeth = {.syndrome = code, .msn = msn}});
}

/* IBTA 9.7.7.2.5: the limit is the MSN plus the credits; one message beyond it may probe. */
static void test_credits(void **state)
{
    (void)state;
    struct rig *r = start((struct rig_opts){.credits = true});
    for (int i = 0; i < 6; i++)
        post(r, ENG_WR_SEND, 4);
    expect(r, ROCE_OPCODE_RC_SEND_ONLY, 0, true); /* the probe */
    craft_expect_silence(r, 0);
    credit_ack(r, 0, 2, 1); /* two credits: messages 2 and 3, and 4 probes */
    for (uint32_t i = 1; i < 4; i++)
        expect(r, ROCE_OPCODE_RC_SEND_ONLY, i, true);
    craft_expect_silence(r, 0);
    credit_ack(r, 3, 31, 4); /* no credit information: unlimited */
    expect(r, ROCE_OPCODE_RC_SEND_ONLY, 4, true);
    expect(r, ROCE_OPCODE_RC_SEND_ONLY, 5, true);
    rig_del(r);
    /* WRITEs need none; without negotiation code 0 limits nothing */
    r = start((struct rig_opts){.credits = true});
    for (int i = 0; i < 4; i++)
        post(r, ENG_WR_WRITE, 4);
    for (uint32_t i = 0; i < 4; i++)
        expect(r, ROCE_OPCODE_RC_WRITE_ONLY, i, true);
    rig_del(r);
    r = start((struct rig_opts){0});
    post(r, ENG_WR_SEND, 4);
    expect(r, ROCE_OPCODE_RC_SEND_ONLY, 0, true);
    credit_ack(r, 0, 0, 1);
    for (int i = 0; i < 3; i++)
        post(r, ENG_WR_SEND, 4);
    for (uint32_t i = 1; i < 4; i++)
        expect(r, ROCE_OPCODE_RC_SEND_ONLY, i, true);
    rig_del(r);
}

/* Local faults show in order: what was sent before ends well first. */
static void test_local_fault_waits_its_turn(void **state)
{
    (void)state;
    struct rig *r = start((struct rig_opts){0});
    post(r, ENG_WR_SEND, 4);
    struct eng_send_wr wr = rig_wr(r, 0, ENG_WR_SEND, 0, 4, 0);
    wr.sge[0].lkey ^= 1;
    rig_post(r, 0, &wr);
    post(r, ENG_WR_SEND, 4);
    expect(r, ROCE_OPCODE_RC_SEND_ONLY, 0, true);
    craft_expect_silence(r, 0);
    rig_no_wc(r, 0);
    answer(r, 0x1F, 0);
    expect_status(r, ENG_WC_SUCCESS);
    expect_status(r, ENG_WC_LOC_PROT_ERR);
    expect_status(r, ENG_WC_WR_FLUSH_ERR);
    rig_del(r);
}

static void test_posting_rules(void **state)
{
    (void)state;
    struct rig *r = start((struct rig_opts){.depth = 2});
    struct eng_send_wr wr = rig_wr(r, 0, ENG_WR_SEND, 0, 4, 0);
    wr.n_sge = ENG_SGE_MAX + 1;
    assert_int_equal(rig_post(r, 0, &wr), ROCE_ERR_INVALID);
    wr = rig_wr(r, 0, ENG_WR_FETCH_ADD, 0, 7, 0);
    assert_int_equal(rig_post(r, 0, &wr), ROCE_ERR_INVALID);
    wr = rig_wr(r, 0, ENG_WR_READ, 0, 4, 0);
    wr.inline_data = r;
    assert_int_equal(rig_post(r, 0, &wr), ROCE_ERR_INVALID);
    wr = rig_wr(r, 0, ENG_WR_SEND, 0, 0x80000000U, 0);
    wr.n_sge = 2;
    wr.sge[1] = rig_sge(r, 0, 0, 1);
    assert_int_equal(rig_post(r, 0, &wr), ROCE_ERR_INVALID); /* 2^31 + 1 bytes */
    wr = rig_wr(r, 0, ENG_WR_READ, 0, 0x80000000U, 0);
    assert_int_equal(rig_post(r, 0, &wr), ROCE_ERR_INVALID); /* 2^23 PSNs */
    wr.inline_data = r;
    wr.op = ENG_WR_SEND;
    wr.inline_len = ENG_INLINE_MAX + 1;
    assert_int_equal(rig_post(r, 0, &wr), ROCE_ERR_INVALID);
    post(r, ENG_WR_SEND, 4);
    post(r, ENG_WR_SEND, 4);
    wr = rig_wr(r, 0, ENG_WR_SEND, 0, 4, 0);
    assert_int_equal(rig_post(r, 0, &wr), ROCE_ERR_FULL);
    rig_del(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cuts_messages),
        cmocka_unit_test(test_one_ack_completes_many),
        cmocka_unit_test(test_ghosts_are_ignored),
        cmocka_unit_test(test_goes_back_where_the_nak_says),
        cmocka_unit_test(test_ack_saves_resending),
        cmocka_unit_test(test_fatal_naks),
        cmocka_unit_test(test_read_spends_the_psns_of_its_answers),
        cmocka_unit_test(test_lost_read_data_is_asked_for_again),
        cmocka_unit_test(test_read_data_behind_a_hole_are_kept),
        cmocka_unit_test(test_many_holes_in_read_data),
        cmocka_unit_test(test_reads_after_a_loss_are_asked_for_in_turn),
        cmocka_unit_test(test_old_read_data_keeps_the_timer_off),
        cmocka_unit_test(test_old_read_data_after_a_timeout_say_nothing),
        cmocka_unit_test(test_ack_beyond_a_read_implies_a_nak),
        cmocka_unit_test(test_responses_that_do_not_fit),
        cmocka_unit_test(test_no_more_reads_than_agreed),
        cmocka_unit_test(test_fence_waits_for_reads),
        cmocka_unit_test(test_window),
        cmocka_unit_test(test_asks_each_so_many),
        cmocka_unit_test(test_credits),
        cmocka_unit_test(test_local_fault_waits_its_turn),
        cmocka_unit_test(test_posting_rules),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
