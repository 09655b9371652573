/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pcap files of each magic number and byte order. */
#include "build.h"

static struct bytes file;
static struct seen seen;

static const struct variant {
    uint32_t magic;
    uint32_t frac_ns;
    unsigned extra; /* bytes of the record header that only the patched libpcap has */
} variants[] = {
    {0xa1b2c3d4, 1000, 0},
    {0xa1b23c4d, 1, 0},
    {0xa1b2cd34, 1000, 8},
};

static void build(const struct variant *v, bool big, uint32_t snaplen, uint32_t network)
{
    file.len = 0;
    file.big = big;
    put_pcap_header(&file, v->magic, snaplen, network);
    for (uint32_t i = 0; i < 100; i++) {
        put(&file, 1700000000 + i, 4);
        put(&file, 999000 + i, 4);
        put(&file, i, 4);
        put(&file, 2 * i, 4);
        put_fill(&file, 0xee, v->extra);
        put_fill(&file, (uint8_t)i, i);
    }
}

static void test_pcap_reads_each_magic_and_byte_order(void **state)
{
    (void)state;
    for (size_t v = 0; v < sizeof(variants) / sizeof(variants[0]); v++) {
        for (int big = 0; big < 2; big++) {
            for (int batch = 1; batch <= 64; batch += 21) {
                build(&variants[v], big != 0, 65535, ROCE_LINK_ETHERNET);
                see_memory(file.data, file.len, batch, &seen);
                assert_int_equal(seen.result, 0);
                assert_string_equal(seen.text, "");
                assert_int_equal(seen.n, 100);
                for (uint32_t i = 0; i < 100; i++)
                    assert_frame(&seen.frames[i], i + 1,
                                 (1700000000 + i) * UINT64_C(1000000000) +
                                     (999000 + i) * variants[v].frac_ns,
                                 i, 2 * i, 0, ROCE_LINK_ETHERNET, (uint8_t)i);
                seen_clear(&seen);
            }
        }
    }
}

static void test_pcap_tells_its_interface(void **state)
{
    (void)state;
    int err;
    char text[ROCE_ERRTEXT_LEN];
    for (size_t v = 0; v < 2; v++) {
        build(&variants[v], true, 96, ROCE_LINK_SLL2);
        struct roce_reader *reader = cap_reader_open_memory(file.data, file.len, &err, text);
        assert_non_null(reader);
        assert_int_equal(roce_reader_iface_count(reader), 1);
        const struct roce_iface *iface = roce_reader_iface(reader, 0);
        assert_int_equal(iface->linktype, ROCE_LINK_SLL2);
        assert_int_equal(iface->snaplen, 96);
        assert_string_equal(iface->name, "");
        assert_false(iface->has_stats);
        assert_int_equal(iface->nanosecond, v == 1);
        assert_null(roce_reader_iface(reader, 1));
        assert_int_equal(roce_reader_dropped(reader), 0);
        roce_reader_del(reader);
    }
}

/* Link type word of Wireshark's Ethernet captures with FCS: F bit set, length 2 words of 16 bits.
 */
static void test_pcap_leaves_the_fcs_out(void **state)
{
    (void)state;
    file.len = 0;
    file.big = false;
    put_pcap_header(&file, 0xa1b2c3d4, 65535, 0x24000001);
    put_pcap_record(&file, 1, 0, 68, 68, 1); /* whole: 64 bytes and FCS */
    put_pcap_record(&file, 1, 0, 66, 68, 2); /* cut inside the FCS */
    put_pcap_record(&file, 1, 0, 60, 68, 3); /* cut before it */
    put_pcap_record(&file, 1, 0, 2, 2, 4);   /* too short to have one */
    see_memory(file.data, file.len, 8, &seen);
    assert_int_equal(seen.n, 4);
    assert_frame(&seen.frames[0], 1, 1000000000, 64, 64, 0, ROCE_LINK_ETHERNET, 1);
    assert_frame(&seen.frames[1], 2, 1000000000, 64, 64, 0, ROCE_LINK_ETHERNET, 2);
    assert_frame(&seen.frames[2], 3, 1000000000, 60, 64, 0, ROCE_LINK_ETHERNET, 3);
    assert_frame(&seen.frames[3], 4, 1000000000, 2, 2, 0, ROCE_LINK_ETHERNET, 4);
    seen_clear(&seen);
}

static void test_pcap_with_a_header_only_is_empty(void **state)
{
    (void)state;
    file.len = 0;
    file.big = false;
    put_pcap_header(&file, 0xa1b2c3d4, 0, ROCE_LINK_ETHERNET);
    see_memory(file.data, file.len, 8, &seen);
    assert_int_equal(seen.n, 0);
    assert_int_equal(seen.result, 0);
}

static void test_pcap_refuses_an_absurd_length(void **state)
{
    (void)state;
    static const struct {
        uint32_t snaplen, caplen;
        const char *limit;
    } cases[] = {
        {0, 262145, "262144"},
        {65535, 0xffffffff, "262144"},
        {300000, 300001, "300000"},
        {0xffffffff, 268435457, "268435456"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        file.len = 0;
        file.big = i % 2 != 0;
        put_pcap_header(&file, 0xa1b2c3d4, cases[i].snaplen, ROCE_LINK_ETHERNET);
        put_pcap_record(&file, 1, 2, 10, 10, 0);
        put_fill(&file, 0, 8);
        put(&file, cases[i].caplen, 4);
        put_fill(&file, 0, 4);
        see_memory(file.data, file.len, 8, &seen);
        assert_int_equal(seen.n, 1);
        assert_int_equal(seen.result, ROCE_ERR_FORMAT);
        char text[ROCE_ERRTEXT_LEN];
        snprintf(text, sizeof(text),
                 "packet 2 at byte 50: a captured length of %u, which is above the limit of %s",
                 cases[i].caplen, cases[i].limit);
        assert_string_equal(seen.text, text);
        seen_clear(&seen);
    }
}

/* Longer than the announced snap length, but not longer than what programs write. */
static void test_pcap_lets_a_wrong_snaplen_pass(void **state)
{
    (void)state;
    file.len = 0;
    file.big = false;
    put_pcap_header(&file, 0xa1b2c3d4, 96, ROCE_LINK_ETHERNET);
    put_pcap_record(&file, 1, 0, 1500, 1500, 7);
    see_memory(file.data, file.len, 8, &seen);
    assert_int_equal(seen.result, 0);
    assert_int_equal(seen.n, 1);
    assert_frame(&seen.frames[0], 1, 1000000000, 1500, 1500, 0, ROCE_LINK_ETHERNET, 7);
    seen_clear(&seen);
}

static void test_pcap_refuses_other_versions(void **state)
{
    (void)state;
    build(&variants[0], false, 0, ROCE_LINK_ETHERNET);
    file.data[6] = 2;
    see_memory(file.data, file.len, 8, &seen);
    assert_int_equal(seen.result, ROCE_ERR_UNSUPPORTED);
    assert_string_equal(seen.text, "pcap version 2.2 is not supported");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pcap_reads_each_magic_and_byte_order),
        cmocka_unit_test(test_pcap_tells_its_interface),
        cmocka_unit_test(test_pcap_leaves_the_fcs_out),
        cmocka_unit_test(test_pcap_with_a_header_only_is_empty),
        cmocka_unit_test(test_pcap_refuses_an_absurd_length),
        cmocka_unit_test(test_pcap_lets_a_wrong_snaplen_pass),
        cmocka_unit_test(test_pcap_refuses_other_versions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
