/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Cases: explicit congestion notification (annex A17.9). */
#include <roce/psn.h>

#include "rocereplay/check.h"

enum {
    MARKED = 16,
    LEN = 64,
    PHASE = 256, /* PSNs over which the peer's rate is measured */
    PER_MESSAGE = 16,
    ACK_EVERY = 8,
    CNPS = 4,
    SLOW = 18, /* 1 s */
    ACK = ROCE_CREDITS_INVALID,
};
#define SLOWER  1.5 /* times, at least */
#define FASTEST 1e8 /* bytes per second that a program sees at the time they come */

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

/* Takes packets until the peer's PSN has moved on by |n|, with an ACK for each that asks and for
 * some that do not, and |n_cnp| CNPs on the way. Returns the bytes per second of the peer. */
static double take(struct check *c, uint32_t *psn, uint32_t n, uint32_t n_cnp)
{
    const uint32_t until = roce_psn_add(*psn, n), begin = *psn;
    roce_tstamp first = 0, last = 0;
    uint32_t told = 0;
    while (roce_psn_diff(until, *psn) > 0) {
        if (c->n_taken == c->n_seen)
            c->n_seen = c->n_taken = 0; /* there is room for so many only */
        const struct check_seen *seen = check_answer(c);
        if (seen == NULL) {
            check_unseen(c, "the peer's packets ended too soon");
            return 0;
        }
        last = seen->at;
        first = first == 0 ? last : first;
        const bool asks = seen->pkt.bth.ackreq;
        const uint32_t at = seen->pkt.bth.psn;
        if (roce_psn_diff(at, *psn) >= 0)
            *psn = roce_psn_add(at, 1);
        if (asks || at % ACK_EVERY == 0) {
            const struct craft ack = check_response(c, ROCE_OPCODE_RC_ACKNOWLEDGE, at, ACK, 0);
            check_send(c, &ack);
        }
        if (told < n_cnp && (uint32_t)roce_psn_diff(*psn, begin) * n_cnp >= told * n) {
            struct craft cnp = check_response(c, ROCE_OPCODE_CNP, 0, 0, 0);
            cnp.bth.migreq = false;
            cnp.bth.becn = true;
            cnp.payload_len = 16;
            check_send(c, &cnp);
            told++;
        }
    }
    return last > first ? (double)n * c->run->mtu * 1e9 / (double)(last - first) : 0;
}

void check_cnp_reaction(struct check *c)
{
    c->want.op = CHECK_OP_WRITE;
    c->want.messages = (uint64_t)8 * PHASE / PER_MESSAGE;
    c->want.size = (uint64_t)PER_MESSAGE * c->run->mtu;
    c->want.dcqcn = 1;
    c->want.timeout = SLOW;   /* the slower peer shall not give up its packets for lost */
    c->want.peer_psn = PHASE; /* the CNPs' PSN 0 lies behind: see ghost.cnp */
    uint32_t psn = (uint32_t)c->want.peer_psn;
    if (!check_open(c) || !check_start(c))
        return;
    (void)take(c, &psn, PHASE, 0); /* its start is no steady state */
    const double before = take(c, &psn, PHASE, 0), control = take(c, &psn, PHASE, 0);
    (void)take(c, &psn, PHASE, CNPS);
    double after = take(c, &psn, PHASE, 0);
    if (after * SLOWER <= before) {
        /* By chance it is slower once, but not again. */
        (void)take(c, &psn, PHASE, CNPS);
        const double again = take(c, &psn, PHASE, 0);
        after = again > after ? again : after;
    }
    if (c->settled)
        return;
    if (!c->run->exact && before > FASTEST)
        check_unseen(c, "the peer is faster than can be followed here");
    else if (before > control * 1.3 || control > before * 1.3)
        check_unseen(c, "the peer's rate varies without CNPs as well");
    else if (after * SLOWER > before)
        check_fail(c, "%.1f Mb/s before %d CNPs, %.1f Mb/s after", before * 8e-6, (int)CNPS,
                   after * 8e-6);
    else
        check_note(c, "%.1f Mb/s before %d CNPs, %.1f Mb/s after", before * 8e-6, (int)CNPS,
                   after * 8e-6);
}
