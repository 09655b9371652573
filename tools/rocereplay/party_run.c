/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Events and completions of parties. */
#include <roce/cm.h>
#include <string.h>

#include "common/msg.h"
#include "common/signals.h"
#include "rocereplay/party.h"

enum { BATCH = 16, REJECT_CONSUMER = 28, REJECT_NO_RESOURCES = 3 };
#define SILENCE_NS UINT64_C(10000000000)
#define END_NS     UINT64_C(3000000000) /* for the disconnection when a signal ends the run */

struct party_set {
    struct station *st;
    struct party *party;
    uint32_t n;
    const struct party_app *app;
    uint32_t ended;
    bool failed;
};

static void note_peer(struct party *party, const struct eng_cm_event *event)
{
    struct remote remote = {.qpn = event->remote_qpn,
                            .psn = event->remote_psn,
                            .mtu = event->path_mtu,
                            .qkey = event->qkey};
    memcpy(remote.ip, event->ah.dst_ip, 16);
    party->lane.psn = event->local_psn;
    lane_connected(&party->lane, &remote, &event->ah);
    (void)party_hello_decode(event->private_data, event->private_len, &party->hello);
}

static struct party *free_party(struct party_set *set, uint32_t *slot)
{
    for (*slot = 0; *slot < set->n; (*slot)++)
        if (!set->party[*slot].used)
            return &set->party[*slot];
    return NULL;
}

static void take_request(struct party_set *set, const struct eng_cm_event *event)
{
    const roce_tstamp now = station_now(set->st);
    uint32_t slot;
    struct party *party = free_party(set, &slot);
    if (party == NULL) {
        (void)eng_cm_reject(event->conn, now, REJECT_NO_RESOURCES, NULL, 0);
        return;
    }
    *party = (struct party){0};
    if (party_hello_decode(event->private_data, event->private_len, &party->hello) != 0)
        party->hello = (struct party_hello){0};
    if (party_open(party, set->st, set->app, slot, false) != 0) {
        (void)eng_cm_reject(event->conn, now, REJECT_CONSUMER, NULL, 0);
        party_close(party);
        return;
    }
    uint8_t data[PARTY_HELLO_LEN];
    const struct party_hello hello = {.size = (uint32_t)party->lane.cfg.target_len,
                                      .rkey = lane_rkey(&party->lane),
                                      .va = party->lane.target_va};
    struct eng_cm_param param = party_param(party);
    party_hello_encode(&hello, data);
    if (set->app == &party_load) {
        param.private_data = data;
        param.private_len = sizeof(data);
    }
    if (param.responder_resources > event->responder_resources)
        param.responder_resources = event->responder_resources;
    if (param.initiator_depth > event->initiator_depth)
        param.initiator_depth = event->initiator_depth;
    party->conn = event->conn;
    note_peer(party, event);
    if (eng_cm_accept(event->conn, now, &param) != 0) {
        msg_print("a connection request does not fit and is rejected");
        (void)eng_cm_reject(event->conn, now, REJECT_CONSUMER, NULL, 0);
        party->conn = NULL;
        party_close(party);
    }
}

const char *party_refusal(const struct eng_cm_event *event)
{
    return event->service == ENG_UD ? roce_cm_sidr_status_text((uint8_t)event->reason)
                                    : roce_cm_reject_text(event->reason);
}

static void refused(struct party *party, const struct eng_cm_event *event)
{
    if (event->kind == ENG_CM_REJECTED)
        msg_print("the peer refuses the connection: %s", party_refusal(event));
    else if (event->kind == ENG_CM_UNREACHABLE)
        msg_print("no answer to the connection request; is the peer's program running?");
    else
        msg_print("the QP does not take the connection's parameters");
    party->failed = party->over = true;
}

static void take_event(struct party_set *set, const struct eng_cm_event *event)
{
    struct party *party = event->ctx;
    switch (event->kind) {
    case ENG_CM_CONNECT_REQUEST:
        take_request(set, event);
        return;
    case ENG_CM_ESTABLISHED:
        if (party->client)
            note_peer(party, event);
        party->up = true;
        party->heard = station_now(set->st);
        if (lane_control(&party->lane) != 0 || party->app->established(party) != 0)
            party_fail(party);
        return;
    case ENG_CM_REJECTED:
    case ENG_CM_UNREACHABLE:
    case ENG_CM_CONNECT_ERROR:
        refused(party, event);
        return;
    case ENG_CM_DISCONNECTED:
        party->over = true;
        return;
    }
}

static void take_completion(struct party_set *set, const struct eng_wc *wc, bool received)
{
    if (wc->wr_id >= set->n)
        return;
    struct party *party = &set->party[wc->wr_id];
    if (!party->used || wc->qpn != party->lane.qpn || party->failed || party->over)
        return;
    if (wc->status != ENG_WC_SUCCESS) {
        if (wc->status == ENG_WC_WR_FLUSH_ERR) /* the end of the connection */
            return;
        msg_print("QP 0x%x: %s", (unsigned)wc->qpn,
                  eng_wc_status_text((enum eng_wc_status)wc->status));
        party_fail(party);
        return;
    }
    party->heard = wc->now;
    if ((received ? party->app->received : party->app->sent)(party, wc) != 0)
        party_fail(party);
}

static void take_completions(struct party_set *set)
{
    struct eng_wc wc[BATCH];
    int n;
    /* Sends first: what they sent may be overwritten by the answer to what was received. */
    while ((n = eng_cq_poll(set->st->send_cq, wc, BATCH)) > 0)
        for (int i = 0; i < n; i++)
            take_completion(set, &wc[i], false);
    while ((n = eng_cq_poll(set->st->recv_cq, wc, BATCH)) > 0)
        for (int i = 0; i < n; i++)
            take_completion(set, &wc[i], true);
}

/* What was lost of datagrams would be waited for in vain, and so would the end of a peer that has
 * gone. */
static void end_silent(struct party_set *set, roce_tstamp now)
{
    for (uint32_t i = 0; i < set->n; i++) {
        struct party *party = &set->party[i];
        if (!party->used || !party->up || party->over || now - party->heard < SILENCE_NS)
            continue;
        if (party->lane.cfg.service == ENG_UD) {
            msg_print("QP 0x%x: no datagram for 10 s after %llu of %llu", (unsigned)party->lane.qpn,
                      (unsigned long long)party->n_received, (unsigned long long)party->iters);
            party_fail(party);
        } else if (party->done) {
            party->done = false;
            party_end(party);
        }
    }
}

/* Frees those that are over; a client's stays for its result. */
static void sweep(struct party_set *set, bool listening)
{
    for (uint32_t i = 0; i < set->n; i++) {
        struct party *party = &set->party[i];
        if (!party->used || !party->over)
            continue;
        set->failed = set->failed || party->failed;
        if (!listening)
            continue;
        set->ended++;
        if (!set->st->opts->quiet)
            msg_print("%s: QP 0x%x done, %llu messages received%s", party->app->name,
                      (unsigned)party->lane.qpn, (unsigned long long)party->n_received,
                      party->failed ? ", failed" : "");
        party_close(party);
    }
}

static bool finished(const struct party_set *set, bool listening)
{
    if (listening)
        return set->st->opts->once && set->ended > 0;
    return set->party[0].over;
}

static void end_all(struct party_set *set)
{
    for (uint32_t i = 0; i < set->n; i++)
        if (set->party[i].used && set->party[i].up && !set->party[i].over)
            party_end(&set->party[i]);
}

static bool any_left(const struct party_set *set)
{
    for (uint32_t i = 0; i < set->n; i++)
        if (set->party[i].used && set->party[i].up && !set->party[i].over)
            return true;
    return false;
}

int party_run(struct station *st, struct party *parties, uint32_t n, const struct party_app *app,
              bool listening)
{
    struct party_set set = {.st = st, .party = parties, .n = n, .app = app};
    roce_tstamp give_up = ENG_NEVER;
    while (!finished(&set, listening)) {
        const int moved = station_turn(st);
        struct eng_cm_event event;
        if (moved < 0)
            return -1;
        while (eng_cm_event(st->cm, &event) > 0)
            take_event(&set, &event);
        take_completions(&set);
        if (set.party[0].done || st->opts->service == ENG_UD)
            end_silent(&set, station_now(st));
        sweep(&set, listening);
        if (signals_interrupted()) {
            if (give_up == ENG_NEVER) {
                give_up = station_now(st) + END_NS;
                end_all(&set);
            }
            if (!any_left(&set) || station_now(st) >= give_up)
                break;
        }
        if (moved == 0)
            (void)station_idle(st, give_up, -1, 0);
    }
    /* The last answer of the connection manager has to leave. */
    return station_leave(st) != 0 || set.failed ? -1 : 0;
}
