/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The summary for people: the verdict first, then flows, ports, queues. */
#include "rocesim/summary.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "common/units.h"

enum { LINE_LEN = 512, ROWS_MAX = 24 };

static void print(struct out *out, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void print(struct out *out, const char *format, ...)
{
    char line[LINE_LEN];
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof(line), format, args);
    va_end(args);
    out_str(out, line);
}

struct text {
    char s[UNITS_TEXT_MAX];
};

static struct text rate(double bps)
{
    struct text t;
    *units_rate(t.s, bps) = '\0';
    return t;
}

static struct text bytes(double n)
{
    struct text t;
    *units_bytes(t.s, (uint64_t)(n + 0.5)) = '\0';
    return t;
}

static struct text time_of(uint64_t ns)
{
    struct text t;
    *units_time(t.s, ns) = '\0';
    return t;
}

static void verdict(const struct summary *s, struct out *out)
{
    const struct meter_deadlock *dead = &s->meter->deadlock;
    const struct meter *meter = s->meter;
    uint64_t dropped = 0;
    for (int d = 0; d < FAB_DROPS; d++)
        dropped += s->drops[d];
    print(out, "%s\n", s->scenario->title[0] != '\0' ? s->scenario->title : "scenario");
    print(out, "measured from %s to %s, seed %llu\n\n", time_of(meter->from_ns).s,
          time_of(s->end_ns).s, (unsigned long long)s->scenario->seed);
    if (dead->found) {
        print(out, "DEADLOCK at %s%s%s: ", time_of(dead->at_ns).s,
              dead->ended ? ", broken at " : "", dead->ended ? time_of(dead->ended_ns).s : "");
        for (int i = 0; i <= dead->n; i++) {
            char name[NET_PORT_NAME_MAX];
            net_port_name(s->net, dead->cycle[i % dead->n].node, dead->cycle[i % dead->n].port,
                          name);
            print(out, "%s%s", i > 0 ? " waits for " : "", name);
        }
        print(out, " (priority %d)\n", dead->cycle[0].priority);
    }
    print(out, "goodput %s; fairness (Jain) %.4f", rate(s->goodput_bps).s, s->jain);
    if (meter->jain_last >= 0)
        print(out, ", %.4f in the last %s", meter->jain_last,
              time_of(s->scenario->fair_window_ns).s);
    if (meter->fair && meter->last_start_ns > 0)
        print(out, "; fair %s behind the last start", time_of(meter->fair_after_ns).s);
    print(out, "\n%llu marked, %llu CNPs, paused %s in all, %llu dropped",
          (unsigned long long)s->marked, (unsigned long long)s->cnps, time_of(s->paused_ns).s,
          (unsigned long long)dropped);
    for (int d = 0; d < FAB_DROPS; d++)
        if (s->drops[d] > 0)
            print(out, " (%s %llu)", fab_drop_name((enum fab_drop)d),
                  (unsigned long long)s->drops[d]);
    print(out, "\n");
}

static void flows(const struct summary *s, struct out *out)
{
    print(out, "\n%-12s %-10s %-10s %13s %13s %9s %8s %8s %7s %10s\n", "FLOW", "FROM", "TO",
          "DELIVERED", "GOODPUT", "MESSAGES", "RESENT", "TIMEOUTS", "CNPS", "P99");
    const int n = s->scenario->n_flows;
    for (int i = 0; i < n && i < ROWS_MAX; i++) {
        const struct summary_flow *flow = &s->flows[i];
        print(out, "%-12s %-10s %-10s %13s %13s %9llu %8llu %8llu %7llu %10s", flow->flow->name,
              s->scenario->nodes[flow->flow->from].name, s->scenario->nodes[flow->flow->to].name,
              rate(flow->delivered_bps).s, rate(flow->goodput_bps).s,
              (unsigned long long)flow->messages, (unsigned long long)flow->counts.retransmitted,
              (unsigned long long)flow->counts.timeouts, (unsigned long long)flow->counts.cnps,
              flow->latency.count > 0 ? time_of(flow->latency.p99).s : "-");
        if (flow->failed > 0)
            print(out, "  FAILED: %s", flow->status);
        print(out, "\n");
    }
    if (n > ROWS_MAX)
        print(out, "... and %d more\n", n - ROWS_MAX);
}

/* The busiest priority of a port: the one with the deepest queue, else the one paused longest. */
static int busiest(const struct summary_port *port)
{
    int best = 0;
    for (int p = 1; p < FAB_PRIORITIES; p++) {
        const double a = port->queue[p].mean_bytes, b = port->queue[best].mean_bytes;
        if (a > b || (!(b > a) && port->stats.paused_ns[p] > port->stats.paused_ns[best]))
            best = p;
    }
    return best;
}

static uint64_t paused(const struct summary_port *port)
{
    uint64_t sum = 0;
    for (int p = 0; p < FAB_PRIORITIES; p++)
        sum += port->stats.paused_ns[p];
    return sum;
}

static void ports(const struct summary *s, struct out *out)
{
    int rows = 0, more = 0;
    print(out, "\n%-16s %7s %4s %10s %10s %10s %10s %8s %6s %9s\n", "PORT", "USE", "PRIO",
          "QUEUE MEAN", "P50", "P99", "MAX", "MARKED", "XOFF", "PAUSED");
    for (int i = 0; i < s->n_ports; i++) {
        const struct summary_port *port = &s->ports[i];
        const int p = busiest(port);
        const struct fab_queue_stats *q = &port->queue[p];
        if (port->utilisation < 0.001 && paused(port) == 0 && q->max_bytes == 0)
            continue;
        if (rows++ >= ROWS_MAX) {
            more++;
            continue;
        }
        uint64_t xoff = 0;
        for (int k = 0; k < FAB_PRIORITIES; k++)
            xoff += port->stats.xoff_sent[k];
        print(out, "%-16s %6.2f%% ", port->name, port->utilisation * 100);
        if (port->of_switch)
            print(out, "%4d %10s %10s %10s %10s %8llu", p, bytes(q->mean_bytes).s,
                  bytes((double)q->p50).s, bytes((double)q->p99).s, bytes((double)q->max_bytes).s,
                  (unsigned long long)port->stats.marked);
        else
            print(out, "%4s %10s %10s %10s %10s %8s", "", "", "", "", "", "");
        print(out, " %6llu %9s\n", (unsigned long long)xoff, time_of(paused(port)).s);
    }
    if (more > 0)
        print(out, "... and %d more\n", more);
}

void summary_text(const struct summary *s, struct out *out)
{
    verdict(s, out);
    flows(s, out);
    ports(s, out);
    if (s->taps != NULL && s->taps->n > 0) {
        print(out, "\nCAPTURES\n");
        for (int i = 0; i < s->taps->n; i++)
            print(out, "%s: %llu frames\n", taps_name(s->taps, i),
                  (unsigned long long)taps_frames(s->taps, i));
    }
}
