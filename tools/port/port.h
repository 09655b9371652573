/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A port: where frames leave and arrive. The same small interface for an interface's rings, a
 * capture file and a loopback in memory. */
#ifndef PORT_PORT_H
#define PORT_PORT_H

#include <roce/types.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct port;

/* What a kind of port does. |room| .. |commit|: the frame is written into the port's own memory, so
 * that payload is copied once. */
struct port_ops {
    /* room returns memory for a frame of up to |len| bytes, or NULL: the port is full now. */
    uint8_t *(*room)(struct port *port, size_t len);
    /* commit hands the |len| bytes in the last room over; they may leave later. */
    int (*commit)(struct port *port, size_t len, roce_tstamp now);
    /* flush makes all committed frames leave. 0, or a negative enum roce_err. */
    int (*flush)(struct port *port);
    /* receive gives the next frame, borrowed until the next receive. 1, 0: none now, or an error.
     */
    int (*receive)(struct port *port, struct roce_frame *frame);
    int (*fd)(const struct port *port); /* readable when a frame may be there; -1: none */
    void (*del)(struct port *port);
};
struct port {
    const struct port_ops *ops;
    char text[160]; /* what went wrong, for people */
};

void port_del(struct port *port); /* NULL is allowed */

#endif
