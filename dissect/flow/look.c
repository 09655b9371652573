/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Looking up the flows of packets to come. Each step fetches, for all packets, what the next one
 * reads: the slot of the index, the flow, the flow it answers, that one's histogram. */
#include "digest.h"
#include "internal.h"

#define FEW_FLOWS 256 /* with fewer, what an answer touches stays in the caches by itself */

/* The flow that the slot most likely names; its key is compared later, when it has arrived. */
static uint32_t likely(const struct roce_flow_table *t, uint32_t hash)
{
    uint32_t i = hash & t->flow_mask;
    /* Most are in the first slot or the second, in which of them cannot be foretold. */
    const uint64_t first = t->flow_index[i], second = t->flow_index[(i + 1) & t->flow_mask];
    const uint64_t slot = choose(first >> 32 == hash, first, second);
    if (slot >> 32 == hash && (uint32_t)slot != 0)
        return (uint32_t)slot - 1;
    for (; t->flow_index[i] != 0; i = (i + 1) & t->flow_mask)
        if (t->flow_index[i] >> 32 == hash)
            return (uint32_t)t->flow_index[i] - 1;
    return NIL;
}

static void fetch_flow(const struct flow *f, bool response)
{
    const char *bytes = (const char *)f;
    prefetch_line(f);
    prefetch_line(f->sig);
    prefetch_line(bytes + choose(response, 0, offsetof(struct flow, req_ts)));
    prefetch_line(bytes + choose(response, 0, offsetof(struct flow, msg_ts)));
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
            prefetch_line(hist_at(t, flow_at(t, id[i])->hist));
    for (int i = 0; i < n; i++)
        if (id[i] != NIL && flow_at(t, id[i])->hist != NIL)
            hist_head_prefetch(&hist_at(t, flow_at(t, id[i])->hist)->message, &t->page_pool);
}

void flow_look(const struct roce_flow_table *t, const struct roce_digest *d, int n, uint32_t *id)
{
    uint32_t answers[LOOK_MAX];
    int n_answers = 0;
    for (int i = 0; i < n; i++)
        prefetch_line(&t->flow_index[d[i].hash & t->flow_mask]);
    for (int i = 0; i < n; i++) {
        id[i] = digest_flags(&d[i]) & DIGEST_FLOW ? likely(t, d[i].hash) : NIL;
        const bool response = (d[i].kind & DIGEST_RESPONSE) != 0;
        if (id[i] == NIL)
            continue;
        fetch_flow(flow_at(t, id[i]), response);
        answers[n_answers] = id[i];
        n_answers += response;
    }
    if (t->flow_pool.used > FEW_FLOWS)
        fetch_answered(t, answers, n_answers);
}

void roce_flow_prefetch(struct roce_flow_table *table, const struct roce_packet *pkt)
{
    if (!flow_has(pkt))
        return;
    const uint32_t id = likely(table, table_hash(table, pkt));
    if (id != NIL)
        fetch_flow(flow_at(table, id), pkt->response);
}
