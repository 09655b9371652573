/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Hostile packets into QPs of every service and state, while the user posts, polls, moves states
 * and takes memory away: the engine's own numbers stay in order, what it sends is well formed, and
 * nothing is written outside the registered memory. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include <roce/icrc.h>

#include "engine/qp.h"
#include "engine/requester.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { QPS = 7, MEM = 8192, GUARD = 64, DEPTH = 4, MTU = 256, BURST = 4096 };

struct world {
    struct eng_dev *dev;
    struct eng_pd *pd;
    struct eng_cq *cq;
    struct eng_srq *srq;
    struct eng_mr *mr;
    struct eng_qp *qp[QPS];
    uint8_t *mem; /* GUARD bytes, MEM registered ones, GUARD bytes */
    roce_tstamp now;
};

struct input {
    const uint8_t *p;
    size_t left;
};

static uint32_t take(struct input *in, unsigned n)
{
    uint32_t v = 0;
    for (; n > 0; n--) {
        v = v << 8 | (in->left > 0 ? *in->p : 0);
        if (in->left > 0) {
            in->p++;
            in->left--;
        }
    }
    return v;
}

static const struct {
    enum eng_service service;
    bool srq;
} kinds[QPS] = {{ENG_RC, false}, {ENG_RC, true}, {ENG_RC, false},     {ENG_UC, false},
                {ENG_UD, false}, {ENG_UC, true}, {ENG_XRC_TGT, false}};

static void new_qp(struct world *w, unsigned i)
{
    const struct eng_qp_cfg cfg = {.service = kinds[i].service,
                                   .send_cq = w->cq,
                                   .recv_cq = w->cq,
                                   .srq = kinds[i].srq ? w->srq : NULL,
                                   .max_send_wr = DEPTH,
                                   .max_recv_wr = DEPTH,
                                   .max_inline = 32,
                                   .max_answers = 4,
                                   .qpn = 16 + i};
    w->qp[i] = eng_qp_new(w->pd, &cfg);
}

static const unsigned steps[4][3] = {
    [ENG_RC] = {ENG_ATTR_ACCESS,
                ENG_ATTR_AV | ENG_ATTR_PATH_MTU | ENG_ATTR_DEST_QPN | ENG_ATTR_RQ_PSN |
                    ENG_ATTR_MAX_DEST_RD_ATOMIC | ENG_ATTR_MIN_RNR_TIMER | ENG_ATTR_CREDITS,
                ENG_ATTR_SQ_PSN | ENG_ATTR_TIMEOUT | ENG_ATTR_RETRY_CNT | ENG_ATTR_RNR_RETRY |
                    ENG_ATTR_MAX_RD_ATOMIC | ENG_ATTR_CC | ENG_ATTR_WINDOW},
    [ENG_UC] = {ENG_ATTR_ACCESS,
                ENG_ATTR_AV | ENG_ATTR_PATH_MTU | ENG_ATTR_DEST_QPN | ENG_ATTR_RQ_PSN,
                ENG_ATTR_SQ_PSN},
    [ENG_UD] = {ENG_ATTR_QKEY, ENG_ATTR_PATH_MTU, ENG_ATTR_SQ_PSN},
    [ENG_XRC_TGT] = {ENG_ATTR_ACCESS,
                     ENG_ATTR_AV | ENG_ATTR_PATH_MTU | ENG_ATTR_DEST_QPN | ENG_ATTR_RQ_PSN |
                         ENG_ATTR_MAX_DEST_RD_ATOMIC | ENG_ATTR_MIN_RNR_TIMER,
                     ENG_ATTR_SQ_PSN | ENG_ATTR_TIMEOUT},
};

static struct eng_qp_attr attributes(enum eng_qp_state to)
{
    struct eng_qp_attr a = {.state = to,
                            .access = 0x30F,
                            .qkey = 5,
                            .path_mtu = MTU,
                            .timeout = 3,
                            .retry_cnt = 3,
                            .rnr_retry = 2,
                            .min_rnr_timer = 1,
                            .dest_qpn = 99,
                            .rq_psn = 0xFFFFFC,
                            .sq_psn = 0xFFFFFC,
                            .max_rd_atomic = 2,
                            .max_dest_rd_atomic = 2,
                            .window = 20,
                            .dcqcn = true};
    roce_ip_v4(a.av.src_ip, 10, 0, 0, 1);
    roce_ip_v4(a.av.dst_ip, 10, 0, 0, 2);
    eng_dcqcn_preset(ENG_DCQCN_NIC, &a.cc);
    return a;
}

/* The next state on the way to RTS. */
static void advance(struct world *w, unsigned i)
{
    struct eng_qp *qp = w->qp[i];
    if (qp->state > ENG_RTR)
        return;
    struct eng_qp_attr a = attributes((enum eng_qp_state)(qp->state + 1));
    a.credits = i == 2;
    const int err =
        eng_qp_modify(qp, w->now, &a, ENG_ATTR_STATE | steps[kinds[i].service][qp->state]);
    assert(err == 0);
}

static void new_mr(struct world *w, unsigned access)
{
    w->mr = eng_mr_new(w->pd, w->mem + GUARD, MEM, 4096, access | ENG_LOCAL_WRITE, NULL);
}

static struct world world_new(void)
{
    struct world w = {.now = 1000};
    struct eng_dev_cfg cfg = {.max_qp = 16,
                              .max_mr = 4,
                              .link_bps = 10000000000,
                              .no_icrc = true,
                              .cnp_gap_ns = 1000,
                              .ack_coalesce = 2};
    roce_ip_v4(cfg.ip, 10, 0, 0, 1);
    w.dev = eng_dev_new(&cfg);
    w.pd = eng_pd_new(w.dev);
    w.cq = eng_cq_new(w.dev, 64);
    w.srq = eng_srq_new(w.pd, DEPTH);
    w.mem = calloc(1, MEM + 2 * GUARD);
    new_mr(&w, 0x30F);
    for (unsigned i = 0; i < QPS; i++) {
        new_qp(&w, i);
        for (int step = 0; step < 3; step++)
            advance(&w, i);
    }
    return w;
}

static void check(const struct world *w)
{
    for (unsigned i = 0; i < QPS; i++) {
        const struct eng_qp *qp = w->qp[i];
        const struct requester *s = &qp->s;
        const struct responder *r = &qp->r;
        assert(s->una <= s->cur_psn && s->cur_psn <= s->next);
        assert(s->next - s->una <= PSN_MAX_OUT);
        assert((int32_t)(s->cur - s->tail) >= 0 && (int32_t)(s->head - s->cur) >= 0);
        assert(s->head - s->tail <= DEPTH && s->rd_atomic <= 2);
        assert(r->head - r->tail <= DEPTH && r->ack_count <= ACK_RING);
        assert(r->answer_head - r->answer_tail <= 2);
        assert(r->answer_head - r->answer_next <= r->answer_head - r->answer_tail);
        /* what is outstanding goes on by itself */
        assert(s->una == s->next || qp->service != ENG_RC || requester_ready(qp) ||
               qp->timer.ack != ENG_NEVER || qp->timer.rnr != ENG_NEVER);
    }
    for (unsigned i = 0; i < GUARD; i++)
        assert(w->mem[i] == 0 && w->mem[GUARD + MEM + i] == 0);
}

/* Sends what there is; it must come to an end, since time stands still. */
static void flush(struct world *w)
{
    uint8_t buf[ENG_FRAME_MAX];
    eng_dev_expire(w->dev, w->now);
    for (unsigned n = 0;; n++) {
        const int len = eng_dev_write(w->dev, w->now, buf, sizeof(buf));
        assert(len >= 0 && n < BURST);
        if (len == 0)
            break;
        const struct roce_frame frame = {.data = buf,
                                         .caplen = (uint32_t)len,
                                         .origlen = (uint32_t)len,
                                         .linktype = ROCE_LINK_ETHERNET};
        struct roce_packet pkt;
        roce_packet_decode(&frame, NULL, &pkt);
        assert(pkt.kind == ROCE_KIND_ROCEV2 && pkt.status == ROCE_STATUS_OK);
    }
    assert(eng_dev_next(w->dev, w->now) > w->now);
}

/* A frame of the peer whose headers are as the input has them, but near enough to what fits. */
static void packet(struct world *w, struct input *in)
{
    uint8_t buf[512] = {0};
    const uint8_t opcode = (uint8_t)take(in, 1);
    const uint8_t bits = (uint8_t)take(in, 1);
    const uint32_t who = take(in, 1);
    const struct eng_qp *qp = w->qp[who % QPS];
    const struct roce_opcode_info *info = roce_opcode_info(opcode);
    const uint64_t base = info->response ? qp->s.una : qp->r.epsn;
    const uint32_t psn = (uint32_t)base + (uint32_t)(int8_t)take(in, 1);
    static const uint32_t lens[] = {0, MTU, 8, 1, 4, 44, MTU - 1, 16};
    uint32_t len = lens[bits & 7];
    if (info->payload == ROCE_PAYLOAD_NONE && !(bits & 8))
        len = 0;
    uint8_t *p = buf + 42;
    const struct roce_bth bth = {.opcode = opcode,
                                 .se = bits >> 4 & 1,
                                 .pad = (uint8_t)((-len + (bits >> 5 & 1)) & 3),
                                 .pkey = 0xFFFF,
                                 .dqpn = qp->qpn,
                                 .ackreq = bits >> 6 & 1,
                                 .psn = psn & 0xFFFFFF};
    p += roce_bth_encode(&bth, p, ROCE_BTH_LEN);
    for (uint32_t i = 0; i < info->ext_len; i++) {
        *p++ = (uint8_t)(bits & 0x80 ? take(in, 1) : 0);
    }
    if (!(bits & 0x80)) { /* headers that are likely to pass */
        p -= info->ext_len;
        const uint32_t size = take(in, 1) * 8U;
        const struct roce_reth reth = {
            .va = 4096 + 8U * take(in, 1), .rkey = w->mr->key, .dma_length = len > 0 ? len : size};
        const struct roce_atomic_eth atomic = {.va = reth.va, .rkey = w->mr->key, .swap_add = size};
        const struct roce_deth deth = {.qkey = 5, .src_qp = 3};
        const struct roce_xrceth xrc = {.srq = eng_srq_num(w->srq)};
        const struct roce_feth feth = {.plt = size >> 3 & 3, .sel = size >> 6 & 1};
        const struct roce_aeth aeth = {.syndrome = (uint8_t)(size >> 3), .msn = size};
        if (info->headers & ROCE_H_DETH)
            p += roce_deth_encode(&deth, p, 64);
        if (info->headers & ROCE_H_XRCETH)
            p += roce_xrceth_encode(&xrc, p, 64);
        if (info->headers & ROCE_H_FETH)
            p += roce_feth_encode(&feth, p, 64);
        if (info->headers & ROCE_H_RETH)
            p += roce_reth_encode(&reth, p, 64);
        if (info->headers & ROCE_H_ATOMIC)
            p += roce_atomic_eth_encode(&atomic, p, 64);
        if (info->headers & ROCE_H_AETH)
            p += roce_aeth_encode(&aeth, p, 64);
        if (info->headers & ROCE_H_ATOMIC_ACK)
            p += 8;
        if (info->headers & ROCE_H_IMM)
            p += 4;
        if (info->headers & ROCE_H_IETH)
            p += roce_imm_encode(w->mr->key, p, 64);
    }
    p += len + (-len & 3) + ROCE_ICRC_LEN;
    const uint32_t total = (uint32_t)(p - buf);
    buf[12] = 0x08;
    struct roce_ip ip = {
        .tos = (uint8_t)(who & 0x80 ? 3 : 2), .ttl = 1, .proto = 17, .total_len = total - 14};
    roce_ip_v4(ip.src, 10, 0, 0, 2);
    roce_ip_v4(ip.dst, 10, 0, 0, 1);
    roce_ipv4_encode(&ip, buf + 14, 20);
    const struct roce_udp udp = {.dport = 4791, .len = (uint16_t)(total - 34)};
    roce_udp_encode(&udp, buf + 34, 8);
    uint8_t *exact = malloc(total);
    memcpy(exact, buf, total);
    eng_dev_read(w->dev, w->now, exact, total);
    free(exact);
}

static void post(struct world *w, struct input *in)
{
    const uint32_t what = take(in, 1), more = take(in, 1);
    struct eng_qp *qp = w->qp[what % QPS];
    const struct eng_sge sge = {4096 + more, (more & 15) * 64, w->mr->key ^ (more == 77)};
    if (what & 0x80) {
        const struct eng_recv_wr recv = {.wr_id = 1, .n_sge = 1, .sge = {sge}};
        if (what & 0x40)
            eng_srq_post(w->srq, &recv);
        else
            eng_post_recv(qp, w->now, &recv);
        return;
    }
    struct eng_send_wr wr = {.op = (enum eng_wr_op)(more >> 4),
                             .signaled = what & 1,
                             .fence = what >> 5 & 1,
                             .n_sge = 1,
                             .sge = {sge},
                             .remote_va = 4096,
                             .rkey = 1,
                             .dest_qpn = 7,
                             .flush_type = 1};
    if (what & 0x40 && wr.op <= ENG_WR_WRITE_IMM) {
        wr.inline_data = w->mem;
        wr.inline_len = more & 31;
    }
    eng_post_send(qp, w->now, &wr);
}

static void change(struct world *w, struct input *in)
{
    const uint32_t what = take(in, 1);
    const unsigned i = what % QPS;
    struct eng_qp_attr a = {.state = (enum eng_qp_state)(what >> 4 & 7)};
    switch (what >> 6) {
    case 0:
        advance(w, i);
        break;
    case 1:
        eng_qp_modify(w->qp[i], w->now, &a, ENG_ATTR_STATE);
        break;
    case 2:
        eng_qp_del(w->qp[i]);
        new_qp(w, i);
        break;
    case 3:
        eng_mr_del(w->mr);
        new_mr(w, what & 0xF);
        break;
    }
}

static void pass_time(struct world *w, struct input *in)
{
    const uint32_t how = take(in, 1);
    const roce_tstamp next = eng_dev_next(w->dev, w->now);
    if (how & 1 && next != ENG_NEVER && next > w->now)
        w->now = next;
    else
        w->now += (uint64_t)how << (how & 15);
    eng_dev_expire(w->dev, w->now);
}

static void raw(struct world *w, struct input *in)
{
    const size_t len = take(in, 1) < in->left ? take(in, 1) : in->left;
    uint8_t *exact = malloc(len + 1);
    for (size_t i = 0; i < len; i++)
        exact[i] = (uint8_t)take(in, 1);
    eng_dev_read(w->dev, w->now, exact, len);
    free(exact);
}

static void pause(struct world *w, struct input *in)
{
    uint8_t f[60] = {[12] = 0x88, 0x08, 0x01, 0x01, 0x00, 0xFF};
    memset(f + 18, (int)(take(in, 1) & 1), 16);
    eng_dev_read(w->dev, w->now, f, sizeof(f));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input in = {data, size};
    struct world w = world_new();
    struct eng_wc wc[8];
    while (in.left > 0) {
        const uint32_t action = take(&in, 1);
        switch (action & 15) {
        default:
            packet(&w, &in);
            break;
        case 8:
        case 9:
            post(&w, &in);
            break;
        case 10:
            change(&w, &in);
            break;
        case 11:
            pass_time(&w, &in);
            break;
        case 12:
            raw(&w, &in);
            break;
        case 13:
            pause(&w, &in);
            break;
        case 14:
            eng_cq_poll(w.cq, wc, 8);
            break;
        }
        if (action & 0x10) {
            for (int priority = 0; priority < 8; priority++)
                w.now = w.now > w.dev->pause_until[priority] ? w.now : w.dev->pause_until[priority];
            flush(&w);
        }
        check(&w);
    }
    eng_dev_del(w.dev);
    free(w.mem);
    return 0;
}
