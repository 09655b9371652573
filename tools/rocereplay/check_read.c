/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Cases: READ at the responder. */
#include <roce/psn.h>
#include <stdio.h>
#include <string.h>

#include "rocereplay/check.h"

enum { OFF = 256, EXCESS = 12 };

static struct craft read_of(const struct check *c, uint32_t len)
{
    struct craft read = check_request(c, ROCE_OPCODE_RC_READ_REQUEST);
    read.reth.va += OFF;
    read.reth.dma_length = len;
    return read;
}

/* What memory holds that was not filled for us nobody knows. */
static bool data_right(const struct check *c, const struct check_seen *seen, uint64_t off)
{
    if (c->run->limits.kind != NULL)
        return true;
    for (uint32_t i = 0; i < seen->pkt.payload_len; i++)
        if (seen->payload[i] != check_fill(off + i))
            return false;
    return true;
}

static enum roce_pos pos_of(uint32_t i, uint32_t n)
{
    if (n == 1)
        return ROCE_POS_ONLY;
    return i == 0 ? ROCE_POS_FIRST : i + 1 == n ? ROCE_POS_LAST : ROCE_POS_MIDDLE;
}

/* Takes the whole answer to |read|. */
static bool answered(struct check *c, const struct craft *read, const char *to)
{
    const uint32_t mtu = c->run->mtu, len = read->reth.dma_length;
    const uint32_t n = roce_psn_count(len, mtu);
    for (uint32_t i = 0; i < n && !c->settled; i++) {
        char text[96];
        const struct check_seen *seen = check_answer(c);
        const uint32_t part = i + 1 < n ? mtu : len - i * mtu;
        const enum roce_pos pos = pos_of(i, n);
        if (seen == NULL)
            check_fail(c, "%s: packet %u of %u of the answer did not come", to, (unsigned)i + 1,
                       (unsigned)n);
        else if (seen->pkt.op != ROCE_OP_READ_RESPONSE || seen->pkt.pos != pos ||
                 seen->pkt.bth.psn != roce_psn_add(read->bth.psn, i) ||
                 seen->pkt.payload_len != part)
            check_fail(c, "%s: packet %u of the answer is %s (frame %llu)", to, (unsigned)i + 1,
                       check_describe(seen, text), (unsigned long long)seen->frame);
        else if (!data_right(c, seen, read->reth.va - c->offer.va + (uint64_t)i * mtu))
            check_fail(c, "%s: wrong data in frame %llu", to, (unsigned long long)seen->frame);
        else if (!seen->icrc_ok)
            check_fail(c, "%s: bad ICRC in frame %llu", to, (unsigned long long)seen->frame);
    }
    return !c->settled;
}

void check_read_segments(struct check *c)
{
    if (!check_open(c))
        return;
    const struct craft read = read_of(c, 3U * c->run->mtu + 1);
    check_send(c, &read);
    if (answered(c, &read, "READ"))
        check_quiet(c, "behind the answer");
}

void check_read_next(struct check *c)
{
    if (!check_open(c))
        return;
    const struct craft read = read_of(c, 3U * c->run->mtu + 1);
    check_send(c, &read);
    if (!answered(c, &read, "READ"))
        return;
    struct craft send = check_request(c, ROCE_OPCODE_RC_SEND_ONLY);
    send.bth.psn = roce_psn_add(c->psn, 4);
    send.payload_len = 8;
    check_send(c, &send);
    check_ack(c, c->psn + 4, 2, "the SEND behind a READ of 4 packets");
}

void check_read_zero(struct check *c)
{
    if (!check_open(c))
        return;
    struct craft read = read_of(c, 0);
    read.reth.rkey ^= 0x00FF0055;
    check_send(c, &read);
    answered(c, &read, "READ of no bytes");
}

void check_read_again(struct check *c)
{
    if (!check_open(c))
        return;
    const struct craft read = read_of(c, 2U * c->run->mtu);
    check_send(c, &read);
    if (!answered(c, &read, "READ"))
        return;
    check_send(c, &read);
    answered(c, &read, "READ again");
}

void check_read_part(struct check *c)
{
    if (!check_open(c))
        return;
    struct craft read = read_of(c, 4U * c->run->mtu);
    check_send(c, &read);
    if (!answered(c, &read, "READ"))
        return;
    read.bth.psn = roce_psn_add(read.bth.psn, 2);
    read.reth.va += 2U * c->run->mtu;
    read.reth.dma_length -= 2U * c->run->mtu;
    check_send(c, &read);
    answered(c, &read, "READ again from its third packet");
}

void check_read_outside(struct check *c)
{
    if (!check_open(c))
        return;
    struct craft read = read_of(c, 2U * c->run->mtu);
    check_send(c, &read);
    if (!answered(c, &read, "READ"))
        return;
    read.reth.dma_length *= 2;
    check_send(c, &read);
    check_quiet(c, "to a READ repeated with twice its length");
}

/* Each as it comes: as many as can be are under way, since none waits for an answer. */
void check_read_excess(struct check *c)
{
    if (!check_open(c))
        return;
    struct craft read[EXCESS];
    for (unsigned i = 0; i < EXCESS; i++) {
        read[i] = read_of(c, 2U * c->run->mtu);
        read[i].bth.psn = roce_psn_add(c->psn, 2 * (int64_t)i);
        check_send(c, &read[i]);
    }
    for (unsigned i = 0; i < EXCESS; i++) {
        for (unsigned k = 0; k < 2; k++) {
            char text[96];
            const struct check_seen *seen = check_answer(c);
            const uint32_t psn = roce_psn_add(read[i].bth.psn, k);
            if (seen == NULL) {
                check_fail(c, "READ %u of %u stays without an answer", i + 1, (unsigned)EXCESS);
                return;
            }
            if (k == 0 && i >= c->want.rd_atomic && seen->pkt.op == ROCE_OP_ACK &&
                seen->pkt.aeth.syndrome == (ROCE_AETH_NAK << 5 | ROCE_NAK_INVALID_REQUEST)) {
                check_note(c, "refused from the %uth on", i + 1);
                return;
            }
            if (seen->pkt.op != ROCE_OP_READ_RESPONSE || seen->pkt.bth.psn != psn ||
                !data_right(c, seen, OFF + (uint64_t)k * c->run->mtu)) {
                check_fail(c, "READ %u of %u was answered by %s (frame %llu)", i + 1,
                           (unsigned)EXCESS, check_describe(seen, text),
                           (unsigned long long)seen->frame);
                return;
            }
        }
    }
    check_note(c, "all answered");
}
