/* SPDX-License-Identifier: GPL-2.0-or-later */
/* perftest by the connection manager. */
#include "rocereplay/perftest_cm.h"

#include <roce/err.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "common/msg.h"
#include "common/signals.h"
#include "rocereplay/cm_run.h"
#include "rocereplay/party.h"

#define PATIENCE_NS UINT64_C(30000000000) /* for one record or connection */
#define LATE_NS     UINT64_C(3000000000)  /* for the other side's part of the end */
#define RETRY_NS    UINT64_C(100000000)   /* between requests to a port that does not listen yet */

enum {
    BATCH = 8,
    SEND_AT = PERFTEST_CM_SLOTS * PERFTEST_CM_ITEM_MAX,
    RETRIES = 50,
    INVALID_SERVICE_ID = 8, /* IBTA table 106 */
    SIDR_NO_SERVICE = 1,    /* IBTA table 121 */
    REJECT_CONSUMER = 28,
};

static uint64_t service_id(const struct replay_opts *opts, enum eng_service service)
{
    return eng_cm_service_id(service == ENG_UD ? ENG_CM_UDP : ENG_CM_TCP, opts->port);
}

int perftest_cm_listen(struct station *st)
{
    const struct replay_opts *opts = st->opts;
    if (cm_open(st) != 0)
        return -1;
    if (eng_cm_listen(st->cm, service_id(opts, ENG_RC), NULL) == 0 &&
        (opts->service != ENG_UD || eng_cm_listen(st->cm, service_id(opts, ENG_UD), NULL) == 0))
        return 0;
    msg_print("cannot listen at port %u of rdma_cm", opts->port);
    return -1;
}

/* ---- records ---- */

static int post_recv(struct perftest_cm *cm, uint32_t slot)
{
    const struct eng_recv_wr wr = {
        .wr_id = slot,
        .n_sge = 1,
        .sge = {lane_local(&cm->lane, (uint64_t)slot * PERFTEST_CM_ITEM_MAX, PERFTEST_CM_ITEM_MAX)},
    };
    return eng_post_recv(cm->lane.qp, station_now(cm->st), &wr);
}

static int open_records(struct perftest_cm *cm, struct station *st, bool client)
{
    cm->st = st;
    cm->client = client;
    cm->cq = eng_cq_new(st->dev, 2 * PERFTEST_CM_SLOTS);
    if (cm->cq == NULL) {
        msg_print("out of memory");
        return -1;
    }
    const struct lane_cfg cfg = {
        .service = ENG_RC,
        .local_len = SEND_AT + PERFTEST_CM_ITEM_MAX,
        .max_send = 1,
        .max_recv = PERFTEST_CM_SLOTS,
        .cq = cm->cq,
    };
    if (lane_open(&cm->lane, st, &cfg) != 0)
        return -1;
    for (uint32_t slot = 0; slot < PERFTEST_CM_SLOTS; slot++)
        if (post_recv(cm, slot) != 0)
            return -1;
    return 0;
}

static void take_records(struct perftest_cm *cm)
{
    struct eng_wc wc[BATCH];
    int n;
    while ((n = eng_cq_poll(cm->cq, wc, BATCH)) > 0)
        for (int i = 0; i < n; i++) {
            if (wc[i].status != ENG_WC_SUCCESS) {
                if (cm->status == ENG_WC_SUCCESS && wc[i].status != ENG_WC_WR_FLUSH_ERR)
                    cm->status = wc[i].status;
                continue;
            }
            if (wc[i].op == ENG_WC_SEND_SIDE) {
                cm->n_sent++;
                continue;
            }
            cm->arrived[cm->n_arrived].slot = (uint32_t)wc[i].wr_id;
            cm->arrived[cm->n_arrived++].len = wc[i].byte_len;
        }
}

/* ---- connections ---- */

static void note_peer(struct lane *lane, const struct eng_cm_event *event)
{
    struct remote remote = {
        .qpn = event->remote_qpn,
        .psn = event->remote_psn,
        .mtu = event->path_mtu,
        .qkey = event->qkey,
    };
    memcpy(remote.ip, event->ah.dst_ip, sizeof(remote.ip));
    lane->psn = event->local_psn;
    lane_connected(lane, &remote, &event->ah);
}

static uint8_t least(uint8_t a, uint8_t b)
{
    return a < b ? a : b;
}

static int accept_on(struct perftest_cm *cm, struct lane *lane, const struct eng_cm_event *request)
{
    struct eng_cm_param param = lane_cm_param(lane);
    param.responder_resources = least(param.responder_resources, request->responder_resources);
    param.initiator_depth = least(param.initiator_depth, request->initiator_depth);
    note_peer(lane, request);
    const int rc = eng_cm_accept(request->conn, station_now(cm->st), &param);
    if (rc == 0)
        return 0;
    msg_print("a connection request does not fit and is rejected: %s", roce_strerror(rc));
    (void)eng_cm_reject(request->conn, station_now(cm->st), REJECT_CONSUMER, NULL, 0);
    return -1;
}

static bool is_expected(const struct perftest_cm *cm, const struct eng_cm_event *event)
{
    return !cm->client && cm->n_asked < cm->n && event->service == cm->lanes[0].cfg.service &&
           memcmp(event->ah.dst_ip, cm->lane.remote.ip, 16) == 0;
}

static void take_request(struct perftest_cm *cm, const struct eng_cm_event *event)
{
    if (is_expected(cm, event)) {
        const uint32_t i = cm->n_asked++;
        if (accept_on(cm, &cm->lanes[i], event) == 0)
            cm->conns[i] = event->conn;
        else
            cm->refused = true;
    } else if (cm->n_waiting < PERFTEST_CM_WAITING) {
        cm->waiting[cm->n_waiting++] = *event;
    } else {
        (void)eng_cm_reject(event->conn, station_now(cm->st), REJECT_CONSUMER, NULL, 0);
    }
}

bool perftest_cm_waiting(struct perftest_cm *cm, struct eng_cm_event *request)
{
    if (cm->n_waiting == 0)
        return false;
    *request = cm->waiting[0];
    cm->n_waiting--;
    memmove(cm->waiting, cm->waiting + 1, cm->n_waiting * sizeof(cm->waiting[0]));
    return true;
}

/* The peer may have asked before we knew that it would. */
static void take_waiting(struct perftest_cm *cm)
{
    for (uint32_t n = cm->n_waiting; n > 0; n--) {
        struct eng_cm_event request;
        if (perftest_cm_waiting(cm, &request))
            take_request(cm, &request);
    }
}

static void take_event(struct perftest_cm *cm, const struct eng_cm_event *event)
{
    struct lane *lane = event->ctx;
    const bool records = lane == &cm->lane;
    switch (event->kind) {
    case ENG_CM_CONNECT_REQUEST:
        take_request(cm, event);
        return;
    case ENG_CM_ESTABLISHED:
        if (cm->client)
            note_peer(lane, event);
        cm->up = true;
        if (records)
            return;
        cm->n_up++;
        cm->refused = cm->refused || lane_control(lane) != 0;
        return;
    case ENG_CM_REJECTED:
    case ENG_CM_UNREACHABLE:
    case ENG_CM_CONNECT_ERROR:
        cm->refused = true;
        cm->refusal = *event;
        return;
    case ENG_CM_DISCONNECTED:
        cm->over = cm->over || records;
        cm->n_over += !records;
        return;
    }
}

/* Runs the station once, asleep until |until| at most. 0, or -1: a fault or an interrupt. */
static int turn(struct perftest_cm *cm, roce_tstamp until)
{
    struct eng_cm_event event;
    const int moved = station_turn(cm->st);
    if (moved < 0 || signals_interrupted())
        return -1;
    while (eng_cm_event(cm->st->cm, &event) > 0)
        take_event(cm, &event);
    take_records(cm);
    if (moved == 0)
        (void)station_idle(cm->st, until, -1, 0);
    return 0;
}

static bool nobody_listens(const struct eng_cm_event *refusal)
{
    const uint16_t reason = refusal->service == ENG_UD ? SIDR_NO_SERVICE : INVALID_SERVICE_ID;
    return refusal->kind == ENG_CM_REJECTED && refusal->reason == reason;
}

/* Asks for one connection until the peer listens. 0, or -1 with a message printed. */
static int ask(struct perftest_cm *cm, struct lane *lane, const struct eng_ah *ah, unsigned retries,
               struct eng_cm_conn **conn)
{
    const struct eng_cm_param param = lane_cm_param(lane);
    struct station *st = cm->st;
    for (;;) {
        cm->up = cm->refused = false;
        if (eng_cm_connect(st->cm, station_now(st), service_id(st->opts, lane->cfg.service), 0, ah,
                           &param, conn) != 0) {
            msg_print("the connection manager does not take the parameters");
            return -1;
        }
        while (!cm->up && !cm->refused)
            if (turn(cm, ENG_NEVER) != 0)
                return -1;
        if (cm->up)
            return 0;
        if (!nobody_listens(&cm->refusal) || retries-- == 0)
            break;
        eng_cm_release(*conn, station_now(st));
        *conn = NULL;
        const roce_tstamp again = station_now(st) + RETRY_NS;
        while (station_now(st) < again)
            if (turn(cm, again) != 0)
                return -1;
    }
    if (cm->refusal.kind != ENG_CM_REJECTED)
        msg_print("no answer to the connection request; is the peer's program running?");
    else
        msg_print("the peer refuses the connection: %s; does it run with -R or -z?",
                  party_refusal(&cm->refusal));
    return -1;
}

int perftest_cm_connect(struct perftest_cm *cm, struct station *st, const uint8_t ip[16])
{
    struct eng_ah ah;
    if (cm_open(st) != 0 || open_records(cm, st, true) != 0 || lane_path(st, ip, &ah) != 0)
        return -1;
    return ask(cm, &cm->lane, &ah, 0, &cm->conn);
}

int perftest_cm_accept(struct perftest_cm *cm, struct station *st,
                       const struct eng_cm_event *request)
{
    if (open_records(cm, st, false) != 0) {
        (void)eng_cm_reject(request->conn, station_now(st), REJECT_CONSUMER, NULL, 0);
        return -1;
    }
    if (accept_on(cm, &cm->lane, request) != 0)
        return -1;
    cm->conn = request->conn;
    cm->peer_timeout = request->ack_timeout;
    return 0;
}

/* UD: the port space decides the Q_Key. */
static int set_qkey(struct perftest_cm *cm, struct lane *lane)
{
    const struct eng_qp_attr attr = {.state = ENG_INIT, .qkey = ENG_CM_UDP_QKEY};
    if (lane->cfg.service != ENG_UD)
        return 0;
    return eng_qp_modify(lane->qp, station_now(cm->st), &attr, ENG_ATTR_STATE | ENG_ATTR_QKEY);
}

int perftest_cm_join(struct perftest_cm *cm, struct lane *lanes, uint32_t n)
{
    cm->conns = calloc(n, sizeof(struct eng_cm_conn *));
    if (cm->conns == NULL) {
        msg_print("out of memory");
        return -1;
    }
    cm->lanes = lanes;
    cm->n = n;
    cm->refused = false;
    for (uint32_t i = 0; i < n; i++)
        if (set_qkey(cm, &lanes[i]) != 0)
            return -1;
    take_waiting(cm);
    /* One by one: the peer's numbering is the order of their arrival. */
    for (uint32_t i = 0; cm->client && i < n; i++)
        if (ask(cm, &lanes[i], &cm->lane.ah, RETRIES, &cm->conns[i]) != 0)
            return -1;
    const roce_tstamp until = station_now(cm->st) + PATIENCE_NS;
    while (cm->n_up < n && !cm->refused && !cm->over)
        if (station_now(cm->st) >= until || turn(cm, until) != 0)
            break;
    if (cm->n_up == n)
        return 0;
    if (!signals_interrupted())
        msg_print("%u of %u connections came about; do both sides have the same number of QPs?",
                  cm->n_up, n);
    return -1;
}

/* ---- the exchange ---- */

static int broken(const struct perftest_cm *cm, const char *what)
{
    if (signals_interrupted())
        return -1;
    if (cm->status != ENG_WC_SUCCESS)
        msg_print("%s: %s", what, eng_wc_status_text((enum eng_wc_status)cm->status));
    else if (cm->over)
        msg_print("the peer closed its connection where %s was due", what);
    else
        msg_print("no %s from the peer for 30 s", what);
    return -1;
}

int perftest_cm_read(struct perftest_cm *cm, void *buf, size_t len, bool forever, const char *what)
{
    const roce_tstamp until = forever ? ENG_NEVER : station_now(cm->st) + PATIENCE_NS;
    while (cm->n_arrived == 0)
        if (cm->over || cm->status != ENG_WC_SUCCESS || station_now(cm->st) >= until ||
            turn(cm, until) != 0)
            return broken(cm, what);
    const uint32_t slot = cm->arrived[0].slot, got = cm->arrived[0].len;
    cm->n_arrived--;
    memmove(cm->arrived, cm->arrived + 1, cm->n_arrived * sizeof(cm->arrived[0]));
    if (got != len) {
        msg_print("%s of %u bytes, %zu were due; is the peer another program?", what, got, len);
        return -1;
    }
    memcpy(buf, cm->lane.local + (size_t)slot * PERFTEST_CM_ITEM_MAX, len);
    return cm->over ? 0 : post_recv(cm, slot);
}

int perftest_cm_write(struct perftest_cm *cm, const void *buf, size_t len, const char *what)
{
    const struct eng_send_wr wr = {
        .op = ENG_WR_SEND,
        .signaled = true,
        .n_sge = 1,
        .sge = {lane_local(&cm->lane, SEND_AT, (uint32_t)len)},
    };
    const roce_tstamp until = station_now(cm->st) + PATIENCE_NS;
    const uint32_t before = cm->n_sent;
    memcpy(cm->lane.local + SEND_AT, buf, len);
    if (eng_post_send(cm->lane.qp, station_now(cm->st), &wr) != 0)
        return broken(cm, what);
    while (cm->n_sent == before) {
        /* Who has answered had it, though its ACK was lost; with the last answer it leaves. */
        if (cm->over && cm->n_arrived > 0)
            return 0;
        if (cm->over || cm->status != ENG_WC_SUCCESS || station_now(cm->st) >= until ||
            turn(cm, until) != 0)
            return broken(cm, what);
    }
    return 0;
}

/* ---- the end ---- */

static void wait_until_over(struct perftest_cm *cm, uint64_t patience)
{
    const roce_tstamp until = station_now(cm->st) + patience;
    while (!cm->over && station_now(cm->st) < until)
        if (turn(cm, until) != 0)
            return;
}

void perftest_cm_wait_end(struct perftest_cm *cm)
{
    wait_until_over(cm, LATE_NS);
}

static void end_run(struct perftest_cm *cm)
{
    struct station *st = cm->st;
    const roce_tstamp until = station_now(st) + LATE_NS;
    if (cm->n == 0 || cm->lanes[0].cfg.service == ENG_UD) /* SIDR has no disconnection */
        return;
    for (uint32_t i = 0; i < cm->n && !cm->client; i++)
        if (cm->conns[i] != NULL)
            (void)eng_cm_disconnect(cm->conns[i], station_now(st));
    while (cm->n_over < cm->n_up && station_now(st) < until)
        if (turn(cm, until) != 0)
            return;
}

/* The programs end at their exit, the server first: it has the client's last record, but whether
 * the client knows that shows in its silence alone. */
static uint64_t last_ack_ns(const struct perftest_cm *cm)
{
    const uint8_t own = cm->st->opts->timeout;
    const uint8_t timeout = cm->peer_timeout > own ? cm->peer_timeout : own;
    const uint64_t twice = UINT64_C(2) * 4096 << timeout;
    return twice < LATE_NS ? twice : LATE_NS;
}

void perftest_cm_close(struct perftest_cm *cm)
{
    struct station *st = cm->st;
    if (st == NULL)
        return;
    end_run(cm);
    if (cm->conn != NULL && !cm->refused) {
        wait_until_over(cm, cm->client ? LATE_NS : last_ack_ns(cm));
        if (!cm->over && eng_cm_disconnect(cm->conn, station_now(st)) == 0)
            wait_until_over(cm, LATE_NS);
        (void)station_leave(st);
    }
    for (uint32_t i = 0; i < cm->n; i++)
        if (cm->conns[i] != NULL)
            eng_cm_release(cm->conns[i], station_now(st));
    if (cm->conn != NULL)
        eng_cm_release(cm->conn, station_now(st));
    lane_close(&cm->lane);
    if (cm->cq != NULL)
        eng_cq_del(cm->cq);
    free(cm->conns);
    memset(cm, 0, offsetof(struct perftest_cm, waiting));
}
