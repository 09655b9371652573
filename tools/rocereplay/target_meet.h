/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The handshakes of targets, each as its program has it. */
#ifndef ROCEREPLAY_TARGET_MEET_H
#define ROCEREPLAY_TARGET_MEET_H

#include "rocereplay/target.h"

/* They connect the lanes of |t|: 0, or -1 with a message printed. */
int target_meet_by_hand(struct target *t, const uint8_t ip[16]);
int target_meet_cm(struct target *t, const uint8_t ip[16]);
int target_meet_perftest(struct target *t, const uint8_t ip[16]);
int target_meet_pingpong(struct target *t, const uint8_t ip[16]);
void target_part_cm(struct target *t, const struct load_result *load);
void target_part_perftest(struct target *t, const struct load_result *load);

/* target_tool_of tells which program of perftest takes |op|. */
enum replay_tool target_tool_of(enum eng_wr_op op);

#endif
