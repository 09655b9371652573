/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Keeps the kernel from answering "port unreachable" to the RoCEv2 frames that a port takes. */
#ifndef PORT_GUARD_H
#define PORT_GUARD_H

#include <stdint.h>

#include "port/netif.h"

/* guard_open holds UDP port 4791 of |ip| with a socket that throws away what comes. Returns its
 * descriptor, or ROCE_ERR_STATE when somebody holds the port, ROCE_ERR_IO, with the reason in
 * |text|. */
int guard_open(const struct netif *netif, const uint8_t ip[16], char text[PORT_TEXT_MAX]);

#endif
