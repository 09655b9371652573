/* SPDX-License-Identifier: GPL-2.0-or-later */
/* PAUSE and priority flow control: what the link partner asks to stop. */
#ifndef ENGINE_PAUSE_H
#define ENGINE_PAUSE_H

#include <roce/packet.h>

#include "device.h"

/* pause_frame takes in a frame of kind PFC or PAUSE. */
void pause_frame(struct eng_dev *dev, roce_tstamp now, const struct roce_packet *pkt);
/* pause_mask returns the priorities that may not send at |now|, one bit each; pause_end when the
 * first of |prios| may again, ENG_NEVER when there is none. */
unsigned pause_mask(struct eng_dev *dev, roce_tstamp now);
roce_tstamp pause_end(const struct eng_dev *dev, unsigned prios);

#endif
