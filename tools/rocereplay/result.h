/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Results in perftest's words, as text or JSON. */
#ifndef ROCEREPLAY_RESULT_H
#define ROCEREPLAY_RESULT_H

#include "rocereplay/fault.h"
#include "rocereplay/load.h"
#include "rocereplay/native.h"

/* What was counted up to a moment. */
struct result_count {
    struct eng_qp_stats qps;
    uint64_t faults[FAULT_KINDS];
};

struct result {
    const char *op;                          /* "write", "pingpong" */
    const char *peer;                        /* program and host, or "loopback" */
    const struct load_result *load;          /* ours */
    const struct load_result *back;          /* of the other direction; NULL: none */
    const struct native_report *peer_report; /* NULL: the peer told nothing */
    uint32_t size, qps, mtu;
    enum eng_service service;
    uint64_t received, mismatches; /* by us */
    const struct lane *lanes;      /* those not closed yet, as many as |qps|; NULL: all are */
    struct result_count before;    /* not of this run */
};

/* result_count counts what has happened, with the |n| open |lanes|. */
struct result_count result_count(const struct station *st, const struct lane *lanes, uint32_t n);

/* result_print prints to standard output. 0, or -1 when that fails (message printed). */
int result_print(const struct station *st, const struct result *result);
/* result_status returns the exit status, after a message about what failed. */
int result_status(const struct result *result);

#endif
