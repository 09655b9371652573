/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Both ends of a run in this process. */
#include "rocereplay/pair.h"

#include <string.h>

#include "common/msg.h"
#include "rocereplay/plan.h"
#include "rocereplay/result.h"

static struct remote remote_of(const struct lane *lane, const struct station *st)
{
    struct remote remote = {
        .qpn = lane->qpn,
        .psn = lane->psn,
        .rkey = lane_rkey(lane),
        .va = lane->target_va,
        .len = lane->cfg.target_len,
    };
    memcpy(remote.ip, st->ip, 16);
    return remote;
}

static int join(struct end *a, struct end *b)
{
    for (uint32_t i = 0; i < a->plan.n; i++) {
        const struct remote to_b = remote_of(&b->lanes[i], b->st);
        const struct remote to_a = remote_of(&a->lanes[i], a->st);
        if (lane_connect(&a->lanes[i], &to_b) != 0 || lane_connect(&b->lanes[i], &to_a) != 0)
            return -1;
    }
    return end_start(a) == 0 && end_start(b) == 0 ? 0 : -1;
}

static int run(struct end *a, struct end *b)
{
    if (join(a, b) != 0 || runner_run(&a->runner, &b->runner) != 0)
        return -1;
    return a->load.failed || b->load.failed ? 0 : station_settle(a->st);
}

int pair_run(struct station *st)
{
    const struct plan plan = plan_of(st->opts);
    struct end a = {0}, b = {0};
    int rc = -1;
    if (end_open(&a, st, &plan, true) == 0 && end_open(&b, st->twin, &plan, false) == 0)
        rc = run(&a, &b);
    const struct load_result load = a.load.result, back = b.load.result;
    const struct native_report report = {.messages = b.sink.messages,
                                         .bytes = b.sink.bytes,
                                         .mismatches = b.sink.mismatches,
                                         .lost = b.sink.lost};
    const struct result result = {
        .op = st->opts->op_name,
        .peer = "both ends in this process",
        .load = &load,
        .back = plan.bidirectional ? &back : NULL,
        .peer_report = &report,
        .size = plan.load.size,
        .qps = plan.n,
        .mtu = (uint32_t)st->opts->mtu,
        .service = plan.service,
        .received = a.sink.messages,
        .mismatches = a.sink.mismatches + back.mismatches,
    };
    end_close(&a);
    end_close(&b);
    if (rc != 0)
        return EXIT_IO;
    const int status = result_status(&result);
    return result_print(st, &result) == 0 ? status : EXIT_IO;
}
