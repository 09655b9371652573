/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The pipeline: feed, observe, report. */
#ifndef ROCESTAT_RUN_H
#define ROCESTAT_RUN_H

#include "rocestat/options.h"

/* run does what |opts| ask for and returns the exit status. */
int run(const struct stat_opts *opts);

#endif
