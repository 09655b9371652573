/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Connections end; strangers and late messages do no harm. */
#include "tests/engine/cm_rig.h"

#include <roce/err.h>

#define SECOND UINT64_C(1000000000)

static void test_disconnect_tells_both(void **state)
{
    (void)state;
    struct rig *rig = rig_new(false, NULL, NULL);
    struct rig_pair pair = rig_connect(rig);
    rig_expect(rig, &rig->b, ENG_CM_ESTABLISHED);
    assert_int_equal(eng_cm_disconnect(pair.b, rig->now), 0);
    assert_int_equal(eng_qp_state(rig->b.qp), ENG_ERR);
    assert_int_equal(eng_cm_disconnect(pair.b, rig->now), ROCE_ERR_STATE);
    rig_expect(rig, &rig->a, ENG_CM_DISCONNECTED);
    rig_expect(rig, &rig->b, ENG_CM_DISCONNECTED);
    const struct rig_message *dreq = rig_nth(rig, true, ROCE_CM_DREQ, 0);
    const struct rig_message *drep = rig_nth(rig, false, ROCE_CM_DREP, 0);
    assert_int_equal(dreq->cm.remote_qpn, eng_qp_num(rig->a.qp));
    assert_true(drep->mad.tid == dreq->mad.tid);
    assert_int_equal(drep->cm.local_comm_id, dreq->cm.remote_comm_id);
    assert_int_equal(drep->cm.remote_comm_id, dreq->cm.local_comm_id);
    eng_cm_release(pair.a, rig->now);
    eng_cm_release(pair.b, rig->now);
    rig_run(rig, rig->now + 10 * SECOND, NULL, NULL);
    assert_true(eng_cm_next(rig->a.cm) == ENG_NEVER && eng_cm_next(rig->b.cm) == ENG_NEVER);
    rig_del(rig);
}

/* 4.096 us * 2^15 is 134.217728 ms: b repeats after that, and a stays half as long again. */
static void test_lost_answer_is_lingered_for(void **state)
{
    (void)state;
    const roce_tstamp interval = UINT64_C(134217728), linger = UINT64_C(201326592);
    struct rig *rig = rig_new(false, &(struct eng_cm_cfg){.answer_timeout = 15}, NULL);
    struct rig_pair pair = rig_connect(rig);
    rig_expect(rig, &rig->b, ENG_CM_ESTABLISHED);
    assert_int_equal(rig_nth(rig, false, ROCE_CM_REQ, 0)->cm.local_cm_timeout, 15);
    assert_int_equal(rig_nth(rig, false, ROCE_CM_REQ, 0)->cm.remote_cm_timeout, 18);
    assert_true(eng_cm_linger(rig->a.cm) == 0);
    const roce_tstamp begin = rig->now;
    rig->lose[ROCE_CM_DREP] = 2;
    eng_cm_disconnect(pair.b, begin);
    rig_expect(rig, &rig->a, ENG_CM_DISCONNECTED);
    assert_true(eng_cm_linger(rig->a.cm) == begin + RIG_DELAY + linger);
    rig_expect(rig, &rig->b, ENG_CM_DISCONNECTED);
    assert_true(rig->now == begin + 2 * interval + 2 * RIG_DELAY);
    assert_true(eng_cm_linger(rig->a.cm) == begin + 2 * interval + RIG_DELAY + linger);
    assert_int_equal(rig_count(rig, true, ROCE_CM_DREQ), 3);
    assert_true(eng_cm_linger(rig->b.cm) == 0); /* it has been told */
    rig_del(rig);
}

static void test_linger_is_bounded(void **state)
{
    (void)state;
    struct rig *rig = rig_new(false, NULL, NULL); /* b would repeat after 1.07 s */
    struct rig_pair pair = rig_connect(rig);
    rig_expect(rig, &rig->b, ENG_CM_ESTABLISHED);
    const roce_tstamp begin = rig->now;
    eng_cm_disconnect(pair.b, begin);
    rig_expect(rig, &rig->b, ENG_CM_DISCONNECTED);
    assert_true(eng_cm_linger(rig->a.cm) == begin + RIG_DELAY + UINT64_C(400000000));
    rig_del(rig);
}

static void test_both_disconnect_at_once(void **state)
{
    (void)state;
    struct rig *rig = rig_new(false, NULL, NULL);
    struct rig_pair pair = rig_connect(rig);
    rig_expect(rig, &rig->b, ENG_CM_ESTABLISHED);
    eng_cm_disconnect(pair.a, rig->now);
    eng_cm_disconnect(pair.b, rig->now);
    rig_expect(rig, &rig->a, ENG_CM_DISCONNECTED);
    rig_expect(rig, &rig->b, ENG_CM_DISCONNECTED);
    struct eng_cm_event event;
    assert_false(rig_run(rig, rig->now + 5 * SECOND, &rig->a, &event));
    assert_int_equal(eng_cm_event(rig->b.cm, &event), 0);
    rig_del(rig);
}

static void test_peer_is_silent(void **state)
{
    (void)state;
    struct rig *rig = rig_new(false, &(struct eng_cm_cfg){.retries = 2}, NULL);
    struct rig_pair pair = rig_connect(rig);
    rig->lose[ROCE_CM_DREQ] = -1;
    eng_cm_disconnect(pair.a, rig->now);
    rig_expect(rig, &rig->a, ENG_CM_DISCONNECTED);
    assert_int_equal(rig_count(rig, false, ROCE_CM_DREQ), 3);
    rig_del(rig);
}

/* What is released while connected is disconnected, without an event. */
static void test_release_disconnects(void **state)
{
    (void)state;
    struct rig *rig = rig_new(false, NULL, NULL);
    struct rig_pair pair = rig_connect(rig);
    rig_expect(rig, &rig->b, ENG_CM_ESTABLISHED);
    eng_cm_release(pair.a, rig->now);
    rig_expect(rig, &rig->b, ENG_CM_DISCONNECTED);
    assert_int_equal(eng_cm_event(rig->a.cm, &(struct eng_cm_event){0}), 0);
    rig_del(rig);
}

static void test_release_of_a_request_rejects(void **state)
{
    (void)state;
    struct rig *rig = rig_new(false, NULL, NULL);
    eng_cm_listen(rig->b.cm, RIG_PORT, NULL);
    const struct eng_cm_param ask = rig_param(rig->a.qp);
    struct eng_cm_conn *conn;
    rig->lose[ROCE_CM_REJ] = 1; /* the repeated request is rejected again */
    eng_cm_connect(rig->a.cm, rig->now, RIG_PORT, 0, &rig->a.to_peer, &ask, &conn);
    eng_cm_release(rig_expect(rig, &rig->b, ENG_CM_CONNECT_REQUEST).conn, rig->now);
    assert_int_equal(rig_expect(rig, &rig->a, ENG_CM_REJECTED).reason, 28);
    rig_del(rig);
}

static void test_answer_after_release_is_refused(void **state)
{
    (void)state;
    struct rig *rig = rig_new(false, NULL, NULL);
    eng_cm_listen(rig->b.cm, RIG_PORT, NULL);
    const struct eng_cm_param ask = rig_param(rig->a.qp), answer = rig_param(rig->b.qp);
    struct eng_cm_conn *conn;
    eng_cm_connect(rig->a.cm, rig->now, RIG_PORT, 0, &rig->a.to_peer, &ask, &conn);
    const struct eng_cm_event req = rig_expect(rig, &rig->b, ENG_CM_CONNECT_REQUEST);
    eng_cm_accept(req.conn, rig->now, &answer);
    rig->lose[ROCE_CM_REJ] = 1;
    eng_cm_release(conn, rig->now);
    assert_int_equal(rig_expect(rig, &rig->b, ENG_CM_REJECTED).reason, 4);
    assert_int_equal(rig_count(rig, false, ROCE_CM_REJ), 2);
    rig_del(rig);
}

static void test_stale_connection_is_torn_down(void **state)
{
    (void)state;
    struct rig *rig = rig_new(false, NULL, NULL);
    rig_connect(rig);
    rig_expect(rig, &rig->b, ENG_CM_ESTABLISHED);
    /* a's host forgets everything and asks anew, with the same GUID and QPN. */
    const uint64_t guid = rig_nth(rig, false, ROCE_CM_REQ, 0)->cm.ca_guid;
    const uint32_t qpn = eng_qp_num(rig->a.qp);
    eng_cm_del(rig->a.cm);
    eng_dev_del(rig->a.dev);
    rig_side_new(rig, &rig->a, 1, 2, &(struct eng_cm_cfg){.ca_guid = guid, .seed = 5});
    const struct eng_qp_cfg cfg = {.service = ENG_RC,
                                   .send_cq = rig->a.cq,
                                   .recv_cq = rig->a.cq,
                                   .max_send_wr = 1,
                                   .max_recv_wr = 1,
                                   .qpn = qpn};
    rig->a.qp = eng_qp_new(rig->a.pd, &cfg);
    assert_non_null(rig->a.qp);
    const struct eng_cm_param ask = rig_param(rig->a.qp);
    struct eng_cm_conn *conn;
    eng_cm_connect(rig->a.cm, rig->now, RIG_PORT, 0, &rig->a.to_peer, &ask, &conn);
    rig_expect(rig, &rig->b, ENG_CM_DISCONNECTED);
    assert_int_equal(rig_expect(rig, &rig->a, ENG_CM_REJECTED).reason, 10);
    /* Once more, and there is nothing stale. */
    eng_cm_release(conn, rig->now);
    eng_qp_del(rig->a.qp);
    rig->a.qp = eng_qp_new(rig->a.pd, &cfg);
    const struct eng_cm_param again = rig_param(rig->a.qp);
    eng_cm_connect(rig->a.cm, rig->now, RIG_PORT, 0, &rig->a.to_peer, &again, &conn);
    rig_expect(rig, &rig->b, ENG_CM_CONNECT_REQUEST);
    rig_del(rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_disconnect_tells_both),
        cmocka_unit_test(test_lost_answer_is_lingered_for),
        cmocka_unit_test(test_linger_is_bounded),
        cmocka_unit_test(test_both_disconnect_at_once),
        cmocka_unit_test(test_peer_is_silent),
        cmocka_unit_test(test_release_disconnects),
        cmocka_unit_test(test_release_of_a_request_rejects),
        cmocka_unit_test(test_answer_after_release_is_refused),
        cmocka_unit_test(test_stale_connection_is_torn_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
