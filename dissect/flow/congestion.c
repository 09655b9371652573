/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ECN marks, CNPs and the sender's answer: the delay from CE to CNP, CNPs without cause, marks
 * without answer, and the rate before and behind each CNP. */
#include "watch.h"
#include "space.h"

#include <stdlib.h>
#include <string.h>

#define SETTLE_NS \
    20000 /* from a CNP at the mirror to the first frames of the new rate, generously */
#define RATE_MIN_FRAMES 8 /* fewer frames in a window are no rate */

/* Window widths: the narrowest one that holds enough frames is used. */
static const uint64_t span_ns[CONG_SPANS] = {100000, 1000000, 10000000};

static uint32_t pair_slot(const uint8_t src[16], const uint8_t dst[16])
{
    uint32_t h = 2166136261U;
    for (int i = 0; i < 16; i++)
        h = (h ^ src[i]) * 16777619U;
    for (int i = 0; i < 16; i++)
        h = (h ^ dst[i]) * 16777619U;
    return (h ^ h >> 16) & (CONG_INDEX - 1);
}

struct cong *congestion_peek(const struct roce_observer *obs, uint32_t flow)
{
    const struct watch_ext *ext = watch_ext(obs, flow);
    return ext == NULL || ext->congestion == 0 ? NULL : &obs->congestion->rec[ext->congestion - 1];
}

static struct cong *rec_get(struct roce_observer *obs, uint32_t flow)
{
    struct congestion *c = obs->congestion;
    struct watch_ext *ext = watch_ext(obs, flow);
    struct roce_flow_info info;
    if (ext == NULL)
        return NULL;
    if (ext->congestion != 0)
        return &c->rec[ext->congestion - 1];
    if ((c->free == 0 && c->fresh == c->capacity) || !roce_flow_info(obs->flows, flow, &info)) {
        c->lost++;
        return NULL;
    }
    uint32_t index = c->free;
    if (index != 0)
        c->free = c->rec[index - 1].next;
    else
        index = ++c->fresh;
    struct cong *rec = &c->rec[index - 1];
    const uint32_t serial = rec->serial, hist = rec->hist;
    *rec = (struct cong){
        .flow = flow, .serial = serial, .hist = hist, .spacing_min = -1, .first_frame = obs->frame};
    memcpy(rec->src, info.src, sizeof rec->src);
    memcpy(rec->dst, info.dst, sizeof rec->dst);
    if (hist == 0 && c->hist_fresh < CONG_HISTS)
        rec->hist = ++c->hist_fresh;
    else if (hist != 0)
        memset(&c->hist[hist - 1], 0, sizeof c->hist[hist - 1]);
    uint32_t *head = &c->index[pair_slot(rec->src, rec->dst)];
    rec->next = *head;
    if (*head != 0)
        c->rec[*head - 1].prev = index;
    *head = index;
    ext->congestion = index;
    return rec;
}

void congestion_evict(struct roce_observer *obs, uint32_t flow)
{
    struct congestion *c = obs->congestion;
    struct watch_ext *ext = watch_ext(obs, flow);
    if (ext == NULL || ext->congestion == 0)
        return;
    struct cong *rec = &c->rec[ext->congestion - 1];
    if (rec->next != 0)
        c->rec[rec->next - 1].prev = rec->prev;
    if (rec->prev != 0)
        c->rec[rec->prev - 1].next = rec->next;
    else
        c->index[pair_slot(rec->src, rec->dst)] = rec->next;
    rec->flow = ROCE_FLOW_NONE;
    rec->serial++;
    rec->next = c->free;
    c->free = ext->congestion;
    ext->congestion = 0;
}

/* ---- marks ---- */

static bool within(roce_tstamp now, roce_tstamp before, uint64_t limit)
{
    return now < before || now - before <= limit;
}

/* run_settle ends a run of CE marks whose last one is too long ago to be answered. */
static void run_settle(struct cong *rec, roce_tstamp now)
{
    if (!rec->run_open || within(now, rec->last_ce_ts, ROCE_CNP_INTERVAL_NS))
        return;
    rec->run_open = false;
    rec->waiting = false;
    if (rec->run_answered)
        return;
    if (rec->unanswered++ == 0)
        rec->unanswered_frame = rec->run_frame;
}

void congestion_ce(struct roce_observer *obs, const struct roce_packet *pkt,
                   const struct roce_verdict *v)
{
    struct cong *rec = rec_get(obs, v->flow);
    if (rec == NULL)
        return;
    run_settle(rec, obs->now);
    if (!rec->run_open) {
        rec->run_open = true;
        rec->run_answered = false;
        rec->run_frame = obs->frame;
        rec->runs++;
    }
    if (!rec->waiting) {
        rec->waiting = true;
        rec->waiting_ts = obs->now;
    }
    rec->ce++;
    rec->last_ce_ts = obs->now;
    rec->dscp = roce_ip_dscp(&pkt->ip);
}

/* ---- rates ---- */

static const struct recent_frame *recent_at(const struct recent *recent, uint64_t n)
{
    return &recent->frame[n & (RECENT_MAX - 1)];
}

/* covered tells whether the newest frames reach back to |from|. */
static bool covered(const struct recent *recent, roce_tstamp from)
{
    if (recent->n_frames == 0)
        return false;
    const uint64_t oldest = recent->n_frames > RECENT_MAX ? recent->n_frames - RECENT_MAX : 0;
    return recent_at(recent, oldest)->ts <= from;
}

static uint64_t bytes_in(const struct recent *recent, uint32_t flow, roce_tstamp from,
                         roce_tstamp to, uint32_t *frames)
{
    const uint64_t oldest = recent->n_frames > RECENT_MAX ? recent->n_frames - RECENT_MAX : 0;
    uint64_t bytes = 0;
    *frames = 0;
    for (uint64_t n = recent->n_frames; n > oldest; n--) {
        const struct recent_frame *f = recent_at(recent, n - 1);
        if (f->ts < from)
            break;
        if (f->flow == flow && f->ts < to) {
            bytes += f->bytes;
            (*frames)++;
        }
    }
    return bytes;
}

static uint64_t rate_bps(uint64_t bytes, uint64_t ns)
{
    /* A window holds at most RECENT_MAX frames of below 4 GiB: bytes * 8000 fits. */
    return bytes * 8000 / (ns / 1000) * 1000;
}

static void rate_begin(struct roce_observer *obs, struct cong *rec)
{
    struct congestion *c = obs->congestion;
    for (uint32_t i = 0; i < CONG_SPANS; i++) {
        const uint64_t span = span_ns[i];
        uint32_t frames;
        if (obs->now < span || !covered(&obs->recent, obs->now - span))
            return;
        const uint64_t bytes =
            bytes_in(&obs->recent, rec->flow, obs->now - span, obs->now, &frames);
        if (frames < RATE_MIN_FRAMES)
            continue;
        struct cong_queue *q = &c->queue[i];
        if (q->n == CONG_PENDING)
            return;
        struct cong_pending *p = &q->item[(q->head + q->n++) & (CONG_PENDING - 1)];
        p->rec = (uint32_t)(rec - c->rec);
        p->serial = rec->serial;
        p->from = obs->now + SETTLE_NS;
        p->due = p->from + span;
        p->before_bps = rate_bps(bytes, span);
        if (p->due < c->next_due)
            c->next_due = p->due;
        return;
    }
}

static void rate_end(struct roce_observer *obs, const struct cong_pending *p, uint64_t span)
{
    struct cong *rec = &obs->congestion->rec[p->rec];
    uint32_t frames;
    if (rec->serial != p->serial || !covered(&obs->recent, p->from))
        return;
    const uint64_t after =
        rate_bps(bytes_in(&obs->recent, rec->flow, p->from, p->due, &frames), span);
    rec->measured++;
    rec->before_sum += p->before_bps;
    rec->after_sum += after;
    if (after < p->before_bps - p->before_bps / 20)
        rec->fell++;
    if (p->before_bps > rec->before_max)
        rec->before_max = p->before_bps;
}

void congestion_poll(struct roce_observer *obs)
{
    struct congestion *c = obs->congestion;
    c->next_due = UINT64_MAX;
    for (uint32_t i = 0; i < CONG_SPANS; i++) {
        struct cong_queue *q = &c->queue[i];
        while (q->n > 0 && q->item[q->head].due <= obs->now) {
            rate_end(obs, &q->item[q->head], span_ns[i]);
            q->head = (q->head + 1) & (CONG_PENDING - 1);
            q->n--;
        }
        if (q->n > 0 && q->item[q->head].due < c->next_due)
            c->next_due = q->item[q->head].due;
    }
}

/* ---- CNPs ---- */

/* A CNP names the sender's QP, which no frame of the sender carries while the pair is unknown. Then
 * the sender's QP by DETH decides, else the only marked flow between the two hosts. */
static uint32_t match_unpaired(const struct roce_observer *obs, const struct roce_packet *pkt)
{
    const struct congestion *c = obs->congestion;
    uint32_t found = ROCE_FLOW_NONE, looked = 0;
    bool several = false;
    for (uint32_t i = c->index[pair_slot(pkt->ip.dst, pkt->ip.src)]; i != 0;
         i = c->rec[i - 1].next) {
        const struct cong *rec = &c->rec[i - 1];
        struct roce_flow_info info;
        if (++looked > CONG_CHAIN)
            return ROCE_FLOW_NONE;
        if (memcmp(rec->src, pkt->ip.dst, 16) != 0 || memcmp(rec->dst, pkt->ip.src, 16) != 0 ||
            !roce_flow_info(obs->flows, rec->flow, &info))
            continue;
        if (info.has_src_qp) {
            if (info.src_qp == pkt->bth.dqpn)
                return rec->flow;
            continue;
        }
        if (!rec->run_open || !within(obs->now, rec->last_ce_ts, ROCE_CNP_INTERVAL_NS))
            continue;
        several = found != ROCE_FLOW_NONE;
        found = rec->flow;
        if (several)
            return ROCE_FLOW_NONE;
    }
    return found;
}

void congestion_cnp(struct roce_observer *obs, const struct roce_packet *pkt,
                    const struct roce_verdict *v)
{
    struct congestion *c = obs->congestion;
    obs->totals.cnps++;
    const uint32_t flow = v->peer != ROCE_FLOW_NONE ? v->peer : match_unpaired(obs, pkt);
    struct cong *rec = flow == ROCE_FLOW_NONE ? NULL : rec_get(obs, flow);
    if (rec == NULL) {
        if (obs->totals.cnps_unmatched++ == 0)
            obs->unmatched_frame = obs->frame;
        return;
    }
    run_settle(rec, obs->now);
    if (rec->cnps++ > 0 && obs->now >= rec->last_cnp_ts) {
        const roce_duration spacing = (roce_duration)(obs->now - rec->last_cnp_ts);
        if (rec->spacing_min < 0 || spacing < rec->spacing_min)
            rec->spacing_min = spacing;
    }
    rec->last_cnp_ts = obs->now;
    rec->cnp_frame = obs->frame;
    if (!rec->run_open) {
        if (rec->without_ce++ == 0)
            rec->without_frame = obs->frame;
    } else {
        rec->run_answered = true;
        if (rec->waiting && obs->now >= rec->waiting_ts) {
            const uint64_t delay = obs->now - rec->waiting_ts;
            if (rec->delays++ == 0 || delay < rec->delay_min)
                rec->delay_min = delay;
            if (delay > rec->delay_max)
                rec->delay_max = delay;
            if (rec->hist != 0)
                roce_hist_add(&c->hist[rec->hist - 1], delay);
            roce_hist_add(&c->dscp_hist[rec->dscp], delay);
        }
        rec->waiting = false;
    }
    rate_begin(obs, rec);
}

/* ---- storage and readers ---- */

struct congestion *congestion_new(uint32_t max_flows)
{
    struct congestion *c = calloc(1, sizeof *c);
    if (c == NULL)
        return NULL;
    c->capacity = max_flows < CONG_MAX ? max_flows : CONG_MAX;
    c->next_due = UINT64_MAX;
    c->rec = space_new(c->capacity, sizeof *c->rec);
    c->hist = space_new(CONG_HISTS, sizeof *c->hist);
    c->dscp_hist = calloc(ROCE_DSCP_COUNT, sizeof *c->dscp_hist);
    if (c->rec == NULL || c->hist == NULL || c->dscp_hist == NULL) {
        congestion_del(c);
        return NULL;
    }
    return c;
}

void congestion_del(struct congestion *c)
{
    if (c == NULL)
        return;
    space_del(c->rec, c->capacity, sizeof *c->rec);
    space_del(c->hist, CONG_HISTS, sizeof *c->hist);
    free(c->dscp_hist);
    free(c);
}

bool roce_observer_congestion(const struct roce_observer *obs, uint32_t flow,
                              struct roce_congestion *out)
{
    const struct cong *kept = congestion_peek(obs, flow);
    *out = (struct roce_congestion){.cnp_spacing_min = -1};
    if (kept == NULL)
        return false;
    struct cong rec = *kept;
    struct roce_flow_info info;
    run_settle(&rec, obs->now);
    out->ce = rec.ce;
    out->ce_runs = rec.runs;
    out->has_cnp = rec.cnps > 0 || hosts_pair(obs, rec.dst, rec.src) != NULL ||
                   (roce_flow_info(obs->flows, flow, &info) && info.peer != ROCE_FLOW_NONE);
    out->ce_runs_unanswered = rec.unanswered;
    out->cnps = rec.cnps;
    out->cnps_without_ce = rec.without_ce;
    out->has_quantiles = rec.hist != 0;
    if (rec.hist != 0)
        roce_hist_summary(&obs->congestion->hist[rec.hist - 1], &out->cnp_delay);
    out->cnp_delay.count = rec.delays;
    out->cnp_delay.min = rec.delay_min;
    out->cnp_delay.max = rec.delay_max;
    out->cnp_spacing_min = rec.spacing_min;
    out->rate_measured = rec.measured;
    out->rate_fell = rec.fell;
    if (rec.measured > 0) {
        out->rate_before_bps = rec.before_sum / rec.measured;
        out->rate_after_bps = rec.after_sum / rec.measured;
    }
    out->rate_max_bps = rec.before_max;
    out->first_frame = rec.first_frame;
    return true;
}

bool roce_observer_dscp(const struct roce_observer *obs, uint8_t dscp, struct roce_dscp *out)
{
    if (dscp >= ROCE_DSCP_COUNT)
        return false;
    const struct dscp_state *s = &obs->congestion->dscp[dscp];
    *out = (struct roce_dscp){
        .bytes = s->bytes,
        .cnps = s->cnps,
        .not_ect = s->ecn[ROCE_ECN_NOT_ECT],
        .ect = s->ecn[ROCE_ECN_ECT0] + s->ecn[ROCE_ECN_ECT1],
        .ce = s->ecn[ROCE_ECN_CE],
    };
    out->packets = out->cnps + out->not_ect + out->ect + out->ce;
    roce_hist_summary(&obs->congestion->dscp_hist[dscp], &out->cnp_delay);
    return out->packets > 0;
}
