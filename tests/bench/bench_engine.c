/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Two engines on one core, frames handed from one to the other in memory: packets and bytes per
 * second of CPU time. bench_engine [QPs [SECONDS [COALESCE]]], where an ACK may stand for COALESCE
 * (16) requests that asked for one. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <roce/net.h>

#include "engine/engine.h"

#define DEPTH 64
#define BATCH 32 /* frames made before they are read, as port loops do */
#define MEM   (UINT64_C(1) << 20)

struct side {
    struct eng_dev *dev;
    struct eng_pd *pd;
    struct eng_cq *cq;
    struct eng_mr *mr;
    uint8_t *mem;
    struct eng_qp **qps;
};

static double cpu_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void make_side(struct side *s, int i, uint32_t n_qp, uint8_t coalesce)
{
    struct eng_dev_cfg cfg = {.mac = {2, 0, 0, 0, 0, (uint8_t)i},
                              .max_qp = n_qp,
                              .seed = (uint64_t)i + 1,
                              .migreq = true,
                              .cnp_gap_ns = 4000,
                              .ack_coalesce = coalesce};
    roce_ip_v4(cfg.ip, 10, 0, 0, (uint8_t)(i + 1));
    s->dev = eng_dev_new(&cfg);
    s->pd = eng_pd_new(s->dev);
    s->cq = eng_cq_new(s->dev, 2 * DEPTH * n_qp);
    s->mem = calloc(1, MEM);
    s->mr = eng_mr_new(s->pd, s->mem, MEM, (uint64_t)(uintptr_t)s->mem,
                       ENG_LOCAL_WRITE | ENG_REMOTE_WRITE | ENG_REMOTE_READ, NULL);
    s->qps = calloc(n_qp, sizeof(struct eng_qp *));
    for (uint32_t k = 0; k < n_qp; k++)
        s->qps[k] = eng_qp_new(s->pd, &(struct eng_qp_cfg){.send_cq = s->cq,
                                                           .recv_cq = s->cq,
                                                           .max_send_wr = DEPTH,
                                                           .max_recv_wr = DEPTH,
                                                           .max_inline = 64,
                                                           .max_answers = 16});
}

static void connect(const struct side *s, int i, const struct side *peer, uint32_t n_qp)
{
    for (uint32_t k = 0; k < n_qp; k++) {
        struct eng_qp_attr a = {.state = ENG_INIT,
                                .access = ENG_REMOTE_WRITE | ENG_REMOTE_READ,
                                .path_mtu = 4096,
                                .timeout = 14,
                                .retry_cnt = 7,
                                .rnr_retry = 7,
                                .min_rnr_timer = 12,
                                .dest_qpn = eng_qp_num(peer->qps[k]),
                                .max_rd_atomic = 16,
                                .max_dest_rd_atomic = 16};
        roce_ip_v4(a.av.src_ip, 10, 0, 0, (uint8_t)(i + 1));
        roce_ip_v4(a.av.dst_ip, 10, 0, 0, (uint8_t)(2 - i));
        eng_qp_modify(s->qps[k], 0, &a, ENG_ATTR_STATE | ENG_ATTR_ACCESS);
        a.state = ENG_RTR;
        eng_qp_modify(s->qps[k], 0, &a,
                      ENG_ATTR_STATE | ENG_ATTR_AV | ENG_ATTR_PATH_MTU | ENG_ATTR_DEST_QPN |
                          ENG_ATTR_RQ_PSN | ENG_ATTR_MAX_DEST_RD_ATOMIC | ENG_ATTR_MIN_RNR_TIMER);
        a.state = ENG_RTS;
        if (eng_qp_modify(s->qps[k], 0, &a,
                          ENG_ATTR_STATE | ENG_ATTR_SQ_PSN | ENG_ATTR_TIMEOUT | ENG_ATTR_RETRY_CNT |
                              ENG_ATTR_RNR_RETRY | ENG_ATTR_MAX_RD_ATOMIC) != 0)
            exit(1);
    }
}

static void post(const struct side *s, const struct side *peer, uint32_t k, enum eng_wr_op op,
                 uint32_t size)
{
    if (op == ENG_WR_SEND) {
        const struct eng_recv_wr r = {
            .wr_id = k,
            .n_sge = 1,
            .sge = {{(uint64_t)(uintptr_t)peer->mem, size, eng_mr_lkey(peer->mr)}}};
        if (eng_post_recv(peer->qps[k], 0, &r) != 0)
            exit(1);
    }
    const struct eng_send_wr w = {.wr_id = k,
                                  .op = op,
                                  .signaled = true,
                                  .n_sge = 1,
                                  .sge = {{(uint64_t)(uintptr_t)s->mem, size, eng_mr_lkey(s->mr)}},
                                  .remote_va = (uint64_t)(uintptr_t)peer->mem,
                                  .rkey = eng_mr_rkey(peer->mr)};
    if (eng_post_send(s->qps[k], 0, &w) != 0)
        exit(1);
}

/* Moves up to a batch of frames; returns their number. */
static unsigned move(const struct side *from, const struct side *to, roce_tstamp now,
                     uint8_t (*frames)[ENG_FRAME_MAX + 64])
{
    int len[BATCH];
    unsigned n = 0;
    for (; n < BATCH; n++)
        if ((len[n] = eng_dev_write(from->dev, now, frames[n], ENG_FRAME_MAX)) <= 0)
            break;
    for (unsigned i = 0; i < n; i++)
        eng_dev_read(to->dev, now, frames[i], (size_t)len[i]);
    return n;
}

static void bench(const char *name, enum eng_wr_op op, uint32_t size, uint32_t n_qp, double seconds,
                  uint8_t coalesce)
{
    static uint8_t frames[BATCH][ENG_FRAME_MAX + 64];
    struct side s[2];
    make_side(&s[0], 0, n_qp, coalesce);
    make_side(&s[1], 1, n_qp, coalesce);
    connect(&s[0], 0, &s[1], n_qp);
    connect(&s[1], 1, &s[0], n_qp);
    for (uint32_t k = 0; k < n_qp; k++)
        for (int i = 0; i < DEPTH; i++)
            post(&s[0], &s[1], k, op, size);
    uint64_t packets = 0, messages = 0;
    roce_tstamp now = 0;
    struct eng_wc wc[64];
    const double begin = cpu_seconds();
    double end = begin;
    while (end - begin < seconds) {
        for (int i = 0; i < 1000; i++, now += 1000) {
            packets += move(&s[0], &s[1], now, frames);
            packets += move(&s[1], &s[0], now, frames);
            int n;
            while ((n = eng_cq_poll(s[1].cq, wc, 64)) > 0)
                continue;
            while ((n = eng_cq_poll(s[0].cq, wc, 64)) > 0)
                for (int c = 0; c < n; c++) {
                    if (wc[c].status != ENG_WC_SUCCESS)
                        exit(1);
                    messages++;
                    post(&s[0], &s[1], (uint32_t)wc[c].wr_id, op, size);
                }
        }
        end = cpu_seconds();
    }
    const double t = end - begin;
    printf("%-14s %6u B %6u QPs  %6.2f M packets/s  %6.2f M messages/s  %6.2f GB/s\n", name, size,
           n_qp, (double)packets / t / 1e6, (double)messages / t / 1e6,
           (double)messages * size / t / 1e9);
    for (int i = 0; i < 2; i++) {
        eng_dev_del(s[i].dev);
        free(s[i].mem);
        free(s[i].qps);
    }
}

int main(int argc, char **argv)
{
    const uint32_t n_qp = argc > 1 ? (uint32_t)atoi(argv[1]) : 1;
    const double seconds = argc > 2 ? atof(argv[2]) : 2;
    const uint8_t coalesce = argc > 3 ? (uint8_t)atoi(argv[3]) : 16;
    bench("SEND", ENG_WR_SEND, 64, n_qp, seconds, coalesce);
    bench("WRITE", ENG_WR_WRITE, 64, n_qp, seconds, coalesce);
    bench("READ", ENG_WR_READ, 64, n_qp, seconds, coalesce);
    bench("WRITE", ENG_WR_WRITE, 65536, n_qp, seconds, coalesce);
    bench("READ", ENG_WR_READ, 65536, n_qp, seconds, coalesce);
    return 0;
}
