/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One run of loads between two ends, as both must know it: lanes, sinks and loads made from it. */
#ifndef ROCEREPLAY_PLAN_H
#define ROCEREPLAY_PLAN_H

#include "rocereplay/runner.h"

struct plan {
    enum eng_service service;
    const struct remote *asked; /* whose services the QPs have; NULL: all |service| */
    uint32_t n;                 /* QPs */
    struct load_cfg load;
    uint32_t recv_depth;
    bool bidirectional;
    uint64_t target_min; /* bytes that the peer may use in any case */
};
/* plan_of makes the plan that the options ask for. */
struct plan plan_of(const struct replay_opts *opts);

/* plan_single makes do with a peer that has one place only: what is checked goes one by one.
 * Returns 0, or -1 with a message printed: it cannot be checked. */
int plan_single(struct plan *plan);

/* One end of it. */
struct end {
    struct station *st;
    struct plan plan;
    bool sends, receives; /* has a load; answers one */
    struct lane *lanes;
    struct sink sink;
    struct load load;
    struct runner runner;
};

/* end_open makes queues, lanes and receives: |first| is the end that asks for the run. 0, or -1
 * with a message printed; end_close either way. */
int end_open(struct end *end, struct station *st, const struct plan *plan, bool first);
/* end_start makes the load, attaches all to the station. */
int end_start(struct end *end);
/* end_close ends QPs, memory and queues (and tells |st->truth|). */
void end_close(struct end *end);

/* plan_takes_receives tells whether |op| uses up receives. */
bool plan_takes_receives(enum eng_wr_op op);

#endif
