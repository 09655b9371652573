/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Counting. */
#include "model_internal.h"

#include <stdlib.h>
#include <string.h>

#include <roce/aeth.h>

#include "common/vast.h"

#include "memory.h"

#define MS  UINT64_C(1000000)
#define SEC (1000 * MS)
/* Bins of the whole capture begin with this length and grow with it. */
#define FINEST UINT64_C(10000)
/* A time stamp so far ahead of its neighbours is damaged, or the clock was set. */
#define STRAY_AHEAD  (3600 * SEC)
#define STRAY_BEHIND (10 * SEC)
#define DROPS_SLACK  (200 * MS)

enum { STRAYS_MAX = 64, PAIR_SLOTS = 4 * SNAP_ROWS_MAX, CE_FRAMES_MIN = 100 };

static void on_event(void *ctx, const struct roce_event *event)
{
    struct model *model = ctx;
    tui_log_event(&model->log, model->flows, event, model->opts.interval_ns);
}

struct model *tui_model_new(const struct model_opts *opts)
{
    struct model *model = tui_memory_new(sizeof(*model));
    if (model == NULL)
        return NULL;
    memset(model, 0, sizeof(*model));
    model->opts = *opts;
    if (model->opts.interval_ns < MS)
        model->opts.interval_ns = MS;
    const struct roce_observer_opts observer = {
        .max_flows = opts->max_flows,
        .link_speed_bps = opts->link_speed_bps,
        .storm_ms = opts->storm_ms,
        .timeout_exp = opts->timeout_exp,
        .idle_ns = opts->idle_ns,
        .idle_keep = ROCE_FLOW_IDLE_KEEP,
        .ops = {.ctx = model,
                .event = on_event,
                .mask = (1U << ROCE_EVENT_GAP) | (1U << ROCE_EVENT_EPISODE) |
                        (1U << ROCE_EVENT_OUT_OF_ORDER) | (1U << ROCE_EVENT_LOSS) |
                        (1U << ROCE_EVENT_NAK) | (1U << ROCE_EVENT_RNR) |
                        (1U << ROCE_EVENT_SILENT) | (1U << ROCE_EVENT_GHOST_ACK) |
                        (1U << ROCE_EVENT_PAIRED) | (1U << ROCE_EVENT_CM) |
                        (1U << ROCE_EVENT_MIRROR_DUP)},
    };
    model->obs = roce_observer_new(&observer);
    if (model->obs != NULL) {
        model->flows = roce_observer_flows(model->obs);
        model->capacity = roce_flow_capacity(model->flows);
        model->track = vast_new(model->capacity, sizeof(*model->track));
        model->rest = vast_new(model->capacity, sizeof(*model->rest));
        model->keeping = calloc(model->capacity / 64 + 1, sizeof(*model->keeping));
        model->pairs = calloc(PAIR_SLOTS, sizeof(*model->pairs));
    }
    if (model->obs == NULL || model->track == NULL || model->rest == NULL ||
        model->keeping == NULL || model->pairs == NULL ||
        tui_ring_init(&model->kept, opts->ring_bytes / KEEP_SHARE, opts->ring_slice) != 0 ||
        tui_ring_init(&model->ring, opts->ring_bytes, opts->ring_slice) != 0) {
        tui_model_del(model);
        return NULL;
    }
    model->keep_budget = KEEP_PER_INTERVAL;
    model->epoch = 2; /* all zero tracks are older than the interval before */
    model->generation = 1;
    return model;
}

void tui_model_del(struct model *model)
{
    if (model == NULL)
        return;
    roce_observer_del(model->obs);
    vast_del(model->track, model->capacity, sizeof(*model->track));
    vast_del(model->rest, model->capacity, sizeof(*model->rest));
    free(model->keeping);
    tui_ring_free(&model->kept);
    free(model->pairs);
    tui_ring_free(&model->ring);
    free(model);
}

uint64_t tui_model_frames(const struct model *model)
{
    return model->frames;
}

const struct ring *tui_model_ring(const struct model *model)
{
    return &model->ring;
}

const struct ring *tui_model_kept(const struct model *model)
{
    return &model->kept;
}

void tui_model_tune(struct model *model, uint32_t ce_permille, uint32_t cnp_per_sec)
{
    model->opts.ce_permille = ce_permille;
    model->opts.cnp_per_sec = cnp_per_sec;
}

void tui_model_sample(struct model *model)
{
    if (!model->pausing && model->count.xoff[0] == 0) {
        bool any = false;
        for (int i = 0; i < SERIES_PRIORITIES; i++)
            any = any || model->count.xoff[i] > 0 || model->count.xon[i] > 0;
        if (!any)
            return;
    }
    struct roce_pause_entry entry;
    struct bin all = {0};
    uint32_t cursor = 0;
    model->pausing = false;
    while (roce_observer_pause(model->obs, &cursor, &entry)) {
        all.paused_ns[entry.priority] += entry.paused_ns;
        model->pausing = model->pausing || entry.paused_now;
    }
    for (int i = 0; i < SERIES_PRIORITIES; i++)
        model->count.paused_ns[i] += all.paused_ns[i] - model->paused.paused_ns[i];
    model->paused = all;
}

static void note_drops(struct model *model)
{
    const uint64_t lost = model->dropped - model->dropped_before;
    if (lost == 0)
        return;
    const roce_tstamp until = tui_series_end(&model->recent);
    model->dropped_before = model->dropped;
    tui_log_note(&model->log,
                 &(struct log_entry){.ts = until - 1, .type = LOG_TYPE_CAPTURE, .count = lost},
                 2 * model->opts.interval_ns);
}

/* What thresholds say of the interval that ends. */
static void note_rates(struct model *model, roce_tstamp ts)
{
    for (int i = 0; i < ROCE_DSCP_COUNT; i++) {
        const uint64_t data = model->dscp_data[i], ce = model->dscp_ce[i];
        if (data >= CE_FRAMES_MIN && ce * 1000 > data * model->opts.ce_permille)
            tui_log_note(&model->log,
                         &(struct log_entry){.ts = ts,
                                             .type = LOG_TYPE_CE_RATE,
                                             .code = (uint8_t)i,
                                             .count = ce * 1000 / data},
                         0);
    }
    memset(model->dscp_data, 0, sizeof(model->dscp_data));
    memset(model->dscp_ce, 0, sizeof(model->dscp_ce));
    const double seconds = (double)model->opts.interval_ns / 1e9;
    if (model->opts.cnp_per_sec > 0 &&
        (double)model->recent.open.cnps > model->opts.cnp_per_sec * seconds)
        tui_log_note(&model->log,
                     &(struct log_entry){
                         .ts = ts, .type = LOG_TYPE_CNP_RATE, .count = model->recent.open.cnps},
                     0);
}

static void begin(struct model *model, roce_tstamp ts)
{
    const uint64_t length = model->opts.interval_ns;
    if (!model->begun)
        model->first = ts;
    model->begun = true;
    model->now = ts;
    tui_series_begin(&model->recent, ts - ts % length, length, false);
    tui_series_begin(&model->whole, ts - ts % FINEST, FINEST, true);
    model->next_end = tui_series_end(&model->whole);
    model->epoch += 2;
    model->has_rates = false;
}

/* Moves the open counters into the open bins. */
static void flush(struct model *model)
{
    tui_model_sample(model);
    model->count.dropped = 0;
    tui_bin_add(&model->recent.open, &model->count);
    tui_bin_add(&model->whole.open, &model->count);
    tui_bin_add(&model->sum, &model->count);
    model->count = (struct bin){0};
}

/* Ends the bins that are over at |ts|. */
static void settle(struct model *model, roce_tstamp ts)
{
    if (ts < model->next_end)
        return;
    flush(model);
    if (ts >= tui_series_end(&model->recent)) {
        model->recent.open.dropped = model->dropped - model->dropped_before;
        note_rates(model, tui_series_end(&model->recent));
        note_drops(model);
        model->rates = model->recent.open;
        model->has_rates = true;
        model->keep_budget = KEEP_PER_INTERVAL;
        model->epoch++;
        tui_series_close(&model->recent);
        if (ts >= tui_series_end(&model->recent)) {
            tui_series_skip(&model->recent, ts);
            model->rates = (struct bin){0};
            model->epoch++;
        }
    }
    if (ts >= tui_series_end(&model->whole))
        tui_series_skip(&model->whole, ts);
    const roce_tstamp a = tui_series_end(&model->recent), b = tui_series_end(&model->whole);
    model->next_end = a < b ? a : b;
}

/* Moves the model's time to that of a frame; one that does not fit is left alone, unless many
 * follow: then the clock was set. */
static void move_to(struct model *model, roce_tstamp ts)
{
    if (ts == 0)
        return;
    if (!model->begun)
        begin(model, ts);
    const bool stray = ts > model->now + STRAY_AHEAD || ts + STRAY_BEHIND < model->now;
    model->strays = stray ? model->strays + 1 : 0;
    if (model->strays >= STRAYS_MAX) {
        flush(model);
        begin(model, ts);
        model->strays = 0;
        return;
    }
    if (stray || ts <= model->now)
        return;
    model->now = ts;
    settle(model, ts);
}

static struct pauser *pauser_of(struct model *model, const uint8_t mac[6], uint8_t priority)
{
    for (uint32_t i = 0; i < model->pausers; i++)
        if (model->pauser[i].priority == priority && memcmp(model->pauser[i].mac, mac, 6) == 0)
            return &model->pauser[i];
    if (model->pausers == MODEL_PAUSERS)
        return NULL;
    struct pauser *pauser = &model->pauser[model->pausers++];
    *pauser = (struct pauser){.priority = priority};
    memcpy(pauser->mac, mac, 6);
    return pauser;
}

static void note_pause(struct model *model, const struct roce_frame *frame,
                       const struct roce_packet *pkt, uint8_t priority, uint16_t quanta)
{
    if (quanta > 0)
        model->count.xoff[priority]++;
    else
        model->count.xon[priority]++;
    struct pauser *pauser = pauser_of(model, pkt->eth.src, priority);
    if (pauser == NULL)
        return;
    const uint64_t ns = roce_pause_ns(quanta, model->opts.link_speed_bps);
    const bool over = pauser->until != 0 && frame->ts >= pauser->until;
    struct log_entry entry = {
        .ts = frame->ts, .frame = frame->number, .code = priority, .has_mac = true, .duration = -1};
    memcpy(entry.mac, pauser->mac, 6);
    if (quanta > 0 && (!pauser->paused || over)) {
        entry.type = LOG_TYPE_PFC_XOFF;
        if (ns > 0)
            entry.duration = (roce_duration)ns;
        tui_log_note(&model->log, &entry, model->opts.interval_ns);
        pauser->since = frame->ts;
    } else if (quanta == 0 && pauser->paused && !over) {
        entry.type = LOG_TYPE_PFC_XON;
        if (frame->ts >= pauser->since)
            entry.duration = (roce_duration)(frame->ts - pauser->since);
        tui_log_note(&model->log, &entry, model->opts.interval_ns);
    }
    pauser->paused = quanta > 0;
    pauser->until = ns > 0 ? frame->ts + ns : 0;
}

static void count_pauses(struct model *model, const struct roce_frame *frame,
                         const struct roce_packet *pkt)
{
    if (pkt->status != ROCE_STATUS_OK)
        return;
    if (pkt->kind == ROCE_KIND_PAUSE) {
        note_pause(model, frame, pkt, ROCE_PAUSE_PRIORITY, pkt->pause.quanta);
        return;
    }
    for (uint8_t i = 0; i < 8; i++)
        if ((pkt->pfc.enable >> i & 1) != 0)
            note_pause(model, frame, pkt, i, pkt->pfc.quanta[i]);
}

static void count_ecn(struct model *model, const struct roce_packet *pkt)
{
    const bool ce = (pkt->ip.tos & 3) == ROCE_ECN_CE;
    model->count.ce += ce;
    if (pkt->op == ROCE_OP_CNP)
        return;
    model->count.data++;
    model->dscp_data[pkt->ip.tos >> 2]++;
    model->dscp_ce[pkt->ip.tos >> 2] += ce;
}

static void count_answers(struct bin *count, const struct roce_packet *pkt)
{
    const enum roce_aeth_kind kind = roce_aeth_kind(pkt->aeth.syndrome);
    count->naks += kind == ROCE_AETH_NAK && roce_aeth_value(pkt->aeth.syndrome) <= ROCE_NAK_MAX;
    count->rnr_naks += kind == ROCE_AETH_RNR_NAK;
}

static void count_frame(struct model *model, const struct roce_frame *frame,
                        const struct roce_packet *pkt, bool icrc_bad, const struct roce_verdict *v)
{
    struct bin *count = &model->count;
    struct track *track = &model->track[v->flow];
    if ((v->flags & ROCE_V_NEW_FLOW) != 0) {
        *track = (struct track){.epoch = model->epoch};
        tui_model_keep_forget(model, v->flow);
        model->rest[v->flow] = (struct track_rest){0};
    }
    if ((v->flags & ROCE_V_MIRROR_DUP) != 0) {
        count->mirror_duplicates++;
        return;
    }
    if (track->epoch != model->epoch) {
        struct track_rest *rest = &model->rest[v->flow];
        const bool before = track->epoch + 1 == model->epoch;
        rest->bytes = before ? track->bytes : 0;
        rest->packets = before ? track->packets : 0;
        rest->cnps = before ? track->cnps : 0;
        track->bytes = track->packets = track->cnps = 0;
        track->epoch = model->epoch;
    }
    track->packets++;
    track->bytes += frame->origlen;
    count->packets++;
    count->bytes += frame->origlen;
    count_ecn(model, pkt);
    if (pkt->op == ROCE_OP_CNP) {
        count->cnps++;
        track->cnps++;
    } else if (pkt->op == ROCE_OP_ACK && (pkt->has & ROCE_H_AETH) != 0) {
        count_answers(count, pkt);
    }
    count->messages += v->completed;
    if ((v->flags & (ROCE_V_GAP | ROCE_V_RETRANSMITTED)) != 0) {
        count->gap_events += (v->flags & ROCE_V_GAP) != 0;
        count->gap_psns += (v->flags & ROCE_V_GAP) != 0 ? v->missing : 0;
        count->resent += (v->flags & ROCE_V_RETRANSMITTED) != 0;
        count->resent_dup += (v->flags & ROCE_V_DUP) != 0;
    }
    if (icrc_bad) {
        count->icrc_bad++;
        struct log_entry entry = {.ts = frame->ts,
                                  .frame = frame->number,
                                  .type = LOG_TYPE_ICRC,
                                  .has_flow = true,
                                  .has_psn = true,
                                  .flow = v->flow,
                                  .dest_qp = pkt->bth.dqpn,
                                  .psn = pkt->bth.psn,
                                  .ip_version = pkt->ip.version,
                                  .duration = -1};
        memcpy(entry.src, pkt->ip.src, 16);
        memcpy(entry.dst, pkt->ip.dst, 16);
        tui_log_note(&model->log, &entry, model->opts.interval_ns);
    }
}

/* What people look for in the frames around it. */
static bool is_incident(const struct roce_packet *pkt, const struct roce_verdict *v)
{
    if ((v->flags & (ROCE_V_GAP | ROCE_V_EPISODE | ROCE_V_READ_RESPONSE_GAP)) != 0)
        return true;
    return pkt->op == ROCE_OP_ACK && (pkt->has & ROCE_H_AETH) != 0 &&
           roce_aeth_kind(pkt->aeth.syndrome) == ROCE_AETH_NAK;
}

static void keep_frame(struct model *model, const struct roce_frame *frame,
                       const struct roce_packet *pkt, bool icrc_bad, const struct roce_verdict *v)
{
    const bool has_bth = (pkt->has & ROCE_HAS_BTH) != 0;
    struct track *track = v->flow != ROCE_FLOW_NONE ? &model->track[v->flow] : NULL;
    struct ring_record record = {
        .before = track != NULL ? track->newest : 0,
        .number = frame->number,
        .ts = frame->ts,
        .flow = v->flow,
        .flags = v->flow != ROCE_FLOW_NONE ? v->flags : 0,
        .caplen = frame->caplen,
        .origlen = frame->origlen,
        .psn = has_bth ? pkt->bth.psn : 0,
        .psns = v->flow != ROCE_FLOW_NONE ? v->psns : 0,
        .missing = v->flow != ROCE_FLOW_NONE ? v->missing : 0,
        .opcode = has_bth ? pkt->bth.opcode : 0,
        .op = has_bth ? pkt->op : (uint8_t)ROCE_OP_NONE,
        .syndrome = (pkt->has & ROCE_H_AETH) != 0 ? pkt->aeth.syndrome : 0,
        .ecn = (pkt->has & ROCE_HAS_IP) != 0 ? pkt->ip.tos & 3 : 0,
        .iface = frame->iface < UINT8_MAX ? (uint8_t)frame->iface : UINT8_MAX,
        .has_bth = has_bth,
        .icrc_bad = icrc_bad,
    };
    const uint64_t mark = tui_ring_push(&model->ring, &record, frame);
    if (track == NULL)
        return;
    track->newest = mark;
    if (is_incident(pkt, v))
        tui_model_keep(model, v->flow, v->peer);
    if (model->keepers > 0)
        tui_model_keep_on(model, mark);
}

static void match(struct model *model, const struct roce_frame *frame,
                  const struct roce_packet *pkt, const struct roce_icrc *icrc,
                  const struct roce_verdict *verdict)
{
    if (verdict->flow == ROCE_FLOW_NONE || model->track[verdict->flow].matched == model->generation)
        return;
    struct roce_view view;
    roce_view_init(&view, frame, pkt, icrc);
    view.verdict = verdict;
    view.link_speed_bps = model->opts.link_speed_bps;
    if (roce_filter_match(model->filter, &view))
        model->track[verdict->flow].matched = model->generation;
}

/* What the verdict says of one frame. */
static void account(struct model *model, const struct model_batch *batch, int i,
                    const struct roce_verdict *verdict)
{
    const struct roce_frame *frame = &batch->frame[i];
    const struct roce_packet *pkt = &batch->packet[i];
    const bool roce = roce_packet_is_roce(pkt);
    const bool icrc_bad = batch->checked && roce && batch->icrc[i].status == ROCE_ICRC_BAD;
    model->count.frames++;
    if (verdict->flow != ROCE_FLOW_NONE) {
        count_frame(model, frame, pkt, icrc_bad, verdict);
        keep_frame(model, frame, pkt, icrc_bad, verdict);
    } else if (pkt->kind == ROCE_KIND_PFC || pkt->kind == ROCE_KIND_PAUSE) {
        count_pauses(model, frame, pkt);
        keep_frame(model, frame, pkt, icrc_bad, verdict);
    } else if (roce) {
        keep_frame(model, frame, pkt, icrc_bad, verdict);
    }
}

static void fetch_tracks(const struct model *model, int n)
{
#if defined(__GNUC__)
    for (int i = 0; i < n; i++)
        if (model->verdict[i].flow != ROCE_FLOW_NONE)
            __builtin_prefetch(&model->track[model->verdict[i].flow], 1);
#else
    (void)model;
    (void)n;
#endif
}

/* Some at a time: few enough that what was decoded is still in the first cache when it is accounted
 * for, enough that the lines of their flows have come by then. */
static void count_all(struct model *model, const struct model_batch *batch, int from, int to)
{
    for (int at = from; at < to; at += MODEL_CHUNK) {
        const int n = to - at < MODEL_CHUNK ? to - at : MODEL_CHUNK;
        const struct roce_icrc *icrc = batch->checked ? &batch->icrc[at] : NULL;
        if (model->filter == NULL)
            roce_observer_update_brief(model->obs, &batch->frame[at], &batch->packet[at], icrc, n,
                                       model->verdict);
        for (int i = 0; i < n && model->filter != NULL; i++) /* the filter may ask for anything */
            (void)roce_observer_update(model->obs, &batch->frame[at + i], &batch->packet[at + i],
                                       icrc != NULL ? &icrc[i] : NULL, &model->verdict[i]);
        fetch_tracks(model, n);
        for (int i = 0; i < n; i++) {
            account(model, batch, at + i, &model->verdict[i]);
            if (model->filter != NULL)
                match(model, &batch->frame[at + i], &batch->packet[at + i],
                      icrc != NULL ? &icrc[i] : NULL, &model->verdict[i]);
        }
    }
}

void tui_model_feed(struct model *model, const struct model_batch *batch, int from, int to)
{
    model->over = false;
    model->frames += (uint64_t)(to - from);
    while (from < to) {
        /* Frames of one interval at a time, so that what is asked of the observer at its end holds
         * nothing of the next. */
        move_to(model, batch->frame[from].ts);
        int n = from + 1;
        while (n < to && batch->frame[n].ts < model->next_end)
            n++;
        count_all(model, batch, from, n);
        if (batch->frame[n - 1].ts > model->now && batch->frame[n - 1].ts < model->next_end)
            model->now = batch->frame[n - 1].ts;
        from = n;
    }
}

void tui_model_advance(struct model *model, roce_tstamp now)
{
    if (!model->begun || now <= model->now || now > model->now + STRAY_AHEAD)
        return;
    model->now = now;
    settle(model, now);
}

/* Of drops it is known only that they came between two readings of the counter, and the reader of a
 * ring looks at it some ms before we ask. The gap that they make is in the frames behind them. */
static void add_drops(struct model *model, uint64_t lost, roce_tstamp at)
{
    const uint64_t length = model->opts.interval_ns;
    roce_tstamp from = model->now, until = model->now;
    if (at > model->now) {
        from = model->counted_at > DROPS_SLACK ? model->counted_at - DROPS_SLACK : model->now;
        until = at + DROPS_SLACK;
    }
    from -= from % length;
    until += length - until % length;
    if (model->n_drops > 0) {
        const uint32_t last = (model->n_drops - 1) % SNAP_DROPS_MAX;
        if (from < model->drops[last].until) {
            if (until > model->drops[last].until)
                model->drops[last].until = until;
            model->drops[last].count += lost;
            return;
        }
    }
    const uint32_t place = model->n_drops++ % SNAP_DROPS_MAX;
    model->drops[place].from = from;
    model->drops[place].until = until;
    model->drops[place].count = lost;
}

void tui_model_dropped(struct model *model, uint64_t total, roce_tstamp at)
{
    if (total > model->dropped)
        add_drops(model, total - model->dropped, at);
    model->counted_at = model->now;
    model->dropped = total;
    roce_observer_dropped(model->obs, total);
}

void tui_model_dropped_before(struct model *model, uint64_t total)
{
    model->dropped = model->dropped_before = total;
}

void tui_model_finish(struct model *model)
{
    roce_observer_finish(model->obs);
    if (model->begun && !model->over) {
        flush(model);
        note_rates(model, model->now);
        note_drops(model);
    }
    model->over = true;
}

/* Runs the filter over the frames that are kept, as far as their bytes are. */
static void match_ring(struct model *model)
{
    for (uint64_t mark = tui_ring_oldest(&model->ring); mark != 0;
         mark = tui_ring_next(&model->ring, mark)) {
        const struct ring_record *record = tui_ring_get(&model->ring, mark);
        struct roce_frame frame;
        struct roce_packet pkt;
        if (record->data_len == 0 || record->flow == ROCE_FLOW_NONE)
            continue;
        struct roce_verdict verdict = {.flow = record->flow,
                                       .peer = ROCE_FLOW_NONE,
                                       .connection = ROCE_FLOW_NONE,
                                       .flags = record->flags,
                                       .cause = ROCE_CAUSE_NONE,
                                       .message_op = ROCE_MESSAGE_NONE,
                                       .rtt = -1,
                                       .latency = -1,
                                       .wait = -1,
                                       .delta = -1};
        tui_ring_frame(&model->ring, record, &frame);
        roce_packet_decode(&frame, NULL, &pkt);
        const struct roce_icrc icrc = {.status =
                                           record->icrc_bad ? ROCE_ICRC_BAD : ROCE_ICRC_UNCHECKED};
        match(model, &frame, &pkt, &icrc, &verdict);
    }
}

void tui_model_filter(struct model *model, const struct roce_filter *filter)
{
    model->filter = filter;
    model->generation++;
    if (filter != NULL)
        match_ring(model);
}
