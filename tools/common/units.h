/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Units read from and shown to people: link speeds and durations. */
#ifndef TOOLS_UNITS_H
#define TOOLS_UNITS_H

#include <stddef.h>
#include <stdint.h>

#define UNITS_TEXT_MAX 32

/* units_parse_speed reads a link speed with its unit ("100G", "25g", "2.5Gb/s", "400Gbps",
 * "100GbE", "100 Gbit/s") into |*bps|. Returns 0, or -1: no number, no unit, zero or beyond
 * 100 Tb/s. */
int units_parse_speed(const char *text, uint64_t *bps);

/* units_us writes |ns| as microseconds with up to three decimals and no trailing zeros: "335.539";
 * the caller prints the unit. Returns the new end; needs UNITS_TEXT_MAX bytes. */
char *units_us(char *out, uint64_t ns);

/* units_bytes and units_rate write a size ("1.5 GB", decimal prefixes) and a rate ("97.31 Gb/s")
 * and return the new end; UNITS_TEXT_MAX bytes. */
char *units_bytes(char *out, uint64_t bytes);
char *units_rate(char *out, double bps);

#endif
