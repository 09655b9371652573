/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Handshakes of targets. */
#include "rocereplay/target_meet.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/msg.h"
#include "rocereplay/cm_run.h"
#include "rocereplay/perftest.h"
#include "rocereplay/pingpong.h"

enum { NUMBER_ROOM = 12 };

enum replay_tool target_tool_of(enum eng_wr_op op)
{
    return perftest_tool_of(op);
}

/* ---- by hand ---- */

static void list(char text[HAND_MAX * NUMBER_ROOM], const struct target *t, bool psn)
{
    size_t at = 0;
    for (uint32_t i = 0; i < t->n; i++) {
        const unsigned value = psn ? t->lanes[i].psn : t->lanes[i].qpn;
        at += (size_t)snprintf(text + at, HAND_MAX * NUMBER_ROOM - at, "%s0x%x", i > 0 ? "," : "",
                               value);
    }
}

static void tell(const struct target *t)
{
    char ip[NETIF_IP_TEXT], qpns[HAND_MAX * NUMBER_ROOM], psns[HAND_MAX * NUMBER_ROOM];
    netif_ip_text(t->st->ip, ip);
    list(qpns, t, false);
    list(psns, t, true);
    msg_print("own numbers: --peer-ip %s --qpn %s --psn %s", ip, qpns, psns);
}

int target_meet_by_hand(struct target *t, const uint8_t ip[16])
{
    const struct hand *hand = &t->st->opts->hand;
    if (t->first + t->n > hand->n) {
        msg_print("%u QPs are needed, --qpn tells of %u; give as many, or replay less by --host",
                  (unsigned)t->n, (unsigned)hand->n);
        return -1;
    }
    if (t->first == 0)
        tell(t);
    for (uint32_t i = 0; i < t->n; i++) {
        struct remote remote = {.qpn = hand->qp[t->first + i].qpn,
                                .psn = hand->qp[t->first + i].psn,
                                .rkey = hand->qp[t->first + i].rkey,
                                .va = hand->qp[t->first + i].va};
        memcpy(remote.ip, ip, 16);
        if (lane_connect(&t->lanes[i], &remote) != 0)
            return -1;
    }
    return 0;
}

/* ---- the connection manager ---- */

int target_meet_cm(struct target *t, const uint8_t ip[16])
{
    struct cm_run *run = cm_run_new(t->st, t->lanes, t->n);
    t->exchange = run;
    return run != NULL ? cm_run_meet(run, ip) : -1;
}

void target_part_cm(struct target *t, const struct load_result *load)
{
    (void)load;
    cm_run_del(t->exchange);
}

/* ---- perftest ---- */

int target_meet_perftest(struct target *t, const uint8_t ip[16])
{
    struct perftest_run *run =
        perftest_run_new(t->st, t->lanes, t->n, target_tool_of(t->st->opts->wr_op));
    t->exchange = run;
    return run != NULL ? perftest_run_meet(run, ip) : -1;
}

void target_part_perftest(struct target *t, const struct load_result *load)
{
    if (t->exchange != NULL && load != NULL)
        (void)perftest_run_part(t->exchange, load);
    perftest_run_del(t->exchange);
}

/* ---- ping-pong ---- */

int target_meet_pingpong(struct target *t, const uint8_t ip[16])
{
    return pingpong_meet(t->st, &t->lanes[0], ip);
}
