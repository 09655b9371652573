/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the command line of rocetop asked for. */
#ifndef TUI_OPTIONS_H
#define TUI_OPTIONS_H

#include "common/live.h"
#include "common/options.h"

#include "settings.h"
#include "ui.h"

struct top_opts {
    struct common_opts common;
    struct live_opts live;
    const char *speed, *filter, *delay, *screen, *size, *qp, *sort, *config, *forget;
    struct opt_names set;
    bool batch, ascii, dump_config;
    uint64_t iterations; /* 0: not given */
    bool csv;
    uint64_t max_flows, storm_ms, timeout_exp;
    uint64_t forget_ns; /* 0: never */

    /* what follows from the above */
    struct settings settings;
    char config_path[4096]; /* "": there is none */
    double speed_factor;    /* 0: as fast as it goes */
    int first_screen;       /* enum ui_screen */
    int first_tab;          /* enum ui_tab */
    int rows, cols;         /* of a batch screen */
    uint32_t qpn;
    bool has_qpn;
    const char *file;
    char bpf[8192]; /* "" without */
};

/* tui_top_opts_parse fills |opts|. Returns 0, OPT_EXIT_DONE, or OPT_EXIT_USAGE with the mistake
 * reported. */
int tui_top_opts_parse(struct top_opts *opts, int argc, char **argv);

#endif
