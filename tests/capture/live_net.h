/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A network of the test's own: a namespace, veth pairs, and frames sent into them. */
#ifndef TESTS_LIVE_NET_H
#define TESTS_LIVE_NET_H

#include <arpa/inet.h>
#include <fcntl.h>
#include <net/if.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/if_ether.h>
#include <linux/if_packet.h>

enum { NET_CLONE_NEWNET = 0x40000000, NET_FRAME_MIN = 60 };

static inline bool net_run(const char *command)
{
    return system(command) == 0;
}

/* A new namespace with the pairs a0-b0 and a1-b1, quiet but for what the test sends. False without
 * the right to make one. */
static inline bool net_enter(void)
{
    if (syscall(SYS_unshare, NET_CLONE_NEWNET) != 0)
        return false;
    if (!net_run("echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6"))
        return false;
    if (!net_run("echo 1 >/proc/sys/net/ipv6/conf/default/disable_ipv6"))
        return false;
    for (int i = 0; i < 2; i++) {
        char command[160];
        (void)snprintf(command, sizeof(command),
                       "ip link add a%d type veth peer name b%d && ip link set a%d up arp off && "
                       "ip link set b%d up arp off",
                       i, i, i, i);
        if (!net_run(command))
            return false;
    }
    return net_run("ip link set lo up");
}

static inline int net_socket(const char *name)
{
    const struct sockaddr_ll address = {
        .sll_family = AF_PACKET, .sll_protocol = 0, .sll_ifindex = (int)if_nametoindex(name)};
    const int fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
    if (fd < 0 || bind(fd, (const struct sockaddr *)&address, sizeof(address)) != 0)
        abort();
    return fd;
}

static inline void net_send(int fd, const uint8_t *frame, size_t len)
{
    if (send(fd, frame, len, 0) != (ssize_t)len)
        abort();
}

static inline void net_put16(uint8_t *p, unsigned v)
{
    p[0] = (uint8_t)(v >> 8);
    p[1] = (uint8_t)v;
}

static inline void net_put32(uint8_t *p, uint32_t v)
{
    net_put16(p, v >> 16);
    net_put16(p + 2, v & 0xFFFF);
}

static inline uint32_t net_get32(const uint8_t *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

/* Writes an Ethernet frame of |len| bytes with |tags| (TPID << 16 | TCI each), IPv4 and UDP to
 * |port|; |number| stands behind the UDP header. Returns where it stands. */
static inline size_t net_frame(uint8_t *frame, size_t len, const uint32_t *tags, size_t n_tags,
                               unsigned port, uint32_t number)
{
    memset(frame, 0, len);
    memcpy(frame, "\x02\0\0\0\0\x0b\x02\0\0\0\0\x0a", 12);
    size_t at = 12;
    for (size_t i = 0; i < n_tags; i++, at += 4)
        net_put32(frame + at, tags[i]);
    net_put16(frame + at, 0x0800);
    uint8_t *ip = frame + at + 2;
    ip[0] = 0x45;
    net_put16(ip + 2, (unsigned)(len - at - 2));
    ip[8] = 64;
    ip[9] = 17;
    memcpy(ip + 12, "\x0a\0\0\x01\x0a\0\0\x02", 8);
    net_put16(ip + 20, 50000);
    net_put16(ip + 22, port);
    net_put16(ip + 24, (unsigned)(len - at - 22));
    net_put32(ip + 28, number);
    return at + 30;
}

#endif
