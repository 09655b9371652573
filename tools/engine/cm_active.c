/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The active side (IBTA 12.9.7.1): REQ out, REP in, RTU out. */
#include "engine/cm_conn.h"

#include <string.h>

enum { DEFAULT_ACK_TIMEOUT = 14, DEFAULT_RNR_TIMER = 12 };
enum { EPHEMERAL = 49152 }; /* RFC 6335 6 */

/* Linux gives permissive LIDs to a path that can be routed, which is what its hop limit says. */
static struct roce_cm_path path_of(const struct eng_cm_conn *c)
{
    struct roce_cm_path path = {
        .flow_label = c->ah.flow_label & 0xFFFFF,
        .traffic_class = c->ah.tclass,
        .hop_limit = c->ah.ttl,
        .subnet_local = c->ah.ttl <= 1,
        .ack_timeout = c->ack_timeout,
    };
    if (!path.subnet_local)
        path.local_lid = path.remote_lid = 0xFFFF;
    memcpy(path.local_gid, c->ah.src_ip, 16);
    memcpy(path.remote_gid, c->ah.dst_ip, 16);
    return path;
}

static void request(struct eng_cm_conn *c, const struct eng_cm_param *param,
                    const struct roce_cm_ip *ip)
{
    const struct eng_cm *cm = c->cm;
    uint8_t private_data[ENG_CM_REQ_PRIVATE_MAX];
    if (param->private_len > 0)
        memcpy(private_data, param->private_data, param->private_len);
    const struct roce_cm msg = {
        .message = ROCE_CM_REQ,
        .local_comm_id = c->local_id,
        .service_id = c->service_id,
        .ca_guid = cm->cfg.ca_guid,
        .local_qpn = c->local_qpn,
        .responder_resources = c->responder_resources,
        .initiator_depth = c->initiator_depth,
        .remote_cm_timeout = cm->cfg.timeout,
        .local_cm_timeout = cm->cfg.answer_timeout,
        .transport = c->service == ENG_RC ? CM_TRANSPORT_RC : CM_TRANSPORT_UC,
        .flow_control = c->flow_control,
        .starting_psn = c->remote_psn,
        .retry_count = c->retry_count,
        .rnr_retry = param->rnr_retry,
        .pkey = 0xFFFF,
        .path_mtu = cm_mtu_code(c->path_mtu),
        .max_cm_retries = cm->cfg.retries,
        .srq = param->srq,
        .primary = path_of(c),
        .has_ip = ip != NULL,
        .ip = ip != NULL ? *ip : (struct roce_cm_ip){0},
    };
    cm_mad_build(c->mad, c->tid, &msg, private_data, param->private_len);
}

static bool is_mapped_v4(const uint8_t ip[16])
{
    uint8_t v4[16];
    roce_ip_v4(v4, ip[12], ip[13], ip[14], ip[15]);
    return memcmp(v4, ip, 16) == 0;
}

static void name_ends(struct eng_cm *cm, struct roce_cm_ip *ip, const struct eng_ah *ah,
                      uint16_t src_port)
{
    ip->ip_version = is_mapped_v4(ah->dst_ip) ? 4 : 6;
    memcpy(ip->src, ah->src_ip, 16);
    memcpy(ip->dst, ah->dst_ip, 16);
    ip->src_port = src_port != 0
                       ? src_port
                       : (uint16_t)(EPHEMERAL + eng_rng_next(&cm->rng) % (65536 - EPHEMERAL));
}

static uint8_t private_max(enum eng_service service, bool has_ip)
{
    enum { IP_HEADER = 36 };
    const int max = service == ENG_UD ? ENG_CM_SIDR_REQ_PRIVATE_MAX : ENG_CM_REQ_PRIVATE_MAX;
    return (uint8_t)(max - (has_ip ? IP_HEADER : 0));
}

int eng_cm_connect(struct eng_cm *cm, roce_tstamp now, uint64_t service_id, uint16_t src_port,
                   const struct eng_ah *ah, const struct eng_cm_param *param,
                   struct eng_cm_conn **conn)
{
    const bool has_ip = roce_cm_port(service_id) >= 0;
    if (!cm_param_ok(param) || param->private_len > private_max(param->service, has_ip))
        return ROCE_ERR_INVALID;
    struct eng_cm_conn *c = cm_conn_take(cm);
    if (c == NULL)
        return ROCE_ERR_FULL;
    c->service = param->service;
    c->service_id = service_id;
    c->qp = param->qp;
    c->ctx = param->ctx;
    c->ah = *ah;
    c->access = param->access;
    c->qkey = param->qkey != 0 ? param->qkey : ENG_CM_UDP_QKEY;
    c->local_qpn = eng_qp_num(param->qp);
    c->remote_psn = (uint32_t)(eng_rng_next(&cm->rng) & 0xFFFFFF);
    c->local_psn = (uint32_t)(eng_rng_next(&cm->rng) & 0xFFFFFF); /* UD; else the REP's */
    c->tid = (eng_rng_next(&cm->rng) & 0xFFFFFFFF) << 32 | c->local_id;
    c->responder_resources = param->responder_resources;
    c->initiator_depth = param->initiator_depth;
    c->flow_control = param->flow_control;
    c->retry_count = param->retry_count;
    c->ack_timeout_given = param->ack_timeout != 0;
    c->ack_timeout = c->ack_timeout_given ? param->ack_timeout : DEFAULT_ACK_TIMEOUT;
    c->min_rnr_timer = param->min_rnr_timer != 0 ? param->min_rnr_timer : DEFAULT_RNR_TIMER;
    c->path_mtu = param->path_mtu != 0 ? param->path_mtu : cm->cfg.max_mtu;
    c->interval = roce_cm_timeout_ns(cm->cfg.timeout);
    c->peer_interval = roce_cm_timeout_ns(cm->cfg.answer_timeout);
    const int rc = cm_qp_init(c, now);
    if (rc != 0) {
        cm_conn_free(c);
        return rc;
    }
    struct roce_cm_ip ip = {0};
    if (has_ip)
        name_ends(cm, &ip, ah, src_port);
    c->state = CM_REQ_SENT;
    if (c->service == ENG_UD)
        cm_sidr_request(c, param, has_ip ? &ip : NULL);
    else
        request(c, param, has_ip ? &ip : NULL);
    cm_conn_send(c, now);
    *conn = c;
    return 0;
}

static uint8_t least(uint8_t a, uint8_t b)
{
    return a < b ? a : b;
}

/* Our ACK timer covers the way and the peer's delay. Both are exponents: of unequal ones the larger
 * decides, equal ones add up to one more (as the Linux CM reckons). */
static uint8_t with_ack_delay(uint8_t path, uint8_t delay)
{
    if (path > delay)
        return least((uint8_t)(path + (delay >= path - 1 ? 1 : 0)), 31);
    return least((uint8_t)(delay + (path >= delay - 1 ? 1 : 0)), 31);
}

static void agree(struct eng_cm_conn *c, const struct cm_in *in)
{
    const struct roce_cm *rep = &in->msg;
    c->remote_id = rep->local_comm_id;
    c->remote_guid = rep->ca_guid;
    c->remote_qpn = rep->local_qpn;
    c->local_psn = rep->starting_psn;
    c->responder_resources = least(c->responder_resources, rep->initiator_depth);
    c->initiator_depth = least(c->initiator_depth, rep->responder_resources);
    c->flow_control = c->flow_control && rep->flow_control;
    c->remote_srq = rep->srq;
    c->rnr_retry = rep->rnr_retry;
    if (!c->ack_timeout_given)
        c->ack_timeout = with_ack_delay(c->ack_timeout, rep->target_ack_delay);
    cm_key_set(c, CM_BY_ID);
    cm_key_set(c, CM_BY_QPN);
}

static void ready(struct eng_cm_conn *c, const struct cm_in *in)
{
    const struct roce_cm rtu = {
        .message = ROCE_CM_RTU, .local_comm_id = c->local_id, .remote_comm_id = c->remote_id};
    cm_mad_build(c->mad, c->tid, &rtu, NULL, 0);
    c->state = CM_ESTABLISHED;
    cm_timer_set(c, ENG_NEVER);
    cm_conn_repeat(c, in->now);
    cm_event_private(cm_event_add(c, ENG_CM_ESTABLISHED), in);
}

void cm_on_rep(struct eng_cm *cm, const struct cm_in *in)
{
    struct eng_cm_conn *c = cm_find_local(cm, in->msg.remote_comm_id);
    if (c == NULL || c->service == ENG_UD || !cm_from_peer(c, in)) {
        cm->stats.unexpected++;
        return;
    }
    if (c->state == CM_REQ_SENT) {
        agree(c, in);
        const int rc = cm_qp_connect(c, in->now);
        if (rc == 0) {
            ready(c, in);
            return;
        }
        cm_reject_build(c, CM_MSG_REP, CM_CONSUMER, NULL, 0);
        cm_conn_repeat(c, in->now);
        cm_conn_end(c, in->now);
        cm_event_add(c, ENG_CM_CONNECT_ERROR)->error = rc;
        return;
    }
    /* The RTU, or the REJ of somebody who has lost patience, did not arrive. */
    const bool rtu = c->state == CM_ESTABLISHED && c->remote_id == in->msg.local_comm_id;
    const bool rej = c->state == CM_TIMEWAIT && cm_last_sent(c) == ROCE_CM_REJ;
    if ((rtu && cm_last_sent(c) == ROCE_CM_RTU) || rej) {
        cm->stats.duplicates++;
        cm_conn_repeat(c, in->now);
        return;
    }
    cm->stats.unexpected++;
}

/* The peer has the message and needs longer (IBTA 12.6.6). What it asks for is cut: the state must
 * not last for hours. */
void cm_on_mra(struct eng_cm *cm, const struct cm_in *in)
{
    enum { LONGEST = 24 }; /* 69 s, what Linux asks for */
    struct eng_cm_conn *c = cm_find_local(cm, in->msg.remote_comm_id);
    const bool to_req = c != NULL && c->state == CM_REQ_SENT && in->msg.rejected == CM_MSG_REQ;
    const bool to_rep = c != NULL && c->state == CM_REP_SENT && in->msg.rejected == CM_MSG_REP;
    if ((!to_req && !to_rep) || c->service == ENG_UD || !cm_from_peer(c, in)) {
        cm->stats.unexpected++;
        return;
    }
    const uint64_t longer = roce_cm_timeout_ns(least(in->msg.service_timeout, LONGEST));
    cm_timer_set(c, in->now + longer + c->interval);
}
