/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The buffer that the ports of a switch share, accounted by ingress: reserve, then shared bytes up
 * to a threshold that moves with what is left, then headroom. */
#include "inner.h"

/* What still comes after XOFF was decided: the frame that our own port is just sending before the
 * pause frame, the pause frame, the way there and back, the frame that the peer has begun; and the
 * frame that crossed the threshold itself. */
static uint64_t headroom_of(const struct port *port, const struct fab_switch_cfg *cfg)
{
    const uint64_t pause = 60 + FAB_WIRE_EXTRA, frame = FAB_FRAME_MAX + FAB_WIRE_EXTRA;
    if (cfg->headroom != 0)
        return cfg->headroom;
    const double way = (double)port->delay * 1e-12 * (double)port->rate_bps / 8;
    return 3 * frame + pause + 2 * (uint64_t)way;
}

static int count_bits(uint8_t bits)
{
    int n = 0;
    for (; bits != 0; bits &= (uint8_t)(bits - 1))
        n++;
    return n;
}

bool buffer_start(struct node *node)
{
    struct sw *sw = &node->u.sw;
    const uint64_t classes = (uint64_t)count_bits(sw->cfg.lossless);
    uint64_t taken = 0;
    for (int i = 0; i < node->n_ports; i++) {
        struct port *port = node->ports[i];
        port->headroom = headroom_of(port, &sw->cfg);
        taken += classes * (port->headroom + sw->cfg.reserve);
    }
    if (taken >= sw->cfg.buffer)
        return false;
    sw->shared = sw->cfg.buffer - taken;
    return true;
}

static uint64_t shared_free(const struct sw *sw)
{
    return sw->shared - sw->shared_used;
}

static uint64_t threshold(const struct sw *sw)
{
    if (sw->cfg.xoff != 0)
        return sw->cfg.xoff;
    return (uint64_t)(sw->cfg.alpha * (double)shared_free(sw));
}

static uint64_t above(uint64_t used, uint64_t reserve)
{
    return used > reserve ? used - reserve : 0;
}

static bool take_lossless(struct sw *sw, struct port *in, const struct frame *frame)
{
    struct ingress *ingress = &in->ingress[frame->priority];
    const uint64_t reserve = sw->cfg.reserve;
    const uint64_t was = above(ingress->used, reserve);
    const uint64_t is = above(ingress->used + frame->len, reserve);
    if (is == 0 || (is <= threshold(sw) && is - was <= shared_free(sw))) {
        ingress->used += frame->len;
        sw->shared_used += is - was;
    } else if (ingress->headroom + frame->len <= in->headroom) {
        ingress->headroom += frame->len;
    } else {
        return false;
    }
    if (ingress->headroom > 0 || is >= threshold(sw))
        pfc_peer(in, frame->priority, true, ingress->used + ingress->headroom);
    return true;
}

static bool take_lossy(struct sw *sw, struct port *in, const struct port *out,
                       const struct frame *frame)
{
    const uint64_t room = shared_free(sw);
    const uint64_t queued = out->queue[frame->priority].bytes;
    if (frame->len > room || (double)queued >= sw->cfg.lossy_alpha * (double)room)
        return false;
    in->ingress[frame->priority].used += frame->len;
    sw->shared_used += frame->len;
    return true;
}

static bool is_lossless(const struct sw *sw, const struct frame *frame)
{
    return (sw->cfg.lossless >> frame->priority & 1) != 0;
}

bool buffer_take(struct node *node, struct port *in, struct port *out, struct frame *frame)
{
    struct sw *sw = &node->u.sw;
    const bool lossless = is_lossless(sw, frame);
    const bool taken = lossless ? take_lossless(sw, in, frame) : take_lossy(sw, in, out, frame);
    if (!taken) {
        frame_drop(lossless ? in : out, lossless ? FAB_DROP_HEADROOM : FAB_DROP_BUFFER, frame);
        return false;
    }
    sw->used += frame->len;
    if (sw->used > sw->max_used)
        sw->max_used = sw->used;
    return true;
}

void buffer_give(struct node *node, struct port *in, const struct frame *frame)
{
    struct sw *sw = &node->u.sw;
    struct ingress *ingress = &in->ingress[frame->priority];
    const bool lossless = is_lossless(sw, frame);
    const uint64_t reserve = lossless ? sw->cfg.reserve : 0;
    const uint64_t head = ingress->headroom < frame->len ? ingress->headroom : frame->len;
    const uint64_t was = above(ingress->used, reserve);
    ingress->headroom -= head;
    ingress->used -= frame->len - head;
    const uint64_t is = above(ingress->used, reserve);
    sw->shared_used -= was - is;
    sw->used -= frame->len;
    if (lossless && ingress->headroom == 0 && (is == 0 || is + sw->cfg.xon_gap <= threshold(sw)))
        pfc_peer(in, frame->priority, false, ingress->used);
}

void fab_buffer_stats(const struct fab *fab, int node, struct fab_buffer_stats *out)
{
    const struct node *n = fab->nodes[node];
    const struct sw *sw = &n->u.sw;
    *out = (struct fab_buffer_stats){.size = sw->cfg.buffer,
                                     .used = sw->used,
                                     .max_used = sw->max_used,
                                     .shared = sw->shared,
                                     .shared_used = sw->shared_used};
    for (int i = 0; i < n->n_ports; i++)
        out->headroom += n->ports[i]->headroom;
}
