/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Peers by hand. */
#include "rocereplay/by_hand.h"

#include <inttypes.h>
#include <string.h>

#include "common/msg.h"
#include "common/signals.h"
#include "rocereplay/plan.h"
#include "rocereplay/result.h"

static void tell(const struct station *st, const struct lane *lane)
{
    char ip[NETIF_IP_TEXT];
    netif_ip_text(st->ip, ip);
    msg_print("own numbers: --peer-ip %s --qpn 0x%x --psn 0x%x --rkey 0x%x --va 0x%" PRIx64, ip,
              (unsigned)lane->qpn, (unsigned)lane->psn, (unsigned)lane_rkey(lane), lane->target_va);
}

static int begin(struct station *st, struct end *end, bool first)
{
    const struct replay_opts *opts = st->opts;
    struct plan plan = plan_of(opts);
    if (!first) /* what the peer may do with our memory is its choice */
        plan.load = (struct load_cfg){
            .op = ENG_WR_SEND, .size = opts->size, .depth = 1, .places = 1, .iters = 1};
    struct remote remote = {
        .qpn = opts->peer_qpn,
        .psn = opts->peer_psn,
        .rkey = opts->peer_rkey,
        .va = opts->peer_va,
    };
    memcpy(remote.ip, opts->peer_addr, 16);
    *end = (struct end){0};
    if (plan_single(&plan) != 0 || end_open(end, st, &plan, first) != 0)
        return -1;
    tell(st, &end->lanes[0]);
    if (lane_connect(&end->lanes[0], &remote) != 0)
        return -1;
    return end_start(end);
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
