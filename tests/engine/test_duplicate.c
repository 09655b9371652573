/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Requests that come twice (IBTA 9.7.4.1.3): nothing is done again but reading, nothing is refused,
 * the MSN stays. The expected PSN is 100, the MTU 256, four READs and atomics are remembered. */
#include "craft.h"

#define PSN0 100
#define ACK  0x1F

static struct rig *start(void)
{
    struct rig *r = rig_new(&(struct rig_opts){.mtu = 256, .psn = {PSN0, 0}, .rd_atomic = 4});
    rig_fill(r->side[1].mem, 8192, 1);
    return r;
}

static struct craft read_of(const struct rig *r, uint32_t psn, uint64_t off, uint32_t len)
{
    return (struct craft){
        .opcode = ROCE_OPCODE_RC_READ_REQUEST,
        .psn = psn,
        .reth = {.va = RIG_VA + off, .rkey = eng_mr_rkey(r->side[1].mr), .dma_length = len}};
}

static struct craft add_of(const struct rig *r, uint32_t psn, uint64_t add)
{
    return (struct craft){
        .opcode = ROCE_OPCODE_RC_FETCH_ADD,
        .psn = psn,
        .atomic = {.va = RIG_VA + 65536, .rkey = eng_mr_rkey(r->side[1].mr), .swap_add = add}};
}

/* Reads a READ's answer: |n| packets from |psn| on, of |len| bytes at |off|. */
static void expect_read(struct rig *r, uint32_t psn, uint64_t off, uint32_t len, uint32_t msn)
{
    const uint32_t n = len == 0 ? 1 : (len + 255) / 256;
    for (uint32_t i = 0; i < n; i++) {
        struct seen s;
        assert_true(craft_next(r, 1, &s));
        const uint8_t want = n == 1       ? ROCE_OPCODE_RC_READ_RESPONSE_ONLY
                             : i == 0     ? ROCE_OPCODE_RC_READ_RESPONSE_FIRST
                             : i == n - 1 ? ROCE_OPCODE_RC_READ_RESPONSE_LAST
                                          : ROCE_OPCODE_RC_READ_RESPONSE_MIDDLE;
        assert_int_equal(s.pkt.bth.opcode, want);
        assert_int_equal(s.pkt.bth.psn, psn + i);
        if (want != ROCE_OPCODE_RC_READ_RESPONSE_MIDDLE) {
            assert_int_equal(s.pkt.aeth.syndrome, ACK);
            assert_int_equal(s.pkt.aeth.msn, msn);
        }
        const uint32_t part = i == n - 1 ? len - i * 256 : 256;
        assert_int_equal(s.pkt.payload_len, part);
        assert_memory_equal(s.bytes + s.pkt.payload_off, r->side[1].mem + off + i * 256, part);
    }
    craft_expect_silence(r, 1);
}

static void expect_atomic(struct rig *r, uint32_t psn, uint64_t original, uint32_t msn)
{
    struct seen s;
    assert_true(craft_next(r, 1, &s));
    assert_int_equal(s.pkt.bth.opcode, ROCE_OPCODE_RC_ATOMIC_ACKNOWLEDGE);
    assert_int_equal(s.pkt.bth.psn, psn);
    assert_int_equal(s.pkt.atomic_ack_eth.original, original);
    assert_int_equal(s.pkt.aeth.msn, msn);
    craft_expect_silence(r, 1);
}

static uint64_t counter(const struct rig *r)
{
    uint64_t v;
    memcpy(&v, r->side[1].mem + 65536, sizeof(v));
    return v;
}

static void test_send_and_write_are_acknowledged_again(void **state)
{
    (void)state;
    struct rig *r = start();
    rig_recv(r, 1, 1, 4096, 256);
    const struct craft send = {
        .opcode = ROCE_OPCODE_RC_SEND_ONLY, .psn = PSN0, .len = 8, .ackreq = true};
    craft_send(r, 1, &send);
    craft_expect_ack(r, 1, ACK, PSN0, 1);
    struct craft write = {
        .opcode = ROCE_OPCODE_RC_WRITE_ONLY,
        .psn = PSN0 + 1,
        .ackreq = true,
        .len = 4,
        .payload = (const uint8_t *)"new!",
        .reth = {.va = RIG_VA, .rkey = eng_mr_rkey(r->side[1].mr), .dma_length = 4}};
    craft_send(r, 1, &write);
    craft_expect_ack(r, 1, ACK, PSN0 + 1, 2);
    assert_int_equal(rig_wc(r, 1).wr_id, 1);
    memset(r->side[1].mem, 0, 4);
    /* the newest PSN answers both, whichever came */
    craft_send(r, 1, &send);
    craft_expect_ack(r, 1, ACK, PSN0 + 1, 2);
    craft_send(r, 1, &write);
    craft_expect_ack(r, 1, ACK, PSN0 + 1, 2);
    write.ackreq = false;
    craft_send(r, 1, &write);
    craft_expect_silence(r, 1);
    assert_int_equal(r->side[1].mem[0], 0);
    rig_no_wc(r, 1);
    assert_int_equal(rig_stats(r, 1).duplicates, 3);
    rig_del(r);
}

static void test_errors_of_duplicates_are_silent(void **state)
{
    (void)state;
    struct rig *r = start();
    struct craft c = {.opcode = ROCE_OPCODE_RC_SEND_MIDDLE, .psn = PSN0 - 1, .len = 3};
    craft_send(r, 1, &c);
    c.opcode = ROCE_OPCODE_RC_WRITE_ONLY;
    c.reth = (struct roce_reth){.rkey = 1, .dma_length = 1000};
    craft_send(r, 1, &c);
    c = read_of(r, PSN0 - 1, 0, 100);
    craft_send(r, 1, &c);
    craft_expect_silence(r, 1);
    assert_int_equal(eng_qp_state(r->side[1].qp), ENG_RTS);
    rig_del(r);
}

static void test_read_is_read_again(void **state)
{
    (void)state;
    struct rig *r = start();
    struct craft c = read_of(r, PSN0, 16, 3 * 256 + 1);
    craft_send(r, 1, &c);
    expect_read(r, PSN0, 16, 769, 1);
    craft_send(r, 1, &c); /* all of it */
    expect_read(r, PSN0, 16, 769, 1);
    c = read_of(r, PSN0 + 2, 16 + 512, 257); /* from the third packet on */
    craft_send(r, 1, &c);
    expect_read(r, PSN0 + 2, 16 + 512, 257, 1);
    c = read_of(r, PSN0 + 1, 16 + 256, 100); /* a part in the middle */
    craft_send(r, 1, &c);
    expect_read(r, PSN0 + 1, 16 + 256, 100, 1);
    /* the next request's PSN was never touched */
    c = add_of(r, PSN0 + 4, 1);
    craft_send(r, 1, &c);
    expect_atomic(r, PSN0 + 4, 0, 2);
    rig_del(r);
}

static void test_read_that_does_not_fit_is_ignored(void **state)
{
    (void)state;
    struct rig *r = start();
    struct craft c = read_of(r, PSN0, 0, 1024);
    craft_send(r, 1, &c);
    expect_read(r, PSN0, 0, 1024, 1);
    const struct craft bad[] = {
        read_of(r, PSN0, 0, 1025),      /* longer */
        read_of(r, PSN0 + 1, 0, 768),   /* address not advanced */
        read_of(r, PSN0 + 1, 256, 769), /* beyond the end */
        read_of(r, PSN0 + 1, 255, 512), /* not at a packet's edge */
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        craft_send(r, 1, &bad[i]);
        craft_expect_silence(r, 1);
    }
    c = read_of(r, PSN0, 0, 1024);
    c.reth.rkey ^= 1;
    craft_send(r, 1, &c);
    craft_expect_silence(r, 1);
    c = add_of(r, PSN0, 1); /* another operation at its PSN */
    craft_send(r, 1, &c);
    craft_expect_silence(r, 1);
    c = read_of(r, PSN0, 0, 1024);
    eng_mr_del(r->side[1].mr); /* the key is checked anew */
    craft_send(r, 1, &c);
    craft_expect_silence(r, 1);
    assert_int_equal(eng_qp_state(r->side[1].qp), ENG_RTS);
    rig_del(r);
}

static void test_atomic_is_answered_from_memory(void **state)
{
    (void)state;
    struct rig *r = start();
    for (uint32_t i = 0; i < 6; i++) {
        const struct craft c = add_of(r, PSN0 + i, 10 + i);
        craft_send(r, 1, &c);
        expect_atomic(r, PSN0 + i, i * 10 + i * (i - 1) / 2, i + 1);
    }
    const uint64_t sum = counter(r);
    assert_int_equal(sum, 75);
    /* the newest four are remembered, with what was there before each */
    for (uint32_t i = 0; i < 6; i++) {
        const struct craft c = add_of(r, PSN0 + i, 10 + i);
        craft_send(r, 1, &c);
        if (i < 2)
            craft_expect_silence(r, 1);
        else
            expect_atomic(r, PSN0 + i, i * 10 + i * (i - 1) / 2, i + 1);
    }
    assert_int_equal(counter(r), sum);
    rig_del(r);
}

static void test_compare_and_swap(void **state)
{
    (void)state;
    struct rig *r = start();
    struct craft c = add_of(r, PSN0, 0);
    c.opcode = ROCE_OPCODE_RC_CMP_SWAP;
    c.atomic.swap_add = 77;
    c.atomic.compare = 1;
    craft_send(r, 1, &c);
    expect_atomic(r, PSN0, 0, 1); /* no match: nothing is stored */
    assert_int_equal(counter(r), 0);
    c.psn++;
    c.atomic.compare = 0;
    craft_send(r, 1, &c);
    expect_atomic(r, PSN0 + 1, 0, 2);
    assert_int_equal(counter(r), 77);
    craft_send(r, 1, &c);
    expect_atomic(r, PSN0 + 1, 0, 2);
    assert_int_equal(counter(r), 77);
    rig_del(r);
}

static void test_atomic_write_and_flush(void **state)
{
    (void)state;
    struct rig *r = start();
    struct craft c = {
        .opcode = ROCE_OPCODE_RC_ATOMIC_WRITE,
        .psn = PSN0,
        .len = 8,
        .payload = (const uint8_t *)"12345678",
        .reth = {.va = RIG_VA + 8, .rkey = eng_mr_rkey(r->side[1].mr), .dma_length = 8}};
    struct seen s;
    for (int i = 0; i < 2; i++) {
        craft_send(r, 1, &c);
        assert_true(craft_next(r, 1, &s));
        assert_int_equal(s.pkt.bth.opcode, ROCE_OPCODE_RC_READ_RESPONSE_ONLY);
        assert_int_equal(s.pkt.payload_len, 0);
        assert_int_equal(s.pkt.bth.psn, PSN0);
        assert_int_equal(s.pkt.aeth.msn, 1);
        if (i == 0)
            assert_memory_equal(r->side[1].mem + 8, "12345678", 8); /* as it is in memory */
        memset(r->side[1].mem + 8, 0, 8);
    }
    assert_int_equal(r->side[1].mem[8], 0); /* the second time it was answered alone */
    c.opcode = ROCE_OPCODE_RC_FLUSH;
    c.psn++;
    c.len = 0;
    c.feth = (struct roce_feth){.plt = 3, .sel = 0};
    c.reth.dma_length = 4096;
    for (int i = 0; i < 2; i++) {
        craft_send(r, 1, &c);
        assert_true(craft_next(r, 1, &s));
        assert_int_equal(s.pkt.bth.opcode, ROCE_OPCODE_RC_READ_RESPONSE_ONLY);
        assert_int_equal(s.pkt.aeth.msn, 2);
    }
    rig_del(r);
}

/* Answers leave in the order of the requests; an ACK does not overtake a READ's data. */
static void test_answers_keep_their_order(void **state)
{
    (void)state;
    struct rig *r = start();
    rig_recv(r, 1, 1, 4096, 256);
    rig_recv(r, 1, 2, 4096, 256);
    struct craft send = {.opcode = ROCE_OPCODE_RC_SEND_ONLY, .psn = PSN0, .ackreq = true};
    craft_send(r, 1, &send);
    struct craft c = read_of(r, PSN0 + 1, 0, 512);
    craft_send(r, 1, &c);
    c = add_of(r, PSN0 + 3, 1);
    craft_send(r, 1, &c);
    send.psn = PSN0 + 4;
    craft_send(r, 1, &send);
    c = add_of(r, PSN0 + 6, 1); /* a gap */
    craft_send(r, 1, &c);
    static const struct {
        uint8_t opcode;
        uint8_t syndrome;
        uint32_t psn, msn;
    } want[] = {{ROCE_OPCODE_RC_ACKNOWLEDGE, ACK, PSN0, 1},
                {ROCE_OPCODE_RC_READ_RESPONSE_FIRST, ACK, PSN0 + 1, 2},
                {ROCE_OPCODE_RC_READ_RESPONSE_LAST, ACK, PSN0 + 2, 2},
                {ROCE_OPCODE_RC_ATOMIC_ACKNOWLEDGE, ACK, PSN0 + 3, 3},
                {ROCE_OPCODE_RC_ACKNOWLEDGE, ACK, PSN0 + 4, 4},
                {ROCE_OPCODE_RC_ACKNOWLEDGE, 0x60, PSN0 + 5, 4}};
    /* Answers without data come before data of other QPs, but not of their own. */
    for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
        struct seen s;
        assert_true(craft_next(r, 1, &s));
        assert_int_equal(s.pkt.bth.opcode, want[i].opcode);
        assert_int_equal(s.pkt.bth.psn, want[i].psn);
        assert_int_equal(s.pkt.aeth.syndrome, want[i].syndrome);
        assert_int_equal(s.pkt.aeth.msn, want[i].msn);
    }
    craft_expect_silence(r, 1);
    rig_del(r);
}

/* A repeated READ whose first answer was complete does not count against what was agreed. */
static void test_repeated_read_makes_room(void **state)
{
    (void)state;
    struct rig *r = rig_new(&(struct rig_opts){.mtu = 256, .psn = {PSN0, 0}, .rd_atomic = 1});
    struct craft c = read_of(r, PSN0, 0, 1024);
    craft_send(r, 1, &c);
    expect_read(r, PSN0, 0, 1024, 1);
    craft_send(r, 1, &c); /* doubled by the network */
    c = read_of(r, PSN0 + 4, 0, 100);
    craft_send(r, 1, &c);
    expect_read(r, PSN0 + 4, 0, 100, 2);
    rig_del(r);
}

static void test_read_whose_memory_goes_away(void **state)
{
    (void)state;
    struct rig *r = start();
    const struct craft c = read_of(r, PSN0, 0, 1024);
    craft_send(r, 1, &c);
    struct seen s;
    assert_true(craft_next(r, 1, &s));
    assert_int_equal(s.pkt.bth.opcode, ROCE_OPCODE_RC_READ_RESPONSE_FIRST);
    eng_mr_del(r->side[1].mr);
    craft_expect_ack(r, 1, 0x62, PSN0 + 1, 1);
    assert_int_equal(eng_qp_state(r->side[1].qp), ENG_ERR);
    rig_del(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_send_and_write_are_acknowledged_again),
        cmocka_unit_test(test_errors_of_duplicates_are_silent),
        cmocka_unit_test(test_read_is_read_again),
        cmocka_unit_test(test_read_that_does_not_fit_is_ignored),
        cmocka_unit_test(test_atomic_is_answered_from_memory),
        cmocka_unit_test(test_compare_and_swap),
        cmocka_unit_test(test_atomic_write_and_flush),
        cmocka_unit_test(test_answers_keep_their_order),
        cmocka_unit_test(test_repeated_read_makes_room),
        cmocka_unit_test(test_read_whose_memory_goes_away),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
