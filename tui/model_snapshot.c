/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Snapshots of the model. */
#include <stdlib.h>
#include <string.h>

#include <roce/opcode.h>

#include "memory.h"
#include "model_internal.h"

struct snapshot *tui_snapshot_new(void)
{
    struct snapshot *snapshot = tui_memory_new(sizeof(*snapshot));
    if (snapshot == NULL)
        return NULL;
    memset(snapshot, 0, sizeof(*snapshot));
    snapshot->row = tui_memory_new(SNAP_ROWS_MAX * sizeof(*snapshot->row));
    snapshot->host = calloc(SNAP_HOSTS_MAX, sizeof(*snapshot->host));
    snapshot->frame = calloc(SNAP_FRAMES_MAX, sizeof(*snapshot->frame));
    if (snapshot->row != NULL && snapshot->host != NULL && snapshot->frame != NULL)
        return snapshot;
    tui_snapshot_del(snapshot);
    return NULL;
}

void tui_snapshot_del(struct snapshot *snapshot)
{
    if (snapshot == NULL)
        return;
    free(snapshot->row);
    free(snapshot->host);
    free(snapshot->frame);
    free(snapshot);
}

bool tui_snapshot_unsure(const struct snapshot *snapshot, roce_tstamp ts)
{
    for (uint32_t i = 0; i < snapshot->n_drops; i++)
        if (ts >= snapshot->drops[i].from && ts < snapshot->drops[i].until)
            return true;
    return false;
}

const struct snap_row *tui_snapshot_row(const struct snapshot *snapshot, uint32_t id)
{
    uint32_t low = 0, high = snapshot->n_rows;
    while (low < high) {
        const uint32_t middle = (low + high) / 2;
        if (snapshot->row[middle].id < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low < snapshot->n_rows && snapshot->row[low].id == id ? &snapshot->row[low] : NULL;
}

static const char *operation(const uint64_t opcodes[256], uint8_t service)
{
    static const char *const words[ROCE_OP_NONE + 1] = {
        [ROCE_OP_SEND] = "Send",     [ROCE_OP_WRITE] = "Write",
        [ROCE_OP_READ] = "Read",     [ROCE_OP_ATOMIC] = "Atomic",
        [ROCE_OP_FLUSH] = "Flush",   [ROCE_OP_ATOMIC_WRITE] = "AWrite",
        [ROCE_OP_RESYNC] = "Resync", [ROCE_OP_READ_RESPONSE] = "RdResp",
        [ROCE_OP_ACK] = "Ack",       [ROCE_OP_ATOMIC_ACK] = "AtAck",
        [ROCE_OP_CNP] = "CNP",       [ROCE_OP_NONE] = "other",
    };
    uint64_t by_op[ROCE_OP_NONE + 1] = {0};
    if (service == ROCE_SERVICE_UD)
        return "UD";
    for (unsigned i = 0; i < 256; i++)
        if (opcodes[i] > 0)
            by_op[roce_opcode_info((uint8_t)i)->op] += opcodes[i];
    unsigned most = ROCE_OP_NONE;
    for (unsigned i = 0; i <= ROCE_OP_NONE; i++)
        if (by_op[i] > by_op[most])
            most = i;
    return words[most];
}

static void set_identity(struct snap_row *row, const struct roce_flow_info *info)
{
    memcpy(row->src, info->src, 16);
    memcpy(row->dst, info->dst, 16);
    row->id = info->id;
    row->serial = info->serial;
    row->ip_version = info->ip_version;
    row->service = info->service;
    row->pairing = info->pairing;
    row->dscp = info->dscp;
    row->pcp = info->pcp;
    row->ttl = info->ttl;
    row->dscp_varies = info->dscp_varies;
    row->has_vlan = info->has_vlan;
    row->vlan = info->vlan;
    row->has_src_qp = info->has_src_qp;
    row->src_qp = info->src_qp;
    row->sampled = info->sampled;
    row->encapsulated = info->encapsulated;
    row->tunnel_key = info->tunnel_key;
    row->udp_sport = info->udp_sport;
    row->dest_qp = info->dest_qp;
    row->peer = info->peer;
    row->connection = info->connection;
    row->path_mtu = info->path_mtu;
    row->first_ts = info->first_ts;
    row->last_ts = info->last_ts;
    row->first_frame = info->first_frame;
    row->last_frame = info->last_frame;
}

static void set_counters(struct snap_row *row, const struct roce_flow_counters *c)
{
    row->packets = c->packets;
    row->bytes = c->bytes;
    row->payload_bytes = c->payload_bytes;
    row->requests = c->requests;
    row->has_track = c->has_psn && c->requests > 0;
    row->gap_events = c->gap_events;
    row->gap_psns = c->gap_psns;
    row->resent = c->retransmitted;
    row->resent_dup = c->retransmitted_dup;
    row->out_of_order = c->out_of_order;
    row->rnr_naks = c->rnr_naks;
    row->cnps = c->cnps;
    row->ce = c->ce;
    row->icrc_bad = c->icrc_bad;
    row->mirror_duplicates = c->mirror_duplicates;
    row->lost = c->loss[ROCE_LOST_UPSTREAM] + c->loss[ROCE_LOST_DOWNSTREAM] +
                c->loss[ROCE_LOST_UNKNOWN] - c->loss_refused;
    row->naks = 0;
    for (int i = 0; i <= ROCE_NAK_MAX; i++)
        row->naks += c->naks[i];
    row->messages = 0;
    for (int i = 0; i < ROCE_MESSAGE_OPS; i++)
        row->messages += c->messages[i].completed;
    row->first_psn = c->first_psn;
    row->next_psn = c->next_psn;
    row->op = operation(c->opcodes, row->service);
}

/* What a flow did in the newest complete interval. */
struct counted {
    uint64_t bytes;
    uint32_t packets, cnps;
};

static struct counted counted(const struct model *model, uint32_t id)
{
    const struct track *track = &model->track[id];
    const struct track_rest *rest = &model->rest[id];
    if (track->epoch == model->epoch)
        return (struct counted){rest->bytes, rest->packets, rest->cnps};
    if (track->epoch + 1 == model->epoch)
        return (struct counted){track->bytes, track->packets, track->cnps};
    return (struct counted){0};
}

static void set_rates(const struct model *model, struct snap_row *row, double seconds)
{
    const struct track *track = &model->track[row->id];
    const bool from_peer = row->peer != ROCE_FLOW_NONE && row->requests > 0;
    row->matched = model->filter == NULL || track->matched == model->generation;
    row->bps = row->pps = row->cnps_per_second = 0;
    if (model->over) {
        struct roce_flow_counters peer;
        uint64_t cnps = row->cnps;
        if (from_peer && roce_flow_counters(model->flows, row->peer, &peer))
            cnps = peer.cnps;
        row->active = true;
        if (seconds > 0) {
            row->bps = 8 * (double)row->bytes / seconds;
            row->pps = (double)row->packets / seconds;
            row->cnps_per_second = (double)cnps / seconds;
        }
        return;
    }
    const struct counted own = counted(model, row->id);
    row->active = own.packets > 0;
    row->bps = 8 * (double)own.bytes / seconds;
    row->pps = own.packets / seconds;
    /* CNPs for the sender of data travel in the opposite direction. */
    row->cnps_per_second = (from_peer ? counted(model, row->peer).cnps : own.cnps) / seconds;
}

static void set_latency(struct model *model, struct snap_row *row, bool now)
{
    struct track_rest *track = &model->rest[row->id];
    struct roce_hist_summary sum;
    row->has_latency = row->messages > 0 && row->peer != ROCE_FLOW_NONE;
    if (!row->has_latency)
        return;
    if (now || track->latency_count == 0 ||
        row->messages > track->latency_count + track->latency_count / 8) {
        if (!roce_flow_latency(model->flows, row->id, ROCE_LATENCY_MESSAGE, &sum) ||
            sum.count == 0) {
            row->has_latency = false;
            return;
        }
        track->latency_count = row->messages;
        track->p50_us16 =
            sum.p50 * 2 / 125 < UINT32_MAX ? (uint32_t)(sum.p50 * 2 / 125) : UINT32_MAX;
        track->p99_us16 =
            sum.p99 * 2 / 125 < UINT32_MAX ? (uint32_t)(sum.p99 * 2 / 125) : UINT32_MAX;
    }
    row->p50_ns = (uint64_t)track->p50_us16 * 125 / 2;
    row->p99_ns = (uint64_t)track->p99_us16 * 125 / 2;
}

void tui_model_latency(struct model *model, struct snap_row *row)
{
    set_latency(model, row, true);
}

/* Rows that may not be missing when there are too many. */
static bool interesting(const struct snap_row *row)
{
    return row->active || row->gap_psns + row->resent + row->naks + row->rnr_naks + row->lost > 0;
}

static int by_id(const void *a, const void *b)
{
    const struct snap_row *x = a, *y = b;
    return (x->id > y->id) - (x->id < y->id);
}

static uint64_t pair_hash(const uint8_t src[16], const uint8_t dst[16])
{
    uint64_t part[4], hash = UINT64_C(0x9E3779B97F4A7C15);
    memcpy(part, src, 16);
    memcpy(part + 2, dst, 16);
    for (int i = 0; i < 4; i++) {
        hash = (hash ^ part[i]) * UINT64_C(0xFF51AFD7ED558CCD);
        hash ^= hash >> 32;
    }
    return hash | 1;
}

static uint64_t *pair_slot(uint64_t *pairs, uint64_t slots, uint64_t hash)
{
    uint64_t i = hash >> 20;
    while (pairs[i % slots] != 0 && pairs[i % slots] != hash)
        i++;
    return &pairs[i % slots];
}

/* Asymmetric mirrors: requests between two hosts whose answers take another port. */
static void find_one_way(struct model *model, struct snapshot *out)
{
    uint64_t slots = 64;
    while (slots < 4 * (uint64_t)out->n_rows)
        slots *= 2;
    memset(model->pairs, 0, slots * sizeof(*model->pairs));
    for (uint32_t i = 0; i < out->n_rows; i++) {
        const uint64_t hash = pair_hash(out->row[i].src, out->row[i].dst);
        *pair_slot(model->pairs, slots, hash) = hash;
    }
    for (uint32_t i = 0; i < out->n_rows; i++) {
        struct snap_row *row = &out->row[i];
        const bool answers = row->service == ROCE_SERVICE_RC || row->service == ROCE_SERVICE_XRC;
        row->one_way = answers && row->peer == ROCE_FLOW_NONE &&
                       *pair_slot(model->pairs, slots, pair_hash(row->dst, row->src)) == 0;
    }
}

static void take_rows(struct model *model, const struct snap_want *want, struct snapshot *out)
{
    struct roce_flow_info info;
    struct roce_flow_counters counters;
    uint32_t victim = 0;
    bool sorted = true;
    out->n_rows = out->all_rows = out->active = 0;
    for (uint32_t id = roce_flow_first(model->flows); id != ROCE_FLOW_NONE;
         id = roce_flow_next(model->flows, id)) {
        struct snap_row row = {0};
        if (!roce_flow_info(model->flows, id, &info) ||
            !roce_flow_counters(model->flows, id, &counters))
            continue;
        set_identity(&row, &info);
        set_counters(&row, &counters);
        set_rates(model, &row, out->seconds);
        if (want->latencies != SNAP_LATENCIES_NONE)
            set_latency(model, &row, want->latencies == SNAP_LATENCIES_ALL || id == want->detail);
        out->all_rows++;
        out->active += row.active;
        if (out->n_rows < SNAP_ROWS_MAX) {
            out->row[out->n_rows++] = row;
            continue;
        }
        if (!interesting(&row))
            continue;
        while (victim < SNAP_ROWS_MAX && interesting(&out->row[victim]))
            victim++;
        if (victim < SNAP_ROWS_MAX) {
            out->row[victim++] = row;
            sorted = false;
        }
    }
    if (!sorted)
        qsort(out->row, out->n_rows, sizeof(out->row[0]), by_id);
    find_one_way(model, out);
}

static void take_hosts(struct model *model, struct snapshot *out)
{
    out->all_hosts = roce_observer_hosts(model->obs);
    out->n_hosts = out->all_hosts < SNAP_HOSTS_MAX ? out->all_hosts : SNAP_HOSTS_MAX;
    for (uint32_t i = 0; i < out->n_hosts; i++)
        out->host[i] = *roce_observer_host(model->obs, i);
}

static void take_frame(const struct ring *ring, const struct ring_record *record, bool reverse,
                       struct snap_frame *out)
{
    out->record = *record;
    out->reverse = reverse;
    out->linktype = ring->linktype[record->linktype_code];
    out->slice_len = record->data_len < SNAP_SLICE ? record->data_len : SNAP_SLICE;
    memcpy(out->slice, tui_ring_data(record), out->slice_len);
}

/* Takes frames of a flow and its peer, older than |below|, newest first, until there are |max|.
 * Returns how many there are then. */
static uint32_t walk_back(const struct ring *ring, const struct snap_want *want, uint64_t flow_mark,
                          uint64_t peer_mark, uint64_t below, uint32_t max, uint32_t n,
                          struct snapshot *out)
{
    const struct ring_record *a = tui_ring_get(ring, flow_mark), *b = tui_ring_get(ring, peer_mark);
    while ((a != NULL || b != NULL) && n < max) {
        const bool reverse = a == NULL || (b != NULL && b->number > a->number);
        const struct ring_record *newest = reverse ? b : a;
        if (newest->number < below &&
            (want->detail_until == 0 || newest->number <= want->detail_until))
            take_frame(ring, newest, reverse, &out->frame[n++]);
        if (reverse)
            b = tui_ring_get(ring, b->before);
        else
            a = tui_ring_get(ring, a->before);
    }
    return n;
}

/* The newest frames, and behind them what is kept of older incidents. */
static uint32_t take_frames(struct model *model, const struct snap_want *want, uint32_t peer,
                            struct snapshot *out)
{
    const bool paired = peer != ROCE_FLOW_NONE;
    const uint32_t n = walk_back(&model->ring, want, model->track[want->detail].newest,
                                 paired ? model->track[peer].newest : 0, UINT64_MAX,
                                 SNAP_FRAMES_MAX / 4 * 3, 0, out);
    const uint64_t oldest = n > 0 ? out->frame[n - 1].record.number : UINT64_MAX;
    return walk_back(&model->kept, want, model->rest[want->detail].kept_newest,
                     paired ? model->rest[peer].kept_newest : 0, oldest, SNAP_FRAMES_MAX, n, out);
}

static void take_detail(struct model *model, const struct snap_want *want, struct snapshot *out)
{
    struct snap_detail *detail = &out->detail;
    struct roce_flow_info info;
    struct roce_flow_counters counters;
    detail->valid = false;
    detail->frames = 0;
    if (want->detail == ROCE_FLOW_NONE || !roce_flow_info(model->flows, want->detail, &info) ||
        info.serial != want->detail_serial ||
        !roce_flow_counters(model->flows, want->detail, &counters))
        return;
    detail->valid = true;
    detail->row = (struct snap_row){0};
    set_identity(&detail->row, &info);
    set_counters(&detail->row, &counters);
    set_rates(model, &detail->row, out->seconds);
    set_latency(model, &detail->row, true);
    detail->congestion = (struct roce_congestion){0};
    (void)roce_observer_congestion(model->obs, want->detail, &detail->congestion);
    memcpy(detail->episodes, counters.retransmission_cause, sizeof(detail->episodes));
    memcpy(detail->loss, counters.loss, sizeof(detail->loss));
    memcpy(detail->naks, counters.naks, sizeof(detail->naks));
    detail->latency = detail->ack = (struct roce_hist){0};
    (void)roce_flow_latency_add(model->flows, want->detail, ROCE_LATENCY_MESSAGE, &detail->latency);
    (void)roce_flow_latency_add(model->flows, want->detail, ROCE_LATENCY_ACK, &detail->ack);
    const uint32_t n = take_frames(model, want, info.peer, out);
    for (uint32_t i = 0; i < n / 2; i++) {
        const struct snap_frame swap = out->frame[i];
        out->frame[i] = out->frame[n - 1 - i];
        out->frame[n - 1 - i] = swap;
    }
    detail->frames = n;
    detail->more = n > 0 && out->frame[0].record.number > info.first_frame;
}

static void take_pauses(struct model *model, struct snapshot *out)
{
    uint32_t cursor = 0;
    out->n_pauses = 0;
    while (out->n_pauses < SNAP_PAUSES_MAX &&
           roce_observer_pause(model->obs, &cursor, &out->pause[out->n_pauses]))
        out->n_pauses++;
    for (uint8_t i = 0; i < ROCE_DSCP_COUNT; i++)
        if (!roce_observer_dscp(model->obs, i, &out->dscp[i]))
            out->dscp[i] = (struct roce_dscp){0};
}

static void take_times(struct model *model, struct snapshot *out)
{
    struct bin count = model->count;
    out->first = model->first;
    out->now = model->now;
    out->interval_ns = model->opts.interval_ns;
    out->over = model->over;
    out->sum = model->sum;
    tui_bin_add(&out->sum, &count);
    out->recent = model->recent;
    out->whole = model->whole;
    tui_bin_add(&out->recent.open, &count);
    tui_bin_add(&out->whole.open, &count);
    if (model->over) {
        out->seconds = (double)(out->totals.last_ts - out->totals.first_ts) / 1e9;
        out->has_rates = out->totals.has_ts && out->seconds > 0;
        out->rates = out->sum;
    } else {
        out->seconds = (double)model->opts.interval_ns / 1e9;
        out->has_rates = model->has_rates;
        out->rates = model->rates;
    }
    out->n_drops = model->n_drops < SNAP_DROPS_MAX ? model->n_drops : SNAP_DROPS_MAX;
    for (uint32_t i = 0; i < out->n_drops; i++) {
        out->drops[i].from = model->drops[i].from;
        out->drops[i].until = model->drops[i].until;
        out->drops[i].count = model->drops[i].count;
    }
}

void tui_model_snapshot(struct model *model, const struct snap_want *want, struct snapshot *out)
{
    if (model->begun)
        tui_model_sample(model);
    roce_observer_totals(model->obs, &out->totals);
    roce_flow_stats(model->flows, &out->stats);
    roce_observer_stats(model->obs, &out->observer);
    out->link_speed_bps = model->opts.link_speed_bps;
    out->filtered = model->filter != NULL;
    take_times(model, out);
    out->log = model->log;
    take_rows(model, want, out);
    take_pauses(model, out);
    out->n_hosts = out->all_hosts = 0;
    if (want->hosts)
        take_hosts(model, out);
    take_detail(model, want, out);
}
