/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Schedules. */
#include "rocereplay/schedule.h"

#include <sys/prctl.h>
#include <time.h>

#include "common/clock.h"

#define SLEEP_BEYOND_NS UINT64_C(5000000)   /* further away than this: sleep, */
#define WAKE_BEFORE_NS  UINT64_C(1000000)   /* but wake so much earlier */
#define SLEEP_MOST_NS   UINT64_C(100000000) /* to notice a signal */

void schedule_init(struct schedule *s, const struct schedule_cfg *cfg)
{
    *s = (struct schedule){.cfg = *cfg};
    (void)prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
}

uint64_t schedule_next(struct schedule *s, roce_tstamp ts, uint32_t len)
{
    double at = 0;
    if (s->first == 0)
        s->first = ts;
    switch (s->cfg.pace) {
    case SCHEDULE_RECORDED:
        at = (double)s->base + (ts > s->first ? (double)(ts - s->first) : 0) / s->cfg.factor;
        break;
    case SCHEDULE_PPS:
        at = (double)s->n * 1e9 / s->cfg.factor;
        break;
    case SCHEDULE_BPS:
        at = s->bits * 1e9 / s->cfg.factor;
        break;
    case SCHEDULE_TOP:
        break;
    }
    s->n++;
    s->bits += 8.0 * len;
    if ((uint64_t)at > s->due)
        s->due = (uint64_t)at;
    return s->due;
}

void schedule_again(struct schedule *s)
{
    const uint64_t span = s->due - s->base;
    s->base = s->due + (s->n > 1 ? span / (s->n - 1) : 0);
    s->first = 0;
    s->n = s->cfg.pace == SCHEDULE_RECORDED ? 0 : s->n;
}

static void nap(uint64_t ns)
{
    ns = ns < SLEEP_MOST_NS ? ns : SLEEP_MOST_NS;
    const struct timespec t = {.tv_nsec = (long)ns};
    (void)nanosleep(&t, NULL);
}

roce_tstamp schedule_wait(struct schedule *s, roce_tstamp due, bool (*stop)(void))
{
    roce_tstamp now = clock_monotonic_ns();
    while (now < due) {
        if (!s->cfg.spin && due - now > SLEEP_BEYOND_NS)
            nap(due - now - WAKE_BEFORE_NS);
        if (stop())
            return clock_monotonic_ns();
        now = clock_monotonic_ns();
    }
    roce_hist_add(&s->late, now - due);
    return now;
}
