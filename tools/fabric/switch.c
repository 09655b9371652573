/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Switches: where a frame goes, when it is marked, which queue sends next. */
#include "inner.h"

#include <string.h>

#define DWRR_QUANTUM 1600 /* bytes a turn for each unit of weight */

static struct port *way_to(const struct node *node, const struct frame *frame)
{
    const struct sw *sw = &node->u.sw;
    if (frame->host == FRAME_NO_HOST)
        return NULL;
    const struct route *route = &sw->routes[frame->host];
    if (route->n == 0)
        return NULL;
    uint32_t choice = 0;
    if (route->n > 1)
        choice = (uint32_t)(mix64(frame->hash ^ sw->salt) % route->n);
    return node->ports[sw->ways[route->first + choice]];
}

static void mark(struct port *out, struct frame *frame, uint64_t bytes)
{
    const struct fab_ecn *ecn = &out->node->u.sw.cfg.ecn[frame->priority];
    if (ecn->kmax == 0 || bytes <= ecn->kmin || !frame_is_ect(frame))
        return;
    const double p = ecn->pmax * (double)(bytes - ecn->kmin) / (double)(ecn->kmax - ecn->kmin);
    if (bytes <= ecn->kmax && !rng_hit(&out->rng, p))
        return;
    frame_mark_ce(frame);
    out->stats.marked++;
    trace(out, FAB_TRACE_MARK, frame->priority, bytes, frame);
}

void switch_arrive(struct port *in, struct frame *frame)
{
    struct node *node = in->node;
    const struct fab_switch_cfg *cfg = &node->u.sw.cfg;
    struct port *out = way_to(node, frame);
    if (out == NULL) {
        frame_drop(in, FAB_DROP_NO_ROUTE, frame);
        return;
    }
    struct queue *queue = &out->queue[frame->priority];
    if (queue->stormed && !cfg->watchdog.forward) {
        frame_drop(out, FAB_DROP_STORM, frame);
        return;
    }
    if (!buffer_take(node, in, out, frame))
        return;
    frame->in = in->index;
    if (!cfg->mark_dequeue)
        mark(out, frame, queue->bytes);
    queue_push(queue, frame, node->fab->now);
    ++*held_of(node, out, in->index, frame->priority);
    out->backlog |= (uint8_t)(1 << frame->priority);
    port_kick(out);
}

static struct frame *take(struct port *port, int priority)
{
    struct node *node = port->node;
    struct queue *queue = &port->queue[priority];
    struct frame *frame = queue_pop(queue, node->fab->now);
    if (queue->frames == 0) {
        port->backlog &= (uint8_t) ~(1 << priority);
        queue->deficit = 0;
    }
    --*held_of(node, port, frame->in, frame->priority);
    buffer_give(node, node->ports[frame->in], frame);
    return frame;
}

static struct frame *serve(struct port *port, int priority)
{
    struct frame *frame = take(port, priority);
    port->queue[priority].tx_frames++;
    port->queue[priority].tx_bytes += frame->len;
    if (port->node->u.sw.cfg.mark_dequeue)
        mark(port, frame, port->queue[priority].bytes);
    return frame;
}

/* Queues that have a frame that may leave. */
static uint8_t ready(const struct port *port)
{
    const bool forward = port->node->u.sw.cfg.watchdog.forward;
    uint8_t set = port->backlog;
    for (int p = 0; p < FAB_PRIORITIES; p++)
        if ((set >> p & 1) != 0 && pfc_holds(port, p) && !(port->queue[p].stormed && forward))
            set &= (uint8_t) ~(1 << p);
    return set;
}

struct frame *switch_next(struct port *port)
{
    const uint32_t *weight = port->node->u.sw.cfg.weight;
    const uint8_t set = port->backlog != 0 ? ready(port) : 0;
    if (set == 0)
        return NULL;
    for (int p = FAB_PRIORITIES - 1; p >= 0; p--)
        if ((set >> p & 1) != 0 && weight[p] == 0)
            return serve(port, p);
    /* Deficit weighted round robin (Shreedhar and Varghese): a queue that does not come up to its
     * next frame saves its share for the next turn. */
    for (;;) {
        struct queue *queue = &port->queue[port->turn];
        if ((set >> port->turn & 1) != 0 && queue->deficit >= queue->fifo.head->len) {
            queue->deficit -= queue->fifo.head->len;
            return serve(port, port->turn);
        }
        port->turn = (uint8_t)((port->turn + 1) % FAB_PRIORITIES);
        if ((set >> port->turn & 1) != 0)
            port->queue[port->turn].deficit += (int64_t)weight[port->turn] * DWRR_QUANTUM;
    }
}

uint64_t switch_flush(struct port *port, int priority)
{
    uint64_t n = 0;
    for (; port->queue[priority].frames > 0; n++)
        frame_drop(port, FAB_DROP_STORM, take(port, priority));
    return n;
}

void fab_switch_defaults(struct fab_switch_cfg *cfg)
{
    memset(cfg, 0, sizeof(*cfg));
    cfg->buffer = 12 * 1024 * 1024;
    cfg->lossless = 1 << 3;
    cfg->alpha = 1.0 / 8;
    cfg->xon_gap = 2 * FAB_FRAME_MAX;
    cfg->lossy_alpha = 1;
    cfg->quanta = 65535;
}
