/* SPDX-License-Identifier: GPL-2.0-or-later */
/* BPF expressions, and --roce-filter's own on every link type. */
#include "build.h"

#include "../hex.h"

#define MACS        "020000000001 020000000002 "
#define IPV4(proto) "0800 4500 0054 0000 4000 40" proto " 0000 0a000001 0a000002 "
#define IPV6(next)             \
    "86dd 6000 0000 0020" next \
    "40 20010db8000000000000000000000001 20010db8000000000000000000000002 "
#define UDP(port) "c000" port "00200000 "
#define BODY      "000000000000000000000000000000000000000000000000"

static bool matches(const char *expression, uint32_t linktype, const char *hex)
{
    char text[ROCE_ERRTEXT_LEN];
    struct roce_bpf *bpf = roce_bpf_compile(expression, linktype, NULL, text);
    if (bpf == NULL)
        fail_msg("%s", text);
    size_t len;
    uint8_t *data = hex_bytes(hex, &len);
    const struct roce_frame frame = {
        .data = data, .caplen = (uint32_t)len, .origlen = (uint32_t)len, .linktype = linktype};
    const bool match = roce_bpf_match(bpf, &frame);
    free(data);
    roce_bpf_del(bpf);
    return match;
}

/* Everything from the EtherType on. */
static const char *const kept[] = {
    "8915 " BODY BODY,
    "8808 0101 00ff ffffffffffffffffffffffffffffffff " BODY,
    IPV4("11") UDP("12b7") BODY,
    IPV6("11") UDP("12b7") BODY,
    IPV4("11") UDP("12b5") BODY, /* VXLAN */
    IPV6("11") UDP("12b5") BODY,
    IPV4("11") UDP("12b6") BODY, /* VXLAN-GPE */
    IPV4("11") UDP("17c1") BODY, /* GENEVE */
    IPV6("11") UDP("17c1") BODY,
    IPV4("2f") "0000 0800 " BODY BODY, /* GRE */
    IPV6("2f") "0000 0800 " BODY BODY,
    IPV4("04") "4500 " BODY BODY,
    IPV6("04") "4500 " BODY BODY,
    IPV4("29") "6000 " BODY BODY,
    IPV6("29") "6000 " BODY BODY,
    "8847 00001140 " BODY BODY, /* MPLS */
    "8848 00001140 " BODY BODY,
};

static const char *const dropped[] = {
    "0806 0001 0800 0604 0001 " BODY BODY,
    IPV4("06") "c00012b7 " BODY BODY, /* TCP on the same port */
    IPV6("06") "c00012b7 " BODY BODY,
    IPV4("11") UDP("0035") BODY,
    IPV6("11") UDP("0035") BODY,
    IPV4("01") "0800 " BODY BODY,
    "88cc " BODY BODY,
};

static const char *const tags[] = {"", "8100 6064 ", "88a8 0064 8100 0065 "};

static void test_bpf_roce_on_ethernet(void **state)
{
    (void)state;
    char hex[1024];
    for (size_t t = 0; t < sizeof(tags) / sizeof(tags[0]); t++) {
        for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++) {
            snprintf(hex, sizeof(hex), MACS "%s%s", tags[t], kept[i]);
            if (!matches(ROCE_BPF_ROCE, ROCE_LINK_ETHERNET, hex))
                fail_msg("lost: %s", hex);
        }
        for (size_t i = 0; i < sizeof(dropped) / sizeof(dropped[0]); i++) {
            snprintf(hex, sizeof(hex), MACS "%s%s", tags[t], dropped[i]);
            if (matches(ROCE_BPF_ROCE, ROCE_LINK_ETHERNET, hex))
                fail_msg("kept: %s", hex);
        }
    }
}

/* The port may be the source port: answers of other implementations. */
static void test_bpf_roce_takes_either_port(void **state)
{
    (void)state;
    assert_true(
        matches(ROCE_BPF_ROCE, ROCE_LINK_ETHERNET, MACS IPV4("11") "12b7 c000 0020 0000 " BODY));
}

static void test_bpf_roce_on_cooked_frames(void **state)
{
    (void)state;
    char hex[1024];
    for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++) {
        snprintf(hex, sizeof(hex), "0000 0001 0006 020000000001 0000 %s", kept[i]);
        assert_true(matches(ROCE_BPF_ROCE, ROCE_LINK_SLL, hex));
    }
    for (size_t i = 0; i < sizeof(dropped) / sizeof(dropped[0]); i++) {
        snprintf(hex, sizeof(hex), "0000 0001 0006 020000000001 0000 %s", dropped[i]);
        assert_false(matches(ROCE_BPF_ROCE, ROCE_LINK_SLL, hex));
    }
    assert_true(
        matches(ROCE_BPF_ROCE, ROCE_LINK_SLL, "0000 0001 0006 020000000001 0000 8100 0064 " BODY));
    assert_true(matches(ROCE_BPF_ROCE, ROCE_LINK_SLL2,
                        "8915 0000 00000001 0001 00 06 020000000001 0000 " BODY));
    assert_false(matches(ROCE_BPF_ROCE, ROCE_LINK_SLL2,
                         "0806 0000 00000001 0001 00 06 020000000001 0000 " BODY));
}

static void test_bpf_roce_on_raw_ip(void **state)
{
    (void)state;
    static const uint32_t linktypes[] = {ROCE_LINK_RAW, ROCE_LINK_RAW_BSD, ROCE_LINK_IPV4,
                                         ROCE_LINK_IPV6};
    for (size_t t = 0; t < sizeof(linktypes) / sizeof(linktypes[0]); t++) {
        const uint32_t linktype = linktypes[t];
        for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++) {
            const bool ipv4 = strncmp(kept[i], "0800", 4) == 0;
            const bool ipv6 = strncmp(kept[i], "86dd", 4) == 0;
            if ((ipv4 && linktype != ROCE_LINK_IPV6) || (ipv6 && linktype != ROCE_LINK_IPV4))
                assert_true(matches(ROCE_BPF_ROCE, linktype, kept[i] + 5));
        }
        assert_false(matches(ROCE_BPF_ROCE, linktype, &IPV4("06")[5]));
    }
}

/* libpcap cannot look into these; nothing may be lost. */
static void test_bpf_roce_keeps_all_of_other_links(void **state)
{
    (void)state;
    assert_true(matches(ROCE_BPF_ROCE, ROCE_LINK_ERF, BODY));
    assert_true(matches(ROCE_BPF_ROCE, ROCE_LINK_INFINIBAND, BODY));
}

static void test_bpf_says_what_libpcap_says(void **state)
{
    (void)state;
    char text[ROCE_ERRTEXT_LEN] = "";
    int err = 0;
    assert_null(roce_bpf_compile("udp prot 4791", ROCE_LINK_ETHERNET, &err, text));
    assert_non_null(strstr(text, "syntax error"));
    assert_int_equal(err, ROCE_ERR_SYNTAX);
    err = 0;
    assert_null(roce_bpf_compile("udp port 4791", ROCE_LINK_INFINIBAND, &err, text));
    assert_non_null(strstr(text, "not implemented"));
    assert_int_equal(err, ROCE_ERR_SYNTAX);
    assert_null(roce_bpf_compile("udp prot 4791", ROCE_LINK_ETHERNET, NULL, NULL));
    struct roce_bpf *good = roce_bpf_compile("udp port 4791", ROCE_LINK_ETHERNET, &err, text);
    assert_non_null(good);
    assert_int_equal(err, 0);
    assert_string_equal(text, "");
    roce_bpf_del(good);
    roce_bpf_del(NULL);
}

/* What lies behind the captured bytes does not match; the length on the wire counts for "greater".
 */
static void test_bpf_minds_cut_frames(void **state)
{
    (void)state;
    size_t len;
    uint8_t *whole = hex_bytes(MACS IPV4("11") UDP("12b7") BODY, &len);
    struct roce_bpf *port = roce_bpf_compile("udp port 4791", ROCE_LINK_ETHERNET, NULL, NULL);
    struct roce_bpf *large = roce_bpf_compile("greater 1000", ROCE_LINK_ETHERNET, NULL, NULL);
    for (size_t cut = 0; cut <= len; cut++) {
        uint8_t *data = exact_copy(whole, cut);
        const struct roce_frame frame = {.data = data, .caplen = (uint32_t)cut, .origlen = 1000};
        assert_int_equal(roce_bpf_match(port, &frame), cut >= 14 + 20 + 4);
        assert_true(roce_bpf_match(large, &frame));
        free(data);
    }
    roce_bpf_del(port);
    roce_bpf_del(large);
    free(whole);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bpf_roce_on_ethernet),
        cmocka_unit_test(test_bpf_roce_takes_either_port),
        cmocka_unit_test(test_bpf_roce_on_cooked_frames),
        cmocka_unit_test(test_bpf_roce_on_raw_ip),
        cmocka_unit_test(test_bpf_roce_keeps_all_of_other_links),
        cmocka_unit_test(test_bpf_says_what_libpcap_says),
        cmocka_unit_test(test_bpf_minds_cut_frames),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
