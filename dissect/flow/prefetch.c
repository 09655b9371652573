/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Prefetching for an observer. */
#include "watch.h"

void roce_observer_prefetch(struct roce_observer *obs, const struct roce_packet *pkt)
{
    roce_flow_prefetch(obs->flows, pkt);
}
