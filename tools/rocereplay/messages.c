/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reading the messages of a capture. */
#include "rocereplay/messages.h"

#include <stdlib.h>
#include <string.h>

#include "common/msg.h"
#include "common/signals.h"
#include "rocereplay/raw_source.h"

enum { SENDERS_MAX = 65536 };

static const char *const op_names[ENG_WR_OPS] = {
    [ENG_WR_SEND] = "send",
    [ENG_WR_SEND_IMM] = "send_imm",
    [ENG_WR_SEND_INV] = "send_inv",
    [ENG_WR_WRITE] = "write",
    [ENG_WR_WRITE_IMM] = "write_imm",
    [ENG_WR_READ] = "read",
    [ENG_WR_CMP_SWAP] = "cas",
    [ENG_WR_FETCH_ADD] = "fadd",
    [ENG_WR_ATOMIC_WRITE] = "atomic_write",
    [ENG_WR_FLUSH] = "flush",
};

const char *messages_op_name(uint8_t op)
{
    return op_names[op];
}

bool messages_carries(uint8_t op)
{
    return op != ENG_WR_READ && op != ENG_WR_CMP_SWAP && op != ENG_WR_FETCH_ADD &&
           op != ENG_WR_FLUSH;
}

/* The state that flows keep for us: which sender it is. */
struct mark {
    uint64_t sender; /* index + 1; 0: none */
};

struct reading {
    struct messages *m;
    const struct messages_cfg *cfg;
    struct roce_flow_table *flows;
};

static void on_event(void *ctx, const struct roce_event *event)
{
    struct reading *r = ctx;
    const struct mark *mark = roce_flow_ext(r->flows, event->flow);
    if (mark != NULL && mark->sender != 0 && event->duration >= 0)
        roce_hist_add(&r->m->totals.latency, (uint64_t)event->duration);
}

static int service_of(const struct roce_packet *pkt)
{
    switch ((enum roce_service)pkt->service) {
    case ROCE_SERVICE_RC:
    case ROCE_SERVICE_XRC:
        return ENG_RC;
    case ROCE_SERVICE_UC:
        return ENG_UC;
    case ROCE_SERVICE_UD:
        return ENG_UD;
    case ROCE_SERVICE_RD:
    case ROCE_SERVICE_CNP:
    case ROCE_SERVICE_DC:
    case ROCE_SERVICE_VENDOR:
    case ROCE_SERVICE_UNKNOWN:
        break;
    }
    return -1;
}

static struct sender *add_sender(struct messages *m, const struct roce_packet *pkt, uint32_t flow)
{
    if (m->n == m->room) {
        const uint32_t room = m->room != 0 ? 2 * m->room : 16;
        struct sender *grown =
            room <= SENDERS_MAX ? realloc(m->sender, room * sizeof(*grown)) : NULL;
        if (grown == NULL)
            return NULL;
        m->sender = grown;
        m->room = room;
    }
    struct sender *s = &m->sender[m->n++];
    *s = (struct sender){
        .service = (enum eng_service)service_of(pkt), .dest_qp = pkt->bth.dqpn, .flow = flow};
    memcpy(s->src, pkt->ip.src, 16);
    memcpy(s->dst, pkt->ip.dst, 16);
    return s;
}

static struct sender *sender_of(struct reading *r, const struct roce_packet *pkt, uint32_t flow)
{
    struct mark *mark = roce_flow_ext(r->flows, flow);
    if (mark->sender == 0) {
        if (add_sender(r->m, pkt, flow) == NULL)
            return NULL;
        mark->sender = r->m->n;
    }
    return &r->m->sender[mark->sender - 1];
}

static bool counts(const struct reading *r, const struct roce_packet *pkt)
{
    if (r->cfg->host != NULL && memcmp(r->cfg->host, pkt->ip.src, 16) != 0)
        return false;
    return !pkt->response && pkt->op != ROCE_OP_CNP && pkt->bth.dqpn > ROCE_QPN_GSI;
}

static void take(struct reading *r, const struct roce_frame *frame)
{
    struct roce_packet pkt;
    struct roce_verdict verdict;
    (void)roce_packet_decode(frame, &r->cfg->decode, &pkt);
    if (!roce_flow_update(r->flows, frame, &pkt, NULL, &verdict) || !roce_packet_is_roce(&pkt) ||
        (verdict.flags & ROCE_V_MIRROR_DUP) != 0 || !counts(r, &pkt))
        return;
    if (service_of(&pkt) < 0) {
        r->m->totals.unfit++;
        return;
    }
    struct sender *s = sender_of(r, &pkt, verdict.flow);
    if (s == NULL)
        r->m->totals.unfit++;
    else
        packet_take(r->m, s, frame, &pkt, verdict.flags);
}

static int sum_up(struct reading *r)
{
    struct messages *m = r->m;
    for (uint32_t i = 0; i < m->n; i++) {
        struct sender *s = &m->sender[i];
        struct roce_flow_info info;
        struct roce_flow_counters own, peer;
        const bool known = roce_flow_info(r->flows, s->flow, &info);
        s->mtu = known ? info.path_mtu : 0;
        if (packets_join(m, s) != 0) {
            msg_print("out of memory; give --host to replay less");
            return -1;
        }
        if (!known)
            continue;
        if (roce_flow_counters(r->flows, s->flow, &own))
            m->totals.retransmitted += own.retransmitted;
        if (!roce_flow_counters(r->flows, info.peer, &peer))
            continue;
        m->totals.rnr_naks += peer.rnr_naks;
        m->totals.cnps += peer.cnps;
        for (int code = 0; code <= ROCE_NAK_MAX; code++)
            m->totals.naks += peer.naks[code];
    }
    return 0;
}

int messages_read(struct messages *m, const struct messages_cfg *cfg)
{
    struct reading r = {.m = m, .cfg = cfg};
    struct roce_flow_opts opts = {.ext_bytes = sizeof(struct mark)};
    struct raw_source src;
    struct roce_frame frame;
    *m = (struct messages){0};
    opts.ops =
        (struct roce_flow_ops){.ctx = &r, .event = on_event, .mask = 1U << ROCE_EVENT_MESSAGE};
    r.flows = roce_flow_table_new(&opts);
    if (r.flows == NULL) {
        msg_print("out of memory");
        return -1;
    }
    int rc = raw_source_open(&src, cfg->file);
    if (rc == 0) {
        while (!signals_interrupted() && raw_source_next(&src, &frame) > 0)
            take(&r, &frame);
        m->status = src.status;
        raw_source_close(&src);
        roce_flow_finish(r.flows);
        rc = sum_up(&r);
    }
    roce_flow_table_del(r.flows);
    return rc;
}

void messages_free(struct messages *m)
{
    for (uint32_t i = 0; i < m->n; i++) {
        free(m->sender[i].packet);
        free(m->sender[i].msg);
    }
    free(m->sender);
    free(m->data);
    *m = (struct messages){0};
}
