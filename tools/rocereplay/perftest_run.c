/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Both sides of perftest's programs, as version 6.06 (Debian 12) and its neighbours run them. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/msg.h"
#include "rocereplay/perftest.h"
#include "rocereplay/perftest_lat.h"
#include "rocereplay/perftest_link.h"
#include "rocereplay/plan.h"
#include "rocereplay/result.h"

enum {
    CYCLE_BUFFER = 4096, /* the programs walk through so much memory with small messages */
    CACHE_LINE = 64,
    SIZE_MAX_LOG2 = 23, /* of all sizes, from 2 bytes on */
};

/* What each tool exchanges, in order: V version, B cycle buffer, C cache line, M path MTU, K one
 * key record, Q one for each QP, U QPs go up, r the run, R report, E the peer ends. */
static const struct {
    enum replay_tool tool;
    bool latency;
    const char *name, *steps;
} tools[] = {
    {TOOL_SEND, false, "ib_send_bw", "VBCMQUKQKrK"},
    {TOOL_WRITE, false, "ib_write_bw", "VBCMQUQKrKRK"},
    {TOOL_READ, false, "ib_read_bw", "VBCMQUQKrKRK"},
    {TOOL_ATOMIC, false, "ib_atomic_bw", "VBCMQUQKrKRK"},
    {TOOL_SEND, true, "ib_send_lat", "VBCMQUKQKrK"},
    {TOOL_WRITE, true, "ib_write_lat", "VBCMKQUQKrE"},
    {TOOL_READ, true, "ib_read_lat", "VBCMKQUQKrK"},
    {TOOL_ATOMIC, true, "ib_atomic_lat", "VBCMKQUQKrK"},
};
enum { TOOLS = sizeof(tools) / sizeof(tools[0]) };

struct perftest_run {
    struct station *st;
    struct perftest_link *link;
    bool client, latency;
    bool joined; /* -R: the connection manager has connected the lanes */
    enum replay_tool tool;
    const char *name, *steps;
    char peer_text[320];
    uint16_t mtu;
    struct plan plan;
    struct end end;
    struct remote *peers;
    bool up, ran;
    struct load_result result;
    struct result_count before; /* when this size began */
};

/* The client writes first; a server waits for its client as long as the run takes. */
static int swap(struct perftest_run *r, const void *own, void *peer, size_t len, const char *what)
{
    if (r->client && perftest_link_write(r->link, own, len, what) != 0)
        return -1;
    if (perftest_link_read(r->link, peer, len, !r->client && r->ran, what) != 0)
        return -1;
    return r->client ? 0 : perftest_link_write(r->link, own, len, what);
}

static int swap_number(struct perftest_run *r, uint32_t own, const char *what)
{
    const uint8_t item[4] = {(uint8_t)(own >> 24), (uint8_t)(own >> 16), (uint8_t)(own >> 8),
                             (uint8_t)own};
    uint8_t peer[4];
    return swap(r, item, peer, sizeof(item), what);
}

static int swap_version(struct perftest_run *r)
{
    /* From 6.28 on a structure follows that depends on the host and its device. */
    const char own[PERFTEST_VERSION_LEN] = "6.06";
    char peer[PERFTEST_VERSION_LEN];
    return swap(r, own, peer, sizeof(own), "the version");
}

static int swap_mtu(struct perftest_run *r)
{
    char own[PERFTEST_MTU_LEN], peer[PERFTEST_MTU_LEN];
    uint16_t mtu;
    perftest_encode_mtu((uint16_t)r->st->opts->mtu, own);
    if (swap(r, own, peer, sizeof(own), "the path MTU") != 0)
        return -1;
    if (perftest_decode_mtu(peer, &mtu) != 0) {
        msg_print("the peer's path MTU is not perftest's; is it %s?", r->name);
        return -1;
    }
    r->mtu = mtu < r->st->opts->mtu ? mtu : (uint16_t)r->st->opts->mtu;
    return 0;
}

static int swap_record(struct perftest_run *r, const struct remote *own, struct remote *peer)
{
    if (perftest_link_by_cm(r->link)) {
        uint8_t record[PERFTEST_KEY_CM_LEN], got[PERFTEST_KEY_CM_LEN];
        perftest_encode_key_cm(own, record);
        if (swap(r, record, got, sizeof(got), "a key record") != 0)
            return -1;
        perftest_decode_key_cm(got, peer);
        return 0;
    }
    char record[PERFTEST_KEY_LEN], got[PERFTEST_KEY_LEN];
    perftest_encode_key(own, record);
    if (swap(r, record, got, sizeof(got), "a key record") != 0)
        return -1;
    if (perftest_decode_key(got, peer) == 0)
        return 0;
    msg_print("the peer's key record is not perftest's; is it %s -x INDEX?", r->name);
    return -1;
}

/* -R: the lanes are connected by the manager, between two records that say nothing yet. */
static int connect_lanes(struct perftest_run *r)
{
    const struct remote nothing = {0};
    struct remote peer;
    r->joined = true;
    if (r->client && swap_record(r, &nothing, &peer) != 0)
        return -1;
    if (perftest_cm_join(&r->link->cm, r->end.lanes, r->plan.n) != 0)
        return -1;
    return swap_record(r, &nothing, &peer);
}

static struct remote own_key(const struct perftest_run *r, uint32_t i)
{
    const struct lane *lane = &r->end.lanes[i];
    struct remote own = {
        .qpn = lane->qpn,
        .psn = lane->psn,
        .rkey = lane_rkey(lane),
        .va = lane->target_va,
        .rd_atomic = (uint8_t)r->st->opts->rd_atomic,
    };
    memcpy(own.ip, r->st->ip, sizeof(own.ip));
    return own;
}

static int swap_key(struct perftest_run *r, uint32_t i)
{
    const struct remote own = own_key(r, i);
    struct remote peer;
    if (swap_record(r, &own, &peer) != 0)
        return -1;
    if (!r->client && !r->joined && perftest_link_by_cm(r->link) && peer.qpn == 0) {
        if (connect_lanes(r) != 0 || swap_record(r, &own, &peer) != 0)
            return -1;
    }
    if (!r->up) { /* later records are a barrier only */
        r->peers[i] = peer;
        r->peers[i].mtu = r->mtu;
    }
    return 0;
}

static int swap_keys(struct perftest_run *r)
{
    for (uint32_t i = 0; i < r->plan.n; i++)
        if (swap_key(r, i) != 0)
            return -1;
    return 0;
}

static int go_up(struct perftest_run *r)
{
    for (uint32_t i = 0; i < r->plan.n; i++) {
        struct lane *lane = &r->end.lanes[i];
        if (!r->joined && lane_connect(lane, &r->peers[i]) != 0)
            return -1;
        lane->remote.rkey = r->peers[i].rkey;
        lane->remote.va = r->peers[i].va;
        r->mtu = lane->remote.mtu;
    }
    r->up = true;
    return 0;
}

/* The programs count in MB of 2^20 bytes. */
static int swap_report(struct perftest_run *r)
{
    uint8_t own[PERFTEST_REPORT_LEN], peer[PERFTEST_REPORT_LEN];
    const double seconds = (double)(r->result.end - r->result.start) / 1e9;
    struct perftest_report report = {.size = r->plan.load.size, .iters = r->result.messages};
    if (seconds > 0) {
        report.average = (double)r->result.bytes / 0x100000 / seconds;
        report.peak = report.average;
        report.rate = (double)r->result.messages / seconds / 1e6;
    }
    perftest_encode_report(&report, own);
    /* Each figure is an exchange of its own: the client waits for ours before it tells the next. */
    enum { FIGURE = 8 };
    for (int at = 0; at < PERFTEST_REPORT_LEN; at += FIGURE)
        if (swap(r, own + at, peer + at, FIGURE, "the report") != 0)
            return -1;
    return 0;
}

static bool plays(const struct perftest_run *r)
{
    return r->latency && (r->tool == TOOL_SEND || r->tool == TOOL_WRITE);
}

static int run_loads(struct perftest_run *r)
{
    r->ran = true;
    if (plays(r))
        return perftest_lat_play(&r->end, r->tool == TOOL_WRITE, r->client, &r->result);
    if (!r->client && !r->plan.bidirectional)
        return 0; /* passive: the sink answers while we wait for the client */
    const int rc = end_start(&r->end) == 0 ? runner_run(&r->end.runner, NULL) : -1;
    r->result = r->end.load.result;
    return rc;
}

static int print_figures(struct perftest_run *r)
{
    const struct result result = {
        .op = r->client ? r->st->opts->op_name : "serve",
        .peer = r->peer_text,
        .load = &r->result,
        .size = r->plan.load.size,
        .qps = r->plan.n,
        .mtu = r->mtu,
        .service = r->plan.service,
        .received = r->end.sink.messages,
        .lanes = r->end.lanes,
        .before = r->before,
    };
    const int status = result_status(&result);
    return result_print(r->st, &result) == 0 ? status : EXIT_IO;
}

static void choose_size(struct perftest_run *r, uint32_t size)
{
    r->end.runner.load = NULL;
    load_close(&r->end.load);
    r->result = (struct load_result){0};
    r->plan.load.size = r->end.plan.load.size = size;
    r->before = result_count(r->st, r->end.lanes, r->plan.n);
}

/* One run for each power of 2. Those who are passive hear of it only where receives are counted. */
static int run_sizes(struct perftest_run *r)
{
    const bool both = r->plan.bidirectional, meet = both || r->tool == TOOL_SEND;
    const bool ud = r->plan.service == ENG_UD;
    for (uint32_t log2 = 1; log2 <= SIZE_MAX_LOG2; log2++) {
        const uint32_t size = UINT32_C(1) << log2;
        if (ud && size > r->mtu)
            break;
        choose_size(r, size);
        if (log2 > 1 && meet && swap_key(r, 0) != 0)
            return -1;
        if (run_loads(r) != 0)
            return -1;
        if (both && r->tool != TOOL_SEND && swap_key(r, 0) != 0)
            return -1;
        if (both && swap_report(r) != 0)
            return -1;
        if (r->tool == TOOL_SEND && swap_key(r, 0) != 0)
            return -1;
        if ((r->client || both) && print_figures(r) != EXIT_DONE)
            return -1;
    }
    return 0;
}

static int step(struct perftest_run *r, char what)
{
    switch (what) {
    case 'V':
        return swap_version(r);
    case 'B':
        return swap_number(r, CYCLE_BUFFER, "the cycle buffer");
    case 'C':
        return swap_number(r, CACHE_LINE, "the cache line");
    case 'M':
        if (swap_mtu(r) != 0)
            return -1;
        return r->client && r->st->opts->rdma_cm ? connect_lanes(r) : 0;
    case 'K':
        return swap_key(r, 0);
    case 'Q':
        return swap_keys(r);
    case 'U':
        return go_up(r);
    case 'r':
        return r->st->opts->all_sizes ? run_sizes(r) : run_loads(r);
    case 'E': /* its last message may still want an ACK */
        return perftest_link_finish(r->link);
    default:
        return swap_report(r);
    }
}

static void choose_tool(struct perftest_run *r)
{
    for (int i = 0; i < TOOLS; i++) {
        if (tools[i].tool == r->tool && tools[i].latency == r->latency) {
            r->name = tools[i].name;
            r->steps = tools[i].steps;
        }
    }
}

static int prepare(struct perftest_run *r, struct perftest_link *link, enum replay_tool tool)
{
    struct station *st = link->st;
    const struct replay_opts *opts = st->opts;
    const bool client = link->client;
    *r = (struct perftest_run){
        .st = st, .link = link, .client = client, .tool = tool, .latency = opts->latency};
    choose_tool(r);
    (void)snprintf(r->peer_text, sizeof(r->peer_text), "%s%s%s", r->name, client ? " at " : "",
                   client ? opts->host : "");
    if (tool == TOOL_SEND && !opts->latency && opts->bidirectional)
        r->steps = "VBCMQUKQKrRK"; /* only then do both sides of ib_send_bw have figures */
    if (opts->all_sizes && opts->bidirectional)
        r->steps = "VBCMQUKQKrK"; /* they are told after each size */
    r->plan = plan_of(opts);
    if (!client && opts->bidirectional) {
        static const enum eng_wr_op ops[] = {ENG_WR_SEND, ENG_WR_WRITE, ENG_WR_READ,
                                             ENG_WR_FETCH_ADD};
        r->plan.load.op = ops[tool];
        if (tool == TOOL_ATOMIC)
            r->plan.load.size = 8;
    } else if (!client) {
        static const enum eng_wr_op ops[] = {ENG_WR_SEND, ENG_WR_WRITE, ENG_WR_WRITE, ENG_WR_WRITE};
        r->plan.load.op = ops[tool];
        r->plan.load.depth = r->plan.load.places = 1;
    }
    if (plays(r)) {
        r->plan.bidirectional = true;
        r->plan.load.depth = r->plan.load.places = 1;
    }
    r->plan.target_min = CYCLE_BUFFER + CACHE_LINE;
    if (r->plan.target_min < r->plan.load.size)
        r->plan.target_min = r->plan.load.size;
    r->peers = calloc(r->plan.n, sizeof(*r->peers));
    if (r->peers == NULL) {
        msg_print("out of memory");
        return -1;
    }
    if (plan_single(&r->plan) != 0 || end_open(&r->end, st, &r->plan, client) != 0)
        return -1;
    r->end.runner.st = st; /* the sink works from now on, the load from the run on */
    runner_attach(&r->end.runner);
    return 0;
}

static int go(struct perftest_run *r)
{
    for (const char *s = r->steps; *s != '\0'; s++) {
        if (step(r, *s) != 0)
            return -1;
        if (r->result.status != ENG_WC_SUCCESS) /* the peer can only wait in vain */
            return 0;
    }
    return 0;
}

static int finish(struct perftest_run *r, int rc)
{
    struct station *st = r->st;
    const bool failed = !r->client && r->end.sink.status != ENG_WC_SUCCESS;
    if (failed)
        msg_print("a receive failed: %s",
                  eng_wc_status_text((enum eng_wc_status)r->end.sink.status));
    const bool figures = r->client || plays(r) || r->plan.bidirectional;
    int status = rc != 0 || failed ? EXIT_IO : EXIT_DONE;
    if (status == EXIT_DONE && figures && !st->opts->all_sizes)
        status = print_figures(r);
    if (status == EXIT_DONE && !figures && !st->opts->quiet)
        msg_print("%s: done, %" PRIu64 " messages received", r->name, r->end.sink.messages);
    perftest_link_close(r->link);
    end_close(&r->end);
    free(r->peers);
    return status;
}

enum replay_tool perftest_tool_of(enum eng_wr_op op)
{
    if (op == ENG_WR_CMP_SWAP || op == ENG_WR_FETCH_ADD)
        return TOOL_ATOMIC;
    if (op == ENG_WR_READ)
        return TOOL_READ;
    return op == ENG_WR_WRITE ? TOOL_WRITE : TOOL_SEND;
}

int perftest_client(struct station *st, const uint8_t ip[16])
{
    struct perftest_link link;
    struct perftest_run r;
    if (perftest_link_connect(&link, st, ip) != 0) {
        perftest_link_close(&link);
        return EXIT_IO;
    }
    int rc = prepare(&r, &link, perftest_tool_of(st->opts->wr_op));
    if (rc == 0)
        rc = go(&r);
    return finish(&r, rc);
}

int perftest_serve(struct station *st, struct perftest_link *link)
{
    struct perftest_run r;
    int rc = prepare(&r, link, (enum replay_tool)st->opts->tool);
    if (rc == 0)
        rc = go(&r);
    return finish(&r, rc);
}

struct perftest_run *perftest_run_new(struct station *st, struct lane *lanes, uint32_t n,
                                      enum replay_tool tool)
{
    struct perftest_run *r = calloc(1, sizeof(*r));
    struct perftest_link *link = calloc(1, sizeof(*link));
    struct remote *peers = calloc(n, sizeof(*peers));
    if (r == NULL || link == NULL || peers == NULL) {
        msg_print("out of memory");
        free(r);
        free(link);
        free(peers);
        return NULL;
    }
    link->fd = -1;
    *r =
        (struct perftest_run){.st = st, .link = link, .client = true, .tool = tool, .peers = peers};
    r->plan.n = n;
    r->end.lanes = lanes;
    choose_tool(r);
    return r;
}

int perftest_run_meet(struct perftest_run *r, const uint8_t ip[16])
{
    if (perftest_link_connect(r->link, r->st, ip) != 0)
        return -1;
    for (; *r->steps != 'r'; r->steps++)
        if (step(r, *r->steps) != 0)
            return -1;
    r->steps++;
    return 0;
}

int perftest_run_part(struct perftest_run *r, const struct load_result *load)
{
    r->ran = true;
    r->result = *load;
    for (; *r->steps != '\0'; r->steps++)
        if (step(r, *r->steps) != 0)
            return -1;
    return 0;
}

void perftest_run_del(struct perftest_run *r)
{
    if (r == NULL)
        return;
    perftest_link_close(r->link);
    free(r->link);
    free(r->peers);
    free(r);
}
