/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Responses: what they acknowledge, complete and ask for in the flow of the other direction
 * (IBTA 9.7.5.1). */
#include "internal.h"

#define SKIPPED_MAX 16      /* unanswered READs and atomics kept after a response passed them */
#define GHOST_MAX   0x10000 /* PSNs ahead that the capture may have missed */
#define BREAK_AFTER 4       /* contradictions that a pair survives at least */

/* ---- responses kept while the peer is undecided ---- */

void obs_drop_all(struct roce_flow_table *t, struct flow *f)
{
    if (f->peer != NIL)
        return; /* the place of the list holds something else */
    while (f->obs_head != NIL) {
        const uint32_t i = f->obs_head;
        f->obs_head = ((struct obs_block *)pool_at(&t->node_pool, i))->next;
        pool_give(&t->node_pool, i);
    }
    f->obs_tail = NIL;
    f->obs_n = 0;
}

const struct obs *obs_next(const struct roce_flow_table *t, const struct flow *f, uint32_t *block,
                           uint32_t *at)
{
    if (*block == NIL) {
        *block = f->obs_head;
        *at = 0;
    }
    while (*block != NIL) {
        const struct obs_block *b = pool_at(&t->node_pool, *block);
        if (*at < b->n)
            return &b->obs[(*at)++];
        *block = b->next;
        *at = 0;
        if (*block == NIL)
            break;
    }
    return NULL;
}

static void obs_keep(struct roce_flow_table *t, struct flow *f, const struct obs *o)
{
    struct obs_block *b = f->obs_tail != NIL ? pool_at(&t->node_pool, f->obs_tail) : NULL;
    if (b == NULL || b->n == 2) {
        if (f->obs_n >= OBS_MAX || (f->obs_n >= 4 && nodes_short(t))) {
            const uint32_t oldest = f->obs_head;
            const struct obs_block *head = pool_at(&t->node_pool, oldest);
            f->obs_n = (uint8_t)(f->obs_n - head->n);
            f->obs_head = head->next;
            if (f->obs_head == NIL)
                f->obs_tail = NIL;
            pool_give(&t->node_pool, oldest);
            t->forgotten++;
        }
        const uint32_t index = pool_take(&t->node_pool);
        if (index == NIL) {
            t->forgotten++;
            return;
        }
        if (f->obs_tail != NIL)
            ((struct obs_block *)pool_at(&t->node_pool, f->obs_tail))->next = index;
        else
            f->obs_head = index;
        f->obs_tail = index;
        b = pool_at(&t->node_pool, index);
        b->next = NIL;
    }
    b->obs[b->n++] = *o;
    f->obs_n++;
}

/* ---- what a response does to the flow it answers ---- */

static void agree(struct flow *f)
{
    if (f->evidence < UINT16_MAX)
        f->evidence++;
}

/* The entry that a response names: by its last PSN, or any PSN of a READ. */
static uint32_t entry_of(const struct roce_flow_table *t, const struct flow *f, uint32_t psn,
                         uint32_t *prev)
{
    *prev = NIL;
    for (uint32_t i = f->pend_head; i != NIL; i = node_at(t, i)->next) {
        const struct node *node = node_at(t, i);
        if (node->kind == NODE_READ) {
            if (roce_psn_diff(psn, node->first_psn) >= 0 &&
                (roce_psn_diff(psn, node->last_psn) <= 0 ||
                 (!(node->flags & NODE_COUNTED) && node->next == NIL)))
                return i;
        } else if (node->last_psn == psn && node->kind != NODE_OPEN) {
            return i;
        }
        if (roce_psn_diff(node->first_psn, psn) > 0)
            break;
        *prev = i;
    }
    return NIL;
}

static void ask_skipped(struct roce_flow_table *t, struct flow *f, uint32_t psn,
                        const struct obs *o)
{
    struct affair *affair = affair_of(t, f);
    if (affair->has_skip && roce_psn_diff(psn, affair->skip_psn) >= 0) {
        uint32_t prev;
        const uint32_t i = entry_of(t, f, affair->skip_psn, &prev);
        if (i != NIL && (node_at(t, i)->kind == NODE_READ || node_at(t, i)->kind == NODE_ATOMIC))
            return; /* the earlier one is still open */
    }
    affair->has_skip = true;
    affair->skip_psn = psn;
    affair->skip_frame = o->frame;
    affair->skip_ts = o->ts;
}

/* The first PSN without an answer of a READ or atomic that was skipped. */
static uint32_t unanswered(const struct roce_flow_table *t, const struct flow *f,
                           const struct node *node)
{
    if (node->kind != NODE_READ)
        return node->first_psn;
    return rresp_upto(t, flow_at(t, f->peer), node->next_psn, node->last_psn);
}

static void completes(struct roce_flow_table *t, uint32_t id, struct node *node,
                      const struct obs *o, struct roce_verdict *v)
{
    if (node->kind == NODE_ACKREQ)
        latency_add(t, flow_at(t, id), LATENCY_ACK, o->ts > node->ts ? o->ts - node->ts : 0);
    else
        message_complete(t, id, node, o->ts, o->frame, v);
}

static void old_messages(struct roce_flow_table *t, struct flow *f, uint32_t upto)
{
    struct affair *affair = affair_peek(t, f);
    if (affair == NULL || !affair->has_old || roce_psn_diff(upto, affair->old_psn) <= 0)
        return;
    for (unsigned op = 0; op < ROCE_MESSAGE_OPS; op++) {
        if (affair->old_count[op] > 0)
            message_count(t, f, (uint8_t)op, 0, affair->old_count[op], 0);
        affair->old_count[op] = 0;
    }
    affair->has_old = false;
    affair_settled(t, f);
}

/* The end of a message whose start lies before a hole; NIL when the next entry is another message.
 */
static uint32_t end_of_open(const struct roce_flow_table *t, const struct node *open)
{
    uint32_t i = open->next;
    while (i != NIL && node_at(t, i)->kind == NODE_ACKREQ)
        i = node_at(t, i)->next;
    if (i == NIL || node_at(t, i)->kind != NODE_END || !(node_at(t, i)->flags & NODE_NO_START) ||
        node_at(t, i)->op != open->op)
        return NIL;
    return i;
}

static void answers(const struct node *node, const struct obs *o, struct roce_verdict *v)
{
    if (v == NULL)
        return;
    const bool read = node->kind == NODE_READ;
    v->request_frame = node_frame(node);
    const roce_tstamp ts = read ? node->start_ts : node->ts;
    v->rtt = o->ts > ts ? (roce_duration)(o->ts - ts) : 0;
    v->message = node->msg_no;
    v->message_op = node->op;
    v->message_frame = node->start_frame;
}

/* Acknowledges every PSN before |upto|. READs and atomics in front of it that have no answer yet
 * were skipped: an implied NAK. */
void response_acknowledge(struct roce_flow_table *t, uint32_t id, uint32_t upto,
                          const struct obs *o, struct roce_verdict *v)
{
    struct flow *f = flow_at(t, id);
    const int32_t gain = f->flags & F_UNA ? roce_psn_diff(upto, f->una) : 1;
    if (gain <= 0) {
        if (v != NULL && v->completed == 0)
            v->flags |= ROCE_V_ACK_DUP;
        return;
    }
    f->flags |= F_UNA;
    f->una = upto;
    f->una_ts = o->ts;
    if (f->trouble != NIL)
        old_messages(t, f, upto);
    /* An ACK names the PSN it acknowledges; other responses only imply those before them. */
    const uint32_t named = obs_kind(o) == OBS_ACK ? o->psn & ROCE_PSN_MASK : NIL;
    uint32_t prev = NIL, skipped = 0;
    uint64_t newest = 0;
    roce_tstamp newest_ts = 0;
    for (uint32_t i = f->pend_head; i != NIL;) {
        struct node *node = node_at(t, i);
        const uint32_t next = node->next;
        if (roce_psn_diff(upto, node->last_psn) <= 0)
            break;
        if (node->kind == NODE_READ || node->kind == NODE_ATOMIC) {
            if (!(node->flags & NODE_SKIPPED)) {
                node->flags |= NODE_SKIPPED;
                ask_skipped(t, f, unanswered(t, f, node), o);
            }
            if (++skipped > SKIPPED_MAX)
                pend_remove(t, f, NIL, f->pend_head);
            prev = i;
            i = next;
            continue;
        }
        if (node->kind == NODE_OPEN) {
            const uint32_t end = end_of_open(t, node);
            if (end != NIL) {
                struct node *last = node_at(t, end);
                last->flags &= (uint8_t)~NODE_NO_START;
                last->first_psn = node->first_psn;
                last->start_ts = node->start_ts;
                node_begin(last, node->start_frame);
                last->bytes = node_joined_bytes(node, last->bytes);
                last->msg_no = node->msg_no;
            } else if (next == NIL || roce_psn_diff(upto, node_at(t, next)->first_psn) < 0) {
                prev = i;
                i = next;
                continue;
            } else {
                completes(t, id, node, o, v);
            }
        } else {
            if (node->flags & NODE_ACK) {
                newest = node_frame(node);
                newest_ts = node->ts;
            }
            if (node->last_psn == named) {
                agree(f);
                answers(node, o, v);
            }
            completes(t, id, node, o, v);
        }
        pend_remove(t, f, prev, i);
        i = next;
    }
    if (f->holes != NIL)
        loss_holes_passed(t, id, upto);
    if (event_wanted(t, ROCE_EVENT_ACKED)) {
        struct roce_event e = event_make(t, ROCE_EVENT_ACKED, id);
        e.ts = o->ts;
        e.frame = o->frame;
        e.psn = roce_psn_add(upto, -1);
        e.count = (uint32_t)gain;
        e.about_frame = newest;
        e.duration = newest != 0 && o->ts >= newest_ts ? (roce_duration)(o->ts - newest_ts) : -1;
        event_emit(t, &e);
    }
}

/* READs before |index| whose responses all came except some lost by the capture: the requester went
 * on issuing requests after their last response instead of asking again. */
static void settle_earlier_reads(struct roce_flow_table *t, uint32_t id, const struct node *by,
                                 const struct obs *o)
{
    struct flow *f = flow_at(t, id);
    uint32_t prev = NIL;
    for (uint32_t i = f->pend_head; i != NIL && node_at(t, i) != by;) {
        struct node *node = node_at(t, i);
        const uint32_t next = node->next;
        if (node->kind == NODE_READ && (node->flags & NODE_LAST_SEEN) && by->start_ts > node->ts) {
            completes(t, id, node, o, NULL);
            pend_remove(t, f, prev, i);
        } else {
            prev = i;
        }
        i = next;
    }
}

static bool read_response(struct roce_flow_table *t, uint32_t id, enum obs_kind kind, uint32_t psn,
                          const struct obs *o, struct roce_verdict *v)
{
    struct flow *f = flow_at(t, id);
    uint32_t prev;
    const uint32_t i = entry_of(t, f, psn, &prev);
    if (i == NIL || node_at(t, i)->kind != NODE_READ)
        return false;
    struct node *node = node_at(t, i);
    answers(node, o, v);
    /* Middle packets are not kept while the pair is undecided: the response track remembers them.
     */
    if (roce_psn_diff(psn, node->next_psn) > 0)
        node->next_psn = rresp_upto(t, flow_at(t, f->peer), node->next_psn, psn);
    const int32_t ahead = roce_psn_diff(psn, node->next_psn);
    if (ahead > 0)
        ask_skipped(t, f, node->next_psn, o);
    else if (ahead == 0)
        node->next_psn = roce_psn_add(psn, 1);
    if (kind != OBS_READ_LAST && kind != OBS_READ_ONLY)
        return true;
    if (!(node->flags & NODE_COUNTED)) {
        node->last_psn = psn;
        node->flags |= NODE_COUNTED;
    }
    if (psn != node->last_psn)
        return true;
    if (ahead > 0) {
        node->flags |= NODE_LAST_SEEN;
        node->ts = o->ts;
        return true;
    }
    settle_earlier_reads(t, id, node, o);
    const uint32_t first = node->first_psn;
    prev = NIL;
    for (uint32_t k = f->pend_head; k != i; k = node_at(t, k)->next)
        prev = k;
    completes(t, id, node, o, v);
    pend_remove(t, f, prev, i);
    const struct affair *affair = affair_peek(t, f);
    if (affair != NULL && affair->has_skip && roce_psn_diff(affair->skip_psn, first) >= 0 &&
        roce_psn_diff(affair->skip_psn, psn) <= 0)
        episode_answered_late(t, f);
    return true;
}

static void refused(struct roce_flow_table *t, uint32_t from, enum obs_kind kind, uint32_t psn,
                    const struct obs *o)
{
    struct flow *f = flow_at(t, flow_at(t, from)->peer);
    if (kind == OBS_FATAL) {
        struct rare *rare = rare_of(t, f);
        rare->fatal = (uint8_t)((o->msn >> 24) + 1);
        rare->fatal_frame = o->frame;
        rare->fatal_requests = 0;
        return;
    }
    struct affair *affair = affair_of(t, f);
    if (kind == OBS_RNR) {
        affair->has_rnr = true;
        affair->rnr_psn = psn;
        affair->rnr_frame = o->frame;
        affair->rnr_ts = o->ts;
        return;
    }
    missing_naked(t, f, psn);
    affair->has_nak = true;
    affair->nak_psn = psn;
    affair->nak_frame = o->frame;
    affair->nak_ts = o->ts;
    const uint32_t hole = hole_find(t, f->holes, psn);
    if (hole != NIL)
        hole_at(t, hole)->naked = true;
}

/* A response to a PSN that was not captured: the capture missed the request, or the pair is wrong.
 * The next request tells (see response_contradicted). */
static void ghost(struct roce_flow_table *t, uint32_t from, uint32_t psn, const struct obs *o,
                  struct roce_verdict *v)
{
    if (v != NULL)
        v->flags |= ROCE_V_ACK_GHOST;
    if (!event_wanted(t, ROCE_EVENT_GHOST_ACK))
        return;
    struct roce_event e = event_make(t, ROCE_EVENT_GHOST_ACK, from);
    e.ts = o->ts;
    e.frame = o->frame;
    e.psn = psn;
    event_emit(t, &e);
}

/* The flow sends for the first time what was acknowledged before: not by its peer. */
void response_contradicted(struct roce_flow_table *t, uint32_t id)
{
    struct flow *f = flow_at(t, id);
    struct flow *g = flow_at(t, f->peer);
    if (f->flags & F_PAIR_CM)
        return;
    if (f->conflicts < UINT16_MAX)
        f->conflicts++;
    if (g->conflicts < UINT16_MAX)
        g->conflicts++;
    t->conflicts++;
    if (f->conflicts >= BREAK_AFTER && f->conflicts >= (f->evidence + g->evidence) / 4)
        pair_break(t, id, true);
}

void response_apply(struct roce_flow_table *t, uint32_t from, const struct obs *o,
                    struct roce_verdict *v)
{
    struct flow *g = flow_at(t, from);
    const uint32_t id = g->peer;
    struct flow *f = flow_at(t, id);
    if (f->hist != NIL)
        prefetch_line(pool_at(&t->hist_pool, f->hist));
    const enum obs_kind kind = obs_kind(o);
    const uint32_t psn = o->psn & ROCE_PSN_MASK;
    const bool named = kind != OBS_NAK && kind != OBS_RNR && kind != OBS_FATAL;
    if (!(f->flags & F_PSN))
        return;
    const int32_t ahead = roce_psn_diff(psn, f->next_psn);
    if (ahead >= 0 && !((f->flags & F_SLACK) && kind >= OBS_READ_FIRST && kind <= OBS_READ_LAST)) {
        ghost(t, from, psn, o, v);
        if (ahead > GHOST_MAX)
            return;
    }
    if (named && kind != OBS_ACK && kind != OBS_READ_MIDDLE && kind != OBS_READ_LAST) {
        uint32_t prev;
        const uint32_t i = entry_of(t, f, psn, &prev);
        if (i != NIL) {
            agree(f);
            answers(node_at(t, i), o, v);
        }
    }
    switch (kind) {
    case OBS_ACK:
        response_acknowledge(t, id, roce_psn_add(psn, 1), o, v);
        break;
    case OBS_NAK:
    case OBS_FATAL:
    case OBS_RNR:
        response_acknowledge(t, id, psn, o, v);
        refused(t, from, kind, psn, o);
        break;
    case OBS_ATOMIC: {
        response_acknowledge(t, id, psn, o, v);
        uint32_t prev;
        const uint32_t i = entry_of(t, f, psn, &prev);
        if (i != NIL && node_at(t, i)->kind == NODE_ATOMIC) {
            completes(t, id, node_at(t, i), o, v);
            pend_remove(t, f, prev, i);
        }
        if (!(f->flags & F_UNA) || roce_psn_diff(roce_psn_add(psn, 1), f->una) > 0) {
            f->una = roce_psn_add(psn, 1);
            f->una_ts = o->ts;
            f->flags |= F_UNA;
        }
        break;
    }
    default: { /* READ responses */
        uint32_t prev;
        const uint32_t i = entry_of(t, f, psn, &prev);
        const bool read = i != NIL && node_at(t, i)->kind == NODE_READ;
        response_acknowledge(t, id, read ? node_at(t, i)->first_psn : psn, o, v);
        if (read_response(t, id, kind, psn, o, v) && roce_psn_diff(psn, f->una) >= 0) {
            f->una = roce_psn_add(psn, 1);
            f->una_ts = o->ts;
        }
        const uint32_t hole = f->holes != NIL ? hole_find(t, f->holes, psn) : NIL;
        if (hole != NIL && kind != OBS_READ_FIRST && kind != OBS_READ_ONLY)
            hole_at(t, hole)->middles++;
        break;
    }
    }
    if (f->trouble == NIL)
        return;
    if (kind == OBS_ATOMIC || (kind >= OBS_READ_FIRST && kind <= OBS_READ_LAST))
        episode_answer(t, f, psn);
    episode_response(t, id, psn, kind == OBS_NAK || kind == OBS_RNR || kind == OBS_FATAL);
}

/* ---- one response frame ---- */

static bool observe(const struct ctx *c, struct obs *o)
{
    const struct roce_packet *pkt = c->pkt;
    uint32_t kind;
    const bool aeth = (pkt->has & ROCE_H_AETH) != 0;
    *o = (struct obs){.ts = c->frame->ts,
                      .frame = c->frame->number,
                      .msn = aeth ? pkt->aeth.msn & ROCE_PSN_MASK : 0};
    if (pkt->op == ROCE_OP_READ_RESPONSE) {
        kind = pkt->pos == ROCE_POS_FIRST    ? OBS_READ_FIRST
               : pkt->pos == ROCE_POS_ONLY   ? OBS_READ_ONLY
               : pkt->pos == ROCE_POS_MIDDLE ? OBS_READ_MIDDLE
                                             : OBS_READ_LAST;
        if (!aeth)
            kind |= OBS_NO_MSN;
    } else if (pkt->op == ROCE_OP_ATOMIC_ACK) {
        kind = OBS_ATOMIC | (aeth ? 0 : OBS_NO_MSN);
    } else {
        if (!aeth)
            return false;
        const uint8_t code = roce_aeth_value(pkt->aeth.syndrome);
        switch (roce_aeth_kind(pkt->aeth.syndrome)) {
        case ROCE_AETH_ACK:
            kind = OBS_ACK;
            break;
        case ROCE_AETH_RNR_NAK:
            kind = OBS_RNR;
            break;
        case ROCE_AETH_NAK:
            if (code > ROCE_NAK_MAX)
                return false;
            kind = code == ROCE_NAK_PSN_SEQUENCE_ERROR ? OBS_NAK : OBS_FATAL;
            o->msn |= (uint32_t)code << 24;
            break;
        case ROCE_AETH_RESERVED:
        default:
            return false;
        }
    }
    o->psn = (pkt->bth.psn & ROCE_PSN_MASK) | kind << 24;
    return true;
}

static void count_aeth(struct ctx *c)
{
    const struct roce_packet *pkt = c->pkt;
    struct roce_flow_table *t = c->t;
    if (pkt->op != ROCE_OP_ACK || !(pkt->has & ROCE_H_AETH))
        return;
    const uint8_t code = roce_aeth_value(pkt->aeth.syndrome);
    enum roce_event_kind event = ROCE_EVENT_NAK;
    switch (roce_aeth_kind(pkt->aeth.syndrome)) {
    case ROCE_AETH_ACK:
        return;
    case ROCE_AETH_RNR_NAK:
        rare_of(t, c->f)->rnr++;
        rare_of(t, c->f)->rnr_timer = code;
        event = ROCE_EVENT_RNR;
        break;
    case ROCE_AETH_NAK:
        if (code > ROCE_NAK_MAX) {
            rare_of(t, c->f)->reserved++;
            return;
        }
        if (code == ROCE_NAK_PSN_SEQUENCE_ERROR)
            trouble_nak(t, c->f);
        else
            rare_of(t, c->f)->naks[code]++;
        break;
    case ROCE_AETH_RESERVED:
        rare_of(t, c->f)->reserved++;
        return;
    }
    if (event_wanted(t, event)) {
        struct roce_event e = event_make(t, event, c->id);
        e.psn = pkt->bth.psn;
        e.code = code;
        if (event == ROCE_EVENT_RNR)
            e.duration = (roce_duration)roce_aeth_rnr_ns(code);
        if (c->f->peer != NIL) {
            uint32_t prev;
            const struct flow *peer = flow_at(t, c->f->peer);
            const uint32_t i = entry_of(t, peer, pkt->bth.psn, &prev);
            if (i != NIL)
                e.about_frame = node_frame(node_at(t, i));
        }
        event_emit(t, &e);
    }
}

/* The requester sees nothing of a response with a wrong ICRC: it was lost before it got here. */
static void damaged(struct ctx *c, enum obs_kind kind)
{
    if (kind >= OBS_READ_FIRST && kind <= OBS_READ_LAST)
        rresp_damaged(c);
    else if (c->f->peer != NIL && (kind == OBS_ACK || kind == OBS_ATOMIC))
        episode_answer_damaged(c->t, flow_at(c->t, c->f->peer), c->pkt->bth.psn);
}

void response_frame(struct ctx *c, bool trusted)
{
    const struct roce_packet *pkt = c->pkt;
    struct roce_flow_table *t = c->t;
    c->v->flags |= ROCE_V_RESPONSE;
    count_aeth(c);
    if (pkt->op == ROCE_OP_READ_RESPONSE) {
        rresp_frame(c);
        if ((pkt->pos == ROCE_POS_FIRST || pkt->pos == ROCE_POS_MIDDLE) &&
            (pkt->has & ROCE_HAS_PAYLOAD))
            track_set_mtu(t, c->f, pkt->payload_len, true);
    }
    struct obs o;
    if (!observe(c, &o))
        return;
    if (!trusted) {
        damaged(c, obs_kind(&o));
        return;
    }
    if (c->f->peer != NIL) {
        response_apply(t, c->id, &o, c->v);
        return;
    }
    if (obs_kind(&o) == OBS_READ_MIDDLE)
        return;
    obs_keep(t, c->f, &o);
    pair_try(t, c->id, c->v);
}
