/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Findings about the frames themselves, which of them are there, and when they come. */
#include "findings_rig.h"

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_icrc),          cmocka_unit_test(test_one_way),
        cmocka_unit_test(test_one_direction), cmocka_unit_test(test_idle_gap),
        cmocka_unit_test(test_mtu_mixed),     cmocka_unit_test(test_mirror_duplicates),
        cmocka_unit_test(test_sampled),       cmocka_unit_test(test_ud_gaps),
        cmocka_unit_test(test_uc_gap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
