/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Connection manager: life, listeners, events, repetition. */
#include "engine/cm.h"

#include <stdlib.h>
#include <string.h>

#include "engine/cm_conn.h"

enum {
    DEFAULT_CONNS = 1024,
    DEFAULT_LISTENERS = 16,
    DEFAULT_PENDING = 64,
    DEFAULT_TIMEOUT = 18,
    MAX_RETRIES = 15, /* a field of 4 bits */
    TIMEWAIT = 19,    /* 2.1 s: twice the packet life time that the Linux RDMA-CM assumes */
};

const char *eng_cm_event_name(enum eng_cm_event_kind kind)
{
    switch (kind) {
    case ENG_CM_CONNECT_REQUEST:
        return "connect request";
    case ENG_CM_ESTABLISHED:
        return "established";
    case ENG_CM_REJECTED:
        return "rejected";
    case ENG_CM_UNREACHABLE:
        return "unreachable";
    case ENG_CM_CONNECT_ERROR:
        return "connect error";
    case ENG_CM_DISCONNECTED:
        return "disconnected";
    }
    return "?";
}

/* ---- events ---- */
/* Messages and timers make at most two at a time. */
bool cm_event_room(const struct eng_cm *cm)
{
    return cm->n_events + 2 <= CM_EVENTS;
}

struct eng_cm_event *cm_event_add(struct eng_cm_conn *c, enum eng_cm_event_kind kind)
{
    struct eng_cm *cm = c->cm;
    struct cm_event *e = &cm->events[(cm->first_event + cm->n_events++) % CM_EVENTS];
    *e = (struct cm_event){.conn = (uint32_t)(c - cm->conns), .local_id = c->local_id};
    struct eng_cm_event *event = &e->event;
    event->kind = kind;
    event->conn = c;
    event->ctx = c->ctx;
    event->service = c->service;
    event->service_id = c->service_id;
    event->ah = c->ah;
    event->remote_qpn = c->remote_qpn;
    event->remote_psn = c->remote_psn;
    event->local_psn = c->local_psn;
    event->qkey = c->qkey;
    event->responder_resources = c->responder_resources;
    event->initiator_depth = c->initiator_depth;
    event->flow_control = c->flow_control;
    event->srq = c->remote_srq;
    event->retry_count = c->retry_count;
    event->rnr_retry = c->rnr_retry;
    event->ack_timeout = c->ack_timeout;
    event->path_mtu = c->path_mtu;
    return event;
}

void cm_event_private(struct eng_cm_event *event, const struct cm_in *in)
{
    if (in == NULL)
        return;
    event->private_len = (uint8_t)in->msg.private_len;
    memcpy(event->private_data, in->body + in->msg.private_off, in->msg.private_len);
}

int eng_cm_event(struct eng_cm *cm, struct eng_cm_event *event)
{
    while (cm->n_events > 0) {
        const struct cm_event *e = &cm->events[cm->first_event];
        const struct eng_cm_conn *c = &cm->conns[e->conn];
        cm->first_event = (cm->first_event + 1) % CM_EVENTS;
        cm->n_events--;
        if (c->state == CM_FREE || c->local_id != e->local_id || c->released)
            continue;
        *event = e->event;
        return 1;
    }
    return 0;
}

/* ---- what both sides do ---- */
void cm_conn_repeat(struct eng_cm_conn *c, roce_tstamp now)
{
    cm_mad_send(c->cm, now, &c->ah, c->mad);
}

void cm_conn_send(struct eng_cm_conn *c, roce_tstamp now)
{
    c->repeats = c->cm->cfg.retries;
    cm_timer_set(c, now + c->interval);
    cm_conn_repeat(c, now);
}

uint8_t cm_last_sent(const struct eng_cm_conn *c)
{
    return c->mad[17]; /* low byte of the attribute id, IBTA 13.4.3 */
}

bool cm_from_peer(const struct eng_cm_conn *c, const struct cm_in *in)
{
    return memcmp(c->ah.dst_ip, in->reply.dst_ip, 16) == 0;
}

void cm_conn_end(struct eng_cm_conn *c, roce_tstamp now)
{
    c->state = CM_TIMEWAIT;
    cm_pending_set(c, false);
    cm_list_set(c, c->released ? CM_SPENT : CM_LISTS);
    cm_timer_set(c, now + roce_cm_timeout_ns(TIMEWAIT));
    cm_qp_fail(c, now);
}

void cm_reject_build(struct eng_cm_conn *c, uint8_t rejected, uint16_t reason,
                     const void *private_data, uint8_t private_len)
{
    struct roce_cm msg = {
        .message = ROCE_CM_REJ,
        .local_comm_id = c->local_id,
        .remote_comm_id = c->remote_id,
        .rejected = rejected,
        .reject_reason = reason,
    };
    if (reason == CM_TIMEOUT) { /* the peer may know us by our GUID only (IBTA table 106) */
        msg.info_len = sizeof(c->cm->cfg.ca_guid);
        for (unsigned i = 0; i < msg.info_len; i++)
            msg.info[i] = (uint8_t)(c->cm->cfg.ca_guid >> (56 - 8 * i));
    }
    cm_mad_build(c->mad, c->tid, &msg, private_data, private_len);
}

/* ---- life ---- */
static uint32_t or_default(uint32_t value, uint32_t otherwise)
{
    return value != 0 ? value : otherwise;
}

static void configure(struct eng_cm *cm, const struct eng_cm_cfg *cfg)
{
    if (cfg != NULL)
        cm->cfg = *cfg;
    cm->cfg.max_conns = or_default(cm->cfg.max_conns, DEFAULT_CONNS);
    if (cm->cfg.max_conns > 1 << 20)
        cm->cfg.max_conns = 1 << 20;
    cm->cfg.max_listeners = or_default(cm->cfg.max_listeners, DEFAULT_LISTENERS);
    cm->cfg.max_pending = or_default(cm->cfg.max_pending, DEFAULT_PENDING);
    cm->cfg.timeout = (uint8_t)(or_default(cm->cfg.timeout, DEFAULT_TIMEOUT) & 31);
    cm->cfg.answer_timeout = (uint8_t)(or_default(cm->cfg.answer_timeout, cm->cfg.timeout) & 31);
    if (cm->cfg.retries == 0 || cm->cfg.retries > MAX_RETRIES)
        cm->cfg.retries = MAX_RETRIES;
    cm->cfg.max_mtu = (uint16_t)or_default(cm->cfg.max_mtu, 4096);
    cm->rng.state = cm->cfg.seed;
    cm->secret = eng_rng_next(&cm->rng);
    cm->id_mask = (uint32_t)eng_rng_next(&cm->rng);
    if (cm->cfg.ca_guid == 0) /* locally administered, as no vendor has assigned it */
        cm->cfg.ca_guid = eng_rng_next(&cm->rng) | UINT64_C(2) << 56;
    while (UINT32_C(1) << cm->id_bits < cm->cfg.max_conns)
        cm->id_bits++;
}

static bool tables_new(struct eng_cm *cm)
{
    const size_t heads = (size_t)1 << cm->id_bits;
    cm->conns = calloc(cm->cfg.max_conns, sizeof(*cm->conns));
    cm->heads[CM_BY_ID] = calloc(heads, sizeof(uint32_t));
    cm->heads[CM_BY_QPN] = calloc(heads, sizeof(uint32_t));
    cm->heap = calloc(cm->cfg.max_conns, sizeof(*cm->heap));
    cm->listeners = calloc(cm->cfg.max_listeners, sizeof(*cm->listeners));
    cm->events = calloc(CM_EVENTS, sizeof(*cm->events));
    if (cm->conns == NULL || cm->heads[CM_BY_ID] == NULL || cm->heads[CM_BY_QPN] == NULL ||
        cm->heap == NULL || cm->listeners == NULL || cm->events == NULL)
        return false;
    cm_table_init(cm);
    return true;
}

struct eng_cm *eng_cm_new(struct eng_dev *dev, const struct eng_cm_cfg *cfg, roce_tstamp now)
{
    struct eng_cm *cm = calloc(1, sizeof(*cm));
    if (cm == NULL)
        return NULL;
    cm->dev = dev;
    configure(cm, cfg);
    if (!tables_new(cm) || cm_gsi_new(cm, now) != 0) {
        eng_cm_del(cm);
        return NULL;
    }
    return cm;
}

void eng_cm_del(struct eng_cm *cm)
{
    if (cm == NULL)
        return;
    eng_qp_del(cm->gsi);
    eng_mr_del(cm->mr);
    eng_cq_del(cm->send_cq);
    eng_cq_del(cm->recv_cq);
    eng_pd_del(cm->pd);
    free(cm->conns);
    free(cm->heads[CM_BY_ID]);
    free(cm->heads[CM_BY_QPN]);
    free(cm->heap);
    free(cm->listeners);
    free(cm->events);
    free(cm);
}

/* ---- listeners ---- */
struct cm_listener *cm_listener_find(struct eng_cm *cm, uint64_t service_id)
{
    for (uint32_t i = 0; i < cm->cfg.max_listeners; i++)
        if (cm->listeners[i].used && cm->listeners[i].service_id == service_id)
            return &cm->listeners[i];
    return NULL;
}

int eng_cm_listen(struct eng_cm *cm, uint64_t service_id, void *ctx)
{
    if (cm_listener_find(cm, service_id) != NULL)
        return ROCE_ERR_INVALID;
    for (uint32_t i = 0; i < cm->cfg.max_listeners; i++)
        if (!cm->listeners[i].used) {
            cm->listeners[i] =
                (struct cm_listener){.used = true, .service_id = service_id, .ctx = ctx};
            return 0;
        }
    return ROCE_ERR_FULL;
}

void eng_cm_unlisten(struct eng_cm *cm, uint64_t service_id)
{
    struct cm_listener *listener = cm_listener_find(cm, service_id);
    if (listener != NULL)
        listener->used = false;
}

/* ---- messages and time ---- */
static void dispatch(struct eng_cm *cm, const struct cm_in *in)
{
    cm->stats.received[in->msg.message - ROCE_CM_REQ]++;
    switch ((enum roce_cm_message)in->msg.message) {
    case ROCE_CM_REQ:
        cm_on_req(cm, in);
        return;
    case ROCE_CM_MRA:
        cm_on_mra(cm, in);
        return;
    case ROCE_CM_REJ:
        cm_on_rej(cm, in);
        return;
    case ROCE_CM_REP:
        cm_on_rep(cm, in);
        return;
    case ROCE_CM_RTU:
        cm_on_rtu(cm, in);
        return;
    case ROCE_CM_DREQ:
        cm_on_dreq(cm, in);
        return;
    case ROCE_CM_DREP:
        cm_on_drep(cm, in);
        return;
    case ROCE_CM_SIDR_REQ:
        cm_on_sidr_req(cm, in);
        return;
    case ROCE_CM_SIDR_REP:
        cm_on_sidr_rep(cm, in);
        return;
    case ROCE_CM_LAP: /* no alternate paths are offered: none is loaded */
    case ROCE_CM_APR:
        cm->stats.unexpected++;
        return;
    }
}

/* The peer sends data once it has the REP: an RTU that was lost is not waited for (IBTA
 * 12.9.7.2, communication established). */
static void notice_data(struct eng_cm *cm)
{
    struct eng_cm_conn *c = cm_list_next(cm, CM_WAITING, NULL);
    while (c != NULL && cm_event_room(cm)) {
        struct eng_cm_conn *next = cm_list_next(cm, CM_WAITING, c);
        if (eng_qp_established(c->qp))
            cm_established(c, NULL);
        c = next;
    }
}

int eng_cm_poll(struct eng_cm *cm, roce_tstamp now)
{
    int n = 0;
    struct cm_in in;
    bool good;
    while (cm_event_room(cm) && cm_gsi_receive(cm, now, &in, &good)) {
        n++;
        if (good)
            dispatch(cm, &in);
        else
            cm->stats.malformed++;
    }
    notice_data(cm);
    return n;
}

roce_tstamp eng_cm_next(const struct eng_cm *cm)
{
    return cm->n_heap == 0 ? ENG_NEVER : cm->conns[cm->heap[0]].expiry;
}

static void expire(struct eng_cm_conn *c, roce_tstamp now)
{
    cm_timer_set(c, ENG_NEVER);
    if (c->state == CM_TIMEWAIT) {
        if (c->released)
            cm_conn_free(c);
        return;
    }
    if (c->repeats == 0) {
        cm_gave_up(c, now);
        return;
    }
    c->repeats--;
    c->cm->stats.repeated++;
    cm_timer_set(c, now + c->interval);
    cm_conn_repeat(c, now);
}

void eng_cm_expire(struct eng_cm *cm, roce_tstamp now)
{
    while (eng_cm_next(cm) <= now && cm_event_room(cm))
        expire(&cm->conns[cm->heap[0]], now);
}

roce_tstamp eng_cm_linger(const struct eng_cm *cm)
{
    return cm->linger;
}

const struct eng_cm_refused *eng_cm_refused(const struct eng_cm *cm)
{
    return &cm->refused;
}

void eng_cm_stats(const struct eng_cm *cm, struct eng_cm_stats *out)
{
    *out = cm->stats;
}
