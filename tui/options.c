/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The option table of rocetop and what options mean together. */
#include "options.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/msg.h"
#include "common/units.h"

#include "table.h"

#define OPT_TARGET struct top_opts
#include "common/options_table.h"

static const struct opt table[] = {
#include "common/common.def"
#include "common/live.def"
#include "options.def"
};

static const struct opt_program program = {
    .name = "rocetop",
    .synopsis = "rocetop [OPTION]... -i IFACE [BPF EXPRESSION]\n"
                "       rocetop [OPTION]... [-r] FILE [BPF EXPRESSION]",
    .summary = "Watch RoCE QPs of a mirror port or a capture file: gaps, congestion, pauses.",
    .footer = "\nF1 shows the keys. Exit status: 0 done, 1 input or output failed, 2 wrong usage.\n"
              "More in rocetop(1).\n",
    .table = table,
    .count = sizeof(table) / sizeof(table[0]),
};

/* The file named by --config must be there; the default one may be missing. */
static int read_config(struct top_opts *opts)
{
    char text[256];
    if (opts->config != NULL)
        (void)snprintf(opts->config_path, sizeof(opts->config_path), "%s", opts->config);
    else if (!tui_settings_path(opts->config_path, sizeof(opts->config_path)))
        opts->config_path[0] = '\0';
    if (opts->config_path[0] == '\0')
        return 0;
    const int line = tui_settings_read(&opts->settings, opts->config_path, text, sizeof(text));
    if (line < 0 && (opts->config != NULL || (errno != ENOENT && errno != ENOTDIR))) {
        msg_file(opts->config_path, "%s; check the name and the permissions", strerror(errno));
        return OPT_EXIT_USAGE;
    }
    if (line > 0) {
        msg_file(opts->config_path, "line %d: %s", line, text);
        return OPT_EXIT_USAGE;
    }
    return 0;
}

static int set_all(struct top_opts *opts)
{
    for (unsigned i = 0; i < opts->set.n; i++) {
        char key[64], text[256];
        const char *equals = strchr(opts->set.name[i], '=');
        if (equals == NULL)
            return opt_bad("-o", opts->set.name[i], "of the form key=value");
        (void)snprintf(key, sizeof(key), "%.*s", (int)(equals - opts->set.name[i]),
                       opts->set.name[i]);
        const char *fault = tui_settings_set(&opts->settings, key, equals + 1, text, sizeof(text));
        if (fault != NULL) {
            msg_print("-o: %s", fault);
            return OPT_EXIT_USAGE;
        }
    }
    return 0;
}

static int list_columns(void)
{
    for (int i = 0; i < COLUMN_COUNT; i++)
        (void)printf("%-6s %s\n", tui_table_column((enum table_column)i)->title,
                     tui_table_column((enum table_column)i)->help);
    return OPT_EXIT_DONE;
}

static int parse_speed(struct top_opts *opts)
{
    const bool text = opts->batch || opts->common.json || opts->common.ndjson || opts->csv;
    opts->speed_factor = text ? 0 : 1;
    if (opts->speed == NULL)
        return 0;
    if (strcmp(opts->speed, "max") == 0) {
        opts->speed_factor = 0;
        return 0;
    }
    char *end;
    const double factor = strtod(opts->speed, &end);
    if (!isdigit((unsigned char)opts->speed[0]) || (*end != '\0' && strcmp(end, "x") != 0) ||
        !(factor >= 0.001 && factor <= 1e6))
        return opt_bad("--speed", opts->speed, "max or a number from 0.001 to 1000000");
    opts->speed_factor = factor;
    return 0;
}

static int parse_size(struct top_opts *opts)
{
    char tail;
    opts->rows = 24;
    opts->cols = 80;
    if (opts->size == NULL)
        return 0;
    if (sscanf(opts->size, "%dx%d%c", &opts->cols, &opts->rows, &tail) != 2 || opts->cols < 1 ||
        opts->rows < 1 || opts->cols > CANVAS_COLS_MAX || opts->rows > CANVAS_ROWS_MAX)
        return opt_bad("--size", opts->size, "a size; give columns and rows, as 80x24");
    return 0;
}

static int parse_texts(struct top_opts *opts)
{
    char text[256];
    char *end;
    if (opts->sort != NULL && strcmp(opts->sort, "help") == 0)
        return list_columns();
    if (opts->sort != NULL)
        (void)snprintf(opts->settings.sort, SETTING_TEXT_MAX, "%s", opts->sort);
    if (tui_table_column_by_name(opts->settings.sort) < 0)
        return opt_bad("--sort", opts->settings.sort, "a column; --sort=help lists them");
    uint8_t list[COLUMN_COUNT];
    if (tui_table_choose(opts->settings.columns, list) < 0)
        return opt_bad("columns", opts->settings.columns,
                       "a list of columns; --sort=help lists them");
    opts->first_screen = opts->settings.screen;
    if (opts->screen != NULL)
        opts->first_screen = strcmp(opts->screen, "help") == 0 ? -MODE_HELP
                             : strcmp(opts->screen, "setup") == 0
                                 ? -MODE_SETUP
                                 : ui_screen_by_name(opts->screen, &opts->first_tab);
    if (opts->first_screen == -1 && opts->screen != NULL && strcmp(opts->screen, "help") != 0)
        return opt_bad("--screen", opts->screen,
                       "overview, qps, pfc, events, hosts, qp, messages, headers, setup or help");
    if (opts->delay != NULL &&
        tui_settings_set(&opts->settings, "interval", opts->delay, text, sizeof(text)) != NULL)
        return opt_bad("--delay", opts->delay, "a time from 10ms to 1h; a bare number is seconds");
    opts->forget_ns = ROCE_FLOW_IDLE_NS;
    if (units_parse_forget(opts->forget, &opts->forget_ns) != 0)
        return opt_bad("--forget", opts->forget, "never or a time; give it with its unit, as 60s");
    if (opts->qp != NULL) {
        const bool hex = opts->qp[0] == '0' && (opts->qp[1] == 'x' || opts->qp[1] == 'X');
        const char *digits = hex ? opts->qp + 2 : opts->qp;
        const unsigned long qpn = strtoul(digits, &end, hex ? 16 : 10);
        if (!isxdigit((unsigned char)digits[0]) || end == digits || *end != '\0' || qpn > 0xFFFFFF)
            return opt_bad("--qp", opts->qp, "a QP number; give it as 0x12 or 18");
        opts->qpn = (uint32_t)qpn;
        opts->has_qpn = true;
    }
    return 0;
}

/* What was given and cannot be together. */
static int check(struct top_opts *opts)
{
    if (opts->common.json + opts->common.ndjson + opts->csv > 1) {
        msg_print("%s and %s exclude each other; leave one out",
                  opts->common.json ? "--json" : "--ndjson",
                  opts->common.json && opts->common.ndjson ? "--ndjson" : "--csv");
        return OPT_EXIT_USAGE;
    }
    opts->batch = opts->batch || opts->common.json || opts->common.ndjson || opts->csv;
    if (live_wanted(&opts->live) && opts->speed != NULL) {
        msg_print("--speed is for files; leave it out");
        return OPT_EXIT_USAGE;
    }
    if (opts->ascii)
        opts->settings.charset = CHARSET_ASCII;
    if (opt_limit("--max-flows", opts->max_flows, 100000000) != 0 ||
        opt_limit("--storm-ms", opts->storm_ms, 3600000) != 0 ||
        opt_limit("--timeout-exp", opts->timeout_exp, 31) != 0)
        return OPT_EXIT_USAGE;
    return 0;
}

int tui_top_opts_parse(struct top_opts *opts, int argc, char **argv)
{
    *opts = (struct top_opts){0};
    const int words = opt_parse(&program, argc, argv, opts);
    if (words < 0)
        return words;
    if (opts->live.list)
        return 0;
    tui_settings_defaults(&opts->settings);
    int rc = read_config(opts);
    if (rc == 0)
        rc = set_all(opts);
    if (rc == 0)
        rc = parse_speed(opts);
    if (rc == 0)
        rc = parse_size(opts);
    if (rc == 0)
        rc = parse_texts(opts);
    if (rc == 0)
        rc = check(opts);
    if (rc != 0)
        return rc;
    if (opts->dump_config) {
        tui_settings_write(&opts->settings, stdout);
        return OPT_EXIT_DONE;
    }
    if (live_input(&opts->common, &opts->live, argv + 1, words, &opts->file, opts->bpf,
                   sizeof(opts->bpf)) != 0)
        return OPT_EXIT_USAGE;
    return live_wanted(&opts->live) || opts->file != NULL ? 0 : live_no_input(program.name);
}
