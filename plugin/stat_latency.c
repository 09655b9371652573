/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Statistics > Service Response Time > RoCEv2: from the first request frame of a message to the
 * response that completes it, by operation. */
#include <epan/srt_table.h>

#include "stats.h"

static void init(struct register_srt *srt, GArray *tables)
{
    (void)srt;
    srt_stat_table *table = init_srt_table("RoCEv2 messages", "Messages", tables, ROCE_MESSAGE_OPS,
                                           "Operation", "rocev2.message.completes", NULL);
    for (int i = 0; i < ROCE_MESSAGE_OPS; i++)
        init_srt_table_row(table, i, roce_message_op_name((enum roce_message_op)i));
}

static tap_packet_status packet(void *tapdata, packet_info *pinfo, epan_dissect_t *edt,
                                const void *data, tap_flags_t flags)
{
    const srt_data_t *srt = tapdata;
    const struct tap_data *tap = data;
    (void)edt;
    (void)flags;
    if (tap->rec == NULL)
        return TAP_PACKET_DONT_REDRAW;
    srt_stat_table *table = g_array_index(srt->srt_array, srt_stat_table *, 0);
    uint32_t cursor = 0;
    const struct record *message;
    while ((message = analysis_completed(tap->rec, &cursor)) != NULL) {
        if (message->op >= ROCE_MESSAGE_OPS || message->latency < 0)
            continue;
        const nstime_t latency = {.secs = (time_t)(message->latency / 1000000000),
                                  .nsecs = (int)(message->latency % 1000000000)};
        nstime_t begin;
        nstime_delta(&begin, &pinfo->abs_ts, &latency);
        add_srt_table_data(table, message->op, &begin, pinfo);
    }
    return TAP_PACKET_REDRAW;
}

void stat_latency_register(void)
{
    register_srt_table(proto_rocev2, NULL, 1, packet, init, NULL);
}
