/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The observer: flow state, congestion, pauses and findings behind one update. */
#include "batch.h"
#include "pool.h"
#include "watch.h"

#include <stdlib.h>

#define DEFAULT_MAX_FLOWS ROCE_FLOW_MAX_DEFAULT
/* Shorter silences are not compared with ACK timeouts: 4.096 us * 2^12. */
#define SILENCE_MIN ((roce_duration)4096 << IDLE_EXP_MIN)

static void on_event(void *ctx, const struct roce_event *event)
{
    struct roce_observer *obs = ctx;
    const struct roce_flow_ops *user = &obs->opts.ops;
    if (user->event != NULL && (user->mask == 0 || (user->mask >> event->kind & 1) != 0))
        user->event(user->ctx, event);
    symptom_event(obs, event);
}

struct roce_observer *roce_observer_new(const struct roce_observer_opts *opts)
{
    struct roce_observer *obs = calloc(1, sizeof *obs);
    if (obs == NULL)
        return NULL;
    if (opts != NULL)
        obs->opts = *opts;
    if (obs->opts.max_flows == 0)
        obs->opts.max_flows = DEFAULT_MAX_FLOWS;
    if (obs->opts.storm_ms == 0)
        obs->opts.storm_ms = ROCE_STORM_MS_DEFAULT;
    obs->storm_ns = (uint64_t)obs->opts.storm_ms * 1000000;
    struct roce_flow_opts flow = {.max_flows = obs->opts.max_flows,
                                  .timeout_exp = obs->opts.timeout_exp,
                                  .no_latency = obs->opts.no_latency,
                                  .idle_ns = obs->opts.idle_ns,
                                  .idle_keep = obs->opts.idle_keep,
                                  .ext_bytes = sizeof(struct watch_ext),
                                  .ops = {.ctx = obs, .event = on_event, .mask = symptom_mask()}};
    if (obs->opts.ops.event != NULL)
        flow.ops.mask = obs->opts.ops.mask == 0 ? 0 : flow.ops.mask | obs->opts.ops.mask;
    obs->flows = roce_flow_table_new(&flow);
    obs->congestion = congestion_new(obs->opts.max_flows);
    obs->pauses = pauses_new();
    obs->incidents = incidents_new();
    obs->hosts = hosts_new();
    if (obs->flows == NULL || obs->congestion == NULL || obs->pauses == NULL ||
        obs->incidents == NULL || obs->hosts == NULL) {
        roce_observer_del(obs);
        return NULL;
    }
    return obs;
}

void roce_observer_del(struct roce_observer *obs)
{
    if (obs == NULL)
        return;
    roce_flow_table_del(obs->flows);
    congestion_del(obs->congestion);
    pauses_del(obs->pauses);
    incidents_del(obs->incidents);
    hosts_del(obs->hosts);
    free(obs);
}

/* ---- totals ---- */

static void count_other(struct roce_capture_totals *t, const struct roce_packet *pkt)
{
    enum { ICMP = 1, TCP = 6, UDP = 17, ICMP6 = 58 };
    if (pkt->ethertype == ROCE_ETHERTYPE_ARP) {
        t->arp++;
    } else if ((pkt->has & ROCE_HAS_IP) == 0) {
        t->other++;
    } else if (pkt->ip.proto == TCP) {
        t->tcp++;
    } else if (pkt->ip.proto == UDP) {
        t->udp++;
    } else if (pkt->ip.proto == ICMP || pkt->ip.proto == ICMP6) {
        t->icmp++;
    } else {
        t->ip++;
    }
}

static void count_kind(struct roce_capture_totals *t, const struct roce_packet *pkt)
{
    const bool roce = roce_packet_is_roce(pkt);
    switch ((enum roce_kind)pkt->kind) {
    case ROCE_KIND_ROCEV2:
        t->rocev2 += roce;
        break;
    case ROCE_KIND_ROCEV1:
        t->rocev1 += roce;
        break;
    case ROCE_KIND_IB:
        t->infiniband += roce;
        break;
    case ROCE_KIND_PFC:
        t->pfc_packets++;
        break;
    case ROCE_KIND_PAUSE:
        t->pause_packets++;
        break;
    case ROCE_KIND_OTHER:
        count_other(t, pkt);
        break;
    }
}

static void count_status(struct roce_capture_totals *t, const struct roce_packet *pkt)
{
    switch ((enum roce_status)pkt->status) {
    case ROCE_STATUS_TRUNCATED:
        t->truncated++;
        break;
    case ROCE_STATUS_MALFORMED:
        t->malformed += pkt->kind != ROCE_KIND_OTHER;
        break;
    case ROCE_STATUS_UNKNOWN:
        t->unknown++;
        break;
    case ROCE_STATUS_OK:
        break;
    }
}

static void count_frame(struct roce_observer *obs, const struct roce_frame *frame)
{
    struct roce_capture_totals *t = &obs->totals;
    t->packets++;
    t->bytes += frame->origlen;
    if (frame->ts > t->last_ts)
        t->last_ts = frame->ts;
    if (frame->ts < t->first_ts || !t->has_ts) {
        t->first_ts = frame->ts;
        t->has_ts = true;
    }
}

/* ---- frames of flows ---- */

static void keep_request(struct roce_observer *obs, const struct roce_packet *pkt, uint32_t flow)
{
    struct recent *recent = &obs->recent;
    struct recent_request *r = &recent->request[recent->n_requests++ & (REQUEST_MAX - 1)];
    r->flow = flow;
    r->psn = pkt->bth.psn;
    r->op = pkt->op;
    if ((pkt->has & ROCE_H_RETH) != 0) {
        r->va = pkt->reth.va;
        r->rkey = pkt->reth.rkey;
        r->length = pkt->reth.dma_length;
    } else {
        r->va = pkt->atomic_eth.va;
        r->rkey = pkt->atomic_eth.rkey;
        r->length = 8;
    }
}

static void keep_frame(struct roce_observer *obs, const struct roce_frame *frame, uint32_t flow)
{
    struct recent *recent = &obs->recent;
    recent->frame[recent->n_frames++ & (RECENT_MAX - 1)] =
        (struct recent_frame){flow, frame->origlen, frame->ts};
}

static void flow_frame(struct roce_observer *obs, const struct roce_frame *frame,
                       const struct roce_packet *pkt, const struct roce_icrc *icrc,
                       const struct roce_verdict *v)
{
    struct dscp_state *dscp = &obs->congestion->dscp[roce_ip_dscp(&pkt->ip)];
    const enum roce_ecn ecn = roce_ip_ecn(&pkt->ip);
    keep_frame(obs, frame, v->flow);
    dscp->bytes += frame->origlen;
    if (pkt->op == ROCE_OP_CNP) {
        if (dscp->cnps++ == 0)
            dscp->cnp_frame = obs->frame;
        congestion_cnp(obs, pkt, v);
    } else {
        dscp->ecn[ecn]++;
        if (pkt->service != ROCE_SERVICE_UD && pkt->payload_len > 0 && obs->data_ecn[ecn]++ == 0 &&
            ecn == ROCE_ECN_NOT_ECT)
            obs->not_ect_frame = obs->frame;
        if (ecn == ROCE_ECN_CE)
            congestion_ce(obs, pkt, v);
    }
    if (obs->now >= obs->congestion->next_due)
        congestion_poll(obs);
    if ((pkt->has & (ROCE_H_RETH | ROCE_H_ATOMIC)) != 0)
        keep_request(obs, pkt, v->flow);
    if (pkt->n_vlan > 0) {
        dscp->tagged++;
        obs->tagged[roce_vlan_pcp(pkt->vlan[0])]++;
    }
    if (obs->pauses->n > 0)
        pauses_data(obs, roce_packet_priority(pkt, NULL), v);
    if (pkt->op == ROCE_OP_ACK && (pkt->has & ROCE_H_AETH) != 0 && pkt->aeth.syndrome >= 0x20)
        symptom_nak(obs, pkt, v);
    if ((v->flags & ROCE_V_RETRANSMITTED) != 0)
        symptom_resent(obs, pkt, v);
    if (obs->mtu_told && (icrc == NULL || icrc->status != ROCE_ICRC_BAD))
        symptom_mtu(obs, pkt, v);
    if (v->delta >= SILENCE_MIN)
        symptom_silence(obs, v);
    if (icrc != NULL && icrc->status == ROCE_ICRC_BAD)
        incident_add(obs, v->flow, ROCE_FINDING_ICRC_BAD, obs->frame);
}

/* What most frames have not is derived from what they have: see roce_observer_totals. */
static void count_roce(struct roce_observer *obs, const struct roce_packet *pkt,
                       const struct roce_icrc *icrc)
{
    struct roce_capture_totals *t = &obs->totals;
    if (pkt->n_tunnel > 0)
        t->encapsulated++;
    if ((pkt->sliced || pkt->cut_on_wire) && t->sliced++ == 0)
        obs->sliced_frame = obs->frame;
    if (icrc != NULL) {
        t->icrc_ok += icrc->status == ROCE_ICRC_OK;
        t->icrc_bad += icrc->status == ROCE_ICRC_BAD;
    }
}

/* flow_frame and what leads there, for a frame that flow state found usual. */
FLOW_INLINE void usual_frame(struct roce_observer *obs, const struct roce_frame *frame,
                             const struct roce_packet *pkt, const struct roce_icrc *icrc,
                             const struct roce_verdict *v)
{
    struct dscp_state *dscp = &obs->congestion->dscp[roce_ip_dscp(&pkt->ip)];
    const enum roce_ecn ecn = roce_ip_ecn(&pkt->ip);
    keep_frame(obs, frame, v->flow);
    obs->totals.rocev2++;
    if (pkt->n_tunnel > 0)
        obs->totals.encapsulated++;
    if (icrc != NULL)
        obs->totals.icrc_ok += icrc->status == ROCE_ICRC_OK;
    dscp->bytes += frame->origlen;
    dscp->ecn[ecn]++;
    if (pkt->payload_len > 0 && obs->data_ecn[ecn]++ == 0 && ecn == ROCE_ECN_NOT_ECT)
        obs->not_ect_frame = obs->frame;
    if (obs->now >= obs->congestion->next_due)
        congestion_poll(obs);
    if ((pkt->has & ROCE_H_RETH) != 0)
        keep_request(obs, pkt, v->flow);
    if (pkt->n_vlan > 0) {
        dscp->tagged++;
        obs->tagged[roce_vlan_pcp(pkt->vlan[0])]++;
    }
    if (obs->pauses->n > 0)
        pauses_data(obs, roce_packet_priority(pkt, NULL), v);
    if (v->delta >= SILENCE_MIN)
        symptom_silence(obs, v);
}

FLOW_SELDOM void unusual_frame(struct roce_observer *obs, const struct roce_frame *frame,
                               const struct roce_packet *pkt, const struct roce_icrc *icrc,
                               bool flow, const struct roce_verdict *v)
{
    count_kind(&obs->totals, pkt);
    if (pkt->status != ROCE_STATUS_OK)
        count_status(&obs->totals, pkt);
    if (roce_packet_is_roce(pkt))
        count_roce(obs, pkt, icrc);
    if (flow && (v->flags & ROCE_V_MIRROR_DUP) == 0)
        flow_frame(obs, frame, pkt, icrc, v);
    else if (pkt->kind == ROCE_KIND_PFC || pkt->kind == ROCE_KIND_PAUSE)
        pauses_frame(obs, pkt);
    if (pkt->status == ROCE_STATUS_MALFORMED && pkt->kind != ROCE_KIND_OTHER)
        incident_add(obs, flow ? v->flow : ROCE_FLOW_NONE, ROCE_FINDING_MALFORMED, frame->number);
}

FLOW_INLINE bool update(struct roce_observer *obs, const struct look *look,
                        const struct roce_frame *frame, const struct roce_packet *pkt,
                        const struct roce_icrc *icrc, bool brief, struct roce_verdict *v)
{
    obs->now = frame->ts;
    obs->frame = frame->number;
    count_frame(obs, frame);
    obs->mtu_told = false;
    const enum flow_course course = flow_update(obs->flows, look, frame, pkt, icrc, brief, v);
    if (course == FLOW_USUAL)
        usual_frame(obs, frame, pkt, icrc, v);
    else
        unusual_frame(obs, frame, pkt, icrc, course != FLOW_NONE, v);
    return course != FLOW_NONE;
}

bool roce_observer_update(struct roce_observer *obs, const struct roce_frame *frame,
                          const struct roce_packet *pkt, const struct roce_icrc *icrc,
                          struct roce_verdict *verdict)
{
    return update(obs, NULL, frame, pkt, icrc, false, verdict);
}

/* The packet may have been decoded by another processor: what nearly all have is brought near. */
static void fetch_packet(const struct roce_packet *pkt)
{
    prefetch_line(pkt);
    prefetch_line((const char *)pkt + 64);
    prefetch_line((const char *)pkt + 128);
    prefetch_line((const char *)pkt + 192);
}

/* |step| 0: all verdicts go to the same place. */
static void update_many(struct roce_observer *obs, const struct roce_frame *frame,
                        const struct roce_packet *pkt, const struct roce_icrc *icrc,
                        const uint64_t *hash, int n, struct roce_verdict *verdict, int step)
{
    struct look look[LOOK_MAX];
    for (int at = 0; at < n; at += LOOK_MAX) {
        const int here = n - at < LOOK_MAX ? n - at : LOOK_MAX;
        flow_look(obs->flows, pkt + at, hash == NULL ? NULL : hash + at, here, look);
        for (int i = 0; i < here; i++) {
            if (at + LOOK_MAX + i < n)
                fetch_packet(&pkt[at + LOOK_MAX + i]);
            (void)update(obs, &look[i], &frame[at + i], &pkt[at + i],
                         icrc == NULL ? NULL : &icrc[at + i], true, &verdict[(at + i) * step]);
        }
    }
}

void roce_observer_update_batch(struct roce_observer *obs, const struct roce_frame *frame,
                                const struct roce_packet *pkt, const struct roce_icrc *icrc,
                                const uint64_t *hash, int n)
{
    struct roce_verdict verdict;
    update_many(obs, frame, pkt, icrc, hash, n, &verdict, 0);
}

void roce_observer_update_brief(struct roce_observer *obs, const struct roce_frame *frame,
                                const struct roce_packet *pkt, const struct roce_icrc *icrc, int n,
                                struct roce_verdict *verdict)
{
    update_many(obs, frame, pkt, icrc, NULL, n, verdict, 1);
}

void roce_observer_dropped(struct roce_observer *obs, uint64_t total)
{
    obs->totals.dropped = total;
}

void roce_observer_judge(struct roce_observer *obs)
{
    judge_all(obs);
}

void roce_observer_finish(struct roce_observer *obs)
{
    roce_flow_finish(obs->flows);
    judge_all(obs);
}

/* ---- readers ---- */

const struct roce_flow_table *roce_observer_flows(const struct roce_observer *obs)
{
    return obs->flows;
}

void roce_observer_totals(const struct roce_observer *obs, struct roce_capture_totals *out)
{
    *out = obs->totals;
    out->roce_packets = out->rocev1 + out->rocev2 + out->infiniband;
    out->icrc_unchecked = out->roce_packets - out->icrc_ok - out->icrc_bad;
}

const struct roce_finding *roce_observer_findings(const struct roce_observer *obs, uint32_t *count)
{
    *count = obs->incidents->n_sorted;
    return obs->incidents->sorted;
}

void roce_observer_stats(const struct roce_observer *obs, struct roce_observer_stats *out)
{
    *out = (struct roce_observer_stats){
        .congestion_lost = obs->congestion->lost,
        .incidents_lost = obs->incidents->lost,
        .senders_lost = obs->pauses->lost,
        .hosts_lost = obs->hosts->lost,
    };
}
