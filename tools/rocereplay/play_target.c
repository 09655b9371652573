/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Replay to targets. */
#include "rocereplay/play_target.h"

#include "common/signals.h"

#define ANSWER_NS UINT64_C(2000000000) /* for answers to the last messages */

void play_target_fit(struct messages *m, const struct target_kind *kind, uint64_t room,
                     uint64_t left_out[TARGET_REASONS])
{
    for (uint32_t i = 0; i < m->n; i++) {
        struct sender *s = &m->sender[i];
        uint64_t kept = 0;
        for (uint64_t k = 0; k < s->n; k++) {
            const struct message *msg = &s->msg[k];
            const enum target_no why =
                target_carries(kind, s->service, (enum eng_wr_op)msg->op, msg->len, room);
            left_out[why]++;
            if (why == TARGET_CAN)
                s->msg[kept++] = *msg;
        }
        s->n = kept;
    }
    left_out[TARGET_CAN] = 0;
}

static int open_answers(struct replay *r, struct sink *sink, bool in_turn)
{
    const struct sink_cfg cfg = {.depth = PLAY_ANSWERS, .size = r->opts->memory};
    r->sink = sink;
    r->in_turn = r->lanes[0].cfg.service == ENG_RC && in_turn;
    return sink_open(sink, r->st, r->lanes, r->n, &cfg);
}

/* The last of our messages has come about before its answer: that is taken, too. */
static int await_answers(struct replay *r)
{
    const roce_tstamp give_up = station_now(r->st) + ANSWER_NS;
    while (r->sink != NULL && r->sink->messages < r->result.messages && !signals_interrupted() &&
           station_now(r->st) < give_up) {
        const int n = station_turn(r->st);
        if (n < 0)
            return -1;
        if (n == 0)
            (void)station_idle(r->st, give_up, -1, 0);
    }
    return station_settle(r->st);
}

static struct load_result load_of(const struct replay_result *result)
{
    return (struct load_result){.messages = result->messages,
                                .bytes = result->bytes,
                                .start = result->start,
                                .end = result->end,
                                .status = result->status};
}

int play_target_run(struct replay *r, const struct target_kind *kind, const uint8_t ip[16])
{
    struct target target = {0};
    struct sink sink = {0};
    int rc = kind->answers ? open_answers(r, &sink, kind->in_turn) : 0;
    if (rc == 0)
        rc = target_open(&target, kind, r->st, ip, r->lanes, r->n);
    for (uint32_t i = 0; i < r->n; i++)
        if (r->lanes[i].remote.len == 0)
            r->lanes[i].remote.len = r->opts->memory;
    if (rc == 0)
        rc = replay_run(r);
    if (rc == 0 && r->result.failed == 0)
        rc = await_answers(r);
    const struct load_result load = load_of(&r->result);
    target_close(&target, rc == 0 && r->result.failed == 0 ? &load : NULL);
    r->sink = NULL;
    sink_close(&sink);
    return rc;
}
