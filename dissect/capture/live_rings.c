/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reading the rings of one or several interfaces: waiting, order by time, counters. */
#include "live.h"

#if defined(__linux__)

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <linux/if_packet.h>

#include "live_counters.h"
#include "live_filter.h"
#include "live_socket.h"

struct rings {
    uint32_t count;
    struct ring ring[ROCE_LIVE_IFACES_MAX];
    uint64_t dropped_before[ROCE_LIVE_IFACES_MAX]; /* by the interface before the opening */
    int epoll, counters;
    uint32_t wait_ms;
    roce_tstamp settled;   /* rings that are empty now have nothing older than this */
    roce_tstamp stats_due; /* counters are read again at this frame time */
    bool closing;          /* nothing new is taken in, the rings are being emptied */
};

/* Frames that came before it are counted, and the filter keeps further ones out. */
static void close_rings(struct rings *rings)
{
    for (uint32_t i = 0; i < rings->count; i++)
        live_filter_shut(rings->ring[i].fd);
    rings->closing = true;
}

static void read_counters(struct roce_reader *reader)
{
    struct rings *rings = reader->live_state;
    for (uint32_t i = 0; i < rings->count; i++) {
        struct roce_iface *iface = &reader->ifaces[i];
        struct tpacket_stats_v3 stats;
        socklen_t len = sizeof(stats);
        uint64_t dropped;
        /* Reading them sets them to 0; tp_packets counts those dropped, too. */
        if (getsockopt(rings->ring[i].fd, SOL_PACKET, PACKET_STATISTICS, &stats, &len) == 0) {
            iface->received += stats.tp_packets;
            iface->dropped += stats.tp_drops;
        }
        iface->merged = rings->ring[i].merged;
        if (live_counters_dropped(rings->counters, rings->ring[i].ifindex, &dropped) ==
                LIVE_COUNTERS_OK &&
            dropped >= rings->dropped_before[i])
            iface->if_dropped = dropped - rings->dropped_before[i];
    }
}

/* Index of the ring with the oldest frame, or -1. |*empty| tells whether some ring has none. */
static int oldest(struct rings *rings, roce_tstamp *ts, bool *empty)
{
    int found = -1;
    *empty = false;
    for (uint32_t i = 0; i < rings->count; i++) {
        roce_tstamp first;
        if (!ring_ready(&rings->ring[i], &first)) {
            *empty = true;
        } else if (found < 0 || first < *ts) {
            found = (int)i;
            *ts = first;
        }
    }
    return found;
}

static int gather(struct rings *rings, struct roce_frame *frames, int max, bool *pending)
{
    roce_tstamp ts = 0;
    int n = 0;
    *pending = false;
    if (rings->count == 1) {
        while (n < max && ring_ready(&rings->ring[0], &ts))
            n += ring_take(&rings->ring[0], &frames[n]);
        return n;
    }
    while (n < max) {
        bool empty;
        const int from = oldest(rings, &ts, &empty);
        if (from < 0)
            break;
        if (empty && ts > rings->settled) {
            *pending = true;
            break;
        }
        n += ring_take(&rings->ring[from], &frames[n]);
    }
    return n;
}

/* What is ready now will be in order once the empty rings have stayed so for the window. */
static roce_tstamp newest_ready(struct rings *rings)
{
    roce_tstamp newest = 0;
    for (uint32_t i = 0; i < rings->count; i++) {
        roce_tstamp ts;
        if (!ring_ready(&rings->ring[i], &ts))
            continue;
        ts = ring_newest(&rings->ring[i]);
        if (ts > newest)
            newest = ts;
    }
    return newest;
}

/* An interface that went down may come up again; one that is gone will not. */
static int check_interface(struct roce_reader *reader, uint32_t index)
{
    const struct rings *rings = reader->live_state;
    const struct ring *ring = &rings->ring[index];
    int error = 0;
    socklen_t len = sizeof(error);
    uint64_t dropped;
    (void)getsockopt(ring->fd, SOL_SOCKET, SO_ERROR, &error, &len);
    if (live_counters_dropped(rings->counters, ring->ifindex, &dropped) == LIVE_COUNTERS_GONE)
        return cap_live_fault(reader, index, ROCE_ERR_IO, "the interface is gone");
    reader->ifaces[index].downs += error == ENETDOWN;
    if (error != 0 && error != ENETDOWN)
        return cap_live_fault(reader, index, ROCE_ERR_IO, "%s", strerror(error));
    return 0;
}

enum waited { WAITED_READY, WAITED_QUIET, WAITED_SIGNAL };

/* Waits for frames; with |pending| for those of the empty rings alone. */
static int await(struct roce_reader *reader, bool pending, int timeout_ms)
{
    struct rings *rings = reader->live_state;
    struct pollfd fds[ROCE_LIVE_IFACES_MAX + 1];
    uint32_t which[ROCE_LIVE_IFACES_MAX];
    nfds_t n = 0;
    for (uint32_t i = 0; i < rings->count; i++) {
        roce_tstamp ts;
        if (pending && ring_ready(&rings->ring[i], &ts))
            continue;
        which[n] = i;
        fds[n++] = (struct pollfd){.fd = rings->ring[i].fd, .events = POLLIN | POLLERR};
    }
    const nfds_t sockets = n;
    if (!rings->closing)
        fds[n++] = (struct pollfd){.fd = reader->source.wake.pipe[0], .events = POLLIN};
    const int ready = poll(fds, n, timeout_ms);
    if (ready < 0 && errno != EINTR)
        return cap_reader_fault(reader, ROCE_ERR_IO, "poll: %s", strerror(errno));
    if (ready <= 0)
        return ready == 0 ? WAITED_QUIET : WAITED_SIGNAL;
    for (nfds_t i = 0; i < sockets; i++) {
        const int rc = (fds[i].revents & POLLERR) != 0 ? check_interface(reader, which[i]) : 0;
        if (rc < 0)
            return rc;
    }
    return WAITED_READY;
}

/* Nothing can be handed out: waits. Returns 0 to try again, or what roce_reader_next returns, in
 * |*result|, with 1. */
static int pause_reading(struct roce_reader *reader, bool pending, int *result)
{
    struct rings *rings = reader->live_state;
    const roce_tstamp newest = pending ? newest_ready(rings) : 0;
    const bool settling = pending || rings->closing;
    const int how = await(reader, pending, settling ? LIVE_WINDOW_MS : (int)rings->wait_ms);
    if (how == WAITED_READY)
        return 0;
    if (how == WAITED_QUIET && pending) {
        rings->settled = newest;
        return 0;
    }
    read_counters(reader);
    *result = how;
    if (how >= 0)
        *result = rings->closing && how == WAITED_QUIET ? 0 : ROCE_ERR_AGAIN;
    return 1;
}

static int rings_next(struct roce_reader *reader, struct roce_frame *frames, int max)
{
    struct rings *rings = reader->live_state;
    for (uint32_t i = 0; i < rings->count; i++)
        ring_release(&rings->ring[i]);
    for (;;) {
        bool pending;
        if (cap_wake_broken(&reader->source.wake) && !rings->closing)
            close_rings(rings);
        const int n = gather(rings, frames, max, &pending);
        if (n > 0) {
            for (int i = 0; i < n; i++)
                frames[i].number = ++reader->number;
            const roce_tstamp ts = frames[n - 1].ts;
            if (ts >= rings->stats_due || rings->stats_due - ts > LIVE_STATS_NS) {
                read_counters(reader);
                rings->stats_due = ts + LIVE_STATS_NS;
            }
            return n;
        }
        int result;
        if (pause_reading(reader, pending, &result) != 0)
            return result == ROCE_ERR_AGAIN ? result : cap_live_finish(reader, result);
    }
}

static int rings_fd(const struct roce_reader *reader)
{
    const struct rings *rings = reader->live_state;
    return rings->epoll;
}

static void rings_del(struct roce_reader *reader)
{
    struct rings *rings = reader->live_state;
    for (uint32_t i = 0; i < rings->count; i++)
        live_socket_close(&rings->ring[i]);
    if (rings->epoll >= 0)
        (void)close(rings->epoll);
    if (rings->counters >= 0)
        (void)close(rings->counters);
    free(rings);
}

static int watch(struct roce_reader *reader)
{
    struct rings *rings = reader->live_state;
    struct epoll_event event = {.events = EPOLLIN};
    rings->epoll = epoll_create1(EPOLL_CLOEXEC);
    int rc = rings->epoll < 0
                 ? -1
                 : epoll_ctl(rings->epoll, EPOLL_CTL_ADD, reader->source.wake.pipe[0], &event);
    for (uint32_t i = 0; i < rings->count && rc == 0; i++)
        rc = epoll_ctl(rings->epoll, EPOLL_CTL_ADD, rings->ring[i].fd, &event);
    if (rc != 0)
        return cap_reader_fault(reader, ROCE_ERR_IO, "epoll: %s", strerror(errno));
    return 0;
}

int cap_live_rings(struct roce_reader *reader, const struct roce_live_opts *opts)
{
    static const struct cap_live_ops ops = {rings_next, rings_fd, rings_del};
    struct rings *rings = calloc(1, sizeof(*rings));
    if (rings == NULL)
        return cap_reader_fault(reader, ROCE_ERR_NOMEM, "out of memory");
    rings->epoll = rings->counters = -1;
    rings->wait_ms = opts->wait_ms;
    reader->live = &ops;
    reader->live_state = rings;
    rings->counters = live_counters_open();
    for (uint32_t i = 0; i < reader->iface_count; i++) {
        rings->count = i + 1;
        const int rc = live_socket_open(reader, i, opts, &rings->ring[i]);
        if (rc != 0)
            return rc;
        struct roce_iface *iface = &reader->ifaces[i];
        iface->snaplen = rings->ring[i].snaplen;
        iface->nanosecond = iface->has_stats = true;
        (void)live_counters_dropped(rings->counters, rings->ring[i].ifindex,
                                    &rings->dropped_before[i]);
    }
    return watch(reader);
}

#else

int cap_live_rings(struct roce_reader *reader, const struct roce_live_opts *opts)
{
    (void)opts;
    return cap_reader_fault(reader, ROCE_ERR_UNSUPPORTED, "no packet sockets");
}

#endif
