/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Registration of each kind of statistics. */
#ifndef PLUGIN_STATS_H
#define PLUGIN_STATS_H

#include "rocev2.h"

void stat_counts_register(void);
void stat_streams_register(void);
void stat_findings_register(void);
void stat_latency_register(void);
void conversations_register(void);
void follow_register(void);
void export_register(void);

/* export.c: tap of exported messages, or -1. */
extern int tap_rocev2_export;

#endif
