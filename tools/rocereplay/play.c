/* SPDX-License-Identifier: GPL-2.0-or-later */
/* rocereplay play: replays a capture. */
#include "rocereplay/play.h"

#include "common/msg.h"
#include "common/signals.h"
#include "rocereplay/commands.h"

int play_main(int argc, char **argv)
{
    static struct play_opts opts;
    const int rc = play_opts_parse(&opts, argc, argv);
    if (rc != 0)
        return rc == OPT_EXIT_DONE ? EXIT_DONE : EXIT_USAGE;
    signals_catch();
    return opts.raw ? raw_play(&opts) : stateful_play(&opts);
}
