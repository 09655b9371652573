/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Episodes that ended before the pair was known: they are judged once it is, by the responses that
 * were remembered until then, or at the end. */
#include "episode.h"

/* In the nodes' pool. */
struct early_episode {
    uint32_t psn, count, missing;
    uint32_t gap_psn, gap_len; /* |late|: the frame and those that overtook it */
    bool fill, atomic, read, late;
    roce_tstamp ts;
    roce_duration wait; /* |late|: by how much */
    uint64_t first_frame, last_frame, orig_frame;
};

_Static_assert(sizeof(struct early_episode) <= 64, "early episodes share the nodes' pool");

bool early_keep(struct roce_flow_table *t, struct affair *affair, const struct episode *ep)
{
    for (int i = 0; i < EARLY_MAX; i++) {
        if (affair->early[i] != NIL)
            continue;
        affair->early[i] = pool_take(&t->node_pool);
        if (affair->early[i] == NIL)
            break;
        struct early_episode *e = pool_at(&t->node_pool, affair->early[i]);
        *e = (struct early_episode){.psn = ep->psn,
                                    .count = ep->count,
                                    .fill = ep->fill,
                                    .atomic = ep->atomic,
                                    .read = ep->read,
                                    .late = ep->late,
                                    .ts = ep->ts,
                                    .wait = ep->wait,
                                    .first_frame = ep->first_frame,
                                    .last_frame = ep->last_frame,
                                    .missing = ep->missing,
                                    .orig_frame = ep->orig_frame,
                                    .gap_psn = ep->gap_psn,
                                    .gap_len = ep->gap_len};
        return true;
    }
    return false;
}

bool early_keep_late(struct roce_flow_table *t, const struct flow *f, struct affair *affair,
                     const struct episode *ep)
{
    if (f->service == ROCE_SERVICE_UC || f->service == ROCE_SERVICE_UD)
        return false;
    struct episode late = *ep;
    late.wait = ep->late_by;
    late.gap_psn = ep->psn;
    late.gap_len = (f->next_psn - ep->psn) & ROCE_PSN_MASK;
    return early_keep(t, affair, &late);
}

/* The requester went back to the beginning of a message because of the frame with |asked|. */
static void asked_ahead(struct roce_flow_table *t, struct flow *f, struct episode *ep,
                        uint32_t asked)
{
    struct affair *affair = affair_peek(t, f);
    if (roce_psn_diff(asked, ep->psn) <= 0)
        return;
    if (ep->missing == 0 && affair != NULL)
        ep->missing = missing_take(affair, asked);
    ep->in_hole = ep->missing == 0 && ((asked - ep->gap_psn) & ROCE_PSN_MASK) < ep->gap_len;
}

/* What was obeyed by the steps back before: all that passed before the last one, but for NAKs
 * behind the one it obeyed. */
struct obeyed {
    roce_tstamp step, nak;
    uint32_t alone_psn; /* PSN behind the only frame that the last step sent again; NIL: not so */
};

/* The NAK or RNR NAK that a step back to |ep->psn|, taken at |ep->ts|, obeys to the PSN. An RNR NAK
 * is often followed by a sequence NAK: see asked_exactly. */
static void ask_exactly(struct roce_flow_table *t, struct flow *f, struct episode *ep,
                        struct obeyed *obeyed)
{
    const int side = t->replay_flow[0] == f->peer ? 0 : 1;
    const bool ran_out = !ep->late && episode_full_timeout(t, f, ep->wait);
    const roce_tstamp since = ran_out ? obeyed->step : obeyed->nak;
    bool came = false;
    for (uint32_t i = 0; i < t->replay_n[side]; i++) {
        const struct obs *o = &t->replay[side][i];
        const enum obs_kind kind = obs_kind(o);
        if (o->ts > ep->ts)
            break;
        const int32_t ahead = roce_psn_diff(o->psn & ROCE_PSN_MASK, ep->psn);
        const bool asks = kind == OBS_NAK || kind == OBS_RNR;
        if (ahead > 0 || (ahead == 0 && !asks && kind != OBS_FATAL))
            came = true;
        if (ahead != 0 || !asks || o->ts <= since ||
            (kind == OBS_NAK && !ep->silent && ep->cause == ROCE_CAUSE_RNR))
            continue;
        came = false;
        /* See missing_naked; a responder that asks for less had kept the rest. */
        if (o->ts <= obeyed->step ||
            (obeyed->alone_psn != NIL && roce_psn_diff(ep->psn, obeyed->alone_psn) > 0))
            ep->missing = 0;
        ep->cause = kind == OBS_NAK ? ROCE_CAUSE_NAK : ROCE_CAUSE_RNR;
        ep->silent = ep->late = false;
        ep->ask_frame = o->frame;
        ep->wait = episode_since(ep->ts, o->ts);
        obeyed->nak = o->ts;
    }
    if (came && !ep->silent && ep->cause == ROCE_CAUSE_NAK)
        ep->reordered = true;
}

/* What the peer's responses, remembered until the pair was known, say about a step back to
 * |ep->psn| that was taken at |ep->ts|. */
static void ask_replay(struct roce_flow_table *t, struct flow *f, struct episode *ep,
                       struct obeyed *obeyed)
{
    const int side = t->replay_flow[0] == f->peer ? 0 : 1;
    const struct obs *passed = NULL, *nearby = NULL;
    bool answered = false;
    for (uint32_t i = 0; i < t->replay_n[side]; i++) {
        const struct obs *o = &t->replay[side][i];
        const enum obs_kind kind = obs_kind(o);
        if (o->ts > ep->ts)
            break;
        const int32_t ahead = roce_psn_diff(o->psn & ROCE_PSN_MASK, ep->psn);
        if (ahead > 0 && (ep->read || ep->atomic) && o->ts > obeyed->step && passed == NULL)
            passed = o;
        if ((kind == OBS_NAK || kind == OBS_RNR) && o->ts > obeyed->step &&
            asked_near(o->psn & ROCE_PSN_MASK, ep->psn, f))
            nearby = o;
        if (ahead != 0)
            continue;
        answered = kind != OBS_NAK && kind != OBS_RNR && kind != OBS_FATAL;
        if (kind == OBS_ACK)
            ep->acked = true;
    }
    ask_exactly(t, f, ep, obeyed);
    if (!ep->silent)
        return;
    if (passed == NULL && nearby != NULL && !episode_full_timeout(t, f, ep->wait)) {
        ep->cause = obs_kind(nearby) == OBS_NAK ? ROCE_CAUSE_NAK : ROCE_CAUSE_RNR;
        ep->silent = false;
        ep->ask_frame = nearby->frame;
        ep->wait = episode_since(ep->ts, nearby->ts);
        obeyed->nak = ep->ts;
        asked_ahead(t, f, ep, nearby->psn & ROCE_PSN_MASK);
    }
    if (passed == NULL || ep->wait >= REISSUE_MAX)
        return;
    ep->cause = ROCE_CAUSE_IMPLIED_NAK;
    ep->silent = false;
    ep->acked = answered;
    ep->ask_frame = passed->frame;
}

/* A frame that seemed late: a NAK may have asked for it. It may be late all the same, and the NAK
 * yet to be obeyed. */
static void ask_late(struct roce_flow_table *t, uint32_t id, struct episode *ep,
                     struct obeyed obeyed)
{
    ask_exactly(t, flow_at(t, id), ep, &obeyed);
    if (ep->late)
        return;
    loss_count(t, id,
               &(struct loss){.where = ROCE_LOST_UPSTREAM,
                              .count = ep->count,
                              .psn = ep->psn,
                              .hole_frame = ep->orig_frame});
}

static void replay(struct roce_flow_table *t, uint32_t id, const struct early_episode *e,
                   struct obeyed *obeyed, bool at_end)
{
    struct flow *f = flow_at(t, id);
    struct episode ep = {.psn = e->psn,
                         .count = e->count,
                         .missing = e->missing,
                         .fill = e->fill,
                         .atomic = e->atomic,
                         .read = e->read,
                         .late = e->late,
                         .silent = true,
                         .cause = ROCE_CAUSE_UNKNOWN,
                         .wait = e->wait,
                         .ts = e->ts,
                         .first_frame = e->first_frame,
                         .last_frame = e->last_frame,
                         .orig_frame = e->orig_frame,
                         .gap_psn = e->gap_psn,
                         .gap_len = e->gap_len};
    if (e->late) {
        if (f->peer != NIL)
            ask_late(t, id, &ep, *obeyed);
        if (ep.late) {
            ep.late_by = e->wait;
            episode_came_late(rare_of(t, f), e->psn, roce_psn_add(e->psn, e->gap_len));
            episode_was_late(t, id, &ep);
            return;
        }
    } else {
        ep.reordered = episode_overtaken(rare_peek(t, f), e->psn);
        if (f->peer != NIL)
            ask_replay(t, f, &ep, obeyed);
    }
    obeyed->step = e->ts;
    obeyed->alone_psn = ep.count == 1 && !ep.read ? roce_psn_add(ep.psn, 1) : NIL;
    episode_settle(t, id, &ep, at_end);
}

static void replay_all(struct roce_flow_table *t, uint32_t id, struct obeyed *obeyed, bool at_end)
{
    struct affair *affair = affair_peek(t, flow_at(t, id));
    if (affair == NULL)
        return;
    for (int i = 0; i < EARLY_MAX && affair->early[i] != NIL; i++) {
        const struct early_episode e =
            *(const struct early_episode *)pool_at(&t->node_pool, affair->early[i]);
        pool_give(&t->node_pool, affair->early[i]);
        affair->early[i] = NIL;
        replay(t, id, &e, obeyed, at_end);
    }
}

/* Called while the peer's observations are still there. */
void early_pair_known(struct roce_flow_table *t, uint32_t id)
{
    struct flow *f = flow_at(t, id);
    struct affair *affair = affair_peek(t, f);
    if (affair == NULL)
        return;
    struct obeyed obeyed = {.alone_psn = NIL};
    replay_all(t, id, &obeyed, false);
    if (affair->ep.open && affair->ep.late) {
        ask_late(t, id, &affair->ep, obeyed);
    } else if (affair->ep.open && affair->ep.silent) {
        affair->ep.reordered = episode_overtaken(rare_peek(t, f), affair->ep.psn);
        ask_replay(t, f, &affair->ep, &obeyed);
    }
    affair_settled(t, f);
}

void early_unpaired_end(struct roce_flow_table *t, uint32_t id)
{
    struct obeyed obeyed = {.alone_psn = NIL};
    replay_all(t, id, &obeyed, true);
}
