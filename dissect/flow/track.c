/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The request PSN track of a flow: what is expected, what was skipped, what came again, and how
 * many PSNs a READ takes (IBTA 9.7.2). */
#include "naks.h"

#include <string.h>

#define MTU_MIN          256
#define MTU_BITS         5
#define READ_UNKNOWN_MAX 0x7FFFFF

uint32_t mtu_of(const struct flow *f)
{
    const uint8_t m = f->mtu_mask;
    if ((f->flags & (F_MTU_SURE | F_MTU_SEEN)) == 0 || (m & (m - 1)) != 0)
        return 0;
    uint32_t mtu = MTU_MIN;
    for (uint8_t bit = m; bit > 1; bit >>= 1)
        mtu *= 2;
    return mtu;
}

static uint8_t mtu_bit(uint32_t mtu)
{
    for (int i = 0; i < MTU_BITS; i++)
        if (mtu == (uint32_t)MTU_MIN << i)
            return (uint8_t)(1 << i);
    return 0;
}

/* The fewest and the most PSNs that a READ of |len| bytes can take with the path MTUs of |mask|. */
static uint32_t read_range(uint8_t mask, uint32_t len, uint32_t *max)
{
    uint32_t low = MTU_MIN, high = MTU_MIN << (MTU_BITS - 1);
    for (uint8_t bit = 1; (mask & bit) == 0 && low < high; bit = (uint8_t)(bit << 1))
        low *= 2;
    for (uint8_t bit = 1 << (MTU_BITS - 1); (mask & bit) == 0 && high > low; bit >>= 1)
        high /= 2;
    *max = roce_psn_count(len, low);
    return roce_psn_count(len, high);
}

static void node_read_counted(struct roce_flow_table *t, struct flow *f, uint32_t psn, uint32_t n,
                              bool again)
{
    for (uint32_t i = f->pend_head; i != NIL; i = node_at(t, i)->next) {
        struct node *node = node_at(t, i);
        if (node->kind == NODE_READ && node->first_psn == psn &&
            (again || !(node->flags & NODE_COUNTED))) {
            node->last_psn = roce_psn_add(psn, (int64_t)n - 1);
            node->flags |= NODE_COUNTED;
        }
    }
}

/* Ends the uncertainty about the last READ: it takes |n| PSNs; |again|: not what it seemed to. */
static void settle_read(struct roce_flow_table *t, struct flow *f, uint32_t n, bool again)
{
    const uint32_t next = roce_psn_add(f->read_psn, n);
    if (f->prev_end == f->next_psn)
        f->prev_end = next;
    f->next_psn = next;
    f->flags &= ~(uint32_t)F_SLACK;
    node_read_counted(t, f, f->read_psn, n, again);
}

/* Whether no request lies behind the last READ, by the size that |mtu_mask| gives it. */
static bool read_is_newest(const struct flow *f)
{
    uint32_t max;
    return f->read_len != 0 && roce_psn_diff(f->next_psn, f->read_psn) ==
                                   (int32_t)read_range(f->mtu_mask, f->read_len, &max);
}

/* READs that an inference gave more PSNs than path MTU |mtu| does: what follows them had not been
 * captured. */
static void resize_reads(struct roce_flow_table *t, struct flow *f, uint32_t mtu)
{
    for (uint32_t i = f->pend_head; i != NIL; i = node_at(t, i)->next) {
        struct node *node = node_at(t, i);
        if (node->kind != NODE_READ || node->op != ROCE_MESSAGE_READ ||
            !(node->flags & NODE_COUNTED))
            continue;
        const uint32_t end = roce_psn_add(node->first_psn, roce_psn_count(node->bytes, mtu));
        const int32_t rest = roce_psn_diff(node->last_psn, end) + 1;
        if (rest <= 0)
            continue;
        node->last_psn = roce_psn_add(end, -1);
        hole_add(t, &f->holes, end, (uint32_t)rest, false);
    }
}

void track_set_mtu(struct roce_flow_table *t, struct flow *f, uint32_t mtu, bool both)
{
    const uint8_t bit = mtu_bit(mtu);
    if (bit == 0)
        return;
    if (f->mtu_mask != bit || !(f->flags & F_MTU_SURE)) {
        /* What was settled by an inference, not by an earlier size that was as sure. */
        const bool inferred = !(f->flags & F_MTU_SURE);
        const bool mistaken =
            inferred && !(f->flags & F_SLACK) && f->mtu_mask != bit && read_is_newest(f);
        f->mtu_mask = bit;
        f->flags |= F_MTU_SURE;
        if (f->flags & F_SLACK || mistaken)
            settle_read(t, f, roce_psn_count(f->read_len, mtu), mistaken);
        if (inferred)
            resize_reads(t, f, mtu);
        if (event_wanted(t, ROCE_EVENT_MTU)) {
            struct roce_event e = event_make(t, ROCE_EVENT_MTU, flow_id(t, f));
            e.count = mtu;
            event_emit(t, &e);
        }
    }
    if (both && f->peer != NIL)
        track_set_mtu(t, flow_at(t, f->peer), mtu, false);
}

/* Of the path MTUs of |mask| those with which a READ of |len| bytes takes |psns|. */
static uint8_t mtus_explaining(uint8_t mask, uint32_t len, uint32_t psns)
{
    for (int i = 0; i < MTU_BITS; i++)
        if ((mask >> i & 1) && roce_psn_count(len, (uint32_t)MTU_MIN << i) != psns)
            mask &= (uint8_t) ~(1 << i);
    return mask;
}

/* The request behind a READ of unknown size lies |distance| PSNs further on: narrows the path MTU
 * when one of the possible values explains that exactly. */
static void learn_from_successor(struct roce_flow_table *t, struct flow *f, uint32_t distance)
{
    const uint8_t mask = mtus_explaining(f->mtu_mask, f->read_len, distance);
    node_read_counted(t, f, f->read_psn, distance, false);
    if (mask == 0)
        return;
    f->mtu_mask = mask;
    f->flags |= F_MTU_SEEN;
    if (f->peer != NIL) {
        struct flow *peer = flow_at(t, f->peer);
        if (!(peer->flags & F_MTU_SURE) && (peer->mtu_mask & mask)) {
            peer->mtu_mask &= mask;
            peer->flags |= F_MTU_SEEN;
        }
    }
}

/* A READ that continues the last one where its responses stopped: same end, shorter, PSN advanced
 * (IBTA 9.7.5.1.2). It tells the path MTU. */
static bool read_resumed(struct roce_flow_table *t, struct flow *f, const struct roce_packet *pkt)
{
    if (pkt->op != ROCE_OP_READ || !(pkt->has & ROCE_H_RETH) ||
        (uint32_t)(pkt->reth.va + pkt->reth.dma_length) != f->read_end ||
        pkt->reth.dma_length >= f->read_len)
        return false;
    const int32_t skipped = roce_psn_diff(pkt->bth.psn, f->read_psn);
    const uint32_t done = f->read_len - pkt->reth.dma_length;
    if (skipped <= 0 || done % (uint32_t)skipped != 0)
        return false;
    const uint32_t mtu = done / (uint32_t)skipped;
    if (mtu_bit(mtu) == 0)
        return false;
    track_set_mtu(t, f, mtu, true);
    return true;
}

/* A READ that may be the rest of the last one, issued again. */
static bool may_resume(const struct flow *f, const struct roce_packet *pkt)
{
    return pkt->op == ROCE_OP_READ &&
           (!(pkt->has & ROCE_H_RETH) ||
            (pkt->reth.dma_length < f->read_len &&
             (uint32_t)(pkt->reth.va + pkt->reth.dma_length) == f->read_end));
}

/* A path MTU learned from a request behind a READ was too small when a request that is not the rest
 * of it lies inside the READ's PSNs: start again from what this one says. */
static void relearn(struct roce_flow_table *t, struct flow *f, const struct roce_packet *pkt)
{
    if ((f->flags & (F_MTU_SURE | F_MTU_SEEN)) != F_MTU_SEEN || may_resume(f, pkt) ||
        f->read_len == 0)
        return;
    const int32_t distance = roce_psn_diff(pkt->bth.psn, f->read_psn);
    if (distance <= 0 || roce_psn_diff(pkt->bth.psn, f->next_psn) >= 0 || !read_is_newest(f))
        return;
    f->mtu_mask = 0x1F;
    f->flags &= ~(uint32_t)F_MTU_SEEN;
    learn_from_successor(t, f, (uint32_t)distance);
    settle_read(t, f, (uint32_t)distance, true);
}

/* The same for an earlier READ; only of the last one it is known where its data ends. */
static bool may_be_rest(const struct flow *f, const struct roce_packet *pkt,
                        const struct node *node)
{
    return pkt->reth.dma_length < node->bytes &&
           (node->first_psn != f->read_psn || may_resume(f, pkt));
}

/* A request that lies inside an earlier READ, and is not the rest of it: the READ ends where it
 * begins, and what follows had not been captured. */
static void relearn_earlier(struct roce_flow_table *t, struct flow *f,
                            const struct roce_packet *pkt)
{
    const bool read = pkt->op == ROCE_OP_READ;
    if (read && !(pkt->has & ROCE_H_RETH))
        return;
    const uint32_t psn = pkt->bth.psn;
    for (uint32_t i = f->pend_head; i != NIL; i = node_at(t, i)->next) {
        struct node *node = node_at(t, i);
        const int32_t distance = roce_psn_diff(psn, node->first_psn);
        const int32_t rest = roce_psn_diff(node->last_psn, psn) + 1;
        if (node->kind != NODE_READ || !(node->flags & NODE_COUNTED) || distance <= 0 || rest <= 0)
            continue;
        const uint8_t mask = mtus_explaining(0x1F, node->bytes, (uint32_t)distance);
        if ((read && may_be_rest(f, pkt, node)) || mask == 0)
            return;
        uint32_t max;
        const bool newest = read_is_newest(f);
        f->mtu_mask = mask;
        f->flags |= F_MTU_SEEN;
        node->last_psn = roce_psn_add(psn, -1);
        hole_add(t, &f->holes, psn, (uint32_t)rest, false);
        if (newest)
            settle_read(t, f, read_range(mask, f->read_len, &max), true);
        return;
    }
}

static uint32_t request_psns(struct ctx *c, uint32_t *max)
{
    const struct roce_packet *pkt = c->pkt;
    *max = 1;
    if (pkt->op != ROCE_OP_READ)
        return 1;
    if (!(pkt->has & ROCE_H_RETH)) {
        *max = READ_UNKNOWN_MAX;
        return 1;
    }
    const struct flow *f = c->f;
    const uint32_t n = read_range(f->mtu_mask, pkt->reth.dma_length, max);
    if (*max > READ_UNKNOWN_MAX)
        *max = READ_UNKNOWN_MAX;
    return n > READ_UNKNOWN_MAX ? READ_UNKNOWN_MAX : n;
}

/* PSNs more than 2^23 back look as if they were ahead: what lies there is forgotten. */
static void forget_far(struct roce_flow_table *t, struct flow *f)
{
    f->low_psn = roce_psn_add(f->next_psn, -0x7FFFFF);
    for (uint32_t *link = &f->holes; *link != NIL;) {
        struct hole *h = hole_at(t, *link);
        if (roce_psn_diff(f->next_psn, h->psn) > 0) {
            link = &h->next;
            continue;
        }
        const uint32_t gone = *link;
        *link = h->next;
        pool_give(&t->hole_pool, gone);
    }
}

static void open_gap(struct ctx *c, uint32_t missing)
{
    struct roce_flow_table *t = c->t;
    struct flow *f = c->f;
    trouble_gap(t, f, missing);
    c->v->flags |= ROCE_V_GAP;
    c->v->missing = missing;
    message_gap(c);
    hole_add(t, &f->holes, f->next_psn, missing, false);
    if (event_wanted(t, ROCE_EVENT_GAP)) {
        struct roce_event e = event_make(t, ROCE_EVENT_GAP, c->id);
        e.psn = f->next_psn;
        e.count = missing;
        event_emit(t, &e);
    }
    if ((f->flags & F_UNA) && f->peer != NIL)
        loss_holes_passed(t, c->id, f->una);
}

static void advance(struct ctx *c, uint32_t n, uint32_t max)
{
    struct flow *f = c->f;
    const struct roce_packet *pkt = c->pkt;
    f->next_psn = roce_psn_add(pkt->bth.psn, n);
    f->prev_end = f->next_psn;
    if (roce_psn_diff(f->next_psn, f->low_psn) < 0)
        forget_far(c->t, f);
    if (pkt->op == ROCE_OP_READ) {
        f->read_psn = pkt->bth.psn;
        f->read_len = pkt->has & ROCE_H_RETH ? pkt->reth.dma_length : 0;
        f->read_end = pkt->has & ROCE_H_RETH ? (uint32_t)(pkt->reth.va + f->read_len) : 0;
        if (max > n)
            f->flags |= F_SLACK;
    }
}

static void came_again(struct ctx *c, uint32_t n)
{
    struct roce_flow_table *t = c->t;
    struct flow *f = c->f;
    const uint32_t psn = c->pkt->bth.psn;
    const uint32_t end = roce_psn_add(psn, n);
    struct hole was = {0};
    bool fill;
    if (roce_psn_diff(psn, f->low_psn) < 0) {
        const int32_t between = roce_psn_diff(f->low_psn, end);
        if (between > 0) {
            hole_add(t, &f->holes, end, (uint32_t)between, false);
            if (f->holes != NIL && hole_at(t, f->holes)->psn == end)
                hole_at(t, f->holes)->before = true;
        }
        f->low_psn = psn;
        fill = true;
    } else {
        fill = hole_find(t, f->holes, psn) != NIL;
        hole_fill(t, &f->holes, psn, n, &was);
    }
    trouble_add(t, f, COUNT_RETRANSMITTED, 1);
    if (!fill)
        trouble_add(t, f, COUNT_DUPLICATES, 1);
    c->v->flags |= ROCE_V_RETRANSMITTED | (fill ? ROCE_V_FILL : ROCE_V_DUP);
    if (c->id_behind && !(f->flags & F_ID_WILD)) {
        /* The sender counts its frames, and this one left before others that are here already. */
        episode_late(c, fill, &was);
        message_request(c, n, fill);
        return;
    }
    episode_request_behind(c, n, fill, &was);
    message_request(c, n, fill);
    f->prev_end = end;
    if (roce_psn_diff(end, f->next_psn) > 0) {
        f->next_psn = end;
        if (f->flags & F_SLACK && psn == f->read_psn)
            f->flags &= ~(uint32_t)F_SLACK;
    }
}

static bool ud_track(struct ctx *c)
{
    struct flow *f = c->f;
    if (!(c->pkt->has & ROCE_H_DETH) || (f->flags & F_UD_MIXED))
        return false;
    if (!(f->flags & F_SRC_QP)) {
        f->flags |= F_SRC_QP;
        f->src_qp = c->pkt->deth.src_qp;
    } else if (f->src_qp != c->pkt->deth.src_qp) {
        /* Each source QP numbers its own datagrams: their mixture has no expected PSN. */
        f->flags |= F_UD_MIXED;
        f->flags &= ~(uint32_t)(F_SRC_QP | F_PSN);
        hole_drop(c->t, &f->holes);
        return false;
    }
    /* The GSI QP sends to every host with one PSN sequence, so that a single flow has gaps. */
    return f->dqpn > ROCE_QPN_GSI;
}

void track_request(struct ctx *c)
{
    struct roce_flow_table *t = c->t;
    struct flow *f = c->f;
    const struct roce_packet *pkt = c->pkt;
    const uint32_t psn = pkt->bth.psn;
    if (pkt->service == ROCE_SERVICE_UD && !ud_track(c)) {
        message_request(c, 1, true);
        if (f->flags & F_UD_MIXED)
            c->v->flags |= ROCE_V_UD_MIXED;
        return;
    }
    c->v->flags |= ROCE_V_REQUEST;
    if ((pkt->pos == ROCE_POS_FIRST || pkt->pos == ROCE_POS_MIDDLE) &&
        (pkt->has & ROCE_HAS_PAYLOAD))
        track_set_mtu(t, f, pkt->payload_len, true);
    uint32_t max;
    uint32_t n = request_psns(c, &max);
    if (!(f->flags & F_PSN)) {
        f->flags |= F_PSN;
        f->first_psn = f->low_psn = f->next_psn = f->prev_end = psn;
    }
    if ((f->flags & F_SLACK) && !read_resumed(t, f, pkt) && roce_psn_diff(psn, f->next_psn) >= 0) {
        const uint32_t distance = (uint32_t)roce_psn_diff(psn, f->read_psn);
        learn_from_successor(t, f, distance);
        settle_read(t, f, distance, false);
        n = request_psns(c, &max);
    } else if (!(f->flags & F_MTU_SURE)) {
        relearn(t, f, pkt);
        relearn_earlier(t, f, pkt);
        n = request_psns(c, &max);
    }
    c->v->expected_psn = f->next_psn;
    const int32_t d = roce_psn_diff(psn, f->next_psn);
    if (d >= 0) {
        if (c->id_behind)
            f->flags |= F_ID_WILD;
        if (f->trouble != NIL)
            episode_request_ahead(c);
        if (d > 0)
            open_gap(c, (uint32_t)d);
        if (f->peer != NIL && (f->flags & F_UNA) && roce_psn_diff(f->una, psn) > 0)
            response_contradicted(t, c->id);
        advance(c, n, max);
        message_request(c, n, true);
    } else {
        came_again(c, n);
    }
    if (f->trouble != NIL && pkt->op >= ROCE_OP_READ)
        episode_asks(c, n);
    c->v->psns = n;
    f->req_ts = c->frame->ts;
    if (pkt->bth.ackreq || pkt->op >= ROCE_OP_READ)
        f->flags |= F_ASKS;
    else
        f->flags &= ~(uint32_t)F_ASKS;
    if (f->peer != NIL && (f->flags & F_UNA)) {
        const int32_t open = roce_psn_diff(f->next_psn, f->una);
        c->v->in_flight = open > 0 ? (uint32_t)open : 0;
    }
}

void track_reset(struct roce_flow_table *t, struct flow *f)
{
    hole_drop(t, &f->holes);
    hole_drop(t, &f->rr_holes);
    pend_drop_all(t, f);
    f->flags &= ~(uint32_t)(F_PSN | F_SLACK | F_MSG | F_MSG_MID | F_UNA | F_RRESP | F_MTU_SURE |
                            F_MTU_SEEN | F_SELECTIVE);
    f->mtu_mask = 0x1F;
    if (f->trouble == NIL)
        return;
    trouble_peek(t, f)->stepped_ts = 0;
    struct affair *affair = affair_peek(t, f);
    struct rare *rare = rare_peek(t, f);
    if (affair != NULL) {
        memset(&affair->ep, 0, sizeof affair->ep);
        affair->has_nak = affair->has_rnr = affair->has_skip = affair->has_old = affair->alone =
            false;
        affair->waits = (struct waits){0};
        naks_drop(t, affair, UINT64_MAX);
        affair_settled(t, f);
    }
    if (rare != NULL)
        rare->fatal = 0;
}
