/* SPDX-License-Identifier: GPL-2.0-or-later */
/* rocesim: simulates a congested RoCE network. */
#include <stdio.h>
#include <stdlib.h>

#include "common/msg.h"
#include "common/signals.h"
#include "common/standard.h"
#include "rocesim/find.h"
#include "rocesim/run.h"

static int read_scenario(struct sim_opts *opts, struct scenario *scenario)
{
    char error[SCENARIO_ERROR_MAX];
    size_t len;
    char *text = find_scenario(opts->scenario, &len);
    if (text == NULL)
        return EXIT_IO;
    const int line = scenario_read(scenario, text, len, opts->define, opts->defines.n, error);
    free(text);
    if (line > 0)
        msg_file(opts->scenario, "line %d: %s", line, error);
    else if (line < 0)
        msg_file(opts->scenario, "%s", error);
    if (line != 0)
        return EXIT_USAGE;
    if (opts->has_seed)
        scenario->seed = opts->seed_value;
    if (opts->has_duration)
        scenario->duration_ns = opts->duration_ns;
    if (scenario->warmup_ns >= scenario->duration_ns) {
        msg_print("--duration: not longer than the scenario's warmup");
        return EXIT_USAGE;
    }
    return EXIT_DONE;
}

int main(int argc, char **argv)
{
    static struct sim_opts opts;
    standard_begin("rocesim");
    switch (sim_opts_parse(&opts, argc, argv)) {
    case OPT_EXIT_DONE:
        return standard_end(EXIT_DONE);
    case OPT_EXIT_USAGE:
        return EXIT_USAGE;
    default:
        break;
    }
    if (opts.list)
        return find_list();
    struct scenario scenario = {0};
    int status = read_scenario(&opts, &scenario);
    if (status == EXIT_DONE) {
        signals_catch();
        status = run(&opts, &scenario);
    }
    scenario_free(&scenario);
    return status;
}
