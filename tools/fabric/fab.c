/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Building the network and running it. */
#include "inner.h"

#include <roce/err.h>
#include <string.h>

#define HOST_EVENTS   2
#define SWITCH_EVENTS 1
#define PORT_EVENTS   4
#define WIRE_FRAMES   8 /* on a short wire there is room for a few frames all the same */

struct fab *fab_new(const struct fab_cfg *cfg)
{
    struct fab *fab = calloc(1, sizeof(*fab));
    if (fab == NULL)
        return NULL;
    fab->cfg = *cfg;
    fab->nodes = calloc(FAB_NODES_MAX, sizeof(void *));
    if (fab->nodes == NULL || events_new(&fab->events, 0) != 0) {
        free(fab->nodes);
        free(fab);
        return NULL;
    }
    return fab;
}

static void port_del(struct port *port)
{
    while (port->taps != NULL) {
        struct tap *next = port->taps->next;
        free(port->taps);
        port->taps = next;
    }
    free(port->queue);
    free(port);
}

static void node_del(struct node *node)
{
    for (int i = 0; i < node->n_ports; i++)
        port_del(node->ports[i]);
    free(node->ports);
    if (node->is_switch) {
        free(node->u.sw.routes);
        free(node->u.sw.ways);
        free(node->u.sw.fixed);
        free(node->u.sw.held);
    }
    free(node);
}

void fab_del(struct fab *fab)
{
    if (fab == NULL)
        return;
    for (int i = 0; i < fab->n_nodes; i++)
        node_del(fab->nodes[i]);
    frames_del(&fab->pool);
    events_del(&fab->events);
    free(fab->marks);
    free(fab->addresses);
    free(fab->nodes);
    free(fab);
}

static int node_new(struct fab *fab, bool is_switch, struct node **out)
{
    if (fab->started)
        return ROCE_ERR_STATE;
    if (fab->n_nodes == FAB_NODES_MAX)
        return ROCE_ERR_FULL;
    struct node *node = calloc(1, sizeof(*node));
    if (node == NULL)
        return ROCE_ERR_NOMEM;
    node->ports = calloc(is_switch ? FAB_PORTS_MAX : 1, sizeof(struct port *));
    if (node->ports == NULL ||
        events_new(&fab->events, is_switch ? SWITCH_EVENTS : HOST_EVENTS) != 0) {
        free(node->ports);
        free(node);
        return ROCE_ERR_NOMEM;
    }
    node->fab = fab;
    node->is_switch = is_switch;
    node->index = fab->n_nodes;
    fab->nodes[fab->n_nodes++] = node;
    *out = node;
    return node->index;
}

int fab_host_new(struct fab *fab, const struct fab_host_cfg *cfg)
{
    struct node *node = NULL;
    const int index = node_new(fab, false, &node);
    if (index < 0)
        return index;
    struct host *host = &node->u.host;
    host->cfg = *cfg;
    host->wake = (struct event){.owner = node, .kind = EVENT_WAKE};
    host->drain = (struct event){.owner = node, .kind = EVENT_DRAIN};
    const int err = frames_new(&fab->pool, cfg->sink.buffer != 0 ? cfg->sink.buffer : 64 * 1024);
    return err != 0 ? err : index;
}

int fab_switch_new(struct fab *fab, const struct fab_switch_cfg *cfg)
{
    struct node *node = NULL;
    const int index = node_new(fab, true, &node);
    if (index < 0)
        return index;
    struct sw *sw = &node->u.sw;
    sw->cfg = *cfg;
    sw->salt = mix64(fab->cfg.seed ^ (uint64_t)index << 32);
    sw->watchdog = (struct event){.owner = node, .kind = EVENT_WATCHDOG};
    sw->fixed = calloc(FAB_NODES_MAX, sizeof(*sw->fixed));
    if (sw->fixed == NULL || frames_new(&fab->pool, cfg->buffer) != 0)
        return ROCE_ERR_NOMEM;
    return index;
}

static struct port *port_new(struct fab *fab, int index, const struct fab_link_cfg *cfg,
                             bool forward)
{
    struct node *node = fab->nodes[index];
    struct port *port = calloc(1, sizeof(*port));
    if (port == NULL || events_new(&fab->events, PORT_EVENTS) != 0)
        goto fail;
    if (node->is_switch) {
        port->queue = calloc(FAB_PRIORITIES, sizeof(*port->queue));
        if (port->queue == NULL)
            goto fail;
    }
    port->fab = fab;
    port->node = node;
    port->id = fab->n_ports++;
    port->index = node->n_ports;
    memcpy(port->mac, node->is_switch ? node->u.sw.cfg.mac : node->u.host.cfg.mac, 6);
    if (node->is_switch) {
        const unsigned low = (unsigned)(port->mac[4] << 8 | port->mac[5]) + port->index;
        port->mac[4] = (uint8_t)(low >> 8);
        port->mac[5] = (uint8_t)low;
    }
    port->rate_bps = cfg->rate_bps;
    port->delay = cfg->delay_ns * PS_PER_NS;
    if (forward || !cfg->only_forward) {
        port->loss = cfg->loss;
        port->bit_errors = cfg->bit_errors;
        port->corrupt = cfg->corrupt;
    }
    port->rng = mix64(fab->cfg.seed ^ mix64(port->id + 1));
    port->tx_end = (struct event){.owner = port, .kind = EVENT_TX_END};
    port->arrive = (struct event){.owner = port, .kind = EVENT_ARRIVE};
    port->pause_end = (struct event){.owner = port, .kind = EVENT_PAUSE_END};
    port->refresh = (struct event){.owner = port, .kind = EVENT_REFRESH};
    node->ports[node->n_ports++] = port;
    return port;
fail:
    free(port);
    return NULL;
}

static bool has_room(const struct fab *fab, int node)
{
    return node >= 0 && node < fab->n_nodes &&
           fab->nodes[node]->n_ports < (fab->nodes[node]->is_switch ? FAB_PORTS_MAX : 1);
}

int fab_link_new(struct fab *fab, int a, int b, const struct fab_link_cfg *cfg)
{
    if (fab->started)
        return ROCE_ERR_STATE;
    if (cfg->rate_bps == 0 || a == b || a < 0 || b < 0 || a >= fab->n_nodes || b >= fab->n_nodes ||
        cfg->delay_ns > UINT64_C(1000000000))
        return ROCE_ERR_INVALID;
    if (!has_room(fab, a) || !has_room(fab, b))
        return ROCE_ERR_FULL;
    const double way = (double)cfg->rate_bps * (double)cfg->delay_ns * 1e-9 / 8;
    if (frames_new(&fab->pool, 2 * (uint64_t)way + WIRE_FRAMES * FAB_FRAME_MAX) != 0)
        return ROCE_ERR_NOMEM;
    struct port *pa = port_new(fab, a, cfg, true);
    if (pa == NULL)
        return ROCE_ERR_NOMEM;
    pa->peer = pa; /* until it has one */
    struct port *pb = port_new(fab, b, cfg, false);
    if (pb == NULL)
        return ROCE_ERR_NOMEM;
    pa->peer = pb;
    pb->peer = pa;
    return pa->index;
}

int fab_tap_new(struct fab *fab, int node, int port, fab_tap *call, void *ctx)
{
    struct tap *tap = malloc(sizeof(*tap));
    if (tap == NULL)
        return ROCE_ERR_NOMEM;
    struct port *p = fab->nodes[node]->ports[port];
    *tap = (struct tap){.next = p->taps, .call = call, .ctx = ctx};
    p->taps = tap;
    return 0;
}

static int addresses_new(struct fab *fab)
{
    uint32_t size = 4;
    while (size < (uint32_t)fab->n_nodes * 2)
        size *= 2;
    fab->addresses = calloc(size, sizeof(*fab->addresses));
    if (fab->addresses == NULL)
        return ROCE_ERR_NOMEM;
    fab->address_mask = size - 1;
    for (int i = 0; i < fab->n_nodes; i++) {
        const struct node *node = fab->nodes[i];
        if (node->is_switch)
            continue;
        const ptrdiff_t at = address_find(fab, node->u.host.cfg.ip) - fab->addresses;
        if (fab->addresses[at].host != 0)
            return ROCE_ERR_INVALID;
        memcpy(fab->addresses[at].ip, node->u.host.cfg.ip, 16);
        fab->addresses[at].host = (uint16_t)(i + 1);
    }
    return 0;
}

static int switch_start_new(struct node *node)
{
    struct sw *sw = &node->u.sw;
    const size_t ports = node->n_ports;
    sw->held = calloc(ports * ports * FAB_PRIORITIES + 1, sizeof(*sw->held));
    if (sw->held == NULL)
        return ROCE_ERR_NOMEM;
    if (!buffer_start(node))
        return ROCE_ERR_INVALID;
    if (sw->cfg.watchdog.poll_ns != 0)
        event_set(&node->fab->events, &sw->watchdog, sw->cfg.watchdog.poll_ns * PS_PER_NS);
    return 0;
}

int fab_start_new(struct fab *fab, int *node)
{
    if (fab->started)
        return ROCE_ERR_STATE;
    if (node != NULL)
        *node = -1;
    fab->marks = calloc((size_t)fab->n_ports * FAB_PRIORITIES + 1, sizeof(*fab->marks));
    int err = fab->marks == NULL ? ROCE_ERR_NOMEM : addresses_new(fab);
    if (err == 0)
        err = routes_new(fab);
    for (int i = 0; i < fab->n_nodes && err == 0; i++) {
        if (fab->nodes[i]->is_switch)
            err = switch_start_new(fab->nodes[i]);
        else if (fab->nodes[i]->n_ports > 0)
            event_set(&fab->events, &fab->nodes[i]->u.host.wake, 0);
        if (err == ROCE_ERR_INVALID && node != NULL)
            *node = i;
    }
    fab->started = err == 0;
    return err;
}

static void handle(struct event *event)
{
    switch ((enum event_kind)event->kind) {
    case EVENT_TX_END:
        port_tx_end(event->owner);
        break;
    case EVENT_ARRIVE:
        port_arrive(event->owner);
        break;
    case EVENT_PAUSE_END:
        pfc_end(event->owner);
        break;
    case EVENT_REFRESH:
        pfc_refresh(event->owner);
        break;
    case EVENT_WAKE:
        port_kick(((struct node *)event->owner)->ports[0]);
        break;
    case EVENT_DRAIN:
        host_drain(event->owner);
        break;
    case EVENT_WATCHDOG:
        watchdog_poll(event->owner);
        break;
    }
}

uint64_t fab_run(struct fab *fab, roce_tstamp until)
{
    const uint64_t end = until * PS_PER_NS;
    uint64_t time = 0, n = 0;
    struct event *event;
    for (; (event = event_pop(&fab->events, end, &time)) != NULL; n++) {
        fab->now = time;
        handle(event);
    }
    if (end > fab->now)
        fab->now = end;
    return n;
}

roce_tstamp fab_now(const struct fab *fab)
{
    return now_ns(fab);
}

uint64_t fab_hops(const struct fab *fab)
{
    return fab->hops;
}

int fab_ports(const struct fab *fab, int node)
{
    return fab->nodes[node]->n_ports;
}

int fab_peer(const struct fab *fab, int node, int port, int *peer_port)
{
    const struct port *peer = fab->nodes[node]->ports[port]->peer;
    if (peer_port != NULL)
        *peer_port = peer->index;
    return peer->node->index;
}

uint64_t fab_rate(const struct fab *fab, int node, int port)
{
    return fab->nodes[node]->ports[port]->rate_bps;
}

void fab_port_stats(struct fab *fab, int node, int port, struct fab_port_stats *out)
{
    struct port *p = fab->nodes[node]->ports[port];
    *out = p->stats;
    for (int i = 0; i < FAB_PRIORITIES; i++) {
        pfc_settle(p, i);
        const uint64_t now = pfc_holds(p, i) ? fab->now - p->paused_since[i] : 0;
        out->paused_ns[i] = (p->paused_sum[i] + now) / PS_PER_NS;
        out->paused_since_ns[i] = now / PS_PER_NS;
    }
}
