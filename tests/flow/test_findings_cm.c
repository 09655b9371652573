/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Findings about connections that do not come about. */
#include "findings_rig.h"

#include <roce/mad.h>

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
        cmocka_unit_test(test_cm_rejected),
        cmocka_unit_test(test_cm_timeout),
        cmocka_unit_test(test_cm_accepted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
