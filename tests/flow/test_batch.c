/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Frames fed by the batch leave the same state as frames fed one by one: counters, latencies,
 * events, totals and findings, of each capture in pcaps/ and of copies with frames lost, repeated
 * and moved. */
#include "tests/cmocka_all.h"

#include <roce/capture.h>
#include <roce/observer.h>

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FRAMES_MAX 8192

struct events {
    uint64_t n, sum;
};

/* Order counts: each event is mixed into what came before. */
static void on_event(void *ctx, const struct roce_event *e)
{
    struct events *events = ctx;
    const uint64_t part[] = {e->kind,
                             e->cause,
                             e->location,
                             e->op,
                             e->code,
                             e->flow,
                             e->peer,
                             e->ts,
                             e->frame,
                             e->about_frame,
                             e->evidence[0],
                             e->evidence[1],
                             e->evidence[2],
                             e->evidence[3],
                             e->psn,
                             e->count,
                             e->message,
                             e->bytes,
                             (uint64_t)e->duration};
    for (size_t i = 0; i < sizeof part / sizeof part[0]; i++)
        events->sum = (events->sum ^ part[i]) * UINT64_C(0x100000001B3);
    events->n++;
}

struct input {
    struct roce_frame frame[FRAMES_MAX];
    struct roce_packet packet[FRAMES_MAX];
    struct roce_icrc icrc[FRAMES_MAX];
    int n;
};

static struct input input; /* too large for the stack */

enum way { SINGLY, BATCH };

static uint32_t next_random(uint32_t *state)
{
    *state = *state * 1664525 + 1013904223;
    return *state >> 8;
}

/* |seed| 0: the frames as they are. */
static void prepare(struct roce_frame *frame, int n, uint32_t seed)
{
    uint32_t state = seed;
    input.n = 0;
    for (int i = 0; i < n && input.n < FRAMES_MAX; i++) {
        const uint32_t roll = seed == 0 ? 100 : next_random(&state) % 100;
        if (roll < 3)
            continue;
        int from = i;
        if (roll < 6 && i > 8)
            from = i - 1 - (int)(next_random(&state) % 8);
        input.frame[input.n] = frame[from];
        input.frame[input.n].number = (uint64_t)input.n + 1;
        input.frame[input.n].ts = frame[i].ts;
        struct roce_packet *pkt = &input.packet[input.n];
        roce_packet_decode(&input.frame[input.n], NULL, pkt);
        roce_icrc_check(&input.frame[input.n], pkt, &input.icrc[input.n]);
        input.n++;
    }
}

static struct roce_observer *observe(enum way way, bool icrc, struct events *events, uint32_t mask)
{
    *events = (struct events){0};
    const struct roce_observer_opts opts = {
        .max_flows = 64, .ops = {.ctx = events, .event = on_event, .mask = mask}};
    struct roce_observer *obs = roce_observer_new(&opts);
    struct roce_verdict v;
    assert_non_null(obs);
    if (way == BATCH) {
        /* Any cut will do; an odd one meets all remainders. */
        for (int at = 0; at < input.n; at += 77) {
            const int here = input.n - at < 77 ? input.n - at : 77;
            struct roce_digest digest[77];
            struct roce_packet packet[77];
            struct roce_icrc judged[77];
            struct roce_batch batch = {.n = here,
                                       .frame = &input.frame[at],
                                       .packet = &input.packet[at],
                                       .icrc = icrc ? &input.icrc[at] : NULL};
            if (at % 2 == 0) {
                memset(packet, 0xEE, sizeof packet); /* what is left out is not read */
                memset(judged, 0xEE, sizeof judged);
                for (int i = 0; i < here; i++)
                    (void)roce_flow_digest(roce_observer_flows(obs), &batch.frame[i], NULL, icrc,
                                           &packet[i], &judged[i], &digest[i]);
                batch.digest = digest;
                batch.packet = packet;
                batch.icrc = icrc ? judged : NULL;
            }
            roce_observer_update_batch(obs, &batch);
        }
    } else {
        for (int i = 0; i < input.n; i++) {
            roce_observer_update(obs, &input.frame[i], &input.packet[i],
                                 icrc ? &input.icrc[i] : NULL, &v);
        }
    }
    roce_observer_finish(obs);
    return obs;
}

static void compare_flows(const struct roce_flow_table *a, const struct roce_flow_table *b)
{
    for (uint32_t id = roce_flow_first(a); id != ROCE_FLOW_NONE; id = roce_flow_next(a, id)) {
        struct roce_flow_counters ca, cb;
        struct roce_flow_info ia, ib;
        memset(&ca, 0, sizeof ca);
        memset(&cb, 0, sizeof cb);
        memset(&ia, 0, sizeof ia);
        memset(&ib, 0, sizeof ib);
        assert_true(roce_flow_counters(a, id, &ca) && roce_flow_counters(b, id, &cb));
        assert_memory_equal(ca.opcodes, cb.opcodes, sizeof ca.opcodes);
        assert_int_equal(ca.packets, cb.packets);
        assert_int_equal(ca.bytes, cb.bytes);
        assert_int_equal(ca.payload_bytes, cb.payload_bytes);
        assert_int_equal(ca.requests, cb.requests);
        assert_int_equal(ca.responses, cb.responses);
        assert_int_equal(ca.acks, cb.acks);
        assert_int_equal(ca.ect, cb.ect);
        assert_int_equal(ca.ce, cb.ce);
        assert_int_equal(ca.not_ect, cb.not_ect);
        assert_int_equal(ca.icrc_ok, cb.icrc_ok);
        assert_int_equal(ca.icrc_bad, cb.icrc_bad);
        assert_int_equal(ca.next_psn, cb.next_psn);
        assert_int_equal(ca.gap_psns, cb.gap_psns);
        assert_int_equal(ca.retransmitted_dup, cb.retransmitted_dup);
        assert_int_equal(ca.retransmitted_fill, cb.retransmitted_fill);
        assert_int_equal(ca.mirror_duplicates, cb.mirror_duplicates);
        assert_int_equal(ca.episodes, cb.episodes);
        assert_memory_equal(ca.messages, cb.messages, sizeof ca.messages);
        assert_memory_equal(ca.loss, cb.loss, sizeof ca.loss);
        assert_true(roce_flow_info(a, id, &ia) && roce_flow_info(b, id, &ib));
        assert_int_equal(ia.peer, ib.peer);
        assert_int_equal(ia.pairing_evidence, ib.pairing_evidence);
        assert_int_equal(ia.pairing_conflicts, ib.pairing_conflicts);
        assert_int_equal(ia.path_mtu, ib.path_mtu);
        assert_int_equal(ia.last_frame, ib.last_frame);
        assert_int_equal(ia.ttl, ib.ttl);
        for (int which = ROCE_LATENCY_MESSAGE; which <= ROCE_LATENCY_ACK; which++) {
            struct roce_hist_summary ha = {0}, hb = {0};
            assert_true(roce_flow_latency(a, id, (enum roce_latency)which, &ha) &&
                        roce_flow_latency(b, id, (enum roce_latency)which, &hb));
            assert_memory_equal(&ha, &hb, sizeof ha);
        }
    }
}

static void compare(const char *name, bool icrc, uint32_t mask)
{
    struct events ea, eb;
    struct roce_observer *a = observe(SINGLY, icrc, &ea, mask);
    struct roce_observer *b = observe(BATCH, icrc, &eb, mask);
    struct roce_capture_totals ta, tb;
    struct roce_flow_stats sa, sb;
    uint32_t na, nb;
    if (ea.n != eb.n || ea.sum != eb.sum)
        fail_msg("%s: other events", name);
    roce_flow_stats(roce_observer_flows(a), &sa);
    roce_flow_stats(roce_observer_flows(b), &sb);
    assert_int_equal(sa.flows, sb.flows);
    assert_int_equal(sa.evicted, sb.evicted);
    assert_int_equal(sa.connections, sb.connections);
    assert_int_equal(sa.forgotten, sb.forgotten);
    compare_flows(roce_observer_flows(a), roce_observer_flows(b));
    roce_observer_totals(a, &ta);
    roce_observer_totals(b, &tb);
    assert_int_equal(ta.packets, tb.packets);
    assert_int_equal(ta.bytes, tb.bytes);
    assert_int_equal(ta.rocev2, tb.rocev2);
    assert_int_equal(ta.icrc_ok, tb.icrc_ok);
    assert_int_equal(ta.icrc_unchecked, tb.icrc_unchecked);
    assert_int_equal(ta.cnps, tb.cnps);
    const struct roce_finding *fa = roce_observer_findings(a, &na);
    const struct roce_finding *fb = roce_observer_findings(b, &nb);
    assert_int_equal(na, nb);
    for (uint32_t i = 0; i < na; i++) {
        char text[2][ROCE_FINDING_TEXT];
        roce_finding_text(&fa[i], text[0], sizeof text[0]);
        roce_finding_text(&fb[i], text[1], sizeof text[1]);
        assert_string_equal(text[0], text[1]);
        assert_int_equal(fa[i].first_frame, fb[i].first_frame);
        assert_int_equal(fa[i].count, fb[i].count);
    }
    roce_observer_del(a);
    roce_observer_del(b);
}

static void capture(const char *name)
{
    static struct roce_frame frame[FRAMES_MAX];
    char path[512], text[ROCE_ERRTEXT_LEN];
    int err, n = 0, got;
    snprintf(path, sizeof path, "%s/pcaps/%s", SOURCE_DIR, name);
    const struct roce_reader_opts hold = {.hold = true};
    struct roce_reader *reader = roce_reader_open(path, &hold, &err, text);
    if (reader == NULL)
        fail_msg("%s: %s", name, text);
    assert_true(roce_reader_holds(reader));
    while (n < FRAMES_MAX && (got = roce_reader_next(reader, frame + n, FRAMES_MAX - n)) > 0)
        n += got;
    assert_true(n > 0);
    for (uint32_t seed = 0; seed < 6; seed++) {
        prepare(frame, n, seed);
        const uint32_t some = UINT32_C(1) << ROCE_EVENT_GAP;
        compare(name, true, 0); /* every event is wanted */
        compare(name, false, some);
        compare(name, true, some);
    }
    roce_reader_del(reader);
}

static void test_ways_are_the_same(void **state)
{
    (void)state;
    DIR *dir = opendir(SOURCE_DIR "/pcaps");
    int n = 0;
    assert_non_null(dir);
    for (const struct dirent *e = readdir(dir); e != NULL; e = readdir(dir))
        if (strstr(e->d_name, ".pcap") != NULL) {
            capture(e->d_name);
            n++;
        }
    closedir(dir);
    assert_true(n > 30);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_ways_are_the_same)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
