/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How a retransmission episode ends: its cause is counted, and where the frame was lost that it
 * went back to. */
#include "episode.h"

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

/* More answers to the last frame resent than frames were resent: those sent first had all arrived.
 * Had one been lost, only its copy would have let the receiver come that far. */
bool episode_needless(const struct episode *ep)
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

void episode_copied(struct roce_flow_table *t, const struct copy *copy)
{
    const struct episode ep = {.psn = copy->psn,
                               .count = 1,
                               .cause = ROCE_CAUSE_UNKNOWN,
                               .location = copy->same_id ? ROCE_LOST_NONE : ROCE_LOST_UNKNOWN,
                               .ts = copy->ts,
                               .wait = copy->wait,
                               .first_frame = copy->frame,
                               .last_frame = copy->frame};
    trouble_add(t, flow_at(t, copy->flow), COUNT_CAUSE + ROCE_CAUSE_UNKNOWN, 1);
    emit_episode(t, copy->flow, &ep, false);
}

static void lose(struct roce_flow_table *t, uint32_t id, enum roce_location where, uint32_t count,
                 uint32_t psn, bool responses, const struct episode *ep, bool at_end)
{
    const struct loss loss = {.where = where,
                              .count = count,
                              .psn = psn,
                              .responses = responses,
                              .hole_frame = ep->orig_frame,
                              .resent_frame = ep->first_frame,
                              .ask_frame = ep->ask_frame,
                              .at_end = at_end};
    loss_count(t, id, &loss);
}

void episode_decide(struct roce_flow_table *t, uint32_t id, struct episode *ep, bool at_end)
{
    ep->undecided = false;
    if (episode_needless(ep))
        ep->location = ROCE_LOST_NONE;
    else if (doubtful(t, flow_at(t, id), ep))
        ep->location = ROCE_LOST_UNKNOWN;
    else
        lose(t, id, ROCE_LOST_DOWNSTREAM, 1, ep->psn, false, ep, at_end);
    emit_episode(t, id, ep, at_end);
}

static bool is_newest(const struct roce_flow_table *t, const struct flow *f,
                      const struct episode *ep)
{
    const struct affair *affair = affair_peek(t, f);
    return affair != NULL && ep == &affair->ep;
}

/* The restart PSN had been captured: the frame was lost behind the mirror, or refused there, or it
 * is the answer that was lost. */
static void blame_captured(struct roce_flow_table *t, uint32_t id, struct episode *ep, bool at_end)
{
    struct flow *f = flow_at(t, id);
    const bool paired = f->peer != NIL;
    ep->location = ROCE_LOST_DOWNSTREAM;
    if (ep->cause == ROCE_CAUSE_SPURIOUS || ep->copied || ep->overtaken ||
        (ep->reordered && ep->missing == 0) || (ep->silent && episode_needless(ep))) {
        ep->location = ROCE_LOST_NONE;
        return;
    }
    if (ep->in_hole) {
        ep->location = ROCE_LOST_UPSTREAM;
        return;
    }
    if (ep->missing > 0) {
        ep->location = ROCE_LOST_UPSTREAM;
        lose(t, id, ROCE_LOST_UPSTREAM, ep->missing, ep->psn, false, ep, at_end);
        return;
    }
    if (ep->cause == ROCE_CAUSE_UNKNOWN) {
        ep->location = ROCE_LOST_UNKNOWN;
        lose(t, id, ROCE_LOST_UNKNOWN, 1, ep->psn, false, ep, at_end);
        return;
    }
    const bool asked = ep->cause == ROCE_CAUSE_NAK || ep->cause == ROCE_CAUSE_RNR;
    const bool waits = ep->silent && paired && !at_end && is_newest(t, f, ep);
    if (doubtful(t, f, ep) && (ep->acked || ep->unasked || ep->answered_far || !waits)) {
        ep->location = ROCE_LOST_UNKNOWN;
        return;
    }
    if (ep->silent && ep->answer_lost) {
        ep->location = ROCE_LOST_UPSTREAM;
        lose(t, f->peer, ROCE_LOST_UPSTREAM, 1, ep->psn, true, ep, at_end);
        return;
    }
    if (ep->silent && ep->unasked && !ep->acked) {
        ep->location = ROCE_LOST_UPSTREAM;
        if (ep->gap_len > 0)
            lose(t, id, ROCE_LOST_UPSTREAM, 1, ep->gap_psn, false, ep, at_end);
        return;
    }
    if (!asked && paired && ep->acked) {
        /* The answer was captured and did not arrive. */
        lose(t, f->peer, ROCE_LOST_DOWNSTREAM, 1, ep->psn, true, ep, at_end);
        return;
    }
    if (ep->cause == ROCE_CAUSE_IMPLIED_NAK && ep->ignored) {
        lose(t, id, ROCE_LOST_DOWNSTREAM, 1, ep->psn, false, ep, at_end);
        return;
    }
    if (ep->cause == ROCE_CAUSE_IMPLIED_NAK) {
        /* The missing responses are holes of the peer's READ response track, counted there. */
        ep->location = ROCE_LOST_UPSTREAM;
        if (paired && (ep->atomic || ep->answer_twice))
            lose(t, f->peer, ROCE_LOST_UPSTREAM, 1, ep->psn, true, ep, at_end);
        return;
    }
    if (!asked && paired && ep->answered_far) {
        ep->location = ROCE_LOST_UPSTREAM;
        lose(t, f->peer, ROCE_LOST_UPSTREAM, 1, ep->psn, true, ep, at_end);
        return;
    }
    if (waits) {
        ep->undecided = true;
        return;
    }
    if (ep->cause == ROCE_CAUSE_RNR)
        rare_of(t, f)->refused++;
    lose(t, id, ROCE_LOST_DOWNSTREAM, 1, ep->psn, false, ep, at_end);
}

/* A silent episode is judged by its wait. */
void episode_settle(struct roce_flow_table *t, uint32_t id, struct episode *ep, bool at_end)
{
    struct flow *f = flow_at(t, id);
    if (ep->silent) {
        const uint64_t timeout = loss_timeout(t, f);
        if (timeout != 0) {
            /* An implementation's clock is coarser than ours: 1/16 less still is the timeout. */
            const bool full = (uint64_t)ep->wait >= timeout - timeout / 16;
            ep->cause = full             ? ROCE_CAUSE_TIMEOUT
                        : ep->acked      ? ROCE_CAUSE_SPURIOUS
                        : f->peer != NIL ? ROCE_CAUSE_EARLY
                                         : ROCE_CAUSE_UNKNOWN;
            trouble_add(t, f, COUNT_CAUSE + ep->cause, 1);
        } else {
            const uint32_t bin = silent_bin(ep->wait);
            struct path *path = path_at(t, f->path);
            if (bin + 1 > path->silent_max)
                path->silent_max = (uint8_t)(bin + 1);
            ep->cause = (uint8_t)silent_cause(t, f, bin);
            if (ep->acked && ep->cause != ROCE_CAUSE_TIMEOUT) {
                ep->cause = ROCE_CAUSE_SPURIOUS;
                trouble_add(t, f, COUNT_CAUSE + ROCE_CAUSE_SPURIOUS, 1);
            } else {
                trouble_silent_add(t, f, bin);
            }
        }
    } else {
        trouble_add(t, f, COUNT_CAUSE + ep->cause, 1);
    }
    if (ep->fill)
        ep->location = ep->arrived ? ROCE_LOST_NONE : ROCE_LOST_UPSTREAM;
    else
        blame_captured(t, id, ep, at_end);
    if (!ep->undecided)
        emit_episode(t, id, ep, at_end);
}
