/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Connection management on a wire that loses: repetition by the clock, duplicates, giving up. */
#include "tests/engine/cm_rig.h"

#include <roce/err.h>

#define INTERVAL UINT64_C(1073741824) /* 4.096 us * 2^18 */

static void test_each_message_may_be_lost(void **state)
{
    (void)state;
    static const uint8_t messages[] = {ROCE_CM_REQ, ROCE_CM_REP, ROCE_CM_RTU, ROCE_CM_DREQ,
                                       ROCE_CM_DREP};
    for (unsigned mask = 0; mask < 1 << 10; mask++) { /* 0 to 3 of each */
        struct rig *rig = rig_new(false, &(struct eng_cm_cfg){.seed = mask}, NULL);
        for (unsigned i = 0; i < 5; i++)
            rig->lose[messages[i]] = (int)(mask >> (2 * i) & 3);
        struct rig_pair pair = rig_connect(rig);
        rig_expect(rig, &rig->b, ENG_CM_ESTABLISHED);
        assert_int_equal(eng_cm_disconnect(pair.a, rig->now), 0);
        rig_expect(rig, &rig->b, ENG_CM_DISCONNECTED);
        rig_expect(rig, &rig->a, ENG_CM_DISCONNECTED);
        assert_int_equal(eng_qp_state(rig->b.qp), ENG_ERR);
        rig_run(rig, rig->now + 20 * INTERVAL, NULL, NULL);
        struct eng_cm_event event;
        assert_int_equal(eng_cm_event(rig->a.cm, &event), 0);
        assert_int_equal(eng_cm_event(rig->b.cm, &event), 0);
        rig_del(rig);
    }
}

static void test_repetition_is_the_same_message_on_time(void **state)
{
    (void)state;
    struct rig *rig = rig_new(false, NULL, NULL);
    rig->lose[ROCE_CM_REQ] = 2;
    rig->lose[ROCE_CM_REP] = 1;
    const roce_tstamp begin = rig->now;
    rig_connect(rig);
    for (int i = 0; i < 3; i++) {
        const struct rig_message *req = rig_nth(rig, false, ROCE_CM_REQ, i);
        assert_true(req->at == begin + (uint64_t)i * INTERVAL);
        assert_memory_equal(req->bytes, rig_nth(rig, false, ROCE_CM_REQ, 0)->bytes, ROCE_MAD_LEN);
    }
    const struct rig_message *rep = rig_nth(rig, true, ROCE_CM_REP, 0);
    assert_true(rep->at == begin + 2 * INTERVAL + RIG_DELAY);
    /* The REQ comes again before the REP's own repetition: the same answer, at once. */
    const struct rig_message *again = rig_nth(rig, true, ROCE_CM_REP, 1);
    assert_true(again->at == begin + 3 * INTERVAL + RIG_DELAY);
    assert_memory_equal(again->bytes, rep->bytes, ROCE_MAD_LEN);
    rig_del(rig);
}

static void test_duplicate_request_opens_nothing(void **state)
{
    (void)state;
    struct rig *rig = rig_new(false, NULL, NULL);
    rig->lose[ROCE_CM_REP] = 5;
    rig_connect(rig);
    struct eng_cm_stats stats;
    eng_cm_stats(rig->b.cm, &stats);
    assert_true(stats.duplicates >= 2);
    assert_int_equal(stats.received[0], rig_count(rig, false, ROCE_CM_REQ));
    rig_expect(rig, &rig->b, ENG_CM_ESTABLISHED);
    struct eng_cm_event event;
    assert_int_equal(eng_cm_event(rig->b.cm, &event), 0);
    rig_del(rig);
}

/* A slow application: MRA instead of silence, and the asking side waits for it without giving up.
 */
static void test_slow_answer_is_announced(void **state)
{
    (void)state;
    struct rig *rig = rig_new(false, &(struct eng_cm_cfg){.retries = 3}, NULL);
    eng_cm_listen(rig->b.cm, RIG_PORT, NULL);
    const struct eng_cm_param ask = rig_param(rig->a.qp), answer = rig_param(rig->b.qp);
    struct eng_cm_conn *conn;
    eng_cm_connect(rig->a.cm, rig->now, RIG_PORT, 0, &rig->a.to_peer, &ask, &conn);
    const struct eng_cm_event req = rig_expect(rig, &rig->b, ENG_CM_CONNECT_REQUEST);
    rig_run(rig, rig->now + 50 * INTERVAL, NULL, NULL);
    assert_int_equal(rig_count(rig, true, ROCE_CM_MRA), 1);
    const struct roce_cm *mra = &rig_nth(rig, true, ROCE_CM_MRA, 0)->cm;
    assert_int_equal(mra->rejected, 0);
    assert_int_equal(mra->remote_comm_id, rig_nth(rig, false, ROCE_CM_REQ, 0)->cm.local_comm_id);
    assert_int_equal(rig_count(rig, false, ROCE_CM_REQ), 2);
    assert_int_equal(eng_cm_accept(req.conn, rig->now, &answer), 0);
    rig_expect(rig, &rig->a, ENG_CM_ESTABLISHED);
    rig_del(rig);
}

static void test_unreachable_after_all_repetitions(void **state)
{
    (void)state;
    struct rig *rig = rig_new(false, &(struct eng_cm_cfg){.retries = 4, .timeout = 16}, NULL);
    rig->lose[ROCE_CM_REQ] = -1;
    const struct eng_cm_param ask = rig_param(rig->a.qp);
    const roce_tstamp begin = rig->now;
    struct eng_cm_conn *conn;
    eng_cm_connect(rig->a.cm, rig->now, RIG_PORT, 0, &rig->a.to_peer, &ask, &conn);
    assert_ptr_equal(rig_expect(rig, &rig->a, ENG_CM_UNREACHABLE).conn, conn);
    assert_int_equal(rig_count(rig, false, ROCE_CM_REQ), 5);
    assert_true(rig->now == begin + 5 * (INTERVAL / 4));
    assert_int_equal(eng_qp_state(rig->a.qp), ENG_INIT); /* for another request */
    /* The peer, should it hear, is told by our GUID (IBTA table 106, reason 4). */
    const struct roce_cm *rej = &rig_nth(rig, false, ROCE_CM_REJ, 0)->cm;
    assert_int_equal(rej->reject_reason, 4);
    assert_int_equal(rej->info_len, 8);
    rig_del(rig);
}

static void test_passive_side_gives_up(void **state)
{
    (void)state;
    struct rig *rig = rig_new(false, NULL, &(struct eng_cm_cfg){.retries = 2});
    eng_cm_listen(rig->b.cm, RIG_PORT, NULL);
    const struct eng_cm_param ask = rig_param(rig->a.qp), answer = rig_param(rig->b.qp);
    struct eng_cm_conn *conn;
    rig->lose[ROCE_CM_REP] = -1;
    eng_cm_connect(rig->a.cm, rig->now, RIG_PORT, 0, &rig->a.to_peer, &ask, &conn);
    const struct eng_cm_event req = rig_expect(rig, &rig->b, ENG_CM_CONNECT_REQUEST);
    eng_cm_accept(req.conn, rig->now, &answer);
    assert_ptr_equal(rig_expect(rig, &rig->b, ENG_CM_UNREACHABLE).conn, req.conn);
    assert_int_equal(eng_qp_state(rig->b.qp), ENG_ERR);
    assert_int_equal(rig_expect(rig, &rig->a, ENG_CM_REJECTED).reason, 4);
    rig_del(rig);
}

static void test_who_gave_up_is_known_by_guid(void **state)
{
    (void)state;
    struct rig *rig = rig_new(false, NULL, NULL);
    eng_cm_listen(rig->b.cm, RIG_PORT, NULL);
    const struct eng_cm_param ask = rig_param(rig->a.qp);
    struct eng_cm_conn *conn;
    eng_cm_connect(rig->a.cm, rig->now, RIG_PORT, 0, &rig->a.to_peer, &ask, &conn);
    const struct eng_cm_event req = rig_expect(rig, &rig->b, ENG_CM_CONNECT_REQUEST);
    eng_cm_release(conn, rig->now); /* before any answer came */
    const struct eng_cm_event no = rig_expect(rig, &rig->b, ENG_CM_REJECTED);
    assert_ptr_equal(no.conn, req.conn);
    assert_int_equal(no.reason, 4);
    const struct eng_cm_param answer = rig_param(rig->b.qp);
    assert_int_equal(eng_cm_accept(req.conn, rig->now, &answer), ROCE_ERR_STATE);
    rig_del(rig);
}

/* The RTU never arrives, the first SEND does. */
static void test_data_stands_for_rtu(void **state)
{
    (void)state;
    struct rig *rig = rig_new(false, NULL, NULL);
    rig->lose[ROCE_CM_RTU] = -1;
    rig_connect(rig);
    struct eng_cm_event event;
    assert_false(rig_run(rig, rig->now + INTERVAL / 2, &rig->b, &event));
    const roce_tstamp begin = rig->now;
    const struct eng_send_wr send = {.op = ENG_WR_SEND, .inline_data = "x", .inline_len = 1};
    assert_int_equal(eng_post_send(rig->a.qp, rig->now, &send), 0);
    rig_expect(rig, &rig->b, ENG_CM_ESTABLISHED);
    assert_true(rig->now == begin + RIG_DELAY);
    rig_del(rig);
}

static void test_release_frees_what_waits(void **state)
{
    (void)state;
    struct rig *rig = rig_new(false, &(struct eng_cm_cfg){.max_conns = 2}, NULL);
    const struct eng_cm_param ask = rig_param(rig->a.qp);
    for (int i = 0; i < 20; i++) {
        struct eng_cm_conn *conn, *other;
        struct eng_cm_param param = ask;
        param.qp = rig_qp(&rig->a, ENG_RC);
        assert_int_equal(
            eng_cm_connect(rig->a.cm, rig->now, RIG_PORT, 0, &rig->a.to_peer, &param, &conn), 0);
        rig_expect(rig, &rig->a, ENG_CM_REJECTED);
        param.qp = rig_qp(&rig->a, ENG_RC);
        assert_int_equal(
            eng_cm_connect(rig->a.cm, rig->now, RIG_PORT, 0, &rig->a.to_peer, &param, &other), 0);
        assert_ptr_not_equal(conn, other);
        /* Neither has been released: the table is full. */
        struct eng_cm_conn *third;
        param.qp = rig->a.qp;
        assert_int_equal(
            eng_cm_connect(rig->a.cm, rig->now, RIG_PORT, 0, &rig->a.to_peer, &param, &third),
            ROCE_ERR_FULL);
        eng_cm_release(conn, rig->now);
        eng_cm_release(other, rig->now);
        assert_false(rig_run(rig, rig->now + 1000000, &rig->a, &(struct eng_cm_event){0}));
        rig->n_log = 0;
    }
    rig_del(rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_message_may_be_lost),
        cmocka_unit_test(test_repetition_is_the_same_message_on_time),
        cmocka_unit_test(test_duplicate_request_opens_nothing),
        cmocka_unit_test(test_slow_answer_is_announced),
        cmocka_unit_test(test_unreachable_after_all_repetitions),
        cmocka_unit_test(test_passive_side_gives_up),
        cmocka_unit_test(test_who_gave_up_is_known_by_guid),
        cmocka_unit_test(test_data_stands_for_rtu),
        cmocka_unit_test(test_release_frees_what_waits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
