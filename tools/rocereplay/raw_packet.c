/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sending through a packet socket, many frames with one call. */
#define _GNU_SOURCE /* sendmmsg */
#include <errno.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <poll.h>
#include <roce/err.h>
#include <roce/net.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "engine/engine.h"
#include "rocereplay/raw_port.h"

enum { BATCH = 64, SNDBUF = 4 << 20, PATIENCE_MS = 1000 };

struct raw_packet {
    struct port port;
    int fd;
    size_t frame_len;
    uint8_t *memory;
    unsigned n;
    struct iovec iov[BATCH];
    struct mmsghdr msg[BATCH];
};

static int fault(struct raw_packet *p, const char *what)
{
    (void)snprintf(p->port.text, sizeof(p->port.text), "%s: %s", what, strerror(errno));
    return ROCE_ERR_IO;
}

static uint8_t *packet_room(struct port *port, size_t len)
{
    struct raw_packet *p = (struct raw_packet *)port;
    return p->n < BATCH && len <= p->frame_len ? p->memory + p->n * p->frame_len : NULL;
}

static int packet_commit(struct port *port, size_t len, roce_tstamp now)
{
    struct raw_packet *p = (struct raw_packet *)port;
    (void)now;
    p->iov[p->n].iov_len = len;
    p->n++;
    return 0;
}

static int packet_flush(struct port *port, roce_tstamp now)
{
    struct raw_packet *p = (struct raw_packet *)port;
    (void)now;
    for (unsigned done = 0; done < p->n;) {
        const int n = sendmmsg(p->fd, p->msg + done, p->n - done, 0);
        if (n > 0) {
            done += (unsigned)n;
        } else if (errno == ENOBUFS || errno == EAGAIN) { /* the queue is full */
            struct pollfd poll_fd = {.fd = p->fd, .events = POLLOUT};
            (void)poll(&poll_fd, 1, PATIENCE_MS);
        } else if (errno != EINTR) {
            p->n = 0;
            return fault(p, "sending");
        }
    }
    p->n = 0;
    return 0;
}

static void packet_del(struct port *port)
{
    struct raw_packet *p = (struct raw_packet *)port;
    if (p->fd >= 0)
        (void)close(p->fd);
    free(p->memory);
    free(p);
}

static const struct port_ops packet_ops = {
    .room = packet_room,
    .commit = packet_commit,
    .flush = packet_flush,
    .receive = raw_receive_none,
    .next = raw_next_never,
    .fd = raw_fd_none,
    .del = packet_del,
};

static int set_up(struct raw_packet *p, const struct netif *netif)
{
    const int on = 1, sndbuf = SNDBUF;
    const struct sockaddr_ll at = {.sll_family = AF_PACKET, .sll_ifindex = netif->index};
    p->memory = malloc(BATCH * p->frame_len);
    if (p->memory == NULL) {
        errno = ENOMEM;
        return fault(p, "buffers");
    }
    p->fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0); /* 0: it shall receive nothing */
    if (p->fd < 0 && errno == EPERM) {
        (void)snprintf(p->port.text, sizeof(p->port.text),
                       "no permission for packet sockets; run as root, or setcap cap_net_raw+ep "
                       "the program");
        return ROCE_ERR_PERMISSION;
    }
    if (p->fd < 0)
        return fault(p, "packet socket");
    (void)setsockopt(p->fd, SOL_PACKET, PACKET_QDISC_BYPASS, &on, sizeof(on));
    (void)setsockopt(p->fd, SOL_SOCKET, SO_SNDBUF, &sndbuf, sizeof(sndbuf));
    if (bind(p->fd, (const struct sockaddr *)&at, sizeof(at)) != 0)
        return fault(p, "binding to the interface");
    for (unsigned i = 0; i < BATCH; i++) {
        p->iov[i].iov_base = p->memory + i * p->frame_len;
        p->msg[i].msg_hdr.msg_iov = &p->iov[i];
        p->msg[i].msg_hdr.msg_iovlen = 1;
    }
    return 0;
}

struct port *raw_packet_new(const struct netif *netif, char text[PORT_TEXT_MAX])
{
    struct raw_packet *p = calloc(1, sizeof(*p));
    if (p == NULL) {
        (void)snprintf(text, PORT_TEXT_MAX, "%s", roce_strerror(ROCE_ERR_NOMEM));
        return NULL;
    }
    p->port.ops = &packet_ops;
    p->fd = -1;
    p->frame_len = (size_t)netif->mtu + ROCE_ETH_LEN + ROCE_VLAN_LEN;
    if (p->frame_len < ENG_FRAME_MAX) /* what layers above ask for when they do not know yet */
        p->frame_len = ENG_FRAME_MAX;
    if (set_up(p, netif) != 0) {
        memcpy(text, p->port.text, PORT_TEXT_MAX);
        packet_del(&p->port);
        return NULL;
    }
    return &p->port;
}
