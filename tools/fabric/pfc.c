/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Priority flow control (802.1Qbb, 802.3 annex 31D): saying XOFF and XON to the peer, and obeying
 * what the peer says. */
#include "inner.h"

#include <roce/net.h>
#include <roce/pfc.h>
#include <string.h>

#define FRAME_LEN   60 /* smallest Ethernet frame without FCS */
#define QUANTA_MOST 65535

static uint16_t quanta_of(const struct port *port)
{
    const uint16_t quanta = port->node->is_switch ? port->node->u.sw.cfg.quanta : 0;
    return quanta != 0 ? quanta : QUANTA_MOST;
}

void pfc_peer(struct port *port, int priority, bool off, uint64_t held)
{
    const uint8_t bit = (uint8_t)(1 << priority);
    if (off == ((port->off & bit) != 0))
        return;
    port->off ^= bit;
    port->tell |= bit;
    port->stats.xoff_sent[priority] += off;
    trace(port, off ? FAB_TRACE_XOFF_SENT : FAB_TRACE_XON_SENT, priority, held, NULL);
    /* Not sent from here: the caller may be in the middle of choosing this port's next frame. */
    event_set(&port->fab->events, &port->refresh, port->fab->now);
}

struct frame *pfc_frame(struct port *port)
{
    static const uint8_t address[6] = {0x01, 0x80, 0xC2, 0x00, 0x00, 0x01};
    struct fab *fab = port->fab;
    if (port->tell == 0)
        return NULL;
    struct frame *frame = frame_take(&fab->pool, FRAME_LEN);
    if (frame == NULL) {
        port->stats.drops[FAB_DROP_MEMORY]++;
        return NULL;
    }
    const uint16_t quanta = quanta_of(port);
    /* One timer refreshes all: each frame repeats what is off. */
    struct roce_pfc pfc = {.enable = port->tell | port->off};
    for (int p = 0; p < FAB_PRIORITIES; p++)
        pfc.quanta[p] = (port->off & 1 << p) != 0 ? quanta : 0;
    struct roce_eth eth = {.ethertype = ROCE_ETHERTYPE_MAC_CONTROL};
    memcpy(eth.dst, address, sizeof(address));
    memcpy(eth.src, port->mac, sizeof(eth.src));
    memset(frame->data, 0, FRAME_LEN);
    roce_eth_encode(&eth, frame->data, FRAME_LEN);
    roce_pfc_encode(&pfc, frame->data + ROCE_ETH_LEN, FRAME_LEN - ROCE_ETH_LEN);
    frame->len = FRAME_LEN;
    frame_classify(fab, frame);
    port->tell = 0;
    port->stats.pfc_tx++;
    /* Said again in good time: the pause must not run out while the buffer is still full. */
    if (port->off != 0)
        event_set(&fab->events, &port->refresh,
                  fab->now + roce_pause_ns(quanta, port->rate_bps) * (PS_PER_NS / 2));
    else
        event_clear(&fab->events, &port->refresh);
    return frame;
}

void pfc_refresh(struct port *port)
{
    if (port->tell == 0)
        port->tell = port->off;
    port_kick(port);
}

/* Sums up the pause of |priority| until now. */
void pfc_settle(struct port *port, int priority)
{
    const uint64_t now = port->fab->now, until = port->paused_until[priority];
    const uint8_t bit = (uint8_t)(1 << priority);
    if ((port->paused & bit) == 0 || until > now)
        return;
    port->paused &= (uint8_t)~bit;
    port->paused_sum[priority] += until - port->paused_since[priority];
    trace(port, FAB_TRACE_RESUMED, priority, 0, NULL);
}

static void schedule(struct port *port)
{
    uint64_t first = NO_TIME;
    for (int p = 0; p < FAB_PRIORITIES; p++)
        if ((port->paused >> p & 1) != 0 && port->paused_until[p] < first)
            first = port->paused_until[p];
    if (first == NO_TIME)
        event_clear(&port->fab->events, &port->pause_end);
    else
        event_set(&port->fab->events, &port->pause_end, first);
}

void pfc_end(struct port *port)
{
    for (int p = 0; p < FAB_PRIORITIES; p++)
        pfc_settle(port, p);
    schedule(port);
    port_kick(port);
}

static void obey(struct port *port, int priority, uint16_t quanta)
{
    const uint8_t bit = (uint8_t)(1 << priority);
    const uint64_t now = port->fab->now;
    pfc_settle(port, priority);
    if (quanta != 0 && (port->paused & bit) == 0) {
        port->paused |= bit;
        port->paused_since[priority] = now;
        trace(port, FAB_TRACE_PAUSED, priority, 0, NULL);
    }
    port->pfc_rx[priority] += quanta != 0;
    port->paused_until[priority] = now + roce_pause_ns(quanta, port->rate_bps) * PS_PER_NS;
    pfc_settle(port, priority);
}

void pfc_read(struct port *port, const struct frame *frame)
{
    const uint8_t *p = frame->data + ROCE_ETH_LEN;
    const size_t len = frame->len - ROCE_ETH_LEN;
    struct roce_pfc pfc = {0};
    struct roce_pause pause;
    if (len < 2)
        return;
    const unsigned opcode = (unsigned)(p[0] << 8 | p[1]);
    if (opcode == ROCE_MACC_PAUSE && roce_pause_decode(p, len, &pause) > 0) {
        pfc.enable = 0xFF;
        for (int i = 0; i < FAB_PRIORITIES; i++)
            pfc.quanta[i] = pause.quanta;
    } else if (opcode != ROCE_MACC_PFC || roce_pfc_decode(p, len, &pfc) <= 0) {
        return;
    }
    port->stats.pfc_rx++;
    for (int i = 0; i < FAB_PRIORITIES; i++)
        if ((pfc.enable >> i & 1) != 0)
            obey(port, i, pfc.quanta[i]);
    schedule(port);
}
