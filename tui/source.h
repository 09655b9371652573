/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where frames come from: a capture file or interfaces. They are selected, decoded and checked
 * here; counting is the model's. */
#ifndef TUI_SOURCE_H
#define TUI_SOURCE_H

#include <roce/capture.h>

#include "model.h"
#include "options.h"

struct source;

/* What is known of the source at some moment. */
struct source_info {
    bool live;
    bool seekable; /* a file that can be read again */
    bool has_drops;
    uint64_t dropped_kernel, dropped_iface; /* frames that the capture lost */
    uint64_t merged;                        /* frames that the receive offload glued together */
    uint64_t downs;                         /* how often an interface went down */
    uint64_t consumed, size;                /* bytes of the file; size 0: unknown */
    uint64_t frames;                        /* read so far */
    uint64_t link_speed_bps;                /* of the interface; 0 unknown */
    char name[96];                          /* "ens1f0", "eth2+eth3", "cap.pcapng" */
};

/* tui_source_open opens what |opts| name. On failure it has said why, and returns NULL with the
 * exit status in |*status|. |opts| is kept. */
struct source *tui_source_open(const struct top_opts *opts, int *status);
void tui_source_close(struct source *source); /* NULL is accepted */

/* tui_source_next reads and decodes the next frames. Returns how many were read (> 0;
 * |batch->count| of them passed), 0 at the end, ROCE_ERR_AGAIN when a live source had none for a
 * while, or another negative enum roce_err: tui_source_text explains. */
int tui_source_next(struct source *source, struct model_batch *batch);
const char *tui_source_text(const struct source *source);

/* tui_source_rewind begins again at the first frame. Returns 0, or a negative enum roce_err. */
int tui_source_rewind(struct source *source);

/* tui_source_now returns what time it is for frames of a live source: 0 for a file or before the
 * first frame. */
roce_tstamp tui_source_now(const struct source *source);

/* tui_source_clock returns the time of a live source's clock, 0 where that cannot be told. */
roce_tstamp tui_source_clock(const struct source *source);

void tui_source_info(const struct source *source, struct source_info *info);

/* tui_source_watch says on standard error what a user should know of the interfaces (live_watch).
 */
void tui_source_watch(const struct source *source, uint32_t *said);

/* tui_source_break ends a tui_source_next that waits in another thread, and all later ones. */
void tui_source_break(struct source *source);

#endif
