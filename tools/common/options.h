/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Command-line options from one table: the parser, --help and the check of the manual page read the
 * same lines (common.def, rocedump/options.def). */
#ifndef TOOLS_OPTIONS_H
#define TOOLS_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum opt_kind {
    OPT_FLAG,    /* bool: set */
    OPT_TALLY,   /* unsigned: how often it was given */
    OPT_TEXT,    /* const char *: the argument */
    OPT_COUNT,   /* uint64_t: 1 .. 2^63 - 1 */
    OPT_SIZE,    /* uint32_t: 0 .. 2^31 - 1 */
    OPT_CHOICE,  /* int: which of the words of |arg| ("auto|always|never"), from 0 */
    OPT_SPEED,   /* uint64_t: bits per second */
    OPT_PORTS,   /* struct opt_ports: may be repeated */
    OPT_NAMES,   /* struct opt_names: may be repeated */
    OPT_HELP,    /* no target */
    OPT_VERSION, /* no target */
};

enum { OPT_PORTS_MAX = 8 };

struct opt_ports {
    uint16_t port[OPT_PORTS_MAX];
    uint8_t n;
};

enum { OPT_NAMES_MAX = 16 };

struct opt_names {
    const char *name[OPT_NAMES_MAX];
    uint8_t n;
};

struct opt {
    char letter; /* 0: none */
    enum opt_kind kind;
    const char *name; /* without the dashes; NULL: none */
    const char *arg;  /* what --help calls the argument; NULL: takes none */
    size_t offset;    /* of the target in the program's option structure */
    const char *help;
};

struct opt_program {
    const char *name;
    const char *synopsis; /* lines behind "usage: " */
    const char *summary;
    const char *footer; /* behind the options; may be "" */
    const struct opt *table;
    size_t count;
};

/* Options that every program takes: the target of common.def. */
struct common_opts {
    const char *read, *write;
    uint64_t count;   /* 0: no limit */
    uint32_t snaplen; /* 0: no limit */
    unsigned verbose;
    bool quiet, roce_filter, json, ndjson, rd, no_icrc;
    int colour; /* enum colour_when */
    struct opt_ports ports;
    uint64_t link_speed_bps;
};

enum { OPT_EXIT_DONE = -1, OPT_EXIT_USAGE = -2 };

/* opt_parse reads the command line into |target|, a structure already filled with the defaults.
 * Options and bare words may be mixed; "--" ends the options. The bare words are moved to
 * argv[1].. in their order. Returns how many there are; OPT_EXIT_DONE after --help or --version;
 * OPT_EXIT_USAGE after a mistake, which it has reported. */
int opt_parse(const struct opt_program *program, int argc, char **argv, void *target);

/* opt_help prints what --help prints, in 80 columns. */
void opt_help(const struct opt_program *program);

/* opt_bad reports that |value| is not what |option| ("--sort") wants, opt_limit a value above
 * |max|. opt_bad returns OPT_EXIT_USAGE, opt_limit that or 0. */
int opt_bad(const char *option, const char *value, const char *wanted);
int opt_limit(const char *option, uint64_t value, uint64_t max);

/* opt_input settles what is read: -r, else the first bare word, always a file name; the words
 * behind it are joined by spaces into the BPF expression |bpf| of |room| bytes, "" without. |*file|
 * is NULL when no file was named. Returns 0, or -1 when the expression does not fit. */
int opt_input(const struct common_opts *common, char **words, int n, const char **file, char *bpf,
              size_t room);

/* opt_join joins |words| by spaces into |text|. Returns 0, or -1 when they do not fit. */
int opt_join(char **words, int n, char *text, size_t room);

#endif
