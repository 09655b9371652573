/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The usual frame: of a known RC flow, whole, marked and sent like those before it; a request with
 * the PSN expected, or the ACK of what was asked. Nearly all frames are like that, and most of what
 * track.c, message.c, response.c and mirror.c ask has one answer for them. What makes it so is
 * looked at first; a frame that is not has changed nothing. */
#include "digest.h"
#include "sign.h"

/* ---- is it usual? ---- */

/* Whether the frame looks as those of its flow do. */
static bool is_alike(const struct flow *f, const struct roce_digest *d)
{
    enum { SHIFT = 27 };
    _Static_assert(DIGEST_ECT << SHIFT == F_ECT && DIGEST_ICRC_OK << SHIFT == F_ICRC_OK,
                   "the two flags are moved together");
    const uint32_t asked = F_LIVE | F_DSCP | F_PORT | F_CNP_ONLY | F_ECT | F_ICRC_OK;
    const uint32_t wanted =
        F_LIVE | F_DSCP | F_PORT | (digest_flags(d) & (DIGEST_ECT | DIGEST_ICRC_OK)) << SHIFT;
    return (f->flags & asked) == wanted && d->tos >> 2 == f->dscp && d->sport == f->sport &&
           !sign_known(f, d->sign);
}

/* For a live flow; the record of one that is gone names no path. */
static bool is_of(const struct roce_flow_table *t, const struct flow *f,
                  const struct roce_digest *d, const struct roce_packet *pkt)
{
    const struct path *path = path_at(t, f->path);
    if (f->dqpn != digest_qp(d))
        return false;
    if (!(digest_flags(d) & DIGEST_DIRECT) || !path->direct)
        return table_is_on_path(path, pkt);
    return digest_addresses(path->src, path->dst) == d->addresses;
}

static bool mtu_is(const struct flow *f, uint32_t len)
{
    return (f->flags & F_MTU_SURE) != 0 && (uint32_t)f->mtu_mask << 8 == len;
}

/* Whether a SEND or WRITE packet goes on as its flow did. */
static bool goes_on(const struct flow *f, const struct flow *peer, const struct roce_digest *d)
{
    const uint32_t psn = digest_psn(d);
    const uint8_t pos = digest_pos(d);
    if ((f->flags & (F_PSN | F_SLACK | F_UNA)) != (F_PSN | F_UNA) || psn != f->next_psn ||
        roce_psn_diff(f->una, psn) > 0 || roce_psn_diff(roce_psn_add(psn, 1), f->low_psn) < 0)
        return false;
    if (pos != ROCE_POS_FIRST && pos != ROCE_POS_MIDDLE)
        return true;
    /* Anything else would be news about the path MTU. */
    return mtu_is(f, d->payload_len) && mtu_is(peer, d->payload_len);
}

/* Whether an ACK is of what |peer| has sent. */
static bool answers(const struct flow *peer, const struct roce_digest *d)
{
    return (peer->flags & F_PSN) != 0 && roce_psn_diff(digest_psn(d), peer->next_psn) < 0;
}

/* ---- what it does ---- */

const struct roce_packet *run_packet(const struct run *run, int i, struct roce_packet *space)
{
    if (run->decoded || (digest_flags(&run->digest[i]) & DIGEST_PLAIN) == 0)
        return &run->pkt[i];
    roce_packet_decode(&run->frame[i], run->opts, space);
    return space;
}

FLOW_SELDOM void ahead(struct roce_flow_table *t, uint32_t id)
{
    struct ctx c = {.t = t, .f = flow_at(t, id), .id = id};
    episode_request_ahead(&c);
}

FLOW_SELDOM uint32_t any_in_order(struct roce_flow_table *t, const struct run *run, int i,
                                  uint32_t id)
{
    struct roce_packet space;
    struct roce_verdict v = {0};
    struct ctx c = {.t = t,
                    .frame = &run->frame[i],
                    .pkt = run_packet(run, i, &space),
                    .v = &v,
                    .f = flow_at(t, id),
                    .id = id};
    message_in_order(&c, 1);
    return v.flags;
}

FLOW_SELDOM void any_acknowledged(struct roce_flow_table *t, uint32_t id,
                                  const struct roce_digest *d, struct went *went)
{
    struct roce_verdict v = {0};
    const struct obs o = {.ts = t->now,
                          .frame = t->frame,
                          .psn = digest_psn(d) | (uint32_t)OBS_ACK << 24,
                          .msn = d->length_msn};
    response_acknowledge(t, id, roce_psn_add(digest_psn(d), 1), &o, &v);
    if (flow_at(t, id)->trouble != NIL)
        episode_response(t, id, digest_psn(d), false);
    went->flags |= v.flags;
    went->completed = v.completed;
}

/* A message of one packet goes to the end of the pending list. */
FLOW_INLINE bool only(struct roce_flow_table *t, struct flow *f, uint32_t id,
                      const struct roce_digest *d)
{
    const uint32_t psn = digest_psn(d);
    if (f->pend_n >= PEND_MAX || nodes_short(t) ||
        (f->pend_tail != NIL && roce_psn_diff(psn, node_at(t, f->pend_tail)->last_psn) <= 0))
        return false;
    const uint32_t index = pool_take_dirty(&t->node_pool);
    *node_at(t, index) = (struct node){
        .next = NIL,
        .owner = id,
        .first_psn = psn,
        .last_psn = psn,
        .msg_no = ++f->msg_no,
        .kind = NODE_END,
        .op = digest_op(d),
        .flags = digest_flags(d) & DIGEST_ACKREQ ? NODE_ACK : 0,
        .start_ts = d->ts,
        .ts = d->ts,
        .start_frame = t->frame,
        .bytes = d->length_msn,
    };
    if (f->pend_tail == NIL)
        f->pend_head = index;
    else
        node_at(t, f->pend_tail)->next = index;
    f->pend_tail = index;
    f->pend_n++;
    f->flags &= ~(uint32_t)(F_MSG | F_MSG_MID);
    return true;
}

static uint32_t first(struct roce_flow_table *t, struct flow *f, const struct roce_digest *d)
{
    const bool write = digest_op(d) == DIGEST_WRITE;
    f->flags = (f->flags & ~(uint32_t)(F_MSG_MID | F_MSG_WRITE)) | F_MSG |
               (write ? (uint32_t)F_MSG_WRITE : 0);
    f->msg_no++;
    f->msg_psn = digest_psn(d);
    f->msg_ts = d->ts;
    f->msg_frame = t->frame;
    f->msg_packets = 1;
    f->msg_bytes = d->length_msn;
    return ROCE_V_MSG_FIRST;
}

static bool is_inside(const struct flow *f, const struct roce_digest *d)
{
    return (f->flags & F_MSG) != 0 &&
           (digest_op(d) == DIGEST_WRITE) == ((f->flags & F_MSG_WRITE) != 0);
}

/* A packet inside a message, or its last one. */
static uint32_t inside(struct roce_flow_table *t, struct flow *f, uint32_t id,
                       const struct roce_digest *d)
{
    const bool last = digest_pos(d) == ROCE_POS_LAST, asks = (digest_flags(d) & DIGEST_ACKREQ) != 0;
    f->msg_packets++;
    if (digest_op(d) != DIGEST_WRITE || (f->flags & F_MSG_MID) != 0)
        f->msg_bytes += d->payload_len;
    const uint32_t index = last || asks ? pend_append(t, id, digest_psn(d)) : NIL;
    if (index != NIL) {
        struct node *node = node_at(t, index);
        node->kind = last ? NODE_END : NODE_ACKREQ;
        node->op = digest_op(d);
        node->msg_no = f->msg_no;
        node->flags = asks ? NODE_ACK : 0;
        node->ts = node->start_ts = d->ts;
        node->start_frame = t->frame;
        node->span = 0;
        node->bytes = d->payload_len;
        if (last) {
            node->first_psn = f->msg_psn;
            node->start_ts = f->msg_ts;
            node_begin(node, f->msg_frame);
            node->bytes = f->msg_bytes;
            node->flags |= f->flags & F_MSG_MID ? NODE_NO_START : 0;
        }
    }
    if (last)
        f->flags &= ~(uint32_t)(F_MSG | F_MSG_MID);
    return last ? ROCE_V_MSG_LAST : 0;
}

FLOW_INLINE void request(struct roce_flow_table *t, struct flow *f, const struct run *run, int i,
                         bool id_behind, struct went *went)
{
    const uint32_t id = went->flow;
    const struct roce_digest *d = &run->digest[i];
    const uint8_t op = digest_op(d), pos = digest_pos(d);
    const bool asks = (digest_flags(d) & DIGEST_ACKREQ) != 0;
    if (id_behind)
        f->flags |= F_ID_WILD;
    if (f->trouble != NIL)
        ahead(t, id);
    f->next_psn = f->prev_end = roce_psn_add(digest_psn(d), 1);
    f->req_ts = d->ts;
    f->flags = asks ? f->flags | F_ASKS : f->flags & ~(uint32_t)F_ASKS;
    const bool starts = pos == ROCE_POS_ONLY || pos == ROCE_POS_FIRST;
    message_count(t, f, op, starts ? 1 : 0, 0, d->payload_len);
    went->psns = 1;
    went->in_flight = (f->next_psn - f->una) & ROCE_PSN_MASK;
    went->completed = 0;
    uint32_t flags;
    if (pos == ROCE_POS_ONLY && only(t, f, id, d)) {
        flags = ROCE_V_MSG_FIRST | ROCE_V_MSG_LAST;
    } else if (pos == ROCE_POS_FIRST && !asks) {
        flags = first(t, f, d);
    } else if ((pos == ROCE_POS_MIDDLE || pos == ROCE_POS_LAST) && is_inside(f, d)) {
        flags = inside(t, f, id, d);
    } else {
        flags = any_in_order(t, run, i, id);
    }
    went->flags = flags | ROCE_V_REQUEST;
}

/* What message_complete does, for a whole message. */
FLOW_INLINE void complete(struct roce_flow_table *t, struct flow *f, const struct node *node,
                          roce_tstamp ts)
{
    const uint64_t latency = ts > node->start_ts ? ts - node->start_ts : 0;
    const uint64_t since_ack = ts > node->ts ? ts - node->ts : 0;
    message_count(t, f, node->op, 0, 1, 0);
    struct hist_pair *pair = f->hist != NIL ? hist_at(t, f->hist) : NULL;
    if (latency == since_ack && pair != NULL && pair->message.flag == 0) {
        if (!hist_head_add_near(&pair->message, &t->page_pool, latency))
            t->forgotten++;
    } else if (latency == since_ack) {
        latency_add(t, f, LATENCY_BOTH, latency);
    } else {
        latency_add(t, f, LATENCY_MESSAGE, latency);
        latency_add(t, f, LATENCY_ACK, since_ack);
    }
}

/* The ACK of the oldest request alone. */
FLOW_INLINE bool acknowledge_one(struct roce_flow_table *t, struct flow *f, uint32_t psn)
{
    const uint32_t upto = roce_psn_add(psn, 1), head = f->pend_head;
    if (head == NIL || (f->flags & F_UNA) == 0 || f->trouble != NIL || f->holes != NIL ||
        roce_psn_diff(upto, f->una) <= 0 || t->told_answers)
        return false;
    struct node *node = node_at(t, head);
    const uint32_t next = node->next;
    if (node->kind != NODE_END || node->last_psn != psn || node->flags != NODE_ACK ||
        (next != NIL && roce_psn_diff(upto, node_at(t, next)->last_psn) > 0))
        return false;
    f->una = upto;
    f->una_ts = t->now;
    if (f->evidence < UINT16_MAX)
        f->evidence++;
    complete(t, f, node, t->now);
    f->pend_head = next;
    if (next == NIL)
        f->pend_tail = NIL;
    f->pend_n--;
    pool_give(&t->node_pool, head);
    return true;
}

FLOW_INLINE void ack(struct roce_flow_table *t, struct flow *f, uint32_t id,
                     const struct roce_digest *d, struct went *went)
{
    went->psns = went->in_flight = went->completed = 0;
    went->flags = ROCE_V_RESPONSE;
    if (acknowledge_one(t, f, digest_psn(d))) {
        went->flags |= ROCE_V_MSG_COMPLETES;
        went->completed = 1;
    } else {
        any_acknowledged(t, id, d, went);
    }
}

/* ---- all of it ---- */

/* Returns whether the IP identification tells that the frame was sent before the one captured
 * last. */
FLOW_INLINE bool count(struct roce_flow_table *t, struct flow *f, const struct roce_digest *d)
{
    _Static_assert(F_MIG1 == F_MIG0 << 1, "the flag is shifted to the one it is");
    const bool id_behind = sign_id_behind(f, d->ip_id);
    f->flags |= (uint32_t)F_MIG0 << ((digest_flags(d) & DIGEST_MIGREQ) != 0) |
                (d->ip_id != f->ip_id) * (uint32_t)F_ID_MOVES;
    f->ip_id = id_behind ? f->ip_id : d->ip_id;
    sign_keep(f, d->sign, sign_time(d->ts), d->sign_attr);
    f->last_ts = d->ts;
    f->last_frame = t->frame;
    f->ttl = d->ttl;
    f->packets++;
    f->bytes += d->origlen;
    f->payload += d->payload_len;
    count_opcode(t, f, digest_opcode(d));
    return id_behind;
}

int flow_run(struct roce_flow_table *t, const struct run *run, roce_duration silence,
             struct went *went)
{
    const int n = t->mirror_state == MIRROR_UNDECIDED ? 0 : run->n;
    int i = 0;
    for (; i < n; i++, went++) {
        const struct roce_digest *d = &run->digest[i];
        const uint32_t id = run->id[i];
        if (!(digest_flags(d) & DIGEST_PLAIN) || id == NIL)
            break;
        struct flow *f = flow_at(t, id);
        if (!is_alike(f, d) || f->peer == NIL || !is_of(t, f, d, &run->pkt[i]))
            break;
        struct flow *peer = flow_at(t, f->peer);
        const bool response = (d->kind & DIGEST_RESPONSE) != 0;
        if (!(response ? answers(peer, d) : goes_on(f, peer, d)))
            break;
        t->now = d->ts;
        t->frame = digest_number(d, run->first);
        if (t->lru_on)
            table_seen(t, id);
        went->flow = id;
        const roce_duration delta = (roce_duration)(d->ts - f->last_ts);
        went->delta = delta;
        const bool id_behind = count(t, f, d);
        if (response)
            ack(t, peer, f->peer, d, went);
        else
            request(t, f, run, i, id_behind, went);
        if (delta >= silence) {
            i++;
            break;
        }
    }
    t->frames += (uint64_t)i;
    return i;
}
