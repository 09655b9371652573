/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The capture as a time series: --interval. */
#ifndef ROCESTAT_INTERVAL_H
#define ROCESTAT_INTERVAL_H

#include <roce/observer.h>

struct interval_counters {
#define INTERVAL(key, text) uint64_t key;
#include "rocestat/interval.def"
#undef INTERVAL
};

/* What one flow did in an interval. */
struct interval_flow {
    uint32_t id;
    uint32_t next; /* of those that were active */
    bool active;
    struct interval_counters counters;
};

struct interval {
    uint64_t length_ns;
    uint64_t start_ns, index; /* |index| counts those without frames, too */
    uint64_t reported;        /* intervals before this one that had frames */
    bool started;
    uint64_t frames; /* of any kind */
    uint64_t frame_bytes;
    uint64_t pause_packets; /* PFC and PAUSE */
    struct interval_counters total;
    struct interval_flow *flow; /* by id; NULL unless flows were asked for */
    uint32_t capacity;
    uint32_t first_active, last_active;
};

/* interval_init prepares for intervals of |length_ns|, of flows as well when |flows|. Returns 0, or
 * -1 without memory. */
int interval_init(struct interval *interval, uint64_t length_ns, const struct roce_observer *obs,
                  bool flows);
void interval_free(struct interval *interval);

/* interval_over tells whether |frame| lies behind the current interval, which begins with the first
 * frame; the caller then reports it and calls interval_next. Frames that are out of order stay in
 * the current one; intervals without frames are left out. */
bool interval_over(const struct interval *interval, const struct roce_frame *frame);
void interval_next(struct interval *interval, const struct roce_frame *frame);

/* interval_passed does both for the time |now| without a frame: it returns whether the current
 * interval, with frames, was over by |slack_ns| then; the caller reports it before interval_skip.
 */
bool interval_passed(const struct interval *interval, uint64_t now, uint64_t slack_ns);
void interval_skip(struct interval *interval, uint64_t now);

/* interval_count adds a frame of a flow to |c|. */
void interval_count(struct interval_counters *c, const struct roce_frame *frame,
                    const struct roce_packet *pkt, const struct roce_icrc *icrc,
                    const struct roce_verdict *verdict);

void interval_add(struct interval *interval, const struct roce_frame *frame,
                  const struct roce_packet *pkt, const struct roce_icrc *icrc,
                  const struct roce_verdict *verdict);

#endif
