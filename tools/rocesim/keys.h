/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Keys and values of a line of a scenario: NAME=VALUE by the table of scenario.def. */
#ifndef ROCESIM_KEYS_H
#define ROCESIM_KEYS_H

#include "rocesim/scenario.h"

enum key_line { KEY_LINE_HOST, KEY_LINE_SWITCH, KEY_LINE_LINK, KEY_LINE_FLOW, KEY_LINE_TAP };

/* key_set finds the key of |word| ("NAME=VALUE") for |line| and stores its value in |target|, the
 * line's structure. Node names are looked up in |scenario|. Returns 0, or -1 with the reason in
 * |error|. */
int key_set(enum key_line line, const char *word, void *target, const struct scenario *scenario,
            char error[SCENARIO_ERROR_MAX]);

/* Values by themselves; each returns 0, or -1: |text| is none. */
int value_time(const char *text, uint64_t *ns);
int value_count(const char *text, uint64_t *n);
int value_drain(const char *text, uint64_t *bps);

#endif
