/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Two connected QPs on two engines over the loopback, with memory on both sides. */
#ifndef TESTS_ENGINE_RIG_H
#define TESTS_ENGINE_RIG_H

#include <cmocka_all.h>
#include <roce/net.h>
#include <stdio.h>

#include "loopback.h"

#define RIG_MEM (UINT32_C(1) << 20)
#define RIG_VA  UINT64_C(0x10000) /* of the regions, on both sides */

struct rig_side {
    struct eng_dev *dev;
    struct eng_pd *pd;
    struct eng_cq *cq;
    struct eng_qp *qp;
    struct eng_mr *mr;
    uint8_t *mem;
};

struct rig_opts {
    enum eng_service service;
    uint16_t mtu;          /* 0: 1024 */
    uint32_t psn[2];       /* first PSN that each side sends */
    uint32_t depth;        /* of all queues; 0: 256 */
    uint32_t cq_depth;     /* 0: 4096 */
    uint8_t timeout;       /* 0: 8 (about 1 ms) */
    uint8_t retry_cnt;     /* 0: 7; 0xFF: none */
    uint8_t rnr_retry;     /* 0: 7; 0xFF: none */
    uint8_t min_rnr_timer; /* 0: 1 (10 us) */
    uint8_t rd_atomic;     /* 0: 16; 0xFF: none */
    uint32_t window;       /* 0: largest */
    uint32_t ack_every;
    bool credits;
    unsigned access;    /* 0: all */
    unsigned mr_access; /* 0: all */
    bool srq;
    struct eng_dev_cfg dev; /* mac, ip and seed are set here */
    struct eng_dcqcn *cc;
    uint64_t rate_bps;
    struct eng_ah ah; /* addresses are set here */
    uint64_t seed;
};

struct rig {
    struct loop loop;
    struct rig_side side[2];
    struct eng_srq *srq[2];
    struct rig_opts opts;
};

#define RIG_ALL                                                                                    \
    (ENG_LOCAL_WRITE | ENG_REMOTE_WRITE | ENG_REMOTE_READ | ENG_REMOTE_ATOMIC | ENG_FLUSH_GLOBAL | \
     ENG_FLUSH_PERSISTENT)

static inline struct eng_ah rig_ah(const struct rig *r, int i)
{
    struct eng_ah ah = r->opts.ah;
    const uint8_t mac[6] = {2, 0, 0, 0, 0, (uint8_t)(2 - i)};
    memcpy(ah.dmac, mac, sizeof(mac));
    roce_ip_v4(ah.src_ip, 10, 0, 0, (uint8_t)(i + 1));
    roce_ip_v4(ah.dst_ip, 10, 0, 0, (uint8_t)(2 - i));
    return ah;
}

static inline void rig_side_new(struct rig *r, int i)
{
    struct rig_side *s = &r->side[i];
    const struct rig_opts *o = &r->opts;
    struct eng_dev_cfg cfg = o->dev;
    const uint8_t mac[6] = {2, 0, 0, 0, 0, (uint8_t)(i + 1)};
    memcpy(cfg.mac, mac, sizeof(mac));
    roce_ip_v4(cfg.ip, 10, 0, 0, (uint8_t)(i + 1));
    cfg.seed = o->seed * 2 + (uint64_t)i;
    cfg.migreq = true;
    s->dev = eng_dev_new(&cfg);
    assert_non_null(s->dev);
    s->pd = eng_pd_new(s->dev);
    s->cq = eng_cq_new(s->dev, o->cq_depth != 0 ? o->cq_depth : 4096);
    s->mem = calloc(1, RIG_MEM);
    int err = 0;
    s->mr = eng_mr_new(s->pd, s->mem, RIG_MEM, RIG_VA, o->mr_access != 0 ? o->mr_access : RIG_ALL,
                       &err);
    assert_int_equal(err, 0);
    const uint32_t depth = o->depth != 0 ? o->depth : 256;
    if (o->srq)
        r->srq[i] = eng_srq_new(s->pd, depth);
    const struct eng_qp_cfg qp = {.service = o->service,
                                  .send_cq = s->cq,
                                  .recv_cq = s->cq,
                                  .srq = r->srq[i],
                                  .max_send_wr = depth,
                                  .max_recv_wr = depth};
    s->qp = eng_qp_new(s->pd, &qp);
    assert_non_null(s->qp);
}

static inline uint8_t rig_or(uint8_t value, uint8_t normal)
{
    return value == 0 ? normal : value == 0xFF ? 0 : value;
}

static inline void rig_connect(struct rig *r, int i)
{
    const struct rig_opts *o = &r->opts;
    struct eng_qp *qp = r->side[i].qp;
    struct eng_qp_attr a = {
        .state = ENG_INIT,
        .access = o->access != 0 ? o->access : RIG_ALL,
        .qkey = 0x1234,
        .av = rig_ah(r, i),
        .path_mtu = o->mtu != 0 ? o->mtu : 1024,
        .timeout = rig_or(o->timeout, 8),
        .retry_cnt = rig_or(o->retry_cnt, 7),
        .rnr_retry = rig_or(o->rnr_retry, 7),
        .min_rnr_timer = rig_or(o->min_rnr_timer, 1),
        .rq_psn = o->psn[1 - i],
        .sq_psn = o->psn[i],
        .dest_qpn = eng_qp_num(r->side[1 - i].qp),
        .max_rd_atomic = rig_or(o->rd_atomic, 16),
        .max_dest_rd_atomic = rig_or(o->rd_atomic, 16),
        .window = o->window,
        .ack_every = o->ack_every,
        .credits = o->credits,
        .rate_bps = o->rate_bps,
    };
    const bool ud = o->service == ENG_UD, rc = o->service == ENG_RC;
    assert_int_equal(
        eng_qp_modify(qp, 0, &a, ENG_ATTR_STATE | (ud ? ENG_ATTR_QKEY : ENG_ATTR_ACCESS)), 0);
    a.state = ENG_RTR;
    unsigned mask = ENG_ATTR_STATE | (ud ? ENG_ATTR_PATH_MTU : 0);
    if (!ud)
        mask |= ENG_ATTR_AV | ENG_ATTR_PATH_MTU | ENG_ATTR_DEST_QPN | ENG_ATTR_RQ_PSN;
    if (rc)
        mask |= ENG_ATTR_MAX_DEST_RD_ATOMIC | ENG_ATTR_MIN_RNR_TIMER | ENG_ATTR_CREDITS;
    assert_int_equal(eng_qp_modify(qp, 0, &a, mask), 0);
    a.state = ENG_RTS;
    mask = ENG_ATTR_STATE | ENG_ATTR_SQ_PSN | ENG_ATTR_ACK_EVERY | ENG_ATTR_RATE;
    if (rc)
        mask |= ENG_ATTR_TIMEOUT | ENG_ATTR_RETRY_CNT | ENG_ATTR_RNR_RETRY | ENG_ATTR_MAX_RD_ATOMIC;
    if (o->window != 0)
        mask |= ENG_ATTR_WINDOW;
    if (o->cc != NULL) {
        mask |= ENG_ATTR_CC;
        a.dcqcn = true;
        a.cc = *o->cc;
    }
    assert_int_equal(eng_qp_modify(qp, 0, &a, mask), 0);
}

static inline struct rig *rig_new(const struct rig_opts *opts)
{
    struct rig *r = calloc(1, sizeof(*r));
    r->opts = *opts;
    rig_side_new(r, 0);
    rig_side_new(r, 1);
    rig_connect(r, 0);
    rig_connect(r, 1);
    loop_init(&r->loop, r->side[0].dev, r->side[1].dev, opts->seed);
    return r;
}

static inline void rig_del(struct rig *r)
{
    loop_free(&r->loop);
    for (int i = 0; i < 2; i++) {
        eng_dev_del(r->side[i].dev);
        free(r->side[i].mem);
    }
    free(r);
}

static inline struct eng_sge rig_sge(const struct rig *r, int i, uint64_t off, uint32_t len)
{
    return (struct eng_sge){
        .addr = RIG_VA + off, .length = len, .lkey = eng_mr_lkey(r->side[i].mr)};
}

/* A send of |len| bytes at |off| of side |i|'s memory, and, for one-sided ones, |remote| of the
 * peer's. */
static inline struct eng_send_wr rig_wr(const struct rig *r, int i, enum eng_wr_op op, uint64_t off,
                                        uint32_t len, uint64_t remote)
{
    struct eng_send_wr wr = {.wr_id = off,
                             .op = op,
                             .signaled = true,
                             .n_sge = 1,
                             .remote_va = RIG_VA + remote,
                             .rkey = eng_mr_rkey(r->side[1 - i].mr)};
    wr.sge[0] = rig_sge(r, i, off, len);
    return wr;
}

static inline int rig_post(struct rig *r, int i, const struct eng_send_wr *wr)
{
    return eng_post_send(r->side[i].qp, r->loop.now, wr);
}

static inline int rig_recv(struct rig *r, int i, uint64_t id, uint64_t off, uint32_t len)
{
    const struct eng_recv_wr wr = {.wr_id = id, .n_sge = 1, .sge = {rig_sge(r, i, off, len)}};
    if (r->srq[i] != NULL)
        return eng_srq_post(r->srq[i], &wr);
    return eng_post_recv(r->side[i].qp, r->loop.now, &wr);
}

/* Runs until nothing happens any more; fails when that takes more than |seconds| of virtual time.
 */
static inline void rig_run(struct rig *r, unsigned seconds)
{
    assert_true(loop_run(&r->loop, r->loop.now + (uint64_t)seconds * 1000000000));
}

/* The next completion of side |i|. */
static inline struct eng_wc rig_wc(struct rig *r, int i)
{
    struct eng_wc wc;
    assert_int_equal(eng_cq_poll(r->side[i].cq, &wc, 1), 1);
    return wc;
}

static inline void rig_no_wc(struct rig *r, int i)
{
    struct eng_wc wc;
    assert_int_equal(eng_cq_poll(r->side[i].cq, &wc, 1), 0);
}

static inline struct eng_qp_stats rig_stats(const struct rig *r, int i)
{
    struct eng_qp_stats s;
    eng_qp_stats(r->side[i].qp, &s);
    return s;
}

static inline void rig_fill(uint8_t *mem, uint32_t len, uint64_t seed)
{
    struct eng_rng rng = {.state = seed};
    for (uint32_t i = 0; i < len; i++)
        mem[i] = (uint8_t)(eng_rng_next(&rng) >> 32);
}

#endif
