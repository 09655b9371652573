/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Stations. */
#include "rocereplay/station.h"

#include <poll.h>
#include <roce/cm.h>
#include <roce/err.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/msg.h"
#include "common/signals.h"
#include "port/afpacket.h"
#include "port/file.h"
#include "port/loopback.h"

#define VIRTUAL_START UINT64_C(1000000000) /* 0 would read as "no time stamp" */
#define VIRTUAL_BPS   UINT64_C(100000000000)
#define REFUSED_NS    UINT64_C(1000000000)

enum {
    LINK_DELAY_NS = 1000, /* of the computed link */
    QPS_LEAST = 16384,    /* serve does not know what peers will ask for */
    QUIET_TURNS = 5,
    QUIET_NS = 1000000,
    CNP_GAP_NS = 4000,
    CNP_DSCP = 48,
    CNP_PCP = 6,
    REJECT_INVALID_MTU = 26, /* IBTA table 106 */
};

static int out_of_memory(void)
{
    msg_print("out of memory");
    return -1;
}

static uint32_t at_least(uint64_t n, uint32_t least)
{
    return n > least ? (uint32_t)n : least;
}

static int make_device(struct station *st, const uint8_t mac[6], uint64_t link_bps)
{
    const struct replay_opts *opts = st->opts;
    struct eng_dev_cfg cfg = {
        .max_qp = at_least(2 * opts->qps + 64, QPS_LEAST),
        .max_mr = at_least(4 * opts->qps + 64, 4 * QPS_LEAST),
        .link_bps = link_bps,
        .seed = st->seed,
        .migreq = true,
        .cnp_gap_ns = CNP_GAP_NS,
        .cnp_dscp = CNP_DSCP,
        .cnp_pcp = CNP_PCP,
    };
    memcpy(cfg.mac, mac, 6);
    memcpy(cfg.ip, st->ip, 16);
    st->dev = eng_dev_new(&cfg);
    st->pd = st->dev != NULL ? eng_pd_new(st->dev) : NULL;
    return st->pd != NULL ? 0 : out_of_memory();
}

static uint64_t other_seed(void)
{
    struct eng_rng rng = {.state = clock_realtime_ns() ^ (uint64_t)getpid() << 40};
    return eng_rng_next(&rng);
}

/* Puts the layers of |opts| around |port| and the loop on top. */
static int stack(struct station *st, struct port *port)
{
    const struct replay_opts *opts = st->opts;
    char text[PORT_TEXT_MAX];
    if (opts->write != NULL) {
        st->file = port_file_new(opts->write, port, st->epoch, text);
        if (st->file == NULL) {
            msg_file(opts->write, "%s; check the name and the permissions", text);
            port_del(port);
            return -1;
        }
        port = st->file;
    }
    if (opts->faults.n > 0) {
        st->fault = fault_new(port, &opts->faults, st->seed);
        if (st->fault == NULL) {
            port_del(port);
            return out_of_memory();
        }
        port = st->fault;
    }
    port_loop_init(&st->loop, st->dev, port);
    st->loop.spin = opts->busy_poll;
    return 0;
}

static int no_address(const struct station *st, const char *kind)
{
    msg_file(st->opts->interface, "the interface has no %s address; give it one: ip address add",
             kind);
    return -1;
}

static int choose_address(struct station *st, const uint8_t *peer_ip)
{
    const struct netif *netif = &st->netif;
    if (st->opts->address != NULL) {
        memcpy(st->ip, st->opts->own_addr, 16);
        if (netif_owns(netif->name, st->ip))
            return 0;
        msg_file(st->opts->interface, "%s is no address of the interface; ip address add",
                 st->opts->address);
        return -1;
    }
    const bool v4 = peer_ip != NULL ? netif_is_ipv4(peer_ip) : netif->has_ipv4;
    if (v4 && !netif->has_ipv4)
        return no_address(st, "IPv4");
    if (!v4 && !netif->has_ipv6)
        return no_address(st, peer_ip != NULL ? "IPv6" : "IP");
    memcpy(st->ip, v4 ? netif->ipv4 : netif->ipv6, 16);
    return 0;
}

uint16_t station_best_mtu(const char *name)
{
    static const uint8_t ipv6[16] = {0xFD};
    struct netif netif;
    char text[PORT_TEXT_MAX];
    uint16_t mtu = 4096;
    if (netif_find(name, &netif, text) != 0)
        return 256;
    while (mtu > 256 && afpacket_mtu_needed(ipv6, mtu) > netif.mtu)
        mtu /= 2;
    return mtu;
}

int station_open(struct station *st, const struct replay_opts *opts, const uint8_t *peer_ip)
{
    char text[PORT_TEXT_MAX];
    *st = (struct station){.opts = opts};
    st->seed = opts->has_seed ? opts->seed : other_seed();
    if (netif_find(opts->interface, &st->netif, text) != 0) {
        msg_file(opts->interface, "%s", text);
        return -1;
    }
    if (choose_address(st, peer_ip) != 0 || make_device(st, st->netif.mac, opts->link_bps) != 0)
        return -1;
    struct afpacket_cfg cfg = {.netif = &st->netif,
                               .path_mtu = (uint32_t)opts->mtu,
                               .vlan = opts->has_vlan,
                               .no_xdp = opts->tx != 0};
    memcpy(cfg.ip, st->ip, 16);
    st->iface = afpacket_new(&cfg, text);
    if (st->iface == NULL) {
        msg_file(opts->interface, "%s", text);
        return -1;
    }
    if (opts->verbose > 0)
        msg_file(opts->interface, "sending by %s",
                 afpacket_uses_xdp(st->iface) ? "AF_XDP" : "a packet ring");
    st->epoch = clock_realtime_ns() - clock_monotonic_ns();
    return stack(st, st->iface);
}

static int open_end(struct station *st, const struct replay_opts *opts, uint8_t last_byte,
                    uint64_t seed, uint64_t link_bps)
{
    const uint8_t mac[6] = {0x02, 0, 0, 0, 0, last_byte};
    *st = (struct station){.opts = opts, .seed = seed};
    roce_ip_v4(st->ip, 192, 0, 2, last_byte); /* RFC 5737: an address for examples */
    memcpy(st->netif.mac, mac, 6);
    return make_device(st, mac, link_bps);
}

int station_open_pair(struct station *st, struct station *twin, const struct replay_opts *opts)
{
    const uint64_t seed = opts->has_seed ? opts->seed : other_seed();
    const bool computed = opts->write != NULL;
    uint64_t bps = opts->link_bps;
    if (computed && bps == 0)
        bps = VIRTUAL_BPS;
    struct loopback_cfg cfg = {.seed = seed};
    struct port *ends[2];
    struct eng_rng rng = {.state = seed};
    if (open_end(st, opts, 1, seed, bps) != 0 ||
        open_end(twin, opts, 2, eng_rng_next(&rng), bps) != 0)
        return -1;
    for (int i = 0; i < 2 && bps != 0; i++)
        cfg.way[i] =
            (struct loopback_way){.delay_ns = computed ? LINK_DELAY_NS : 0, .rate_bps = bps};
    if (loopback_new(&cfg, ends) != 0)
        return out_of_memory();
    st->twin = twin;
    st->virtual_now = computed ? VIRTUAL_START : 0;
    port_loop_init(&twin->loop, twin->dev, ends[1]);
    return stack(st, ends[0]);
}

int station_queues(struct station *st, uint32_t n_send, uint32_t n_recv)
{
    st->send_cq = eng_cq_new(st->dev, n_send);
    st->recv_cq = eng_cq_new(st->dev, n_recv);
    return st->send_cq != NULL && st->recv_cq != NULL ? 0 : out_of_memory();
}

void station_drop_queues(struct station *st)
{
    if (st->send_cq != NULL)
        eng_cq_del(st->send_cq);
    if (st->recv_cq != NULL)
        eng_cq_del(st->recv_cq);
    st->send_cq = st->recv_cq = NULL;
}

int station_close(struct station *st)
{
    int rc = 0;
    if (st->file != NULL && port_file_close(st->file) != 0) {
        msg_file(st->opts->write, "%s; the capture is not whole", st->file->text);
        rc = -1;
    }
    eng_cm_del(st->cm);
    station_drop_queues(st);
    if (st->pd != NULL)
        eng_pd_del(st->pd);
    if (st->dev != NULL)
        eng_dev_del(st->dev);
    port_del(st->loop.port);
    *st = (struct station){0};
    return rc;
}

roce_tstamp station_now(const struct station *st)
{
    return st->virtual_now != 0 ? st->virtual_now : clock_monotonic_ns();
}

static int fault(const struct station *st, int err)
{
    const char *where = st->opts->interface != NULL ? st->opts->interface : st->opts->write;
    const char *text = st->loop.port->text;
    msg_file(where != NULL ? where : "loopback", "%s", text[0] != '\0' ? text : roce_strerror(err));
    return -1;
}

/* One line each second at most: whoever is on the network may ask. */
static void tell_refused(struct station *st, roce_tstamp now)
{
    const struct eng_cm_refused *last = eng_cm_refused(st->cm);
    char ip[NETIF_IP_TEXT];
    if (last->n == st->refused || now < st->refused_again)
        return;
    st->refused = last->n;
    st->refused_again = now + REFUSED_NS;
    netif_ip_text(last->ip, ip);
    if (last->reason == REJECT_INVALID_MTU && last->path_mtu != 0)
        msg_print("a connection request of %s is rejected: its path MTU is %u, at most %d is "
                  "taken (--mtu)",
                  ip, last->path_mtu, (int)st->opts->mtu);
    else
        msg_print("a connection request of %s is rejected: %s", ip,
                  roce_cm_reject_text(last->reason));
}

static int turn_one(struct station *st, roce_tstamp now)
{
    const int n = port_loop_turn(&st->loop, now);
    if (n < 0)
        return fault(st, n);
    if (st->cm != NULL) {
        (void)eng_cm_poll(st->cm, now);
        eng_cm_expire(st->cm, now);
        tell_refused(st, now);
    }
    if (st->work != NULL)
        st->work(st->work_ctx, now);
    return n;
}

int station_turn(struct station *st)
{
    const roce_tstamp now = station_now(st);
    const int n = turn_one(st, now);
    if (n < 0 || st->twin == NULL)
        return n;
    const int m = turn_one(st->twin, now);
    return m < 0 ? m : n + m;
}

static roce_tstamp next_of(const struct station *st, roce_tstamp now)
{
    const roce_tstamp loop = port_loop_next(&st->loop, now);
    const roce_tstamp cm = st->cm != NULL ? eng_cm_next(st->cm) : ENG_NEVER;
    return cm < loop ? cm : loop;
}

bool station_idle(struct station *st, roce_tstamp until, int fd, short events)
{
    const roce_tstamp now = station_now(st);
    roce_tstamp next = next_of(st, now);
    if (st->twin != NULL) {
        const roce_tstamp other = next_of(st->twin, now);
        next = other < next ? other : next;
    }
    until = next < until ? next : until;
    if (st->virtual_now == 0)
        return port_loop_wait(&st->loop, now, until, fd, events);
    /* Where something is due and yet nothing moved, time must go on. */
    if (until != ENG_NEVER)
        st->virtual_now = until > now ? until : now + 1;
    return false;
}

int station_settle(struct station *st)
{
    for (int quiet = 0; quiet < QUIET_TURNS; quiet++) {
        const int n = station_turn(st);
        if (n < 0)
            return -1;
        if (n > 0)
            quiet = -1;
        (void)station_idle(st, station_now(st) + QUIET_NS, -1, 0);
    }
    return 0;
}

static bool lingers(const struct station *st)
{
    return st->cm != NULL && station_now(st) < eng_cm_linger(st->cm) && !signals_interrupted();
}

int station_leave(struct station *st)
{
    while (lingers(st)) {
        const int n = station_turn(st);
        if (n < 0)
            return -1;
        if (n == 0)
            (void)station_idle(st, eng_cm_linger(st->cm), -1, 0);
    }
    return station_settle(st);
}
