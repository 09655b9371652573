/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What perftest's records go over. */
#include "rocereplay/perftest_link.h"

#include <poll.h>
#include <unistd.h>

#include "common/signals.h"
#include "rocereplay/tcp.h"

int perftest_link_connect(struct perftest_link *link, struct station *st, const uint8_t ip[16])
{
    *link = (struct perftest_link){.st = st, .client = true, .fd = -1};
    if (st->opts->rdma_cm || st->opts->com_rdma_cm)
        return perftest_cm_connect(&link->cm, st, ip);
    link->fd = tcp_connect(st, ip, st->opts->port);
    return link->fd >= 0 ? 0 : -1;
}

/* Whoever comes first: a connection request, kept in |*request|, or a TCP client. */
static int wait_for_either(struct perftest_link *link, int listener, struct eng_cm_event *request)
{
    struct station *st = link->st;
    while (!signals_interrupted()) {
        const int moved = station_turn(st);
        if (moved < 0)
            return -1;
        while (eng_cm_event(st->cm, request) > 0)
            if (request->kind == ENG_CM_CONNECT_REQUEST)
                return 0;
        const roce_tstamp until = moved > 0 ? station_now(st) : ENG_NEVER;
        if (station_idle(st, until, listener, POLLIN)) {
            uint8_t ip[16];
            link->fd = tcp_accept(st, listener, ip);
            return link->fd >= 0 ? 0 : -1;
        }
    }
    return -1;
}

int perftest_link_accept(struct perftest_link *link, struct station *st, int listener)
{
    struct eng_cm_event request;
    link->st = st;
    link->client = false;
    link->fd = -1;
    if (!perftest_cm_waiting(&link->cm, &request) && wait_for_either(link, listener, &request) != 0)
        return -1;
    if (link->fd >= 0)
        return 1;
    return perftest_cm_accept(&link->cm, st, &request) == 0 ? 1 : 0;
}

void perftest_link_close(struct perftest_link *link)
{
    if (link->fd >= 0)
        (void)close(link->fd);
    else
        perftest_cm_close(&link->cm);
    link->fd = -1;
}

bool perftest_link_by_cm(const struct perftest_link *link)
{
    return link->fd < 0;
}

int perftest_link_read(struct perftest_link *link, void *buf, size_t len, bool forever,
                       const char *what)
{
    if (perftest_link_by_cm(link))
        return perftest_cm_read(&link->cm, buf, len, forever, what);
    if (forever && !tcp_wait_end(link->st, link->fd))
        return -1;
    return tcp_read(link->st, link->fd, buf, len, what);
}

int perftest_link_write(struct perftest_link *link, const void *buf, size_t len, const char *what)
{
    if (perftest_link_by_cm(link))
        return perftest_cm_write(&link->cm, buf, len, what);
    return tcp_write(link->st, link->fd, buf, len, what);
}

int perftest_link_finish(struct perftest_link *link)
{
    if (perftest_link_by_cm(link)) {
        perftest_cm_wait_end(&link->cm);
        return 0;
    }
    return tcp_finish(link->st, link->fd) ? 0 : -1;
}
