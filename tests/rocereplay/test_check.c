/* SPDX-License-Identifier: GPL-2.0-or-later */
/* rocereplay check against the engine, and against peers that break one rule each: the rule's case
 * fails, no other does. */
#include "cmocka_all.h"

#include <roce/err.h>
#include <roce/icrc.h>
#include <roce/packet.h>
#include <roce/psn.h>
#include <string.h>

#include "rocereplay/check.h"
#include "rocereplay/check_link.h"

enum { CASES_MAX = 128, COPIES = 16, NAK_INVALID = 0x61, NAK_ACCESS = 0x62, ACKED = 0x1F };

/* What is done to frames. O_: those of the peer, I_: those to it. */
enum deed {
    NOTHING,
    DROP,
    TWICE,    /* O: sent twice */
    MANY,     /* O: CNPs sent sixteen times */
    MSN,      /* plus the argument */
    PSN,      /* plus the argument */
    SYNDROME, /* becomes the argument */
    OPCODE,   /* becomes the argument */
    FLIP,     /* a bit of the last byte in front of the ICRC */
    NO_M,     /* O: MigReq 0 */
    NO_CNP,
    FIX_ICRC,
    FIX_TVER,
    FIX_PKEY,
    FIX_QPN,
    FIX_SOURCE,
    FIX_SERVICE,
    FIX_QKEY,
    HALF, /* the RETH's length */
};
/* |nth|: that frame of the case alone, 0: each, -n: from the nth on. */
struct act {
    enum deed deed;
    int nth;
    int64_t arg;
};
struct violation {
    const char *id;
    struct act in, out;
};

struct waiting {
    size_t len;
    uint8_t frame[CRAFT_MAX];
};

struct breaker {
    struct port port, *inner;
    const struct violation *violation; /* NULL: an honest peer */
    int n_in, n_out;
    uint32_t qpn; /* of the peer, as the first frame named it */
    uint8_t frame[CRAFT_MAX], given[CRAFT_MAX];
    struct waiting waiting[COPIES];
    int n_waiting;
};

static struct breaker *of(struct port *port)
{
    return (struct breaker *)port;
}

static void put(uint8_t *p, uint32_t v, int n)
{
    for (int i = 0; i < n; i++)
        p[i] = (uint8_t)(v >> 8 * (n - 1 - i));
}

static void make_icrc(uint8_t *frame, const struct roce_packet *pkt)
{
    put(frame + pkt->icrc_off, roce_icrc_compute(frame + pkt->ip_off, pkt->icrc_off - pkt->ip_off),
        4);
}

static bool concerns(const struct act *act, int n)
{
    return act->nth == 0 || act->nth == n || (act->nth < 0 && n >= -act->nth);
}

/* Changes |frame| as |act| says; returns how many copies go on. */
static int apply(struct breaker *b, const struct act *act, int n, uint8_t *frame, size_t len)
{
    struct roce_packet pkt;
    const struct roce_frame f = {.data = frame,
                                 .caplen = (uint32_t)len,
                                 .origlen = (uint32_t)len,
                                 .linktype = ROCE_LINK_ETHERNET};
    if (!concerns(act, n))
        return 1;
    (void)roce_packet_decode(&f, NULL, &pkt);
    uint8_t *bth = frame + pkt.bth_off;
    switch (act->deed) {
    case NOTHING:
        return 1;
    case DROP:
        return 0;
    case TWICE:
        return 2;
    case MANY:
        return pkt.op == ROCE_OP_CNP ? COPIES : 1;
    case NO_CNP:
        return pkt.op == ROCE_OP_CNP ? 0 : 1;
    case MSN:
        if (pkt.has & ROCE_H_AETH)
            put(bth + 13, (pkt.aeth.msn + (uint32_t)act->arg) & ROCE_PSN_MASK, 3);
        break;
    case PSN:
        put(bth + 9, roce_psn_add(pkt.bth.psn, act->arg), 3);
        break;
    case SYNDROME:
        if (pkt.has & ROCE_H_AETH)
            bth[12] = (uint8_t)act->arg;
        break;
    case OPCODE:
        bth[0] = (uint8_t)act->arg;
        break;
    case FLIP:
        frame[pkt.icrc_off - 1] ^= 1;
        break;
    case NO_M:
        bth[1] &= 0xBF;
        break;
    case FIX_ICRC:
        break;
    case FIX_TVER:
        bth[1] &= 0xF0;
        break;
    case FIX_PKEY:
        put(bth + 2, 0xFFFF, 2);
        break;
    case FIX_QPN:
        put(bth + 5, b->qpn, 3);
        break;
    case FIX_SOURCE:
        frame[pkt.ip_off + 15] = 1;
        put(frame + pkt.ip_off + 10, 0, 2);
        put(frame + pkt.ip_off + 10, roce_ipv4_checksum(frame + pkt.ip_off, 20), 2);
        break;
    case FIX_SERVICE:
        bth[0] &= 0x1F;
        break;
    case FIX_QKEY:
        put(bth + 12, 0x11111111, 4);
        break;
    case HALF:
        put(bth + 24, pkt.reth.dma_length / 2, 4);
        break;
    }
    make_icrc(frame, &pkt);
    return 1;
}

/* The cable takes a frame at a time: those that it has no room for wait. */
static int drain(struct breaker *b, roce_tstamp now)
{
    while (b->n_waiting > 0) {
        const struct waiting *first = &b->waiting[0];
        uint8_t *room = b->inner->ops->room(b->inner, first->len);
        if (room == NULL)
            return 0;
        memcpy(room, first->frame, first->len);
        if (b->inner->ops->commit(b->inner, first->len, now) != 0)
            return ROCE_ERR_IO;
        b->n_waiting--;
        memmove(&b->waiting[0], &b->waiting[1], (size_t)b->n_waiting * sizeof(b->waiting[0]));
    }
    return 0;
}

static uint8_t *breaker_room(struct port *port, size_t len)
{
    return len <= CRAFT_MAX && of(port)->n_waiting == 0 ? of(port)->frame : NULL;
}

static int breaker_commit(struct port *port, size_t len, roce_tstamp now)
{
    struct breaker *b = of(port);
    int copies = 1;
    if (b->violation != NULL)
        copies = apply(b, &b->violation->out, ++b->n_out, b->frame, len);
    for (int i = 0; i < copies; i++) {
        struct waiting *last = &b->waiting[b->n_waiting++];
        last->len = len;
        memcpy(last->frame, b->frame, len);
    }
    return drain(b, now);
}

static int breaker_flush(struct port *port, roce_tstamp now)
{
    const int rc = drain(of(port), now);
    return rc != 0 ? rc : of(port)->inner->ops->flush(of(port)->inner, now);
}

/* Of a case that ended while they were on their way. */
static bool is_leftover(const struct breaker *b, const struct roce_frame *frame)
{
    struct roce_packet pkt;
    (void)roce_packet_decode(frame, NULL, &pkt);
    return pkt.bth.dqpn != b->qpn && b->violation->in.deed != FIX_QPN;
}

static int breaker_receive(struct port *port, roce_tstamp now, struct roce_frame *frame)
{
    struct breaker *b = of(port);
    for (;;) {
        const int rc = b->inner->ops->receive(b->inner, now, frame);
        if (rc <= 0 || b->violation == NULL)
            return rc;
        if (is_leftover(b, frame))
            return rc;
        memcpy(b->given, frame->data, frame->caplen);
        frame->data = b->given;
        if (apply(b, &b->violation->in, ++b->n_in, b->given, frame->caplen) > 0)
            return 1;
    }
}

static roce_tstamp breaker_next(const struct port *port)
{
    const struct breaker *b = (const struct breaker *)port;
    return b->n_waiting > 0 ? 0 : b->inner->ops->next(b->inner);
}

static int breaker_fd(const struct port *port)
{
    (void)port;
    return -1;
}

static void breaker_del(struct port *port)
{
    port_del(of(port)->inner);
}

static const struct port_ops breaker_ops = {.room = breaker_room,
                                            .commit = breaker_commit,
                                            .flush = breaker_flush,
                                            .receive = breaker_receive,
                                            .next = breaker_next,
                                            .fd = breaker_fd,
                                            .del = breaker_del};

static struct check_link link_;
static struct breaker breaker;
static struct replay_opts opts;

/* The wrong frame's QPN is told to FIX_QPN by what the peer offers. */
static const struct check_peer_ops *honest;
static int noted_open(void *ctx, struct check_want *want, struct check_offer *offer)
{
    const int rc = honest->open(ctx, want, offer);
    breaker.qpn = (uint32_t)offer->qpn;
    breaker.n_in = breaker.n_out = 0;
    return rc;
}
static struct check_peer_ops noted;

static int set_up(void **state)
{
    (void)state;
    replay_opts_default(&opts);
    opts.mtu = 1024;
    opts.has_seed = true;
    opts.seed = 7;
    if (replay_opts_settle(&opts) != 0 || check_link_loop(&link_, &opts) != 0)
        return -1;
    breaker = (struct breaker){.port = {.ops = &breaker_ops}, .inner = link_.twin.loop.port};
    link_.twin.loop.port = &breaker.port;
    honest = link_.run.peer;
    noted = *honest;
    noted.open = noted_open;
    link_.run.peer = &noted;
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    return check_link_close(&link_);
}

static const struct check_case *find(const char *id)
{
    for (unsigned i = 0; i < check_n_cases; i++)
        if (strcmp(check_cases[i].id, id) == 0)
            return &check_cases[i];
    fail_msg("no case %s", id);
    return NULL;
}

static enum check_verdict judge(const struct check_case *what, const struct violation *violation)
{
    struct check_result result;
    breaker.violation = violation;
    assert_int_equal(check_run_case(&link_.run, what, &result), 0);
    if (result.verdict == CHECK_FAIL)
        assert_true(result.text[0] != '\0');
    assert_true(result.first_frame != 0 && result.last_frame >= result.first_frame);
    if (violation == NULL && result.verdict != CHECK_PASS)
        fail_msg("%s: %s", what->id, result.text);
    return result.verdict;
}

static void test_engine_passes(void **state)
{
    (void)state;
    assert_true(check_n_cases >= 40);
    for (unsigned i = 0; i < check_n_cases; i++)
        assert_int_equal(judge(&check_cases[i], NULL), CHECK_PASS);
}

/* One way to break each rule. */
static const struct violation violations[] = {
    {"ack.request", .out = {MSN, 0, 1}},
    {"ack.cumulative", .out = {PSN, 0, 1}},
    {"ack.zero_length", .out = {DROP, 0, 0}},
    {"msn.count", .out = {MSN, 3, 1}},
    {"msn.middle", .out = {MSN, 2, 1}},
    {"psn.wrap", .out = {PSN, 3, 0x800000}},
    {"psn.behind", .out = {SYNDROME, 2, 0x60}},
    {"nak.gap", .out = {TWICE, 2, 0}},
    {"nak.repair", .out = {DROP, 5, 0}},
    {"nak.rearm", .out = {DROP, 8, 0}},
    {"dup.send", .out = {MSN, 3, 1}},
    {"dup.write", .in = {PSN, 3, 2}, .out = {MSN, 3, -1}},
    {"dup.fetch_add", .in = {PSN, 2, 1}, .out = {PSN, 2, -1}},
    {"dup.cmp_swap", .in = {PSN, 3, 2}, .out = {PSN, 3, -2}},
    {"dup.atomic_old", .in = {PSN, 7, 6}, .out = {PSN, 7, -6}},
    {"atomic.result", .out = {FLIP, 1, 0}},
    {"read.segments", .out = {OPCODE, 2, ROCE_OPCODE_RC_READ_RESPONSE_LAST}},
    {"read.next_psn", .out = {SYNDROME, 5, 0x60}},
    {"read.zero_length", .out = {DROP, 0, 0}},
    {"dup.read", .out = {DROP, 3, 0}},
    {"dup.read_part", .out = {OPCODE, 5, ROCE_OPCODE_RC_READ_RESPONSE_MIDDLE}},
    {"dup.read_outside", .in = {HALF, 2, 0}},
    {"read.excess", .out = {DROP, 9, 0}},
    {"rnr.nak", .out = {SYNDROME, 0, 0x20 | 13}},
    {"rnr.silence", .out = {TWICE, 1, 0}},
    {"rnr.repair", .out = {DROP, 2, 0}},
    {"nak.middle_alone", .out = {SYNDROME, 0, NAK_ACCESS}},
    {"nak.only_inside", .out = {SYNDROME, 0, NAK_ACCESS}},
    {"nak.read_inside", .out = {DROP, 0, 0}},
    {"nak.write_inside", .out = {SYNDROME, 0, ACKED}},
    {"nak.rkey", .out = {SYNDROME, 0, NAK_INVALID}},
    {"nak.range", .out = {SYNDROME, 0, NAK_INVALID}},
    {"nak.region_rights", .out = {SYNDROME, 0, ACKED}},
    {"nak.read_rkey", .out = {SYNDROME, 0, NAK_INVALID}},
    {"nak.qp_rights", .out = {SYNDROME, 0, NAK_ACCESS}},
    {"write.zero_length", .out = {SYNDROME, 0, NAK_ACCESS}},
    {"nak.atomic_odd", .out = {SYNDROME, 0, NAK_ACCESS}},
    {"nak.short_middle", .out = {SYNDROME, 0, ACKED}},
    {"nak.empty_last", .out = {PSN, 0, 1}},
    {"nak.send_long", .out = {SYNDROME, 0, 0x63}},
    {"nak.write_length", .out = {DROP, 0, 0}},
    {"pad.wrong", .out = {SYNDROME, 0, ACKED}},
    {"fatal.silence", .out = {TWICE, 1, 0}},
    {"drop.icrc", .in = {FIX_ICRC, 0, 0}},
    {"drop.tver", .in = {FIX_TVER, 0, 0}},
    {"drop.pkey", .in = {FIX_PKEY, 0, 0}},
    {"drop.qpn", .in = {FIX_QPN, 0, 0}},
    {"drop.source", .in = {FIX_SOURCE, 0, 0}},
    {"drop.service", .in = {FIX_SERVICE, 0, 0}},
    {"migreq.accepted", .in = {DROP, 1, 0}},
    {"migreq.set", .out = {NO_M, 0, 0}},
    {"icrc.masked", .in = {DROP, 1, 0}},
    {"udp.checksum_zero", .in = {DROP, 1, 0}},
    {"udp.checksum_right", .in = {DROP, 1, 0}},
    {"udp.source_port", .in = {DROP, 2, 0}},
    {"cnp.sent", .out = {NO_CNP, 0, 0}},
    {"cnp.interval", .out = {MANY, 0, 0}},
    {"cnp.neutral", .out = {MSN, 0, 1}},
    {"cnp.reaction", .in = {NO_CNP, 0, 0}},
    {"request.psn", .out = {PSN, 2, 1}},
    {"request.acknowledged", .in = {DROP, 0, 0}},
    {"retry.interval", .out = {TWICE, 1, 0}},
    {"retry.count", .out = {TWICE, 4, 0}},
    {"retry.nak", .out = {OPCODE, 6, ROCE_OPCODE_RC_SEND_FIRST}},
    {"retry.rnr_wait", .out = {TWICE, 1, 0}},
    {"retry.rnr_count", .out = {TWICE, 3, 0}},
    {"read.resume", .out = {PSN, 2, 1}},
    {"ghost.ack", .in = {PSN, 1, -100}},
    {"ghost.syndrome", .in = {SYNDROME, 1, ACKED}},
    {"ghost.nak_code", .in = {SYNDROME, 1, 0x60}},
    {"ghost.cnp", .in = {DROP, 0, 0}},
    {"ghost.bad_icrc", .in = {FIX_ICRC, 1, 0}},
    {"fatal.requester", .in = {DROP, 0, 0}},
    {"uc.gap", .in = {PSN, -3, -1}},
    {"ud.qkey", .in = {FIX_QKEY, 0, 0}},
};
enum { VIOLATIONS = sizeof(violations) / sizeof(violations[0]) };

static void test_each_violation_is_found(void **state)
{
    (void)state;
    int missed = 0;
    assert_int_equal(VIOLATIONS, check_n_cases);
    for (unsigned i = 0; i < VIOLATIONS; i++) {
        if (judge(find(violations[i].id), &violations[i]) != CHECK_FAIL) {
            print_error("%s: the violation was not found\n", violations[i].id);
            missed++;
        }
    }
    assert_int_equal(missed, 0);
}

/* A peer that has one fault from first to last: these cases fail, no others. */
static void test_one_fault_no_false_alarm(void **state)
{
    (void)state;
    int wrong = 0;
    static const struct {
        struct violation violation;
        const char *fails[3];
    } peers[] = {
        {{"", .out = {NO_M, 0, 0}}, {"migreq.set"}},
        {{"", .out = {NO_CNP, 0, 0}}, {"cnp.sent"}},
        {{"", .out = {MANY, 0, 0}}, {"cnp.interval"}},
        {{"", .in = {NO_CNP, 0, 0}}, {"cnp.reaction"}},
        {{"", .in = {FIX_ICRC, 0, 0}}, {"drop.icrc", "ghost.bad_icrc"}},
        {{"", .in = {FIX_TVER, 0, 0}}, {"drop.tver", "drop.icrc", "ghost.bad_icrc"}},
    };
    for (unsigned p = 0; p < sizeof(peers) / sizeof(peers[0]); p++) {
        for (unsigned i = 0; i < check_n_cases; i++) {
            bool due = false;
            for (int k = 0; k < 3 && peers[p].fails[k] != NULL; k++)
                due = due || strcmp(peers[p].fails[k], check_cases[i].id) == 0;
            const bool failed = judge(&check_cases[i], &peers[p].violation) == CHECK_FAIL;
            if (failed != due) {
                print_error("peer %u: %s %s\n", p, check_cases[i].id, failed ? "fails" : "passes");
                wrong++;
            }
        }
    }
    assert_int_equal(wrong, 0);
}

static void test_lines(void **state)
{
    (void)state;
    char line[CHECK_LINE_MAX];
    struct check_want want = {.service = 1, .mtu = 4096, .qpn = 0xFFFFFF, .va = UINT64_MAX}, back;
    roce_ip_v4(want.ip, 192, 0, 2, 7);
    check_want_encode(&want, line);
    assert_int_equal(line[strlen(line) - 1], '\n');
    assert_int_equal(check_want_decode(line, &back), 0);
    assert_memory_equal(&want, &back, sizeof(want));
    assert_int_equal(check_want_decode("{\"rocereplay\":1}", &back), ROCE_ERR_UNKNOWN);
    assert_int_equal(check_want_decode("{\"check\":1,\"mtu\":1000}", &back), ROCE_ERR_INVALID);
    assert_int_equal(check_want_decode("{\"check\":1,\"mtu\":1024,\"qpn\":16777216}", &back),
                     ROCE_ERR_INVALID);
    assert_int_equal(check_want_decode("{\"check\":1,\"mtu\":1024", &back), ROCE_ERR_INVALID);
    for (size_t n = 0; n + 1 < strlen(line); n++) { /* cut short anywhere */
        char part[CHECK_LINE_MAX];
        memcpy(part, line, n);
        part[n] = '\0';
        if (n != strlen(line) - 1)
            assert_true(check_want_decode(part, &back) != 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lines),
        cmocka_unit_test_setup_teardown(test_engine_passes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_each_violation_is_found, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_one_fault_no_false_alarm, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
