/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Peers by hand. */
#include "rocereplay/by_hand.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/msg.h"
#include "common/signals.h"
#include "rocereplay/plan.h"
#include "rocereplay/result.h"

enum { NUMBER_ROOM = 20 };
typedef char list[HAND_MAX * NUMBER_ROOM];

static void append(list text, uint64_t value, bool first)
{
    const size_t at = first ? 0 : strlen(text);
    (void)snprintf(text + at, sizeof(list) - at, "%s0x%" PRIx64, first ? "" : ",", value);
}

static void tell(const struct station *st, const struct end *end)
{
    char ip[NETIF_IP_TEXT];
    list qpn, psn, rkey, va;
    for (uint32_t i = 0; i < end->plan.n; i++) {
        const struct lane *lane = &end->lanes[i];
        append(qpn, lane->qpn, i == 0);
        append(psn, lane->psn, i == 0);
        append(rkey, lane_rkey(lane), i == 0);
        append(va, lane->target_va, i == 0);
    }
    netif_ip_text(st->ip, ip);
    msg_print("own numbers: --peer-ip %s --qpn %s --psn %s --rkey %s --va %s", ip, qpn, psn, rkey,
              va);
}

static int connect_all(struct end *end, const struct replay_opts *opts)
{
    for (uint32_t i = 0; i < end->plan.n; i++) {
        struct remote remote = {.qpn = opts->hand.qp[i].qpn,
                                .psn = opts->hand.qp[i].psn,
                                .rkey = opts->hand.qp[i].rkey,
                                .va = opts->hand.qp[i].va};
        memcpy(remote.ip, opts->peer_addr, 16);
        if (lane_connect(&end->lanes[i], &remote) != 0)
            return -1;
    }
    return 0;
}

static int begin(struct station *st, struct end *end, bool first)
{
    const struct replay_opts *opts = st->opts;
    struct plan plan = plan_of(opts);
    if (!first) /* what the peer may do with our memory is its choice */
        plan.load = (struct load_cfg){
            .op = ENG_WR_SEND, .size = opts->size, .depth = 1, .places = 1, .iters = 1};
    *end = (struct end){0};
    if (plan_single(&plan) != 0 || end_open(end, st, &plan, first) != 0)
        return -1;
    tell(st, end);
    return connect_all(end, opts) == 0 ? end_start(end) : -1;
}

int by_hand_client(struct station *st)
{
    struct end end;
    if (begin(st, &end, true) != 0 || runner_run(&end.runner, NULL) != 0) {
        end_close(&end);
        return EXIT_IO;
    }
    const struct load_result load = end.load.result;
    const struct result result = {
        .op = st->opts->op_name,
        .peer = st->opts->peer_ip,
        .load = &load,
        .size = end.plan.load.size,
        .qps = 1,
        .mtu = (uint32_t)st->opts->mtu,
        .service = end.plan.service,
    };
    end_close(&end);
    const int status = result_status(&result);
    return result_print(st, &result) == 0 ? status : EXIT_IO;
}

int by_hand_serve(struct station *st)
{
    struct end end;
    int status = begin(st, &end, false) == 0 ? EXIT_DONE : EXIT_IO;
    while (status == EXIT_DONE && !signals_interrupted()) {
        const int n = station_turn(st);
        if (n < 0)
            status = EXIT_IO;
        else if (n == 0)
            (void)station_idle(st, ENG_NEVER, -1, 0);
    }
    end_close(&end);
    return status;
}
