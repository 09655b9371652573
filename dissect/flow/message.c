/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Messages of a flow: from their first request packet to the pending list, where they wait for the
 * answer that completes them. */
#include "internal.h"

#define ATOMIC_BYTES 8

#define PEND_UNDECIDED 64 /* while the peer is not known */

static uint8_t message_op(uint8_t op)
{
    switch (op) {
    case ROCE_OP_SEND:
        return ROCE_MESSAGE_SEND;
    case ROCE_OP_WRITE:
        return ROCE_MESSAGE_WRITE;
    case ROCE_OP_READ:
        return ROCE_MESSAGE_READ;
    case ROCE_OP_ATOMIC:
        return ROCE_MESSAGE_ATOMIC;
    case ROCE_OP_FLUSH:
        return ROCE_MESSAGE_FLUSH;
    case ROCE_OP_ATOMIC_WRITE:
        return ROCE_MESSAGE_ATOMIC_WRITE;
    default:
        return ROCE_MESSAGE_NONE;
    }
}

static void slot_add(struct msg_slot *slot, uint32_t started, uint32_t completed, uint64_t bytes)
{
    slot->started += started;
    slot->completed += completed;
    slot->bytes += bytes;
}

void message_count_slow(struct roce_flow_table *t, struct flow *f, uint8_t op, uint32_t started,
                        uint32_t completed, uint64_t bytes)
{
    if (op >= ROCE_MESSAGE_OPS)
        return;
    int i = 0;
    while (i < MSG_SLOTS && (f->msg_ops >> 4 * i & 0xF) != op + 1) {
        if ((f->msg_ops >> 4 * i & 0xF) == 0 && i == 1)
            trouble_naks_move(t, f);
        if ((f->msg_ops >> 4 * i & 0xF) == 0)
            f->msg_ops |= (uint8_t)((op + 1) << 4 * i);
        else
            i++;
    }
    if (i == MSG_SLOTS) {
        slot_add(&spill_of(t, f)->msg[op], started, completed, bytes);
        return;
    }
    struct msg_slot *slot = i == 0 ? &f->msg0 : &f->msg1;
    slot_add(slot, started, completed, bytes);
    if (slot->started < started)
        spill_of(t, f)->started_high[i]++;
    if (slot->completed < completed)
        spill_of(t, f)->completed_high[i]++;
}

/* ---- the pending list ---- */

void pend_remove(struct roce_flow_table *t, struct flow *f, uint32_t prev, uint32_t index)
{
    struct node *node = node_at(t, index);
    if (node->flags & NODE_HASHED)
        pair_index_remove(t, index);
    if (prev == NIL)
        f->pend_head = node->next;
    else
        node_at(t, prev)->next = node->next;
    if (f->pend_tail == index)
        f->pend_tail = prev;
    f->pend_n--;
    pool_give(&t->node_pool, index);
}

void pend_drop_all(struct roce_flow_table *t, struct flow *f)
{
    while (f->pend_head != NIL)
        pend_remove(t, f, NIL, f->pend_head);
}

/* The oldest entry makes room; what it was is kept as a count, so that an acknowledgement that
 * comes later still completes it. */
static void pend_drop_oldest(struct roce_flow_table *t, struct flow *f)
{
    const struct node *node = node_at(t, f->pend_head);
    if (node->kind != NODE_ACKREQ && node->kind != NODE_OPEN &&
        !(node->flags & (NODE_SKIPPED | NODE_NO_START))) {
        struct affair *affair = affair_of(t, f);
        affair->old_count[node->op]++;
        affair->old_psn = node->last_psn;
        affair->has_old = true;
    }
    t->forgotten++;
    pend_remove(t, f, NIL, f->pend_head);
}

static bool pend_full(const struct roce_flow_table *t, const struct flow *f)
{
    const uint32_t cap = f->peer == NIL ? PEND_UNDECIDED : PEND_MAX;
    return f->pend_n >= cap || nodes_short(t);
}

uint32_t pend_append(struct roce_flow_table *t, uint32_t id, uint32_t psn)
{
    struct flow *f = flow_at(t, id);
    while (f->pend_head != NIL && pend_full(t, f))
        pend_drop_oldest(t, f);
    const uint32_t index = pool_take(&t->node_pool);
    if (index == NIL)
        return NIL;
    struct node *node = node_at(t, index);
    node->owner = id;
    node->first_psn = node->last_psn = psn;
    node->next = NIL;
    f->pend_n++;
    if (f->pend_tail == NIL) {
        f->pend_head = f->pend_tail = index;
    } else if (roce_psn_diff(psn, node_at(t, f->pend_tail)->last_psn) > 0) {
        node_at(t, f->pend_tail)->next = index;
        f->pend_tail = index;
    } else {
        uint32_t *link = &f->pend_head;
        while (*link != NIL && roce_psn_diff(psn, node_at(t, *link)->last_psn) > 0)
            link = &node_at(t, *link)->next;
        node->next = *link;
        *link = index;
    }
    return index;
}

/* ---- latencies and completion ---- */

void latency_add(struct roce_flow_table *t, struct flow *f, enum latency_kind kind, uint64_t ns)
{
    if (t->opts.no_latency)
        return;
    if (f->hist == NIL)
        f->hist = pool_take(&t->hist_pool);
    if (f->hist == NIL) {
        t->forgotten++;
        return;
    }
    struct hist_pair *pair = pool_at(&t->hist_pool, f->hist);
    bool good = true;
    if (kind != LATENCY_BOTH && pair->message.flag == 0) {
        pair->message.flag = pool_take(&t->hist_pool) + 1;
        good = hist_head_copy(hist_of_acks(t, pair), &t->page_pool, &pair->message);
    }
    if (kind != LATENCY_ACK)
        good = hist_head_add(&pair->message, &t->page_pool, ns) && good;
    if (kind == LATENCY_ACK || (kind == LATENCY_BOTH && pair->message.flag != 0))
        good = hist_head_add(hist_of_acks(t, pair), &t->page_pool, ns) && good;
    if (!good)
        t->forgotten++;
}

void message_complete(struct roce_flow_table *t, uint32_t id, struct node *node, roce_tstamp ts,
                      uint64_t frame, struct roce_verdict *v)
{
    struct flow *f = flow_at(t, id);
    /* A message whose beginning was not captured was not counted as started either. */
    if (!(node->flags & NODE_NO_START))
        message_count(t, f, node->op, 0, 1, 0);
    const roce_duration latency = (node->flags & NODE_NO_START) ? -1
                                  : ts > node->start_ts ? (roce_duration)(ts - node->start_ts)
                                                        : 0;
    const bool ack = (node->flags & NODE_ACK) && node->kind != NODE_READ;
    const uint64_t since_ack = ts > node->ts ? ts - node->ts : 0;
    if (ack && latency >= 0 && (uint64_t)latency == since_ack) {
        latency_add(t, f, LATENCY_BOTH, since_ack);
    } else {
        if (latency >= 0)
            latency_add(t, f, LATENCY_MESSAGE, (uint64_t)latency);
        if (ack)
            latency_add(t, f, LATENCY_ACK, since_ack);
    }
    if (v != NULL) {
        v->flags |= ROCE_V_MSG_COMPLETES;
        v->completed++;
        v->message = node->msg_no;
        v->message_op = node->op;
        v->message_frame = node->start_frame;
        v->latency = latency;
    }
    if (event_wanted(t, ROCE_EVENT_MESSAGE)) {
        struct roce_event e = event_make(t, ROCE_EVENT_MESSAGE, id);
        e.ts = ts;
        e.frame = frame;
        e.op = node->op;
        e.message = node->msg_no;
        e.psn = node->first_psn;
        e.count = (uint32_t)roce_psn_diff(node->last_psn, node->first_psn) + 1;
        e.duration = latency;
        e.evidence[0] = node->start_frame;
        e.evidence[1] = node_frame(node);
        e.bytes = (node->flags & NODE_NO_START) ? 0 : node->bytes;
        e.evidence[2] = frame;
        event_emit(t, &e);
    }
}

/* ---- request packets ---- */

static bool acknowledged_service(const struct roce_packet *pkt)
{
    return pkt->service == ROCE_SERVICE_RC || pkt->service == ROCE_SERVICE_XRC;
}

/* The message's bytes by its RETH, else what this packet carries of them. */
static uint32_t packet_bytes(const struct roce_packet *pkt)
{
    if (pkt->has & ROCE_H_RETH)
        return pkt->reth.dma_length;
    return pkt->has & ROCE_HAS_PAYLOAD ? pkt->payload_len : 0;
}

static void node_here(struct ctx *c, struct node *node, uint8_t kind)
{
    node->kind = kind;
    node->op = message_op(c->pkt->op);
    node->ts = node->start_ts = c->frame->ts;
    node->start_frame = c->frame->number;
    node->span = 0;
    node->bytes = kind == NODE_ATOMIC ? ATOMIC_BYTES : packet_bytes(c->pkt);
    node->msg_no = c->f->msg_no;
    if (c->pkt->bth.ackreq)
        node->flags |= NODE_ACK;
}

static void index_if_undecided(struct ctx *c, uint32_t index)
{
    if (c->f->peer == NIL)
        pair_index_add(c->t, index);
}

static void single(struct ctx *c, uint32_t n)
{
    const struct roce_packet *pkt = c->pkt;
    const uint32_t index = pend_append(c->t, c->id, pkt->bth.psn);
    if (index == NIL)
        return;
    struct node *node = node_at(c->t, index);
    switch (pkt->op) {
    case ROCE_OP_READ:
    case ROCE_OP_FLUSH:
    case ROCE_OP_ATOMIC_WRITE:
        node_here(c, node, NODE_READ);
        node->last_psn = roce_psn_add(pkt->bth.psn, (int64_t)n - 1);
        node->next_psn = pkt->bth.psn;
        if (!(c->f->flags & F_SLACK) || pkt->op != ROCE_OP_READ)
            node->flags |= NODE_COUNTED;
        break;
    case ROCE_OP_ATOMIC:
        node_here(c, node, NODE_ATOMIC);
        break;
    default:
        node_here(c, node, NODE_END);
        break;
    }
    index_if_undecided(c, index);
}

/* An open message in front of a gap goes to the pending list as it is. */
void message_gap(struct ctx *c)
{
    struct flow *f = c->f;
    if (!(f->flags & F_MSG))
        return;
    const bool known_start = !(f->flags & F_MSG_MID);
    f->flags &= ~(uint32_t)(F_MSG | F_MSG_MID);
    if (!known_start || f->service == ROCE_SERVICE_UC)
        return;
    const uint32_t index = pend_append(c->t, c->id, f->msg_psn);
    if (index == NIL)
        return;
    struct node *node = node_at(c->t, index);
    node->kind = NODE_OPEN;
    node->op = f->flags & F_MSG_WRITE ? ROCE_MESSAGE_WRITE : ROCE_MESSAGE_SEND;
    node->last_psn = roce_psn_add(f->next_psn, -1);
    node->start_ts = node->ts = f->msg_ts;
    node->start_frame = f->msg_frame;
    node->span = 0;
    node->bytes = f->msg_bytes;
    node->msg_no = f->msg_no;
}

void message_in_order(struct ctx *c, uint32_t n)
{
    struct flow *f = c->f;
    const struct roce_packet *pkt = c->pkt;
    const bool acked = acknowledged_service(pkt);
    if (pkt->pos == ROCE_POS_ONLY || pkt->pos == ROCE_POS_FIRST) {
        f->flags &= ~(uint32_t)(F_MSG | F_MSG_MID);
        f->msg_no++;
        c->v->flags |= ROCE_V_MSG_FIRST;
        c->v->message_packet = 1;
        c->v->message_frame = c->frame->number;
        if (pkt->pos == ROCE_POS_ONLY) {
            c->v->flags |= ROCE_V_MSG_LAST;
            c->v->message_bytes = packet_bytes(pkt);
            if (acked)
                single(c, n);
            return;
        }
        f->flags |= F_MSG;
        if (pkt->op == ROCE_OP_WRITE)
            f->flags |= F_MSG_WRITE;
        else
            f->flags &= ~(uint32_t)F_MSG_WRITE;
        f->msg_psn = pkt->bth.psn;
        f->msg_ts = c->frame->ts;
        f->msg_frame = c->frame->number;
        f->msg_packets = 0;
        f->msg_bytes = pkt->has & ROCE_H_RETH ? pkt->reth.dma_length : 0;
    } else if (!(f->flags & F_MSG) ||
               (pkt->op == ROCE_OP_WRITE) != ((f->flags & F_MSG_WRITE) != 0)) {
        f->flags |= F_MSG | F_MSG_MID;
        if (pkt->op == ROCE_OP_WRITE)
            f->flags |= F_MSG_WRITE;
        else
            f->flags &= ~(uint32_t)F_MSG_WRITE;
        f->msg_psn = pkt->bth.psn;
        f->msg_ts = c->frame->ts;
        f->msg_frame = c->frame->number;
        f->msg_packets = 0;
        f->msg_bytes = 0;
    }
    f->msg_packets++;
    if (pkt->op != ROCE_OP_WRITE || (f->flags & F_MSG_MID))
        f->msg_bytes += pkt->has & ROCE_HAS_PAYLOAD ? pkt->payload_len : 0;
    c->v->message_bytes = f->msg_bytes;
    if (!(f->flags & F_MSG_MID)) {
        c->v->message_packet = f->msg_packets;
        c->v->message_frame = f->msg_frame;
    }
    const bool last = pkt->pos == ROCE_POS_LAST;
    if (last)
        c->v->flags |= ROCE_V_MSG_LAST;
    if (acked && (last || pkt->bth.ackreq)) {
        const uint32_t index = pend_append(c->t, c->id, pkt->bth.psn);
        if (index != NIL) {
            struct node *node = node_at(c->t, index);
            node_here(c, node, last ? NODE_END : NODE_ACKREQ);
            if (last) {
                node->first_psn = f->msg_psn;
                node->start_ts = f->msg_ts;
                node_begin(node, f->msg_frame);
                node->bytes = f->msg_bytes;
                if (f->flags & F_MSG_MID)
                    node->flags |= NODE_NO_START;
            }
            index_if_undecided(c, index);
        }
    }
    if (last)
        f->flags &= ~(uint32_t)(F_MSG | F_MSG_MID);
}

/* A message whose middle was missing and now follows on from |open|: its end, if that came already,
 * learns where it began. */
static void join(struct ctx *c, uint32_t open)
{
    struct flow *f = c->f;
    struct node *a = node_at(c->t, open);
    const uint32_t behind = roce_psn_add(a->last_psn, 1);
    const uint8_t open_op = f->flags & F_MSG_WRITE ? ROCE_MESSAGE_WRITE : ROCE_MESSAGE_SEND;
    if ((f->flags & F_MSG_MID) && f->msg_psn == behind && open_op == a->op) {
        f->flags &= ~(uint32_t)F_MSG_MID;
        f->msg_psn = a->first_psn;
        f->msg_bytes = node_joined_bytes(a, f->msg_bytes);
        if (a->start_ts < f->msg_ts) {
            f->msg_ts = a->start_ts;
            f->msg_frame = a->start_frame;
        }
    } else {
        uint32_t i = a->next;
        while (i != NIL && node_at(c->t, i)->kind == NODE_ACKREQ)
            i = node_at(c->t, i)->next;
        if (i == NIL)
            return;
        struct node *b = node_at(c->t, i);
        if (b->kind != NODE_END || !(b->flags & NODE_NO_START) || b->first_psn != behind ||
            b->op != a->op)
            return;
        b->flags &= (uint8_t)~NODE_NO_START;
        b->first_psn = a->first_psn;
        b->bytes = node_joined_bytes(a, b->bytes);
        if (a->start_ts < b->start_ts) {
            b->start_ts = a->start_ts;
            node_begin(b, a->start_frame);
        }
        b->msg_no = a->msg_no;
    }
    uint32_t prev = NIL;
    for (uint32_t i = f->pend_head; i != open; i = node_at(c->t, i)->next)
        prev = i;
    pend_remove(c->t, f, prev, open);
}

/* A missing middle of a SEND whose two ends have met already counts, too. */
static void inner_bytes(struct ctx *c)
{
    const uint32_t psn = c->pkt->bth.psn;
    for (uint32_t i = c->f->pend_head; i != NIL; i = node_at(c->t, i)->next) {
        struct node *node = node_at(c->t, i);
        if (node->kind == NODE_END && node->op == ROCE_MESSAGE_SEND &&
            roce_psn_diff(psn, node->first_psn) > 0 && roce_psn_diff(psn, node->last_psn) < 0)
            node->bytes += packet_bytes(c->pkt);
    }
}

/* A packet that fills a hole begins a message, or carries on one that the hole interrupted. */
static void filler(struct ctx *c, uint32_t n)
{
    struct flow *f = c->f;
    const struct roce_packet *pkt = c->pkt;
    if (pkt->pos == ROCE_POS_ONLY || pkt->pos == ROCE_POS_FIRST) {
        f->msg_no++;
        c->v->flags |= ROCE_V_MSG_FIRST | (pkt->pos == ROCE_POS_ONLY ? ROCE_V_MSG_LAST : 0);
        c->v->message_packet = 1;
        c->v->message_frame = c->frame->number;
    }
    if (!acknowledged_service(pkt))
        return;
    if (pkt->pos == ROCE_POS_ONLY) {
        single(c, n);
        return;
    }
    uint32_t open = NIL;
    if (pkt->pos == ROCE_POS_FIRST) {
        open = pend_append(c->t, c->id, pkt->bth.psn);
        if (open == NIL)
            return;
        node_here(c, node_at(c->t, open), NODE_OPEN);
        join(c, open);
        return;
    }
    const uint32_t before = roce_psn_add(pkt->bth.psn, -1);
    for (uint32_t i = f->pend_head; i != NIL; i = node_at(c->t, i)->next)
        if (node_at(c->t, i)->kind == NODE_OPEN && node_at(c->t, i)->last_psn == before &&
            node_at(c->t, i)->op == message_op(pkt->op))
            open = i;
    if (open == NIL) {
        if (pkt->pos != ROCE_POS_LAST) {
            inner_bytes(c);
            return;
        }
        const uint32_t end = pend_append(c->t, c->id, pkt->bth.psn);
        if (end == NIL)
            return;
        node_here(c, node_at(c->t, end), NODE_END);
        node_at(c->t, end)->flags |= NODE_NO_START;
        index_if_undecided(c, end);
        return;
    }
    struct node *node = node_at(c->t, open);
    node->last_psn = pkt->bth.psn;
    node->bytes = node_joined_bytes(node, packet_bytes(pkt));
    if (pkt->pos == ROCE_POS_MIDDLE) {
        join(c, open);
        return;
    }
    node->kind = NODE_END;
    node->ts = c->frame->ts;
    node->span = (uint32_t)(c->frame->number - node->start_frame);
    if (pkt->bth.ackreq)
        node->flags |= NODE_ACK;
    index_if_undecided(c, open);
}

void message_request(struct ctx *c, uint32_t n, bool first_time)
{
    struct flow *f = c->f;
    const struct roce_packet *pkt = c->pkt;
    const uint8_t op = message_op(pkt->op);
    c->v->message_op = op;
    if (!first_time) {
        for (uint32_t i = f->pend_head; i != NIL; i = node_at(c->t, i)->next) {
            struct node *node = node_at(c->t, i);
            if (roce_psn_diff(pkt->bth.psn, node->first_psn) < 0 ||
                roce_psn_diff(pkt->bth.psn, node->last_psn) > 0)
                continue;
            c->v->message = node->msg_no;
            c->v->message_frame = node->start_frame;
            if (node->kind == NODE_READ) {
                c->v->resent_frame = node->start_frame;
                node->flags &= (uint8_t)~NODE_LAST_SEEN;
            } else if (node->kind != NODE_OPEN && pkt->bth.psn == node->last_psn) {
                c->v->resent_frame = node_frame(node);
            }
            break;
        }
        return;
    }
    uint64_t bytes = pkt->has & ROCE_HAS_PAYLOAD ? pkt->payload_len : 0;
    if (op == ROCE_MESSAGE_READ)
        bytes = pkt->has & ROCE_H_RETH ? pkt->reth.dma_length : 0;
    else if (op == ROCE_MESSAGE_ATOMIC)
        bytes = ATOMIC_BYTES;
    const bool starts = pkt->pos == ROCE_POS_ONLY || pkt->pos == ROCE_POS_FIRST;
    message_count(c->t, f, op, starts ? 1 : 0, 0, bytes);
    if (c->v->flags & ROCE_V_RETRANSMITTED)
        filler(c, n);
    else
        message_in_order(c, n);
    c->v->message = (f->flags & F_MSG_MID) ? 0 : f->msg_no;
}
