/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Flows summed up by host, and by pair of hosts. */
#include "watch.h"
#include "space.h"

#include <stdlib.h>
#include <string.h>

static uint32_t hash_address(uint32_t h, const uint8_t addr[16])
{
    for (int i = 0; i < 16; i++)
        h = (h ^ addr[i]) * 16777619U;
    return h;
}

static struct host_state *host_get(struct hosts *h, const uint8_t addr[16], uint8_t ip_version)
{
    uint32_t slot = hash_address(2166136261U, addr);
    slot = (slot ^ slot >> 16) & (HOST_INDEX - 1);
    for (; h->host_index[slot] != 0; slot = (slot + 1) & (HOST_INDEX - 1)) {
        struct host_state *s = &h->host[h->host_index[slot] - 1];
        if (memcmp(s->evicted.addr, addr, 16) == 0)
            return s;
    }
    if (h->n_hosts == HOST_MAX) {
        h->lost++;
        return NULL;
    }
    struct host_state *s = &h->host[h->n_hosts++];
    memcpy(s->evicted.addr, addr, 16);
    s->evicted.ip_version = ip_version;
    s->sum = s->evicted;
    h->host_index[slot] = (uint16_t)h->n_hosts;
    return s;
}

void hosts_evict(struct roce_observer *obs, uint32_t flow)
{
    struct roce_flow_info info;
    if (!roce_flow_info(obs->flows, flow, &info))
        return;
    struct host_state *src = host_get(obs->hosts, info.src, info.ip_version);
    struct host_state *dst = host_get(obs->hosts, info.dst, info.ip_version);
    counters_add(obs, flow, src == NULL ? NULL : &src->evicted, dst == NULL ? NULL : &dst->evicted);
}

uint32_t roce_observer_hosts(struct roce_observer *obs)
{
    struct hosts *h = obs->hosts;
    for (uint32_t i = 0; i < h->n_hosts; i++)
        h->host[i].sum = h->host[i].evicted;
    for (uint32_t id = roce_flow_first(obs->flows); id != ROCE_FLOW_NONE;
         id = roce_flow_next(obs->flows, id)) {
        struct roce_flow_info info;
        if (!roce_flow_info(obs->flows, id, &info))
            continue;
        struct host_state *src = host_get(h, info.src, info.ip_version);
        struct host_state *dst = host_get(h, info.dst, info.ip_version);
        counters_add(obs, id, src == NULL ? NULL : &src->sum, dst == NULL ? NULL : &dst->sum);
    }
    return h->n_hosts;
}

const struct roce_host *roce_observer_host(const struct roce_observer *obs, uint32_t index)
{
    return index < obs->hosts->n_hosts ? &obs->hosts->host[index].sum : NULL;
}

/* ---- pairs ---- */

static uint32_t pair_slot(const struct hosts *h, const uint8_t src[16], const uint8_t dst[16])
{
    uint32_t slot = hash_address(hash_address(2166136261U, src), dst);
    slot = (slot ^ slot >> 16) & (PAIR_INDEX - 1);
    for (; h->pair_index[slot] != 0; slot = (slot + 1) & (PAIR_INDEX - 1)) {
        const struct host_pair *p = &h->pair[h->pair_index[slot] - 1];
        if (memcmp(p->src, src, 16) == 0 && memcmp(p->dst, dst, 16) == 0)
            break;
    }
    return slot;
}

const struct host_pair *hosts_pair(const struct roce_observer *obs, const uint8_t src[16],
                                   const uint8_t dst[16])
{
    const struct hosts *h = obs->hosts;
    const uint16_t index = h->pair_index[pair_slot(h, src, dst)];
    return index == 0 ? NULL : &h->pair[index - 1];
}

static void tally(struct hosts *h, const struct roce_flow_info *info)
{
    h->connected++;
    if (info->migreq_zero && h->migreq_zero++ == 0)
        h->migreq_frame = info->first_frame;
    if (info->sampled && h->sampled++ == 0)
        h->sampled_frame = info->first_frame;
    h->unpaired += info->peer == ROCE_FLOW_NONE;
}

static void unpaired(const struct roce_observer *obs, struct host_pair *p,
                     const struct roce_flow_info *info)
{
    struct roce_flow_counters c;
    if (!roce_flow_counters(obs->flows, info->id, &c))
        return;
    if (c.responses > 0) {
        p->unpaired_from++;
        if (info->last_ts > p->from_ts)
            p->from_ts = info->last_ts;
    }
    if (c.requests > 0) {
        p->unpaired_to++;
        if (info->last_ts > p->to_ts)
            p->to_ts = info->last_ts;
    }
}

void hosts_begin(struct roce_observer *obs)
{
    struct hosts *h = obs->hosts;
    if (h->n_pairs > 0)
        memset(h->pair_index, 0, PAIR_INDEX * sizeof *h->pair_index);
    h->n_pairs = 0;
    h->connected = h->migreq_zero = h->sampled = h->unpaired = 0;
    h->migreq_frame = h->sampled_frame = 0;
}

void hosts_take(struct roce_observer *obs, const struct roce_flow_info *info)
{
    struct hosts *h = obs->hosts;
    const uint32_t slot = pair_slot(h, info->src, info->dst);
    if (h->pair_index[slot] == 0) {
        if (h->n_pairs == PAIR_MAX)
            return;
        struct host_pair *new = &h->pair[h->n_pairs++];
        *new = (struct host_pair){
            .ip_version = info->ip_version, .grh = info->grh, .first_frame = info->first_frame};
        memcpy(new->src, info->src, 16);
        memcpy(new->dst, info->dst, 16);
        h->pair_index[slot] = (uint16_t)h->n_pairs;
    }
    struct host_pair *p = &h->pair[h->pair_index[slot] - 1];
    const bool reliable = info->service == ROCE_SERVICE_RC || info->service == ROCE_SERVICE_XRC;
    if (info->first_frame < p->first_frame)
        p->first_frame = info->first_frame;
    if (!reliable && info->service != ROCE_SERVICE_UC)
        return;
    tally(h, info);
    if (p->flows++ == 0)
        p->port = info->udp_sport;
    p->port_differs = p->port_differs || info->udp_sport != p->port;
    p->reliable += reliable;
    if (reliable && info->peer == ROCE_FLOW_NONE)
        unpaired(obs, p, info);
}

struct hosts *hosts_new(void)
{
    struct hosts *h = calloc(1, sizeof *h);
    if (h == NULL)
        return NULL;
    h->host = space_new(HOST_MAX, sizeof *h->host);
    h->pair = space_new(PAIR_MAX, sizeof *h->pair);
    h->host_index = space_new(HOST_INDEX, sizeof *h->host_index);
    h->pair_index = space_new(PAIR_INDEX, sizeof *h->pair_index);
    if (h->host == NULL || h->pair == NULL || h->host_index == NULL || h->pair_index == NULL) {
        hosts_del(h);
        return NULL;
    }
    return h;
}

void hosts_del(struct hosts *h)
{
    if (h == NULL)
        return;
    space_del(h->host, HOST_MAX, sizeof *h->host);
    space_del(h->pair, PAIR_MAX, sizeof *h->pair);
    space_del(h->host_index, HOST_INDEX, sizeof *h->host_index);
    space_del(h->pair_index, PAIR_INDEX, sizeof *h->pair_index);
    free(h);
}
