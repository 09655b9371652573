/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Cable in memory and interface for rocereplay check. The cases send through the station's port,
 * past its engine. */
#include "rocereplay/check_link.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/msg.h"
#include "rocereplay/lane.h"
#include "rocereplay/tcp.h"

#define VIRTUAL_START UINT64_C(1000000000)
#define LINK_BPS      UINT64_C(10000000000)
#define MS            UINT64_C(1000000)

enum { IDLE_MAX_MS = 20, TCP_SECONDS = 20 };

/* ---- in memory ---- */

static roce_tstamp loop_now(void *ctx)
{
    const struct check_link *link = ctx;
    return link->st.virtual_now;
}

static int loop_idle(void *ctx, roce_tstamp until)
{
    struct check_link *link = ctx;
    const roce_tstamp now = link->st.virtual_now;
    const int n = port_loop_turn(&link->twin.loop, now);
    if (n < 0) {
        msg_print("the cable in memory fails");
        return -1;
    }
    if (n > 0)
        return 0;
    roce_tstamp next = port_loop_next(&link->twin.loop, now);
    const roce_tstamp mine = link->run.port->ops->next(link->run.port);
    next = mine < next ? mine : next;
    next = next < until ? next : until;
    link->st.virtual_now = link->twin.virtual_now = next > now ? next : now + 1;
    return 0;
}

static int loop_open(void *ctx, struct check_want *want, struct check_offer *offer)
{
    struct check_link *link = ctx;
    const int rc = check_peer_open(&link->peer, &link->twin, want, offer);
    if (rc != 0)
        check_peer_close(&link->peer);
    return rc;
}

static int loop_start(void *ctx)
{
    struct check_link *link = ctx;
    return check_peer_start(&link->peer);
}

static int loop_status(void *ctx, struct check_status *status)
{
    struct check_link *link = ctx;
    check_peer_status(&link->peer, status);
    return 0;
}

static void loop_close(void *ctx)
{
    struct check_link *link = ctx;
    check_peer_close(&link->peer);
}

static const struct check_peer_ops loop_ops = {
    .open = loop_open, .start = loop_start, .status = loop_status, .close = loop_close};

/* ---- over TCP and an interface ---- */

static roce_tstamp wire_now(void *ctx)
{
    (void)ctx;
    return clock_monotonic_ns();
}

static int wire_idle(void *ctx, roce_tstamp until)
{
    const struct check_link *link = ctx;
    struct port *port = link->run.port;
    const roce_tstamp now = clock_monotonic_ns();
    uint64_t ms = until > now ? (until - now) / MS : 0;
    if (ms > IDLE_MAX_MS)
        ms = IDLE_MAX_MS;
    struct pollfd fd = {.fd = port->ops->fd(port), .events = POLLIN};
    if (ms > 0)
        (void)poll(&fd, 1, (int)ms);
    return 0;
}

/* Nothing but the answer moves meanwhile: the exchange may block. */
static int tcp_open(struct check_link *link)
{
    struct sockaddr_storage to, from;
    const struct timeval patience = {.tv_sec = TCP_SECONDS};
    const socklen_t len = netif_sockaddr(link->ip, link->st.opts->port, link->st.netif.index, &to);
    const socklen_t own = netif_sockaddr(link->st.ip, 0, link->st.netif.index, &from);
    const int fd = socket(to.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd >= 0) {
        (void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
        (void)setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
        if (bind(fd, (struct sockaddr *)&from, own) == 0 &&
            connect(fd, (struct sockaddr *)&to, len) == 0)
            return fd;
    }
    const int why = errno;
    if (fd >= 0)
        (void)close(fd);
    msg_print("%s port %u: %s; does the peer wait there?", link->st.opts->host, link->st.opts->port,
              strerror(why));
    return -1;
}

static int tcp_ask(struct check_link *link, const char *text, char line[CHECK_LINE_MAX])
{
    size_t n = 0;
    ssize_t got = send(link->fd, text, strlen(text), MSG_NOSIGNAL);
    while (got > 0 && n + 1 < CHECK_LINE_MAX) {
        got = recv(link->fd, line + n, 1, 0);
        if (got == 1 && line[n++] == '\n')
            break;
    }
    line[n] = '\0';
    if (got > 0)
        return 0;
    msg_print("%s: the peer does not answer over TCP; does it know rocereplay check?",
              link->st.opts->host);
    return -1;
}

static int wire_ask_status(struct check_link *link, const char *text, struct check_status *status)
{
    char line[CHECK_LINE_MAX];
    if (tcp_ask(link, text, line) != 0)
        return -1;
    if (check_status_decode(line, status) == 0)
        return 0;
    msg_print("%s: the peer's status is not rocereplay's", link->st.opts->host);
    return -1;
}

static int wire_open(void *ctx, struct check_want *want, struct check_offer *offer)
{
    struct check_link *link = ctx;
    char line[CHECK_LINE_MAX], text[CHECK_LINE_MAX];
    link->fd = tcp_open(link);
    if (link->fd < 0)
        return -1;
    check_want_encode(want, text);
    int rc = tcp_ask(link, text, line);
    if (rc == 0 && check_offer_decode(line, offer) != 0) {
        msg_print("%s: the peer's offer is not rocereplay's", link->st.opts->host);
        rc = -1;
    }
    if (rc != 0)
        (void)close(link->fd);
    return rc;
}

static int wire_start(void *ctx)
{
    struct check_link *link = ctx;
    struct check_status status;
    return wire_ask_status(link, check_start_line, &status);
}

static int wire_status(void *ctx, struct check_status *status)
{
    return wire_ask_status(ctx, check_ask_line, status);
}

static void wire_close(void *ctx)
{
    struct check_link *link = ctx;
    (void)close(link->fd);
    link->fd = -1;
}

static const struct check_peer_ops wire_ops = {
    .open = wire_open, .start = wire_start, .status = wire_status, .close = wire_close};

/* ---- both ---- */

static int prepare(struct check_link *link, const struct replay_opts *opts, const uint8_t ip[16])
{
    struct eng_ah ah;
    struct check_run *run = &link->run;
    if (lane_path(&link->st, ip, &ah) != 0)
        return -1;
    memcpy(run->path.smac, link->st.netif.mac, 6);
    memcpy(run->path.dmac, ah.dmac, 6);
    memcpy(run->path.src_ip, link->st.ip, 16);
    memcpy(run->path.dst_ip, ip, 16);
    run->path.has_vlan = opts->has_vlan;
    run->path.vlan_tci = opts->vlan_tci;
    run->port = link->st.loop.port;
    run->record = link->st.file;
    run->ctx = run->peer_ctx = link;
    run->mtu = (uint16_t)opts->mtu;
    run->timeout = opts->timeout;
    run->memory = calloc(CHECK_SEEN_MAX, CRAFT_MAX);
    if (run->memory != NULL)
        return 0;
    msg_print("out of memory");
    return -1;
}

int check_link_loop(struct check_link *link, struct replay_opts *opts)
{
    *link = (struct check_link){.fd = -1};
    if (opts->link_bps == 0)
        opts->link_bps = LINK_BPS;
    if (station_open_pair(&link->st, &link->twin, opts) != 0 ||
        prepare(link, opts, link->twin.ip) != 0)
        return -1;
    link->st.virtual_now = link->twin.virtual_now = VIRTUAL_START;
    link->run.now = loop_now;
    link->run.idle = loop_idle;
    link->run.peer = &loop_ops;
    link->run.exact = true;
    link->run.answer_ns = 100 * MS;
    link->run.quiet_ns = 20 * MS;
    link->run.slack_ns = MS;
    return 0;
}

int check_link_wire(struct check_link *link, struct replay_opts *opts, uint64_t patience_ns)
{
    *link = (struct check_link){.fd = -1};
    if (opts->by_hand)
        memcpy(link->ip, opts->peer_addr, 16);
    else if (tcp_resolve(opts->host, AF_UNSPEC, link->ip) != 0)
        return -1;
    if (station_open(&link->st, opts, link->ip) != 0 || prepare(link, opts, link->ip) != 0)
        return -1;
    link->run.now = wire_now;
    link->run.idle = wire_idle;
    link->run.peer = &wire_ops;
    link->run.quiet_ns = link->run.slack_ns = patience_ns;
    link->run.answer_ns = 10 * patience_ns;
    if (target_kind_of(opts) != NULL)
        return check_target_init(&link->target, &link->run, &link->st, opts, link->ip);
    return 0;
}

int check_link_close(struct check_link *link)
{
    const int rc = link->st.opts != NULL ? station_close(&link->st) : 0;
    if (link->twin.opts != NULL)
        (void)station_close(&link->twin);
    free(link->run.memory);
    link->run.memory = NULL;
    return rc;
}
