/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Findings about losses and resends: each kind from a hand-made exchange, and its clean twin. */
#include "findings_rig.h"

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
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
