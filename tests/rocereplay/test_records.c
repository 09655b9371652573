/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The records that the example programs exchange, byte by byte. */
#include "cmocka_all.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <roce/err.h>

#include "rocereplay/native.h"
#include "rocereplay/party.h"
#include "rocereplay/perftest.h"
#include "rocereplay/pingpong.h"
#include "rocereplay/rping.h"

static const uint8_t host[16] = {[10] = 0xFF, [11] = 0xFF, [12] = 10, [15] = 1};

/* rc_pingpong.c prints "%04x:%06x:%06x:%s"; wire GIDs are the bytes in order. */
static void test_pingpong_record(void **state)
{
    static const char wanted[PINGPONG_LEN] = "0000:000012:abcdef:00000000000000000000ffff0a000001";
    char record[PINGPONG_LEN];
    struct remote got, qp = {.qpn = 0x12, .psn = 0xABCDEF};
    (void)state;
    memcpy(qp.ip, host, 16);
    pingpong_encode(&qp, record);
    assert_memory_equal(record, wanted, PINGPONG_LEN);
    assert_int_equal(pingpong_decode(wanted, &got), 0);
    assert_int_equal(got.qpn, 0x12);
    assert_int_equal(got.psn, 0xABCDEF);
    assert_memory_equal(got.ip, host, 16);
    /* an InfiniBand LID is not ours to use, but no mistake */
    assert_int_equal(pingpong_decode("001a:000012:abcdef:00000000000000000000ffff0a000001", &got),
                     0);
}

static void test_pingpong_record_damaged(void **state)
{
    static const char good[PINGPONG_LEN] = "0000:000012:abcdef:00000000000000000000ffff0a000001";
    struct remote got;
    (void)state;
    for (size_t i = 0; i < PINGPONG_LEN; i++) {
        char bad[PINGPONG_LEN];
        memcpy(bad, good, sizeof(bad));
        bad[i] = 'x';
        assert_int_equal(pingpong_decode(bad, &got), ROCE_ERR_SYNTAX);
    }
}

/* perftest's KEY_PRINT_FMT_GID: LID, outstanding READs, QPN, PSN, R_Key, VA, GID bytes, SRQN. */
static void test_perftest_key(void **state)
{
    static const char wanted[PERFTEST_KEY_LEN] =
        "0000:0010:000011:123456:0000abcd:00007f0012345678:"
        "00:00:00:00:00:00:00:00:00:00:ff:ff:0a:00:00:01:00000000:";
    char record[PERFTEST_KEY_LEN];
    struct remote got;
    struct remote qp = {
        .qpn = 0x11, .psn = 0x123456, .rkey = 0xABCD, .va = 0x7F0012345678, .rd_atomic = 16};
    (void)state;
    memcpy(qp.ip, host, 16);
    assert_int_equal(strlen(wanted) + 1, PERFTEST_KEY_LEN);
    perftest_encode_key(&qp, record);
    assert_memory_equal(record, wanted, PERFTEST_KEY_LEN);
    assert_int_equal(perftest_decode_key(wanted, &got), 0);
    assert_int_equal(got.qpn, 0x11);
    assert_int_equal(got.psn, 0x123456);
    assert_int_equal(got.rkey, 0xABCD);
    assert_true(got.va == 0x7F0012345678);
    assert_int_equal(got.rd_atomic, 16);
    assert_memory_equal(got.ip, host, 16);
    for (size_t i = 0; i < 98; i++) {
        char bad[PERFTEST_KEY_LEN];
        memcpy(bad, wanted, sizeof(bad));
        bad[i] = '!';
        assert_int_equal(perftest_decode_key(bad, &got), ROCE_ERR_SYNTAX);
    }
}

static void test_perftest_mtu(void **state)
{
    static const struct {
        uint16_t mtu;
        const char *digit;
    } pairs[] = {{256, "1"}, {512, "2"}, {1024, "3"}, {2048, "4"}, {4096, "5"}};
    (void)state;
    for (size_t i = 0; i < 5; i++) {
        char item[PERFTEST_MTU_LEN];
        uint16_t mtu;
        perftest_encode_mtu(pairs[i].mtu, item);
        assert_memory_equal(item, pairs[i].digit, 2);
        assert_int_equal(perftest_decode_mtu(item, &mtu), 0);
        assert_int_equal(mtu, pairs[i].mtu);
    }
    uint16_t mtu;
    assert_int_equal(perftest_decode_mtu("0", &mtu), ROCE_ERR_SYNTAX);
    assert_int_equal(perftest_decode_mtu("6", &mtu), ROCE_ERR_SYNTAX);
}

/* struct pingpong_dest of perftest_resources.h, 64 bits, each number by htobe32 or htobe64: int
 * lid, out_reads, qpn, psn; unsigned rkey; long long vaddr; union ibv_gid; unsigned srqn; int
 * gid_index. The address and the GID are aligned to 8. */
static void test_perftest_key_by_sends(void **state)
{
    static const uint8_t wanted[PERFTEST_KEY_CM_LEN] = {
        0,    0,    0,    0,    0,    0,    0, 16, 0, 0, 0, 0x11, 0,    0x12,
        0x34, 0x56, 0xDE, 0xAD, 0xAB, 0xCD, 0, 0,  0, 0, 0, 0,    0x7F, 0,
        0x12, 0x34, 0x56, 0x78, 0,    0,    0, 0,  0, 0, 0, 0,    0,    0,
        0xFF, 0xFF, 10,   0,    0,    1,    0, 0,  0, 0, 0, 0,    0,    0,
    };
    uint8_t record[PERFTEST_KEY_CM_LEN];
    struct remote got;
    struct remote qp = {
        .qpn = 0x11, .psn = 0x123456, .rkey = 0xDEADABCD, .va = 0x7F0012345678, .rd_atomic = 16};
    (void)state;
    memcpy(qp.ip, host, 16);
    perftest_encode_key_cm(&qp, record);
    assert_memory_equal(record, wanted, sizeof(wanted));
    perftest_decode_key_cm(wanted, &got);
    assert_int_equal(got.qpn, 0x11);
    assert_int_equal(got.psn, 0x123456);
    assert_int_equal(got.rkey, 0xDEADABCD);
    assert_true(got.va == 0x7F0012345678);
    assert_int_equal(got.rd_atomic, 16);
    assert_memory_equal(got.ip, host, 16);
}

/* IEEE 754: 1.5 is 3FF8..., 1000 is 408F40..., 0.25 is 3FD0... */
static void test_perftest_report(void **state)
{
    static const uint8_t wanted[PERFTEST_REPORT_LEN] = {
        0, 0, 0, 0, 0,    1,    0, 0, 0, 0, 0, 0, 0,    0,    3, 0xE8, 0x40, 0x8F, 0x40, 0,
        0, 0, 0, 0, 0x3F, 0xF8, 0, 0, 0, 0, 0, 0, 0x3F, 0xD0, 0, 0,    0,    0,    0,    0};
    const struct perftest_report report = {
        .size = 65536, .iters = 1000, .peak = 1000, .average = 1.5, .rate = 0.25};
    uint8_t item[PERFTEST_REPORT_LEN];
    struct perftest_report got;
    (void)state;
    perftest_encode_report(&report, item);
    assert_memory_equal(item, wanted, sizeof(wanted));
    perftest_decode_report(wanted, &got);
    assert_int_equal(got.size, 65536);
    assert_int_equal(got.iters, 1000);
    assert_true(got.peak == 1000 && got.average == 1.5 && got.rate == 0.25);
}

/* rping.c: buf, rkey and size in network order; the text of rping_test_client. */
static void test_rping(void **state)
{
    static const uint8_t wanted[RPING_INFO_LEN] = {0, 0, 0x7F, 1,    2, 3, 4, 5,
                                                   0, 0, 0x12, 0x34, 0, 0, 0, 64};
    const struct rping_info info = {.va = 0x7F0102030405, .rkey = 0x1234, .size = 64};
    uint8_t data[RPING_INFO_LEN], text[64];
    struct rping_info got;
    (void)state;
    rping_info_encode(&info, data);
    assert_memory_equal(data, wanted, sizeof(wanted));
    rping_info_decode(wanted, &got);
    assert_true(got.va == info.va && got.rkey == info.rkey && got.size == info.size);
    rping_text(text, 64, 0);
    assert_memory_equal(text, "rdma-ping-0: ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`abcdefghijklmnopqr",
                        64);
    rping_text(text, 64, 1);
    assert_memory_equal(text, "rdma-ping-1: BCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`abcdefghijklmnopqrs",
                        64);
    rping_text(text, 64, 57); /* chr(65 + 57) is z, then A again */
    assert_memory_equal(text, "rdma-ping-57: zABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`abcdefghijklmnop",
                        64);
    rping_text(text, 64, 58);
    assert_memory_equal(text, "rdma-ping-58: ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`abcdefghijklmnopq",
                        64);
    rping_text(text, 4, 3);
    assert_memory_equal(text, "rdm", 4);
}

static void test_hello(void **state)
{
    static const uint8_t wanted[PARTY_HELLO_LEN] = {
        'r',  'o',  'c',  'e',  'k', 'i', 't', '1', 0, 1, 0, 0, 0, 0, 0,    8,
        0xDE, 0xAD, 0xBE, 0xEF, 1,   0,   0,   0,   0, 0, 1, 0, 0, 0, 0x20, 0};
    const struct party_hello hello = {
        .verify = true, .size = 65536, .places = 8, .rkey = 0xDEADBEEF, .va = 0x10000002000};
    uint8_t data[PARTY_HELLO_LEN];
    struct party_hello got;
    (void)state;
    party_hello_encode(&hello, data);
    assert_memory_equal(data, wanted, sizeof(wanted));
    assert_int_equal(party_hello_decode(wanted, sizeof(wanted), &got), 0);
    assert_true(got.verify && got.size == 65536 && got.places == 8 && got.rkey == 0xDEADBEEF &&
                got.va == hello.va);
    assert_int_equal(party_hello_decode(wanted, 31, &got), ROCE_ERR_UNKNOWN);
    assert_int_equal(party_hello_decode((const uint8_t[32]){0}, 32, &got), ROCE_ERR_UNKNOWN);
}

static const char offer_line[] =
    "{\"rocereplay\":1,\"service\":\"rc\",\"op\":\"write\",\"mtu\":1024,\"size\":4096,\"depth\":16,"
    "\"places\":1,\"iters\":1000,\"duration_ns\":0,\"verify\":false,\"bidirectional\":true,"
    "\"rd_atomic\":8,\"ip\":\"10.0.0.1\",\"qps\":[{\"qpn\":17,\"psn\":1,\"rkey\":2,\"va\":3,"
    "\"len\":4},{\"qpn\":18,\"psn\":16777215,\"rkey\":4294967295,\"va\":18446744073709551615,"
    "\"len\":4}]}\n";

static void test_native_offer(void **state)
{
    struct native_offer offer;
    (void)state;
    assert_int_equal(native_decode(offer_line, &offer), 0);
    assert_int_equal(offer.service, ENG_RC);
    assert_int_equal(offer.op, ENG_WR_WRITE);
    assert_int_equal(offer.mtu, 1024);
    assert_int_equal(offer.size, 4096);
    assert_int_equal(offer.depth, 16);
    assert_int_equal(offer.iters, 1000);
    assert_true(offer.bidirectional && !offer.verify);
    assert_int_equal(offer.n, 2);
    assert_int_equal(offer.qp[1].qpn, 18);
    assert_int_equal(offer.qp[1].psn, 0xFFFFFF);
    assert_int_equal(offer.qp[1].rkey, UINT32_MAX);
    assert_true(offer.qp[1].va == UINT64_MAX);
    assert_memory_equal(offer.qp[1].ip, host, 16);
    char *line = native_encode(&offer);
    assert_string_equal(line, offer_line);
    free(line);
    native_free(&offer);
}

/* A QP may have another service than the rest; those that tell none have that of the offer. */
static void test_native_offer_of_several_services(void **state)
{
    static const char mixed[] =
        "{\"rocereplay\":1,\"service\":\"rc\",\"op\":\"send\",\"mtu\":1024,\"size\":4096,"
        "\"depth\":16,\"places\":1,\"iters\":1000,\"duration_ns\":0,\"verify\":false,"
        "\"bidirectional\":false,\"rd_atomic\":8,\"ip\":\"10.0.0.1\",\"qps\":[{\"qpn\":17,\"psn\":"
        "1,"
        "\"rkey\":2,\"va\":3,\"len\":4},{\"qpn\":18,\"psn\":1,\"rkey\":2,\"va\":3,\"len\":4,"
        "\"service\":\"ud\"},{\"qpn\":19,\"psn\":1,\"rkey\":2,\"va\":3,\"len\":4,"
        "\"service\":\"uc\"}]}\n";
    struct native_offer offer;
    (void)state;
    assert_int_equal(native_decode(mixed, &offer), 0);
    assert_int_equal(offer.qp[0].service, ENG_RC);
    assert_int_equal(offer.qp[1].service, ENG_UD);
    assert_int_equal(offer.qp[2].service, ENG_UC);
    char *line = native_encode(&offer);
    assert_string_equal(line, mixed);
    free(line);
    native_free(&offer);
}

/* A newer peer may say more. */
static void test_native_offer_skips_the_unknown(void **state)
{
    struct native_offer offer;
    char line[1024];
    (void)state;
    snprintf(line, sizeof(line), "{\"later\":{\"a\":[1,-2.5e3,\"x\\\"]\",null,{}]},%s",
             offer_line + 1);
    assert_int_equal(native_decode(line, &offer), 0);
    assert_int_equal(offer.n, 2);
    native_free(&offer);
}

static void test_native_offer_damaged(void **state)
{
    static const char *const bad[] = {"",
                                      "{",
                                      "[]",
                                      "{}",
                                      "null",
                                      "{\"rocereplay\":1}",
                                      "{\"qps\":[{]}",
                                      "{\"qps\":[,]}",
                                      "{\"qps\":[{\"qpn\":16777216}]}",
                                      "{\"mtu\":-1}",
                                      "{\"mtu\":99999999999999999999999}",
                                      "{\"size\":1e3}",
                                      "{\"ip\":\"10.0.0\"}",
                                      "{\"op\":\"erase\"}",
                                      "{\"service\":5}",
                                      "{\"x\":[[[[[[[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]]]]]]]}",
                                      "{\"x\":\"",
                                      "{\"x\"}",
                                      "{\"verify\":tru}"};
    struct native_offer offer;
    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        if (native_decode(bad[i], &offer) == 0)
            fail_msg("accepted %s", bad[i]);
    /* each prefix, in a block of just its size */
    for (size_t len = 0; len + 2 < sizeof(offer_line); len++) {
        char *line = malloc(len + 1);
        memcpy(line, offer_line, len);
        line[len] = '\0';
        assert_true(native_decode(line, &offer) < 0);
        free(line);
    }
}

static void test_native_report(void **state)
{
    const struct native_report report = {.messages = 5, .bytes = 1ULL << 40, .mismatches = 2};
    struct native_report got;
    char line[256];
    (void)state;
    (void)native_report_encode(&report, line, sizeof(line));
    assert_string_equal(line, "{\"done\":true,\"messages\":5,\"bytes\":1099511627776,"
                              "\"mismatches\":2,\"lost\":0}\n");
    assert_int_equal(native_report_decode(line, &got), 0);
    assert_true(got.messages == 5 && got.bytes == report.bytes && got.mismatches == 2);
    assert_int_equal(native_report_decode("{\"messages\":", &got), ROCE_ERR_SYNTAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pingpong_record),
        cmocka_unit_test(test_pingpong_record_damaged),
        cmocka_unit_test(test_perftest_key),
        cmocka_unit_test(test_perftest_key_by_sends),
        cmocka_unit_test(test_perftest_mtu),
        cmocka_unit_test(test_perftest_report),
        cmocka_unit_test(test_rping),
        cmocka_unit_test(test_hello),
        cmocka_unit_test(test_native_offer),
        cmocka_unit_test(test_native_offer_of_several_services),
        cmocka_unit_test(test_native_offer_skips_the_unknown),
        cmocka_unit_test(test_native_offer_damaged),
        cmocka_unit_test(test_native_report),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
