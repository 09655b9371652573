/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the toolkit's own observer, which shares nothing with the engine but header codecs, says of
 * the engine's traffic: nothing, when the wire is clean; the right thing, when it is not. */
#include "soak.h"

#include <roce/observer.h>

struct watch {
    struct roce_observer *obs;
    uint64_t number;
    uint64_t icrc_bad, not_ok;
};

static void watch_frame(void *ctx, int from, roce_tstamp now, const uint8_t *data, int len)
{
    struct watch *w = ctx;
    (void)from;
    const struct roce_frame frame = {.data = data,
                                     .caplen = (uint32_t)len,
                                     .origlen = (uint32_t)len,
                                     .ts = now,
                                     .number = ++w->number,
                                     .linktype = ROCE_LINK_ETHERNET};
    struct roce_packet pkt;
    struct roce_icrc icrc;
    struct roce_verdict verdict;
    roce_packet_decode(&frame, NULL, &pkt);
    roce_icrc_check(&frame, &pkt, &icrc);
    w->not_ok += pkt.status != ROCE_STATUS_OK;
    w->icrc_bad += icrc.status != ROCE_ICRC_OK;
    roce_observer_update(w->obs, &frame, &pkt, &icrc, &verdict);
}

static struct watch watch_new(struct rig *r)
{
    struct watch w = {.obs = roce_observer_new(&(struct roce_observer_opts){.max_flows = 64})};
    assert_non_null(w.obs);
    (void)r;
    return w;
}

static void expect_no_complaint(const struct watch *w)
{
    uint32_t n;
    roce_observer_finish(w->obs);
    const struct roce_finding *f = roce_observer_findings(w->obs, &n);
    for (uint32_t i = 0; i < n; i++) {
        if (f[i].severity != ROCE_SEVERITY_NOTE)
            print_error("finding kind %d\n", (int)f[i].kind);
        assert_int_equal(f[i].severity, ROCE_SEVERITY_NOTE);
    }
    assert_int_equal(w->not_ok, 0);
    assert_int_equal(w->icrc_bad, 0);
}

static void test_clean_runs_raise_nothing(void **state)
{
    (void)state;
    static const uint16_t mtus[] = {256, 512, 1024, 2048, 4096};
    for (uint64_t seed = 1; seed <= 200; seed++) {
        if (seed % 4 == 0) /* receives would be scarce: RNR NAKs are no fault, but a warning */
            continue;
        struct rig *r = rig_new(&(struct rig_opts){
            .mtu = mtus[seed % 5],
            .timeout = 14,
            .psn = {(uint32_t)(0xFFFFF0 + seed) & 0xFFFFFF, (uint32_t)seed * 77777 & 0xFFFFFF},
            .ah = {.tclass = 0x6A},
            .seed = seed});
        struct watch w = watch_new(r);
        r->loop.tap = watch_frame;
        r->loop.tap_ctx = &w;
        struct soak soak;
        soak_run(&soak, r, seed);
        expect_no_complaint(&w);
        roce_observer_del(w.obs);
        rig_del(r);
    }
}

static bool lose_tenth(void *ctx, uint64_t number, uint8_t *frame, int *len)
{
    (void)ctx;
    (void)frame;
    (void)len;
    return number == 9;
}

/* One lost frame, seen at the sender: the observer's counters are the engines' own. */
static void test_observer_and_engine_agree_on_a_loss(void **state)
{
    (void)state;
    struct rig *r = rig_new(&(struct rig_opts){.mtu = 256, .timeout = 14, .ah = {.tclass = 0x6A}});
    struct watch w = watch_new(r);
    r->loop.tap = watch_frame;
    r->loop.tap_ctx = &w;
    r->loop.wire[0].meddle = lose_tenth;
    r->loop.rate_bps = 1000000000;
    rig_recv(r, 1, 1, 0, 64);
    struct eng_send_wr wr = rig_wr(r, 0, ENG_WR_SEND, 0, 4, 0);
    rig_post(r, 0, &wr);
    wr = rig_wr(r, 0, ENG_WR_WRITE, 0, 40 * 256, 0);
    rig_post(r, 0, &wr);
    rig_run(r, 1);
    roce_observer_finish(w.obs);
    const struct roce_flow_table *t = roce_observer_flows(w.obs);
    uint8_t a[16], b[16];
    roce_ip_v4(a, 10, 0, 0, 1);
    roce_ip_v4(b, 10, 0, 0, 2);
    const uint32_t id = roce_flow_find(t, a, b, eng_qp_num(r->side[1].qp), false, 0);
    const uint32_t back = roce_flow_find(t, b, a, eng_qp_num(r->side[0].qp), false, 0);
    struct roce_flow_counters c, d;
    assert_true(roce_flow_counters(t, id, &c));
    assert_true(roce_flow_counters(t, back, &d));
    const struct eng_qp_stats s = rig_stats(r, 0), p = rig_stats(r, 1);
    assert_int_equal(c.retransmitted, s.retransmitted);
    assert_int_equal(c.retransmission_cause[ROCE_CAUSE_NAK], 1);
    assert_int_equal(d.naks[0], p.naks_sent);
    assert_int_equal(d.acks, p.acks_sent);
    assert_int_equal(c.packets, s.tx_packets);
    assert_int_equal(d.packets, p.tx_packets);
    assert_int_equal(c.messages[ROCE_MESSAGE_WRITE].completed, 1);
    roce_observer_del(w.obs);
    rig_del(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_clean_runs_raise_nothing),
        cmocka_unit_test(test_observer_and_engine_agree_on_a_loss),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
