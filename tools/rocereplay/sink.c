/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sinks. */
#include "rocereplay/sink.h"

#include <stdlib.h>
#include <string.h>

#include "common/msg.h"
#include "rocereplay/pattern.h"

enum { BATCH = 32, SEARCH = 4096 };
#define MEMORY_MAX UINT64_C(67108864) /* for the receives of a lane */

/* A UD receive begins with the 40 bytes of a GRH. */
static uint64_t slot_len(const struct sink *sink, const struct lane *lane)
{
    return (uint64_t)sink->cfg.size + (lane->cfg.service == ENG_UD ? ENG_GRH_LEN : 0);
}

static int post(struct sink *sink, uint32_t i, uint32_t slot, roce_tstamp now)
{
    const uint64_t len = slot_len(sink, &sink->lanes[i]);
    /* What is not looked at may all lie in one place. */
    const uint64_t off = sink->cfg.verify ? slot * len : 0;
    const struct eng_recv_wr wr = {
        .wr_id = (uint64_t)i << 32 | slot,
        .n_sge = len != 0,
        .sge = {{.addr = off, .length = (uint32_t)len, .lkey = eng_mr_lkey(sink->mr[i])}},
    };
    return eng_post_recv(sink->lanes[i].qp, now, &wr);
}

static int open_lane(struct sink *sink, uint32_t i)
{
    const uint64_t len = slot_len(sink, &sink->lanes[i]);
    const uint64_t all = len * (sink->cfg.verify ? sink->cfg.depth : 1);
    sink->memory[i] = calloc(1, all != 0 ? all : 1);
    if (sink->memory[i] == NULL)
        return -1;
    sink->mr[i] =
        eng_mr_new(sink->st->pd, sink->memory[i], all != 0 ? all : 1, 0, ENG_LOCAL_WRITE, NULL);
    if (sink->mr[i] == NULL)
        return -1;
    for (uint32_t slot = 0; slot < sink->cfg.depth; slot++)
        if (post(sink, i, slot, station_now(sink->st)) != 0)
            return -1;
    return 0;
}

int sink_open(struct sink *sink, struct station *st, struct lane *lanes, uint32_t n,
              const struct sink_cfg *cfg)
{
    *sink = (struct sink){.cfg = *cfg, .st = st, .lanes = lanes, .n = n};
    if (cfg->verify && cfg->size != 0 && (uint64_t)cfg->depth * cfg->size > MEMORY_MAX)
        sink->cfg.depth = cfg->size > MEMORY_MAX / 4 ? 4 : (uint32_t)(MEMORY_MAX / cfg->size);
    sink->memory = calloc(n, sizeof(*sink->memory));
    sink->mr = calloc(n, sizeof(struct eng_mr *));
    sink->next = calloc(n, sizeof(*sink->next));
    bool ok = sink->memory != NULL && sink->mr != NULL && sink->next != NULL;
    for (uint32_t i = 0; ok && i < n; i++)
        ok = open_lane(sink, i) == 0;
    if (ok)
        return 0;
    msg_print("no memory for receives; give a smaller --size, --rx-depth or --qp");
    return -1;
}

void sink_close(struct sink *sink)
{
    for (uint32_t i = 0; sink->mr != NULL && i < sink->n; i++)
        if (sink->mr[i] != NULL)
            eng_mr_del(sink->mr[i]);
    for (uint32_t i = 0; sink->memory != NULL && i < sink->n; i++)
        free(sink->memory[i]);
    free(sink->mr);
    free(sink->memory);
    free(sink->next);
    *sink = (struct sink){0};
}

/* Which message this is: unreliable services lose some, whose numbers are skipped. */
static bool is_expected(struct sink *sink, uint32_t i, const uint8_t *data, uint32_t len)
{
    const uint32_t search = sink->lanes[i].cfg.service == ENG_RC ? 1 : SEARCH;
    for (uint32_t skip = 0; skip < search; skip++) {
        if (!pattern_matches(data, len, sink->next[i] + skip, 0))
            continue;
        sink->lost += skip;
        sink->next[i] += skip + 1;
        return true;
    }
    sink->next[i]++;
    return false;
}

static void check(struct sink *sink, uint32_t i, const struct eng_wc *wc)
{
    const struct lane *lane = &sink->lanes[i];
    if (wc->op == ENG_WC_RECV_WRITE_IMM) { /* its data lie in the target */
        const uint64_t place = sink->cfg.writes != 0 ? sink->next[i] % sink->cfg.writes : 0;
        if (!is_expected(sink, i, lane->target + place * sink->cfg.size, wc->byte_len))
            sink->mismatches++;
        return;
    }
    const uint32_t head = lane->cfg.service == ENG_UD ? ENG_GRH_LEN : 0;
    const uint8_t *data = sink->memory[i] + (wc->wr_id & UINT32_MAX) * slot_len(sink, lane) + head;
    if (wc->byte_len < head || !is_expected(sink, i, data, wc->byte_len - head))
        sink->mismatches++;
}

static void take(struct sink *sink, const struct eng_wc *wc, roce_tstamp now)
{
    const uint32_t i = (uint32_t)(wc->wr_id >> 32);
    if (wc->status != ENG_WC_SUCCESS) {
        if (sink->status == ENG_WC_SUCCESS && wc->status != ENG_WC_WR_FLUSH_ERR)
            sink->status = wc->status;
        return;
    }
    sink->messages++;
    sink->bytes += wc->byte_len;
    if (sink->lanes[i].cfg.service == ENG_UD)
        sink->bytes -= ENG_GRH_LEN;
    if (sink->cfg.verify)
        check(sink, i, wc);
    (void)post(sink, i, (uint32_t)wc->wr_id, now);
}

int sink_step(struct sink *sink, roce_tstamp now)
{
    struct eng_wc wc[BATCH];
    int all = 0, n;
    while ((n = eng_cq_poll(sink->st->recv_cq, wc, BATCH)) > 0) {
        for (int i = 0; i < n; i++)
            take(sink, &wc[i], now);
        all += n;
    }
    return all;
}
