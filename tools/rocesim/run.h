/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One run of a scenario, from the network to its files. */
#ifndef ROCESIM_RUN_H
#define ROCESIM_RUN_H

#include "rocesim/options.h"

/* run simulates |scenario| and writes what |opts| ask for. Returns the exit status; what went wrong
 * is told on standard error. */
int run(const struct sim_opts *opts, const struct scenario *scenario);

#endif
