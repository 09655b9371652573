/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The flows in most trouble, found a few flows at a time. */
#ifndef ROCESTAT_WORST_H
#define ROCESTAT_WORST_H

#include "rocestat/view.h"

struct worst_entry {
    uint64_t trouble, packets;
    uint32_t flow;
};

struct worst {
    uint32_t limit;
    uint32_t count, found;     /* entries of |entry|; of |next| so far */
    struct worst_entry *entry; /* of the newest complete round: worst first */
    struct worst_entry *next;  /* of the round under way */
    uint32_t at; /* flow to be looked at next, ROCE_FLOW_NONE: no round is under way */
};

enum { WORST_LIMIT_MAX = 1000 };

int worst_init(struct worst *worst, uint32_t limit); /* -1 without memory */
void worst_free(struct worst *worst);

/* worst_begin begins a round over all flows; worst_step looks at up to |budget| of them and tells
 * whether the round is complete. */
void worst_begin(struct worst *worst, const struct roce_observer *obs);
bool worst_step(struct worst *worst, const struct roce_observer *obs, uint32_t budget);

#endif
