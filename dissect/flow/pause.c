/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The timeline of PFC and PAUSE: for each sender and priority the union of its pauses, and the
 * flows that fell silent with them. */
#include "watch.h"
#include "space.h"

#include <stdlib.h>
#include <string.h>

#define LATE_NS 20000 /* frames under way and the reaction of the paused port (802.1Qbb) */
#define ACTIVE_NS \
    1000000           /* a flow that was quiet for longer before a pause was not silenced by it */
#define SHORT_NS 5000 /* shorter pauses silence nobody in a way that could be told */

static struct pause_sender *sender_get(struct pauses *p, const uint8_t mac[6])
{
    uint32_t h = 2166136261U;
    for (int i = 0; i < 6; i++)
        h = (h ^ mac[i]) * 16777619U;
    uint32_t slot = (h ^ h >> 16) & (PAUSE_INDEX - 1);
    for (; p->index[slot] != 0; slot = (slot + 1) & (PAUSE_INDEX - 1))
        if (memcmp(p->sender[p->index[slot] - 1].mac, mac, 6) == 0)
            return &p->sender[p->index[slot] - 1];
    if (p->n == PAUSE_SENDERS) {
        p->lost++;
        return NULL;
    }
    struct pause_sender *s = &p->sender[p->n++];
    memcpy(s->mac, mac, 6);
    p->index[slot] = (uint16_t)p->n;
    return s;
}

/* settle accounts the pause that is on up to |now|, and ends it when its time is over. */
static void settle(struct pause_class *c, uint64_t storm_ns, roce_tstamp now)
{
    if (!c->active)
        return;
    const roce_tstamp to = now < c->end ? now : c->end;
    if (to > c->from) {
        c->e.paused_ns += to - c->from;
        c->from = to;
    }
    const uint64_t length = c->from - c->begin;
    if (length > c->e.longest_ns)
        c->e.longest_ns = length;
    if (length > storm_ns && !c->stormed) {
        c->stormed = true;
        if (c->e.storms++ == 0)
            c->e.storm_frame = c->begin_frame;
    }
    /* A frame that comes at the very end extends the pause without a gap. */
    if (now > c->end)
        c->active = false;
}

static void remember(struct roce_observer *obs, uint16_t sender, uint8_t class, roce_tstamp begin,
                     roce_tstamp end)
{
    if (end <= begin || end - begin < SHORT_NS)
        return;
    const struct pause_past past = {.begin = begin, .end = end, .sender = sender, .class = class};
    if (class < ROCE_PAUSE_PRIORITY)
        obs->pauses->past[class] = past;
    else
        for (int i = 0; i < 8; i++)
            obs->pauses->past[i] = past;
}

static void class_frame(struct roce_observer *obs, uint16_t sender, uint8_t class, uint16_t quanta)
{
    struct pause_class *c = &obs->pauses->sender[sender].class[class];
    const uint64_t speed = obs->opts.link_speed_bps;
    const roce_tstamp now = obs->now;
    if (!c->seen) {
        c->seen = true;
        c->e.priority = class;
        memcpy(c->e.mac, obs->pauses->sender[sender].mac, 6);
        c->e.first_frame = obs->frame;
        c->e.first_ts = now;
    }
    c->e.last_frame = obs->frame;
    c->e.last_ts = now;
    settle(c, obs->storm_ns, now);
    const bool paused = speed != 0 ? c->active && now <= c->end : c->xoff_last;
    if (quanta == 0) {
        c->e.xon++;
        c->xoff_last = false;
        if (c->active || speed == 0)
            remember(obs, sender, class, c->begin, now);
        c->active = false;
        c->begin = now;
        return;
    }
    c->e.xoff++;
    c->xoff_last = true;
    c->quanta = quanta;
    if (quanta > c->e.quanta_max)
        c->e.quanta_max = quanta;
    if (paused) {
        c->e.refresh++;
    } else {
        c->begin = c->from = now;
        c->begin_frame = obs->frame;
        c->stormed = false;
    }
    if (speed != 0) {
        c->active = true;
        c->end = now + roce_pause_ns(quanta, speed);
        remember(obs, sender, class, c->begin, c->end);
    }
}

void pauses_frame(struct roce_observer *obs, const struct roce_packet *pkt)
{
    if (pkt->status != ROCE_STATUS_OK || (pkt->has & ROCE_HAS_ETH) == 0)
        return;
    struct pause_sender *s = sender_get(obs->pauses, pkt->eth.src);
    if (s == NULL)
        return;
    const uint16_t sender = (uint16_t)(s - obs->pauses->sender);
    if (pkt->kind == ROCE_KIND_PAUSE) {
        class_frame(obs, sender, ROCE_PAUSE_PRIORITY, pkt->pause.quanta);
        return;
    }
    for (uint8_t i = 0; i < 8; i++)
        if (pkt->pfc.enable >> i & 1)
            class_frame(obs, sender, i, pkt->pfc.quanta[i]);
}

/* A flow was silenced when its last frame came shortly before the pause or just into it, none
 * during the pause, and the next one soon after its end. */
void pauses_data(struct roce_observer *obs, uint8_t priority, const struct roce_verdict *v)
{
    const struct pause_past *past = &obs->pauses->past[priority];
    const roce_tstamp now = obs->now;
    if (past->end == 0 || now < past->end || now - past->end > ACTIVE_NS || v->delta < 0 ||
        (uint64_t)v->delta > now)
        return;
    const roce_tstamp before = now - (roce_tstamp)v->delta;
    const uint64_t length = past->end - past->begin;
    const uint64_t late = length / 2 < LATE_NS ? length / 2 : LATE_NS;
    if (before > past->begin + late || before + ACTIVE_NS < past->begin)
        return;
    struct roce_pause_entry *e = &obs->pauses->sender[past->sender].class[past->class].e;
    e->silences++;
    for (uint32_t i = 0; i < e->victims; i++)
        if (e->victim[i] == v->flow)
            return;
    if (e->victims < ROCE_PAUSE_VICTIMS)
        e->victim[e->victims++] = v->flow;
}

struct pauses *pauses_new(void)
{
    struct pauses *p = calloc(1, sizeof *p);
    if (p == NULL)
        return NULL;
    p->sender = space_new(PAUSE_SENDERS, sizeof *p->sender);
    if (p->sender == NULL) {
        free(p);
        return NULL;
    }
    return p;
}

void pauses_del(struct pauses *p)
{
    if (p == NULL)
        return;
    space_del(p->sender, PAUSE_SENDERS, sizeof *p->sender);
    free(p);
}

bool roce_observer_pause(const struct roce_observer *obs, uint32_t *cursor,
                         struct roce_pause_entry *out)
{
    const struct pauses *p = obs->pauses;
    for (; *cursor < p->n * PAUSE_CLASSES; (*cursor)++) {
        struct pause_class c = p->sender[*cursor / PAUSE_CLASSES].class[*cursor % PAUSE_CLASSES];
        if (!c.seen)
            continue;
        settle(&c, obs->storm_ns, obs->now);
        *out = c.e;
        out->has_paused = obs->opts.link_speed_bps != 0;
        out->paused_now = c.active && obs->now < c.end;
        (*cursor)++;
        return true;
    }
    return false;
}
