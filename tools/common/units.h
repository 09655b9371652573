/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Units read from and shown to people: link speeds, durations, sizes. */
#ifndef TOOLS_UNITS_H
#define TOOLS_UNITS_H

#include <stddef.h>
#include <stdint.h>

#define UNITS_TEXT_MAX 32

/* units_parse_speed reads a link speed with its unit ("100G", "25g", "2.5Gb/s", "400Gbps",
 * "100GbE", "100 Gbit/s") into |*bps|. Returns 0, or -1: no number, no unit, zero or beyond
 * 100 Tb/s. */
int units_parse_speed(const char *text, uint64_t *bps);

/* units_parse_duration reads a time with its unit ("1s", "250ms", "10us", "1.5 s", "2m", "1h",
 * "500ns") into |*ns|. Returns 0, or -1: no number, no unit, below 1 ns or beyond a year. */
int units_parse_duration(const char *text, uint64_t *ns);

/* units_parse_forget reads --forget: "never", which is 0, or a time; |*ns| stays without |text|.
 * Returns as units_parse_duration. */
int units_parse_forget(const char *text, uint64_t *ns);

/* units_us writes |ns| as microseconds with up to three decimals and no trailing zeros: "335.539";
 * the caller prints the unit. Returns the new end; needs UNITS_TEXT_MAX bytes. */
char *units_us(char *out, uint64_t ns);

/* units_bytes and units_rate write a size ("1.5 GB", decimal prefixes) and a rate ("97.31 Gb/s")
 * and return the new end; UNITS_TEXT_MAX bytes. */
char *units_bytes(char *out, uint64_t bytes);
char *units_rate(char *out, double bps);

/* units_time writes |ns| in the unit that suits it, three digits: "34.2 us", "1.28 ms"; needs
 * UNITS_TEXT_MAX bytes. units_count writes |n| in at most five columns: "9999", "41.2k", "1.90M".
 */
char *units_time(char *out, uint64_t ns);
char *units_count(char *out, uint64_t n);

#endif
