/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The programs' clock; nothing else reads one. */
#ifndef TOOLS_CLOCK_H
#define TOOLS_CLOCK_H

#include <stdint.h>

/* clock_monotonic_ns returns ns since an arbitrary start, never going back. */
uint64_t clock_monotonic_ns(void);

/* clock_realtime_ns returns ns since the epoch, for time stamps. */
uint64_t clock_realtime_ns(void);

#endif
