/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The usual frame: of a known RC flow, whole, marked and sent like those before it; a request with
 * the PSN expected, or the ACK of the oldest request. Nearly all frames are like that, and most of
 * what track.c, message.c, response.c and mirror.c ask has one answer for them. Each function here
 * first makes sure of that, and changes nothing when it is not so. */
#include "sign.h"

bool usual_frame(struct ctx *c, const struct roce_icrc *icrc)
{
    struct flow *f = c->f;
    const struct roce_packet *pkt = c->pkt;
    const uint32_t whole = ROCE_HAS_UDP | ROCE_HAS_PAYLOAD;
    if (pkt->service != ROCE_SERVICE_RC || pkt->status != ROCE_STATUS_OK || pkt->sliced ||
        pkt->cut_on_wire || (pkt->has & whole) != whole)
        return false;
    const uint32_t flags = f->flags;
    const uint8_t tos = pkt->ip.tos;
    if ((flags & (F_DSCP | F_PORT | F_CNP_ONLY)) != (F_DSCP | F_PORT) || tos >> 2 != f->dscp ||
        pkt->udp.sport != f->sport || (tos & 3) == ROCE_ECN_CE ||
        ((tos & 3) != ROCE_ECN_NOT_ECT) != ((flags & F_ECT) != 0))
        return false;
    const bool icrc_ok = icrc != NULL && icrc->status == ROCE_ICRC_OK;
    if (icrc_ok != ((flags & F_ICRC_OK) != 0) || (icrc != NULL && icrc->status == ROCE_ICRC_BAD) ||
        c->t->mirror_state == MIRROR_UNDECIDED)
        return false;
    const uint32_t sig = sign_packet(pkt, icrc);
    if (sign_known(f, sig))
        return false;

    c->id_behind = sign_id_behind(f, pkt);
    f->flags = flags | (pkt->bth.migreq ? F_MIG1 : F_MIG0) |
               (pkt->ip.id != f->ip_id ? (uint32_t)F_ID_MOVES : 0);
    if (!c->id_behind)
        f->ip_id = pkt->ip.id;
    sign_keep(f, sig, sign_time(c->frame->ts), sign_attributes(pkt));
    f->ttl = pkt->ip.ttl;
    f->packets++;
    f->bytes += c->frame->origlen;
    f->payload += pkt->payload_len;
    count_opcode(c->t, f, pkt->bth.opcode);
    return true;
}

static bool mtu_is(const struct flow *f, uint32_t len)
{
    return (f->flags & F_MTU_SURE) != 0 && (uint32_t)f->mtu_mask << 8 == len;
}

/* Whether a SEND or WRITE packet goes on as its flow did. */
static bool goes_on(const struct roce_flow_table *t, const struct flow *f,
                    const struct roce_packet *pkt)
{
    const uint32_t psn = pkt->bth.psn;
    if ((f->flags & (F_PSN | F_SLACK | F_UNA)) != (F_PSN | F_UNA) || psn != f->next_psn ||
        f->peer == NIL || roce_psn_diff(f->una, psn) > 0 ||
        roce_psn_diff(roce_psn_add(psn, 1), f->low_psn) < 0)
        return false;
    if (pkt->pos != ROCE_POS_FIRST && pkt->pos != ROCE_POS_MIDDLE)
        return true;
    /* Anything else would be news about the path MTU. */
    return mtu_is(f, pkt->payload_len) && mtu_is(flow_at(t, f->peer), pkt->payload_len);
}

/* A message of one packet goes to the end of the pending list. */
static bool only(struct ctx *c, uint8_t op)
{
    struct roce_flow_table *t = c->t;
    struct flow *f = c->f;
    const struct roce_packet *pkt = c->pkt;
    const uint32_t psn = pkt->bth.psn;
    if (f->pend_n >= PEND_MAX || nodes_short(t) ||
        (f->pend_tail != NIL && roce_psn_diff(psn, node_at(t, f->pend_tail)->last_psn) <= 0))
        return false;
    const uint32_t index = pool_take_dirty(&t->node_pool);
    const uint32_t bytes = pkt->has & ROCE_H_RETH ? pkt->reth.dma_length : pkt->payload_len;
    *node_at(t, index) = (struct node){
        .next = NIL,
        .owner = c->id,
        .first_psn = psn,
        .last_psn = psn,
        .msg_no = ++f->msg_no,
        .kind = NODE_END,
        .op = op,
        .flags = pkt->bth.ackreq ? NODE_ACK : 0,
        .start_ts = c->frame->ts,
        .ts = c->frame->ts,
        .start_frame = c->frame->number,
        .bytes = bytes,
    };
    if (f->pend_tail == NIL)
        f->pend_head = index;
    else
        node_at(t, f->pend_tail)->next = index;
    f->pend_tail = index;
    f->pend_n++;
    f->flags &= ~(uint32_t)(F_MSG | F_MSG_MID);
    c->v->flags |= ROCE_V_MSG_FIRST | ROCE_V_MSG_LAST;
    c->v->message_packet = 1;
    c->v->message_frame = c->frame->number;
    c->v->message_bytes = bytes;
    return true;
}

static void request(struct ctx *c)
{
    struct flow *f = c->f;
    const struct roce_packet *pkt = c->pkt;
    struct roce_verdict *v = c->v;
    const uint8_t op =
        pkt->op == ROCE_OP_SEND ? (uint8_t)ROCE_MESSAGE_SEND : (uint8_t)ROCE_MESSAGE_WRITE;
    v->flags |= ROCE_V_REQUEST;
    v->expected_psn = f->next_psn;
    v->psns = 1;
    v->message_op = op;
    if (c->id_behind)
        f->flags |= F_ID_WILD;
    if (f->trouble != NIL)
        episode_request_ahead(c);
    f->next_psn = f->prev_end = roce_psn_add(f->next_psn, 1);
    v->in_flight = (f->next_psn - f->una) & ROCE_PSN_MASK;
    f->req_ts = c->frame->ts;
    f->flags = pkt->bth.ackreq ? f->flags | F_ASKS : f->flags & ~(uint32_t)F_ASKS;
    const bool starts = pkt->pos == ROCE_POS_ONLY || pkt->pos == ROCE_POS_FIRST;
    message_count(c->t, f, op, starts ? 1 : 0, 0, pkt->payload_len);
    if (pkt->pos != ROCE_POS_ONLY || !only(c, op))
        message_in_order(c, 1);
    v->message = (f->flags & F_MSG_MID) ? 0 : f->msg_no;
}

/* What message_complete does, for a whole message. */
static void complete(struct roce_flow_table *t, struct flow *f, const struct node *node,
                     roce_tstamp ts, struct roce_verdict *v)
{
    const uint64_t latency = ts > node->start_ts ? ts - node->start_ts : 0;
    const uint64_t since_ack = ts > node->ts ? ts - node->ts : 0;
    message_count(t, f, node->op, 0, 1, 0);
    struct hist_pair *pair = f->hist != NIL ? pool_at(&t->hist_pool, f->hist) : NULL;
    if (latency == since_ack && pair != NULL && pair->message.flag == 0) {
        if (!hist_head_add_near(&pair->message, &t->page_pool, latency))
            t->forgotten++;
    } else if (latency == since_ack) {
        latency_add(t, f, LATENCY_BOTH, latency);
    } else {
        latency_add(t, f, LATENCY_MESSAGE, latency);
        latency_add(t, f, LATENCY_ACK, since_ack);
    }
    v->flags |= ROCE_V_MSG_COMPLETES;
    v->completed = 1;
    v->message = node->msg_no;
    v->message_op = node->op;
    v->message_frame = node->start_frame;
    v->latency = (roce_duration)latency;
    v->request_frame = node_frame(node);
    v->rtt = (roce_duration)since_ack;
}

/* The ACK of the oldest request alone. */
static bool acknowledge_one(struct ctx *c, struct flow *f, uint32_t psn)
{
    struct roce_flow_table *t = c->t;
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
    f->una_ts = c->frame->ts;
    if (f->evidence < UINT16_MAX)
        f->evidence++;
    complete(t, f, node, c->frame->ts, c->v);
    f->pend_head = next;
    if (next == NIL)
        f->pend_tail = NIL;
    f->pend_n--;
    pool_give(&t->node_pool, head);
    return true;
}

static bool ack(struct ctx *c)
{
    struct roce_flow_table *t = c->t;
    const struct roce_packet *pkt = c->pkt;
    if (!(pkt->has & ROCE_H_AETH) || roce_aeth_kind(pkt->aeth.syndrome) != ROCE_AETH_ACK ||
        c->f->peer == NIL)
        return false;
    struct flow *f = flow_at(t, c->f->peer);
    const uint32_t psn = pkt->bth.psn;
    if (!(f->flags & F_PSN) || roce_psn_diff(psn, f->next_psn) >= 0)
        return false;
    c->v->flags |= ROCE_V_RESPONSE;
    if (acknowledge_one(c, f, psn))
        return true;
    const struct obs o = {.ts = c->frame->ts,
                          .frame = c->frame->number,
                          .psn = psn | (uint32_t)OBS_ACK << 24,
                          .msn = pkt->aeth.msn};
    response_acknowledge(t, c->f->peer, roce_psn_add(psn, 1), &o, c->v);
    if (f->trouble != NIL)
        episode_response(t, c->f->peer, psn, false);
    return true;
}

bool usual_track(struct ctx *c)
{
    const uint8_t op = c->pkt->op;
    if (op == ROCE_OP_ACK)
        return ack(c);
    if (op > ROCE_OP_WRITE || !goes_on(c->t, c->f, c->pkt))
        return false;
    request(c);
    return true;
}
