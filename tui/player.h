/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Counting in a thread of its own. It takes snapshots when it is asked for one; nothing that is
 * drawn, and no key, makes it wait. */
#ifndef TUI_PLAYER_H
#define TUI_PLAYER_H

#include "model.h"
#include "source.h"
#include "ui.h"

struct player;

/* tui_player_new prepares to count |source|, which it takes over; |speed| as in ui_status. NULL
 * without memory. */
struct player *tui_player_new(const struct top_opts *opts, struct source *source,
                              struct roce_filter *filter);
void tui_player_del(struct player *player); /* stops; NULL is accepted */

/* tui_player_start starts the thread. Returns 0 or -1. */
int tui_player_start(struct player *player);

/* tui_player_fd is readable when a snapshot is ready or the state changed; tui_player_take empties
 * it. */
int tui_player_fd(const struct player *player);

/* tui_player_request asks for a snapshot. */
void tui_player_request(struct player *player, const struct snap_want *want);

/* tui_player_take swaps |*snapshot| with the one that is ready; false when none is. */
bool tui_player_take(struct player *player, struct snapshot **snapshot);

/* tui_player_status fills what the player knows of |status|. */
void tui_player_status(struct player *player, struct ui_status *status);

void tui_player_pause(struct player *player, bool on);
void tui_player_speed(struct player *player, double speed);
void tui_player_step(struct player *player);
/* tui_player_seek goes to a time, or to a frame when |frame| is not 0. Only files can. */
void tui_player_seek(struct player *player, roce_tstamp ts, uint64_t frame);
/* tui_player_filter sets the display filter, which it takes over; NULL: none. A file is read again,
 * so that frames before count. */
void tui_player_filter(struct player *player, struct roce_filter *filter);
void tui_player_reset(struct player *player);
void tui_player_tune(struct player *player, const struct settings *settings);

/* tui_player_copy_rings copies the rings of newest and of kept frames; false without memory. The
 * caller frees them with ring_free. Waits for the counting thread to do it. */
bool tui_player_copy_rings(struct player *player, struct ring *newest, struct ring *kept);

/* tui_player_model_opts tells how the model is made for |opts|. */
struct model_opts tui_player_model_opts(const struct top_opts *opts,
                                        const struct source_info *info);

#endif
