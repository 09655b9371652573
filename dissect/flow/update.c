/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One frame through flow state. */
#include "internal.h"

#include <string.h>

static void count_frame(struct ctx *c, const struct roce_icrc *icrc)
{
    struct flow *f = c->f;
    const struct roce_packet *pkt = c->pkt;
    f->packets++;
    f->bytes += c->frame->origlen;
    if (pkt->has & ROCE_HAS_PAYLOAD)
        f->payload += pkt->payload_len;
    count_opcode(c->t, f, pkt->bth.opcode);
    count_marks(f, roce_ip_ecn(&pkt->ip), icrc != NULL && icrc->status == ROCE_ICRC_OK);
    if (icrc != NULL && icrc->status == ROCE_ICRC_BAD)
        rare_of(c->t, f)->icrc_bad++;
    if (pkt->status == ROCE_STATUS_MALFORMED)
        rare_of(c->t, f)->malformed++;
    if (pkt->sliced || pkt->cut_on_wire)
        rare_of(c->t, f)->sliced++;
}

static void describe_frame(struct ctx *c)
{
    struct flow *f = c->f;
    const struct roce_packet *pkt = c->pkt;
    if ((pkt->has & ROCE_HAS_UDP) && (f->sport != pkt->udp.sport || !(f->flags & F_PORT)))
        count_port(c, pkt->udp.sport);
    f->ttl = pkt->ip.ttl;
    if (pkt->op == ROCE_OP_CNP) /* its MigReq is 0 by definition (IBTA A17.9.3) */
        return;
    f->flags |= pkt->bth.migreq ? F_MIG1 : F_MIG0;
    const uint8_t dscp = roce_ip_dscp(&pkt->ip);
    if (dscp != f->dscp && (f->flags & F_DSCP))
        f->flags |= F_DSCP_VARIES;
    f->dscp = dscp;
    f->flags |= F_DSCP;
    if (f->flags & F_CNP_ONLY) {
        f->flags &= ~(uint32_t)F_CNP_ONLY;
        f->service = pkt->service;
    }
}

static void describe_flow(struct ctx *c, const struct roce_icrc *icrc)
{
    struct flow *f = c->f;
    const struct roce_packet *pkt = c->pkt;
    f->first_ts = c->frame->ts;
    f->first_frame = c->frame->number;
    f->ip_id = pkt->ip.id;
    if (roce_ip_ecn(&pkt->ip) != ROCE_ECN_NOT_ECT)
        f->flags |= F_ECT;
    if (icrc != NULL && icrc->status == ROCE_ICRC_OK)
        f->flags |= F_ICRC_OK;
    if (pkt->n_vlan > 0) {
        f->flags |= F_VLAN;
        f->vlan = roce_vlan_vid(pkt->vlan[0]);
        f->pcp = roce_vlan_pcp(pkt->vlan[0]);
    }
    c->v->flags |= ROCE_V_NEW_FLOW;
    if (event_wanted(c->t, ROCE_EVENT_FLOW_NEW)) {
        const struct roce_event e = event_make(c->t, ROCE_EVENT_FLOW_NEW, c->id);
        event_emit(c->t, &e);
    }
}

/* |trusted|: the ICRC is not known to be wrong. A receiver drops such a frame, so that what it says
 * changes nothing; the PSN track counts it, as it counts all that was captured. */
static void track(struct ctx *c, bool trusted)
{
    const struct roce_packet *pkt = c->pkt;
    switch ((enum roce_service)pkt->service) {
    case ROCE_SERVICE_UD:
        if (c->f->dqpn <= ROCE_QPN_GSI)
            conn_frame(c);
        track_request(c);
        return;
    case ROCE_SERVICE_RC:
    case ROCE_SERVICE_UC:
    case ROCE_SERVICE_XRC:
        break;
    case ROCE_SERVICE_CNP:
        c->v->flags |= ROCE_V_CNP;
        return;
    case ROCE_SERVICE_RD: /* end-to-end contexts number the packets, not QPs: no track */
    case ROCE_SERVICE_DC:
    case ROCE_SERVICE_VENDOR:
    case ROCE_SERVICE_UNKNOWN:
        return;
    }
    switch ((enum roce_op)pkt->op) {
    case ROCE_OP_SEND:
    case ROCE_OP_WRITE:
    case ROCE_OP_READ:
    case ROCE_OP_ATOMIC:
    case ROCE_OP_FLUSH:
    case ROCE_OP_ATOMIC_WRITE:
        track_request(c);
        if (!trusted)
            missing_add(c->t, c->f, c->pkt->bth.psn, 1);
        return;
    case ROCE_OP_READ_RESPONSE:
    case ROCE_OP_ACK:
    case ROCE_OP_ATOMIC_ACK:
        response_frame(c, trusted);
        return;
    case ROCE_OP_RESYNC:
    case ROCE_OP_CNP:
    case ROCE_OP_NONE:
        return;
    }
}

static void describe_pair(const struct flow *f, uint32_t id, struct roce_verdict *v)
{
    v->peer = f->peer;
    if (f->peer == NIL)
        return;
    v->pairing = f->flags & F_PAIR_CM ? ROCE_PAIRING_CM : ROCE_PAIRING_PSN;
    v->direction = f->flags & F_SIDE1 ? 1 : 0;
    v->connection = v->direction == 0 ? id : f->peer;
}

static void clear(struct roce_verdict *v, uint32_t flow, roce_duration delta)
{
    memset(v, 0, sizeof *v);
    v->flow = flow;
    v->peer = v->connection = NIL;
    v->cause = ROCE_CAUSE_NONE;
    v->message_op = ROCE_MESSAGE_NONE;
    v->rtt = v->latency = v->wait = -1;
    v->delta = delta;
}

bool roce_flow_update(struct roce_flow_table *table, const struct roce_frame *frame,
                      const struct roce_packet *pkt, const struct roce_icrc *icrc,
                      struct roce_verdict *verdict)
{
    if (!flow_has(pkt)) {
        clear(verdict, NIL, -1);
        return false;
    }
    table->now = frame->ts;
    table->frame = frame->number;
    table->frames++;
    bool created;
    const uint32_t id = table_get(table, pkt, table_hash(table, pkt), &created);
    struct flow *f = flow_at(table, id);
    struct ctx c = {.t = table, .frame = frame, .pkt = pkt, .v = verdict, .f = f, .id = id};
    clear(verdict, id, created ? -1 : (roce_duration)(frame->ts - f->last_ts));
    f->last_ts = frame->ts;
    f->last_frame = frame->number;
    if (created)
        describe_flow(&c, icrc);
    if (mirror_copy(&c, icrc)) {
        verdict->flags |= ROCE_V_MIRROR_DUP;
        describe_pair(f, id, verdict);
        return true;
    }
    count_frame(&c, icrc);
    describe_frame(&c);
    if (created)
        conn_new_flow(table, id);
    track(&c, icrc == NULL || icrc->status != ROCE_ICRC_BAD);
    describe_pair(f, id, verdict);
    return true;
}

static void finish_silent(struct roce_flow_table *t, uint32_t id)
{
    const struct affair *affair = affair_peek(t, flow_at(t, id));
    const struct rare *rare = rare_peek(t, flow_at(t, id));
    if (!event_wanted(t, ROCE_EVENT_SILENT))
        return;
    const bool fatal = rare != NULL && rare->fatal != 0 && rare->fatal_requests == 0;
    const bool given_up = affair != NULL && affair->repeats > 1 && !affair->repeat_answered;
    if (!fatal && !given_up)
        return;
    struct roce_event e = event_make(t, ROCE_EVENT_SILENT, id);
    e.frame = 0;
    e.at_end = true;
    e.code = fatal ? (uint8_t)(rare->fatal - 1) : 0xFF;
    e.evidence[0] = fatal ? rare->fatal_frame : affair->ep.last_frame;
    if (affair != NULL) {
        e.psn = affair->repeat_psn;
        e.count = affair->repeats;
    }
    event_emit(t, &e);
}

/* READs whose last response came although the capture missed some before it: nobody asked again. */
static void finish_reads(struct roce_flow_table *t, uint32_t id)
{
    struct flow *f = flow_at(t, id);
    uint32_t prev = NIL;
    for (uint32_t i = f->pend_head; i != NIL;) {
        struct node *node = node_at(t, i);
        const uint32_t next = node->next;
        if (node->kind == NODE_READ && (node->flags & NODE_LAST_SEEN)) {
            message_complete(t, id, node, node->ts, 0, NULL);
            pend_remove(t, f, prev, i);
        } else {
            prev = i;
        }
        i = next;
    }
}

void flow_finish(struct roce_flow_table *t, uint32_t id)
{
    struct flow *f = flow_at(t, id);
    if (f->trouble != NIL) {
        episode_close(t, id, true);
        early_unpaired_end(t, id);
    }
    finish_reads(t, id);
    if (f->holes != NIL || f->rr_holes != NIL)
        loss_holes_end(t, id);
    finish_silent(t, id);
}

void roce_flow_finish(struct roce_flow_table *table)
{
    table->frame = 0;
    mirror_resolve(table, true);
    pair_finish(table);
    for (uint32_t id = 0; id < table->flow_pool.fresh; id++)
        if (flow_live(table, id))
            flow_finish(table, id);
}
