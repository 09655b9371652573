/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Counters by time: the newest stretches of a fixed length, and the whole capture in stretches that
 * grow with it. */
#ifndef TUI_SERIES_H
#define TUI_SERIES_H

#include <roce/pause.h>
#include <roce/types.h>

enum { SERIES_BINS = 1024, SERIES_PRIORITIES = ROCE_PAUSE_PRIORITY + 1 };

struct bin {
#define BIN(name) uint64_t name;
#include "bins.def"
#undef BIN
    uint64_t paused_ns[SERIES_PRIORITIES]; /* sum over the senders; the last one is 802.3x PAUSE */
    uint32_t xoff[SERIES_PRIORITIES], xon[SERIES_PRIORITIES];
};

void tui_bin_add(struct bin *sum, const struct bin *bin);

struct series {
    roce_tstamp start;  /* of the oldest bin that is kept */
    uint64_t length_ns; /* of each bin */
    bool grows;         /* when full, bins are merged two by two; else the oldest goes */
    uint32_t count;     /* complete bins, at most SERIES_BINS */
    uint32_t first;     /* place of the oldest; 0 when the series grows */
    struct bin bin[SERIES_BINS];
    struct bin open; /* the bin that is being filled */
};

/* tui_series_begin empties |series|; its first bin begins at |start|. */
void tui_series_begin(struct series *series, roce_tstamp start, uint64_t length_ns, bool grows);

/* tui_series_end returns when the open bin ends. */
roce_tstamp tui_series_end(const struct series *series);

/* tui_series_close completes the open bin and opens the next. tui_series_skip opens the bin that
 * holds |ts| and fills what lies between with empty bins. */
void tui_series_close(struct series *series);
void tui_series_skip(struct series *series, roce_tstamp ts);

/* tui_series_at returns complete bin |index|, 0 being the oldest. */
const struct bin *tui_series_at(const struct series *series, uint32_t index);

#endif
