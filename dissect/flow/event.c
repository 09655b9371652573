/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Events: making and handing them out, and the words of the observer vocabulary. */
#include "internal.h"

bool event_wanted(const struct roce_flow_table *t, enum roce_event_kind kind)
{
    return t->opts.ops.event != NULL &&
           (t->opts.ops.mask == 0 || (t->opts.ops.mask >> kind & 1) != 0);
}

struct roce_event event_make(const struct roce_flow_table *t, enum roce_event_kind kind,
                             uint32_t flow)
{
    return (struct roce_event){
        .kind = (uint8_t)kind,
        .cause = ROCE_CAUSE_NONE,
        .location = ROCE_LOST_NONE,
        .op = ROCE_MESSAGE_NONE,
        .flow = flow,
        .peer = flow != NIL ? flow_at(t, flow)->peer : NIL,
        .ts = t->now,
        .frame = t->frame,
        .duration = -1,
    };
}

void event_emit(const struct roce_flow_table *t, const struct roce_event *e)
{
    t->opts.ops.event(t->opts.ops.ctx, e);
}

const char *roce_cause_name(enum roce_cause cause)
{
    switch (cause) {
    case ROCE_CAUSE_NAK:
        return "nak";
    case ROCE_CAUSE_TIMEOUT:
        return "timeout";
    case ROCE_CAUSE_RNR:
        return "rnr";
    case ROCE_CAUSE_IMPLIED_NAK:
        return "implied_nak";
    case ROCE_CAUSE_EARLY:
        return "early";
    case ROCE_CAUSE_SPURIOUS:
        return "spurious";
    case ROCE_CAUSE_UNKNOWN:
        return "unknown";
    case ROCE_CAUSE_COUNT:
    case ROCE_CAUSE_NONE:
        break;
    }
    return "none";
}

const char *roce_location_name(enum roce_location location)
{
    switch (location) {
    case ROCE_LOST_UPSTREAM:
        return "upstream";
    case ROCE_LOST_DOWNSTREAM:
        return "downstream";
    case ROCE_LOST_CAPTURE:
        return "capture";
    case ROCE_LOST_UNKNOWN:
        return "unknown";
    case ROCE_LOST_COUNT:
    case ROCE_LOST_NONE:
        break;
    }
    return "none";
}

const char *roce_pairing_name(enum roce_pairing pairing)
{
    switch (pairing) {
    case ROCE_PAIRING_CM:
        return "cm";
    case ROCE_PAIRING_PSN:
        return "psn";
    case ROCE_PAIRING_NONE:
        break;
    }
    return "none";
}

const char *roce_message_op_name(enum roce_message_op op)
{
    switch (op) {
    case ROCE_MESSAGE_SEND:
        return "send";
    case ROCE_MESSAGE_WRITE:
        return "write";
    case ROCE_MESSAGE_READ:
        return "read";
    case ROCE_MESSAGE_ATOMIC:
        return "atomic";
    case ROCE_MESSAGE_FLUSH:
        return "flush";
    case ROCE_MESSAGE_ATOMIC_WRITE:
        return "atomic_write";
    case ROCE_MESSAGE_OPS:
    case ROCE_MESSAGE_NONE:
        break;
    }
    return "none";
}

const char *roce_event_name(enum roce_event_kind kind)
{
    switch (kind) {
    case ROCE_EVENT_FLOW_NEW:
        return "flow_new";
    case ROCE_EVENT_FLOW_EVICTED:
        return "flow_evicted";
    case ROCE_EVENT_GAP:
        return "gap";
    case ROCE_EVENT_EPISODE:
        return "episode";
    case ROCE_EVENT_OUT_OF_ORDER:
        return "out_of_order";
    case ROCE_EVENT_LOSS:
        return "loss";
    case ROCE_EVENT_NAK:
        return "nak";
    case ROCE_EVENT_RNR:
        return "rnr";
    case ROCE_EVENT_MESSAGE:
        return "message";
    case ROCE_EVENT_ACKED:
        return "acked";
    case ROCE_EVENT_PAIRED:
        return "paired";
    case ROCE_EVENT_UNPAIRED:
        return "unpaired";
    case ROCE_EVENT_MTU:
        return "mtu";
    case ROCE_EVENT_CM:
        return "cm";
    case ROCE_EVENT_GHOST_ACK:
        return "ghost_ack";
    case ROCE_EVENT_MIRROR_DUP:
        return "mirror_dup";
    case ROCE_EVENT_SILENT:
        return "silent";
    case ROCE_EVENT_KINDS:
        break;
    }
    return "none";
}
