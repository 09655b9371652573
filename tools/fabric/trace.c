/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Telling what happened. */
#include "inner.h"

const char *fab_drop_name(enum fab_drop drop)
{
    switch (drop) {
    case FAB_DROP_NO_ROUTE:
        return "no_route";
    case FAB_DROP_BUFFER:
        return "buffer";
    case FAB_DROP_HEADROOM:
        return "headroom";
    case FAB_DROP_LOSS:
        return "loss";
    case FAB_DROP_FCS:
        return "fcs";
    case FAB_DROP_STORM:
        return "storm";
    case FAB_DROP_SINK:
        return "sink";
    case FAB_DROP_MEMORY:
        return "memory";
    case FAB_DROPS:
        break;
    }
    return "";
}

const char *fab_trace_name(enum fab_trace_kind kind)
{
    switch (kind) {
    case FAB_TRACE_DROP:
        return "drop";
    case FAB_TRACE_MARK:
        return "mark";
    case FAB_TRACE_XOFF_SENT:
        return "xoff_sent";
    case FAB_TRACE_XON_SENT:
        return "xon_sent";
    case FAB_TRACE_PAUSED:
        return "paused";
    case FAB_TRACE_RESUMED:
        return "resumed";
    case FAB_TRACE_STORM:
        return "storm";
    case FAB_TRACE_RESTORED:
        return "restored";
    }
    return "";
}

void trace(const struct port *port, enum fab_trace_kind kind, int priority, uint64_t arg,
           const struct frame *frame)
{
    const struct fab *fab = port->fab;
    if (fab->cfg.trace == NULL)
        return;
    const struct fab_trace event = {.now = now_ns(fab),
                                    .kind = (uint8_t)kind,
                                    .priority = (uint8_t)priority,
                                    .node = port->node->index,
                                    .port = port->index,
                                    .arg = arg,
                                    .frame = frame != NULL ? frame->data : NULL,
                                    .len = frame != NULL ? frame->len : 0};
    fab->cfg.trace(fab->cfg.trace_ctx, &event);
}

void frame_drop(struct port *port, enum fab_drop why, struct frame *frame)
{
    port->stats.drops[why]++;
    trace(port, FAB_TRACE_DROP, frame->priority, why, frame);
    frame_give(&port->fab->pool, frame);
}
