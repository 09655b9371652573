/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Cases: explicit congestion notification (annex A17.9). */
#include <roce/psn.h>

#include "rocereplay/check.h"

enum { MARKED = 16, LEN = 64, MESSAGES = 200, CNPS = 4, ACK = ROCE_CREDITS_INVALID };

static void send_marked(struct check *c)
{
    struct craft craft = check_request(c, ROCE_OPCODE_RC_SEND_ONLY);
    craft.payload_len = LEN;
    craft.rewritten = true; /* as a switch does it */
    craft.new_tos = ROCE_ECN_CE;
    craft.new_ttl = 63;
    check_send(c, &craft);
    c->psn = roce_psn_add(c->psn, 1);
}

static unsigned cnps(const struct check *c, const struct check_seen **last)
{
    unsigned n = 0;
    for (uint32_t i = 0; i < c->n_seen; i++) {
        if (c->seen[i].pkt.op == ROCE_OP_CNP) {
            n++;
            *last = &c->seen[i];
        }
    }
    return n;
}

void check_ce_cnp(struct check *c)
{
    const struct check_seen *cnp = NULL;
    if (!check_open(c))
        return;
    send_marked(c);
    check_pause(c, c->run->quiet_ns);
    if (cnps(c, &cnp) == 0)
        check_fail(c, "no CNP to a packet marked CE");
    else if (!cnp->icrc_ok || !cnp->pkt.bth.becn || cnp->pkt.payload_len != 16)
        check_fail(c, "the CNP (frame %llu) is not as it should be: BECN %d, %u bytes, ICRC %s",
                   (unsigned long long)cnp->frame, cnp->pkt.bth.becn,
                   (unsigned)cnp->pkt.payload_len, cnp->icrc_ok ? "ok" : "bad");
}

void check_ce_interval(struct check *c)
{
    const struct check_seen *cnp = NULL;
    if (!check_open(c))
        return;
    for (int i = 0; i < MARKED; i++)
        send_marked(c);
    check_pause(c, c->run->quiet_ns);
    const unsigned n = cnps(c, &cnp);
    if (n == 0)
        check_unseen(c, "no CNP at all, see cnp.sent");
    else if (n >= MARKED)
        check_fail(c, "%u CNPs to %d marked packets in a row", n, (int)MARKED);
    else
        check_note(c, "%u CNPs to %d marked packets in a row", n, (int)MARKED);
}

void check_ce_neutral(struct check *c)
{
    if (!check_open(c))
        return;
    for (uint32_t i = 1; i <= 3; i++) {
        send_marked(c);
        if (!check_ack(c, c->psn - 1, i, "a SEND marked CE"))
            return;
    }
    check_completions(c, 3, "after three");
}

/* Takes |n| WRITEs, acknowledging each; returns how long they took. */
static uint64_t take(struct check *c, unsigned n, unsigned every)
{
    roce_tstamp first = 0, last = 0;
    for (unsigned i = 0; i < n; i++) {
        const struct check_seen *seen = check_answer(c);
        if (seen == NULL) {
            check_unseen(c, "the peer's packets ended too soon");
            return 0;
        }
        last = seen->at;
        first = first == 0 ? last : first;
        const struct craft ack =
            check_response(c, ROCE_OPCODE_RC_ACKNOWLEDGE, seen->pkt.bth.psn, ACK, 0);
        if (every != 0 && i % every == 0) {
            struct craft cnp = check_response(c, ROCE_OPCODE_CNP, 0, 0, 0);
            cnp.bth.migreq = false;
            cnp.bth.becn = true;
            cnp.payload_len = 16;
            check_send(c, &cnp);
        }
        check_send(c, &ack);
    }
    return last - first;
}

void check_cnp_reaction(struct check *c)
{
    c->want.op = CHECK_OP_WRITE;
    c->want.messages = MESSAGES;
    c->want.size = c->run->mtu;
    c->want.dcqcn = 1;
    if (!check_open(c) || !check_start(c))
        return;
    const uint64_t before = take(c, MESSAGES / 4, 0);
    (void)take(c, MESSAGES / 4, MESSAGES / 4 / CNPS);
    const uint64_t after = take(c, MESSAGES / 4, 0);
    if (c->settled)
        return;
    const double factor = before > 0 ? (double)after / (double)before : 0;
    if (factor < 1.5)
        check_fail(c, "%d packets took %.3f ms before the CNPs, %.3f ms after", MESSAGES / 4,
                   (double)before / 1e6, (double)after / 1e6);
    else
        check_note(c, "%.1f times slower after %d CNPs", factor, (int)CNPS);
}
