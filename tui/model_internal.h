/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the parts of the model share. */
#ifndef TUI_MODEL_INTERNAL_H
#define TUI_MODEL_INTERNAL_H

#include "model.h"

enum { MODEL_PAUSERS = 64, MODEL_CHUNK = 32 };

/* The ring of newest frames turns fast on a busy port. Frames around gaps and NAKs are kept longer,
 * in a ring of their own: so many before and behind, of the flow and of its peer. */
enum { KEEP_BEFORE = 32, KEEP_BEHIND = 64, KEEP_PER_INTERVAL = 500, KEEP_SHARE = 4 };

/* What the model keeps of each flow, by flow id. What every frame touches is apart from the rest,
 * so that two flows share a cache line. */
struct track {
    uint32_t epoch;   /* model.epoch when the following were counted */
    uint32_t packets; /* in the interval |epoch| */
    uint64_t bytes;
    uint64_t newest; /* mark of the newest frame in the ring */
    uint32_t cnps;
    uint32_t matched; /* model.generation of the filter when a frame passed */
};

struct track_rest {
    uint64_t bytes; /* in the interval before |epoch| */
    uint32_t packets, cnps;
    uint64_t latency_count;      /* messages completed when the next two were computed */
    uint32_t p50_us16, p99_us16; /* in 1/16 us */
    uint64_t kept_newest;        /* mark of the newest frame in model.kept */
    uint64_t kept_number;        /* and its number */
    uint32_t keep;               /* frames that are still to be kept */
};

/* A sender and priority whose pauses are followed for the list of events. */
struct pauser {
    uint8_t mac[6];
    uint8_t priority;
    bool paused;
    roce_tstamp since, until; /* until: 0 without the link speed */
};

struct model {
    struct model_opts opts;
    struct roce_observer *obs;
    const struct roce_flow_table *flows;
    struct track *track; /* by flow id */
    struct track_rest *rest;
    uint32_t capacity;
    uint32_t epoch; /* counts intervals */
    struct ring ring;
    struct ring kept;
    uint64_t *keeping;    /* bit n: flow n has frames to be kept */
    uint32_t keepers;     /* bits set */
    uint32_t keep_budget; /* incidents that may still begin in this interval */
    struct log log;
    uint64_t frames;
    bool begun, over;
    roce_tstamp first, now;
    roce_tstamp next_end; /* when a bin ends */
    uint32_t strays;      /* frames in a row whose time does not fit */
    struct bin count;     /* since a bin of either series ended */
    struct series recent, whole;
    struct bin rates, sum;
    bool has_rates;
    struct bin paused; /* as of the newest look at the observer's pauses */
    bool pausing;      /* some priority was paused then */
    uint64_t dscp_data[ROCE_DSCP_COUNT], dscp_ce[ROCE_DSCP_COUNT]; /* in the open interval */
    struct pauser pauser[MODEL_PAUSERS];
    uint32_t pausers;
    uint64_t dropped, dropped_before; /* now, and when the open interval began */
    roce_tstamp counted_at;           /* |now| when |dropped| was told */
    struct {
        roce_tstamp from, until;
        uint64_t count;
    } drops[SNAP_DROPS_MAX];
    uint32_t n_drops; /* ever */
    const struct roce_filter *filter;
    uint32_t generation; /* of the filter */
    struct roce_verdict verdict[MODEL_CHUNK];
    uint64_t *pairs; /* hashes of host pairs, for one snapshot */
};

/* tui_model_keep notes that something happened at the frame of |record|, the newest one of its
 * flow; tui_model_keep_on keeps that frame when it is among those behind an incident. */
void tui_model_keep(struct model *model, uint32_t flow, uint32_t peer);
void tui_model_keep_on(struct model *model, uint64_t mark);

/* tui_model_keep_forget: the flow is gone. */
void tui_model_keep_forget(struct model *model, uint32_t flow);

/* tui_model_sample adds what the pauses grew by since the newest look to the open counters. */
void tui_model_sample(struct model *model);

#endif
