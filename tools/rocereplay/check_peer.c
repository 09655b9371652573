/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A peer to be checked, on the transport engine. */
#include "rocereplay/check_peer.h"

#include <roce/err.h>
#include <stdlib.h>
#include <string.h>

#include "common/msg.h"
#include "rocereplay/check.h"
#include "rocereplay/lane.h"
#include "rocereplay/tcp.h"

#include <unistd.h>

#define REGION_VA UINT64_C(0x10000000000)
#define BUFFER_VA UINT64_C(0x18000000000)

enum { REGION_LEN = 65536, BUFFER_LEN = 1 << 20, QUEUE_SPARE = 16 };

static int cannot(const char *what, int rc)
{
    msg_print("a case's QP cannot be made: %s: %s", what, roce_strerror(rc));
    return -1;
}

static int make_memory(struct check_peer *peer)
{
    int err = ROCE_ERR_NOMEM;
    peer->memory = malloc(REGION_LEN);
    peer->buffer = calloc(1, BUFFER_LEN);
    if (peer->memory == NULL || peer->buffer == NULL)
        return cannot("memory", err);
    for (unsigned i = 0; i < REGION_LEN; i++)
        peer->memory[i] = check_fill(i);
    peer->region = eng_mr_new(peer->st->pd, peer->memory, REGION_LEN, REGION_VA,
                              (unsigned)peer->want.mr_access, &err);
    if (peer->region == NULL)
        return cannot("memory region", err);
    peer->buffer_mr =
        eng_mr_new(peer->st->pd, peer->buffer, BUFFER_LEN, BUFFER_VA, ENG_LOCAL_WRITE, &err);
    return peer->buffer_mr != NULL ? 0 : cannot("buffer", err);
}

static struct eng_qp *make_qp(struct check_peer *peer)
{
    const struct check_want *want = &peer->want;
    const struct eng_qp_cfg cfg = {
        .service = (enum eng_service)want->service,
        .send_cq = peer->send_cq,
        .recv_cq = peer->recv_cq,
        .max_send_wr = (uint32_t)want->messages + QUEUE_SPARE,
        .max_recv_wr = (uint32_t)(want->receives + want->late_receives) + QUEUE_SPARE,
    };
    return eng_qp_new(peer->st->pd, &cfg);
}

static int connect_qp(struct check_peer *peer, struct eng_qp *qp, uint64_t dest_qpn,
                      unsigned access)
{
    const struct check_want *want = &peer->want;
    const roce_tstamp now = station_now(peer->st);
    struct eng_qp_attr attr = {
        .state = ENG_INIT,
        .access = access & ~(unsigned)ENG_LOCAL_WRITE,
        .qkey = (uint32_t)want->qkey,
        .path_mtu = (uint16_t)want->mtu,
        .dest_qpn = (uint32_t)dest_qpn,
        .rq_psn = (uint32_t)want->psn,
        .sq_psn = (uint32_t)want->peer_psn,
        .timeout = (uint8_t)want->timeout,
        .retry_cnt = (uint8_t)want->retry_cnt,
        .rnr_retry = (uint8_t)want->rnr_retry,
        .min_rnr_timer = (uint8_t)want->min_rnr_timer,
        .max_rd_atomic = (uint8_t)want->rd_atomic,
        .max_dest_rd_atomic = (uint8_t)want->rd_atomic,
        .dcqcn = want->dcqcn != 0,
    };
    unsigned init = ENG_ATTR_ACCESS, rtr = 0, rts = ENG_ATTR_SQ_PSN;
    if (want->service == ENG_UD)
        init = ENG_ATTR_QKEY;
    else
        rtr = ENG_ATTR_AV | ENG_ATTR_PATH_MTU | ENG_ATTR_DEST_QPN | ENG_ATTR_RQ_PSN;
    if (want->service == ENG_RC) {
        rtr |= ENG_ATTR_MAX_DEST_RD_ATOMIC | ENG_ATTR_MIN_RNR_TIMER;
        rts |= ENG_ATTR_TIMEOUT | ENG_ATTR_RETRY_CNT | ENG_ATTR_RNR_RETRY | ENG_ATTR_MAX_RD_ATOMIC;
        if (attr.dcqcn) {
            eng_dcqcn_preset(ENG_DCQCN_PAPER, &attr.cc);
            rts |= ENG_ATTR_CC;
        }
    }
    if (lane_path(peer->st, want->ip, &attr.av) != 0)
        return -1;
    int rc = eng_qp_modify(qp, now, &attr, init | ENG_ATTR_STATE);
    attr.state = ENG_RTR;
    if (rc == 0)
        rc = eng_qp_modify(qp, now, &attr, rtr | ENG_ATTR_STATE);
    attr.state = ENG_RTS;
    if (rc == 0)
        rc = eng_qp_modify(qp, now, &attr, rts | ENG_ATTR_STATE);
    return rc == 0 ? 0 : cannot("its attributes", rc);
}

static int post_receives(struct check_peer *peer, uint64_t n)
{
    const struct check_want *want = &peer->want;
    const uint32_t head = want->service == ENG_UD ? ENG_GRH_LEN : 0;
    const struct eng_recv_wr wr = {.n_sge = 1,
                                   .sge = {{.addr = BUFFER_VA,
                                            .length = (uint32_t)want->recv_size + head,
                                            .lkey = eng_mr_lkey(peer->buffer_mr)}}};
    for (uint64_t i = 0; i < n; i++) {
        const int rc = eng_post_recv(peer->qp, station_now(peer->st), &wr);
        if (rc != 0)
            return cannot("receives", rc);
    }
    return 0;
}

int check_peer_open(struct check_peer *peer, struct station *st, const struct check_want *want,
                    struct check_offer *offer)
{
    *peer = (struct check_peer){.st = st, .want = *want};
    const uint32_t entries = (uint32_t)(want->messages + want->receives + want->late_receives);
    peer->send_cq = eng_cq_new(st->dev, entries + 2 * QUEUE_SPARE);
    peer->recv_cq = eng_cq_new(st->dev, entries + 2 * QUEUE_SPARE);
    if (peer->send_cq == NULL || peer->recv_cq == NULL)
        return cannot("queues", ROCE_ERR_NOMEM);
    if (make_memory(peer) != 0)
        return -1;
    peer->qp = make_qp(peer);
    if (peer->qp == NULL)
        return cannot("QP", ROCE_ERR_FULL);
    if (connect_qp(peer, peer->qp, want->qpn, (unsigned)want->access) != 0)
        return -1;
    if (want->witness_qpn != 0) {
        peer->witness = make_qp(peer);
        if (peer->witness == NULL)
            return cannot("second QP", ROCE_ERR_FULL);
        if (connect_qp(peer, peer->witness, want->witness_qpn, ENG_REMOTE_READ) != 0)
            return -1;
    }
    *offer = (struct check_offer){
        .qpn = eng_qp_num(peer->qp),
        .witness_qpn = peer->witness != NULL ? eng_qp_num(peer->witness) : 0,
        .rkey = eng_mr_rkey(peer->region),
        .va = REGION_VA,
        .len = REGION_LEN,
    };
    return post_receives(peer, want->receives);
}

int check_peer_start(struct check_peer *peer)
{
    static const enum eng_wr_op ops[] = {[CHECK_OP_SEND] = ENG_WR_SEND,
                                         [CHECK_OP_WRITE] = ENG_WR_WRITE,
                                         [CHECK_OP_READ] = ENG_WR_READ};
    const struct check_want *want = &peer->want;
    const struct eng_send_wr wr = {
        .op = ops[want->op],
        .signaled = true,
        .n_sge = 1,
        .sge = {{.addr = BUFFER_VA,
                 .length = (uint32_t)want->size,
                 .lkey = eng_mr_lkey(peer->buffer_mr)}},
        .remote_va = want->va,
        .rkey = (uint32_t)want->rkey,
    };
    if (post_receives(peer, want->late_receives) != 0)
        return -1;
    for (uint64_t i = 0; i < want->messages; i++) {
        const int rc = eng_post_send(peer->qp, station_now(peer->st), &wr);
        if (rc != 0)
            return cannot("its work", rc);
    }
    return 0;
}

static void count(struct check_status *status, const struct eng_wc *wc, uint64_t *good)
{
    if (wc->status == ENG_WC_SUCCESS)
        (*good)++;
    else if (wc->status != ENG_WC_WR_FLUSH_ERR && status->error == 0)
        status->error = wc->status;
}

void check_peer_status(struct check_peer *peer, struct check_status *status)
{
    struct eng_wc wc;
    while (eng_cq_poll(peer->send_cq, &wc, 1) > 0)
        count(&peer->status, &wc, &peer->status.sent);
    while (eng_cq_poll(peer->recv_cq, &wc, 1) > 0)
        count(&peer->status, &wc, &peer->status.received);
    *status = peer->status;
}

void check_peer_close(struct check_peer *peer)
{
    if (peer->qp != NULL)
        eng_qp_del(peer->qp);
    if (peer->witness != NULL)
        eng_qp_del(peer->witness);
    if (peer->region != NULL)
        eng_mr_del(peer->region);
    if (peer->buffer_mr != NULL)
        eng_mr_del(peer->buffer_mr);
    if (peer->send_cq != NULL)
        eng_cq_del(peer->send_cq);
    if (peer->recv_cq != NULL)
        eng_cq_del(peer->recv_cq);
    free(peer->memory);
    free(peer->buffer);
    *peer = (struct check_peer){0};
}

/* 1: the client's next line is in |line|, 0: it has gone, -1: trouble, told. */
static int next_line(struct station *st, int fd, char line[CHECK_LINE_MAX])
{
    char byte;
    if (!tcp_wait_end(st, fd))
        return -1;
    if (recv(fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) <= 0)
        return 0;
    return tcp_line(st, fd, line, CHECK_LINE_MAX, "a request of the check") == 0 ? 1 : -1;
}

static int serve(struct station *st, int fd, struct check_peer *peer,
                 const struct check_offer *offer)
{
    char line[CHECK_LINE_MAX];
    struct check_status status;
    int rc;
    check_offer_encode(offer, line);
    if (tcp_write(st, fd, line, strlen(line), "our offer") != 0)
        return -1;
    while ((rc = next_line(st, fd, line)) > 0) {
        if (strncmp(line, check_start_line, strlen(check_start_line) - 1) == 0 &&
            check_peer_start(peer) != 0)
            return -1;
        check_peer_status(peer, &status);
        check_status_encode(&status, line);
        if (tcp_write(st, fd, line, strlen(line), "our status") != 0)
            return -1;
    }
    return rc;
}

int check_serve(struct station *st, int fd, const struct check_want *want)
{
    struct check_peer peer;
    struct check_offer offer;
    int rc = check_peer_open(&peer, st, want, &offer);
    if (rc == 0)
        rc = serve(st, fd, &peer, &offer);
    check_peer_close(&peer);
    return rc == 0 ? EXIT_DONE : EXIT_IO;
}
