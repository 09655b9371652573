/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The wire below the cases: frames out and in, each with its number in the evidence. */
#include <roce/err.h>
#include <roce/icrc.h>
#include <roce/psn.h>
#include <stdio.h>
#include <string.h>

#include "common/msg.h"
#include "common/signals.h"
#include "engine/engine.h"
#include "port/file.h"
#include "rocereplay/check.h"
#include "rocereplay/check_report.h"
#include "rocereplay/check_target.h"

enum { OWN_QPN = 0x10000, WITNESS_STEP = 1 };

static void breaks(struct check *c, const char *text)
{
    if (!c->run->broken)
        msg_print("%s", text[0] != '\0' ? text : "the wire is gone");
    c->run->broken = true;
}

static void number(struct check *c)
{
    struct check_run *run = c->run;
    run->frames = run->record != NULL ? port_file_count(run->record) : run->frames + 1;
    c->last_frame = run->frames;
    if (c->first_frame == 0)
        c->first_frame = c->last_frame;
}

static void take(struct check *c, const struct roce_frame *frame)
{
    struct check_run *run = c->run;
    struct roce_icrc icrc;
    number(c);
    if (c->n_seen == CHECK_SEEN_MAX || frame->caplen > CRAFT_MAX)
        return;
    struct check_seen *seen = &c->seen[c->n_seen];
    uint8_t *copy = run->memory[c->n_seen];
    memcpy(copy, frame->data, frame->caplen);
    struct roce_frame own = *frame;
    own.data = copy;
    own.linktype = ROCE_LINK_ETHERNET;
    own.origlen = own.caplen;
    if (roce_packet_decode(&own, NULL, &seen->pkt) != ROCE_KIND_ROCEV2 ||
        !roce_packet_is_roce(&seen->pkt))
        return;
    const uint32_t qpn = seen->pkt.bth.dqpn;
    if (qpn != c->want.qpn && (c->want.witness_qpn == 0 || qpn != c->want.witness_qpn))
        return; /* of a QP that is no more */
    roce_icrc_check(&own, &seen->pkt, &icrc);
    seen->icrc_ok = icrc.status == ROCE_ICRC_OK;
    seen->payload = copy + seen->pkt.payload_off;
    seen->frame = run->frames;
    seen->at = run->now(run->ctx);
    if (!check_target_answer(c, seen))
        c->n_seen++;
}

static bool take_in(struct check *c)
{
    struct check_run *run = c->run;
    struct roce_frame frame;
    bool any = false;
    int rc;
    while ((rc = run->port->ops->receive(run->port, run->now(run->ctx), &frame)) > 0) {
        take(c, &frame);
        any = true;
    }
    if (rc < 0)
        breaks(c, run->port->text);
    return any;
}

/* Runs until there are more than |n| frames or |until| has come. */
static void turn(struct check *c, uint32_t n, roce_tstamp until)
{
    struct check_run *run = c->run;
    while (!run->broken) {
        const bool any = take_in(c);
        if (c->n_seen > n || run->now(run->ctx) >= until)
            return;
        if (signals_interrupted())
            breaks(c, "interrupted");
        else if (!any && run->idle(run->ctx, until) != 0)
            run->broken = true;
    }
}

void check_post(struct check *c, const struct craft *craft)
{
    struct check_run *run = c->run;
    struct port *port = run->port;
    const roce_tstamp give_up = run->now(run->ctx) + run->answer_ns;
    uint8_t *room;
    while ((room = port->ops->room(port, CRAFT_MAX)) == NULL && !run->broken) {
        if (run->now(run->ctx) >= give_up || port->ops->flush(port, run->now(run->ctx)) < 0 ||
            run->idle(run->ctx, run->now(run->ctx) + 1000000) != 0) {
            breaks(c, port->text);
            return;
        }
    }
    if (run->broken)
        return;
    const size_t len = craft_frame(&run->path, craft, room);
    const roce_tstamp now = run->now(run->ctx);
    if (port->ops->commit(port, len, now) < 0 || port->ops->flush(port, now) < 0)
        breaks(c, port->text);
    number(c);
}

void check_send(struct check *c, const struct craft *craft)
{
    struct craft own = *craft;
    (void)check_target_instead(c, &own);
    const char *lacks = check_target_lacks(c, &own);
    if (lacks != NULL)
        check_unseen(c, lacks);
    else
        check_post(c, &own);
}

static bool is_witness(const struct check *c, const struct check_seen *seen)
{
    return seen->pkt.bth.dqpn != c->want.qpn;
}

/* CNPs are no part of the transport's conversation: the cases about them look at c->seen. */
static const struct check_seen *next_of(struct check *c, bool witness, uint64_t ns)
{
    const roce_tstamp until = c->run->now(c->run->ctx) + ns;
    while (!c->settled || c->run->limits.kind == NULL) {
        while (c->n_taken < c->n_seen) {
            const struct check_seen *seen = &c->seen[c->n_taken++];
            if (is_witness(c, seen) == witness && seen->pkt.op != ROCE_OP_CNP) {
                if (!c->settled)
                    c->looked = seen->frame;
                return seen;
            }
        }
        turn(c, c->n_seen, until);
        if (c->n_taken == c->n_seen) {
            if (!c->settled)
                c->looked = 0;
            return NULL;
        }
    }
    return NULL; /* what could be seen does not matter any more */
}

const struct check_seen *check_next(struct check *c, uint64_t ns)
{
    return next_of(c, false, ns);
}

const struct check_seen *check_answer(struct check *c)
{
    return next_of(c, false, c->run->answer_ns);
}

void check_pause(struct check *c, uint64_t ns)
{
    turn(c, UINT32_MAX, c->run->now(c->run->ctx) + ns);
}

void check_default(struct check *c)
{
    struct check_run *run = c->run;
    c->want = (struct check_want){
        .service = ENG_RC,
        .mtu = run->mtu,
        .receives = 16,
        .recv_size = 8 * (uint64_t)run->mtu,
        .access = ENG_LOCAL_WRITE | ENG_REMOTE_WRITE | ENG_REMOTE_READ | ENG_REMOTE_ATOMIC,
        .mr_access = ENG_LOCAL_WRITE | ENG_REMOTE_WRITE | ENG_REMOTE_READ | ENG_REMOTE_ATOMIC,
        .timeout = run->timeout,
        .retry_cnt = 7,
        .rnr_retry = 7,
        .min_rnr_timer = 12,
        .rd_atomic = 4,
        .qkey = 0x11111111,
        .psn = 0x1000,
        .peer_psn = 0x800000,
        .va = UINT64_C(0x20000000000),
        .rkey = 0x12345,
    };
}

bool check_open(struct check *c)
{
    struct check_run *run = c->run;
    struct check_want *want = &c->want;
    memcpy(want->ip, run->path.src_ip, 16);
    run->why = NULL;
    want->qpn = OWN_QPN + 2 * run->n_opened++;
    want->witness_qpn = want->service == ENG_RC ? want->qpn + WITNESS_STEP : 0;
    const int rc = run->peer->open(run->peer_ctx, want, &c->offer);
    if (rc == CHECK_NOT_HERE)
        check_unseen(c, run->why != NULL ? run->why : "the peer does not offer such a QP");
    else if (rc != 0)
        run->broken = true;
    c->opened = rc == 0;
    c->psn = (uint32_t)want->psn;
    c->witness_psn = (uint32_t)want->psn;
    return c->opened;
}

bool check_start(struct check *c)
{
    const int rc = c->run->peer->start(c->run->peer_ctx);
    if (rc == CHECK_PROMPT && c->want.messages != 0)
        return check_target_prompt(c);
    if (rc == CHECK_NOT_HERE || rc == CHECK_PROMPT)
        check_unseen(c, "the peer cannot be told to send");
    else if (rc != 0)
        c->run->broken = true;
    return rc == 0;
}

static struct craft blank(const struct check *c, uint8_t opcode)
{
    return (struct craft){.bth = {.opcode = opcode,
                                  .migreq = true,
                                  .pkey = ROCE_PKEY_DEFAULT,
                                  .dqpn = (uint32_t)c->offer.qpn},
                          .tos = ROCE_ECN_ECT0};
}

struct craft check_request(const struct check *c, uint8_t opcode)
{
    struct craft craft = blank(c, opcode);
    craft.bth.psn = c->psn;
    craft.bth.ackreq = c->want.service == ENG_RC;
    craft.reth = (struct roce_reth){.va = c->offer.va, .rkey = (uint32_t)c->offer.rkey};
    craft.atomic = (struct roce_atomic_eth){.va = c->offer.va, .rkey = (uint32_t)c->offer.rkey};
    craft.deth =
        (struct roce_deth){.qkey = (uint32_t)c->want.qkey, .src_qp = (uint32_t)c->want.qpn};
    return craft;
}

struct craft check_response(const struct check *c, uint8_t opcode, uint32_t psn, uint8_t syndrome,
                            uint32_t msn)
{
    struct craft craft = blank(c, opcode);
    craft.bth.psn = psn & ROCE_PSN_MASK;
    craft.aeth = (struct roce_aeth){.syndrome = syndrome, .msn = msn};
    return craft;
}

const char *check_describe(const struct check_seen *seen, char text[96])
{
    const struct roce_packet *p = &seen->pkt;
    const char *name = roce_opcode_info(p->bth.opcode)->text;
    if (p->has & ROCE_H_AETH)
        (void)snprintf(text, 96, "%s, PSN %u, syndrome 0x%02x, MSN %u", name != NULL ? name : "?",
                       (unsigned)p->bth.psn, (unsigned)p->aeth.syndrome, (unsigned)p->aeth.msn);
    else
        (void)snprintf(text, 96, "%s, PSN %u, %u bytes", name != NULL ? name : "?",
                       (unsigned)p->bth.psn, (unsigned)p->payload_len);
    return text;
}

bool check_quiet(struct check *c, const char *when)
{
    char text[96];
    const struct check_seen *seen = check_next(c, c->run->quiet_ns);
    if (seen != NULL)
        check_fail(c, "%s the peer sent %s (frame %llu)", when, check_describe(seen, text),
                   (unsigned long long)seen->frame);
    return seen == NULL;
}

static bool is_ack(const struct check_seen *seen)
{
    return seen->pkt.op == ROCE_OP_ACK && roce_aeth_kind(seen->pkt.aeth.syndrome) == ROCE_AETH_ACK;
}

bool check_ack(struct check *c, uint32_t psn, uint32_t msn, const char *to)
{
    char text[96];
    const struct check_seen *seen = check_answer(c);
    psn &= ROCE_PSN_MASK;
    if (seen == NULL)
        check_fail(c, "no ACK to %s", to);
    else if (!is_ack(seen) || seen->pkt.bth.psn != psn || seen->pkt.aeth.msn != msn ||
             !seen->icrc_ok)
        check_fail(c, "%s was answered by %s%s (frame %llu), not by an ACK of PSN %u, MSN %u", to,
                   check_describe(seen, text), seen->icrc_ok ? "" : " with a bad ICRC",
                   (unsigned long long)seen->frame, (unsigned)psn, (unsigned)msn);
    return !c->settled;
}

bool check_nak(struct check *c, uint8_t code, uint32_t psn, const char *to)
{
    char text[96];
    const struct check_seen *seen = check_answer(c);
    const uint8_t wanted = (uint8_t)(ROCE_AETH_NAK << 5 | code);
    if (seen == NULL)
        check_fail(c, "no NAK to %s", to);
    else if (seen->pkt.op != ROCE_OP_ACK || seen->pkt.aeth.syndrome != wanted ||
             seen->pkt.bth.psn != (psn & ROCE_PSN_MASK))
        check_fail(c, "%s was answered by %s (frame %llu), not by a NAK 0x%02x of PSN %u", to,
                   check_describe(seen, text), (unsigned long long)seen->frame, wanted,
                   (unsigned)(psn & ROCE_PSN_MASK));
    return !c->settled;
}

bool check_read_memory(struct check *c, uint64_t off, uint8_t *data, uint32_t len)
{
    struct craft read = check_request(c, ROCE_OPCODE_RC_READ_REQUEST);
    read.bth.dqpn = (uint32_t)c->offer.witness_qpn;
    read.bth.psn = c->witness_psn;
    read.reth.va += off;
    read.reth.dma_length = len;
    check_send(c, &read);
    c->witness_psn = roce_psn_add(c->witness_psn, 1);
    /* The witness' answer does not stand in the way of what is still to be looked at. */
    const uint32_t taken = c->n_taken;
    const struct check_seen *seen;
    do
        seen = next_of(c, true, c->run->answer_ns);
    while (seen != NULL && seen->pkt.bth.psn != read.bth.psn);
    c->n_taken = taken;
    if (seen == NULL || seen->pkt.op != ROCE_OP_READ_RESPONSE || seen->pkt.payload_len != len) {
        check_unseen(c, "the peer's memory cannot be read through the second QP");
        return false;
    }
    memcpy(data, seen->payload, len);
    return true;
}

bool check_memory(struct check *c, uint64_t off, const uint8_t *expected, uint32_t len,
                  const char *what)
{
    uint8_t data[4096];
    if (!c->settled && c->offer.witness_qpn == 0) {
        check_note(c, "whether the peer's memory is as it should be was not looked at");
        return true;
    }
    if (c->settled || !check_read_memory(c, off, data, len))
        return false;
    if (memcmp(data, expected, len) != 0)
        check_fail(c, "%s", what);
    return !c->settled;
}

static bool status_of(struct check *c, struct check_status *status)
{
    if (c->settled)
        return false;
    const int rc = c->run->peer->status(c->run->peer_ctx, status);
    if (rc < 0)
        c->run->broken = true;
    return rc == 0; /* a peer that cannot tell is judged by its frames alone */
}

bool check_completions(struct check *c, uint64_t received, const char *what)
{
    struct check_status status;
    if (status_of(c, &status) && status.received != received)
        check_fail(c, "%s: the peer has completed %llu receives, not %llu", what,
                   (unsigned long long)status.received, (unsigned long long)received);
    return !c->settled;
}

bool check_sent(struct check *c, uint64_t sent, uint64_t error, const char *what)
{
    struct check_status status;
    if (status_of(c, &status) && (status.sent != sent || status.error != error))
        check_fail(c, "%s: the peer has completed %llu sends with status %llu, not %llu with %llu",
                   what, (unsigned long long)status.sent, (unsigned long long)status.error,
                   (unsigned long long)sent, (unsigned long long)error);
    return !c->settled;
}

/* The verdict stands at the first frame of the case, and where it was seen. What a case that was
 * cut short has found is none: an answer may have been on its way. */
static void release(struct check *c)
{
    struct check_run *run = c->run;
    char text[CHECK_TEXT + 64];
    const struct port_note notes[] = {
        {.number = c->first_frame, .text = text},
        {.number = c->verdict == CHECK_FAIL && !run->broken ? c->looked : 0, .text = text},
    };
    if (run->broken)
        (void)snprintf(text, sizeof(text), "%s: not judged: the run was cut short", c->what->id);
    else
        (void)snprintf(text, sizeof(text), "%s: %s%s%s", c->what->id,
                       check_verdict_name(c->verdict), c->text[0] != '\0' ? ": " : "", c->text);
    if (run->record != NULL &&
        port_file_release(run->record, notes, sizeof(notes) / sizeof(notes[0])) != 0)
        breaks(c, run->record->text);
}

int check_run_case(struct check_run *run, const struct check_case *what,
                   struct check_result *result)
{
    static struct check c; /* large */
    c.run = run;
    c.what = what;
    c.offer = (struct check_offer){0};
    c.opened = c.settled = false;
    c.n_seen = c.n_taken = 0;
    c.taken_msn = 0;
    c.sent_len = 0;
    c.first_frame = c.last_frame = c.looked = 0;
    c.verdict = CHECK_PASS;
    c.text[0] = '\0';
    check_default(&c);
    if (run->record != NULL)
        port_file_hold(run->record);
    what->judge(&c);
    if (c.opened) {
        check_target_end(&c);
        run->peer->close(run->peer_ctx);
    }
    release(&c);
    *result = (struct check_result){.what = what,
                                    .verdict = c.verdict,
                                    .first_frame = c.first_frame,
                                    .last_frame = c.last_frame};
    memcpy(result->text, c.text, sizeof(result->text));
    return run->broken ? -1 : 0;
}
