/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Time stamps of a pcapng interface: if_tsresol and if_tsoffset made into nanoseconds. */
#ifndef CAPTURE_TICKS_H
#define CAPTURE_TICKS_H

#include <stdbool.h>
#include <stdint.h>

struct cap_ticks {
    uint64_t scale;  /* ns a tick, or 0: a tick is no whole number of ns */
    uint64_t offset; /* ns to add, modulo 2^64 */
    uint8_t resol;   /* if_tsresol: bit 7 set: 2^-n s a tick, else 10^-n s */
};

#define CAP_TSRESOL_DEFAULT 6 /* microseconds */

/* cap_ticks_init takes |resol| as if_tsresol and |offset| in seconds as if_tsoffset has them. */
void cap_ticks_init(struct cap_ticks *ticks, uint8_t resol, int64_t offset);

/* cap_ticks_finer_than_us tells whether a tick is shorter than a microsecond. */
bool cap_ticks_finer_than_us(uint8_t resol);

/* cap_ticks_fraction is cap_ticks_ns for ticks that are no whole number of ns; rounds down. */
uint64_t cap_ticks_fraction(uint8_t resol, uint64_t count);

/* cap_ticks_ns returns ns since the epoch; what does not fit in 64 bits wraps. */
static inline uint64_t cap_ticks_ns(const struct cap_ticks *ticks, uint64_t count)
{
    if (ticks->scale != 0)
        return count * ticks->scale + ticks->offset;
    return cap_ticks_fraction(ticks->resol, count) + ticks->offset;
}

#endif
