/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Messages made by hand, of a third host on the wire or in another's name. */
#include "tests/engine/cm_rig.h"

#include <roce/err.h>

struct stranger {
    struct eng_dev *dev;
    struct eng_qp *gsi;
    struct eng_cq *cq;
    struct eng_ah to_b;
    uint64_t tid;
};

static struct stranger stranger_new(uint8_t host, roce_tstamp now)
{
    struct stranger s = {.to_b = {.dmac = {2, 0, 0, 0, 0, 2}, .ttl = 64}};
    struct eng_dev_cfg cfg = {.mac = {2, 0, 0, 0, 0, host}, .seed = 77};
    roce_ip_v4(cfg.ip, 10, 0, 0, host);
    memcpy(s.to_b.src_ip, cfg.ip, 16);
    roce_ip_v4(s.to_b.dst_ip, 10, 0, 0, 2);
    s.dev = eng_dev_new(&cfg);
    assert_non_null(s.dev);
    struct eng_pd *pd = eng_pd_new(s.dev);
    s.cq = eng_cq_new(s.dev, 16);
    const struct eng_qp_cfg qp_cfg = {.service = ENG_UD,
                                      .send_cq = s.cq,
                                      .recv_cq = s.cq,
                                      .max_send_wr = 8,
                                      .max_recv_wr = 8,
                                      .qpn = 1};
    s.gsi = eng_qp_new(pd, &qp_cfg);
    assert_non_null(s.gsi);
    struct eng_qp_attr attr = {.state = ENG_INIT, .qkey = ROCE_GSI_QKEY};
    assert_int_equal(eng_qp_modify(s.gsi, now, &attr, ENG_ATTR_STATE | ENG_ATTR_QKEY), 0);
    attr.state = ENG_RTR;
    assert_int_equal(eng_qp_modify(s.gsi, now, &attr, ENG_ATTR_STATE), 0);
    attr.state = ENG_RTS;
    assert_int_equal(eng_qp_modify(s.gsi, now, &attr, ENG_ATTR_STATE | ENG_ATTR_SQ_PSN), 0);
    return s;
}

/* The 256 bytes go to b, and b handles them. */
static void say_bytes(struct rig *rig, struct stranger *s, const uint8_t *bytes, uint32_t len)
{
    struct eng_send_wr wr = {.op = ENG_WR_SEND,
                             .inline_data = bytes,
                             .inline_len = len,
                             .ah = s->to_b,
                             .dest_qpn = 1,
                             .qkey = ROCE_GSI_QKEY};
    assert_int_equal(eng_post_send(s->gsi, rig->now, &wr), 0);
    uint8_t buf[ENG_FRAME_MAX];
    const int n = eng_dev_write(s->dev, rig->now, buf, sizeof(buf));
    assert_true(n > 0);
    rig_put(rig, true, buf, n);
    rig_run(rig, rig->now + 2 * RIG_DELAY, NULL, NULL);
}

static void say(struct rig *rig, struct stranger *s, const struct roce_cm *msg)
{
    uint8_t bytes[ROCE_MAD_LEN];
    const struct roce_mad mad = {.base_version = 1,
                                 .mgmt_class = 7,
                                 .class_version = 2,
                                 .method = 3,
                                 .tid = ++s->tid,
                                 .attr_id = msg->message};
    roce_mad_encode(&mad, bytes, sizeof(bytes));
    roce_cm_encode(msg, bytes + ROCE_MAD_HDR_LEN, ROCE_CM_LEN);
    say_bytes(rig, s, bytes, sizeof(bytes));
}

static struct roce_cm request(const struct stranger *s, uint32_t comm_id)
{
    struct roce_cm msg = {.message = ROCE_CM_REQ,
                          .local_comm_id = comm_id,
                          .service_id = RIG_PORT,
                          .ca_guid = 0x1234,
                          .local_qpn = 0x100 + comm_id,
                          .starting_psn = 7,
                          .local_cm_timeout = 20,
                          .path_mtu = 3,
                          .pkey = 0xFFFF};
    memcpy(msg.primary.local_gid, s->to_b.src_ip, 16);
    memcpy(msg.primary.remote_gid, s->to_b.dst_ip, 16);
    return msg;
}

static struct eng_cm_stats stats_of(const struct rig_side *side)
{
    struct eng_cm_stats stats;
    eng_cm_stats(side->cm, &stats);
    return stats;
}

static void test_requests_are_bounded(void **state)
{
    (void)state;
    struct rig *rig = rig_new(false, NULL, &(struct eng_cm_cfg){.max_pending = 10});
    struct stranger s = stranger_new(3, rig->now);
    eng_cm_listen(rig->b.cm, RIG_PORT, NULL);
    for (uint32_t i = 1; i <= 50; i++) {
        const struct roce_cm msg = request(&s, i);
        say(rig, &s, &msg);
    }
    struct eng_cm_event event, first = {0};
    int n = 0;
    while (eng_cm_event(rig->b.cm, &event) == 1) {
        assert_int_equal(event.kind, ENG_CM_CONNECT_REQUEST);
        if (n++ == 0)
            first = event;
    }
    assert_int_equal(n, 10);
    assert_int_equal(stats_of(&rig->b).dropped, 40);
    /* A place that is given back is used again. */
    eng_cm_release(first.conn, rig->now);
    const struct roce_cm msg = request(&s, 60);
    say(rig, &s, &msg);
    assert_int_equal(eng_cm_event(rig->b.cm, &event), 1);
    eng_dev_del(s.dev);
    rig_del(rig);
}

static void test_full_table_says_no(void **state)
{
    (void)state;
    struct rig *rig = rig_new(false, NULL, &(struct eng_cm_cfg){.max_conns = 3});
    struct stranger s = stranger_new(3, rig->now);
    eng_cm_listen(rig->b.cm, RIG_PORT, NULL);
    for (uint32_t i = 1; i <= 4; i++) {
        const struct roce_cm msg = request(&s, i);
        say(rig, &s, &msg);
    }
    const struct roce_cm *rej = &rig_nth(rig, true, ROCE_CM_REJ, 0)->cm;
    assert_int_equal(rej->reject_reason, 3);
    assert_int_equal(rej->remote_comm_id, 4);
    eng_dev_del(s.dev);
    rig_del(rig);
}

/* Events nobody takes hold messages back, and lose none of those taken in. */
static void test_events_that_nobody_takes(void **state)
{
    (void)state;
    struct rig *rig = rig_new(false, NULL, &(struct eng_cm_cfg){.max_pending = 1000});
    struct stranger s = stranger_new(3, rig->now);
    eng_cm_listen(rig->b.cm, RIG_PORT, NULL);
    for (uint32_t i = 1; i <= 80; i++) {
        const struct roce_cm msg = request(&s, i);
        say(rig, &s, &msg);
    }
    struct eng_cm_event event;
    uint32_t n = 0;
    while (rig_run(rig, rig->now + 1, &rig->b, &event))
        assert_int_equal(event.remote_qpn, 0x100 + ++n);
    assert_int_equal(n, 80);
    eng_dev_del(s.dev);
    rig_del(rig);
}

static void test_impossible_requests(void **state)
{
    (void)state;
    static const struct {
        uint16_t reason;
        uint8_t transport, mtu;
        uint8_t gid;
    } cases[] = {
        {9, 2, 3, 2},                                /* RD */
        {9, 3, 3, 2},                                /* XRC */
        {26, 0, 0, 2}, {26, 0, 6, 2}, {12, 0, 3, 9}, /* to another host's GID */
    };
    struct rig *rig = rig_new(false, NULL, NULL);
    struct stranger s = stranger_new(3, rig->now);
    eng_cm_listen(rig->b.cm, RIG_PORT, NULL);
    for (int i = 0; i < 5; i++) {
        struct roce_cm msg = request(&s, (uint32_t)i + 1);
        msg.transport = cases[i].transport;
        msg.path_mtu = cases[i].mtu;
        msg.primary.remote_gid[15] = cases[i].gid;
        say(rig, &s, &msg);
        assert_int_equal(rig_nth(rig, true, ROCE_CM_REJ, i)->cm.reject_reason, cases[i].reason);
    }
    assert_int_equal(eng_cm_event(rig->b.cm, &(struct eng_cm_event){0}), 0);
    eng_dev_del(s.dev);
    rig_del(rig);
}

/* Somebody who has read the communication ids speaks from another address. */
static void test_strangers_are_not_heard(void **state)
{
    (void)state;
    struct rig *rig = rig_new(false, NULL, NULL);
    rig_connect(rig);
    rig_expect(rig, &rig->b, ENG_CM_ESTABLISHED);
    struct stranger s = stranger_new(3, rig->now);
    const struct roce_cm *rep = &rig_nth(rig, true, ROCE_CM_REP, 0)->cm;
    static const uint8_t messages[] = {ROCE_CM_MRA,  ROCE_CM_REJ,  ROCE_CM_REP, ROCE_CM_RTU,
                                       ROCE_CM_DREQ, ROCE_CM_DREP, ROCE_CM_LAP, ROCE_CM_APR};
    for (int i = 0; i < 8; i++) {
        const struct roce_cm msg = {.message = messages[i],
                                    .local_comm_id = rep->remote_comm_id,
                                    .remote_comm_id = rep->local_comm_id};
        say(rig, &s, &msg);
    }
    assert_int_equal(stats_of(&rig->b).unexpected, 8);
    assert_int_equal(eng_cm_event(rig->b.cm, &(struct eng_cm_event){0}), 0);
    assert_int_equal(eng_qp_state(rig->b.qp), ENG_RTS);
    eng_dev_del(s.dev);
    rig_del(rig);
}

/* A DREQ for what is long gone is answered, so that the peer need not wait. */
static void test_unknown_connections_are_buried(void **state)
{
    (void)state;
    struct rig *rig = rig_new(false, NULL, NULL);
    struct stranger s = stranger_new(3, rig->now);
    const struct roce_cm dreq = {
        .message = ROCE_CM_DREQ, .local_comm_id = 5, .remote_comm_id = 6, .remote_qpn = 7};
    say(rig, &s, &dreq);
    const struct rig_message *drep = rig_nth(rig, true, ROCE_CM_DREP, 0);
    assert_int_equal(drep->cm.local_comm_id, 6);
    assert_int_equal(drep->cm.remote_comm_id, 5);
    assert_true(drep->mad.tid == s.tid);
    eng_dev_del(s.dev);
    rig_del(rig);
}

static void test_what_is_not_a_message_is_counted(void **state)
{
    (void)state;
    struct rig *rig = rig_new(false, NULL, NULL);
    struct stranger s = stranger_new(3, rig->now);
    const struct roce_cm msg = request(&s, 1);
    uint8_t good[ROCE_MAD_LEN];
    const struct roce_mad mad = {.base_version = 1,
                                 .mgmt_class = 7,
                                 .class_version = 2,
                                 .method = 3,
                                 .attr_id = ROCE_CM_REQ};
    roce_mad_encode(&mad, good, sizeof(good));
    roce_cm_encode(&msg, good + ROCE_MAD_HDR_LEN, ROCE_CM_LEN);
    static const int wrong[] = {0, 1, 2, 3, 17}; /* versions, class, method, attribute */
    for (int i = 0; i < 5; i++) {
        uint8_t bytes[ROCE_MAD_LEN];
        memcpy(bytes, good, sizeof(bytes));
        bytes[wrong[i]] ^= 0x80;
        say_bytes(rig, &s, bytes, sizeof(bytes));
    }
    say_bytes(rig, &s, good, ROCE_MAD_LEN - 4);
    assert_int_equal(stats_of(&rig->b).malformed, 6);
    assert_int_equal(rig->n_log, 0);
    eng_dev_del(s.dev);
    rig_del(rig);
}

/* Any messages in any order, for what exists and what does not: the books stay right, and an honest
 * client still gets through afterwards. */
static void test_random_messages(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 200; seed++) {
        struct rig *rig =
            rig_new(false, NULL, &(struct eng_cm_cfg){.max_conns = 8, .max_pending = 4});
        struct stranger s = stranger_new(1, rig->now); /* in a's name */
        struct eng_rng rng = {.state = seed};
        eng_cm_listen(rig->b.cm, RIG_PORT, NULL);
        uint32_t known = 0;
        for (int i = 0; i < 60; i++) {
            const uint64_t r = eng_rng_next(&rng);
            struct roce_cm msg = request(&s, (uint32_t)(r >> 8 & 3) + 1);
            msg.message = (uint8_t)(ROCE_CM_REQ + r % 11);
            msg.remote_comm_id = r >> 16 & 1 ? known : (uint32_t)(r >> 32);
            msg.rejected = r >> 17 & 1;
            msg.reject_reason = r >> 18 & 1 ? 4 : 28;
            msg.request_id = (uint32_t)(r >> 20 & 3);
            msg.service_timeout = 31;
            say(rig, &s, &msg);
            struct eng_cm_event event;
            while (eng_cm_event(rig->b.cm, &event) == 1) {
                const struct eng_cm_param answer = rig_param(rig_qp(&rig->b, ENG_RC));
                if (event.kind != ENG_CM_CONNECT_REQUEST && event.kind != ENG_CM_ESTABLISHED)
                    eng_cm_release(event.conn, rig->now);
                else if (event.kind == ENG_CM_CONNECT_REQUEST && eng_rng_next(&rng) % 2 != 0)
                    eng_cm_accept(event.conn, rig->now, &answer);
                else if (eng_rng_next(&rng) % 2 != 0)
                    eng_cm_release(event.conn, rig->now);
            }
            for (int k = 0; k < rig->n_log; k++)
                if (rig->log[k].from_b)
                    known = rig->log[k].cm.local_comm_id;
            rig->n_log = 0;
        }
        eng_dev_del(s.dev);
        rig_del(rig);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_requests_are_bounded),
        cmocka_unit_test(test_full_table_says_no),
        cmocka_unit_test(test_events_that_nobody_takes),
        cmocka_unit_test(test_impossible_requests),
        cmocka_unit_test(test_strangers_are_not_heard),
        cmocka_unit_test(test_unknown_connections_are_buried),
        cmocka_unit_test(test_what_is_not_a_message_is_counted),
        cmocka_unit_test(test_random_messages),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
