/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Time series: flows.csv and queues.csv, and what the plot needs of them. */
#ifndef ROCESIM_SERIES_H
#define ROCESIM_SERIES_H

#include "common/csv.h"
#include "rocesim/net.h"

enum { SERIES_POINTS_MAX = 1200 }; /* of a curve that is kept for the plot */

struct curve {
    char name[NET_PORT_NAME_MAX + 8];
    double sum;                      /* of all points: which curves matter */
    double point[SERIES_POINTS_MAX]; /* means over equal times */
};

struct series_file {
    struct out out;
    struct csv csv;
    bool open;
    char path[4096];
};

struct series_queue {
    int node, port, priority;
    uint64_t paused_ns, marked;
};

struct series {
    struct net *net;
    struct series_file flows, queues;
    uint64_t *delivered, *cnps; /* by flow, at the last sample */
    struct series_queue *queue;
    int n_queues;
    uint64_t last_ns, samples;

    /* with curves wanted */
    struct curve *rates, *depths, *pauses; /* by flow: b/s; by queue: bytes, part of the time */
    int n_points;
    uint64_t step_ns; /* time of one point */
};

/* series_new opens the files in |directory| (NULL: none). 0, or -1 with the reason told on standard
 * error; series_end is wanted either way. */
int series_new(struct series *series, struct net *net, const char *directory, bool curves);
void series_sample(struct series *series, uint64_t now);
int series_end(struct series *series);

#endif
