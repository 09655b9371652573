/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The flows in most trouble. */
#include "rocestat/worst.h"

#include <stdlib.h>

int worst_init(struct worst *worst, uint32_t limit)
{
    *worst = (struct worst){.limit = limit > WORST_LIMIT_MAX ? WORST_LIMIT_MAX : limit,
                            .at = ROCE_FLOW_NONE};
    worst->entry = calloc(worst->limit, sizeof(*worst->entry));
    worst->next = calloc(worst->limit, sizeof(*worst->next));
    return worst->entry != NULL && worst->next != NULL ? 0 : -1;
}

void worst_free(struct worst *worst)
{
    free(worst->entry);
    free(worst->next);
    worst->entry = worst->next = NULL;
}

void worst_begin(struct worst *worst, const struct roce_observer *obs)
{
    worst->found = 0;
    worst->at = roce_flow_first(roce_observer_flows(obs));
}

/* A flow and its peer are one QP pair: what one direction suffers is the trouble of both. */
static uint64_t trouble_of(const struct roce_observer *obs, uint32_t flow, uint64_t *packets)
{
    struct flow_view view;
    if (!flow_view_count(obs, flow, &view))
        return 0;
    *packets += view.counters.packets;
    return flow_view_trouble(&view);
}

static bool is_worse(const struct worst_entry *a, const struct worst_entry *b)
{
    return a->trouble != b->trouble ? a->trouble > b->trouble : a->packets > b->packets;
}

static void insert(struct worst *worst, const struct worst_entry *entry)
{
    uint32_t i = worst->found;
    if (i == worst->limit) {
        if (!is_worse(entry, &worst->next[i - 1]))
            return;
        i--;
    } else {
        worst->found++;
    }
    for (; i > 0 && is_worse(entry, &worst->next[i - 1]); i--)
        worst->next[i] = worst->next[i - 1];
    worst->next[i] = *entry;
}

bool worst_step(struct worst *worst, const struct roce_observer *obs, uint32_t budget)
{
    const struct roce_flow_table *flows = roce_observer_flows(obs);
    struct roce_flow_info info;
    for (; worst->at != ROCE_FLOW_NONE && budget > 0; budget--) {
        struct worst_entry entry = {.flow = worst->at};
        entry.trouble = trouble_of(obs, worst->at, &entry.packets);
        if (roce_flow_info(flows, worst->at, &info) && info.peer != ROCE_FLOW_NONE)
            entry.trouble += trouble_of(obs, info.peer, &entry.packets);
        insert(worst, &entry);
        worst->at = roce_flow_next(flows, worst->at);
    }
    if (worst->at != ROCE_FLOW_NONE)
        return false;
    struct worst_entry *done = worst->next;
    worst->next = worst->entry;
    worst->entry = done;
    worst->count = worst->found;
    return true;
}
