/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sending recorded messages again. */
#include "rocereplay/play_replay.h"

#include <roce/err.h>
#include <stdlib.h>
#include <string.h>

#include "common/msg.h"
#include "common/signals.h"
#include "rocereplay/pattern.h"

enum { BATCH = 32, ATOMIC_LEN = 8, MADE_MAX = 16 << 20 };
#define DATA_VA   UINT64_C(0x20000000000) /* where messages' data seem to lie */
#define SETTLE_NS UINT64_C(2000000000)    /* for what is under way when a signal stops the run */

static int out_of_memory(void)
{
    msg_print("out of memory; give --host to replay less");
    return -1;
}

static int by_time(const void *a, const void *b)
{
    const struct due *x = a, *y = b;
    if (x->ts != y->ts)
        return x->ts < y->ts ? -1 : 1;
    return x->part < y->part ? -1 : x->part > y->part;
}

/* The messages of all parts in order of time; one never comes before its predecessor of the same
 * QP. */
static int make_order(struct replay *r)
{
    uint64_t n = 0;
    r->due = calloc(r->total + 1, sizeof(*r->due));
    if (r->due == NULL)
        return out_of_memory();
    for (uint32_t i = 0; i < r->n; i++) {
        const struct sender *s = r->part[i].sender;
        roce_tstamp ts = 0;
        for (uint64_t k = 0; k < s->n; k++) {
            ts = s->msg[k].ts > ts ? s->msg[k].ts : ts;
            r->due[n++] = (struct due){.ts = ts, .part = i, .len = s->msg[k].len};
        }
    }
    qsort(r->due, n, sizeof(*r->due), by_time);
    return 0;
}

/* All data lie in one region: captured payload, and behind it a block made from the seed. */
static int make_data(struct replay *r)
{
    uint64_t captured = 0;
    uint32_t longest = ATOMIC_LEN;
    for (uint32_t i = 0; i < r->n; i++) {
        const struct sender *s = r->part[i].sender;
        for (uint64_t k = 0; k < s->n; k++) {
            if (s->msg[k].captured)
                captured += s->msg[k].len;
            else if (messages_carries(s->msg[k].op) && s->msg[k].len > longest)
                longest = s->msg[k].len;
        }
    }
    r->made_off = captured;
    r->made_len = longest <= MADE_MAX ? longest : (longest + ENG_SGE_MAX - 1) / ENG_SGE_MAX;
    r->data = malloc(captured + r->made_len);
    r->offset = calloc(r->n + 1, sizeof(*r->offset));
    if (r->data == NULL || r->offset == NULL)
        return out_of_memory();
    pattern_fill(r->data + r->made_off, r->made_len, r->st->seed, 0);
    uint64_t off = 0;
    for (uint32_t i = 0; i < r->n; i++) {
        const struct sender *s = r->part[i].sender;
        r->offset[i] = off;
        for (uint64_t k = 0; k < s->n; k++)
            if (s->msg[k].captured) {
                messages_copy(r->messages, s, &s->msg[k], r->data + off);
                off += s->msg[k].len;
            }
    }
    r->data_va = DATA_VA;
    r->mr =
        eng_mr_new(r->st->pd, r->data, captured + r->made_len, r->data_va, ENG_LOCAL_WRITE, NULL);
    return r->mr != NULL ? 0 : out_of_memory();
}

static int open_lane(struct replay *r, uint32_t i, uint32_t receives)
{
    const struct sender *s = r->part[i].sender;
    const struct replay_opts *base = &r->opts->base;
    struct lane_cfg cfg = {
        .service = s->service,
        .local_len = ATOMIC_LEN,
        .target_len = ATOMIC_LEN, /* the peer only answers */
        .max_send = (uint32_t)r->opts->depth,
        .max_recv = receives,
        .qpn = replay_own_qpn(base, i),
        .has_psn = replay_own_psn_given(base, i),
        .psn = base->own_psn_value,
    };
    for (uint64_t k = 0; k < s->n; k++) {
        if (s->msg[k].op == ENG_WR_READ && s->msg[k].len > cfg.local_len)
            cfg.local_len = s->msg[k].len;
        r->max_len = s->msg[k].len > r->max_len ? s->msg[k].len : r->max_len;
    }
    r->part[i].posted_at = calloc(r->opts->depth, sizeof(roce_tstamp));
    if (r->part[i].posted_at == NULL)
        return out_of_memory();
    return lane_open(&r->lanes[i], r->st, &cfg);
}

int replay_open(struct replay *r, const struct play_opts *opts, struct station *st,
                const struct messages *messages, const uint32_t *which, uint32_t n,
                uint32_t receives)
{
    *r = (struct replay){.opts = opts, .messages = messages, .st = st, .n = n};
    const uint64_t entries = n * opts->depth + 1;
    if (entries > INT32_MAX) {
        msg_print("too many messages at a time; give a smaller --depth");
        return -1;
    }
    r->lanes = calloc(n, sizeof(*r->lanes));
    r->part = calloc(n, sizeof(*r->part));
    if (r->lanes == NULL || r->part == NULL)
        return out_of_memory();
    if (station_queues(st, (uint32_t)entries, n * receives + 1) != 0)
        return -1;
    for (uint32_t i = 0; i < n; i++) {
        r->part[i].sender = &messages->sender[which[i]];
        r->total += r->part[i].sender->n;
        if (open_lane(r, i, receives) != 0)
            return -1;
    }
    r->target_len = r->max_len > opts->memory ? r->max_len : opts->memory;
    r->target_len = r->target_len < ATOMIC_LEN ? ATOMIC_LEN : (r->target_len + 7) / 8 * 8;
    schedule_init(&r->schedule, &opts->pace);
    return make_order(r) == 0 && make_data(r) == 0 ? 0 : -1;
}

void replay_close(struct replay *r)
{
    if (r->st == NULL)
        return;
    r->st->work = NULL;
    for (uint32_t i = 0; r->lanes != NULL && i < r->n; i++)
        lane_close(&r->lanes[i]);
    for (uint32_t i = 0; r->part != NULL && i < r->n; i++)
        free(r->part[i].posted_at);
    if (r->mr != NULL)
        eng_mr_del(r->mr);
    free(r->lanes);
    free(r->part);
    free(r->data);
    free(r->offset);
    free(r->due);
    station_drop_queues(r->st);
    *r = (struct replay){0};
}

/* Places keep their offset in the peer's memory, as far as it goes. */
static uint64_t place_at_peer(const struct replay *r, const struct lane *lane,
                              const struct message *msg, uint64_t va)
{
    const uint64_t room = lane->remote.len != 0 ? lane->remote.len : r->target_len;
    const uint64_t len = msg->op == ENG_WR_READ || messages_carries(msg->op) ? msg->len : 8;
    const uint64_t off = va % room;
    if (off + len <= room)
        return lane->remote.va + off;
    return lane->remote.va + (len < room ? (room - len) / 8 * 8 : 0);
}

static void add_data(const struct replay *r, uint64_t off, const struct message *msg,
                     struct eng_send_wr *wr)
{
    const uint32_t lkey = eng_mr_lkey(r->mr);
    if (msg->captured) {
        wr->n_sge = 1;
        wr->sge[0] = (struct eng_sge){.addr = r->data_va + off, .length = msg->len, .lkey = lkey};
        return;
    }
    for (uint32_t left = msg->len; left > 0;) {
        const uint32_t n = left < r->made_len ? left : r->made_len;
        wr->sge[wr->n_sge++] =
            (struct eng_sge){.addr = r->data_va + r->made_off, .length = n, .lkey = lkey};
        left -= n;
    }
}

static struct eng_send_wr request(const struct replay *r, uint32_t i, const struct message *msg,
                                  uint64_t off)
{
    const struct lane *lane = &r->lanes[i];
    const struct sender *s = r->part[i].sender;
    const struct packet *first = &s->packet[msg->first], *last = first + msg->packets - 1;
    struct eng_send_wr wr = {
        .wr_id = (uint64_t)i << 32 | r->part[i].posted % r->opts->depth,
        .op = (enum eng_wr_op)msg->op,
        .signaled = true,
        .solicited = msg->solicited,
        .imm = last->imm,
        .remote_va = place_at_peer(r, lane, msg, first->va),
        .rkey = lane->remote.rkey,
        .ah = lane->ah,
        .dest_qpn = lane->remote.qpn,
        .qkey = lane->remote.qkey,
    };
    switch (wr.op) {
    case ENG_WR_READ:
    case ENG_WR_CMP_SWAP:
    case ENG_WR_FETCH_ADD:
        wr.n_sge = msg->len != 0;
        wr.sge[0] = lane_local(lane, 0, msg->len);
        wr.compare_add = first->compare_add;
        wr.swap = first->swap;
        if (wr.op != ENG_WR_READ)
            wr.remote_va &= ~UINT64_C(7); /* as atomics must be (IBTA 9.4.5) */
        break;
    case ENG_WR_ATOMIC_WRITE:
        memcpy(&wr.atomic_write, r->data + (msg->captured ? off : r->made_off), ATOMIC_LEN);
        wr.remote_va &= ~UINT64_C(7);
        break;
    case ENG_WR_FLUSH:
        wr.flush_length = msg->len < r->target_len ? msg->len : r->target_len;
        wr.flush_type = first->flush_type;
        wr.flush_level = first->flush_level;
        break;
    case ENG_WR_SEND:
    case ENG_WR_SEND_IMM:
    case ENG_WR_SEND_INV:
    case ENG_WR_WRITE:
    case ENG_WR_WRITE_IMM:
    case ENG_WR_OPS:
        add_data(r, off, msg, &wr);
        break;
    }
    return wr;
}

static void fail(struct replay *r, uint32_t i, int status)
{
    struct replay_result *result = &r->result;
    r->part[i].failed = true;
    if (result->status == ENG_WC_SUCCESS && status != ENG_WC_WR_FLUSH_ERR) {
        result->status = status;
        result->failed_qpn = r->lanes[i].qpn;
    }
}

static void complete(struct replay *r, const struct eng_wc *wc)
{
    const uint32_t i = (uint32_t)(wc->wr_id >> 32);
    struct part *part = &r->part[i];
    struct replay_result *result = &r->result;
    const struct message *msg = &part->sender->msg[part->done % part->sender->n];
    const roce_tstamp since = part->posted_at[part->done % r->opts->depth];
    part->done++;
    if (wc->status != ENG_WC_SUCCESS) {
        result->failed++;
        fail(r, i, wc->status);
        return;
    }
    result->messages++;
    result->bytes += msg->len;
    result->by_op[msg->op]++;
    result->end = wc->now;
    if (part->sender->service == ENG_RC)
        roce_hist_add(&result->latency, wc->now - since);
}

/* The offset of the next message's captured data moves along with it. */
static int post(struct replay *r, uint32_t i, roce_tstamp now)
{
    struct part *part = &r->part[i];
    const struct sender *s = part->sender;
    const uint64_t k = part->posted % s->n;
    const struct message *msg = &s->msg[k];
    if (k == 0 && part->posted > 0) { /* another pass: the first one's data again */
        for (uint64_t back = 0; back < s->n; back++)
            r->offset[i] -= s->msg[back].captured ? s->msg[back].len : 0;
    }
    const struct eng_send_wr wr = request(r, i, msg, r->offset[i]);
    const int rc = eng_post_send(r->lanes[i].qp, now, &wr);
    if (rc != 0)
        return rc;
    part->posted_at[part->posted % r->opts->depth] = now;
    part->posted++;
    r->offset[i] += msg->captured ? msg->len : 0;
    return 0;
}

static int post_part(struct replay *r, uint32_t i, roce_tstamp now)
{
    struct part *part = &r->part[i];
    int n = 0;
    while (!part->failed && part->posted < part->ready &&
           part->posted - part->done < r->opts->depth &&
           (!r->in_turn || part->posted == r->sink->messages)) {
        const int rc = post(r, i, now);
        if (rc == ROCE_ERR_FULL)
            break;
        if (rc != 0) {
            fail(r, i, ENG_WC_LOC_QP_OP_ERR);
            break;
        }
        n++;
    }
    return n;
}

/* The next message of the schedule; false when there is none any more. */
static bool look_ahead(struct replay *r)
{
    const struct play_opts *opts = r->opts;
    if (r->has_due)
        return true;
    if (r->at == r->total) {
        r->at = 0;
        r->pass++;
        if (r->pass < opts->loops)
            schedule_again(&r->schedule);
    }
    if (r->all_ready || r->total == 0 || r->pass >= opts->loops ||
        (opts->limit != 0 && r->readied >= opts->limit)) {
        r->all_ready = true;
        return false;
    }
    r->next_due = schedule_next(&r->schedule, r->due[r->at].ts, r->due[r->at].len);
    r->has_due = true;
    if (opts->duration_ns == 0 || r->next_due < opts->duration_ns)
        return true;
    r->all_ready = true;
    return false;
}

static bool waits(const struct replay *r)
{
    return r->has_due && !r->all_ready;
}

static int step(struct replay *r, roce_tstamp now)
{
    struct eng_wc wc[BATCH];
    int all = 0, n;
    if (r->result.start == 0)
        r->result.start = r->result.end = now;
    while ((n = eng_cq_poll(r->st->send_cq, wc, BATCH)) > 0) {
        for (int i = 0; i < n; i++)
            complete(r, &wc[i]);
        for (int i = 0; i < n; i++)
            all += post_part(r, (uint32_t)(wc[i].wr_id >> 32), now);
        all += n;
    }
    /* At top speed all is due at once; what does not fit is posted as completions come. */
    for (int k = 0; k < BATCH && look_ahead(r) && r->result.start + r->next_due <= now; k++) {
        const uint32_t i = r->due[r->at++].part;
        r->has_due = false;
        r->readied++;
        r->part[i].ready++;
        all += post_part(r, i, now) + 1;
    }
    return all;
}

static void work(void *ctx, roce_tstamp now)
{
    struct replay *r = ctx;
    (void)step(r, now);
    if (r->sink != NULL && sink_step(r->sink, now) > 0 && r->in_turn)
        (void)post_part(r, 0, now);
}

static bool over(const struct replay *r)
{
    if (!r->all_ready)
        return false;
    for (uint32_t i = 0; i < r->n; i++) {
        const struct part *part = &r->part[i];
        if (part->done < part->posted || (!part->failed && part->posted < part->ready))
            return false;
    }
    return true;
}

static void count_unsent(struct replay *r)
{
    for (uint32_t i = 0; i < r->n; i++)
        r->result.failed += r->part[i].ready - r->part[i].posted;
}

int replay_run(struct replay *r)
{
    roce_tstamp give_up = ENG_NEVER;
    r->st->work = work;
    r->st->work_ctx = r;
    while (!over(r)) {
        const int n = station_turn(r->st);
        const roce_tstamp now = station_now(r->st);
        if (n < 0)
            return -1;
        if (signals_interrupted() && give_up == ENG_NEVER) {
            r->all_ready = true;
            give_up = now + SETTLE_NS;
        }
        if (now >= give_up)
            break;
        if (n > 0)
            continue;
        roce_tstamp until = waits(r) ? r->result.start + r->next_due : ENG_NEVER;
        if (r->result.start == 0)
            until = now;
        (void)station_idle(r->st, give_up < until ? give_up : until, -1, 0);
    }
    count_unsent(r);
    return 0;
}
