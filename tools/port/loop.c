/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The port loop. */
#define _GNU_SOURCE /* ppoll */
#include "port/loop.h"

#include <poll.h>
#include <roce/err.h>
#include <sys/prctl.h>
#include <time.h>

enum {
    BURST = 64,
    FULL_WAIT_NS = 50000,    /* a port without room and without descriptor is looked at again */
    WAIT_MAX_NS = 200000000, /* a signal just before the sleep is seen after this */
};

void port_loop_init(struct port_loop *loop, struct eng_dev *dev, struct port *port)
{
    *loop = (struct port_loop){.dev = dev, .port = port};
    (void)prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
}

static int take_in(const struct port_loop *loop, roce_tstamp now)
{
    struct roce_frame frame;
    int n = 0;
    while (n < BURST) {
        const int rc = loop->port->ops->receive(loop->port, now, &frame);
        if (rc < 0)
            return rc;
        if (rc == 0)
            break;
        (void)eng_dev_read(loop->dev, now, frame.data, frame.caplen);
        n++;
    }
    return n;
}

static int send_out(struct port_loop *loop, roce_tstamp now)
{
    struct port *port = loop->port;
    int n = 0;
    loop->sent_full = false;
    while (n < BURST) {
        uint8_t *room = port->ops->room(port, ENG_FRAME_MAX);
        if (room == NULL) {
            loop->sent_full = true;
            break;
        }
        const int len = eng_dev_write(loop->dev, now, room, ENG_FRAME_MAX);
        if (len <= 0) {
            if (len < 0)
                return len;
            break;
        }
        const int rc = port->ops->commit(port, (size_t)len, now);
        if (rc < 0)
            return rc;
        n++;
    }
    const int rc = port->ops->flush(port, now);
    return rc < 0 ? rc : n;
}

int port_loop_turn(struct port_loop *loop, roce_tstamp now)
{
    const int in = take_in(loop, now);
    if (in < 0)
        return in;
    eng_dev_expire(loop->dev, now);
    const int out = send_out(loop, now);
    return out < 0 ? out : in + out;
}

roce_tstamp port_loop_next(const struct port_loop *loop, roce_tstamp now)
{
    const roce_tstamp port = loop->port->ops->next(loop->port);
    roce_tstamp dev = eng_dev_next(loop->dev, now);
    if (dev <= now && loop->sent_full)
        dev = now + FULL_WAIT_NS; /* what it has to send must wait for room */
    return port < dev ? port : dev;
}

bool port_loop_wait(struct port_loop *loop, roce_tstamp now, roce_tstamp until, int fd,
                    short events)
{
    const roce_tstamp next = port_loop_next(loop, now);
    if (next < until)
        until = next;
    uint64_t ns = until > now ? until - now : 0;
    if (loop->spin)
        ns = 0;
    if (ns > WAIT_MAX_NS)
        ns = WAIT_MAX_NS;
    if (ns == 0 && fd < 0)
        return false;
    struct pollfd fds[2] = {
        {.fd = loop->port->ops->fd(loop->port), .events = POLLIN},
        {.fd = fd, .events = events},
    };
    if (loop->sent_full)
        fds[0].events = POLLIN | POLLOUT;
    const struct timespec timeout = {.tv_nsec = (long)ns};
    if (ppoll(fds, 2, &timeout, NULL) <= 0)
        return false;
    return fd >= 0 && fds[1].revents != 0;
}
