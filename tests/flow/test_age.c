/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Flows that are over give their places back; those that live keep theirs. */
#include "cm_rig.h"

#define SEND ROCE_OPCODE_RC_SEND_ONLY
#define SEC  UINT64_C(1000000000)

static const struct roce_flow_opts MINUTE = {.max_flows = 1000, .idle_ns = 60 * SEC};

/* Time goes by: ten frames a second of a QP that lives, and a new QP every second, since flows go
 * when others come. */
static void pass(struct rig *r, uint32_t seconds)
{
    static uint32_t newcomer;
    for (uint32_t i = 0; i < 10 * seconds; i++) {
        r->now += SEC / 10;
        rig_data(r, SEND, 8, 9, 0x99, i, 10);
        if (i % 10 == 0)
            rig_data(r, SEND, 8, 9, 0x10000 + newcomer++ % 0x10000, 0, 10);
    }
}

static bool here(const struct rig *r, uint8_t from, uint8_t to, uint32_t qp)
{
    return rig_flow(r, from, to, qp) != ROCE_FLOW_NONE;
}

static struct roce_flow_stats stats(const struct rig *r)
{
    struct roce_flow_stats s;
    roce_flow_stats(r->t, &s);
    return s;
}

static void test_silent_pair_goes(void **state)
{
    (void)state;
    struct rig r;
    rig_open(&r, &MINUTE);
    rig_pair(&r, 100, 6);
    pass(&r, 59);
    assert_int_equal(stats(&r).ended, 0);
    assert_int_equal(stats(&r).connections, 1);
    pass(&r, 10);
    assert_false(here(&r, 1, 2, 0x22));
    assert_false(here(&r, 2, 1, 0x11));
    assert_int_equal(stats(&r).connections, 0);
    assert_int_equal(stats(&r).created, stats(&r).flows + stats(&r).ended);
    assert_int_equal(rig_count_events(&r, ROCE_EVENT_FLOW_EVICTED), stats(&r).ended);
    assert_int_equal(rig_counters(&r, 8, 9, 0x99).packets, 690);
    rig_close(&r);
}

static void test_flows_stay_unless_asked(void **state)
{
    (void)state;
    for (int keep = 0; keep < 2; keep++) {
        struct rig r;
        struct roce_flow_opts o = MINUTE;
        o.idle_ns = keep ? o.idle_ns : 0;
        o.idle_keep = keep ? 203 : 0;
        rig_open(&r, &o);
        rig_pair(&r, 100, 6);
        pass(&r, 200);
        assert_int_equal(stats(&r).flows, 203);
        assert_int_equal(stats(&r).ended, 0);
        rig_close(&r);
    }
}

static void test_living_peer_keeps_a_silent_flow(void **state)
{
    (void)state;
    struct rig r;
    rig_open(&r, &MINUTE);
    rig_pair(&r, 100, 6);
    for (uint32_t i = 0; i < 20; i++) { /* no request, but an ACK every 10 s */
        pass(&r, 10);
        rig_ack(&r, 2, 1, 0x11, 105, 0x1F, 6);
    }
    assert_int_equal(rig_info(&r, 1, 2, 0x22).peer, rig_flow(&r, 2, 1, 0x11));
    rig_close(&r);
}

/* What happened is to be seen for ten times as long, and is judged when the flow goes. */
static void test_flow_with_a_loss_stays_longer(void **state)
{
    (void)state;
    struct rig r;
    struct roce_flow_opts o = MINUTE;
    o.idle_keep = 50; /* of some 65 that are silent for less than a minute */
    rig_open(&r, &o);
    rig_pair(&r, 100, 6);
    rig_data(&r, SEND, 1, 2, 0x22, 108, 64); /* 106 and 107 are missing */
    pass(&r, 590);
    assert_int_equal(rig_counters(&r, 1, 2, 0x22).gap_psns, 2);
    r.events = 0;
    pass(&r, 20);
    assert_false(here(&r, 1, 2, 0x22));
    const struct roce_event *loss = rig_last_event(&r, ROCE_EVENT_LOSS);
    assert_non_null(loss);
    assert_int_equal(rig_count_events(&r, ROCE_EVENT_LOSS), 1);
    assert_int_equal(loss->count, 2);
    assert_int_equal(loss->location, ROCE_LOST_UNKNOWN);
    rig_close(&r);
}

static void connect_qps(struct rig *r, uint32_t id, uint32_t qp)
{
    cm_request(r, 1, 2, id, qp);
    cm_reply(r, 2, 1, id + 1, id, qp + 1);
    cm_ids(r, ROCE_CM_RTU, 1, 2, id, id + 1, 0);
    rig_data(r, SEND, 1, 2, qp + 1, 700, 64);
    r->now += 10 * US;
    rig_ack(r, 2, 1, qp, 700, 0x1F, 1);
}

static void test_closed_connection_goes_soon(void **state)
{
    (void)state;
    struct rig r;
    rig_open(&r, &MINUTE);
    connect_qps(&r, 0xA0, 0x10);
    connect_qps(&r, 0xB0, 0x20);
    cm_ids(&r, ROCE_CM_DREQ, 1, 2, 0xA0, 0xA1, 0);
    cm_ids(&r, ROCE_CM_DREP, 2, 1, 0xA1, 0xA0, 0);
    pass(&r, 15);
    assert_false(here(&r, 1, 2, 0x11));
    assert_false(here(&r, 2, 1, 0x10));
    assert_int_equal(rig_info(&r, 1, 2, 0x21).pairing, ROCE_PAIRING_CM);
    assert_int_equal(stats(&r).ended, 2);
    rig_close(&r);
}

/* A time an hour ahead, or none at all, is believed of no single new flow, nor is the flow over
 * whose newest frame had it. */
static void test_stray_times_end_nothing(void **state)
{
    (void)state;
    struct rig r;
    rig_open(&r, &MINUTE);
    rig_pair(&r, 100, 6);
    for (uint32_t i = 0; i < 10; i++) {
        const roce_tstamp now = r.now;
        r.now = i % 2 != 0 ? 0 : now + 3600 * SEC;
        rig_data(&r, SEND, 8, 9, 0x50000 + i, 0, 10);
        rig_data(&r, SEND, 8, 9, 0x99, 10 * i, 10);
        r.now = now;
        pass(&r, 4);
    }
    assert_true(here(&r, 1, 2, 0x22));
    assert_int_equal(rig_counters(&r, 8, 9, 0x99).packets, 10 + 400);
    pass(&r, 30);
    assert_false(here(&r, 1, 2, 0x22));
    assert_int_equal(rig_counters(&r, 8, 9, 0x99).packets, 10 + 400 + 300);
    rig_close(&r);
}

/* A day of connections by CM, two a second, each of 10 s, every other one closed: no state grows,
 * and one that was set up first is still known at the end. */
static void test_day_of_connections(void **state)
{
    (void)state;
    enum { ALIVE = 20, DAY = 2 * 86400 };
    struct rig r;
    const struct roce_flow_opts o = {.idle_ns = 60 * SEC};
    rig_open(&r, &o);
    r.icrc = ROCE_ICRC_UNCHECKED;
    connect_qps(&r, 0xFFFFF0, 0xFFFFF0);
    uint64_t memory = 0;
    for (uint32_t i = 0; i < DAY; i++) {
        const uint32_t id = 2 + 2 * i, old = 2 + 2 * (i - ALIVE);
        r.events = 0;
        connect_qps(&r, id, id);
        if (i >= ALIVE && i % 2 == 0)
            cm_ids(&r, ROCE_CM_DREQ, 1, 2, old, old + 1, 0);
        if (i % 20 == 0) {
            rig_data(&r, SEND, 1, 2, 0xFFFFF1, 701 + i / 20, 64);
            rig_ack(&r, 2, 1, 0xFFFFF0, 701 + i / 20, 0x1F, 2 + i / 20);
        }
        r.now += SEC / 2;
        if (i == 2 * 2 * 3600)
            memory = stats(&r).memory;
    }
    assert_int_equal(stats(&r).memory, memory);
    assert_int_equal(stats(&r).evicted, 0);
    assert_int_equal(stats(&r).forgotten, 0);
    assert_in_range(stats(&r).flows, 2 * ALIVE, 2 * 2 * 65);
    assert_int_equal(rig_info(&r, 1, 2, 0xFFFFF1).pairing, ROCE_PAIRING_CM);
    const struct roce_flow_counters c = rig_counters(&r, 1, 2, 0xFFFFF1);
    assert_int_equal(c.packets, 1 + DAY / 20);
    assert_int_equal(c.gap_events, 0);
    assert_int_equal(rig_info(&r, 1, 2, 2 * DAY + 1).pairing, ROCE_PAIRING_CM);
    rig_close(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_silent_pair_goes),
        cmocka_unit_test(test_flows_stay_unless_asked),
        cmocka_unit_test(test_living_peer_keeps_a_silent_flow),
        cmocka_unit_test(test_flow_with_a_loss_stays_longer),
        cmocka_unit_test(test_closed_connection_goes_soon),
        cmocka_unit_test(test_stray_times_end_nothing),
        cmocka_unit_test(test_day_of_connections),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
