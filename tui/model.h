/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The model: an observer, and what a monitor shows besides it: rates, counters by time, events and
 * the newest frames. One thread feeds it and takes snapshots of it. */
#ifndef TUI_MODEL_H
#define TUI_MODEL_H

#include <roce/filter.h>

#include "snapshot.h"

/* As many as the first cache holds, decoded. */
enum { MODEL_BATCH = 32 };

/* Frames that were read, decoded and checked together. */
struct model_batch {
    struct roce_frame frame[MODEL_BATCH];
    struct roce_packet packet[MODEL_BATCH];
    struct roce_icrc icrc[MODEL_BATCH];
    bool checked; /* |icrc| means something */
    int count;
};

struct model_opts {
    uint32_t max_flows; /* 0: the library's default */
    uint64_t link_speed_bps;
    uint32_t storm_ms;    /* 0: likewise */
    uint8_t timeout_exp;  /* likewise */
    uint64_t idle_ns;     /* 0: flows that are over stay */
    uint64_t interval_ns; /* that rates are about, at least 1 ms */
    uint64_t ring_bytes;
    uint32_t ring_slice;  /* bytes of each frame that are kept */
    uint32_t ce_permille; /* threshold of the event ce-rate */
    uint32_t cnp_per_sec; /* of cnp-rate */
};

struct model;

/* tui_model_new returns an empty model, or NULL without memory. */
struct model *tui_model_new(const struct model_opts *opts);
void tui_model_del(struct model *model); /* NULL is accepted */

/* tui_model_feed counts frames |from| .. |to| - 1 of |batch|. */
void tui_model_feed(struct model *model, const struct model_batch *batch, int from, int to);

/* tui_model_advance says that it is |now| although no frame came: intervals end. */
void tui_model_advance(struct model *model, roce_tstamp now);

/* tui_model_dropped tells how many frames the capture lost until |at|, a time of its clock; 0:
 * until the newest frame. Live, the newest frame may be much older. */
void tui_model_dropped(struct model *model, uint64_t total, roce_tstamp at);

/* tui_model_dropped_before tells how many frames were lost before there was a model. */
void tui_model_dropped_before(struct model *model, uint64_t total);

/* tui_model_finish says that the capture is over. */
void tui_model_finish(struct model *model);

/* tui_model_filter sets the display filter: rows match whose frames pass from now on, or are among
 * the newest ones. |filter| is borrowed until the next call; NULL: all rows match. */
void tui_model_filter(struct model *model, const struct roce_filter *filter);

/* tui_model_tune changes thresholds. */
void tui_model_tune(struct model *model, uint32_t ce_permille, uint32_t cnp_per_sec);

uint64_t tui_model_frames(const struct model *model);
/* The newest frames, and those around gaps and NAKs, which are kept longer; some are in both. */
const struct ring *tui_model_ring(const struct model *model);
const struct ring *tui_model_kept(const struct model *model);

/* tui_model_latency computes the latencies of a row of the newest snapshot. */
void tui_model_latency(struct model *model, struct snap_row *row);

/* tui_model_snapshot fills |out|. */
void tui_model_snapshot(struct model *model, const struct snap_want *want, struct snapshot *out);

#endif
