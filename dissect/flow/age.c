/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Flows that are over give their records back, so that memory follows the QPs that live. Nothing
 * has to go before something comes: with each new flow a hand goes round the table by some places,
 * as long as it finds any to free, else once in AGE_ROUND_NS. Frames of known flows pay nothing. */
#include "internal.h"

#define AGE_STEP      64                   /* places looked at */
#define AGE_ROUND_NS  UINT64_C(5000000000) /* all of them */
#define RECENT_FRAMES 64                   /* whatever the time of the newest one */
#define STRAY_FRAMES  (UINT64_C(1) << 20)
#define CLOSED_NS     UINT64_C(5000000000) /* from DREQ: what is still on its way has come */
#define TOLD_FACTOR   10 /* flows with something to tell stay so many times longer, ... */
#define TOLD_ROOM     4  /* ... unless the table holds so many times what it may keep */

static bool silent_for(const struct roce_flow_table *t, const struct flow *f, roce_tstamp now,
                       uint64_t ns)
{
    const uint64_t frames = t->frame - f->last_frame;
    if (f->last_ts > now) /* by little: of this moment; by much: a stamp that was wrong */
        return f->last_ts - now > AGE_ROUND_NS && frames >= STRAY_FRAMES;
    return now - f->last_ts >= ns && frames >= RECENT_FRAMES;
}

static bool closed(const struct roce_flow_table *t, const struct flow *f)
{
    const struct cm_entry *e = f->cm == CM_NONE ? NULL : pool_at(&t->cm_pool, f->cm);
    return e != NULL && e->info.state == ROCE_CM_CLOSED && f->last_frame >= e->info.req_frame;
}

static bool is_over(const struct roce_flow_table *t, const struct flow *f, roce_tstamp now)
{
    uint64_t limit = t->opts.idle_ns;
    const bool told = f->trouble != NIL || naks_apart(f) > 0;
    if (told && t->flow_pool.used / TOLD_ROOM <= t->opts.idle_keep)
        limit = limit > UINT64_MAX / TOLD_FACTOR ? UINT64_MAX : limit * TOLD_FACTOR;
    else if (limit > CLOSED_NS && closed(t, f))
        limit = CLOSED_NS;
    return silent_for(t, f, now, limit);
}

/* Both directions of a pair are told before either is gone: each is judged by the other. */
static void end_flow(struct roce_flow_table *t, uint32_t id)
{
    const uint32_t peer = flow_at(t, id)->peer;
    const uint64_t frame = t->frame;
    t->frame = 0; /* no frame shows this */
    flow_finish(t, id);
    if (peer != NIL)
        flow_finish(t, peer);
    t->frame = frame;
    const bool paired = peer != NIL && flow_at(t, id)->peer == peer;
    table_tell_end(t, id);
    if (paired)
        table_tell_end(t, peer);
    table_drop(t, id);
    if (paired)
        table_drop(t, peer);
    t->ended += paired ? 2 : 1;
}

static void look_at(struct roce_flow_table *t, uint32_t id, roce_tstamp now)
{
    const struct flow *f = flow_at(t, id);
    if (!(f->flags & F_LIVE))
        return;
    if (is_over(t, f, now) && (f->peer == NIL || is_over(t, flow_at(t, f->peer), now)))
        end_flow(t, id);
}

/* A frame with a stray time moves nothing: of three in a row the middle one is believed. */
static roce_tstamp believed(struct roce_flow_table *t, roce_tstamp c)
{
    const roce_tstamp a = t->age_ts[0], b = t->age_ts[1];
    t->age_ts[0] = b;
    t->age_ts[1] = c;
    if (a < b)
        return c < a ? a : c < b ? c : b;
    return c < b ? b : c < a ? c : a;
}

void age_step(struct roce_flow_table *t)
{
    const roce_tstamp now = believed(t, t->now);
    const uint64_t ended = t->ended;
    if (now == 0 || now - t->age_from < t->age_step) /* a time before |age_from| is none of these */
        return;
    t->age_from = now;
    for (uint32_t i = 0; i < AGE_STEP && t->flow_pool.used > t->opts.idle_keep; i++) {
        if (t->age_hand >= t->flow_pool.fresh)
            t->age_hand = 0;
        look_at(t, t->age_hand++, now);
    }
    t->age_step = t->ended > ended ? 0 : AGE_ROUND_NS / (t->flow_pool.fresh / AGE_STEP + 1);
}
