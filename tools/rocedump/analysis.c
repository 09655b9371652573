/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Flow state and look ahead. */
#include "rocedump/analysis.h"

#include <stdlib.h>

#include <roce/psn.h>

/* One acknowledgement of all PSNs up to |psn|. Those of one flow are linked in the order they
 * came. */
struct ack {
    uint64_t frame;
    uint32_t psn;
    uint32_t next; /* index + 1 */
};

/* What a first pass over the capture has learned: it grows with the capture, by one entry an
 * acknowledgement. */
struct acks {
    struct ack *ack;
    size_t n, room;
    uint32_t *first, *last; /* by flow: index + 1 of its oldest entry not passed yet, and of its
                               newest; 0 none */
    uint32_t flows;
    bool failed; /* out of memory */
};

static void remember(void *ctx, const struct roce_event *event)
{
    struct acks *acks = ctx;
    if (acks->n == acks->room) {
        const size_t room = acks->room == 0 ? 1024 : acks->room * 2;
        struct ack *grown = room > UINT32_MAX ? NULL : realloc(acks->ack, room * sizeof(*grown));
        if (grown == NULL) {
            acks->failed = true;
            return;
        }
        acks->ack = grown;
        acks->room = room;
    }
    if (event->flow >= acks->flows)
        return;
    /* A READ or an atomic is acknowledged by being complete. */
    const bool complete = event->kind == ROCE_EVENT_MESSAGE;
    const uint32_t psn =
        complete ? roce_psn_add(event->psn, (int64_t)event->count - 1) : event->psn;
    acks->ack[acks->n++] = (struct ack){.frame = event->frame, .psn = psn};
    const uint32_t index = (uint32_t)acks->n;
    if (acks->last[event->flow] != 0)
        acks->ack[acks->last[event->flow] - 1].next = index;
    else
        acks->first[event->flow] = index;
    acks->last[event->flow] = index;
}

static int new_table(struct analysis *analysis, struct acks *acks)
{
    const struct roce_flow_opts opts = {
        .no_latency = true,
        .ops = {.ctx = acks,
                .event = acks != NULL ? remember : NULL,
                .mask = UINT32_C(1) << ROCE_EVENT_ACKED | UINT32_C(1) << ROCE_EVENT_MESSAGE}};
    roce_flow_table_del(analysis->table);
    analysis->table = roce_flow_table_new(&opts);
    return analysis->table != NULL ? 0 : -1;
}

int analysis_init(struct analysis *analysis)
{
    *analysis = (struct analysis){0};
    return new_table(analysis, NULL);
}

int analysis_ahead_begin(struct analysis *analysis)
{
    struct acks *acks = calloc(1, sizeof(*acks));
    if (acks == NULL)
        return -1;
    analysis->acks = acks;
    acks->flows = roce_flow_capacity(analysis->table);
    acks->first = calloc(acks->flows, sizeof(*acks->first));
    acks->last = calloc(acks->flows, sizeof(*acks->last));
    if (acks->first == NULL || acks->last == NULL)
        return -1;
    return new_table(analysis, acks);
}

int analysis_ahead_end(struct analysis *analysis)
{
    roce_flow_finish(analysis->table);
    return analysis->acks->failed ? -1 : new_table(analysis, NULL);
}

const struct roce_verdict *analysis_update(struct analysis *analysis,
                                           const struct roce_frame *frame,
                                           const struct roce_packet *pkt,
                                           const struct roce_icrc *icrc)
{
    const bool counted = roce_flow_update(analysis->table, frame, pkt, icrc, &analysis->verdict);
    return counted ? &analysis->verdict : NULL;
}

uint64_t analysis_acked_in(struct analysis *analysis, const struct roce_frame *frame,
                           const struct roce_packet *pkt)
{
    struct acks *acks = analysis->acks;
    const struct roce_verdict *verdict = &analysis->verdict;
    if (acks == NULL || verdict->flow >= acks->flows || !(verdict->flags & ROCE_V_REQUEST))
        return 0;
    uint32_t *first = &acks->first[verdict->flow];
    while (*first != 0 && acks->ack[*first - 1].frame <= frame->number)
        *first = acks->ack[*first - 1].next;
    /* A READ is answered by the response to its last PSN. */
    const uint32_t psn = roce_psn_add(pkt->bth.psn, verdict->psns > 0 ? verdict->psns - 1 : 0);
    /* Acknowledgements are cumulative: the first one at or past the PSN is the one. */
    for (uint32_t i = *first; i != 0; i = acks->ack[i - 1].next)
        if (roce_psn_diff(acks->ack[i - 1].psn, psn) >= 0)
            return acks->ack[i - 1].frame;
    return 0;
}

void analysis_free(struct analysis *analysis)
{
    roce_flow_table_del(analysis->table);
    if (analysis->acks != NULL) {
        free(analysis->acks->ack);
        free(analysis->acks->first);
        free(analysis->acks->last);
        free(analysis->acks);
    }
    *analysis = (struct analysis){0};
}
