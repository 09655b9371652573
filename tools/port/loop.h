/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The port loop: moves frames between an engine's device and a port, and sleeps when there is
 * nothing to move. */
#ifndef PORT_LOOP_H
#define PORT_LOOP_H

#include "engine/engine.h"
#include "port/port.h"

struct port_loop {
    struct eng_dev *dev;
    struct port *port;
    bool spin;      /* look all the time instead of sleeping */
    bool sent_full; /* the port had no room at the last turn */
};

/* port_loop_init also asks the kernel to wake this thread without the slack of 50 us. */
void port_loop_init(struct port_loop *loop, struct eng_dev *dev, struct port *port);

/* port_loop_turn takes in a burst of frames, handles timers, and sends a burst. Returns how many
 * frames moved (0: idle), or a negative enum roce_err with the reason in |port->text|. */
int port_loop_turn(struct port_loop *loop, roce_tstamp now);

/* port_loop_next tells when the next turn is due without a frame coming in; up to |now|: at once.
 */
roce_tstamp port_loop_next(const struct port_loop *loop, roce_tstamp now);

/* port_loop_wait sleeps until a frame comes, |until| or the next turn is due, or |fd| (-1: none)
 * is ready for |events| of poll(2). Signals end it early. Returns whether |fd| is ready. */
bool port_loop_wait(struct port_loop *loop, roce_tstamp now, roce_tstamp until, int fd,
                    short events);

#endif
