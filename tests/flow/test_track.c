/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The PSN tracks of requests and READ responses, sequence by sequence, each with its clean twin. */
#include "rig.h"

#define SEND ROCE_OPCODE_RC_SEND_ONLY
#define QP   0x22

static void send_psns(struct rig *r, const uint32_t *psn, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        rig_data(r, SEND, 1, 2, QP, psn[i], 64);
        r->now += US;
    }
}

struct sequence {
    const char *name;
    uint32_t psn[12];
    size_t n;
    uint32_t first, next;
    uint64_t gaps, missing, retransmitted, dup, fill, late;
};

static void test_request_sequences(void **state)
{
    (void)state;
    static const struct sequence table[] = {
        {"in order", {5, 6, 7, 8}, 4, 5, 9, 0, 0, 0, 0, 0, 0},
        {"in order over the wrap", {0xFFFFFE, 0xFFFFFF, 0, 1}, 4, 0xFFFFFE, 2, 0, 0, 0, 0, 0, 0},
        {"one missing", {5, 7}, 2, 5, 8, 1, 1, 0, 0, 0, 0},
        {"three missing over the wrap", {0xFFFFFE, 2, 3}, 3, 0xFFFFFE, 4, 1, 3, 0, 0, 0, 0},
        {"two gaps", {5, 8, 9, 12}, 4, 5, 13, 2, 4, 0, 0, 0, 0},
        {"the last one again", {5, 6, 6, 7}, 4, 5, 8, 0, 0, 1, 1, 0, 0},
        {"go-back-N of three", {5, 6, 7, 5, 6, 7, 8}, 7, 5, 9, 0, 0, 3, 3, 0, 0},
        {"hole filled, then all behind it", {5, 7, 8, 6, 7, 8, 9}, 7, 5, 10, 1, 1, 3, 2, 1, 0},
        {"hole filled twice", {5, 7, 6, 6, 8}, 5, 5, 9, 1, 1, 2, 1, 1, 0},
        {"late, not resent", {5, 7, 6, 8}, 4, 5, 9, 1, 1, 1, 0, 1, 1},
        {"late by two", {5, 7, 8, 6, 9}, 5, 5, 10, 1, 1, 1, 0, 1, 1},
        {"two late, in order", {5, 8, 6, 7, 9}, 5, 5, 10, 1, 2, 2, 0, 2, 2},
        {"two late, swapped", {5, 8, 7, 6, 9}, 5, 5, 10, 1, 2, 2, 0, 2, 2},
        {"late over the wrap", {0xFFFFFF, 1, 0, 2}, 4, 0xFFFFFF, 3, 1, 1, 1, 0, 1, 1},
        {"older than the first", {5, 3, 6}, 3, 5, 7, 0, 0, 1, 0, 1, 1},
        {"older than the first, twice", {5, 3, 3, 6}, 4, 5, 7, 0, 0, 2, 1, 1, 0},
        {"between first and older", {5, 2, 4, 6}, 4, 5, 7, 0, 0, 2, 0, 2, 2},
        {"furthest ahead", {0, 0x7FFFFF}, 2, 0, 0x800000, 1, 0x7FFFFE, 0, 0, 0, 0},
        {"furthest behind", {0, 0x800001, 1}, 3, 0, 2, 0, 0, 1, 0, 1, 1},
    };
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        const struct sequence *s = &table[i];
        print_message("  %s\n", s->name);
        struct rig r;
        rig_open(&r, NULL);
        send_psns(&r, s->psn, s->n);
        roce_flow_finish(r.t);
        const struct roce_flow_counters c = rig_counters(&r, 1, 2, QP);
        assert_true(c.has_psn);
        assert_int_equal(c.packets, s->n);
        assert_int_equal(c.first_psn, s->first);
        assert_int_equal(c.next_psn, s->next);
        assert_int_equal(c.gap_events, s->gaps);
        assert_int_equal(c.gap_psns, s->missing);
        assert_int_equal(c.retransmitted, s->retransmitted);
        assert_int_equal(c.retransmitted_dup, s->dup);
        assert_int_equal(c.retransmitted_fill, s->fill);
        if (s->dup == 0)
            assert_int_equal(c.out_of_order, s->late);
        rig_close(&r);
    }
}

static void test_gap_verdict(void **state)
{
    (void)state;
    struct rig r;
    rig_open(&r, NULL);
    rig_data(&r, SEND, 1, 2, QP, 10, 64);
    assert_true(r.v.flags & ROCE_V_NEW_FLOW);
    assert_true(r.v.flags & ROCE_V_REQUEST);
    assert_false(r.v.flags & ROCE_V_GAP);
    rig_data(&r, SEND, 1, 2, QP, 14, 64);
    assert_true(r.v.flags & ROCE_V_GAP);
    assert_int_equal(r.v.missing, 3);
    assert_int_equal(r.v.expected_psn, 11);
    rig_data(&r, SEND, 1, 2, QP, 15, 64);
    assert_int_equal(r.v.flags & (ROCE_V_GAP | ROCE_V_RETRANSMITTED), 0);
    rig_close(&r);
}

/* First and Middle packets tell the path MTU; a READ of 3 * MTU + 1 bytes takes four PSNs. */
static void test_read_takes_the_psns_of_its_responses(void **state)
{
    (void)state;
    struct rig r;
    rig_open(&r, NULL);
    rig_data(&r, ROCE_OPCODE_RC_WRITE_FIRST, 1, 2, QP, 100, 1024);
    rig_data(&r, ROCE_OPCODE_RC_WRITE_LAST, 1, 2, QP, 101, 10);
    rig_read(&r, 1, 2, QP, 102, 0x1000, 3 * 1024 + 1);
    assert_int_equal(r.v.psns, 4);
    rig_read(&r, 1, 2, QP, 106, 0x9000, 0); /* nothing to read: one PSN */
    assert_int_equal(r.v.psns, 1);
    rig_data(&r, SEND, 1, 2, QP, 107, 64);
    struct roce_flow_counters c = rig_counters(&r, 1, 2, QP);
    assert_int_equal(c.gap_events, 0);
    assert_int_equal(c.next_psn, 108);
    assert_int_equal(rig_info(&r, 1, 2, QP).path_mtu, 1024);
    /* The twin: one PSN further is a gap. */
    rig_read(&r, 1, 2, QP, 108, 0x1000, 2048);
    rig_data(&r, SEND, 1, 2, QP, 111, 64);
    c = rig_counters(&r, 1, 2, QP);
    assert_int_equal(c.gap_events, 1);
    assert_int_equal(c.gap_psns, 1);
    rig_close(&r);
}

static void test_repeats_inside_a_read_are_duplicates(void **state)
{
    (void)state;
    struct rig r;
    rig_open(&r, NULL);
    rig_data(&r, ROCE_OPCODE_RC_WRITE_FIRST, 1, 2, QP, 0xFFFFFC, 256);
    rig_data(&r, ROCE_OPCODE_RC_WRITE_LAST, 1, 2, QP, 0xFFFFFD, 10);
    rig_read(&r, 1, 2, QP, 0xFFFFFE, 0x1000, 4 * 256); /* FFFFFE .. 000001 */
    rig_read(&r, 1, 2, QP, 0, 0x1200, 2 * 256);        /* the rest of it again */
    struct roce_flow_counters c = rig_counters(&r, 1, 2, QP);
    assert_int_equal(c.retransmitted, 1);
    assert_int_equal(c.retransmitted_dup, 1);
    assert_int_equal(c.next_psn, 2);
    /* A READ in a gap: the READ that fills it covers all its PSNs. */
    rig_data(&r, SEND, 1, 2, QP, 6, 64); /* 2 .. 5 missing */
    rig_read(&r, 1, 2, QP, 2, 0x4000, 4 * 256);
    rig_read(&r, 1, 2, QP, 4, 0x4200, 2 * 256);
    c = rig_counters(&r, 1, 2, QP);
    assert_int_equal(c.gap_psns, 4);
    assert_int_equal(c.retransmitted_fill, 1);
    assert_int_equal(c.retransmitted_dup, 2);
    rig_close(&r);
}

/* Until the path MTU is known a READ raises no gap; the request behind it tells how many PSNs it
 * took. */
static void test_read_of_unknown_size(void **state)
{
    (void)state;
    struct rig r;
    rig_open(&r, NULL);
    rig_read(&r, 1, 2, QP, 50, 0x1000, 4096);
    rig_read(&r, 1, 2, QP, 54, 0x2000, 4096); /* four: the path MTU is 1024 */
    rig_read(&r, 1, 2, QP, 58, 0x3000, 4096);
    struct roce_flow_counters c = rig_counters(&r, 1, 2, QP);
    assert_int_equal(c.gap_events, 0);
    assert_int_equal(c.retransmitted, 0);
    assert_int_equal(c.next_psn, 62);
    assert_int_equal(rig_info(&r, 1, 2, QP).path_mtu, 1024);
    rig_read(&r, 1, 2, QP, 66, 0x4000, 4096); /* known by now: four are missing */
    c = rig_counters(&r, 1, 2, QP);
    assert_int_equal(c.gap_events, 1);
    assert_int_equal(c.gap_psns, 4);
    rig_close(&r);

    /* A small READ takes one PSN whatever the path MTU is. */
    rig_open(&r, NULL);
    rig_read(&r, 1, 2, QP, 50, 0x1000, 256);
    rig_read(&r, 1, 2, QP, 52, 0x1000, 256);
    assert_int_equal(rig_counters(&r, 1, 2, QP).gap_events, 1);
    rig_close(&r);
}

static void test_read_resumed_before_the_mtu_is_known(void **state)
{
    (void)state;
    struct rig r;
    rig_open(&r, NULL);
    rig_read(&r, 1, 2, QP, 50, 0x10000, 8192);
    rig_read(&r, 1, 2, QP, 53, 0x10000 + 3 * 1024, 8192 - 3 * 1024);
    const struct roce_flow_counters c = rig_counters(&r, 1, 2, QP);
    assert_int_equal(c.retransmitted, 1);
    assert_int_equal(c.retransmitted_dup, 1);
    assert_int_equal(c.next_psn, 58);
    assert_int_equal(rig_info(&r, 1, 2, QP).path_mtu, 1024);
    rig_close(&r);
}

/* A wrong lesson from a gap behind a READ is unlearned. */
static void test_mtu_is_relearned(void **state)
{
    (void)state;
    struct rig r;
    rig_open(&r, NULL);
    rig_read(&r, 1, 2, QP, 50, 0x1000, 4096); /* takes 4; 4 SENDs behind it are missing */
    rig_read(&r, 1, 2, QP, 58, 0x1000, 4096); /* looks as if it had taken 8 */
    rig_data(&r, SEND, 1, 2, QP, 62, 64);
    const struct roce_flow_counters c = rig_counters(&r, 1, 2, QP);
    assert_int_equal(c.retransmitted, 0);
    assert_int_equal(c.next_psn, 63);
    rig_close(&r);
}

/* The same where all requests are READs: one of 8 PSNs is missing, so that the one before it seems
 * to take 16; the next but one lies inside these and is not the rest of a READ. */
static void test_mtu_is_relearned_from_a_read(void **state)
{
    (void)state;
    struct rig r;
    rig_open(&r, NULL);
    rig_read(&r, 1, 2, QP, 100, 0x1000, 8192);
    rig_read(&r, 1, 2, QP, 116, 0x1000, 8192);
    rig_read(&r, 1, 2, QP, 124, 0x1000, 8192);
    rig_read(&r, 1, 2, QP, 132, 0x1000, 8192);
    const struct roce_flow_counters c = rig_counters(&r, 1, 2, QP);
    assert_int_equal(c.retransmitted, 0);
    assert_int_equal(c.next_psn, 140);
    rig_close(&r);
}

/* Three READs of 8 KiB, the second one late: each takes 8 PSNs, none was captured twice. */
static void test_mtu_is_relearned_from_a_late_read(void **state)
{
    (void)state;
    struct rig r;
    rig_open(&r, NULL);
    rig_read(&r, 1, 2, QP, 100, 0x1000, 8192);
    rig_read(&r, 1, 2, QP, 116, 0x5000, 8192); /* looks as if the first had taken 16 */
    rig_read(&r, 1, 2, QP, 108, 0x3000, 8192);
    assert_true(r.v.flags & ROCE_V_FILL);
    assert_int_equal(r.v.psns, 8);
    rig_read(&r, 1, 2, QP, 124, 0x7000, 8192);
    const struct roce_flow_counters c = rig_counters(&r, 1, 2, QP);
    assert_int_equal(c.next_psn, 132);
    assert_int_equal(c.retransmitted, 1);
    assert_int_equal(c.retransmitted_fill, 1);
    rig_close(&r);
}

/* READs of 3,000 bytes, 3 PSNs each. No path MTU makes one take 9; the late ones were not captured
 * before. */
static void test_mtu_is_learned_from_a_late_request(void **state)
{
    (void)state;
    for (int send = 0; send < 2; send++) {
        struct rig r;
        rig_open(&r, NULL);
        rig_read(&r, 1, 2, QP, 910, 0x1000, 3000);
        rig_read(&r, 1, 2, QP, 919, 0x4000, 3000);
        if (send)
            rig_data(&r, SEND, 1, 2, QP, 913, 64);
        else
            rig_read(&r, 1, 2, QP, 913, 0x2000, 3000);
        assert_true(r.v.flags & ROCE_V_FILL);
        rig_read(&r, 1, 2, QP, 916, 0x3000, 3000);
        assert_true(r.v.flags & ROCE_V_FILL);
        rig_read(&r, 1, 2, QP, 922, 0x5000, 3000);
        const struct roce_flow_counters c = rig_counters(&r, 1, 2, QP);
        assert_int_equal(c.retransmitted, 2);
        assert_int_equal(c.retransmitted_fill, 2);
        assert_int_equal(c.next_psn, 925);
        rig_close(&r);
    }
}

/* The second READ looked as if the path MTU were 512; a First packet of 1,024 bytes says better. */
static void test_a_first_packet_corrects_the_mtu(void **state)
{
    (void)state;
    struct rig r;
    rig_open(&r, NULL);
    rig_read(&r, 1, 2, QP, 100, 0x1000, 3000);
    rig_read(&r, 1, 2, QP, 106, 0x3000, 3000);
    rig_data(&r, ROCE_OPCODE_RC_SEND_FIRST, 1, 2, QP, 109, 1024);
    const struct roce_flow_counters c = rig_counters(&r, 1, 2, QP);
    assert_int_equal(c.retransmitted, 0);
    assert_int_equal(c.next_psn, 110);
    rig_close(&r);
}

/* READs of 1,021 and 1 byte at 100 and 101, the second lost: the first seems to take two PSNs of
 * 512 bytes until the second is sent again, to another address. */
static void test_a_lost_shorter_read_is_not_the_rest_of_another(void **state)
{
    (void)state;
    struct rig r;
    rig_open(&r, NULL);
    rig_read(&r, 1, 2, QP, 100, 0x1000, 1021);
    rig_atomic(&r, 1, 2, QP, 102);
    r.now += 100 * US;
    rig_read(&r, 1, 2, QP, 101, 0x3000, 1);
    assert_true(r.v.flags & ROCE_V_FILL);
    rig_atomic(&r, 1, 2, QP, 102);
    assert_true(r.v.flags & ROCE_V_DUP);
    assert_int_equal(rig_counters(&r, 1, 2, QP).next_psn, 103);
    rig_close(&r);
}

/* READs of 1,024 bytes at 100, 101 and 102 and one of 64; the second is missing, so that the first
 * seems to take two PSNs of 512 bytes. The last begins one PSN behind the third, and is not the
 * rest of it. */
static void test_a_shorter_read_is_not_the_rest_of_another(void **state)
{
    (void)state;
    struct rig r;
    rig_open(&r, NULL);
    rig_read(&r, 1, 2, QP, 100, 0x1000, 1024);
    rig_read(&r, 1, 2, QP, 102, 0x3000, 1024);
    rig_read(&r, 1, 2, QP, 103, 0x5000, 64);
    const struct roce_flow_counters c = rig_counters(&r, 1, 2, QP);
    assert_int_equal(c.retransmitted, 0);
    assert_int_equal(c.next_psn, 104);
    rig_close(&r);
}

/* A READ of 6,480 bytes takes 7 PSNs of 1,024 bytes; the READ behind it, at 107, is missing, and no
 * path MTU makes eight of it. Once a First packet has told the path MTU, 107 was not captured
 * before. */
static void test_a_first_packet_resizes_earlier_reads(void **state)
{
    (void)state;
    struct rig r;
    rig_open(&r, NULL);
    rig_read(&r, 1, 2, QP, 100, 0x1000, 6480);
    rig_data(&r, ROCE_OPCODE_RC_WRITE_ONLY, 1, 2, QP, 108, 200);
    rig_data(&r, ROCE_OPCODE_RC_SEND_FIRST, 1, 2, QP, 109, 1024);
    rig_data(&r, ROCE_OPCODE_RC_SEND_LAST, 1, 2, QP, 110, 10);
    r.now += 100 * US;
    rig_read(&r, 1, 2, QP, 107, 0x9000, 1);
    assert_true(r.v.flags & ROCE_V_FILL);
    rig_data(&r, ROCE_OPCODE_RC_WRITE_ONLY, 1, 2, QP, 108, 200);
    const struct roce_flow_counters c = rig_counters(&r, 1, 2, QP);
    assert_int_equal(c.retransmitted, 2);
    assert_int_equal(c.retransmitted_fill, 1);
    assert_int_equal(c.retransmitted_dup, 1);
    assert_int_equal(c.next_psn, 111);
    rig_close(&r);
}

/* The READ of 2,000 bytes was sized while First packets had 1,024 bytes: one of 512 does not change
 * what it took. */
static void test_another_mtu_leaves_sized_reads(void **state)
{
    (void)state;
    struct rig r;
    rig_open(&r, NULL);
    rig_data(&r, ROCE_OPCODE_RC_SEND_FIRST, 1, 2, QP, 100, 1024);
    rig_data(&r, ROCE_OPCODE_RC_SEND_LAST, 1, 2, QP, 101, 64);
    rig_read(&r, 1, 2, QP, 102, 0x1000, 2000);
    rig_data(&r, ROCE_OPCODE_RC_SEND_FIRST, 1, 2, QP, 104, 512);
    const struct roce_flow_counters c = rig_counters(&r, 1, 2, QP);
    assert_int_equal(c.retransmitted, 0);
    assert_int_equal(c.gap_events, 0);
    assert_int_equal(c.next_psn, 105);
    rig_close(&r);
}

static void test_atomics_take_one_psn(void **state)
{
    (void)state;
    struct rig r;
    rig_open(&r, NULL);
    for (uint32_t i = 0; i < 5; i++)
        rig_atomic(&r, 1, 2, QP, 0xFFFFFD + i);
    assert_int_equal(rig_counters(&r, 1, 2, QP).gap_events, 0);
    assert_int_equal(rig_counters(&r, 1, 2, QP).next_psn, 2);
    rig_close(&r);
}

static void test_responses_do_not_move_the_request_track(void **state)
{
    (void)state;
    struct rig r;
    rig_open(&r, NULL);
    rig_data(&r, SEND, 1, 2, QP, 7, 64);
    rig_ack(&r, 1, 2, QP, 900, 0x1F, 1);
    rig_answer(&r, ROCE_OPCODE_RC_READ_RESPONSE_ONLY, 1, 2, QP, 901, 8, 2);
    rig_data(&r, SEND, 1, 2, QP, 8, 64);
    const struct roce_flow_counters c = rig_counters(&r, 1, 2, QP);
    assert_int_equal(c.gap_events + c.retransmitted, 0);
    assert_int_equal(c.requests, 2);
    assert_int_equal(c.responses, 2);
    assert_int_equal(c.acks, 1);
    rig_close(&r);
    /* A flow of responses alone has no request track. */
    rig_open(&r, NULL);
    rig_ack(&r, 1, 2, QP, 900, 0x1F, 1);
    assert_false(rig_counters(&r, 1, 2, QP).has_psn);
    rig_close(&r);
}

static void test_read_response_track(void **state)
{
    (void)state;
    struct rig r;
    rig_open(&r, NULL);
    static const uint8_t op[3] = {ROCE_OPCODE_RC_READ_RESPONSE_FIRST,
                                  ROCE_OPCODE_RC_READ_RESPONSE_MIDDLE,
                                  ROCE_OPCODE_RC_READ_RESPONSE_LAST};
    for (uint32_t i = 0; i < 3; i++)
        rig_answer(&r, op[i], 2, 1, 0x11, 0xFFFFFE + i, 256, 1);
    struct roce_flow_counters c = rig_counters(&r, 2, 1, 0x11);
    assert_int_equal(c.read_response_dup + c.read_response_gap_events, 0);
    /* Another READ, after SENDs whose PSNs have no READ response: no gap. */
    rig_answer(&r, op[0], 2, 1, 0x11, 10, 256, 5);
    c = rig_counters(&r, 2, 1, 0x11);
    assert_int_equal(c.read_response_gap_events, 0);
    rig_answer(&r, op[2], 2, 1, 0x11, 13, 256, 5); /* 11 and 12 are missing */
    assert_true(r.v.flags & ROCE_V_READ_RESPONSE_GAP);
    /* Asked again from 11: two are new, one was captured. */
    rig_answer(&r, op[0], 2, 1, 0x11, 11, 256, 5);
    assert_false(r.v.flags & ROCE_V_READ_RESPONSE_DUP);
    rig_answer(&r, op[1], 2, 1, 0x11, 12, 256, 5);
    rig_answer(&r, op[2], 2, 1, 0x11, 13, 256, 5);
    assert_true(r.v.flags & ROCE_V_READ_RESPONSE_DUP);
    c = rig_counters(&r, 2, 1, 0x11);
    assert_int_equal(c.read_response_gap_events, 1);
    assert_int_equal(c.read_response_dup, 1);
    /* A PSN between the READs was never a response, so that its first one is no duplicate. */
    rig_answer(&r, ROCE_OPCODE_RC_READ_RESPONSE_ONLY, 2, 1, 0x11, 5, 16, 5);
    assert_int_equal(rig_counters(&r, 2, 1, 0x11).read_response_dup, 1);
    rig_close(&r);
}

static void test_uc_gap_without_nak(void **state)
{
    (void)state;
    struct rig r;
    rig_open(&r, NULL);
    rig_data(&r, ROCE_OPCODE_UC_SEND_FIRST, 1, 2, QP, 0, 1024);
    rig_data(&r, ROCE_OPCODE_UC_SEND_LAST, 1, 2, QP, 2, 10);
    rig_data(&r, ROCE_OPCODE_UC_SEND_ONLY, 1, 2, QP, 3, 10);
    roce_flow_finish(r.t);
    const struct roce_flow_counters c = rig_counters(&r, 1, 2, QP);
    assert_int_equal(c.gap_events, 1);
    assert_int_equal(c.loss[ROCE_LOST_UNKNOWN], 1);
    assert_false(c.has_completed);
    rig_close(&r);
}

static void send_ud(struct rig *r, uint32_t src_qp, uint32_t qp, uint32_t psn)
{
    struct roce_packet p = rig_packet(r, ROCE_OPCODE_UD_SEND_ONLY, 1, 2, qp, psn);
    p.deth.src_qp = src_qp;
    rig_send(r, &p);
}

static void test_ud_is_tracked_by_its_single_source(void **state)
{
    (void)state;
    struct rig r;
    rig_open(&r, NULL);
    send_ud(&r, 0x50, QP, 4);
    send_ud(&r, 0x50, QP, 6);
    struct roce_flow_counters c = rig_counters(&r, 1, 2, QP);
    assert_true(c.has_psn);
    assert_int_equal(c.gap_events, 1);
    assert_int_equal(rig_info(&r, 1, 2, QP).src_qp, 0x50);
    rig_close(&r);

    rig_open(&r, NULL);
    send_ud(&r, 0x50, QP, 4);
    send_ud(&r, 0x51, QP, 900);
    send_ud(&r, 0x50, QP, 5);
    send_ud(&r, 0x51, QP, 901);
    c = rig_counters(&r, 1, 2, QP);
    assert_false(c.has_psn);
    assert_int_equal(c.gap_events + c.retransmitted, 0);
    assert_false(rig_info(&r, 1, 2, QP).has_src_qp);
    rig_close(&r);

    /* The GSI QP has one PSN sequence for all hosts it talks to. */
    rig_open(&r, NULL);
    send_ud(&r, 1, 1, 4);
    send_ud(&r, 1, 1, 9);
    assert_int_equal(rig_counters(&r, 1, 2, 1).gap_events, 0);
    rig_close(&r);
}

static void test_cnp_has_no_psn_role(void **state)
{
    (void)state;
    struct rig r;
    rig_open(&r, NULL);
    rig_data(&r, SEND, 1, 2, QP, 7, 64);
    struct roce_packet p = rig_packet(&r, ROCE_OPCODE_CNP, 1, 2, QP, 0);
    p.ip.tos = 0xC3;
    rig_send(&r, &p);
    assert_true(r.v.flags & ROCE_V_CNP);
    rig_data(&r, SEND, 1, 2, QP, 8, 64);
    const struct roce_flow_counters c = rig_counters(&r, 1, 2, QP);
    assert_int_equal(c.cnps, 1);
    assert_int_equal(c.ce, 1);
    assert_int_equal(c.ect, 2);
    assert_int_equal(c.requests, 2);
    assert_int_equal(c.gap_events + c.retransmitted, 0);
    assert_int_equal(rig_info(&r, 1, 2, QP).dscp, 0);
    rig_close(&r);
}

/* Beyond 2^23 PSNs nothing is taken for the future that is the past. */
static void test_long_streams(void **state)
{
    (void)state;
    struct rig r;
    rig_open(&r, NULL);
    rig_data(&r, ROCE_OPCODE_RC_WRITE_FIRST, 1, 2, QP, 0, 256);
    rig_data(&r, ROCE_OPCODE_RC_WRITE_LAST, 1, 2, QP, 1, 1);
    rig_data(&r, SEND, 1, 2, QP, 3, 64); /* 2 is missing */
    uint32_t psn = 4;
    for (int i = 0; i < 9; i++) { /* READs of 2^22 PSNs: twice round the space */
        rig_read(&r, 1, 2, QP, psn, 0, UINT32_C(1) << 30);
        psn += 1 << 22;
    }
    struct roce_flow_counters c = rig_counters(&r, 1, 2, QP);
    assert_int_equal(c.gap_events, 1);
    assert_int_equal(c.retransmitted, 0);
    assert_int_equal(c.next_psn, psn & 0xFFFFFF);
    rig_data(&r, SEND, 1, 2, QP, psn - 5, 64);
    c = rig_counters(&r, 1, 2, QP);
    assert_int_equal(c.retransmitted_dup, 1);
    rig_close(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_request_sequences),
        cmocka_unit_test(test_gap_verdict),
        cmocka_unit_test(test_read_takes_the_psns_of_its_responses),
        cmocka_unit_test(test_repeats_inside_a_read_are_duplicates),
        cmocka_unit_test(test_read_of_unknown_size),
        cmocka_unit_test(test_read_resumed_before_the_mtu_is_known),
        cmocka_unit_test(test_mtu_is_relearned),
        cmocka_unit_test(test_mtu_is_relearned_from_a_read),
        cmocka_unit_test(test_mtu_is_relearned_from_a_late_read),
        cmocka_unit_test(test_mtu_is_learned_from_a_late_request),
        cmocka_unit_test(test_a_first_packet_corrects_the_mtu),
        cmocka_unit_test(test_a_lost_shorter_read_is_not_the_rest_of_another),
        cmocka_unit_test(test_a_shorter_read_is_not_the_rest_of_another),
        cmocka_unit_test(test_a_first_packet_resizes_earlier_reads),
        cmocka_unit_test(test_another_mtu_leaves_sized_reads),
        cmocka_unit_test(test_atomics_take_one_psn),
        cmocka_unit_test(test_responses_do_not_move_the_request_track),
        cmocka_unit_test(test_read_response_track),
        cmocka_unit_test(test_uc_gap_without_nak),
        cmocka_unit_test(test_ud_is_tracked_by_its_single_source),
        cmocka_unit_test(test_cnp_has_no_psn_role),
        cmocka_unit_test(test_long_streams),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
