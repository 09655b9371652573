/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Numbers, times and addresses in few columns. Each function writes into |buf|, TUI_TEXT_MAX bytes
 * with a NUL, and returns it. */
#ifndef TUI_TEXT_H
#define TUI_TEXT_H

#include <stdbool.h>
#include <stdint.h>

#include <roce/types.h>

#define TUI_TEXT_MAX 64

/* tui_text_set copies |text|. */
const char *tui_text_set(char *buf, const char *text);

/* tui_text_count writes |n| in at most four columns: "9999", "41k", "1.9M". tui_text_count5 takes
 * at most five: "41.2k". */
const char *tui_text_count(char *buf, uint64_t n);
const char *tui_text_count5(char *buf, uint64_t n);

/* tui_text_rate writes a number of things per second in at most five columns: "0", "0.5", "310",
 * "1.20k"; tui_text_fixed a number with up to |decimals| decimals in at most five columns: "11.9";
 * below 1 there are three of them. */
const char *tui_text_rate(char *buf, double per_second);
const char *tui_text_fixed(char *buf, double value, int decimals);

/* tui_text_percent writes |part| of |whole| in percent, without the sign: "2.1", "-" without a
 * whole.
 */
const char *tui_text_percent(char *buf, uint64_t part, uint64_t whole);

/* tui_text_time writes a duration in at most five columns: "35us", "1.9ms", "11.2s".
 * tui_text_long_time has three digits and a blank: "11.2 ms". */
const char *tui_text_time(char *buf, uint64_t ns);
const char *tui_text_long_time(char *buf, uint64_t ns);

/* tui_text_bit_rate writes "93.8 Gb/s", tui_text_byte_rate "11.7 GB/s". */
const char *tui_text_bit_rate(char *buf, double bps);
const char *tui_text_byte_rate(char *buf, double bytes_per_s);

/* tui_text_bytes writes "1.90 GB". */
const char *tui_text_bytes(char *buf, uint64_t bytes);

/* tui_text_elapsed writes a duration as "00:12:41". */
const char *tui_text_elapsed(char *buf, uint64_t ns);

/* tui_text_clock writes the time of day, in local time, with |digits| digits of the second. */
const char *tui_text_clock(char *buf, roce_tstamp ts, int digits);

/* tui_text_addr writes an address in at most |width| columns; what does not fit has a '~' in the
 * middle. */
const char *tui_text_addr(char *buf, const uint8_t addr[16], uint8_t ip_version, int width);
const char *tui_text_mac(char *buf, const uint8_t mac[6]);

#endif
