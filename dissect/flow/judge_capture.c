/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Findings about the capture as a whole, its hosts and its pauses. */
#include "watch.h"

#include <string.h>

#define ENTROPY_MIN  8   /* QPs between two hosts, before one port for all is worth a word */
#define PRIORITY_MIN 100 /* RoCE frames, before an unused priority means something */

static void add(struct roce_observer *obs, struct roce_finding *finding, uint64_t frame)
{
    finding->first_frame = frame;
    if (frame != 0 && finding->n_frames == 0) {
        finding->frames[0] = frame;
        finding->n_frames = 1;
    }
    list_add(&obs->incidents->current, finding);
}

static void contents(struct roce_observer *obs)
{
    struct roce_capture_totals totals;
    const struct roce_capture_totals *t = &totals;
    roce_observer_totals(obs, &totals);
    if (t->roce_packets == 0) {
        const bool pauses = t->pfc_packets + t->pause_packets > 0;
        struct roce_finding f =
            judge_make(ROCE_FINDING_CAPTURE_NO_ROCE,
                       pauses ? ROCE_SEVERITY_NOTE : ROCE_SEVERITY_WARNING, t->packets);
        if (t->packets > 0) {
            judge_value(&f, 0, t->udp);
            judge_value(&f, 1, t->tcp);
            judge_value(&f, 2, t->arp);
            judge_value(&f, 3, t->icmp + t->ip);
            judge_value(&f, 4, t->other + t->pfc_packets + t->pause_packets);
        }
        add(obs, &f, 0);
    }
    if (t->sliced > 0) {
        struct roce_finding f =
            judge_make(ROCE_FINDING_CAPTURE_SLICED, ROCE_SEVERITY_NOTE, t->sliced);
        judge_value(&f, 0, t->roce_packets);
        add(obs, &f, obs->sliced_frame);
    }
    if (t->dropped > 0) {
        struct roce_finding f =
            judge_make(ROCE_FINDING_LOSS_CAPTURE, ROCE_SEVERITY_WARNING, t->dropped);
        add(obs, &f, 0);
    }
}

/* Incidents without a flow, and those of flows beyond the limit; kinds that counters of the flow
 * tell as well are judged there. */
static void plain(struct roce_observer *obs)
{
    static const uint8_t told[] = {
        ROCE_FINDING_NAK_REMOTE_ACCESS,
        ROCE_FINDING_NAK_INVALID_REQUEST,
        ROCE_FINDING_NAK_REMOTE_OPERATIONAL,
        ROCE_FINDING_RNR,
        ROCE_FINDING_RETRANSMIT_GO_BACK_ZERO,
        ROCE_FINDING_NAK_SLOW,
        ROCE_FINDING_ACK_GHOST,
        ROCE_FINDING_MALFORMED,
    };
    for (size_t i = 0; i < sizeof told; i++) {
        const struct incident *incident = &obs->incidents->plain[told[i]];
        if (incident->count == 0)
            continue;
        struct roce_finding f =
            judge_make((enum roce_finding_kind)told[i],
                       (enum roce_severity)roce_finding_info(told[i])->severity, incident->count);
        judge_evidence(&f, incident);
        f.has = incident->has;
        memcpy(f.value, incident->value, sizeof f.value);
        f.word = incident->word;
        add(obs, &f, incident->first_frame);
    }
}

/* ---- connection management ---- */

enum { REJ_TIMEOUT = 4, REJ_STALE = 10, REJ_CONSUMER = 28 };

/* waited tells whether the answer to the newest of several requests is overdue: as long as the mean
 * time between them has passed since. */
static bool waited(const struct roce_observer *obs, const struct roce_cm_info *cm)
{
    const roce_tstamp end = obs->totals.last_ts;
    if (cm->rej_frame != 0 || cm->req_count < 2)
        return true;
    struct roce_flow_info info;
    const uint32_t flow =
        roce_flow_find(obs->flows, cm->host_a, cm->host_b, ROCE_QPN_GSI, false, 0);
    if (end < cm->req_ts || !roce_flow_info(obs->flows, flow, &info) || info.last_ts < cm->req_ts)
        return true;
    return end - info.last_ts >= (info.last_ts - cm->req_ts) / (cm->req_count - 1);
}

static void connections(struct roce_observer *obs)
{
    const uint32_t n = roce_cm_count(obs->flows);
    for (uint32_t i = 0; i < n; i++) {
        struct roce_cm_info cm;
        if (!roce_cm_get(obs->flows, i, &cm))
            continue;
        struct roce_finding f;
        uint64_t frame = cm.rej_frame;
        if (cm.state == ROCE_CM_REJECTED && cm.reject_reason != REJ_TIMEOUT) {
            const bool expected = cm.reject_reason == REJ_CONSUMER || cm.reject_reason == REJ_STALE;
            f = judge_make(ROCE_FINDING_CM_REJECTED,
                           expected ? ROCE_SEVERITY_WARNING : ROCE_SEVERITY_ERROR, 1);
            f.word = roce_cm_reject_text(cm.reject_reason);
            judge_value(&f, 0, cm.reject_reason);
        } else if (cm.state == ROCE_CM_REJECTED ||
                   (cm.state == ROCE_CM_TIMED_OUT && waited(obs, &cm))) {
            f = judge_make(ROCE_FINDING_CM_TIMEOUT, ROCE_SEVERITY_ERROR, 1);
            judge_value(&f, 0, cm.req_count);
            frame = cm.req_frame;
        } else {
            continue;
        }
        f.has_hosts = true;
        f.ip_version = cm.ip_version;
        memcpy(f.src, cm.host_a, sizeof f.src);
        memcpy(f.dst, cm.host_b, sizeof f.dst);
        if (cm.req_frame != 0)
            f.frames[f.n_frames++] = cm.req_frame;
        if (cm.rej_frame != 0 && cm.rej_frame > cm.req_frame)
            f.frames[f.n_frames++] = cm.rej_frame;
        add(obs, &f, frame != 0 ? frame : cm.req_frame);
    }
}

/* ---- hosts ---- */

static void pairs(struct roce_observer *obs)
{
    const struct hosts *h = obs->hosts;
    uint64_t reliable = 0, single = 0, frame = 0;
    for (uint32_t i = 0; i < h->n_pairs; i++) {
        const struct host_pair *p = &h->pair[i];
        if (p->flows >= ENTROPY_MIN && !p->port_differs && !p->grh) {
            struct roce_finding f =
                judge_make(ROCE_FINDING_ENTROPY_LOW, ROCE_SEVERITY_NOTE, p->flows);
            f.has_hosts = true;
            f.ip_version = p->ip_version;
            memcpy(f.src, p->src, sizeof f.src);
            memcpy(f.dst, p->dst, sizeof f.dst);
            judge_value(&f, 0, p->port);
            add(obs, &f, p->first_frame);
        }
        if (p->reliable == 0)
            continue;
        const struct host_pair *back = hosts_pair(obs, p->dst, p->src);
        if (back == NULL) {
            reliable += 2;
            if (single++ == 0 || p->first_frame < frame)
                frame = p->first_frame;
        } else {
            reliable++; /* the other half comes with its own pair */
        }
    }
    if (single > 0) {
        struct roce_finding f =
            judge_make(ROCE_FINDING_MIRROR_ONE_DIRECTION, ROCE_SEVERITY_NOTE, single);
        judge_value(&f, 0, (reliable + 1) / 2);
        add(obs, &f, frame);
    }
}

static void senders(struct roce_observer *obs)
{
    const struct hosts *h = obs->hosts;
    if (h->migreq_zero > 0) {
        struct roce_finding f =
            judge_make(ROCE_FINDING_MIGREQ_ZERO, ROCE_SEVERITY_NOTE, h->migreq_zero);
        judge_value(&f, 0, h->connected);
        add(obs, &f, h->migreq_frame);
    }
    if (h->sampled > 0) {
        struct roce_finding f =
            judge_make(ROCE_FINDING_MIRROR_SAMPLED, ROCE_SEVERITY_NOTE, h->sampled);
        judge_value(&f, 0, h->connected);
        add(obs, &f, h->sampled_frame);
    }
    uint64_t data = 0;
    for (int i = 0; i < 4; i++)
        data += obs->data_ecn[i];
    if (obs->data_ecn[ROCE_ECN_NOT_ECT] > 0) {
        struct roce_finding f = judge_make(ROCE_FINDING_ECN_NOT_ECT, ROCE_SEVERITY_NOTE,
                                           obs->data_ecn[ROCE_ECN_NOT_ECT]);
        judge_value(&f, 0, data);
        add(obs, &f, obs->not_ect_frame);
    }
}

/* ---- CNPs and pauses ---- */

static void cnps(struct roce_observer *obs)
{
    uint64_t marked = 0;
    for (uint8_t i = 0; i < ROCE_DSCP_COUNT; i++) {
        const struct dscp_state *d = &obs->congestion->dscp[i];
        const uint64_t others = d->ecn[0] + d->ecn[1] + d->ecn[2] + d->ecn[3];
        marked += d->ecn[ROCE_ECN_CE];
        if (d->cnps == 0 || (others == 0 && i == ROCE_CNP_DSCP))
            continue;
        struct roce_finding f = judge_make(ROCE_FINDING_CNP_DSCP, ROCE_SEVERITY_NOTE, d->cnps);
        f.word = others > 0 ? "the same as other RoCE frames" : "not the usual 48";
        judge_value(&f, 0, i);
        add(obs, &f, d->cnp_frame);
    }
    /* No mark anywhere: then no pair is needed to say so. */
    if (marked == 0 && obs->totals.cnps_unmatched > 0) {
        struct roce_finding f =
            judge_make(ROCE_FINDING_CNP_WITHOUT_CE, ROCE_SEVERITY_NOTE, obs->totals.cnps_unmatched);
        judge_value(&f, 0, obs->totals.cnps);
        add(obs, &f, obs->unmatched_frame);
    }
}

static void pauses(struct roce_observer *obs)
{
    uint64_t by_priority[8], roce = 0, untagged = 0;
    uint8_t main = 0;
    memcpy(by_priority, obs->tagged, sizeof by_priority);
    for (uint8_t i = 0; i < ROCE_DSCP_COUNT; i++) {
        const struct dscp_state *d = &obs->congestion->dscp[i];
        const uint64_t all = d->cnps + d->ecn[0] + d->ecn[1] + d->ecn[2] + d->ecn[3];
        by_priority[i >> 3] += all - d->tagged;
        untagged += all - d->tagged;
        roce += all;
    }
    for (uint8_t i = 1; i < 8; i++)
        if (by_priority[i] > by_priority[main])
            main = i;
    struct roce_pause_entry e;
    for (uint32_t cursor = 0; roce_observer_pause(obs, &cursor, &e);) {
        const bool one = e.priority < ROCE_PAUSE_PRIORITY;
        struct roce_finding f;
        if (e.storms > 0) {
            f = judge_make(ROCE_FINDING_PFC_STORM, ROCE_SEVERITY_ERROR, e.storms);
            f.has_mac = true;
            memcpy(f.mac, e.mac, sizeof f.mac);
            judge_value(&f, 0, e.longest_ns);
            if (one)
                judge_value(&f, 1, e.priority);
            add(obs, &f, e.storm_frame);
        }
        if (!one || e.xoff == 0 || roce < PRIORITY_MIN || by_priority[e.priority] > 0)
            continue;
        /* By DSCP the priority is only assumed. */
        f = judge_make(ROCE_FINDING_PFC_WRONG_PRIORITY,
                       untagged > 0 ? ROCE_SEVERITY_NOTE : ROCE_SEVERITY_WARNING, e.xoff);
        f.has_mac = true;
        memcpy(f.mac, e.mac, sizeof f.mac);
        judge_value(&f, 0, e.priority);
        judge_value(&f, 1, main);
        add(obs, &f, e.first_frame);
    }
}

void judge_capture(struct roce_observer *obs)
{
    contents(obs);
    plain(obs);
    connections(obs);
    pairs(obs);
    senders(obs);
    cnps(obs);
    pauses(obs);
}
