/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Flow state of the open capture file: one record for each packet, completed by late verdicts. */
#include "analysis.h"

#include <glib.h>
#include <string.h>

#include <roce/psn.h>

#define CHUNK_RECORDS  4096
#define CHUNK_FRAMES   16384
#define KEPT_REQUESTS  16   /* newest requests of a flow that name memory, for what NAKs refuse */
#define PENDING_NAKS   8    /* of a flow whose pair is not known yet */
#define COPIES         1024 /* frames that look captured twice, kept until that is decided */
#define EPISODE_FRAMES 4096 /* frames behind a restart that are told its cause */
#define QUEUE_LOOKED_AT                                                      \
    4096 /* requests without acknowledgement among which a PSN is looked for \
          */

/* Elements in chunks that never move. */
struct chunks {
    uint8_t **chunk;
    uint32_t n, room;
};

struct kept_request {
    uint32_t psn;
    struct refusal what;
};

struct pending_nak {
    uint32_t frame, psn;
};

struct flow_state {
    uint32_t head, tail; /* requests without acknowledgement, oldest first: record number + 1 */
    bool unsorted;       /* the queue holds resent PSNs behind newer ones */
    uint32_t ce_frame;   /* first CE mark behind the newest CNP */
    roce_tstamp ce_ts;
    struct kept_request *kept; /* ring of KEPT_REQUESTS, NULL before the first */
    uint32_t n_kept;
    struct pending_nak *naks; /* ring of PENDING_NAKS, NULL before the first */
    uint32_t n_naks;
};

static struct {
    struct roce_observer *observer;
    struct chunks index; /* by frame number: record number + 1 */
    struct chunks records;
    uint32_t n_records;
    struct flow_state *flows;
    uint32_t n_flows;
    GHashTable *refusals;    /* frame of the NAK -> struct refusal */
    uint32_t copies[COPIES]; /* numbers of records that look like mirror duplicates */
    uint32_t n_copies;
    uint32_t now;     /* frame that is being fed */
    uint64_t updates; /* frames fed */
    uint64_t settled; /* |updates| at the newest finish */
    bool finished, live;
} state;

struct analysis_prefs analysis_prefs;

static void *chunk_at(struct chunks *chunks, uint32_t number, bool make, size_t bytes)
{
    if (number >= chunks->room) {
        if (!make)
            return NULL;
        const uint32_t room = MAX(64, MAX(chunks->room * 2, number + 1));
        chunks->chunk = g_renew(uint8_t *, chunks->chunk, room);
        memset(chunks->chunk + chunks->room, 0, (room - chunks->room) * sizeof(*chunks->chunk));
        chunks->room = room;
    }
    if (chunks->chunk[number] == NULL && make)
        chunks->chunk[number] = g_malloc0(bytes);
    return chunks->chunk[number];
}

static void chunks_free(struct chunks *chunks)
{
    for (uint32_t i = 0; i < chunks->room; i++)
        g_free(chunks->chunk[i]);
    g_free(chunks->chunk);
    *chunks = (struct chunks){0};
}

static struct record *record_at(uint32_t number)
{
    struct record *chunk = chunk_at(&state.records, number / CHUNK_RECORDS, false, 0);
    return chunk + number % CHUNK_RECORDS;
}

static uint32_t number_of(uint64_t frame)
{
    const uint32_t *chunk = frame > UINT32_MAX
                                ? NULL
                                : chunk_at(&state.index, (uint32_t)frame / CHUNK_FRAMES, false, 0);
    return chunk == NULL ? 0 : chunk[frame % CHUNK_FRAMES];
}

static struct record *record_of(uint64_t frame)
{
    const uint32_t number = number_of(frame);
    return number == 0 ? NULL : record_at(number - 1);
}

static struct record *record_new(uint32_t frame)
{
    uint32_t *index =
        chunk_at(&state.index, frame / CHUNK_FRAMES, true, CHUNK_FRAMES * sizeof(*index));
    struct record *chunk = chunk_at(&state.records, state.n_records / CHUNK_RECORDS, true,
                                    CHUNK_RECORDS * sizeof(*chunk));
    struct record *rec = chunk + state.n_records % CHUNK_RECORDS;
    index[frame % CHUNK_FRAMES] = ++state.n_records;
    *rec = (struct record){.frame = frame,
                           .flow = ROCE_FLOW_NONE,
                           .cause = ROCE_CAUSE_NONE,
                           .location = ROCE_LOST_NONE,
                           .op = ROCE_MESSAGE_NONE,
                           .time = -1,
                           .latency = -1,
                           .delta = -1};
    return rec;
}

static struct flow_state *flow_state(uint32_t flow)
{
    if (flow >= state.n_flows) {
        const uint32_t room = MAX(64, MAX(state.n_flows * 2, flow + 1));
        state.flows = g_renew(struct flow_state, state.flows, room);
        memset(state.flows + state.n_flows, 0, (room - state.n_flows) * sizeof(*state.flows));
        state.n_flows = room;
    }
    return &state.flows[flow];
}

static void queue_append(struct flow_state *flow, uint32_t number)
{
    struct record *rec = record_at(number - 1);
    rec->flags |= RECORD_QUEUED;
    rec->acked = 0;
    if (flow->tail == 0) {
        flow->head = number;
        flow->unsorted = false;
    } else {
        struct record *tail = record_at(flow->tail - 1);
        if (roce_psn_diff(rec->psn, tail->psn) <= 0)
            flow->unsorted = true;
        tail->acked = number;
    }
    flow->tail = number;
}

/* |frame| acknowledges all requests of the flow up to |psn|. */
static void queue_acked(struct flow_state *flow, uint32_t psn, uint32_t frame)
{
    struct record *before = NULL;
    uint32_t before_number = 0;
    for (uint32_t number = flow->head; number != 0;) {
        struct record *rec = record_at(number - 1);
        const uint32_t next = rec->acked;
        if (rec->frame < frame && roce_psn_diff(psn, rec->psn) >= 0) {
            rec->acked = frame;
            rec->flags = (rec->flags & ~(uint32_t)RECORD_QUEUED) | RECORD_ACKED;
            if (before != NULL)
                before->acked = next;
            else
                flow->head = next;
        } else {
            before = rec;
            before_number = number;
            if (!flow->unsorted)
                break;
        }
        number = next;
    }
    if (flow->head == 0)
        flow->tail = 0;
    else if (flow->unsorted)
        flow->tail = before_number;
}

/* A message begins at its first frame's record, which lists it under the frame that completes it.
 */
static void on_message(const struct roce_event *event)
{
    struct record *first = record_of(event->evidence[0]);
    if (event->flow < state.n_flows && event->frame != 0)
        queue_acked(flow_state(event->flow), roce_psn_add(event->psn, (int64_t)event->count - 1),
                    (uint32_t)event->frame);
    if (first == NULL || (first->flags & RECORD_DONE) != 0)
        return;
    if (event->evidence[0] != state.now &&
        (first->flow != event->flow || (first->flags & ROCE_V_REQUEST) == 0))
        return;
    first->flags |= RECORD_BEGINS | RECORD_DONE;
    first->message_packet = (uint32_t)event->evidence[1];
    first->latency = event->duration;
    first->done = (uint32_t)event->evidence[2];
    first->message_frame = 0;
    struct record *completing = record_of(event->evidence[2]);
    if (completing != NULL && completing != first) {
        first->message_frame = completing->acked;
        completing->acked = number_of(event->evidence[0]);
    }
}

static void on_episode(const struct roce_event *event)
{
    const uint64_t first = event->evidence[2];
    struct record *rec = first == 0 ? NULL : record_of(first);
    if (rec == NULL || rec->flow != event->flow)
        return;
    rec->location = event->location;
    for (uint64_t frame = first; frame <= event->evidence[3] && frame < first + EPISODE_FRAMES;
         frame++) {
        rec = record_of(frame);
        if (rec != NULL && rec->flow == event->flow && (rec->flags & ROCE_V_RETRANSMITTED) != 0)
            rec->cause = event->cause;
    }
    struct record *rnr = event->cause == ROCE_CAUSE_RNR ? record_of(event->evidence[1]) : NULL;
    if (rnr != NULL && event->duration >= 0) {
        rnr->time = event->duration;
        rnr->flags |= RECORD_RNR_WAIT;
    }
}

/* The newest request at or in front of the refused PSN tells which memory it named, when it belongs
 * to the refused message. */
static void find_refusal(const struct flow_state *flow, const struct record *nak, uint32_t psn,
                         const struct record *refused)
{
    for (uint32_t i = 0; i < flow->n_kept && i < KEPT_REQUESTS; i++) {
        const struct kept_request *kept = &flow->kept[(flow->n_kept - 1 - i) % KEPT_REQUESTS];
        if (roce_psn_diff(psn, kept->psn) < 0)
            continue;
        if (kept->what.frame == refused->frame ||
            kept->what.frame == analysis_message_first(refused)) {
            struct refusal *what = g_new(struct refusal, 1);
            *what = kept->what;
            g_hash_table_insert(state.refusals, GUINT_TO_POINTER(nak->frame), what);
        }
        return;
    }
}

static void resolve_nak(uint32_t frame, uint32_t psn, uint32_t peer, uint32_t refused_frame)
{
    struct record *nak = record_of(frame);
    const struct record *refused = record_of(refused_frame);
    if (nak == NULL || refused == NULL || peer >= state.n_flows)
        return;
    nak->ref = refused_frame;
    find_refusal(flow_state(peer), nak, psn, refused);
}

/* The request that takes |psn| and is not acknowledged, or 0. */
static uint32_t find_request(const struct flow_state *flow, uint32_t psn)
{
    uint32_t number = flow->head;
    for (uint32_t i = 0; number != 0 && i < QUEUE_LOOKED_AT; i++) {
        const struct record *rec = record_at(number - 1);
        const int32_t behind = roce_psn_diff(rec->psn, psn);
        if (behind >= 0 && (uint32_t)behind < rec->span)
            return rec->frame;
        number = rec->acked;
    }
    return 0;
}

static void on_nak(const struct roce_event *event)
{
    if (event->about_frame != 0) {
        resolve_nak((uint32_t)event->frame, event->psn, event->peer, (uint32_t)event->about_frame);
        return;
    }
    if (event->peer != ROCE_FLOW_NONE)
        return;
    struct flow_state *flow = flow_state(event->flow);
    if (flow->naks == NULL)
        flow->naks = g_new0(struct pending_nak, PENDING_NAKS);
    flow->naks[flow->n_naks++ % PENDING_NAKS] =
        (struct pending_nak){.frame = (uint32_t)event->frame, .psn = event->psn};
}

static void on_paired(uint32_t responses, uint32_t requests)
{
    struct flow_state *flow = flow_state(responses);
    const uint32_t n = MIN(flow->n_naks, PENDING_NAKS);
    for (uint32_t i = 0; i < n; i++)
        resolve_nak(flow->naks[i].frame, flow->naks[i].psn, requests,
                    find_request(flow_state(requests), flow->naks[i].psn));
    /* The array may have moved. */
    flow = flow_state(responses);
    g_free(flow->naks);
    flow->naks = NULL;
    flow->n_naks = 0;
}

/* What an acknowledgement from before the pair was known is about comes as an event only. */
static void on_acked(const struct roce_event *event)
{
    if (event->flow < state.n_flows && event->frame != 0)
        queue_acked(flow_state(event->flow), event->psn, (uint32_t)event->frame);
    struct record *rec = event->about_frame == 0 ? NULL : record_of(event->frame);
    if (rec != NULL && rec->ref == 0) {
        rec->ref = (uint32_t)event->about_frame;
        rec->time = event->duration;
    }
}

static void on_event(void *ctx, const struct roce_event *event)
{
    (void)ctx;
    struct record *rec;
    switch ((enum roce_event_kind)event->kind) {
    case ROCE_EVENT_ACKED:
        on_acked(event);
        break;
    case ROCE_EVENT_MESSAGE:
        on_message(event);
        break;
    case ROCE_EVENT_EPISODE:
        on_episode(event);
        break;
    case ROCE_EVENT_LOSS:
        rec = record_of(event->evidence[0]);
        if (rec != NULL)
            rec->location = event->location;
        break;
    case ROCE_EVENT_OUT_OF_ORDER:
        rec = record_of(event->about_frame);
        if (rec != NULL)
            rec->flags |= RECORD_OUT_OF_ORDER;
        break;
    case ROCE_EVENT_NAK:
    case ROCE_EVENT_RNR:
        on_nak(event);
        break;
    case ROCE_EVENT_PAIRED:
        on_paired(event->flow, event->peer);
        on_paired(event->peer, event->flow);
        break;
    case ROCE_EVENT_FLOW_EVICTED:
        if (event->flow < state.n_flows) {
            g_free(state.flows[event->flow].kept);
            g_free(state.flows[event->flow].naks);
            state.flows[event->flow] = (struct flow_state){0};
        }
        break;
    case ROCE_EVENT_FLOW_NEW:
    case ROCE_EVENT_GAP:
    case ROCE_EVENT_UNPAIRED:
    case ROCE_EVENT_MTU:
    case ROCE_EVENT_CM:
    case ROCE_EVENT_GHOST_ACK:
    case ROCE_EVENT_MIRROR_DUP:
    case ROCE_EVENT_SILENT:
    case ROCE_EVENT_KINDS:
        break;
    }
}

static void keep_request(struct flow_state *flow, const struct roce_packet *pkt, uint32_t frame)
{
    if ((pkt->has & (ROCE_H_RETH | ROCE_H_ATOMIC)) == 0)
        return;
    if (flow->kept == NULL)
        flow->kept = g_new0(struct kept_request, KEPT_REQUESTS);
    struct kept_request *kept = &flow->kept[flow->n_kept++ % KEPT_REQUESTS];
    kept->psn = pkt->bth.psn;
    kept->what = (struct refusal){.frame = frame};
    if ((pkt->has & ROCE_H_RETH) != 0) {
        kept->what.va = pkt->reth.va;
        kept->what.rkey = pkt->reth.rkey;
        kept->what.length = pkt->reth.dma_length;
    } else {
        kept->what.va = pkt->atomic_eth.va;
        kept->what.rkey = pkt->atomic_eth.rkey;
        kept->what.length = sizeof(pkt->atomic_eth.swap_add);
    }
}

/* A CNP answers the first CE mark on the frames of the sender that it throttles: the peer flow. */
static void watch_congestion(struct record *rec, const struct roce_frame *frame,
                             const struct roce_packet *pkt, const struct roce_verdict *v)
{
    if ((v->flags & ROCE_V_MIRROR_DUP) != 0)
        return;
    if ((v->flags & ROCE_V_CNP) != 0) {
        struct flow_state *marked = v->peer == ROCE_FLOW_NONE ? NULL : flow_state(v->peer);
        if (marked != NULL && marked->ce_frame != 0) {
            rec->ref = marked->ce_frame;
            rec->time = (int64_t)(frame->ts - marked->ce_ts);
            rec->flags |= RECORD_CNP_ANSWERS;
            marked->ce_frame = 0;
        }
        return;
    }
    struct flow_state *flow = flow_state(v->flow);
    if (roce_ip_ecn(&pkt->ip) == ROCE_ECN_CE && flow->ce_frame == 0) {
        flow->ce_frame = (uint32_t)frame->number;
        flow->ce_ts = frame->ts;
    }
}

/* The length of a SEND is known with its last packet. */
static void note_bytes(struct record *first, uint64_t bytes)
{
    if (first != NULL && first->message_bytes < bytes)
        first->message_bytes = (uint32_t)bytes;
}

/* Events of this very frame may have written to the record before. */
static void record_fill(struct record *rec, const struct roce_verdict *v,
                        const struct roce_packet *pkt, uint32_t frame)
{
    const bool response = (v->flags & ROCE_V_RESPONSE) != 0;
    rec->flow = v->flow;
    rec->flags |= v->flags;
    rec->cause = v->cause;
    rec->op = v->message_op;
    rec->psn = roce_psn_add(pkt->bth.psn, v->psns > 0 ? (int64_t)v->psns - 1 : 0);
    rec->span = response ? v->completed : v->psns;
    rec->missing = (v->flags & ROCE_V_RETRANSMITTED) != 0 ? v->expected_psn : v->missing;
    rec->in_flight = v->in_flight;
    rec->message = (uint32_t)v->message;
    rec->delta = v->delta;
    if (response) {
        rec->latency = v->latency;
        if ((rec->flags & RECORD_RNR_WAIT) == 0 && v->rtt >= 0)
            rec->time = v->rtt;
        if (v->request_frame != 0)
            rec->ref = (uint32_t)v->request_frame;
        rec->message_frame = (uint32_t)v->message_frame;
        return;
    }
    if ((v->flags & ROCE_V_EPISODE) != 0)
        rec->time = v->wait;
    if ((v->flags & ROCE_V_RETRANSMITTED) != 0)
        rec->ref = (uint32_t)v->resent_frame;
    if ((v->flags & ROCE_V_REQUEST) != 0)
        note_bytes(record_of(v->message_frame), v->message_bytes);
    if ((rec->flags & RECORD_DONE) != 0)
        return;
    if ((v->flags & ROCE_V_REQUEST) != 0 && v->message_frame == frame) {
        rec->flags |= RECORD_BEGINS;
        return;
    }
    rec->message_frame = (uint32_t)v->message_frame;
    rec->message_packet = v->message_packet;
    rec->message_bytes = (uint32_t)v->message_bytes;
}

/* |span| of a copy, which takes no PSN, keeps what it is if it is none of the mirror's. */
static void keep_copy(struct record *rec, const struct roce_packet *pkt, uint32_t number)
{
    if (state.n_copies == COPIES)
        return;
    state.copies[state.n_copies++] = number;
    rec->span = pkt->op == ROCE_OP_READ_RESPONSE ? ROCE_V_READ_RESPONSE_DUP
                : pkt->response || pkt->op >= ROCE_OP_CNP
                    ? 0
                    : (uint32_t)(ROCE_V_REQUEST | ROCE_V_RETRANSMITTED | ROCE_V_DUP);
}

/* The first copies of a capture are called the mirror's until it is clear that copies are not the
 * rule: then the network or the sender has made them. */
static void settle_copies(void)
{
    const struct roce_flow_table *flows = roce_observer_flows(state.observer);
    struct roce_flow_counters counters;
    for (uint32_t i = 0; i < state.n_copies; i++) {
        struct record *rec = record_at(state.copies[i] - 1);
        if (!roce_flow_counters(flows, rec->flow, &counters) || counters.mirror_duplicates != 0)
            continue;
        rec->flags = (rec->flags & ~(uint32_t)ROCE_V_MIRROR_DUP) | rec->span;
        rec->missing = rec->psn;
        rec->span = 0;
    }
    state.n_copies = 0;
}

static bool is_acknowledged(const struct roce_packet *pkt)
{
    return pkt->service == ROCE_SERVICE_RC || pkt->service == ROCE_SERVICE_XRC ||
           pkt->service == ROCE_SERVICE_RD;
}

const struct record *analysis_add(const struct roce_frame *frame, const struct roce_packet *pkt,
                                  const struct roce_icrc *icrc)
{
    /* One packet of a frame moves the state: a second one (an ICMP error's quote) does not. */
    if (number_of(frame->number) != 0)
        return analysis_find((uint32_t)frame->number);
    if (state.observer == NULL) {
        const struct roce_observer_opts opts = {.link_speed_bps = analysis_prefs.link_speed_bps,
                                                .ops = {.event = on_event}};
        state.observer = roce_observer_new(&opts);
        if (state.observer == NULL)
            return NULL;
    }
    struct record *rec = record_new((uint32_t)frame->number);
    const uint32_t number = state.n_records;
    struct roce_verdict v;
    state.now = (uint32_t)frame->number;
    state.updates++;
    const bool counted = roce_observer_update(state.observer, frame, pkt, icrc, &v);
    state.now = 0;
    rec->icrc = icrc != NULL ? icrc->status : ROCE_ICRC_UNCHECKED;
    if (!counted)
        return NULL;
    record_fill(rec, &v, pkt, (uint32_t)frame->number);
    if ((v.flags & ROCE_V_MIRROR_DUP) != 0)
        keep_copy(rec, pkt, number);
    watch_congestion(rec, frame, pkt, &v);
    if ((v.flags & ROCE_V_REQUEST) != 0) {
        struct flow_state *flow = flow_state(v.flow);
        keep_request(flow, pkt, (uint32_t)frame->number);
        if (is_acknowledged(pkt) && (rec->flags & RECORD_ACKED) == 0)
            queue_append(flow, number);
    }
    return rec;
}

bool analysis_began(void)
{
    return state.observer != NULL;
}

void analysis_other(const struct roce_frame *frame, const struct roce_packet *pkt)
{
    struct roce_verdict v;
    if (number_of(frame->number) != 0)
        return;
    state.updates++;
    roce_observer_update(state.observer, frame, pkt, NULL, &v);
}

const struct record *analysis_find(uint32_t frame)
{
    const struct record *rec = record_of(frame);
    return rec == NULL || rec->flow == ROCE_FLOW_NONE ? NULL : rec;
}

uint32_t analysis_message_first(const struct record *rec)
{
    return (rec->flags & RECORD_BEGINS) != 0 ? rec->frame : rec->message_frame;
}

const struct record *analysis_message(const struct record *rec)
{
    const struct record *first = analysis_find(analysis_message_first(rec));
    return first != NULL && (first->flags & RECORD_BEGINS) != 0 ? first : NULL;
}

const struct record *analysis_completed(const struct record *rec, uint32_t *cursor)
{
    const bool begin = *cursor == 0;
    const uint32_t number = begin ? rec->acked : record_at(*cursor - 1)->message_frame;
    if ((rec->flags & ROCE_V_RESPONSE) == 0 || number == 0)
        return NULL;
    *cursor = number;
    return record_at(number - 1);
}

bool analysis_flow(uint32_t flow, struct roce_flow_info *out)
{
    return state.observer != NULL && roce_flow_info(roce_observer_flows(state.observer), flow, out);
}

const struct refusal *analysis_refusal(uint32_t nak_frame)
{
    return state.refusals == NULL
               ? NULL
               : g_hash_table_lookup(state.refusals, GUINT_TO_POINTER(nak_frame));
}

void analysis_settle(void)
{
    if (state.observer == NULL || state.settled == state.updates)
        return;
    /* Frames came behind what looked like the end: the file grows, and its end cannot be told. */
    if (state.finished)
        state.live = true;
    state.settled = state.updates;
    if (state.live) {
        roce_observer_judge(state.observer);
        return;
    }
    state.finished = true;
    roce_observer_finish(state.observer);
    settle_copies();
}

struct roce_observer *analysis_observer(void)
{
    return state.observer;
}

uint64_t analysis_updates(void)
{
    return state.updates;
}

void analysis_init(void)
{
    state.refusals = g_hash_table_new_full(NULL, NULL, NULL, g_free);
}

void analysis_cleanup(void)
{
    roce_observer_del(state.observer);
    chunks_free(&state.index);
    chunks_free(&state.records);
    for (uint32_t i = 0; i < state.n_flows; i++) {
        g_free(state.flows[i].kept);
        g_free(state.flows[i].naks);
    }
    g_free(state.flows);
    if (state.refusals != NULL)
        g_hash_table_destroy(state.refusals);
    memset(&state, 0, sizeof(state));
}
