/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A port: where frames leave and arrive. The same small interface for an interface's rings, a
 * capture file and a loopback in memory; ports that change or record what passes wrap another one.
 * |now| is the time of the engine's clock; it does not run backwards. */
#ifndef PORT_PORT_H
#define PORT_PORT_H

#include <roce/types.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PORT_TEXT_MAX 160
#define PORT_NEVER    UINT64_MAX

struct port;

/* What a kind of port does. |room| .. |commit|: the frame is written into the port's own memory, so
 * that payload is copied once. */
struct port_ops {
    /* room returns memory for a frame of up to |len| bytes, or NULL: the port is full now. Rooms
     * that are not committed are handed out again. */
    uint8_t *(*room)(struct port *port, size_t len);
    /* commit hands the |len| bytes in the last room over; they may leave later. 0, or a negative
     * enum roce_err. */
    int (*commit)(struct port *port, size_t len, roce_tstamp now);
    /* flush makes all committed frames leave. 0, or a negative enum roce_err. */
    int (*flush)(struct port *port, roce_tstamp now);
    /* receive gives the next frame, borrowed until the next receive. 1, 0: none now, or an error.
     */
    int (*receive)(struct port *port, roce_tstamp now, struct roce_frame *frame);
    /* next tells when the port wants flush or receive called though no descriptor says so;
     * PORT_NEVER: never. */
    roce_tstamp (*next)(const struct port *port);
    int (*fd)(const struct port *port); /* readable when a frame may be there, writable when there
                                           is room again; -1: none */
    void (*del)(struct port *port);
};
struct port {
    const struct port_ops *ops;
    char text[PORT_TEXT_MAX]; /* after an error: what went wrong, for people */
};

void port_del(struct port *port); /* NULL is allowed */

#endif
