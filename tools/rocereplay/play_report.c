/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Recorded against reproduced. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/json.h"
#include "common/msg.h"
#include "common/standard.h"
#include "common/units.h"
#include "rocereplay/play_replay.h"

static void row(const char *name, uint64_t recorded, uint64_t reproduced)
{
    (void)printf("  %-18s %14" PRIu64 " %14" PRIu64 "\n", name, recorded, reproduced);
}

static void row_time(const char *name, uint64_t n, uint64_t recorded, uint64_t m,
                     uint64_t reproduced)
{
    char a[UNITS_TEXT_MAX] = "n/a", b[UNITS_TEXT_MAX] = "n/a";
    if (n != 0)
        *units_time(a, recorded) = '\0';
    if (m != 0)
        *units_time(b, reproduced) = '\0';
    (void)printf("  %-18s %14s %14s\n", name, a, b);
}

static void print_latency(const struct replay *r)
{
    struct roce_hist_summary was, is;
    roce_hist_summary(&r->messages->totals.latency, &was);
    roce_hist_summary(&r->result.latency, &is);
    row_time("latency p50", was.count, was.p50, is.count, is.p50);
    row_time("latency p90", was.count, was.p90, is.count, is.p90);
    row_time("latency p99", was.count, was.p99, is.count, is.p99);
    row_time("latency max", was.count, was.max, is.count, is.max);
}

static void print_notes(const struct replay *r, const struct replay_report *report)
{
    const struct messages_totals *t = &r->messages->totals;
    for (int why = TARGET_CAN + 1; why < TARGET_REASONS; why++)
        if (report->not_carried[why] != 0)
            (void)printf("left out: %" PRIu64 " messages: %s %s\n", report->not_carried[why],
                         report->kind->name, target_no_text((enum target_no)why));
    if (t->incomplete != 0)
        (void)printf("%" PRIu64 " messages end with what was captured of them\n", t->incomplete);
    if (t->generated != 0)
        (void)printf("%" PRIu64 " messages carry data made from the seed: theirs is not captured "
                     "whole\n",
                     t->generated);
    if (t->orphans != 0)
        (void)printf("left out: %" PRIu64 " packets of messages whose beginning is not captured\n",
                     t->orphans);
    if (t->unfit != 0)
        (void)printf("left out: %" PRIu64 " requests of services or sizes that cannot be sent\n",
                     t->unfit);
    if (report->received != NULL)
        (void)printf("the peer received %" PRIu64 " messages into its receives, %" PRIu64
                     " bytes\n",
                     report->received->messages, report->received->bytes);
}

static void print_text(const struct replay *r, const struct replay_report *report,
                       const struct eng_qp_stats *stats)
{
    const struct messages_totals *t = &r->messages->totals;
    const struct replay_result *result = &r->result;
    (void)printf("%" PRIu32 " QPs, %s, %.6f s\n", r->n, report->peer,
                 (double)(result->end - result->start) / 1e9);
    (void)printf("  %-18s %14s %14s\n", "", "recorded", "reproduced");
    row("messages", t->messages, result->messages);
    for (int op = 0; op < ENG_WR_OPS; op++)
        if (t->by_op[op] != 0 || result->by_op[op] != 0) {
            char name[32];
            (void)snprintf(name, sizeof(name), "  %s", messages_op_name((uint8_t)op));
            row(name, t->by_op[op], result->by_op[op]);
        }
    row("bytes", t->bytes, result->bytes);
    print_latency(r);
    row("retransmitted", t->retransmitted, stats->retransmitted);
    row("NAKs", t->naks, stats->naks_received);
    row("RNR NAKs", t->rnr_naks, stats->rnr_received);
    row("CNPs", t->cnps, stats->cnp_received);
    if (!r->opts->base.quiet)
        print_notes(r, report);
    if (r->st->fault == NULL)
        return;
    (void)printf("faults:");
    for (int i = 0; i < FAULT_KINDS; i++)
        (void)printf("%s %s %" PRIu64, i > 0 ? "," : "", fault_name((enum fault_kind)i),
                     fault_count(r->st->fault, (enum fault_kind)i));
    (void)printf("\n");
}

struct side {
    uint64_t messages, bytes, retransmitted, naks, rnr_naks, cnps;
    const uint64_t *by_op;
    const struct roce_hist *latency;
};

static void put_side(struct json *json, const char *key, const struct side *side)
{
    struct roce_hist_summary s;
    roce_hist_summary(side->latency, &s);
    json_open_object(json, key);
    json_uint(json, "messages", side->messages);
    json_uint(json, "bytes", side->bytes);
    json_open_object(json, "operations");
    for (int op = 0; op < ENG_WR_OPS; op++)
        if (side->by_op[op] != 0)
            json_uint(json, messages_op_name((uint8_t)op), side->by_op[op]);
    json_close_object(json);
    json_open_object(json, "latency_us");
    json_uint(json, "count", s.count);
    json_real(json, "p50", (double)s.p50 / 1000);
    json_real(json, "p90", (double)s.p90 / 1000);
    json_real(json, "p99", (double)s.p99 / 1000);
    json_real(json, "max", (double)s.max / 1000);
    json_close_object(json);
    json_uint(json, "retransmitted", side->retransmitted);
    json_uint(json, "naks", side->naks);
    json_uint(json, "rnr_naks", side->rnr_naks);
    json_uint(json, "cnps", side->cnps);
    json_close_object(json);
}

static uint64_t not_carried(const struct replay_report *report)
{
    uint64_t n = 0;
    for (int why = TARGET_CAN + 1; why < TARGET_REASONS; why++)
        n += report->not_carried[why];
    return n;
}

static void put_all(struct json *json, const struct replay *r, const struct replay_report *report,
                    const struct eng_qp_stats *stats)
{
    const struct messages_totals *t = &r->messages->totals;
    const struct side was = {t->messages, t->bytes, t->retransmitted, t->naks,
                             t->rnr_naks, t->cnps,  t->by_op,         &t->latency};
    const struct side is = {r->result.messages,   r->result.bytes,     stats->retransmitted,
                            stats->naks_received, stats->rnr_received, stats->cnp_received,
                            r->result.by_op,      &r->result.latency};
    json_str(json, "schema", "rocereplay-play/1");
    json_str(json, "peer", report->peer);
    json_uint(json, "qps", r->n);
    json_uint(json, "passes", r->opts->loops);
    json_real(json, "seconds", (double)(r->result.end - r->result.start) / 1e9);
    put_side(json, "recorded", &was);
    put_side(json, "reproduced", &is);
    json_uint(json, "failed", r->result.failed);
    json_str(json, "status", eng_wc_status_text((enum eng_wc_status)r->result.status));
    json_uint(json, "incomplete", t->incomplete);
    json_uint(json, "generated", t->generated);
    json_uint(json, "orphans", t->orphans);
    json_uint(json, "unfit", t->unfit);
    json_uint(json, "not_carried", not_carried(report));
    if (report->received != NULL) {
        json_open_object(json, "peer_report");
        json_uint(json, "messages", report->received->messages);
        json_uint(json, "bytes", report->received->bytes);
        json_close_object(json);
    }
    json_open_object(json, "faults");
    for (int i = 0; i < FAULT_KINDS; i++)
        json_uint(json, fault_name((enum fault_kind)i),
                  r->st->fault != NULL ? fault_count(r->st->fault, (enum fault_kind)i) : 0);
    json_close_object(json);
}

int replay_report(const struct replay *r, const struct replay_report *report,
                  const struct eng_qp_stats *stats)
{
    struct out out;
    struct json json;
    if (!r->opts->base.json) {
        print_text(r, report, stats);
        return standard_end(0) == 0 ? 0 : -1;
    }
    if (out_init(&out, STDOUT_FILENO) != 0) {
        msg_print("out of memory");
        return -1;
    }
    json_init(&json, &out);
    json_open_object(&json, NULL);
    put_all(&json, r, report, stats);
    json_close_object(&json);
    json_newline(&json);
    const int rc = out_end(&out);
    if (rc == 0)
        return 0;
    msg_print("standard output: %s", strerror(rc));
    return -1;
}
