/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writing frames to a capture file, in a thread of its own: from the ring of newest frames, or from
 * the file that is shown, read once more. */
#ifndef TUI_SAVE_H
#define TUI_SAVE_H

#include "options.h"
#include "ring.h"
#include "snapshot.h"

/* One flow whose frames are wanted. */
struct save_flow {
    uint8_t src[16], dst[16];
    uint32_t dest_qp, id;
};

struct save_job {
    const struct top_opts *opts;
    bool from_rings;          /* else the file is read */
    struct ring newest, kept; /* taken over, with |from_rings| */
    char path[UI_TEXT_LEN];
    char filter[UI_TEXT_LEN]; /* "": all */
    struct save_flow flow[2 * UI_MARKS_MAX];
    uint32_t flows;          /* 0: of all flows, pause frames too */
    uint64_t last_frame;     /* read up to this frame */
    roce_tstamp from, until; /* until 0: of any time */
};

struct save;

/* tui_save_path_fault tells whether |path| cannot be written, and says why in |text|. */
bool tui_save_path_fault(const char *path, char *text, size_t size);

/* tui_save_start begins; NULL when that fails (memory, threads). |job| is copied. */
struct save *tui_save_start(const struct save_job *job);

/* tui_save_done tells whether it has ended and then writes the outcome into |text| and |*failed|,
 * and frees |save|. */
bool tui_save_done(struct save *save, char *text, size_t size, bool *failed);

/* tui_save_wait ends it and frees. */
void tui_save_wait(struct save *save);

struct out;

/* tui_save_rows writes the rows of |order| as CSV under a heading; tui_save_table does so to a file
 * and returns 0 or an errno. */
void tui_save_rows(struct out *out, const struct snapshot *snapshot, const uint32_t *order,
                   uint32_t n);
int tui_save_table(const char *path, const struct snapshot *snapshot, const uint32_t *order,
                   uint32_t n);

/* tui_save_fetch fills the slices of the frames of |snapshot| from the capture file |path|. */
void tui_save_fetch(const char *path, struct snapshot *snapshot);

#endif
