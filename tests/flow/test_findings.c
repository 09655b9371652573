/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Findings: the table of kinds and its documentation, sentences, order, bounds, and the kinds that
 * are about a capture as a whole. */
#include "tests/cmocka_all.h"
#include "tests/flow/scene.h"

#include <roce/err.h>

#include <stdlib.h>

/* ---- the table ---- */

static char *manual(void)
{
    FILE *f = fopen(SOURCE_DIR "/docs/findings.md", "rb");
    assert_non_null(f);
    char *text = calloc(1, 1 << 20);
    assert_true(fread(text, 1, (1 << 20) - 1, f) > 0);
    fclose(f);
    return text;
}

/* Every kind has its section, in the order of the table, with all four parts and its severity. */
static void test_manual(void **state)
{
    (void)state;
    static const char *const parts[] = {"**Means.**", "**Based on.**", "**Not told by the wire.**",
                                        "**Check next.**"};
    char *text = manual();
    const char *at = text;
    for (int kind = 0; kind < ROCE_FINDING_KINDS; kind++) {
        const struct roce_finding_info *info = roce_finding_info((enum roce_finding_kind)kind);
        char title[64], gravest[64];
        snprintf(title, sizeof title, "\n## %s\n", info->name);
        snprintf(gravest, sizeof gravest, "\nGravest: %s.\n",
                 roce_severity_name((enum roce_severity)info->severity));
        const char *section = strstr(at, title);
        if (section == NULL)
            fail_msg("no section for %s behind its predecessor", info->name);
        const char *end = strstr(section + 1, "\n## ");
        for (size_t i = 0; i < 4; i++) {
            const char *part = strstr(section, parts[i]);
            if (part == NULL || (end != NULL && part > end))
                fail_msg("%s: no %s", info->name, parts[i]);
        }
        const char *words = strstr(section, gravest);
        if (words == NULL || (end != NULL && words > end))
            fail_msg("%s: severity differs", info->name);
        at = section + 1;
    }
    assert_null(strstr(at + 1, "\n## ")); /* and no section for a kind that is none */
    free(text);
}

static void test_names(void **state)
{
    (void)state;
    for (int kind = 0; kind < ROCE_FINDING_KINDS; kind++) {
        const struct roce_finding_info *info = roce_finding_info((enum roce_finding_kind)kind);
        assert_int_equal(roce_finding_by_name(info->name), kind);
        assert_true(strlen(info->hint) > 20);
    }
    assert_int_equal(roce_finding_by_name("loss"), ROCE_ERR_UNKNOWN);
    assert_int_equal(roce_severity_by_name("warning"), ROCE_SEVERITY_WARNING);
    assert_int_equal(roce_severity_by_name("fatal"), ROCE_ERR_UNKNOWN);
    assert_string_equal(roce_finding_info(ROCE_FINDING_KINDS)->name, "unknown");
}

/* ---- sentences ---- */

/* Whatever values are known, a sentence has no braces, brackets or doubled spaces and fits. */
static void test_sentences(void **state)
{
    (void)state;
    for (int kind = 0; kind < ROCE_FINDING_KINDS; kind++)
        for (unsigned has = 0; has < 32; has++)
            for (int word = 0; word < 2; word++) {
                struct roce_finding f = {.kind = (uint8_t)kind, .has = (uint8_t)has};
                char text[ROCE_FINDING_TEXT], cut[16];
                f.count = UINT64_MAX;
                for (int i = 0; i < ROCE_FINDING_VALUES; i++)
                    f.value[i] = UINT64_MAX;
                f.word = word ? "insufficient responder resources, and more words yet" : NULL;
                const size_t len = roce_finding_text(&f, text, sizeof text);
                assert_int_equal(len, strlen(text));
                assert_true(len > 10 && len < sizeof text - 1);
                assert_null(strpbrk(text, "{}[]"));
                assert_null(strstr(text, "  "));
                assert_int_equal(roce_finding_text(&f, cut, sizeof cut), sizeof cut - 1);
                assert_memory_equal(cut, text, sizeof cut - 1);
                assert_int_equal(cut[sizeof cut - 1], '\0');
            }
}

static void sentence_is(enum roce_finding_kind kind, uint64_t count, unsigned has, uint64_t a,
                        uint64_t b, const char *want)
{
    struct roce_finding f = {
        .kind = (uint8_t)kind, .count = count, .has = (uint8_t)has, .value = {a, b}};
    char text[ROCE_FINDING_TEXT];
    roce_finding_text(&f, text, sizeof text);
    assert_string_equal(text, want);
}

static void test_units(void **state)
{
    (void)state;
    sentence_is(ROCE_FINDING_REORDER, 1, 1, 999, 0,
                "1 frame arrived late but were not resent, up to 999 ns behind");
    sentence_is(ROCE_FINDING_REORDER, 2, 1, 1000, 0,
                "2 frames arrived late but were not resent, up to 1 us behind");
    sentence_is(ROCE_FINDING_REORDER, 2, 1, 1550, 0,
                "2 frames arrived late but were not resent, up to 1.55 us behind");
    sentence_is(ROCE_FINDING_REORDER, 2, 1, 12345678, 0,
                "2 frames arrived late but were not resent, up to 12.3 ms behind");
    sentence_is(ROCE_FINDING_REORDER, 2, 1, 999600000, 0,
                "2 frames arrived late but were not resent, up to 1000 ms behind");
    sentence_is(ROCE_FINDING_REORDER, 2, 1, UINT64_C(4294967296), 0,
                "2 frames arrived late but were not resent, up to 4.29 s behind");
    sentence_is(ROCE_FINDING_REORDER, 2, 0, 0, 0, "2 frames arrived late but were not resent");
    sentence_is(ROCE_FINDING_CNP_IGNORED, 12, 3, UINT64_C(98765000000), UINT64_C(940000000),
                "12 CNPs did not slow the sender: 98.8 Gb/s before, 940 Mb/s behind them");
}

static void test_size_0(void **state)
{
    (void)state;
    const struct roce_finding f = {.kind = ROCE_FINDING_MALFORMED, .count = 1};
    char c = 'x';
    assert_int_equal(roce_finding_text(&f, &c, 0), 0);
    assert_int_equal(c, 'x');
    assert_int_equal(roce_finding_text(&f, &c, 1), 0);
    assert_int_equal(c, '\0');
}

/* ---- order ---- */

static void test_order(void **state)
{
    (void)state;
    const struct roce_finding error = {.severity = ROCE_SEVERITY_ERROR, .count = 1};
    const struct roce_finding many = {.severity = ROCE_SEVERITY_WARNING, .count = 9};
    const struct roce_finding early = {
        .severity = ROCE_SEVERITY_WARNING, .count = 3, .first_frame = 5};
    const struct roce_finding late = {
        .severity = ROCE_SEVERITY_WARNING, .count = 3, .first_frame = 6};
    assert_true(roce_finding_compare(&error, &many) < 0);
    assert_true(roce_finding_compare(&many, &early) < 0);
    assert_true(roce_finding_compare(&early, &late) < 0);
    assert_true(roce_finding_compare(&late, &early) > 0);
    assert_int_equal(roce_finding_compare(&late, &late), 0);
}

/* ---- captures as a whole ---- */

static void text_is(const struct roce_finding *f, const char *want)
{
    char text[ROCE_FINDING_TEXT];
    assert_non_null(f);
    roce_finding_text(f, text, sizeof text);
    assert_string_equal(text, want);
}

static void test_no_roce(void **state)
{
    (void)state;
    struct scene s = scene_new(NULL);
    roce_observer_finish(s.obs);
    text_is(scene_find(&s, ROCE_FINDING_CAPTURE_NO_ROCE), "no RoCE in 0 frames");
    scene_tcp(&s, 1);
    scene_tcp(&s, 1);
    roce_observer_finish(s.obs);
    text_is(scene_find(&s, ROCE_FINDING_CAPTURE_NO_ROCE),
            "no RoCE in 2 frames: 0 UDP, 2 TCP, 0 ARP, 0 other IP, 0 other");
    assert_int_equal(scene_find(&s, ROCE_FINDING_CAPTURE_NO_ROCE)->severity, ROCE_SEVERITY_WARNING);
    scene_pause(&s, 1, 7, 3, 100);
    roce_observer_finish(s.obs);
    assert_int_equal(scene_find(&s, ROCE_FINDING_CAPTURE_NO_ROCE)->severity, ROCE_SEVERITY_NOTE);
    scene_talk(&s, 1, 1);
    roce_observer_finish(s.obs);
    assert_null(scene_find(&s, ROCE_FINDING_CAPTURE_NO_ROCE));
    scene_free(&s);
}

static void test_totals(void **state)
{
    (void)state;
    struct scene s = scene_new(NULL);
    s.check_icrc = true;
    scene_talk(&s, 1, 3);
    scene_tcp(&s, 100);
    struct shot x = scene_send(4);
    x.cut = 10;
    scene_shot(&s, 100, x);
    x = scene_send(5);
    x.short_ip = true;
    scene_shot(&s, 100, x);
    scene_pause(&s, 100, 7, 3, 100);
    struct roce_capture_totals t;
    roce_observer_totals(s.obs, &t);
    /* SEND: 14 + 20 + 8 + 12 + 64 + 4 = 122; ACK: 62; TCP and PFC: 60 */
    assert_int_equal(t.packets, 10);
    assert_int_equal(t.bytes, 5 * 122 + 3 * 62 + 2 * 60);
    assert_int_equal(t.roce_packets, 8);
    assert_int_equal(t.rocev2, 8);
    assert_int_equal(t.pfc_packets, 1);
    assert_int_equal(t.malformed, 1);
    assert_int_equal(t.sliced, 1);
    assert_int_equal(t.icrc_ok, 6);
    assert_int_equal(t.icrc_bad + t.icrc_unchecked, 2);
    assert_int_equal(t.tcp, 1);
    /* the first SEND comes 15 us after the start */
    assert_int_equal(t.first_ts, SCENE_START + 15 * US);
    assert_int_equal(t.last_ts - t.first_ts, 2 * 20 * US + 5 * US + 400);
    roce_observer_finish(s.obs);
    text_is(scene_find(&s, ROCE_FINDING_CAPTURE_SLICED),
            "1 frame of 8 captured in part: their ICRC cannot be checked");
    text_is(scene_find(&s, ROCE_FINDING_MALFORMED),
            "1 frame whose lengths or values contradict each other");
    assert_int_equal(scene_find(&s, ROCE_FINDING_MALFORMED)->first_frame, 9);
    scene_free(&s);
}

static void many_qps(struct scene *s, uint32_t n, bool spread)
{
    for (uint32_t round = 0; round < 8; round++)
        for (uint32_t i = 0; i < n; i++) {
            struct shot x = scene_send(1000 * i + round);
            struct shot y = scene_ack(1000 * i + round, ACK_OK, round);
            x.qp += 0x100 * (i + 1);
            y.qp += 0x100 * (i + 1);
            x.sport = (uint16_t)(0xD000 + (spread ? i : 0));
            scene_shot(s, US, x);
            scene_shot(s, 5 * US, y);
        }
    scene_end(s, MS);
}

static void test_entropy(void **state)
{
    (void)state;
    struct scene s = scene_new(NULL);
    many_qps(&s, 8, false);
    uint32_t n;
    const struct roce_finding *f = roce_observer_findings(s.obs, &n);
    uint32_t found = 0;
    for (uint32_t i = 0; i < n; i++)
        found += f[i].kind == ROCE_FINDING_ENTROPY_LOW;
    assert_int_equal(found, 2); /* each direction has one port */
    assert_int_equal(scene_find(&s, ROCE_FINDING_ENTROPY_LOW)->severity, ROCE_SEVERITY_NOTE);
    assert_int_equal(scene_alarms(&s), 0);
    scene_free(&s);
    s = scene_new(NULL);
    many_qps(&s, 7, false);
    assert_null(scene_find(&s, ROCE_FINDING_ENTROPY_LOW));
    scene_free(&s);
    s = scene_new(NULL);
    many_qps(&s, 8, true);
    f = scene_find(&s, ROCE_FINDING_ENTROPY_LOW); /* the ACKs still share one */
    text_is(f, "8 QPs between two hosts share one UDP source port, 49152");
    assert_int_equal(f->src[15], 2);
    scene_free(&s);
}

static void test_senders(void **state)
{
    (void)state;
    struct scene s = scene_new(NULL);
    scene_talk(&s, 1, 5);
    struct shot x = scene_send(6);
    x.ecn = ROCE_ECN_ECT0;
    scene_shot(&s, US, x);
    scene_end(&s, MS);
    text_is(scene_find(&s, ROCE_FINDING_ECN_NOT_ECT), "5 data frames of 6 not capable of ECN");
    assert_null(scene_find(&s, ROCE_FINDING_MIGREQ_ZERO));
    x.psn = 7;
    x.no_migreq = true;
    scene_shot(&s, US, x);
    scene_end(&s, MS);
    text_is(scene_find(&s, ROCE_FINDING_MIGREQ_ZERO), "1 flow of 2 with MigReq 0");
    scene_free(&s);
    s = scene_new(NULL);
    x.no_migreq = false;
    scene_shot(&s, US, x);
    scene_end(&s, MS);
    assert_null(scene_find(&s, ROCE_FINDING_ECN_NOT_ECT));
    scene_free(&s);
}

/* ---- bounds ---- */

static void refused(struct scene *s, uint32_t qp)
{
    struct shot x = scene_send(qp * 4);
    struct shot y = scene_ack(qp * 4, NAK_ACCESS, 0);
    x.qp = qp;
    y.qp = qp;
    x.op = ROCE_OPCODE_RC_WRITE_ONLY;
    x.dma = 64;
    scene_shot(s, US, x);
    scene_shot(s, US, y);
}

/* 300 flows refused: the list names 64 of them and sums up the others, and nothing is lost. */
static void test_many_findings(void **state)
{
    (void)state;
    struct scene s = scene_new(NULL);
    for (uint32_t i = 0; i < 300; i++)
        refused(&s, 100 + i);
    scene_end(&s, MS);
    uint32_t n, named = 0;
    uint64_t summed = 0;
    const struct roce_finding *f = roce_observer_findings(s.obs, &n);
    for (uint32_t i = 0; i < n; i++) {
        if (i > 0)
            assert_true(roce_finding_compare(&f[i - 1], &f[i]) <= 0);
        if (f[i].kind != ROCE_FINDING_NAK_REMOTE_ACCESS)
            continue;
        if (f[i].more) {
            summed += f[i].count;
            assert_int_equal(f[i].flows, 236);
            text_is(&f[i], "236 further findings of this kind, 236 in all");
        } else {
            named++;
        }
    }
    assert_int_equal(named, 64);
    assert_int_equal(summed, 236);
    scene_free(&s);
}

/* The flow is gone, its finding stays and still says whom it is about. */
static void test_evicted(void **state)
{
    (void)state;
    const struct roce_observer_opts opts = {.max_flows = 16};
    struct scene s = scene_new(&opts);
    refused(&s, 0x4711);
    for (uint32_t i = 0; i < 100; i++) {
        struct shot x = scene_send(i);
        x.qp = 0x1000 + i;
        scene_shot(&s, US, x);
    }
    scene_end(&s, MS);
    const struct roce_finding *f = scene_find(&s, ROCE_FINDING_NAK_REMOTE_ACCESS);
    assert_non_null(f);
    assert_int_equal(f->flow, ROCE_FLOW_NONE);
    assert_true(f->has_flow);
    assert_int_equal(f->dest_qp, 0x4711);
    assert_int_equal(f->src[15], 1);
    assert_int_equal(f->dst[15], 2);
    assert_int_equal(f->first_frame, 2);
    struct roce_flow_stats stats;
    roce_flow_stats(roce_observer_flows(s.obs), &stats);
    assert_true(stats.flows <= 16);
    scene_free(&s);
}

/* A stream that opens a QP with every frame, each refused: bounded, and the counts add up. */
static void test_flood(void **state)
{
    (void)state;
    const struct roce_observer_opts opts = {.max_flows = 60000};
    struct scene s = scene_new(&opts);
    for (uint32_t i = 0; i < 25000; i++)
        refused(&s, 100 + i);
    scene_end(&s, MS);
    uint32_t n;
    uint64_t count = 0;
    const struct roce_finding *f = roce_observer_findings(s.obs, &n);
    for (uint32_t i = 0; i < n; i++)
        if (f[i].kind == ROCE_FINDING_NAK_REMOTE_ACCESS)
            count += f[i].count;
    assert_int_equal(count, 25000);
    assert_true(n < 200);
    scene_free(&s);
}

static uint32_t events;
static void on_event(void *ctx, const struct roce_event *event)
{
    (void)ctx;
    assert_int_equal(event->kind, ROCE_EVENT_FLOW_NEW);
    events++;
}

/* The caller gets the events that it asked for, and no others. */
static void test_user_events(void **state)
{
    (void)state;
    const struct roce_observer_opts opts = {
        .ops = {.event = on_event, .mask = 1U << ROCE_EVENT_FLOW_NEW}};
    struct scene s = scene_new(&opts);
    events = 0;
    many_qps(&s, 3, false);
    refused(&s, 3);
    assert_int_equal(events, 8);
    scene_free(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_manual),        cmocka_unit_test(test_names),
        cmocka_unit_test(test_sentences),     cmocka_unit_test(test_units),
        cmocka_unit_test(test_size_0),        cmocka_unit_test(test_order),
        cmocka_unit_test(test_no_roce),       cmocka_unit_test(test_totals),
        cmocka_unit_test(test_entropy),       cmocka_unit_test(test_senders),
        cmocka_unit_test(test_many_findings), cmocka_unit_test(test_evicted),
        cmocka_unit_test(test_flood),         cmocka_unit_test(test_user_events),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
