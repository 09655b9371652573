/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What replaying frames came to. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/json.h"
#include "common/msg.h"
#include "common/standard.h"
#include "common/units.h"
#include "rocereplay/raw.h"

struct rates {
    double seconds, pps, bps;
};

static struct rates rates_of(const struct raw_counts *c, roce_tstamp end)
{
    struct rates r = {.seconds = (double)(end - c->start) / 1e9};
    if (r.seconds > 0) {
        r.pps = (double)c->frames / r.seconds;
        r.bps = (double)c->bytes * 8 / r.seconds;
    }
    return r;
}

void raw_stats(const struct raw *raw, roce_tstamp now)
{
    const struct raw_counts *c = &raw->counts;
    const struct rates r = rates_of(c, now);
    char rate[UNITS_TEXT_MAX];
    *units_rate(rate, r.bps) = '\0';
    msg_print("%.1f s: %" PRIu64 " frames, %.0f frames/s, %s", r.seconds, c->frames, r.pps, rate);
}

static const char *time_text(uint64_t ns, char text[UNITS_TEXT_MAX])
{
    *units_time(text, ns) = '\0';
    return text;
}

static void print_left_out(const struct raw_counts *c)
{
    const struct {
        uint64_t n;
        const char *why;
    } reasons[] = {
        {c->sliced, "sliced: not all bytes were captured, so no checksum can be made"},
        {c->unrepairable, "cannot be given a right ICRC: fragments, IP options, unknown headers"},
        {c->too_long, "longer than the interface's MTU"},
        {c->other_link, "of another link type"},
        {c->not_roce, "no RoCE"},
    };
    for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++)
        if (reasons[i].n != 0)
            (void)printf("left out: %" PRIu64 " %s\n", reasons[i].n, reasons[i].why);
}

static void print_text(const struct raw *raw)
{
    const struct raw_counts *c = &raw->counts;
    const struct rates r = rates_of(c, c->end);
    char size[UNITS_TEXT_MAX], rate[UNITS_TEXT_MAX], t[4][UNITS_TEXT_MAX];
    *units_bytes(size, c->bytes) = '\0';
    *units_rate(rate, r.bps) = '\0';
    (void)printf("%" PRIu64 " frames sent (%" PRIu64 " RoCE), %s, %" PRIu64 " pass%s, %s\n",
                 c->frames, c->roce, size, c->passes, c->passes == 1 ? "" : "es", raw->transmit);
    (void)printf("%.6f s, %.0f frames/s, %s\n", r.seconds, r.pps, rate);
    (void)printf("changed: %" PRIu64 " frames", c->changed);
    if (c->icrc_repaired != 0)
        (void)printf(", %" PRIu64 " ICRCs repaired", c->icrc_repaired);
    if (c->icrc_kept_bad != 0)
        (void)printf(", %" PRIu64 " ICRCs left wrong", c->icrc_kept_bad);
    (void)printf("\n");
    print_left_out(c);
    if (raw->live && raw->schedule.late.count != 0) {
        struct roce_hist_summary s;
        roce_hist_summary(&raw->schedule.late, &s);
        (void)printf("lateness: p50 %s, p90 %s, p99 %s, max %s\n", time_text(s.p50, t[0]),
                     time_text(s.p90, t[1]), time_text(s.p99, t[2]), time_text(s.max, t[3]));
    }
    if (raw->fault == NULL)
        return;
    (void)printf("faults:");
    for (int i = 0; i < FAULT_KINDS; i++)
        (void)printf("%s %s %" PRIu64, i > 0 ? "," : "", fault_name((enum fault_kind)i),
                     fault_count(raw->fault, (enum fault_kind)i));
    (void)printf("\n");
}

static void put_lateness(struct json *json, const struct raw *raw)
{
    struct roce_hist_summary s;
    roce_hist_summary(&raw->schedule.late, &s);
    if (!raw->live || s.count == 0) {
        json_null(json, "lateness_ns");
        return;
    }
    json_open_object(json, "lateness_ns");
    json_uint(json, "count", s.count);
    json_uint(json, "p50", s.p50);
    json_uint(json, "p90", s.p90);
    json_uint(json, "p99", s.p99);
    json_uint(json, "max", s.max);
    json_close_object(json);
}

static int print_json(const struct raw *raw)
{
    const struct raw_counts *c = &raw->counts;
    const struct rates r = rates_of(c, c->end);
    struct out out;
    struct json json;
    if (out_init(&out, STDOUT_FILENO) != 0) {
        msg_print("out of memory");
        return -1;
    }
    json_init(&json, &out);
    json_open_object(&json, NULL);
    json_str(&json, "schema", "rocereplay-raw/1");
    json_str(&json, "transmit", raw->transmit);
    json_uint(&json, "frames", c->frames);
    json_uint(&json, "roce_frames", c->roce);
    json_uint(&json, "bytes", c->bytes);
    json_uint(&json, "passes", c->passes);
    json_uint(&json, "changed", c->changed);
    json_uint(&json, "icrc_repaired", c->icrc_repaired);
    json_uint(&json, "icrc_kept_bad", c->icrc_kept_bad);
    json_open_object(&json, "left_out");
    json_uint(&json, "sliced", c->sliced);
    json_uint(&json, "unrepairable", c->unrepairable);
    json_uint(&json, "too_long", c->too_long);
    json_uint(&json, "other_link", c->other_link);
    json_uint(&json, "not_roce", c->not_roce);
    json_close_object(&json);
    json_real(&json, "seconds", r.seconds);
    json_real(&json, "frames_per_second", r.pps);
    json_real(&json, "bps", r.bps);
    put_lateness(&json, raw);
    json_open_object(&json, "faults");
    for (int i = 0; i < FAULT_KINDS; i++)
        json_uint(&json, fault_name((enum fault_kind)i),
                  raw->fault != NULL ? fault_count(raw->fault, (enum fault_kind)i) : 0);
    json_close_object(&json);
    json_close_object(&json);
    json_newline(&json);
    const int rc = out_end(&out);
    if (rc == 0)
        return 0;
    msg_print("standard output: %s", strerror(rc));
    return -1;
}

int raw_report(const struct raw *raw)
{
    if (raw->opts->base.json)
        return print_json(raw);
    if (!raw->opts->base.quiet)
        print_text(raw);
    return standard_end(0) == 0 ? 0 : -1;
}
