/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The observer: flow state, congestion, pauses and findings behind one update. */
#include "digest.h"
#include "internal.h"
#include "watch.h"

#include <stdlib.h>

#define DEFAULT_MAX_FLOWS ROCE_FLOW_MAX_DEFAULT
/* Shorter silences are not compared with ACK timeouts: 4.096 us * 2^12. */
#define SILENCE_MIN ((roce_duration)4096 << IDLE_EXP_MIN)

static void on_event(void *ctx, const struct roce_event *event)
{
    struct roce_observer *obs = ctx;
    if (obs->running) {
        obs->now = obs->flows->now;
        obs->frame = obs->flows->frame;
    }
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

static void count_time(struct roce_capture_totals *t, roce_tstamp ts)
{
    if (ts > t->last_ts)
        t->last_ts = ts;
    if (ts < t->first_ts || !t->has_ts) {
        t->first_ts = ts;
        t->has_ts = true;
    }
}

/* ---- frames of flows ---- */

/* Without |keep|, where it counts for nothing: whether a frame is one cannot be foretold, and a
 * wrong branch costs more than writing it. */
static struct recent_request *next_request(struct recent *recent, bool keep)
{
    const uint64_t at = keep ? recent->n_requests & (REQUEST_MAX - 1) : REQUEST_MAX;
    recent->n_requests += keep;
    return &recent->request[at];
}

static void keep_request(struct roce_observer *obs, const struct roce_packet *pkt, uint32_t flow)
{
    struct recent_request *r = next_request(&obs->recent, true);
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

static void keep_frame(struct recent *recent, uint32_t flow, uint32_t bytes, roce_tstamp ts)
{
    recent->frame[recent->n_frames++ & (RECENT_MAX - 1)] = (struct recent_frame){flow, bytes, ts};
}

static void flow_frame(struct roce_observer *obs, const struct roce_frame *frame,
                       const struct roce_packet *pkt, const struct roce_icrc *icrc,
                       const struct roce_verdict *v)
{
    struct dscp_state *dscp = &obs->congestion->dscp[roce_ip_dscp(&pkt->ip)];
    const enum roce_ecn ecn = roce_ip_ecn(&pkt->ip);
    keep_frame(&obs->recent, v->flow, frame->origlen, frame->ts);
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

static void any_frame(struct roce_observer *obs, const struct roce_frame *frame,
                      const struct roce_packet *pkt, const struct roce_icrc *icrc, bool flow,
                      const struct roce_verdict *v)
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

bool roce_observer_update(struct roce_observer *obs, const struct roce_frame *frame,
                          const struct roce_packet *pkt, const struct roce_icrc *icrc,
                          struct roce_verdict *verdict)
{
    obs->now = frame->ts;
    obs->frame = frame->number;
    obs->mtu_told = false;
    obs->totals.packets++;
    obs->totals.bytes += frame->origlen;
    count_time(&obs->totals, frame->ts);
    const bool flow = roce_flow_update(obs->flows, frame, pkt, icrc, verdict);
    any_frame(obs, frame, pkt, icrc, flow, verdict);
    return flow;
}

/* ---- runs of usual frames ---- */

static void usual_silence(struct roce_observer *obs, const struct went *went)
{
    const struct roce_verdict v = {.flow = went->flow,
                                   .flags = went->flags,
                                   .psns = went->psns,
                                   .in_flight = went->in_flight,
                                   .delta = went->delta};
    symptom_silence(obs, &v);
}

static void usual_paused(struct roce_observer *obs, const struct roce_digest *d,
                         const struct went *went)
{
    const struct roce_verdict v = {.flow = went->flow, .delta = went->delta};
    pauses_data(obs, digest_priority(d), &v);
}

/* What is to be done at the time of a usual frame: seldom anything. */
FLOW_SELDOM void usual_due(struct roce_observer *obs, const struct run *run, int i,
                           const struct went *went)
{
    const struct roce_digest *d = &run->digest[i];
    obs->now = d->ts;
    obs->frame = digest_number(d, run->first);
    if (obs->now >= obs->congestion->next_due)
        congestion_poll(obs);
    if (obs->pauses->n > 0)
        usual_paused(obs, d, went);
    if (went->delta >= SILENCE_MIN)
        usual_silence(obs, went);
}

/* The first frame with payload that is not ECN-capable. */
FLOW_SELDOM void first_not_ect(struct roce_observer *obs, const struct run *run, int i)
{
    obs->not_ect_frame = digest_number(&run->digest[i], run->first);
}

/* any_frame for frames that flow state found usual. */
static void usual_frames(struct roce_observer *obs, const struct run *run, const struct went *went,
                         int n)
{
    struct roce_capture_totals *t = &obs->totals;
    struct recent *recent = &obs->recent;
    struct congestion *congestion = obs->congestion;
    const bool paused = obs->pauses->n > 0;
    uint64_t bytes = 0, icrc_ok = 0;
    for (int i = 0; i < n; i++) {
        const struct roce_digest *d = &run->digest[i];
        const enum roce_ecn ecn = d->tos & 3;
        struct dscp_state *dscp = &congestion->dscp[d->tos >> 2];
        bytes += d->origlen;
        icrc_ok += (digest_flags(d) & DIGEST_ICRC_OK) != 0;
        count_time(t, d->ts);
        keep_frame(recent, went[i].flow, d->origlen, d->ts);
        dscp->bytes += d->origlen;
        dscp->ecn[ecn]++;
        if (ecn == ROCE_ECN_NOT_ECT && obs->data_ecn[ecn] == 0 && d->payload_len > 0)
            first_not_ect(obs, run, i);
        obs->data_ecn[ecn] += d->payload_len > 0;
        *next_request(recent, (digest_flags(d) & DIGEST_RETH) != 0) =
            (struct recent_request){.flow = went[i].flow,
                                    .psn = digest_psn(d),
                                    .op = digest_op(d),
                                    .va = d->va,
                                    .rkey = d->rkey,
                                    .length = d->length_msn};
        if (!(digest_flags(d) & DIGEST_DIRECT) && run->pkt[i].n_tunnel > 0)
            t->encapsulated++;
        if (d->kind & DIGEST_TAGGED) {
            dscp->tagged++;
            obs->tagged[d->kind >> DIGEST_PCP_SHIFT]++;
        }
        if (d->ts >= congestion->next_due || paused || went[i].delta >= SILENCE_MIN)
            usual_due(obs, run, i, &went[i]);
    }
    if (n == 0)
        return;
    obs->now = run->digest[n - 1].ts;
    obs->frame = digest_number(&run->digest[n - 1], run->first);
    t->packets += (uint64_t)n;
    t->rocev2 += (uint64_t)n;
    t->bytes += bytes;
    t->icrc_ok += icrc_ok;
}

static void tell(struct roce_verdict *verdict, const struct went *went, int n)
{
    for (int i = 0; i < n; i++) {
        verdict[i].flow = went[i].flow;
        verdict[i].flags = went[i].flags;
        verdict[i].psns = went[i].psns;
        verdict[i].in_flight = went[i].in_flight;
        verdict[i].completed = went[i].completed;
        verdict[i].delta = went[i].delta;
    }
}

/* |verdict| may be NULL. */
static void update_unusual(struct roce_observer *obs, const struct run *run, int i,
                           struct roce_verdict *verdict)
{
    struct roce_verdict unread;
    struct roce_packet space;
    struct roce_icrc icrc;
    const struct roce_icrc *judged = run->icrc == NULL ? NULL : &run->icrc[i];
    const struct roce_packet *pkt = run_packet(run, i, &space);
    if (pkt == &space && judged != NULL) {
        roce_icrc_check(&run->frame[i], pkt, &icrc);
        judged = &icrc;
    }
    (void)roce_observer_update(obs, &run->frame[i], pkt, judged,
                               verdict == NULL ? &unread : verdict);
}

static void update_run(struct roce_observer *obs, struct run run, struct roce_verdict *verdict)
{
    struct went went[LOOK_MAX];
    while (run.n > 0) {
        obs->running = true;
        int n = flow_run(obs->flows, &run, SILENCE_MIN, went);
        obs->running = false;
        usual_frames(obs, &run, went, n);
        if (verdict != NULL)
            tell(verdict, went, n);
        if (n < run.n && (n == 0 || went[n - 1].delta < SILENCE_MIN)) {
            update_unusual(obs, &run, n, verdict == NULL ? NULL : &verdict[n]);
            n++;
        }
        run.frame += n;
        run.pkt += n;
        if (run.icrc != NULL)
            run.icrc += n;
        run.digest += n;
        run.id += n;
        run.n -= n;
        if (verdict != NULL)
            verdict += n;
    }
}

/* Another processor may have written them. */
static void fetch_digests(const struct roce_batch *batch, int from)
{
    for (int i = from; i < from + LOOK_MAX && i < batch->n; i++)
        prefetch_line(&batch->digest[i]);
}

static void update_many(struct roce_observer *obs, const struct roce_batch *batch,
                        struct roce_verdict *verdict)
{
    uint32_t id[LOOK_MAX];
    struct roce_digest digest[LOOK_MAX];
    for (int at = 0; at < batch->n; at += LOOK_MAX) {
        struct run run = {.frame = batch->frame + at,
                          .pkt = batch->packet + at,
                          .icrc = batch->icrc == NULL ? NULL : batch->icrc + at,
                          .id = id,
                          .n = batch->n - at < LOOK_MAX ? batch->n - at : LOOK_MAX,
                          .decoded = batch->digest == NULL,
                          .first = batch->frame[0].number,
                          .opts = batch->decode};
        run.digest = run.decoded ? digest : batch->digest + at;
        for (int i = 0; i < run.n && run.decoded; i++)
            digest_packet(obs->flows, &run.frame[i], &run.pkt[i],
                          run.icrc == NULL ? NULL : &run.icrc[i], &digest[i]);
        if (!run.decoded)
            fetch_digests(batch, at + LOOK_MAX);
        flow_look(obs->flows, run.digest, run.n, id);
        update_run(obs, run, verdict == NULL ? NULL : verdict + at);
    }
}

void roce_observer_update_batch(struct roce_observer *obs, const struct roce_batch *batch)
{
    update_many(obs, batch, NULL);
}

void roce_observer_update_brief(struct roce_observer *obs, const struct roce_frame *frame,
                                const struct roce_packet *pkt, const struct roce_icrc *icrc, int n,
                                struct roce_verdict *verdict)
{
    const struct roce_batch batch = {.n = n, .frame = frame, .packet = pkt, .icrc = icrc};
    update_many(obs, &batch, verdict);
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
