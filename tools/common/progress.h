/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A progress line on standard error for large files read in front of a person. */
#ifndef TOOLS_PROGRESS_H
#define TOOLS_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct progress {
    bool on;
    bool shown;
    uint64_t started_ns, next_ns;
};

#define PROGRESS_LINE_MAX 160

/* progress_init turns the line on when standard error is a terminal, standard output is none (it
 * would be torn apart) and |size| is large. */
void progress_init(struct progress *progress, uint64_t size);

/* progress_update redraws at most four times a second. */
void progress_update(struct progress *progress, uint64_t consumed, uint64_t size);

/* progress_end wipes the line. */
void progress_end(struct progress *progress);

/* progress_format writes "1.20 GB of 4.00 GB, 30 %, 600.00 MB/s, 5 s left" into |line|. */
void progress_format(char line[PROGRESS_LINE_MAX], uint64_t consumed, uint64_t size,
                     uint64_t elapsed_ns);

#endif
