/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The option tables of rocereplay gen and serve, and what options mean together. */
#include "rocereplay/options.h"

#include <errno.h>
#include <roce/psn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/msg.h"
#include "common/units.h"
#include "port/netif.h"
#include "rocereplay/events.h"

#define OPTION(letter, name, arg, kind, member, help) \
    {letter, OPT_##kind, name, arg, offsetof(struct replay_opts, member), help},
static const struct opt gen_table[] = {
#include "rocereplay/gen.def"
#include "rocereplay/shared.def"
};
static const struct opt serve_table[] = {
#include "rocereplay/serve.def"
#include "rocereplay/shared.def"
};
#undef OPTION

static const struct opt_program gen_program = {
    .name = "rocereplay gen",
    .synopsis = "rocereplay gen [OPTION]... [--connect HOW:HOST[:PORT]]",
    .summary = "Run RDMA operations against a peer, or against itself, and measure them.",
    .footer = "\nWithout -i both ends run in this process; with -w on time that is computed, so\n"
              "that the same seed gives the same file. Exit status: 0 done, 1 an operation,\n"
              "input or output failed, 2 wrong usage. More in rocereplay(1).\n",
    .table = gen_table,
    .count = sizeof(gen_table) / sizeof(gen_table[0]),
};
static const struct opt_program serve_program = {
    .name = "rocereplay serve",
    .synopsis = "rocereplay serve -i IFACE [OPTION]...",
    .summary = "Answer RDMA operations of a peer on registered memory.",
    .footer = "\nExit status: 0 done, 1 an operation, input or output failed, 2 wrong usage.\n"
              "More in rocereplay(1).\n",
    .table = serve_table,
    .count = sizeof(serve_table) / sizeof(serve_table[0]),
};

static const struct {
    enum eng_wr_op op;
    const char *name;
} ops[] = {
    {ENG_WR_SEND, "send"},      {ENG_WR_SEND_IMM, "send_imm"},
    {ENG_WR_WRITE, "write"},    {ENG_WR_WRITE_IMM, "write_imm"},
    {ENG_WR_READ, "read"},      {ENG_WR_CMP_SWAP, "cas"},
    {ENG_WR_FETCH_ADD, "fadd"}, {ENG_WR_ATOMIC_WRITE, "atomic_write"},
    {ENG_WR_FLUSH, "flush"},
};
enum { OP_WRITE = 2, MTU_DEFAULT = 1024 };
#define SIZE_NOT_GIVEN UINT32_MAX /* --size takes less */

static int bad(const char *option, const char *value, const char *wanted)
{
    msg_print("--%s: '%s' is not %s", option, value, wanted);
    return OPT_EXIT_USAGE;
}

/* Reads decimal or, behind 0x, hexadecimal |text|; NULL leaves |*value| alone. */
static int number(const char *option, const char *text, uint64_t max, uint64_t *value)
{
    if (text == NULL)
        return 0;
    char *end;
    errno = 0;
    const int base = text[0] == '0' && (text[1] == 'x' || text[1] == 'X') ? 16 : 10;
    const unsigned long long n = strtoull(text, &end, base);
    if (text[0] < '0' || text[0] > '9' || errno != 0 || *end != '\0' || n > max) {
        char wanted[64];
        (void)snprintf(wanted, sizeof(wanted), "a number from 0 to %llu", (unsigned long long)max);
        return bad(option, text, wanted);
    }
    *value = n;
    return 0;
}

static int number32(const char *option, const char *text, uint32_t max, uint32_t *value)
{
    uint64_t n = *value;
    const int rc = number(option, text, max, &n);
    *value = (uint32_t)n;
    return rc;
}

static int number8(const char *option, const char *text, uint8_t max, uint8_t *value)
{
    uint64_t n = *value;
    const int rc = number(option, text, max, &n);
    *value = (uint8_t)n;
    return rc;
}

static int limit(const char *option, uint64_t value, uint64_t max)
{
    if (value <= max)
        return 0;
    msg_print("--%s: %llu is too large; the most is %llu", option, (unsigned long long)value,
              (unsigned long long)max);
    return OPT_EXIT_USAGE;
}

static int address(const char *option, const char *text, uint8_t ip[16])
{
    if (text == NULL || netif_ip_parse(text, ip) == 0)
        return 0;
    return bad(option, text, "an IP address");
}

static int parse_vlan(struct replay_opts *opts)
{
    unsigned vid, pcp = 0;
    char rest;
    if (opts->vlan == NULL)
        return 0;
    const int n = sscanf(opts->vlan, "%4u:%1u%c", &vid, &pcp, &rest);
    const bool colon = strchr(opts->vlan, ':') != NULL;
    if (n != (colon ? 2 : 1) || opts->vlan[strspn(opts->vlan, "0123456789:")] != '\0' ||
        vid > 4094 || pcp > 7)
        return bad("vlan", opts->vlan, "a VLAN; give VID (0..4094) or VID:PCP (0..7)");
    opts->has_vlan = true;
    opts->vlan_tci = (uint16_t)(pcp << 13 | vid);
    return 0;
}

static int parse_mtu(struct replay_opts *opts)
{
    if (opts->mtu == 0) /* serve: not given */
        return 0;
    for (uint64_t mtu = 256; mtu <= 4096; mtu *= 2)
        if (opts->mtu == mtu)
            return 0;
    msg_print("--mtu: %llu is no path MTU; give 256, 512, 1024, 2048 or 4096",
              (unsigned long long)opts->mtu);
    return OPT_EXIT_USAGE;
}

static const char *const fault_options[FAULT_KINDS] = {
    [FAULT_DROP] = "drop",
    [FAULT_DUP] = "dup",
    [FAULT_REORDER] = "reorder",
    [FAULT_DELAY] = "delay",
    [FAULT_CE] = "ce",
    [FAULT_BAD_ICRC] = "bad-icrc",
    [FAULT_CORRUPT] = "corrupt",
    [FAULT_SUPPRESS_ACK] = "suppress-ack",
    [FAULT_NAK] = "nak",
    [FAULT_RNR] = "rnr",
    [FAULT_GHOST_ACK] = "ghost-ack",
    [FAULT_CNP] = "cnp",
    [FAULT_PFC_XOFF] = "pfc-xoff",
    [FAULT_PFC_XON] = "pfc-xon",
};

static int parse_faults(struct replay_opts *opts)
{
    opts->faults.dir = (enum fault_dir)opts->fault_dir;
    for (int kind = 0; kind < FAULT_KINDS; kind++) {
        char why[PORT_TEXT_MAX];
        if (opts->fault[kind] == NULL)
            continue;
        if (fault_parse(&opts->faults, (enum fault_kind)kind, opts->fault[kind], why) != 0) {
            msg_print("--%s: %s", fault_options[kind], why);
            return OPT_EXIT_USAGE;
        }
    }
    return opts->events == NULL || events_load(&opts->faults, opts->events) == 0 ? 0
                                                                                 : OPT_EXIT_USAGE;
}

static uint16_t app_port(int app)
{
    return app == APP_ECHO ? UCMATOSE_PORT : RPING_PORT; /* udaddy's is rping's */
}

/* HOW:HOST[:PORT]; an IPv6 address stands in brackets. */
static int parse_connect(struct replay_opts *opts)
{
    static const struct {
        const char *word;
        enum connect_how how;
        uint16_t port;
    } ways[] = {
        {"pingpong", CONNECT_PINGPONG, TCP_PORT},
        {"perftest", CONNECT_PERFTEST, TCP_PORT},
        {"cm", CONNECT_CM, CM_PORT},
        {"rocereplay", CONNECT_NATIVE, TCP_PORT},
    };
    static const char wanted[] =
        "HOW:HOST[:PORT]; HOW is pingpong, perftest, cm or rocereplay, an IPv6 HOST stands in []";
    const char *text = opts->connect;
    if (text == NULL)
        return 0;
    const size_t len = strcspn(text, ":");
    for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++)
        if (strlen(ways[i].word) == len && memcmp(ways[i].word, text, len) == 0) {
            opts->how = ways[i].how;
            opts->port = ways[i].port;
        }
    if (opts->how == CONNECT_CM && opts->app != APP_LOAD)
        opts->port = app_port(opts->app);
    if (opts->how == CONNECT_NONE || text[len] != ':')
        return bad("connect", opts->connect, wanted);
    const char *host = text + len + 1;
    size_t n = strcspn(host, ":");
    const char *behind = host + n;
    if (host[0] == '[') {
        host++;
        n = strcspn(host, "]");
        behind = host[n] == ']' ? host + n + 1 : "]";
    }
    uint64_t port = opts->port;
    if (host[-1] != '[' && strchr(host, ':') != strrchr(host, ':')) {
        msg_print("--connect: an IPv6 address stands in brackets: %.*s:[%s]", (int)len, text, host);
        return OPT_EXIT_USAGE;
    }
    if (n == 0 || n >= sizeof(opts->host) || (*behind != '\0' && *behind != ':'))
        return bad("connect", opts->connect, wanted);
    if (*behind == ':' && (number("connect", behind + 1, 65535, &port) != 0 || port == 0))
        return OPT_EXIT_USAGE;
    memcpy(opts->host, host, n);
    opts->host[n] = '\0';
    opts->port = (uint16_t)port;
    return 0;
}

/* Reads numbers divided by commas; |*n| 0: there are none. */
static int numbers(const char *option, const char *text, uint64_t max, uint64_t list[HAND_MAX],
                   uint32_t *n)
{
    *n = 0;
    for (const char *at = text; at != NULL; at = strchr(at, ',')) {
        char word[32];
        at += *at == ',';
        const size_t len = strcspn(at, ",");
        if (*n == HAND_MAX || len >= sizeof(word))
            return bad(option, text, "a list of at most 64 numbers");
        memcpy(word, at, len);
        word[len] = '\0';
        if (number(option, word, max, &list[(*n)++]) != 0)
            return OPT_EXIT_USAGE;
    }
    return 0;
}

static int parse_hand(struct replay_opts *opts)
{
    enum { QPN, PSN, RKEY, VA, LISTS };
    static const char *const names[LISTS] = {"qpn", "psn", "rkey", "va"};
    static const uint64_t most[LISTS] = {ROCE_PSN_MASK, ROCE_PSN_MASK, UINT32_MAX, UINT64_MAX};
    const char *const texts[LISTS] = {opts->qpn, opts->psn, opts->rkey, opts->va};
    uint64_t list[LISTS][HAND_MAX] = {{0}};
    uint32_t n[LISTS];
    for (int i = 0; i < LISTS; i++) {
        if (numbers(names[i], texts[i], most[i], list[i], &n[i]) != 0)
            return OPT_EXIT_USAGE;
        if (i != QPN && n[QPN] != 0 && n[i] > n[QPN])
            return bad(names[i], texts[i], "a number for each of --qpn");
    }
    opts->hand.n = n[QPN];
    for (uint32_t k = 0; k < HAND_MAX; k++) {
        uint64_t value[LISTS];
        for (int i = 0; i < LISTS; i++)
            value[i] = n[i] == 0 ? 0 : list[i][k < n[i] ? k : n[i] - 1];
        opts->hand.qp[k].qpn = (uint32_t)value[QPN];
        opts->hand.qp[k].psn = (uint32_t)value[PSN];
        opts->hand.qp[k].rkey = (uint32_t)value[RKEY];
        opts->hand.qp[k].va = value[VA];
    }
    opts->peer_qpn = opts->hand.qp[0].qpn;
    opts->peer_psn = opts->hand.qp[0].psn;
    opts->peer_rkey = opts->hand.qp[0].rkey;
    opts->peer_va = opts->hand.qp[0].va;
    return 0;
}

static int parse_by_hand(struct replay_opts *opts)
{
    opts->by_hand = opts->qpn != NULL || opts->psn != NULL || opts->peer_ip != NULL ||
                    opts->rkey != NULL || opts->va != NULL;
    opts->has_own_psn = opts->own_psn != NULL;
    if (parse_hand(opts) != 0 ||
        number32("own-qpn", opts->own_qpn, ROCE_PSN_MASK - 1, &opts->own_qpn_value) != 0 ||
        number32("own-psn", opts->own_psn, ROCE_PSN_MASK, &opts->own_psn_value) != 0 ||
        address("peer-ip", opts->peer_ip, opts->peer_addr) != 0 ||
        address("address", opts->address, opts->own_addr) != 0)
        return OPT_EXIT_USAGE;
    if (!opts->by_hand)
        return 0;
    if (opts->interface == NULL || opts->peer_ip == NULL || opts->qpn == NULL) {
        msg_print("a peer by hand needs -i, --peer-ip and --qpn, mostly --psn, --rkey, --va, too");
        return OPT_EXIT_USAGE;
    }
    if (opts->qps > 1) {
        msg_print("a peer by hand has as many QPs as --qpn tells of; leave --qp out");
        return OPT_EXIT_USAGE;
    }
    return 0;
}

/* gen measures one. */
static int one_by_hand(const struct replay_opts *opts)
{
    if (opts->hand.n <= 1)
        return 0;
    msg_print("a peer by hand has one QP here; give one --qpn");
    return OPT_EXIT_USAGE;
}

static int parse_shared(struct replay_opts *opts)
{
    opts->has_seed = opts->seed_text != NULL;
    if (opts->qps == 0)
        opts->qps = opts->srq ? SRQ_QPS : 1;
    if (opts->interface == NULL && opts->address != NULL) {
        msg_print("--address is one of an interface; give -i, too");
        return OPT_EXIT_USAGE;
    }
    if (parse_mtu(opts) != 0 || parse_vlan(opts) != 0 || parse_faults(opts) != 0 ||
        number8("tclass", opts->tclass_text, 255, &opts->tclass) != 0 ||
        number8("timeout", opts->timeout_text, 31, &opts->timeout) != 0 ||
        number8("retry-cnt", opts->retry_text, 7, &opts->retry_cnt) != 0 ||
        number8("rnr-retry", opts->rnr_retry_text, 7, &opts->rnr_retry) != 0 ||
        number8("min-rnr-timer", opts->min_rnr_text, 31, &opts->min_rnr_timer) != 0 ||
        number("seed", opts->seed_text, UINT64_MAX, &opts->seed) != 0 ||
        limit("ttl", opts->ttl, 255) != 0 || limit("sport", opts->sport, 65535) != 0 ||
        limit("rd-atomic", opts->rd_atomic, 128) != 0 || limit("qp", opts->qps, QPS_MAX) != 0)
        return OPT_EXIT_USAGE;
    return parse_by_hand(opts);
}

static int check_cm(struct replay_opts *opts, bool cm)
{
    if (cm && opts->app == APP_UDADDY)
        opts->service = ENG_UD;
    else if (cm && opts->service == ENG_UD) {
        msg_print("--service: over cm it is rc or uc; ud is --app udaddy");
        return OPT_EXIT_USAGE;
    }
    return 0;
}

static int check_perftest_cm(const struct replay_opts *opts)
{
    const bool by_cm = opts->rdma_cm || opts->com_rdma_cm;
    if (by_cm && opts->how != CONNECT_PERFTEST) {
        msg_print("--rdma-cm, --com-rdma-cm: ways of perftest; give --connect perftest:HOST");
        return OPT_EXIT_USAGE;
    }
    if (opts->rdma_cm && opts->service == ENG_UC) {
        msg_print("--rdma-cm: perftest has no UC over it; give --com-rdma-cm");
        return OPT_EXIT_USAGE;
    }
    if (opts->rdma_cm && opts->service == ENG_UD && (opts->latency || opts->bidirectional)) {
        msg_print("--rdma-cm: UD goes one way only; give --com-rdma-cm");
        return OPT_EXIT_USAGE;
    }
    return 0;
}

/* perftest's programs agree on such things by their command lines alone. */
static int check_perftest(struct replay_opts *opts, bool perftest)
{
    enum { ALL_SIZES_MAX = 1 << 23 };
    if (!opts->all_sizes)
        return 0;
    if (!perftest) {
        msg_print("--all: a way of perftest; choose it by --connect or --accept");
        return OPT_EXIT_USAGE;
    }
    if (opts->latency || opts->duration != NULL || opts->verify || opts->inline_data ||
        opts->size != SIZE_NOT_GIVEN) {
        msg_print("--all: leave --latency, --duration, --verify, --inline and --size out");
        return OPT_EXIT_USAGE;
    }
    opts->size = opts->service == ENG_UD ? SIZE_NOT_GIVEN : ALL_SIZES_MAX;
    return 0;
}

static int check_srq(const struct replay_opts *opts, bool pingpong)
{
    enum { SRQ_QPS_MAX = 256 };
    if (!opts->srq)
        return 0;
    if (!pingpong || opts->service != ENG_RC) {
        msg_print("--srq: a way of pingpong over rc; choose it by --connect or --accept");
        return OPT_EXIT_USAGE;
    }
    if (opts->verify) {
        msg_print("--srq: the QPs of ibv_srq_pingpong share one buffer; leave --verify out");
        return OPT_EXIT_USAGE;
    }
    return limit("qp", opts->qps, SRQ_QPS_MAX);
}

static int no_words(const char *program, char **argv, int words)
{
    if (words <= 0)
        return words;
    msg_print("'%s' is not an option; see %s --help", argv[1], program);
    return OPT_EXIT_USAGE;
}

static struct replay_opts defaults(void)
{
    return (struct replay_opts){
        .op = OP_WRITE,
        .accept = ACCEPT_NATIVE,
        .mtu = MTU_DEFAULT,
        .ttl = 64,
        .rd_atomic = 16,
        .timeout = 14,
        .retry_cnt = 7,
        .rnr_retry = 7,
        .min_rnr_timer = 12,
        .size = SIZE_NOT_GIVEN,
        .tx_depth = 128,
        .rx_depth = 512,
    };
}

/* What the programs that we talk to take when they are not told. */
static void settle_defaults(struct replay_opts *opts, bool pingpong, bool perftest, bool write)
{
    uint32_t size = 65536;
    uint64_t iters = 1000;
    if (pingpong)
        size = opts->service == ENG_UD ? 2048 : 4096;
    else if (opts->app == APP_RPING)
        size = 64;
    else if (opts->app == APP_ECHO || opts->app == APP_UDADDY)
        size = 100;
    else if (perftest && opts->latency)
        size = 2;
    else if (perftest && write)
        iters = 5000;
    else if (opts->service == ENG_UD)
        size = opts->mtu != 0 ? (uint32_t)opts->mtu : 4096;
    if (opts->app == APP_ECHO || opts->app == APP_UDADDY)
        iters = 10;
    if (opts->size == SIZE_NOT_GIVEN)
        opts->size = size;
    if (opts->iters == 0)
        opts->iters = iters;
}

/* Atomics carry eight bytes, the others any number. */
static int settle_op(struct replay_opts *opts)
{
    opts->wr_op = ops[opts->op].op;
    opts->op_name = ops[opts->op].name;
    if (opts->wr_op == ENG_WR_CMP_SWAP || opts->wr_op == ENG_WR_FETCH_ADD ||
        opts->wr_op == ENG_WR_ATOMIC_WRITE)
        opts->size = 8;
    if (opts->service != ENG_RC && opts->wr_op != ENG_WR_SEND && opts->wr_op != ENG_WR_SEND_IMM &&
        (opts->service == ENG_UD ||
         (opts->wr_op != ENG_WR_WRITE && opts->wr_op != ENG_WR_WRITE_IMM))) {
        msg_print("--op: %s cannot do this; UC does send and write, UD does send",
                  opts->service == ENG_UC ? "UC" : "UD");
        return OPT_EXIT_USAGE;
    }
    if (opts->service == ENG_UD && opts->size > opts->mtu) {
        msg_print("--size: a UD message is one packet; give at most --mtu, %llu",
                  (unsigned long long)opts->mtu);
        return OPT_EXIT_USAGE;
    }
    if (opts->inline_data && opts->size > ENG_INLINE_MAX) {
        msg_print("--inline: at most %d bytes; give a smaller --size", (int)ENG_INLINE_MAX);
        return OPT_EXIT_USAGE;
    }
    return 0;
}

static int settle_gen(struct replay_opts *opts)
{
    if (opts->connect != NULL && opts->by_hand) {
        msg_print("--connect finds the peer; leave --qpn, --psn, --rkey, --va, --peer-ip out");
        return OPT_EXIT_USAGE;
    }
    if (opts->connect != NULL && opts->interface == NULL) {
        msg_print("--connect needs an interface; give -i, too");
        return OPT_EXIT_USAGE;
    }
    if (opts->interface != NULL && opts->connect == NULL && !opts->by_hand) {
        msg_print("no peer on %s; give --connect HOW:HOST, or --peer-ip and --qpn",
                  opts->interface);
        return OPT_EXIT_USAGE;
    }
    if (opts->duration != NULL && units_parse_duration(opts->duration, &opts->duration_ns) != 0)
        return bad("duration", opts->duration, "a time; give a number with its unit, as 10s");
    if (check_cm(opts, opts->how == CONNECT_CM) != 0 || check_perftest_cm(opts) != 0 ||
        check_perftest(opts, opts->how == CONNECT_PERFTEST) != 0 ||
        check_srq(opts, opts->how == CONNECT_PINGPONG) != 0)
        return OPT_EXIT_USAGE;
    if (opts->latency)
        opts->tx_depth = 1;
    if (opts->how == CONNECT_PINGPONG || (opts->how == CONNECT_CM && opts->app != APP_LOAD))
        opts->op = 0; /* these send whatever --op says */
    settle_defaults(opts, opts->how == CONNECT_PINGPONG, opts->how == CONNECT_PERFTEST,
                    opts->op == OP_WRITE);
    return settle_op(opts);
}

int gen_opts_parse(struct replay_opts *opts, int argc, char **argv)
{
    *opts = defaults();
    int rc = no_words("rocereplay gen", argv, opt_parse(&gen_program, argc, argv, opts));
    if (rc == 0)
        rc = parse_connect(opts);
    if (rc == 0)
        rc = limit("tx-depth", opts->tx_depth, DEPTH_MAX);
    if (rc == 0)
        rc = parse_shared(opts);
    if (rc == 0)
        rc = one_by_hand(opts);
    return rc == 0 ? settle_gen(opts) : rc;
}

int serve_opts_parse(struct replay_opts *opts, int argc, char **argv)
{
    *opts = defaults();
    opts->mtu = 0; /* peers that tell theirs may have what the interface carries */
    int rc = no_words("rocereplay serve", argv, opt_parse(&serve_program, argc, argv, opts));
    if (rc == 0)
        rc = limit("rx-depth", opts->rx_depth, DEPTH_MAX);
    if (rc == 0)
        rc = limit("listen-port", opts->listen_port, 65535);
    if (rc == 0)
        rc = parse_shared(opts);
    if (rc != 0)
        return rc;
    if (opts->by_hand)
        opts->qps = opts->hand.n;
    if (opts->interface == NULL) {
        msg_print("no interface; give -i IFACE");
        return OPT_EXIT_USAGE;
    }
    if (opts->mtu == 0 && (opts->by_hand || opts->accept == ACCEPT_PINGPONG))
        opts->mtu = MTU_DEFAULT;
    if (check_cm(opts, opts->accept == ACCEPT_CM) != 0 ||
        check_perftest(opts, opts->accept == ACCEPT_PERFTEST) != 0 ||
        check_srq(opts, opts->accept == ACCEPT_PINGPONG) != 0)
        return OPT_EXIT_USAGE;
    settle_defaults(opts, opts->accept == ACCEPT_PINGPONG, opts->accept == ACCEPT_PERFTEST,
                    opts->tool == TOOL_WRITE);
    opts->port = (uint16_t)opts->listen_port;
    if (opts->port == 0 && opts->accept == ACCEPT_CM && opts->app != APP_LOAD)
        opts->port = app_port(opts->app);
    if (opts->port == 0)
        opts->port = TCP_PORT;
    return 0;
}

void replay_opts_default(struct replay_opts *opts)
{
    *opts = defaults();
    opts->mtu = 0; /* peers that tell theirs may have what the interface carries */
}

int replay_opts_settle(struct replay_opts *opts)
{
    const int rc = parse_connect(opts);
    opts->wr_op = ops[opts->op].op;
    opts->op_name = ops[opts->op].name;
    settle_defaults(opts, opts->how == CONNECT_PINGPONG, opts->how == CONNECT_PERFTEST, false);
    return rc == 0 ? parse_shared(opts) : rc;
}
