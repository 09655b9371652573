/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The option table of rocereplay play, and what its options mean together. */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/msg.h"
#include "common/units.h"
#include "port/netif.h"
#include "rocereplay/play.h"

static const struct opt play_table[] = {
#define PLAY(letter, name, arg, kind, member, help) \
    {letter, OPT_##kind, name, arg, offsetof(struct play_opts, member), help},
#define OPTION(letter, name, arg, kind, member, help)                         \
    {letter,                                                                  \
     OPT_##kind,                                                              \
     name,                                                                    \
     arg,                                                                     \
     offsetof(struct play_opts, base) + offsetof(struct replay_opts, member), \
     help},
#include "rocereplay/play.def"
#include "rocereplay/shared.def"
#undef OPTION
#undef PLAY
};

static const struct opt_program play_program = {
    .name = "rocereplay play",
    .synopsis = "rocereplay play [OPTION]... FILE",
    .summary = "Replay a capture: its messages through the transport engine to a live peer,\n"
               "or (--raw) its frames.",
    .footer = "\nWithout -i both ends run in this process; with --raw frames then go to -w alone.\n"
              "With --raw, --vlan takes VID[:PCP], add:VID[:PCP] or none, and --rkey takes\n"
              "KEY=KEY, or KEY for all. Exit status: 0 done, 1 an operation, input or output\n"
              "failed, 2 wrong usage. More in rocereplay(1).\n",
    .table = play_table,
    .count = sizeof(play_table) / sizeof(play_table[0]),
};

static int bad(const char *option, const char *value, const char *wanted)
{
    msg_print("--%s: '%s' is not %s", option, value, wanted);
    return OPT_EXIT_USAGE;
}

static bool is_positive(const char *text, double *value)
{
    char *end;
    *value = strtod(text, &end);
    return isdigit((unsigned char)text[0]) && tolower((unsigned char)text[1]) != 'x' &&
           *end == '\0' && *value > 0 && isfinite(*value);
}

static int positive(const char *option, const char *text, double *value)
{
    return is_positive(text, value) ? 0 : bad(option, text, "a number above 0");
}

static int parse_pace(struct play_opts *opts)
{
    const int given = (opts->multiplier != NULL) + (opts->pps != NULL) + (opts->mbps != NULL) +
                      opts->topspeed + opts->one_at_a_time;
    opts->pace = (struct schedule_cfg){.pace = SCHEDULE_RECORDED, .factor = 1};
    opts->pace.spin = opts->base.busy_poll;
    if (given > 1) {
        msg_print("of -x, -p, -M, -t and -o only one can be");
        return OPT_EXIT_USAGE;
    }
    if (opts->topspeed || opts->one_at_a_time)
        opts->pace.pace = SCHEDULE_TOP;
    if (opts->multiplier != NULL)
        return positive("multiplier", opts->multiplier, &opts->pace.factor);
    if (opts->pps != NULL) {
        opts->pace.pace = SCHEDULE_PPS;
        return positive("pps", opts->pps, &opts->pace.factor);
    }
    if (opts->mbps != NULL) {
        opts->pace.pace = SCHEDULE_BPS;
        const int rc = positive("mbps", opts->mbps, &opts->pace.factor);
        opts->pace.factor *= 1e6;
        return rc;
    }
    return 0;
}

static int parse_length(struct play_opts *opts)
{
    opts->loops = 1;
    if (opts->loop != NULL) {
        char *end;
        errno = 0;
        opts->loops = strtoull(opts->loop, &end, 10);
        if (!isdigit((unsigned char)opts->loop[0]) || *end != '\0' || errno != 0)
            return bad("loop", opts->loop, "a number of passes; 0 stands for no end");
    }
    if (opts->duration == NULL)
        return 0;
    double seconds; /* a bare number: seconds, as in tcpreplay */
    if (is_positive(opts->duration, &seconds) && seconds < 1e8) {
        opts->duration_ns = (uint64_t)(seconds * 1e9);
        return 0;
    }
    if (units_parse_duration(opts->duration, &opts->duration_ns) == 0)
        return 0;
    return bad("duration", opts->duration, "a time; give a number, with its unit, as 10s");
}

typedef int parser(struct rewrite *rw, const char *text, char why[REWRITE_WHY_MAX]);

static int parse_rule(struct play_opts *opts, const char *option, const char *text, parser *parse)
{
    char why[REWRITE_WHY_MAX];
    if (text == NULL || parse(&opts->rules, text, why) == 0)
        return 0;
    msg_print("--%s: %s", option, why);
    return OPT_EXIT_USAGE;
}

static int parse_names(struct play_opts *opts, const char *option, const struct opt_names *names,
                       parser *parse)
{
    for (unsigned i = 0; i < names->n; i++)
        if (parse_rule(opts, option, names->name[i], parse) != 0)
            return OPT_EXIT_USAGE;
    return 0;
}

static int parse_rules(struct play_opts *opts)
{
    struct rewrite *rw = &opts->rules;
    if (parse_names(opts, "map-ip", &opts->map_ip, rewrite_parse_ip) != 0 ||
        parse_names(opts, "map-mac", &opts->map_mac, rewrite_parse_mac) != 0 ||
        parse_names(opts, "map-qp", &opts->map_qp, rewrite_parse_qp) != 0 ||
        parse_rule(opts, "psn-offset", opts->psn_offset, rewrite_parse_psn) != 0 ||
        parse_rule(opts, "rkey", opts->base.rkey, rewrite_parse_rkey) != 0 ||
        parse_rule(opts, "vlan", opts->base.vlan, rewrite_parse_vlan) != 0)
        return OPT_EXIT_USAGE;
    rw->keep_bad_icrc = opts->keep_bad_icrc;
    opts->base.rkey = opts->base.vlan = NULL; /* here they are no peer's and no own frame's */
    return 0;
}

static int settle_raw(struct play_opts *opts)
{
    const struct replay_opts *base = &opts->base;
    if (parse_rules(opts) != 0)
        return OPT_EXIT_USAGE;
    if (base->connect != NULL || base->by_hand || base->address != NULL) {
        msg_print("--raw speaks to nobody; leave --connect and the peer's numbers out");
        return OPT_EXIT_USAGE;
    }
    if (opts->host != NULL) {
        msg_print("--host chooses whose messages are sent anew; leave it out with --raw");
        return OPT_EXIT_USAGE;
    }
    if (base->interface == NULL && base->write == NULL) {
        msg_print("nowhere to send to; give -i IFACE, or -w FILE");
        return OPT_EXIT_USAGE;
    }
    if (base->interface == NULL && opts->one_at_a_time) {
        msg_print("-o is for interfaces; give -i IFACE");
        return OPT_EXIT_USAGE;
    }
    if (base->interface == NULL && opts->loops == 0 && opts->limit == 0 && opts->duration_ns == 0) {
        msg_print("a file without end; give --loop, --limit or --duration");
        return OPT_EXIT_USAGE;
    }
    if (opts->loops != 1 && strcmp(opts->file, "-") == 0)
        opts->preload = true; /* there is no going back */
    return 0;
}

static bool is_raw_only(const struct play_opts *opts)
{
    return opts->one_at_a_time || opts->preload || opts->stats != 0 || opts->roce_only ||
           opts->map_ip.n != 0 || opts->map_mac.n != 0 || opts->map_qp.n != 0 ||
           opts->psn_offset != NULL || opts->loop_psn || opts->keep_bad_icrc;
}

static int settle_stateful(struct play_opts *opts)
{
    const struct replay_opts *base = &opts->base;
    if (is_raw_only(opts)) {
        msg_print("the messages are sent anew, from here; rewriting frames is for --raw");
        return OPT_EXIT_USAGE;
    }
    if (opts->loops == 0) {
        msg_print("--loop: without --raw there must be an end; give a number of passes");
        return OPT_EXIT_USAGE;
    }
    if (opts->host != NULL) {
        opts->has_host = true;
        if (netif_ip_parse(opts->host, opts->host_addr) != 0)
            return bad("host", opts->host, "an IP address");
    }
    if (base->connect != NULL && base->by_hand) {
        msg_print("--connect finds the peer; leave --qpn, --psn, --rkey, --va, --peer-ip out");
        return OPT_EXIT_USAGE;
    }
    if (base->connect != NULL && base->interface == NULL) {
        msg_print("--connect needs an interface; give -i, too");
        return OPT_EXIT_USAGE;
    }
    if (base->interface != NULL && base->connect == NULL && !base->by_hand) {
        msg_print("no peer on %s; give --connect HOW:HOST, or --peer-ip and --qpn",
                  base->interface);
        return OPT_EXIT_USAGE;
    }
    if (opts->depth > DEPTH_MAX)
        return bad("depth", "it", "65536 or less");
    return 0;
}

int play_opts_parse(struct play_opts *opts, int argc, char **argv)
{
    *opts = (struct play_opts){.depth = 128, .memory = 65536};
    replay_opts_default(&opts->base);
    opts->base.mtu = 0; /* the recorded one */
    const int words = opt_parse(&play_program, argc, argv, opts);
    if (words < 0)
        return words;
    const int captures = words + (opts->file != NULL);
    if (captures != 1) {
        msg_print("%s; see rocereplay play --help",
                  captures == 0 ? "no capture; name a file, or - for standard input"
                                : "more than one capture; give one");
        return OPT_EXIT_USAGE;
    }
    if (opts->file == NULL)
        opts->file = argv[1];
    opts->has_mtu = opts->base.mtu != 0;
    opts->rules.decode.n_udp_ports = opts->ports.n;
    memcpy(opts->rules.decode.udp_ports, opts->ports.port, sizeof(opts->ports.port));
    if (parse_pace(opts) != 0 || parse_length(opts) != 0)
        return OPT_EXIT_USAGE;
    if (opts->raw && settle_raw(opts) != 0)
        return OPT_EXIT_USAGE;
    if (replay_opts_settle(&opts->base) != 0)
        return OPT_EXIT_USAGE;
    return opts->raw ? 0 : settle_stateful(opts);
}
