/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the command line of rocesim asked for. */
#ifndef ROCESIM_OPTIONS_H
#define ROCESIM_OPTIONS_H

#include "common/options.h"
#include "rocesim/scenario.h"

struct sim_opts {
    const char *directory, *seed, *duration;
    struct opt_names defines;
    bool svg, no_captures, no_truth, json, list, quiet;
    unsigned verbose;

    /* what follows from the above */
    const char *scenario;
    struct sim_define define[OPT_NAMES_MAX];
    bool has_seed, has_duration;
    uint64_t seed_value, duration_ns;
};

/* sim_opts_parse fills |opts|. 0, OPT_EXIT_DONE, or OPT_EXIT_USAGE with the mistake reported. */
int sim_opts_parse(struct sim_opts *opts, int argc, char **argv);

#endif
