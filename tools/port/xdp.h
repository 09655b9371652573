/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sending through an AF_XDP socket (kernel documentation, networking/af_xdp): faster than a packet
 * socket's ring, but past the traffic control and the captures of the own host. It is opened in
 * copy mode, which no driver needs to know of. Receiving is left to the packet socket. */
#ifndef PORT_XDP_H
#define PORT_XDP_H

#include "port/port.h"

struct xdp;

/* Longest frame in one chunk; longer ones take several, where the kernel can. */
enum { XDP_CHUNK = 4096 };

struct xdp_cfg {
    int index;       /* of the interface */
    uint32_t chunks; /* frames on their way, rounded up to a power of two */
    size_t longest;  /* frame that room is asked for */
    bool pieces;     /* frames of several chunks are to be sent (Linux 6.6) */
    bool no_pieces;  /* without that it is of use, too */
    int sndbuf;      /* bytes; 0: the kernel's default */
};

/* xdp_new opens a sender. NULL when kernel, interface or permissions do not allow it; |text| tells
 * what. */
struct xdp *xdp_new(const struct xdp_cfg *cfg, char text[PORT_TEXT_MAX]);
void xdp_del(struct xdp *xdp); /* NULL is allowed */

/* As in struct port_ops. xdp_commit returns 0, or ROCE_ERR_NOSPACE: too long for this kernel. */
uint8_t *xdp_room(struct xdp *xdp, size_t len);
int xdp_commit(struct xdp *xdp, size_t len);
/* xdp_flush hands frames over, as many as the device takes now; |all|: until it has taken them.
 * Returns 0, or ROCE_ERR_IO with errno. */
int xdp_flush(struct xdp *xdp, bool all);

#endif
