/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Messages and events. */
#include "rocestat/journal.h"

#include <stdlib.h>
#include <string.h>

#include <roce/cm.h>

#include "rocestat/record.h"

static bool has_psn(const struct roce_event *e)
{
    switch ((enum roce_event_kind)e->kind) {
    case ROCE_EVENT_GAP:
    case ROCE_EVENT_EPISODE:
    case ROCE_EVENT_OUT_OF_ORDER:
    case ROCE_EVENT_LOSS:
    case ROCE_EVENT_NAK:
    case ROCE_EVENT_RNR:
    case ROCE_EVENT_GHOST_ACK:
    case ROCE_EVENT_SILENT:
        return true;
    case ROCE_EVENT_FLOW_NEW:
    case ROCE_EVENT_FLOW_EVICTED:
    case ROCE_EVENT_MESSAGE:
    case ROCE_EVENT_ACKED:
    case ROCE_EVENT_PAIRED:
    case ROCE_EVENT_UNPAIRED:
    case ROCE_EVENT_MTU:
    case ROCE_EVENT_CM:
    case ROCE_EVENT_MIRROR_DUP:
    case ROCE_EVENT_KINDS:
        return false;
    }
    return false;
}

static bool has_count(const struct roce_event *e)
{
    return e->kind == ROCE_EVENT_GAP || e->kind == ROCE_EVENT_EPISODE ||
           e->kind == ROCE_EVENT_LOSS || e->kind == ROCE_EVENT_MTU ||
           (e->kind == ROCE_EVENT_SILENT && e->code == 0xFF);
}

static const char *nak_of(const struct roce_event *e)
{
    return e->kind == ROCE_EVENT_NAK || e->kind == ROCE_EVENT_SILENT ? roce_nak_name(e->code)
                                                                     : NULL;
}

static void flow_identity(struct emit *emit, const struct entry *entry)
{
    const bool has = entry->ip_version != 0;
    emit_uint(emit, "flow", entry->event.flow != ROCE_FLOW_NONE, entry->event.flow);
    emit_addr(emit, "src", has, entry->src, entry->ip_version);
    emit_addr(emit, "dst", has, entry->dst, entry->ip_version);
    emit_uint(emit, "dest_qp", has, entry->dest_qp);
}

void journal_event_record(struct emit *emit, const struct entry *entry)
{
    const struct roce_event *e = &entry->event;
    const bool is_cm = e->kind == ROCE_EVENT_CM;
    const bool paired = e->kind == ROCE_EVENT_PAIRED;
    const bool timed = (e->kind == ROCE_EVENT_EPISODE || e->kind == ROCE_EVENT_OUT_OF_ORDER ||
                        e->kind == ROCE_EVENT_RNR) &&
                       e->duration >= 0;
    uint64_t frames[4];
    uint32_t n = 0;
    for (int i = 0; i < 4; i++)
        if (e->evidence[i] != 0)
            frames[n++] = e->evidence[i];
    emit_str(emit, "kind", roce_event_name((enum roce_event_kind)e->kind));
    emit_uint(emit, "frame", e->frame != 0, e->frame);
    emit_uint(emit, "ts_ns", e->ts != 0, e->ts);
    flow_identity(emit, entry);
    emit_uint(emit, "peer", e->peer != ROCE_FLOW_NONE, e->peer);
    emit_uint(emit, "about_frame", e->about_frame != 0, e->about_frame);
    emit_uints(emit, "frames", frames, n);
    emit_uint(emit, "psn", has_psn(e), e->psn);
    emit_uint(emit, "count", has_count(e), e->count);
    emit_str(emit, "cause",
             e->kind == ROCE_EVENT_EPISODE ? roce_cause_name((enum roce_cause)e->cause) : NULL);
    emit_str(emit, "location",
             e->kind == ROCE_EVENT_EPISODE || e->kind == ROCE_EVENT_LOSS
                 ? roce_location_name((enum roce_location)e->location)
                 : NULL);
    emit_bool(emit, "responses", e->kind == ROCE_EVENT_LOSS, e->responses);
    emit_us(emit, "duration_us", timed, (uint64_t)e->duration);
    emit_str(emit, "nak", nak_of(e));
    emit_str(emit, "pairing", paired ? roce_pairing_name((enum roce_pairing)e->code) : NULL);
    emit_str(emit, "cm_message", is_cm ? roce_cm_message_name(entry->cm_message) : NULL);
    emit_uint(emit, "cm_local_qpn", is_cm && entry->cm_local_qpn != 0, entry->cm_local_qpn);
    emit_uint(emit, "cm_starting_psn", is_cm && entry->cm_local_qpn != 0, entry->cm_starting_psn);
    emit_uint(emit, "cm_reject_reason", is_cm && entry->cm_message == ROCE_CM_REJ,
              entry->cm_reject_reason);
    emit_bool(emit, "at_end", true, e->at_end);
}

void journal_message_record(struct emit *emit, const struct entry *entry)
{
    const struct roce_event *e = &entry->event;
    const bool timed = e->duration >= 0;
    flow_identity(emit, entry);
    emit_uint(emit, "message", true, e->message);
    emit_str(emit, "op", roce_message_op_name((enum roce_message_op)e->op));
    emit_uint(emit, "bytes", true, e->bytes);
    emit_uint(emit, "psn", true, e->psn);
    emit_uint(emit, "psns", true, e->count);
    emit_uint(emit, "first_frame", e->evidence[0] != 0, e->evidence[0]);
    emit_uint(emit, "last_frame", e->evidence[1] != 0, e->evidence[1]);
    emit_uint(emit, "completed_frame", e->evidence[2] != 0, e->evidence[2]);
    emit_uint(emit, "completed_ns", e->ts != 0, e->ts);
    emit_us(emit, "latency_us", timed, (uint64_t)e->duration);
}

/* Whether |a| is to be dropped before |b|: faster, or of the same speed and later. */
static bool drops_first(const struct entry *a, const struct entry *b)
{
    if (a->event.duration != b->event.duration)
        return a->event.duration < b->event.duration;
    return a->order > b->order;
}

static void swap(struct entry *a, struct entry *b)
{
    const struct entry t = *a;
    *a = *b;
    *b = t;
}

static void sift_down(struct entry *heap, uint64_t n)
{
    for (uint64_t i = 0;;) {
        uint64_t first = i;
        for (uint64_t child = 2 * i + 1; child <= 2 * i + 2 && child < n; child++)
            if (drops_first(&heap[child], &heap[first]))
                first = child;
        if (first == i)
            return;
        swap(&heap[i], &heap[first]);
        i = first;
    }
}

static void keep_message(struct journal *journal, const struct entry *entry)
{
    struct entry *heap = journal->message;
    if (journal->messages == journal->message_limit) {
        if (drops_first(entry, &heap[0]))
            return;
        heap[0] = *entry;
        sift_down(heap, journal->messages);
        return;
    }
    uint64_t i = journal->messages++;
    heap[i] = *entry;
    for (; i > 0 && drops_first(&heap[i], &heap[(i - 1) / 2]); i = (i - 1) / 2)
        swap(&heap[i], &heap[(i - 1) / 2]);
}

static int slowest_first(const void *a, const void *b)
{
    return drops_first(a, b) ? 1 : drops_first(b, a) ? -1 : 0;
}

void journal_sort(struct journal *journal)
{
    if (journal->messages > 0)
        qsort(journal->message, journal->messages, sizeof(struct entry), slowest_first);
}

static void stream(struct journal *journal, const struct entry *entry, bool message)
{
    struct emit emit;
    const bool json = journal->opts->mode == MODE_NDJSON;
    if (json) {
        emit_json(&emit, &journal->json);
        json_open_object(&journal->json, NULL);
        json_str(&journal->json, "schema", RECORD_SCHEMA);
        json_str(&journal->json, "type", message ? "message" : "event");
    } else {
        emit_csv(&emit, &journal->csv, false);
    }
    if (message)
        journal_message_record(&emit, entry);
    else
        journal_event_record(&emit, entry);
    if (json) {
        json_close_object(&journal->json);
        json_newline(&journal->json);
    } else {
        csv_end_row(&journal->csv);
    }
}

static void on_event(void *ctx, const struct roce_event *event)
{
    struct journal *journal = ctx;
    const bool message = event->kind == ROCE_EVENT_MESSAGE;
    const uint64_t order = message ? journal->messages_seen++ : journal->events_seen++;
    if (!journal->streams && !message && journal->events == journal->event_limit)
        return;
    struct entry entry = {.event = *event, .order = order};
    struct roce_flow_info info;
    if (journal->obs != NULL &&
        roce_flow_info(roce_observer_flows(journal->obs), event->flow, &info)) {
        memcpy(entry.src, info.src, sizeof(entry.src));
        memcpy(entry.dst, info.dst, sizeof(entry.dst));
        entry.ip_version = info.ip_version;
        entry.dest_qp = info.dest_qp;
    }
    if (event->cm != NULL) {
        entry.cm_message = event->cm->message;
        entry.cm_reject_reason = event->cm->reject_reason;
        entry.cm_local_qpn = event->cm->local_qpn;
        entry.cm_starting_psn = event->cm->starting_psn;
    }
    entry.event.cm = NULL;
    if (journal->streams)
        stream(journal, &entry, message);
    else if (message)
        keep_message(journal, &entry);
    else
        journal->event[journal->events++] = entry;
}

struct roce_flow_ops journal_ops(struct journal *journal)
{
    struct roce_flow_ops ops = {.ctx = journal};
    if (stat_opts_wants(journal->opts, TABLE_MESSAGES))
        ops.mask |= UINT32_C(1) << ROCE_EVENT_MESSAGE;
    if (stat_opts_wants(journal->opts, TABLE_EVENTS))
        ops.mask |= ((UINT32_C(1) << ROCE_EVENT_KINDS) - 1) &
                    ~(UINT32_C(1) << ROCE_EVENT_MESSAGE | UINT32_C(1) << ROCE_EVENT_ACKED |
                      UINT32_C(1) << ROCE_EVENT_FLOW_NEW);
    if (ops.mask != 0)
        ops.event = on_event;
    return ops;
}

static void csv_heading(struct journal *journal)
{
    static const struct entry nothing;
    struct emit emit;
    emit_csv(&emit, &journal->csv, true);
    if (journal->opts->csv == CSV_MESSAGES)
        journal_message_record(&emit, &nothing);
    else
        journal_event_record(&emit, &nothing);
    csv_end_row(&journal->csv);
}

int journal_init(struct journal *journal, const struct stat_opts *opts, struct out *out)
{
    *journal = (struct journal){.opts = opts, .out = out};
    json_init(&journal->json, out);
    csv_init(&journal->csv, out);
    journal->streams = opts->mode == MODE_NDJSON || opts->mode == MODE_CSV;
    if (opts->csv == CSV_MESSAGES || opts->csv == CSV_EVENTS)
        csv_heading(journal);
    if (journal->streams)
        return 0;
    journal->message_limit = opts->mode == MODE_TEXT ? TOP_TEXT : TOP_RECORDS;
    journal->event_limit = TOP_RECORDS;
    if (opts->top != 0)
        journal->message_limit = journal->event_limit =
            opts->top < RECORDS_MAX ? opts->top : RECORDS_MAX;
    if (stat_opts_wants(opts, TABLE_MESSAGES))
        journal->message = calloc(journal->message_limit, sizeof(struct entry));
    if (stat_opts_wants(opts, TABLE_EVENTS))
        journal->event = calloc(journal->event_limit, sizeof(struct entry));
    return (journal->message == NULL && stat_opts_wants(opts, TABLE_MESSAGES)) ||
                   (journal->event == NULL && stat_opts_wants(opts, TABLE_EVENTS))
               ? -1
               : 0;
}

void journal_free(struct journal *journal)
{
    free(journal->message);
    free(journal->event);
    journal->message = journal->event = NULL;
}
