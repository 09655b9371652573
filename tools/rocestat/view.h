/* SPDX-License-Identifier: GPL-2.0-or-later */
/* All that is known of one flow, gathered once for whoever prints it. */
#ifndef ROCESTAT_VIEW_H
#define ROCESTAT_VIEW_H

#include <roce/observer.h>

struct flow_view {
    struct roce_flow_info info;
    struct roce_flow_counters counters;
    struct roce_hist_summary message, ack; /* ns; valid with counters.has_completed */
    struct roce_congestion congestion;     /* zero without marks and CNPs */
};

/* flow_view_get fills |view|; false when |id| names no flow. */
bool flow_view_get(const struct roce_observer *obs, uint32_t id, struct flow_view *view);

/* flow_view_count fills counters and congestion alone. */
bool flow_view_count(const struct roce_observer *obs, uint32_t id, struct flow_view *view);

/* view_has_track tells whether the capture shows the request track: it does when there are no
 * requests, it does not for datagrams of several source QPs. */
static inline bool view_has_track(const struct roce_flow_counters *counters)
{
    return counters->has_psn || counters->requests == 0;
}

/* flow_view_trouble weighs what went wrong with the flow: what a reader wants on top. */
uint64_t flow_view_trouble(const struct flow_view *view);

/* flow_view_lost counts frames lost in the network; those that an RNR NAK refused had arrived. */
uint64_t flow_view_lost(const struct flow_view *view);

/* flow_view_naks counts NAKs of all codes, RNR left out. */
uint64_t flow_view_naks(const struct flow_view *view);

/* flow_view_cm tells what CM knows of connection |index|; false without. */
bool flow_view_cm(const struct roce_observer *obs, uint32_t index, struct roce_cm_info *cm);

/* flow_view_operation returns what the flow mostly does: "Send", "Write", "Read", "Ack", "UD" ...
 */
const char *flow_view_operation(const struct flow_view *view);

#endif
