/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The socket filter of a port: classic BPF (Linux' packet(7)) that keeps what is for us. */
#ifndef PORT_FILTER_H
#define PORT_FILTER_H

#include <linux/filter.h>
#include <stdint.h>

enum { FILTER_MAX = 96 };

/* filter_build writes a program that keeps RoCEv2 frames to |ip| and MAC control frames (PFC,
 * PAUSE), each also behind one VLAN tag, and drops all else. Returns its length. */
unsigned filter_build(const uint8_t ip[16], struct sock_filter program[FILTER_MAX]);

#endif
