/* SPDX-License-Identifier: GPL-2.0-or-later */
/* When recorded things are due again: an absolute schedule, so that lateness does not add up, kept
 * by looking at the clock all the time. */
#ifndef ROCEREPLAY_SCHEDULE_H
#define ROCEREPLAY_SCHEDULE_H

#include <roce/hist.h>
#include <roce/types.h>
#include <stdbool.h>

enum schedule_pace {
    SCHEDULE_RECORDED, /* as recorded, |factor| times as fast */
    SCHEDULE_PPS,      /* |factor| a second */
    SCHEDULE_BPS,      /* |factor| bits a second, of the frames' bytes without FCS and gaps */
    SCHEDULE_TOP,      /* at once */
};
struct schedule_cfg {
    enum schedule_pace pace;
    double factor;
    bool spin; /* never sleep, not even when the next one is far away */
};

struct schedule {
    struct schedule_cfg cfg;
    roce_tstamp first; /* recorded time of the first; 0: none yet */
    uint64_t base;     /* ns into the replay at which the present pass began */
    uint64_t n;        /* counted so far, of all passes */
    double bits;
    uint64_t due;          /* of the latest; never goes back */
    struct roce_hist late; /* ns */
};

void schedule_init(struct schedule *s, const struct schedule_cfg *cfg);
/* schedule_next tells when one that was recorded at |ts| and has |len| bytes is due, in ns from the
 * start of the replay. */
uint64_t schedule_next(struct schedule *s, roce_tstamp ts, uint32_t len);
/* schedule_again begins another pass over the recording: its first is due a mean gap behind the
 * last of the pass before. */
void schedule_again(struct schedule *s);
/* schedule_wait waits until |due| of the monotonic clock and returns the time; at once when it is
 * over, and early when |stop| turns true. It notes how late it is. */
roce_tstamp schedule_wait(struct schedule *s, roce_tstamp due, bool (*stop)(void));

#endif
