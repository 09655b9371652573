/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A network of RC queue pairs with a mirror port in the middle, small and independent of the code
 * it checks: requesters with a window and go-back-N, responders as IBTA 9.7.5 orders their checks,
 * loss on both sides of the mirror. It keeps the frames that the mirror saw, in order, and the
 * truth of why each stream went back. */
#ifndef TESTS_FLOW_SIM_H
#define TESTS_FLOW_SIM_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <roce/flow.h>
#include <roce/psn.h>

#define SIM_MSGS 48
#define SIM_PKTS 400

struct sim_opts {
    uint64_t seed;
    uint32_t pairs, hosts, messages;
    bool psn_zero;  /* all start at PSN 0 */
    bool near_wrap; /* start a few PSNs below 2^24 */
    bool single;    /* one-packet WRITEs only */
    bool no_reads;
    bool no_multi_first;             /* the first message need not tell the MTU */
    double lost_before, lost_behind; /* of requests and responses, at each side of the mirror */
    double lost_capture;             /* the mirror drops the frame, the receiver has it */
    double rnr;
    double ack_lost_only; /* of ACKs, behind the mirror */
    uint32_t gap_ns;      /* mean time between messages of a QP */
    uint32_t rtt_ns;
    uint32_t jitter_ns;
    uint32_t timeout_ns;
    uint32_t window; /* request packets outstanding, at most */
    bool coalesce;   /* responders acknowledge only each second request for an ACK */
    bool go_back_0;  /* requesters begin a message anew when a packet of it is NAKed */
};

enum sim_fate { FATE_ARRIVED, FATE_BEFORE, FATE_BEHIND };

struct sim_pkt {
    uint8_t opcode, op, pos;
    bool ackreq;
    uint32_t psn, npsn, payload, dma, msg;
    uint64_t va;
    enum sim_fate fate; /* of the newest transmission */
};

struct sim_frame {
    uint64_t ts, order;
    uint32_t src, dst, qp;
    uint8_t opcode;
    uint32_t psn, npsn;
    uint32_t payload, dma, msn;
    uint64_t va;
    uint8_t syndrome;
    bool ackreq;
    uint16_t ip_id;
    uint32_t pair;
    int32_t episode; /* request that goes back: index into the truth, else -1 */
};

struct sim_episode {
    uint32_t pair, psn;
    uint8_t cause;    /* enum roce_cause */
    bool response;    /* the answer was lost, not the request */
    uint8_t location; /* enum roce_location of what was lost */
    bool seen;        /* its first frame was captured */
};

struct sim_qp {
    uint32_t host_a, host_b, qp_a, qp_b;
    uint32_t mtu;
    struct sim_pkt pkt[SIM_PKTS];
    uint32_t n, next, una, sent; /* indexes: next to send, oldest unanswered, highest sent + 1 */
    uint32_t read_done;          /* responses of pkt[una] that arrived */
    uint64_t ready;              /* not before */
    uint64_t progress;           /* timer runs from here */
    uint64_t timer_seq;
    bool sending;
    int32_t episode; /* of the next frame sent */
    /* responder */
    uint32_t epsn, msn, expect;
    bool naked, in_rnr;
    uint32_t ack_skip;
    enum sim_fate resp_fate[SIM_PKTS]; /* of the newest answer to each packet */
    uint32_t resp_next[SIM_PKTS];
    uint16_t id_a, id_b;
    uint64_t last_response; /* answers stay in order */
};

enum sim_kind { EV_SEND, EV_REQUEST, EV_RESPONSE, EV_TIMER };
struct sim_event {
    uint64_t ts, seq;
    uint8_t kind;
    uint32_t pair, index; /* packet index, or timer sequence */
    uint32_t psn, npsn;
    uint8_t opcode, syndrome;
    uint32_t payload;
};

struct sim {
    struct sim_opts o;
    uint64_t rng, now, seq;
    struct sim_qp *qp;
    struct sim_event *heap;
    uint32_t heap_n, heap_cap;
    struct sim_frame *frame;
    uint32_t frames, frame_cap;
    struct sim_episode *ep;
    uint32_t eps, ep_cap;
};

static inline uint64_t sim_rand(struct sim *s)
{
    s->rng ^= s->rng << 13;
    s->rng ^= s->rng >> 7;
    s->rng ^= s->rng << 17;
    return s->rng;
}
static inline uint32_t sim_below(struct sim *s, uint32_t n)
{
    return n == 0 ? 0 : (uint32_t)(sim_rand(s) >> 11) % n;
}
static inline bool sim_chance(struct sim *s, double p)
{
    return (double)(sim_rand(s) >> 11) / 9007199254740992.0 < p;
}

static inline void sim_push(struct sim *s, struct sim_event e)
{
    if (s->heap_n == s->heap_cap) {
        s->heap_cap = s->heap_cap ? s->heap_cap * 2 : 1024;
        s->heap = realloc(s->heap, s->heap_cap * sizeof *s->heap);
        if (s->heap == NULL)
            abort();
    }
    e.seq = s->seq++;
    uint32_t i = s->heap_n++;
    while (i > 0) {
        const uint32_t up = (i - 1) / 2;
        if (s->heap[up].ts < e.ts || (s->heap[up].ts == e.ts && s->heap[up].seq < e.seq))
            break;
        s->heap[i] = s->heap[up];
        i = up;
    }
    s->heap[i] = e;
}

static inline struct sim_event sim_pop(struct sim *s)
{
    const struct sim_event top = s->heap[0];
    const struct sim_event last = s->heap[--s->heap_n];
    uint32_t i = 0;
    for (;;) {
        uint32_t k = i * 2 + 1;
        if (k >= s->heap_n)
            break;
        if (k + 1 < s->heap_n &&
            (s->heap[k + 1].ts < s->heap[k].ts ||
             (s->heap[k + 1].ts == s->heap[k].ts && s->heap[k + 1].seq < s->heap[k].seq)))
            k++;
        if (last.ts < s->heap[k].ts || (last.ts == s->heap[k].ts && last.seq < s->heap[k].seq))
            break;
        s->heap[i] = s->heap[k];
        i = k;
    }
    s->heap[i] = last;
    return top;
}

static inline struct sim_frame *sim_capture(struct sim *s, uint64_t ts)
{
    if (s->frames == s->frame_cap) {
        s->frame_cap = s->frame_cap ? s->frame_cap * 2 : 4096;
        s->frame = realloc(s->frame, s->frame_cap * sizeof *s->frame);
        if (s->frame == NULL)
            abort();
    }
    struct sim_frame *f = &s->frame[s->frames];
    memset(f, 0, sizeof *f);
    f->ts = ts;
    f->order = s->frames++;
    f->episode = -1;
    return f;
}

static inline void sim_message(struct sim *s, struct sim_qp *q, uint32_t m, uint32_t *psn)
{
    uint8_t op = s->o.single ? ROCE_OP_WRITE : (uint8_t)sim_below(s, s->o.no_reads ? 2 : 5);
    uint32_t packets = s->o.single ? 1 : 1 + sim_below(s, 5);
    if (m == 0 && !s->o.single && !s->o.no_multi_first) {
        op = ROCE_OP_WRITE;
        packets = 3;
    }
    if (q->n + packets > SIM_PKTS)
        return;
    if (op == ROCE_OP_READ || op >= 3) {
        struct sim_pkt *p = &q->pkt[q->n++];
        *p = (struct sim_pkt){.psn = *psn, .npsn = 1, .msg = m, .ackreq = true};
        if (op == ROCE_OP_READ) {
            p->op = ROCE_OP_READ;
            p->opcode = ROCE_OPCODE_RC_READ_REQUEST;
            p->npsn = packets;
            p->dma = packets * q->mtu - sim_below(s, q->mtu);
            p->va = UINT64_C(0x7F0000000000) + ((uint64_t)m << 20);
        } else {
            p->op = ROCE_OP_ATOMIC;
            p->opcode = ROCE_OPCODE_RC_FETCH_ADD;
        }
        p->pos = ROCE_POS_ONLY;
        *psn = (*psn + p->npsn) & 0xFFFFFF;
        return;
    }
    for (uint32_t i = 0; i < packets; i++) {
        struct sim_pkt *p = &q->pkt[q->n++];
        const uint8_t base =
            op == ROCE_OP_SEND ? ROCE_OPCODE_RC_SEND_FIRST : ROCE_OPCODE_RC_WRITE_FIRST;
        *p = (struct sim_pkt){.psn = *psn, .npsn = 1, .msg = m, .op = op, .payload = q->mtu};
        if (packets == 1)
            p->pos = ROCE_POS_ONLY, p->opcode = (uint8_t)(base + 4);
        else if (i == 0)
            p->pos = ROCE_POS_FIRST, p->opcode = base;
        else if (i + 1 == packets)
            p->pos = ROCE_POS_LAST, p->opcode = (uint8_t)(base + 2);
        else
            p->pos = ROCE_POS_MIDDLE, p->opcode = (uint8_t)(base + 1);
        if (p->pos == ROCE_POS_ONLY || p->pos == ROCE_POS_LAST) {
            p->ackreq = true;
            p->payload = 1 + sim_below(s, q->mtu);
        }
        p->dma = (packets - 1) * q->mtu + 1;
        *psn = (*psn + 1) & 0xFFFFFF;
    }
}

static inline void sim_wake(struct sim *s, uint32_t pair, uint64_t ts)
{
    struct sim_qp *q = &s->qp[pair];
    if (q->sending)
        return;
    q->sending = true;
    sim_push(
        s, (struct sim_event){.ts = ts > q->ready ? ts : q->ready, .kind = EV_SEND, .pair = pair});
}

static inline void sim_timer(struct sim *s, uint32_t pair)
{
    struct sim_qp *q = &s->qp[pair];
    q->progress = s->now;
    q->timer_seq++;
    sim_push(s, (struct sim_event){.ts = s->now + s->o.timeout_ns,
                                   .kind = EV_TIMER,
                                   .pair = pair,
                                   .index = (uint32_t)q->timer_seq});
}

static inline uint64_t sim_leg(struct sim *s)
{
    return s->o.rtt_ns / 4 + sim_below(s, s->o.jitter_ns / 4 + 1);
}

static inline void sim_init(struct sim *s, const struct sim_opts *o)
{
    memset(s, 0, sizeof *s);
    s->o = *o;
    s->rng = o->seed * UINT64_C(0x9E3779B97F4A7C15) + 88172645463325252u;
    for (int i = 0; i < 8; i++)
        sim_rand(s);
    s->now = UINT64_C(1700000000000000000);
    s->qp = calloc(o->pairs, sizeof *s->qp);
    if (s->qp == NULL)
        abort();
    for (uint32_t i = 0; i < o->pairs; i++) {
        struct sim_qp *q = &s->qp[i];
        const uint32_t hosts = o->hosts < 2 ? 2 : o->hosts;
        q->host_a = sim_below(s, hosts);
        q->host_b = (q->host_a + 1 + sim_below(s, hosts - 1)) % hosts;
        if (o->hosts <= 2)
            q->host_a = 0, q->host_b = 1;
        /* QP numbers without any relation between the two ends. */
        q->qp_a = 0x100 + (i * 7919 + 13) % 0x3FFFFF;
        q->qp_b = 0x400000 + (i * 104729 + 7) % 0x3FFFFF;
        q->mtu = 256u << sim_below(s, 5);
        uint32_t psn = o->psn_zero    ? 0
                       : o->near_wrap ? 0xFFFFFF - sim_below(s, 40)
                                      : (uint32_t)(sim_rand(s) >> 20) & 0xFFFFFF;
        q->epsn = psn;
        q->episode = -1;
        for (uint32_t m = 0; m < o->messages; m++)
            sim_message(s, q, m, &psn);
        q->ready = s->now + sim_below(s, o->gap_ns * 2 + 1);
        sim_wake(s, i, q->ready);
    }
}

/* The stream goes back to packet |index| (a READ with |done| responses arrived: to the rest of it).
 */
static inline void sim_back(struct sim *s, uint32_t pair, uint32_t index, uint8_t cause,
                            uint64_t wait)
{
    struct sim_qp *q = &s->qp[pair];
    struct sim_pkt *p = &q->pkt[index];
    if (s->eps == s->ep_cap) {
        s->ep_cap = s->ep_cap ? s->ep_cap * 2 : 256;
        s->ep = realloc(s->ep, s->ep_cap * sizeof *s->ep);
        if (s->ep == NULL)
            abort();
    }
    struct sim_episode *e = &s->ep[s->eps];
    *e = (struct sim_episode){.pair = pair, .cause = cause, .location = ROCE_LOST_NONE};
    if (cause == ROCE_CAUSE_RNR) {
        e->location = ROCE_LOST_DOWNSTREAM;
    } else if (p->fate != FATE_ARRIVED) {
        e->location = p->fate == FATE_BEFORE ? ROCE_LOST_UPSTREAM : ROCE_LOST_DOWNSTREAM;
    } else if (q->resp_fate[index] != FATE_ARRIVED) {
        e->response = true;
        e->location =
            q->resp_fate[index] == FATE_BEFORE ? ROCE_LOST_UPSTREAM : ROCE_LOST_DOWNSTREAM;
    }
    /* A timer that runs out is not about the packet gone back to, but about the first one lost. */
    for (uint32_t i = index; cause == ROCE_CAUSE_TIMEOUT && i < q->sent; i++) {
        const bool lost = q->pkt[i].fate != FATE_ARRIVED;
        const enum sim_fate fate = lost ? q->pkt[i].fate : q->resp_fate[i];
        if (fate == FATE_ARRIVED)
            continue;
        e->response = !lost;
        e->location = fate == FATE_BEFORE ? ROCE_LOST_UPSTREAM : ROCE_LOST_DOWNSTREAM;
        break;
    }
    if (p->op == ROCE_OP_READ && q->read_done > 0 && index == q->una) {
        p->psn = (p->psn + q->read_done) & 0xFFFFFF;
        p->npsn -= q->read_done;
        p->va += (uint64_t)q->read_done * q->mtu;
        p->dma -= q->read_done * q->mtu;
        q->read_done = 0;
    }
    while (s->o.go_back_0 && cause == ROCE_CAUSE_NAK && index > 0 &&
           q->pkt[index - 1].msg == q->pkt[index].msg)
        index--;
    e->psn = q->pkt[index].psn;
    q->episode = (int32_t)s->eps++;
    q->next = index;
    q->ready = s->now + wait;
    sim_timer(s, pair);
    sim_wake(s, pair, q->ready);
}

static inline void sim_send(struct sim *s, uint32_t pair)
{
    struct sim_qp *q = &s->qp[pair];
    q->sending = false;
    if (s->now < q->ready) {
        sim_wake(s, pair, q->ready);
        return;
    }
    if (q->next >= q->n || q->next >= q->una + s->o.window)
        return;
    struct sim_pkt *p = &q->pkt[q->next];
    const uint64_t at_tap = s->now + s->o.rtt_ns / 4;
    p->fate = sim_chance(s, s->o.lost_before)   ? FATE_BEFORE
              : sim_chance(s, s->o.lost_behind) ? FATE_BEHIND
                                                : FATE_ARRIVED;
    q->id_a++;
    /* Nobody stops at a full window without having asked for an ACK. */
    const bool ackreq = p->ackreq || q->next + 1 >= q->una + s->o.window;
    if (p->fate != FATE_BEFORE && !sim_chance(s, s->o.lost_capture)) {
        struct sim_frame *f = sim_capture(s, at_tap);
        f->src = q->host_a;
        f->dst = q->host_b;
        f->qp = q->qp_b;
        f->opcode = p->opcode;
        f->psn = p->psn;
        f->npsn = p->npsn;
        f->payload = p->payload;
        f->dma = p->dma;
        f->va = p->va;
        f->ackreq = ackreq;
        f->ip_id = q->id_a;
        f->pair = pair;
        f->episode = q->episode;
        if (q->episode >= 0)
            s->ep[q->episode].seen = true;
    }
    q->episode = -1;
    if (p->fate == FATE_ARRIVED)
        sim_push(s, (struct sim_event){.ts = at_tap + s->o.rtt_ns / 4,
                                       .kind = EV_REQUEST,
                                       .pair = pair,
                                       .index = q->next,
                                       .psn = p->psn,
                                       .npsn = p->npsn,
                                       .opcode = ackreq});
    if (q->next == q->una || q->next + 1 > q->sent)
        sim_timer(s, pair);
    const bool last = p->ackreq;
    q->next++;
    if (q->next > q->sent)
        q->sent = q->next;
    const uint32_t pause = last && q->next == q->sent ? sim_below(s, s->o.gap_ns * 2 + 1) : 0;
    q->ready = s->now + 300 + pause;
    sim_wake(s, pair, q->ready);
}

static inline void sim_respond(struct sim *s, uint32_t pair, uint32_t index, uint8_t opcode,
                               uint32_t psn, uint8_t syndrome, uint32_t payload, uint64_t delay)
{
    struct sim_qp *q = &s->qp[pair];
    uint64_t at_tap = s->now + delay + sim_leg(s);
    if (at_tap < q->last_response + 50)
        at_tap = q->last_response + 50;
    q->last_response = at_tap;
    q->id_b++;
    const bool ack = opcode == ROCE_OPCODE_RC_ACKNOWLEDGE;
    const enum sim_fate fate = sim_chance(s, s->o.lost_before) ? FATE_BEFORE
                               : sim_chance(s, s->o.lost_behind + (ack ? s->o.ack_lost_only : 0))
                                   ? FATE_BEHIND
                                   : FATE_ARRIVED;
    if (syndrome < 0x20 && index < SIM_PKTS) {
        /* Of several READ responses, the first one lost is what makes the requester go back. */
        if (q->resp_fate[index] == FATE_ARRIVED || psn == q->pkt[index].psn)
            q->resp_fate[index] = fate;
    }
    if (fate != FATE_BEFORE && !sim_chance(s, s->o.lost_capture)) {
        struct sim_frame *f = sim_capture(s, at_tap);
        f->src = q->host_b;
        f->dst = q->host_a;
        f->qp = q->qp_a;
        f->opcode = opcode;
        f->psn = psn;
        f->syndrome = syndrome;
        f->msn = q->msn;
        f->payload = payload;
        f->ip_id = q->id_b;
        f->pair = pair;
    }
    if (fate == FATE_ARRIVED)
        sim_push(s, (struct sim_event){.ts = at_tap + s->o.rtt_ns / 4,
                                       .kind = EV_RESPONSE,
                                       .pair = pair,
                                       .index = index,
                                       .opcode = opcode,
                                       .syndrome = syndrome,
                                       .psn = psn});
}

static inline void sim_execute(struct sim *s, uint32_t pair, uint32_t index, uint32_t psn,
                               uint32_t npsn)
{
    struct sim_qp *q = &s->qp[pair];
    const struct sim_pkt *p = &q->pkt[index];
    if (p->op == ROCE_OP_READ) {
        for (uint32_t i = 0; i < npsn; i++) {
            const uint8_t opcode = npsn == 1       ? ROCE_OPCODE_RC_READ_RESPONSE_ONLY
                                   : i == 0        ? ROCE_OPCODE_RC_READ_RESPONSE_FIRST
                                   : i + 1 == npsn ? ROCE_OPCODE_RC_READ_RESPONSE_LAST
                                                   : ROCE_OPCODE_RC_READ_RESPONSE_MIDDLE;
            const uint32_t len = i + 1 == npsn ? 1 + p->dma % q->mtu : q->mtu;
            sim_respond(s, pair, index, opcode, (psn + i) & 0xFFFFFF, 0x1F,
                        len > q->mtu ? q->mtu : len, i * 200 + s->o.jitter_ns);
        }
    } else if (p->op == ROCE_OP_ATOMIC) {
        sim_respond(s, pair, index, ROCE_OPCODE_RC_ATOMIC_ACKNOWLEDGE, psn, 0x1F, 0,
                    s->o.jitter_ns);
    }
}

static inline void sim_request(struct sim *s, const struct sim_event *e)
{
    struct sim_qp *q = &s->qp[e->pair];
    const struct sim_pkt *p = &q->pkt[e->index];
    const int32_t d = roce_psn_diff(e->psn, q->epsn);
    if (d > 0) {
        if (!q->naked)
            sim_respond(s, e->pair, SIM_PKTS, ROCE_OPCODE_RC_ACKNOWLEDGE, q->epsn, 0x60, 0,
                        s->o.jitter_ns);
        q->naked = true;
        return;
    }
    if (d < 0) {
        if (p->op == ROCE_OP_READ || p->op == ROCE_OP_ATOMIC)
            sim_execute(s, e->pair, e->index, e->psn, e->npsn);
        else if (e->opcode)
            sim_respond(s, e->pair, e->index, ROCE_OPCODE_RC_ACKNOWLEDGE, (q->epsn - 1) & 0xFFFFFF,
                        0x1F, 0, s->o.jitter_ns);
        return;
    }
    if (p->op == ROCE_OP_SEND && (p->pos == ROCE_POS_ONLY || p->pos == ROCE_POS_FIRST) &&
        sim_chance(s, s->o.rnr)) {
        sim_respond(s, e->pair, SIM_PKTS, ROCE_OPCODE_RC_ACKNOWLEDGE, e->psn, 0x20 | 1, 0,
                    s->o.jitter_ns);
        q->naked = true; /* as hfi1: silent for what is in flight behind the refused one */
        return;
    }
    q->naked = false;
    q->epsn = (e->psn + e->npsn) & 0xFFFFFF;
    if (p->pos == ROCE_POS_LAST || p->pos == ROCE_POS_ONLY)
        q->msn = (q->msn + 1) & 0xFFFFFF;
    if (p->op == ROCE_OP_READ || p->op == ROCE_OP_ATOMIC) {
        sim_execute(s, e->pair, e->index, e->psn, e->npsn);
    } else if (e->opcode) {
        q->resp_fate[e->index] = FATE_ARRIVED;
        if (s->o.coalesce && q->ack_skip++ % 2 == 0 && e->index + 1 < q->n)
            return;
        sim_respond(s, e->pair, e->index, ROCE_OPCODE_RC_ACKNOWLEDGE, e->psn, 0x1F, 0,
                    s->o.jitter_ns);
    }
}

/* Everything before |psn| is acknowledged; returns false at an unanswered READ or atomic. */
static inline bool sim_advance(struct sim *s, uint32_t pair, uint32_t psn)
{
    struct sim_qp *q = &s->qp[pair];
    while (q->una < q->sent) {
        const struct sim_pkt *p = &q->pkt[q->una];
        if (roce_psn_diff(psn, (p->psn + p->npsn) & 0xFFFFFF) < 0)
            return true;
        if (p->op == ROCE_OP_READ || p->op == ROCE_OP_ATOMIC)
            return false;
        q->una++;
        q->read_done = 0;
        if (q->next < q->una)
            q->next = q->una;
        sim_timer(s, pair);
    }
    return true;
}

static inline void sim_response(struct sim *s, const struct sim_event *e)
{
    struct sim_qp *q = &s->qp[e->pair];
    const uint8_t kind = (uint8_t)(e->syndrome >> 5);
    if (q->una >= q->n)
        return;
    if (q->next <= q->una && q->una < q->sent && s->now < q->ready)
        return; /* going back already: what still arrives belongs to the abandoned stream */
    if (e->opcode == ROCE_OPCODE_RC_ACKNOWLEDGE) {
        const uint32_t upto = kind == 0 ? (e->psn + 1) & 0xFFFFFF : e->psn;
        if (!sim_advance(s, e->pair, upto)) {
            sim_back(s, e->pair, q->una, ROCE_CAUSE_IMPLIED_NAK, 500);
            return;
        }
        if (kind == 0 || q->una >= q->sent || q->pkt[q->una].psn != e->psn) {
            sim_wake(s, e->pair, s->now);
            return;
        }
        if (kind == 1)
            sim_back(s, e->pair, q->una, ROCE_CAUSE_RNR, 10000);
        else
            sim_back(s, e->pair, q->una, ROCE_CAUSE_NAK, 500);
        return;
    }
    if (!sim_advance(s, e->pair, e->psn)) {
        struct sim_pkt *p = &q->pkt[q->una];
        const uint32_t into = (e->psn - p->psn) & 0xFFFFFF;
        if (into < p->npsn && into > q->read_done) {
            sim_back(s, e->pair, q->una, ROCE_CAUSE_IMPLIED_NAK, 500);
            return;
        }
        if (into >= p->npsn && into < 0x800000)
            sim_back(s, e->pair, q->una, ROCE_CAUSE_IMPLIED_NAK, 500);
        return;
    }
    if (q->una >= q->sent)
        return;
    struct sim_pkt *p = &q->pkt[q->una];
    const uint32_t into = (e->psn - p->psn) & 0xFFFFFF;
    if (p->op == ROCE_OP_ATOMIC && into == 0) {
        q->una++;
        q->read_done = 0;
        sim_timer(s, e->pair);
    } else if (p->op == ROCE_OP_READ && into < p->npsn) {
        if (into > q->read_done) {
            sim_back(s, e->pair, q->una, ROCE_CAUSE_IMPLIED_NAK, 500);
            return;
        }
        if (into == q->read_done) {
            sim_timer(s, e->pair);
            if (++q->read_done == p->npsn) {
                q->una++;
                q->read_done = 0;
            }
        }
    }
    if (q->next < q->una)
        q->next = q->una;
    sim_wake(s, e->pair, s->now);
}

static inline int sim_frame_order(const void *a, const void *b)
{
    const struct sim_frame *x = a, *y = b;
    if (x->ts != y->ts)
        return x->ts < y->ts ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

static inline void sim_run(struct sim *s)
{
    uint64_t steps = 0;
    while (s->heap_n > 0 && steps++ < 100000000) {
        const struct sim_event e = sim_pop(s);
        s->now = e.ts;
        struct sim_qp *q = &s->qp[e.pair];
        switch ((enum sim_kind)e.kind) {
        case EV_SEND:
            sim_send(s, e.pair);
            break;
        case EV_REQUEST:
            sim_request(s, &e);
            break;
        case EV_RESPONSE:
            sim_response(s, &e);
            break;
        case EV_TIMER:
            if (e.index == (uint32_t)q->timer_seq && q->una < q->sent)
                sim_back(s, e.pair, q->una, ROCE_CAUSE_TIMEOUT, 0);
            break;
        }
    }
    qsort(s->frame, s->frames, sizeof *s->frame, sim_frame_order);
}

static inline void sim_free(struct sim *s)
{
    free(s->qp);
    free(s->heap);
    free(s->frame);
    free(s->ep);
}

/* The captured frame as the decoder would hand it out. */
static inline void sim_packet(const struct sim_frame *f, struct roce_packet *p)
{
    const struct roce_opcode_info *info = roce_opcode_info(f->opcode);
    memset(p, 0, sizeof *p);
    p->kind = ROCE_KIND_ROCEV2;
    p->service = info->service;
    p->op = info->op;
    p->pos = info->pos;
    p->response = info->response;
    p->has = info->headers | ROCE_HAS_BTH | ROCE_HAS_IP | ROCE_HAS_UDP | ROCE_HAS_PAYLOAD;
    p->ip.version = 4;
    p->ip.id = f->ip_id;
    p->ip.ttl = 64;
    roce_ip_v4(p->ip.src, 10, 1, (uint8_t)(f->src >> 8), (uint8_t)f->src);
    roce_ip_v4(p->ip.dst, 10, 1, (uint8_t)(f->dst >> 8), (uint8_t)f->dst);
    p->udp.sport = 49192;
    p->bth.opcode = f->opcode;
    p->bth.dqpn = f->qp;
    p->bth.psn = f->psn;
    p->bth.ackreq = f->ackreq;
    p->payload_len = f->payload;
    p->reth.va = f->va;
    p->reth.dma_length = f->dma;
    p->aeth.syndrome = f->syndrome;
    p->aeth.msn = f->msn;
}

static inline uint32_t sim_flow(const struct roce_flow_table *t, uint32_t from, uint32_t to,
                                uint32_t qp)
{
    uint8_t src[16], dst[16];
    roce_ip_v4(src, 10, 1, (uint8_t)(from >> 8), (uint8_t)from);
    roce_ip_v4(dst, 10, 1, (uint8_t)(to >> 8), (uint8_t)to);
    return roce_flow_find(t, src, dst, qp, false, 0);
}

#endif
