/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A load: operations posted on lanes as their completions allow, measured and checked. */
#ifndef ROCEREPLAY_LOAD_H
#define ROCEREPLAY_LOAD_H

#include <roce/hist.h>

#include "rocereplay/lane.h"

struct load_cfg {
    enum eng_wr_op op;
    uint32_t size;
    uint64_t iters;       /* of each lane; 0: until |duration_ns| is over */
    uint64_t duration_ns; /* 0: none */
    uint32_t depth;       /* messages of a lane on their way */
    uint32_t places;      /* into which a lane's memory is cut, and the peer's; message k uses place
                             k modulo this */
    bool inline_data;
    bool verify;
    uint64_t rate_bps; /* with |burst|: of all lanes together; 0: none */
    uint64_t burst;
};

struct load_result {
    uint64_t messages, bytes;
    roce_tstamp start, end;
    uint64_t mismatches;
    int status; /* enum eng_wc_status of the first that failed but by a flush */
    uint32_t failed_qpn;
    double peak_bps;          /* of the best 10 ms, or of all when it took less */
    struct roce_hist latency; /* ns, from post to completion */
    double latency_sum, latency_squares;
};

/* One lane's part. */
struct load_lane {
    uint64_t posted, done;
    roce_tstamp *posted_at; /* by place */
    uint64_t base;          /* atomics: the value at the start */
    bool based;
    bool asked; /* for the value at the start */
};

struct load {
    struct load_cfg cfg;
    struct station *st;
    struct lane *lanes;
    struct load_lane *part;
    uint32_t n, turn;
    uint64_t bursts; /* messages that the rate has allowed so far */
    uint64_t posted;
    bool failed, stopped;
    roce_tstamp window_start;
    uint64_t window_bytes;
    struct load_result result;
};

/* load_memory tells how much memory a lane needs, in |*local|, and of its peer in |*target|; it
 * settles |cfg->places| and |cfg->depth|. */
void load_memory(struct load_cfg *cfg, uint64_t *local, uint64_t *target);
/* load_send_depth is the length of the send queue that it takes. */
uint32_t load_send_depth(const struct load_cfg *cfg);

/* load_open prepares; 0, or -1 with a message printed. */
int load_open(struct load *load, struct station *st, struct lane *lanes, uint32_t n,
              const struct load_cfg *cfg);
void load_close(struct load *load);
/* load_step takes in completions and posts what may be posted. Returns how many of both. */
int load_step(struct load *load, roce_tstamp now);
/* load_next tells when the rate allows more or the time is over; ENG_NEVER: completions decide. */
roce_tstamp load_next(const struct load *load);
/* load_stop posts no more. */
void load_stop(struct load *load);
/* load_over tells whether all is completed, or has failed. */
bool load_over(const struct load *load);

#endif
