/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The MAC address behind an IP address, by the kernel's routes and neighbour table. */
#ifndef PORT_NEIGH_H
#define PORT_NEIGH_H

#include <stdint.h>

#include "port/netif.h"

/* neigh_resolve finds the MAC address to which frames for |ip| go when they leave by |netif|: that
 * of the host itself on the link, else of the route's gateway. The kernel asks (ARP, neighbour
 * discovery) when it does not know; that takes up to |patience_ms|. 0; or ROCE_ERR_UNKNOWN with the
 * reason in |text| (no route by this interface, no answer). */
int neigh_resolve(const struct netif *netif, const uint8_t ip[16], unsigned patience_ms,
                  uint8_t mac[6], char text[PORT_TEXT_MAX]);

#endif
