/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The passive side (IBTA 12.9.7.2): REQ in, REP or REJ out, RTU in. */
#include "engine/cm_conn.h"

#include <string.h>

enum { DEFAULT_RNR_TIMER = 12, DEFAULT_ACK_DELAY = 15, RD_ATOMIC_MAX = 128 };

static uint8_t least(uint8_t a, uint8_t b)
{
    return a < b ? a : b;
}

/* A refusal that leaves nothing behind: a repeated request is refused again. */
static void refuse(struct eng_cm *cm, const struct cm_in *in, uint16_t reason)
{
    const struct roce_cm rej = {
        .message = ROCE_CM_REJ,
        .remote_comm_id = in->msg.local_comm_id,
        .rejected = CM_MSG_REQ,
        .reject_reason = reason,
    };
    uint8_t mad[ROCE_MAD_LEN];
    cm_mad_build(mad, in->mad.tid, &rej, NULL, 0);
    cm_mad_send(cm, in->now, &in->reply, mad);
}

static void may_need_longer(struct eng_cm_conn *c, const struct cm_in *in)
{
    const struct roce_cm mra = {
        .message = ROCE_CM_MRA,
        .local_comm_id = c->local_id,
        .remote_comm_id = c->remote_id,
        .rejected = CM_MSG_REQ,
        .service_timeout = 24, /* 69 s: the user decides when to accept */
    };
    uint8_t mad[ROCE_MAD_LEN];
    cm_mad_build(mad, c->tid, &mra, NULL, 0);
    cm_mad_send(c->cm, in->now, &c->ah, mad);
}

static void answer_again(struct eng_cm_conn *c, const struct cm_in *in)
{
    c->cm->stats.duplicates++;
    const uint8_t last = cm_last_sent(c);
    if (c->state == CM_REQ_RCVD)
        may_need_longer(c, in);
    else if (c->state == CM_REP_SENT || (c->state == CM_TIMEWAIT && last == ROCE_CM_REJ))
        cm_conn_repeat(c, in->now);
    else if (c->state == CM_TIMEWAIT)
        refuse(c->cm, in, CM_STALE);
}

/* The peer's QP is in a connection that the peer knows nothing of any more (IBTA 12.9.8.3.1): it
 * is torn down, and the request has to come again. */
static bool is_stale(struct eng_cm *cm, const struct cm_in *in)
{
    struct eng_cm_conn *old = cm_find_remote(cm, CM_BY_QPN, in->msg.ca_guid, in->msg.local_qpn);
    if (old == NULL || !cm_from_peer(old, in) ||
        (old->state != CM_ESTABLISHED && old->state != CM_REP_SENT))
        return false;
    cm_conn_end(old, in->now);
    cm_event_add(old, ENG_CM_DISCONNECTED);
    return true;
}

static uint16_t fault_of(const struct eng_cm *cm, const struct cm_in *in)
{
    const struct roce_cm *req = &in->msg;
    if (req->transport != CM_TRANSPORT_RC && req->transport != CM_TRANSPORT_UC)
        return CM_INVALID_TRANSPORT;
    if (memcmp(req->primary.remote_gid, in->reply.src_ip, 16) != 0)
        return CM_INVALID_GID;
    const uint16_t mtu = cm_mtu_bytes(req->path_mtu);
    return mtu == 0 || mtu > cm->cfg.max_mtu ? CM_INVALID_MTU : 0;
}

static void refuse_listened(struct eng_cm *cm, const struct cm_in *in, uint16_t reason)
{
    struct eng_cm_refused *refused = &cm->refused;
    refused->n++;
    memcpy(refused->ip, in->reply.dst_ip, 16);
    refused->reason = reason;
    refused->path_mtu = cm_mtu_bytes(in->msg.path_mtu);
    refuse(cm, in, reason);
}

static struct eng_ah data_path(const struct cm_in *in)
{
    const struct roce_cm_path *path = &in->msg.primary;
    struct eng_ah ah = in->reply;
    memcpy(ah.dst_ip, path->local_gid, 16);
    ah.tclass = path->traffic_class;
    ah.flow_label = path->flow_label;
    if (path->hop_limit > ah.ttl)
        ah.ttl = path->hop_limit;
    return ah;
}

static void fill(struct eng_cm_conn *c, const struct cm_in *in)
{
    const struct roce_cm *req = &in->msg;
    c->service = req->transport == CM_TRANSPORT_RC ? ENG_RC : ENG_UC;
    c->service_id = req->service_id;
    c->remote_id = req->local_comm_id;
    c->remote_guid = req->ca_guid;
    c->remote_qpn = req->local_qpn;
    c->local_psn = req->starting_psn;
    c->tid = in->mad.tid;
    c->ah = data_path(in);
    c->remote_psn = (uint32_t)(eng_rng_next(&c->cm->rng) & 0xFFFFFF);
    c->responder_resources = least(req->initiator_depth, RD_ATOMIC_MAX);
    c->initiator_depth = least(req->responder_resources, RD_ATOMIC_MAX);
    c->flow_control = req->flow_control;
    c->remote_srq = req->srq;
    c->retry_count = req->retry_count;
    c->rnr_retry = req->rnr_retry;
    c->ack_timeout = req->primary.ack_timeout;
    c->path_mtu = cm_mtu_bytes(req->path_mtu);
    c->interval = roce_cm_timeout_ns(least(c->cm->cfg.timeout, req->local_cm_timeout));
    c->peer_interval = roce_cm_timeout_ns(req->remote_cm_timeout);
    cm_key_set(c, CM_BY_ID);
    cm_key_set(c, CM_BY_QPN);
}

void cm_on_req(struct eng_cm *cm, const struct cm_in *in)
{
    struct eng_cm_conn *c = cm_find_remote(cm, CM_BY_ID, in->msg.ca_guid, in->msg.local_comm_id);
    if (c != NULL && c->service != ENG_UD && cm_from_peer(c, in)) {
        answer_again(c, in);
        return;
    }
    if (is_stale(cm, in)) {
        refuse(cm, in, CM_STALE);
        return;
    }
    const struct cm_listener *listener = cm_listener_find(cm, in->msg.service_id);
    if (listener == NULL) {
        refuse(cm, in, CM_INVALID_SERVICE_ID);
        return;
    }
    const uint16_t fault = fault_of(cm, in);
    if (fault != 0) {
        refuse_listened(cm, in, fault);
        return;
    }
    if (cm->n_pending >= cm->cfg.max_pending) {
        cm->stats.dropped++; /* it will be repeated */
        return;
    }
    c = cm_conn_take(cm);
    if (c == NULL) {
        refuse_listened(cm, in, CM_NO_RESOURCES);
        return;
    }
    fill(c, in);
    c->state = CM_REQ_RCVD;
    c->ctx = listener->ctx;
    cm_pending_set(c, true);
    struct eng_cm_event *event = cm_event_add(c, ENG_CM_CONNECT_REQUEST);
    event->has_ip = in->msg.has_ip;
    event->ip = in->msg.ip;
    cm_event_private(event, in);
}

static void reply(struct eng_cm_conn *c, const struct eng_cm_param *param)
{
    const struct roce_cm rep = {
        .message = ROCE_CM_REP,
        .local_comm_id = c->local_id,
        .remote_comm_id = c->remote_id,
        .local_qpn = c->local_qpn,
        .starting_psn = c->remote_psn,
        .responder_resources = c->responder_resources,
        .initiator_depth = c->initiator_depth,
        .target_ack_delay = DEFAULT_ACK_DELAY,
        .failover = 1, /* not supported: there is one path */
        .flow_control = c->flow_control,
        .rnr_retry = param->rnr_retry,
        .srq = param->srq,
        .ca_guid = c->cm->cfg.ca_guid,
    };
    cm_mad_build(c->mad, c->tid, &rep, param->private_data, param->private_len);
}

int eng_cm_accept(struct eng_cm_conn *c, roce_tstamp now, const struct eng_cm_param *param)
{
    if (c->state != CM_REQ_RCVD)
        return ROCE_ERR_STATE;
    if (c->service == ENG_UD)
        return cm_sidr_accept(c, now, param);
    if (!cm_param_ok(param) || param->service != c->service ||
        param->private_len > ENG_CM_REP_PRIVATE_MAX)
        return ROCE_ERR_INVALID;
    c->qp = param->qp;
    c->access = param->access;
    c->local_qpn = eng_qp_num(param->qp);
    c->responder_resources = least(param->responder_resources, c->responder_resources);
    c->initiator_depth = least(param->initiator_depth, c->initiator_depth);
    c->flow_control = c->flow_control && param->flow_control;
    if (param->ack_timeout != 0)
        c->ack_timeout = param->ack_timeout;
    c->min_rnr_timer = param->min_rnr_timer != 0 ? param->min_rnr_timer : DEFAULT_RNR_TIMER;
    const int rc = cm_qp_connect(c, now);
    if (rc != 0) {
        c->qp = NULL; /* the request is still there to be rejected */
        return rc;
    }
    c->ctx = param->ctx;
    c->state = CM_REP_SENT;
    cm_list_set(c, CM_WAITING);
    reply(c, param);
    cm_conn_send(c, now);
    return 0;
}

void cm_established(struct eng_cm_conn *c, const struct cm_in *in)
{
    c->state = CM_ESTABLISHED;
    cm_timer_set(c, ENG_NEVER);
    cm_list_set(c, CM_LISTS);
    cm_pending_set(c, false);
    cm_event_private(cm_event_add(c, ENG_CM_ESTABLISHED), in);
}

void cm_on_rtu(struct eng_cm *cm, const struct cm_in *in)
{
    struct eng_cm_conn *c = cm_find_local(cm, in->msg.remote_comm_id);
    if (c == NULL || c->service == ENG_UD || c->remote_id != in->msg.local_comm_id ||
        !cm_from_peer(c, in)) {
        cm->stats.unexpected++;
        return;
    }
    if (c->state == CM_REP_SENT)
        cm_established(c, in);
    else if (c->state == CM_ESTABLISHED)
        cm->stats.duplicates++; /* or data came first */
    else
        cm->stats.unexpected++;
}

int eng_cm_reject(struct eng_cm_conn *c, roce_tstamp now, uint16_t reason, const void *private_data,
                  uint8_t private_len)
{
    const uint8_t most =
        c->service == ENG_UD ? ENG_CM_SIDR_REP_PRIVATE_MAX : ENG_CM_REJ_PRIVATE_MAX;
    if (c->state != CM_REQ_RCVD)
        return ROCE_ERR_STATE;
    if (private_len > most)
        return ROCE_ERR_INVALID;
    if (c->service == ENG_UD)
        cm_sidr_answer(c, (uint8_t)reason, private_data, private_len);
    else
        cm_reject_build(c, CM_MSG_REQ, reason, private_data, private_len);
    cm_conn_repeat(c, now);
    c->released = true;
    cm_conn_end(c, now);
    return 0;
}
