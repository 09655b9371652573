/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Size and speed by theory: memory of 100,000 QPs, no work for those that are idle, go-back-N's
 * goodput under loss, the largest message. */
#include "rig.h"

#include <malloc.h>
#include <math.h>

#define QPS 100000

static struct eng_qp *connected(struct eng_pd *pd, struct eng_cq *cq, uint32_t n)
{
    const struct eng_qp_cfg cfg = {.send_cq = cq,
                                   .recv_cq = cq,
                                   .max_send_wr = 1,
                                   .max_recv_wr = 1,
                                   .max_answers = 1,
                                   .max_inline = 1};
    struct eng_qp *qp = eng_qp_new(pd, &cfg);
    struct eng_qp_attr a = {.state = ENG_INIT,
                            .path_mtu = 1024,
                            .dest_qpn = n + 1,
                            .timeout = 14,
                            .retry_cnt = 7,
                            .max_dest_rd_atomic = 1};
    roce_ip_v4(a.av.dst_ip, 10, 0, 0, 2);
    assert_int_equal(eng_qp_modify(qp, 0, &a, ENG_ATTR_STATE | ENG_ATTR_ACCESS), 0);
    a.state = ENG_RTR;
    eng_qp_modify(qp, 0, &a,
                  ENG_ATTR_STATE | ENG_ATTR_AV | ENG_ATTR_PATH_MTU | ENG_ATTR_DEST_QPN |
                      ENG_ATTR_RQ_PSN | ENG_ATTR_MAX_DEST_RD_ATOMIC | ENG_ATTR_MIN_RNR_TIMER);
    a.state = ENG_RTS;
    assert_int_equal(eng_qp_modify(qp, 0, &a,
                                   ENG_ATTR_STATE | ENG_ATTR_SQ_PSN | ENG_ATTR_TIMEOUT |
                                       ENG_ATTR_RETRY_CNT | ENG_ATTR_RNR_RETRY |
                                       ENG_ATTR_MAX_RD_ATOMIC),
                     0);
    return qp;
}

/* Queues of one element: 128 bytes of send, 80 of receive, 56 of answer, 1 inline. */
static void test_memory_of_100000_qps(void **state)
{
    (void)state;
    const size_t before = mallinfo2().uordblks + mallinfo2().hblkhd;
    struct eng_dev *dev = eng_dev_new(&(struct eng_dev_cfg){.max_qp = QPS, .seed = 1});
    struct eng_pd *pd = eng_pd_new(dev);
    struct eng_cq *cq = eng_cq_new(dev, 16);
    struct eng_qp **qps = malloc(QPS * sizeof(struct eng_qp *));
    const size_t fixed = mallinfo2().uordblks + mallinfo2().hblkhd;
    for (uint32_t i = 0; i < QPS; i++)
        qps[i] = connected(pd, cq, i);
    const size_t after = mallinfo2().uordblks + mallinfo2().hblkhd;
    const double each = (double)(after - before) / QPS - sizeof(struct eng_qp *);
    print_message("%.0f bytes a QP, %.0f of them in the device's tables\n", each,
                  (double)(fixed - before) / QPS - sizeof(struct eng_qp *));
    assert_true(each - (128 + 80 + 56 + 1) < 1024);

    /* all of them send; then a timer runs for each; nothing takes a walk over all */
    uint8_t buf[ENG_FRAME_MAX];
    for (uint32_t i = 0; i < QPS; i++)
        assert_int_equal(eng_post_send(qps[i], 0, &(struct eng_send_wr){.op = ENG_WR_SEND}), 0);
    for (uint32_t i = 0; i < QPS; i++)
        assert_true(eng_dev_write(dev, i, buf, sizeof(buf)) > 0);
    assert_int_equal(eng_dev_write(dev, QPS, buf, sizeof(buf)), 0);
    assert_int_equal(eng_dev_next(dev, QPS), UINT64_C(4096) << 14);
    for (uint32_t i = 0; i < QPS; i++) { /* each timer at its time, in order */
        const roce_tstamp t = (UINT64_C(4096) << 14) + i;
        assert_int_equal(eng_dev_next(dev, t - 1), t);
        eng_dev_expire(dev, t);
        assert_true(eng_dev_write(dev, t, buf, sizeof(buf)) > 0);
    }
    free(qps);
    eng_dev_del(dev);
}

/* Loss p, W packets in flight: go-back-N delivers (1 - p) / (1 - p + p W) of the line rate. 10
 * Gb/s, MTU 1024, 100 us round trip. Only one direction loses: a lost ACK costs nothing while
 * others follow. */
static double goodput(double p, uint64_t *in_flight)
{
    struct rig *r = rig_new(&(struct rig_opts){
        .mtu = 1024, .timeout = 6, .ack_every = 1, .depth = 64, .seed = 11, .retry_cnt = 7});
    r->loop.rate_bps = UINT64_C(10000000000);
    r->loop.delay_ns = 50000;
    r->loop.wire[0].loss = p;
    const uint32_t len = 256 * 1024;
    const roce_tstamp begin = r->loop.now, end = begin + (LOOP_SLOW ? 200000000 : 1000000000);
    uint64_t done = 0;
    for (int i = 0; i < 32; i++) {
        const struct eng_send_wr wr = rig_wr(r, 0, ENG_WR_WRITE, 0, len, 0);
        rig_post(r, 0, &wr);
    }
    while (r->loop.now < end) {
        loop_run(&r->loop, r->loop.now + 100000);
        struct eng_wc wc;
        while (eng_cq_poll(r->side[0].cq, &wc, 1) == 1) {
            assert_int_equal(wc.status, ENG_WC_SUCCESS);
            done += len;
            const struct eng_send_wr wr = rig_wr(r, 0, ENG_WR_WRITE, 0, len, 0);
            rig_post(r, 0, &wr);
        }
    }
    const double frame = 1024 + 14 + 20 + 8 + 12 + 4 + 24;
    const double rtt = 100000 + 2 * frame * 8 / 10;
    *in_flight = (uint64_t)(rtt / (frame * 8 / 10));
    const double line = 1e10 / 8 * 1024 / frame;
    rig_del(r);
    return (double)done / ((double)(end - begin) / 1e9) / line;
}

static void test_goodput_under_loss(void **state)
{
    (void)state;
    static const double losses[] = {0, 0.001, 0.01};
    for (int i = 0; i < 3; i++) {
        uint64_t w;
        const double p = losses[i], got = goodput(p, &w);
        const double theory = (1 - p) / (1 - p + p * (double)w);
        print_message("loss %.1f %%, %llu packets in flight: %.4f of the line rate, theory %.4f\n",
                      p * 100, (unsigned long long)w, got, theory);
        assert_true(fabs(got - theory) < 0.1 * theory);
    }
}

/* 2^31 bytes: 2^23 PSNs at MTU 256, half of all there are. No memory stands behind it. */
static void test_largest_message(void **state)
{
    (void)state;
    const uint16_t mtu = LOOP_SLOW ? 4096 : 256;
    struct rig *r = rig_new(&(struct rig_opts){
        .mtu = mtu, .psn = {0xABCDEF, 0}, .ack_every = 4096, .dev = {.no_icrc = true}});
    struct eng_mr *mr[2];
    for (int i = 0; i < 2; i++)
        mr[i] = eng_mr_new(r->side[i].pd, NULL, ENG_MSG_MAX, 0, RIG_ALL, NULL);
    struct eng_send_wr wr = {
        .op = ENG_WR_WRITE, .signaled = true, .n_sge = 1, .rkey = eng_mr_rkey(mr[1])};
    wr.sge[0] = (struct eng_sge){.addr = 0, .length = ENG_MSG_MAX, .lkey = eng_mr_lkey(mr[0])};
    assert_int_equal(rig_post(r, 0, &wr), 0);
    uint8_t buf[ENG_FRAME_MAX];
    uint64_t frames = 0;
    for (bool busy = true; busy;) {
        busy = false;
        for (int i = 0; i < 2; i++) {
            int len;
            for (int n = 0;
                 n < 64 && (len = eng_dev_write(r->side[i].dev, r->loop.now, buf, sizeof(buf))) > 0;
                 n++) {
                eng_dev_read(r->side[1 - i].dev, r->loop.now, buf, (size_t)len);
                frames += i == 0;
                busy = true;
            }
        }
    }
    const struct eng_wc wc = rig_wc(r, 0);
    assert_int_equal(wc.status, ENG_WC_SUCCESS);
    assert_int_equal(frames, ENG_MSG_MAX / mtu);
    assert_int_equal(rig_stats(r, 1).rx_payload, ENG_MSG_MAX);
    assert_int_equal(rig_stats(r, 0).retransmitted, 0);
    rig_del(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_memory_of_100000_qps),
        cmocka_unit_test(test_goodput_under_loss),
        cmocka_unit_test(test_largest_message),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
