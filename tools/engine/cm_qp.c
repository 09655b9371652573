/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the connection manager does to the user's QP: INIT, RTR, RTS and ERR with the attributes
 * that the exchange has agreed on (IBTA 12.9.6). */
#include "engine/cm_conn.h"

enum { RETRY_MAX = 7, RD_ATOMIC_MAX = 128 };

uint8_t cm_mtu_code(uint16_t mtu)
{
    uint8_t code = 1;
    while (code < 5 && 128 << code < mtu)
        code++;
    return code;
}

uint16_t cm_mtu_bytes(uint8_t code)
{
    return code >= 1 && code <= 5 ? (uint16_t)(128 << code) : 0;
}

bool cm_param_ok(const struct eng_cm_param *param)
{
    const bool mtu_ok =
        param->path_mtu == 0 || cm_mtu_bytes(cm_mtu_code(param->path_mtu)) == param->path_mtu;
    return param->qp != NULL && param->service != ENG_XRC_TGT && mtu_ok &&
           param->retry_count <= RETRY_MAX && param->rnr_retry <= RETRY_MAX &&
           param->ack_timeout < 32 && param->min_rnr_timer < 32 &&
           param->responder_resources <= RD_ATOMIC_MAX && param->initiator_depth <= RD_ATOMIC_MAX &&
           (param->private_len == 0 || param->private_data != NULL);
}

int cm_qp_init(struct eng_cm_conn *c, roce_tstamp now)
{
    const enum eng_qp_state state = eng_qp_state(c->qp);
    if (state == ENG_INIT || (c->service == ENG_UD && state == ENG_RTS))
        return 0;
    if (state != ENG_RESET)
        return ROCE_ERR_INVALID;
    const struct eng_qp_attr attr = {
        .state = ENG_INIT, .pkey = 0xFFFF, .access = c->access, .qkey = c->qkey};
    return eng_qp_modify(c->qp, now, &attr,
                         ENG_ATTR_STATE | ENG_ATTR_PKEY |
                             (c->service == ENG_UD ? ENG_ATTR_QKEY : ENG_ATTR_ACCESS));
}

static unsigned rtr_mask(const struct eng_cm_conn *c)
{
    unsigned mask = ENG_ATTR_STATE;
    if (c->service == ENG_UD)
        return mask;
    mask |= ENG_ATTR_AV | ENG_ATTR_PATH_MTU | ENG_ATTR_DEST_QPN | ENG_ATTR_RQ_PSN;
    if (c->access != 0)
        mask |= ENG_ATTR_ACCESS;
    if (c->service == ENG_RC)
        mask |= ENG_ATTR_MAX_DEST_RD_ATOMIC | ENG_ATTR_MIN_RNR_TIMER;
    return mask;
}

static unsigned rts_mask(const struct eng_cm_conn *c)
{
    unsigned mask = ENG_ATTR_STATE | ENG_ATTR_SQ_PSN;
    if (c->service == ENG_RC)
        mask |= ENG_ATTR_TIMEOUT | ENG_ATTR_RETRY_CNT | ENG_ATTR_RNR_RETRY | ENG_ATTR_MAX_RD_ATOMIC;
    if (c->service == ENG_RC && c->flow_control)
        mask |= ENG_ATTR_CREDITS;
    return mask;
}

int cm_qp_connect(struct eng_cm_conn *c, roce_tstamp now)
{
    int rc = cm_qp_init(c, now);
    if (rc != 0 || eng_qp_state(c->qp) == ENG_RTS)
        return rc;
    struct eng_qp_attr attr = {
        .state = ENG_RTR,
        .access = c->access,
        .av = c->ah,
        .path_mtu = c->path_mtu,
        .dest_qpn = c->remote_qpn,
        .rq_psn = c->remote_psn,
        .max_dest_rd_atomic = c->responder_resources,
        .min_rnr_timer = c->min_rnr_timer,
        .sq_psn = c->local_psn,
        .timeout = c->ack_timeout,
        .retry_cnt = c->retry_count,
        .rnr_retry = c->rnr_retry,
        .max_rd_atomic = c->initiator_depth,
        .credits = c->flow_control,
    };
    rc = eng_qp_modify(c->qp, now, &attr, rtr_mask(c));
    if (rc != 0)
        return rc;
    attr.state = ENG_RTS;
    return eng_qp_modify(c->qp, now, &attr, rts_mask(c));
}

/* A UD QP serves others, too: it goes on. One that was never connected is as the user gave it, with
 * its receives, for another request. */
void cm_qp_fail(struct eng_cm_conn *c, roce_tstamp now)
{
    const struct eng_qp_attr attr = {.state = ENG_ERR};
    if (c->qp != NULL && c->service != ENG_UD && eng_qp_state(c->qp) != ENG_RESET &&
        eng_qp_state(c->qp) != ENG_INIT)
        eng_qp_modify(c->qp, now, &attr, ENG_ATTR_STATE);
    c->qp = NULL;
}
