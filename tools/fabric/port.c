/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Ports and wires: a frame leaves bit by bit, crosses, and arrives whole. */
#include "inner.h"

#include <roce/net.h>

static void tell_taps(const struct port *port, enum fab_direction direction,
                      const struct frame *frame)
{
    for (const struct tap *tap = port->taps; tap != NULL; tap = tap->next)
        tap->call(tap->ctx, now_ns(port->fab), direction, frame->data, frame->len);
}

static void send(struct port *port, struct frame *frame)
{
    struct fab *fab = port->fab;
    const uint64_t end = fab->now + wire_ps(port, frame->len);
    port->busy = true;
    port->stats.tx_frames++;
    port->stats.tx_bytes += frame->len;
    port->stats.tx_wire_bits += (uint64_t)(frame->len + FAB_WIRE_EXTRA) * 8;
    tell_taps(port, FAB_OUT, frame);
    event_set(&fab->events, &port->tx_end, end);
    if (frame->control == 0 && rng_hit(&port->rng, port->loss)) {
        frame_drop(port, FAB_DROP_LOSS, frame);
        return;
    }
    frame->arrive = end + port->delay;
    fifo_push(&port->wire, frame);
    if (!event_dated(&port->arrive))
        event_set(&fab->events, &port->arrive, frame->arrive);
}

void port_kick(struct port *port)
{
    if (port->busy)
        return;
    struct frame *frame = pfc_frame(port);
    if (frame == NULL)
        frame = port->node->is_switch ? switch_next(port) : host_next(port);
    if (frame != NULL)
        send(port, frame);
}

void port_tx_end(struct port *port)
{
    port->busy = false;
    port_kick(port);
}

/* The memory of a hop behind the FCS check lost a bit: only the ICRC covers the payload there. */
static void corrupt(struct port *port, struct frame *frame)
{
    if (frame->len <= ROCE_ICRC_LEN + 1)
        return;
    const uint64_t draw = rng_next(&port->rng);
    frame->data[frame->len - ROCE_ICRC_LEN - 1] ^= (uint8_t)(1 << (draw & 7));
}

void port_arrive(struct port *port)
{
    struct fab *fab = port->fab;
    struct port *peer = port->peer;
    struct frame *frame = fifo_pop(&port->wire);
    if (port->wire.head != NULL)
        event_set(&fab->events, &port->arrive, port->wire.head->arrive);
    /* A frame is hit when any of its bits is; for the rates of real links that is their sum. */
    if (rng_hit(&port->rng, port->bit_errors * 8 * frame->len)) {
        frame_drop(peer, FAB_DROP_FCS, frame);
        return;
    }
    if (frame->ip_off != 0 && rng_hit(&port->rng, port->corrupt))
        corrupt(port, frame);
    peer->stats.rx_frames++;
    peer->stats.rx_bytes += frame->len;
    tell_taps(peer, FAB_IN, frame);
    if (frame->control != 0) {
        pfc_read(peer, frame);
        if (!peer->node->is_switch)
            peer->node->u.host.cfg.ops->arrive(peer->node->u.host.cfg.ctx, now_ns(fab), frame->data,
                                               frame->len);
        frame_give(&fab->pool, frame);
        port_kick(peer);
        return;
    }
    fab->hops++;
    if (peer->node->is_switch)
        switch_arrive(peer, frame);
    else
        host_arrive(peer, frame);
}
