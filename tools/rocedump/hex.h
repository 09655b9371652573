/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Hex dump of a frame. */
#ifndef ROCEDUMP_HEX_H
#define ROCEDUMP_HEX_H

#include "common/out.h"

#include <roce/types.h>

/* hex_print writes offset, 16 bytes and their ASCII a line, of the captured bytes. */
void hex_print(struct out *out, const struct roce_frame *frame);

#endif
