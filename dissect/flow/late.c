/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Requests that came late: sent before others that were here already, not sent again. */
#include "episode.h"

/* The frame with |psn| was sent before others that are here already. A receiver without room for
 * reordering drops all that overtook it, and asks for them again. */
void episode_came_late(struct rare *rare, uint32_t psn, uint32_t end)
{
    const uint32_t last = roce_psn_add(rare->overtook_psn, rare->overtook_len);
    const bool apart = rare->overtook_len == 0 || roce_psn_diff(psn, last) > 0;
    if (apart || roce_psn_diff(psn, rare->overtook_psn) < 0)
        rare->overtook_psn = psn;
    rare->overtook_len = (end - rare->overtook_psn) & ROCE_PSN_MASK;
}

bool episode_overtaken(const struct rare *rare, uint32_t psn)
{
    return rare != NULL && ((psn - rare->overtook_psn) & ROCE_PSN_MASK) < rare->overtook_len;
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

void episode_was_late(struct roce_flow_table *t, uint32_t id, const struct episode *ep)
{
    rare_of(t, flow_at(t, id))->out_of_order += ep->count;
    emit_late(t, id, ep);
}

void late_note_lost(const struct ctx *c, uint32_t psn)
{
    struct roce_flow_table *t = c->t;
    t->resent[t->resent_n++ % RESENT_MAX] = (struct resent){.flow = c->id,
                                                            .serial = c->f->serial,
                                                            .psn = psn,
                                                            .ip_id = c->pkt->ip.id,
                                                            .lost = true,
                                                            .ts = c->frame->ts};
}

/* The original of a frame that was taken for lost, because it was sent again, comes late: nothing
 * was lost. */
static void came_after_all(const struct ctx *c, uint32_t psn)
{
    struct roce_flow_table *t = c->t;
    struct affair *affair = affair_peek(t, c->f);
    for (uint32_t i = 0; i < RESENT_MAX; i++) {
        struct resent *r = &t->resent[i];
        if (!r->lost || r->flow != c->id || r->serial != c->f->serial || r->psn != psn)
            continue;
        const uint16_t before = (uint16_t)(r->ip_id - c->pkt->ip.id);
        if (before == 0 || before > INT16_MAX)
            return; /* a copy of the resend itself */
        r->lost = false;
        if (episode_since(c->frame->ts, r->ts) > LATE_MAX ||
            !trouble_take_back(t, c->f, COUNT_LOSS + ROCE_LOST_UPSTREAM))
            return;
        if (affair != NULL && affair->ep.open && affair->ep.psn == psn)
            affair->ep.arrived = true;
        return;
    }
}

void episode_late(struct ctx *c, bool fill, const struct hole *was)
{
    const uint32_t psn = c->pkt->bth.psn;
    struct rare *rare = rare_of(c->t, c->f);
    struct affair *affair = affair_peek(c->t, c->f);
    episode_came_late(rare, psn, c->f->next_psn);
    if (affair != NULL) {
        struct episode *ep = &affair->ep;
        missing_take(affair, psn);
        const uint32_t into = (psn - ep->psn) & ROCE_PSN_MASK;
        if (ep->open && (into == 0 || into < ep->missing)) {
            ep->reordered = true;
            ep->missing = 0;
        }
        affair_settled(c->t, c->f);
    }
    if (!fill) {
        came_after_all(c, psn);
        return;
    }
    rare->out_of_order++;
    const struct episode late = {.psn = psn,
                                 .count = 1,
                                 .first_frame = c->frame->number,
                                 .orig_frame = was->frame,
                                 .late_by =
                                     was->len > 0 ? episode_since(c->frame->ts, was->ts) : -1};
    emit_late(c->t, c->id, &late);
}
