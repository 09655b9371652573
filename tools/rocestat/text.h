/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Pieces of the report for people: 80 columns. */
#ifndef ROCESTAT_TEXT_H
#define ROCESTAT_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/out.h"

enum { TEXT_WIDTH = 80, TEXT_SHORT_MAX = 32 };

void text_print(struct out *out, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* text_wrap prints |text| from column |column| on, further lines indented as far. */
void text_wrap(struct out *out, const char *text, int column);

/* A number in at most four columns, a time in at most five, an address in at most 15; "n/a" for the
 * first two when |has| does not hold. All return |buf|, TEXT_SHORT_MAX bytes. */
const char *text_short(char *buf, bool has, uint64_t n);
const char *text_time(char *buf, bool has, uint64_t ns);
const char *text_addr(char *buf, const uint8_t addr[16], uint8_t ip_version);

/* "1 frame", "27 frames", "44 RNR NAKs"; returns |buf|. */
const char *text_noun(char *buf, size_t size, uint64_t n, const char *noun);

/* text_clock writes the time of day with microseconds, in local time. */
const char *text_clock(char *buf, uint64_t ts);

#endif
