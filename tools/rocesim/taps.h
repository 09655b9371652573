/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Captures at ports: what an optical tap there would show, both directions. */
#ifndef ROCESIM_TAPS_H
#define ROCESIM_TAPS_H

#include "rocesim/net.h"

/* Time 0 of the simulation in the captures: 2001-09-09 01:46:40 UTC, easy to subtract. */
#define TAPS_EPOCH_NS UINT64_C(1000000000000000000)

struct tap;
struct taps {
    struct tap *tap;
    int n;
};

/* taps_new opens a file for each tap in |directory| and joins it to its port. 0, or -1 with the
 * reason told on standard error. */
int taps_new(struct taps *taps, struct net *net, const char *directory);
/* taps_end closes all. Returns 0, or -1 with the reason told. */
int taps_end(struct taps *taps);

/* taps_name returns the file of tap |i|, taps_frames how many frames it has. */
const char *taps_name(const struct taps *taps, int i);
uint64_t taps_frames(const struct taps *taps, int i);

#endif
