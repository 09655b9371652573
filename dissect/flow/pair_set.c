/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A pair that has been decided, by CM or by PSN evidence: what waited for it is applied; and one
 * that is dissolved again. */
#include "internal.h"

static void index_remove_all(struct roce_flow_table *t, struct flow *f)
{
    for (uint32_t i = f->pend_head; i != NIL; i = node_at(t, i)->next)
        if (node_at(t, i)->flags & NODE_HASHED)
            pair_index_remove(t, i);
}

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
        early_pair_known(t, a);
        early_pair_known(t, b);
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
