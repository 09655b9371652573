/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Pairing without CM: which two flows belong together, at scale and under loss; never a wrong pair.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "sim.h"

struct verdict_count {
    uint32_t eligible, right, wrong, missing, conflicts;
};

static void play_cut(const struct sim_opts *o, uint32_t max_flows, bool sliced,
                     struct verdict_count *n)
{
    struct sim s;
    sim_init(&s, o);
    sim_run(&s);
    const struct roce_flow_opts opts = {.max_flows = max_flows};
    struct roce_flow_table *t = roce_flow_table_new(&opts);
    assert_non_null(t);
    uint32_t *acks = calloc(o->pairs, sizeof *acks);
    assert_non_null(acks);
    for (uint32_t i = 0; i < s.frames; i++) {
        const struct sim_frame *f = &s.frame[i];
        struct roce_packet p;
        sim_packet(f, &p);
        p.sliced = sliced;
        acks[f->pair] += p.op == ROCE_OP_ACK && f->syndrome < 0x20;
        const struct roce_frame frame = {.origlen = 62 + f->payload, .ts = f->ts, .number = i + 1};
        struct roce_verdict v;
        assert_true(roce_flow_update(t, &frame, &p, NULL, &v));
    }
    roce_flow_finish(t);
    *n = (struct verdict_count){0};
    for (uint32_t i = 0; i < o->pairs; i++) {
        const struct sim_qp *q = &s.qp[i];
        const uint32_t ab = sim_flow(t, q->host_a, q->host_b, q->qp_b);
        const uint32_t ba = sim_flow(t, q->host_b, q->host_a, q->qp_a);
        const bool eligible = acks[i] >= 8;
        n->eligible += eligible;
        struct roce_flow_info info;
        if (ab == ROCE_FLOW_NONE || !roce_flow_info(t, ab, &info))
            continue;
        n->conflicts += info.pairing_conflicts;
        if (info.peer == ROCE_FLOW_NONE)
            n->missing += eligible;
        else if (info.peer == ba)
            n->right += eligible;
        else
            n->wrong++;
    }
    free(acks);
    roce_flow_table_del(t);
    sim_free(&s);
}

static void play(const struct sim_opts *o, uint32_t max_flows, struct verdict_count *n)
{
    play_cut(o, max_flows, false, n);
}

static void expect(const struct verdict_count *n, uint32_t permille)
{
    print_message("  %u pairs with 8 ACKs: %u right, %u wrong, %u undecided\n", n->eligible,
                  n->right, n->wrong, n->missing);
    assert_true(n->eligible > 0);
    assert_int_equal(n->wrong, 0);
    assert_true((uint64_t)n->right * 1000 >= (uint64_t)n->eligible * permille);
}

static const struct sim_opts base = {
    .hosts = 2,
    .messages = 24,
    .gap_ns = 400000,
    .rtt_ns = 12000,
    .jitter_ns = 4000,
    .timeout_ns = 4194304,
    .window = 16,
};

static void test_4096_pairs_of_two_hosts_one_source_port(void **state)
{
    (void)state;
    struct sim_opts o = base;
    o.seed = 11;
    o.pairs = 4096;
    struct verdict_count n;
    play(&o, 20000, &n);
    expect(&n, 999);
}

static void test_several_hosts(void **state)
{
    (void)state;
    struct sim_opts o = base;
    o.seed = 12;
    o.pairs = 2048;
    o.hosts = 12;
    struct verdict_count n;
    play(&o, 20000, &n);
    expect(&n, 999);
}

static void test_loss_on_both_sides(void **state)
{
    (void)state;
    struct sim_opts o = base;
    o.seed = 13;
    o.pairs = 4096;
    o.lost_before = 0.01;
    o.lost_behind = 0.01;
    o.lost_capture = 0.002;
    struct verdict_count n;
    play(&o, 20000, &n);
    expect(&n, 999);
}

static void test_coalesced_acks(void **state)
{
    (void)state;
    struct sim_opts o = base;
    o.seed = 14;
    o.pairs = 1024;
    o.messages = 40;
    o.coalesce = true;
    struct verdict_count n;
    play(&o, 20000, &n);
    expect(&n, 999);
}

static void test_1024_pairs_from_psn_0(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 3; seed++) {
        struct sim_opts o = base;
        o.seed = seed;
        o.pairs = 1024;
        o.psn_zero = true;
        struct verdict_count n;
        play(&o, 4000, &n);
        expect(&n, 990);
    }
}

static void test_1024_pairs_of_equal_messages_from_psn_0(void **state)
{
    (void)state;
    struct sim_opts o = base;
    o.seed = 21;
    o.pairs = 1024;
    o.messages = 48;
    o.psn_zero = true;
    o.single = true;
    struct verdict_count n;
    play(&o, 4000, &n);
    expect(&n, 990);
}

static void test_psn_0_with_loss(void **state)
{
    (void)state;
    struct sim_opts o = base;
    o.seed = 31;
    o.pairs = 1024;
    o.messages = 40;
    o.psn_zero = true;
    o.lost_before = o.lost_behind = 0.005;
    o.lost_capture = 0.005;
    struct verdict_count n;
    play(&o, 4000, &n);
    expect(&n, 970);
}

/* Frames cut by the mirror show their headers all the same. */
static void test_psn_0_of_sliced_frames(void **state)
{
    (void)state;
    struct sim_opts o = base;
    o.seed = 41;
    o.pairs = 1024;
    o.psn_zero = true;
    struct verdict_count n;
    play_cut(&o, 4000, true, &n);
    expect(&n, 990);
}

/* Few responses each, and close together: some may stay undecided, none may be wrong. */
static void test_psn_0_in_short(void **state)
{
    (void)state;
    for (uint64_t seed = 51; seed <= 53; seed++) {
        struct sim_opts o = base;
        o.seed = seed;
        o.pairs = 1024;
        o.messages = 10;
        o.gap_ns = 20000;
        o.psn_zero = true;
        struct verdict_count n;
        play(&o, 4000, &n);
        expect(&n, 950);
        o.lost_before = o.lost_behind = o.lost_capture = 0.02;
        play(&o, 4000, &n);
        expect(&n, 0);
    }
}

/* Each QP sends its message a fixed moment after its neighbour, round after round, and each answer
 * takes equally long: nothing tells the QPs apart, and nothing may be guessed. */
static void test_lockstep_is_left_undecided(void **state)
{
    (void)state;
    enum { QPS = 64, ROUNDS = 40 };
    const struct roce_flow_opts opts = {.max_flows = 1000};
    struct roce_flow_table *t = roce_flow_table_new(&opts);
    assert_non_null(t);
    uint64_t number = 0;
    struct roce_verdict v;
    /* Request r of QP i leaves at r * 1 ms + i * 8 us; its ACK passes 10 us later. */
    for (uint32_t r = 0; r < ROUNDS; r++)
        for (uint32_t i = 0; i <= QPS + 1; i++) {
            const uint64_t start = UINT64_C(1700000000000000000) + r * UINT64_C(1000000);
            struct sim_frame f = {0};
            struct roce_packet p;
            struct roce_frame frame = {.origlen = 62};
            if (i >= 2) { /* the ACK of QP i - 2 at (i - 2) * 8 + 10 us, behind request i - 1 */
                f = (struct sim_frame){.src = 1,
                                       .dst = 0,
                                       .qp = 900 + i - 2,
                                       .psn = r,
                                       .syndrome = 0x1F,
                                       .msn = r + 1,
                                       .opcode = ROCE_OPCODE_RC_ACKNOWLEDGE};
                sim_packet(&f, &p);
                frame.ts = start + (i - 2) * 8000 + 10000;
                frame.number = ++number;
                roce_flow_update(t, &frame, &p, NULL, &v);
            }
            if (i < QPS) {
                f = (struct sim_frame){.src = 0,
                                       .dst = 1,
                                       .qp = 100 + i,
                                       .psn = r,
                                       .ackreq = true,
                                       .payload = 8,
                                       .opcode = ROCE_OPCODE_RC_SEND_ONLY};
                sim_packet(&f, &p);
                frame.ts = start + i * 8000;
                frame.number = ++number;
                roce_flow_update(t, &frame, &p, NULL, &v);
            }
        }
    roce_flow_finish(t);
    for (uint32_t i = 0; i < QPS; i++) {
        struct roce_flow_info info;
        assert_true(roce_flow_info(t, sim_flow(t, 0, 1, 100 + i), &info));
        if (info.peer == ROCE_FLOW_NONE)
            continue;
        assert_int_equal(info.peer, sim_flow(t, 1, 0, 900 + i));
    }
    roce_flow_table_del(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_4096_pairs_of_two_hosts_one_source_port),
        cmocka_unit_test(test_several_hosts),
        cmocka_unit_test(test_loss_on_both_sides),
        cmocka_unit_test(test_coalesced_acks),
        cmocka_unit_test(test_1024_pairs_from_psn_0),
        cmocka_unit_test(test_1024_pairs_of_equal_messages_from_psn_0),
        cmocka_unit_test(test_psn_0_with_loss),
        cmocka_unit_test(test_psn_0_of_sliced_frames),
        cmocka_unit_test(test_psn_0_in_short),
        cmocka_unit_test(test_lockstep_is_left_undecided),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
