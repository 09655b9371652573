/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Findings about what a receiver refuses, and asks for too late or not at all. */
#include "findings_rig.h"

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rnr),
        cmocka_unit_test(test_rnr_exceeded),
        cmocka_unit_test(test_fatal_naks),
        cmocka_unit_test(test_refused_send),
        cmocka_unit_test(test_refused_unpaired),
        cmocka_unit_test(test_nak_missing),
        cmocka_unit_test(test_nak_slow),
        cmocka_unit_test(test_ack_ghost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
