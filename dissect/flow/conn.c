/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The life of connections as the communication manager tells it (IBTA 12.9): who asked whom, with
 * which QPs, and how it ended. A REQ and its REP name both QPs: the surest pairing. */
#include "internal.h"

#include <string.h>

#include <roce/err.h>
#include <roce/mad.h>

#define REQ_NEEDED     96 /* bytes of a REQ up to the primary path's ACK timeout */
#define REP_NEEDED     28
#define IDS_NEEDED     12
#define REJ_NEEDED     12
#define REASON_TIMEOUT 4
/* Where flows that are over go, older attempts without a flow do, too. */
#define ATTEMPTS_KEPT  4096
#define ATTEMPTS_TRIED 64

enum cm_key { KEY_QP_A, KEY_QP_B, KEY_COMM, CM_KEYS };

static uint32_t bucket_of(const uint8_t host[16], uint32_t number, enum cm_key key)
{
    uint64_t h = (uint64_t)number << 2 | (uint64_t)key;
    for (int i = 0; i < 16; i++)
        h = (h ^ host[i]) * UINT64_C(0x100000001B3);
    return (uint32_t)(h ^ h >> 32) % CM_INDEX_SIZE;
}

static struct cm_entry *entry_at(const struct roce_flow_table *t, uint32_t index)
{
    return pool_at(&t->cm_pool, index);
}

static void chain(struct roce_flow_table *t, uint32_t index, enum cm_key key,
                  const uint8_t host[16], uint32_t number)
{
    uint32_t *head = &t->cm_index[bucket_of(host, number, key)];
    entry_at(t, index)->chain[key] = *head;
    *head = index * CM_KEYS + key;
}

static void unchain(struct roce_flow_table *t, uint32_t index, enum cm_key key,
                    const uint8_t host[16], uint32_t number)
{
    const uint32_t ref = index * CM_KEYS + key;
    uint32_t *link = &t->cm_index[bucket_of(host, number, key)];
    while (*link != NIL && *link != ref)
        link = &entry_at(t, *link / CM_KEYS)->chain[*link % CM_KEYS];
    if (*link == ref)
        *link = entry_at(t, index)->chain[key];
}

/* The newest attempt with this key, or NIL. */
static uint32_t lookup(const struct roce_flow_table *t, enum cm_key key, const uint8_t host[16],
                       uint32_t number)
{
    for (uint32_t ref = t->cm_index[bucket_of(host, number, key)]; ref != NIL;) {
        const uint32_t index = ref / CM_KEYS;
        const struct cm_entry *e = entry_at(t, index);
        const uint8_t *at = key == KEY_QP_B ? e->info.host_b : e->info.host_a;
        const uint32_t n = key == KEY_QP_A   ? e->info.qp_a
                           : key == KEY_QP_B ? e->info.qp_b
                                             : e->comm_a;
        if (ref % CM_KEYS == (uint32_t)key && n == number && memcmp(at, host, 16) == 0)
            return index;
        ref = e->chain[ref % CM_KEYS];
    }
    return NIL;
}

static uint32_t data_flow(const struct roce_flow_table *t, const struct cm_entry *e, bool towards_b)
{
    const struct roce_cm_info *info = &e->info;
    return roce_flow_find(t, towards_b ? info->host_a : info->host_b,
                          towards_b ? info->host_b : info->host_a,
                          towards_b ? info->qp_b : info->qp_a, e->encapsulated, e->tunnel_key);
}

static void adopt(struct roce_flow_table *t, uint32_t id, uint32_t index)
{
    struct flow *f = flow_at(t, id);
    const struct cm_entry *e = entry_at(t, index);
    if (f->cm != index && f->packets > 0 && f->first_frame < e->info.req_frame) {
        /* The QP number belongs to another QP now. */
        if (f->peer != NIL)
            pair_break(t, id, false);
        obs_drop_all(t, f);
        track_reset(t, f);
    }
    f->cm = (uint16_t)index;
    track_set_mtu(t, f, e->info.path_mtu, false);
}

/* Finds the two data flows of an attempt that has been answered, and pairs them. */
static void join_flows(struct roce_flow_table *t, uint32_t index)
{
    struct cm_entry *e = entry_at(t, index);
    const uint32_t ab = data_flow(t, e, true), ba = data_flow(t, e, false);
    if (ab == ba)
        return;
    if (ab != NIL)
        adopt(t, ab, index);
    if (ba != NIL)
        adopt(t, ba, index);
    e->info.flow_ab = ab;
    e->info.flow_ba = ba;
    if (ab == NIL || ba == NIL)
        return;
    struct flow *fa = flow_at(t, ab), *fb = flow_at(t, ba);
    if (fa->peer == ba) {
        fa->flags |= F_PAIR_CM;
        fb->flags |= F_PAIR_CM;
        return;
    }
    if (fa->peer != NIL)
        pair_break(t, ab, true);
    if (fb->peer != NIL)
        pair_break(t, ba, true);
    pair_set(t, ab, ba, true, 1, NULL);
}

void conn_new_flow(struct roce_flow_table *t, uint32_t id)
{
    if (t->cm_pool.fresh == 0)
        return;
    const struct flow *f = flow_at(t, id);
    const struct path *path = path_at(t, f->path);
    uint32_t index = lookup(t, KEY_QP_A, path->dst, f->dqpn);
    const bool as_a = index != NIL && data_flow(t, entry_at(t, index), false) == id;
    if (!as_a)
        index = lookup(t, KEY_QP_B, path->dst, f->dqpn);
    if (index == NIL || entry_at(t, index)->info.rep_frame == 0)
        return;
    if (as_a || data_flow(t, entry_at(t, index), true) == id)
        join_flows(t, index);
}

static void take_host(uint8_t out[16], const uint8_t gid[16], const uint8_t ip[16])
{
    static const uint8_t none[16];
    memcpy(out, memcmp(gid, none, 16) != 0 ? gid : ip, 16);
}

static bool has_flow(const struct roce_flow_table *t, uint32_t index)
{
    const struct cm_entry *e = entry_at(t, index);
    for (int side = 0; side < 2 && e->info.rep_frame != 0; side++) {
        const uint32_t id = data_flow(t, e, side == 0);
        if (id != NIL && flow_at(t, id)->cm == index)
            return true;
    }
    return false;
}

static uint32_t take_entry(struct roce_flow_table *t)
{
    if (t->opts.idle_ns == 0 || t->cm_pool.used < ATTEMPTS_KEPT)
        return pool_take(&t->cm_pool);
    for (int i = 0; i < ATTEMPTS_TRIED; i++) {
        const uint32_t index = t->cm_hand++ % t->cm_pool.fresh;
        if (has_flow(t, index))
            continue;
        struct cm_entry *e = entry_at(t, index);
        unchain(t, index, KEY_COMM, e->info.host_a, e->comm_a);
        unchain(t, index, KEY_QP_A, e->info.host_a, e->info.qp_a);
        if (e->info.rep_frame != 0)
            unchain(t, index, KEY_QP_B, e->info.host_b, e->info.qp_b);
        memset(e, 0, sizeof *e);
        return index;
    }
    return pool_take(&t->cm_pool);
}

static void request(struct ctx *c, const struct roce_cm *cm)
{
    struct roce_flow_table *t = c->t;
    uint8_t host[16];
    take_host(host, cm->primary.local_gid, c->pkt->ip.src);
    uint32_t index = lookup(t, KEY_COMM, host, cm->local_comm_id);
    if (index != NIL && entry_at(t, index)->info.qp_a == cm->local_qpn &&
        entry_at(t, index)->info.psn_a == cm->starting_psn) {
        entry_at(t, index)->info.req_count++;
        return;
    }
    index = take_entry(t);
    if (index == NIL) {
        t->forgotten++;
        return;
    }
    struct cm_entry *e = entry_at(t, index);
    e->comm_a = cm->local_comm_id;
    struct path key;
    table_path_key(c->pkt, &key);
    e->encapsulated = key.encapsulated;
    e->tunnel_key = key.tunnel_key;
    e->info = (struct roce_cm_info){
        .state = ROCE_CM_REQUESTED,
        .transport = cm->transport,
        .qp_a = cm->local_qpn,
        .psn_a = cm->starting_psn,
        .path_mtu = cm->path_mtu >= 1 && cm->path_mtu <= 5 ? UINT32_C(128) << cm->path_mtu : 0,
        .ack_timeout = cm->primary.ack_timeout,
        .retry_count = cm->retry_count,
        .rnr_retry_a = cm->rnr_retry,
        .responder_resources = cm->responder_resources,
        .initiator_depth = cm->initiator_depth,
        .max_cm_retries = cm->max_cm_retries,
        .has_ip = cm->has_ip,
        .ip = cm->ip,
        .service_id = cm->service_id,
        .req_count = 1,
        .req_frame = c->frame->number,
        .req_ts = c->frame->ts,
        .ip_version = c->pkt->ip.version,
        .flow_ab = NIL,
        .flow_ba = NIL,
    };
    memcpy(e->info.host_a, host, 16);
    take_host(e->info.host_b, cm->primary.remote_gid, c->pkt->ip.dst);
    chain(t, index, KEY_COMM, host, cm->local_comm_id);
    chain(t, index, KEY_QP_A, host, cm->local_qpn);
}

/* The attempt a message belongs to: by the comm id of the side that sent the REQ. */
static uint32_t attempt_of(const struct ctx *c, const struct roce_cm *cm)
{
    uint32_t index = lookup(c->t, KEY_COMM, c->pkt->ip.dst, cm->remote_comm_id);
    if (index == NIL)
        index = lookup(c->t, KEY_COMM, c->pkt->ip.src, cm->local_comm_id);
    return index;
}

static void reply(struct ctx *c, const struct roce_cm *cm, uint32_t index)
{
    struct roce_cm_info *info = &entry_at(c->t, index)->info;
    info->rep_count++;
    if (info->rep_frame != 0)
        return;
    info->rep_frame = c->frame->number;
    info->rep_ts = c->frame->ts;
    info->qp_b = cm->local_qpn;
    info->psn_b = cm->starting_psn;
    info->rnr_retry_b = cm->rnr_retry;
    info->state = ROCE_CM_REPLIED;
    chain(c->t, index, KEY_QP_B, info->host_b, cm->local_qpn);
    join_flows(c->t, index);
}

static void apply(struct ctx *c, const struct roce_cm *cm, uint32_t captured)
{
    if (cm->message == ROCE_CM_REQ) {
        if (captured >= REQ_NEEDED)
            request(c, cm);
        return;
    }
    if (captured < IDS_NEEDED)
        return;
    const uint32_t index = attempt_of(c, cm);
    if (index == NIL)
        return;
    struct roce_cm_info *info = &entry_at(c->t, index)->info;
    switch (cm->message) {
    case ROCE_CM_REP:
        if (captured >= REP_NEEDED)
            reply(c, cm, index);
        break;
    case ROCE_CM_RTU:
        if (info->rtu_frame == 0) {
            info->rtu_frame = c->frame->number;
            info->rtu_ts = c->frame->ts;
        }
        if (info->state == ROCE_CM_REPLIED)
            info->state = ROCE_CM_ESTABLISHED;
        break;
    case ROCE_CM_REJ:
        if (captured < REJ_NEEDED || info->rej_frame != 0)
            break;
        info->rej_frame = c->frame->number;
        info->rej_ts = c->frame->ts;
        info->reject_reason = cm->reject_reason;
        info->state = cm->reject_reason == REASON_TIMEOUT ? ROCE_CM_TIMED_OUT : ROCE_CM_REJECTED;
        break;
    case ROCE_CM_DREQ:
        if (info->dreq_frame == 0) {
            info->dreq_frame = c->frame->number;
            info->dreq_ts = c->frame->ts;
        }
        info->state = ROCE_CM_CLOSED;
        break;
    case ROCE_CM_DREP:
        if (info->drep_frame == 0)
            info->drep_frame = c->frame->number;
        break;
    default:
        break;
    }
}

void conn_frame(struct ctx *c)
{
    const struct roce_packet *pkt = c->pkt;
    if (!(pkt->has & ROCE_HAS_MAD) || c->frame->data == NULL ||
        pkt->payload_captured < ROCE_MAD_HDR_LEN ||
        (uint64_t)pkt->payload_off + pkt->payload_captured > c->frame->caplen)
        return;
    const uint8_t *mad_bytes = c->frame->data + pkt->payload_off;
    struct roce_mad mad;
    if (roce_mad_decode(mad_bytes, pkt->payload_captured, &mad) < 0 ||
        mad.mgmt_class != ROCE_MAD_CLASS_CM)
        return;
    const uint32_t captured = pkt->payload_captured - ROCE_MAD_HDR_LEN;
    struct roce_cm cm;
    memset(&cm, 0, sizeof cm);
    const int n = roce_cm_decode(mad.attr_id, mad_bytes + ROCE_MAD_HDR_LEN, captured, &cm);
    if (n == ROCE_ERR_UNKNOWN)
        return;
    c->v->flags |= ROCE_V_CM;
    apply(c, &cm, captured);
    if (event_wanted(c->t, ROCE_EVENT_CM)) {
        struct roce_event e = event_make(c->t, ROCE_EVENT_CM, c->id);
        e.code = cm.message;
        e.cm = &cm;
        event_emit(c->t, &e);
    }
}

uint32_t roce_cm_count(const struct roce_flow_table *table)
{
    return table->cm_pool.fresh;
}

bool roce_cm_get(const struct roce_flow_table *table, uint32_t index, struct roce_cm_info *out)
{
    if (index >= table->cm_pool.fresh)
        return false;
    *out = entry_at(table, index)->info;
    if (out->rep_frame != 0) {
        out->flow_ab = data_flow(table, entry_at(table, index), true);
        out->flow_ba = data_flow(table, entry_at(table, index), false);
    }
    /* Nobody answered, and the sender has asked more than once. */
    if (out->state == ROCE_CM_REQUESTED && out->req_count > 1)
        out->state = ROCE_CM_TIMED_OUT;
    return true;
}
