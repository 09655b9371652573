/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The responder against requests made by hand: the order of checks, every NAK, duplicates, gaps
 * (IBTA 9.7.4, 9.7.5). The expected PSN is 100, the MTU 256. */
#include "craft.h"

#define PSN0 100
#define ACK  0x1F /* no credits */
#define RNR  0x21 /* timer code 1 */

enum { SEQUENCE = 0x60, INVALID = 0x61, ACCESS = 0x62, OPERATIONAL = 0x63 };

static struct rig *start(struct rig_opts o)
{
    o.mtu = 256;
    o.psn[0] = PSN0;
    return rig_new(&o);
}

static struct roce_reth reth_at(const struct rig *r, uint64_t off, uint32_t len)
{
    return (struct roce_reth){
        .va = RIG_VA + off, .rkey = eng_mr_rkey(r->side[1].mr), .dma_length = len};
}

/* A single request that must be refused with |nak|, after which the QP is silent and in error. */
static void refused(struct rig *r, const struct craft *c, uint8_t nak)
{
    craft_send(r, 1, c);
    craft_expect_ack(r, 1, nak, c->psn, 0);
    assert_int_equal(eng_qp_state(r->side[1].qp), ENG_ERR);
    const struct craft after = {.opcode = ROCE_OPCODE_RC_SEND_ONLY, .psn = c->psn, .ackreq = true};
    assert_int_equal(craft_send(r, 1, &after), 0);
    craft_expect_silence(r, 1);
}

static void test_acknowledges_what_asks(void **state)
{
    (void)state;
    struct rig *r = start((struct rig_opts){0});
    for (uint32_t i = 0; i < 3; i++)
        rig_recv(r, 1, i, 0, 256);
    craft_send(
        r, 1,
        &(struct craft){.opcode = ROCE_OPCODE_RC_SEND_ONLY, .psn = PSN0, .len = 5, .ackreq = true});
    craft_expect_ack(r, 1, ACK, PSN0, 1);
    craft_send(r, 1,
               &(struct craft){.opcode = ROCE_OPCODE_RC_SEND_ONLY, .psn = PSN0 + 1, .len = 5});
    craft_expect_silence(r, 1);
    craft_send(
        r, 1, &(struct craft){.opcode = ROCE_OPCODE_RC_SEND_ONLY, .psn = PSN0 + 2, .ackreq = true});
    craft_expect_ack(r, 1, ACK, PSN0 + 2, 3);
    rig_del(r);
}

/* Six requests that ask for an ACK, taken in before any answer leaves. */
static void test_acks_merge_as_far_as_allowed(void **state)
{
    (void)state;
    static const struct {
        uint8_t coalesce, acks;
        uint32_t psns[6];
    } cases[] = {{0, 6, {0, 1, 2, 3, 4, 5}},
                 {1, 6, {0, 1, 2, 3, 4, 5}},
                 {2, 3, {1, 3, 5}},
                 {4, 2, {3, 5}},
                 {16, 1, {5}}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct rig *r = start((struct rig_opts){.dev = {.ack_coalesce = cases[i].coalesce}});
        for (uint32_t k = 0; k < 6; k++) {
            rig_recv(r, 1, k, 0, 256);
            craft_send(r, 1,
                       &(struct craft){
                           .opcode = ROCE_OPCODE_RC_SEND_ONLY, .psn = PSN0 + k, .ackreq = true});
        }
        for (uint32_t k = 0; k < cases[i].acks; k++) {
            struct seen s;
            assert_true(craft_next(r, 1, &s));
            assert_int_equal(s.pkt.bth.psn, PSN0 + cases[i].psns[k]);
            assert_int_equal(s.pkt.aeth.msn, cases[i].psns[k] + 1);
        }
        craft_expect_silence(r, 1);
        assert_int_equal(rig_stats(r, 1).acks_sent, cases[i].acks);
        rig_del(r);
    }
}

static void test_asks_once_per_gap(void **state)
{
    (void)state;
    struct rig *r = start((struct rig_opts){0});
    for (uint32_t i = 0; i < 8; i++)
        rig_recv(r, 1, i, 0, 256);
    for (uint32_t psn = PSN0 + 1; psn < PSN0 + 4; psn++) {
        craft_send(r, 1,
                   &(struct craft){.opcode = ROCE_OPCODE_RC_SEND_ONLY, .psn = psn, .ackreq = true});
        if (psn == PSN0 + 1)
            craft_expect_ack(r, 1, SEQUENCE, PSN0, 0);
        else
            craft_expect_silence(r, 1);
    }
    craft_send(r, 1,
               &(struct craft){.opcode = ROCE_OPCODE_RC_SEND_ONLY, .psn = PSN0, .ackreq = true});
    craft_expect_ack(r, 1, ACK, PSN0, 1);
    /* the next gap is asked for again */
    craft_send(
        r, 1, &(struct craft){.opcode = ROCE_OPCODE_RC_SEND_ONLY, .psn = PSN0 + 2, .ackreq = true});
    craft_expect_ack(r, 1, SEQUENCE, PSN0 + 1, 1);
    assert_int_equal(rig_stats(r, 1).gaps, 2);
    assert_int_equal(rig_stats(r, 1).naks_sent, 2);
    rig_del(r);
}

static void test_repaired_gap_needs_no_nak(void **state)
{
    (void)state;
    struct rig *r = start((struct rig_opts){0});
    rig_recv(r, 1, 0, 0, 256);
    craft_send(
        r, 1, &(struct craft){.opcode = ROCE_OPCODE_RC_SEND_ONLY, .psn = PSN0 + 1, .ackreq = true});
    craft_send(r, 1,
               &(struct craft){.opcode = ROCE_OPCODE_RC_SEND_ONLY, .psn = PSN0, .ackreq = true});
    craft_expect_ack(r, 1, ACK, PSN0, 1); /* the reordered one came before the NAK left */
    rig_del(r);
}

static void test_psn_far_ahead_is_behind(void **state)
{
    (void)state;
    struct rig *r = start((struct rig_opts){0});
    rig_recv(r, 1, 0, 0, 256);
    craft_send(r, 1,
               &(struct craft){
                   .opcode = ROCE_OPCODE_RC_SEND_ONLY, .psn = PSN0 + 0x7FFFFF, .ackreq = true});
    craft_expect_ack(r, 1, SEQUENCE, PSN0, 0); /* the farthest that counts as ahead */
    craft_send(r, 1,
               &(struct craft){
                   .opcode = ROCE_OPCODE_RC_SEND_ONLY, .psn = PSN0 + 0x800000, .ackreq = true});
    craft_expect_ack(r, 1, ACK, PSN0 - 1, 0); /* one more: a duplicate */
    assert_int_equal(rig_stats(r, 1).duplicates, 1);
    rig_del(r);
}

static void test_refuses_wrong_sequence(void **state)
{
    (void)state;
    static const uint8_t without_first[] = {
        ROCE_OPCODE_RC_SEND_MIDDLE,  ROCE_OPCODE_RC_SEND_LAST,  ROCE_OPCODE_RC_SEND_LAST_IMM,
        ROCE_OPCODE_RC_WRITE_MIDDLE, ROCE_OPCODE_RC_WRITE_LAST, ROCE_OPCODE_RC_WRITE_LAST_IMM,
        ROCE_OPCODE_RC_SEND_LAST_INV};
    for (size_t i = 0; i < sizeof(without_first); i++) {
        struct rig *r = start((struct rig_opts){0});
        rig_recv(r, 1, 0, 0, 4096);
        refused(r, &(struct craft){.opcode = without_first[i], .psn = PSN0, .len = 256}, INVALID);
        rig_del(r);
    }
    static const uint8_t inside[] = {ROCE_OPCODE_RC_SEND_FIRST, ROCE_OPCODE_RC_SEND_ONLY,
                                     ROCE_OPCODE_RC_WRITE_ONLY, ROCE_OPCODE_RC_READ_REQUEST,
                                     ROCE_OPCODE_RC_FETCH_ADD,  ROCE_OPCODE_RC_WRITE_MIDDLE,
                                     ROCE_OPCODE_RC_FLUSH,      ROCE_OPCODE_RC_ATOMIC_WRITE};
    for (size_t i = 0; i < sizeof(inside); i++) {
        struct rig *r = start((struct rig_opts){0});
        rig_recv(r, 1, 7, 0, 4096);
        craft_send(r, 1,
                   &(struct craft){.opcode = ROCE_OPCODE_RC_SEND_FIRST, .psn = PSN0, .len = 256});
        refused(r,
                &(struct craft){.opcode = inside[i],
                                .psn = PSN0 + 1,
                                .len = inside[i] == ROCE_OPCODE_RC_WRITE_MIDDLE ||
                                               inside[i] == ROCE_OPCODE_RC_SEND_FIRST
                                           ? 256
                                           : 0},
                INVALID);
        const struct eng_wc wc = rig_wc(r, 1);
        assert_int_equal(wc.wr_id, 7);
        assert_int_equal(wc.status, ENG_WC_LOC_QP_OP_ERR);
        rig_del(r);
    }
}

static void test_needs_the_qps_permission(void **state)
{
    (void)state;
    static const struct {
        uint8_t opcode;
        unsigned need;
    } cases[] = {{ROCE_OPCODE_RC_WRITE_ONLY, ENG_REMOTE_WRITE},
                 {ROCE_OPCODE_RC_READ_REQUEST, ENG_REMOTE_READ},
                 {ROCE_OPCODE_RC_FETCH_ADD, ENG_REMOTE_ATOMIC},
                 {ROCE_OPCODE_RC_CMP_SWAP, ENG_REMOTE_ATOMIC},
                 {ROCE_OPCODE_RC_ATOMIC_WRITE, ENG_REMOTE_WRITE},
                 {ROCE_OPCODE_RC_FLUSH, ENG_FLUSH_GLOBAL}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        for (int allowed = 0; allowed < 2; allowed++) {
            const unsigned all = RIG_ALL & ~(unsigned)ENG_LOCAL_WRITE;
            struct rig *r =
                start((struct rig_opts){.access = allowed ? cases[i].need : all & ~cases[i].need});
            const struct craft c = {
                .opcode = cases[i].opcode,
                .psn = PSN0,
                .ackreq = true,
                .reth = reth_at(r, 0, 8),
                .atomic = {.va = RIG_VA, .rkey = eng_mr_rkey(r->side[1].mr)},
                .feth = {.plt = 1},
                .len = roce_opcode_info(cases[i].opcode)->payload == ROCE_PAYLOAD_NONE ? 0 : 8};
            if (allowed) {
                struct seen s;
                craft_send(r, 1, &c);
                assert_true(craft_next(r, 1, &s));
                assert_int_equal(s.pkt.aeth.syndrome, ACK);
                assert_int_equal(s.pkt.aeth.msn, 1);
            } else {
                refused(r, &c, INVALID);
            }
            rig_del(r);
        }
    }
}

static void test_rnr_then_silence(void **state)
{
    (void)state;
    struct rig *r = start((struct rig_opts){0});
    craft_send(r, 1,
               &(struct craft){.opcode = ROCE_OPCODE_RC_SEND_ONLY, .psn = PSN0, .ackreq = true});
    craft_expect_ack(r, 1, RNR, PSN0, 0);
    /* what is in flight behind it gets no answer, not even a NAK for a gap */
    craft_send(
        r, 1, &(struct craft){.opcode = ROCE_OPCODE_RC_SEND_ONLY, .psn = PSN0 + 1, .ackreq = true});
    craft_expect_silence(r, 1);
    rig_recv(r, 1, 0, 0, 256);
    craft_send(r, 1,
               &(struct craft){.opcode = ROCE_OPCODE_RC_SEND_ONLY, .psn = PSN0, .ackreq = true});
    craft_expect_ack(r, 1, ACK, PSN0, 1);
    assert_int_equal(rig_stats(r, 1).rnr_sent, 1);
    rig_del(r);
}

static void test_write_with_immediate_needs_its_receive_at_the_end(void **state)
{
    (void)state;
    struct rig *r = start((struct rig_opts){0});
    uint8_t data[256];
    memset(data, 0x5A, sizeof(data));
    craft_send(r, 1,
               &(struct craft){.opcode = ROCE_OPCODE_RC_WRITE_FIRST,
                               .psn = PSN0,
                               .reth = reth_at(r, 0, 300),
                               .payload = data,
                               .len = 256});
    const struct craft last = {.opcode = ROCE_OPCODE_RC_WRITE_LAST_IMM,
                               .psn = PSN0 + 1,
                               .imm = 9,
                               .payload = data,
                               .len = 44,
                               .ackreq = true};
    craft_send(r, 1, &last);
    craft_expect_ack(r, 1, RNR, PSN0 + 1, 0);
    assert_int_equal(r->side[1].mem[256], 0); /* refused: nothing of it is written */
    rig_recv(r, 1, 3, 1000, 16);
    craft_send(r, 1, &last);
    craft_expect_ack(r, 1, ACK, PSN0 + 1, 1);
    const struct eng_wc wc = rig_wc(r, 1);
    assert_int_equal(wc.op, ENG_WC_RECV_WRITE_IMM);
    assert_int_equal(wc.byte_len, 300);
    assert_int_equal(wc.imm, 9);
    assert_memory_equal(r->side[1].mem, data, 256);
    assert_memory_equal(r->side[1].mem + 256, data, 44);
    assert_int_equal(r->side[1].mem[1000], 0); /* the receive's own buffer is untouched */
    rig_del(r);
}

static void test_refuses_wrong_lengths(void **state)
{
    (void)state;
    const struct {
        uint8_t first, opcode; /* |first| precedes it, unless 0xFF */
        uint32_t len, dma;
    } cases[] = {
        {0xFF, ROCE_OPCODE_RC_SEND_FIRST, 255, 0},
        {0xFF, ROCE_OPCODE_RC_SEND_FIRST, 257, 0},
        {0xFF, ROCE_OPCODE_RC_SEND_ONLY, 257, 0},
        {ROCE_OPCODE_RC_SEND_FIRST, ROCE_OPCODE_RC_SEND_MIDDLE, 252, 0},
        {ROCE_OPCODE_RC_SEND_FIRST, ROCE_OPCODE_RC_SEND_LAST, 0, 0},
        {ROCE_OPCODE_RC_SEND_FIRST, ROCE_OPCODE_RC_SEND_LAST, 260, 0},
        {0xFF, ROCE_OPCODE_RC_WRITE_ONLY, 10, 11},
        {0xFF, ROCE_OPCODE_RC_WRITE_ONLY, 10, 9},
        {0xFF, ROCE_OPCODE_RC_WRITE_FIRST, 256, 256}, /* a Last would be empty */
        {0xFF, ROCE_OPCODE_RC_WRITE_FIRST, 256, 0x80000001},
        {ROCE_OPCODE_RC_WRITE_FIRST, ROCE_OPCODE_RC_WRITE_LAST, 44, 301},
        {ROCE_OPCODE_RC_WRITE_FIRST, ROCE_OPCODE_RC_WRITE_LAST, 45, 300},
        {ROCE_OPCODE_RC_WRITE_FIRST, ROCE_OPCODE_RC_WRITE_MIDDLE, 256, 512},
        {0xFF, ROCE_OPCODE_RC_READ_REQUEST, 4, 4},
        {0xFF, ROCE_OPCODE_RC_READ_REQUEST, 0, 0x80000001},
        {0xFF, ROCE_OPCODE_RC_READ_REQUEST, 0, 0x80000000}, /* 2^23 PSNs at this MTU */
        {0xFF, ROCE_OPCODE_RC_ATOMIC_WRITE, 8, 4},
        {0xFF, ROCE_OPCODE_RC_ATOMIC_WRITE, 4, 8},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct rig *r = start((struct rig_opts){0});
        rig_recv(r, 1, 0, 0, 4096);
        uint32_t psn = PSN0;
        const struct roce_reth reth = reth_at(r, 0, cases[i].dma);
        if (cases[i].first != 0xFF)
            craft_send(
                r, 1,
                &(struct craft){.opcode = cases[i].first, .psn = psn++, .reth = reth, .len = 256});
        refused(r,
                &(struct craft){
                    .opcode = cases[i].opcode, .psn = psn, .reth = reth, .len = cases[i].len},
                INVALID);
        rig_del(r);
    }
}

static void test_refuses_a_send_longer_than_its_receive(void **state)
{
    (void)state;
    struct rig *r = start((struct rig_opts){0});
    rig_recv(r, 1, 11, 0, 300);
    rig_recv(r, 1, 12, 0, 300);
    craft_send(r, 1, &(struct craft){.opcode = ROCE_OPCODE_RC_SEND_FIRST, .psn = PSN0, .len = 256});
    refused(r, &(struct craft){.opcode = ROCE_OPCODE_RC_SEND_LAST, .psn = PSN0 + 1, .len = 45},
            INVALID);
    struct eng_wc wc = rig_wc(r, 1);
    assert_int_equal(wc.wr_id, 11);
    assert_int_equal(wc.status, ENG_WC_LOC_LEN_ERR);
    wc = rig_wc(r, 1);
    assert_int_equal(wc.wr_id, 12);
    assert_int_equal(wc.status, ENG_WC_WR_FLUSH_ERR);
    rig_del(r);
}

static void test_refuses_memory_access(void **state)
{
    (void)state;
    static const uint8_t opcodes[] = {ROCE_OPCODE_RC_WRITE_ONLY, ROCE_OPCODE_RC_READ_REQUEST,
                                      ROCE_OPCODE_RC_ATOMIC_WRITE};
    for (size_t i = 0; i < sizeof(opcodes); i++) {
        for (int fault = 0; fault < 6; fault++) {
            struct rig *r = start((struct rig_opts){.mr_access = fault == 3 ? ENG_LOCAL_WRITE : 0});
            struct roce_reth reth = reth_at(r, 0, 8);
            struct eng_pd *other = eng_pd_new(r->side[1].dev);
            switch (fault) {
            case 0:
                reth.rkey ^= 1;
                break;
            case 1:
                reth.va = RIG_VA - 8;
                break;
            case 2:
                reth.va = RIG_VA + RIG_MEM - 4;
                break;
            case 3: /* the region gives no remote right */
                break;
            case 4: { /* a region of another protection domain */
                struct eng_mr *mr = eng_mr_new(other, r->side[1].mem, 64, RIG_VA, RIG_ALL, NULL);
                reth.rkey = eng_mr_rkey(mr);
                break;
            }
            case 5:
                eng_mr_del(r->side[1].mr);
                break;
            }
            const bool read = opcodes[i] == ROCE_OPCODE_RC_READ_REQUEST;
            refused(r,
                    &(struct craft){.opcode = opcodes[i],
                                    .psn = PSN0,
                                    .reth = reth,
                                    .len = read ? 0 : 8,
                                    .payload = read ? NULL : (const uint8_t *)"abcdefgh"},
                    ACCESS);
            for (int k = 0; k < 64; k++)
                assert_int_equal(r->side[1].mem[k], 0);
            rig_del(r);
        }
    }
}

static void test_whole_write_is_checked_before_any_byte(void **state)
{
    (void)state;
    struct rig *r = start((struct rig_opts){0});
    uint8_t data[256];
    memset(data, 0xFF, sizeof(data));
    refused(r,
            &(struct craft){.opcode = ROCE_OPCODE_RC_WRITE_FIRST,
                            .psn = PSN0,
                            .reth = reth_at(r, RIG_MEM - 256, 257),
                            .payload = data,
                            .len = 256},
            ACCESS);
    assert_int_equal(r->side[1].mem[RIG_MEM - 1], 0);
    rig_del(r);
}

static void test_zero_length_needs_no_key(void **state)
{
    (void)state;
    struct rig *r = start((struct rig_opts){0});
    const struct roce_reth garbage = {.va = 1, .rkey = 0xBAD};
    craft_send(
        r, 1,
        &(struct craft){
            .opcode = ROCE_OPCODE_RC_WRITE_ONLY, .psn = PSN0, .reth = garbage, .ackreq = true});
    craft_expect_ack(r, 1, ACK, PSN0, 1);
    craft_send(
        r, 1,
        &(struct craft){.opcode = ROCE_OPCODE_RC_READ_REQUEST, .psn = PSN0 + 1, .reth = garbage});
    struct seen s;
    assert_true(craft_next(r, 1, &s));
    assert_int_equal(s.pkt.bth.opcode, ROCE_OPCODE_RC_READ_RESPONSE_ONLY);
    assert_int_equal(s.pkt.payload_len, 0);
    assert_int_equal(s.pkt.bth.psn, PSN0 + 1);
    assert_int_equal(s.pkt.aeth.msn, 2);
    rig_del(r);
}

static void test_atomics_want_aligned_addresses(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++) {
        struct rig *r = start((struct rig_opts){0});
        const uint8_t opcode = i == 0   ? ROCE_OPCODE_RC_FETCH_ADD
                               : i == 1 ? ROCE_OPCODE_RC_CMP_SWAP
                                        : ROCE_OPCODE_RC_ATOMIC_WRITE;
        refused(
            r,
            &(struct craft){
                .opcode = opcode,
                .psn = PSN0,
                .reth = reth_at(r, 4, 8),
                .len = i == 2 ? 8 : 0,
                .atomic = {.va = RIG_VA + 4, .rkey = eng_mr_rkey(r->side[1].mr), .swap_add = 1}},
            INVALID);
        rig_del(r);
    }
}

static void test_a_bad_receive_is_our_own_fault(void **state)
{
    (void)state;
    struct rig *r = start((struct rig_opts){0});
    const struct eng_recv_wr wr = {.wr_id = 5, .n_sge = 1, .sge = {{RIG_VA, 64, 0x12345}}};
    assert_int_equal(eng_post_recv(r->side[1].qp, 0, &wr), 0);
    refused(r, &(struct craft){.opcode = ROCE_OPCODE_RC_SEND_ONLY, .psn = PSN0, .len = 8},
            OPERATIONAL);
    const struct eng_wc wc = rig_wc(r, 1);
    assert_int_equal(wc.wr_id, 5);
    assert_int_equal(wc.status, ENG_WC_LOC_PROT_ERR);
    rig_del(r);
}

static void test_order_of_checks(void **state)
{
    (void)state;
    /* sequence before permission, permission before receive, receive before length, length before
     * key */
    struct rig *r = start((struct rig_opts){.access = ENG_REMOTE_READ});
    refused(r,
            &(struct craft){.opcode = ROCE_OPCODE_RC_WRITE_ONLY_IMM,
                            .psn = PSN0,
                            .reth = {.rkey = 1, .dma_length = 5},
                            .len = 4},
            INVALID);
    rig_del(r);
    r = start((struct rig_opts){0});
    craft_send(r, 1,
               &(struct craft){.opcode = ROCE_OPCODE_RC_WRITE_ONLY_IMM,
                               .psn = PSN0,
                               .reth = {.rkey = 1, .dma_length = 5},
                               .len = 4});
    craft_expect_ack(r, 1, RNR, PSN0, 0);
    rig_recv(r, 1, 0, 0, 0);
    refused(r,
            &(struct craft){.opcode = ROCE_OPCODE_RC_WRITE_ONLY_IMM,
                            .psn = PSN0,
                            .reth = {.rkey = 1, .dma_length = 5},
                            .len = 4},
            INVALID);
    rig_del(r);
    r = start((struct rig_opts){0});
    rig_recv(r, 1, 0, 0, 0);
    refused(r,
            &(struct craft){.opcode = ROCE_OPCODE_RC_WRITE_ONLY_IMM,
                            .psn = PSN0,
                            .reth = {.rkey = 1, .dma_length = 4},
                            .len = 4},
            ACCESS);
    rig_del(r);
    /* and a PSN ahead before all of them */
    r = start((struct rig_opts){0});
    craft_send(r, 1,
               &(struct craft){.opcode = ROCE_OPCODE_RC_SEND_MIDDLE, .psn = PSN0 + 1, .len = 3});
    craft_expect_ack(r, 1, SEQUENCE, PSN0, 0);
    rig_del(r);
}

static void test_more_reads_than_agreed(void **state)
{
    (void)state;
    struct rig *r = start((struct rig_opts){.rd_atomic = 2});
    for (uint32_t i = 0; i < 2; i++)
        craft_send(r, 1,
                   &(struct craft){.opcode = ROCE_OPCODE_RC_READ_REQUEST,
                                   .psn = PSN0 + i,
                                   .reth = reth_at(r, 0, 8)});
    craft_send(r, 1,
               &(struct craft){.opcode = ROCE_OPCODE_RC_READ_REQUEST,
                               .psn = PSN0 + 2,
                               .reth = reth_at(r, 0, 8)});
    struct seen s;
    /* those that were agreed are answered, then the refusal */
    for (uint32_t i = 0; i < 2; i++) {
        assert_true(craft_next(r, 1, &s));
        assert_int_equal(s.pkt.bth.opcode, ROCE_OPCODE_RC_READ_RESPONSE_ONLY);
        assert_int_equal(s.pkt.bth.psn, PSN0 + i);
    }
    craft_expect_ack(r, 1, INVALID, PSN0 + 2, 2);
    rig_del(r);
    r = start((struct rig_opts){.rd_atomic = 0xFF}); /* none at all */
    refused(r,
            &(struct craft){
                .opcode = ROCE_OPCODE_RC_READ_REQUEST, .psn = PSN0, .reth = reth_at(r, 0, 8)},
            INVALID);
    rig_del(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_acknowledges_what_asks),
        cmocka_unit_test(test_acks_merge_as_far_as_allowed),
        cmocka_unit_test(test_asks_once_per_gap),
        cmocka_unit_test(test_repaired_gap_needs_no_nak),
        cmocka_unit_test(test_psn_far_ahead_is_behind),
        cmocka_unit_test(test_refuses_wrong_sequence),
        cmocka_unit_test(test_needs_the_qps_permission),
        cmocka_unit_test(test_rnr_then_silence),
        cmocka_unit_test(test_write_with_immediate_needs_its_receive_at_the_end),
        cmocka_unit_test(test_refuses_wrong_lengths),
        cmocka_unit_test(test_refuses_a_send_longer_than_its_receive),
        cmocka_unit_test(test_refuses_memory_access),
        cmocka_unit_test(test_whole_write_is_checked_before_any_byte),
        cmocka_unit_test(test_zero_length_needs_no_key),
        cmocka_unit_test(test_atomics_want_aligned_addresses),
        cmocka_unit_test(test_a_bad_receive_is_our_own_fault),
        cmocka_unit_test(test_order_of_checks),
        cmocka_unit_test(test_more_reads_than_agreed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
