/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Counters by time. The verdict of each packet says what it did to the counters of its flow. */
#include "rocestat/interval.h"

#include <string.h>

#include "common/vast.h"

int interval_init(struct interval *interval, uint64_t length_ns, const struct roce_observer *obs,
                  bool flows)
{
    *interval = (struct interval){.length_ns = length_ns};
    interval->first_active = interval->last_active = ROCE_FLOW_NONE;
    if (length_ns == 0 || !flows)
        return 0;
    interval->capacity = roce_flow_capacity(roce_observer_flows(obs));
    interval->flow = vast_new(interval->capacity, sizeof(*interval->flow));
    return interval->flow == NULL ? -1 : 0;
}

void interval_free(struct interval *interval)
{
    vast_del(interval->flow, interval->capacity, sizeof(*interval->flow));
    interval->flow = NULL;
}

bool interval_over(const struct interval *interval, const struct roce_frame *frame)
{
    return interval->started && frame->ts >= interval->start_ns &&
           frame->ts - interval->start_ns >= interval->length_ns;
}

bool interval_passed(const struct interval *interval, uint64_t now, uint64_t slack_ns)
{
    return interval->started && interval->frames > 0 && now >= interval->start_ns &&
           now - interval->start_ns >= interval->length_ns + slack_ns;
}

void interval_next(struct interval *interval, const struct roce_frame *frame)
{
    interval_skip(interval, frame->ts);
}

void interval_skip(struct interval *interval, uint64_t now)
{
    const uint64_t skip = (now - interval->start_ns) / interval->length_ns;
    interval->start_ns += skip * interval->length_ns;
    interval->index += skip;
    interval->reported += interval->frames > 0;
    interval->frames = interval->frame_bytes = interval->pause_packets = 0;
    interval->total = (struct interval_counters){0};
    for (uint32_t id = interval->first_active; id != ROCE_FLOW_NONE;) {
        const uint32_t next = interval->flow[id].next;
        memset(&interval->flow[id], 0, sizeof(interval->flow[id]));
        id = next;
    }
    interval->first_active = interval->last_active = ROCE_FLOW_NONE;
}

void interval_count(struct interval_counters *c, const struct roce_frame *frame,
                    const struct roce_packet *pkt, const struct roce_icrc *icrc,
                    const struct roce_verdict *v)
{
    const uint32_t flags = v->flags;
    if ((flags & ROCE_V_MIRROR_DUP) != 0) {
        c->mirror_duplicates++;
        return;
    }
    c->packets++;
    c->bytes += frame->origlen;
    if ((pkt->has & ROCE_HAS_PAYLOAD) != 0)
        c->payload_bytes += pkt->payload_len;
    if (pkt->op < ROCE_OP_READ_RESPONSE)
        c->requests++;
    else if (pkt->op <= ROCE_OP_ATOMIC_ACK)
        c->responses++;
    if ((pkt->has & ROCE_H_AETH) != 0 && pkt->op == ROCE_OP_ACK) {
        const enum roce_aeth_kind kind = roce_aeth_kind(pkt->aeth.syndrome);
        c->acks += kind == ROCE_AETH_ACK;
        c->naks += kind == ROCE_AETH_NAK && roce_aeth_value(pkt->aeth.syndrome) <= ROCE_NAK_MAX;
        c->rnr_naks += kind == ROCE_AETH_RNR_NAK;
    }
    c->cnps += pkt->op == ROCE_OP_CNP;
    const unsigned ecn = pkt->ip.tos & 3;
    c->ect += ecn == 1 || ecn == 2;
    c->ce += ecn == 3;
    c->icrc_bad += icrc != NULL && icrc->status == ROCE_ICRC_BAD;
    c->gap_events += (flags & ROCE_V_GAP) != 0;
    c->gap_psns += (flags & ROCE_V_GAP) != 0 ? v->missing : 0;
    c->retransmitted += (flags & ROCE_V_RETRANSMITTED) != 0;
    c->retransmitted_dup += (flags & ROCE_V_DUP) != 0;
    c->retransmitted_fill += (flags & ROCE_V_FILL) != 0;
    c->episodes += (flags & ROCE_V_EPISODE) != 0;
    c->read_response_dup += (flags & ROCE_V_READ_RESPONSE_DUP) != 0;
    c->read_response_gap_events += (flags & ROCE_V_READ_RESPONSE_GAP) != 0;
    c->messages_started += (flags & ROCE_V_MSG_FIRST) != 0;
    c->messages_completed += v->completed;
}

void interval_add(struct interval *interval, const struct roce_frame *frame,
                  const struct roce_packet *pkt, const struct roce_icrc *icrc,
                  const struct roce_verdict *verdict)
{
    if (!interval->started) {
        interval->started = true;
        interval->start_ns = frame->ts - frame->ts % interval->length_ns;
    }
    interval->frames++;
    interval->frame_bytes += frame->origlen;
    interval->pause_packets += pkt->kind == ROCE_KIND_PFC || pkt->kind == ROCE_KIND_PAUSE;
    if (verdict->flow == ROCE_FLOW_NONE)
        return;
    interval_count(&interval->total, frame, pkt, icrc, verdict);
    if (interval->flow == NULL || verdict->flow >= interval->capacity)
        return;
    struct interval_flow *flow = &interval->flow[verdict->flow];
    if (!flow->active) {
        flow->active = true;
        flow->id = verdict->flow;
        flow->next = ROCE_FLOW_NONE;
        if (interval->last_active == ROCE_FLOW_NONE)
            interval->first_active = flow->id;
        else
            interval->flow[interval->last_active].next = flow->id;
        interval->last_active = flow->id;
    }
    interval_count(&flow->counters, frame, pkt, icrc, verdict);
}
