/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The MAC address behind an IP address. */
#include "port/neigh.h"

#include <roce/err.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/clock.h"
#include "port/rtnl.h"

enum { DISCARD_PORT = 9, POKE_MS = 1000 };

/* An empty datagram to the discard port (RFC 863): the kernel resolves its next hop. Asking for
 * that through netlink would need CAP_NET_ADMIN. */
static void poke(const struct netif *netif, const uint8_t ip[16])
{
    struct sockaddr_storage to;
    const socklen_t len = netif_sockaddr(ip, DISCARD_PORT, netif->index, &to);
    const int fd = socket(to.ss_family, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return;
    (void)setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, netif->name, (socklen_t)strlen(netif->name));
    (void)sendto(fd, "", 0, 0, (struct sockaddr *)&to, len);
    (void)close(fd);
}

static int fault(char text[PORT_TEXT_MAX], const char *what, const uint8_t ip[16],
                 const struct netif *netif)
{
    char name[NETIF_IP_TEXT];
    netif_ip_text(ip, name);
    (void)snprintf(text, PORT_TEXT_MAX, "%s %s on %s", what, name, netif->name);
    return ROCE_ERR_UNKNOWN;
}

int neigh_resolve(const struct netif *netif, const uint8_t ip[16], unsigned patience_ms,
                  uint8_t mac[6], char text[PORT_TEXT_MAX])
{
    uint8_t hop[16];
    int rc = 0;
    if (netif->loopback) {
        memset(mac, 0, 6);
        return 0;
    }
    if (netif_owns(netif->name, ip)) { /* a peer in the same host: the frame comes back by itself */
        memcpy(mac, netif->mac, 6);
        return 0;
    }
    const int fd = rtnl_open();
    if (fd < 0)
        return fault(text, "no netlink socket to look for", ip, netif);
    if (rtnl_route(fd, netif->index, ip, hop) < 0) {
        (void)close(fd);
        return fault(text, "no route to", ip, netif);
    }
    const uint64_t end = clock_monotonic_ns() + patience_ms * 1000000ULL;
    uint64_t poke_at = 0;
    for (;;) {
        const enum rtnl_neigh state = rtnl_neigh(fd, netif->index, hop, mac);
        const uint64_t now = clock_monotonic_ns();
        if (state == RTNL_NEIGH_KNOWN)
            break;
        if (now >= end) {
            rc = fault(text, "no answer to ARP or neighbour discovery from", hop, netif);
            break;
        }
        if (now >= poke_at) {
            poke(netif, ip);
            poke_at = now + POKE_MS * 1000000ULL;
        }
        const uint64_t until = poke_at < end ? poke_at : end;
        (void)rtnl_wait(fd, (int)((until - now) / 1000000) + 1);
    }
    (void)close(fd);
    return rc;
}
