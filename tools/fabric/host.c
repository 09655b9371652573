/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Hosts: their sender is asked when the link is free, their receiver may be slower than the link.
 */
#include "inner.h"

#include <string.h>

#define SINK_BUFFER (256 * 1024)

/* Wants to be asked again when its time has come. Not before the next ns: a host that wants to send
 * now and gives nothing would stop the time. */
static void schedule(struct node *node)
{
    struct fab *fab = node->fab;
    struct host *host = &node->u.host;
    const roce_tstamp now = now_ns(fab);
    const roce_tstamp next = host->cfg.ops->next(host->cfg.ctx, now);
    if (next >= NO_TIME / PS_PER_NS)
        event_clear(&fab->events, &host->wake);
    else
        event_set(&fab->events, &host->wake, (next > now ? next : now + 1) * PS_PER_NS);
}

struct frame *host_next(struct port *port)
{
    struct fab *fab = port->fab;
    struct host *host = &port->node->u.host;
    const roce_tstamp now = now_ns(fab);
    host->cfg.ops->expire(host->cfg.ctx, now);
    const int len = host->cfg.ops->give(host->cfg.ctx, now, fab->scratch, sizeof(fab->scratch));
    if (len <= 0 || (size_t)len > sizeof(fab->scratch)) {
        schedule(port->node);
        return NULL;
    }
    struct frame *frame = frame_take(&fab->pool, (size_t)len);
    if (frame == NULL) {
        port->stats.drops[FAB_DROP_MEMORY]++;
        schedule(port->node);
        return NULL;
    }
    memcpy(frame->data, fab->scratch, (size_t)len);
    frame->len = (uint16_t)len;
    frame_classify(fab, frame);
    return frame;
}

static void hand_over(struct node *node, struct frame *frame)
{
    struct host *host = &node->u.host;
    host->cfg.ops->arrive(host->cfg.ctx, now_ns(node->fab), frame->data, frame->len);
    frame_give(&node->fab->pool, frame);
    port_kick(node->ports[0]);
}

static uint32_t sink_room(const struct fab_sink *sink)
{
    return sink->buffer != 0 ? sink->buffer : SINK_BUFFER;
}

static void drain_next(struct node *node)
{
    struct fab *fab = node->fab;
    struct host *host = &node->u.host;
    const uint64_t rate = host->cfg.sink.drain_bps;
    if (host->sink.head == NULL || rate == FAB_STALLED || event_dated(&host->drain))
        return;
    const uint64_t bits = (uint64_t)host->sink.head->len * 8;
    const uint64_t time = rate == FAB_AT_ONCE ? 0 : bits * UINT64_C(1000000000000) / rate;
    event_set(&fab->events, &host->drain, fab->now + time);
}

void host_arrive(struct port *port, struct frame *frame)
{
    struct host *host = &port->node->u.host;
    const struct fab_sink *sink = &host->cfg.sink;
    if (sink->drain_bps == FAB_AT_ONCE && host->sink.head == NULL) {
        hand_over(port->node, frame);
        return;
    }
    if (host->held + frame->len > sink_room(sink)) {
        frame_drop(port, FAB_DROP_SINK, frame);
        return;
    }
    const int priority = frame->priority;
    const uint64_t xoff = sink->xoff != 0 ? sink->xoff : sink_room(sink) / 2;
    host->held += frame->len;
    host->held_of[priority] += frame->len;
    fifo_push(&host->sink, frame);
    if ((sink->lossless >> priority & 1) != 0 && host->held_of[priority] >= xoff)
        pfc_peer(port, priority, true, host->held_of[priority]);
    drain_next(port->node);
}

void host_drain(struct node *node)
{
    struct host *host = &node->u.host;
    const struct fab_sink *sink = &host->cfg.sink;
    struct frame *frame = fifo_pop(&host->sink);
    if (frame == NULL)
        return;
    const int priority = frame->priority;
    const uint64_t xon = sink->xon != 0 ? sink->xon : sink_room(sink) / 4;
    host->held -= frame->len;
    host->held_of[priority] -= frame->len;
    if (host->held_of[priority] <= xon)
        pfc_peer(node->ports[0], priority, false, host->held_of[priority]);
    drain_next(node);
    hand_over(node, frame);
}

void fab_host_drain(struct fab *fab, int node, uint64_t drain_bps)
{
    struct host *host = &fab->nodes[node]->u.host;
    host->cfg.sink.drain_bps = drain_bps;
    event_clear(&fab->events, &host->drain);
    drain_next(fab->nodes[node]);
}

void fab_host_wake(struct fab *fab, int node)
{
    event_set(&fab->events, &fab->nodes[node]->u.host.wake, fab->now);
}
