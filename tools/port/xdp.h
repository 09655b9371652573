/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sending through an AF_XDP socket (kernel documentation, networking/af_xdp): faster than a packet
 * socket's ring, but past the traffic control and the captures of the own host. Receiving is left
 * to the packet socket. */
#ifndef PORT_XDP_H
#define PORT_XDP_H

#include "port/port.h"

struct xdp;

/* Longest frame; what is longer needs the packet socket. */
enum { XDP_FRAME_MAX = 4096 };

/* xdp_new opens a sender on interface |index|. NULL when kernel, interface or permissions do not
 * allow it. */
struct xdp *xdp_new(int index, uint32_t frames);
void xdp_del(struct xdp *xdp); /* NULL is allowed */

/* As in struct port_ops; xdp_room's memory has ENG_FRAME_MAX bytes. xdp_flush returns 0, or
 * ROCE_ERR_IO with errno. */
uint8_t *xdp_room(struct xdp *xdp);
void xdp_commit(struct xdp *xdp, size_t len);
int xdp_flush(struct xdp *xdp);

#endif
