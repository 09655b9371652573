/* SPDX-License-Identifier: GPL-2.0-or-later */
/* rocestat: reports what happened to every QP of a capture. */
#include <signal.h>
#include <stdio.h>

#include "common/msg.h"
#include "rocestat/run.h"

int main(int argc, char **argv)
{
    static struct stat_opts opts;
    msg_program("rocestat");
    (void)signal(SIGPIPE, SIG_IGN);
    switch (stat_opts_parse(&opts, argc, argv)) {
    case OPT_EXIT_DONE:
        return fflush(stdout) == 0 ? EXIT_DONE : EXIT_IO;
    case OPT_EXIT_USAGE:
        return EXIT_USAGE;
    default:
        return opts.live.list ? live_list() : run(&opts);
    }
}
