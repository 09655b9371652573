/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Both sides of the ping-pong: each sends its next message when it has got one and its last is
 * done. ibv_srq_pingpong plays with several QPs at once and counts the messages of all. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/msg.h"
#include "common/signals.h"
#include "rocereplay/pattern.h"
#include "rocereplay/pingpong.h"
#include "rocereplay/result.h"
#include "rocereplay/tcp.h"
#include "rocereplay/truth.h"

#define SILENCE_NS UINT64_C(10000000000) /* unreliable services do not tell of losses */

enum { RECVS = 500, FILLER = 0x7B, PAGE = 4096 };

/* One QP's. */
struct ball {
    struct lane lane;
    bool sending, owed; /* a send is under way; a message has come and asks for ours */
    roce_tstamp sent_at;
};

struct game {
    struct station *st;
    struct ball *balls; /* wr_id is the place in it */
    uint32_t n;
    uint32_t size, head;                    /* |head|: bytes before the data of a receive */
    bool first;                             /* serves the ball */
    uint64_t iters, posted, sent, received; /* sent, received: completed */
    roce_tstamp last;
    struct load_result result;
};

/* Local memory: what is sent, then what is received. The serving side sends back what has come, as
 * the programs do, whose one buffer serves both. */
static uint64_t receive_off(const struct game *g)
{
    return g->first ? g->size : 0;
}

static int post_recv(struct game *g, uint64_t i)
{
    const struct lane *lane = &g->balls[i].lane;
    const struct eng_recv_wr wr = {
        .wr_id = i, .n_sge = 1, .sge = {lane_local(lane, receive_off(g), g->head + g->size)}};
    return eng_post_recv(lane->qp, station_now(g->st), &wr);
}

/* The programs' -c looks for a zero at the start of each page. */
static void fill(const struct game *g, const struct lane *lane)
{
    uint8_t *buf = lane->local;
    if (g->st->opts->verify)
        pattern_fill(buf, g->size, g->sent, 0);
    for (uint32_t i = 0; i < g->size; i += PAGE)
        buf[i] = 0;
}

static bool came_back(const struct game *g, const struct lane *lane)
{
    return memcmp(lane->local, lane->local + receive_off(g) + g->head, g->size) == 0;
}

static int post_send(struct game *g, uint32_t i)
{
    const roce_tstamp now = station_now(g->st);
    struct ball *ball = &g->balls[i];
    const struct lane *lane = &ball->lane;
    const uint64_t off = g->first ? 0 : g->head;
    const struct eng_send_wr wr = {
        .wr_id = i,
        .op = ENG_WR_SEND,
        .signaled = true,
        .n_sge = 1,
        .sge = {lane_local(lane, off, g->size)},
        .ah = lane->ah,
        .dest_qpn = lane->remote.qpn,
        .qkey = lane->remote.qkey,
    };
    if (g->first && (g->st->opts->verify || g->sent == 0))
        fill(g, lane);
    g->posted++;
    ball->sending = true;
    ball->owed = false;
    ball->sent_at = now;
    return eng_post_send(lane->qp, now, &wr);
}

static int open_ball(struct game *g, uint32_t i)
{
    const struct replay_opts *opts = g->st->opts;
    struct lane *lane = &g->balls[i].lane;
    const struct lane_cfg cfg = {
        .service = (enum eng_service)opts->service,
        .local_len = 2 * ((uint64_t)g->size + ENG_GRH_LEN),
        .max_send = 1,
        .max_recv = RECVS,
        .qpn = opts->own_qpn_value != 0 ? opts->own_qpn_value + i : 0,
        .psn = opts->own_psn_value,
        .has_psn = opts->has_own_psn,
    };
    if (lane_open(lane, g->st, &cfg) != 0)
        return -1;
    memset(lane->local, FILLER, g->size);
    for (int n = 0; n < RECVS; n++) {
        if (post_recv(g, i) != 0) {
            msg_print("cannot post receives of %u bytes", (unsigned)g->size);
            return -1;
        }
    }
    return 0;
}

static int prepare(struct game *g, struct station *st, bool first)
{
    const struct replay_opts *opts = st->opts;
    const uint32_t n = opts->srq ? (uint32_t)opts->qps : 1;
    *g = (struct game){.st = st, .size = opts->size, .first = first, .iters = opts->iters};
    g->head = opts->service == ENG_UD ? ENG_GRH_LEN : 0;
    g->balls = calloc(n, sizeof(*g->balls));
    if (g->balls == NULL) {
        msg_print("out of memory");
        return -1;
    }
    g->n = n;
    if (station_queues(st, 4 * n, (RECVS + 4) * n) != 0)
        return -1;
    for (uint32_t i = 0; i < n; i++)
        if (open_ball(g, i) != 0)
            return -1;
    return 0;
}

/* The programs leave as soon as they have all: when their last acknowledgement is lost, nobody is
 * there to repeat it. */
static bool peer_has_gone(const struct game *g, const struct eng_wc *wc)
{
    return wc->status == ENG_WC_RETRY_EXC_ERR && g->sent + g->n >= g->iters &&
           g->received >= g->iters;
}

static void take_sent(struct game *g)
{
    struct eng_wc wc;
    while (eng_cq_poll(g->st->send_cq, &wc, 1) > 0) {
        if (peer_has_gone(g, &wc)) {
            msg_print("the last message was not acknowledged: the peer has gone");
        } else if (wc.status != ENG_WC_SUCCESS && g->result.status == ENG_WC_SUCCESS) {
            g->result.status = wc.status;
            g->result.failed_qpn = wc.qpn;
        }
        g->sent++;
        g->balls[wc.wr_id].sending = false;
        g->last = wc.now;
    }
}

static void take_received(struct game *g)
{
    struct load_result *r = &g->result;
    struct eng_wc wc;
    while (eng_cq_poll(g->st->recv_cq, &wc, 1) > 0) {
        if (wc.status != ENG_WC_SUCCESS) {
            if (r->status == ENG_WC_SUCCESS && wc.status != ENG_WC_WR_FLUSH_ERR) {
                r->status = wc.status;
                r->failed_qpn = wc.qpn;
            }
            continue;
        }
        struct ball *ball = &g->balls[wc.wr_id];
        g->received++;
        ball->owed = true;
        g->last = r->end = wc.now;
        r->messages++;
        r->bytes += 2 * (uint64_t)g->size;
        if (g->first) {
            const uint64_t latency = wc.now - ball->sent_at;
            roce_hist_add(&r->latency, latency);
            r->latency_sum += (double)latency;
            r->latency_squares += (double)latency * (double)latency;
            if (g->st->opts->verify && !came_back(g, &ball->lane))
                r->mismatches++;
        }
        (void)post_recv(g, (uint32_t)wc.wr_id);
    }
}

static bool unfinished(const struct game *g)
{
    return g->sent < g->iters || g->received < g->iters;
}

/* Posts what is due: never more than counts, since who has all that counts leaves. Returns how many
 * messages, or -1. */
static int post_due(struct game *g)
{
    int n = 0;
    for (uint32_t i = 0; i < g->n && g->posted < g->iters; i++) {
        if (!g->balls[i].owed || g->balls[i].sending)
            continue;
        if (post_send(g, i) != 0)
            return -1;
        n++;
    }
    return n;
}

static int play(struct game *g)
{
    struct load_result *r = &g->result;
    r->start = g->last = station_now(g->st);
    for (uint32_t i = 0; i < g->n && g->first && g->posted < g->iters; i++)
        if (post_send(g, i) != 0)
            return -1;
    while (unfinished(g) && r->status == ENG_WC_SUCCESS && !signals_interrupted()) {
        const int n = station_turn(g->st);
        if (n < 0)
            return -1;
        take_sent(g);
        take_received(g);
        const int posted = post_due(g);
        if (posted < 0)
            return -1;
        const roce_tstamp now = station_now(g->st);
        if (now - g->last > SILENCE_NS) {
            msg_print("no message for 10 s after %" PRIu64 " of %" PRIu64
                      "; do both sides have the same size and count?",
                      g->received, g->iters);
            return -1;
        }
        if (n == 0 && posted == 0)
            (void)station_idle(g->st, g->last + SILENCE_NS + 1, -1, 0);
    }
    return 0;
}

/* The peer may still repeat what our last acknowledgement answered: it is given a while of one ACK
 * timeout after its last frame. */
static void linger(struct game *g)
{
    const uint64_t timeout = UINT64_C(4096) << g->st->opts->timeout;
    const uint64_t patience = timeout < UINT64_C(500000000) ? 2 * timeout : UINT64_C(1000000000);
    roce_tstamp until = station_now(g->st) + patience;
    if (g->balls[0].lane.cfg.service != ENG_RC || (g->result.status != ENG_WC_SUCCESS))
        return;
    while (!signals_interrupted() && station_now(g->st) < until) {
        const int n = station_turn(g->st);
        if (n < 0)
            return;
        if (n > 0)
            until = station_now(g->st) + patience;
        else
            (void)station_idle(g->st, until, -1, 0);
    }
}

static int receive_record(const struct game *g, int fd, bool used, struct remote *remote)
{
    char record[PINGPONG_LEN];
    if (tcp_read(g->st, fd, record, sizeof(record), "the record") != 0)
        return -1;
    if (!used)
        return 0;
    if (pingpong_decode(record, remote) != 0) {
        msg_print("the peer's record is not ibv_*_pingpong's");
        return -1;
    }
    static const uint8_t none[16];
    if (memcmp(remote->ip, none, 16) == 0) {
        msg_print("the peer told no GID; give it -g INDEX of a RoCE v2 one");
        return -1;
    }
    return 0;
}

static int send_record(const struct game *g, int fd, const struct lane *lane)
{
    char record[PINGPONG_LEN];
    struct remote own = {.qpn = lane->qpn, .psn = lane->psn};
    memcpy(own.ip, g->st->ip, 16);
    pingpong_encode(&own, record);
    return tcp_write(g->st, fd, record, sizeof(record), "our record");
}

/* ibv_srq_pingpong always tells of as many QPs as there may be; what is behind those that there are
 * means nothing. */
static uint32_t records(const struct game *g)
{
    return g->st->opts->srq ? PINGPONG_SRQ_RECORDS : 1;
}

static int send_records(const struct game *g, int fd)
{
    for (uint32_t i = 0; i < records(g); i++)
        if (send_record(g, fd, &g->balls[i < g->n ? i : 0].lane) != 0)
            return -1;
    return 0;
}

static int receive_records(const struct game *g, int fd)
{
    for (uint32_t i = 0; i < records(g); i++)
        if (receive_record(g, fd, i < g->n, &g->balls[i < g->n ? i : 0].lane.remote) != 0)
            return -1;
    return 0;
}

static int connect_lanes(struct game *g)
{
    for (uint32_t i = 0; i < g->n; i++) {
        const struct remote remote = g->balls[i].lane.remote;
        if (lane_connect(&g->balls[i].lane, &remote) != 0)
            return -1;
    }
    return 0;
}

static int meet_as_client(struct game *g, int fd)
{
    static const char done[5] = "done";
    if (send_records(g, fd) != 0 || receive_records(g, fd) != 0 ||
        tcp_write(g->st, fd, done, sizeof(done), "done") != 0)
        return -1;
    return connect_lanes(g);
}

static int meet_as_server(struct game *g, int fd)
{
    char done[5];
    if (receive_records(g, fd) != 0 || connect_lanes(g) != 0 || send_records(g, fd) != 0)
        return -1;
    return tcp_read(g->st, fd, done, sizeof(done), "done");
}

static int report(const struct game *g, const struct station *st, const struct load_result *load,
                  const char *peer)
{
    static const char *const names[] = {"ibv_rc_pingpong", "ibv_uc_pingpong", "ibv_ud_pingpong"};
    char text[320];
    const char *name = st->opts->srq ? "ibv_srq_pingpong" : names[st->opts->service];
    (void)snprintf(text, sizeof(text), "%s%s%s", name, peer[0] ? " at " : "", peer);
    const struct result result = {
        .op = "pingpong",
        .peer = text,
        .load = load,
        .size = g->size,
        .qps = g->n,
        .mtu = (uint32_t)st->opts->mtu,
        .service = (enum eng_service)st->opts->service,
        .received = g->received,
    };
    const int status = result_status(&result);
    return result_print(st, &result) == 0 ? status : EXIT_IO;
}

static int finish(struct game *g, int rc, const char *peer)
{
    struct station *st = g->st;
    int status = EXIT_IO;
    if (rc == 0)
        linger(g);
    for (uint32_t i = 0; i < g->n; i++)
        lane_close(&g->balls[i].lane);
    free(g->balls);
    station_drop_queues(st);
    if (rc == 0)
        status = report(g, st, &g->result, peer);
    return unfinished(g) ? EXIT_IO : status;
}

int pingpong_client(struct station *st, const uint8_t ip[16])
{
    struct game g;
    int rc = prepare(&g, st, true);
    const int fd = rc == 0 ? tcp_connect(st, ip, st->opts->port) : -1;
    if (fd >= 0) {
        rc = meet_as_client(&g, fd);
        (void)close(fd);
    } else {
        rc = -1;
    }
    if (rc == 0)
        rc = play(&g);
    return finish(&g, rc, st->opts->host);
}

int pingpong_serve(struct station *st, int fd)
{
    struct game g;
    int rc = prepare(&g, st, false);
    if (rc == 0)
        rc = meet_as_server(&g, fd);
    if (rc == 0)
        rc = play(&g);
    return finish(&g, rc, "");
}

int pingpong_meet(struct station *st, struct lane *lane, const uint8_t ip[16])
{
    struct ball ball = {.lane = *lane};
    struct game g = {.st = st, .balls = &ball, .n = 1};
    const int fd = tcp_connect(st, ip, st->opts->port);
    if (fd < 0)
        return -1;
    const int rc = meet_as_client(&g, fd);
    (void)close(fd);
    *lane = ball.lane;
    return rc;
}
