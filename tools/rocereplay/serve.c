/* SPDX-License-Identifier: GPL-2.0-or-later */
/* rocereplay serve: answers the operations of peers. */
#include <inttypes.h>
#include <unistd.h>

#include "common/msg.h"
#include "common/privileges.h"
#include "common/signals.h"
#include "rocereplay/by_hand.h"
#include "rocereplay/cm_run.h"
#include "rocereplay/commands.h"
#include "rocereplay/native.h"
#include "rocereplay/perftest.h"
#include "rocereplay/perftest_link.h"
#include "rocereplay/pingpong.h"
#include "rocereplay/tcp.h"
#include "rocereplay/truth.h"

static void tell(const struct station *st, const char *how)
{
    char ip[NETIF_IP_TEXT];
    netif_ip_text(st->ip, ip);
    if (!st->opts->quiet)
        msg_print("%s: waiting for %s at %s, port %u", st->opts->interface, how, ip,
                  st->opts->port);
}

static int serve_one(struct station *st, int fd)
{
    return st->opts->accept == ACCEPT_PINGPONG ? pingpong_serve(st, fd) : native_serve(st, fd);
}

/* perftest comes by TCP or by the connection manager, as its user chose. */
static int serve_perftest(struct station *st)
{
    struct perftest_link link = {.fd = -1};
    int status = EXIT_DONE, came;
    if (perftest_cm_listen(st) != 0)
        return EXIT_IO;
    const int listener = tcp_listen(st, st->opts->port);
    if (listener < 0)
        return EXIT_IO;
    tell(st, "perftest");
    while ((came = perftest_link_accept(&link, st, listener)) >= 0) {
        if (came == 0) {
            perftest_link_close(&link);
            continue;
        }
        status = perftest_serve(st, &link);
        if (st->opts->once)
            break;
        status = EXIT_DONE; /* one peer's trouble is not the server's */
    }
    (void)close(listener);
    return status;
}

static int serve_tcp(struct station *st)
{
    const bool pingpong = st->opts->accept == ACCEPT_PINGPONG;
    const int listener = tcp_listen(st, st->opts->port);
    int status = EXIT_DONE;
    if (listener < 0)
        return EXIT_IO;
    tell(st, pingpong ? "ibv_*_pingpong" : "rocereplay gen");
    while (!signals_interrupted()) {
        uint8_t ip[16];
        const int fd = tcp_accept(st, listener, ip);
        if (fd < 0)
            break;
        status = serve_one(st, fd);
        (void)close(fd);
        if (st->opts->once)
            break;
        status = EXIT_DONE; /* one peer's trouble is not the server's */
    }
    (void)close(listener);
    return status;
}

static int run(struct station *st)
{
    if (st->opts->by_hand)
        return by_hand_serve(st);
    switch ((enum accept_how)st->opts->accept) {
    case ACCEPT_PERFTEST:
        return serve_perftest(st);
    case ACCEPT_CM:
        tell(st, "rdma_cm");
        return cm_serve(st);
    case ACCEPT_PINGPONG:
    case ACCEPT_NATIVE:
        break;
    }
    return serve_tcp(st);
}

int serve_main(int argc, char **argv)
{
    static struct replay_opts opts;
    struct station st = {0};
    struct truth truth = {0};
    int status = EXIT_IO;
    const int rc = serve_opts_parse(&opts, argc, argv);
    if (rc != 0)
        return rc == OPT_EXIT_DONE ? EXIT_DONE : EXIT_USAGE;
    signals_catch();
    if (opts.mtu == 0)
        opts.mtu = station_best_mtu(opts.interface);
    if (station_open(&st, &opts, opts.by_hand ? opts.peer_addr : NULL) == 0 &&
        (opts.truth == NULL || truth_open(&truth, opts.truth) == 0) &&
        privileges_drop(opts.user) == 0) {
        st.truth = &truth;
        status = run(&st);
        if (opts.truth != NULL && truth_write(&truth, &st, "serve", opts.truth) != 0)
            status = EXIT_IO;
    }
    if (station_close(&st) != 0)
        status = EXIT_IO;
    truth_free(&truth);
    return status;
}
