/* SPDX-License-Identifier: GPL-2.0-or-later */
/* rocereplay gen: runs operations against a peer. */
#include <string.h>

#include "common/msg.h"
#include "common/privileges.h"
#include "common/signals.h"
#include "rocereplay/by_hand.h"
#include "rocereplay/cm_run.h"
#include "rocereplay/commands.h"
#include "rocereplay/native.h"
#include "rocereplay/pair.h"
#include "rocereplay/perftest.h"
#include "rocereplay/pingpong.h"
#include "rocereplay/tcp.h"
#include "rocereplay/truth.h"

static int run(struct station *st, const uint8_t ip[16])
{
    switch (st->opts->how) {
    case CONNECT_PINGPONG:
        return pingpong_client(st, ip);
    case CONNECT_PERFTEST:
        return perftest_client(st, ip);
    case CONNECT_CM:
        return cm_client(st, ip);
    case CONNECT_NATIVE:
        return native_client(st, ip);
    case CONNECT_NONE:
        break;
    }
    return st->opts->by_hand ? by_hand_client(st) : pair_run(st);
}

static int resolve(const struct replay_opts *opts, uint8_t ip[16])
{
    int family = AF_UNSPEC;
    if (opts->by_hand)
        memcpy(ip, opts->peer_addr, 16);
    if (opts->how == CONNECT_NONE)
        return 0;
    if (opts->address != NULL)
        family = netif_is_ipv4(opts->own_addr) ? AF_INET : AF_INET6;
    return tcp_resolve(opts->host, family, ip);
}

static int open_all(struct station *st, struct station *twin, const struct replay_opts *opts,
                    const uint8_t ip[16])
{
    if (opts->interface == NULL)
        return station_open_pair(st, twin, opts);
    return station_open(st, opts, ip);
}

int gen_main(int argc, char **argv)
{
    static struct replay_opts opts;
    struct station st = {0}, twin = {0};
    struct truth truth = {0};
    uint8_t ip[16] = {0};
    int status = EXIT_IO;
    const int rc = gen_opts_parse(&opts, argc, argv);
    if (rc != 0)
        return rc == OPT_EXIT_DONE ? EXIT_DONE : EXIT_USAGE;
    signals_catch();
    if (resolve(&opts, ip) != 0)
        return EXIT_IO;
    if (open_all(&st, &twin, &opts, ip) == 0 &&
        (opts.truth == NULL || truth_open(&truth, opts.truth) == 0) &&
        (opts.interface == NULL || privileges_drop(opts.user) == 0)) {
        st.truth = &truth;
        status = run(&st, ip);
        if (opts.truth != NULL && truth_write(&truth, &st, "gen", opts.truth) != 0)
            status = EXIT_IO;
    }
    if (station_close(&st) != 0)
        status = EXIT_IO;
    (void)station_close(&twin);
    truth_free(&truth);
    return status;
}
