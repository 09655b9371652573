/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The captures in pcaps/: healthy ones raise no error and no warning; the others what their makers
 * did to them (the .json beside each: how it was made, and what the machines counted). */
#include "tests/cmocka_all.h"

#include <roce/capture.h>
#include <roce/observer.h>

#include <stdio.h>
#include <string.h>

static struct roce_observer *observe(const char *name)
{
    static struct roce_frame frames[64];
    char path[512], text[ROCE_ERRTEXT_LEN];
    int err, n;
    snprintf(path, sizeof path, "%s/pcaps/%s", SOURCE_DIR, name);
    struct roce_reader *reader = roce_reader_open(path, NULL, &err, text);
    if (reader == NULL)
        fail_msg("%s: %s", name, text);
    struct roce_observer *obs = roce_observer_new(NULL);
    while ((n = roce_reader_next(reader, frames, 64)) > 0)
        for (int i = 0; i < n; i++) {
            struct roce_packet pkt;
            struct roce_icrc icrc;
            struct roce_verdict v;
            roce_packet_decode(&frames[i], NULL, &pkt);
            roce_icrc_check(&frames[i], &pkt, &icrc);
            roce_observer_update(obs, &frames[i], &pkt, roce_packet_is_roce(&pkt) ? &icrc : NULL,
                                 &v);
        }
    assert_int_equal(n, 0);
    roce_observer_dropped(obs, roce_reader_dropped(reader));
    roce_observer_finish(obs);
    roce_reader_del(reader);
    return obs;
}

static void test_clean(void **state)
{
    (void)state;
    static const char *const names[] = {
        "cm_mckey.pcap",
        "cm_rping.pcap",
        "cm_udaddy.pcap",
        "fmt_nano.pcap",
        "fmt_rc_all_ops.pcapng",
        "nvme_rdma.pcap",
        "pf_atomic_cas.pcap",
        "pf_write_bw_rdmacm.pcap",
        "rc_all_ops.pcap",
        "rc_all_ops_mtu4096.pcap",
        "rc_nak_toolong_send.pcap", /* the SEND fits after all */
        /* Two messages were sent twice; by its guests' counters nothing was lost. */
        "rc_pingpong_1B.pcap",
        "rc_pingpong_ipv6.pcap", /* three were */
        "rc_pingpong_mtu256.pcap",
        "rc_pipelined.pcap",
        "rc_tos_ect0.pcap",
        "snap64_cm_rping.pcap",
        "snap64_rc_all_ops.pcap",
        "uc_ops.pcap",
        "ud_ops.pcap",
        "ud_pingpong.pcap",
    };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        struct roce_observer *obs = observe(names[i]);
        uint32_t n;
        const struct roce_finding *f = roce_observer_findings(obs, &n);
        for (uint32_t k = 0; k < n; k++)
            if (f[k].severity != ROCE_SEVERITY_NOTE) {
                char text[ROCE_FINDING_TEXT];
                roce_finding_text(&f[k], text, sizeof text);
                fail_msg("%s: %s", names[i], text);
            }
        roce_observer_del(obs);
    }
}

#define KIND(id) (UINT64_C(1) << ROCE_FINDING_##id)

/* |want| must be there; of errors and warnings |may| as well, and nothing else. */
static const struct {
    const char *name;
    uint64_t want, may;
} told[] = {
    {"cm_rping_rej_noserver.pcap", KIND(CM_REJECTED), 0},
    {"ecn_ce.pcap", KIND(CNP_MISSING), 0}, /* soft RoCE knows no CNP */
    {"loss5_egress_send.pcap", KIND(LOSS_NETWORK), 0},
    {"loss5_egress_read.pcap", KIND(LOSS_NETWORK), 0},
    {"loss_acks_nth5.pcap", KIND(LOSS_NETWORK) | KIND(RETRANSMIT_TIMEOUT), 0},
    {"loss_atomic_resp_nth7.pcap", KIND(LOSS_NETWORK), 0},
    {"rc_nak_badrkey_read.pcap", KIND(NAK_REMOTE_ACCESS), 0},
    {"rc_nak_badrkey_write.pcap", KIND(NAK_REMOTE_ACCESS), 0},
    {"rc_nak_noaccess_write.pcap", KIND(NAK_INVALID_REQUEST), 0},
    {"rc_rnr_then_ok.pcap", KIND(RNR), 0},
    {"rc_rnr_exceeded.pcap", KIND(RNR) | KIND(RETRY_EXCEEDED), 0},
    {"rc_send_with_inv.pcap", KIND(RETRY_EXCEEDED),
     KIND(RETRANSMIT_TIMEOUT) | KIND(RETRANSMIT_EARLY) | KIND(LOSS_NETWORK) | KIND(ONE_WAY)},
    {"rc_timeout_exceeded.pcap", KIND(RETRY_EXCEEDED) | KIND(LOSS_NETWORK),
     KIND(RETRANSMIT_TIMEOUT) | KIND(RETRANSMIT_EARLY)},
    {"reorder_egress.pcap", KIND(REORDER), 0},
    {"snap64_rc_all_ops.pcap", KIND(CAPTURE_SLICED), 0},
};

static void test_told(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof told / sizeof told[0]; i++) {
        struct roce_observer *obs = observe(told[i].name);
        uint32_t n;
        uint64_t seen = 0;
        const struct roce_finding *f = roce_observer_findings(obs, &n);
        for (uint32_t k = 0; k < n; k++) {
            seen |= UINT64_C(1) << f[k].kind;
            if (f[k].severity != ROCE_SEVERITY_NOTE &&
                ((told[i].want | told[i].may) >> f[k].kind & 1) == 0)
                fail_msg("%s: unexpected %s", told[i].name,
                         roce_finding_info((enum roce_finding_kind)f[k].kind)->name);
        }
        for (int kind = 0; kind < ROCE_FINDING_KINDS; kind++)
            if ((told[i].want >> kind & 1) != 0 && (seen >> kind & 1) == 0)
                fail_msg("%s: no %s", told[i].name,
                         roce_finding_info((enum roce_finding_kind)kind)->name);
        roce_observer_del(obs);
    }
}

static void text_of(const char *name, enum roce_finding_kind kind, const char *want,
                    uint64_t first_frame)
{
    struct roce_observer *obs = observe(name);
    uint32_t n, k = 0;
    const struct roce_finding *f = roce_observer_findings(obs, &n);
    while (k < n && f[k].kind != kind)
        k++;
    assert_true(k < n);
    char text[ROCE_FINDING_TEXT];
    roce_finding_text(&f[k], text, sizeof text);
    assert_string_equal(text, want);
    assert_int_equal(f[k].first_frame, first_frame);
    roce_observer_del(obs);
}

/* Values as tshark shows them in the same files. */
static void test_texts(void **state)
{
    (void)state;
    text_of("cm_rping_rej_noserver.pcap", ROCE_FINDING_CM_REJECTED,
            "1 connection request rejected: invalid service id (nobody listens) (reason 8)", 6);
    text_of("rc_nak_badrkey_read.pcap", ROCE_FINDING_NAK_REMOTE_ACCESS,
            "1 remote access error: the responder refused a READ of 3000 bytes at va "
            "0x7f985b40d000 with rkey 0xff259e (PSN 16777201)",
            13);
    text_of("rc_nak_badrkey_write.pcap", ROCE_FINDING_NAK_REMOTE_ACCESS,
            "1 remote access error: the responder refused a WRITE of 3000 bytes at va "
            "0x7fba99265000 with rkey 0xff7630 (PSN 16777201)",
            15);
    text_of("rc_rnr_exceeded.pcap", ROCE_FINDING_RETRY_EXCEEDED,
            "the sender gave up: PSN 16777200 was sent again 3 times, refused by RNR NAK each "
            "time, then the QP fell silent",
            12);
}

/* What the machines' own counters said when the captures were made: 192.168.77.2 is vm1, .3 vm2. */
static const struct {
    const char *name;
    uint8_t host;
    enum roce_hw hw;
    uint64_t value;
} counted[] = {
    {"loss5_egress_send.pcap", 3, ROCE_HW_OUT_OF_SEQUENCE, 10},
    {"loss5_egress_read.pcap", 3, ROCE_HW_OUT_OF_SEQUENCE, 3},
    {"rc_pingpong_ipv6.pcap", 2, ROCE_HW_DUPLICATE_REQUEST, 6},
    {"rc_pingpong_ipv6.pcap", 3, ROCE_HW_DUPLICATE_REQUEST, 3},
    {"loss_acks_nth5.pcap", 3, ROCE_HW_DUPLICATE_REQUEST, 2},
    {"loss_acks_nth5.pcap", 2, ROCE_HW_LOCAL_ACK_TIMEOUT_ERR, 1},
    {"loss_atomic_resp_nth7.pcap", 3, ROCE_HW_DUPLICATE_REQUEST, 85},
    {"rc_rnr_then_ok.pcap", 2, ROCE_HW_RNR_NAK_RETRY_ERR, 44},
    {"rc_rnr_then_ok.pcap", 3, ROCE_HW_OUT_OF_BUFFER, 44},
    {"rc_rnr_exceeded.pcap", 2, ROCE_HW_RNR_NAK_RETRY_ERR, 4},
    {"rc_rnr_exceeded.pcap", 3, ROCE_HW_OUT_OF_BUFFER, 4},
    {"rc_rnr_exceeded.pcap", 3, ROCE_HW_OUT_OF_SEQUENCE, 4},
    {"reorder_egress.pcap", 3, ROCE_HW_OUT_OF_SEQUENCE, 16},
    {"rc_timeout_exceeded.pcap", 3, ROCE_HW_OUT_OF_SEQUENCE, 1},
    {"rc_all_ops.pcap", 3, ROCE_HW_OUT_OF_SEQUENCE, 0},
    {"rc_all_ops.pcap", 3, ROCE_HW_DUPLICATE_REQUEST, 0},
};

static void test_counters(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof counted / sizeof counted[0]; i++) {
        struct roce_observer *obs = observe(counted[i].name);
        const uint32_t n = roce_observer_hosts(obs);
        assert_int_equal(n, 2);
        for (uint32_t k = 0; k < n; k++) {
            const struct roce_host *host = roce_observer_host(obs, k);
            if (host->addr[15] != counted[i].host)
                continue;
            assert_true(roce_host_has(host, counted[i].hw));
            if (host->hw[counted[i].hw] != counted[i].value)
                fail_msg("%s: %s is %llu", counted[i].name, roce_hw_name(counted[i].hw),
                         (unsigned long long)host->hw[counted[i].hw]);
        }
        roce_observer_del(obs);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_clean),
        cmocka_unit_test(test_told),
        cmocka_unit_test(test_texts),
        cmocka_unit_test(test_counters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
