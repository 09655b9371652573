/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Completed messages and events: streamed to where they are wanted, or kept up to a limit for the
 * report at the end. */
#ifndef ROCESTAT_JOURNAL_H
#define ROCESTAT_JOURNAL_H

#include "rocestat/emit.h"
#include "rocestat/options.h"
#include "rocestat/view.h"

/* An event or message with the identity of its flow, which may be gone when it is printed. */
struct entry {
    struct roce_event event;
    uint8_t src[16], dst[16];
    uint8_t ip_version;
    uint8_t cm_message; /* ROCE_EVENT_CM: what event.cm said */
    uint16_t cm_reject_reason;
    uint32_t dest_qp, cm_local_qpn, cm_starting_psn;
    uint64_t order;
};

struct journal {
    const struct roce_observer *obs;
    const struct stat_opts *opts;
    struct out *out;
    struct json json;
    struct csv csv;
    bool streams;
    uint64_t message_limit, event_limit;
    struct entry *message;     /* heap, the fastest on top: the slowest are kept */
    struct entry *event;       /* the first ones */
    uint64_t messages, events; /* kept */
    uint64_t messages_seen, events_seen;
};

/* journal_ops returns the callback for struct roce_observer_opts, none when nothing is to be noted.
 * |journal| must have been given to journal_init; obs is set as soon as it exists. */
struct roce_flow_ops journal_ops(struct journal *journal);
/* journal_init returns 0, or -1 without memory. */
int journal_init(struct journal *journal, const struct stat_opts *opts, struct out *out);
void journal_free(struct journal *journal);

/* journal_sort puts the kept messages in order, slowest first. */
void journal_sort(struct journal *journal);

void journal_message_record(struct emit *emit, const struct entry *entry);
void journal_event_record(struct emit *emit, const struct entry *entry);

#endif
