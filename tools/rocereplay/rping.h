/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What rping sends: the text of a ping, and where memory is. */
#ifndef ROCEREPLAY_RPING_H
#define ROCEREPLAY_RPING_H

#include <stdint.h>

enum { RPING_INFO_LEN = 16 };

struct rping_info {
    uint64_t va;
    uint32_t rkey, size;
};
void rping_info_encode(const struct rping_info *info, uint8_t data[RPING_INFO_LEN]);
void rping_info_decode(const uint8_t data[RPING_INFO_LEN], struct rping_info *info);

/* rping_text writes ping |n| of |size| bytes (at least 1), its final NUL included. */
void rping_text(uint8_t *buf, uint32_t size, uint64_t n);

#endif
