/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The report for programs: one JSON document, one object a line, or one CSV table. */
#include "rocestat/report.h"

#include <unistd.h>

/* Where records go: into an array of the document, or each on a line of its own. */
struct sink {
    struct report *report;
    struct json json;
    struct emit emit;
    bool lines;
};

static void begin(struct sink *sink, const char *type)
{
    if (!sink->lines)
        json_newline(&sink->json);
    json_open_object(&sink->json, NULL);
    if (sink->lines) {
        json_str(&sink->json, "schema", RECORD_SCHEMA);
        json_str(&sink->json, "type", type);
    }
}

static void end(struct sink *sink)
{
    json_close_object(&sink->json);
    if (sink->lines)
        json_newline(&sink->json);
}

static void open_list(struct sink *sink, const char *key)
{
    if (sink->lines)
        return;
    json_newline(&sink->json);
    json_open_array(&sink->json, key);
}

static void close_list(struct sink *sink)
{
    if (!sink->lines)
        json_close_array(&sink->json);
}

static void left_out(struct sink *sink, const char *key, uint64_t n)
{
    if (!sink->lines)
        json_uint(&sink->json, key, n);
}

static void capture(struct sink *sink)
{
    const struct report *report = sink->report;
    char verdict[512];
    (void)report_verdict(report, verdict, sizeof(verdict));
    if (sink->lines)
        begin(sink, "capture");
    else
        json_str(&sink->json, "schema", RECORD_SCHEMA);
    json_str(&sink->json, "verdict", verdict);
    if (!sink->lines)
        json_newline(&sink->json);
    emit_open(&sink->emit, "capture", true);
    record_capture(&sink->emit, &report->capture, &report->totals);
    emit_close(&sink->emit, "capture");
    emit_open(&sink->emit, "icrc", true);
    record_icrc(&sink->emit, &report->totals);
    emit_close(&sink->emit, "icrc");
    emit_open(&sink->emit, "table", true);
    record_table(&sink->emit, report->obs);
    emit_close(&sink->emit, "table");
    if (sink->lines)
        end(sink);
}

static void findings(struct sink *sink)
{
    uint32_t n;
    const struct roce_finding *finding = roce_observer_findings(sink->report->obs, &n);
    open_list(sink, "findings");
    for (uint32_t i = 0; i < n; i++) {
        begin(sink, "finding");
        record_finding(&sink->emit, &finding[i]);
        end(sink);
    }
    close_list(sink);
}

static void flows(struct sink *sink)
{
    const struct report *report = sink->report;
    open_list(sink, "flows");
    for (uint32_t i = 0; i < report->shown; i++) {
        struct flow_view view;
        if (!flow_view_get(report->obs, report->ids[i], &view))
            continue;
        begin(sink, "flow");
        record_flow(&sink->emit, &view);
        end(sink);
    }
    close_list(sink);
    left_out(sink, "flows_left_out", report->sums.flows - report->shown);
}

static void connections(struct sink *sink)
{
    const struct roce_flow_table *table = roce_observer_flows(sink->report->obs);
    struct roce_connection connection;
    const uint64_t limit = sink->report->opts->top != 0 ? sink->report->opts->top : UINT64_MAX;
    uint64_t n = 0, more = 0;
    open_list(sink, "connections");
    for (uint32_t after = ROCE_FLOW_NONE; roce_connection_next(table, after, &connection);
         after = connection.id) {
        if (n == limit) {
            more++;
            continue;
        }
        n++;
        begin(sink, "connection");
        record_connection(&sink->emit, sink->report->obs, &connection);
        end(sink);
    }
    close_list(sink);
    left_out(sink, "connections_left_out", more);
    open_list(sink, "cm");
    struct roce_cm_info cm;
    for (uint32_t i = 0; roce_cm_get(table, i, &cm); i++) {
        begin(sink, "cm");
        record_cm_members(&sink->emit, &cm);
        end(sink);
    }
    close_list(sink);
}

static void host(struct sink *sink, uint32_t index)
{
    const struct report *report = sink->report;
    const struct roce_host *h = roce_observer_host(report->obs, index);
    struct emit *emit = &sink->emit;
    begin(sink, "host");
    emit_addr(emit, "addr", true, h->addr, h->ip_version);
    emit_uint(emit, "flows_out", true, h->flows_out);
    emit_uint(emit, "flows_in", true, h->flows_in);
    emit_uint(emit, "packets_out", true, h->packets_out);
    emit_uint(emit, "packets_in", true, h->packets_in);
    emit_uint(emit, "bytes_out", true, h->bytes_out);
    emit_uint(emit, "bytes_in", true, h->bytes_in);
    emit_open(emit, "hw_counters", true);
    for (int hw = 0; hw < ROCE_HW_COUNT; hw++)
        emit_uint(emit, roce_hw_name((enum roce_hw)hw), roce_host_has(h, (enum roce_hw)hw),
                  h->hw[hw]);
    emit_close(emit, "hw_counters");
    if (report->saved != NULL) {
        emit_open(emit, "saved_counters", report->saved_host == index);
        for (int hw = 0; hw < ROCE_HW_COUNT; hw++)
            emit_uint(emit, roce_hw_name((enum roce_hw)hw),
                      report->saved->has[hw] && !report->saved->went_back[hw],
                      report->saved->value[hw]);
        emit_close(emit, "saved_counters");
    }
    end(sink);
}

/* No pause frame captured does not say that none was sent. */
static void pauses(struct sink *sink)
{
    const struct report *report = sink->report;
    struct roce_pause_entry entry;
    uint32_t cursor = 0;
    if (report->totals.pfc_packets == 0 && report->totals.pause_packets == 0) {
        if (!sink->lines)
            json_null(&sink->json, "pfc");
        return;
    }
    open_list(sink, "pfc");
    while (roce_observer_pause(report->obs, &cursor, &entry)) {
        begin(sink, "pause");
        record_pause(&sink->emit, &entry);
        end(sink);
    }
    close_list(sink);
}

static void dscps(struct sink *sink)
{
    open_list(sink, "dscp");
    for (uint8_t value = 0; value < ROCE_DSCP_COUNT; value++) {
        struct roce_dscp dscp;
        if (!roce_observer_dscp(sink->report->obs, value, &dscp))
            continue;
        begin(sink, "dscp");
        record_dscp(&sink->emit, value, &dscp);
        end(sink);
    }
    close_list(sink);
}

static void entries(struct sink *sink)
{
    const struct journal *journal = sink->report->journal;
    if (stat_opts_wants(sink->report->opts, TABLE_MESSAGES)) {
        open_list(sink, "messages");
        for (uint64_t i = 0; i < journal->messages; i++) {
            begin(sink, "message");
            journal_message_record(&sink->emit, &journal->message[i]);
            end(sink);
        }
        close_list(sink);
        left_out(sink, "messages_left_out", journal->messages_seen - journal->messages);
    }
    if (stat_opts_wants(sink->report->opts, TABLE_EVENTS)) {
        open_list(sink, "events");
        for (uint64_t i = 0; i < journal->events; i++) {
            begin(sink, "event");
            journal_event_record(&sink->emit, &journal->event[i]);
            end(sink);
        }
        close_list(sink);
        left_out(sink, "events_left_out", journal->events_seen - journal->events);
    }
}

static void tables(struct sink *sink)
{
    const struct stat_opts *opts = sink->report->opts;
    capture(sink);
    if (stat_opts_wants(opts, TABLE_FINDINGS))
        findings(sink);
    if (stat_opts_wants(opts, TABLE_CONNECTIONS))
        connections(sink);
    if (stat_opts_wants(opts, TABLE_FLOWS))
        flows(sink);
    if (stat_opts_wants(opts, TABLE_HOSTS)) {
        open_list(sink, "hosts");
        for (uint32_t i = 0; i < sink->report->hosts; i++)
            host(sink, i);
        close_list(sink);
    }
    if (stat_opts_wants(opts, TABLE_PFC)) {
        pauses(sink);
        dscps(sink);
    }
}

/* The series is JSON already: it is copied behind its key. */
static void copy_series(struct sink *sink)
{
    char buf[16384];
    struct out *series = sink->report->series;
    ssize_t n;
    if (series == NULL)
        return;
    open_list(sink, "intervals");
    out_flush(series);
    if (lseek(series->fd, 0, SEEK_SET) == 0)
        while ((n = read(series->fd, buf, sizeof(buf))) > 0)
            out_write(sink->report->out, buf, (size_t)n);
    close_list(sink);
}

void report_json(struct report *report)
{
    struct sink sink = {.report = report};
    json_init(&sink.json, report->out);
    emit_json(&sink.emit, &sink.json);
    json_open_object(&sink.json, NULL);
    tables(&sink);
    copy_series(&sink);
    entries(&sink);
    json_newline(&sink.json);
    json_close_object(&sink.json);
    json_newline(&sink.json);
}

void report_ndjson(struct report *report)
{
    struct sink sink = {.report = report, .lines = true};
    json_init(&sink.json, report->out);
    emit_json(&sink.emit, &sink.json);
    tables(&sink);
}

static void csv_flows(struct report *report, struct csv *csv)
{
    static const struct flow_view nothing;
    struct emit emit;
    emit_csv(&emit, csv, true);
    record_flow(&emit, &nothing);
    csv_end_row(csv);
    for (uint32_t i = 0; i < report->shown; i++) {
        struct flow_view view;
        if (!flow_view_get(report->obs, report->ids[i], &view))
            continue;
        emit_csv(&emit, csv, false);
        record_flow(&emit, &view);
        csv_end_row(csv);
    }
}

static void csv_connections(struct report *report, struct csv *csv)
{
    static const struct roce_connection nothing;
    const struct roce_flow_table *table = roce_observer_flows(report->obs);
    struct roce_connection connection;
    struct emit emit;
    emit_csv(&emit, csv, true);
    record_connection(&emit, NULL, &nothing);
    csv_end_row(csv);
    uint64_t left = report->opts->top != 0 ? report->opts->top : UINT64_MAX;
    for (uint32_t after = ROCE_FLOW_NONE;
         left > 0 && roce_connection_next(table, after, &connection); after = connection.id) {
        emit_csv(&emit, csv, false);
        record_connection(&emit, report->obs, &connection);
        csv_end_row(csv);
        left--;
    }
}

void report_csv(struct report *report)
{
    struct csv csv;
    csv_init(&csv, report->out);
    if (report->opts->csv == CSV_FLOWS)
        csv_flows(report, &csv);
    else if (report->opts->csv == CSV_CONNECTIONS)
        csv_connections(report, &csv);
}

static void counters(struct json *json, const struct interval_counters *c)
{
#define INTERVAL(key, text) json_uint(json, #key, c->key);
#include "rocestat/interval.def"
#undef INTERVAL
}

static void interval_flows(struct json *json, const struct interval *interval,
                           const struct roce_observer *obs)
{
    json_open_array(json, "flows");
    for (uint32_t id = interval->first_active; id != ROCE_FLOW_NONE; id = interval->flow[id].next) {
        struct emit emit;
        struct roce_flow_info info;
        if (!roce_flow_info(roce_observer_flows(obs), id, &info))
            continue;
        emit_json(&emit, json);
        json_open_object(json, NULL);
        json_uint(json, "id", id);
        emit_addr(&emit, "src", true, info.src, info.ip_version);
        emit_addr(&emit, "dst", true, info.dst, info.ip_version);
        json_uint(json, "dest_qp", info.dest_qp);
        counters(json, &interval->flow[id].counters);
        json_close_object(json);
    }
    json_close_array(json);
}

void report_interval(struct report *report, const struct interval *interval)
{
    const bool lines = report->opts->mode == MODE_NDJSON;
    struct out *out = lines ? report->out : report->series;
    if (report->opts->mode == MODE_TEXT) {
        report_interval_text(out, interval);
        return;
    }
    struct json json;
    json_init(&json, out);
    if (!lines)
        out_str(out, interval->reported == 0 ? "\n" : ",\n");
    json_open_object(&json, NULL);
    if (lines) {
        json_str(&json, "schema", RECORD_SCHEMA);
        json_str(&json, "type", "interval");
    }
    json_uint(&json, "index", interval->index);
    json_uint(&json, "start_ns", interval->start_ns);
    json_uint(&json, "length_ns", interval->length_ns);
    json_uint(&json, "frames", interval->frames);
    json_uint(&json, "frame_bytes", interval->frame_bytes);
    json_uint(&json, "pause_packets", interval->pause_packets);
    counters(&json, &interval->total);
    if (interval->flow != NULL)
        interval_flows(&json, interval, report->obs);
    json_close_object(&json);
    if (lines)
        json_newline(&json);
}
