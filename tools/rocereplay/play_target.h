/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Recorded messages to a target: what it can carry of them, and the run. */
#ifndef ROCEREPLAY_PLAY_TARGET_H
#define ROCEREPLAY_PLAY_TARGET_H

#include "rocereplay/play_replay.h"

/* play_target_fit takes out of |m| what |kind| cannot carry, and counts it by reason. */
void play_target_fit(struct messages *m, const struct target_kind *kind, uint64_t room,
                     uint64_t left_out[TARGET_REASONS]);

/* play_target_run replays |r| to the program of |kind| at |ip|. 0, or -1 with a message printed. */
int play_target_run(struct replay *r, const struct target_kind *kind, const uint8_t ip[16]);

#endif
