/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What happens next: a heap of event sources. Each source has at most one date, so the heap's room
 * is known when the network is built and nothing is allocated while it runs. */
#ifndef FABRIC_EVENT_H
#define FABRIC_EVENT_H

#include <stdbool.h>
#include <stdint.h>

enum event_kind {
    EVENT_TX_END,    /* port: the frame has left */
    EVENT_ARRIVE,    /* port: the oldest frame on its wire is at the peer */
    EVENT_PAUSE_END, /* port: a pause runs out */
    EVENT_REFRESH,   /* port: XOFF is to be said again */
    EVENT_WAKE,      /* host */
    EVENT_DRAIN,     /* host: the sink has taken its oldest frame */
    EVENT_WATCHDOG,  /* switch */
};

struct event {
    void *owner;
    uint32_t at;  /* place in the heap, from 1; 0: no date */
    uint8_t kind; /* enum event_kind */
};

struct event_date {
    uint64_t time; /* ps */
    uint64_t turn; /* of two events at the same time the one that was dated first goes first */
    struct event *event;
};

struct events {
    struct event_date *heap; /* from 1 */
    uint32_t n, room;
    uint64_t turn;
};

/* events_new makes room for |more| sources. 0 or ROCE_ERR_NOMEM. */
int events_new(struct events *events, uint32_t more);
void events_del(struct events *events);

/* event_set gives |event| the date |time|, instead of the one it may have. */
void event_set(struct events *events, struct event *event, uint64_t time);
void event_clear(struct events *events, struct event *event);
/* event_pop takes the next event off; NULL when it comes after |until|. */
struct event *event_pop(struct events *events, uint64_t until, uint64_t *time);

static inline bool event_dated(const struct event *event)
{
    return event->at != 0;
}
/* event_time returns the date of a dated event. */
static inline uint64_t event_time(const struct events *events, const struct event *event)
{
    return events->heap[event->at].time;
}

#endif
