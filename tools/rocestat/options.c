/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The option table of rocestat and what options mean together. */
#include "rocestat/options.h"

#include <stdio.h>
#include <string.h>

#include "common/msg.h"
#include "common/units.h"
#include "rocestat/sort.h"

#define OPT_TARGET struct stat_opts
#include "common/options_table.h"

static const struct opt table[] = {
#include "common/common.def"
#include "common/live.def"
#include "rocestat/options.def"
};

static const struct opt_program program = {
    .name = "rocestat",
    .synopsis = "rocestat [OPTION]... {[-r] FILE | -i IFACE} [BPF EXPRESSION]",
    .summary = "Report what happened to every QP of a capture, and why.",
    .footer = "\nFurther words are a tcpdump expression, run before decoding; -Y filters\n"
              "decoded packets. Exit status: 0 done, 1 input or output failed, 2 wrong usage,\n"
              "3 --fail-on matched. More in rocestat(1).\n",
    .table = table,
    .count = sizeof(table) / sizeof(table[0]),
};

static int choose_mode(struct stat_opts *opts)
{
    const struct {
        bool given;
        enum stat_mode mode;
        const char *name;
    } ways[] = {
        {opts->common.json, MODE_JSON, "--json"},
        {opts->common.ndjson, MODE_NDJSON, "--ndjson"},
        {opts->csv != CSV_NONE, MODE_CSV, "--csv"},
    };
    const char *chosen = NULL;
    opts->mode = MODE_TEXT;
    for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
        if (!ways[i].given)
            continue;
        if (chosen != NULL) {
            msg_print("%s and %s exclude each other; leave one out", chosen, ways[i].name);
            return OPT_EXIT_USAGE;
        }
        chosen = ways[i].name;
        opts->mode = ways[i].mode;
    }
    for (int i = 0; i < TABLE_COUNT; i++)
        opts->chosen = opts->chosen || opts->tables[i];
    if (opts->mode == MODE_CSV && (opts->chosen || opts->interval != NULL)) {
        msg_print("--csv prints one table; leave %s out",
                  opts->chosen ? "the options that name tables" : "--interval");
        return OPT_EXIT_USAGE;
    }
    return 0;
}

/* One word of --fail-on: a severity or a kind. */
static int add_failure(struct stat_opts *opts, const char *word)
{
    const int severity = roce_severity_by_name(word);
    const int kind = roce_finding_by_name(word);
    if (severity >= 0) {
        if (severity > opts->fail_severity)
            opts->fail_severity = severity;
        return 0;
    }
    if (kind >= 0) {
        opts->fail_kind[kind] = true;
        return 0;
    }
    return opt_bad("--fail-on", word,
                   "error, warning, note or a kind of finding; rocestat(1) lists them");
}

static int parse_failures(struct stat_opts *opts)
{
    opts->fail_severity = -1;
    const char *at = opts->fail_on;
    while (at != NULL) {
        char word[64];
        const size_t len = strcspn(at, ",");
        (void)snprintf(word, sizeof(word), "%.*s", len < 63 ? (int)len : 63, at);
        if (add_failure(opts, word) != 0)
            return OPT_EXIT_USAGE;
        at = at[len] == ',' ? at + len + 1 : NULL;
    }
    return 0;
}

static int parse_texts(struct stat_opts *opts)
{
    if (opts->interval != NULL && units_parse_duration(opts->interval, &opts->interval_ns) != 0)
        return opt_bad("--interval", opts->interval, "a time; give a number with its unit, as 1s");
    if (opts->sort != NULL) {
        if (strcmp(opts->sort, "help") == 0) {
            sort_list();
            return OPT_EXIT_DONE;
        }
        opts->sort_column = sort_by_name(opts->sort);
        if (opts->sort_column < 0)
            return opt_bad("--sort", opts->sort, "a column; --sort=help lists them");
    }
    opts->forget_ns = live_wanted(&opts->live) ? ROCE_FLOW_IDLE_NS : 0;
    if (units_parse_forget(opts->forget, &opts->forget_ns) != 0)
        return opt_bad("--forget", opts->forget, "never or a time; give it with its unit, as 60s");
    if (parse_failures(opts) != 0 || opt_limit("--jobs", opts->jobs, JOBS_MAX) != 0 ||
        opt_limit("--timeout-exp", opts->timeout_exp, 31) != 0 ||
        opt_limit("--storm-ms", opts->storm_ms, 3600000) != 0 ||
        opt_limit("--max-flows", opts->max_flows, 100000000) != 0)
        return OPT_EXIT_USAGE;
    return 0;
}

/* Where the packets come from. Returns 0, or OPT_EXIT_USAGE with the mistake reported. */
static int choose_input(struct stat_opts *opts, char **words, int n)
{
    if (live_input(&opts->common, &opts->live, words, n, &opts->file, opts->bpf,
                   sizeof(opts->bpf)) != 0)
        return OPT_EXIT_USAGE;
    if (live_wanted(&opts->live))
        opts->file = live_name(&opts->live, opts->interfaces, sizeof(opts->interfaces));
    if (opts->live.list)
        return 0;
    if (opts->file == NULL)
        return live_no_input(program.name);
    if (!live_wanted(&opts->live) && (opts->listen != NULL || opts->textfile != NULL)) {
        msg_print("%s: metrics are of what happens now; name an interface with -i",
                  opts->listen != NULL ? "--listen" : "--textfile");
        return OPT_EXIT_USAGE;
    }
    return 0;
}

int stat_opts_parse(struct stat_opts *opts, int argc, char **argv)
{
    *opts = (struct stat_opts){.csv = CSV_NONE};
    const int words = opt_parse(&program, argc, argv, opts);
    if (words < 0)
        return words;
    int rc = choose_mode(opts);
    if (rc == 0)
        rc = parse_texts(opts);
    if (rc != 0)
        return rc;
    return choose_input(opts, argv + 1, words);
}

bool stat_opts_wants(const struct stat_opts *opts, enum stat_table table_wanted)
{
    if (opts->mode == MODE_CSV)
        return (opts->csv == CSV_MESSAGES && table_wanted == TABLE_MESSAGES) ||
               (opts->csv == CSV_EVENTS && table_wanted == TABLE_EVENTS);
    if (table_wanted == TABLE_MESSAGES || table_wanted == TABLE_EVENTS || opts->chosen)
        return opts->tables[table_wanted];
    return true;
}
