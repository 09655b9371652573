/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From frames and events to incidents: what a refused request asked for, holes nobody asked about,
 * resends from too far back, silences as long as a timeout. */
#include "watch.h"

#include <string.h>

#define SLOW_FLOOR   1000000  /* ns: no NAK below this is called slow */
#define SLOW_UNKNOWN 10000000 /* the same where the responder's ACK latency is not known */
#define SLOW_FACTOR  8        /* times its median ACK latency */
#define SLOW_SAMPLES 8        /* ACKs that make a median */
#define MTU_MIN      256
#define ZERO_NS      2000000 /* from a NAK to the resend that obeys it */

/* ---- NAKs ---- */

struct refused {
    uint32_t flow; /* or ROCE_FLOW_NONE */
    const struct recent_request *request;
};

static bool goes_between(const struct roce_observer *obs, uint32_t flow,
                         const struct roce_packet *pkt, struct roce_flow_info *info)
{
    return roce_flow_info(obs->flows, flow, info) && memcmp(info->src, pkt->ip.dst, 16) == 0 &&
           memcmp(info->dst, pkt->ip.src, 16) == 0;
}

/* refused_find names the request that a NAK refuses: the one whose PSNs hold that of the NAK. While
 * the pair is unknown, the only flow between the two hosts that has such a request. */
static struct refused refused_find(const struct roce_observer *obs, const struct roce_packet *pkt,
                                   uint32_t flow)
{
    const struct recent *recent = &obs->recent;
    struct refused out = {.flow = flow};
    const uint64_t oldest = recent->n_requests > REQUEST_MAX ? recent->n_requests - REQUEST_MAX : 0;
    for (uint64_t n = recent->n_requests; n > oldest; n--) {
        const struct recent_request *r = &recent->request[(n - 1) & (REQUEST_MAX - 1)];
        const int32_t behind = roce_psn_diff(pkt->bth.psn, r->psn);
        struct roce_flow_info info;
        if (flow != ROCE_FLOW_NONE && r->flow != flow)
            continue;
        if (behind < 0 || (uint32_t)behind >= roce_psn_count(r->length, MTU_MIN))
            continue;
        if (!goes_between(obs, r->flow, pkt, &info))
            continue;
        /* Behind the first packet only a known MTU tells that the PSN is still of this request. */
        if (behind > 0 && (info.path_mtu < MTU_MIN ||
                           (uint32_t)behind >= roce_psn_count(r->length, info.path_mtu)))
            continue;
        if (flow != ROCE_FLOW_NONE)
            return (struct refused){flow, r};
        if (out.flow != ROCE_FLOW_NONE && out.flow != r->flow)
            return (struct refused){ROCE_FLOW_NONE, NULL};
        if (out.flow == ROCE_FLOW_NONE)
            out = (struct refused){r->flow, r};
    }
    return out;
}

static const char *request_word(const struct recent_request *request)
{
    if (request == NULL)
        return "request";
    switch ((enum roce_op)request->op) {
    case ROCE_OP_WRITE:
        return "WRITE";
    case ROCE_OP_READ:
        return "READ";
    case ROCE_OP_ATOMIC:
        return "CmpSwap or FetchAdd";
    case ROCE_OP_FLUSH:
        return "FLUSH";
    case ROCE_OP_ATOMIC_WRITE:
        return "ATOMIC WRITE";
    case ROCE_OP_SEND:
    case ROCE_OP_RESYNC:
    case ROCE_OP_READ_RESPONSE:
    case ROCE_OP_ACK:
    case ROCE_OP_ATOMIC_ACK:
    case ROCE_OP_CNP:
    case ROCE_OP_NONE:
        break;
    }
    return "request";
}

static void fatal_nak(struct roce_observer *obs, const struct roce_packet *pkt,
                      const struct roce_verdict *v, enum roce_finding_kind kind)
{
    const struct refused refused = refused_find(obs, pkt, v->peer);
    struct incident *incident = incident_add(
        obs, refused.flow != ROCE_FLOW_NONE ? refused.flow : v->flow, kind, obs->frame);
    incident_frame(incident, v->request_frame);
    struct watch_trouble *trouble =
        refused.flow == ROCE_FLOW_NONE ? trouble_at(obs, v->flow) : NULL;
    if (trouble != NULL)
        trouble->rnr_sent = true;
    if (incident->count > 1)
        return; /* the first one is described, the others are counted */
    incident->word = request_word(refused.request);
    if (refused.request != NULL) {
        incident_set(incident, 0, refused.request->va);
        incident_set(incident, 1, refused.request->rkey);
        incident_set(incident, 2, refused.request->length);
    }
    incident_set(incident, 3, pkt->bth.psn);
}

static void sequence_nak(struct roce_observer *obs, const struct roce_packet *pkt, uint32_t flow)
{
    struct watch_trouble *trouble = trouble_at(obs, flow);
    if (trouble == NULL)
        return;
    const uint32_t psn = pkt->bth.psn;
    if (trouble->has_hole && trouble->hole_psn == psn && obs->now >= trouble->hole_ts) {
        const uint64_t delay = obs->now - trouble->hole_ts;
        struct roce_hist_summary acks;
        uint64_t limit = SLOW_UNKNOWN;
        if (roce_flow_latency(obs->flows, flow, ROCE_LATENCY_ACK, &acks) &&
            acks.count >= SLOW_SAMPLES)
            limit = acks.p50 * SLOW_FACTOR > SLOW_FLOOR ? acks.p50 * SLOW_FACTOR : SLOW_FLOOR;
        if (delay > limit) {
            struct incident *incident = incident_add(obs, flow, ROCE_FINDING_NAK_SLOW, obs->frame);
            incident_frame(incident, trouble->hole_frame);
            if (incident->count == 1 || delay > incident->value[0])
                incident_set(incident, 1, psn);
            incident_max(incident, 0, delay);
        }
    }
    trouble->has_hole = false;
    trouble->has_nak = true;
    trouble->nak_psn = psn;
    trouble->nak_frame = obs->frame;
    trouble->nak_ts = obs->now;
}

static void rnr_nak(struct roce_observer *obs, const struct roce_packet *pkt,
                    const struct roce_verdict *v)
{
    const uint32_t flow = v->peer != ROCE_FLOW_NONE ? v->peer : v->flow;
    const uint64_t timer = roce_aeth_rnr_ns(roce_aeth_value(pkt->aeth.syndrome));
    incident_max(incident_add(obs, flow, ROCE_FINDING_RNR, obs->frame), 0, timer);
    struct watch_trouble *trouble = trouble_at(obs, flow);
    if (trouble == NULL)
        return;
    if (trouble->has_rnr && trouble->rnr_psn == pkt->bth.psn)
        trouble->rnr_repeats++;
    else
        trouble->rnr_repeats = 0;
    trouble->has_rnr = true;
    trouble->rnr_sent = v->peer == ROCE_FLOW_NONE;
    trouble->rnr_psn = pkt->bth.psn;
    trouble->rnr_ts = obs->now;
    trouble->rnr_frame = obs->frame;
    trouble->rnr_timer = timer;
}

void symptom_nak(struct roce_observer *obs, const struct roce_packet *pkt,
                 const struct roce_verdict *v)
{
    if (roce_aeth_kind(pkt->aeth.syndrome) == ROCE_AETH_RNR_NAK) {
        rnr_nak(obs, pkt, v);
        return;
    }
    if (roce_aeth_kind(pkt->aeth.syndrome) != ROCE_AETH_NAK)
        return;
    switch (roce_aeth_value(pkt->aeth.syndrome)) {
    case ROCE_NAK_PSN_SEQUENCE_ERROR:
        sequence_nak(obs, pkt, v->peer);
        break;
    case ROCE_NAK_INVALID_REQUEST:
        fatal_nak(obs, pkt, v, ROCE_FINDING_NAK_INVALID_REQUEST);
        break;
    case ROCE_NAK_REMOTE_ACCESS_ERROR:
        fatal_nak(obs, pkt, v, ROCE_FINDING_NAK_REMOTE_ACCESS);
        break;
    case ROCE_NAK_REMOTE_OPERATIONAL_ERROR:
        fatal_nak(obs, pkt, v, ROCE_FINDING_NAK_REMOTE_OPERATIONAL);
        break;
    default:
        break; /* invalid RD request, and reserved codes that requesters ignore */
    }
}

/* ---- resends ---- */

/* Go-back-zero: asked for a PSN inside a message, the sender starts the message again. It is
 * certain only when the step back goes to a First packet at once and the resend runs through Middle
 * packets up to the PSN asked for: then both are of one message. A step back that comes later may
 * be a timeout of a sender that never got the NAK. */
static void go_back_zero(struct roce_observer *obs, struct watch_trouble *t,
                         const struct roce_packet *pkt, const struct roce_verdict *v)
{
    const uint32_t psn = pkt->bth.psn;
    if ((v->flags & ROCE_V_EPISODE) != 0) {
        t->zero_open = pkt->pos == ROCE_POS_FIRST && (v->flags & ROCE_V_DUP) != 0 &&
                       roce_psn_diff(t->nak_psn, psn) > 0 && obs->now >= t->nak_ts &&
                       obs->now - t->nak_ts < ZERO_NS;
        t->zero_start = psn;
        t->zero_next = roce_psn_add(psn, 1);
        t->zero_nak = t->nak_psn;
        t->zero_frame = obs->frame;
        return;
    }
    if (!t->zero_open)
        return;
    const bool follows = psn == t->zero_next;
    const bool inside = pkt->pos == ROCE_POS_MIDDLE || pkt->pos == ROCE_POS_LAST;
    t->zero_open = follows && pkt->pos == ROCE_POS_MIDDLE;
    t->zero_next = roce_psn_add(psn, 1);
    if (!follows || !inside || psn != t->zero_nak)
        return;
    struct incident *incident =
        incident_add(obs, v->flow, ROCE_FINDING_RETRANSMIT_GO_BACK_ZERO, t->zero_frame);
    incident_frame(incident, t->nak_frame);
    incident_max(incident, 0, (uint64_t)roce_psn_diff(psn, t->zero_start));
    t->zero_open = false;
    t->has_nak = false;
}

void symptom_resent(struct roce_observer *obs, const struct roce_packet *pkt,
                    const struct roce_verdict *v)
{
    const bool back = (v->flags & ROCE_V_EPISODE) != 0;
    struct watch_trouble *t = back ? trouble_at(obs, v->flow) : trouble_watched(obs, v->flow);
    if (t == NULL)
        return;
    t->resent_frame = obs->frame;
    if (back && t->has_resend && t->resend_psn == pkt->bth.psn) {
        t->resends++;
        if (obs->now > t->resend_last_ts && obs->now - t->resend_last_ts > t->resend_gap)
            t->resend_gap = obs->now - t->resend_last_ts;
        t->resend_last_ts = obs->now;
    } else if (back) {
        t->has_resend = true;
        t->resend_psn = pkt->bth.psn;
        t->resend_ts = t->resend_last_ts = obs->now;
        t->resends = 1;
        t->resend_gap = 0;
    }
    if (t->has_nak)
        go_back_zero(obs, t, pkt, v);
}

/* ---- path MTU ---- */

/* Flow state keeps one path MTU for both directions, and tells whenever a packet changes it: so
 * each direction of a connection that disagrees comes by here. */
void symptom_mtu(struct roce_observer *obs, const struct roce_packet *pkt,
                 const struct roce_verdict *v)
{
    struct watch_ext *ext = watch_ext(obs, v->flow);
    if (ext == NULL || (pkt->pos != ROCE_POS_FIRST && pkt->pos != ROCE_POS_MIDDLE) ||
        (pkt->service != ROCE_SERVICE_RC && pkt->service != ROCE_SERVICE_UC &&
         pkt->service != ROCE_SERVICE_XRC))
        return;
    if (ext->mtu != 0 && ext->mtu != pkt->payload_len) {
        struct incident *incident = incident_add(obs, v->flow, ROCE_FINDING_MTU_MIXED, obs->frame);
        incident_set(incident, 0, ext->mtu);
        incident_set(incident, 1, pkt->payload_len);
    }
    ext->mtu = pkt->payload_len;
    ext->mtu_frame = obs->frame <= UINT32_MAX ? (uint32_t)obs->frame : 0;
}

/* ---- silences ---- */

void symptom_silence(struct roce_observer *obs, const struct roce_verdict *v)
{
    if ((v->flags & ROCE_V_REQUEST) == 0 ||
        (v->flags & (ROCE_V_RETRANSMITTED | ROCE_V_EPISODE)) != 0 || v->in_flight <= v->psns)
        return;
    struct watch_trouble *t = trouble_at(obs, v->flow);
    if (t == NULL)
        return;
    for (uint8_t exp = IDLE_EXP_MIN; exp <= IDLE_EXP_MAX; exp++) {
        const uint64_t timeout = roce_cm_timeout_ns(exp), silence = (uint64_t)v->delta;
        if (silence < timeout || silence > timeout + timeout / 20)
            continue;
        if (t->idle_match == 0)
            t->idle_exp = exp;
        if (t->idle_exp != exp)
            break;
        if (t->idle_match < UINT16_MAX)
            t->idle_match++;
        if (t->idle_frame == 0)
            t->idle_frame = obs->frame;
        return;
    }
    if (t->idle_other < UINT16_MAX)
        t->idle_other++;
}

/* ---- events ---- */

static void rnr_copy(struct watch_trouble *to, const struct watch_trouble *from)
{
    to->has_rnr = from->has_rnr;
    to->rnr_psn = from->rnr_psn;
    to->rnr_repeats = from->rnr_repeats;
    to->rnr_ts = from->rnr_ts;
    to->rnr_frame = from->rnr_frame;
    to->rnr_timer = from->rnr_timer;
    to->rnr_sent = false;
}

static void evidence(struct incident *incident, const struct roce_event *e)
{
    for (int i = 0; i < 4; i++)
        incident_frame(incident, e->evidence[i]);
}

static void episode_event(struct roce_observer *obs, const struct roce_event *e)
{
    struct watch_trouble *trouble = trouble_at(obs, e->flow);
    struct incident *incident = NULL;
    switch ((enum roce_cause)e->cause) {
    case ROCE_CAUSE_TIMEOUT:
        incident = incident_add(obs, e->flow, ROCE_FINDING_RETRANSMIT_TIMEOUT, e->evidence[2]);
        break;
    case ROCE_CAUSE_EARLY:
        incident = incident_add(obs, e->flow, ROCE_FINDING_RETRANSMIT_EARLY, e->evidence[2]);
        break;
    case ROCE_CAUSE_SPURIOUS:
        incident = incident_add(obs, e->flow, ROCE_FINDING_RETRANSMIT_SPURIOUS, e->evidence[2]);
        break;
    case ROCE_CAUSE_NAK:
    case ROCE_CAUSE_RNR:
    case ROCE_CAUSE_IMPLIED_NAK:
    case ROCE_CAUSE_UNKNOWN:
    case ROCE_CAUSE_COUNT:
    case ROCE_CAUSE_NONE:
        break;
    }
    if (incident != NULL) {
        evidence(incident, e);
        incident_sum(incident, e->cause == ROCE_CAUSE_SPURIOUS ? 0 : 1, e->count);
        if (e->cause != ROCE_CAUSE_SPURIOUS && e->duration >= 0)
            incident_max(incident, 0, (uint64_t)e->duration);
    }
    /* The responder had executed what is resent: the answer got lost, or nothing did. */
    if (trouble != NULL) {
        const bool answer = trouble->answer_lost && trouble->answer_psn == e->psn;
        const bool silent = e->cause == ROCE_CAUSE_TIMEOUT || e->cause == ROCE_CAUSE_EARLY;
        trouble->answer_lost = false;
        if (answer || e->location == ROCE_LOST_NONE ||
            (silent && e->location == ROCE_LOST_UNKNOWN) || e->cause == ROCE_CAUSE_SPURIOUS ||
            e->cause == ROCE_CAUSE_IMPLIED_NAK)
            trouble->duplicates += e->count;
    }
    /* A hole that later frames showed, and yet the sender had to time out. A receiver asks only
     * once for a PSN (IBTA 9.7.5.2.8): a resend that was lost in its turn is not asked for again.
     */
    if (e->cause == ROCE_CAUSE_TIMEOUT && e->location == ROCE_LOST_UPSTREAM &&
        e->peer != ROCE_FLOW_NONE &&
        (trouble == NULL || !trouble->has_nak || trouble->nak_psn != e->psn)) {
        struct incident *missing =
            incident_add(obs, e->flow, ROCE_FINDING_NAK_MISSING, e->evidence[0]);
        evidence(missing, e);
        if (missing->count == 1)
            incident_set(missing, 0, e->psn);
    }
}

/* Whether the loss that is being told is one that an RNR NAK refused: counted with the losses, but
 * none. */
static bool refused_only(struct roce_observer *obs, const struct roce_event *e)
{
    struct watch_trouble *trouble = trouble_at(obs, e->flow);
    struct roce_flow_counters c;
    if (e->location != ROCE_LOST_DOWNSTREAM || e->responses || trouble == NULL ||
        !roce_flow_counters(obs->flows, e->flow, &c) || c.loss_refused == trouble->refused)
        return false;
    trouble->refused = c.loss_refused;
    return true;
}

static void loss_event(struct roce_observer *obs, const struct roce_event *e)
{
    struct watch_trouble *asker = e->responses ? trouble_at(obs, e->peer) : NULL;
    if (asker != NULL) {
        asker->answer_lost = true;
        asker->answer_psn = e->psn;
    }
    if (refused_only(obs, e))
        return;
    evidence(incident_add(obs, e->flow,
                          e->location == ROCE_LOST_CAPTURE ? ROCE_FINDING_LOSS_CAPTURE
                                                           : ROCE_FINDING_LOSS_NETWORK,
                          e->evidence[0]),
             e);
}

static void silent_event(struct roce_observer *obs, const struct roce_event *e)
{
    if (e->code != 0xFF)
        return; /* after a fatal NAK, which is a finding of its own */
    struct watch_trouble *trouble = trouble_at(obs, e->flow);
    struct roce_flow_info info;
    if (trouble == NULL || !roce_flow_info(obs->flows, e->flow, &info) ||
        trouble->silent_after == info.last_frame)
        return; /* an earlier finish found the same */
    trouble->silent_after = info.last_frame;
    evidence(incident_add(obs, e->flow, ROCE_FINDING_RETRY_EXCEEDED, e->about_frame), e);
}

static void gap_event(struct roce_observer *obs, const struct roce_event *e)
{
    struct watch_trouble *trouble = trouble_at(obs, e->flow);
    if (trouble == NULL || (trouble->has_hole && trouble->hole_ts + SLOW_UNKNOWN > obs->now))
        return; /* the receiver asks for the first hole only */
    trouble->has_hole = true;
    trouble->hole_psn = e->psn;
    trouble->hole_ts = e->ts;
    trouble->hole_frame = e->frame;
}

/* What was kept with the sender of the NAKs belongs to the flow that they refused. */
static void paired_event(struct roce_observer *obs, uint32_t a, uint32_t b)
{
    static const uint8_t kinds[] = {
        ROCE_FINDING_RNR,
        ROCE_FINDING_NAK_REMOTE_ACCESS,
        ROCE_FINDING_NAK_INVALID_REQUEST,
        ROCE_FINDING_NAK_REMOTE_OPERATIONAL,
    };
    struct watch_trouble *ta = trouble_watched(obs, a), *tb = trouble_watched(obs, b);
    if (!(ta != NULL && ta->rnr_sent) && !(tb != NULL && tb->rnr_sent))
        return;
    ta = trouble_at(obs, a);
    tb = trouble_at(obs, b);
    if (ta == NULL || tb == NULL)
        return;
    for (size_t i = 0; i < sizeof kinds; i++)
        incident_swap(obs, a, b, (enum roce_finding_kind)kinds[i]);
    const struct watch_trouble old = *ta;
    rnr_copy(ta, tb);
    rnr_copy(tb, &old);
}

static void evicted_event(struct roce_observer *obs, uint32_t flow)
{
    judge_evicted(obs, flow);
    hosts_evict(obs, flow);
    congestion_evict(obs, flow);
    incidents_evict(obs, flow);
}

#define BIT(kind) (UINT32_C(1) << ROCE_EVENT_##kind)

uint32_t symptom_mask(void)
{
    return BIT(FLOW_EVICTED) | BIT(GAP) | BIT(EPISODE) | BIT(OUT_OF_ORDER) | BIT(LOSS) |
           BIT(GHOST_ACK) | BIT(PAIRED) | BIT(MTU) | BIT(MIRROR_DUP) | BIT(SILENT);
}

void symptom_event(struct roce_observer *obs, const struct roce_event *event)
{
    struct incident *incident;
    switch ((enum roce_event_kind)event->kind) {
    case ROCE_EVENT_FLOW_EVICTED:
        evicted_event(obs, event->flow);
        break;
    case ROCE_EVENT_GAP:
        gap_event(obs, event);
        break;
    case ROCE_EVENT_EPISODE:
        episode_event(obs, event);
        break;
    case ROCE_EVENT_OUT_OF_ORDER:
        incident = incident_add(obs, event->flow, ROCE_FINDING_REORDER, event->about_frame);
        evidence(incident, event);
        if (event->duration >= 0)
            incident_max(incident, 0, (uint64_t)event->duration);
        break;
    case ROCE_EVENT_LOSS:
        loss_event(obs, event);
        break;
    case ROCE_EVENT_GHOST_ACK:
        incident = incident_add(obs, event->flow, ROCE_FINDING_ACK_GHOST, event->frame);
        if (incident->count == 1)
            incident_set(incident, 0, event->psn);
        break;
    case ROCE_EVENT_MTU:
        obs->mtu_told = true;
        break;
    case ROCE_EVENT_PAIRED:
        paired_event(obs, event->flow, event->peer);
        break;
    case ROCE_EVENT_MIRROR_DUP:
        incident_frame(incident_add(obs, event->flow, ROCE_FINDING_MIRROR_DUPLICATES, event->frame),
                       event->about_frame);
        break;
    case ROCE_EVENT_SILENT:
        silent_event(obs, event);
        break;
    case ROCE_EVENT_FLOW_NEW:
    case ROCE_EVENT_NAK:
    case ROCE_EVENT_RNR:
    case ROCE_EVENT_MESSAGE:
    case ROCE_EVENT_ACKED:
    case ROCE_EVENT_UNPAIRED:
    case ROCE_EVENT_CM:
    case ROCE_EVENT_KINDS:
        break;
    }
}
