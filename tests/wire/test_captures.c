/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The bundled captures: as many frames, RoCE packets and good ICRCs as an independent script
 * counted when they were made (the .json beside each), and no bad one. */
#include <stdio.h>

#include <roce/capture.h>
#include <roce/icrc.h>
#include <roce/packet.h>

#include "tests/cmocka_all.h"
#include "tests/hex.h"

static const struct {
    const char *name;
    unsigned frames, roce, icrc_ok;
} captures[] = {
    {"cm_mckey.pcap", 14, 4, 4},
    {"cm_rping.pcap", 65, 65, 65},
    {"cm_rping_rej_noserver.pcap", 6, 2, 2},
    {"cm_udaddy.pcap", 22, 20, 20},
    {"dup_egress.pcap", 242, 212, 212},
    {"ecn_ce.pcap", 178, 150, 150},
    {"loss5_egress_read.pcap", 620, 581, 581},
    {"loss5_egress_send.pcap", 559, 529, 529},
    {"loss_acks_nth5.pcap", 214, 184, 184},
    {"loss_atomic_resp_nth7.pcap", 265, 220, 220},
    {"nvme_rdma.pcap", 333, 333, 333},
    {"pf_atomic_cas.pcap", 103, 60, 60},
    {"pf_write_bw_rdmacm.pcap", 104, 104, 104},
    {"rc_all_ops.pcap", 94, 79, 79},
    {"rc_all_ops_mtu4096.pcap", 52, 39, 39},
    {"rc_nak_badrkey_read.pcap", 19, 4, 4},
    {"rc_nak_badrkey_write.pcap", 20, 5, 5},
    {"rc_nak_noaccess_write.pcap", 18, 4, 4},
    {"rc_nak_toolong_send.pcap", 84, 69, 69},
    {"rc_pingpong_1B.pcap", 55, 44, 44},
    {"rc_pingpong_ipv6.pcap", 113, 98, 98},
    {"rc_pingpong_mtu256.pcap", 51, 40, 40},
    {"rc_pipelined.pcap", 67, 55, 55},
    {"rc_rnr_exceeded.pcap", 28, 16, 16},
    {"rc_rnr_then_ok.pcap", 331, 316, 316},
    {"rc_send_with_inv.pcap", 22, 7, 7},
    {"rc_timeout_exceeded.pcap", 26, 11, 11},
    {"rc_tos_ect0.pcap", 23, 10, 10},
    {"reorder_egress.pcap", 353, 322, 322},
    {"snap64_cm_rping.pcap", 65, 65, 25},
    {"snap64_rc_all_ops.pcap", 94, 79, 31},
    {"uc_ops.pcap", 33, 18, 18},
    {"ud_ops.pcap", 21, 6, 6},
    {"ud_pingpong.pcap", 37, 24, 24},
    {"fmt_nano.pcap", 17, 17, 17},
    {"fmt_rc_all_ops.pcapng", 94, 79, 79},
};

static void count(const char *name, unsigned got[3])
{
    char path[512];
    char text[ROCE_ERRTEXT_LEN];
    int err;
    int n;
    struct roce_frame frames[16];
    snprintf(path, sizeof(path), SOURCE_DIR "/pcaps/%s", name);
    struct roce_reader *reader = roce_reader_open(path, NULL, &err, text);
    assert_non_null(reader);
    while ((n = roce_reader_next(reader, frames, 16)) > 0) {
        for (int i = 0; i < n; i++) {
            struct roce_packet pkt;
            struct roce_icrc icrc;
            got[0]++;
            roce_packet_decode(&frames[i], NULL, &pkt);
            if (!roce_packet_is_roce(&pkt))
                continue;
            got[1]++;
            assert_true(pkt.status == ROCE_STATUS_OK || pkt.status == ROCE_STATUS_TRUNCATED);
            roce_icrc_check(&frames[i], &pkt, &icrc);
            assert_int_not_equal(icrc.status, ROCE_ICRC_BAD);
            assert_int_equal(icrc.status == ROCE_ICRC_UNCHECKED, pkt.sliced);
            got[2] += icrc.status == ROCE_ICRC_OK;
        }
    }
    assert_int_equal(n, 0);
    roce_reader_del(reader);
}

static void test_counts(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(captures) / sizeof(captures[0]); i++) {
        unsigned got[3] = {0};
        print_message("%s\n", captures[i].name);
        count(captures[i].name, got);
        assert_int_equal(got[0], captures[i].frames);
        assert_int_equal(got[1], captures[i].roce);
        assert_int_equal(got[2], captures[i].icrc_ok);
    }
}

/* Every prefix of every packet, from a block of exactly that size: no fault is called malformed. */
static void test_prefixes(void **state)
{
    (void)state;
    char text[ROCE_ERRTEXT_LEN];
    int err;
    int n;
    struct roce_frame frame;
    struct roce_reader *reader =
        roce_reader_open(SOURCE_DIR "/pcaps/cm_rping.pcap", NULL, &err, text);
    assert_non_null(reader);
    while ((n = roce_reader_next(reader, &frame, 1)) > 0) {
        for (uint32_t cut = 0; cut < frame.caplen; cut++) {
            uint8_t *copy = exact_copy(frame.data, cut);
            struct roce_frame prefix = frame;
            struct roce_packet pkt;
            struct roce_icrc icrc;
            prefix.data = copy;
            prefix.caplen = cut;
            roce_packet_decode(&prefix, NULL, &pkt);
            assert_true(pkt.status == ROCE_STATUS_OK || pkt.status == ROCE_STATUS_TRUNCATED);
            roce_icrc_check(&prefix, &pkt, &icrc);
            assert_int_equal(icrc.status, ROCE_ICRC_UNCHECKED);
            free(copy);
        }
    }
    roce_reader_del(reader);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_counts),
        cmocka_unit_test(test_prefixes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
