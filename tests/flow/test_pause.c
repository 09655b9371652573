/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Pauses: unions of quanta by hand calculation, storms, victims. At 100 Gb/s a quantum is 5.12 ns.
 */
#include "tests/cmocka_all.h"
#include "tests/flow/scene.h"

#define GBPS UINT64_C(1000000000)
static const struct roce_observer_opts fast = {.link_speed_bps = 100 * GBPS};

static struct roce_pause_entry entry(const struct scene *s, uint8_t mac, uint8_t priority)
{
    struct roce_pause_entry e;
    for (uint32_t cursor = 0; roce_observer_pause(s->obs, &cursor, &e);)
        if (e.mac[5] == mac && e.priority == priority)
            return e;
    fail_msg("no entry for %u, priority %u", mac, priority);
    return e;
}

/* 1000 quanta are 5,120 ns. Overlapping pauses count once; a gap is not paused. */
static void test_union(void **state)
{
    (void)state;
    struct scene s = scene_new(&fast);
    scene_pause(&s, 0, 7, 3, 1000);    /* [0, 5120) */
    scene_pause(&s, 2000, 7, 3, 1000); /* [2000, 7120): refresh */
    scene_pause(&s, 8000, 7, 3, 1000); /* at 10000: [10000, 15120) */
    scene_tcp(&s, 90000);
    const struct roce_pause_entry e = entry(&s, 7, 3);
    assert_true(e.has_paused);
    assert_int_equal(e.xoff, 3);
    assert_int_equal(e.refresh, 1);
    assert_int_equal(e.xon, 0);
    assert_int_equal(e.paused_ns, 7120 + 5120);
    assert_int_equal(e.longest_ns, 7120);
    assert_int_equal(e.quanta_max, 1000);
    assert_int_equal(e.storms, 0);
    assert_false(e.paused_now);
    assert_int_equal(e.first_frame, 1);
    assert_int_equal(e.last_frame, 3);
    scene_free(&s);
}

/* XON ends a pause early, a shorter XOFF shortens it (802.1Qbb: the newest time counts). */
static void test_xon_and_shorter(void **state)
{
    (void)state;
    struct scene s = scene_new(&fast);
    scene_pause(&s, 0, 7, 3, 65535);
    scene_pause(&s, 3000, 7, 3, 0);
    assert_int_equal(entry(&s, 7, 3).paused_ns, 3000);
    scene_pause(&s, 1000, 7, 3, 65535); /* from 4000 */
    scene_pause(&s, 500, 7, 3, 100);    /* to 4500 + 512 */
    scene_tcp(&s, 100000);
    const struct roce_pause_entry e = entry(&s, 7, 3);
    assert_int_equal(e.paused_ns, 3000 + 500 + 512);
    assert_int_equal(e.xon, 1);
    assert_int_equal(e.xoff, 3);
    assert_int_equal(e.refresh, 1);
    scene_free(&s);
}

/* A pause that is on is counted up to the newest frame, and an XON without a pause does nothing. */
static void test_open_pause(void **state)
{
    (void)state;
    struct scene s = scene_new(&fast);
    scene_pause(&s, 0, 7, 5, 0);
    assert_int_equal(entry(&s, 7, 5).paused_ns, 0);
    scene_pause(&s, 1000, 7, 5, 65535); /* 335,539 ns */
    scene_tcp(&s, 100000);
    assert_int_equal(entry(&s, 7, 5).paused_ns, 100000);
    assert_true(entry(&s, 7, 5).paused_now);
    scene_tcp(&s, 1000000);
    assert_int_equal(entry(&s, 7, 5).paused_ns, 335539);
    assert_false(entry(&s, 7, 5).paused_now);
    scene_free(&s);
}

/* Senders, priorities and 802.3x PAUSE are kept apart. */
static void test_kept_apart(void **state)
{
    (void)state;
    struct scene s = scene_new(&fast);
    scene_pause(&s, 0, 7, 3, 1000);
    scene_pause(&s, 0, 7, 4, 2000);
    scene_pause(&s, 0, 9, 3, 3000);
    scene_pause(&s, 0, 9, ROCE_PAUSE_PRIORITY, 500);
    scene_tcp(&s, 1000000);
    assert_int_equal(entry(&s, 7, 3).paused_ns, 5120);
    assert_int_equal(entry(&s, 7, 4).paused_ns, 10240);
    assert_int_equal(entry(&s, 9, 3).paused_ns, 15360);
    assert_int_equal(entry(&s, 9, ROCE_PAUSE_PRIORITY).paused_ns, 2560);
    struct roce_capture_totals t;
    roce_observer_totals(s.obs, &t);
    assert_int_equal(t.pfc_packets, 3);
    assert_int_equal(t.pause_packets, 1);
    scene_free(&s);
}

static void test_unknown_speed(void **state)
{
    (void)state;
    struct scene s = scene_new(NULL);
    scene_pause(&s, 0, 7, 3, 65535);
    scene_pause(&s, 100 * MS, 7, 3, 65535);
    scene_pause(&s, 100 * MS, 7, 3, 0);
    scene_pause(&s, 1000, 7, 3, 65535);
    scene_end(&s, 500 * MS);
    const struct roce_pause_entry e = entry(&s, 7, 3);
    assert_false(e.has_paused);
    assert_int_equal(e.xoff, 3);
    assert_int_equal(e.refresh, 1);
    assert_int_equal(e.xon, 1);
    assert_null(scene_find(&s, ROCE_FINDING_PFC_STORM));
    scene_free(&s);
}

/* XOFF every 300 us at 100 Gb/s, each good for 335 us: continuous. */
static void storm(struct scene *s, uint32_t refreshes)
{
    for (uint32_t i = 0; i < refreshes; i++)
        scene_pause(s, i == 0 ? 1000 : 300 * US, 7, 3, 65535);
}

static void test_storm(void **state)
{
    (void)state;
    struct scene s = scene_new(&fast);
    storm(&s, 500); /* 499 * 300 us + 335.539 us = 150,035,539 ns */
    scene_end(&s, 10 * MS);
    const struct roce_pause_entry e = entry(&s, 7, 3);
    assert_int_equal(e.storms, 1);
    assert_int_equal(e.longest_ns, 150035539);
    assert_int_equal(e.paused_ns, 150035539);
    assert_int_equal(e.storm_frame, 1);
    const struct roce_finding *f = scene_find(&s, ROCE_FINDING_PFC_STORM);
    assert_non_null(f);
    assert_int_equal(f->severity, ROCE_SEVERITY_ERROR);
    assert_int_equal(f->count, 1);
    assert_int_equal(f->first_frame, 1);
    assert_true(f->has_mac);
    char text[ROCE_FINDING_TEXT];
    roce_finding_text(f, text, sizeof text);
    assert_string_equal(text, "1 pause storm on priority 3, the longest 150 ms without a gap");
    scene_free(&s);
}

/* The twin: as many pauses, but 99 ms at most without a gap. */
static void test_no_storm(void **state)
{
    (void)state;
    struct scene s = scene_new(&fast);
    storm(&s, 250);
    scene_pause(&s, 300 * US, 7, 3, 0);
    storm(&s, 250);
    scene_end(&s, 10 * MS);
    assert_int_equal(entry(&s, 7, 3).storms, 0);
    assert_null(scene_find(&s, ROCE_FINDING_PFC_STORM));
    scene_free(&s);
}

static void test_storm_limit(void **state)
{
    (void)state;
    const struct roce_observer_opts opts = {.link_speed_bps = 100 * GBPS, .storm_ms = 1};
    struct scene s = scene_new(&opts);
    storm(&s, 4);                          /* 1.235 ms */
    scene_pause(&s, 10 * MS, 7, 3, 65535); /* 0.335 ms */
    scene_pause(&s, 10 * MS, 7, 3, 65535);
    scene_end(&s, 10 * MS);
    assert_int_equal(entry(&s, 7, 3).storms, 1);
    scene_free(&s);
}

/* A flow of priority 3 (DSCP 26) that sends each 5 us, stops with a 100 us pause and goes on. */
static void silenced(struct scene *s, uint8_t dscp, uint64_t stop)
{
    uint32_t psn = 100;
    struct shot x = scene_send(0);
    x.dscp = dscp;
    for (int i = 0; i < 10; i++) {
        x.psn = psn++;
        scene_shot(s, 5 * US, x);
    }
    scene_pause(s, 1 * US, 7, 3, 65535);
    for (int i = 0; stop == 0 && i < 19; i++) {
        x.psn = psn++;
        scene_shot(s, 5 * US, x);
    }
    scene_pause(s, stop == 0 ? 5 * US : stop, 7, 3, 0);
    for (int i = 0; i < 10; i++) {
        x.psn = psn++;
        scene_shot(s, 5 * US, x);
    }
}

static void test_victim(void **state)
{
    (void)state;
    struct scene s = scene_new(&fast);
    silenced(&s, 26, 100 * US);
    const struct roce_pause_entry e = entry(&s, 7, 3);
    assert_int_equal(e.silences, 1);
    assert_int_equal(e.victims, 1);
    assert_int_equal(e.victim[0], s.v.flow);
    scene_free(&s);
}

static void test_no_victim(void **state)
{
    (void)state;
    struct scene s = scene_new(&fast);
    silenced(&s, 46, 100 * US); /* priority 5 was not paused */
    assert_int_equal(entry(&s, 7, 3).silences, 0);
    scene_free(&s);
    s = scene_new(&fast);
    silenced(&s, 26, 0); /* went on in spite of the pause */
    assert_int_equal(entry(&s, 7, 3).silences, 0);
    scene_free(&s);
}

static void wrong_priority(struct scene *s, uint8_t pcp, bool tagged)
{
    for (uint32_t i = 0; i < 100; i++) {
        struct shot x = scene_send(i);
        struct shot y = scene_ack(i, ACK_OK, i);
        x.tagged = y.tagged = tagged;
        x.pcp = y.pcp = pcp;
        x.dscp = y.dscp = (uint8_t)(pcp << 3);
        scene_shot(s, 5 * US, x);
        scene_shot(s, 5 * US, y);
    }
    scene_pause(s, US, 7, 4, 1000);
    scene_end(s, MS);
}

static void test_wrong_priority(void **state)
{
    (void)state;
    struct scene s = scene_new(&fast);
    wrong_priority(&s, 3, true);
    const struct roce_finding *f = scene_find(&s, ROCE_FINDING_PFC_WRONG_PRIORITY);
    assert_non_null(f);
    assert_int_equal(f->severity, ROCE_SEVERITY_WARNING);
    char text[ROCE_FINDING_TEXT];
    roce_finding_text(f, text, sizeof text);
    assert_string_equal(text,
                        "1 pause frame for priority 4, which no RoCE frame uses; RoCE runs on "
                        "priority 3");
    scene_free(&s);
    s = scene_new(&fast);
    wrong_priority(&s, 3, false); /* by DSCP only */
    assert_int_equal(scene_find(&s, ROCE_FINDING_PFC_WRONG_PRIORITY)->severity, ROCE_SEVERITY_NOTE);
    scene_free(&s);
    s = scene_new(&fast);
    wrong_priority(&s, 4, true);
    assert_null(scene_find(&s, ROCE_FINDING_PFC_WRONG_PRIORITY));
    assert_int_equal(scene_alarms(&s), 0);
    scene_free(&s);
}

/* Senders beyond the limit are counted, and no more memory is taken. */
static void test_many_senders(void **state)
{
    (void)state;
    struct scene s = scene_new(&fast);
    for (uint32_t i = 0; i < 3000; i++) {
        uint8_t b[60] = {1,          0x80, 0xC2, 0, 0, 1, 4, 0, 0, 0, (uint8_t)(i >> 8),
                         (uint8_t)i, 0x88, 0x08, 1, 1, 0, 8};
        b[24] = 1;
        scene_feed(&s, b, sizeof b, sizeof b);
    }
    struct roce_pause_entry e;
    uint32_t cursor = 0, n = 0;
    while (roce_observer_pause(s.obs, &cursor, &e))
        n++;
    struct roce_observer_stats stats;
    roce_observer_stats(s.obs, &stats);
    assert_int_equal(n + stats.senders_lost, 3000);
    assert_true(n >= 1000);
    scene_free(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_union),          cmocka_unit_test(test_xon_and_shorter),
        cmocka_unit_test(test_open_pause),     cmocka_unit_test(test_kept_apart),
        cmocka_unit_test(test_unknown_speed),  cmocka_unit_test(test_storm),
        cmocka_unit_test(test_no_storm),       cmocka_unit_test(test_storm_limit),
        cmocka_unit_test(test_victim),         cmocka_unit_test(test_no_victim),
        cmocka_unit_test(test_wrong_priority), cmocka_unit_test(test_many_senders),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
