/* SPDX-License-Identifier: GPL-2.0-or-later */
/* rocereplay check: options, the run over the cases, exit status. */
#include "rocereplay/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/msg.h"
#include "common/options.h"
#include "common/privileges.h"
#include "common/signals.h"
#include "common/units.h"
#include "rocereplay/check_link.h"
#include "rocereplay/check_report.h"
#include "rocereplay/commands.h"

enum { DEFAULT_MTU = 1024 };
#define PATIENCE_NS UINT64_C(200000000)

struct check_opts {
    struct replay_opts replay;
    const char *only, *fail_on, *patience;
    bool list, tap;
};

static const struct opt table[] = {
#define OPTION(letter, name, arg, kind, member, help) \
    {letter, OPT_##kind, name, arg, offsetof(struct check_opts, member), help},
#include "rocereplay/check_opts.def"
#undef OPTION
};

static const struct opt_program program = {
    .name = "rocereplay check",
    .synopsis = "rocereplay check [OPTION]... [-i IFACE --connect HOW:HOST[:PORT]]",
    .summary = "Judge by its frames whether a peer keeps to the standard.",
    .footer = "\nExit status: 0 all was judged, 1 the run was cut short or output failed, 2 wrong\n"
              "usage, 3 --fail-on matched. More in rocereplay(1).\n",
    .table = table,
    .count = sizeof(table) / sizeof(table[0]),
};

const struct check_case check_cases[] = {
#define CASE(function, id, section, rule) {id, rule, section, check_##function},
#include "rocereplay/check.def"
#undef CASE
};
const unsigned check_n_cases = sizeof(check_cases) / sizeof(check_cases[0]);

/* Whether |word| of |len| bytes names the case: its id, or the part in front of the dot. */
static bool names(const char *word, size_t len, const char *id)
{
    if (strncmp(word, id, len) != 0)
        return false;
    return id[len] == '\0' || id[len] == '.' || (len > 0 && word[len - 1] == '.');
}

static bool listed(const char *list, const char *id)
{
    for (const char *at = list; at != NULL; at = strchr(at, ',')) {
        at += *at == ',';
        if (names(at, strcspn(at, ","), id))
            return true;
    }
    return false;
}

/* Each word of |list| has to name something. */
static int verify_list(const char *option, const char *list, bool kinds)
{
    for (const char *at = list; at != NULL; at = strchr(at, ',')) {
        at += *at == ',';
        const size_t len = strcspn(at, ",");
        bool known = false;
        for (unsigned i = 0; i < check_n_cases; i++)
            known = known || (len > 0 && names(at, len, check_cases[i].id));
        for (int v = CHECK_FAIL; kinds && v <= CHECK_NOT_OBSERVABLE; v++) {
            const char *kind = check_verdict_name((enum check_verdict)v);
            known = known || (strlen(kind) == len && memcmp(kind, at, len) == 0);
        }
        if (!known) {
            msg_print("--%s: '%.*s' is no case%s; see rocereplay check --list", option, (int)len,
                      at, kinds ? " and no kind (fail, not_observable)" : "");
            return EXIT_USAGE;
        }
    }
    return EXIT_DONE;
}

static int settle_peer(const struct replay_opts *replay)
{
    if (replay->connect != NULL && replay->by_hand) {
        msg_print("--connect finds the peer; leave --qpn, --psn, --rkey, --va, --peer-ip out");
        return EXIT_USAGE;
    }
    if ((replay->interface != NULL) != (replay->connect != NULL || replay->by_hand)) {
        msg_print("a peer needs both -i IFACE and --connect HOW:HOST, or --peer-ip and --qpn");
        return EXIT_USAGE;
    }
    if (replay->by_hand && (replay->own_qpn_value == 0 || !replay->has_own_psn)) {
        msg_print("a peer by hand has to know our numbers first; give --own-qpn and --own-psn");
        return EXIT_USAGE;
    }
    return EXIT_DONE;
}

static int settle(struct check_opts *opts, uint64_t *patience_ns)
{
    struct replay_opts *replay = &opts->replay;
    *patience_ns = PATIENCE_NS;
    if (replay_opts_settle(replay) != 0)
        return EXIT_USAGE;
    if (opts->patience != NULL &&
        (units_parse_duration(opts->patience, patience_ns) != 0 || *patience_ns == 0)) {
        msg_print("--patience: '%s' is not a time; give a number with its unit, as 200ms",
                  opts->patience);
        return EXIT_USAGE;
    }
    const int rc = settle_peer(replay);
    if (rc != EXIT_DONE)
        return rc;
    if (replay->timeout == 0 || replay->timeout > 20) {
        msg_print("--timeout: %u would take for ever; give 1 to 20", replay->timeout);
        return EXIT_USAGE;
    }
    if (opts->tap && replay->json) {
        msg_print("--json and --tap exclude each other");
        return EXIT_USAGE;
    }
    if (verify_list("only", opts->only, false) != EXIT_DONE)
        return EXIT_USAGE;
    return verify_list("fail-on", opts->fail_on, true);
}

static bool fails(const struct check_opts *opts, const struct check_result *r)
{
    if (opts->fail_on == NULL || r->verdict == CHECK_PASS)
        return false;
    return listed(opts->fail_on, check_verdict_name(r->verdict)) ||
           (r->verdict == CHECK_FAIL && listed(opts->fail_on, r->what->id));
}

static enum check_format format_of(const struct check_opts *opts)
{
    if (opts->tap)
        return CHECK_FORMAT_TAP;
    return opts->replay.json ? CHECK_FORMAT_JSON : CHECK_FORMAT_TEXT;
}

static int run(struct check_link *link, const struct check_opts *opts, struct check_result *results)
{
    char peer[320] = "the engine in this process";
    struct check_report report = {.peer = peer,
                                  .evidence = opts->replay.write,
                                  .results = results,
                                  .format = format_of(opts),
                                  .brief = opts->replay.quiet,
                                  .whole = true};
    int status = EXIT_DONE;
    const struct target_kind *kind = link->run.limits.kind;
    const char *host = opts->replay.by_hand ? opts->replay.peer_ip : opts->replay.host;
    if (opts->replay.interface != NULL)
        (void)snprintf(peer, sizeof(peer), "%s%s%s", kind != NULL ? kind->name : "",
                       kind != NULL ? " at " : "", host);
    for (unsigned i = 0; i < check_n_cases && report.whole; i++) {
        if (opts->only != NULL && !listed(opts->only, check_cases[i].id))
            continue;
        struct check_result *r = &results[report.n];
        if (check_run_case(&link->run, &check_cases[i], r) != 0)
            report.whole = false;
        else
            report.n++;
        if (report.whole && fails(opts, r))
            status = EXIT_FOUND;
    }
    if (check_report_print(&report) != 0 || !report.whole)
        return EXIT_IO;
    return status;
}

int check_main(int argc, char **argv)
{
    static struct check_opts opts;
    static struct check_link link;
    static struct check_result results[sizeof(check_cases) / sizeof(check_cases[0])];
    uint64_t patience_ns;
    replay_opts_default(&opts.replay);
    opts.replay.mtu = DEFAULT_MTU;
    const int words = opt_parse(&program, argc, argv, &opts);
    if (words == OPT_EXIT_DONE)
        return EXIT_DONE;
    if (words > 0)
        msg_print("'%s' is not an option; see rocereplay check --help", argv[1]);
    if (words != 0 || settle(&opts, &patience_ns) != EXIT_DONE)
        return EXIT_USAGE;
    if (opts.list)
        return check_list_print(format_of(&opts)) == 0 ? EXIT_DONE : EXIT_IO;
    signals_catch();
    int status = EXIT_IO;
    const int rc = opts.replay.interface != NULL ? check_link_wire(&link, &opts.replay, patience_ns)
                                                 : check_link_loop(&link, &opts.replay);
    if (rc == 0 && (opts.replay.interface == NULL || privileges_drop(opts.replay.user) == 0))
        status = run(&link, &opts, results);
    return check_link_close(&link) == 0 ? status : EXIT_IO;
}
