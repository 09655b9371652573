/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Faults: each rule strikes the frame it names, and no other; what was done is told. */
#include "cmocka_all.h"

#include <string.h>

#include <roce/bth.h>
#include <roce/icrc.h>
#include <roce/net.h>
#include <roce/packet.h>

#include "engine/engine.h"
#include "port/loopback.h"
#include "rocereplay/fault.h"

enum { LOCAL_QPN = 0x11, REMOTE_QPN = 0x22, LOCAL_PSN = 0xFFFFFE, REMOTE_PSN = 0x500, LEN = 62 };

/* RC SEND Only (0x04) or ACKNOWLEDGE (0x11) without payload: 14 + 20 + 8 + 12 (+ 4) + 4. */
static size_t build(uint8_t *buf, uint8_t opcode, uint32_t qpn, uint32_t psn)
{
    const size_t aeth = opcode == 0x11 ? 4 : 0, ip_len = 44 + aeth;
    memset(buf, 0, 64);
    buf[12] = 8;
    struct roce_ip ip = {.version = 4, .ttl = 64, .proto = 17, .frag = 0x4000};
    ip.total_len = (uint32_t)ip_len;
    roce_ip_v4(ip.src, 10, 0, 0, 1);
    roce_ip_v4(ip.dst, 10, 0, 0, 2);
    assert_int_equal(roce_ipv4_encode(&ip, buf + 14, 20), 20);
    const struct roce_udp udp = {.sport = 0xC000, .dport = 4791, .len = (uint16_t)(ip_len - 20)};
    assert_int_equal(roce_udp_encode(&udp, buf + 34, 8), 8);
    const struct roce_bth bth = {.opcode = opcode, .pkey = 0xFFFF, .dqpn = qpn, .psn = psn};
    assert_int_equal(roce_bth_encode(&bth, buf + 42, 12), 12);
    const uint32_t icrc = roce_icrc_compute(buf + 14, ip_len - 4);
    for (int i = 0; i < 4; i++)
        buf[14 + ip_len - 4 + (size_t)i] = (uint8_t)(icrc >> (24 - 8 * i));
    return 14 + ip_len;
}

struct rig {
    struct port *faulty, *other;
    uint8_t sent[64];
};

static void open_rig(struct rig *rig, enum fault_dir dir, enum fault_kind kind, const char *rules)
{
    const struct loopback_cfg cfg = {0};
    static struct fault_plan plan;
    struct port *ends[2];
    char why[PORT_TEXT_MAX];
    plan = (struct fault_plan){.dir = dir};
    assert_int_equal(fault_parse(&plan, kind, rules, why), 0);
    assert_int_equal(loopback_new(&cfg, ends), 0);
    rig->other = ends[1];
    rig->faulty = fault_new(ends[0], &plan, 1);
    assert_non_null(rig->faulty);
    fault_learn(rig->faulty, LOCAL_QPN, LOCAL_PSN, REMOTE_QPN, REMOTE_PSN);
}

static void close_rig(struct rig *rig)
{
    port_del(rig->faulty);
    port_del(rig->other);
}

static void send_to(struct port *port, uint8_t opcode, uint32_t qpn, uint32_t psn, roce_tstamp now)
{
    uint8_t *room = port->ops->room(port, ENG_FRAME_MAX);
    assert_non_null(room);
    const size_t len = build(room, opcode, qpn, psn);
    assert_int_equal(port->ops->commit(port, len, now), 0);
    assert_int_equal(port->ops->flush(port, now), 0);
}

/* The PSN of the next frame that arrives at |port|, or -1; its ICRC and ECN on request. */
static int arrives(struct port *port, roce_tstamp now, struct roce_icrc *icrc, int *ecn)
{
    struct roce_frame frame;
    struct roce_packet pkt;
    struct roce_icrc judged;
    if (port->ops->receive(port, now, &frame) == 0)
        return -1;
    assert_int_equal(roce_packet_decode(&frame, NULL, &pkt), ROCE_KIND_ROCEV2);
    assert_int_equal(pkt.status, ROCE_STATUS_OK);
    roce_icrc_check(&frame, &pkt, &judged);
    /* the header checksum is right whatever was done */
    assert_int_equal(roce_ipv4_checksum(frame.data + 14, 20), frame.data[24] << 8 | frame.data[25]);
    if (icrc != NULL)
        *icrc = judged;
    else
        assert_int_equal(judged.status, ROCE_ICRC_OK);
    if (ecn != NULL)
        *ecn = pkt.ip.tos & 3;
    return (int)pkt.bth.psn;
}

static void assert_events(const struct rig *rig, uint64_t wanted, uint32_t qpn, uint32_t psn,
                          uint32_t round)
{
    uint64_t n, lost;
    const struct fault_event *events = fault_events(rig->faulty, &n, &lost);
    assert_int_equal(n, wanted);
    assert_int_equal(lost, 0);
    if (n == 0)
        return;
    assert_int_equal(events[n - 1].qpn, qpn);
    assert_int_equal(events[n - 1].psn, psn);
    assert_int_equal(events[n - 1].round, round);
}

static void test_fault_drops_one_by_number(void **state)
{
    struct rig rig;
    (void)state;
    open_rig(&rig, FAULT_TX, FAULT_DROP, "0x22:7");
    for (uint32_t psn = 5; psn < 10; psn++)
        send_to(rig.faulty, 0x04, REMOTE_QPN, psn, 0);
    send_to(rig.faulty, 0x04, 0x23, 7, 0);       /* another QP */
    send_to(rig.faulty, 0x04, REMOTE_QPN, 7, 0); /* the second time */
    static const int wanted[] = {5, 6, 8, 9, 7, 7, -1};
    for (size_t i = 0; i < 7; i++)
        assert_int_equal(arrives(rig.other, 0, NULL, NULL), wanted[i]);
    assert_events(&rig, 1, REMOTE_QPN, 7, 1);
    close_rig(&rig);
}

/* The first PSN is FFFFFE, so the third is 0. */
static void test_fault_counts_from_the_first_psn(void **state)
{
    struct rig rig;
    (void)state;
    open_rig(&rig, FAULT_TX, FAULT_DROP, "#1:+2:2");
    for (int round = 0; round < 3; round++)
        for (uint32_t i = 0; i < 4; i++)
            send_to(rig.faulty, 0x04, REMOTE_QPN, (LOCAL_PSN + i) & 0xFFFFFF, 0);
    static const int wanted[] = {0xFFFFFE, 0xFFFFFF, 0,        1, 0xFFFFFE, 0xFFFFFF,
                                 1,        0xFFFFFE, 0xFFFFFF, 0, 1,        -1};
    for (size_t i = 0; i < 12; i++)
        assert_int_equal(arrives(rig.other, 0, NULL, NULL), wanted[i]);
    assert_events(&rig, 1, REMOTE_QPN, 0, 2);
    close_rig(&rig);
}

/* A response counts in the PSNs of the other side. */
static void test_fault_tells_responses_from_requests(void **state)
{
    struct rig rig;
    (void)state;
    open_rig(&rig, FAULT_BOTH, FAULT_DROP, "#1:+1,#1:+1:2");
    send_to(rig.faulty, 0x11, REMOTE_QPN, REMOTE_PSN + 1, 0); /* our ACK */
    assert_int_equal(arrives(rig.other, 0, NULL, NULL), -1);
    send_to(rig.other, 0x11, LOCAL_QPN, (LOCAL_PSN + 1) & 0xFFFFFF, 0); /* the peer's ACK */
    assert_int_equal(arrives(rig.faulty, 0, NULL, NULL), -1);
    send_to(rig.faulty, 0x04, REMOTE_QPN, REMOTE_PSN + 1, 0); /* a request of that number */
    assert_int_equal(arrives(rig.other, 0, NULL, NULL), REMOTE_PSN + 1);
    assert_int_equal(fault_count(rig.faulty, FAULT_DROP), 2);
    close_rig(&rig);
}

static void test_fault_direction(void **state)
{
    struct rig rig;
    (void)state;
    open_rig(&rig, FAULT_RX, FAULT_DROP, "100%");
    send_to(rig.faulty, 0x04, REMOTE_QPN, 1, 0);
    assert_int_equal(arrives(rig.other, 0, NULL, NULL), 1);
    send_to(rig.other, 0x04, LOCAL_QPN, 2, 0);
    assert_int_equal(arrives(rig.faulty, 0, NULL, NULL), -1);
    assert_events(&rig, 1, LOCAL_QPN, 2, 0);
    close_rig(&rig);
}

static void test_fault_doubles(void **state)
{
    struct rig rig;
    (void)state;
    open_rig(&rig, FAULT_BOTH, FAULT_DUP, "0x22:1,0x11:2");
    send_to(rig.faulty, 0x04, REMOTE_QPN, 1, 0);
    assert_int_equal(arrives(rig.other, 0, NULL, NULL), 1);
    assert_int_equal(arrives(rig.other, 0, NULL, NULL), 1);
    assert_int_equal(arrives(rig.other, 0, NULL, NULL), -1);
    send_to(rig.other, 0x04, LOCAL_QPN, 2, 0);
    assert_int_equal(arrives(rig.faulty, 0, NULL, NULL), 2);
    assert_int_equal(arrives(rig.faulty, 0, NULL, NULL), 2);
    assert_int_equal(arrives(rig.faulty, 0, NULL, NULL), -1);
    close_rig(&rig);
}

static void test_fault_lets_the_next_overtake(void **state)
{
    struct rig rig;
    (void)state;
    open_rig(&rig, FAULT_BOTH, FAULT_REORDER, "0x22:1,0x22:5,0x11:3");
    send_to(rig.faulty, 0x04, REMOTE_QPN, 1, 0);
    assert_int_equal(arrives(rig.other, 0, NULL, NULL), -1);
    send_to(rig.faulty, 0x04, REMOTE_QPN, 2, 10);
    assert_int_equal(arrives(rig.other, 10, NULL, NULL), 2);
    assert_int_equal(arrives(rig.other, 10, NULL, NULL), 1);
    send_to(rig.other, 0x04, LOCAL_QPN, 3, 10);
    send_to(rig.other, 0x04, LOCAL_QPN, 4, 10);
    assert_int_equal(arrives(rig.faulty, 10, NULL, NULL), 4);
    assert_int_equal(arrives(rig.faulty, 10, NULL, NULL), 3);
    /* the last of all is not kept for ever */
    send_to(rig.faulty, 0x04, REMOTE_QPN, 5, 20);
    const roce_tstamp due = rig.faulty->ops->next(rig.faulty);
    assert_true(due > 20 && due < 100000000);
    assert_int_equal(rig.faulty->ops->flush(rig.faulty, due), 0);
    assert_int_equal(arrives(rig.other, due, NULL, NULL), 5);
    close_rig(&rig);
}

static void test_fault_delays(void **state)
{
    struct rig rig;
    (void)state;
    open_rig(&rig, FAULT_BOTH, FAULT_DELAY, "0x22:1@30us,0x11:2@1ms");
    send_to(rig.faulty, 0x04, REMOTE_QPN, 1, 1000);
    send_to(rig.faulty, 0x04, REMOTE_QPN, 7, 1000);
    assert_int_equal(arrives(rig.other, 1000, NULL, NULL), 7);
    assert_int_equal(rig.faulty->ops->next(rig.faulty), 31000);
    assert_int_equal(rig.faulty->ops->flush(rig.faulty, 30999), 0);
    assert_int_equal(arrives(rig.other, 30999, NULL, NULL), -1);
    assert_int_equal(rig.faulty->ops->flush(rig.faulty, 31000), 0);
    assert_int_equal(arrives(rig.other, 31000, NULL, NULL), 1);
    send_to(rig.other, 0x04, LOCAL_QPN, 2, 50000);
    assert_int_equal(arrives(rig.faulty, 50000, NULL, NULL), -1);
    assert_int_equal(rig.faulty->ops->next(rig.faulty), 1050000);
    assert_int_equal(arrives(rig.faulty, 1050000, NULL, NULL), 2);
    close_rig(&rig);
}

/* Neither the ICRC nor the header checksum suffers from a mark; a damaged ICRC is that alone. */
static void test_fault_marks_and_damages(void **state)
{
    struct rig rig;
    struct roce_icrc icrc;
    int ecn;
    (void)state;
    open_rig(&rig, FAULT_BOTH, FAULT_CE, "0x22:1,0x11:2");
    send_to(rig.faulty, 0x04, REMOTE_QPN, 1, 0);
    assert_int_equal(arrives(rig.other, 0, NULL, &ecn), 1);
    assert_int_equal(ecn, ROCE_ECN_CE);
    send_to(rig.faulty, 0x04, REMOTE_QPN, 2, 0);
    assert_int_equal(arrives(rig.other, 0, NULL, &ecn), 2);
    assert_int_equal(ecn, ROCE_ECN_NOT_ECT);
    send_to(rig.other, 0x04, LOCAL_QPN, 2, 0);
    assert_int_equal(arrives(rig.faulty, 0, NULL, &ecn), 2);
    assert_int_equal(ecn, ROCE_ECN_CE);
    close_rig(&rig);
    open_rig(&rig, FAULT_TX, FAULT_BAD_ICRC, "0x22:1");
    send_to(rig.faulty, 0x04, REMOTE_QPN, 1, 0);
    assert_int_equal(arrives(rig.other, 0, &icrc, NULL), 1);
    assert_int_equal(icrc.status, ROCE_ICRC_BAD);
    send_to(rig.faulty, 0x04, REMOTE_QPN, 3, 0);
    assert_int_equal(arrives(rig.other, 0, &icrc, NULL), 3);
    assert_int_equal(icrc.status, ROCE_ICRC_OK);
    close_rig(&rig);
}

/* 20,000 frames at 1 %: within five standard deviations (14) of 200. */
static void test_fault_chance(void **state)
{
    struct rig rig;
    (void)state;
    open_rig(&rig, FAULT_TX, FAULT_DROP, "1%");
    int came = 0;
    for (uint32_t i = 0; i < 20000; i++) {
        send_to(rig.faulty, 0x04, REMOTE_QPN, i, 0);
        came += arrives(rig.other, 0, NULL, NULL) >= 0;
    }
    assert_in_range(20000 - came, 130, 270);
    assert_int_equal(fault_count(rig.faulty, FAULT_DROP), 20000 - came);
    close_rig(&rig);
}

static void test_fault_leaves_other_frames_alone(void **state)
{
    struct rig rig;
    struct roce_frame frame;
    (void)state;
    open_rig(&rig, FAULT_TX, FAULT_DROP, "100%");
    uint8_t *room = rig.faulty->ops->room(rig.faulty, 64);
    memset(room, 0, 64);
    room[12] = 0x88;
    room[13] = 0x08;
    assert_int_equal(rig.faulty->ops->commit(rig.faulty, 64, 0), 0);
    assert_int_equal(rig.other->ops->receive(rig.other, 0, &frame), 1);
    close_rig(&rig);
}

static void test_fault_parse(void **state)
{
    static const struct {
        enum fault_kind kind;
        const char *text;
    } bad[] = {
        {FAULT_DROP, ""},       {FAULT_DROP, "1"},          {FAULT_DROP, "101%"},
        {FAULT_DROP, "-1%"},    {FAULT_DROP, "1%x"},        {FAULT_DROP, "0x11"},
        {FAULT_DROP, "0x11:"},  {FAULT_DROP, "0x11:5:0"},   {FAULT_DROP, "#0:5"},
        {FAULT_DROP, "#1:+"},   {FAULT_DROP, "1:16777216"}, {FAULT_DROP, "16777216:1"},
        {FAULT_DROP, "1%,"},    {FAULT_DROP, "1:2:3:4"},    {FAULT_DROP, "1%@1us"},
        {FAULT_DELAY, "1%"},    {FAULT_DELAY, "1%@"},       {FAULT_DELAY, "5"},
        {FAULT_DELAY, "1:2@3"}, {FAULT_DROP, "nan%"},       {FAULT_DROP, "0x5%"},
    };
    static struct fault_plan plan;
    char why[PORT_TEXT_MAX];
    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        plan = (struct fault_plan){0};
        if (fault_parse(&plan, bad[i].kind, bad[i].text, why) == 0)
            fail_msg("accepted '%s'", bad[i].text);
    }
    plan = (struct fault_plan){0};
    assert_int_equal(fault_parse(&plan, FAULT_DROP, "0.5%,0x12:0x100:2,#3:+7", why), 0);
    assert_int_equal(fault_parse(&plan, FAULT_DELAY, "10us", why), 0);
    assert_int_equal(plan.n, 4);
    assert_true(plan.rule[0].chance == 0.005 && !plan.rule[0].exact);
    assert_true(plan.rule[1].exact && plan.rule[1].qp == 0x12 && plan.rule[1].psn == 0x100 &&
                plan.rule[1].round == 2 && !plan.rule[1].qp_index && !plan.rule[1].psn_relative);
    assert_true(plan.rule[2].qp_index && plan.rule[2].qp == 3 && plan.rule[2].psn_relative &&
                plan.rule[2].psn == 7 && plan.rule[2].round == 1);
    assert_true(plan.rule[3].chance == 1 && plan.rule[3].delay_ns == 10000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fault_drops_one_by_number),
        cmocka_unit_test(test_fault_counts_from_the_first_psn),
        cmocka_unit_test(test_fault_tells_responses_from_requests),
        cmocka_unit_test(test_fault_direction),
        cmocka_unit_test(test_fault_doubles),
        cmocka_unit_test(test_fault_lets_the_next_overtake),
        cmocka_unit_test(test_fault_delays),
        cmocka_unit_test(test_fault_marks_and_damages),
        cmocka_unit_test(test_fault_chance),
        cmocka_unit_test(test_fault_leaves_other_frames_alone),
        cmocka_unit_test(test_fault_parse),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
