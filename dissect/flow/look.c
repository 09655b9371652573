/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Looking up the flows of packets to come. Each step fetches, for all packets, what the next one
 * reads: the slot of the index, the flow, the flow it answers, that one's histogram. */
#include "internal.h"

#define FEW_FLOWS 256 /* with fewer, what an answer touches stays in the caches by itself */

/* The flow that the slot most likely names; its key is compared later, when it has arrived. */
static uint32_t likely(const struct roce_flow_table *t, uint64_t hash)
{
    for (uint32_t i = (uint32_t)hash & t->flow_mask; t->flow_index[i] != 0;
         i = (i + 1) & t->flow_mask)
        if (t->flow_index[i] >> 32 == (hash & UINT32_MAX))
            return (uint32_t)t->flow_index[i] - 1;
    return NIL;
}

static void fetch_flow(const struct flow *f, const struct roce_packet *pkt)
{
    prefetch_line(f);
    prefetch_line(f->sig);
    if (pkt->response)
        return;
    prefetch_line(&f->req_ts);
    prefetch_line(&f->msg_ts);
}

static void fetch_answered(const struct roce_flow_table *t, uint32_t *id, int n)
{
    for (int i = 0; i < n; i++) {
        id[i] = flow_at(t, id[i])->peer;
        if (id[i] == NIL)
            continue;
        prefetch_line(flow_at(t, id[i]));
        prefetch_line(&flow_at(t, id[i])->req_ts);
        prefetch_line(&flow_at(t, id[i])->msg_ts);
    }
    for (int i = 0; i < n; i++)
        if (id[i] != NIL && flow_at(t, id[i])->hist != NIL)
            prefetch_line(pool_at(&t->hist_pool, flow_at(t, id[i])->hist));
    for (int i = 0; i < n; i++) {
        if (id[i] == NIL || flow_at(t, id[i])->hist == NIL)
            continue;
        const struct hist_pair *pair = pool_at(&t->hist_pool, flow_at(t, id[i])->hist);
        hist_head_prefetch(&pair->message, &t->page_pool);
    }
}

static bool has_flow(const struct roce_packet *pkt)
{
    return (pkt->has & (ROCE_HAS_BTH | ROCE_HAS_IP)) == (ROCE_HAS_BTH | ROCE_HAS_IP);
}

uint64_t roce_flow_hash(const struct roce_flow_table *table, const struct roce_packet *pkt)
{
    return has_flow(pkt) ? table_hash(table, pkt) : 0;
}

void flow_look(const struct roce_flow_table *t, const struct roce_packet *pkt, const uint64_t *hash,
               int n, struct look *look)
{
    uint32_t answers[LOOK_MAX];
    int n_answers = 0;
    for (int i = 0; i < n; i++) {
        look[i].id = NIL;
        if (!has_flow(&pkt[i]))
            continue;
        look[i].hash = hash != NULL ? hash[i] : table_hash(t, &pkt[i]);
        prefetch_line(&t->flow_index[look[i].hash & t->flow_mask]);
    }
    for (int i = 0; i < n; i++) {
        if (!has_flow(&pkt[i]))
            continue;
        look[i].id = likely(t, look[i].hash);
        if (look[i].id == NIL)
            continue;
        fetch_flow(flow_at(t, look[i].id), &pkt[i]);
        if (pkt[i].response)
            answers[n_answers++] = look[i].id;
    }
    if (t->flow_pool.used > FEW_FLOWS)
        fetch_answered(t, answers, n_answers);
}

void roce_flow_prefetch(struct roce_flow_table *table, const struct roce_packet *pkt)
{
    if (!has_flow(pkt))
        return;
    const uint32_t id = likely(table, table_hash(table, pkt));
    if (id != NIL)
        fetch_flow(flow_at(table, id), pkt);
}
