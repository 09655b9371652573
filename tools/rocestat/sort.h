/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The order of flows in tables. */
#ifndef ROCESTAT_SORT_H
#define ROCESTAT_SORT_H

#include "rocestat/view.h"

enum sort_column {
    SORT_DEFAULT, /* text: trouble, then packets; for programs: id */
#define SORT(id, name, value, text) SORT_##id,
#include "rocestat/sort.def"
#undef SORT
};

/* sort_by_name returns the column or -1. sort_list prints them all. */
int sort_by_name(const char *name);
void sort_list(void);

/* Sums over all flows. */
struct flow_sums {
    uint64_t flows, lossy; /* |lossy|: of these, with frames lost in the network */
    uint64_t loss[ROCE_LOST_COUNT], refused; /* |refused|: of those downstream, by an RNR NAK */
    uint64_t naks, rnr_naks, retransmitted;
    uint64_t ce, congested; /* |congested|: flows with CE or CNPs */
};

/* sort_flows returns the ids of all flows ordered by |column|, largest first and then by id; at
 * most |limit| of them (0: all). |trouble_first| is what SORT_DEFAULT means. |*count| is how many,
 * |*sums| sums up all flows. The caller frees; NULL without memory or flows. */
uint32_t *sort_flows(const struct roce_observer *obs, enum sort_column column, bool trouble_first,
                     uint64_t limit, uint32_t *count, struct flow_sums *sums);

#endif
