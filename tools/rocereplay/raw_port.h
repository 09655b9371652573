/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Ports that only send, any frame of any length: what replaying recorded frames needs. None of them
 * receives. */
#ifndef ROCEREPLAY_RAW_PORT_H
#define ROCEREPLAY_RAW_PORT_H

#include <roce/capture.h>

#include "port/netif.h"
#include "port/port.h"

enum { RAW_FRAME_MAX = 1 << 18 }; /* longest frame of a capture that is replayed */

/* raw_xdp_new sends through the rings of an AF_XDP socket in copy mode, which no driver needs to
 * know of. raw_packet_new sends through a packet socket. NULL with the reason in |text|. */
struct port *raw_xdp_new(const struct netif *netif, char text[PORT_TEXT_MAX]);
struct port *raw_packet_new(const struct netif *netif, char text[PORT_TEXT_MAX]);

/* raw_file_new writes frames of |linktype| to |path|, with the time |epoch| + |now|, and hands them
 * on to |inner| (NULL: none), which is its own from then on; on failure it is left alone.
 * raw_file_close ends the file: 0, or -1 with the reason in |port->text|. */
struct port *raw_file_new(const char *path, uint32_t linktype, roce_tstamp epoch,
                          struct port *inner, char text[PORT_TEXT_MAX]);
int raw_file_close(struct port *port);

/* raw_send hands |len| bytes at |data| to |port|, waiting for room. 0, or a negative enum
 * roce_err. */
int raw_send(struct port *port, const uint8_t *data, size_t len, roce_tstamp now);

/* What sending ports answer to the questions of receivers. */
int raw_receive_none(struct port *port, roce_tstamp now, struct roce_frame *frame);
roce_tstamp raw_next_never(const struct port *port);
int raw_fd_none(const struct port *port);

#endif
