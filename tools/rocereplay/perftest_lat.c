/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The ping-pongs of ib_send_lat and ib_write_lat. */
#include "rocereplay/perftest_lat.h"

#include <inttypes.h>

#include "common/msg.h"
#include "common/signals.h"

#define SILENCE_NS UINT64_C(10000000000)

struct play {
    struct end *end;
    struct lane *lane;
    bool by_write;
    uint32_t size;
    uint64_t iters, sent, done, received;
    roce_tstamp sent_at, last;
    struct load_result *result;
};

static int post(struct play *p)
{
    const roce_tstamp now = station_now(p->end->st);
    const struct lane *lane = p->lane;
    struct eng_send_wr wr = {
        .op = p->by_write ? ENG_WR_WRITE : ENG_WR_SEND,
        .signaled = true,
        .n_sge = p->size != 0,
        .sge = {lane_local(lane, 0, p->size)},
        .remote_va = lane->remote.va,
        .rkey = lane->remote.rkey,
        .ah = lane->ah,
        .dest_qpn = lane->remote.qpn,
        .qkey = lane->remote.qkey,
    };
    p->sent++;
    if (p->by_write)
        lane->local[p->size - 1] = (uint8_t)p->sent;
    p->sent_at = now;
    return eng_post_send(lane->qp, now, &wr);
}

static void take_done(struct play *p)
{
    struct eng_wc wc;
    while (eng_cq_poll(p->end->st->send_cq, &wc, 1) > 0) {
        p->done++;
        p->last = wc.now;
        if (wc.status != ENG_WC_SUCCESS && p->result->status == ENG_WC_SUCCESS) {
            p->result->status = wc.status;
            p->result->failed_qpn = wc.qpn;
        }
    }
}

static bool has_come(const struct play *p)
{
    if (p->by_write)
        return p->lane->target[p->size - 1] == (uint8_t)(p->received + 1);
    return p->end->sink.messages > p->received;
}

static void take_received(struct play *p)
{
    struct load_result *r = p->result;
    if (p->received == p->iters || !has_come(p))
        return;
    const roce_tstamp now = station_now(p->end->st);
    p->received++;
    p->last = r->end = now;
    r->messages++;
    r->bytes += 2 * (uint64_t)p->size;
    if (p->sent == 0)
        return;
    const uint64_t latency = (now - p->sent_at) / 2; /* the programs tell half of the round trip */
    roce_hist_add(&r->latency, latency);
    r->latency_sum += (double)latency;
    r->latency_squares += (double)latency * (double)latency;
}

int perftest_lat_play(struct end *end, bool by_write, bool client, struct load_result *result)
{
    const bool first = by_write != client;
    struct play p = {
        .end = end,
        .lane = &end->lanes[0],
        .by_write = by_write,
        .size = end->plan.load.size,
        .iters = end->plan.load.iters,
        .result = result,
    };
    if (by_write && p.size == 0) {
        msg_print("ib_write_lat's messages have at least a byte; give a larger --size");
        return -1;
    }
    result->start = p.last = station_now(end->st);
    while (p.sent < p.iters || p.done < p.iters || p.received < p.iters) {
        const int n = station_turn(end->st);
        if (n < 0 || signals_interrupted())
            return -1;
        take_done(&p);
        if (result->status != ENG_WC_SUCCESS)
            return 0;
        take_received(&p);
        const bool our_turn = p.received + (first ? 1 : 0) > p.sent;
        if (our_turn && p.done == p.sent && p.sent < p.iters && post(&p) != 0)
            return -1;
        if (station_now(end->st) - p.last > SILENCE_NS) {
            msg_print("no message for 10 s after %" PRIu64 " of %" PRIu64
                      "; do both sides have the same size and count?",
                      p.received, p.iters);
            return -1;
        }
        if (n == 0)
            (void)station_idle(end->st, p.last + SILENCE_NS + 1, -1, 0);
    }
    return 0;
}
