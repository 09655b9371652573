/* SPDX-License-Identifier: GPL-2.0-or-later */
/* rocestat: reports what happened to every QP of a capture. */
#include <stdio.h>

#include "common/msg.h"
#include "common/standard.h"
#include "rocestat/run.h"

int main(int argc, char **argv)
{
    static struct stat_opts opts;
    standard_begin("rocestat");
    switch (stat_opts_parse(&opts, argc, argv)) {
    case OPT_EXIT_DONE:
        return standard_end(EXIT_DONE);
    case OPT_EXIT_USAGE:
        return EXIT_USAGE;
    default:
        return opts.live.list ? live_list() : run(&opts);
    }
}
