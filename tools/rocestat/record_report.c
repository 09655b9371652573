/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Records of the capture as a whole, of pauses, DSCPs and findings. */
#include "rocestat/record.h"

#include <stdio.h>
#include <string.h>

static const char *link_type(uint32_t linktype)
{
    switch (linktype) {
    case ROCE_LINK_ETHERNET:
        return "ethernet";
    case ROCE_LINK_RAW_BSD:
    case ROCE_LINK_RAW:
    case ROCE_LINK_IPV4:
    case ROCE_LINK_IPV6:
        return "raw_ip";
    case ROCE_LINK_SLL:
        return "linux_sll";
    case ROCE_LINK_SLL2:
        return "linux_sll2";
    case ROCE_LINK_ERF:
        return "erf";
    case ROCE_LINK_INFINIBAND:
        return "infiniband";
    default:
        return "other";
    }
}

void record_capture(struct emit *emit, const struct record_capture *capture,
                    const struct roce_capture_totals *t)
{
    emit_str(emit, "file", capture->file);
    emit_str(emit, "link_type", link_type(capture->linktype));
    emit_uint(emit, "packets", true, t->packets);
    emit_uint(emit, "bytes", true, t->bytes);
    emit_uint(emit, "roce_packets", true, t->roce_packets);
    emit_uint(emit, "rocev1", true, t->rocev1);
    emit_uint(emit, "rocev2", true, t->rocev2);
    emit_uint(emit, "infiniband", true, t->infiniband);
    emit_uint(emit, "encapsulated", true, t->encapsulated);
    emit_uint(emit, "pfc_packets", true, t->pfc_packets);
    emit_uint(emit, "pause_packets", true, t->pause_packets);
    emit_uint(emit, "malformed", true, t->malformed);
    emit_uint(emit, "unknown", true, t->unknown);
    emit_uint(emit, "truncated", true, t->truncated);
    emit_uint(emit, "sliced", true, t->sliced);
    emit_uint(emit, "cnps", true, t->cnps);
    emit_uint(emit, "cnps_unmatched", true, t->cnps_unmatched);
    emit_open(emit, "others", true);
    emit_uint(emit, "udp", true, t->udp);
    emit_uint(emit, "tcp", true, t->tcp);
    emit_uint(emit, "icmp", true, t->icmp);
    emit_uint(emit, "arp", true, t->arp);
    emit_uint(emit, "ip", true, t->ip);
    emit_uint(emit, "other", true, t->other);
    emit_close(emit, "others");
    emit_uint(emit, "first_ts_ns", t->has_ts, t->first_ts);
    emit_uint(emit, "last_ts_ns", t->has_ts, t->last_ts);
    emit_uint(emit, "dropped", capture->has_dropped, capture->dropped);
    emit_bool(emit, "cut_short", true, capture->cut_short);
}

void record_icrc(struct emit *emit, const struct roce_capture_totals *t)
{
    emit_uint(emit, "ok", true, t->icrc_ok);
    emit_uint(emit, "bad", true, t->icrc_bad);
    emit_uint(emit, "unchecked", true, t->icrc_unchecked);
}

void record_table(struct emit *emit, const struct roce_observer *obs)
{
    struct roce_flow_stats s;
    struct roce_observer_stats lost;
    roce_flow_stats(roce_observer_flows(obs), &s);
    roce_observer_stats(obs, &lost);
    emit_uint(emit, "flows", true, s.flows);
    emit_uint(emit, "max_flows", true, s.capacity);
    emit_uint(emit, "evicted", true, s.evicted);
    emit_uint(emit, "ended", true, s.ended);
    emit_uint(emit, "connections", true, s.connections);
    emit_uint(emit, "pairing_conflicts", true, s.pairing_conflicts);
    emit_uint(emit, "forgotten", true, s.forgotten);
    emit_uint(emit, "congestion_lost", true, lost.congestion_lost);
    emit_uint(emit, "incidents_lost", true, lost.incidents_lost);
    emit_uint(emit, "senders_lost", true, lost.senders_lost);
    emit_uint(emit, "hosts_lost", true, lost.hosts_lost);
}

void record_pause(struct emit *emit, const struct roce_pause_entry *p)
{
    uint64_t victims[ROCE_PAUSE_VICTIMS];
    const uint32_t n = p->victims < ROCE_PAUSE_VICTIMS ? p->victims : ROCE_PAUSE_VICTIMS;
    for (uint32_t i = 0; i < n; i++)
        victims[i] = p->victim[i];
    emit_mac(emit, "mac", true, p->mac);
    emit_str(emit, "kind", p->priority == ROCE_PAUSE_PRIORITY ? "pause" : "pfc");
    emit_uint(emit, "priority", p->priority != ROCE_PAUSE_PRIORITY, p->priority);
    emit_uint(emit, "xoff", true, p->xoff);
    emit_uint(emit, "xon", true, p->xon);
    emit_uint(emit, "refresh", true, p->refresh);
    emit_uint(emit, "quanta_max", true, p->quanta_max);
    emit_uint(emit, "paused_ns", p->has_paused, p->paused_ns);
    emit_uint(emit, "longest_ns", p->has_paused, p->longest_ns);
    emit_uint(emit, "storms", p->has_paused, p->storms);
    emit_bool(emit, "paused_now", p->has_paused, p->paused_now);
    emit_uint(emit, "silences", true, p->silences);
    emit_uints(emit, "victims", victims, n);
    emit_uint(emit, "first_frame", true, p->first_frame);
    emit_uint(emit, "last_frame", true, p->last_frame);
    emit_uint(emit, "storm_frame", p->storm_frame != 0, p->storm_frame);
    emit_uint(emit, "first_ns", p->first_ts != 0, p->first_ts);
    emit_uint(emit, "last_ns", p->last_ts != 0, p->last_ts);
}

void record_dscp(struct emit *emit, uint8_t value, const struct roce_dscp *d)
{
    emit_uint(emit, "dscp", true, value);
    emit_uint(emit, "packets", true, d->packets);
    emit_uint(emit, "bytes", true, d->bytes);
    emit_uint(emit, "cnps", true, d->cnps);
    emit_uint(emit, "not_ect", true, d->not_ect);
    emit_uint(emit, "ect", true, d->ect);
    emit_uint(emit, "ce", true, d->ce);
    record_summary(emit, "cnp_delay_us", true, true, &d->cnp_delay);
}

/* The unit goes into the key, as everywhere: wait_us, before_bps. */
static void evidence(struct emit *emit, const struct roce_finding *f)
{
    emit_open(emit, "evidence", !f->more);
    for (uint32_t i = 0; i < ROCE_FINDING_VALUES; i++) {
        uint64_t value;
        enum roce_finding_unit unit;
        bool known;
        char key[64];
        const char *name = roce_finding_value(f, i, &value, &unit, &known);
        if (name == NULL)
            break;
        switch (unit) {
        case ROCE_UNIT_COUNT:
            emit_uint(emit, name, known, value);
            break;
        case ROCE_UNIT_HEX:
            /* Keys of 32 bits are numbers, as in rocedump's JSON. */
            if (strcmp(name, "va") == 0)
                emit_hex(emit, name, known, value);
            else
                emit_uint(emit, name, known, value);
            break;
        case ROCE_UNIT_DURATION:
            (void)snprintf(key, sizeof(key), "%s_us", name);
            emit_us(emit, key, known, value);
            break;
        case ROCE_UNIT_RATE:
            (void)snprintf(key, sizeof(key), "%s_bps", name);
            emit_uint(emit, key, known, value);
            break;
        }
    }
    emit_str(emit, "word", f->word);
    emit_close(emit, "evidence");
}

void record_finding(struct emit *emit, const struct roce_finding *f)
{
    const struct roce_finding_info *info = roce_finding_info((enum roce_finding_kind)f->kind);
    char text[ROCE_FINDING_TEXT];
    (void)roce_finding_text(f, text, sizeof(text));
    emit_str(emit, "kind", info->name);
    emit_str(emit, "severity", roce_severity_name((enum roce_severity)f->severity));
    emit_uint(emit, "flow", f->flow != ROCE_FLOW_NONE, f->flow);
    emit_uint(emit, "connection", f->connection != ROCE_FLOW_NONE, f->connection);
    emit_addr(emit, "src", f->has_flow, f->src, f->ip_version);
    emit_addr(emit, "dst", f->has_flow, f->dst, f->ip_version);
    emit_uint(emit, "dest_qp", f->has_flow, f->dest_qp);
    emit_uint(emit, "first_frame", f->first_frame != 0, f->first_frame);
    emit_uints(emit, "frames", f->frames, f->n_frames);
    emit_uint(emit, "count", true, f->count);
    emit_uint(emit, "flows", f->more, f->flows);
    emit_str(emit, "text", text);
    evidence(emit, f);
    emit_str(emit, "hint", info->hint);
}
