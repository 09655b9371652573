/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The report for people, most important first. */
#include "rocestat/report.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <roce/cm.h>

#include "common/colour.h"
#include "common/units.h"
#include "rocestat/text.h"
#include "rocestat/text_tables.h"

static uint64_t rows(const struct report *report)
{
    return report->opts->top != 0 ? report->opts->top : TOP_TEXT;
}

static void heading(const struct report *report, const char *title)
{
    text_print(report->out, "\n%s%s%s\n", report->colour ? COLOUR_BOLD : "", title,
               report->colour ? COLOUR_OFF : "");
}

static void verdict(const struct report *report)
{
    char text[1024];
    (void)report_verdict(report, text, sizeof(text));
    if (report->colour)
        out_str(report->out, COLOUR_BOLD);
    text_wrap(report->out, text, 0);
    if (report->colour)
        out_str(report->out, COLOUR_OFF);
}

static void capture(const struct report *report)
{
    const struct roce_capture_totals *t = &report->totals;
    char span[UNITS_TEXT_MAX], bytes[UNITS_TEXT_MAX], line[1024];
    *units_time(span, t->last_ts - t->first_ts) = '\0';
    *units_bytes(bytes, t->bytes) = '\0';
    int n = snprintf(line, sizeof(line), "%.300s: %llu packets, %s, %s; %llu RoCE",
                     report->capture.file, (unsigned long long)t->packets, bytes, span,
                     (unsigned long long)t->roce_packets);
    const struct {
        uint64_t n;
        const char *what;
    } parts[] = {
        {t->rocev1, "RoCEv1"},
        {t->encapsulated, "encapsulated"},
        {t->pfc_packets, "PFC"},
        {t->pause_packets, "PAUSE"},
        {t->malformed, "malformed"},
        {t->unknown, "unknown"},
        {t->truncated, "truncated"},
        {t->sliced, "sliced"},
        {t->arp + t->tcp + t->udp + t->icmp + t->ip + t->other, "others"},
    };
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
        if (parts[i].n > 0)
            n += snprintf(line + n, sizeof(line) - (size_t)n, ", %llu %s",
                          (unsigned long long)parts[i].n, parts[i].what);
    if (report->capture.has_dropped)
        (void)snprintf(line + n, sizeof(line) - (size_t)n, "; %llu dropped by the capturer",
                       (unsigned long long)report->capture.dropped);
    text_wrap(report->out, line, 0);
}

static const char *severity_colour(const struct report *report, uint8_t severity)
{
    if (!report->colour)
        return "";
    return severity == ROCE_SEVERITY_ERROR     ? COLOUR_RED
           : severity == ROCE_SEVERITY_WARNING ? COLOUR_YELLOW
                                               : COLOUR_CYAN;
}

static void finding(const struct report *report, const struct roce_finding *f)
{
    enum { INDENT = 9 };
    const struct roce_finding_info *info = roce_finding_info((enum roce_finding_kind)f->kind);
    char text[ROCE_FINDING_TEXT], line[512], a[TEXT_SHORT_MAX], b[TEXT_SHORT_MAX];
    text_print(report->out, "%s%-*s%s", severity_colour(report, f->severity), INDENT,
               roce_severity_name((enum roce_severity)f->severity),
               report->colour ? COLOUR_OFF : "");
    (void)roce_finding_text(f, text, sizeof(text));
    text_wrap(report->out, text, INDENT);
    int n = snprintf(line, sizeof(line), "[%s]", info->name);
    if (f->has_flow)
        n += snprintf(line + n, sizeof(line) - (size_t)n, " %s > %s QP 0x%x",
                      text_addr(a, f->src, f->ip_version), text_addr(b, f->dst, f->ip_version),
                      (unsigned)f->dest_qp);
    if (f->more)
        n += snprintf(line + n, sizeof(line) - (size_t)n, " %u flows more", (unsigned)f->flows);
    for (uint8_t i = 0; i < f->n_frames; i++)
        n += snprintf(line + n, sizeof(line) - (size_t)n, "%s%llu",
                      i > 0              ? ", "
                      : f->n_frames == 1 ? ", frame "
                                         : ", frames ",
                      (unsigned long long)f->frames[i]);
    text_print(report->out, "%*s", INDENT, "");
    text_wrap(report->out, line, INDENT);
    text_print(report->out, "%*s", INDENT, "");
    (void)snprintf(line, sizeof(line), "next: %s", info->hint);
    text_wrap(report->out, line, INDENT);
}

static void findings(const struct report *report)
{
    uint32_t n;
    const struct roce_finding *f = roce_observer_findings(report->obs, &n);
    heading(report, "FINDINGS");
    if (n == 0)
        out_str(report->out, "none\n");
    for (uint32_t i = 0; i < n && i < rows(report); i++)
        finding(report, &f[i]);
    text_left_out(report->out, n, rows(report), "--top");
}

static void cm_attempts(const struct report *report)
{
    const struct roce_flow_table *table = roce_observer_flows(report->obs);
    struct roce_cm_info cm;
    char a[TEXT_SHORT_MAX], b[TEXT_SHORT_MAX];
    uint64_t shown = 0, all = 0;
    for (uint32_t i = 0; roce_cm_get(table, i, &cm); i++) {
        const bool failed = cm.state == ROCE_CM_REJECTED || cm.state == ROCE_CM_TIMED_OUT ||
                            cm.state == ROCE_CM_REQUESTED;
        if (!failed || all++ >= rows(report))
            continue;
        if (shown++ == 0)
            heading(report, "CONNECTIONS THAT WERE NOT MADE");
        char line[256];
        (void)snprintf(line, sizeof(line), "%s QP 0x%x > %s port %d: %s",
                       text_addr(a, cm.host_a, cm.ip_version), (unsigned)cm.qp_a,
                       text_addr(b, cm.host_b, cm.ip_version), roce_cm_port(cm.service_id),
                       cm.state == ROCE_CM_REJECTED ? roce_cm_reject_text(cm.reject_reason)
                                                    : "no answer");
        text_wrap(report->out, line, 0);
    }
    text_left_out(report->out, all, rows(report), "--top");
}

static void series(const struct report *report)
{
    char buf[16384];
    ssize_t n;
    if (report->series == NULL)
        return;
    heading(report, "INTERVALS");
    out_str(report->out, "TIME            FRAMES        RATE RoCE  REX  GAP  NAK  RNR"
                         "   CE  CNP  PFC MSGS\n");
    out_flush(report->series);
    if (lseek(report->series->fd, 0, SEEK_SET) != 0)
        return;
    while ((n = read(report->series->fd, buf, sizeof(buf))) > 0)
        out_write(report->out, buf, (size_t)n);
}

void report_interval_text(struct out *out, const struct interval *i)
{
    char clock[TEXT_SHORT_MAX], frames[TEXT_SHORT_MAX], roce[TEXT_SHORT_MAX], msgs[TEXT_SHORT_MAX];
    char c[7][TEXT_SHORT_MAX], rate[UNITS_TEXT_MAX];
    *units_rate(rate, (double)i->frame_bytes * 8e9 / (double)i->length_ns) = '\0';
    text_print(out, "%-15s %6s %11s %4s %4s %4s %4s %4s %4s %4s %4s %4s\n",
               text_clock(clock, i->start_ns), text_short(frames, true, i->frames), rate,
               text_short(roce, true, i->total.packets),
               text_short(c[0], true, i->total.retransmitted),
               text_short(c[1], true, i->total.gap_psns), text_short(c[2], true, i->total.naks),
               text_short(c[3], true, i->total.rnr_naks), text_short(c[4], true, i->total.ce),
               text_short(c[5], true, i->total.cnps), text_short(c[6], true, i->pause_packets),
               text_short(msgs, true, i->total.messages_completed));
}

static void icrc(const struct report *report)
{
    const struct roce_capture_totals *t = &report->totals;
    if (report->opts->chosen || t->roce_packets == 0)
        return;
    heading(report, "ICRC");
    text_print(report->out, "%llu ok, %llu bad, %llu unchecked%s\n", (unsigned long long)t->icrc_ok,
               (unsigned long long)t->icrc_bad, (unsigned long long)t->icrc_unchecked,
               report->opts->common.no_icrc ? " (--no-icrc)" : "");
}

/* What had to be given up is said, because numbers above may be too small. */
static void limits(const struct report *report)
{
    struct roce_flow_stats s;
    struct roce_observer_stats lost;
    roce_flow_stats(roce_observer_flows(report->obs), &s);
    roce_observer_stats(report->obs, &lost);
    const struct {
        uint64_t n;
        const char *what;
    } parts[] = {
        {s.evicted, "flows were evicted; raise --max-flows"},
        {s.ended,
         "flows were over for long: hosts and findings have them, the tables do not (--forget)"},
        {s.forgotten, "open messages and holes were forgotten for lack of room"},
        {lost.congestion_lost, "CE marks and CNPs belong to flows that were not watched"},
        {lost.incidents_lost, "incidents are counted without evidence frames"},
        {lost.senders_lost, "pause frames came from senders that were not kept"},
        {lost.hosts_lost, "flow ends belong to hosts that were not kept"},
    };
    bool first = true;
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        if (parts[i].n == 0)
            continue;
        if (first)
            heading(report, "LIMITS");
        first = false;
        text_print(report->out, "%llu %s\n", (unsigned long long)parts[i].n, parts[i].what);
    }
}

void report_text(struct report *report)
{
    const struct stat_opts *opts = report->opts;
    verdict(report);
    if (opts->common.quiet)
        return;
    if (!opts->chosen)
        capture(report);
    if (stat_opts_wants(opts, TABLE_FINDINGS))
        findings(report);
    if (stat_opts_wants(opts, TABLE_CONNECTIONS)) {
        heading(report, "CONNECTIONS");
        text_connections(report, rows(report));
        cm_attempts(report);
    }
    if (stat_opts_wants(opts, TABLE_FLOWS)) {
        heading(report, "FLOWS");
        text_flows(report);
        if (report->sums.congested > 0) {
            heading(report, "CONGESTION");
            text_congestion(report, rows(report));
        }
    }
    if (stat_opts_wants(opts, TABLE_PFC)) {
        heading(report, "PAUSE");
        text_pause(report, rows(report));
    }
    icrc(report);
    if (stat_opts_wants(opts, TABLE_HOSTS)) {
        heading(report, "HOSTS");
        text_hosts(report, rows(report));
    }
    series(report);
    if (stat_opts_wants(opts, TABLE_MESSAGES)) {
        heading(report, "MESSAGES, SLOWEST FIRST");
        text_messages(report);
    }
    if (stat_opts_wants(opts, TABLE_EVENTS)) {
        heading(report, "EVENTS");
        text_events(report);
    }
    limits(report);
}
