/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The PFC watchdog of a switch: a queue that is paused and does not move for the detection time is
 * given up, until no pause has come for the restoration time. */
#include "inner.h"

static void give_up(struct port *port, int priority)
{
    struct queue *queue = &port->queue[priority];
    queue->stormed = true;
    queue->stuck = queue->quiet = 0;
    port->stats.storms++;
    const bool forward = port->node->u.sw.cfg.watchdog.forward;
    const uint64_t dropped = forward ? 0 : switch_flush(port, priority);
    trace(port, FAB_TRACE_STORM, priority, dropped, NULL);
    port_kick(port);
}

static void poll_stormed(struct port *port, int priority, uint64_t poll)
{
    struct queue *queue = &port->queue[priority];
    const bool calm = port->pfc_rx[priority] == queue->polled_pfc && !pfc_holds(port, priority);
    queue->quiet = calm ? queue->quiet + poll : 0;
    if (queue->quiet < port->node->u.sw.cfg.watchdog.restore_ns * PS_PER_NS)
        return;
    queue->stormed = false;
    queue->stuck = 0;
    trace(port, FAB_TRACE_RESTORED, priority, 0, NULL);
}

static void poll_queue(struct port *port, int priority, uint64_t poll)
{
    struct queue *queue = &port->queue[priority];
    if (queue->stormed) {
        poll_stormed(port, priority, poll);
    } else {
        const bool stuck =
            queue->frames > 0 && queue->tx_frames == queue->polled_tx && pfc_holds(port, priority);
        queue->stuck = stuck ? queue->stuck + poll : 0;
        if (queue->stuck >= port->node->u.sw.cfg.watchdog.detect_ns * PS_PER_NS && stuck)
            give_up(port, priority);
    }
    queue->polled_tx = queue->tx_frames;
    queue->polled_pfc = port->pfc_rx[priority];
}

void watchdog_poll(struct node *node)
{
    struct fab *fab = node->fab;
    const struct fab_switch_cfg *cfg = &node->u.sw.cfg;
    const uint64_t poll = cfg->watchdog.poll_ns * PS_PER_NS;
    for (int i = 0; i < node->n_ports; i++)
        for (int p = 0; p < FAB_PRIORITIES; p++)
            if ((cfg->lossless >> p & 1) != 0)
                poll_queue(node->ports[i], p, poll);
    event_set(&fab->events, &node->u.sw.watchdog, fab->now + poll);
}
