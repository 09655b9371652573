/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Who waits for whom. A paused queue waits for the ingress at the other end of its link; that
 * ingress waits for the queues that hold its frames; those of them that are paused wait on. A cycle
 * of such waits does not end by itself when nothing else drains its ingresses. */
#include "inner.h"

enum { NEW, ON_PATH, DONE };

static uint32_t place(const struct port *port, int priority)
{
    return port->id * FAB_PRIORITIES + (uint32_t)priority;
}

static bool waits(const struct port *port, int priority)
{
    return port->queue != NULL && port->queue[priority].frames > 0 && pfc_holds(port, priority);
}

/* The next queue that the one at |at| waits for, or NULL. */
static struct port *successor(struct wait_mark *mark, int priority)
{
    const struct port *peer = mark->port->peer;
    const struct node *node = peer->node;
    if (!node->is_switch)
        return NULL;
    while (mark->edge < node->n_ports) {
        struct port *out = node->ports[mark->edge++];
        if (*held_of(node, out, peer->index, (uint32_t)priority) > 0 && waits(out, priority))
            return out;
    }
    return NULL;
}

static int report(struct wait_mark *marks, uint32_t from, uint32_t depth, int priority,
                  struct fab_wait *cycle, int max)
{
    int n = 0;
    for (uint32_t i = from; i < depth; i++, n++) {
        const struct port *port = marks[marks[i].path].port;
        if (n < max)
            cycle[n] = (struct fab_wait){.node = port->node->index,
                                         .port = port->index,
                                         .priority = priority,
                                         .peer = port->peer->node->index,
                                         .bytes = port->queue[priority].bytes,
                                         .tx_frames = port->queue[priority].tx_frames};
    }
    return n;
}

/* Depth first from |start|; the path is kept in marks[].path. */
static int search(struct wait_mark *marks, struct port *start, int priority, struct fab_wait *cycle,
                  int max)
{
    uint32_t depth = 0;
    marks[depth++].path = place(start, priority);
    marks[place(start, priority)].state = ON_PATH;
    while (depth > 0) {
        const uint32_t at = marks[depth - 1].path;
        struct port *next = successor(&marks[at], priority);
        if (next == NULL) {
            marks[at].state = DONE;
            depth--;
            continue;
        }
        const uint32_t to = place(next, priority);
        if (marks[to].state == ON_PATH) {
            uint32_t from = 0;
            while (marks[from].path != to)
                from++;
            return report(marks, from, depth, priority, cycle, max);
        }
        if (marks[to].state == NEW) {
            marks[to].state = ON_PATH;
            marks[depth++].path = to;
        }
    }
    return 0;
}

int fab_waits(struct fab *fab, struct fab_wait *cycle, int max)
{
    struct wait_mark *marks = fab->marks;
    bool any = false;
    for (int i = 0; i < fab->n_nodes; i++) {
        const struct node *node = fab->nodes[i];
        for (int k = 0; k < node->n_ports; k++)
            for (int p = 0; p < FAB_PRIORITIES; p++) {
                marks[place(node->ports[k], p)] = (struct wait_mark){.port = node->ports[k]};
                any = any || waits(node->ports[k], p);
            }
    }
    for (uint32_t i = 0; any && i < fab->n_ports * FAB_PRIORITIES; i++) {
        const int priority = (int)(i % FAB_PRIORITIES);
        struct port *port = marks[i].port;
        if (marks[i].state != NEW || !waits(port, priority))
            continue;
        const int n = search(marks, port, priority, cycle, max);
        if (n > 0)
            return n;
    }
    return 0;
}
