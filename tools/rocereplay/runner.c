/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Runs loads and sinks. */
#include "rocereplay/runner.h"

#include <inttypes.h>

#include "common/msg.h"
#include "common/signals.h"

#define SILENCE_NS UINT64_C(5000000000)
#define STOP_NS    UINT64_C(2000000000) /* for what is under way when a signal stops the run */

static void work(void *ctx, roce_tstamp now)
{
    const struct runner *r = ctx;
    if (r->sink != NULL)
        (void)sink_step(r->sink, now);
    if (r->load != NULL)
        (void)load_step(r->load, now);
}

void runner_attach(struct runner *r)
{
    r->st->work = work;
    r->st->work_ctx = r;
}

static bool over(const struct runner *r)
{
    return r == NULL || r->load == NULL || load_over(r->load);
}

static bool failed(const struct runner *r)
{
    return r != NULL && r->load != NULL && r->load->failed;
}

static void stop(const struct runner *r)
{
    if (r != NULL && r->load != NULL)
        load_stop(r->load);
}

static roce_tstamp next_of(const struct runner *r)
{
    return r != NULL && r->load != NULL ? load_next(r->load) : ENG_NEVER;
}

/* A peer that has no receive is asked again for ever: whether it is worth it only its silence
 * tells. */
struct silence {
    uint64_t messages;
    roce_tstamp until;
};

static bool silent(const struct runner *r, struct silence *s)
{
    const roce_tstamp now = station_now(r->st);
    if (!r->impatient)
        return false;
    if (s->until == ENG_NEVER || s->messages != r->load->result.messages ||
        r->load->posted == s->messages)
        *s = (struct silence){.messages = r->load->result.messages, .until = now + SILENCE_NS};
    if (now < s->until)
        return false;
    msg_print("no message was taken for 5 s, after %" PRIu64 "; does the peer post receives?",
              s->messages);
    return true;
}

int runner_run(struct runner *r, struct runner *twin)
{
    roce_tstamp give_up = ENG_NEVER;
    struct silence silence = {.until = ENG_NEVER};
    while (!(over(r) && over(twin)) && !failed(r) && !failed(twin)) {
        const int n = station_turn(r->st);
        if (n < 0)
            return -1;
        if (silent(r, &silence))
            return -1;
        if (signals_interrupted() && give_up == ENG_NEVER) {
            stop(r);
            stop(twin);
            give_up = station_now(r->st) + STOP_NS;
        }
        if (station_now(r->st) >= give_up)
            break;
        if (n > 0)
            continue;
        roce_tstamp until = next_of(r), other = next_of(twin);
        until = other < until ? other : until;
        until = silence.until < until ? silence.until : until;
        (void)station_idle(r->st, give_up < until ? give_up : until, -1, 0);
    }
    return 0;
}
