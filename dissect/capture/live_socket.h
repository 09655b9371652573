/* SPDX-License-Identifier: GPL-2.0-or-later */
/* An AF_PACKET socket with a ring on one interface. */
#ifndef CAPTURE_LIVE_SOCKET_H
#define CAPTURE_LIVE_SOCKET_H

#include "live_ring.h"
#include "reader.h"

/* live_socket_open opens interface |index| of |reader| into |ring|, zeroed before. Returns 0, or a
 * negative enum roce_err with reader->text set: ROCE_ERR_UNSUPPORTED when libpcap may be able to.
 * live_socket_close is due in either case. */
int live_socket_open(struct roce_reader *reader, uint32_t index, const struct roce_live_opts *opts,
                     struct ring *ring);
void live_socket_close(struct ring *ring);

#endif
