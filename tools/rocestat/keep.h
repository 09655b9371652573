/* SPDX-License-Identifier: GPL-2.0-or-later */
/* -w: the frames that were counted, in a capture file. */
#ifndef ROCESTAT_KEEP_H
#define ROCESTAT_KEEP_H

#include <roce/capture.h>

#include "rocestat/options.h"

struct keep {
    const struct stat_opts *opts;
    struct roce_writer *writer;
};

/* These return the exit status, and have said what is wrong when it is not EXIT_DONE. keep_open
 * creates the file as soon as |reader| knows its link type; without -w all of them do nothing. */
int keep_open(struct keep *keep, const struct stat_opts *opts, const struct roce_reader *reader);
int keep_write(struct keep *keep, const struct roce_frame *frame, int n);
/* keep_flush makes what was written visible. */
void keep_flush(struct keep *keep);
int keep_close(struct keep *keep);

#endif
