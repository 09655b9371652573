/* SPDX-License-Identifier: GPL-2.0-or-later */
/* QP states, flushing, completion and shared receive queues, keys. */
#include "craft.h"

#include <roce/err.h>

#define A(name) ENG_ATTR_##name

/* What the verbs demand and allow (IBTA 11.2.5.2 as in the Linux kernel's table); attributes of our
 * own are optional wherever a QP may come to send. */
#define PATH_ALL (A(AV) | A(PATH_MTU) | A(DEST_QPN) | A(RQ_PSN))
#define RTS_ALL  (A(SQ_PSN) | A(TIMEOUT) | A(RETRY_CNT) | A(RNR_RETRY) | A(MAX_RD_ATOMIC))

static struct eng_qp *fresh(struct rig *r, enum eng_service service)
{
    const struct eng_qp_cfg cfg = {.service = service,
                                   .send_cq = r->side[0].cq,
                                   .recv_cq = r->side[0].cq,
                                   .max_send_wr = 4,
                                   .max_recv_wr = 4};
    struct eng_qp *qp = eng_qp_new(r->side[0].pd, &cfg);
    assert_non_null(qp);
    return qp;
}

static const struct eng_qp_attr sane = {.path_mtu = 1024,
                                        .dest_qpn = 5,
                                        .timeout = 14,
                                        .retry_cnt = 7,
                                        .rnr_retry = 7,
                                        .min_rnr_timer = 12,
                                        .max_rd_atomic = 1,
                                        .max_dest_rd_atomic = 1,
                                        .window = 100};

static int modify(struct eng_qp *qp, enum eng_qp_state state, unsigned mask)
{
    struct eng_qp_attr a = sane;
    a.state = state;
    roce_ip_v4(a.av.src_ip, 10, 0, 0, 1);
    roce_ip_v4(a.av.dst_ip, 10, 0, 0, 2);
    return eng_qp_modify(qp, 0, &a, mask | A(STATE));
}

static void walk(struct rig *r, enum eng_service service, const unsigned required[3])
{
    static const enum eng_qp_state to[] = {ENG_INIT, ENG_RTR, ENG_RTS};
    struct eng_qp *qp = fresh(r, service);
    for (int step = 0; step < 3; step++) {
        for (unsigned bit = 1; bit < 1 << 20; bit <<= 1) {
            if (required[step] & bit) /* each of them is needed */
                assert_int_equal(modify(qp, to[step], required[step] & ~bit), ROCE_ERR_INVALID);
        }
        for (int wrong = ENG_RTR; wrong <= ENG_SQE; wrong++) /* no step is skipped */
            if (wrong > (int)to[step])
                assert_int_equal(modify(qp, (enum eng_qp_state)wrong, required[step]),
                                 ROCE_ERR_INVALID);
        assert_int_equal(eng_qp_state(qp), step == 0 ? ENG_RESET : to[step - 1]);
        assert_int_equal(modify(qp, to[step], required[step]), 0);
        assert_int_equal(eng_qp_state(qp), to[step]);
    }
    eng_qp_del(qp);
}

static void test_required_attributes(void **state)
{
    (void)state;
    struct rig *r = rig_new(&(struct rig_opts){0});
    walk(r, ENG_RC,
         (const unsigned[]){A(ACCESS), PATH_ALL | A(MAX_DEST_RD_ATOMIC) | A(MIN_RNR_TIMER),
                            RTS_ALL});
    walk(r, ENG_UC, (const unsigned[]){A(ACCESS), PATH_ALL, A(SQ_PSN)});
    walk(r, ENG_UD, (const unsigned[]){A(QKEY), 0, A(SQ_PSN)});
    walk(r, ENG_XRC_TGT,
         (const unsigned[]){A(ACCESS), PATH_ALL | A(MAX_DEST_RD_ATOMIC) | A(MIN_RNR_TIMER),
                            A(TIMEOUT) | A(SQ_PSN)});
    rig_del(r);
}

static void test_attributes_that_do_not_belong(void **state)
{
    (void)state;
    struct rig *r = rig_new(&(struct rig_opts){0});
    struct eng_qp *qp = fresh(r, ENG_RC);
    assert_int_equal(modify(qp, ENG_INIT, A(ACCESS) | A(QKEY)), ROCE_ERR_INVALID);
    assert_int_equal(modify(qp, ENG_INIT, A(ACCESS) | A(SQ_PSN)), ROCE_ERR_INVALID);
    eng_qp_del(qp);
    qp = r->side[0].qp; /* RTS */
    assert_int_equal(modify(qp, ENG_RTS, A(ACCESS) | A(MIN_RNR_TIMER) | A(WINDOW)), 0);
    assert_int_equal(modify(qp, ENG_RTS, A(AV)), ROCE_ERR_INVALID);
    assert_int_equal(modify(qp, ENG_RTS, A(TIMEOUT)), ROCE_ERR_INVALID);
    assert_int_equal(modify(qp, ENG_RTR, 0), ROCE_ERR_INVALID);
    assert_int_equal(modify(qp, ENG_INIT, A(ACCESS)), ROCE_ERR_INVALID);
    assert_int_equal(modify(qp, ENG_SQE, 0), ROCE_ERR_INVALID);
    assert_int_equal(modify(qp, ENG_ERR, A(ACCESS)), ROCE_ERR_INVALID);
    assert_int_equal(modify(qp, ENG_SQD, 0), 0);
    assert_int_equal(modify(qp, ENG_SQD, A(AV) | A(TIMEOUT) | A(MAX_DEST_RD_ATOMIC)), 0);
    assert_int_equal(modify(qp, ENG_SQD, A(SQ_PSN)), ROCE_ERR_INVALID);
    assert_int_equal(modify(qp, ENG_RTS, 0), 0);
    rig_del(r);
}

static void test_values_out_of_range(void **state)
{
    (void)state;
    struct rig *r = rig_new(&(struct rig_opts){0});
    struct eng_qp *qp = r->side[0].qp;
    assert_int_equal(modify(qp, ENG_SQD, 0), 0);
    struct eng_dcqcn cc;
    eng_dcqcn_preset(ENG_DCQCN_NIC, &cc);
    const struct {
        struct eng_qp_attr a;
        unsigned mask;
    } bad[] = {
        {{.timeout = 32}, A(TIMEOUT)},
        {{.retry_cnt = 8}, A(RETRY_CNT)},
        {{.rnr_retry = 8}, A(RNR_RETRY)},
        {{.min_rnr_timer = 32}, A(MIN_RNR_TIMER)},
        {{.max_rd_atomic = 129}, A(MAX_RD_ATOMIC)},
        {{.max_dest_rd_atomic = 129}, A(MAX_DEST_RD_ATOMIC)},
        {{.window = 0}, A(WINDOW)},
        {{.window = 0x800000}, A(WINDOW)},
        {{.access = 16}, A(ACCESS)},
        {{.dcqcn = true}, A(CC)},
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        assert_int_equal(eng_qp_modify(qp, 0, &bad[i].a, bad[i].mask), ROCE_ERR_INVALID);
    assert_int_equal(eng_qp_modify(qp, 0, &(struct eng_qp_attr){.dcqcn = true, .cc = cc}, A(CC)),
                     0);
    assert_int_equal(eng_qp_modify(qp, 0, &(struct eng_qp_attr){.window = 0x7FFFFF}, A(WINDOW)), 0);
    static const uint16_t mtus[] = {0, 128, 1000, 1023, 1025, 8192};
    for (size_t i = 0; i < 6; i++) {
        struct eng_qp *ud = fresh(r, ENG_UD);
        assert_int_equal(modify(ud, ENG_INIT, A(QKEY)), 0);
        const struct eng_qp_attr a = {.state = ENG_RTR, .path_mtu = mtus[i]};
        assert_int_equal(eng_qp_modify(ud, 0, &a, A(STATE) | A(PATH_MTU)), ROCE_ERR_INVALID);
        eng_qp_del(ud);
    }
    rig_del(r);
}

static void test_what_each_state_takes(void **state)
{
    (void)state;
    struct rig *r = rig_new(&(struct rig_opts){0});
    struct eng_qp *qp = fresh(r, ENG_RC);
    const struct eng_send_wr send = {.op = ENG_WR_SEND};
    const struct eng_recv_wr recv = {0};
    assert_int_equal(eng_post_recv(qp, 0, &recv), ROCE_ERR_STATE); /* RESET */
    assert_int_equal(eng_post_send(qp, 0, &send), ROCE_ERR_STATE);
    assert_int_equal(modify(qp, ENG_INIT, A(ACCESS)), 0);
    assert_int_equal(eng_post_recv(qp, 0, &recv), 0);
    assert_int_equal(eng_post_send(qp, 0, &send), ROCE_ERR_STATE);
    assert_int_equal(modify(qp, ENG_RTR, PATH_ALL | A(MAX_DEST_RD_ATOMIC) | A(MIN_RNR_TIMER)), 0);
    assert_int_equal(eng_post_send(qp, 0, &send), ROCE_ERR_STATE);
    assert_int_equal(modify(qp, ENG_RTS, RTS_ALL), 0);
    assert_int_equal(eng_post_send(qp, 0, &send), 0);
    assert_int_equal(modify(qp, ENG_ERR, 0), 0);
    rig_wc(r, 0); /* the send, the receive */
    rig_wc(r, 0);
    assert_int_equal(eng_post_send(qp, 0, &send), 0);
    assert_int_equal(eng_post_recv(qp, 0, &recv), 0);
    assert_int_equal(rig_wc(r, 0).status, ENG_WC_WR_FLUSH_ERR);
    assert_int_equal(rig_wc(r, 0).status, ENG_WC_WR_FLUSH_ERR);
    assert_int_equal(modify(qp, ENG_RESET, 0), 0);
    assert_int_equal(modify(qp, ENG_INIT, A(ACCESS)), 0); /* and round again */
    rig_del(r);
}

static void test_flush_keeps_the_order(void **state)
{
    (void)state;
    struct rig *r = rig_new(&(struct rig_opts){0});
    for (uint64_t i = 0; i < 5; i++) {
        struct eng_send_wr wr = rig_wr(r, 0, ENG_WR_SEND, i, 4, 0);
        wr.signaled = i % 2; /* unsignaled ones, too */
        rig_post(r, 0, &wr);
        rig_recv(r, 0, 10 + i, 0, 4);
    }
    assert_int_equal(modify(r->side[0].qp, ENG_ERR, 0), 0);
    for (uint64_t i = 0; i < 10; i++) {
        const struct eng_wc wc = rig_wc(r, 0);
        assert_int_equal(wc.wr_id, i < 5 ? i : 5 + i);
        assert_int_equal(wc.status, ENG_WC_WR_FLUSH_ERR);
        assert_int_equal(wc.op, i < 5 ? ENG_WC_SEND_SIDE : ENG_WC_RECV);
        assert_int_equal(wc.qpn, eng_qp_num(r->side[0].qp));
    }
    rig_no_wc(r, 0);
    craft_expect_silence(r, 0);
    rig_del(r);
}

static void test_reset_forgets(void **state)
{
    (void)state;
    struct rig *r = rig_new(&(struct rig_opts){0});
    const struct eng_send_wr wr = rig_wr(r, 0, ENG_WR_SEND, 0, 4, 0);
    rig_post(r, 0, &wr);
    rig_recv(r, 0, 1, 0, 4);
    assert_int_equal(modify(r->side[0].qp, ENG_RESET, 0), 0);
    craft_expect_silence(r, 0);
    rig_no_wc(r, 0);
    rig_connect(r, 0);
    rig_recv(r, 1, 2, 0, 4);
    rig_post(r, 0, &wr);
    rig_run(r, 1);
    assert_int_equal(rig_wc(r, 0).status, ENG_WC_SUCCESS);
    rig_del(r);
}

static void test_drain(void **state)
{
    (void)state;
    struct rig *r = rig_new(&(struct rig_opts){.mtu = 256});
    for (uint32_t i = 0; i < 2; i++) {
        const struct eng_send_wr wr = rig_wr(r, 0, ENG_WR_WRITE, 0, 1024, 0);
        rig_post(r, 0, &wr);
    }
    struct seen s;
    assert_true(craft_next(r, 0, &s)); /* the first message has begun */
    assert_int_equal(modify(r->side[0].qp, ENG_SQD, 0), 0);
    assert_false(eng_qp_drained(r->side[0].qp));
    for (uint32_t i = 1; i < 4; i++) { /* it goes on to its end, the second does not begin */
        assert_true(craft_next(r, 0, &s));
        assert_int_equal(s.pkt.bth.psn, i);
    }
    craft_expect_silence(r, 0);
    assert_false(eng_qp_drained(r->side[0].qp));
    craft_send(r, 0,
               &(struct craft){
                   .opcode = ROCE_OPCODE_RC_ACKNOWLEDGE, .psn = 3, .aeth = {.syndrome = 0x1F}});
    assert_true(eng_qp_drained(r->side[0].qp));
    const struct eng_send_wr wr = rig_wr(r, 0, ENG_WR_WRITE, 0, 4, 0);
    assert_int_equal(rig_post(r, 0, &wr), 0); /* may be posted, is not sent */
    craft_expect_silence(r, 0);
    /* it still answers */
    rig_recv(r, 0, 9, 0, 64);
    craft_send(r, 0, &(struct craft){.opcode = ROCE_OPCODE_RC_SEND_ONLY, .psn = 0, .ackreq = true});
    craft_expect_ack(r, 0, 0x1F, 0, 1);
    assert_int_equal(modify(r->side[0].qp, ENG_RTS, 0), 0);
    assert_true(craft_next(r, 0, &s));
    assert_int_equal(s.pkt.bth.psn, 4);
    rig_del(r);
}

static void test_established(void **state)
{
    (void)state;
    struct rig *r = rig_new(&(struct rig_opts){0});
    assert_false(eng_qp_established(r->side[1].qp));
    craft_send(r, 1, &(struct craft){.opcode = ROCE_OPCODE_RC_SEND_ONLY, .dqpn = 0x123});
    craft_send(r, 1, &(struct craft){.opcode = ROCE_OPCODE_RC_SEND_ONLY, .bad_icrc = true});
    assert_false(eng_qp_established(r->side[1].qp));
    craft_send(r, 1, &(struct craft){.opcode = ROCE_OPCODE_RC_SEND_ONLY});
    assert_true(eng_qp_established(r->side[1].qp));
    rig_del(r);
}

static void test_unreliable_send_error(void **state)
{
    (void)state;
    for (int service = ENG_UC; service <= ENG_UD; service++) {
        struct rig *r = rig_new(&(struct rig_opts){.service = (enum eng_service)service});
        struct eng_send_wr wr = rig_wr(r, 0, ENG_WR_SEND, 0, 4, 0);
        wr.ah = rig_ah(r, 0);
        wr.dest_qpn = 77;
        rig_post(r, 0, &wr);
        wr.sge[0].lkey ^= 1;
        rig_post(r, 0, &wr);
        rig_post(r, 0, &wr);
        rig_recv(r, 0, 5, 0, 4);
        struct seen s;
        assert_true(craft_next(r, 0, &s));
        craft_expect_silence(r, 0);
        assert_int_equal(rig_wc(r, 0).status, ENG_WC_SUCCESS);
        assert_int_equal(rig_wc(r, 0).status, ENG_WC_LOC_PROT_ERR);
        assert_int_equal(rig_wc(r, 0).status, ENG_WC_WR_FLUSH_ERR);
        rig_no_wc(r, 0); /* receives live on */
        assert_int_equal(eng_qp_state(r->side[0].qp), ENG_SQE);
        rig_post(r, 0, &wr);
        assert_int_equal(rig_wc(r, 0).status, ENG_WC_WR_FLUSH_ERR);
        assert_int_equal(modify(r->side[0].qp, ENG_RTS, 0), 0);
        wr.sge[0].lkey ^= 1;
        rig_post(r, 0, &wr);
        assert_true(craft_next(r, 0, &s));
        assert_int_equal(s.pkt.bth.psn, 1);
        rig_del(r);
    }
}

static void test_completion_queue_overflow(void **state)
{
    (void)state;
    struct rig *r = rig_new(&(struct rig_opts){.cq_depth = 3});
    for (uint32_t i = 0; i < 5; i++) {
        const struct eng_send_wr wr = rig_wr(r, 0, ENG_WR_WRITE, i, 8, 0);
        rig_post(r, 0, &wr);
    }
    struct eng_qp *other = fresh(r, ENG_RC); /* shares the queue, and its fate */
    assert_int_equal(modify(other, ENG_INIT, A(ACCESS)), 0);
    rig_run(r, 1);
    assert_int_equal(eng_qp_state(r->side[0].qp), ENG_ERR);
    assert_int_equal(eng_qp_state(other), ENG_ERR);
    struct eng_wc wc[8];
    assert_int_equal(eng_cq_poll(r->side[0].cq, wc, 8), 3); /* what it holds is good */
    for (uint64_t i = 0; i < 3; i++) {
        assert_int_equal(wc[i].wr_id, i);
        assert_int_equal(wc[i].status, ENG_WC_SUCCESS);
    }
    assert_int_equal(eng_cq_poll(r->side[0].cq, wc, 8), ROCE_ERR_OVERFLOW);
    rig_del(r);
}

static void test_shared_receives(void **state)
{
    (void)state;
    struct rig *r = rig_new(&(struct rig_opts){.srq = true, .depth = 4, .credits = true});
    assert_int_equal(eng_post_recv(r->side[1].qp, 0, &(struct eng_recv_wr){0}), ROCE_ERR_INVALID);
    for (uint32_t i = 0; i < 4; i++)
        assert_int_equal(rig_recv(r, 1, i, 0, 64), 0);
    assert_int_equal(rig_recv(r, 1, 4, 0, 64), ROCE_ERR_FULL);
    eng_srq_limit(r->srq[1], 3);
    craft_send(r, 1, &(struct craft){.opcode = ROCE_OPCODE_RC_SEND_ONLY, .ackreq = true});
    craft_expect_ack(r, 1, 0x1F, 0, 1); /* an SRQ's QPs tell no credits */
    assert_false(eng_srq_limited(r->srq[1]));
    craft_send(r, 1, &(struct craft){.opcode = ROCE_OPCODE_RC_SEND_ONLY, .psn = 1});
    assert_true(eng_srq_limited(r->srq[1]));
    assert_false(eng_srq_limited(r->srq[1])); /* once */
    craft_send(r, 1, &(struct craft){.opcode = ROCE_OPCODE_RC_SEND_FIRST, .psn = 2, .len = 1024});
    craft_expect_ack(r, 1, 0x61, 2, 2); /* it took one, which was too small */
    assert_int_equal(rig_wc(r, 1).wr_id, 0);
    assert_int_equal(rig_wc(r, 1).wr_id, 1);
    const struct eng_wc wc = rig_wc(r, 1);
    assert_int_equal(wc.wr_id, 2);
    assert_int_equal(wc.status, ENG_WC_LOC_LEN_ERR);
    rig_no_wc(r, 1); /* the last one stays in the queue */
    rig_del(r);
}

/* Posted receives as IBTA table 43 codes them, rounded down. */
static void test_credits_told(void **state)
{
    (void)state;
    static const struct {
        uint32_t posted;
        uint8_t code;
    } cases[] = {{1, 0}, {2, 1}, {4, 3}, {5, 4},   {6, 4},
                 {7, 5}, {8, 5}, {9, 6}, {50, 11}, {256, 15}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct rig *r = rig_new(&(struct rig_opts){.credits = true});
        for (uint32_t k = 0; k < cases[i].posted; k++)
            assert_int_equal(rig_recv(r, 1, k, 0, 64), 0);
        craft_send(r, 1, &(struct craft){.opcode = ROCE_OPCODE_RC_SEND_ONLY, .ackreq = true});
        craft_expect_ack(r, 1, cases[i].code, 0, 1); /* the SEND took one */
        rig_del(r);
    }
}

static void test_silent_drops(void **state)
{
    (void)state;
    struct rig *r = rig_new(&(struct rig_opts){0});
    rig_recv(r, 1, 0, 0, 64);
    const struct {
        struct craft c;
        enum eng_drop why;
    } cases[] = {
        {{.bad_icrc = true}, ENG_DROP_ICRC}, {{.dqpn = 0xABC}, ENG_DROP_QPN},
        {{.pkey = 0x7FFE}, ENG_DROP_PKEY},   {{.src = 77}, ENG_DROP_ADDRESS},
        {{.tver = 1}, ENG_DROP_MALFORMED},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct craft c = cases[i].c;
        c.opcode = ROCE_OPCODE_RC_SEND_ONLY;
        c.ackreq = true;
        assert_int_equal(craft_send(r, 1, &c), 0);
        craft_expect_silence(r, 1);
        struct eng_dev_stats s;
        eng_dev_stats(r->side[1].dev, &s);
        assert_int_equal(s.drops[cases[i].why], 1);
    }
    assert_int_equal(craft_send(r, 1, &(struct craft){.opcode = ROCE_OPCODE_UC_SEND_ONLY}), 0);
    assert_int_equal(
        craft_send(r, 0, &(struct craft){.opcode = ROCE_OPCODE_RC_SEND_ONLY, .src = 1}), 0);
    craft_expect_silence(r, 1);
    /* the PSN was not touched; a limited member is heard, whatever DSCP and ECN are */
    assert_int_equal(craft_send(r, 1,
                                &(struct craft){.opcode = ROCE_OPCODE_RC_SEND_ONLY,
                                                .ackreq = true,
                                                .pkey = 0x7FFF,
                                                .tos = 0x69}),
                     1);
    craft_expect_ack(r, 1, 0x1F, 0, 1);
    rig_del(r);
}

static void test_memory_rights(void **state)
{
    (void)state;
    struct rig *r = rig_new(&(struct rig_opts){0});
    int err;
    assert_null(eng_mr_new(r->side[0].pd, r, 8, 0, ENG_REMOTE_WRITE, &err));
    assert_int_equal(err, ROCE_ERR_INVALID);
    assert_null(eng_mr_new(r->side[0].pd, r, 8, 0, ENG_REMOTE_ATOMIC, &err));
    assert_null(eng_mr_new(r->side[0].pd, r, 8, UINT64_MAX - 6, 0, &err));
    struct eng_mr *mr = eng_mr_new(r->side[0].pd, r, 8, UINT64_MAX - 8, ENG_REMOTE_READ, &err);
    assert_non_null(mr);
    const uint32_t key = eng_mr_rkey(mr);
    eng_mr_del(mr);
    for (int i = 0; i < 3000; i++) { /* keys do not come back soon */
        mr = eng_mr_new(r->side[0].pd, r, 8, 0, 0, &err);
        assert_int_not_equal(eng_mr_rkey(mr), key);
        eng_mr_del(mr);
    }
    rig_del(r);
}

static void test_table_of_qps(void **state)
{
    (void)state;
    struct rig *r = rig_new(&(struct rig_opts){.dev = {.max_qp = 40}});
    struct eng_qp *qps[39];
    struct eng_rng rng = {.state = 1};
    for (int i = 0; i < 39; i++)
        qps[i] = fresh(r, ENG_RC);
    const struct eng_qp_cfg cfg = {.send_cq = r->side[0].cq, .recv_cq = r->side[0].cq};
    assert_null(eng_qp_new(r->side[0].pd, &cfg)); /* full */
    for (int n = 0; n < 2000; n++) { /* any order of leaving keeps the others to be found */
        const uint64_t i = eng_rng_next(&rng) % 39;
        const uint32_t num = eng_qp_num(qps[i]);
        eng_qp_del(qps[i]);
        struct eng_qp_cfg same = cfg;
        same.qpn = num;
        if (n % 2)
            same.qpn = 0;
        qps[i] = eng_qp_new(r->side[0].pd, &same);
        assert_non_null(qps[i]);
        same.qpn = eng_qp_num(qps[(i + 7) % 39]);
        struct eng_qp_cfg taken = same;
        assert_null(eng_qp_new(r->side[0].pd, &taken));
    }
    rig_del(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_required_attributes),
        cmocka_unit_test(test_attributes_that_do_not_belong),
        cmocka_unit_test(test_values_out_of_range),
        cmocka_unit_test(test_what_each_state_takes),
        cmocka_unit_test(test_flush_keeps_the_order),
        cmocka_unit_test(test_reset_forgets),
        cmocka_unit_test(test_drain),
        cmocka_unit_test(test_established),
        cmocka_unit_test(test_unreliable_send_error),
        cmocka_unit_test(test_completion_queue_overflow),
        cmocka_unit_test(test_shared_receives),
        cmocka_unit_test(test_credits_told),
        cmocka_unit_test(test_silent_drops),
        cmocka_unit_test(test_memory_rights),
        cmocka_unit_test(test_table_of_qps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
