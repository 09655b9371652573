/* SPDX-License-Identifier: GPL-2.0-or-later */
/* An interface as port: packet sockets with rings in memory shared with the kernel (packet(7),
 * TPACKET_V2), so that frames are written and read in place and no system call is made for each. */
#ifndef PORT_AFPACKET_H
#define PORT_AFPACKET_H

#include "port/netif.h"

struct afpacket_cfg {
    const struct netif *netif;
    uint8_t ip[16];                /* frames to this address are taken */
    uint32_t path_mtu;             /* 256..4096: the interface must carry it */
    bool vlan;                     /* frames will carry a tag */
    bool no_xdp;                   /* send by the packet socket, so that captures on this host and
                                      traffic control see the frames, though AF_XDP is faster */
    uint32_t rx_frames, tx_frames; /* 0: 8 MiB of them, 256 */
};
struct afpacket_stats {
    uint64_t received, dropped; /* by the kernel, for want of room in the ring */
};

/* afpacket_new opens the port. NULL, with the reason and what to do in |text|: no permission, MTU
 * too small, UDP port 4791 held by somebody. */
struct port *afpacket_new(const struct afpacket_cfg *cfg, char text[PORT_TEXT_MAX]);
/* afpacket_uses_xdp tells how |port| sends. */
bool afpacket_uses_xdp(const struct port *port);
void afpacket_stats(struct port *port, struct afpacket_stats *out);

/* afpacket_mtu_needed returns the MTU that an interface must have for frames of |path_mtu| to
 * |ip|'s kind of address. */
uint32_t afpacket_mtu_needed(const uint8_t ip[16], uint32_t path_mtu);

#endif
