/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Faults between engine and port. */
#include "rocereplay/fault.h"

#include <roce/err.h>
#include <roce/packet.h>
#include <roce/psn.h>
#include <stdlib.h>
#include <string.h>

#include "engine/engine.h"
#include "port/line.h"
#include "rocereplay/inject.h"

enum {
    LATE_FRAMES = 512, /* delayed at a time, in each direction */
    HELD_FRAMES = 32,  /* waiting to be overtaken */
    HELD_NS = 1000000, /* when nothing overtakes them */
    EVENTS_MAX = 1 << 20,
    GHOST_AHEAD = 0x400000, /* PSNs that a ghost ACK is ahead: a quarter of the circle */
};

/* A rule with what has been learnt about its QP. */
struct rule {
    struct fault_rule r;
    bool known;
    uint32_t qpn[2];                /* towards the peer, towards us */
    uint32_t local_psn, remote_psn; /* first PSN of our requests, of the peer's */
    uint32_t seen;                  /* frames of this place so far */
    bool has_last;                  /* by_iteration: the PSN before, and which iteration it is */
    uint32_t last, iteration;
};

struct way {
    struct line *late; /* delayed and doubled */
    struct line *held;
};

struct fault_port {
    struct port port;
    struct port *inner;
    struct eng_rng rng;
    enum fault_dir dir;
    struct rule *rules;
    unsigned n_rules;
    uint32_t n_qps; /* learnt so far */
    struct way way[2];
    uint8_t *room;
    bool stuck; /* frames of the TX lines wait for room */
    struct fault_event *events;
    uint64_t n_events, room_events, lost_events;
    uint64_t count[FAULT_KINDS];
    uint8_t frame[ENG_FRAME_MAX]; /* one received, when it must be changed */
};

enum { TX, RX };

/* What shall happen to one frame. */
struct doom {
    bool does[FAULT_KINDS];
    uint32_t arg[FAULT_KINDS];
    uint64_t delay_ns;
};

static void note(struct fault_port *f, const struct fault_event *event)
{
    f->count[event->kind]++;
    if (f->n_events == f->room_events) {
        const uint64_t room = f->room_events == 0 ? 64 : 2 * f->room_events;
        struct fault_event *grown =
            room <= EVENTS_MAX ? realloc(f->events, room * sizeof(*grown)) : NULL;
        if (grown == NULL) {
            f->lost_events++;
            return;
        }
        f->events = grown;
        f->room_events = room;
    }
    f->events[f->n_events++] = *event;
}

static bool at_place(struct rule *rule, const struct roce_packet *pkt, int way)
{
    const struct fault_rule *r = &rule->r;
    if ((r->qp_index || r->psn_relative) && !rule->known)
        return false;
    if (pkt->bth.dqpn != (r->qp_index ? rule->qpn[way] : r->qp))
        return false;
    uint32_t psn = r->psn;
    if (r->psn_relative) /* a response carries the PSN of a request of the other side */
        psn = roce_psn_add(psn, pkt->response == (way == RX) ? rule->local_psn : rule->remote_psn);
    if (r->data_only && pkt->payload_len == 0)
        return false;
    if (r->by_iteration) {
        if (!rule->has_last || roce_psn_diff(pkt->bth.psn, rule->last) <= 0)
            rule->iteration++;
        rule->has_last = true;
        rule->last = pkt->bth.psn;
        return rule->iteration == r->round && (r->any_psn || pkt->bth.psn == psn);
    }
    return (r->any_psn || pkt->bth.psn == psn) && ++rule->seen == r->round;
}

static bool strikes(struct fault_port *f, struct rule *rule, const struct roce_packet *pkt, int way)
{
    if (!inject_fits(rule->r.kind, pkt))
        return false;
    /* What the receiver has sent is known of a response, or was learnt. */
    if (rule->r.kind == FAULT_GHOST_ACK && !pkt->response && !rule->known)
        return false;
    if (rule->r.exact)
        return at_place(rule, pkt, way);
    return (double)(eng_rng_next(&f->rng) >> 11) * 0x1p-53 < rule->r.chance;
}

static uint32_t arg_of(const struct rule *rule, const struct roce_packet *pkt, int way)
{
    if (rule->r.kind != FAULT_GHOST_ACK)
        return rule->r.arg;
    uint32_t psn = pkt->bth.psn;
    if (!pkt->response) /* requests that go the other way */
        psn = way == TX ? rule->remote_psn : rule->local_psn;
    return roce_psn_add(psn, GHOST_AHEAD);
}

static void judge(struct fault_port *f, const struct roce_packet *pkt, int way, roce_tstamp now,
                  struct doom *doom)
{
    for (unsigned i = 0; i < f->n_rules; i++) {
        struct rule *rule = &f->rules[i];
        if (!strikes(f, rule, pkt, way) || doom->does[rule->r.kind] || doom->does[FAULT_DROP])
            continue;
        doom->does[rule->r.kind] = true;
        doom->arg[rule->r.kind] = arg_of(rule, pkt, way);
        if (rule->r.kind == FAULT_DELAY)
            doom->delay_ns = rule->r.delay_ns;
        const struct fault_event event = {
            .now = now,
            .kind = rule->r.kind,
            .received = way == RX,
            .opcode = pkt->bth.opcode,
            .qpn = pkt->bth.dqpn,
            .psn = pkt->bth.psn,
            .round = rule->r.exact ? rule->r.round : 0,
            .delay_ns = doom->delay_ns,
            .arg = doom->arg[rule->r.kind],
        };
        note(f, &event);
    }
}

static bool concerns(const struct fault_port *f, int way)
{
    return f->dir == FAULT_BOTH || (f->dir == FAULT_RX) == (way == RX);
}

/* Whether the frame is RoCE and something shall happen to it. */
static bool doomed(struct fault_port *f, const uint8_t *data, size_t len, int way, roce_tstamp now,
                   struct roce_packet *pkt, struct doom *doom)
{
    const struct roce_frame frame = {.data = data,
                                     .caplen = (uint32_t)len,
                                     .origlen = (uint32_t)len,
                                     .linktype = ROCE_LINK_ETHERNET};
    *doom = (struct doom){0};
    if (!concerns(f, way))
        return false;
    (void)roce_packet_decode(&frame, NULL, pkt);
    if (pkt->kind != ROCE_KIND_ROCEV2 || (pkt->has & ROCE_HAS_PAYLOAD) == 0)
        return false;
    judge(f, pkt, way, now, doom);
    for (int i = 0; i < FAULT_KINDS; i++)
        if (doom->does[i])
            return true;
    return false;
}

/* RFC 3168 5: both ECN bits. The ICRC does not cover them; the IPv4 checksum does. */
static void mark_ce(uint8_t *ip)
{
    if (ip[0] >> 4 == 6) {
        ip[1] |= ROCE_ECN_CE << 4;
        return;
    }
    ip[1] |= ROCE_ECN_CE;
    const uint16_t sum = roce_ipv4_checksum(ip, (size_t)(ip[0] & 0xF) * 4);
    ip[10] = (uint8_t)(sum >> 8);
    ip[11] = (uint8_t)sum;
}

static void damage(const struct doom *doom, const struct roce_packet *pkt, uint8_t *frame)
{
    if (doom->does[FAULT_CE])
        mark_ce(frame + pkt->ip_off);
    if (doom->does[FAULT_CORRUPT])
        inject_corrupt(pkt, frame);
    if (doom->does[FAULT_NAK])
        inject_syndrome(pkt, frame, (uint8_t)(0x60 | doom->arg[FAULT_NAK]));
    else if (doom->does[FAULT_RNR])
        inject_syndrome(pkt, frame, (uint8_t)(0x20 | doom->arg[FAULT_RNR]));
    if (doom->does[FAULT_BAD_ICRC] && pkt->icrc_off < pkt->end_off)
        frame[pkt->icrc_off] ^= 0xFF;
}

/* Frames that come behind this one, made of it as it was before any damage: a mark on it is none on
 * them. */
static void add_frames(struct way *way, const struct doom *doom, const struct roce_packet *pkt,
                       const uint8_t *frame, roce_tstamp now)
{
    for (int kind = FAULT_GHOST_ACK; kind < FAULT_KINDS; kind++) {
        uint8_t made[INJECT_FRAME_MAX];
        if (!doom->does[kind])
            continue;
        const size_t len = inject_make((enum fault_kind)kind, pkt, frame, doom->arg[kind], made);
        if (len > 0)
            (void)line_copy(way->late, made, len, now);
    }
}

static int from_inner(struct fault_port *f, int rc)
{
    if (rc < 0)
        memcpy(f->port.text, f->inner->text, sizeof(f->port.text));
    return rc;
}

static int send_copy(struct fault_port *f, const uint8_t *data, size_t len, roce_tstamp now)
{
    uint8_t *room = f->inner->ops->room(f->inner, len);
    if (room == NULL)
        return ROCE_ERR_FULL;
    memcpy(room, data, len);
    return from_inner(f, f->inner->ops->commit(f->inner, len, now));
}

/* Sends what is due of |line|, as far as the port has room. */
static int release(struct fault_port *f, struct line *line, roce_tstamp due, roce_tstamp now)
{
    while (line_next(line) <= due) {
        size_t len;
        f->stuck = f->inner->ops->room(f->inner, ENG_FRAME_MAX) == NULL;
        if (f->stuck)
            return 0;
        const uint8_t *data = line_take(line, due, &len);
        const int rc = send_copy(f, data, len, now);
        if (rc < 0 && rc != ROCE_ERR_FULL)
            return rc;
    }
    return 0;
}

static uint8_t *fault_room(struct port *port, size_t len)
{
    struct fault_port *f = (struct fault_port *)port;
    f->room = f->inner->ops->room(f->inner, len);
    return f->room;
}

/* The frame lies in the inner port's room: not to commit it is to lose it. */
static int send_doomed(struct fault_port *f, const struct doom *doom, size_t len, roce_tstamp now)
{
    struct way *way = &f->way[TX];
    if (doom->does[FAULT_DROP] || doom->does[FAULT_SUPPRESS_ACK])
        return 0;
    if (doom->does[FAULT_DUP])
        (void)line_copy(way->late, f->room, len, now);
    if (doom->does[FAULT_DELAY])
        return line_copy(way->late, f->room, len, now + doom->delay_ns) == 0 ? 0 : ROCE_ERR_FULL;
    if (doom->does[FAULT_REORDER] && line_copy(way->held, f->room, len, now + HELD_NS) == 0)
        return 0;
    return from_inner(f, f->inner->ops->commit(f->inner, len, now));
}

static int fault_commit(struct port *port, size_t len, roce_tstamp now)
{
    struct fault_port *f = (struct fault_port *)port;
    struct roce_packet pkt;
    struct doom doom;
    const bool overtakes = line_next(f->way[TX].held) != PORT_NEVER;
    if (doomed(f, f->room, len, TX, now, &pkt, &doom)) {
        add_frames(&f->way[TX], &doom, &pkt, f->room, now);
        damage(&doom, &pkt, f->room);
    }
    int rc = send_doomed(f, &doom, len, now);
    if (rc == ROCE_ERR_FULL) /* too much is late already: this one is not */
        rc = from_inner(f, f->inner->ops->commit(f->inner, len, now));
    if (rc == 0 && overtakes && !doom.does[FAULT_REORDER] && !doom.does[FAULT_DROP])
        rc = release(f, f->way[TX].held, PORT_NEVER - 1, now);
    return rc;
}

static int fault_flush(struct port *port, roce_tstamp now)
{
    struct fault_port *f = (struct fault_port *)port;
    f->stuck = false;
    int rc = release(f, f->way[TX].late, now, now);
    if (rc == 0)
        rc = release(f, f->way[TX].held, now, now);
    return rc < 0 ? rc : from_inner(f, f->inner->ops->flush(f->inner, now));
}

static bool take_late(struct line *line, roce_tstamp due, struct roce_frame *frame)
{
    size_t len;
    const uint8_t *data = line_take(line, due, &len);
    if (data == NULL)
        return false;
    *frame = (struct roce_frame){.data = data,
                                 .caplen = (uint32_t)len,
                                 .origlen = (uint32_t)len,
                                 .linktype = ROCE_LINK_ETHERNET};
    return true;
}

/* Returns whether |frame| is still to be handed out now. */
static bool receive_doomed(struct fault_port *f, const struct doom *doom,
                           const struct roce_packet *pkt, struct roce_frame *frame, roce_tstamp now)
{
    struct way *way = &f->way[RX];
    add_frames(way, doom, pkt, frame->data, now);
    if (doom->does[FAULT_DROP] || doom->does[FAULT_SUPPRESS_ACK] ||
        frame->caplen > sizeof(f->frame))
        return false;
    memcpy(f->frame, frame->data, frame->caplen);
    damage(doom, pkt, f->frame);
    frame->data = f->frame;
    if (doom->does[FAULT_DUP])
        (void)line_copy(way->late, f->frame, frame->caplen, now);
    if (doom->does[FAULT_DELAY])
        return line_copy(way->late, f->frame, frame->caplen, now + doom->delay_ns) != 0;
    if (doom->does[FAULT_REORDER])
        return line_copy(way->held, f->frame, frame->caplen, now + HELD_NS) != 0;
    return true;
}

static int fault_receive(struct port *port, roce_tstamp now, struct roce_frame *frame)
{
    struct fault_port *f = (struct fault_port *)port;
    struct way *way = &f->way[RX];
    if (take_late(way->late, now, frame) || take_late(way->held, now, frame))
        return 1;
    for (;;) {
        struct roce_packet pkt;
        struct doom doom;
        const int rc = from_inner(f, f->inner->ops->receive(f->inner, now, frame));
        if (rc <= 0)
            return rc;
        const bool overtakes = line_next(way->held) != PORT_NEVER;
        if (doomed(f, frame->data, frame->caplen, RX, now, &pkt, &doom) &&
            !receive_doomed(f, &doom, &pkt, frame, now))
            continue;
        /* What waited comes behind this one. */
        size_t len;
        const uint8_t *held;
        while (overtakes && (held = line_take(way->held, PORT_NEVER - 1, &len)) != NULL)
            (void)line_copy(way->late, held, len, now);
        return 1;
    }
}

static roce_tstamp fault_next(const struct port *port)
{
    const struct fault_port *f = (const struct fault_port *)port;
    roce_tstamp next = f->inner->ops->next(f->inner);
    for (int i = f->stuck ? RX : TX; i <= RX; i++) {
        const roce_tstamp late = line_next(f->way[i].late), held = line_next(f->way[i].held);
        next = late < next ? late : next;
        next = held < next ? held : next;
    }
    return next;
}

static int fault_fd(const struct port *port)
{
    const struct fault_port *f = (const struct fault_port *)port;
    return f->inner->ops->fd(f->inner);
}

static void release_memory(struct fault_port *f)
{
    for (int i = TX; i <= RX; i++) {
        line_del(f->way[i].late);
        line_del(f->way[i].held);
    }
    free(f->rules);
    free(f->events);
    free(f);
}

static void fault_del(struct port *port)
{
    struct fault_port *f = (struct fault_port *)port;
    port_del(f->inner);
    release_memory(f);
}

static const struct port_ops fault_ops = {
    .room = fault_room,
    .commit = fault_commit,
    .flush = fault_flush,
    .receive = fault_receive,
    .next = fault_next,
    .fd = fault_fd,
    .del = fault_del,
};

struct port *fault_new(struct port *inner, const struct fault_plan *plan, uint64_t seed)
{
    struct fault_port *f = calloc(1, sizeof(*f));
    if (f == NULL)
        return NULL;
    f->port.ops = &fault_ops;
    f->dir = plan->dir;
    f->rng.state = seed;
    f->rules = calloc(plan->n + 1, sizeof(*f->rules));
    bool whole = f->rules != NULL;
    for (int i = TX; i <= RX; i++) {
        f->way[i].late = line_new(LATE_FRAMES, ENG_FRAME_MAX);
        f->way[i].held = line_new(HELD_FRAMES, ENG_FRAME_MAX);
        whole = whole && f->way[i].late != NULL && f->way[i].held != NULL;
    }
    if (!whole) {
        release_memory(f);
        return NULL;
    }
    f->inner = inner;
    for (; f->n_rules < plan->n; f->n_rules++)
        f->rules[f->n_rules].r = plan->rule[f->n_rules];
    return &f->port;
}

void fault_learn(struct port *port, uint32_t local_qpn, uint32_t local_psn, uint32_t remote_qpn,
                 uint32_t remote_psn)
{
    struct fault_port *f = (struct fault_port *)port;
    f->n_qps++;
    for (unsigned i = 0; i < f->n_rules; i++) {
        struct rule *rule = &f->rules[i];
        const uint32_t qp = rule->r.qp;
        if (rule->known ||
            (rule->r.qp_index ? qp != f->n_qps : qp != local_qpn && qp != remote_qpn))
            continue;
        rule->known = true;
        rule->qpn[TX] = remote_qpn;
        rule->qpn[RX] = local_qpn;
        rule->local_psn = local_psn;
        rule->remote_psn = remote_psn;
    }
}

const struct fault_event *fault_events(const struct port *port, uint64_t *n, uint64_t *lost)
{
    const struct fault_port *f = (const struct fault_port *)port;
    *n = f->n_events;
    *lost = f->lost_events;
    return f->events;
}

uint64_t fault_count(const struct port *port, enum fault_kind kind)
{
    return ((const struct fault_port *)port)->count[kind];
}
