/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Captures of soft-RoCE (Linux rxe, two guests) against what was noted when they were made: packets
 * by kind, repeated requests, NAKs, QPs, the guests' own counters. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <roce/capture.h>
#include <roce/flow.h>

struct sums {
    uint64_t packets, payload, requests, dup, fill, gap_psns, acks, naks[ROCE_NAK_MAX + 1], rnr,
        icrc_ok;
    uint64_t cause[ROCE_CAUSE_COUNT], loss[ROCE_LOST_COUNT];
    uint32_t flows, connections, by_cm, conflicts;
    uint64_t started, completed;
};

static void run(const char *name, struct sums *s)
{
    char path[512], text[ROCE_ERRTEXT_LEN];
    int err;
    snprintf(path, sizeof path, SOURCE_DIR "/pcaps/%s.pcap", name);
    struct roce_reader *reader = roce_reader_open(path, NULL, &err, text);
    if (reader == NULL)
        fail_msg("%s: %s", path, text);
    const struct roce_flow_opts opts = {.max_flows = 1000};
    struct roce_flow_table *t = roce_flow_table_new(&opts);
    assert_non_null(t);
    struct roce_frame frames[32];
    int n;
    while ((n = roce_reader_next(reader, frames, 32)) > 0)
        for (int i = 0; i < n; i++) {
            struct roce_packet p;
            struct roce_icrc icrc;
            struct roce_verdict v;
            roce_packet_decode(&frames[i], NULL, &p);
            if (!roce_packet_is_roce(&p))
                continue;
            roce_icrc_check(&frames[i], &p, &icrc);
            roce_flow_update(t, &frames[i], &p, &icrc, &v);
        }
    roce_reader_del(reader);
    roce_flow_finish(t);
    *s = (struct sums){0};
    for (uint32_t id = roce_flow_first(t); id != ROCE_FLOW_NONE; id = roce_flow_next(t, id)) {
        struct roce_flow_counters c;
        struct roce_flow_info info;
        roce_flow_counters(t, id, &c);
        roce_flow_info(t, id, &info);
        s->flows++;
        s->packets += c.packets;
        s->payload += c.payload_bytes;
        s->dup += c.retransmitted_dup;
        s->fill += c.retransmitted_fill;
        s->gap_psns += c.gap_psns;
        s->acks += c.acks;
        s->rnr += c.rnr_naks;
        s->icrc_ok += c.icrc_ok;
        s->conflicts += info.pairing_conflicts;
        for (int i = 0; i <= ROCE_NAK_MAX; i++)
            s->naks[i] += c.naks[i];
        for (int i = 0; i < ROCE_CAUSE_COUNT; i++)
            s->cause[i] += c.retransmission_cause[i];
        for (int i = 0; i < ROCE_LOST_COUNT; i++)
            s->loss[i] += c.loss[i];
        if (info.service != ROCE_SERVICE_RC)
            continue;
        s->requests += c.requests;
        for (int op = 0; op < ROCE_MESSAGE_OPS; op++) {
            s->started += c.messages[op].started;
            s->completed += c.messages[op].completed;
        }
    }
    struct roce_connection c = {.id = ROCE_FLOW_NONE};
    while (roce_connection_next(t, c.id, &c)) {
        s->connections++;
        s->by_cm += c.pairing == ROCE_PAIRING_CM;
    }
    roce_flow_table_del(t);
}

static char *read_truth(const char *name)
{
    char path[512];
    snprintf(path, sizeof path, SOURCE_DIR "/pcaps/%s.json", name);
    FILE *f = fopen(path, "rb");
    if (f == NULL)
        fail_msg("%s is missing", path);
    char *text = calloc(1, 65536);
    assert_non_null(text);
    assert_true(fread(text, 1, 65535, f) > 0);
    fclose(f);
    return text;
}

/* The number behind |key| in the truth file's "check" part, or |none|. */
static uint64_t truth(const char *json, const char *key, uint64_t none)
{
    const char *check = strstr(json, "\"check\"");
    assert_non_null(check);
    const char *at = strstr(check, key);
    if (at == NULL)
        return none;
    at = strchr(at + strlen(key), ':');
    assert_non_null(at);
    return strtoull(at + 1, NULL, 10);
}

static const char *const names[] = {
    "cm_mckey",
    "cm_rping",
    "cm_rping_rej_noserver",
    "cm_udaddy",
    "dup_egress",
    "ecn_ce",
    "loss5_egress_read",
    "loss5_egress_send",
    "loss_acks_nth5",
    "loss_atomic_resp_nth7",
    "nvme_rdma",
    "pf_atomic_cas",
    "pf_write_bw_rdmacm",
    "rc_all_ops",
    "rc_all_ops_mtu4096",
    "rc_nak_badrkey_read",
    "rc_nak_badrkey_write",
    "rc_nak_noaccess_write",
    "rc_nak_toolong_send",
    "rc_pingpong_1B",
    "rc_pingpong_ipv6",
    "rc_pingpong_mtu256",
    "rc_pipelined",
    "rc_rnr_exceeded",
    "rc_rnr_then_ok",
    "rc_send_with_inv",
    "rc_timeout_exceeded",
    "rc_tos_ect0",
    "reorder_egress",
    "uc_ops",
    "ud_ops",
    "ud_pingpong",
};

static void test_counts(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        struct sums s;
        print_message("  %s\n", names[i]);
        run(names[i], &s);
        char *json = read_truth(names[i]);
        assert_int_equal(s.packets, truth(json, "\"roce\"", 0));
        assert_int_equal(s.icrc_ok, truth(json, "\"icrc_ok\"", 0));
        assert_int_equal(s.dup, truth(json, "\"req_retx\"", 0));
        assert_int_equal(s.naks[0], truth(json, "NAK code=0", 0));
        assert_int_equal(s.naks[1], truth(json, "NAK code=1", 0));
        assert_int_equal(s.naks[2], truth(json, "NAK code=2", 0));
        assert_int_equal(s.rnr, truth(json, "RNR timer", 0));
        assert_int_equal(s.conflicts, 0);
        free(json);
    }
}

struct story {
    const char *name;
    uint32_t connections, by_cm;
    uint64_t nak, rnr, timeout, implied, episodes; /* UINT64_MAX: not looked at */
    uint64_t up, down;                             /* frames lost */
};
#define ANY UINT64_MAX

/* From the way the captures were made: netem of the sending guest loses before the capture point,
 * the receiving guest's packet filter behind it. */
static const struct story stories[] = {
    {"cm_rping", 1, 1, 0, 0, 0, 0, 0, 0, 0},
    {"nvme_rdma", 3, 3, 0, 0, 0, 0, 0, 0, 0},
    {"pf_write_bw_rdmacm", 2, 2, 0, 0, 0, 0, 0, 0, 0},
    {"rc_all_ops", 1, 0, 0, 0, 0, 0, 0, 0, 0},
    {"rc_pipelined", 1, 0, 0, 0, 0, 0, 0, 0, 0},
    {"rc_nak_badrkey_read", 1, 0, 0, 0, 0, 0, 0, 0, 0},
    {"loss5_egress_send", 1, 0, 10, 0, 0, 0, 10, ANY, 0},
    {"loss5_egress_read", 1, 0, 3, 0, 0, 0, 3, 4, 0},
    {"loss_acks_nth5", 1, 0, 0, 0, 1, 0, 1, 0, 1},
    {"loss_atomic_resp_nth7", 1, 0, 0, 0, 0, 8, 8, 0, 8},
    {"reorder_egress", 1, 0, ANY, 0, ANY, 0, ANY, 0, 0}, /* netem: dropped 0 */
    {"rc_rnr_then_ok", 1, 0, 0, 44, 0, 0, 44, 0, ANY},
    {"rc_rnr_exceeded", 1, 0, 0, 3, 0, 0, 3, 0, ANY},
    {"rc_timeout_exceeded", 1, 0, 1, 0, 2, 0, 3, 0, ANY},
};

static void equal_or_any(uint64_t a, uint64_t b)
{
    if (b != ANY)
        assert_int_equal(a, b);
}

static void test_stories(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof stories / sizeof stories[0]; i++) {
        const struct story *x = &stories[i];
        struct sums s;
        print_message("  %s\n", x->name);
        run(x->name, &s);
        assert_int_equal(s.connections, x->connections);
        assert_int_equal(s.by_cm, x->by_cm);
        uint64_t episodes = 0;
        for (int k = 0; k < ROCE_CAUSE_COUNT; k++)
            episodes += s.cause[k];
        equal_or_any(s.cause[ROCE_CAUSE_NAK], x->nak);
        equal_or_any(s.cause[ROCE_CAUSE_RNR], x->rnr);
        equal_or_any(s.cause[ROCE_CAUSE_TIMEOUT], x->timeout);
        equal_or_any(s.cause[ROCE_CAUSE_IMPLIED_NAK], x->implied);
        equal_or_any(episodes, x->episodes);
        equal_or_any(s.loss[ROCE_LOST_UPSTREAM], x->up);
        equal_or_any(s.loss[ROCE_LOST_DOWNSTREAM], x->down);
        assert_int_equal(s.loss[ROCE_LOST_CAPTURE], 0);
    }
}

/* All work requests of these captures succeeded. */
static void test_messages_complete(void **state)
{
    (void)state;
    static const char *const whole[] = {
        "rc_all_ops",   "rc_pipelined",      "rc_all_ops_mtu4096",
        "nvme_rdma",    "loss5_egress_send", "loss5_egress_read",
        "cm_rping",     "rc_rnr_then_ok",    "loss_atomic_resp_nth7",
        "pf_atomic_cas"};
    for (size_t i = 0; i < sizeof whole / sizeof whole[0]; i++) {
        struct sums s;
        print_message("  %s\n", whole[i]);
        run(whole[i], &s);
        assert_true(s.started > 0);
        assert_int_equal(s.completed, s.started);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_counts),
        cmocka_unit_test(test_stories),
        cmocka_unit_test(test_messages_complete),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
