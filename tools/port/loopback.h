/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A cable in memory with two ends: what one sends the other receives, after a delay, and as far as
 * the cable is good. Same seed and same frames: same result. */
#ifndef PORT_LOOPBACK_H
#define PORT_LOOPBACK_H

#include "port/port.h"

/* One direction of the cable. All zero: frames arrive at once, whole and in order. */
struct loopback_way {
    uint64_t delay_ns;
    uint64_t rate_bps;           /* a frame is sent in the time of its bytes, preamble, FCS and gap;
                                    no room for the next until then. 0: no time */
    uint64_t drop_mask;          /* bit i: the i-th frame sent (0..63) is lost */
    uint32_t drop, dup, reorder; /* probability in millionths */
    uint64_t reorder_ns;         /* a reordered frame comes so much later */
};
struct loopback_cfg {
    struct loopback_way way[2]; /* [0]: from end 0 to end 1 */
    uint32_t capacity;          /* frames on the way in each direction; 0: 1024 */
    size_t frame_len;           /* longest frame; 0: 4352 */
    uint64_t seed;
};
struct loopback_count {
    uint64_t sent, dropped, duplicated, reordered;
};

/* loopback_new makes both ends. 0, or ROCE_ERR_NOMEM. Each end is freed by port_del, the cable
 * with the second. */
int loopback_new(const struct loopback_cfg *cfg, struct port *ends[2]);
/* loopback_count tells what became of the frames that |end| sent. */
void loopback_count(const struct port *end, struct loopback_count *out);

#endif
