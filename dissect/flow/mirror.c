/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Frames that the capture holds twice. A mirror port that copies ingress and egress shows each
 * frame a second time, changed at most in TTL, TOS, VLAN and MAC addresses; a network that
 * duplicates, or a requester that resends within microseconds, does so now and then. Copies that
 * differ in what a router changes are the mirror's. Identical ones are the mirror's when they are
 * the rule: until that is known, they are put aside and counted afterwards as what they prove to
 * be. */
#include "sign.h"

#define DECIDE_FRAMES 64
#define RULE_NUM      3 /* copies are the rule when 3 of 10 frames have one */
#define RULE_DEN      10
#define CLOSE_ID      160 /* 2^16 ns units, 10 ms: with an IP identification that tells frames apart */
#define CLOSE_BLIND   1 /* without one, and only among the newest BACK_BLIND frames */
#define BACK_BLIND    2

static bool is_rule(uint32_t copies, uint32_t frames)
{
    return copies * RULE_DEN >= frames * RULE_NUM;
}

static void count_copy(struct roce_flow_table *t, struct flow *f, uint64_t frame)
{
    if (rare_of(t, f)->mirror_dup++ == 0 && event_wanted(t, ROCE_EVENT_MIRROR_DUP)) {
        struct roce_event e = event_make(t, ROCE_EVENT_MIRROR_DUP, flow_id(t, f));
        e.frame = frame;
        event_emit(t, &e);
    }
}

static void count_as_frame(struct roce_flow_table *t, const struct copy *copy)
{
    struct flow *f = flow_at(t, copy->flow);
    f->packets++;
    f->bytes += copy->bytes;
    f->payload += copy->payload;
    count_marks(f, (enum roce_ecn)copy->ecn, copy->icrc_ok);
    count_opcode(t, f, copy->opcode);
    if (copy->request) {
        trouble_add(t, f, COUNT_RETRANSMITTED, 1);
        trouble_add(t, f, COUNT_DUPLICATES, 1);
        episode_copied(t, copy);
    } else if (copy->read_response) {
        trouble_add(t, f, COUNT_RR_DUPLICATES, 1);
    }
}

void mirror_resolve(struct roce_flow_table *t, bool at_end)
{
    if (t->mirror_state != MIRROR_UNDECIDED ||
        (!at_end && t->mirror_frames < DECIDE_FRAMES && t->n_copies < COPIES_MAX))
        return;
    const bool mirror = t->mirror_copies > 0 && is_rule(t->mirror_copies, t->mirror_frames);
    if (!at_end || t->mirror_frames >= DECIDE_FRAMES)
        t->mirror_state = mirror ? MIRROR_YES : MIRROR_NO;
    for (uint32_t i = 0; i < t->n_copies; i++) {
        const struct copy *copy = &t->copies[i];
        if (!flow_live(t, copy->flow) || flow_at(t, copy->flow)->serial != copy->serial)
            continue;
        if (mirror)
            count_copy(t, flow_at(t, copy->flow), copy->frame);
        else
            count_as_frame(t, copy);
    }
    t->n_copies = 0;
}

static void put_aside(struct ctx *c, const struct roce_icrc *icrc, bool by_id)
{
    const struct roce_packet *pkt = c->pkt;
    const bool tracked = pkt->op <= ROCE_OP_ATOMIC_WRITE && (c->f->flags & F_PSN);
    c->t->copies[c->t->n_copies++] = (struct copy){
        .flow = c->id,
        .serial = c->f->serial,
        .opcode = pkt->bth.opcode,
        .request = tracked,
        .read_response = pkt->op == ROCE_OP_READ_RESPONSE,
        .ecn = (uint8_t)roce_ip_ecn(&pkt->ip),
        .icrc_ok = icrc != NULL && icrc->status == ROCE_ICRC_OK,
        .same_id = by_id,
        .bytes = c->frame->origlen,
        .payload = pkt->has & ROCE_HAS_PAYLOAD ? pkt->payload_len : 0,
        .psn = pkt->bth.psn,
        .frame = c->frame->number,
        .ts = c->frame->ts,
        .wait = c->frame->ts > c->f->req_ts ? (roce_duration)(c->frame->ts - c->f->req_ts) : 0,
    };
}

/* Whether the equality of two frames says something. All CNPs to a QP are equal (IBTA A17.9.3) but
 * for an IP identification, which NICs leave 0 and RFC 6864 lets them: only what other frames say
 * of the mirror can tell such a copy. */
static bool tells(const struct ctx *c, bool by_id)
{
    return by_id || c->pkt->op != ROCE_OP_CNP;
}

/* Judges a frame that is equal to an earlier one of its flow. */
static bool judge(struct ctx *c, const struct roce_icrc *icrc, bool by_id, bool same_attributes)
{
    struct roce_flow_table *t = c->t;
    if (!same_attributes) {
        count_copy(t, c->f, t->frame);
        return true;
    }
    t->mirror_copies += tells(c, by_id);
    switch ((enum mirror_state)t->mirror_state) {
    case MIRROR_UNDECIDED:
        put_aside(c, icrc, by_id);
        mirror_resolve(t, false);
        return true;
    case MIRROR_YES:
        count_copy(t, c->f, t->frame);
        return true;
    case MIRROR_NO:
        break;
    }
    if (!tells(c, by_id))
        return false;
    /* A mirror that doubles only some flows, or begins later. */
    const uint32_t seen = ++rare_of(t, c->f)->mirror_seen;
    if (seen < DECIDE_FRAMES || !is_rule(seen, (uint32_t)(c->f->packets & UINT32_MAX)))
        return false;
    count_copy(t, c->f, t->frame);
    return true;
}

/* Which of the frames in memory |sig| repeats soon enough; -1 for none. */
static int repeats(const struct flow *f, uint32_t sig, uint16_t ts, bool by_id)
{
    for (int i = 0; i < SIG_SLOTS; i++) {
        if (f->sig[i] != sig || sig == 0)
            continue;
        const uint16_t age = (uint16_t)(ts - f->sig_ts[i]);
        const int back = (f->sig_pos + SIG_SLOTS - i) % SIG_SLOTS;
        if (by_id ? age <= CLOSE_ID : age <= CLOSE_BLIND && back > 0 && back <= BACK_BLIND)
            return i;
    }
    return -1;
}

bool mirror_copy(struct ctx *c, const struct roce_icrc *icrc)
{
    struct flow *f = c->f;
    const struct roce_packet *pkt = c->pkt;
    const uint32_t sig = sign_packet(pkt, icrc);
    const uint8_t attr = sign_attributes(pkt);
    const uint16_t ts = sign_time(c->frame->ts);
    if (pkt->ip.id != f->ip_id)
        f->flags |= F_ID_MOVES;
    c->id_behind = sign_id_behind(f, pkt->ip.id);
    const bool by_id = (f->flags & F_ID_MOVES) && pkt->ip.version == 4 && pkt->ip.id != 0;
    if (sign_known(f, sig)) {
        const int i = repeats(f, sig, ts, by_id);
        if (i >= 0) {
            if (judge(c, icrc, by_id, f->sig_attr[i] == attr)) {
                f->sig[i] = 0; /* a third one is no second copy */
                return true;
            }
            c->copied = by_id;
        }
    }
    if (!c->id_behind)
        f->ip_id = pkt->ip.id;
    sign_keep(f, sig, ts, attr);
    c->t->mirror_frames += tells(c, by_id);
    if (c->t->mirror_state == MIRROR_UNDECIDED)
        mirror_resolve(c->t, false);
    return false;
}
