/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Retransmission episodes: each step back of the request track, why the requester took it, and what
 * that says about the frame it went back to. */
#include "episode.h"

#include "naks.h"

/* Waits from 4.096 us * 2^LONG_BIN (1 ms) on may be timeouts. */
#define LONG_BIN 8

void episode_close(struct roce_flow_table *t, uint32_t id, bool at_end)
{
    struct flow *f = flow_at(t, id);
    struct affair *affair = affair_peek(t, f);
    if (affair == NULL)
        return;
    struct episode *ep = &affair->ep;
    if (ep->undecided && at_end)
        episode_decide(t, id, ep, true);
    if (!ep->open)
        return;
    ep->open = false;
    if (ep->late) {
        if (f->peer == NIL && !at_end && early_keep_late(t, f, affair, ep))
            return;
        episode_came_late(rare_of(t, f), ep->psn, f->next_psn);
        episode_was_late(t, id, ep);
        return;
    }
    if (ep->cause == ROCE_CAUSE_NAK && !ep->silent && !ep->dups &&
        affair->nak_frame == ep->ask_frame) {
        affair->has_nak = true; /* perhaps only late, and the NAK is yet to be obeyed */
        if (affair->nak_missing == MISSING_HOLE)
            affair->nak_missing = 0;
    }
    if (ep->silent && f->peer == NIL && !at_end && early_keep(t, affair, ep))
        return;
    episode_settle(t, id, ep, at_end);
}

/* ---- how it begins ---- */

bool episode_full_timeout(const struct roce_flow_table *t, const struct flow *f,
                          roce_duration quiet)
{
    const uint64_t timeout = loss_timeout(t, f);
    if (timeout != 0)
        return (uint64_t)quiet >= timeout - timeout / 16;
    return path_at(t, f->path)->silent_max > 0 && silent_bin(quiet) >= LONG_BIN &&
           silent_bin(quiet) + 1u >= path_at(t, f->path)->silent_max;
}

/* A NAK that is not known yet may have asked for what is missing there. */
static void note_gap(const struct roce_flow_table *t, const struct flow *f, struct episode *ep)
{
    int32_t nearest = NEAR_MESSAGE;
    for (uint32_t i = f->holes; i != NIL; i = hole_at(t, i)->next) {
        const struct hole *h = hole_at(t, i);
        const int32_t ahead = roce_psn_diff(h->psn, ep->psn);
        if (ahead <= 0 || ahead >= nearest)
            continue;
        nearest = ahead;
        ep->gap_psn = h->psn;
        ep->gap_len = h->len;
    }
}

static roce_duration quiet_for(const struct flow *f, roce_tstamp now)
{
    const roce_tstamp since = f->peer != NIL && f->una_ts > f->req_ts ? f->una_ts : f->req_ts;
    return episode_since(now, since);
}

/* The step back to |psn| may obey a NAK that is not the newest, or whose PSN is acknowledged by
 * now: then the frame was late. When it passed here |again| before, a READ or atomic is answered
 * once for each. */
static void take_kept(struct roce_flow_table *t, struct affair *affair, uint32_t psn, bool again)
{
    struct episode *ep = &affair->ep;
    if (asked_to_resend(affair, psn) || (affair->has_skip && affair->skip_psn == psn) ||
        !naks_take(t, affair, psn) || !ep->acked || (again && (ep->read || ep->atomic)))
        return;
    ep->reordered = true;
    affair->nak_missing = 0;
}

/* The step back to |psn| obeys a NAK of |asked|, another PSN: what became of the frame with that
 * one, which is missing again when the requester went back to it. */
static void judge_nearby(struct roce_flow_table *t, struct flow *f, struct episode *ep,
                         uint32_t asked)
{
    const int32_t missed = roce_psn_diff(ep->psn, asked);
    ep->missing = missing_take(affair_peek(t, f), asked);
    if (ep->cause == ROCE_CAUSE_NAK)
        missing_lost(ep, affair_peek(t, f)->nak_missing);
    ep->in_hole = ep->missing == 0 && (ep->in_hole || hole_find(t, f->holes, asked) != NIL);
    if (missed > 0)
        missing_add(t, f, asked, (uint32_t)missed);
}

static void begin(struct ctx *c, uint32_t n, bool fill, const struct hole *was)
{
    struct roce_flow_table *t = c->t;
    struct flow *f = c->f;
    const struct rare *rare = rare_peek(t, f);
    struct affair *affair = affair_of(t, f);
    struct episode *ep = &affair->ep;
    const uint32_t psn = c->pkt->bth.psn;
    const roce_tstamp now = c->frame->ts;
    const bool again = ((psn - ep->psn) & ROCE_PSN_MASK) < ((ep->high - ep->psn) & ROCE_PSN_MASK);
    const roce_tstamp stepped = trouble_of(t, f)->stepped_ts;
    trouble_of(t, f)->stepped_ts = now;
    if (ep->undecided)
        episode_decide(t, c->id, ep, false);
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
    const roce_duration quiet = quiet_for(f, now);
    const uint64_t timeout = loss_timeout(t, f);
    struct asked asked;
    uint32_t waits_for = psn, skipped;
    ep->acked = (f->flags & F_UNA) && roce_psn_diff(f->una, psn) > 0;
    ep->dups = !fill;
    ep->reordered = episode_overtaken(rare, psn);
    affair->alone = affair->alone && roce_psn_diff(psn, affair->alone_psn) < 0;
    if (f->peer != NIL)
        answer_unasked(t, f, ep);
    const uint32_t missing = missing_take(affair, psn);
    ep->missing = fill ? 0 : missing;
    const bool ran_out = episode_full_timeout(t, f, quiet);
    /* An implied NAK is the requester's own, and it obeys it at once; a NAK may wait for its host.
     */
    const bool at_once = !loss_long_wait(t, f, quiet);
    if (!ran_out && at_once)
        take_kept(t, affair, psn, again);
    if (c->copied && !fill) {
        ep->copied = true;
        ep->wait = quiet;
    } else if (!ran_out && asked_exactly(affair, psn, &asked) &&
               (asked.cause != ROCE_CAUSE_IMPLIED_NAK || at_once)) {
        ep->cause = (uint8_t)asked.cause;
        ep->ask_frame = asked.frame;
        ep->wait = episode_since(now, asked.ts);
        if (asked.cause == ROCE_CAUSE_NAK && !fill)
            missing_lost(ep, affair->nak_missing);
        if (asked.cause == ROCE_CAUSE_IMPLIED_NAK)
            ep->acked = false;
        if (asked.cause == ROCE_CAUSE_IMPLIED_NAK && f->peer != NIL)
            answer_skipped(t, f, ep, psn, stepped);
    } else if (f->peer != NIL && !ran_out && at_once && quiet < REISSUE_MAX &&
               answer_skipped_before(t, f, psn, &skipped)) {
        waits_for = skipped;
        const struct flow *peer = flow_at(t, f->peer);
        ep->cause = ROCE_CAUSE_IMPLIED_NAK;
        ep->wait = quiet;
        ep->read =
            rresp_captured(t, peer, waits_for) || hole_find(t, peer->rr_holes, waits_for) != NIL;
        ep->atomic = !ep->read;
        ep->acked = false;
        judge_nearby(t, f, ep, waits_for);
        answer_skipped(t, f, ep, waits_for, stepped);
    } else if (!ran_out && at_once && quiet < REISSUE_MAX && answer_lost_behind(c)) {
        ep->cause = ROCE_CAUSE_IMPLIED_NAK;
        ep->wait = quiet;
        ep->overtaken = rare != NULL && rare->late_psn == psn;
        answer_skipped(t, f, ep, psn, stepped);
    } else if (!ran_out && asked_nearby(affair, f, psn, &asked)) {
        ep->cause = (uint8_t)asked.cause;
        ep->ask_frame = asked.frame;
        ep->wait = episode_since(now, asked.ts);
        judge_nearby(t, f, ep, asked.psn);
        waits_for = asked.psn;
    } else {
        ep->silent = true;
        ep->wait = quiet;
        if (f->peer != NIL)
            answer_silent(t, f, ep, stepped);
        const bool no_acks =
            c->pkt->service == ROCE_SERVICE_UC || c->pkt->service == ROCE_SERVICE_UD;
        ep->late = fill && (no_acks || (uint64_t)quiet < (timeout != 0 ? timeout : LATE_MAX));
        if (was->len > 0)
            ep->late_by = episode_since(now, was->ts);
        /* A requester whose timer runs out goes back to the oldest PSN that is not acknowledged. */
        const int32_t missed =
            f->peer != NIL && (f->flags & F_UNA) ? roce_psn_diff(psn, f->una) : 0;
        if (!ep->late && missed > 0 && missed < NEAR_MISSED)
            missing_add(t, f, waits_for = f->una, (uint32_t)missed);
        if (f->peer == NIL)
            note_gap(t, f, ep);
    }
    asked_obeyed(t, affair, psn, ep->late);
    if (!ep->late) {
        c->v->flags |= ROCE_V_EPISODE;
        c->v->wait = ep->wait;
    }
    if (f->peer == NIL)
        affair->waits = (struct waits){0};
    else if (!ep->late && !ep->copied)
        waits_begin(&affair->waits, waits_for, f->next_psn,
                    !ep->silent && ep->cause == ROCE_CAUSE_IMPLIED_NAK);
    if (affair->repeats > 0 && affair->repeat_psn == psn && !affair->repeat_answered)
        affair->repeats++;
    else
        affair->repeats = 1;
    affair->repeat_psn = psn;
    affair->repeat_answered = false;
}

/* A requester that sends only what is missing skips what arrived: its next resend continues the
 * last one as little as a step back does. */
static bool resent_apart(const struct ctx *c, const struct episode *ep)
{
    struct roce_flow_table *t = c->t;
    const struct flow *f = c->f;
    const uint32_t psn = c->pkt->bth.psn;
    struct affair *affair = affair_peek(t, f);
    if (!ep->open || f->peer == NIL || psn == ep->end)
        return false;
    if ((ep->count == 1 || (f->flags & F_SELECTIVE)) &&
        (asked_to_resend(affair, psn) || naks_find(t, affair, psn)))
        return true;
    return (f->flags & F_UNA) && f->una == psn &&
           episode_full_timeout(t, f, quiet_for(f, c->frame->ts));
}

void episode_request_behind(struct ctx *c, uint32_t n, bool fill, const struct hole *was)
{
    struct roce_flow_table *t = c->t;
    struct flow *f = c->f;
    const uint32_t psn = c->pkt->bth.psn;
    struct affair *affair = affair_of(t, f);
    struct episode *ep = &affair->ep;
    const bool back = !ep->open || roce_psn_diff(psn, f->prev_end) < 0;
    /* A late frame followed by another one that does not continue it. */
    const bool elsewhere = ep->open && ep->late && fill && psn != ep->end;
    const bool counted = was->len > 0 && was->judged;
    if (back || elsewhere || resent_apart(c, ep)) {
        episode_close(t, c->id, false);
        begin(c, n, fill, was);
    } else {
        missing_came(affair, psn, n);
        affair->alone = affair->alone && roce_psn_diff(psn, affair->alone_psn) < 0;
        if (psn != ep->end && !(f->flags & F_SELECTIVE))
            missing_add(t, f, ep->end, (uint32_t)roce_psn_diff(psn, ep->end));
        ep->count++;
        ep->dups = ep->dups || !fill;
        ep->last_frame = c->frame->number;
        ep->end = roce_psn_add(psn, n);
        if (roce_psn_diff(ep->end, ep->high) > 0)
            ep->high = ep->end;
        if (ep->late && !fill) {
            /* The stream restarted: what seemed late was sent again, all of it. */
            ep->late = false;
            loss_count(t, c->id,
                       &(struct loss){.where = ROCE_LOST_UPSTREAM,
                                      .count = ep->count - 1,
                                      .psn = ep->psn,
                                      .hole_frame = ep->orig_frame});
            c->v->flags |= ROCE_V_EPISODE;
            c->v->wait = ep->wait;
        }
    }
    if (fill && !ep->late && !counted)
        loss_count(
            t, c->id,
            &(struct loss){
                .where = ROCE_LOST_UPSTREAM, .count = 1, .psn = psn, .hole_frame = was->frame});
    if (fill && !ep->late && (!counted || was->naked))
        late_note_lost(c, psn);
    if (!ep->late)
        c->v->cause = ep->silent ? (uint8_t)silent_cause(t, f, silent_bin(ep->wait)) : ep->cause;
}

/* The requester goes on behind all it had sent: from where it stepped back to, or from a frame that
 * it sent again alone. */
static void sent_on(struct roce_flow_table *t, struct flow *f, struct affair *affair)
{
    const struct episode *ep = &affair->ep;
    const int32_t left = roce_psn_diff(f->next_psn, ep->end);
    const bool naked = ep->cause == ROCE_CAUSE_NAK && !ep->silent;
    if (ep->late || ep->copied)
        return;
    if (left <= 0) {
        if (naked && ep->dups && ep->count > 1)
            f->flags &= ~(uint32_t)F_SELECTIVE;
        return;
    }
    if (naked && ep->count == 1) {
        affair->alone = true;
        affair->alone_psn = ep->end;
    }
    if (ep->dups && !(f->flags & F_SELECTIVE))
        missing_add(t, f, ep->end, (uint32_t)left);
}

void episode_request_ahead(struct ctx *c)
{
    struct rare *rare = rare_peek(c->t, c->f);
    if (rare != NULL && rare->fatal != 0)
        rare->fatal_requests++;
    struct affair *affair = affair_peek(c->t, c->f);
    if (affair == NULL)
        return;
    if (affair->ep.open) {
        sent_on(c->t, c->f, affair);
        episode_close(c->t, c->id, false);
    }
    affair->repeats = 0;
    affair_settled(c->t, c->f);
}

/* Requests to resend from before the last step back have been obeyed by it. */
void episode_obeyed(struct roce_flow_table *t, struct flow *f)
{
    struct affair *affair = affair_peek(t, f);
    if (affair == NULL)
        return;
    const roce_tstamp stepped = trouble_peek(t, f)->stepped_ts;
    affair->has_nak = affair->has_nak && affair->nak_ts > stepped;
    naks_drop(t, affair, stepped);
    affair->has_rnr = affair->has_rnr && affair->rnr_ts > stepped;
    affair->has_skip = affair->has_skip && affair->skip_ts > stepped;
    affair_settled(t, f);
}

void episode_asks(struct ctx *c, uint32_t n)
{
    struct affair *affair = affair_peek(c->t, c->f);
    if (affair == NULL)
        return;
    if (c->f->flags & F_SLACK)
        affair->waits.known = false;
    waits_ask(&affair->waits, c->pkt->bth.psn, n);
}

void episode_answer(struct roce_flow_table *t, struct flow *f, uint32_t psn)
{
    struct affair *affair = affair_peek(t, f);
    if (affair != NULL)
        waits_answer(&affair->waits, psn);
}

void episode_answer_damaged(struct roce_flow_table *t, struct flow *f, uint32_t psn)
{
    if (!(f->flags & F_PSN) || roce_psn_diff(psn, f->next_psn) >= 0 ||
        ((f->flags & F_UNA) && roce_psn_diff(psn, f->una) < 0))
        return;
    struct affair *affair = affair_of(t, f);
    affair->has_bad_ack = true;
    affair->bad_ack = psn;
}

/* What had been skipped was only overtaken. */
void episode_answered_late(struct roce_flow_table *t, struct flow *f)
{
    struct affair *affair = affair_of(t, f);
    affair->has_skip = false;
    rare_of(t, f)->late_psn = affair->skip_psn;
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
    struct affair *affair = affair_peek(t, f);
    if (affair == NULL)
        return;
    missing_kept(f, affair, asks ? acked : roce_psn_add(acked, 1));
    if (!asks) {
        if (affair->has_nak && roce_psn_diff(acked, affair->nak_psn) >= 0)
            naks_keep(t, affair);
        if (affair->has_rnr && roce_psn_diff(acked, affair->rnr_psn) >= 0)
            affair->has_rnr = false;
        if (affair->has_skip && acked == affair->skip_psn)
            episode_answered_late(t, f);
        affair->has_bad_ack = affair->has_bad_ack && roce_psn_diff(acked, affair->bad_ack) < 0;
    }
    if (affair->repeats > 0 && roce_psn_diff(acked, affair->repeat_psn) >= 0)
        affair->repeat_answered = true;
    waits_acknowledge(&affair->waits, asks ? roce_psn_add(acked, -1) : acked);
    struct episode *ep = &affair->ep;
    if (ep->open && roce_psn_diff(acked, ep->high) >= 0 && roce_psn_diff(acked, f->next_psn) < 0)
        ep->answered_far = true;
    /* Answers come in the order of the requests. */
    const bool later = roce_psn_diff(acked, ep->high) >= 0;
    const bool resent = ep->open || (ep->undecided && !later);
    if (!asks && ep->silent && !ep->acked && resent && roce_psn_diff(acked, f->next_psn) < 0)
        count_answer(ep, acked);
    if (ep->undecided && (later || episode_needless(ep)))
        episode_decide(t, id, ep, false);
    affair_settled(t, f);
}
