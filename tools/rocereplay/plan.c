/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Runs of loads between two ends. */
#include "rocereplay/plan.h"

#include <stdlib.h>

#include "common/msg.h"
#include "rocereplay/pattern.h"

#define MEMORY_MAX UINT64_C(4294967296) /* of all lanes; a peer asks for it */

struct plan plan_of(const struct replay_opts *opts)
{
    struct plan plan = {
        .service = (enum eng_service)opts->service,
        .n = (uint32_t)opts->qps,
        .load =
            {
                .op = opts->wr_op,
                .size = opts->size,
                .iters = opts->duration_ns == 0 ? opts->iters : 0,
                .duration_ns = opts->duration_ns,
                .depth = (uint32_t)opts->tx_depth,
                .inline_data = opts->inline_data,
                .verify = opts->verify,
                .rate_bps = opts->burst != 0 ? opts->rate_bps : 0,
                .burst = opts->burst,
            },
        .recv_depth = (uint32_t)opts->rx_depth,
        .bidirectional = opts->bidirectional,
    };
    uint64_t local, target;
    load_memory(&plan.load, &local, &target);
    return plan;
}

int plan_single(struct plan *plan)
{
    uint64_t local, target;
    if (!plan->load.verify)
        return 0;
    if (plan->load.op == ENG_WR_READ) {
        msg_print("--verify: nobody knows what this peer's memory holds; leave it out with read");
        return -1;
    }
    if (plan->load.op == ENG_WR_WRITE || plan->load.op == ENG_WR_WRITE_IMM)
        plan->load.depth = 1;
    load_memory(&plan->load, &local, &target);
    return 0;
}

bool plan_takes_receives(enum eng_wr_op op)
{
    return op == ENG_WR_SEND || op == ENG_WR_SEND_IMM || op == ENG_WR_SEND_INV ||
           op == ENG_WR_WRITE_IMM;
}

static int open_queues(struct end *end)
{
    const struct plan *plan = &end->plan;
    const uint64_t send = (uint64_t)plan->n * load_send_depth(&plan->load) + 1;
    const uint64_t recv = (uint64_t)plan->n * plan->recv_depth + 1;
    if (send > INT32_MAX || recv > INT32_MAX) {
        msg_print("too many messages at a time; give a smaller --tx-depth, --rx-depth or --qp");
        return -1;
    }
    return station_queues(end->st, (uint32_t)send, (uint32_t)recv);
}

static int open_lanes(struct end *end)
{
    const struct plan *plan = &end->plan;
    const struct replay_opts *opts = end->st->opts;
    struct load_cfg load = plan->load;
    struct lane_cfg cfg = {0};
    load_memory(&load, &cfg.local_len, &cfg.target_len);
    if (!end->sends)
        cfg.local_len = 0;
    if (!end->receives)
        cfg.target_len = 0;
    else if (cfg.target_len < plan->target_min)
        cfg.target_len = plan->target_min;
    if (cfg.local_len + cfg.target_len > MEMORY_MAX / plan->n) {
        msg_print("more than 4 GiB of memory; give a smaller --size, --tx-depth or --qp");
        return -1;
    }
    cfg.max_send = end->sends ? load_send_depth(&plan->load) : 1;
    cfg.max_recv = end->receives ? plan->recv_depth : 1;
    for (uint32_t i = 0; i < plan->n; i++) {
        cfg.service = plan->asked != NULL ? plan->asked[i].service : plan->service;
        cfg.qpn = replay_own_qpn(opts, i);
        cfg.has_psn = replay_own_psn_given(opts, i);
        cfg.psn = opts->own_psn_value;
        if (lane_open(&end->lanes[i], end->st, &cfg) != 0)
            return -1;
        if (plan->load.op == ENG_WR_READ)
            pattern_fill(end->lanes[i].target, cfg.target_len, PATTERN_TARGET, 0);
    }
    return 0;
}

int end_open(struct end *end, struct station *st, const struct plan *plan, bool first)
{
    *end = (struct end){.st = st, .plan = *plan};
    end->sends = first || plan->bidirectional;
    end->receives = !first || plan->bidirectional;
    end->lanes = calloc(plan->n, sizeof(*end->lanes));
    if (end->lanes == NULL) {
        msg_print("out of memory; give a smaller --qp");
        return -1;
    }
    if (open_queues(end) != 0 || open_lanes(end) != 0)
        return -1;
    if (!end->receives || !plan_takes_receives(plan->load.op))
        return 0;
    const struct sink_cfg cfg = {
        .depth = plan->recv_depth,
        .size = plan->load.size,
        .writes = plan->load.places,
        .verify = plan->load.verify,
    };
    end->runner.sink = &end->sink;
    return sink_open(&end->sink, st, end->lanes, plan->n, &cfg);
}

int end_start(struct end *end)
{
    end->runner.st = end->st;
    if (end->sends) {
        if (load_open(&end->load, end->st, end->lanes, end->plan.n, &end->plan.load) != 0)
            return -1;
        end->runner.load = &end->load;
    }
    runner_attach(&end->runner);
    return 0;
}

void end_close(struct end *end)
{
    if (end->st == NULL)
        return;
    end->st->work = NULL;
    for (uint32_t i = 0; end->lanes != NULL && i < end->plan.n; i++)
        lane_close(&end->lanes[i]);
    sink_close(&end->sink);
    load_close(&end->load);
    free(end->lanes);
    station_drop_queues(end->st);
    *end = (struct end){0};
}
