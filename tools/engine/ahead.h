/* SPDX-License-Identifier: GPL-2.0-or-later */
/* READ data that came before what is missing: which packets of the oldest READ are in place. */
#ifndef ENGINE_AHEAD_H
#define ENGINE_AHEAD_H

#include <stdbool.h>
#include <stdint.h>

enum { AHEAD_MAX = 2 };

/* Ranges of packets, counted from the READ's first, in order and apart from each other. */
struct ahead {
    uint32_t n;
    struct {
        uint32_t begin, end;
    } range[AHEAD_MAX];
};

/* ahead_add takes note that |packet| is in place; false: there is no room for one more range. */
bool ahead_add(struct ahead *a, uint32_t packet);
/* ahead_take returns the first packet from |next| on that is missing, and forgets what is before.
 */
uint32_t ahead_take(struct ahead *a, uint32_t next);

#endif
