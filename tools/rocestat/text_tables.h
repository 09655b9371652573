/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The tables of the report for people. */
#ifndef ROCESTAT_TEXT_TABLES_H
#define ROCESTAT_TEXT_TABLES_H

#include "rocestat/report.h"

void text_connections(const struct report *report, uint64_t limit);
void text_flows(const struct report *report);
void text_congestion(const struct report *report, uint64_t limit);
void text_pause(const struct report *report, uint64_t limit);
void text_hosts(const struct report *report, uint64_t limit);
void text_messages(const struct report *report);
void text_events(const struct report *report);

/* text_left_out says how many of |all| rows are not among |shown|, and what shows more. */
void text_left_out(struct out *out, uint64_t all, uint64_t shown, const char *option);

#endif
