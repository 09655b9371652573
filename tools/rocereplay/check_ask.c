/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Cases: the peer asks, we answer late, wrong or not at all. */
#include <roce/psn.h>

#include "engine/engine.h"
#include "rocereplay/check.h"

enum {
    ACK = ROCE_AETH_ACK << 5 | ROCE_CREDITS_INVALID,
    RETRIES = 3,
    RNR_RETRIES = 2,
    ENDLESS = 7,   /* RNR retries (IBTA 9.7.5.2.8) */
    PARTS = 3,     /* packets that a message needs to be resumed inside */
    RNR_CODE = 20, /* 10.24 ms */
};

static uint64_t ack_timeout(const struct check *c)
{
    return UINT64_C(4096) << c->want.timeout;
}

/* IBTA 9.7.6.1.3 lets a timeout be detected up to 4 T; the peer's own lateness comes on top. */
static uint64_t longest(const struct check *c)
{
    return 4 * ack_timeout(c) + c->run->slack_ns;
}

static void ask(struct check *c, enum check_op op, uint64_t messages, uint64_t size)
{
    c->want.op = op;
    c->want.messages = messages;
    c->want.size = size;
}

static bool begin(struct check *c)
{
    return check_open(c) && check_start(c);
}

static const struct check_seen *request(struct check *c, uint64_t ns, const char *what)
{
    const struct check_seen *seen = check_next(c, ns);
    if (seen == NULL)
        check_fail(c, "%s did not come", what);
    return seen;
}

/* Packets of one of the peer's messages, and the last's PSN. */
static uint32_t packets(const struct check *c)
{
    return roce_psn_count((uint32_t)c->want.size, c->run->mtu);
}

static uint32_t last_psn(const struct check *c)
{
    return roce_psn_add((uint32_t)c->want.peer_psn, (int64_t)packets(c) - 1);
}

/* The next repetition of the message, by its first packet. */
static const struct check_seen *next_again(struct check *c, uint64_t ns)
{
    const struct check_seen *seen;
    do
        seen = check_next(c, ns);
    while (seen != NULL && packets(c) > 1 && seen->pkt.bth.psn != c->want.peer_psn);
    return seen;
}

static const struct check_seen *again(struct check *c, uint64_t ns, const char *what)
{
    const struct check_seen *seen = next_again(c, ns);
    if (seen == NULL)
        check_fail(c, "%s did not come", what);
    return seen;
}

static void acknowledge(struct check *c, uint32_t psn, uint32_t msn)
{
    const struct craft ack = check_response(c, ROCE_OPCODE_RC_ACKNOWLEDGE, psn, ACK, msn);
    check_send(c, &ack);
}

/* Whether |seen| is packet |i| of a message of |n| SENDs. */
static bool is_packet(struct check *c, const struct check_seen *seen, uint32_t i, uint32_t n)
{
    static const uint8_t opcodes[] = {ROCE_OPCODE_RC_SEND_FIRST, ROCE_OPCODE_RC_SEND_MIDDLE,
                                      ROCE_OPCODE_RC_SEND_LAST, ROCE_OPCODE_RC_SEND_ONLY};
    char text[96];
    const unsigned pos = n == 1 ? 3U : i == 0 ? 0U : i + 1 == n ? 2U : 1U;
    const uint32_t psn = roce_psn_add((uint32_t)c->want.peer_psn, i);
    if (seen->pkt.bth.opcode == opcodes[pos] && seen->pkt.bth.psn == psn && seen->icrc_ok)
        return true;
    check_fail(c, "packet %u of the message is %s (frame %llu), its PSN should be %u", i + 1,
               check_describe(seen, text), (unsigned long long)seen->frame, (unsigned)psn);
    return false;
}

static bool message(struct check *c, uint32_t from, uint32_t n)
{
    for (uint32_t i = from; i < n; i++) {
        const struct check_seen *seen = request(c, c->run->answer_ns, "the peer's SEND");
        if (seen == NULL || !is_packet(c, seen, i, n))
            return false;
    }
    return true;
}

void check_ask_psn(struct check *c)
{
    ask(c, CHECK_OP_SEND, 1, 3U * c->run->mtu);
    c->want.peer_psn = 0xFFFFFF;
    if (begin(c) && message(c, 0, packets(c))) {
        acknowledge(c, last_psn(c), 1);
        check_pause(c, c->run->quiet_ns);
        check_sent(c, 1, 0, "after the ACK");
    }
}

void check_ask_done(struct check *c)
{
    ask(c, CHECK_OP_SEND, 1, c->run->mtu);
    if (!begin(c) || !message(c, 0, packets(c)))
        return;
    acknowledge(c, last_psn(c), 1);
    const struct check_seen *seen = check_next(c, longest(c) + c->run->quiet_ns);
    if (seen != NULL)
        check_fail(c, "sent again in frame %llu though acknowledged",
                   (unsigned long long)seen->frame);
    check_sent(c, 1, 0, "after the ACK");
}

void check_ask_timeout(struct check *c)
{
    ask(c, CHECK_OP_SEND, 1, c->run->mtu);
    c->want.retry_cnt = RETRIES;
    if (!begin(c))
        return;
    uint64_t shortest = UINT64_MAX, most = 0;
    const struct check_seen *last = again(c, c->run->answer_ns, "the peer's SEND");
    for (int i = 0; i < RETRIES && !c->settled; i++) {
        const struct check_seen *seen = again(c, longest(c) + c->run->answer_ns, "the repetition");
        if (seen == NULL)
            return;
        const uint64_t took = seen->at - last->at;
        shortest = took < shortest ? took : shortest;
        most = took > most ? took : most;
        last = seen;
    }
    if (c->settled)
        return;
    const double t = (double)ack_timeout(c) / 1e6;
    /* Our own reading of the clock may be late once and early the next time by some of the slack.
     */
    if (shortest + c->run->slack_ns / 8 < ack_timeout(c) || most > longest(c))
        check_fail(c, "sent again after %.2f to %.2f ms; T is %.2f ms", (double)shortest / 1e6,
                   (double)most / 1e6, t);
    else
        check_note(c, "sent again after %.2f to %.2f ms; T is %.2f ms", (double)shortest / 1e6,
                   (double)most / 1e6, t);
}

void check_ask_count(struct check *c)
{
    ask(c, CHECK_OP_SEND, 1, c->run->mtu);
    c->want.retry_cnt = RETRIES;
    if (!begin(c))
        return;
    unsigned n = 0;
    const unsigned retries = (unsigned)c->want.retry_cnt;
    while (next_again(c, longest(c) + c->run->quiet_ns) != NULL && n <= retries + 2)
        n++;
    if (n != 1 + retries)
        check_fail(c, "sent %u times, not 1 + %u", n, retries);
    else
        check_sent(c, 0, ENG_WC_RETRY_EXC_ERR, "after the last retry");
}

void check_ask_nak(struct check *c)
{
    ask(c, CHECK_OP_SEND, 1, 5U * c->run->mtu);
    if (!begin(c) || !message(c, 0, packets(c)))
        return;
    const uint32_t n = packets(c), lost = n / 2;
    if (n < PARTS) {
        check_unseen(c, "the peer's messages are too short");
        return;
    }
    const uint32_t psn = roce_psn_add((uint32_t)c->want.peer_psn, lost);
    const struct craft nak =
        check_response(c, ROCE_OPCODE_RC_ACKNOWLEDGE, psn, ROCE_AETH_NAK << 5, 0);
    check_send(c, &nak);
    if (message(c, lost, n))
        acknowledge(c, last_psn(c), 1);
}

static void not_ready(struct check *c)
{
    const struct craft rnr =
        check_response(c, ROCE_OPCODE_RC_ACKNOWLEDGE, (uint32_t)c->want.peer_psn,
                       ROCE_AETH_RNR_NAK << 5 | RNR_CODE, 0);
    check_send(c, &rnr);
}

void check_ask_rnr(struct check *c)
{
    ask(c, CHECK_OP_SEND, 1, c->run->mtu);
    if (!begin(c) || !message(c, 0, packets(c)))
        return;
    const roce_tstamp asked = c->run->now(c->run->ctx);
    not_ready(c);
    const struct check_seen *seen = again(c, longest(c) + c->run->answer_ns, "the repetition");
    if (seen == NULL)
        return;
    const double took = ((double)seen->at - (double)asked) / 1e6;
    if (seen->at < asked + roce_aeth_rnr_ns(RNR_CODE))
        check_fail(c, "sent again after %.2f ms; asked for 10.24 ms", took);
    else
        check_note(c, "sent again after %.2f ms; asked for 10.24 ms", took);
}

void check_ask_rnr_count(struct check *c)
{
    ask(c, CHECK_OP_SEND, 1, c->run->mtu);
    c->want.rnr_retry = RNR_RETRIES;
    if (!begin(c))
        return;
    if (c->want.rnr_retry == ENDLESS) {
        check_unseen(c, "the peer's program tries without end");
        return;
    }
    unsigned n = 0;
    while (next_again(c, longest(c) + c->run->quiet_ns) != NULL && n <= RNR_RETRIES + 2) {
        n++;
        not_ready(c);
    }
    if (n != 1 + RNR_RETRIES)
        check_fail(c, "sent %u times, not 1 + %d", n, (int)RNR_RETRIES);
    else
        check_sent(c, 0, ENG_WC_RNR_RETRY_EXC_ERR, "after the last retry");
}

static void respond(struct check *c, uint8_t opcode, uint32_t psn, uint32_t len)
{
    struct craft data = check_response(c, opcode, psn, ACK, 1);
    data.payload_len = len;
    check_send(c, &data);
}

void check_ask_read(struct check *c)
{
    const uint32_t mtu = c->run->mtu;
    char text[96];
    ask(c, CHECK_OP_READ, 1, 4U * mtu);
    if (!begin(c))
        return;
    const struct check_seen *seen = request(c, c->run->answer_ns, "the peer's READ");
    if (seen == NULL)
        return;
    const uint32_t psn = (uint32_t)c->want.peer_psn;
    if (seen->pkt.op != ROCE_OP_READ || seen->pkt.bth.psn != psn ||
        seen->pkt.reth.va != c->want.va || seen->pkt.reth.dma_length != 4U * mtu ||
        seen->pkt.reth.rkey != c->want.rkey) {
        check_fail(c, "its READ is %s (frame %llu)", check_describe(seen, text),
                   (unsigned long long)seen->frame);
        return;
    }
    respond(c, ROCE_OPCODE_RC_READ_RESPONSE_FIRST, psn, mtu);
    respond(c, ROCE_OPCODE_RC_READ_RESPONSE_MIDDLE, roce_psn_add(psn, 2), mtu);
    respond(c, ROCE_OPCODE_RC_READ_RESPONSE_LAST, roce_psn_add(psn, 3), mtu);
    seen = request(c, longest(c) + c->run->answer_ns, "the READ of what is missing");
    if (seen == NULL)
        return;
    if (seen->pkt.op != ROCE_OP_READ || seen->pkt.bth.psn != roce_psn_add(psn, 1) ||
        seen->pkt.reth.va != c->want.va + mtu || seen->pkt.reth.dma_length != 3U * mtu) {
        check_fail(c, "read again by %s, offset %lld, %u bytes (frame %llu)",
                   check_describe(seen, text), (long long)(seen->pkt.reth.va - c->want.va),
                   (unsigned)seen->pkt.reth.dma_length, (unsigned long long)seen->frame);
        return;
    }
    respond(c, ROCE_OPCODE_RC_READ_RESPONSE_FIRST, roce_psn_add(psn, 1), mtu);
    respond(c, ROCE_OPCODE_RC_READ_RESPONSE_MIDDLE, roce_psn_add(psn, 2), mtu);
    respond(c, ROCE_OPCODE_RC_READ_RESPONSE_LAST, roce_psn_add(psn, 3), mtu);
    check_pause(c, c->run->quiet_ns);
    check_sent(c, 1, 0, "after the whole answer");
}

/* |wrong| does nothing: the packet is still unacknowledged and comes again. */
static void ignored(struct check *c, const struct craft *wrong)
{
    roce_tstamp sent = c->seen[c->n_taken - 1].at; /* the peer's timer runs from there */
    const roce_tstamp before = c->run->now(c->run->ctx);
    check_send(c, wrong);
    const struct check_seen *seen = next_again(c, longest(c) + c->run->answer_ns);
    while (seen != NULL && seen->at < before) { /* we were late */
        sent = seen->at;
        seen = next_again(c, longest(c) + c->run->answer_ns);
    }
    if (seen == NULL) {
        check_sent(c, 0, 0, "what is not acknowledged was not sent again");
        check_fail(c, "what is not acknowledged was not sent again");
        return;
    }
    if (!is_packet(c, seen, 0, packets(c)))
        return;
    if (seen->at < sent + ack_timeout(c) / 2) {
        check_fail(c, "sent again at once (frame %llu)", (unsigned long long)seen->frame);
        return;
    }
    acknowledge(c, last_psn(c), 1);
    check_pause(c, c->run->quiet_ns);
    check_sent(c, 1, 0, "after the right ACK");
}

static bool one_send(struct check *c)
{
    ask(c, CHECK_OP_SEND, 1, c->run->mtu);
    return begin(c) && message(c, 0, packets(c));
}

void check_ask_ghost(struct check *c)
{
    if (!one_send(c))
        return;
    const struct craft ghost = check_response(
        c, ROCE_OPCODE_RC_ACKNOWLEDGE, roce_psn_add((uint32_t)c->want.peer_psn, 100), ACK, 1);
    ignored(c, &ghost);
}

void check_ask_reserved(struct check *c)
{
    if (!one_send(c))
        return;
    const struct craft wrong =
        check_response(c, ROCE_OPCODE_RC_ACKNOWLEDGE, last_psn(c), ROCE_AETH_RESERVED << 5, 1);
    ignored(c, &wrong);
}

void check_ask_reserved_nak(struct check *c)
{
    if (!one_send(c))
        return;
    const struct craft wrong = check_response(c, ROCE_OPCODE_RC_ACKNOWLEDGE, last_psn(c),
                                              ROCE_AETH_NAK << 5 | (ROCE_NAK_MAX + 1), 1);
    ignored(c, &wrong);
}

/* Its PSN, 0, says nothing, though it lies ahead of what the peer has sent. */
void check_ask_cnp(struct check *c)
{
    c->want.peer_psn = 0x900000;
    if (!one_send(c))
        return;
    struct craft cnp = check_response(c, ROCE_OPCODE_CNP, 0, 0, 0);
    cnp.bth.migreq = false;
    cnp.bth.becn = true;
    cnp.payload_len = 16;
    ignored(c, &cnp);
}

void check_ask_icrc(struct check *c)
{
    if (!one_send(c))
        return;
    struct craft wrong = check_response(c, ROCE_OPCODE_RC_ACKNOWLEDGE, last_psn(c), ACK, 1);
    wrong.bad_icrc = true;
    ignored(c, &wrong);
}

void check_ask_fatal(struct check *c)
{
    if (!one_send(c))
        return;
    const struct craft nak =
        check_response(c, ROCE_OPCODE_RC_ACKNOWLEDGE, (uint32_t)c->want.peer_psn,
                       ROCE_AETH_NAK << 5 | ROCE_NAK_REMOTE_ACCESS_ERROR, 0);
    check_send(c, &nak);
    const struct check_seen *seen = check_next(c, longest(c) + c->run->quiet_ns);
    if (seen != NULL)
        check_fail(c, "it sent frame %llu after a fatal NAK", (unsigned long long)seen->frame);
    check_sent(c, 0, ENG_WC_REM_ACCESS_ERR, "after the NAK");
}
