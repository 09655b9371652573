/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What happens next: a binary heap with dates in its nodes, so that sifting touches no source but
 * the ones it moves. */
#include "event.h"

#include <roce/err.h>
#include <stdlib.h>

int events_new(struct events *events, uint32_t more)
{
    const uint32_t room = events->room + more;
    struct event_date *heap = realloc(events->heap, ((size_t)room + 1) * sizeof(*heap));
    if (heap == NULL)
        return ROCE_ERR_NOMEM;
    events->heap = heap;
    events->room = room;
    return 0;
}

void events_del(struct events *events)
{
    free(events->heap);
}

static bool before(const struct event_date *a, const struct event_date *b)
{
    return a->time != b->time ? a->time < b->time : a->turn < b->turn;
}

static void put(struct events *events, uint32_t at, struct event_date date)
{
    events->heap[at] = date;
    date.event->at = at;
}

static void sift_up(struct events *events, uint32_t at, struct event_date date)
{
    while (at > 1 && before(&date, &events->heap[at / 2])) {
        put(events, at, events->heap[at / 2]);
        at /= 2;
    }
    put(events, at, date);
}

static void sift_down(struct events *events, uint32_t at, struct event_date date)
{
    for (;;) {
        uint32_t child = 2 * at;
        if (child > events->n)
            break;
        if (child < events->n && before(&events->heap[child + 1], &events->heap[child]))
            child++;
        if (!before(&events->heap[child], &date))
            break;
        put(events, at, events->heap[child]);
        at = child;
    }
    put(events, at, date);
}

static void settle(struct events *events, uint32_t at, struct event_date date)
{
    if (at > 1 && before(&date, &events->heap[at / 2]))
        sift_up(events, at, date);
    else
        sift_down(events, at, date);
}

void event_set(struct events *events, struct event *event, uint64_t time)
{
    const struct event_date date = {.time = time, .turn = events->turn++, .event = event};
    if (event->at != 0)
        settle(events, event->at, date);
    else
        sift_up(events, ++events->n, date);
}

void event_clear(struct events *events, struct event *event)
{
    const uint32_t at = event->at;
    if (at == 0)
        return;
    event->at = 0;
    const struct event_date last = events->heap[events->n--];
    if (last.event != event)
        settle(events, at, last);
}

struct event *event_pop(struct events *events, uint64_t until, uint64_t *time)
{
    if (events->n == 0 || events->heap[1].time > until)
        return NULL;
    struct event *event = events->heap[1].event;
    *time = events->heap[1].time;
    event_clear(events, event);
    return event;
}
