/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What messages contain when contents are checked: 8-byte words that tell their message and place,
 * so that a byte too many, too few or at the wrong place shows. */
#ifndef ROCEREPLAY_PATTERN_H
#define ROCEREPLAY_PATTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Message number of memory that peers read. */
#define PATTERN_TARGET UINT64_MAX

/* pattern_fill writes |len| bytes of message |number|, from its byte |off| on. */
void pattern_fill(uint8_t *buf, size_t len, uint64_t number, uint64_t off);
/* pattern_matches compares. */
bool pattern_matches(const uint8_t *buf, size_t len, uint64_t number, uint64_t off);

#endif
