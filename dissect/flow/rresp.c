/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The READ response track of a flow: which responses were captured, repeated or skipped. Responses
 * use the PSNs of the peer's requests, so that PSNs without any response lie between them. */
#include "internal.h"

bool rresp_captured(const struct roce_flow_table *t, const struct flow *f, uint32_t psn)
{
    return (f->flags & F_RRESP) && roce_psn_diff(psn, f->rr_next) < 0 &&
           roce_psn_diff(psn, f->rr_low) >= 0 && hole_find(t, f->rr_holes, psn) == NIL;
}

uint32_t rresp_upto(const struct roce_flow_table *t, const struct flow *f, uint32_t from,
                    uint32_t to)
{
    if (!(f->flags & F_RRESP) || roce_psn_diff(to, f->rr_next) > 0 ||
        roce_psn_diff(from, f->rr_low) < 0)
        return from;
    uint32_t first = to;
    for (uint32_t i = f->rr_holes; i != NIL; i = hole_at(t, i)->next) {
        const struct hole *h = hole_at(t, i);
        if (roce_psn_diff(h->psn, first) < 0 &&
            roce_psn_diff(roce_psn_add(h->psn, h->len), from) > 0)
            first = roce_psn_diff(h->psn, from) > 0 ? h->psn : from;
    }
    return first;
}

/* A skipped PSN is known to be a missing response when a READ of the peer that is not answered yet
 * reaches into the skipped range, or when the frame itself continues a READ. */
static bool skipped_responses(const struct ctx *c, uint32_t from, uint32_t to)
{
    if (c->pkt->pos == ROCE_POS_MIDDLE || c->pkt->pos == ROCE_POS_LAST)
        return true;
    if (c->f->peer == NIL)
        return false;
    const struct flow *peer = flow_at(c->t, c->f->peer);
    for (uint32_t i = peer->pend_head; i != NIL; i = node_at(c->t, i)->next) {
        const struct node *node = node_at(c->t, i);
        if (node->kind == NODE_READ && roce_psn_diff(node->first_psn, to) < 0 &&
            roce_psn_diff(node->last_psn, from) >= 0)
            return true;
    }
    return false;
}

/* A late response was sent again when the requester stepped back since it went missing. */
static bool asked_again(const struct ctx *c, const struct hole *was)
{
    if (c->f->peer == NIL)
        return false;
    const struct trouble *trouble = trouble_peek(c->t, flow_at(c->t, c->f->peer));
    return trouble != NULL && trouble->stepped_ts >= was->ts;
}

void rresp_frame(struct ctx *c)
{
    struct roce_flow_table *t = c->t;
    struct flow *f = c->f;
    const uint32_t psn = c->pkt->bth.psn;
    if (!(f->flags & F_RRESP)) {
        f->flags |= F_RRESP;
        f->rr_low = psn;
        f->rr_next = roce_psn_add(psn, 1);
        f->rr_prev = psn;
        return;
    }
    const bool continues = c->pkt->pos == ROCE_POS_MIDDLE || c->pkt->pos == ROCE_POS_LAST;
    if (continues && psn != roce_psn_add(f->rr_prev, 1)) {
        trouble_add(t, f, COUNT_RR_GAPS, 1);
        c->v->flags |= ROCE_V_READ_RESPONSE_GAP;
    }
    f->rr_prev = psn;
    const int32_t d = roce_psn_diff(psn, f->rr_next);
    if (d >= 0) {
        if (d > 0)
            hole_add(t, &f->rr_holes, f->rr_next, (uint32_t)d,
                     !skipped_responses(c, f->rr_next, psn));
        f->rr_next = roce_psn_add(psn, 1);
        if (roce_psn_diff(f->rr_next, f->rr_low) < 0) {
            f->rr_low = roce_psn_add(f->rr_next, -0x7FFFFF);
            hole_drop(t, &f->rr_holes);
        }
        return;
    }
    if (roce_psn_diff(psn, f->rr_low) < 0) {
        const uint32_t end = roce_psn_add(psn, 1);
        const int32_t between = roce_psn_diff(f->rr_low, end);
        if (between > 0)
            hole_add(t, &f->rr_holes, end, (uint32_t)between, true);
        f->rr_low = psn;
        return;
    }
    struct hole was;
    hole_fill(t, &f->rr_holes, psn, 1, &was);
    if (was.len == 0 || was.damaged) {
        trouble_add(t, f, COUNT_RR_DUPLICATES, 1);
        c->v->flags |= ROCE_V_READ_RESPONSE_DUP;
    }
    if (was.len > 0 && !was.soft && !was.judged && asked_again(c, &was)) {
        loss_count(t, c->id,
                   &(struct loss){.where = ROCE_LOST_UPSTREAM,
                                  .count = 1,
                                  .psn = psn,
                                  .responses = true,
                                  .hole_frame = was.frame});
    }
}

void rresp_damaged(struct ctx *c)
{
    struct flow *f = c->f;
    const uint32_t psn = c->pkt->bth.psn;
    struct hole *newest = f->rr_holes != NIL ? hole_at(c->t, f->rr_holes) : NULL;
    if (newest != NULL && newest->damaged && psn == roce_psn_add(newest->psn, newest->len)) {
        newest->len++;
        return;
    }
    hole_add(c->t, &f->rr_holes, psn, 1, false);
    if (f->rr_holes != NIL && hole_at(c->t, f->rr_holes)->psn == psn)
        hole_at(c->t, f->rr_holes)->damaged = true;
}
