/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Service id resolution (IBTA 12.11): which QP serves datagrams. One question, one answer. */
#include "engine/cm_conn.h"

#include <string.h>

enum { SIDR_VALID = 0, SIDR_NO_SERVICE = 1 };

/* Requests have no GUID: the address tells them apart. */
static uint64_t guid_of(const uint8_t ip[16])
{
    uint64_t guid = 0;
    for (int i = 0; i < 16; i++)
        guid = guid * 257 + ip[i];
    return guid;
}

void cm_sidr_request(struct eng_cm_conn *c, const struct eng_cm_param *param,
                     const struct roce_cm_ip *ip)
{
    const struct roce_cm msg = {
        .message = ROCE_CM_SIDR_REQ,
        .request_id = c->local_id,
        .service_id = c->service_id,
        .pkey = 0xFFFF,
        .has_ip = ip != NULL,
        .ip = ip != NULL ? *ip : (struct roce_cm_ip){0},
    };
    cm_mad_build(c->mad, c->tid, &msg, param->private_data, param->private_len);
}

void cm_sidr_answer(struct eng_cm_conn *c, uint8_t status, const void *private_data,
                    uint8_t private_len)
{
    const struct roce_cm msg = {
        .message = ROCE_CM_SIDR_REP,
        .request_id = c->remote_id,
        .service_id = c->service_id,
        .status = status,
        .local_qpn = status == SIDR_VALID ? c->local_qpn : 0,
        .qkey = status == SIDR_VALID ? c->qkey : 0,
    };
    cm_mad_build(c->mad, c->tid, &msg, private_data, private_len);
}

static void refuse(struct eng_cm *cm, const struct cm_in *in)
{
    const struct roce_cm msg = {
        .message = ROCE_CM_SIDR_REP,
        .request_id = in->msg.request_id,
        .service_id = in->msg.service_id,
        .status = SIDR_NO_SERVICE,
    };
    uint8_t mad[ROCE_MAD_LEN];
    cm_mad_build(mad, in->mad.tid, &msg, NULL, 0);
    cm_mad_send(cm, in->now, &in->reply, mad);
}

void cm_on_sidr_req(struct eng_cm *cm, const struct cm_in *in)
{
    const uint64_t guid = guid_of(in->reply.dst_ip);
    struct eng_cm_conn *c = cm_find_remote(cm, CM_BY_ID, guid, in->msg.request_id);
    if (c != NULL && c->service == ENG_UD && cm_from_peer(c, in)) {
        cm->stats.duplicates++;
        if (c->state != CM_REQ_RCVD)
            cm_conn_repeat(c, in->now);
        return;
    }
    const struct cm_listener *listener = cm_listener_find(cm, in->msg.service_id);
    if (listener == NULL) {
        refuse(cm, in);
        return;
    }
    c = cm->n_pending < cm->cfg.max_pending ? cm_conn_take(cm) : NULL;
    if (c == NULL) {
        cm->stats.dropped++; /* it will be repeated */
        return;
    }
    c->service = ENG_UD;
    c->service_id = in->msg.service_id;
    c->remote_id = in->msg.request_id;
    c->remote_guid = guid;
    c->tid = in->mad.tid;
    c->ah = in->reply;
    c->path_mtu = cm->cfg.max_mtu;
    cm_key_set(c, CM_BY_ID);
    c->state = CM_REQ_RCVD;
    c->ctx = listener->ctx;
    cm_pending_set(c, true);
    struct eng_cm_event *event = cm_event_add(c, ENG_CM_CONNECT_REQUEST);
    event->has_ip = in->msg.has_ip;
    event->ip = in->msg.ip;
    cm_event_private(event, in);
}

int cm_sidr_accept(struct eng_cm_conn *c, roce_tstamp now, const struct eng_cm_param *param)
{
    if (!cm_param_ok(param) || param->service != ENG_UD ||
        param->private_len > ENG_CM_SIDR_REP_PRIVATE_MAX)
        return ROCE_ERR_INVALID;
    c->qp = param->qp;
    c->qkey = param->qkey != 0 ? param->qkey : ENG_CM_UDP_QKEY;
    c->local_qpn = eng_qp_num(param->qp);
    c->local_psn = (uint32_t)(eng_rng_next(&c->cm->rng) & 0xFFFFFF);
    const int rc = cm_qp_connect(c, now);
    if (rc != 0) {
        c->qp = NULL;
        return rc;
    }
    c->ctx = param->ctx;
    cm_sidr_answer(c, SIDR_VALID, param->private_data, param->private_len);
    cm_conn_repeat(c, now);
    cm_established(c, NULL);
    return 0;
}

void cm_on_sidr_rep(struct eng_cm *cm, const struct cm_in *in)
{
    struct eng_cm_conn *c = cm_find_local(cm, in->msg.request_id);
    if (c == NULL || c->service != ENG_UD || c->state != CM_REQ_SENT || !cm_from_peer(c, in)) {
        cm->stats.unexpected++;
        return;
    }
    const int rc = in->msg.status == SIDR_VALID ? cm_qp_connect(c, in->now) : 0;
    if (rc != 0) {
        cm_conn_end(c, in->now);
        cm_event_add(c, ENG_CM_CONNECT_ERROR)->error = rc;
        return;
    }
    if (in->msg.status == SIDR_VALID) {
        c->remote_qpn = in->msg.local_qpn;
        c->qkey = in->msg.qkey;
        cm_established(c, in);
        return;
    }
    cm_conn_end(c, in->now);
    struct eng_cm_event *event = cm_event_add(c, ENG_CM_REJECTED);
    event->reason = in->msg.status;
    cm_event_private(event, in);
}
