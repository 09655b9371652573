/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Connections come to be: what is sent, what both sides learn, refusals, SIDR. */
#include "tests/engine/cm_rig.h"

#include <roce/err.h>

#include "tests/hex.h"

static void assert_states(const struct rig *rig, enum eng_qp_state state)
{
    assert_int_equal(eng_qp_state(rig->a.qp), state);
    assert_int_equal(eng_qp_state(rig->b.qp), state);
}

static void test_both_sides_learn_the_other(void **state)
{
    (void)state;
    struct rig *rig = rig_new(false, NULL, NULL);
    int listener_ctx = 0, a_ctx = 0, b_ctx = 0;
    assert_int_equal(eng_cm_listen(rig->b.cm, RIG_PORT, &listener_ctx), 0);
    struct eng_cm_param ask = rig_param(rig->a.qp), answer = rig_param(rig->b.qp);
    ask.private_data = "question";
    ask.private_len = 8;
    ask.ctx = &a_ctx;
    ask.flow_control = answer.flow_control = true;
    answer.private_data = "answer";
    answer.private_len = 6;
    answer.ctx = &b_ctx;
    answer.responder_resources = 16; /* more than is asked for: cut */
    answer.initiator_depth = 2;
    answer.rnr_retry = 7;
    struct eng_cm_conn *conn;
    assert_int_equal(
        eng_cm_connect(rig->a.cm, rig->now, RIG_PORT, 4444, &rig->a.to_peer, &ask, &conn), 0);

    const struct eng_cm_event req = rig_expect(rig, &rig->b, ENG_CM_CONNECT_REQUEST);
    assert_ptr_equal(req.ctx, &listener_ctx);
    assert_true(req.service_id == UINT64_C(0x01061c06)); /* TCP port space, port 7174 */
    assert_true(req.has_ip);
    assert_int_equal(req.ip.src_port, 4444);
    assert_memory_equal(req.ip.src, rig->a.to_peer.src_ip, 16);
    assert_memory_equal(req.ip.dst, rig->a.to_peer.dst_ip, 16);
    assert_memory_equal(req.ah.dst_ip, rig->a.to_peer.src_ip, 16);
    assert_memory_equal(req.ah.dmac, rig->b.to_peer.dmac, 6);
    assert_int_equal(req.remote_qpn, eng_qp_num(rig->a.qp));
    assert_int_equal(req.responder_resources, 3); /* what the peer may have outstanding */
    assert_int_equal(req.initiator_depth, 4);     /* what it holds for us */
    assert_int_equal(req.retry_count, 6);
    assert_int_equal(req.rnr_retry, 5);
    assert_int_equal(req.path_mtu, 1024);
    assert_int_equal(req.private_len, 92 - 36);
    assert_memory_equal(req.private_data, "question\0", 9);
    assert_int_equal(eng_cm_accept(req.conn, rig->now, &answer), 0);
    assert_int_equal(eng_qp_state(rig->b.qp), ENG_RTS);

    const struct eng_cm_event a = rig_expect(rig, &rig->a, ENG_CM_ESTABLISHED);
    assert_ptr_equal(a.conn, conn);
    assert_ptr_equal(a.ctx, &a_ctx);
    assert_int_equal(a.remote_qpn, eng_qp_num(rig->b.qp));
    assert_true(a.flow_control);
    assert_int_equal(a.responder_resources, 2);
    assert_int_equal(a.initiator_depth, 3);
    assert_int_equal(a.rnr_retry, 7);
    assert_int_equal(a.private_len, 196);
    assert_memory_equal(a.private_data, "answer\0", 7);
    const struct eng_cm_event b = rig_expect(rig, &rig->b, ENG_CM_ESTABLISHED);
    assert_ptr_equal(b.ctx, &b_ctx);
    assert_int_equal(a.remote_psn, b.local_psn);
    assert_int_equal(b.remote_psn, a.local_psn);
    assert_states(rig, ENG_RTS);
    assert_int_equal(rig->n_log, 3); /* REQ, REP, RTU */
    rig_del(rig);
}

/* Field for field what the Linux RDMA-CM puts into a routed request (pcaps/cm_rping.pcap, frame
 * 1), but for the values that are its own. */
static void test_request_is_like_that_of_linux(void **state)
{
    (void)state;
    struct rig *rig = rig_new(false, NULL, NULL);
    struct eng_cm_param ask = {.qp = rig->a.qp,
                               .service = ENG_RC,
                               .responder_resources = 1,
                               .initiator_depth = 1,
                               .retry_count = 7,
                               .rnr_retry = 7,
                               .ack_timeout = 19};
    struct eng_cm_conn *conn;
    assert_int_equal(
        eng_cm_connect(rig->a.cm, rig->now, RIG_PORT, 0xd8fe, &rig->a.to_peer, &ask, &conn), 0);
    rig_run(rig, rig->now + 1, NULL, NULL);
    const struct rig_message *m = rig_nth(rig, false, ROCE_CM_REQ, 0);
    assert_int_equal(m->mad.base_version, 1);
    assert_int_equal(m->mad.mgmt_class, 7);
    assert_int_equal(m->mad.class_version, 2);
    assert_int_equal(m->mad.method, 3);
    assert_int_equal(m->mad.attr_id, 0x10);
    size_t len;
    uint8_t *linux_req = hex_bytes(
        "c5ef4f00000000000000000001061c06505400fffe77000200000000000000000000150100000001000000a0"
        "cbf636a7ffff57f0ffffffff00000000000000000000ffffc0a84d0200000000000000000000ffffc0a84d03"
        "a62c800000400098",
        &len);
    uint8_t *ours = exact_copy(m->bytes + ROCE_MAD_HDR_LEN, len);
    /* Communication id, GUID, QPN, PSN, addresses, flow label; timeouts (18 for 20). */
    const struct {
        size_t off, len;
    } own[] = {{0, 4}, {16, 8}, {32, 3}, {44, 3}, {68, 4}, {84, 4}, {88, 3}, {43, 1}, {47, 1}};
    for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
        memset(ours + own[i].off, 0, own[i].len), memset(linux_req + own[i].off, 0, own[i].len);
    assert_memory_equal(ours, linux_req, len);
    assert_int_equal(m->bytes[ROCE_MAD_HDR_LEN + 43], 18 << 3);
    assert_int_equal(m->bytes[ROCE_MAD_HDR_LEN + 47], 18 << 3 | 7);
    assert_int_equal(m->cm.ip.src_port, 0xd8fe);
    free(ours);
    free(linux_req);
    rig_del(rig);
}

/* A path that cannot be routed (hop limit 1) has its LIDs, which RoCE leaves 0. */
static void test_request_without_routing(void **state)
{
    (void)state;
    struct rig *rig = rig_new(false, NULL, NULL);
    const struct eng_cm_param ask = rig_param(rig->a.qp);
    struct eng_cm_conn *conn;
    rig->a.to_peer.ttl = 1;
    eng_cm_connect(rig->a.cm, rig->now, RIG_PORT, 0, &rig->a.to_peer, &ask, &conn);
    rig_run(rig, rig->now + 1, NULL, NULL);
    const struct roce_cm *cm = &rig_nth(rig, false, ROCE_CM_REQ, 0)->cm;
    assert_true(cm->primary.subnet_local);
    assert_int_equal(cm->primary.local_lid, 0);
    assert_int_equal(cm->primary.hop_limit, 1);
    assert_true(cm->ip.src_port >= 49152);
    rig_del(rig);
}

static void test_transaction_and_ids_are_echoed(void **state)
{
    (void)state;
    struct rig *rig = rig_new(true, NULL, NULL);
    rig_connect(rig);
    rig_run(rig, rig->now + 1000000, NULL, NULL);
    const struct rig_message *req = rig_nth(rig, false, ROCE_CM_REQ, 0);
    const struct rig_message *rep = rig_nth(rig, true, ROCE_CM_REP, 0);
    const struct rig_message *rtu = rig_nth(rig, false, ROCE_CM_RTU, 0);
    assert_int_equal(req->cm.ip.ip_version, 6);
    assert_true(rep->mad.tid == req->mad.tid && rtu->mad.tid == req->mad.tid);
    assert_int_equal(rep->cm.remote_comm_id, req->cm.local_comm_id);
    assert_int_equal(rtu->cm.local_comm_id, req->cm.local_comm_id);
    assert_int_equal(rtu->cm.remote_comm_id, rep->cm.local_comm_id);
    rig_del(rig);
}

/* The starting PSN of a message is that of whoever receives the message (IBTA 12.6.5, 12.6.8), as
 * pcaps/cm_rping.pcap shows: the server's READ begins with the PSN of the REQ. */
static void test_data_flows_from_the_starting_psns(void **state)
{
    (void)state;
    struct rig *rig = rig_new(false, NULL, NULL);
    rig_connect(rig);
    uint8_t buf[2][64] = {{0}};
    struct rig_side *sides[2] = {&rig->a, &rig->b};
    for (int i = 0; i < 2; i++) {
        struct rig_side *to = sides[!i];
        struct eng_mr *mr =
            eng_mr_new(to->pd, buf[i], sizeof(buf[i]), (uintptr_t)buf[i], ENG_LOCAL_WRITE, NULL);
        const struct eng_recv_wr recv = {
            .n_sge = 1,
            .sge = {{.addr = (uintptr_t)buf[i], .length = 64, .lkey = eng_mr_lkey(mr)}}};
        assert_int_equal(eng_post_recv(to->qp, rig->now, &recv), 0);
        const struct eng_send_wr send = {
            .op = ENG_WR_SEND, .signaled = true, .inline_data = "over", .inline_len = 4};
        assert_int_equal(eng_post_send(sides[i]->qp, rig->now, &send), 0);
        rig_run(rig, rig->now + 10000000, NULL, NULL);
        struct eng_wc wc;
        assert_int_equal(eng_cq_poll(to->cq, &wc, 1), 1);
        assert_int_equal(wc.status, ENG_WC_SUCCESS);
        assert_int_equal(wc.byte_len, 4);
        assert_memory_equal(buf[i], "over", 5);
        assert_int_equal(eng_cq_poll(sides[i]->cq, &wc, 1), 1);
        assert_int_equal(wc.status, ENG_WC_SUCCESS);
    }
    assert_int_equal(rig->first_psn[0], rig_nth(rig, true, ROCE_CM_REP, 0)->cm.starting_psn);
    rig_del(rig);
}

static uint16_t refusal_of(struct rig *rig, const struct eng_cm_param *ask)
{
    struct eng_cm_conn *conn;
    assert_int_equal(eng_cm_connect(rig->a.cm, rig->now, RIG_PORT, 0, &rig->a.to_peer, ask, &conn),
                     0);
    const struct eng_cm_event event = rig_expect(rig, &rig->a, ENG_CM_REJECTED);
    assert_ptr_equal(event.conn, conn);
    assert_int_equal(eng_qp_state(ask->qp), ENG_INIT);
    eng_cm_release(conn, rig->now);
    return event.reason;
}

static void test_nobody_listens(void **state)
{
    (void)state;
    struct rig *rig = rig_new(false, NULL, NULL);
    const struct eng_cm_param ask = rig_param(rig->a.qp);
    assert_int_equal(refusal_of(rig, &ask), 8);
    const struct roce_cm *rej = &rig_nth(rig, true, ROCE_CM_REJ, 0)->cm;
    assert_int_equal(rej->rejected, 0);
    assert_int_equal(rej->local_comm_id, 0);
    assert_int_equal(rej->remote_comm_id, rig_nth(rig, false, ROCE_CM_REQ, 0)->cm.local_comm_id);
    rig_del(rig);
}

/* A program may ask before its peer listens, again and again with the same QP and its receives. */
static void test_refused_qp_asks_again(void **state)
{
    (void)state;
    struct rig *rig = rig_new(false, NULL, NULL);
    const struct eng_cm_param ask = rig_param(rig->a.qp);
    const struct eng_recv_wr recv = {.wr_id = 5};
    struct eng_wc wc;
    assert_int_equal(refusal_of(rig, &ask), 8);
    assert_int_equal(eng_post_recv(rig->a.qp, rig->now, &recv), 0);
    assert_int_equal(refusal_of(rig, &ask), 8);
    assert_int_equal(eng_cq_poll(rig->a.cq, &wc, 1), 0);
    rig_connect(rig);
    assert_int_equal(eng_qp_state(rig->a.qp), ENG_RTS);
    const struct eng_send_wr send = {.op = ENG_WR_SEND};
    assert_int_equal(eng_post_send(rig->b.qp, rig->now, &send), 0);
    rig_run(rig, rig->now + 10000000, NULL, NULL);
    assert_int_equal(eng_cq_poll(rig->a.cq, &wc, 1), 1);
    assert_int_equal(wc.status, ENG_WC_SUCCESS);
    assert_int_equal(wc.wr_id, 5);
    rig_del(rig);
}

static void test_listeners_come_and_go(void **state)
{
    (void)state;
    struct rig *rig = rig_new(false, NULL, &(struct eng_cm_cfg){.max_listeners = 2});
    assert_int_equal(eng_cm_listen(rig->b.cm, 1, NULL), 0);
    assert_int_equal(eng_cm_listen(rig->b.cm, 1, NULL), ROCE_ERR_INVALID);
    assert_int_equal(eng_cm_listen(rig->b.cm, RIG_PORT, NULL), 0);
    assert_int_equal(eng_cm_listen(rig->b.cm, 3, NULL), ROCE_ERR_FULL);
    eng_cm_unlisten(rig->b.cm, RIG_PORT);
    const struct eng_cm_param ask = rig_param(rig->a.qp);
    assert_int_equal(refusal_of(rig, &ask), 8);
    assert_int_equal(eng_cm_refused(rig->b.cm)->n, 0);
    assert_int_equal(eng_cm_listen(rig->b.cm, 3, NULL), 0);
    rig_del(rig);
}

static void test_mtu_too_large(void **state)
{
    (void)state;
    struct rig *rig = rig_new(false, NULL, &(struct eng_cm_cfg){.max_mtu = 512});
    eng_cm_listen(rig->b.cm, RIG_PORT, NULL);
    const struct eng_cm_param ask = rig_param(rig->a.qp);
    assert_int_equal(eng_cm_refused(rig->b.cm)->n, 0);
    assert_int_equal(refusal_of(rig, &ask), 26);
    const struct eng_cm_refused *refused = eng_cm_refused(rig->b.cm);
    assert_int_equal(refused->n, 1);
    assert_int_equal(refused->reason, 26);
    assert_int_equal(refused->path_mtu, 1024);
    assert_memory_equal(refused->ip, rig->b.to_peer.dst_ip, 16);
    rig_del(rig);
}

static void test_application_says_no(void **state)
{
    (void)state;
    struct rig *rig = rig_new(false, NULL, NULL);
    eng_cm_listen(rig->b.cm, RIG_PORT, NULL);
    const struct eng_cm_param ask = rig_param(rig->a.qp);
    struct eng_cm_conn *conn;
    eng_cm_connect(rig->a.cm, rig->now, RIG_PORT, 0, &rig->a.to_peer, &ask, &conn);
    const struct eng_cm_event req = rig_expect(rig, &rig->b, ENG_CM_CONNECT_REQUEST);
    assert_int_equal(eng_cm_reject(req.conn, rig->now, 28, "because", 7), 0);
    const struct eng_cm_event no = rig_expect(rig, &rig->a, ENG_CM_REJECTED);
    assert_int_equal(no.reason, 28);
    assert_int_equal(no.private_len, 148);
    assert_memory_equal(no.private_data, "because\0", 8);
    rig_del(rig);
}

static void test_parameters_are_checked(void **state)
{
    (void)state;
    struct rig *rig = rig_new(false, NULL, NULL);
    const struct eng_cm_param good = rig_param(rig->a.qp);
    const uint8_t bytes[255] = {0};
    struct eng_cm_param bad[6];
    for (int i = 0; i < 6; i++)
        bad[i] = good;
    bad[0].qp = NULL;
    bad[1].retry_count = 8;
    bad[2].path_mtu = 1000;
    bad[3].private_data = bytes;
    bad[3].private_len = 92 - 36 + 1;
    bad[4].responder_resources = 129;
    bad[5].rnr_retry = 8;
    struct eng_cm_conn *conn;
    for (int i = 0; i < 6; i++)
        assert_int_equal(
            eng_cm_connect(rig->a.cm, rig->now, RIG_PORT, 0, &rig->a.to_peer, &bad[i], &conn),
            ROCE_ERR_INVALID);
    /* A QP that is connected already cannot be connected again. */
    rig_connect(rig);
    assert_int_equal(
        eng_cm_connect(rig->a.cm, rig->now, RIG_PORT, 0, &rig->a.to_peer, &good, &conn),
        ROCE_ERR_INVALID);
    rig_del(rig);
}

static void test_unreliable_connection(void **state)
{
    (void)state;
    struct rig *rig = rig_new(false, NULL, NULL);
    rig->a.qp = rig_qp(&rig->a, ENG_UC);
    rig->b.qp = rig_qp(&rig->b, ENG_UC);
    eng_cm_listen(rig->b.cm, RIG_PORT, NULL);
    struct eng_cm_param ask = rig_param(rig->a.qp), answer = rig_param(rig->b.qp);
    ask.service = answer.service = ENG_UC;
    struct eng_cm_conn *conn;
    assert_int_equal(eng_cm_connect(rig->a.cm, rig->now, RIG_PORT, 0, &rig->a.to_peer, &ask, &conn),
                     0);
    const struct eng_cm_event req = rig_expect(rig, &rig->b, ENG_CM_CONNECT_REQUEST);
    assert_int_equal(req.service, ENG_UC);
    assert_int_equal(rig_nth(rig, false, ROCE_CM_REQ, 0)->cm.transport, 1);
    assert_int_equal(eng_cm_accept(req.conn, rig->now, &answer), 0);
    rig_expect(rig, &rig->a, ENG_CM_ESTABLISHED);
    assert_states(rig, ENG_RTS);
    rig_del(rig);
}

static void test_datagram_service_is_resolved(void **state)
{
    (void)state;
    struct rig *rig = rig_new(false, NULL, NULL);
    const uint64_t service = eng_cm_service_id(ENG_CM_UDP, 7174);
    struct eng_cm_param ask = {.qp = rig_qp(&rig->a, ENG_UD), .service = ENG_UD};
    struct eng_cm_param answer = {.qp = rig_qp(&rig->b, ENG_UD), .service = ENG_UD, .qkey = 0x77};
    struct eng_cm_conn *conn;
    /* Nobody there: SIDR status 1 (IBTA 12.11.2). */
    eng_cm_connect(rig->a.cm, rig->now, service, 0, &rig->a.to_peer, &ask, &conn);
    assert_int_equal(rig_expect(rig, &rig->a, ENG_CM_REJECTED).reason, 1);
    eng_cm_release(conn, rig->now);

    eng_cm_listen(rig->b.cm, service, NULL);
    rig->lose[ROCE_CM_SIDR_REP] = 1; /* asked again, answered again, one connection */
    assert_int_equal(eng_cm_connect(rig->a.cm, rig->now, service, 99, &rig->a.to_peer, &ask, &conn),
                     0);
    const struct eng_cm_event req = rig_expect(rig, &rig->b, ENG_CM_CONNECT_REQUEST);
    assert_int_equal(req.service, ENG_UD);
    assert_int_equal(req.ip.src_port, 99);
    assert_int_equal(eng_cm_accept(req.conn, rig->now, &answer), 0);
    const struct eng_cm_event yes = rig_expect(rig, &rig->a, ENG_CM_ESTABLISHED);
    assert_int_equal(yes.remote_qpn, eng_qp_num(answer.qp));
    assert_int_equal(yes.qkey, 0x77);
    assert_int_equal(eng_qp_state(ask.qp), ENG_RTS);
    rig_expect(rig, &rig->b, ENG_CM_ESTABLISHED);
    assert_int_equal(eng_cm_event(rig->b.cm, &(struct eng_cm_event){0}), 0);
    rig_del(rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_both_sides_learn_the_other),
        cmocka_unit_test(test_request_is_like_that_of_linux),
        cmocka_unit_test(test_request_without_routing),
        cmocka_unit_test(test_transaction_and_ids_are_echoed),
        cmocka_unit_test(test_data_flows_from_the_starting_psns),
        cmocka_unit_test(test_nobody_listens),
        cmocka_unit_test(test_refused_qp_asks_again),
        cmocka_unit_test(test_listeners_come_and_go),
        cmocka_unit_test(test_mtu_too_large),
        cmocka_unit_test(test_application_says_no),
        cmocka_unit_test(test_parameters_are_checked),
        cmocka_unit_test(test_unreliable_connection),
        cmocka_unit_test(test_datagram_service_is_resolved),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
