/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A snapshot as JSON. What the capture cannot show is null. */
#include "record.h"

#include <string.h>

#include "text.h"

static void maybe_uint(struct json *json, const char *key, bool has, uint64_t n)
{
    if (has)
        json_uint(json, key, n);
    else
        json_null(json, key);
}

static void maybe_real(struct json *json, const char *key, bool has, double value)
{
    if (has)
        json_real(json, key, value);
    else
        json_null(json, key);
}

static void addr(struct json *json, const char *key, const uint8_t address[16], uint8_t version)
{
    char text[TUI_TEXT_MAX];
    json_str(json, key, tui_text_addr(text, address, version, 45));
}

static void bins(struct json *json, const char *key, const struct bin *bin)
{
    json_open_object(json, key);
#define BIN(name) json_uint(json, #name, bin->name);
#include "bins.def"
#undef BIN
    json_close_object(json);
}

static void capture(struct json *json, const struct ui *ui, const struct snapshot *s)
{
    const struct ui_status *status = &ui->status;
    const bool any = s->totals.has_ts;
    json_open_object(json, "capture");
    json_str(json, "source", status->name);
    json_bool(json, "live", status->live);
    json_bool(json, "ended", s->over);
    maybe_uint(json, "first_ts_ns", any, s->totals.first_ts);
    maybe_uint(json, "now_ns", any, s->now);
    json_uint(json, "packets", s->totals.packets);
    json_uint(json, "bytes", s->totals.bytes);
    json_uint(json, "roce_packets", s->totals.roce_packets);
    json_uint(json, "pfc_packets", s->totals.pfc_packets);
    json_uint(json, "pause_packets", s->totals.pause_packets);
    json_uint(json, "malformed", s->totals.malformed);
    json_uint(json, "icrc_bad", s->totals.icrc_bad);
    maybe_uint(json, "dropped_kernel", status->has_drops, status->dropped_kernel);
    maybe_uint(json, "dropped_interface", status->has_drops && status->live, status->dropped_iface);
    maybe_uint(json, "merged", status->live, status->merged);
    json_uint(json, "flows", s->all_rows);
    json_uint(json, "evicted", s->stats.evicted);
    json_uint(json, "flows_ended", s->stats.ended);
    json_close_object(json);
}

static void flow(struct json *json, const struct snapshot *s, const struct snap_row *row)
{
    const bool rates = s->has_rates;
    json_open_object(json, NULL);
    json_uint(json, "id", row->id);
    addr(json, "src", row->src, row->ip_version);
    addr(json, "dst", row->dst, row->ip_version);
    json_uint(json, "dest_qp", row->dest_qp);
    maybe_uint(json, "src_qp", row->has_src_qp, row->src_qp);
    json_str(json, "transport", roce_service_name((enum roce_service)row->service));
    json_str(json, "operation", row->op);
    json_str(json, "pairing", roce_pairing_name((enum roce_pairing)row->pairing));
    maybe_uint(json, "peer", row->peer != ROCE_FLOW_NONE, row->peer);
    json_bool(json, "one_direction", row->one_way);
    json_uint(json, "dscp", row->dscp);
    maybe_uint(json, "path_mtu", row->path_mtu > 0, row->path_mtu);
    maybe_real(json, "bps", rates, row->bps);
    maybe_real(json, "packets_per_s", rates, row->pps);
    maybe_real(json, "cnps_per_s", rates, row->cnps_per_second);
    json_uint(json, "packets", row->packets);
    json_uint(json, "bytes", row->bytes);
    json_uint(json, "payload_bytes", row->payload_bytes);
    maybe_uint(json, "gap_events", row->has_track, row->gap_events);
    maybe_uint(json, "gap_psns", row->has_track, row->gap_psns);
    maybe_uint(json, "retransmitted", row->has_track, row->resent);
    maybe_uint(json, "retransmitted_dup", row->has_track, row->resent_dup);
    maybe_uint(json, "out_of_order", row->has_track, row->out_of_order);
    json_uint(json, "naks", row->naks);
    json_uint(json, "rnr_naks", row->rnr_naks);
    json_uint(json, "lost", row->lost);
    json_uint(json, "cnps", row->cnps);
    json_uint(json, "ce", row->ce);
    json_uint(json, "icrc_bad", row->icrc_bad);
    maybe_uint(json, "messages_completed", row->peer != ROCE_FLOW_NONE, row->messages);
    maybe_real(json, "latency_p50_us", row->has_latency, (double)row->p50_ns / 1e3);
    maybe_real(json, "latency_p99_us", row->has_latency, (double)row->p99_ns / 1e3);
    json_close_object(json);
}

static void flows(struct json *json, const struct ui *ui, const struct snapshot *s)
{
    json_open_array(json, "qps");
    for (uint32_t i = 0; i < ui->n_order; i++)
        flow(json, s, &s->row[ui->order[i]]);
    json_close_array(json);
    json_uint(json, "qps_left_out", s->all_rows - ui->n_order);
}

static void pauses(struct json *json, const struct snapshot *s)
{
    if (s->totals.pfc_packets + s->totals.pause_packets == 0) {
        json_null(json, "pfc"); /* none seen is not none sent */
        return;
    }
    json_open_array(json, "pfc");
    for (uint32_t i = 0; i < s->n_pauses; i++) {
        const struct roce_pause_entry *e = &s->pause[i];
        char mac[TUI_TEXT_MAX];
        json_open_object(json, NULL);
        json_str(json, "sender", tui_text_mac(mac, e->mac));
        maybe_uint(json, "priority", e->priority != ROCE_PAUSE_PRIORITY, e->priority);
        json_uint(json, "xoff", e->xoff);
        json_uint(json, "xon", e->xon);
        json_uint(json, "refresh", e->refresh);
        maybe_uint(json, "paused_ns", e->has_paused, e->paused_ns);
        maybe_uint(json, "longest_ns", e->has_paused, e->longest_ns);
        maybe_uint(json, "storms", e->has_paused, e->storms);
        json_close_object(json);
    }
    json_close_array(json);
}

static void event(struct json *json, const struct snapshot *s, const struct log_entry *e)
{
    char detail[512], mac[TUI_TEXT_MAX];
    const bool gap = e->type == LOG_TYPE_GAP || e->type == LOG_TYPE_LOSS;
    const bool unsure = gap && tui_snapshot_unsure(s, e->ts);
    json_open_object(json, NULL);
    json_uint(json, "ts_ns", e->ts);
    maybe_uint(json, "frame", e->frame != 0, e->frame);
    json_str(json, "level", tui_log_level_word((enum log_level)e->level));
    json_str(json, "type", tui_log_word((enum log_type)e->type));
    if (e->has_flow) {
        addr(json, "src", e->src, e->ip_version);
        addr(json, "dst", e->dst, e->ip_version);
        json_uint(json, "dest_qp", e->dest_qp);
    }
    if (e->has_psn)
        json_uint(json, "psn", e->psn);
    if (e->has_mac)
        json_str(json, "sender", tui_text_mac(mac, e->mac));
    json_uint(json, "count", e->count);
    json_uint(json, "repeats", e->repeats);
    json_bool(json, "unsure", unsure);
    json_str(json, "text", tui_log_detail(detail, sizeof(detail), e, unsure));
    json_close_object(json);
}

static void events(struct json *json, const struct snapshot *s)
{
    const uint64_t kept = s->log.count < LOG_ENTRIES ? s->log.count : LOG_ENTRIES;
    json_open_array(json, "events");
    for (uint64_t i = kept; i > 0; i--)
        event(json, s, &s->log.entry[(s->log.count - i) % LOG_ENTRIES]);
    json_close_array(json);
    json_uint(json, "events_left_out", s->log.count - kept);
}

static void hosts(struct json *json, const struct snapshot *s)
{
    json_open_array(json, "hosts");
    for (uint32_t i = 0; i < s->n_hosts; i++) {
        const struct roce_host *host = &s->host[i];
        json_open_object(json, NULL);
        addr(json, "addr", host->addr, host->ip_version);
        json_uint(json, "flows_out", host->flows_out);
        json_uint(json, "flows_in", host->flows_in);
        json_uint(json, "packets_out", host->packets_out);
        json_uint(json, "packets_in", host->packets_in);
        json_open_object(json, "hw_counters");
        for (int hw = 0; hw < ROCE_HW_COUNT; hw++)
            maybe_uint(json, roce_hw_name((enum roce_hw)hw), roce_host_has(host, (enum roce_hw)hw),
                       host->hw[hw]);
        json_close_object(json);
        json_close_object(json);
    }
    json_close_array(json);
}

void tui_record_snapshot(struct json *json, const struct ui *ui, const struct snapshot *s)
{
    json_open_object(json, NULL);
    json_str(json, "schema", RECORD_SCHEMA);
    capture(json, ui, s);
    bins(json, "totals", &s->sum);
    if (s->has_rates) {
        json_real(json, "rates_seconds", s->seconds);
        bins(json, "rates", &s->rates);
    } else {
        json_null(json, "rates_seconds");
        json_null(json, "rates");
    }
    flows(json, ui, s);
    pauses(json, s);
    events(json, s);
    hosts(json, s);
    json_close_object(json);
    json_newline(json);
}
