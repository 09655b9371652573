/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Episodes that ended before the pair was known: they are judged once it is, by the responses that
 * were remembered until then, or at the end. */
#include "episode.h"

/* In the nodes' pool. */
struct early_episode {
    uint32_t psn, count, missing;
    uint32_t gap_psn, gap_len;
    bool fill, atomic, read;
    roce_tstamp ts;
    roce_duration wait;
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

/* The requester went back to the beginning of a message because of the frame with |asked|. */
static void asked_ahead(struct roce_flow_table *t, struct flow *f, struct episode *ep,
                        uint32_t asked)
{
    struct affair *affair = affair_peek(t, f);
    if (roce_psn_diff(asked, ep->psn) <= 0)
        return;
    if (ep->missing == 0 && affair != NULL)
        ep->missing = episode_was_missing(affair, asked);
    ep->in_hole = ep->missing == 0 && ((asked - ep->gap_psn) & ROCE_PSN_MASK) < ep->gap_len;
}

/* What the peer's responses, remembered until the pair was known, say about a step back to
 * |ep->psn| that was taken at |ep->ts|. */
static void ask_replay(struct roce_flow_table *t, struct flow *f, struct episode *ep,
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
            episode_near(o->psn & ROCE_PSN_MASK, ep->psn, f))
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
            ep->wait = episode_since(ep->ts, o->ts);
        }
    }
    if (!ep->silent)
        return;
    if (passed == NULL && nearby != NULL && !episode_full_timeout(t, f, ep->wait)) {
        ep->cause = nearby->psn >> 24 == OBS_NAK ? ROCE_CAUSE_NAK : ROCE_CAUSE_RNR;
        ep->silent = false;
        ep->ask_frame = nearby->frame;
        ep->wait = episode_since(ep->ts, nearby->ts);
        asked_ahead(t, f, ep, nearby->psn & ROCE_PSN_MASK);
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
                         .orig_frame = e->orig_frame,
                         .gap_psn = e->gap_psn,
                         .gap_len = e->gap_len};
    if (f->peer != NIL)
        ask_replay(t, f, &ep, obeyed);
    episode_settle(t, id, &ep, at_end);
}

/* Returns when the last of these episodes began. */
static roce_tstamp replay_all(struct roce_flow_table *t, uint32_t id, bool at_end)
{
    struct affair *affair = affair_peek(t, flow_at(t, id));
    roce_tstamp obeyed = 0;
    if (affair == NULL)
        return obeyed;
    for (int i = 0; i < EARLY_MAX && affair->early[i] != NIL; i++) {
        const struct early_episode e =
            *(const struct early_episode *)pool_at(&t->node_pool, affair->early[i]);
        pool_give(&t->node_pool, affair->early[i]);
        affair->early[i] = NIL;
        replay(t, id, &e, obeyed, at_end);
        obeyed = e.ts;
    }
    return obeyed;
}

/* Called while the peer's observations are still there. */
void early_pair_known(struct roce_flow_table *t, uint32_t id)
{
    struct flow *f = flow_at(t, id);
    struct affair *affair = affair_peek(t, f);
    if (affair == NULL)
        return;
    const roce_tstamp obeyed = replay_all(t, id, false);
    if (affair->ep.open && affair->ep.silent && !affair->ep.late)
        ask_replay(t, f, &affair->ep, obeyed);
    affair_settled(t, f);
}

void early_unpaired_end(struct roce_flow_table *t, uint32_t id)
{
    replay_all(t, id, true);
}
