/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What became of the answer that a requester went back for: captured or not, whole or not, and
 * whether it is the request that did not arrive. */
#include "episode.h"

/* Neither the answer to |psn| from before |stepped| was captured, nor the one since: its hole
 * counts for one of them. */
static bool missed_twice(const struct roce_flow_table *t, const struct flow *f, uint32_t psn,
                         roce_tstamp stepped)
{
    const uint32_t hole = hole_find(t, flow_at(t, f->peer)->rr_holes, psn);
    return hole != NIL && !hole_at(t, hole)->soft && hole_at(t, hole)->ts <= stepped;
}

void answer_skipped(const struct roce_flow_table *t, const struct flow *f, struct episode *ep,
                    uint32_t psn, roce_tstamp stepped)
{
    const bool once = ep->read && rresp_captured(t, flow_at(t, f->peer), psn);
    switch (waits_answered(&affair_peek(t, f)->waits, psn)) {
    case WAITS_UNKNOWN:
        if (ep->read)
            ep->acked = once;
        break;
    case WAITS_NOT_YET:
    case WAITS_PASSED:
        ep->acked = false;
        ep->answer_twice = once || missed_twice(t, f, psn, stepped);
        break;
    case WAITS_IGNORED:
        ep->acked = false;
        ep->ignored = true;
        break;
    case WAITS_CAME_LATE:
        ep->overtaken = true;
        break;
    case WAITS_CAME:
        ep->acked = true;
        break;
    }
}

/* The READ or atomic with |psn| that has no complete answer yet, NULL when there is none. */
static const struct node *unanswered(const struct roce_flow_table *t, const struct flow *f,
                                     uint32_t psn)
{
    for (uint32_t i = f->pend_head; i != NIL; i = node_at(t, i)->next) {
        const struct node *node = node_at(t, i);
        if ((node->kind == NODE_READ || node->kind == NODE_ATOMIC) &&
            roce_psn_diff(psn, node->first_psn) >= 0 && roce_psn_diff(psn, node->last_psn) <= 0)
            return node;
    }
    return NULL;
}

/* The requester went back to that request, which was lost on its way here: one frame. Of a response
 * further back it is the capture that lost it. */
bool answer_skipped_before(const struct roce_flow_table *t, const struct flow *f, uint32_t psn,
                           uint32_t *skipped)
{
    const struct affair *affair = affair_peek(t, f);
    uint32_t end;
    if (waits_skipped(&affair->waits, skipped, &end))
        return end == psn;
    if (affair->waits.lates > 0 && roce_psn_add(affair->waits.late[0], 1) == psn) {
        *skipped = affair->waits.late[0];
        return true;
    }
    *skipped = affair->skip_psn;
    const struct node *node = affair->has_skip ? unanswered(t, f, *skipped) : NULL;
    return node != NULL && roce_psn_add(node->last_psn, 1) == psn;
}

/* Later answers were captured, so that the request was carried out, once at least. */
static void silent_passed(const struct roce_flow_table *t, const struct flow *f, struct episode *ep,
                          roce_tstamp stepped)
{
    const struct waits *waits = &affair_peek(t, f)->waits;
    const bool hole = hole_find(t, flow_at(t, f->peer)->rr_holes, ep->psn) != NIL;
    switch (waits_answered(waits, ep->psn)) {
    case WAITS_UNKNOWN:
        if (ep->read ? !hole : unanswered(t, f, ep->psn) == NULL)
            return;
        break;
    case WAITS_NOT_YET:
        if (waits_ignored(waits, ep->psn)) {
            ep->acked = false;
            return;
        }
        break;
    case WAITS_PASSED:
        break;
    case WAITS_IGNORED:
        ep->acked = false;
        return;
    case WAITS_CAME_LATE:
    case WAITS_CAME:
        return;
    }
    ep->acked = false;
    ep->in_hole = hole && !missed_twice(t, f, ep->psn, stepped);
    ep->answer_lost = true;
}

/* Nothing captured is an answer behind |ep->psn|, but of the same READ those before it are. */
static bool begun(const struct roce_flow_table *t, const struct flow *f, const struct episode *ep)
{
    const struct node *node = unanswered(t, f, ep->psn);
    return node != NULL && node->kind == NODE_READ && node->first_psn != ep->psn &&
           !waits_asked(&affair_peek(t, f)->waits, ep->psn);
}

void answer_silent(const struct roce_flow_table *t, const struct flow *f, struct episode *ep,
                   roce_tstamp stepped)
{
    const struct affair *affair = affair_peek(t, f);
    const uint32_t hole = hole_find(t, flow_at(t, f->peer)->rr_holes, ep->psn);
    if (hole != NIL && hole_at(t, hole)->damaged)
        ep->in_hole = true;
    else if (affair->has_bad_ack && roce_psn_diff(affair->bad_ack, ep->psn) >= 0)
        ep->answer_lost = !ep->acked;
    else if (ep->acked && (ep->read || ep->atomic))
        silent_passed(t, f, ep, stepped);
    else if (!ep->acked && ep->read && begun(t, f, ep))
        ep->answer_lost = true;
}

/* The first PSN behind |psn| that is missing in the stream that ended with the newest request, else
 * the PSN behind it. */
static uint32_t first_missing(const struct roce_flow_table *t, const struct flow *f, uint32_t psn)
{
    const struct affair *affair = affair_peek(t, f);
    uint32_t first = f->prev_end;
    for (uint32_t i = f->holes; i != NIL; i = hole_at(t, i)->next) {
        const struct hole *h = hole_at(t, i);
        if (!h->judged && roce_psn_diff(h->psn, psn) > 0 && roce_psn_diff(h->psn, first) < 0)
            first = h->psn;
    }
    for (int i = 0; i < AGAIN_MAX; i++) {
        const uint32_t again = affair->again[i].psn;
        if (affair->again[i].len > 0 && roce_psn_diff(again, psn) > 0 &&
            roce_psn_diff(again, first) < 0)
            first = again;
    }
    return first;
}

/* Does any request captured from |psn| on, in front of |end|, ask for an answer? */
static bool asked(const struct roce_flow_table *t, const struct flow *f, uint32_t psn, uint32_t end)
{
    for (uint32_t i = f->pend_head; i != NIL; i = node_at(t, i)->next) {
        const struct node *node = node_at(t, i);
        const uint32_t asks = node->kind == NODE_READ ? node->first_psn : node->last_psn;
        if (roce_psn_diff(asks, end) >= 0)
            return false;
        if ((node->flags & NODE_ACK) && roce_psn_diff(asks, psn) >= 0)
            return true;
    }
    return false;
}

void answer_unasked(const struct roce_flow_table *t, const struct flow *f, struct episode *ep)
{
    ep->gap_psn = first_missing(t, f, ep->psn);
    ep->gap_len = hole_find(t, f->holes, ep->gap_psn) == NIL; /* else counted with its hole */
    ep->unasked = !ep->read && !ep->atomic &&
                  (!(f->flags & F_ASKS) || ep->gap_psn != f->prev_end) &&
                  !asked(t, f, ep->psn, ep->gap_psn);
}

bool answer_lost_behind(const struct ctx *c)
{
    const struct flow *f = c->f;
    const struct affair *affair = affair_peek(c->t, f);
    const uint32_t psn = c->pkt->bth.psn;
    if (f->peer == NIL || !(f->flags & F_UNA))
        return false;
    if (waits_answered(&affair->waits, psn) == WAITS_CAME_LATE)
        return c->pkt->op == ROCE_OP_READ || c->pkt->op == ROCE_OP_ATOMIC;
    /* A later answer passed, or a NAK of a later request, which acknowledges this one. */
    const bool passed = roce_psn_diff(f->una, psn) > 1 ||
                        (affair->has_nak && roce_psn_diff(affair->nak_psn, psn) > 0 &&
                         roce_psn_diff(f->una, psn) > 0);
    if (c->pkt->op == ROCE_OP_ATOMIC)
        return passed;
    const struct flow *peer = flow_at(c->t, f->peer);
    return c->pkt->op == ROCE_OP_READ && passed &&
           (rresp_captured(c->t, peer, psn) || hole_find(c->t, peer->rr_holes, psn) != NIL);
}
