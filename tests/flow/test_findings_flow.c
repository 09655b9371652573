/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Findings about flows: each kind from a hand-made exchange, and its clean twin. */
#include "tests/cmocka_all.h"
#include "tests/flow/scene.h"

#include <roce/mad.h>

static const struct roce_observer_opts opts = {.timeout_exp = 14}; /* 67.1 ms */
#define TIMEOUT (68 * MS)

/* ready is a connection that is known to be a pair: ten SENDs from PSN 100. The next PSN is 110. */
static struct scene ready(void)
{
    struct scene s = scene_new(&opts);
    scene_talk(&s, 100, 10);
    return s;
}

static const struct roce_finding *want(const struct scene *s, enum roce_finding_kind kind,
                                       enum roce_severity severity, uint64_t count)
{
    const struct roce_finding *f = scene_find(s, kind);
    if (f == NULL)
        fail_msg("no %s", roce_finding_info(kind)->name);
    else
        assert_int_equal(f->severity, severity);
    assert_int_equal(f->count, count);
    return f;
}

static void text_is(const struct roce_finding *f, const char *want)
{
    char text[ROCE_FINDING_TEXT];
    roce_finding_text(f, text, sizeof text);
    assert_string_equal(text, want);
}

static void clean(struct scene *s)
{
    assert_int_equal(scene_alarms(s), 0);
    scene_free(s);
}

static void test_clean(void **state)
{
    (void)state;
    struct scene s = ready();
    scene_end(&s, 500 * MS);
    uint32_t n;
    const struct roce_finding *f = roce_observer_findings(s.obs, &n);
    for (uint32_t i = 0; i < n; i++)
        assert_int_equal(f[i].kind, ROCE_FINDING_ECN_NOT_ECT);
    assert_int_equal(n, 1);
    clean(&s);
}

/* 112 is missing here; the receiver asks for it at once and gets it: one frame lost. */
static void test_loss_network(void **state)
{
    (void)state;
    struct scene s = ready();
    scene_shot(&s, US, scene_send(110));
    scene_shot(&s, US, scene_send(111));
    scene_shot(&s, US, scene_send(113)); /* frame 23 */
    scene_shot(&s, 5 * US, scene_ack(112, NAK_SEQ, 112));
    scene_shot(&s, 5 * US, scene_send(112));
    scene_shot(&s, US, scene_send(113));
    scene_shot(&s, 5 * US, scene_ack(113, ACK_OK, 114));
    scene_talk(&s, 114, 5);
    scene_end(&s, 500 * MS);
    const struct roce_finding *f = want(&s, ROCE_FINDING_LOSS_NETWORK, ROCE_SEVERITY_WARNING, 1);
    assert_int_equal(f->value[0], 1); /* upstream */
    assert_int_equal(f->value[1], 0);
    assert_int_equal(f->first_frame, 23);
    text_is(f, "1 frame lost, 1 before the mirror and 0 behind it");
    assert_int_equal(scene_alarms(&s), 1);
    scene_free(&s);
}

static void test_loss_capture(void **state)
{
    (void)state;
    struct scene s = ready();
    scene_shot(&s, US, scene_send(110));
    scene_shot(&s, US, scene_send(113));
    scene_shot(&s, 5 * US, scene_ack(113, ACK_OK, 114));
    scene_talk(&s, 114, 5);
    scene_end(&s, 500 * MS);
    const struct roce_finding *f = want(&s, ROCE_FINDING_LOSS_CAPTURE, ROCE_SEVERITY_WARNING, 2);
    text_is(f, "2 frames missing from the capture, not from the network");
    assert_null(scene_find(&s, ROCE_FINDING_LOSS_NETWORK));
    scene_free(&s);
    s = ready();
    roce_observer_dropped(s.obs, 17);
    scene_end(&s, 500 * MS);
    want(&s, ROCE_FINDING_LOSS_CAPTURE, ROCE_SEVERITY_WARNING, 17);
    scene_free(&s);
}

/* Late by 2 us and not resent: a note where the receiver says nothing. */
static void test_reorder(void **state)
{
    (void)state;
    struct scene s = ready();
    scene_shot(&s, US, scene_send(110));
    scene_shot(&s, US, scene_send(112));
    scene_shot(&s, 2 * US, scene_send(111));
    scene_shot(&s, US, scene_send(113));
    scene_shot(&s, 5 * US, scene_ack(113, ACK_OK, 114));
    scene_talk(&s, 114, 5);
    scene_end(&s, 500 * MS);
    const struct roce_finding *f = want(&s, ROCE_FINDING_REORDER, ROCE_SEVERITY_NOTE, 1);
    assert_int_equal(f->value[0], 2000);
    clean(&s);
}

static void resend(struct scene *s, uint64_t wait)
{
    for (uint32_t psn = 110; psn < 113; psn++) {
        scene_shot(s, 20 * US, scene_send(psn));
        scene_shot(s, wait, scene_send(psn));
        scene_shot(s, 5 * US, scene_ack(psn, ACK_OK, psn));
    }
    scene_talk(s, 113, 5);
    scene_end(s, 500 * MS);
}

static void test_timeout_and_early(void **state)
{
    (void)state;
    struct scene s = ready();
    resend(&s, TIMEOUT);
    const struct roce_finding *f =
        want(&s, ROCE_FINDING_RETRANSMIT_TIMEOUT, ROCE_SEVERITY_WARNING, 3);
    text_is(f, "3 resends after an ACK timeout, the longest wait 68 ms, 3 frames resent");
    assert_int_equal(f->frames[0], 22); /* the first one resent */
    assert_null(scene_find(&s, ROCE_FINDING_RETRANSMIT_EARLY));
    assert_null(scene_find(&s, ROCE_FINDING_RETRY_EXCEEDED));
    scene_free(&s);
    s = ready();
    resend(&s, 5 * MS);
    want(&s, ROCE_FINDING_RETRANSMIT_EARLY, ROCE_SEVERITY_WARNING, 3);
    assert_null(scene_find(&s, ROCE_FINDING_RETRANSMIT_TIMEOUT));
    scene_free(&s);
}

static void test_spurious(void **state)
{
    (void)state;
    struct scene s = ready();
    scene_shot(&s, 20 * US, scene_send(110));
    scene_shot(&s, 5 * US, scene_ack(110, ACK_OK, 110));
    scene_shot(&s, MS, scene_send(110));
    scene_shot(&s, 5 * US, scene_ack(110, ACK_OK, 110));
    scene_talk(&s, 111, 5);
    scene_end(&s, 500 * MS);
    want(&s, ROCE_FINDING_RETRANSMIT_SPURIOUS, ROCE_SEVERITY_WARNING, 1);
    assert_null(scene_find(&s, ROCE_FINDING_LOSS_NETWORK));
    scene_free(&s);
}

static void unanswered(struct scene *s, uint64_t idle)
{
    scene_shot(s, 20 * US, scene_send(110));
    for (int i = 0; i < 3; i++)
        scene_shot(s, TIMEOUT, scene_send(110));
    scene_end(s, idle);
}

static void test_retry_exceeded(void **state)
{
    (void)state;
    struct scene s = ready();
    unanswered(&s, 200 * MS);
    const struct roce_finding *f = want(&s, ROCE_FINDING_RETRY_EXCEEDED, ROCE_SEVERITY_ERROR, 1);
    text_is(f,
            "the sender gave up: PSN 110 was sent again 3 times, nobody answered it, then the QP "
            "fell silent");
    roce_observer_finish(s.obs); /* once more: the same */
    want(&s, ROCE_FINDING_RETRY_EXCEEDED, ROCE_SEVERITY_ERROR, 1);
    /* and it was no end after all */
    scene_shot(&s, TIMEOUT, scene_send(110));
    scene_shot(&s, 5 * US, scene_ack(110, ACK_OK, 110));
    scene_talk(&s, 111, 5);
    scene_end(&s, 500 * MS);
    assert_null(scene_find(&s, ROCE_FINDING_RETRY_EXCEEDED));
    scene_free(&s);
    s = ready();
    unanswered(&s, 50 * MS); /* the capture ends while it may still be waiting */
    assert_null(scene_find(&s, ROCE_FINDING_RETRY_EXCEEDED));
    scene_free(&s);
}

/* Three messages of four packets lose their third one. */
static void go_back(struct scene *s, uint32_t back)
{
    static const uint8_t op[] = {ROCE_OPCODE_RC_SEND_FIRST, ROCE_OPCODE_RC_SEND_MIDDLE,
                                 ROCE_OPCODE_RC_SEND_MIDDLE, ROCE_OPCODE_RC_SEND_LAST};
    for (uint32_t m = 0; m < 3; m++) {
        const uint32_t psn = 110 + 4 * m;
        for (uint32_t i = 0; i < 8; i++) {
            const uint32_t k = i < 4 ? i : i - 4;
            struct shot x = scene_send(psn + k);
            x.op = op[k];
            x.len = 256;
            x.ack = k == 3;
            if (i == 2 || (i >= 4 && k < back))
                continue;
            scene_shot(s, US, x);
            if (i == 3)
                scene_shot(s, 5 * US, scene_ack(psn + 2, NAK_SEQ, 110 + m));
        }
        scene_shot(s, 5 * US, scene_ack(psn + 3, ACK_OK, 111 + m));
    }
    scene_end(s, 500 * MS);
}

static void test_go_back_zero(void **state)
{
    (void)state;
    struct scene s = ready();
    go_back(&s, 0);
    const struct roce_finding *f =
        want(&s, ROCE_FINDING_RETRANSMIT_GO_BACK_ZERO, ROCE_SEVERITY_WARNING, 3);
    assert_int_equal(f->value[0], 2);
    scene_free(&s);
    s = ready();
    go_back(&s, 2);
    assert_null(scene_find(&s, ROCE_FINDING_RETRANSMIT_GO_BACK_ZERO));
    want(&s, ROCE_FINDING_LOSS_NETWORK, ROCE_SEVERITY_WARNING, 3);
    scene_free(&s);
}

#define RNR_1MS28 (0x20 | 14)

static void test_rnr(void **state)
{
    (void)state;
    struct scene s = ready();
    scene_shot(&s, 20 * US, scene_send(110));
    scene_shot(&s, 5 * US, scene_ack(110, RNR_1MS28, 110));
    scene_shot(&s, 2 * MS, scene_send(110));
    scene_shot(&s, 5 * US, scene_ack(110, ACK_OK, 110));
    scene_talk(&s, 111, 5);
    scene_end(&s, 500 * MS);
    const struct roce_finding *f = want(&s, ROCE_FINDING_RNR, ROCE_SEVERITY_WARNING, 1);
    text_is(f, "1 RNR NAK: no receive buffer was posted, the sender has to wait 1.28 ms each time");
    assert_int_equal(f->dest_qp, QP_B); /* the flow that was refused */
    assert_int_equal(scene_alarms(&s), 1);
    scene_free(&s);
}

static void test_rnr_exceeded(void **state)
{
    (void)state;
    struct scene s = ready();
    for (int i = 0; i < 4; i++) {
        scene_shot(&s, 2 * MS, scene_send(110));
        scene_shot(&s, 5 * US, scene_ack(110, RNR_1MS28, 110));
    }
    scene_end(&s, 100 * MS);
    const struct roce_finding *f = want(&s, ROCE_FINDING_RETRY_EXCEEDED, ROCE_SEVERITY_ERROR, 1);
    text_is(f, "the sender gave up: PSN 110 was sent again 3 times, refused by RNR NAK each time, "
               "then the QP fell silent");
    scene_free(&s);
    s = ready();
    scene_shot(&s, 2 * MS, scene_send(110));
    scene_shot(&s, 5 * US, scene_ack(110, RNR_1MS28, 110));
    scene_end(&s, 5 * MS); /* it may still be waiting */
    assert_null(scene_find(&s, ROCE_FINDING_RETRY_EXCEEDED));
    scene_free(&s);
}

static struct shot write_request(uint32_t psn)
{
    struct shot x = scene_send(psn);
    x.op = ROCE_OPCODE_RC_WRITE_ONLY;
    x.va = 0x7f0012345000;
    x.rkey = 0xBEEF;
    x.dma = 64;
    return x;
}

static void refuse(struct scene *s, uint8_t syndrome)
{
    scene_shot(s, 20 * US, write_request(110));
    scene_shot(s, 5 * US, scene_send(111));
    scene_shot(s, 5 * US, scene_ack(110, syndrome, 110));
    scene_end(s, 500 * MS);
}

static void test_fatal_naks(void **state)
{
    (void)state;
    struct scene s = ready();
    refuse(&s, 0x62);
    const struct roce_finding *f = want(&s, ROCE_FINDING_NAK_REMOTE_ACCESS, ROCE_SEVERITY_ERROR, 1);
    text_is(f, "1 remote access error: the responder refused a WRITE of 64 bytes at va "
               "0x7f0012345000 with rkey 0xbeef (PSN 110)");
    assert_int_equal(f->frames[f->n_frames - 1], 23);
    assert_int_equal(f->dest_qp, QP_B);
    uint64_t value;
    enum roce_finding_unit unit;
    bool known;
    assert_string_equal(roce_finding_value(f, 1, &value, &unit, &known), "rkey");
    assert_int_equal(value, 0xBEEF);
    assert_int_equal(unit, ROCE_UNIT_HEX);
    assert_true(known);
    assert_null(roce_finding_value(f, 4, &value, &unit, &known));
    assert_int_equal(scene_alarms(&s), 1);
    scene_free(&s);
    s = ready();
    refuse(&s, 0x61);
    want(&s, ROCE_FINDING_NAK_INVALID_REQUEST, ROCE_SEVERITY_ERROR, 1);
    scene_free(&s);
    s = ready();
    refuse(&s, 0x63);
    want(&s, ROCE_FINDING_NAK_REMOTE_OPERATIONAL, ROCE_SEVERITY_ERROR, 1);
    scene_free(&s);
    s = ready(); /* a code that requesters ignore */
    refuse(&s, 0x65);
    assert_null(scene_find(&s, ROCE_FINDING_NAK_REMOTE_ACCESS));
    scene_free(&s);
}

/* A refused SEND has no address: that of the WRITE before it must not be shown. */
static void test_refused_send(void **state)
{
    (void)state;
    struct scene s = ready();
    scene_shot(&s, 20 * US, write_request(110));
    scene_shot(&s, 5 * US, scene_send(111));
    scene_shot(&s, 5 * US, scene_ack(111, 0x61, 111));
    scene_end(&s, 500 * MS);
    text_is(want(&s, ROCE_FINDING_NAK_INVALID_REQUEST, ROCE_SEVERITY_ERROR, 1),
            "1 invalid request: the responder refused a request (PSN 111)");
    scene_free(&s);
}

/* Two QPs of the same hosts, and no pair known: the PSN decides. */
static void test_refused_unpaired(void **state)
{
    (void)state;
    struct scene s = scene_new(&opts);
    struct shot other = write_request(900);
    other.qp = 0x99;
    other.va = 0x1000;
    scene_shot(&s, US, other);
    scene_shot(&s, US, write_request(110));
    scene_shot(&s, 5 * US, scene_ack(110, NAK_ACCESS, 1));
    scene_end(&s, 500 * MS);
    const struct roce_finding *f = want(&s, ROCE_FINDING_NAK_REMOTE_ACCESS, ROCE_SEVERITY_ERROR, 1);
    assert_int_equal(f->value[0], 0x7f0012345000);
    scene_free(&s);
}

/* A hole that later frames show, no NAK, and a resend after the timeout. */
static void hole(struct scene *s, uint32_t psn, uint64_t nak_after)
{
    scene_shot(s, 20 * US, scene_send(psn));
    scene_shot(s, US, scene_send(psn + 2));
    if (nak_after != 0)
        scene_shot(s, nak_after, scene_ack(psn + 1, NAK_SEQ, psn + 1));
    scene_shot(s, nak_after != 0 ? 5 * US : TIMEOUT, scene_send(psn + 1));
    scene_shot(s, US, scene_send(psn + 2));
    scene_shot(s, 5 * US, scene_ack(psn + 2, ACK_OK, psn + 2));
}

static void test_nak_missing(void **state)
{
    (void)state;
    struct scene s = ready();
    hole(&s, 110, 0);
    hole(&s, 113, 0);
    scene_end(&s, 500 * MS);
    const struct roce_finding *f = want(&s, ROCE_FINDING_NAK_MISSING, ROCE_SEVERITY_WARNING, 2);
    assert_int_equal(f->value[0], 111);
    scene_free(&s);
    s = ready(); /* once only: the NAK may be what was lost */
    hole(&s, 110, 0);
    hole(&s, 113, 5 * US);
    scene_end(&s, 500 * MS);
    want(&s, ROCE_FINDING_NAK_MISSING, ROCE_SEVERITY_NOTE, 1);
    scene_free(&s);
    s = ready();
    hole(&s, 110, 5 * US);
    hole(&s, 113, 5 * US);
    scene_end(&s, 500 * MS);
    assert_null(scene_find(&s, ROCE_FINDING_NAK_MISSING));
    assert_null(scene_find(&s, ROCE_FINDING_NAK_SLOW));
    scene_free(&s);
}

/* ACKs take 5 us here: 2 ms are slow, 900 us are below the floor. */
static void test_nak_slow(void **state)
{
    (void)state;
    struct scene s = ready();
    hole(&s, 110, 2 * MS);
    scene_end(&s, 500 * MS);
    const struct roce_finding *f = want(&s, ROCE_FINDING_NAK_SLOW, ROCE_SEVERITY_WARNING, 1);
    assert_int_equal(f->value[0], 2000000);
    assert_int_equal(f->value[1], 111);
    scene_free(&s);
    s = ready();
    hole(&s, 110, 900 * US);
    scene_end(&s, 500 * MS);
    assert_null(scene_find(&s, ROCE_FINDING_NAK_SLOW));
    scene_free(&s);
}

static void test_ack_ghost(void **state)
{
    (void)state;
    struct scene s = ready();
    scene_shot(&s, 20 * US, scene_ack(500, ACK_OK, 110));
    scene_talk(&s, 110, 5);
    scene_end(&s, 500 * MS);
    const struct roce_finding *f = want(&s, ROCE_FINDING_ACK_GHOST, ROCE_SEVERITY_WARNING, 1);
    assert_int_equal(f->value[0], 500);
    assert_int_equal(f->first_frame, 21);
    scene_free(&s);
}

static void test_icrc(void **state)
{
    (void)state;
    struct scene s = ready();
    s.check_icrc = true;
    scene_talk(&s, 110, 20);
    struct shot x = scene_send(130);
    x.bad_icrc = true;
    scene_shot(&s, US, x);
    scene_end(&s, MS);
    const struct roce_finding *f = want(&s, ROCE_FINDING_ICRC_BAD, ROCE_SEVERITY_WARNING, 1);
    text_is(f, "1 frame with a wrong ICRC of 21 checked");
    assert_int_equal(f->first_frame, 61);
    scene_free(&s);
    s = scene_new(&opts);
    s.check_icrc = true;
    for (uint32_t i = 0; i < 20; i++) {
        x = scene_send(100 + i);
        x.bad_icrc = true;
        scene_shot(&s, 15 * US, x);
        scene_shot(&s, 5 * US, scene_ack(100 + i, ACK_OK, i));
    }
    scene_end(&s, MS);
    want(&s, ROCE_FINDING_ICRC_REWRITTEN, ROCE_SEVERITY_WARNING, 20);
    assert_null(scene_find(&s, ROCE_FINDING_ICRC_BAD));
    scene_free(&s);
}

/* Another QP of the same hosts sends and gets no answer. */
static void test_one_way(void **state)
{
    (void)state;
    struct scene s = ready();
    for (uint32_t i = 0; i < 5; i++) {
        struct shot x = scene_send(7000 + i);
        x.qp = 0x77;
        scene_shot(&s, MS, x);
    }
    scene_talk(&s, 110, 5);
    scene_end(&s, 600 * MS);
    const struct roce_finding *f = want(&s, ROCE_FINDING_ONE_WAY, ROCE_SEVERITY_WARNING, 5);
    assert_int_equal(f->dest_qp, 0x77);
    assert_int_equal(f->first_frame, 21);
    scene_free(&s);
    s = ready(); /* the same just before the end of the capture */
    struct shot x = scene_send(7000);
    x.qp = 0x77;
    scene_shot(&s, MS, x);
    x.psn++;
    scene_shot(&s, MS, x);
    scene_end(&s, 100 * MS);
    assert_null(scene_find(&s, ROCE_FINDING_ONE_WAY));
    clean(&s);
}

static void test_one_direction(void **state)
{
    (void)state;
    struct scene s = scene_new(&opts);
    for (uint32_t i = 0; i < 50; i++)
        scene_shot(&s, MS, scene_send(i));
    scene_end(&s, 600 * MS);
    const struct roce_finding *f =
        want(&s, ROCE_FINDING_MIRROR_ONE_DIRECTION, ROCE_SEVERITY_NOTE, 1);
    assert_int_equal(f->value[0], 1);
    assert_null(scene_find(&s, ROCE_FINDING_ONE_WAY));
    clean(&s);
    s = ready();
    scene_end(&s, 600 * MS);
    assert_null(scene_find(&s, ROCE_FINDING_MIRROR_ONE_DIRECTION));
    scene_free(&s);
}

/* Requests are outstanding over silences of 70 ms: 4.096 us * 2^14 and 4 %. */
static void silences(struct scene *s, uint32_t n, uint64_t silence)
{
    uint32_t psn = 110;
    for (uint32_t i = 0; i < n; i++) {
        scene_shot(s, 20 * US, scene_send(psn));
        scene_shot(s, silence, scene_send(psn + 1));
        scene_shot(s, 5 * US, scene_ack(psn + 1, ACK_OK, psn));
        psn += 2;
    }
    scene_end(s, 500 * MS);
}

static void test_idle_gap(void **state)
{
    (void)state;
    struct scene s = ready();
    silences(&s, 3, 70 * MS);
    const struct roce_finding *f = want(&s, ROCE_FINDING_IDLE_TIMEOUT_GAP, ROCE_SEVERITY_NOTE, 3);
    assert_int_equal(f->value[0], 67108864);
    clean(&s);
    s = ready();
    silences(&s, 2, 70 * MS); /* twice may be chance */
    assert_null(scene_find(&s, ROCE_FINDING_IDLE_TIMEOUT_GAP));
    scene_free(&s);
    s = ready();
    silences(&s, 5, 90 * MS); /* no timeout is that long */
    assert_null(scene_find(&s, ROCE_FINDING_IDLE_TIMEOUT_GAP));
    scene_free(&s);
}

/* Middle packets of 256 bytes one way, of 512 bytes the other way. */
static void mtus(struct scene *s, uint32_t there, uint32_t back)
{
    static const uint8_t op[] = {ROCE_OPCODE_RC_SEND_FIRST, ROCE_OPCODE_RC_SEND_MIDDLE,
                                 ROCE_OPCODE_RC_SEND_LAST};
    scene_talk(s, 100, 10);
    for (uint32_t m = 0; m < 10; m++) {
        for (uint32_t i = 0; i < 3; i++) {
            struct shot x = scene_send(110 + 3 * m + i);
            struct shot y = x;
            x.op = y.op = op[i];
            x.ack = y.ack = i == 2;
            x.len = i == 2 ? 8 : there;
            y.len = i == 2 ? 8 : back;
            y.src = 2;
            y.dst = 1;
            y.qp = QP_A;
            y.psn = 5000 + 3 * m + i;
            scene_shot(s, US, x);
            scene_shot(s, US, y);
        }
        struct shot ack = scene_ack(5002 + 3 * m, ACK_OK, m);
        scene_shot(s, 5 * US, scene_ack(112 + 3 * m, ACK_OK, 110 + m));
        ack.src = 1;
        ack.dst = 2;
        ack.qp = QP_B;
        scene_shot(s, 5 * US, ack);
    }
    scene_end(s, MS);
}

static void test_mtu_mixed(void **state)
{
    (void)state;
    struct scene s = scene_new(&opts);
    mtus(&s, 256, 512);
    const struct roce_finding *f = want(&s, ROCE_FINDING_MTU_MIXED, ROCE_SEVERITY_WARNING, 1);
    assert_int_equal(f->value[0] + f->value[1], 768);
    assert_int_equal(scene_alarms(&s), 1);
    scene_free(&s);
    s = scene_new(&opts);
    mtus(&s, 512, 512);
    assert_null(scene_find(&s, ROCE_FINDING_MTU_MIXED));
    clean(&s);
}

/* Every second frame twice, the copy with a smaller TTL. */
static void test_mirror_duplicates(void **state)
{
    (void)state;
    struct scene s = scene_new(&opts);
    for (uint32_t i = 0; i < 100; i++) {
        struct shot x = scene_send(100 + i);
        scene_shot(&s, 15 * US, x);
        x.ttl = 63;
        s.ip_id--;
        scene_shot(&s, 1 * US, x);
        scene_shot(&s, 5 * US, scene_ack(100 + i, ACK_OK, i));
    }
    scene_end(&s, MS);
    want(&s, ROCE_FINDING_MIRROR_DUPLICATES, ROCE_SEVERITY_NOTE, 100);
    clean(&s);
}

static void test_sampled(void **state)
{
    (void)state;
    struct scene s = scene_new(&opts);
    for (uint32_t i = 0; i < 200; i++)
        scene_shot(&s, 15 * US, scene_send(100 + 16 * i));
    scene_end(&s, MS);
    want(&s, ROCE_FINDING_MIRROR_SAMPLED, ROCE_SEVERITY_NOTE, 1);
    clean(&s);
}

/* UD: a sender spends its PSNs on several destinations. */
static void test_ud_gaps(void **state)
{
    (void)state;
    struct scene s = scene_new(&opts);
    for (uint32_t i = 0; i < 40; i++) {
        const struct shot x = {.src = 1,
                               .dst = (uint8_t)(2 + i % 3),
                               .op = ROCE_OPCODE_UD_SEND_ONLY,
                               .qp = 0x30,
                               .src_qp = 0x31,
                               .psn = i,
                               .len = 32};
        scene_shot(&s, 10 * US, x);
    }
    scene_end(&s, MS);
    clean(&s);
}

/* UC has nobody who could ask: the frame is gone, here already. */
static void test_uc_gap(void **state)
{
    (void)state;
    struct scene s = scene_new(&opts);
    for (uint32_t i = 0; i < 40; i++) {
        struct shot x = scene_send(i);
        x.op = ROCE_OPCODE_UC_SEND_ONLY;
        x.ack = false;
        if (i != 17)
            scene_shot(&s, 10 * US, x);
    }
    scene_end(&s, MS);
    text_is(want(&s, ROCE_FINDING_LOSS_NETWORK, ROCE_SEVERITY_WARNING, 1),
            "1 frame lost; where 1 of them went cannot be told");
    scene_free(&s);
}

/* ---- connection management ---- */

static void cm_message(struct scene *s, uint64_t after, bool answer, struct roce_cm cm)
{
    uint8_t mad[ROCE_MAD_LEN] = {0};
    const struct roce_mad header = {.base_version = 1,
                                    .mgmt_class = ROCE_MAD_CLASS_CM,
                                    .class_version = 2,
                                    .method = 3,
                                    .attr_id = cm.message};
    assert_int_equal(roce_mad_encode(&header, mad, sizeof mad), ROCE_MAD_HDR_LEN);
    assert_int_equal(roce_cm_encode(&cm, mad + ROCE_MAD_HDR_LEN, sizeof mad - ROCE_MAD_HDR_LEN),
                     ROCE_CM_LEN);
    const struct shot x = {.src = answer ? 2 : 1,
                           .dst = answer ? 1 : 2,
                           .op = ROCE_OPCODE_UD_SEND_ONLY,
                           .qp = ROCE_QPN_GSI,
                           .src_qp = ROCE_QPN_GSI,
                           .qkey = ROCE_GSI_QKEY,
                           .psn = (uint32_t)s->frame,
                           .len = ROCE_MAD_LEN,
                           .payload = mad};
    scene_shot(s, after, x);
}

static const struct roce_cm request = {.message = ROCE_CM_REQ,
                                       .local_comm_id = 0x1001,
                                       .service_id = 0x1061234,
                                       .local_qpn = QP_A,
                                       .starting_psn = 100,
                                       .path_mtu = 3,
                                       .max_cm_retries = 15};

static void reject(struct scene *s, uint16_t reason)
{
    cm_message(s, US, false, request);
    cm_message(s, MS, true,
               (struct roce_cm){
                   .message = ROCE_CM_REJ, .remote_comm_id = 0x1001, .reject_reason = reason});
    scene_end(s, 500 * MS);
}

static void test_cm_rejected(void **state)
{
    (void)state;
    struct scene s = scene_new(&opts);
    reject(&s, 8);
    const struct roce_finding *f = want(&s, ROCE_FINDING_CM_REJECTED, ROCE_SEVERITY_ERROR, 1);
    text_is(f, "1 connection request rejected: invalid service id (nobody listens) (reason 8)");
    assert_int_equal(f->first_frame, 2);
    assert_int_equal(f->frames[0], 1);
    assert_true(f->has_hosts);
    assert_int_equal(f->src[15], 1);
    assert_int_equal(f->dst[15], 2);
    scene_free(&s);
    s = scene_new(&opts); /* the application said no */
    reject(&s, 28);
    want(&s, ROCE_FINDING_CM_REJECTED, ROCE_SEVERITY_WARNING, 1);
    scene_free(&s);
    s = scene_new(&opts);
    reject(&s, 4);
    want(&s, ROCE_FINDING_CM_TIMEOUT, ROCE_SEVERITY_ERROR, 1);
    assert_null(scene_find(&s, ROCE_FINDING_CM_REJECTED));
    scene_free(&s);
}

static void test_cm_timeout(void **state)
{
    (void)state;
    struct scene s = scene_new(&opts);
    for (int i = 0; i < 4; i++)
        cm_message(&s, 4295 * MS, false, request);
    scene_end(&s, 20000 * MS);
    const struct roce_finding *f = want(&s, ROCE_FINDING_CM_TIMEOUT, ROCE_SEVERITY_ERROR, 1);
    text_is(f, "1 connection attempt without an answer, the request was sent 4 times");
    assert_int_equal(f->first_frame, 1);
    scene_free(&s);
    s = scene_new(&opts); /* the capture ends before the second request can be answered */
    cm_message(&s, 0, false, request);
    cm_message(&s, 4295 * MS, false, request);
    scene_end(&s, 1000 * MS);
    clean(&s);
}

/* The twin: accepted at once, and a request repeated once because its answer was slow. */
static void test_cm_accepted(void **state)
{
    (void)state;
    for (int repeats = 1; repeats < 3; repeats++) {
        struct scene s = scene_new(&opts);
        for (int i = 0; i < repeats; i++)
            cm_message(&s, 4295 * MS, false, request);
        cm_message(&s, MS, true,
                   (struct roce_cm){.message = ROCE_CM_REP,
                                    .local_comm_id = 0x2002,
                                    .remote_comm_id = 0x1001,
                                    .local_qpn = QP_B,
                                    .starting_psn = 7});
        cm_message(&s, MS, false,
                   (struct roce_cm){
                       .message = ROCE_CM_RTU, .local_comm_id = 0x1001, .remote_comm_id = 0x2002});
        scene_talk(&s, 100, 5);
        scene_end(&s, 500 * MS);
        clean(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_clean),
        cmocka_unit_test(test_loss_network),
        cmocka_unit_test(test_loss_capture),
        cmocka_unit_test(test_reorder),
        cmocka_unit_test(test_timeout_and_early),
        cmocka_unit_test(test_spurious),
        cmocka_unit_test(test_retry_exceeded),
        cmocka_unit_test(test_go_back_zero),
        cmocka_unit_test(test_rnr),
        cmocka_unit_test(test_rnr_exceeded),
        cmocka_unit_test(test_fatal_naks),
        cmocka_unit_test(test_refused_send),
        cmocka_unit_test(test_refused_unpaired),
        cmocka_unit_test(test_nak_missing),
        cmocka_unit_test(test_nak_slow),
        cmocka_unit_test(test_ack_ghost),
        cmocka_unit_test(test_icrc),
        cmocka_unit_test(test_one_way),
        cmocka_unit_test(test_one_direction),
        cmocka_unit_test(test_idle_gap),
        cmocka_unit_test(test_mtu_mixed),
        cmocka_unit_test(test_mirror_duplicates),
        cmocka_unit_test(test_sampled),
        cmocka_unit_test(test_ud_gaps),
        cmocka_unit_test(test_uc_gap),
        cmocka_unit_test(test_cm_rejected),
        cmocka_unit_test(test_cm_timeout),
        cmocka_unit_test(test_cm_accepted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
