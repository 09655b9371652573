/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Loads. */
#include "rocereplay/load.h"

#include <roce/err.h>
#include <stdlib.h>
#include <string.h>

#include "common/msg.h"
#include "rocereplay/pattern.h"

enum { BATCH = 32, SCAN = 64, WINDOW_NS = 10000000, ATOMIC_LEN = 8 };
#define MEMORY_MAX UINT64_C(67108864) /* that a lane's checked messages may take */

/* Bits of wr_id, beside lane << 32 | place. */
#define ID_READ_BACK UINT64_C(0x80000000) /* the READ that fetches what was written */
#define ID_BASE      UINT64_C(0x40000000) /* the READ of an atomic's first value */
#define ID_PLACE     UINT64_C(0x3FFFFFFF)

static bool is_atomic(enum eng_wr_op op)
{
    return op == ENG_WR_CMP_SWAP || op == ENG_WR_FETCH_ADD;
}

/* WRITEs are checked by reading back what they wrote. */
static bool reads_back(const struct load_cfg *cfg)
{
    return cfg->verify && (cfg->op == ENG_WR_WRITE || cfg->op == ENG_WR_WRITE_IMM ||
                           cfg->op == ENG_WR_ATOMIC_WRITE);
}

void load_memory(struct load_cfg *cfg, uint64_t *local, uint64_t *target)
{
    const uint64_t size = cfg->size != 0 ? cfg->size : 1;
    if (cfg->verify && cfg->depth * size > MEMORY_MAX)
        cfg->depth = size > MEMORY_MAX ? 1 : (uint32_t)(MEMORY_MAX / size);
    cfg->places = cfg->verify && !is_atomic(cfg->op) ? cfg->depth : 1;
    *target = cfg->places * size;
    /* Behind the places for sending, those for what is read back; atomics answer to one each. */
    if (is_atomic(cfg->op))
        *local = (uint64_t)(cfg->depth + 1) * ATOMIC_LEN;
    else
        *local = cfg->places * size * (reads_back(cfg) ? 2 : 1);
}

uint32_t load_send_depth(const struct load_cfg *cfg)
{
    return cfg->depth * (reads_back(cfg) ? 2 : 1) + 1;
}

int load_open(struct load *load, struct station *st, struct lane *lanes, uint32_t n,
              const struct load_cfg *cfg)
{
    *load = (struct load){.cfg = *cfg, .st = st, .lanes = lanes, .n = n};
    load->part = calloc(n, sizeof(*load->part));
    bool ok = load->part != NULL;
    for (uint32_t i = 0; ok && i < n; i++) {
        load->part[i].posted_at = calloc(cfg->depth, sizeof(roce_tstamp));
        ok = load->part[i].posted_at != NULL;
    }
    if (ok)
        return 0;
    msg_print("out of memory; give a smaller --tx-depth or --qp");
    return -1;
}

void load_close(struct load *load)
{
    for (uint32_t i = 0; load->part != NULL && i < load->n; i++)
        free(load->part[i].posted_at);
    free(load->part);
    *load = (struct load){0};
}

static void fail(struct load *load, int status, uint32_t qpn)
{
    if (load->result.status != ENG_WC_SUCCESS && status == ENG_WC_WR_FLUSH_ERR)
        return;
    if (!load->failed || load->result.status == ENG_WC_WR_FLUSH_ERR) {
        load->result.status = status;
        load->result.failed_qpn = qpn;
    }
    load->failed = true;
}

static void count(struct load *load, uint32_t i, uint64_t place, const struct eng_wc *wc)
{
    struct load_lane *part = &load->part[i];
    struct load_result *r = &load->result;
    part->done++;
    r->messages++;
    r->bytes += load->cfg.size;
    r->end = wc->now;
    const uint64_t latency = wc->now - part->posted_at[place];
    roce_hist_add(&r->latency, latency);
    r->latency_sum += (double)latency;
    r->latency_squares += (double)latency * (double)latency;
    load->window_bytes += load->cfg.size;
    if (wc->now - load->window_start >= WINDOW_NS) {
        const double bps =
            (double)load->window_bytes * 8e9 / (double)(wc->now - load->window_start);
        r->peak_bps = bps > r->peak_bps ? bps : r->peak_bps;
        load->window_start = wc->now;
        load->window_bytes = 0;
    }
}

static uint64_t host64(const uint8_t *p)
{
    uint64_t v;
    memcpy(&v, p, sizeof(v)); /* atomics answer in host order */
    return v;
}

static void check(struct load *load, uint32_t i, uint64_t place)
{
    const struct load_cfg *cfg = &load->cfg;
    const struct lane *lane = &load->lanes[i];
    struct load_lane *part = &load->part[i];
    const uint64_t number = part->done;
    bool ok = true;
    if (is_atomic(cfg->op))
        ok = host64(lane->local + place * ATOMIC_LEN) == part->base + number;
    else if (cfg->op == ENG_WR_READ)
        ok = pattern_matches(lane->local + place * cfg->size, cfg->size, PATTERN_TARGET,
                             place * cfg->size);
    else if (reads_back(cfg))
        ok = pattern_matches(lane->local + (cfg->places + place) * cfg->size, cfg->size, number, 0);
    if (!ok)
        load->result.mismatches++;
}

static void complete(struct load *load, const struct eng_wc *wc)
{
    const uint32_t i = (uint32_t)(wc->wr_id >> 32);
    const uint64_t place = wc->wr_id & ID_PLACE;
    if (wc->status != ENG_WC_SUCCESS) {
        fail(load, wc->status, wc->qpn);
        return;
    }
    if ((wc->wr_id & ID_BASE) != 0) {
        load->part[i].base = host64(load->lanes[i].local + (uint64_t)load->cfg.depth * ATOMIC_LEN);
        load->part[i].based = true;
        return;
    }
    if (reads_back(&load->cfg) && (wc->wr_id & ID_READ_BACK) == 0)
        return; /* its READ follows */
    if (load->cfg.verify)
        check(load, i, place);
    count(load, i, place, wc);
}

static struct eng_send_wr request(const struct load *load, uint32_t i, uint64_t number,
                                  uint64_t place)
{
    const struct load_cfg *cfg = &load->cfg;
    const struct lane *lane = &load->lanes[i];
    const uint64_t at = place % cfg->places * cfg->size;
    struct eng_send_wr wr = {
        .wr_id = (uint64_t)i << 32 | place,
        .op = cfg->op,
        .signaled = true,
        .n_sge = cfg->size != 0,
        .sge = {lane_local(lane, at, cfg->size)},
        .imm = (uint32_t)number,
        .remote_va = lane->remote.va + at,
        .rkey = lane->remote.rkey,
        .ah = lane->ah,
        .dest_qpn = lane->remote.qpn,
        .qkey = lane->remote.qkey,
    };
    if (is_atomic(cfg->op)) {
        wr.remote_va = lane->remote.va;
        wr.sge[0] = lane_local(lane, place * ATOMIC_LEN, ATOMIC_LEN);
        wr.compare_add = cfg->op == ENG_WR_FETCH_ADD ? 1 : load->part[i].base + number;
        wr.swap = load->part[i].base + number + 1;
    }
    if (cfg->op == ENG_WR_ATOMIC_WRITE)
        memcpy(&wr.atomic_write, lane->local + at, sizeof(wr.atomic_write));
    if (cfg->op == ENG_WR_FLUSH) {
        wr.n_sge = 0;
        wr.flush_length = cfg->size;
        wr.flush_type = 1; /* global visibility */
    }
    if (cfg->inline_data) {
        wr.inline_data = lane->local + at;
        wr.inline_len = cfg->size;
    }
    return wr;
}

static int ask_base(struct load *load, uint32_t i, roce_tstamp now)
{
    const struct lane *lane = &load->lanes[i];
    const struct eng_send_wr wr = {
        .wr_id = (uint64_t)i << 32 | ID_BASE,
        .op = ENG_WR_READ,
        .signaled = true,
        .n_sge = 1,
        .sge = {lane_local(lane, (uint64_t)load->cfg.depth * ATOMIC_LEN, ATOMIC_LEN)},
        .remote_va = lane->remote.va,
        .rkey = lane->remote.rkey,
    };
    return eng_post_send(lane->qp, now, &wr);
}

static int post(struct load *load, uint32_t i, roce_tstamp now)
{
    const struct load_cfg *cfg = &load->cfg;
    const struct lane *lane = &load->lanes[i];
    struct load_lane *part = &load->part[i];
    const uint64_t number = part->posted, place = number % cfg->depth;
    if (cfg->verify && !is_atomic(cfg->op) && cfg->op != ENG_WR_READ)
        pattern_fill(lane->local + place * cfg->size, cfg->size, number, 0);
    const struct eng_send_wr wr = request(load, i, number, place);
    int rc = eng_post_send(lane->qp, now, &wr);
    if (rc == 0 && reads_back(cfg)) {
        struct eng_send_wr back = wr;
        back.wr_id |= ID_READ_BACK;
        back.op = ENG_WR_READ;
        back.inline_data = NULL;
        back.n_sge = cfg->size != 0;
        back.sge[0] = lane_local(lane, (cfg->places + place) * cfg->size, cfg->size);
        rc = eng_post_send(lane->qp, now, &back);
    }
    if (rc != 0)
        return rc;
    part->posted_at[place] = now;
    part->posted++;
    load->posted++;
    return 0;
}

static bool wants_more(const struct load *load, const struct load_lane *part, roce_tstamp now)
{
    const struct load_cfg *cfg = &load->cfg;
    if (load->stopped || part->posted - part->done >= cfg->depth)
        return false;
    if (cfg->duration_ns != 0)
        return now - load->result.start < cfg->duration_ns;
    return part->posted < cfg->iters;
}

/* Bits that one burst takes, and the time it takes at the rate. */
static uint64_t burst_ns(const struct load *load)
{
    const double bits = (double)load->cfg.burst * (load->cfg.size != 0 ? load->cfg.size : 1) * 8;
    return (uint64_t)(bits * 1e9 / (double)load->cfg.rate_bps);
}

static bool rate_allows(struct load *load, roce_tstamp now)
{
    if (load->cfg.rate_bps == 0 || load->cfg.burst == 0)
        return true;
    const uint64_t bursts = (now - load->result.start) / (burst_ns(load) + 1) + 1;
    return load->posted < bursts * load->cfg.burst;
}

static int post_lane(struct load *load, uint32_t i, roce_tstamp now)
{
    struct load_lane *part = &load->part[i];
    int n = 0;
    if (load->cfg.verify && is_atomic(load->cfg.op) && !part->based) {
        if (!part->asked)
            part->asked = ask_base(load, i, now) == 0;
        return 0;
    }
    while (n < BATCH && wants_more(load, part, now) && rate_allows(load, now)) {
        const int rc = post(load, i, now);
        if (rc == ROCE_ERR_FULL)
            break;
        if (rc != 0) {
            fail(load, ENG_WC_LOC_QP_OP_ERR, load->lanes[i].qpn);
            break;
        }
        n++;
    }
    return n;
}

int load_step(struct load *load, roce_tstamp now)
{
    struct eng_wc wc[BATCH];
    int all = 0, n;
    if (load->result.start == 0)
        load->result.start = load->window_start = now;
    while ((n = eng_cq_poll(load->st->send_cq, wc, BATCH)) > 0) {
        for (int i = 0; i < n; i++)
            complete(load, &wc[i]);
        for (int i = 0; i < n && !load->failed; i++)
            all += post_lane(load, (uint32_t)(wc[i].wr_id >> 32), now);
        all += n;
    }
    if (n < 0)
        fail(load, ENG_WC_GENERAL_ERR, 0);
    /* Lanes that wait for the rate, or for their first message; not all of many thousands. */
    for (uint32_t k = 0; k < load->n && k < SCAN && !load->failed; k++) {
        all += post_lane(load, load->turn, now);
        load->turn = (load->turn + 1) % load->n;
    }
    return all;
}

roce_tstamp load_next(const struct load *load)
{
    const struct load_cfg *cfg = &load->cfg;
    roce_tstamp next = ENG_NEVER;
    if (load->stopped || load->result.start == 0)
        return next;
    if (cfg->duration_ns != 0)
        next = load->result.start + cfg->duration_ns;
    if (load->posted < load->n && cfg->depth > 0) /* not every lane has had its turn */
        return load->result.start;
    if (cfg->rate_bps != 0 && cfg->burst != 0) {
        const roce_tstamp due =
            load->result.start + load->posted / cfg->burst * (burst_ns(load) + 1);
        next = due < next ? due : next;
    }
    return next;
}

void load_stop(struct load *load)
{
    load->stopped = true;
}

bool load_over(const struct load *load)
{
    const struct load_cfg *cfg = &load->cfg;
    if (load->failed)
        return true;
    if (load->posted != load->result.messages)
        return false;
    if (load->stopped)
        return true;
    if (cfg->duration_ns != 0)
        return load->result.start != 0 &&
               station_now(load->st) - load->result.start >= cfg->duration_ns;
    return load->posted == cfg->iters * load->n;
}
