/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Targets under check: a connection for each case. */
#include "rocereplay/check_target.h"

#include <string.h>

#include "common/msg.h"
#include "engine/engine.h"

#define CONNECT_NS UINT64_C(10000000000) /* a program started again by a loop */

enum {
    QUEUE = 64,
    PINGPONG_TIMEOUT = 14, /* ibv_rc_pingpong's, and that of its retries */
    MOST_RETRIES = 7,
};

static int not_here(struct check_target *t, const char *why)
{
    t->run->why = why;
    return CHECK_NOT_HERE;
}

/* What the handshake cannot ask of the peer stays as its program has it. */
static int settle_want(struct check_target *t, struct check_want *want)
{
    const struct check_target_limits *limits = &t->run->limits;
    if ((limits->kind->services & 1U << want->service) == 0 || want->service != ENG_RC)
        return not_here(t, "the peer's program speaks no such service");
    if (want->recv_size < want->mtu)
        return not_here(t, "the length of the peer's receives cannot be chosen");
    if (want->messages == 0)
        return 0;
    if (limits->kind->prompt == TARGET_PROMPT_NONE)
        return not_here(t, "the peer's program sends nothing");
    if (want->op == CHECK_OP_WRITE ||
        (want->op == CHECK_OP_READ && limits->kind->prompt != TARGET_PROMPT_RPING))
        return not_here(t, "the peer's program has no such operation");
    if (want->op == CHECK_OP_READ && want->size > limits->room)
        return not_here(t, "the peer's messages are too short; see --size");
    return 0;
}

static void ask_by_cm(struct check_target *t, const struct check_want *want)
{
    t->opts->retry_cnt = (uint8_t)want->retry_cnt;
    t->opts->rnr_retry = (uint8_t)want->rnr_retry;
    t->opts->timeout = (uint8_t)want->timeout;
}

static int connect_lane(struct check_target *t, const struct check_want *want)
{
    const struct target_kind *kind = t->run->limits.kind;
    const struct replay_opts *opts = t->opts;
    const uint32_t used = t->run->n_opened - 1;
    struct lane_cfg cfg = {.service = ENG_RC,
                           .max_send = 1,
                           .max_recv = 1,
                           .psn = (uint32_t)want->psn,
                           .has_psn = true};
    if (opts->by_hand) {
        cfg.qpn = replay_own_qpn(opts, used);
        cfg.psn = opts->own_psn_value;
    }
    t->target.first = used;
    if (lane_open(&t->lane, t->st, &cfg) != 0)
        return -1;
    if (target_open(&t->target, kind, t->st, t->ip, &t->lane, 1) != 0)
        return -1;
    return station_settle(t->st); /* the end of the handshake has to leave */
}

static void close_target(void *ctx)
{
    struct check_target *t = ctx;
    target_close(&t->target, NULL);
    lane_close(&t->lane);
    t->run->port = t->st->loop.port;
}

static int open_target(void *ctx, struct check_want *want, struct check_offer *offer)
{
    struct check_target *t = ctx;
    const struct target_kind *kind = t->run->limits.kind;
    const int rc = settle_want(t, want);
    if (rc != 0)
        return rc;
    if (t->opts->by_hand && t->run->n_opened > t->opts->hand.n)
        return not_here(t, "all QPs of --qpn are used up");
    ask_by_cm(t, want);
    if (connect_lane(t, want) != 0) {
        close_target(t);
        return -1;
    }
    const struct lane *lane = &t->lane;
    *offer = (struct check_offer){
        .qpn = lane->remote.qpn, .rkey = lane->remote.rkey, .va = lane->remote.va};
    want->qpn = lane->qpn;
    want->psn = lane->psn;
    want->peer_psn = lane->remote.psn;
    want->witness_qpn = 0;
    want->rd_atomic = lane->remote.rd_atomic;
    want->min_rnr_timer = CHECK_UNKNOWN;
    if (want->messages == 0)
        return 0;
    want->messages = 1;
    if (kind->prompt == TARGET_PROMPT_SEND) {
        want->size = t->run->limits.room;
        want->timeout = PINGPONG_TIMEOUT;
        want->retry_cnt = want->rnr_retry = MOST_RETRIES;
    }
    return 0;
}

/* The case itself makes the program send. */
static int start_target(void *ctx)
{
    const struct check_target *t = ctx;
    return t->run->limits.kind->prompt == TARGET_PROMPT_NONE ? CHECK_NOT_HERE : CHECK_PROMPT;
}

static int status_target(void *ctx, struct check_status *status)
{
    (void)ctx;
    (void)status;
    return CHECK_NOT_HERE;
}

const struct check_peer_ops check_target_ops = {
    .open = open_target, .start = start_target, .status = status_target, .close = close_target};

int check_target_init(struct check_target *t, struct check_run *run, struct station *st,
                      struct replay_opts *opts, const uint8_t ip[16])
{
    *t = (struct check_target){.st = st, .opts = opts, .ip = ip, .run = run};
    run->limits.kind = target_kind_of(opts);
    run->limits.room = opts->size;
    run->peer = &check_target_ops;
    run->peer_ctx = t;
    opts->connect_ns = CONNECT_NS;
    return station_queues(st, QUEUE, QUEUE);
}
