/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Both ends of rocereplay's own exchange. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/msg.h"
#include "common/signals.h"
#include "rocereplay/check_peer.h"
#include "rocereplay/native.h"
#include "rocereplay/plan.h"
#include "rocereplay/result.h"
#include "rocereplay/tcp.h"

static const char start_line[] = "{\"start\":true}\n";

static struct native_offer offer_of(const struct end *end, const struct station *st, uint16_t mtu)
{
    const struct plan *plan = &end->plan;
    struct native_offer offer = {
        .service = plan->service,
        .op = plan->load.op,
        .mtu = mtu,
        .size = plan->load.size,
        .depth = plan->load.depth,
        .places = plan->load.places,
        .iters = plan->load.iters,
        .duration_ns = plan->load.duration_ns,
        .verify = plan->load.verify,
        .bidirectional = plan->bidirectional,
        .rd_atomic = (uint8_t)st->opts->rd_atomic,
    };
    memcpy(offer.ip, st->ip, 16);
    offer.qp = calloc(plan->n, sizeof(*offer.qp));
    for (uint32_t i = 0; offer.qp != NULL && i < plan->n; i++) {
        const struct lane *lane = &end->lanes[i];
        offer.qp[i] = (struct remote){.qpn = lane->qpn,
                                      .psn = lane->psn,
                                      .rkey = lane_rkey(lane),
                                      .va = lane->target_va,
                                      .len = lane->cfg.target_len,
                                      .service = lane->cfg.service};
    }
    offer.n = offer.qp != NULL ? plan->n : 0;
    return offer;
}

static int send_offer(struct station *st, int fd, const struct end *end, uint16_t mtu)
{
    struct native_offer offer = offer_of(end, st, mtu);
    char *line = native_encode(&offer);
    native_free(&offer);
    if (line == NULL) {
        msg_print("out of memory");
        return -1;
    }
    const int rc = tcp_write(st, fd, line, strlen(line), "our offer");
    free(line);
    return rc;
}

/* 1: the peer is rocereplay check, and says what it wants; who cannot serve that leaves |want|
 * out. */
static int receive_offer(struct station *st, int fd, struct native_offer *offer,
                         struct check_want *want)
{
    char *line = malloc(NATIVE_LINE_MAX);
    if (line == NULL) {
        msg_print("out of memory");
        return -1;
    }
    int rc = tcp_line(st, fd, line, NATIVE_LINE_MAX, "an offer");
    if (rc == 0 && want != NULL && check_want_decode(line, want) == 0)
        rc = 1;
    if (rc == 0 && native_decode(line, offer) != 0) {
        msg_print("the peer's offer is not rocereplay's; is it another program or version?");
        rc = -1;
    }
    free(line);
    return rc;
}

static int connect_lanes(struct end *end, const struct native_offer *offer)
{
    if (offer->n != end->plan.n) {
        msg_print("the peer has %u QPs, not %u", (unsigned)offer->n, (unsigned)end->plan.n);
        return -1;
    }
    for (uint32_t i = 0; i < offer->n; i++) {
        if (lane_connect(&end->lanes[i], &offer->qp[i]) != 0)
            return -1;
    }
    return 0;
}

static int exchange_start(struct station *st, int fd, bool first)
{
    char line[64];
    const size_t len = sizeof(start_line) - 1;
    if (first && tcp_write(st, fd, start_line, len, "our start") != 0)
        return -1;
    if (tcp_line(st, fd, line, sizeof(line), "the start") != 0)
        return -1;
    return first ? 0 : tcp_write(st, fd, start_line, len, "our start");
}

static int run_client(struct station *st, int fd, struct end *end, struct native_report *report)
{
    struct native_offer offer;
    char line[256];
    struct native_report own = {0};
    if (send_offer(st, fd, end, (uint16_t)st->opts->mtu) != 0 ||
        receive_offer(st, fd, &offer, NULL) != 0)
        return -1;
    int rc = connect_lanes(end, &offer);
    native_free(&offer);
    if (rc != 0 || exchange_start(st, fd, true) != 0 || end_start(end) != 0 ||
        runner_run(&end->runner, NULL) != 0)
        return -1;
    if (end->load.failed) /* what the peer would report is of no use */
        return 0;
    const int n = native_report_encode(&own, line, sizeof(line));
    if (tcp_write(st, fd, line, (size_t)n, "the end") != 0 ||
        tcp_line(st, fd, line, sizeof(line), "the peer's report") != 0)
        return -1;
    if (native_report_decode(line, report) != 0) {
        msg_print("the peer's report is not rocereplay's");
        return -1;
    }
    return 1;
}

int native_client(struct station *st, const uint8_t ip[16])
{
    const struct plan plan = plan_of(st->opts);
    struct native_report report;
    struct end end;
    char peer[320];
    int status = EXIT_IO;
    const int fd = tcp_connect(st, ip, st->opts->port);
    if (fd < 0)
        return EXIT_IO;
    const int opened = end_open(&end, st, &plan, true);
    const int rc = opened == 0 ? run_client(st, fd, &end, &report) : -1;
    (void)close(fd);
    (void)snprintf(peer, sizeof(peer), "rocereplay at %s", st->opts->host);
    if (rc >= 0) {
        const struct load_result load = end.load.result;
        struct result result = {
            .op = st->opts->op_name,
            .peer = peer,
            .load = &load,
            .peer_report = rc > 0 ? &report : NULL,
            .size = plan.load.size,
            .qps = plan.n,
            .mtu = (uint32_t)st->opts->mtu,
            .service = plan.service,
            .received = end.sink.messages,
            .mismatches = end.sink.mismatches,
        };
        end_close(&end);
        status = result_status(&result);
        if (result_print(st, &result) != 0)
            status = EXIT_IO;
        return status;
    }
    end_close(&end);
    return status;
}

static struct plan plan_from(const struct native_offer *offer, const struct replay_opts *opts)
{
    return (struct plan){
        .service = offer->service,
        .asked = offer->qp,
        .n = offer->n,
        .load = {.op = offer->op,
                 .size = offer->size,
                 .iters = offer->iters,
                 .duration_ns = offer->duration_ns,
                 .depth = offer->depth,
                 .places = offer->places,
                 .verify = offer->verify},
        .recv_depth = (uint32_t)opts->rx_depth,
        .bidirectional = offer->bidirectional,
    };
}

static bool is_reliable(const struct native_offer *offer)
{
    for (uint32_t i = 0; i < offer->n; i++)
        if (offer->qp[i].service != ENG_RC)
            return false;
    return true;
}

static int run_server(struct station *st, int fd, struct end *end, const struct native_offer *offer)
{
    char line[256];
    struct native_report report;
    if (connect_lanes(end, offer) != 0 || send_offer(st, fd, end, offer->mtu) != 0 ||
        exchange_start(st, fd, false) != 0 || end_start(end) != 0)
        return -1;
    /* The run lasts as long as the peer wants; its silence then is not a fault. */
    if (!tcp_wait_end(st, fd) || tcp_line(st, fd, line, sizeof(line), "the end") != 0)
        return -1;
    if (native_report_decode(line, &report) != 0) {
        msg_print("the peer ended with a line that is not rocereplay's");
        return -1;
    }
    if (end->sends && runner_run(&end->runner, NULL) != 0)
        return -1;
    /* Of what nobody acknowledges some may still be on its way. */
    if (!is_reliable(offer) && station_settle(st) != 0)
        return -1;
    report = (struct native_report){
        .messages = end->sink.messages,
        .bytes = end->sink.bytes,
        .mismatches = end->sink.mismatches + end->load.result.mismatches,
        .lost = end->sink.lost,
    };
    const int n = native_report_encode(&report, line, sizeof(line));
    if (tcp_write(st, fd, line, (size_t)n, "our report") != 0)
        return -1;
    if (report.mismatches != 0)
        msg_print("%llu messages did not have the contents that they should",
                  (unsigned long long)report.mismatches);
    if (end->load.failed)
        msg_print("QP 0x%x: %s", (unsigned)end->load.result.failed_qpn,
                  eng_wc_status_text((enum eng_wc_status)end->load.result.status));
    return report.mismatches == 0 && !end->load.failed ? 0 : -1;
}

int native_serve(struct station *st, int fd)
{
    struct native_offer offer;
    struct end end;
    struct check_want want;
    const int received = receive_offer(st, fd, &offer, &want);
    if (received != 0)
        return received > 0 ? check_serve(st, fd, &want) : EXIT_IO;
    if (offer.mtu > st->opts->mtu) {
        msg_print("the peer wants path MTU %u; the most here is %u", offer.mtu,
                  (unsigned)st->opts->mtu);
        native_free(&offer);
        return EXIT_IO;
    }
    const struct plan plan = plan_from(&offer, st->opts);
    const int opened = end_open(&end, st, &plan, false);
    const int rc = opened == 0 ? run_server(st, fd, &end, &offer) : -1;
    if (rc == 0 && !st->opts->quiet)
        msg_print("%u QPs, %llu messages received, %llu bytes", (unsigned)plan.n,
                  (unsigned long long)end.sink.messages, (unsigned long long)end.sink.bytes);
    native_free(&offer);
    end_close(&end);
    return rc == 0 ? EXIT_DONE : EXIT_IO;
}
