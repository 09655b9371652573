/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Replay of recorded frames: its state and its report. */
#ifndef ROCEREPLAY_RAW_H
#define ROCEREPLAY_RAW_H

#include "port/netif.h"
#include "port/port.h"
#include "rocereplay/play.h"
#include "rocereplay/raw_source.h"
#include "rocereplay/raw_survey.h"

struct raw_counts {
    uint64_t frames, roce, bytes; /* sent */
    uint64_t changed;             /* of these, not the bytes that were recorded */
    uint64_t icrc_repaired, icrc_kept_bad;
    uint64_t sliced, unrepairable, too_long, other_link, not_roce; /* left out */
    uint64_t passes;
    roce_tstamp start, end; /* of the clock that was kept */
};

struct raw {
    const struct play_opts *opts;
    struct rewrite rules;
    struct raw_survey survey;
    struct raw_store store;
    struct schedule schedule;
    struct port *port;                 /* the outermost of those that are there: */
    struct port *fault, *file, *iface; /* NULL when not there */
    const char *transmit;              /* "AF_XDP", "packet socket", "file" */
    struct netif netif;
    uint32_t linktype;
    bool live; /* on the clock; otherwise time is computed */
    roce_tstamp epoch, next_stats;
    uint8_t *room; /* for one frame */
    struct raw_counts counts;
};

/* raw_ports opens what the options name. 0, or -1 with a message printed. raw_ports_close ends it
 * likewise. */
int raw_ports(struct raw *raw, roce_tstamp first);
int raw_ports_close(struct raw *raw);

/* raw_report prints what was done, as text or JSON; raw_stats a line of how far it is. 0, or -1. */
int raw_report(const struct raw *raw);
void raw_stats(const struct raw *raw, roce_tstamp now);

#endif
