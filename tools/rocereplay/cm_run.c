/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Runs over the connection manager. */
#include "rocereplay/cm_run.h"

#include <roce/cm.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/msg.h"
#include "common/signals.h"
#include "rocereplay/party.h"
#include "rocereplay/plan.h"
#include "rocereplay/result.h"

#define END_NS UINT64_C(3000000000)

enum {
    PARTIES = 256,
    ECHO_MAX = 65536,
    ANSWER_TIMEOUT = 16, /* 0.27 s: a peer that misses our DREP asks again while we are there */
};

static const struct party_app *app_of(const struct replay_opts *opts)
{
    static const struct party_app *const apps[] = {[APP_LOAD] = &party_load,
                                                   [APP_RPING] = &party_rping,
                                                   [APP_ECHO] = &party_echo,
                                                   [APP_UDADDY] = &party_udaddy};
    return apps[opts->app];
}

int cm_open(struct station *st)
{
    const struct eng_cm_cfg cfg = {
        .max_conns = (uint32_t)(st->opts->qps * 2 + 1024),
        .max_mtu = (uint16_t)st->opts->mtu,
        .answer_timeout = ANSWER_TIMEOUT,
        .seed = st->seed,
    };
    st->cm = eng_cm_new(st->dev, &cfg, station_now(st));
    if (st->cm != NULL)
        return 0;
    msg_print("out of memory");
    return -1;
}

static uint64_t service_id(const struct replay_opts *opts)
{
    return eng_cm_service_id(opts->service == ENG_UD ? ENG_CM_UDP : ENG_CM_TCP, opts->port);
}

/* ---- loads ---- */

static int ask(struct end *end, struct eng_cm_conn **conn, const struct eng_ah *ah)
{
    struct station *st = end->st;
    const struct replay_opts *opts = st->opts;
    uint8_t data[PARTY_HELLO_LEN];
    const struct party_hello hello = {
        .verify = opts->verify, .size = end->plan.load.size, .places = end->plan.load.places};
    party_hello_encode(&hello, data);
    for (uint32_t i = 0; i < end->plan.n; i++) {
        struct lane *lane = &end->lanes[i];
        struct eng_cm_param param = lane_cm_param(lane);
        param.access = 0;
        param.private_data = data;
        param.private_len = sizeof(data);
        if (eng_cm_connect(st->cm, station_now(st), service_id(opts), 0, ah, &param, &conn[i]) !=
            0) {
            msg_print("the connection manager does not take the parameters");
            return -1;
        }
    }
    return 0;
}

static int established(struct lane *lane, const struct eng_cm_event *event)
{
    struct party_hello hello;
    struct remote remote = {.qpn = event->remote_qpn,
                            .psn = event->remote_psn,
                            .mtu = event->path_mtu,
                            .qkey = event->qkey};
    if (party_hello_decode(event->private_data, event->private_len, &hello) == 0) {
        remote.rkey = hello.rkey;
        remote.va = hello.va;
        remote.len = hello.size;
    } else if (lane->st->opts->app == APP_LOAD && (!plan_takes_receives(lane->st->opts->wr_op) ||
                                                   lane->st->opts->wr_op == ENG_WR_WRITE_IMM)) {
        msg_print("the peer is not rocereplay serve: its memory is not known; give --op send or "
                  "--app");
        return -1;
    }
    memcpy(remote.ip, event->ah.dst_ip, 16);
    lane->psn = event->local_psn;
    lane_connected(lane, &remote, &event->ah);
    return lane_control(lane);
}

/* Returns 1 when a connection has come about, 0 when another event was served, or -1. */
static int meet_event(const struct eng_cm_event *event)
{
    switch (event->kind) {
    case ENG_CM_ESTABLISHED:
        return established(event->ctx, event) == 0 ? 1 : -1;
    case ENG_CM_REJECTED:
        msg_print("the peer refuses the connection: %s", party_refusal(event));
        return -1;
    case ENG_CM_UNREACHABLE:
        msg_print("no answer to the connection request; is the peer's program running?");
        return -1;
    case ENG_CM_CONNECT_ERROR:
        msg_print("the QP does not take the connection's parameters");
        return -1;
    case ENG_CM_DISCONNECTED:
        msg_print("the peer ended the connection");
        return -1;
    case ENG_CM_CONNECT_REQUEST:
        break;
    }
    return 0;
}

static int wait_established(struct end *end)
{
    uint32_t up = 0;
    while (up < end->plan.n && !signals_interrupted()) {
        struct eng_cm_event event;
        const int moved = station_turn(end->st);
        if (moved < 0)
            return -1;
        while (eng_cm_event(end->st->cm, &event) > 0) {
            const int rc = meet_event(&event);
            if (rc < 0)
                return -1;
            up += (uint32_t)rc;
        }
        if (moved == 0)
            (void)station_idle(end->st, ENG_NEVER, -1, 0);
    }
    return up == end->plan.n ? 0 : -1;
}

/* What the peer sends back is not lost by our leaving first. */
static void wait_received(struct end *end)
{
    struct station *st = end->st;
    const uint64_t wanted = end->plan.bidirectional ? end->load.result.messages : 0;
    const roce_tstamp give_up = station_now(st) + END_NS;
    while (end->sink.messages < wanted && station_now(st) < give_up && !signals_interrupted()) {
        const int moved = station_turn(st);
        if (moved < 0)
            return;
        if (moved == 0)
            (void)station_idle(st, give_up, -1, 0);
    }
}

/* |well|: DREQs are repeated as often as the connection manager does; else the peer may be dead. */
static void disconnect(struct end *end, struct eng_cm_conn **conn, bool well)
{
    struct station *st = end->st;
    const roce_tstamp give_up = well ? ENG_NEVER : station_now(st) + END_NS;
    uint32_t left = 0;
    for (uint32_t i = 0; i < end->plan.n; i++)
        if (conn[i] != NULL && eng_cm_disconnect(conn[i], station_now(st)) == 0)
            left++;
    while (left > 0 && station_now(st) < give_up && !(well && signals_interrupted())) {
        struct eng_cm_event event;
        const int moved = station_turn(st);
        if (moved < 0)
            break;
        while (eng_cm_event(st->cm, &event) > 0)
            if (event.kind == ENG_CM_DISCONNECTED && left > 0)
                left--;
        if (moved == 0)
            (void)station_idle(st, give_up, -1, 0);
    }
    (void)station_leave(st);
    for (uint32_t i = 0; i < end->plan.n; i++)
        if (conn[i] != NULL)
            eng_cm_release(conn[i], station_now(st));
}

static int load_client(struct station *st, const struct eng_ah *ah)
{
    const struct plan plan = plan_of(st->opts);
    struct end end;
    struct load_result load = {0};
    struct eng_cm_conn **conn = calloc(plan.n, sizeof(struct eng_cm_conn *));
    char peer[320];
    if (conn == NULL) {
        msg_print("out of memory");
        return EXIT_IO;
    }
    int rc = end_open(&end, st, &plan, true);
    if (rc == 0)
        rc = ask(&end, conn, ah);
    if (rc == 0)
        rc = wait_established(&end);
    end.runner.impatient = rc == 0 && end.lanes[0].remote.len == 0; /* not rocereplay serve */
    if (rc == 0)
        rc = end_start(&end) == 0 && runner_run(&end.runner, NULL) == 0 ? 0 : -1;
    if (rc == 0 && !end.load.failed)
        wait_received(&end);
    load = end.load.result;
    if (st->cm != NULL && end.lanes != NULL)
        disconnect(&end, conn, rc == 0 && !end.load.failed && !signals_interrupted());
    (void)snprintf(peer, sizeof(peer), "rocereplay at %s by rdma_cm", st->opts->host);
    const struct result result = {
        .op = st->opts->op_name,
        .peer = peer,
        .load = &load,
        .size = plan.load.size,
        .qps = plan.n,
        .mtu = (uint32_t)st->opts->mtu,
        .service = plan.service,
        .received = end.sink.messages,
    };
    end_close(&end);
    free(conn);
    if (rc != 0)
        return EXIT_IO;
    const int status = result_status(&result);
    return result_print(st, &result) == 0 ? status : EXIT_IO;
}

/* ---- rping, ucmatose ---- */

static int app_client(struct station *st, const struct eng_ah *ah)
{
    struct party party = {0};
    const struct party_app *app = app_of(st->opts);
    char peer[320];
    int rc = -1;
    if (station_queues(st, 65536 + 64, 65536 + 64) == 0 &&
        party_open(&party, st, app, 0, true) == 0) {
        const struct eng_cm_param param = party_param(&party);
        rc = eng_cm_connect(st->cm, station_now(st), service_id(st->opts), 0, ah, &param,
                            &party.conn);
        if (rc != 0)
            msg_print("the connection manager does not take the parameters");
    }
    if (rc == 0)
        rc = party_run(st, &party, 1, app, false);
    (void)snprintf(peer, sizeof(peer), "%s at %s", app->name, st->opts->host);
    const struct load_result load = party.result;
    const struct result result = {
        .op = app->name,
        .peer = peer,
        .load = &load,
        .size = party.size,
        .qps = 1,
        .mtu = (uint32_t)st->opts->mtu,
        .service = (enum eng_service)st->opts->service,
        .received = party.n_received,
    };
    const bool complete = load.messages >= st->opts->iters;
    party_close(&party);
    station_drop_queues(st);
    if (rc != 0)
        return EXIT_IO;
    if (!complete && !signals_interrupted())
        msg_print("the peer ended the connection after %llu of %llu messages",
                  (unsigned long long)load.messages, (unsigned long long)st->opts->iters);
    const int status = result_status(&result);
    return result_print(st, &result) == 0 && complete ? status : EXIT_IO;
}

static int check_count(const struct replay_opts *opts)
{
    if ((opts->app != APP_ECHO && opts->app != APP_UDADDY) || opts->iters <= ECHO_MAX)
        return 0;
    msg_print("--iters: %s posts all its messages at once; give at most %d", app_of(opts)->name,
              (int)ECHO_MAX);
    return -1;
}

int cm_client(struct station *st, const uint8_t ip[16])
{
    struct eng_ah ah;
    if (check_count(st->opts) != 0)
        return EXIT_USAGE;
    if (cm_open(st) != 0 || lane_path(st, ip, &ah) != 0)
        return EXIT_IO;
    return st->opts->app == APP_LOAD ? load_client(st, &ah) : app_client(st, &ah);
}

int cm_serve(struct station *st)
{
    struct party *parties = calloc(PARTIES, sizeof(*parties));
    int rc = -1;
    if (check_count(st->opts) != 0) {
        free(parties);
        return EXIT_USAGE;
    }
    if (parties == NULL || cm_open(st) != 0 || station_queues(st, 1 << 17, 1 << 17) != 0) {
        if (parties == NULL)
            msg_print("out of memory");
    } else if (eng_cm_listen(st->cm, service_id(st->opts), NULL) != 0) {
        msg_print("cannot listen at port %u", st->opts->port);
    } else {
        rc = party_run(st, parties, PARTIES, app_of(st->opts), true);
        if (!st->opts->once)
            rc = 0;
    }
    for (int i = 0; parties != NULL && i < PARTIES; i++)
        party_close(&parties[i]);
    free(parties);
    station_drop_queues(st);
    return rc == 0 ? EXIT_DONE : EXIT_IO;
}

/* ---- connections alone ---- */

struct cm_run {
    struct end end; /* its lanes are borrowed */
    struct eng_cm_conn **conn;
};

struct cm_run *cm_run_new(struct station *st, struct lane *lanes, uint32_t n)
{
    struct cm_run *run = calloc(1, sizeof(*run));
    struct eng_cm_conn **conn = calloc(n, sizeof(struct eng_cm_conn *));
    if (run == NULL || conn == NULL) {
        msg_print("out of memory");
        free(run);
        free(conn);
        return NULL;
    }
    run->conn = conn;
    run->end.st = st;
    run->end.lanes = lanes;
    run->end.plan.n = n;
    run->end.plan.load.size = st->opts->size;
    run->end.plan.load.places = 1;
    return run;
}

int cm_run_meet(struct cm_run *run, const uint8_t ip[16])
{
    struct station *st = run->end.st;
    struct eng_ah ah;
    if ((st->cm == NULL && cm_open(st) != 0) || lane_path(st, ip, &ah) != 0)
        return -1;
    return ask(&run->end, run->conn, &ah) == 0 ? wait_established(&run->end) : -1;
}

void cm_run_del(struct cm_run *run)
{
    if (run == NULL)
        return;
    if (run->end.st->cm != NULL)
        disconnect(&run->end, run->conn, false);
    free(run->conn);
    free(run);
}
