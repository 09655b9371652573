/* SPDX-License-Identifier: GPL-2.0-or-later */
/* PAUSE (802.3 annex 31B) and PFC (802.1Qbb): pauses end by themselves. */
#include "pause.h"

/* Where the speed is not known, quanta are those of the slowest link that carries RoCE: a pause
 * that is never taken back ends all the same. */
#define SLOWEST_BPS UINT64_C(1000000000)

static void set(struct eng_dev *dev, roce_tstamp now, unsigned prio, uint16_t quanta)
{
    const uint64_t speed = dev->cfg.link_bps != 0 ? dev->cfg.link_bps : SLOWEST_BPS;
    dev->pause_until[prio] = now + roce_pause_ns(quanta, speed);
    if (quanta != 0)
        dev->paused |= (uint8_t)(1U << prio);
    else
        dev->paused &= (uint8_t) ~(1U << prio);
}

void pause_frame(struct eng_dev *dev, roce_tstamp now, const struct roce_packet *pkt)
{
    if (pkt->kind == ROCE_KIND_PAUSE) {
        dev->stats.pause_rx++;
        for (unsigned prio = 0; prio < PRIORITIES; prio++)
            set(dev, now, prio, pkt->pause.quanta);
        return;
    }
    dev->stats.pfc_rx++;
    for (unsigned prio = 0; prio < PRIORITIES; prio++)
        if (pkt->pfc.enable >> prio & 1)
            set(dev, now, prio, pkt->pfc.quanta[prio]);
}

unsigned pause_mask(struct eng_dev *dev, roce_tstamp now)
{
    if (dev->paused == 0)
        return 0;
    for (unsigned prio = 0; prio < PRIORITIES; prio++)
        if (dev->pause_until[prio] <= now)
            dev->paused &= (uint8_t) ~(1U << prio);
    return dev->paused;
}

roce_tstamp pause_end(const struct eng_dev *dev, unsigned prios)
{
    roce_tstamp end = ENG_NEVER;
    for (unsigned prio = 0; prio < PRIORITIES; prio++)
        if ((prios & dev->paused) >> prio & 1 && dev->pause_until[prio] < end)
            end = dev->pause_until[prio];
    return end;
}
