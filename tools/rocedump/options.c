/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The option table of rocedump and what options mean together. */
#include "rocedump/options.h"

#include <string.h>

#include "common/msg.h"

#define OPT_TARGET struct dump_opts
#include "common/options_table.h"

static const struct opt table[] = {
#include "rocedump/options.def"
#include "common/live.def"
#include "common/common.def"
};

static const struct opt_program program = {
    .name = "rocedump",
    .synopsis = "rocedump [OPTION]... {[-r] FILE | -i IFACE} [BPF EXPRESSION]",
    .summary = "Print the RoCE packets and pause frames of a capture, one line a packet.",
    .footer = "\nFurther words are a tcpdump expression, run before decoding; -Y filters\n"
              "decoded packets. Exit status: 0 done, 1 input or output failed, 2 wrong usage.\n"
              "More in rocedump(1).\n",
    .table = table,
    .count = sizeof(table) / sizeof(table[0]),
};

/* One way of printing at a time: two of them cannot share standard output. */
static int choose_mode(struct dump_opts *opts)
{
    const struct {
        bool given;
        enum dump_mode mode;
        const char *name;
    } ways[] = {
        {opts->common.write != NULL, MODE_WRITE, "-w"},
        {opts->details, MODE_DETAILS, "-V"},
        {opts->common.json, MODE_JSON, "--json"},
        {opts->common.ndjson, MODE_NDJSON, "--ndjson"},
        {opts->csv, MODE_CSV, "--csv"},
    };
    const char *chosen = NULL;
    opts->mode = opts->fields != NULL ? MODE_TABS : MODE_LINES;
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
    if (opts->fields != NULL && (opts->mode == MODE_DETAILS || opts->mode == MODE_WRITE)) {
        msg_print("--fields and %s exclude each other; leave one out", chosen);
        return OPT_EXIT_USAGE;
    }
    if (opts->hex && opts->mode != MODE_LINES && opts->mode != MODE_DETAILS) {
        msg_print("-x and %s exclude each other; leave one out",
                  chosen != NULL ? chosen : "--fields");
        return OPT_EXIT_USAGE;
    }
    return 0;
}

/* Where the packets come from. Returns 0, or OPT_EXIT_USAGE with the mistake reported. */
static int choose_input(struct dump_opts *opts, char **words, int n)
{
    if (live_wanted(&opts->live) && opts->follow) {
        msg_print("-i and -f exclude each other; leave one out");
        return OPT_EXIT_USAGE;
    }
    if (live_input(&opts->common, &opts->live, words, n, &opts->file, opts->bpf,
                   sizeof(opts->bpf)) != 0)
        return OPT_EXIT_USAGE;
    if (live_wanted(&opts->live))
        opts->file = live_name(&opts->live, opts->interfaces, sizeof(opts->interfaces));
    if (opts->file == NULL && !opts->list_fields && opts->check_filter == NULL && !opts->live.list)
        return live_no_input(program.name);
    return 0;
}

int dump_opts_parse(struct dump_opts *opts, int argc, char **argv)
{
    *opts = (struct dump_opts){0};
    const int words = opt_parse(&program, argc, argv, opts);
    if (words < 0)
        return words;
    if (opts->times > 5) {
        msg_print("-t: at most five of them; see rocedump --help");
        return OPT_EXIT_USAGE;
    }
    if (choose_mode(opts) != 0)
        return OPT_EXIT_USAGE;
    return choose_input(opts, argv + 1, words);
}
