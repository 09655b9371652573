/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From request packets to messages: packets are noted as they come, put in order of their PSNs, and
 * joined. What was resent or came late is in its place then. */
#include <roce/psn.h>
#include <stdlib.h>
#include <string.h>

#include "rocereplay/messages.h"

#define PAYLOAD_MAX UINT64_C(1073741824) /* of all packets; what is beyond is made up */

enum { ATOMIC_LEN = 8 };

static int op_of(const struct roce_packet *pkt)
{
    const bool imm = (pkt->has & ROCE_H_IMM) != 0;
    switch ((enum roce_op)pkt->op) {
    case ROCE_OP_SEND: /* with invalidate: its key is one of the recorded peer's; sent without */
        return imm ? ENG_WR_SEND_IMM : ENG_WR_SEND;
    case ROCE_OP_WRITE:
        return imm ? ENG_WR_WRITE_IMM : ENG_WR_WRITE;
    case ROCE_OP_READ:
        return ENG_WR_READ;
    case ROCE_OP_ATOMIC:
        return pkt->bth.opcode == ROCE_OPCODE_RC_CMP_SWAP ||
                       pkt->bth.opcode == ROCE_OPCODE_XRC_CMP_SWAP
                   ? ENG_WR_CMP_SWAP
                   : ENG_WR_FETCH_ADD;
    case ROCE_OP_FLUSH:
        return ENG_WR_FLUSH;
    case ROCE_OP_ATOMIC_WRITE:
        return ENG_WR_ATOMIC_WRITE;
    case ROCE_OP_RESYNC:
    case ROCE_OP_READ_RESPONSE:
    case ROCE_OP_ACK:
    case ROCE_OP_ATOMIC_ACK:
    case ROCE_OP_CNP:
    case ROCE_OP_NONE:
        break;
    }
    return -1;
}

static void *grow(void *memory, uint64_t *room, uint64_t wanted, size_t size)
{
    uint64_t n = *room != 0 ? *room : 64;
    while (n < wanted)
        n *= 2;
    void *grown = realloc(memory, n * size);
    if (grown != NULL)
        *room = n;
    return grown;
}

/* Returns where a copy of the payload is kept. */
static uint64_t keep(struct messages *m, const struct roce_frame *frame,
                     const struct roce_packet *pkt)
{
    const uint64_t at = m->n_data, end = at + pkt->payload_len;
    if (pkt->payload_captured != pkt->payload_len || end > PAYLOAD_MAX)
        return PACKET_NO_DATA;
    if (end > m->data_room) {
        void *grown = grow(m->data, &m->data_room, end, 1);
        if (grown == NULL)
            return PACKET_NO_DATA;
        m->data = grown;
    }
    if (pkt->payload_len != 0)
        memcpy(m->data + at, frame->data + pkt->payload_off, pkt->payload_len);
    m->n_data = end;
    return at;
}

static void fill(struct packet *p, const struct roce_packet *pkt)
{
    p->has_reth = (pkt->has & ROCE_H_RETH) != 0;
    if (p->has_reth) {
        p->va = pkt->reth.va;
        p->dma_len = pkt->reth.dma_length;
    }
    if ((pkt->has & ROCE_H_ATOMIC) != 0) {
        const bool add = p->op == ENG_WR_FETCH_ADD;
        p->va = pkt->atomic_eth.va;
        p->compare_add = add ? pkt->atomic_eth.swap_add : pkt->atomic_eth.compare;
        p->swap = pkt->atomic_eth.swap_add;
    }
    if ((pkt->has & ROCE_H_FETH) != 0) {
        p->flush_type = pkt->feth.plt;
        p->flush_level = pkt->feth.sel;
    }
    if ((pkt->has & ROCE_H_IMM) != 0)
        p->imm = pkt->imm;
}

void packet_take(struct messages *m, struct sender *s, const struct roce_frame *frame,
                 const struct roce_packet *pkt, uint32_t flags)
{
    const int op = op_of(pkt);
    if ((flags & ROCE_V_DUP) != 0)
        return;
    if (s->n_packets == s->packets_room) {
        void *grown = grow(s->packet, &s->packets_room, s->n_packets + 1, sizeof(*s->packet));
        if (grown == NULL) {
            m->totals.unfit++;
            return;
        }
        s->packet = grown;
    }
    if (op < 0 || (pkt->has & ROCE_HAS_PAYLOAD) == 0) {
        m->totals.unfit++;
        return;
    }
    uint64_t psn = pkt->bth.psn + (UINT64_C(1) << 32); /* below it there is room to go back */
    if (s->n_packets != 0)
        psn = s->highest +
              (uint64_t)(int64_t)roce_psn_diff(pkt->bth.psn, (uint32_t)s->highest & ROCE_PSN_MASK);
    if (s->n_packets == 0 || psn > s->highest)
        s->highest = psn;
    struct packet *p = &s->packet[s->n_packets++];
    *p = (struct packet){
        .psn = psn,
        .ts = frame->ts,
        .len = pkt->payload_len,
        .op = (uint8_t)op,
        .pos = pkt->pos,
        .solicited = pkt->bth.se,
    };
    p->data = messages_carries(p->op) ? keep(m, frame, pkt) : PACKET_NO_DATA;
    fill(p, pkt);
}

static int by_psn(const void *a, const void *b)
{
    const struct packet *x = a, *y = b;
    if (x->psn != y->psn)
        return x->psn < y->psn ? -1 : 1;
    return x->ts < y->ts ? -1 : x->ts > y->ts;
}

/* A packet behind the |n| packets of a message that began with |first|. */
static bool goes_on(const struct packet *first, const struct packet *last, const struct packet *p)
{
    if ((p->pos != ROCE_POS_MIDDLE && p->pos != ROCE_POS_LAST) || last->pos == ROCE_POS_LAST)
        return false;
    const bool sends = first->op == ENG_WR_SEND || first->op == ENG_WR_SEND_IMM;
    if (sends != (p->op == ENG_WR_SEND || p->op == ENG_WR_SEND_IMM) || p->psn == last->psn)
        return false;
    const uint64_t off = (p->psn - first->psn) * first->len;
    return off + p->len <= (first->has_reth && !sends ? first->dma_len : MESSAGES_LEN_MAX);
}

static void join(struct messages *m, const struct sender *s, struct message *msg)
{
    const struct packet *first = &s->packet[msg->first];
    const struct packet *last = &s->packet[msg->first + msg->packets - 1];
    uint64_t got = 0, len = (last->psn - first->psn) * first->len + last->len;
    bool whole = messages_carries(last->op);
    for (uint64_t i = msg->first; i < msg->first + msg->packets; i++) {
        got += s->packet[i].len;
        whole = whole && s->packet[i].data != PACKET_NO_DATA;
        msg->ts = s->packet[i].ts < msg->ts ? s->packet[i].ts : msg->ts;
    }
    msg->op = last->op;
    msg->solicited = last->solicited;
    msg->complete = last->pos == ROCE_POS_LAST || last->pos == ROCE_POS_ONLY;
    if (!messages_carries(msg->op))
        len = first->has_reth ? first->dma_len : ATOMIC_LEN;
    msg->len = (uint32_t)(len <= MESSAGES_LEN_MAX ? len : MESSAGES_LEN_MAX);
    msg->captured = whole && got == len;
    m->totals.messages++;
    m->totals.bytes += msg->len;
    m->totals.by_op[msg->op]++;
    m->totals.incomplete += !msg->complete;
    m->totals.generated += messages_carries(msg->op) && !msg->captured && msg->len != 0;
}

/* A READ takes the PSNs of its answer; what asks again for a part of it is no message (IBTA
 * 9.7.5.1.3). */
static uint64_t end_of(const struct sender *s, const struct packet *p)
{
    if (p->op != ENG_WR_READ || s->mtu == 0)
        return p->psn + 1;
    return p->psn + roce_psn_count(p->dma_len, s->mtu);
}

static bool is_fit(const struct packet *p)
{
    const bool named = p->op == ENG_WR_READ || p->op == ENG_WR_FLUSH;
    return !named || (p->has_reth && p->dma_len <= MESSAGES_LEN_MAX);
}

int packets_join(struct messages *m, struct sender *s)
{
    const bool ordered = s->service != ENG_UD;
    uint64_t busy = 0;
    s->msg = calloc(s->n_packets + 1, sizeof(*s->msg));
    if (s->msg == NULL)
        return -1;
    if (ordered && s->n_packets != 0)
        qsort(s->packet, s->n_packets, sizeof(*s->packet), by_psn);
    for (uint64_t i = 0; i < s->n_packets;) {
        const struct packet *p = &s->packet[i];
        struct message msg = {.first = i++, .packets = 1, .ts = p->ts};
        if (ordered && p->psn < busy)
            continue;
        if (p->pos == ROCE_POS_MIDDLE || p->pos == ROCE_POS_LAST) {
            m->totals.orphans++;
            continue;
        }
        if (!is_fit(p)) {
            m->totals.unfit++;
            continue;
        }
        while (p->pos == ROCE_POS_FIRST && i < s->n_packets &&
               goes_on(p, &s->packet[i - 1], &s->packet[i])) {
            msg.packets++;
            i++;
        }
        busy = end_of(s, &s->packet[i - 1]);
        join(m, s, &msg);
        s->msg[s->n++] = msg;
    }
    return 0;
}

void messages_copy(const struct messages *m, const struct sender *s, const struct message *msg,
                   uint8_t *out)
{
    for (uint64_t i = msg->first; i < msg->first + msg->packets; i++) {
        const struct packet *p = &s->packet[i];
        if (p->len != 0)
            memcpy(out, m->data + p->data, p->len);
        out += p->len;
    }
}
