/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Findings about flows: what their counters and incidents amount to. Conservative on purpose: what
 * has an innocent explanation that the capture cannot exclude is a note or nothing. */
#include "watch.h"

#include <string.h>

#define ONE_WAY_NS       500000000 /* a flow younger than this may still be answered */
#define ONE_WAY_REQUESTS 2
#define REWRITTEN_MIN    4         /* frames checked, before "all of them wrong" means something */
#define GAVE_UP_NS       20000000  /* silence after an RNR NAK that no timer explains */
#define GAVE_UP_FIRST_NS 100000000 /* the same where the sender never resent before */
#define GAVE_UP_FACTOR   8         /* times the RNR timer */
#define IGNORED_MIN      10        /* CNPs measured, before "no effect" means something */
#define MISSING_CE       10        /* marks, before "no CNP" means something */
#define ZERO_MIN         3         /* resends from the start of the message, before it is a habit */
#define IDLE_MIN         3         /* silences as long as the same timeout */

/* One flow under judgement. */
struct view {
    const struct roce_observer *obs;
    struct finding_list *list;
    uint32_t id;
    bool gone; /* it is being evicted */
    const struct watch_trouble *trouble;
    struct roce_flow_info info;
    struct roce_flow_counters c;
};

struct roce_finding judge_make(enum roce_finding_kind kind, enum roce_severity severity,
                               uint64_t count)
{
    return (struct roce_finding){.kind = (uint8_t)kind,
                                 .severity = (uint8_t)severity,
                                 .flow = ROCE_FLOW_NONE,
                                 .connection = ROCE_FLOW_NONE,
                                 .count = count};
}

void judge_value(struct roce_finding *finding, uint32_t index, uint64_t value)
{
    finding->has |= (uint8_t)(1U << index);
    finding->value[index] = value;
}

void judge_evidence(struct roce_finding *finding, const struct incident *incident)
{
    if (incident == NULL)
        return;
    finding->first_frame = incident->first_frame;
    finding->n_frames = incident->n_frames;
    memcpy(finding->frames, incident->frames, sizeof finding->frames);
}

static void values_of(struct roce_finding *finding, const struct incident *incident)
{
    if (incident == NULL)
        return;
    finding->has |= incident->has;
    memcpy(finding->value, incident->value, sizeof finding->value);
    finding->word = incident->word;
}

static const struct incident *incident_of(const struct view *v, enum roce_finding_kind kind)
{
    return incident_peek(v->obs, v->id, kind);
}

static struct roce_finding make(const struct view *v, enum roce_finding_kind kind,
                                enum roce_severity severity, uint64_t count)
{
    struct roce_finding f = judge_make(kind, severity, count);
    f.has_hosts = f.has_flow = true;
    f.ip_version = v->info.ip_version;
    memcpy(f.src, v->info.src, sizeof f.src);
    memcpy(f.dst, v->info.dst, sizeof f.dst);
    f.dest_qp = v->info.dest_qp;
    if (!v->gone) {
        f.flow = v->id;
        f.connection = v->info.connection;
    }
    return f;
}

static void emit(const struct view *v, struct roce_finding *finding)
{
    if (finding->first_frame == 0)
        finding->first_frame = v->info.first_frame;
    list_add(v->list, finding);
}

/* counted reports |count| of |kind| with evidence and values of its incident. */
static void counted(const struct view *v, enum roce_finding_kind kind, enum roce_severity severity,
                    uint64_t count)
{
    if (count == 0)
        return;
    struct roce_finding f = make(v, kind, severity, count);
    const struct incident *incident = incident_of(v, kind);
    judge_evidence(&f, incident);
    values_of(&f, incident);
    emit(v, &f);
}

/* told reports an incident that no counter of the flow has. */
static void told(const struct view *v, enum roce_finding_kind kind, enum roce_severity severity)
{
    const struct incident *incident = incident_of(v, kind);
    counted(v, kind, severity, incident == NULL ? 0 : incident->count);
}

/* ---- losses and resends ---- */

/* blind tells that responses to this flow may well be captured, but not which: then neither the
 * cause of a resend nor a loss behind the mirror can be told. */
static bool blind(const struct view *v)
{
    const struct host_pair *back = hosts_pair(v->obs, v->info.dst, v->info.src);
    return v->info.peer == ROCE_FLOW_NONE && back != NULL && back->unpaired_from > 0;
}

static void losses(const struct view *v)
{
    const uint64_t *loss = v->c.loss;
    const uint64_t refused = v->c.loss_refused;
    const uint64_t upstream = loss[ROCE_LOST_UPSTREAM], unknown = loss[ROCE_LOST_UNKNOWN];
    uint64_t downstream =
        loss[ROCE_LOST_DOWNSTREAM] > refused ? loss[ROCE_LOST_DOWNSTREAM] - refused : 0;
    /* A UD sender spends its PSNs on all of its destinations: a gap towards one is no loss. */
    if (v->info.service == ROCE_SERVICE_UD)
        return;
    if (blind(v) && upstream == 0)
        return;
    if (blind(v))
        downstream = 0;
    if (upstream + downstream + unknown > 0) {
        struct roce_finding f = make(v, ROCE_FINDING_LOSS_NETWORK, ROCE_SEVERITY_WARNING,
                                     upstream + downstream + unknown);
        judge_evidence(&f, incident_of(v, ROCE_FINDING_LOSS_NETWORK));
        if (upstream + downstream > 0) {
            judge_value(&f, 0, upstream);
            judge_value(&f, 1, downstream);
        }
        if (unknown > 0)
            judge_value(&f, 2, unknown);
        emit(v, &f);
    }
    counted(v, ROCE_FINDING_LOSS_CAPTURE, ROCE_SEVERITY_WARNING, loss[ROCE_LOST_CAPTURE]);
}

/* Whether something was lost on either way between the two QPs. */
static bool lossy(const struct view *v)
{
    struct roce_flow_counters peer = {0};
    if (v->info.peer != ROCE_FLOW_NONE)
        roce_flow_counters(v->obs->flows, v->info.peer, &peer);
    for (int i = 0; i < ROCE_LOST_COUNT; i++)
        if (v->c.loss[i] > 0 || peer.loss[i] > 0)
            return true;
    return false;
}

static void silent_resends(const struct view *v, enum roce_finding_kind kind, uint64_t count,
                           const char *doubt)
{
    if (count == 0)
        return;
    struct roce_finding f =
        make(v, kind, doubt != NULL ? ROCE_SEVERITY_NOTE : ROCE_SEVERITY_WARNING, count);
    const struct incident *incident = incident_of(v, kind);
    /* How long a silence must be to be a timeout is learned on the way: the early ones may have
     * been taken for the other kind when they happened. */
    if (incident == NULL)
        judge_evidence(&f, incident_of(v, kind == ROCE_FINDING_RETRANSMIT_EARLY
                                              ? ROCE_FINDING_RETRANSMIT_TIMEOUT
                                              : ROCE_FINDING_RETRANSMIT_EARLY));
    judge_evidence(&f, incident);
    values_of(&f, incident);
    f.word = doubt;
    emit(v, &f);
}

static void resends(const struct view *v)
{
    const uint64_t *cause = v->c.retransmission_cause;
    if (blind(v))
        return;
    if (cause[ROCE_CAUSE_TIMEOUT] + cause[ROCE_CAUSE_EARLY] > 0) {
        /* Hosts that are slow to answer do this, too. */
        const char *doubt = lossy(v) ? NULL : "nothing shows that a frame was lost";
        silent_resends(v, ROCE_FINDING_RETRANSMIT_TIMEOUT, cause[ROCE_CAUSE_TIMEOUT], doubt);
        silent_resends(v, ROCE_FINDING_RETRANSMIT_EARLY, cause[ROCE_CAUSE_EARLY], doubt);
    }
    counted(v, ROCE_FINDING_RETRANSMIT_SPURIOUS, ROCE_SEVERITY_WARNING, cause[ROCE_CAUSE_SPURIOUS]);
    const struct incident *zero = incident_of(v, ROCE_FINDING_RETRANSMIT_GO_BACK_ZERO);
    told(v, ROCE_FINDING_RETRANSMIT_GO_BACK_ZERO,
         zero != NULL && zero->count >= ZERO_MIN ? ROCE_SEVERITY_WARNING : ROCE_SEVERITY_NOTE);
    /* Late frames do no harm where the receiver takes them; where it does not, it asks for them. */
    counted(v, ROCE_FINDING_REORDER,
            cause[ROCE_CAUSE_NAK] > 0 ? ROCE_SEVERITY_WARNING : ROCE_SEVERITY_NOTE,
            v->c.out_of_order);
}

/* gave_up finds a sender that stopped after an RNR NAK, although the capture goes on for long.
 * While the pair is unknown, the sender must be the only one that it can be. */
static bool gave_up(const struct view *v)
{
    const struct watch_trouble *t = v->trouble;
    const roce_tstamp end = v->obs->totals.last_ts;
    roce_tstamp newest = v->info.last_ts;
    if (t == NULL || !t->has_rnr || end < t->rnr_ts)
        return false;
    if (t->rnr_sent) {
        const struct host_pair *back = hosts_pair(v->obs, v->info.dst, v->info.src);
        if (v->info.peer != ROCE_FLOW_NONE || back == NULL || back->unpaired_to != 1)
            return false;
        newest = back->to_ts;
    }
    const uint64_t quiet = end - t->rnr_ts;
    return newest <= t->rnr_ts && quiet >= (t->rnr_repeats > 0 ? GAVE_UP_NS : GAVE_UP_FIRST_NS) &&
           quiet >= GAVE_UP_FACTOR * t->rnr_timer;
}

/* answered_ts returns when the newest frame came that may hold an answer to this flow: of its peer,
 * or of any flow that may be its peer; 0 when there is none. */
static roce_tstamp answered_ts(const struct view *v)
{
    struct roce_flow_info peer;
    if (v->info.peer != ROCE_FLOW_NONE)
        return roce_flow_info(v->obs->flows, v->info.peer, &peer) ? peer.last_ts : 0;
    const struct host_pair *back = hosts_pair(v->obs, v->info.dst, v->info.src);
    return back == NULL ? 0 : back->from_ts;
}

/* unanswered finds a sender that stopped after resends without an answer: it has been quiet for as
 * long as it waited before a resend, or the capture may have ended too early to tell. */
static bool unanswered(const struct view *v)
{
    const struct watch_trouble *t = v->trouble;
    const struct roce_flow_info *i = &v->info;
    const roce_tstamp end = v->obs->totals.last_ts;
    if (t == NULL || !t->has_resend || t->resends < 2 || end < i->last_ts)
        return false;
    const bool silent = incident_of(v, ROCE_FINDING_RETRY_EXCEEDED) != NULL &&
                        i->last_frame == t->silent_after && i->peer != ROCE_FLOW_NONE;
    const bool nothing = i->last_frame == t->resent_frame && answered_ts(v) < t->resend_ts;
    return (silent || nothing) && end - i->last_ts >= t->resend_gap;
}

static void failures(const struct view *v)
{
    const struct watch_trouble *t = v->trouble;
    if (gave_up(v)) {
        struct roce_finding f = make(v, ROCE_FINDING_RETRY_EXCEEDED, ROCE_SEVERITY_ERROR, 1);
        judge_evidence(&f, incident_of(v, ROCE_FINDING_RNR));
        judge_value(&f, 0, t->rnr_psn);
        judge_value(&f, 1, t->rnr_repeats);
        f.word = "refused by RNR NAK each time";
        emit(v, &f);
    } else if (unanswered(v)) {
        struct roce_finding f = make(v, ROCE_FINDING_RETRY_EXCEEDED, ROCE_SEVERITY_ERROR, 1);
        judge_evidence(&f, incident_of(v, ROCE_FINDING_RETRANSMIT_TIMEOUT));
        judge_evidence(&f, incident_of(v, ROCE_FINDING_RETRY_EXCEEDED));
        judge_value(&f, 0, t->resend_psn);
        judge_value(&f, 1, t->resends);
        f.word = "nobody answered it";
        emit(v, &f);
    }
    told(v, ROCE_FINDING_NAK_REMOTE_ACCESS, ROCE_SEVERITY_ERROR);
    told(v, ROCE_FINDING_NAK_INVALID_REQUEST, ROCE_SEVERITY_ERROR);
    told(v, ROCE_FINDING_NAK_REMOTE_OPERATIONAL, ROCE_SEVERITY_ERROR);
    told(v, ROCE_FINDING_RNR, ROCE_SEVERITY_WARNING);
    told(v, ROCE_FINDING_NAK_SLOW, ROCE_SEVERITY_WARNING);
}

/* One NAK that is not seen may be lost between the receiver and the mirror; a receiver that never
 * sends any is another matter. */
static void naks_missing(const struct view *v)
{
    const struct incident *incident = incident_of(v, ROCE_FINDING_NAK_MISSING);
    struct roce_flow_counters peer;
    if (incident == NULL)
        return;
    const bool never = incident->count > 1 && v->info.peer != ROCE_FLOW_NONE &&
                       roce_flow_counters(v->obs->flows, v->info.peer, &peer) &&
                       peer.naks[ROCE_NAK_PSN_SEQUENCE_ERROR] == 0;
    told(v, ROCE_FINDING_NAK_MISSING, never ? ROCE_SEVERITY_WARNING : ROCE_SEVERITY_NOTE);
}

static void ghosts(const struct view *v)
{
    struct roce_flow_counters peer;
    const bool hidden =
        v->obs->totals.dropped > 0 || v->info.sampled ||
        (v->info.peer != ROCE_FLOW_NONE && roce_flow_counters(v->obs->flows, v->info.peer, &peer) &&
         peer.loss[ROCE_LOST_CAPTURE] > 0);
    told(v, ROCE_FINDING_ACK_GHOST, hidden ? ROCE_SEVERITY_NOTE : ROCE_SEVERITY_WARNING);
}

/* ---- frames ---- */

static void frames(const struct view *v)
{
    const uint64_t bad = v->c.icrc_bad, judged = v->c.icrc_ok + bad;
    if (bad > 0) {
        const bool all = judged >= REWRITTEN_MIN && bad * 10 >= judged * 9;
        struct roce_finding f = make(v, all ? ROCE_FINDING_ICRC_REWRITTEN : ROCE_FINDING_ICRC_BAD,
                                     ROCE_SEVERITY_WARNING, bad);
        judge_evidence(&f, incident_of(v, ROCE_FINDING_ICRC_BAD));
        judge_value(&f, 0, judged);
        emit(v, &f);
    }
    counted(v, ROCE_FINDING_MIRROR_DUPLICATES, ROCE_SEVERITY_NOTE, v->c.mirror_duplicates);
    told(v, ROCE_FINDING_MALFORMED, ROCE_SEVERITY_WARNING);
    told(v, ROCE_FINDING_MTU_MIXED, ROCE_SEVERITY_WARNING);
}

static void silences(const struct view *v)
{
    const struct watch_trouble *t = v->trouble;
    if (t == NULL || t->idle_match < IDLE_MIN || t->idle_match < t->idle_other)
        return;
    struct roce_finding f =
        make(v, ROCE_FINDING_IDLE_TIMEOUT_GAP, ROCE_SEVERITY_NOTE, t->idle_match);
    f.first_frame = t->idle_frame;
    f.frames[0] = t->idle_frame;
    f.n_frames = 1;
    judge_value(&f, 0, roce_cm_timeout_ns(t->idle_exp));
    emit(v, &f);
}

/* ---- congestion ---- */

static void evidence_frame(struct roce_finding *f, uint64_t frame)
{
    f->first_frame = f->frames[0] = frame;
    f->n_frames = frame != 0;
}

/* NICs may limit CNPs by port or by address: another flow of the same two hosts got some. */
static bool others_got_cnps(const struct view *v, const struct cong *rec)
{
    const struct congestion *c = v->obs->congestion;
    uint32_t looked = 0;
    for (uint32_t i = rec->next; i != 0 && looked < CONG_CHAIN; i = c->rec[i - 1].next, looked++)
        if (c->rec[i - 1].cnps > 0 && memcmp(c->rec[i - 1].src, rec->src, 16) == 0)
            return true;
    looked = 0;
    for (uint32_t i = rec->prev; i != 0 && looked < CONG_CHAIN; i = c->rec[i - 1].prev, looked++)
        if (c->rec[i - 1].cnps > 0 && memcmp(c->rec[i - 1].src, rec->src, 16) == 0)
            return true;
    return false;
}

static void marks(const struct view *v, const struct cong *rec, const struct roce_congestion *c)
{
    if (!c->has_cnp || c->ce_runs_unanswered == 0 || v->info.grh)
        return; /* RoCEv1 has no CNP */
    const bool none = c->cnps == 0 && c->ce >= MISSING_CE;
    if (!none && c->cnps > 0 && c->ce_runs_unanswered * 2 < c->ce_runs)
        return;
    const bool sure = none && v->obs->totals.cnps_unmatched == 0 && !others_got_cnps(v, rec);
    struct roce_finding f =
        make(v, ROCE_FINDING_CNP_MISSING, sure ? ROCE_SEVERITY_WARNING : ROCE_SEVERITY_NOTE,
             c->ce_runs_unanswered);
    evidence_frame(&f, rec->unanswered_frame != 0 ? rec->unanswered_frame : rec->run_frame);
    judge_value(&f, 0, c->ce);
    emit(v, &f);
}

static void congested(const struct view *v)
{
    const struct cong *rec = congestion_peek(v->obs, v->id);
    struct roce_congestion c;
    if (rec == NULL || !roce_observer_congestion(v->obs, v->id, &c))
        return;
    marks(v, rec, &c);
    if (c.cnps_without_ce > 0) {
        struct roce_finding f =
            make(v, ROCE_FINDING_CNP_WITHOUT_CE, ROCE_SEVERITY_NOTE, c.cnps_without_ce);
        evidence_frame(&f, rec->without_frame);
        judge_value(&f, 0, c.cnps);
        emit(v, &f);
    }
    /* A sender that was slowed long ago has nothing left to give: its rate must be near its own
     * highest one. */
    if (c.rate_measured >= IGNORED_MIN && c.rate_fell * 10 <= c.rate_measured &&
        c.rate_after_bps >= c.rate_before_bps - c.rate_before_bps / 20 &&
        c.rate_before_bps > c.rate_max_bps / 2) {
        struct roce_finding f =
            make(v, ROCE_FINDING_CNP_IGNORED, ROCE_SEVERITY_WARNING, c.rate_measured);
        evidence_frame(&f, rec->cnp_frame);
        judge_value(&f, 0, c.rate_before_bps);
        judge_value(&f, 1, c.rate_after_bps);
        emit(v, &f);
    }
}

/* ---- pairs ---- */

/* Requests and no response: only when the responses should be here, because the same two hosts have
 * others, or when the sender itself gave up waiting. */
static void one_way(const struct view *v)
{
    const struct roce_flow_info *i = &v->info;
    if ((i->service != ROCE_SERVICE_RC && i->service != ROCE_SERVICE_XRC) ||
        i->peer != ROCE_FLOW_NONE || i->sampled || v->c.requests < ONE_WAY_REQUESTS ||
        (v->c.icrc_bad > 0 && v->c.icrc_ok == 0))
        return;
    const roce_tstamp end = v->obs->totals.last_ts;
    if (end < i->first_ts || end - i->first_ts < ONE_WAY_NS)
        return;
    const struct host_pair *back = hosts_pair(v->obs, i->dst, i->src);
    const bool expected = back != NULL && back->reliable > 0 && back->unpaired_from == 0;
    if (!expected && !unanswered(v))
        return;
    struct roce_finding f = make(v, ROCE_FINDING_ONE_WAY, ROCE_SEVERITY_WARNING, v->c.requests);
    evidence_frame(&f, i->first_frame);
    emit(v, &f);
}

static void mtus(const struct roce_observer *obs, struct finding_list *list, uint32_t id,
                 const struct roce_flow_info *info, bool gone)
{
    const struct watch_ext *ext = watch_ext(obs, id);
    struct view v = {.obs = obs, .list = list, .id = id, .gone = gone, .info = *info};
    if (ext == NULL || ext->mtu == 0 || info->peer == ROCE_FLOW_NONE || info->peer < id)
        return;
    const struct watch_ext *peer = watch_ext(obs, info->peer);
    if (peer == NULL || peer->mtu == 0 || peer->mtu == ext->mtu)
        return;
    struct roce_finding f = make(&v, ROCE_FINDING_MTU_MIXED, ROCE_SEVERITY_WARNING, 1);
    const bool first = ext->mtu_frame < peer->mtu_frame;
    const uint32_t frames[] = {first ? ext->mtu_frame : peer->mtu_frame,
                               first ? peer->mtu_frame : ext->mtu_frame};
    for (int i = 0; i < 2; i++)
        if (frames[i] != 0)
            f.frames[f.n_frames++] = frames[i];
    f.first_frame = f.frames[0];
    judge_value(&f, 0, ext->mtu);
    judge_value(&f, 1, peer->mtu);
    emit(&v, &f);
}

/* ---- all ---- */

void judge_flow(const struct roce_observer *obs, struct finding_list *list, uint32_t flow,
                bool gone)
{
    struct view v = {.obs = obs, .list = list, .id = flow, .gone = gone};
    if (!roce_flow_info(obs->flows, flow, &v.info) || !roce_flow_counters(obs->flows, flow, &v.c))
        return;
    v.trouble = trouble_watched(obs, flow);
    failures(&v);
    frames(&v);
    ghosts(&v);
    congested(&v);
    silences(&v);
    if (!gone)
        one_way(&v);
    if (v.info.sampled)
        return;
    losses(&v);
    resends(&v);
    naks_missing(&v);
}

void judge_evicted(struct roce_observer *obs, uint32_t flow)
{
    const struct watch_ext *ext = watch_ext(obs, flow);
    struct roce_flow_info info;
    if (ext == NULL)
        return;
    if (ext->mtu != 0 && roce_flow_info(obs->flows, flow, &info))
        mtus(obs, &obs->incidents->evicted, flow, &info, true);
    if (ext->trouble != 0 || ext->congestion != 0)
        judge_flow(obs, &obs->incidents->evicted, flow, true);
}

void judge_all(struct roce_observer *obs)
{
    struct incidents *in = obs->incidents;
    struct finding_list *list = &in->current;
    struct roce_finding *items = list->item;
    struct roce_flow_info info;
    *list = in->evicted;
    list->item = items;
    memcpy(items, in->evicted.item, in->evicted.n * sizeof *items);
    hosts_begin(obs);
    for (uint32_t id = roce_flow_first(obs->flows); id != ROCE_FLOW_NONE;
         id = roce_flow_next(obs->flows, id)) {
        if (!roce_flow_info(obs->flows, id, &info))
            continue;
        hosts_take(obs, &info);
        mtus(obs, list, id, &info, false);
    }
    const bool all = in->lost > 0 || obs->congestion->lost > 0;
    for (uint32_t id = roce_flow_first(obs->flows); id != ROCE_FLOW_NONE;
         id = roce_flow_next(obs->flows, id)) {
        const struct watch_ext *ext = watch_ext(obs, id);
        if (all || ext == NULL || ext->trouble != 0 || ext->congestion != 0 ||
            (obs->hosts->unpaired > 0 && roce_flow_info(obs->flows, id, &info) &&
             info.peer == ROCE_FLOW_NONE))
            judge_flow(obs, list, id, false);
    }
    judge_capture(obs);
    in->n_sorted = list_sort(list, in->sorted);
}
