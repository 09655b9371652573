/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which two flows are the two directions of one QP pair: the wire names only the destination QP, so
 * that the responses of one flow are compared with the requests of the flows the other way.
 *
 * Requests of flows without a peer are indexed by (path, PSN). A response finds there every flow
 * that has a request of exactly its PSN outstanding; each of these candidates is held against all
 * the responses remembered of the flow. A response to a PSN that the candidate had not sent yet
 * rules it out. One candidate that agrees often enough and alone is the peer. Where PSNs of many
 * QPs coincide (all start at 0), the message sequence number and the steadiness of the response
 * time decide, by a wide margin or not at all. */
#include "internal.h"

#include <string.h>

#define AGREE_CLEAR  3    /* agreements that suffice when no second candidate was ever seen */
#define AGREE_MANY   5    /* agreements that suffice when the others are ruled out */
#define AGREE_STEADY 8    /* agreements for a decision by response times */
#define STEADY_RATIO 8    /* by how much the others' response times must vary more */
#define CHAIN_MAX    4096 /* candidates looked at in one attempt */
#define FOLLOW_MAX   64   /* entries of a candidate looked at for one response */

struct score {
    uint32_t agree;
    bool ruled_out;
    bool msn_steady;
    uint64_t rtt_min, rtt_max;
};

/* ---- index of outstanding requests ---- */

static uint32_t bucket_of(uint32_t path, uint32_t psn)
{
    uint32_t h = path * UINT32_C(0x9E3779B1) ^ psn * UINT32_C(0x85EBCA77);
    h ^= h >> 15;
    h *= UINT32_C(0xC2B2AE3D);
    return (h ^ h >> 13) % PAIR_INDEX_SIZE;
}

static uint32_t key_psn(const struct node *node)
{
    return node->kind == NODE_READ || node->kind == NODE_ATOMIC ? node->first_psn : node->last_psn;
}

void pair_index_add(struct roce_flow_table *t, uint32_t index)
{
    struct node *node = node_at(t, index);
    if (node->flags & NODE_HASHED)
        return;
    uint32_t *head = &t->pair_index[bucket_of(flow_at(t, node->owner)->path, key_psn(node))];
    node->hprev = NIL;
    node->hnext = *head;
    if (*head != NIL)
        node_at(t, *head)->hprev = index;
    *head = index;
    node->flags |= NODE_HASHED;
}

void pair_index_remove(struct roce_flow_table *t, uint32_t index)
{
    struct node *node = node_at(t, index);
    if (node->hprev != NIL)
        node_at(t, node->hprev)->hnext = node->hnext;
    else
        t->pair_index[bucket_of(flow_at(t, node->owner)->path, key_psn(node))] = node->hnext;
    if (node->hnext != NIL)
        node_at(t, node->hnext)->hprev = node->hprev;
    node->flags &= (uint8_t)~NODE_HASHED;
}

static void index_remove_all(struct roce_flow_table *t, struct flow *f)
{
    for (uint32_t i = f->pend_head; i != NIL; i = node_at(t, i)->next)
        if (node_at(t, i)->flags & NODE_HASHED)
            pair_index_remove(t, i);
}

/* ---- comparing ---- */

static bool kinds_fit(uint8_t node_kind, uint8_t obs)
{
    switch (obs) {
    case OBS_ACK:
        return node_kind == NODE_END || node_kind == NODE_ACKREQ;
    case OBS_READ_FIRST:
    case OBS_READ_ONLY:
        return node_kind == NODE_READ;
    case OBS_ATOMIC:
        return node_kind == NODE_ATOMIC;
    default:
        return false;
    }
}

/* Holds the requests of |f| against the responses of |g|. */
static void compare(const struct roce_flow_table *t, const struct flow *f, const struct flow *g,
                    struct score *score)
{
    *score = (struct score){.rtt_min = UINT64_MAX, .msn_steady = true};
    uint32_t block = NIL, at = 0, offset = 0;
    bool has_offset = false;
    const struct obs *o;
    while ((o = obs_next(t, g, &block, &at)) != NULL) {
        const uint8_t kind = (uint8_t)(o->psn >> 24 & 0x3F);
        const uint32_t psn = o->psn & ROCE_PSN_MASK;
        if (!(f->flags & F_PSN) ||
            (roce_psn_diff(psn, f->next_psn) >= 0 && !(f->flags & F_SLACK))) {
            score->ruled_out = true;
            return;
        }
        if (f->pend_head == NIL)
            continue;
        const struct node *first = node_at(t, f->pend_head);
        if (roce_psn_diff(psn, first->first_psn) < 0) {
            /* Older than what is remembered. Further back than the flow ever was: not its peer. */
            if (roce_psn_diff(psn, f->low_psn) < -0x10000) {
                score->ruled_out = true;
                return;
            }
            continue;
        }
        const struct node *match = NULL, *later = NULL;
        for (uint32_t i = f->pend_head, n = 0; i != NIL && n < FOLLOW_MAX;
             i = node_at(t, i)->next, n++) {
            const struct node *node = node_at(t, i);
            if (key_psn(node) == psn && node->kind != NODE_OPEN) {
                match = node;
                break;
            }
            if (roce_psn_diff(node->first_psn, psn) > 0) {
                later = node;
                break;
            }
            if (node->kind == NODE_END && roce_psn_diff(node->last_psn, psn) >= 0) {
                if (kind == OBS_NAK || kind == OBS_RNR || kind == OBS_FATAL)
                    match = node;
                else
                    later = node;
                break;
            }
        }
        if (match == NULL) {
            if (later != NULL && later->start_ts > o->ts) {
                score->ruled_out = true; /* the PSN had not been sent yet */
                return;
            }
            continue;
        }
        if (kind == OBS_READ_LAST)
            continue;
        if (kind == OBS_NAK || kind == OBS_RNR || kind == OBS_FATAL) {
            /* A refusal names any packet of the request; sent it must have been. */
            if (match->start_ts <= o->ts)
                score->agree++;
            continue;
        }
        const roce_tstamp sent = match->kind == NODE_READ ? match->start_ts : match->ts;
        if (!kinds_fit(match->kind, kind) || sent > o->ts) {
            score->ruled_out = true;
            return;
        }
        score->agree++;
        const uint64_t rtt = o->ts - sent;
        if (rtt < score->rtt_min)
            score->rtt_min = rtt;
        if (rtt > score->rtt_max)
            score->rtt_max = rtt;
        if (!(o->psn >> 24 & OBS_NO_MSN) && match->kind != NODE_ACKREQ) {
            const uint32_t now = (o->msn - match->msg_no) & ROCE_PSN_MASK;
            if (has_offset && now != offset)
                score->msn_steady = false;
            offset = now;
            has_offset = true;
        }
    }
}

static bool services_fit(const struct flow *a, const struct flow *b)
{
    return a->service == b->service;
}

/* Both directions must agree: the responses of |g| with the requests of |f|, and, where there are
 * any, those of |f| with the requests of |g|. */
static void compare_both(const struct roce_flow_table *t, const struct flow *f,
                         const struct flow *g, struct score *score)
{
    compare(t, f, g, score);
    if (score->ruled_out || f->obs_n == 0)
        return;
    struct score back;
    compare(t, g, f, &back);
    if (back.ruled_out) {
        score->ruled_out = true;
        return;
    }
    score->agree += back.agree;
    score->msn_steady = score->msn_steady && back.msn_steady;
    if (back.agree > 0) {
        if (back.rtt_min < score->rtt_min)
            score->rtt_min = back.rtt_min;
        if (back.rtt_max > score->rtt_max)
            score->rtt_max = back.rtt_max;
    }
}

/* Attempts cost a look at every candidate: they get rarer as responses pass without a decision. */
static bool time_to_try(uint16_t tries)
{
    if (tries < 8)
        return true;
    if (tries < 64)
        return tries % 4 == 0;
    return tries % 32 == 0;
}

static uint64_t spread(const struct score *s)
{
    return s->rtt_max - s->rtt_min;
}

struct field {
    uint32_t best;
    struct score score;
    uint32_t candidates; /* not ruled out */
    uint32_t steady_msn; /* of these, with a steady MSN offset */
    uint32_t best_msn;
    struct score score_msn;
    uint64_t spread_best, spread_next; /* least and second least variation of response times */
    uint32_t steadiest;
    struct score score_steady;
};

static void field_add(struct field *field, uint32_t id, const struct score *score)
{
    field->candidates++;
    if (field->best == NIL || score->agree > field->score.agree) {
        field->best = id;
        field->score = *score;
    }
    if (score->msn_steady && score->agree >= 2) {
        field->steady_msn++;
        if (field->best_msn == NIL || score->agree > field->score_msn.agree) {
            field->best_msn = id;
            field->score_msn = *score;
        }
    }
    const uint64_t s = spread(score);
    if (s < field->spread_best) {
        field->spread_next = field->spread_best;
        field->spread_best = s;
        field->steadiest = id;
        field->score_steady = *score;
    } else if (s < field->spread_next) {
        field->spread_next = s;
    }
}

/* Returns the candidate that these comparisons single out, or NIL. */
static uint32_t field_winner(const struct field *field, bool ambiguous, uint32_t *agree)
{
    *agree = field->score.agree;
    if (field->candidates == 1) {
        const uint32_t need = ambiguous || !field->score.msn_steady ? AGREE_MANY : AGREE_CLEAR;
        return field->score.agree >= need ? field->best : NIL;
    }
    if (field->steady_msn == 1 && field->score_msn.agree >= AGREE_MANY &&
        field->score_msn.agree >= field->score.agree) {
        *agree = field->score_msn.agree;
        return field->best_msn;
    }
    /* Requests of a stranger come at random moments before these responses, those of the peer
     * always one round trip before. The margin keeps QPs that work in lockstep undecided. */
    if (field->score_steady.agree >= AGREE_STEADY &&
        field->score_steady.agree >= field->score.agree && field->score_steady.msn_steady &&
        field->spread_next / STEADY_RATIO > field->spread_best + 1000) {
        *agree = field->score_steady.agree;
        return field->steadiest;
    }
    return NIL;
}

/* The PSN to look candidates up by: that of the newest answer, or else of the newest refusal. */
static uint32_t newest_psn(const struct roce_flow_table *t, const struct flow *g, bool *found)
{
    uint32_t block = NIL, at = 0, psn = 0;
    bool answer = false;
    *found = false;
    const struct obs *o;
    while ((o = obs_next(t, g, &block, &at)) != NULL) {
        const uint8_t kind = (uint8_t)(o->psn >> 24 & 0x3F);
        if (kind == OBS_READ_LAST)
            continue;
        const bool refusal = kind == OBS_NAK || kind == OBS_RNR || kind == OBS_FATAL;
        if (refusal && answer)
            continue;
        psn = o->psn & ROCE_PSN_MASK;
        answer = answer || !refusal;
        *found = true;
    }
    return psn;
}

/* Holds every candidate against the responses of |id|; false when nothing can be said. */
static bool look(struct roce_flow_table *t, uint32_t id, struct field *field)
{
    struct flow *g = flow_at(t, id);
    *field = (struct field){.best = NIL,
                            .best_msn = NIL,
                            .steadiest = NIL,
                            .spread_best = UINT64_MAX,
                            .spread_next = UINT64_MAX};
    const uint32_t path = table_reverse_path(t, g->path);
    bool found;
    const uint32_t psn = newest_psn(t, g, &found);
    if (path == NIL || !found)
        return false;
    uint32_t looked = 0;
    for (uint32_t i = t->pair_index[bucket_of(path, psn)]; i != NIL; i = node_at(t, i)->hnext) {
        const struct node *node = node_at(t, i);
        const struct flow *f = flow_at(t, node->owner);
        if (f->path != path || key_psn(node) != psn || f->peer != NIL || !services_fit(f, g))
            continue;
        if (++looked > CHAIN_MAX)
            return false;
        struct score score;
        compare_both(t, f, g, &score);
        if (!score.ruled_out && score.agree > 0)
            field_add(field, node->owner, &score);
    }
    if (looked > 1)
        g->flags |= F_AMBIGUOUS;
    return true;
}

void pair_try(struct roce_flow_table *t, uint32_t id, struct roce_verdict *v)
{
    struct flow *g = flow_at(t, id);
    if (g->tries < UINT16_MAX)
        g->tries++;
    else
        g->tries = 64;
    struct field field;
    if (g->obs_n < 2 || !time_to_try(g->tries) || !look(t, id, &field))
        return;
    uint32_t agree;
    const uint32_t winner = field_winner(&field, (g->flags & F_AMBIGUOUS) != 0, &agree);
    /* Where candidates abound, a frame that the capture missed may hide the right one for a moment:
     * the same answer is needed twice. */
    const bool again = !(g->flags & F_AMBIGUOUS) || winner == g->winner;
    g->winner = winner;
    if (winner != NIL && again)
        pair_set(t, id, winner, false, agree, v);
}

/* At the end of the capture fewer agreements must do, where nothing speaks against the one
 * candidate: two, or a single one when the two hosts have no other flow. */
void pair_finish(struct roce_flow_table *t, uint32_t id)
{
    const struct flow *g = flow_at(t, id);
    struct field field;
    if (g->obs_n == 0 || (g->flags & F_AMBIGUOUS) || !look(t, id, &field) ||
        (g->flags & F_AMBIGUOUS) || field.candidates != 1)
        return;
    const struct path *path = path_at(t, g->path);
    const bool alone = path->flows == 1 && path_at(t, path->reverse)->flows == 1;
    if (alone || (field.score.agree >= 2 && field.score.msn_steady))
        pair_set(t, id, field.best, false, field.score.agree, NULL);
}

/* ---- deciding and dissolving ---- */

static void take_observations(struct roce_flow_table *t, int side, uint32_t id)
{
    struct flow *f = flow_at(t, id);
    uint32_t block = NIL, at = 0, n = 0;
    const struct obs *o;
    while ((o = obs_next(t, f, &block, &at)) != NULL && n < OBS_MAX)
        t->replay[side][n++] = *o;
    t->replay_n[side] = n;
    t->replay_flow[side] = id;
    obs_drop_all(t, f);
}

/* Applies the responses of both directions in the order in which they were captured; the last one
 * is the frame being processed, whose verdict is |v|. */
static void apply_observations(struct roce_flow_table *t, struct roce_verdict *v)
{
    uint32_t at[2] = {0, 0};
    while (at[0] < t->replay_n[0] || at[1] < t->replay_n[1]) {
        int side = 0;
        if (at[0] == t->replay_n[0] ||
            (at[1] < t->replay_n[1] && t->replay[1][at[1]].frame < t->replay[0][at[0]].frame))
            side = 1;
        const struct obs *o = &t->replay[side][at[side]++];
        const uint32_t from = t->replay_flow[side];
        if (flow_at(t, from)->peer == NIL)
            return; /* dissolved again by what was applied so far */
        response_apply(t, from, o, o->frame == t->frame ? v : NULL);
    }
}

static void share_mtu(struct roce_flow_table *t, struct flow *a, struct flow *b)
{
    if (a->flags & F_MTU_SURE)
        track_set_mtu(t, b, mtu_of(a), false);
    else if (b->flags & F_MTU_SURE)
        track_set_mtu(t, a, mtu_of(b), false);
}

void pair_set(struct roce_flow_table *t, uint32_t a, uint32_t b, bool cm, uint32_t evidence,
              struct roce_verdict *v)
{
    struct flow *fa = flow_at(t, a), *fb = flow_at(t, b);
    index_remove_all(t, fa);
    index_remove_all(t, fb);
    take_observations(t, 0, a);
    take_observations(t, 1, b);
    fa->peer = b;
    fb->peer = a;
    fa->una_ts = fb->una_ts = 0;
    fa->winner = fb->winner = NIL;
    fa->tries = fb->tries = 0;
    fa->evidence = fb->evidence = 0;
    fa->flags &= ~(uint32_t)(F_SIDE1 | F_PAIR_CM);
    fb->flags &= ~(uint32_t)(F_SIDE1 | F_PAIR_CM);
    (fa->first_frame <= fb->first_frame ? fb : fa)->flags |= F_SIDE1;
    if (cm) {
        fa->flags |= F_PAIR_CM;
        fb->flags |= F_PAIR_CM;
    }
    t->connections++;
    share_mtu(t, fa, fb);
    if (event_wanted(t, ROCE_EVENT_PAIRED)) {
        struct roce_event e = event_make(t, ROCE_EVENT_PAIRED, a);
        e.code = cm ? ROCE_PAIRING_CM : ROCE_PAIRING_PSN;
        e.count = evidence;
        event_emit(t, &e);
    }
    apply_observations(t, v);
    if (fa->peer == b) {
        episode_pair_known(t, a);
        episode_pair_known(t, b);
        episode_obeyed(t, fa);
        episode_obeyed(t, fb);
    }
    t->replay_n[0] = t->replay_n[1] = 0;
    if (v != NULL)
        v->flags |= ROCE_V_PAIRED_NOW;
}

void pair_break(struct roce_flow_table *t, uint32_t id, bool conflict)
{
    struct flow *f = flow_at(t, id);
    const uint32_t other = f->peer;
    if (conflict && event_wanted(t, ROCE_EVENT_UNPAIRED)) {
        const struct roce_event e = event_make(t, ROCE_EVENT_UNPAIRED, id);
        event_emit(t, &e);
    }
    struct flow *both[2] = {f, flow_at(t, other)};
    for (int i = 0; i < 2; i++) {
        both[i]->peer = NIL;
        both[i]->obs_head = both[i]->obs_tail = NIL;
        both[i]->obs_n = 0;
        both[i]->winner = NIL;
        both[i]->tries = 0;
        both[i]->evidence = 0;
        both[i]->flags &= ~(uint32_t)(F_SIDE1 | F_PAIR_CM | F_UNA);
        both[i]->flags |= F_AMBIGUOUS;
        pend_drop_all(t, both[i]);
    }
    t->connections--;
}
