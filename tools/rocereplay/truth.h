/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What really happened: the engine's counters of each QP and each fault that was made, as JSON. */
#ifndef ROCEREPLAY_TRUTH_H
#define ROCEREPLAY_TRUTH_H

#include "engine/engine.h"

struct lane;
struct station;

/* One QP at its end. */
struct truth_qp {
    uint32_t qpn, psn, remote_qpn, remote_psn;
    uint8_t remote_ip[16];
    enum eng_service service;
    enum eng_qp_state state;
    struct eng_qp_stats stats;
};
struct truth {
    struct truth_qp *qp;
    size_t n, room;
    uint64_t lost; /* beyond memory */
    bool opened;   /* by truth_open */
    int fd;
};

/* truth_add notes |lane|; |truth| NULL: nothing is kept. */
void truth_add(struct truth *truth, const struct lane *lane);
/* truth_sum adds up the counters of all QPs that are noted, and of the |n| open |lanes|. */
struct eng_qp_stats truth_sum(const struct truth *truth, const struct lane *lanes, uint32_t n);
/* truth_less takes |before| from |now|. */
struct eng_qp_stats truth_less(const struct eng_qp_stats *now, const struct eng_qp_stats *before);
/* truth_open opens |path| for the truth_write at the end: before root is given up. 0, or -1 with a
 * message printed. */
int truth_open(struct truth *truth, const char *path);
/* truth_write writes |path|, opened before or now; |end| is "gen" or "serve". 0, or -1 with a
 * message printed. */
int truth_write(struct truth *truth, const struct station *st, const char *end, const char *path);
void truth_free(struct truth *truth);

#endif
