/* SPDX-License-Identifier: GPL-2.0-or-later */
/* rocereplay play without --raw: recorded messages to a live peer, or to one in this process. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/msg.h"
#include "common/privileges.h"
#include "common/signals.h"
#include "rocereplay/play_target.h"
#include "rocereplay/sink.h"
#include "rocereplay/tcp.h"
#include "rocereplay/truth.h"

enum {
    RECV_DEPTH = 512,
    RECV_DEPTH_MIN = 16,
    RECV_ALL = 65536,
    LINE_MAX_SHORT = 256,
    MTU_UNKNOWN = 1024
};

/* What is replayed of a capture. */
struct choice {
    const struct target_kind *kind; /* NULL: rocereplay itself */
    uint32_t *which;
    uint32_t n;
    uint64_t not_carried[TARGET_REASONS];
};

/* The service that most messages use. */
static int main_service(const struct messages *m)
{
    uint64_t by_service[ENG_XRC_TGT + 1] = {0};
    int service = ENG_RC;
    for (uint32_t i = 0; i < m->n; i++)
        by_service[m->sender[i].service] += m->sender[i].n;
    for (int s = ENG_RC; s <= ENG_UD; s++)
        if (by_service[s] > by_service[service])
            service = s;
    return service;
}

static int nothing_left(const struct choice *choice)
{
    for (int why = TARGET_CAN + 1; why < TARGET_REASONS; why++)
        if (choice->not_carried[why] != 0) {
            msg_print("none of the messages can be carried: %s %s", choice->kind->name,
                      target_no_text((enum target_no)why));
            return -1;
        }
    msg_print("no message in it that could be sent again; rocestat says what the capture holds");
    return -1;
}

static int choose(struct choice *choice, const struct messages *m)
{
    choice->which = calloc(m->n + 1, sizeof(*choice->which));
    if (choice->which == NULL) {
        msg_print("out of memory");
        return -1;
    }
    for (uint32_t i = 0; i < m->n; i++)
        if (m->sender[i].n != 0)
            choice->which[choice->n++] = i;
    if (choice->n == 0)
        return nothing_left(choice);
    if (choice->kind == NULL || choice->n <= choice->kind->max_qps)
        return 0;
    msg_print("%s has %u QP, the capture %u that send; give --host", choice->kind->name,
              (unsigned)choice->kind->max_qps, (unsigned)choice->n);
    return -1;
}

/* The other end in this process: it receives and answers. */
struct twin {
    struct station *st;
    struct lane *lanes;
    uint32_t n;
    struct sink sink;
};

static void twin_work(void *ctx, roce_tstamp now)
{
    struct twin *t = ctx;
    (void)sink_step(&t->sink, now);
}

static int twin_open(struct twin *t, const struct replay *r)
{
    uint32_t depth = RECV_ALL / r->n;
    depth = depth > RECV_DEPTH ? RECV_DEPTH : depth < RECV_DEPTH_MIN ? RECV_DEPTH_MIN : depth;
    const struct sink_cfg sink = {.depth = depth, .size = r->target_len};
    *t = (struct twin){.st = r->st->twin, .n = r->n};
    t->lanes = calloc(r->n, sizeof(*t->lanes));
    if (t->lanes == NULL) {
        msg_print("out of memory");
        return -1;
    }
    if (station_queues(t->st, r->n + 1, r->n * depth + 1) != 0)
        return -1;
    for (uint32_t i = 0; i < r->n; i++) {
        const struct lane_cfg cfg = {
            .service = r->part[i].sender->service,
            .target_len = r->target_len,
            .max_send = 1,
            .max_recv = depth,
        };
        if (lane_open(&t->lanes[i], t->st, &cfg) != 0)
            return -1;
    }
    t->st->work = twin_work;
    t->st->work_ctx = t;
    return sink_open(&t->sink, t->st, t->lanes, r->n, &sink);
}

static void twin_close(struct twin *t)
{
    for (uint32_t i = 0; t->lanes != NULL && i < t->n; i++)
        lane_close(&t->lanes[i]);
    sink_close(&t->sink);
    free(t->lanes);
    if (t->st == NULL)
        return;
    t->st->work = NULL;
    station_drop_queues(t->st);
}

static struct remote remote_of(const struct lane *lane, const struct station *st, uint32_t mtu)
{
    struct remote remote = {
        .qpn = lane->qpn,
        .psn = lane->psn,
        .rkey = lane_rkey(lane),
        .va = lane->target_va,
        .len = lane->cfg.target_len,
        .mtu = (uint16_t)mtu,
    };
    memcpy(remote.ip, st->ip, 16);
    return remote;
}

/* In memory each QP may have the path MTU that it was recorded with. */
static int join(struct replay *r, struct twin *t)
{
    for (uint32_t i = 0; i < r->n; i++) {
        const uint32_t mtu = r->opts->has_mtu ? 0 : r->part[i].sender->mtu;
        const struct remote there = remote_of(&t->lanes[i], t->st, mtu);
        const struct remote here = remote_of(&r->lanes[i], r->st, mtu);
        if (lane_connect(&r->lanes[i], &there) != 0 || lane_connect(&t->lanes[i], &here) != 0)
            return -1;
    }
    return 0;
}

static int run_pair(struct replay *r, struct native_report *received)
{
    struct twin twin = {0};
    int rc = twin_open(&twin, r);
    if (rc == 0)
        rc = join(r, &twin);
    if (rc == 0)
        rc = replay_run(r);
    if (rc == 0)
        rc = station_settle(r->st); /* the last answers */
    *received = (struct native_report){.messages = twin.sink.messages, .bytes = twin.sink.bytes};
    twin_close(&twin);
    return rc == 0 ? 1 : -1;
}

/* The service that is told for all: a datagram's only when there is no other, since its messages
 * have to fit the path MTU. */
static enum eng_service widest_service(const struct replay *r)
{
    enum eng_service service = ENG_UD;
    for (uint32_t i = 0; i < r->n; i++)
        if (r->part[i].sender->service < service)
            service = r->part[i].sender->service;
    return service;
}

static int send_offer(const struct replay *r, int fd)
{
    const enum eng_service service = widest_service(r);
    struct native_offer offer = {
        .service = service,
        .op = ENG_WR_SEND, /* the peer posts receives, and its memory is open in any case */
        .mtu = (uint16_t)r->opts->base.mtu,
        .size = service == ENG_UD ? r->max_len : r->target_len,
        .depth = (uint32_t)r->opts->depth,
        .places = 1,
        .iters = r->total,
        .rd_atomic = (uint8_t)r->opts->base.rd_atomic,
        .n = r->n,
    };
    memcpy(offer.ip, r->st->ip, 16);
    offer.qp = calloc(r->n, sizeof(*offer.qp));
    for (uint32_t i = 0; offer.qp != NULL && i < r->n; i++)
        offer.qp[i] = (struct remote){.qpn = r->lanes[i].qpn,
                                      .psn = r->lanes[i].psn,
                                      .rkey = lane_rkey(&r->lanes[i]),
                                      .va = r->lanes[i].target_va,
                                      .len = r->lanes[i].cfg.target_len,
                                      .service = r->lanes[i].cfg.service};
    char *line = offer.qp != NULL ? native_encode(&offer) : NULL;
    native_free(&offer);
    if (line == NULL) {
        msg_print("out of memory");
        return -1;
    }
    const int rc = tcp_write(r->st, fd, line, strlen(line), "our offer");
    free(line);
    return rc;
}

static int take_offer(struct replay *r, int fd)
{
    struct native_offer offer;
    char *line = malloc(NATIVE_LINE_MAX);
    if (line == NULL) {
        msg_print("out of memory");
        return -1;
    }
    int rc = tcp_line(r->st, fd, line, NATIVE_LINE_MAX, "an offer");
    if (rc == 0 && native_decode(line, &offer) != 0) {
        msg_print("the peer's offer is not rocereplay's; is it another program or version?");
        rc = -1;
    }
    free(line);
    if (rc != 0)
        return -1;
    if (offer.n != r->n) {
        msg_print("the peer has %u QPs, not %u", (unsigned)offer.n, (unsigned)r->n);
        rc = -1;
    }
    for (uint32_t i = 0; rc == 0 && i < r->n; i++)
        rc = lane_connect(&r->lanes[i], &offer.qp[i]);
    native_free(&offer);
    return rc;
}

static int exchange_start(struct replay *r, int fd)
{
    static const char start[] = "{\"start\":true}\n";
    char line[LINE_MAX_SHORT];
    return tcp_write(r->st, fd, start, sizeof(start) - 1, "our start") == 0 &&
                   tcp_line(r->st, fd, line, sizeof(line), "the start") == 0
               ? 0
               : -1;
}

static int run_native(struct replay *r, const uint8_t ip[16], struct native_report *received)
{
    const struct native_report none = {0};
    char line[LINE_MAX_SHORT];
    const int fd = tcp_connect(r->st, ip, r->opts->base.port);
    if (fd < 0)
        return -1;
    int rc =
        send_offer(r, fd) == 0 && take_offer(r, fd) == 0 && exchange_start(r, fd) == 0 ? 0 : -1;
    if (rc == 0)
        rc = replay_run(r);
    if (rc == 0 && r->result.failed == 0) {
        const int n = native_report_encode(&none, line, sizeof(line));
        if (tcp_write(r->st, fd, line, (size_t)n, "the end") == 0 &&
            tcp_line(r->st, fd, line, sizeof(line), "the peer's report") == 0 &&
            native_report_decode(line, received) == 0)
            rc = 1;
    }
    (void)close(fd);
    return rc;
}

static int status_of(const struct replay *r, const struct messages *m)
{
    const struct replay_result *result = &r->result;
    if (result->failed != 0)
        msg_print("%llu messages failed; QP 0x%x: %s", (unsigned long long)result->failed,
                  (unsigned)result->failed_qpn,
                  eng_wc_status_text((enum eng_wc_status)result->status));
    return result->failed == 0 && m->status == 0 ? EXIT_DONE : EXIT_IO;
}

static int run(const struct play_opts *opts, struct station *st, const struct messages *m,
               const struct choice *choice, const uint8_t ip[16])
{
    struct replay r;
    struct native_report received = {0};
    char peer[320];
    int status = EXIT_IO;
    const struct target_kind *kind = choice->kind;
    const uint32_t receives = kind != NULL && kind->answers ? PLAY_ANSWERS : 1;
    int rc = replay_open(&r, opts, st, m, choice->which, choice->n, receives);
    if (rc == 0 && opts->base.interface == NULL) {
        (void)snprintf(peer, sizeof(peer), "both ends in this process");
        rc = run_pair(&r, &received);
    } else if (rc == 0 && kind != NULL) {
        (void)snprintf(peer, sizeof(peer), "%s at %s", kind->name,
                       opts->base.by_hand ? opts->base.peer_ip : opts->base.host);
        rc = play_target_run(&r, kind, ip);
    } else if (rc == 0) {
        (void)snprintf(peer, sizeof(peer), "rocereplay at %s", opts->base.host);
        rc = run_native(&r, ip, &received);
    }
    if (rc >= 0) {
        const struct eng_qp_stats stats = truth_sum(&(struct truth){0}, r.lanes, r.n);
        struct replay_report report = {
            .peer = peer, .received = rc > 0 ? &received : NULL, .kind = kind};
        memcpy(report.not_carried, choice->not_carried, sizeof(report.not_carried));
        status = status_of(&r, m);
        if (replay_report(&r, &report, &stats) != 0)
            status = EXIT_IO;
    }
    replay_close(&r);
    return status;
}

/* The path MTU of all QPs with a live peer: the largest recorded one, unless told otherwise. */
static void settle_mtu(struct play_opts *opts, const struct messages *m,
                       const struct choice *choice)
{
    uint32_t mtu = 0;
    if (opts->has_mtu)
        return;
    for (uint32_t i = 0; i < choice->n; i++) {
        const struct sender *s = &m->sender[choice->which[i]];
        mtu = s->mtu > mtu ? s->mtu : mtu;
        for (uint64_t k = 0; s->service == ENG_UD && k < s->n; k++)
            while (mtu < s->msg[k].len && mtu < 4096)
                mtu = mtu != 0 ? 2 * mtu : 256;
    }
    opts->base.mtu = mtu != 0 ? mtu : MTU_UNKNOWN;
}

static int open_stations(const struct play_opts *opts, struct station *st, struct station *twin,
                         const uint8_t ip[16])
{
    if (opts->base.interface == NULL)
        return station_open_pair(st, twin, &opts->base);
    return station_open(st, &opts->base, ip);
}

static int give_up_root(const struct replay_opts *base, struct truth *truth)
{
    if (base->truth != NULL && truth_open(truth, base->truth) != 0)
        return -1;
    return base->interface != NULL ? privileges_drop(base->user) : 0;
}

static int resolve(const struct replay_opts *base, uint8_t ip[16])
{
    int family = AF_UNSPEC;
    if (base->by_hand)
        memcpy(ip, base->peer_addr, 16);
    if (base->how == CONNECT_NONE)
        return 0;
    if (base->address != NULL)
        family = netif_is_ipv4(base->own_addr) ? AF_INET : AF_INET6;
    return tcp_resolve(base->host, family, ip);
}

/* A peer that may never be ready is not asked for ever. */
enum { RNR_RETRIES = 6 };

static const struct target_kind *settle_target(struct play_opts *opts)
{
    const struct target_kind *kind = target_kind_of(&opts->base);
    opts->base.size = opts->memory;
    if (kind != NULL && opts->base.rnr_retry_text == NULL)
        opts->base.rnr_retry = RNR_RETRIES;
    return kind;
}

static int play(struct play_opts *opts, struct messages *m)
{
    struct station st = {0}, twin = {0};
    struct truth truth = {0};
    struct choice choice = {0};
    uint8_t ip[16] = {0};
    int status = EXIT_IO;
    opts->base.service = main_service(m);
    choice.kind = settle_target(opts);
    if (choice.kind != NULL)
        play_target_fit(m, choice.kind, opts->memory, choice.not_carried);
    if (choose(&choice, m) == 0 && resolve(&opts->base, ip) == 0) {
        settle_mtu(opts, m, &choice);
        opts->base.qps = choice.n;
        if (open_stations(opts, &st, &twin, ip) == 0 && give_up_root(&opts->base, &truth) == 0) {
            st.truth = &truth;
            status = run(opts, &st, m, &choice, ip);
            if (opts->base.truth != NULL && truth_write(&truth, &st, "play", opts->base.truth) != 0)
                status = EXIT_IO;
        }
        if (station_close(&st) != 0)
            status = EXIT_IO;
        (void)station_close(&twin);
    }
    truth_free(&truth);
    free(choice.which);
    return status;
}

int stateful_play(const struct play_opts *opts)
{
    struct play_opts own = *opts;
    struct messages m;
    const struct messages_cfg cfg = {
        .file = opts->file,
        .decode = opts->rules.decode,
        .host = opts->has_host ? opts->host_addr : NULL,
    };
    int status = EXIT_IO;
    if (messages_read(&m, &cfg) == 0)
        status = play(&own, &m);
    messages_free(&m);
    return status;
}
