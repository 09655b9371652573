/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lanes. */
#include "rocereplay/lane.h"

#include <roce/err.h>
#include <roce/psn.h>
#include <stdlib.h>
#include <string.h>

#include "common/msg.h"
#include "common/signals.h"
#include "port/neigh.h"
#include "rocereplay/truth.h"

#define VA_START UINT64_C(0x10000000000)

enum {
    VA_STEP = 4096,
    ARP_MS = 3000,
    ARP_STEP_MS = 200,         /* how long a signal may have to wait */
    DEFAULT_QKEY = 0x11111111, /* ibv_ud_pingpong's and perftest's */
    REMOTE_ALL = ENG_REMOTE_WRITE | ENG_REMOTE_READ | ENG_REMOTE_ATOMIC | ENG_FLUSH_GLOBAL |
                 ENG_FLUSH_PERSISTENT,
};

static int out_of_memory(void)
{
    msg_print("out of memory; give a smaller --size, --tx-depth or --qp");
    return -1;
}

/* Addresses are counted, not those of our memory: the same run gives the same frames. */
static uint64_t take_va(struct station *st, uint64_t len)
{
    if (st->next_va == 0)
        st->next_va = VA_START;
    const uint64_t va = st->next_va;
    st->next_va += (len + 2 * VA_STEP - 1) & ~(uint64_t)(VA_STEP - 1);
    return va;
}

static int add_memory(struct station *st, uint64_t len, unsigned access, uint8_t **memory,
                      uint64_t *va, struct eng_mr **mr)
{
    len = len != 0 ? len : 1;
    *memory = calloc(1, len);
    if (*memory == NULL)
        return out_of_memory();
    *va = take_va(st, len);
    *mr = eng_mr_new(st->pd, *memory, len, *va, access, NULL);
    return *mr != NULL ? 0 : out_of_memory();
}

static int move(struct lane *lane, struct eng_qp_attr *attr, enum eng_qp_state state, unsigned mask)
{
    attr->state = state;
    const int rc = eng_qp_modify(lane->qp, station_now(lane->st), attr, mask | ENG_ATTR_STATE);
    if (rc == 0)
        return 0;
    msg_print("QP 0x%x cannot move to %s: %s", (unsigned)lane->qpn, eng_qp_state_name(state),
              roce_strerror(rc));
    return -1;
}

static int make_qp(struct lane *lane)
{
    const struct lane_cfg *cfg = &lane->cfg;
    const struct eng_qp_cfg qp = {
        .service = cfg->service,
        .send_cq = cfg->cq != NULL ? cfg->cq : lane->st->send_cq,
        .recv_cq = cfg->cq != NULL ? cfg->cq : lane->st->recv_cq,
        .max_send_wr = cfg->max_send,
        .max_recv_wr = cfg->max_recv,
        .qpn = cfg->qpn,
    };
    lane->qp = eng_qp_new(lane->st->pd, &qp);
    if (lane->qp == NULL) {
        if (cfg->qpn == 0)
            return out_of_memory();
        msg_print("QP number 0x%x is taken or reserved; give another", (unsigned)cfg->qpn);
        return -1;
    }
    lane->qpn = eng_qp_num(lane->qp);
    struct eng_qp_attr attr = {.access = REMOTE_ALL,
                               .qkey = cfg->qkey != 0 ? cfg->qkey : DEFAULT_QKEY};
    return move(lane, &attr, ENG_INIT,
                cfg->service == ENG_UD ? ENG_ATTR_QKEY : (unsigned)ENG_ATTR_ACCESS);
}

int lane_open(struct lane *lane, struct station *st, const struct lane_cfg *cfg)
{
    *lane = (struct lane){.st = st, .cfg = *cfg, .psn = cfg->psn & ROCE_PSN_MASK};
    if (!cfg->has_psn) {
        struct eng_rng rng = {.state = st->seed};
        lane->psn = (uint32_t)eng_rng_next(&rng) & ROCE_PSN_MASK;
        st->seed = rng.state;
    }
    if (add_memory(st, cfg->local_len, ENG_LOCAL_WRITE | (cfg->shared ? REMOTE_ALL : 0),
                   &lane->local, &lane->local_va, &lane->local_mr) != 0)
        return -1;
    if (cfg->shared) {
        lane->target = lane->local;
        lane->target_va = lane->local_va;
        lane->target_mr = lane->local_mr;
    } else if (add_memory(st, cfg->target_len, ENG_LOCAL_WRITE | REMOTE_ALL, &lane->target,
                          &lane->target_va, &lane->target_mr) != 0) {
        return -1;
    }
    return make_qp(lane);
}

void lane_close(struct lane *lane)
{
    if (lane->qp != NULL) {
        truth_add(lane->st->truth, lane);
        eng_qp_del(lane->qp);
    }
    if (lane->target_mr != NULL && !lane->cfg.shared)
        eng_mr_del(lane->target_mr);
    if (lane->local_mr != NULL)
        eng_mr_del(lane->local_mr);
    if (!lane->cfg.shared)
        free(lane->target);
    free(lane->local);
    *lane = (struct lane){0};
}

int lane_path(const struct station *st, const uint8_t ip[16], struct eng_ah *ah)
{
    const struct replay_opts *opts = st->opts;
    char text[PORT_TEXT_MAX];
    *ah = (struct eng_ah){
        .tclass = opts->tclass,
        .ttl = (uint8_t)opts->ttl,
        .has_vlan = opts->has_vlan,
        .vlan_tci = opts->vlan_tci,
        .sport = (uint16_t)opts->sport,
    };
    memcpy(ah->src_ip, st->ip, 16);
    memcpy(ah->dst_ip, ip, 16);
    if (netif_is_ipv4(ip) != netif_is_ipv4(st->ip)) {
        msg_print("the peer's address and ours are of different kinds; give --address");
        return -1;
    }
    if (st->opts->interface == NULL) { /* the other end of the loopback */
        memcpy(ah->dmac, st->netif.mac, 6);
        ah->dmac[5] = ip[15];
        return 0;
    }
    for (unsigned waited = 0; waited < ARP_MS && !signals_interrupted(); waited += ARP_STEP_MS)
        if (neigh_resolve(&st->netif, ip, ARP_STEP_MS, ah->dmac, text) == 0)
            return 0;
    if (signals_interrupted())
        msg_print("interrupted before the peer's address was known");
    else
        msg_print("%s; is the address right, and the peer up?", text);
    return -1;
}

static int to_rts_connected(struct lane *lane)
{
    const struct replay_opts *opts = lane->st->opts;
    const struct remote *remote = &lane->remote;
    const bool rc = lane->cfg.service == ENG_RC;
    struct eng_qp_attr attr = {
        .av = lane->ah,
        .path_mtu = remote->mtu != 0 ? remote->mtu : (uint16_t)opts->mtu,
        .dest_qpn = remote->qpn,
        .rq_psn = remote->psn,
        .sq_psn = lane->psn,
        .timeout = opts->timeout,
        .retry_cnt = opts->retry_cnt,
        .rnr_retry = opts->rnr_retry,
        .min_rnr_timer = opts->min_rnr_timer,
        .max_rd_atomic = remote->rd_atomic != 0 ? remote->rd_atomic : (uint8_t)opts->rd_atomic,
        .max_dest_rd_atomic = (uint8_t)opts->rd_atomic,
    };
    unsigned rtr = ENG_ATTR_AV | ENG_ATTR_PATH_MTU | ENG_ATTR_DEST_QPN | ENG_ATTR_RQ_PSN;
    unsigned rts = ENG_ATTR_SQ_PSN;
    if (rc) {
        rtr |= ENG_ATTR_MAX_DEST_RD_ATOMIC | ENG_ATTR_MIN_RNR_TIMER;
        rts |= ENG_ATTR_TIMEOUT | ENG_ATTR_RETRY_CNT | ENG_ATTR_RNR_RETRY | ENG_ATTR_MAX_RD_ATOMIC;
    }
    return move(lane, &attr, ENG_RTR, rtr) == 0 && move(lane, &attr, ENG_RTS, rts) == 0 ? 0 : -1;
}

static int to_rts_datagram(struct lane *lane)
{
    struct eng_qp_attr attr = {.sq_psn = lane->psn};
    return move(lane, &attr, ENG_RTR, 0) == 0 && move(lane, &attr, ENG_RTS, ENG_ATTR_SQ_PSN) == 0
               ? 0
               : -1;
}

struct eng_cm_param lane_cm_param(struct lane *lane)
{
    const struct replay_opts *opts = lane->st->opts;
    return (struct eng_cm_param){
        .qp = lane->qp,
        .service = lane->cfg.service,
        .ctx = lane,
        .responder_resources = (uint8_t)opts->rd_atomic,
        .initiator_depth = (uint8_t)opts->rd_atomic,
        .retry_count = opts->retry_cnt,
        .rnr_retry = opts->rnr_retry,
        .ack_timeout = opts->timeout,
        .min_rnr_timer = opts->min_rnr_timer,
        .access = ENG_REMOTE_WRITE | ENG_REMOTE_READ | ENG_REMOTE_ATOMIC,
        .path_mtu = (uint16_t)opts->mtu,
    };
}

void lane_connected(struct lane *lane, const struct remote *remote, const struct eng_ah *ah)
{
    lane->remote = *remote;
    lane->ah = *ah;
    if (lane->remote.qkey == 0)
        lane->remote.qkey = DEFAULT_QKEY;
    if (lane->st->fault != NULL)
        fault_learn(lane->st->fault, lane->qpn, lane->psn, remote->qpn, remote->psn);
}

int lane_control(struct lane *lane)
{
    const struct replay_opts *opts = lane->st->opts;
    struct eng_qp_attr attr = {.dcqcn = opts->cc != 0};
    unsigned mask = 0;
    if (opts->cc != 0 && lane->cfg.service == ENG_RC) {
        eng_dcqcn_preset(ENG_DCQCN_NIC, &attr.cc);
        mask |= ENG_ATTR_CC;
    }
    if (opts->rate_bps != 0 && opts->burst == 0) {
        attr.rate_bps = opts->rate_bps / opts->qps;
        mask |= ENG_ATTR_RATE;
    }
    return mask == 0 ? 0 : move(lane, &attr, ENG_RTS, mask);
}

int lane_connect(struct lane *lane, const struct remote *remote)
{
    struct eng_ah ah;
    if (lane_path(lane->st, remote->ip, &ah) != 0)
        return -1;
    lane_connected(lane, remote, &ah);
    const int rc = lane->cfg.service == ENG_UD ? to_rts_datagram(lane) : to_rts_connected(lane);
    return rc == 0 ? lane_control(lane) : -1;
}

struct eng_sge lane_local(const struct lane *lane, uint64_t off, uint32_t len)
{
    return (struct eng_sge){
        .addr = lane->local_va + off, .length = len, .lkey = eng_mr_lkey(lane->local_mr)};
}

uint32_t lane_rkey(const struct lane *lane)
{
    return eng_mr_rkey(lane->target_mr);
}
