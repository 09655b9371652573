/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Retransmission episodes: each step back of the request track, why the requester took it, and what
 * that says about the frame it went back to. */
#include "internal.h"

/* How long a frame that fills a hole may be behind and still be late rather than sent again, where
 * the ACK timeout is not known. */
#define LATE_MAX 4000000 /* ns */
/* Up to how long a requester takes to issue a READ or atomic again after it saw a later answer. */
#define REISSUE_MAX 50000000 /* ns */
/* Waits from 4.096 us * 2^LONG_BIN (1 ms) on may be timeouts. */
#define LONG_BIN     8
#define NEAR_MISSED  64      /* PSNs of a resend that may be lost before the first one captured */
#define NEAR_MESSAGE 0x10000 /* PSNs that a requester may go back too far */

static roce_duration since(roce_tstamp now, roce_tstamp then)
{
    return now > then ? (roce_duration)(now - then) : 0;
}

/* ---- frames that did not get here whole ---- */

void episode_missing(struct roce_flow_table *t, struct flow *f, uint32_t psn, uint32_t len)
{
    struct trouble *trouble = trouble_of(t, f);
    trouble->again[trouble->again_next].psn = psn;
    trouble->again[trouble->again_next].len = len;
    trouble->again_next = (uint8_t)((trouble->again_next + 1) % AGAIN_MAX);
}

/* How many frames were missing with |psn| the last time it should have come, 0 when it came;
 * forgets about them. */
static uint32_t was_missing(struct trouble *trouble, uint32_t psn)
{
    for (int i = 0; i < AGAIN_MAX; i++) {
        const uint32_t into = (psn - trouble->again[i].psn) & ROCE_PSN_MASK;
        if (into >= trouble->again[i].len)
            continue;
        const uint32_t n = trouble->again[i].len - into;
        trouble->again[i].len = 0;
        return n;
    }
    return 0;
}

/* ---- why ---- */

struct asked {
    enum roce_cause cause;
    roce_tstamp ts;
    uint64_t frame;
    uint32_t psn;
};

/* What the responder asked for, if the step back to |psn| obeys it to the PSN. An RNR NAK is often
 * followed by a sequence NAK for the packets behind the refused one: the first one is the cause. */
static bool asked_exactly(const struct trouble *trouble, uint32_t psn, struct asked *out)
{
    if (trouble->has_rnr && trouble->rnr_psn == psn)
        *out =
            (struct asked){ROCE_CAUSE_RNR, trouble->rnr_ts, trouble->rnr_frame, trouble->rnr_psn};
    else if (trouble->has_nak && trouble->nak_psn == psn)
        *out =
            (struct asked){ROCE_CAUSE_NAK, trouble->nak_ts, trouble->nak_frame, trouble->nak_psn};
    else if (trouble->has_skip && trouble->skip_psn == psn)
        *out = (struct asked){ROCE_CAUSE_IMPLIED_NAK, trouble->skip_ts, trouble->skip_frame,
                              trouble->skip_psn};
    else
        return false;
    return true;
}

static bool near(uint32_t asked, uint32_t psn, const struct flow *f)
{
    const int32_t back = roce_psn_diff(asked, psn);
    return back > -NEAR_MISSED && back < NEAR_MESSAGE && roce_psn_diff(asked, f->next_psn) < 0;
}

/* The same for a step to another PSN than the one asked for: some requesters go back to the first
 * packet of the message; and the frame with that PSN may have been lost once more on its way here.
 */
static bool asked_nearby(struct roce_flow_table *t, struct flow *f, uint32_t psn, struct asked *out)
{
    const struct trouble *trouble = trouble_peek(t, f);
    if (trouble->has_rnr && near(trouble->rnr_psn, psn, f)) {
        *out =
            (struct asked){ROCE_CAUSE_RNR, trouble->rnr_ts, trouble->rnr_frame, trouble->rnr_psn};
    } else if (trouble->has_nak && near(trouble->nak_psn, psn, f)) {
        *out =
            (struct asked){ROCE_CAUSE_NAK, trouble->nak_ts, trouble->nak_frame, trouble->nak_psn};
    } else {
        return false;
    }
    const int32_t missed = roce_psn_diff(psn, out->psn);
    if (missed > 0)
        episode_missing(t, f, out->psn, (uint32_t)missed);
    return true;
}

/* The step back to |psn| obeys all that was asked for at or behind it. */
static void obeyed(struct trouble *trouble, uint32_t psn)
{
    trouble->has_rnr = trouble->has_rnr && roce_psn_diff(trouble->rnr_psn, psn) < -NEAR_MISSED;
    trouble->has_nak = trouble->has_nak && roce_psn_diff(trouble->nak_psn, psn) < -NEAR_MISSED;
    trouble->has_skip = trouble->has_skip && trouble->skip_psn != psn;
}

/* A READ or atomic is issued again although its answer, and a later one, passed here: the requester
 * missed the first and saw the second. */
static bool reread(const struct trouble *trouble, uint32_t psn)
{
    return ((psn - trouble->reread_psn) & ROCE_PSN_MASK) <
           ((trouble->reread_end - trouble->reread_psn) & ROCE_PSN_MASK);
}

/* Whether the newest answer to |psn|, part of a READ, was captured. */
static bool answer_captured(const struct roce_flow_table *t, const struct flow *f, uint32_t psn)
{
    const struct trouble *trouble = trouble_peek(t, f);
    if (reread(trouble, psn))
        return roce_psn_diff(psn, trouble->reread_next) < 0;
    return rresp_captured(t, flow_at(t, f->peer), psn);
}

static bool answer_lost_behind(const struct ctx *c)
{
    const struct flow *f = c->f;
    const uint32_t psn = c->pkt->bth.psn;
    if (f->peer == NIL || !(f->flags & F_UNA))
        return false;
    if (c->pkt->op == ROCE_OP_ATOMIC)
        return roce_psn_diff(f->una, psn) > 1;
    return c->pkt->op == ROCE_OP_READ && rresp_captured(c->t, flow_at(c->t, f->peer), psn) &&
           roce_psn_diff(f->una, psn) > 1;
}

/* ---- how it ends ---- */

static void emit_episode(struct roce_flow_table *t, uint32_t id, const struct episode *ep,
                         bool at_end)
{
    if (!event_wanted(t, ROCE_EVENT_EPISODE))
        return;
    struct roce_event e = event_make(t, ROCE_EVENT_EPISODE, id);
    e.cause = ep->cause;
    e.location = ep->location;
    e.psn = ep->psn;
    e.count = ep->count;
    e.duration = ep->wait;
    e.about_frame = ep->first_frame;
    e.at_end = at_end;
    e.evidence[0] = ep->orig_frame;
    e.evidence[1] = ep->ask_frame;
    e.evidence[2] = ep->first_frame;
    e.evidence[3] = ep->last_frame;
    event_emit(t, &e);
}

/* ---- reordering ---- */

/* The frame with |psn| was sent before others that are here already. A receiver without room for
 * reordering drops all that overtook it, and asks for them again. */
static void came_late(struct trouble *trouble, const struct flow *f, uint32_t psn)
{
    const uint32_t end = roce_psn_add(trouble->overtook_psn, trouble->overtook_len);
    const bool apart = trouble->overtook_len == 0 || roce_psn_diff(psn, end) > 0;
    if (apart || roce_psn_diff(psn, trouble->overtook_psn) < 0)
        trouble->overtook_psn = psn;
    trouble->overtook_len = (f->next_psn - trouble->overtook_psn) & ROCE_PSN_MASK;
}

static bool overtaken(const struct trouble *trouble, uint32_t psn)
{
    return ((psn - trouble->overtook_psn) & ROCE_PSN_MASK) < trouble->overtook_len;
}

static void emit_late(struct roce_flow_table *t, uint32_t id, const struct episode *ep)
{
    if (!event_wanted(t, ROCE_EVENT_OUT_OF_ORDER))
        return;
    struct roce_event e = event_make(t, ROCE_EVENT_OUT_OF_ORDER, id);
    e.psn = ep->psn;
    e.count = ep->count;
    e.about_frame = ep->first_frame;
    e.duration = ep->late_by;
    e.evidence[0] = ep->orig_frame;
    event_emit(t, &e);
}

/* More answers to the last frame resent than frames were resent: those sent first had all arrived.
 * Had one been lost, only its copy would have let the receiver come that far. */
static bool needless(const struct episode *ep)
{
    return ep->answers > ep->count && roce_psn_diff(ep->answered, ep->high) >= 0;
}

/* Hosts that usually take as long to answer: the resend may have crossed the answer, or its sender
 * had yet to read it. Then no frame need have been lost. */
static bool doubtful(const struct roce_flow_table *t, const struct flow *f,
                     const struct episode *ep)
{
    return ep->silent && f->peer != NIL && loss_timeout(t, f) == 0 &&
           loss_usual_wait(t, f, ep->wait);
}

/* An undecided episode ends: as many answers as copies arrived have passed by now. */
static void decide(struct roce_flow_table *t, uint32_t id, struct episode *ep, bool at_end)
{
    ep->undecided = false;
    if (needless(ep))
        ep->location = ROCE_LOST_NONE;
    else if (doubtful(t, flow_at(t, id), ep))
        ep->location = ROCE_LOST_UNKNOWN;
    else
        loss_count(t, id, ROCE_LOST_DOWNSTREAM, 1, ep->psn, false, ep->orig_frame, at_end);
    emit_episode(t, id, ep, at_end);
}

/* The restart PSN had been captured: the frame was lost behind the mirror, or refused there, or it
 * is the answer that was lost. */
static void blame_captured(struct roce_flow_table *t, uint32_t id, struct episode *ep, bool at_end)
{
    struct flow *f = flow_at(t, id);
    struct trouble *trouble = trouble_of(t, f);
    const bool paired = f->peer != NIL;
    ep->location = ROCE_LOST_DOWNSTREAM;
    if (ep->cause == ROCE_CAUSE_SPURIOUS || ep->copied || ep->overtaken ||
        (ep->reordered && ep->missing == 0) || (ep->silent && needless(ep))) {
        ep->location = ROCE_LOST_NONE;
        return;
    }
    if (ep->in_hole) {
        ep->location = ROCE_LOST_UPSTREAM;
        return;
    }
    if (ep->missing > 0) {
        ep->location = ROCE_LOST_UPSTREAM;
        loss_count(t, id, ROCE_LOST_UPSTREAM, ep->missing, ep->psn, false, ep->orig_frame, at_end);
        return;
    }
    if (ep->cause == ROCE_CAUSE_UNKNOWN) {
        ep->location = ROCE_LOST_UNKNOWN;
        loss_count(t, id, ROCE_LOST_UNKNOWN, 1, ep->psn, false, ep->orig_frame, at_end);
        return;
    }
    const bool asked = ep->cause == ROCE_CAUSE_NAK || ep->cause == ROCE_CAUSE_RNR;
    const bool waits = ep->silent && paired && !at_end && ep == &trouble->ep;
    if (doubtful(t, f, ep) && (ep->acked || ep->unasked || ep->answered_far || !waits)) {
        ep->location = ROCE_LOST_UNKNOWN;
        return;
    }
    if (ep->silent && ep->unasked && !ep->acked) {
        ep->location = ROCE_LOST_UPSTREAM;
        loss_count(t, id, ROCE_LOST_UPSTREAM, 1, f->next_psn, false, ep->orig_frame, at_end);
        return;
    }
    if (!asked && paired && ep->acked) {
        /* The answer was captured and did not arrive. */
        loss_count(t, f->peer, ROCE_LOST_DOWNSTREAM, 1, ep->psn, true, ep->orig_frame, at_end);
        return;
    }
    if (ep->cause == ROCE_CAUSE_IMPLIED_NAK) {
        /* The missing responses are holes of the peer's READ response track, counted there. */
        ep->location = ROCE_LOST_UPSTREAM;
        if (paired && (ep->atomic || ep->answer_twice))
            loss_count(t, f->peer, ROCE_LOST_UPSTREAM, 1, ep->psn, true, ep->ask_frame, at_end);
        return;
    }
    if (!asked && paired && ep->answered_far) {
        ep->location = ROCE_LOST_UPSTREAM;
        loss_count(t, f->peer, ROCE_LOST_UPSTREAM, 1, ep->psn, true, ep->orig_frame, at_end);
        return;
    }
    if (waits) {
        ep->undecided = true;
        return;
    }
    if (ep->cause == ROCE_CAUSE_RNR)
        trouble->refused++;
    loss_count(t, id, ROCE_LOST_DOWNSTREAM, 1, ep->psn, false, ep->orig_frame, at_end);
}

static bool keep_for_later(struct roce_flow_table *t, struct trouble *trouble,
                           const struct episode *ep)
{
    for (int i = 0; i < EARLY_MAX; i++) {
        if (trouble->early[i] != NIL)
            continue;
        trouble->early[i] = pool_take(&t->node_pool);
        if (trouble->early[i] == NIL)
            break;
        struct early_episode *e = pool_at(&t->node_pool, trouble->early[i]);
        *e = (struct early_episode){.psn = ep->psn,
                                    .count = ep->count,
                                    .fill = ep->fill,
                                    .atomic = ep->atomic,
                                    .read = ep->read,
                                    .ts = ep->ts,
                                    .wait = ep->wait,
                                    .first_frame = ep->first_frame,
                                    .last_frame = ep->last_frame,
                                    .missing = ep->missing,
                                    .orig_frame = ep->orig_frame};
        return true;
    }
    return false;
}

/* Counts an episode whose cause is settled as far as the packets tell; a silent one is judged by
 * its wait. */
static void settle(struct roce_flow_table *t, uint32_t id, struct episode *ep, bool at_end)
{
    struct flow *f = flow_at(t, id);
    struct trouble *trouble = trouble_of(t, f);
    if (ep->silent) {
        const uint64_t timeout = loss_timeout(t, f);
        if (timeout != 0) {
            /* An implementation's clock is coarser than ours: 1/16 less still is the timeout. */
            const bool full = (uint64_t)ep->wait >= timeout - timeout / 16;
            ep->cause = full             ? ROCE_CAUSE_TIMEOUT
                        : ep->acked      ? ROCE_CAUSE_SPURIOUS
                        : f->peer != NIL ? ROCE_CAUSE_EARLY
                                         : ROCE_CAUSE_UNKNOWN;
            trouble->cause[ep->cause]++;
        } else {
            const uint32_t bin = silent_bin(ep->wait);
            struct path *path = path_at(t, f->path);
            if (bin + 1 > path->silent_max)
                path->silent_max = (uint8_t)(bin + 1);
            ep->cause = (uint8_t)silent_cause(t, f, bin);
            if (ep->acked && ep->cause != ROCE_CAUSE_TIMEOUT) {
                ep->cause = ROCE_CAUSE_SPURIOUS;
                trouble->cause[ROCE_CAUSE_SPURIOUS]++;
            } else {
                trouble->silent[bin]++;
            }
        }
    } else {
        trouble->cause[ep->cause]++;
    }
    if (ep->fill)
        ep->location = ROCE_LOST_UPSTREAM;
    else
        blame_captured(t, id, ep, at_end);
    if (!ep->undecided)
        emit_episode(t, id, ep, at_end);
}

void episode_close(struct roce_flow_table *t, uint32_t id, bool at_end)
{
    struct trouble *trouble = trouble_peek(t, flow_at(t, id));
    if (trouble == NULL)
        return;
    struct episode *ep = &trouble->ep;
    if (ep->undecided && at_end)
        decide(t, id, ep, true);
    if (!ep->open)
        return;
    ep->open = false;
    if (ep->late) {
        came_late(trouble, flow_at(t, id), ep->psn);
        trouble->out_of_order += ep->count;
        emit_late(t, id, ep);
        return;
    }
    if (ep->cause == ROCE_CAUSE_NAK && !ep->silent && !ep->dups)
        trouble->has_nak = true; /* perhaps only late, and the NAK is yet to be obeyed */
    if (ep->silent && flow_at(t, id)->peer == NIL && !at_end && keep_for_later(t, trouble, ep))
        return;
    settle(t, id, ep, at_end);
}

/* ---- how it begins ---- */

/* Whether the requester was silent for as long as its ACK timeout, by what CM or the options tell,
 * or by the timeouts seen on this path. */
static bool full_timeout(const struct roce_flow_table *t, const struct flow *f, roce_duration quiet)
{
    const uint64_t timeout = loss_timeout(t, f);
    if (timeout != 0)
        return (uint64_t)quiet >= timeout - timeout / 16;
    return path_at(t, f->path)->silent_max > 0 && silent_bin(quiet) >= LONG_BIN &&
           silent_bin(quiet) + 1u >= path_at(t, f->path)->silent_max;
}

/* An implied NAK: was the answer captured that the requester missed? */
static void judge_answer(const struct roce_flow_table *t, const struct flow *f, struct episode *ep)
{
    ep->acked = answer_captured(t, f, ep->psn);
    ep->answer_twice = !ep->acked && rresp_captured(t, flow_at(t, f->peer), ep->psn);
}

static void begin(struct ctx *c, uint32_t n, bool fill, const struct hole *was)
{
    struct roce_flow_table *t = c->t;
    struct flow *f = c->f;
    struct trouble *trouble = trouble_of(t, f);
    struct episode *ep = &trouble->ep;
    const uint32_t psn = c->pkt->bth.psn;
    const roce_tstamp now = c->frame->ts;
    if (ep->undecided)
        decide(t, c->id, ep, false);
    *ep = (struct episode){.open = true,
                           .psn = psn,
                           .fill = fill,
                           .count = 1,
                           .end = roce_psn_add(psn, n),
                           .high = roce_psn_add(psn, n),
                           .ts = now,
                           .first_frame = c->frame->number,
                           .last_frame = c->frame->number,
                           .location = ROCE_LOST_NONE,
                           .cause = ROCE_CAUSE_UNKNOWN,
                           .atomic = c->pkt->op == ROCE_OP_ATOMIC,
                           .read = c->pkt->op == ROCE_OP_READ,
                           .orig_frame = was->len > 0 ? was->frame : 0};
    roce_tstamp quiet_since = f->req_ts;
    if (f->peer != NIL && f->una_ts > quiet_since)
        quiet_since = f->una_ts;
    const roce_duration quiet = since(now, quiet_since);
    const uint64_t timeout = loss_timeout(t, f);
    struct asked asked;
    ep->acked = (f->flags & F_UNA) && roce_psn_diff(f->una, psn) > 0;
    ep->dups = !fill;
    ep->reordered = overtaken(trouble, psn);
    ep->missing = fill ? 0 : was_missing(trouble, psn);
    const bool ran_out = full_timeout(t, f, quiet);
    if (c->copied && !fill) {
        ep->copied = true;
        ep->wait = quiet;
    } else if (!ran_out && asked_exactly(trouble, psn, &asked)) {
        ep->cause = (uint8_t)asked.cause;
        ep->ask_frame = asked.frame;
        ep->wait = since(now, asked.ts);
        if (asked.cause == ROCE_CAUSE_IMPLIED_NAK)
            ep->acked = false;
        if (asked.cause == ROCE_CAUSE_IMPLIED_NAK && ep->read && f->peer != NIL)
            judge_answer(t, f, ep);
    } else if (!ran_out && quiet < REISSUE_MAX && answer_lost_behind(c)) {
        ep->cause = ROCE_CAUSE_IMPLIED_NAK;
        ep->wait = quiet;
        ep->overtaken = trouble->has_late && trouble->late_psn == psn;
        if (ep->read)
            judge_answer(t, f, ep);
    } else if (!ran_out && asked_nearby(t, f, psn, &asked)) {
        ep->cause = (uint8_t)asked.cause;
        ep->ask_frame = asked.frame;
        ep->wait = since(now, asked.ts);
        if (roce_psn_diff(asked.psn, psn) > 0) {
            if (ep->missing == 0)
                ep->missing = was_missing(trouble, asked.psn);
            ep->in_hole = ep->missing == 0 && hole_find(t, f->holes, asked.psn) != NIL;
        }
    } else {
        ep->silent = true;
        ep->wait = quiet;
        const bool no_acks =
            c->pkt->service == ROCE_SERVICE_UC || c->pkt->service == ROCE_SERVICE_UD;
        ep->late = fill && (no_acks || (uint64_t)quiet < (timeout != 0 ? timeout : LATE_MAX));
        if (was->len > 0)
            ep->late_by = since(now, was->ts);
        /* A requester whose timer runs out goes back to the oldest PSN that is not acknowledged. */
        const int32_t missed =
            f->peer != NIL && (f->flags & F_UNA) ? roce_psn_diff(psn, f->una) : 0;
        if (!ep->late && missed > 0 && missed < NEAR_MISSED)
            episode_missing(t, f, f->una, (uint32_t)missed);
    }
    /* It waits for an answer, and yet the newest request here asks for none: what did ask was lost
     * before it got here. */
    ep->unasked = !(f->flags & F_ASKS);
    obeyed(trouble, psn);
    if (!ep->late) {
        c->v->flags |= ROCE_V_EPISODE;
        c->v->wait = ep->wait;
    }
    if (trouble->repeats > 0 && trouble->repeat_psn == psn && !trouble->repeat_answered)
        trouble->repeats++;
    else
        trouble->repeats = 1;
    trouble->repeat_psn = psn;
    trouble->repeat_answered = false;
}

void episode_request_behind(struct ctx *c, uint32_t n, bool fill, const struct hole *was)
{
    struct roce_flow_table *t = c->t;
    struct flow *f = c->f;
    const uint32_t psn = c->pkt->bth.psn;
    struct episode *ep = &trouble_of(t, f)->ep;
    const bool back = !ep->open || roce_psn_diff(psn, f->prev_end) < 0;
    /* A late frame followed by one that does not continue it: another late frame. */
    const bool elsewhere = ep->open && ep->late && psn != ep->end;
    const bool counted = was->len > 0 && was->judged;
    if (back || elsewhere) {
        episode_close(t, c->id, false);
        begin(c, n, fill, was);
    } else {
        if (psn != ep->end)
            episode_missing(t, f, ep->end, (uint32_t)roce_psn_diff(psn, ep->end));
        ep->count++;
        ep->dups = ep->dups || !fill;
        ep->last_frame = c->frame->number;
        ep->end = roce_psn_add(psn, n);
        if (roce_psn_diff(ep->end, ep->high) > 0)
            ep->high = ep->end;
        if (ep->late && !fill) {
            /* The stream restarted: what seemed late was sent again, all of it. */
            ep->late = false;
            loss_count(t, c->id, ROCE_LOST_UPSTREAM, ep->count - 1, ep->psn, false, ep->orig_frame,
                       false);
            c->v->flags |= ROCE_V_EPISODE;
            c->v->wait = ep->wait;
        }
    }
    if (c->pkt->op == ROCE_OP_READ) {
        struct trouble *trouble = trouble_of(t, f);
        trouble->reread_psn = trouble->reread_next = psn;
        trouble->reread_end = roce_psn_add(psn, n);
    }
    if (fill && !ep->late && !counted)
        loss_count(t, c->id, ROCE_LOST_UPSTREAM, 1, psn, false, was->frame, false);
    if (!ep->late)
        c->v->cause = ep->silent ? (uint8_t)silent_cause(t, f, silent_bin(ep->wait)) : ep->cause;
}

void episode_late(struct ctx *c, bool fill, const struct hole *was)
{
    const uint32_t psn = c->pkt->bth.psn;
    struct trouble *trouble = trouble_of(c->t, c->f);
    struct episode *ep = &trouble->ep;
    was_missing(trouble, psn);
    came_late(trouble, c->f, psn);
    const uint32_t into = (psn - ep->psn) & ROCE_PSN_MASK;
    if (ep->open && (into == 0 || into < ep->missing)) {
        ep->reordered = true;
        ep->missing = 0;
    }
    if (!fill)
        return;
    trouble->out_of_order++;
    const struct episode late = {.psn = psn,
                                 .count = 1,
                                 .first_frame = c->frame->number,
                                 .orig_frame = was->frame,
                                 .late_by = was->len > 0 ? since(c->frame->ts, was->ts) : -1};
    emit_late(c->t, c->id, &late);
}

void episode_request_ahead(struct ctx *c)
{
    struct trouble *trouble = trouble_peek(c->t, c->f);
    if (trouble->ep.open) {
        const int32_t left = roce_psn_diff(c->f->next_psn, trouble->ep.end);
        if (!trouble->ep.late && trouble->ep.dups && !trouble->ep.copied && left > 0)
            episode_missing(c->t, c->f, trouble->ep.end, (uint32_t)left);
        episode_close(c->t, c->id, false);
    }
    trouble->repeats = 0;
    if (trouble->fatal != 0)
        trouble->fatal_requests++;
}

/* Requests to resend from before the last step back have been obeyed by it. */
void episode_obeyed(struct roce_flow_table *t, struct flow *f)
{
    struct trouble *trouble = trouble_peek(t, f);
    if (trouble == NULL)
        return;
    trouble->has_nak = trouble->has_nak && trouble->nak_ts > trouble->ep.ts;
    trouble->has_rnr = trouble->has_rnr && trouble->rnr_ts > trouble->ep.ts;
    trouble->has_skip = trouble->has_skip && trouble->skip_ts > trouble->ep.ts;
}

void episode_read_response(struct trouble *trouble, uint32_t psn)
{
    if (psn == trouble->reread_next && reread(trouble, psn))
        trouble->reread_next = roce_psn_add(psn, 1);
}

/* What had been skipped was only overtaken. */
void episode_answered_late(struct trouble *trouble)
{
    trouble->has_skip = false;
    trouble->has_late = true;
    trouble->late_psn = trouble->skip_psn;
}

/* Counts the answers that reach furthest. */
static void count_answer(struct episode *ep, uint32_t acked)
{
    const int32_t further =
        ep->answers == 0 ? 1 : roce_psn_diff(roce_psn_add(acked, 1), ep->answered);
    if (further < 0)
        return;
    ep->answers = further == 0 ? ep->answers + 1 : 1;
    ep->answered = roce_psn_add(acked, 1);
}

void episode_response(struct roce_flow_table *t, uint32_t id, uint32_t acked, bool asks)
{
    struct flow *f = flow_at(t, id);
    struct trouble *trouble = trouble_peek(t, f);
    if (!asks) {
        if (trouble->has_nak && roce_psn_diff(acked, trouble->nak_psn) >= 0)
            trouble->has_nak = false;
        if (trouble->has_rnr && roce_psn_diff(acked, trouble->rnr_psn) >= 0)
            trouble->has_rnr = false;
        if (trouble->has_skip && acked == trouble->skip_psn)
            episode_answered_late(trouble);
    }
    if (trouble->repeats > 0 && roce_psn_diff(acked, trouble->repeat_psn) >= 0)
        trouble->repeat_answered = true;
    struct episode *ep = &trouble->ep;
    if (ep->open && roce_psn_diff(acked, ep->high) >= 0 && roce_psn_diff(acked, f->next_psn) < 0)
        ep->answered_far = true;
    /* Answers come in the order of the requests. */
    const bool later = roce_psn_diff(acked, ep->high) >= 0;
    const bool resent = ep->open || (ep->undecided && !later);
    if (!asks && ep->silent && !ep->acked && resent && roce_psn_diff(acked, f->next_psn) < 0)
        count_answer(ep, acked);
    if (ep->undecided && (later || needless(ep)))
        decide(t, id, ep, false);
}

/* ---- episodes from before the pair was known ---- */

/* What the peer's responses, remembered until the pair was known, say about a step back to
 * |ep->psn| that was taken at |ep->ts|. */
static void ask_replay(const struct roce_flow_table *t, const struct flow *f, struct episode *ep,
                       roce_tstamp obeyed)
{
    const int side = t->replay_flow[0] == f->peer ? 0 : 1;
    const struct obs *passed = NULL, *nearby = NULL;
    bool answered = false;
    for (uint32_t i = 0; i < t->replay_n[side]; i++) {
        const struct obs *o = &t->replay[side][i];
        const uint8_t kind = (uint8_t)(o->psn >> 24 & 0x3F);
        if (o->ts > ep->ts)
            break;
        const int32_t ahead = roce_psn_diff(o->psn & ROCE_PSN_MASK, ep->psn);
        if (ahead > 0 && (ep->read || ep->atomic) && o->ts > obeyed && passed == NULL)
            passed = o;
        if ((kind == OBS_NAK || kind == OBS_RNR) && o->ts > obeyed &&
            near(o->psn & ROCE_PSN_MASK, ep->psn, f))
            nearby = o;
        if (ahead != 0)
            continue;
        answered = kind != OBS_NAK && kind != OBS_RNR && kind != OBS_FATAL;
        if (kind == OBS_ACK)
            ep->acked = true;
        if (o->ts <= obeyed)
            continue;
        /* An RNR NAK is often followed by a sequence NAK: see was_asked. */
        if (kind == OBS_RNR || (kind == OBS_NAK && (ep->silent || ep->cause != ROCE_CAUSE_RNR))) {
            ep->cause = kind == OBS_NAK ? ROCE_CAUSE_NAK : ROCE_CAUSE_RNR;
            ep->silent = false;
            ep->ask_frame = o->frame;
            ep->wait = since(ep->ts, o->ts);
        }
    }
    if (!ep->silent)
        return;
    if (passed == NULL && nearby != NULL && !full_timeout(t, f, ep->wait)) {
        ep->cause = nearby->psn >> 24 == OBS_NAK ? ROCE_CAUSE_NAK : ROCE_CAUSE_RNR;
        ep->silent = false;
        ep->ask_frame = nearby->frame;
        ep->wait = since(ep->ts, nearby->ts);
    }
    if (passed == NULL || ep->wait >= REISSUE_MAX)
        return;
    ep->cause = ROCE_CAUSE_IMPLIED_NAK;
    ep->silent = false;
    ep->acked = answered;
    ep->ask_frame = passed->frame;
}

static void replay(struct roce_flow_table *t, uint32_t id, const struct early_episode *e,
                   roce_tstamp obeyed, bool at_end)
{
    struct flow *f = flow_at(t, id);
    struct episode ep = {.psn = e->psn,
                         .count = e->count,
                         .missing = e->missing,
                         .fill = e->fill,
                         .atomic = e->atomic,
                         .read = e->read,
                         .silent = true,
                         .cause = ROCE_CAUSE_UNKNOWN,
                         .wait = e->wait,
                         .ts = e->ts,
                         .first_frame = e->first_frame,
                         .last_frame = e->last_frame,
                         .orig_frame = e->orig_frame};
    if (f->peer != NIL)
        ask_replay(t, f, &ep, obeyed);
    settle(t, id, &ep, at_end);
}

/* Returns when the last of these episodes began. */
static roce_tstamp replay_all(struct roce_flow_table *t, uint32_t id, bool at_end)
{
    struct trouble *trouble = trouble_peek(t, flow_at(t, id));
    roce_tstamp obeyed = 0;
    if (trouble == NULL)
        return obeyed;
    for (int i = 0; i < EARLY_MAX && trouble->early[i] != NIL; i++) {
        const struct early_episode e =
            *(const struct early_episode *)pool_at(&t->node_pool, trouble->early[i]);
        pool_give(&t->node_pool, trouble->early[i]);
        trouble->early[i] = NIL;
        replay(t, id, &e, obeyed, at_end);
        obeyed = e.ts;
    }
    return obeyed;
}

/* Called while the peer's observations are still there. */
void episode_pair_known(struct roce_flow_table *t, uint32_t id)
{
    struct flow *f = flow_at(t, id);
    struct trouble *trouble = trouble_peek(t, f);
    if (trouble == NULL)
        return;
    const roce_tstamp obeyed = replay_all(t, id, false);
    if (trouble->ep.open && trouble->ep.silent && !trouble->ep.late)
        ask_replay(t, f, &trouble->ep, obeyed);
}

void episode_unpaired_end(struct roce_flow_table *t, uint32_t id)
{
    replay_all(t, id, true);
}
