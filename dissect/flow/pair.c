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

#define AGREE_CLEAR  3       /* agreements that suffice when no second candidate was ever seen */
#define AGREE_MANY   5       /* agreements that suffice when the others are ruled out */
#define AGREE_MSN    6       /* agreements that suffice when no other has half as many, */
#define AGREE_INSIDE 8       /* agreements, ACKs of parts of messages among them */
#define SCAN_BASE    4000000 /* looks at flows in a capture, and */
#define SCAN_PACE    8       /* more of them a frame */
#define MARGIN       3       /* or, of one that agrees with all, when others have so many less */
#define CROWD        64      /* candidates that are many */
#define PASSES       4       /* over all flows at the end */
#define STEADY_NOISE 1000    /* ns: response times that differ by less are taken as equal */
#define CHAIN_MAX    4096    /* candidates looked at in one attempt */
#define FAR_BACK     0x10000 /* PSNs before the first one captured */
#define LOOKUPS      4
#define FOLLOW_MAX   64 /* entries of a candidate looked at for one response */

struct score {
    uint32_t agree;
    uint32_t numbered; /* agreements whose message number could be compared */
    uint32_t asked;    /* responses that could have agreed */
    uint32_t inside;   /* ACKs of a part of a message */
    uint64_t late;     /* ns: the most that one of these came behind the message's end */
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
    node->hnext = *head - 1;
    if (node->hnext != NIL)
        node_at(t, node->hnext)->hprev = index;
    *head = index + 1;
    node->flags |= NODE_HASHED;
}

void pair_index_remove(struct roce_flow_table *t, uint32_t index)
{
    struct node *node = node_at(t, index);
    if (node->hprev != NIL)
        node_at(t, node->hprev)->hnext = node->hnext;
    else
        t->pair_index[bucket_of(flow_at(t, node->owner)->path, key_psn(node))] = node->hnext + 1;
    if (node->hnext != NIL)
        node_at(t, node->hnext)->hprev = node->hprev;
    node->flags &= (uint8_t)~NODE_HASHED;
}

/* ---- comparing ---- */

enum fit { FIT_NEUTRAL, FIT_AGREES, FIT_RULES_OUT };

/* A place in a flow's list of requests; PSNs that are asked for mostly grow, and the search goes on
 * where it ended. */
struct cursor {
    uint32_t node;
    uint32_t psn; /* asked for last */
};

/* The request of |f| that PSN |psn| belongs to, or NULL; |*later| is the first request behind it.
 */
static const struct node *request_at(const struct roce_flow_table *t, const struct flow *f,
                                     struct cursor *from, uint32_t psn, const struct node **later)
{
    const struct node *within = NULL;
    uint32_t n = 0;
    *later = NULL;
    if (from->node == NIL || roce_psn_diff(psn, from->psn) < 0)
        from->node = f->pend_head;
    from->psn = psn;
    for (uint32_t i = from->node; i != NIL && n < FOLLOW_MAX; i = node_at(t, i)->next, n++) {
        const struct node *node = node_at(t, i);
        /* A packet that asks for an ACK within a message does not tell where that begins. */
        if (node->kind == NODE_ACKREQ && roce_psn_diff(node->first_psn, psn) > 0)
            continue;
        if (roce_psn_diff(node->first_psn, psn) > 0) {
            *later = node;
            break;
        }
        const bool open_read = node->kind == NODE_READ && !(node->flags & NODE_COUNTED);
        /* What ends before this PSN ends before the next one, too. */
        if (!open_read && within == NULL && roce_psn_diff(node->last_psn, psn) < 0)
            from->node = i;
        if (key_psn(node) == psn && node->kind != NODE_OPEN)
            return node;
        if (roce_psn_diff(node->last_psn, psn) >= 0 || open_read)
            within = node;
    }
    return within;
}

/* Whether an answer of |kind| for |psn| can be one to |node|. */
static enum fit answer_fits(const struct node *node, enum obs_kind kind, uint32_t psn)
{
    switch (kind) {
    case OBS_ACK:
        /* For duplicates the newest PSN is acknowledged, whatever it belongs to (IBTA 9.7.5.1.2).
         */
        return (node->kind == NODE_END || node->kind == NODE_ACKREQ) && node->last_psn == psn
                   ? FIT_AGREES
                   : FIT_NEUTRAL;
    case OBS_READ_FIRST:
    case OBS_READ_ONLY:
        if (node->kind != NODE_READ)
            return FIT_RULES_OUT;
        return node->first_psn == psn ? FIT_AGREES : FIT_NEUTRAL;
    case OBS_READ_LAST:
        return node->kind == NODE_READ ? FIT_NEUTRAL : FIT_RULES_OUT;
    case OBS_ATOMIC:
        return node->kind == NODE_ATOMIC && node->first_psn == psn ? FIT_AGREES : FIT_RULES_OUT;
    default: /* a refusal names any packet of the request */
        return FIT_AGREES;
    }
}

/* Whether a request behind |node| had been captured by |ts|: then |node| was lost, and only its
 * resend was captured. */
static bool overtaken(const struct roce_flow_table *t, const struct node *node, roce_tstamp ts)
{
    uint32_t n = 0;
    for (uint32_t i = node->next; i != NIL && n < FOLLOW_MAX; i = node_at(t, i)->next, n++)
        if (node_at(t, i)->start_ts <= ts)
            return true;
    return false;
}

static void note_rtt(struct score *score, uint64_t rtt)
{
    if (rtt < score->rtt_min)
        score->rtt_min = rtt;
    if (rtt > score->rtt_max)
        score->rtt_max = rtt;
}

/* Holds the requests of |f| against the responses of |g|. */
static void compare(const struct roce_flow_table *t, const struct flow *f, const struct flow *g,
                    struct score *score)
{
    const bool gaps =
        trouble_total(t, f, COUNT_GAPS) > 0 || trouble_total(t, f, COUNT_RETRANSMITTED) > 0;
    *score = (struct score){.rtt_min = UINT64_MAX, .msn_steady = true};
    uint32_t block = NIL, at = 0, offset = 0;
    bool has_offset = false;
    struct cursor from = {.node = NIL};
    const struct obs *o;
    while ((o = obs_next(t, g, &block, &at)) != NULL) {
        const enum obs_kind kind = obs_kind(o);
        const uint32_t psn = o->psn & ROCE_PSN_MASK;
        score->asked += kind != OBS_READ_LAST && kind != OBS_READ_MIDDLE;
        score->ruled_out = !(f->flags & F_PSN) ||
                           (roce_psn_diff(psn, f->next_psn) >= 0 && !(f->flags & F_SLACK)) ||
                           roce_psn_diff(psn, f->low_psn) < -FAR_BACK;
        if (score->ruled_out)
            return;
        const struct node *later;
        const struct node *node = request_at(t, f, &from, psn, &later);
        if (node == NULL) {
            /* Not remembered any more; or not sent yet, unless the capture missed it. */
            score->ruled_out =
                later != NULL && later->start_ts > o->ts && roce_psn_diff(psn, f->low_psn) >= 0 &&
                node_at(t, f->pend_head) != later && hole_find(t, f->holes, psn) == NIL;
            if (score->ruled_out)
                return;
            score->inside += kind == OBS_ACK && (f->flags & F_MSG) &&
                             roce_psn_diff(psn, f->msg_psn) >= 0 && f->msg_ts <= o->ts;
            continue;
        }
        const bool refusal = kind == OBS_NAK || kind == OBS_RNR || kind == OBS_FATAL;
        const enum fit fit = answer_fits(node, kind, psn);
        const bool whole = !refusal && node->kind != NODE_READ && fit == FIT_AGREES;
        const roce_tstamp sent = whole ? node->ts : node->start_ts;
        score->ruled_out = fit == FIT_RULES_OUT || (sent > o->ts && !overtaken(t, node, o->ts));
        if (score->ruled_out)
            return;
        if (fit == FIT_NEUTRAL || sent > o->ts) {
            if (kind == OBS_ACK && node->kind == NODE_END && sent <= o->ts) {
                score->inside++;
                if (o->ts > node->ts && o->ts - node->ts > score->late)
                    score->late = o->ts - node->ts;
            }
            continue;
        }
        score->agree++;
        if (refusal)
            continue;
        note_rtt(score, o->ts - sent);
        /* Where frames are missing or were resent, messages are not numbered as the peer does. */
        if (!(o->psn >> 24 & OBS_NO_MSN) && node->kind != NODE_ACKREQ && !gaps) {
            const uint32_t now = (o->msn - node->msg_no) & ROCE_PSN_MASK;
            if (has_offset && now != offset)
                score->msn_steady = false;
            offset = now;
            has_offset = true;
            score->numbered++;
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
    score->numbered += back.numbered;
    score->asked += back.asked;
    score->inside += back.inside;
    if (back.late > score->late)
        score->late = back.late;
    score->msn_steady = score->msn_steady && back.msn_steady;
    if (back.agree > 0) {
        if (back.rtt_min < score->rtt_min)
            score->rtt_min = back.rtt_min;
        if (back.rtt_max > score->rtt_max)
            score->rtt_max = back.rtt_max;
    }
}

/* Attempts cost a look at every candidate: they get rarer as responses pass without a decision, and
 * where candidates abound they wait until a decision is possible. They come in twos, since the same
 * answer is needed twice there. */
static bool time_to_try(const struct flow *g)
{
    const uint32_t n = g->tries;
    const bool rare = (n & (n - 1)) == 0 || ((n - 1) & (n - 2)) == 0;
    if (!(g->flags & F_AMBIGUOUS))
        return n < 40 || rare;
    if (n < 64 && !(g->flags & F_CROWDED))
        return n == 2 || (n >= AGREE_MANY && n % 4 < 2) || n == AGREE_MSN || n == AGREE_MSN + 1;
    return n >= 8 && (rare || (n < 64 && n % 16 < 2));
}

/* By which factor the response times of all others must vary more for |agree| of them to decide. A
 * stranger's would have to keep step by chance, response after response. */
static uint64_t steady_ratio(uint32_t agree)
{
    if (agree < 8)
        return 0;
    return agree < 12 ? 6 : agree < 16 ? 4 : 3;
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
    uint32_t next_msn;                 /* agreements of the second best of them */
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
            field->next_msn = field->best_msn == NIL ? 0 : field->score_msn.agree;
            field->best_msn = id;
            field->score_msn = *score;
        } else if (score->agree > field->next_msn) {
            field->next_msn = score->agree;
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

/* Returns the candidate that these comparisons with |seen| responses single out, or NIL, and its
 * score in |*won|. */
static uint32_t single_out(const struct field *field, bool ambiguous, uint32_t seen,
                           const struct score **won)
{
    *won = &field->score;
    if (field->candidates == 1) {
        const uint32_t need = ambiguous || !field->score.msn_steady ? AGREE_MANY : AGREE_CLEAR;
        return field->score.agree >= need ? field->best : NIL;
    }
    if (field->steady_msn == 1 && field->score_msn.agree >= AGREE_MANY &&
        field->score_msn.agree >= field->score.agree &&
        spread(&field->score_msn) <= 4 * field->spread_best + STEADY_NOISE) {
        *won = &field->score_msn;
        return field->best_msn;
    }
    /* Messages of a stranger end at these PSNs, under these numbers, only now and then. */
    const struct score *msn = &field->score_msn;
    const bool all = msn->agree >= seen && msn->numbered >= msn->agree;
    if (msn->agree >= AGREE_MSN && msn->agree >= field->score.agree &&
        field->next_msn <= (all ? msn->agree - MARGIN : msn->agree / 2)) {
        *won = msn;
        return field->best_msn;
    }
    /* Requests of a stranger come at random moments before these responses, those of the peer
     * always one round trip before. The margin keeps QPs that work in lockstep undecided. */
    const uint64_t ratio = steady_ratio(field->score_steady.agree);
    if (ratio > 0 && field->score_steady.agree >= field->score.agree &&
        (field->score_steady.msn_steady || field->steady_msn == 0) &&
        field->spread_next / ratio > field->spread_best + STEADY_NOISE) {
        *won = &field->score_steady;
        return field->steadiest;
    }
    return NIL;
}

/* The same, with the agreements. Where PSNs coincide, one that merely agrees now and then is a
 * stranger, left over because the right one looks impossible for a frame that was lost. */
static uint32_t field_winner(const struct field *field, bool ambiguous, uint32_t seen,
                             uint32_t *agree)
{
    const struct score *won;
    const uint32_t winner = single_out(field, ambiguous, seen, &won);
    *agree = won->agree;
    return ambiguous && 4 * won->agree < 3 * won->asked ? NIL : winner;
}

/* The PSNs to look candidates up by, newest first: those of answers, or else of refusals. An answer
 * to the rest of a READ that was issued again begins at no PSN that the first READ shows:
 * recognised by going back, or by following a READ response that is not complete, it is passed
 * over. */
static uint32_t lookup_psns(const struct roce_flow_table *t, const struct flow *g,
                            uint32_t out[LOOKUPS])
{
    uint32_t block = NIL, at = 0, highest = 0, n = 0;
    bool answers = false, incomplete = false, any = false;
    const struct obs *o;
    while ((o = obs_next(t, g, &block, &at)) != NULL) {
        const enum obs_kind kind = obs_kind(o);
        const uint32_t psn = o->psn & ROCE_PSN_MASK;
        const bool read = kind == OBS_READ_FIRST || kind == OBS_READ_ONLY;
        const bool again = read && (incomplete || (any && roce_psn_diff(psn, highest) <= 0));
        if (!any || roce_psn_diff(psn, highest) > 0)
            highest = psn;
        any = true;
        incomplete = kind == OBS_READ_FIRST;
        const bool refusal = kind == OBS_NAK || kind == OBS_RNR || kind == OBS_FATAL;
        if (kind == OBS_READ_LAST || again || (refusal && answers))
            continue;
        if (!refusal && !answers)
            n = 0;
        answers = answers || !refusal;
        if (n > 0 && out[0] == psn)
            continue;
        for (uint32_t i = LOOKUPS - 1; i > 0; i--)
            out[i] = out[i - 1];
        out[0] = psn;
        if (n < LOOKUPS)
            n++;
    }
    return n;
}

static bool has_key(const struct roce_flow_table *t, const struct flow *f, uint32_t psn)
{
    for (uint32_t i = f->pend_head; i != NIL; i = node_at(t, i)->next)
        if (key_psn(node_at(t, i)) == psn && (node_at(t, i)->flags & NODE_HASHED))
            return true;
    return false;
}

/* Adds the candidates that have |psn[k]| outstanding, and none of the PSNs before it. */
static bool look_at(struct roce_flow_table *t, struct flow *g, uint32_t path, const uint32_t *psn,
                    uint32_t k, struct field *field)
{
    uint32_t looked = 0;
    const uint32_t head = t->pair_index[bucket_of(path, psn[k])];
    for (uint32_t i = head - 1; i != NIL; i = node_at(t, i)->hnext) {
        const struct node *node = node_at(t, i);
        const struct flow *f = flow_at(t, node->owner);
        if (f->path != path || key_psn(node) != psn[k] || f->peer != NIL || !services_fit(f, g))
            continue;
        if (++looked > CHAIN_MAX)
            return false;
        bool seen = false;
        for (uint32_t j = 0; j < k && !seen; j++)
            seen = has_key(t, f, psn[j]);
        if (seen)
            continue;
        struct score score;
        compare_both(t, f, g, &score);
        if (!score.ruled_out && score.agree > 0)
            field_add(field, node->owner, &score);
    }
    if (looked > 1)
        g->flags |= F_AMBIGUOUS;
    return true;
}

/* Holds every candidate against the responses of |id|; false when nothing can be said. Where PSNs
 * coincide, several of them are looked up: a request that the capture missed must not hide the
 * right candidate. */
static bool look(struct roce_flow_table *t, uint32_t id, struct field *field)
{
    struct flow *g = flow_at(t, id);
    *field = (struct field){.best = NIL,
                            .best_msn = NIL,
                            .steadiest = NIL,
                            .spread_best = UINT64_MAX,
                            .spread_next = UINT64_MAX};
    const uint32_t path = table_reverse_path(t, g->path);
    uint32_t psn[LOOKUPS] = {0};
    const uint32_t n = lookup_psns(t, g, psn);
    if (path == NIL || n == 0)
        return false;
    for (uint32_t k = 0; k < n && (k == 0 || (g->flags & F_AMBIGUOUS)); k++) {
        if (!look_at(t, g, path, psn, k, field))
            return false;
        /* One that agrees with nearly all the responses is not one that hides another. */
        if (field->score.agree + 1 >= g->obs_n && field->score.agree >= AGREE_MANY)
            break;
    }
    return true;
}

/* Time between the first and the last response remembered of |g|. */
static uint64_t obs_span(const struct roce_flow_table *t, const struct flow *g)
{
    uint32_t block = NIL, at = 0;
    const struct obs *o = obs_next(t, g, &block, &at);
    const roce_tstamp first = o->ts;
    roce_tstamp last = first;
    while ((o = obs_next(t, g, &block, &at)) != NULL)
        last = o->ts;
    return last > first ? last - first : 0;
}

/* Whether most responses of |g| name PSNs that are among the requests remembered of |f|. */
static bool spans(const struct roce_flow_table *t, const struct flow *f, const struct flow *g)
{
    if (f->pend_head == NIL)
        return false;
    const uint32_t low = node_at(t, f->pend_head)->first_psn;
    uint32_t block = NIL, at = 0, within = 0;
    const struct obs *o;
    while ((o = obs_next(t, g, &block, &at)) != NULL) {
        const uint32_t psn = o->psn & ROCE_PSN_MASK;
        within += roce_psn_diff(psn, low) >= 0 && roce_psn_diff(psn, f->next_psn) < 0;
    }
    return 2 * within >= g->obs_n;
}

/* ACKs of a receiver that waits a moment before it sends them end no message and find nothing in
 * the index: all flows the other way are looked at. The only one with these PSNs among its requests
 * is the peer; where there are more, which QP sent faster says nothing. The looks are paid for by
 * frames. */
static uint32_t scan(struct roce_flow_table *t, const struct flow *g, uint32_t *agree)
{
    const uint32_t path = table_reverse_path(t, g->path);
    const uint32_t n = t->flow_pool.fresh;
    if (path == NIL || t->scanned + n > SCAN_BASE + SCAN_PACE * t->frames)
        return NIL;
    t->scanned += n;
    uint32_t only = NIL;
    for (uint32_t id = 0; id < n; id++) {
        const struct flow *f = flow_at(t, id);
        if (f->path != path || f->peer != NIL || !flow_live(t, id) || !services_fit(f, g) ||
            !spans(t, f, g))
            continue;
        if (only != NIL)
            return NIL;
        only = id;
    }
    if (only == NIL)
        return NIL;
    struct score score;
    compare_both(t, flow_at(t, only), g, &score);
    *agree = score.agree + score.inside;
    if (score.ruled_out || *agree < AGREE_INSIDE || 4 * *agree < 3 * score.asked ||
        score.late > obs_span(t, g))
        return NIL;
    return only;
}

static bool time_to_scan(const struct flow *g)
{
    return g->obs_n >= AGREE_INSIDE && (g->tries & (g->tries - 1)) == 0;
}

void pair_try(struct roce_flow_table *t, uint32_t id, struct roce_verdict *v)
{
    struct flow *g = flow_at(t, id);
    if (g->tries < UINT16_MAX)
        g->tries++;
    else
        g->tries = 64;
    struct field field;
    uint32_t agree;
    if (time_to_scan(g)) {
        const uint32_t peer = scan(t, g, &agree);
        if (peer != NIL) {
            pair_set(t, id, peer, false, agree, v);
            return;
        }
    }
    if (g->obs_n < 2 || !time_to_try(g) || !look(t, id, &field))
        return;
    g->flags &= ~(uint32_t)F_CROWDED;
    if (field.candidates > CROWD && field.next_msn >= field.score_msn.agree)
        g->flags |= F_CROWDED;
    const uint32_t winner = field_winner(&field, (g->flags & F_AMBIGUOUS) != 0, g->obs_n, &agree);
    /* Where candidates abound, a frame that the capture missed may hide the right one for a moment:
     * the same answer is needed twice. */
    const bool again = !(g->flags & F_AMBIGUOUS) || winner == g->winner;
    g->winner = winner;
    if (winner != NIL && again)
        pair_set(t, id, winner, false, agree, v);
}

/* At the end of the capture fewer agreements must do, where nothing speaks against the one
 * candidate: two, or a single one when the two hosts have no other flow. */
static void finish_one(struct roce_flow_table *t, uint32_t id)
{
    const struct flow *g = flow_at(t, id);
    struct field field;
    uint32_t agree;
    const uint32_t peer = g->obs_n >= AGREE_INSIDE ? scan(t, g, &agree) : NIL;
    if (peer != NIL) {
        pair_set(t, id, peer, false, agree, NULL);
        return;
    }
    if (g->obs_n == 0 || !look(t, id, &field))
        return;
    const bool ambiguous = (g->flags & F_AMBIGUOUS) != 0;
    const uint32_t winner = field_winner(&field, ambiguous, g->obs_n, &agree);
    if (winner != NIL) {
        pair_set(t, id, winner, false, agree, NULL);
        return;
    }
    if (ambiguous || field.candidates != 1)
        return;
    const struct path *path = path_at(t, g->path);
    const bool alone = path->flows == 1 && path_at(t, path->reverse)->flows == 1;
    if (alone || (field.score.agree >= 2 && field.score.msn_steady))
        pair_set(t, id, field.best, false, field.score.agree, NULL);
}

/* Each pair takes two flows out of the others' fields, so that more can be told. */
void pair_finish(struct roce_flow_table *t)
{
    uint32_t before;
    uint32_t pass = 0;
    do {
        before = t->connections;
        for (uint32_t id = 0; id < t->flow_pool.fresh; id++)
            if (flow_live(t, id) && flow_at(t, id)->peer == NIL)
                finish_one(t, id);
    } while (t->connections != before && ++pass < PASSES);
}
