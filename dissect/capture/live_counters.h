/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the kernel counts of an interface (rtnetlink). */
#ifndef CAPTURE_LIVE_COUNTERS_H
#define CAPTURE_LIVE_COUNTERS_H

#include <stdbool.h>
#include <stdint.h>

/* live_counters_open returns a socket to ask with, or -1: then nothing can be known. */
int live_counters_open(void);

enum live_counters { LIVE_COUNTERS_OK, LIVE_COUNTERS_GONE, LIVE_COUNTERS_UNKNOWN };

/* live_counters_dropped asks how many frames interface |ifindex| received and could not hand over
 * since it exists; GONE when there is no such interface any more. */
enum live_counters live_counters_dropped(int fd, int ifindex, uint64_t *dropped);

#endif
