/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Registers all statistics, conversations and exports. */
#include "stats.h"

void tap_register(void)
{
    stat_counts_register();
    stat_streams_register();
    stat_findings_register();
    stat_latency_register();
    conversations_register();
    follow_register();
    export_register();
}
