/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A random load on both sides of a rig and all that must be true of it afterwards, whatever the
 * wire did: each byte where it belongs, each message once, completions in order. */
#ifndef TESTS_ENGINE_SOAK_H
#define TESTS_ENGINE_SOAK_H

#include "rig.h"

#define SOAK_OPS   24
#define SOAK_SLICE 8192           /* of each operation, in both memories */
#define SOAK_SUM   (RIG_MEM - 64) /* where FetchAdds add */

struct soak_op {
    enum eng_wr_op op;
    uint32_t len;
    uint64_t operand;
};

struct soak_side {
    struct soak_op ops[SOAK_OPS];
    uint32_t n_ops, posted, done;
    uint32_t receives; /* posted for the peer's sends */
    uint32_t received;
    uint64_t sum, bytes; /* of our FetchAdds; of our messages */
};

struct soak {
    struct rig *rig;
    struct eng_rng rng;
    struct soak_side side[2];
    bool scarce_receives; /* posted late, so that RNR NAKs come */
    uint64_t traced_bytes[2];
};

/* Slices of a side's memory: sources of what it writes and sends, sinks of what comes from the
 * peer, sinks of what it reads. */
static inline uint64_t soak_source(uint32_t n)
{
    return (uint64_t)n * SOAK_SLICE;
}
static inline uint64_t soak_sink(uint32_t n)
{
    return (uint64_t)(SOAK_OPS + n) * SOAK_SLICE;
}
static inline uint64_t soak_answer(uint32_t n)
{
    return (uint64_t)(2 * SOAK_OPS + n) * SOAK_SLICE;
}

static inline bool soak_takes_receive(enum eng_wr_op op)
{
    return op <= ENG_WR_WRITE_IMM && op != ENG_WR_WRITE;
}

static inline void soak_plan(struct soak *k, int i)
{
    struct soak_side *s = &k->side[i];
    static const enum eng_wr_op kinds[] = {ENG_WR_SEND, ENG_WR_SEND_IMM,  ENG_WR_WRITE,
                                           ENG_WR_READ, ENG_WR_WRITE_IMM, ENG_WR_FETCH_ADD};
    const uint32_t n_kinds = k->rig->opts.service == ENG_RC ? 6 : 3;
    s->n_ops = 1 + (uint32_t)(eng_rng_next(&k->rng) % SOAK_OPS);
    for (uint32_t n = 0; n < s->n_ops; n++) {
        struct soak_op *op = &s->ops[n];
        const uint64_t dice = eng_rng_next(&k->rng);
        op->op = kinds[dice % n_kinds];
        op->len =
            dice >> 8 & 1 ? (uint32_t)(dice >> 16) % SOAK_SLICE : (uint32_t)(dice >> 16) % 700;
        op->operand = dice >> 32;
        if (op->op == ENG_WR_FETCH_ADD) {
            op->len = 8;
            s->sum += op->operand;
        }
        s->bytes += op->len;
    }
}

static inline bool soak_post(struct soak *k, int i)
{
    struct soak_side *s = &k->side[i];
    if (s->posted == s->n_ops)
        return false;
    const uint32_t n = s->posted;
    const struct soak_op *op = &s->ops[n];
    const bool add = op->op == ENG_WR_FETCH_ADD, read = op->op == ENG_WR_READ;
    struct eng_send_wr wr =
        rig_wr(k->rig, i, op->op, read || add ? soak_answer(n) : soak_source(n), op->len,
               add    ? SOAK_SUM
               : read ? soak_source(n)
                      : soak_sink(n));
    wr.wr_id = n;
    wr.imm = n;
    wr.compare_add = op->operand;
    wr.fence = op->operand % 5 == 0;
    if (!add && !read && op->len <= 64) {
        wr.inline_data = k->rig->side[i].mem + soak_source(n);
        wr.inline_len = op->len;
    }
    if (rig_post(k->rig, i, &wr) != 0)
        return false;
    s->posted++;
    return true;
}

/* Receives in the order in which the peer's operations take them, each into the sink of its own. */
static inline bool soak_receive(struct soak *k, int i)
{
    struct soak_side *s = &k->side[i];
    const struct soak_side *peer = &k->side[1 - i];
    while (s->receives < peer->n_ops && !soak_takes_receive(peer->ops[s->receives].op))
        s->receives++;
    if (s->receives >= peer->n_ops)
        return false;
    const uint32_t n = s->receives++;
    assert_int_equal(rig_recv(k->rig, i, n, soak_sink(n), SOAK_SLICE), 0);
    return true;
}

static inline void soak_poll(struct soak *k, int i)
{
    struct soak_side *s = &k->side[i];
    const struct soak_side *peer = &k->side[1 - i];
    struct eng_wc wc;
    while (eng_cq_poll(k->rig->side[i].cq, &wc, 1) == 1) {
        assert_int_equal(wc.status, ENG_WC_SUCCESS);
        if (wc.op == ENG_WC_SEND_SIDE) {
            assert_int_equal(wc.wr_id, s->done);
            s->done++;
            continue;
        }
        while (!soak_takes_receive(peer->ops[s->received].op))
            s->received++;
        assert_int_equal(wc.wr_id, s->received);
        const struct soak_op *op = &peer->ops[s->received++];
        assert_int_equal(wc.byte_len, op->len);
        assert_int_equal(wc.op, op->op == ENG_WR_WRITE_IMM ? ENG_WC_RECV_WRITE_IMM : ENG_WC_RECV);
        assert_int_equal(wc.has_imm, op->op != ENG_WR_SEND);
        if (wc.has_imm)
            assert_int_equal(wc.imm, wc.wr_id);
    }
}

static inline void soak_check(struct soak *k, int i)
{
    const struct soak_side *s = &k->side[i];
    const struct rig_side *own = &k->rig->side[i], *peer = &k->rig->side[1 - i];
    assert_int_equal(s->done, s->n_ops);
    for (uint32_t n = 0; n < s->n_ops; n++) {
        const struct soak_op *op = &s->ops[n];
        if (op->op == ENG_WR_FETCH_ADD)
            continue;
        const bool read = op->op == ENG_WR_READ;
        const uint8_t *from = (read ? peer : own)->mem + soak_source(n);
        const uint8_t *to = read ? own->mem + soak_answer(n) : peer->mem + soak_sink(n);
        assert_memory_equal(to, from, op->len);
    }
    uint64_t sum;
    memcpy(&sum, peer->mem + SOAK_SUM, sizeof(sum));
    assert_int_equal(sum, s->sum);
}

/* Plans, runs and checks. */
static inline void soak_run(struct soak *k, struct rig *rig, uint64_t seed)
{
    memset(k, 0, sizeof(*k));
    k->rig = rig;
    k->rng.state = seed;
    k->scarce_receives = seed % 4 == 0 && rig->opts.service == ENG_RC;
    for (int i = 0; i < 2; i++) {
        rig_fill(rig->side[i].mem, SOAK_OPS * SOAK_SLICE, seed * 2 + (uint64_t)i);
        soak_plan(k, i);
    }
    for (int i = 0; i < 2 && !k->scarce_receives; i++)
        while (soak_receive(k, i)) {
        }
    const roce_tstamp end = rig->loop.now + UINT64_C(20000000000);
    for (;;) {
        const uint64_t dice = eng_rng_next(&k->rng);
        for (int i = 0; i < 2; i++) {
            for (uint64_t n = dice >> 8 * i & 3; n > 0 && soak_post(k, i); n--) {
            }
            if (k->scarce_receives && dice >> (20 + i) & 1)
                soak_receive(k, i);
        }
        const bool quiet = loop_run(&rig->loop, rig->loop.now + (dice >> 32) % 200000);
        soak_poll(k, 0);
        soak_poll(k, 1);
        const bool posted =
            k->side[0].posted == k->side[0].n_ops && k->side[1].posted == k->side[1].n_ops;
        if (quiet && posted && k->side[0].done == k->side[0].n_ops &&
            k->side[1].done == k->side[1].n_ops)
            break;
        assert_true(rig->loop.now < end); /* a deadlock */
    }
    soak_check(k, 0);
    soak_check(k, 1);
    const struct eng_qp_stats a = rig_stats(rig, 0), b = rig_stats(rig, 1);
    assert_int_equal(a.msgs_sent, k->side[0].n_ops);
    assert_int_equal(b.msgs_received, k->side[0].n_ops);
    assert_int_equal(b.msgs_sent, k->side[1].n_ops);
    assert_int_equal(a.msgs_received, k->side[1].n_ops);
}

#endif
