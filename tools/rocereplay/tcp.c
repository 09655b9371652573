/* SPDX-License-Identifier: GPL-2.0-or-later */
/* TCP beside a running station. */
#include "rocereplay/tcp.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/msg.h"
#include "common/signals.h"

#define PATIENCE_NS UINT64_C(30000000000) /* for one item of an exchange */
#define AGAIN_NS    UINT64_C(20000000)

int tcp_resolve(const char *host, int family, uint8_t ip[16])
{
    const struct addrinfo hints = {.ai_family = family, .ai_socktype = SOCK_STREAM};
    struct addrinfo *found;
    const int rc = getaddrinfo(host, NULL, &hints, &found);
    if (rc != 0) {
        msg_print("%s: %s; check the name", host, gai_strerror(rc));
        return -1;
    }
    const bool ok = netif_from_sockaddr(found->ai_addr, ip);
    freeaddrinfo(found);
    return ok ? 0 : -1;
}

static int fault(int fd, const char *what, const uint8_t ip[16], uint16_t port, const char *hint)
{
    char name[NETIF_IP_TEXT];
    const int why = errno;
    netif_ip_text(ip, name);
    msg_print("%s %s port %u: %s%s", what, name, port, strerror(why), hint);
    if (fd >= 0)
        (void)close(fd);
    return -1;
}

/* Turns the station until |fd| is ready. */
static bool ready(struct station *st, int fd, short events, roce_tstamp until)
{
    while (!signals_interrupted()) {
        const int n = station_turn(st);
        if (n < 0)
            return false;
        /* A busy station is asked about |fd| as well, without sleeping. */
        if (station_idle(st, n > 0 ? station_now(st) : until, fd, events))
            return true;
        if (station_now(st) >= until)
            return false;
    }
    return false;
}

static void set_up(int fd)
{
    const int on = 1;
    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
}

/* -1 with errno: refused, or what else; nothing is printed. */
static int try_connect(struct station *st, int fd, const uint8_t ip[16], uint16_t port)
{
    struct sockaddr_storage from, to;
    const socklen_t from_len = netif_sockaddr(st->ip, 0, st->netif.index, &from);
    const socklen_t to_len = netif_sockaddr(ip, port, st->netif.index, &to);
    int err = 0;
    socklen_t len = sizeof(err);
    if (bind(fd, (struct sockaddr *)&from, from_len) != 0)
        return -1;
    if (connect(fd, (struct sockaddr *)&to, to_len) != 0) {
        if (errno != EINPROGRESS)
            return -1;
        if (!ready(st, fd, POLLOUT, station_now(st) + PATIENCE_NS)) {
            errno = signals_interrupted() ? EINTR : ETIMEDOUT;
            return -1;
        }
        (void)getsockopt(fd, SOL_SOCKET, SO_ERROR, &err, &len);
    }
    errno = err;
    return err == 0 ? 0 : -1;
}

int tcp_connect(struct station *st, const uint8_t ip[16], uint16_t port)
{
    const int family = netif_is_ipv4(ip) ? AF_INET : AF_INET6;
    const roce_tstamp give_up = station_now(st) + st->opts->connect_ns;
    for (;;) {
        const int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        if (fd < 0)
            return fault(fd, "socket to", ip, port, "");
        if (try_connect(st, fd, ip, port) == 0) {
            set_up(fd);
            return fd;
        }
        if (errno != ECONNREFUSED || station_now(st) >= give_up || signals_interrupted())
            return fault(fd, "connecting to", ip, port, "; is the peer's program running?");
        (void)close(fd);
        (void)station_idle(st, station_now(st) + AGAIN_NS, -1, 0);
    }
}

int tcp_listen(const struct station *st, uint16_t port)
{
    struct sockaddr_storage at;
    const int on = 1;
    const socklen_t len = netif_sockaddr(st->ip, port, st->netif.index, &at);
    const int fd = socket(at.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return fault(fd, "socket at", st->ip, port, "");
    (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    if (bind(fd, (struct sockaddr *)&at, len) != 0 || listen(fd, 16) != 0)
        return fault(fd, "listening at", st->ip, port, "; give another --listen-port");
    return fd;
}

int tcp_accept(struct station *st, int listener, uint8_t ip[16])
{
    while (ready(st, listener, POLLIN, ENG_NEVER)) {
        struct sockaddr_storage from;
        socklen_t len = sizeof(from);
        const int fd = accept(listener, (struct sockaddr *)&from, &len);
        if (fd < 0)
            continue; /* it has gone again */
        if (!netif_from_sockaddr((struct sockaddr *)&from, ip)) {
            (void)close(fd);
            continue;
        }
        set_up(fd);
        return fd;
    }
    return -1;
}

static int broken(const struct station *st, const char *what, roce_tstamp until, bool closed)
{
    if (signals_interrupted())
        return -1;
    if (closed)
        msg_print("the peer closed its connection where %s was due", what);
    else if (station_now(st) >= until)
        msg_print("no %s from the peer for 30 s", what);
    else
        msg_print("connection to the peer: %s", strerror(errno));
    return -1;
}

int tcp_read(struct station *st, int fd, void *buf, size_t len, const char *what)
{
    const roce_tstamp until = station_now(st) + PATIENCE_NS;
    char *at = buf;
    while (len > 0) {
        if (!ready(st, fd, POLLIN, until))
            return broken(st, what, until, false);
        const ssize_t n = recv(fd, at, len, MSG_DONTWAIT);
        if (n < 0 && (errno == EAGAIN || errno == EINTR))
            continue;
        if (n <= 0)
            return broken(st, what, until, n == 0);
        at += n;
        len -= (size_t)n;
    }
    return 0;
}

int tcp_line(struct station *st, int fd, char *buf, size_t room, const char *what)
{
    const roce_tstamp until = station_now(st) + PATIENCE_NS;
    size_t used = 0;
    for (;;) {
        if (!ready(st, fd, POLLIN, until))
            return broken(st, what, until, false);
        /* Nothing behind the newline may be taken: it is the next item. */
        const ssize_t seen = recv(fd, buf + used, room - used, MSG_DONTWAIT | MSG_PEEK);
        if (seen < 0 && (errno == EAGAIN || errno == EINTR))
            continue;
        if (seen <= 0)
            return broken(st, what, until, seen == 0);
        const char *newline = memchr(buf + used, '\n', (size_t)seen);
        const size_t take = newline != NULL ? (size_t)(newline - (buf + used)) + 1 : (size_t)seen;
        if (recv(fd, buf + used, take, MSG_DONTWAIT) != (ssize_t)take)
            return broken(st, what, until, false);
        used += take;
        if (newline != NULL) {
            buf[used - 1] = '\0';
            return 0;
        }
        if (used == room) {
            msg_print("%s of the peer is longer than %zu bytes", what, room);
            return -1;
        }
    }
}

int tcp_write(struct station *st, int fd, const void *buf, size_t len, const char *what)
{
    const roce_tstamp until = station_now(st) + PATIENCE_NS;
    const char *at = buf;
    while (len > 0) {
        const ssize_t n = send(fd, at, len, MSG_DONTWAIT | MSG_NOSIGNAL);
        if (n < 0 && (errno == EAGAIN || errno == EINTR)) {
            if (!ready(st, fd, POLLOUT, until))
                return broken(st, what, until, false);
            continue;
        }
        if (n < 0)
            return broken(st, what, until, errno == EPIPE || errno == ECONNRESET);
        at += n;
        len -= (size_t)n;
    }
    return 0;
}

bool tcp_wait_end(struct station *st, int fd)
{
    return ready(st, fd, POLLIN, ENG_NEVER);
}

bool tcp_finish(struct station *st, int fd)
{
    (void)shutdown(fd, SHUT_WR);
    return tcp_wait_end(st, fd);
}
