/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A sink: keeps receives posted on its lanes and takes, counts and checks what comes. */
#ifndef ROCEREPLAY_SINK_H
#define ROCEREPLAY_SINK_H

#include "rocereplay/lane.h"

struct sink_cfg {
    uint32_t depth;  /* receives posted on each lane */
    uint32_t size;   /* bytes of the longest message */
    uint32_t writes; /* not 0: the target consists of so many places that WRITEs fill in turn */
    bool verify;     /* contents are those of pattern.h, numbered in order */
};
struct sink {
    struct sink_cfg cfg;
    struct station *st;
    struct lane *lanes;
    uint32_t n;
    uint8_t **memory;
    struct eng_mr **mr;
    uint64_t *next; /* message number expected on each lane */
    uint64_t messages, bytes, mismatches, lost;
    int status; /* enum eng_wc_status of the first receive that failed but by a flush */
};

/* sink_open posts the receives. 0, or -1 with a message printed. sink_close before the lanes'. */
int sink_open(struct sink *sink, struct station *st, struct lane *lanes, uint32_t n,
              const struct sink_cfg *cfg);
void sink_close(struct sink *sink);
/* sink_step takes in what was received and posts it again. Returns how many. */
int sink_step(struct sink *sink, roce_tstamp now);

#endif
