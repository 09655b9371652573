/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Flow views. */
#include "rocestat/view.h"

#include <roce/opcode.h>

bool flow_view_count(const struct roce_observer *obs, uint32_t id, struct flow_view *view)
{
    view->congestion = (struct roce_congestion){0};
    (void)roce_observer_congestion(obs, id, &view->congestion);
    return roce_flow_counters(roce_observer_flows(obs), id, &view->counters);
}

bool flow_view_get(const struct roce_observer *obs, uint32_t id, struct flow_view *view)
{
    const struct roce_flow_table *table = roce_observer_flows(obs);
    if (!roce_flow_info(table, id, &view->info) || !flow_view_count(obs, id, view))
        return false;
    view->message = view->ack = (struct roce_hist_summary){0};
    (void)roce_flow_latency(table, id, ROCE_LATENCY_MESSAGE, &view->message);
    (void)roce_flow_latency(table, id, ROCE_LATENCY_ACK, &view->ack);
    return true;
}

uint64_t flow_view_naks(const struct flow_view *view)
{
    uint64_t sum = 0;
    for (int i = 0; i <= ROCE_NAK_MAX; i++)
        sum += view->counters.naks[i];
    return sum;
}

uint64_t flow_view_lost(const struct flow_view *view)
{
    const uint64_t *loss = view->counters.loss;
    return loss[ROCE_LOST_UPSTREAM] + loss[ROCE_LOST_DOWNSTREAM] + loss[ROCE_LOST_UNKNOWN] -
           view->counters.loss_refused;
}

uint64_t flow_view_trouble(const struct flow_view *view)
{
    const struct roce_flow_counters *c = &view->counters;
    uint64_t sum =
        c->retransmitted + c->rnr_naks + c->icrc_bad + c->malformed + flow_view_naks(view);
    return sum + flow_view_lost(view);
}

bool flow_view_cm(const struct roce_observer *obs, uint32_t index, struct roce_cm_info *cm)
{
    return index != ROCE_FLOW_NONE && roce_cm_get(roce_observer_flows(obs), index, cm);
}

const char *flow_view_operation(const struct flow_view *view)
{
    static const char *const words[ROCE_OP_NONE + 1] = {
        [ROCE_OP_SEND] = "Send",     [ROCE_OP_WRITE] = "Write",
        [ROCE_OP_READ] = "Read",     [ROCE_OP_ATOMIC] = "Atomic",
        [ROCE_OP_FLUSH] = "Flush",   [ROCE_OP_ATOMIC_WRITE] = "AWrite",
        [ROCE_OP_RESYNC] = "Resync", [ROCE_OP_READ_RESPONSE] = "RdResp",
        [ROCE_OP_ACK] = "Ack",       [ROCE_OP_ATOMIC_ACK] = "AtAck",
        [ROCE_OP_CNP] = "CNP",       [ROCE_OP_NONE] = "other",
    };
    uint64_t by_op[ROCE_OP_NONE + 1] = {0};
    for (unsigned i = 0; i < 256; i++)
        by_op[roce_opcode_info((uint8_t)i)->op] += view->counters.opcodes[i];
    unsigned most = ROCE_OP_NONE;
    for (unsigned i = 0; i <= ROCE_OP_NONE; i++)
        if (by_op[i] > by_op[most])
            most = i;
    return words[most];
}
