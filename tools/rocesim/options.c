/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The option table of rocesim and what options mean together. */
#include "rocesim/options.h"

#include <string.h>

#include "common/msg.h"
#include "rocesim/keys.h"

#define OPTION(letter, name, arg, kind, member, help) \
    {letter, OPT_##kind, name, arg, offsetof(struct sim_opts, member), help},
static const struct opt table[] = {
#include "rocesim/options.def"
};
#undef OPTION

static const struct opt_program program = {
    .name = "rocesim",
    .synopsis = "rocesim [OPTION]... SCENARIO [-o DIR]",
    .summary = "Simulate a congested RoCE network frame by frame.",
    .footer = "\nSCENARIO is a file, or the name of an installed one (--list): incast, pfc-storm,\n"
              "ring-deadlock and others. Exit status: 0 done, 1 input or output failed, 2 wrong\n"
              "usage or scenario. More in rocesim(1) and rocesim(5).\n",
    .table = table,
    .count = sizeof(table) / sizeof(table[0]),
};

static int split_defines(struct sim_opts *opts)
{
    for (int i = 0; i < opts->defines.n; i++) {
        const char *equals = strchr(opts->defines.name[i], '=');
        if (equals == NULL || equals == opts->defines.name[i]) {
            msg_print("-D: '%s' is not NAME=VALUE", opts->defines.name[i]);
            return OPT_EXIT_USAGE;
        }
        opts->define[i] = (struct sim_define){.name = opts->defines.name[i],
                                              .name_len = (size_t)(equals - opts->defines.name[i]),
                                              .value = equals + 1};
    }
    return 0;
}

int sim_opts_parse(struct sim_opts *opts, int argc, char **argv)
{
    *opts = (struct sim_opts){0};
    const int words = opt_parse(&program, argc, argv, opts);
    if (words < 0)
        return words;
    if (opts->list)
        return 0;
    if (words != 1) {
        msg_print("%s; see rocesim --help", words == 0 ? "no scenario; name a file or one of --list"
                                                       : "more than one scenario");
        return OPT_EXIT_USAGE;
    }
    opts->scenario = argv[1];
    if (opts->directory == NULL && (opts->svg || opts->no_captures || opts->no_truth)) {
        msg_print("--%s has no use without -o DIR", opts->svg           ? "svg"
                                                    : opts->no_captures ? "no-captures"
                                                                        : "no-truth");
        return OPT_EXIT_USAGE;
    }
    opts->has_seed = opts->seed != NULL;
    if (opts->has_seed && value_count(opts->seed, &opts->seed_value) != 0) {
        msg_print("--seed: '%s' is not a number", opts->seed);
        return OPT_EXIT_USAGE;
    }
    opts->has_duration = opts->duration != NULL;
    if (opts->has_duration &&
        (value_time(opts->duration, &opts->duration_ns) != 0 || opts->duration_ns == 0 ||
         opts->duration_ns > UINT64_C(1000000000000))) {
        msg_print("--duration: '%s' is not a time up to 1000 s with its unit, as 20ms",
                  opts->duration);
        return OPT_EXIT_USAGE;
    }
    return split_defines(opts);
}
