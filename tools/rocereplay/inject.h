/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Faults that change what a frame says, or add a frame to it: the frames of struct fault_port. */
#ifndef ROCEREPLAY_INJECT_H
#define ROCEREPLAY_INJECT_H

#include <roce/packet.h>
#include <stddef.h>

#include "rocereplay/fault.h"

/* inject_fits tells whether |kind| can strike |pkt|: suppressed ACKs, NAKs and RNR NAKs are made of
 * ACKs, other data of payload; nothing is added inside tunnels. */
bool inject_fits(enum fault_kind kind, const struct roce_packet *pkt);

/* inject_corrupt turns a byte of the payload over; inject_syndrome gives an ACK another syndrome.
 * ICRC and UDP checksum are right afterwards. */
void inject_corrupt(const struct roce_packet *pkt, uint8_t *frame);
void inject_syndrome(const struct roce_packet *pkt, uint8_t *frame, uint8_t syndrome);

enum { INJECT_FRAME_MAX = 192 };
/* inject_make writes the frame that |kind| adds behind |frame| to |out|: an ACK of |arg| as PSN or
 * a CNP to the same QP, a PFC frame of |arg| (priority << 16 | quanta) from the same MAC address.
 * Returns its length; 0: none. */
size_t inject_make(enum fault_kind kind, const struct roce_packet *pkt, const uint8_t *frame,
                   uint32_t arg, uint8_t out[INJECT_FRAME_MAX]);

#endif
