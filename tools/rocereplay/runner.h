/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Runs a load, a sink or both on a station until the load is over. */
#ifndef ROCEREPLAY_RUNNER_H
#define ROCEREPLAY_RUNNER_H

#include "rocereplay/load.h"
#include "rocereplay/sink.h"

struct runner {
    struct station *st;
    struct load *load; /* NULL: none */
    struct sink *sink; /* NULL: none */
    bool impatient;    /* gives up when no message is completed for 5 s */
};

/* runner_attach makes |r| part of each turn of its station, until |st->work| is NULL again. */
void runner_attach(struct runner *r);
/* runner_run turns the stations until the loads of |r| and of |twin| (NULL: none) are over; a
 * signal stops them. 0, or -1 with a message printed. */
int runner_run(struct runner *r, struct runner *twin);

#endif
