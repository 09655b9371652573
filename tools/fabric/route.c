/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Routes: from each host outwards, breadth first; a switch sends to every neighbour that is nearer.
 */
#include "inner.h"

#include <roce/err.h>
#include <string.h>

/* Fills |distance| (hops to |host|; -1: out of reach). Hosts pass nothing on. */
static void measure(const struct fab *fab, int host, int *distance, int *line)
{
    int head = 0, tail = 0;
    for (int i = 0; i < fab->n_nodes; i++)
        distance[i] = -1;
    distance[host] = 0;
    line[tail++] = host;
    while (head < tail) {
        const struct node *node = fab->nodes[line[head++]];
        if (!node->is_switch && node->index != host)
            continue;
        for (int i = 0; i < node->n_ports; i++) {
            const int peer = node->ports[i]->peer->node->index;
            if (distance[peer] >= 0)
                continue;
            distance[peer] = distance[node->index] + 1;
            line[tail++] = peer;
        }
    }
}

static uint16_t collect(const struct node *node, int host, const int *distance, uint16_t *ways)
{
    const int own = distance[node->index];
    uint16_t n = 0;
    if (node->u.sw.fixed[host] != 0) {
        ways[0] = (uint16_t)(node->u.sw.fixed[host] - 1);
        return 1;
    }
    for (uint16_t i = 0; i < node->n_ports && own > 0; i++) {
        const struct node *peer = node->ports[i]->peer->node;
        if (distance[peer->index] == own - 1 && (peer->is_switch || peer->index == host))
            ways[n++] = i;
    }
    return n;
}

static int tables_new(struct fab *fab)
{
    size_t hosts = 0;
    for (int i = 0; i < fab->n_nodes; i++)
        hosts += !fab->nodes[i]->is_switch;
    for (int i = 0; i < fab->n_nodes; i++) {
        struct node *node = fab->nodes[i];
        if (!node->is_switch)
            continue;
        const size_t ways = hosts * (node->n_ports + 1U);
        node->u.sw.routes = calloc((size_t)fab->n_nodes, sizeof(struct route));
        node->u.sw.ways = malloc((ways + 1) * sizeof(uint16_t));
        if (node->u.sw.routes == NULL || node->u.sw.ways == NULL)
            return ROCE_ERR_NOMEM;
    }
    return 0;
}

static void fill(struct fab *fab, int *distance, int *line)
{
    for (int host = 0; host < fab->n_nodes; host++) {
        if (fab->nodes[host]->is_switch)
            continue;
        measure(fab, host, distance, line);
        for (int i = 0; i < fab->n_nodes; i++) {
            struct sw *sw = &fab->nodes[i]->u.sw;
            if (!fab->nodes[i]->is_switch)
                continue;
            struct route *route = &sw->routes[host];
            route->first = sw->n_ways;
            route->n = collect(fab->nodes[i], host, distance, sw->ways + sw->n_ways);
            sw->n_ways += route->n;
        }
    }
}

int routes_new(struct fab *fab)
{
    int *distance = malloc(((size_t)fab->n_nodes + 1) * 2 * sizeof(int));
    if (distance == NULL)
        return ROCE_ERR_NOMEM;
    const int err = tables_new(fab);
    if (err == 0)
        fill(fab, distance, distance + fab->n_nodes);
    free(distance);
    return err;
}

int fab_route_new(struct fab *fab, int node, int host, int port)
{
    struct sw *sw = &fab->nodes[node]->u.sw;
    if (!fab->nodes[node]->is_switch || fab->nodes[host]->is_switch || port < 0 ||
        port >= fab->nodes[node]->n_ports)
        return ROCE_ERR_INVALID;
    sw->fixed[host] = (uint16_t)(port + 1);
    return 0;
}
