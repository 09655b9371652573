/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From request packets to messages. */
#include <roce/psn.h>
#include <stdlib.h>
#include <string.h>

#include "rocereplay/messages.h"

#define PAYLOAD_MAX UINT64_C(1073741824) /* of all messages; what is beyond is made up */

static bool has_data(const struct roce_packet *pkt)
{
    return (pkt->has & ROCE_HAS_PAYLOAD) != 0 && pkt->payload_captured == pkt->payload_len;
}

static void keep_payload(struct messages *m, struct message *msg, const struct roce_frame *frame,
                         const struct roce_packet *pkt, uint64_t off, bool again)
{
    const uint64_t end = off + pkt->payload_len;
    if (!messages_carries(msg->op) || pkt->payload_len == 0 || !has_data(pkt) ||
        end > MESSAGES_LEN_MAX)
        return;
    if (end > msg->room) {
        uint64_t room = msg->room != 0 ? 2 * (uint64_t)msg->room : end;
        room = room < end ? end : room;
        if (m->payload_bytes - msg->room + room > PAYLOAD_MAX)
            return;
        uint8_t *grown = realloc(msg->payload, room);
        if (grown == NULL)
            return;
        m->payload_bytes += room - msg->room;
        msg->payload = grown;
        msg->room = (uint32_t)room;
    }
    memcpy(msg->payload + off, frame->data + pkt->payload_off, pkt->payload_len);
    if (!again)
        msg->got += pkt->payload_len;
}

/* Makes room at |place|. NULL without memory. */
static struct message *insert(struct sender *s, uint64_t place)
{
    if (s->n == s->room) {
        const uint64_t room = s->room != 0 ? 2 * s->room : 16;
        struct message *grown = realloc(s->msg, room * sizeof(*grown));
        if (grown == NULL)
            return NULL;
        s->msg = grown;
        s->room = room;
    }
    memmove(&s->msg[place + 1], &s->msg[place], (s->n - place) * sizeof(*s->msg));
    s->n++;
    s->msg[place] = (struct message){0};
    return &s->msg[place];
}

static int op_of(const struct roce_packet *pkt)
{
    switch ((enum roce_op)pkt->op) {
    case ROCE_OP_SEND:
        return ENG_WR_SEND;
    case ROCE_OP_WRITE:
        return ENG_WR_WRITE;
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

/* The last packet tells the kind: with immediate or not. A SEND with invalidate names a key of the
 * recorded peer; to the live one it is sent without. */
static void take_end(struct message *msg, const struct roce_packet *pkt)
{
    msg->complete = true;
    msg->solicited = pkt->bth.se;
    if ((pkt->has & ROCE_H_IMM) == 0)
        return;
    msg->imm = pkt->imm;
    msg->op = msg->op == ENG_WR_SEND    ? ENG_WR_SEND_IMM
              : msg->op == ENG_WR_WRITE ? ENG_WR_WRITE_IMM
                                        : msg->op;
}

static void fill(struct message *msg, const struct roce_packet *pkt, uint32_t psns)
{
    if ((pkt->has & ROCE_H_RETH) != 0) {
        msg->va = pkt->reth.va;
        msg->len = pkt->reth.dma_length;
    } else if (pkt->op == ROCE_OP_SEND) {
        msg->len = pkt->payload_len;
    }
    if ((pkt->has & ROCE_H_ATOMIC) != 0) {
        const bool add = msg->op == ENG_WR_FETCH_ADD;
        msg->va = pkt->atomic_eth.va;
        msg->len = 8;
        msg->compare_add = add ? pkt->atomic_eth.swap_add : pkt->atomic_eth.compare;
        msg->swap = pkt->atomic_eth.swap_add;
    }
    if ((pkt->has & ROCE_H_FETH) != 0) {
        msg->flush_type = pkt->feth.plt;
        msg->flush_level = pkt->feth.sel;
    }
    msg->psns = psns != 0 ? psns : 1;
}

/* Behind which message |psn| belongs: index + 1 of the newest that does not begin after it. */
static uint64_t place_of(const struct sender *s, uint32_t psn)
{
    uint64_t i = s->n;
    while (i > 0 && roce_psn_diff(s->msg[i - 1].psn, psn) > 0)
        i--;
    return i;
}

static void begin(struct messages *m, struct sender *s, const struct roce_frame *frame,
                  const struct roce_packet *pkt, uint32_t flags, uint32_t psns)
{
    const uint32_t psn = pkt->bth.psn;
    const bool ordered = s->service != ENG_UD;
    const uint64_t place = ordered ? place_of(s, psn) : s->n;
    if (ordered && place > 0 && (flags & ROCE_V_RETRANSMITTED) != 0) {
        struct message *msg = &s->msg[place - 1];
        const bool same = msg->psn == psn;
        if (same)
            keep_payload(m, msg, frame, pkt, 0, (flags & ROCE_V_DUP) != 0);
        /* The same again, or a READ that asks for the rest (IBTA 9.7.5.1.3). */
        if (same || (uint32_t)roce_psn_diff(psn, msg->psn) < msg->psns)
            return;
    }
    struct message *msg = insert(s, place);
    if (msg == NULL) {
        m->totals.unfit++;
        return;
    }
    msg->op = (uint8_t)op_of(pkt);
    msg->psn = psn;
    msg->ts = frame->ts;
    fill(msg, pkt, psns);
    msg->many = pkt->pos == ROCE_POS_FIRST;
    msg->mtu = pkt->payload_len;
    keep_payload(m, msg, frame, pkt, 0, false);
    if (!msg->many)
        take_end(msg, pkt);
}

static void go_on(struct messages *m, struct sender *s, const struct roce_frame *frame,
                  const struct roce_packet *pkt, uint32_t flags)
{
    const uint64_t place = place_of(s, pkt->bth.psn);
    struct message *msg = place > 0 ? &s->msg[place - 1] : NULL;
    const uint32_t index = msg != NULL ? (uint32_t)roce_psn_diff(pkt->bth.psn, msg->psn) : 0;
    if (msg == NULL || !msg->many || msg->mtu == 0 || index == 0 ||
        (msg->complete && index >= msg->psns) ||
        (uint64_t)index * msg->mtu + pkt->payload_len > MESSAGES_LEN_MAX) {
        m->totals.orphans += (flags & ROCE_V_DUP) == 0;
        return;
    }
    const uint64_t off = (uint64_t)index * msg->mtu;
    const uint64_t end = off + pkt->payload_len;
    if (index >= msg->psns)
        msg->psns = index + 1;
    if (pkt->op == ROCE_OP_SEND && end > msg->len)
        msg->len = (uint32_t)end;
    keep_payload(m, msg, frame, pkt, off, (flags & ROCE_V_DUP) != 0);
    if (pkt->pos == ROCE_POS_LAST)
        take_end(msg, pkt);
}

void message_take(struct messages *m, struct sender *s, const struct roce_frame *frame,
                  const struct roce_packet *pkt, uint32_t flags, uint32_t psns)
{
    if (op_of(pkt) < 0 || (pkt->has & ROCE_HAS_PAYLOAD) == 0)
        return;
    if (pkt->pos == ROCE_POS_FIRST || pkt->pos == ROCE_POS_ONLY)
        begin(m, s, frame, pkt, flags, psns);
    else
        go_on(m, s, frame, pkt, flags);
}
