/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Questions to the kernel's routing tables (rtnetlink(7)). */
#ifndef PORT_RTNL_H
#define PORT_RTNL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum rtnl_neigh { RTNL_NEIGH_NONE, RTNL_NEIGH_KNOWN, RTNL_NEIGH_FAILED };

/* rtnl_open opens a socket that hears of changes of the neighbour table; -1 on failure. */
int rtnl_open(void);

/* rtnl_route asks for the way to |ip| by interface |index|. 1: by the gateway that is then in
 * |next_hop|; 0: |ip| is on the link, and |next_hop| the same; -1: there is no way. */
int rtnl_route(int fd, int index, const uint8_t ip[16], uint8_t next_hop[16]);

/* rtnl_neigh looks |ip| up in the neighbour table of interface |index|. */
enum rtnl_neigh rtnl_neigh(int fd, int index, const uint8_t ip[16], uint8_t mac[6]);

/* rtnl_wait waits for a change of the neighbour table, at most |ms|; false: time is over. */
bool rtnl_wait(int fd, int ms);

#endif
