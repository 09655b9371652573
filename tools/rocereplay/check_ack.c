/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Cases: what is acknowledged, and with which numbers. */
#include <roce/psn.h>

#include "rocereplay/check.h"

static void send_one(struct check *c, uint8_t opcode, uint32_t len, bool ackreq)
{
    struct craft craft = check_request(c, opcode);
    craft.bth.ackreq = ackreq;
    craft.payload_len = len;
    craft.reth.dma_length = len;
    check_send(c, &craft);
    c->psn = roce_psn_add(c->psn, 1);
}

void check_ack_request(struct check *c)
{
    if (!check_open(c))
        return;
    send_one(c, ROCE_OPCODE_RC_SEND_ONLY, 64, true);
    if (check_ack(c, c->psn - 1, 1, "SEND Only") && check_quiet(c, "behind the ACK"))
        check_completions(c, 1, "after one SEND");
}

void check_ack_cumulative(struct check *c)
{
    if (!check_open(c))
        return;
    const uint32_t first = c->psn;
    send_one(c, ROCE_OPCODE_RC_SEND_FIRST, c->run->mtu, false);
    send_one(c, ROCE_OPCODE_RC_SEND_MIDDLE, c->run->mtu, false);
    send_one(c, ROCE_OPCODE_RC_SEND_LAST, 8, true);
    uint32_t newest = first;
    const struct check_seen *seen;
    char text[96];
    while ((seen = check_next(c, newest == c->psn ? c->run->quiet_ns : c->run->answer_ns)) !=
           NULL) {
        const uint32_t behind = roce_psn_add(seen->pkt.bth.psn, 1);
        const bool last = behind == c->psn;
        if (seen->pkt.op != ROCE_OP_ACK ||
            roce_aeth_kind(seen->pkt.aeth.syndrome) != ROCE_AETH_ACK ||
            roce_psn_diff(behind, newest) <= 0 || roce_psn_diff(behind, c->psn) > 0 ||
            seen->pkt.aeth.msn != (last ? 1 : 0)) {
            check_fail(c, "wrong answer: %s (frame %llu)", check_describe(seen, text),
                       (unsigned long long)seen->frame);
            return;
        }
        newest = behind;
    }
    if (newest != c->psn)
        check_fail(c, "no ACK of the last packet");
}

void check_ack_zero(struct check *c)
{
    if (!check_open(c))
        return;
    send_one(c, ROCE_OPCODE_RC_SEND_ONLY, 0, true);
    if (check_ack(c, c->psn - 1, 1, "SEND Only of no bytes"))
        check_completions(c, 1, "after one SEND");
}

static bool answered(struct check *c, enum roce_op op, uint32_t msn, const char *to)
{
    char text[96];
    const struct check_seen *seen = check_answer(c);
    if (seen == NULL)
        check_fail(c, "no answer to %s", to);
    else if (seen->pkt.op != op || !(seen->pkt.has & ROCE_H_AETH) || seen->pkt.aeth.msn != msn)
        check_fail(c, "%s was answered by %s (frame %llu), not with MSN %u", to,
                   check_describe(seen, text), (unsigned long long)seen->frame, (unsigned)msn);
    return !c->settled;
}

void check_msn_count(struct check *c)
{
    if (!check_open(c))
        return;
    static const struct {
        uint8_t opcode;
        enum roce_op answer;
        uint32_t payload, length;
        const char *name;
    } steps[] = {
        {ROCE_OPCODE_RC_SEND_ONLY, ROCE_OP_ACK, 16, 0, "SEND"},
        {ROCE_OPCODE_RC_WRITE_ONLY, ROCE_OP_ACK, 16, 16, "WRITE"},
        {ROCE_OPCODE_RC_READ_REQUEST, ROCE_OP_READ_RESPONSE, 0, 16, "READ"},
        {ROCE_OPCODE_RC_FETCH_ADD, ROCE_OP_ATOMIC_ACK, 0, 0, "FetchAdd"},
        {ROCE_OPCODE_RC_SEND_ONLY, ROCE_OP_ACK, 16, 0, "SEND"},
    };
    for (uint32_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
        struct craft craft = check_request(c, steps[i].opcode);
        craft.payload_len = steps[i].payload;
        craft.reth.dma_length = steps[i].length;
        check_send(c, &craft);
        c->psn = roce_psn_add(c->psn, 1);
        if (!answered(c, steps[i].answer, i + 1, steps[i].name))
            return;
    }
}

void check_msn_middle(struct check *c)
{
    if (!check_open(c))
        return;
    send_one(c, ROCE_OPCODE_RC_WRITE_ONLY, 0, true);
    if (!check_ack(c, c->psn - 1, 1, "WRITE"))
        return;
    send_one(c, ROCE_OPCODE_RC_SEND_FIRST, c->run->mtu, true);
    if (!check_ack(c, c->psn - 1, 1, "SEND First"))
        return;
    send_one(c, ROCE_OPCODE_RC_SEND_MIDDLE, c->run->mtu, true);
    if (!check_ack(c, c->psn - 1, 1, "SEND Middle"))
        return;
    send_one(c, ROCE_OPCODE_RC_SEND_LAST, 4, true);
    check_ack(c, c->psn - 1, 2, "SEND Last");
}

void check_psn_wrap(struct check *c)
{
    const uint64_t first = 0xFFFFFE;
    c->want.psn = first;
    if (!check_open(c))
        return;
    if (c->want.psn != first) {
        check_unseen(c, "the handshake chooses the PSN");
        return;
    }
    for (uint32_t i = 1; i <= 4; i++) {
        send_one(c, ROCE_OPCODE_RC_SEND_ONLY, 16, true);
        if (!check_ack(c, c->psn - 1, i, "a SEND around PSN 0"))
            return;
    }
}

void check_psn_behind(struct check *c)
{
    char text[96];
    if (!check_open(c))
        return;
    send_one(c, ROCE_OPCODE_RC_SEND_ONLY, 16, true);
    if (!check_ack(c, c->psn - 1, 1, "SEND"))
        return;
    struct craft craft = check_request(c, ROCE_OPCODE_RC_SEND_ONLY);
    craft.bth.psn = roce_psn_add(c->psn, 0x800001); /* 2^23 - 1 behind */
    craft.payload_len = 16;
    check_send(c, &craft);
    const struct check_seen *seen = check_next(c, c->run->quiet_ns);
    if (seen != NULL &&
        (seen->pkt.op != ROCE_OP_ACK || roce_aeth_kind(seen->pkt.aeth.syndrome) != ROCE_AETH_ACK ||
         seen->pkt.bth.psn != roce_psn_add(c->psn, -1) || seen->pkt.aeth.msn != 1)) {
        check_fail(c, "taken for no duplicate: %s (frame %llu)", check_describe(seen, text),
                   (unsigned long long)seen->frame);
        return;
    }
    send_one(c, ROCE_OPCODE_RC_SEND_ONLY, 16, true);
    check_ack(c, c->psn - 1, 2, "the SEND behind it");
}

/* Sends PSN 0, 2, 3, 4 of five messages; the NAK of PSN 1 is taken. */
static bool make_gap(struct check *c, uint32_t msn)
{
    send_one(c, ROCE_OPCODE_RC_SEND_ONLY, 16, true);
    if (!check_ack(c, c->psn - 1, msn + 1, "SEND"))
        return false;
    const uint32_t missing = c->psn;
    c->psn = roce_psn_add(c->psn, 1);
    for (int i = 0; i < 3; i++)
        send_one(c, ROCE_OPCODE_RC_SEND_ONLY, 16, true);
    c->psn = missing;
    return check_nak(c, ROCE_NAK_PSN_SEQUENCE_ERROR, missing, "the gap") &&
           check_quiet(c, "after the NAK");
}

void check_nak_gap(struct check *c)
{
    if (check_open(c) && make_gap(c, 0))
        check_completions(c, 1, "behind a gap");
}

static bool repair(struct check *c, uint32_t msn)
{
    for (uint32_t i = 1; i <= 4; i++) {
        send_one(c, ROCE_OPCODE_RC_SEND_ONLY, 16, true);
        if (!check_ack(c, c->psn - 1, msn + i, "a resent SEND"))
            return false;
    }
    return true;
}

void check_nak_repair(struct check *c)
{
    if (check_open(c) && make_gap(c, 0) && repair(c, 1))
        check_completions(c, 5, "after the repair");
}

void check_nak_rearm(struct check *c)
{
    if (check_open(c) && make_gap(c, 0) && repair(c, 1) && make_gap(c, 5))
        check_completions(c, 6, "behind the second gap");
}
