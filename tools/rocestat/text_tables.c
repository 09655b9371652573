/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tables of connections, flows, congestion, pauses and hosts. */
#include "rocestat/text_tables.h"

#include <stdio.h>
#include <string.h>

#include <roce/fmt.h>

#include "rocestat/text.h"

void text_left_out(struct out *out, uint64_t all, uint64_t shown, const char *option)
{
    if (all > shown)
        text_print(out, "... %llu more; %s shows them\n", (unsigned long long)(all - shown),
                   option);
}

static uint64_t completed_of(const struct flow_view *view)
{
    uint64_t sum = 0;
    for (int i = 0; i < ROCE_MESSAGE_OPS; i++)
        sum += view->counters.messages[i].completed;
    return sum;
}

void text_connections(const struct report *report, uint64_t limit)
{
    const struct roce_flow_table *table = roce_observer_flows(report->obs);
    struct roce_connection c;
    uint64_t n = 0;
    for (uint32_t after = ROCE_FLOW_NONE; roce_connection_next(table, after, &c); after = c.id) {
        struct flow_view ab, ba;
        char a[TEXT_SHORT_MAX], b[TEXT_SHORT_MAX], msgs[TEXT_SHORT_MAX], p50[TEXT_SHORT_MAX],
            p99[TEXT_SHORT_MAX], mtu[TEXT_SHORT_MAX];
        if (n++ >= limit || !flow_view_get(report->obs, c.flows[0], &ab) ||
            !flow_view_get(report->obs, c.flows[1], &ba))
            continue;
        if (n == 1)
            out_str(report->out, "HOST A            QP A HOST B            QP B TYPE PAIR"
                                 "  MTU MSGS   p50   p99\n");
        const struct flow_view *busy = ba.message.count > ab.message.count ? &ba : &ab;
        (void)snprintf(mtu, sizeof(mtu), c.path_mtu != 0 ? "%u" : "n/a", (unsigned)c.path_mtu);
        text_print(
            report->out, "%-15s %06x %-15s %06x %-4s %-4s %4s %4s %5s %5s\n",
            text_addr(a, ab.info.src, ab.info.ip_version), (unsigned)c.qp[0],
            text_addr(b, ab.info.dst, ab.info.ip_version), (unsigned)c.qp[1],
            roce_service_name((enum roce_service)c.service),
            roce_pairing_name((enum roce_pairing)c.pairing), mtu,
            text_short(msgs, ab.counters.has_completed, completed_of(&ab) + completed_of(&ba)),
            text_time(p50, busy->message.count > 0, busy->message.p50),
            text_time(p99, busy->message.count > 0, busy->message.p99));
    }
    if (n == 0)
        out_str(report->out, "none could be told: no two flows answer each other\n");
    else
        out_str(report->out,
                "QPs are hexadecimal. PAIR: cm = the set-up was captured; psn = inferred, because\n"
                "answers carry the other's PSNs. p50, p99: first request to completion.\n");
    text_left_out(report->out, n, limit, "--top");
}

void text_flows(const struct report *report)
{
    if (report->shown == 0)
        out_str(report->out, "none\n");
    else
        out_str(report->out, "SRC             DST               DQPN OP     PKTS BYTE"
                             "  GAP  REX  NAK  RNR LOST\n");
    for (uint32_t i = 0; i < report->shown; i++) {
        struct flow_view v;
        char a[TEXT_SHORT_MAX], b[TEXT_SHORT_MAX], t[7][TEXT_SHORT_MAX];
        if (!flow_view_get(report->obs, report->ids[i], &v))
            continue;
        const struct roce_flow_counters *c = &v.counters;
        text_print(report->out, "%-15s %-15s %06x %-6s %4s %4s %4s %4s %4s %4s %4s\n",
                   text_addr(a, v.info.src, v.info.ip_version),
                   text_addr(b, v.info.dst, v.info.ip_version), (unsigned)v.info.dest_qp,
                   flow_view_operation(&v), text_short(t[0], true, c->packets),
                   text_short(t[1], true, c->bytes),
                   text_short(t[2], view_has_track(c), c->gap_psns),
                   text_short(t[3], view_has_track(c), c->retransmitted),
                   text_short(t[4], true, flow_view_naks(&v)), text_short(t[5], true, c->rnr_naks),
                   text_short(t[6], true, flow_view_lost(&v)));
    }
    text_left_out(report->out, report->sums.flows, report->shown, "--top");
}

void text_congestion(const struct report *report, uint64_t limit)
{
    const struct roce_flow_table *table = roce_observer_flows(report->obs);
    uint64_t n = 0;
    out_str(report->out, "SRC             DST               DQPN   CE  CE% CNPs MISS"
                         " DELAY  RATE b/s\n");
    for (uint32_t id = roce_flow_first(table); id != ROCE_FLOW_NONE;
         id = roce_flow_next(table, id)) {
        struct flow_view v;
        char a[TEXT_SHORT_MAX], b[TEXT_SHORT_MAX], t[4][TEXT_SHORT_MAX], rates[80] = "n/a";
        if (!flow_view_get(report->obs, id, &v) || (v.counters.ce == 0 && v.congestion.cnps == 0))
            continue;
        if (n++ >= limit)
            continue;
        const struct roce_congestion *c = &v.congestion;
        if (c->has_cnp && c->rate_measured > 0) {
            char before[TEXT_SHORT_MAX], after[TEXT_SHORT_MAX];
            (void)snprintf(rates, sizeof(rates), "%s > %s",
                           text_short(before, true, c->rate_before_bps),
                           text_short(after, true, c->rate_after_bps));
        }
        text_print(report->out, "%-15s %-15s %06x %4s %4.0f %4s %4s %5s  %s\n",
                   text_addr(a, v.info.src, v.info.ip_version),
                   text_addr(b, v.info.dst, v.info.ip_version), (unsigned)v.info.dest_qp,
                   text_short(t[0], true, v.counters.ce),
                   100.0 * (double)v.counters.ce / (double)v.counters.packets,
                   text_short(t[1], c->has_cnp, c->cnps),
                   text_short(t[2], c->has_cnp, c->ce_runs_unanswered),
                   text_time(t[3], c->has_cnp && c->cnp_delay.count > 0, c->cnp_delay.p50), rates);
    }
    text_left_out(report->out, n, limit, "--top");
    out_str(report->out,
            "MISS: runs of CE marks that no CNP answered. DELAY: CE to CNP, median. RATE: of\n"
            "the sender before and behind its CNPs.\n");
    for (uint8_t value = 0; value < ROCE_DSCP_COUNT; value++) {
        struct roce_dscp d;
        if (roce_observer_dscp(report->obs, value, &d))
            text_print(report->out, "DSCP %2u: %llu not ECT, %llu ECT, %llu CE, %llu CNP\n", value,
                       (unsigned long long)d.not_ect, (unsigned long long)d.ect,
                       (unsigned long long)d.ce, (unsigned long long)d.cnps);
    }
}

void text_pause(const struct report *report, uint64_t limit)
{
    struct roce_pause_entry p;
    uint32_t cursor = 0;
    uint64_t n = 0;
    if (report->totals.pfc_packets == 0 && report->totals.pause_packets == 0) {
        out_str(report->out, "n/a: no pause frame captured. They are link-local; a mirror shows "
                             "them only if\nthe switch mirrors MAC control frames.\n");
        return;
    }
    out_str(report->out, "SENDER            PRIO XOFF  XON REFRESH QUANTA PAUSED LONGEST STORMS"
                         " SILENCED\n");
    while (roce_observer_pause(report->obs, &cursor, &p)) {
        char mac[ROCE_FMT_MAC_MAX + 1], prio[8], t[7][TEXT_SHORT_MAX];
        if (n++ >= limit)
            continue;
        *roce_fmt_mac(mac, p.mac) = '\0';
        if (p.priority == ROCE_PAUSE_PRIORITY)
            (void)snprintf(prio, sizeof(prio), "all");
        else
            (void)snprintf(prio, sizeof(prio), "%u", p.priority);
        text_print(report->out, "%-17s %4s %4s %4s %7s 0x%04x %6s %7s %6s %8s\n", mac, prio,
                   text_short(t[0], true, p.xoff), text_short(t[1], true, p.xon),
                   text_short(t[2], true, p.refresh), p.quanta_max,
                   text_time(t[3], p.has_paused, p.paused_ns),
                   text_time(t[4], p.has_paused, p.longest_ns),
                   text_short(t[5], p.has_paused, p.storms), text_short(t[6], true, p.silences));
    }
    if (report->opts->common.link_speed_bps == 0)
        out_str(report->out, "Times need the link's speed: --link-speed 100G\n");
    text_left_out(report->out, n, limit, "--top");
}

/* The counters that are not 0, some in a line; with saved ones a row each. */
static void counters(const struct report *report, uint32_t index)
{
    const struct roce_host *h = roce_observer_host(report->obs, index);
    const bool compare = report->saved != NULL && report->saved_host == index;
    char line[2048];
    size_t len = 0;
    line[0] = '\0';
    for (int hw = 0; hw < ROCE_HW_COUNT; hw++) {
        const char *name = roce_hw_name((enum roce_hw)hw);
        const bool has = roce_host_has(h, (enum roce_hw)hw);
        char wire[24] = "n/a", saved[24] = "n/a";
        if (has)
            (void)snprintf(wire, sizeof(wire), "%llu", (unsigned long long)h->hw[hw]);
        if (compare && report->saved->has[hw] && report->saved->went_back[hw])
            (void)snprintf(saved, sizeof(saved), "reset");
        else if (compare && report->saved->has[hw])
            (void)snprintf(saved, sizeof(saved), "%llu",
                           (unsigned long long)report->saved->value[hw]);
        if (compare && report->saved->has[hw])
            text_print(report->out, "  %-32s %14s %14s%s\n", name, wire, saved,
                       strcmp(wire, saved) == 0 ? "" : "  differs");
        else if (!compare && has && h->hw[hw] > 0)
            len += (size_t)snprintf(line + len, sizeof(line) - len, "%s%s %s", len > 0 ? ", " : "",
                                    name, wire);
    }
    if (len > 0) {
        out_str(report->out, "  ");
        text_wrap(report->out, line, 2);
    }
}

void text_hosts(const struct report *report, uint64_t limit)
{
    if (report->hosts == 0) {
        out_str(report->out, "none\n");
        return;
    }
    text_print(report->out, "%-39s %9s  %11s  %11s\n", "HOST", "FLOWS", "PACKETS", "BYTES");
    for (uint32_t i = 0; i < report->hosts && i < limit; i++) {
        const struct roce_host *h = roce_observer_host(report->obs, i);
        char addr[ROCE_FMT_ADDR_MAX + 1], t[6][TEXT_SHORT_MAX];
        *roce_fmt_addr(addr, h->addr, h->ip_version) = '\0';
        const char *const cells[] = {
            text_short(t[0], true, h->flows_out),   text_short(t[1], true, h->flows_in),
            text_short(t[2], true, h->packets_out), text_short(t[3], true, h->packets_in),
            text_short(t[4], true, h->bytes_out),   text_short(t[5], true, h->bytes_in)};
        text_print(report->out, "%-39s %4s %4s  %5s %5s  %5s %5s\n", addr, cells[0], cells[1],
                   cells[2], cells[3], cells[4], cells[5]);
        if (report->saved != NULL && report->saved_host == i)
            text_print(report->out, "  %-32s %14s %14s\n", "COUNTER", "ON THE WIRE", "SAVED");
        counters(report, i);
    }
    out_str(report->out,
            "Sent and received each. Counters: what the host's NIC should have counted, as\n"
            "far as the wire shows it.\n");
    if (report->saved != NULL && !report->saved->has_addr && report->saved_host != ROCE_FLOW_NONE)
        out_str(report->out, "The saved counters were given to the host that they fit best; name "
                             "it with\n--diff-counters HOST=FILE.\n");
    text_left_out(report->out, report->hosts, limit, "--top");
}
