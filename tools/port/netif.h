/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the kernel knows of an interface. */
#ifndef PORT_NETIF_H
#define PORT_NETIF_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include "port/port.h"

struct netif {
    char name[16];
    int index;
    uint8_t mac[6];
    uint32_t mtu;
    bool loopback;
    bool has_ipv4, has_ipv6;
    uint8_t ipv4[16]; /* ::ffff:a.b.c.d */
    uint8_t ipv6[16]; /* a global address, else the link-local one */
};

/* netif_find fills |out| with the facts of interface |name|. 0; or ROCE_ERR_UNKNOWN (no such
 * interface), ROCE_ERR_STATE (it is down) or ROCE_ERR_UNSUPPORTED (no Ethernet), with the reason
 * and what to do in |text|. */
int netif_find(const char *name, struct netif *out, char text[PORT_TEXT_MAX]);

#define NETIF_IP_TEXT 46
bool netif_is_ipv4(const uint8_t ip[16]);
/* netif_ip_text writes |ip| as people write it, IPv4 with dots. netif_ip_parse reads that; 0, or
 * ROCE_ERR_SYNTAX. */
void netif_ip_text(const uint8_t ip[16], char text[NETIF_IP_TEXT]);
int netif_ip_parse(const char *text, uint8_t ip[16]);

/* netif_sockaddr writes the socket address of |ip| and |port|; |index| is the interface of a
 * link-local address, or 0. Returns its length; its family is in |out->ss_family|. */
socklen_t netif_sockaddr(const uint8_t ip[16], uint16_t port, int index,
                         struct sockaddr_storage *out);
/* netif_from_sockaddr reads the address back; false: no IP address. */
bool netif_from_sockaddr(const struct sockaddr *sa, uint8_t ip[16]);

/* netif_owns tells whether |ip| is one of the addresses of interface |name|. */
bool netif_owns(const char *name, const uint8_t ip[16]);

/* netif_by_ip finds the interface that has |ip|: its name in |name|. 0 or ROCE_ERR_UNKNOWN. */
int netif_by_ip(const uint8_t ip[16], char name[16]);

#endif
