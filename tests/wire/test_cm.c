/* SPDX-License-Identifier: GPL-2.0-or-later */
/* CM messages: soft-RoCE's own (rping, captured in pcaps/cm_rping.pcap), and every field of every
 * message there and back. */
#include <stdbool.h>
#include <string.h>

#include <roce/cm.h>
#include <roce/err.h>

#include "tests/cmocka_all.h"
#include "tests/hex.h"

/* Behind the MAD header, up to the private data of the RDMA-CM; the rest is zero. */
#define REQ                                                                                    \
    "c5ef4f00000000000000000001061c06505400fffe77000200000000000000000000150100000001000000a0" \
    "cbf636a7ffff57f0ffffffff00000000000000000000ffffc0a84d0200000000000000000000ffffc0a84d03" \
    "a62c800000400098"                                                                         \
    "0000000000000000000000000000000000000000000000000000000000000000000000000000000000000000" \
    "0040d8fe000000000000000000000000c0a84d02000000000000000000000000c0a84d03"
#define REP "00a47fbdc5ef4f000000000000001500000000001b97ad00010178e0505400fffe770003"

static uint8_t *message(const char *hex)
{
    size_t len;
    uint8_t *bytes = hex_bytes(hex, &len);
    uint8_t *full = calloc(1, ROCE_CM_LEN);
    memcpy(full, bytes, len);
    free(bytes);
    return full;
}

/* Values read off the capture by tshark. */
static void test_rping_request(void **state)
{
    (void)state;
    uint8_t *buf = message(REQ);
    struct roce_cm cm;
    assert_int_equal(roce_cm_decode(ROCE_CM_REQ, buf, ROCE_CM_LEN, &cm), ROCE_CM_LEN);
    assert_int_equal(cm.local_comm_id, 0xc5ef4f00);
    assert_true(cm.service_id == UINT64_C(0x01061c06));
    assert_int_equal(roce_cm_port(cm.service_id), 7174);
    assert_true(cm.ca_guid == UINT64_C(0x505400fffe770002));
    assert_int_equal(cm.local_qpn, 0x15);
    assert_int_equal(cm.responder_resources, 1);
    assert_int_equal(cm.initiator_depth, 1);
    assert_int_equal(cm.remote_cm_timeout, 20);
    assert_int_equal(cm.transport, 0);
    assert_false(cm.flow_control);
    assert_int_equal(cm.starting_psn, 0xcbf636);
    assert_int_equal(cm.local_cm_timeout, 20);
    assert_int_equal(cm.retry_count, 7);
    assert_int_equal(cm.pkey, 0xffff);
    assert_int_equal(cm.path_mtu, 5);
    assert_int_equal(cm.rnr_retry, 7);
    assert_int_equal(cm.max_cm_retries, 15);
    assert_false(cm.srq);
    assert_int_equal(cm.primary.local_lid, 0xffff);
    assert_int_equal(cm.primary.flow_label, 0xa62c8);
    assert_int_equal(cm.primary.hop_limit, 0x40);
    assert_int_equal(cm.primary.ack_timeout, 19);
    assert_memory_equal(cm.primary.remote_gid + 10, "\xff\xff\xc0\xa8\x4d\x03", 6);
    assert_false(cm.has_alternate);
    assert_true(cm.has_ip);
    assert_int_equal(cm.ip.ip_version, 4);
    assert_int_equal(cm.ip.src_port, 0xd8fe);
    assert_memory_equal(cm.ip.src + 10, "\xff\xff\xc0\xa8\x4d\x02", 6);
    assert_memory_equal(cm.ip.dst + 10, "\xff\xff\xc0\xa8\x4d\x03", 6);
    assert_int_equal(cm.private_off, 176);
    assert_int_equal(cm.private_len, 56);
    uint8_t out[ROCE_CM_LEN];
    assert_int_equal(roce_cm_encode(&cm, out, sizeof(out)), ROCE_CM_LEN);
    assert_memory_equal(out, buf, ROCE_CM_LEN);
    free(buf);
}

static void test_rping_reply(void **state)
{
    (void)state;
    uint8_t *buf = message(REP);
    struct roce_cm cm;
    assert_int_equal(roce_cm_decode(ROCE_CM_REP, buf, ROCE_CM_LEN, &cm), ROCE_CM_LEN);
    assert_int_equal(cm.local_comm_id, 0x00a47fbd);
    assert_int_equal(cm.remote_comm_id, 0xc5ef4f00);
    assert_int_equal(cm.local_qpn, 0x15);
    assert_int_equal(cm.starting_psn, 0x1b97ad);
    assert_int_equal(cm.target_ack_delay, 15);
    assert_int_equal(cm.rnr_retry, 7);
    assert_true(cm.ca_guid == UINT64_C(0x505400fffe770003));
    assert_false(cm.has_ip);
    free(buf);
}

/* Random bytes: what is decoded, encoded and decoded again is the same in every message. */
static void test_fields_survive_a_round_trip(void **state)
{
    (void)state;
    uint32_t seed = 1;
    for (unsigned attr = ROCE_CM_REQ; attr <= ROCE_CM_APR; attr++) {
        for (int round = 0; round < 200; round++) {
            uint8_t in[ROCE_CM_LEN];
            uint8_t out[ROCE_CM_LEN];
            struct roce_cm a;
            struct roce_cm b;
            for (size_t i = 0; i < sizeof(in); i++) {
                seed = seed * 1664525 + 1013904223;
                in[i] = (uint8_t)(seed >> 24);
            }
            assert_int_equal(roce_cm_decode((uint16_t)attr, in, sizeof(in), &a), ROCE_CM_LEN);
            assert_int_equal(roce_cm_encode(&a, out, sizeof(out)), ROCE_CM_LEN);
            assert_int_equal(roce_cm_decode((uint16_t)attr, out, sizeof(out), &b), ROCE_CM_LEN);
            a.private_off = b.private_off;
            a.private_len = b.private_len;
            a.has_ip = b.has_ip;
            a.ip = b.ip;
            assert_memory_equal(&a, &b, sizeof(a));
        }
    }
}

static void test_bit_fields_of_each_message(void **state)
{
    (void)state;
    struct roce_cm cm;
    uint8_t *buf = message("00000001 00000002 01 48 001c 0a0b");
    assert_int_equal(roce_cm_decode(ROCE_CM_REJ, buf, ROCE_CM_LEN, &cm), ROCE_CM_LEN);
    assert_int_equal(cm.rejected, 0);
    buf[8] = 0x40;
    roce_cm_decode(ROCE_CM_REJ, buf, ROCE_CM_LEN, &cm);
    assert_int_equal(cm.rejected, 1);
    assert_int_equal(cm.info_len, 0x24);
    assert_int_equal(cm.reject_reason, 28);
    assert_int_equal(cm.info[1], 0x0b);
    free(buf);

    buf = message("00000001 00000002 80 a0");
    roce_cm_decode(ROCE_CM_MRA, buf, ROCE_CM_LEN, &cm);
    assert_int_equal(cm.rejected, 2);
    assert_int_equal(cm.service_timeout, 20);
    free(buf);

    buf = message("00000001 00000002 000015");
    roce_cm_decode(ROCE_CM_DREQ, buf, ROCE_CM_LEN, &cm);
    assert_int_equal(cm.remote_qpn, 0x15);
    free(buf);

    buf = message("0000002a 01 02 aabb 000077 cc 0000000001111ddf 80010000");
    roce_cm_decode(ROCE_CM_SIDR_REP, buf, ROCE_CM_LEN, &cm);
    assert_int_equal(cm.request_id, 0x2a);
    assert_int_equal(cm.status, 1);
    assert_int_equal(cm.vendor_id, 0xaabbcc);
    assert_int_equal(cm.local_qpn, 0x77);
    assert_int_equal(roce_cm_port(cm.service_id), 0x1ddf);
    assert_int_equal(cm.qkey, 0x80010000);
    free(buf);
}

static void test_prefixes(void **state)
{
    (void)state;
    for (unsigned attr = ROCE_CM_REQ; attr <= ROCE_CM_APR; attr++) {
        uint8_t *buf = message(REQ);
        for (size_t len = 0; len < ROCE_CM_LEN; len++) {
            uint8_t *prefix = exact_copy(buf, len);
            struct roce_cm cm;
            assert_int_equal(roce_cm_decode((uint16_t)attr, prefix, len, &cm), ROCE_ERR_TRUNCATED);
            if (attr == ROCE_CM_REQ)
                assert_int_equal(cm.local_qpn, len >= 35 ? 0x15 : 0);
            free(prefix);
        }
        free(buf);
    }
}

static void test_unknown_and_words(void **state)
{
    (void)state;
    struct roce_cm cm = {.message = 0x42};
    uint8_t buf[ROCE_CM_LEN] = {0};
    assert_int_equal(roce_cm_decode(0x0f, buf, sizeof(buf), &cm), ROCE_ERR_UNKNOWN);
    assert_int_equal(roce_cm_decode(0x1b, buf, sizeof(buf), &cm), ROCE_ERR_UNKNOWN);
    assert_int_equal(roce_cm_encode(&cm, buf, sizeof(buf)), ROCE_ERR_UNKNOWN);
    cm.message = ROCE_CM_REQ;
    assert_int_equal(roce_cm_encode(&cm, buf, ROCE_CM_LEN - 1), ROCE_ERR_NOSPACE);
    assert_string_equal(roce_cm_message_name(ROCE_CM_SIDR_REP), "SIDR_REP");
    assert_null(roce_cm_message_name(0x42));
    assert_string_equal(roce_cm_reject_text(8), "invalid service id (nobody listens)");
    assert_string_equal(roce_cm_reject_text(34), "reserved reason");
    assert_string_equal(roce_cm_sidr_status_text(1), "service id not supported");
    assert_string_equal(roce_cm_sidr_status_text(9), "reserved status");
    assert_true(roce_cm_timeout_ns(14) == 67108864);
    assert_int_equal(roce_cm_port(UINT64_C(0x1000000001061c06)), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rping_request),
        cmocka_unit_test(test_rping_reply),
        cmocka_unit_test(test_fields_survive_a_round_trip),
        cmocka_unit_test(test_bit_fields_of_each_message),
        cmocka_unit_test(test_prefixes),
        cmocka_unit_test(test_unknown_and_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
