/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pcapng files: sections, interfaces, clocks, every kind of packet block, statistics. */
#include "build.h"

static struct bytes file;
static struct seen seen;

static void start(bool big)
{
    file.len = 0;
    file.big = big;
    put_section(&file);
}

static void test_pcapng_reads_sections_of_either_byte_order(void **state)
{
    (void)state;
    start(false);
    put_interface(&file, ROCE_LINK_ETHERNET, 0);
    put_interface(&file, ROCE_LINK_RAW, 0);
    put_packet(&file, 0, 5000001, 61, 90, 1);
    put_packet(&file, 1, 5000002, 62, 62, 2);
    file.big = true;
    put_section(&file);
    put_interface(&file, ROCE_LINK_SLL, 0);
    put_packet(&file, 0, UINT64_C(0x123456789), 63, 63, 3);
    file.big = false;
    put_section(&file);
    put_interface(&file, ROCE_LINK_ERF, 0);
    put_packet(&file, 0, 7, 0, 64, 4);
    for (int batch = 1; batch <= 5; batch++) {
        see_memory(file.data, file.len, batch, &seen);
        assert_int_equal(seen.result, 0);
        assert_int_equal(seen.n, 4);
        assert_frame(&seen.frames[0], 1, 5000001000, 61, 90, 0, ROCE_LINK_ETHERNET, 1);
        assert_frame(&seen.frames[1], 2, 5000002000, 62, 62, 1, ROCE_LINK_RAW, 2);
        assert_frame(&seen.frames[2], 3, UINT64_C(4886718345000), 63, 63, 2, ROCE_LINK_SLL, 3);
        assert_frame(&seen.frames[3], 4, 7000, 0, 64, 3, ROCE_LINK_ERF, 4);
        seen_clear(&seen);
    }
}

/* Expected values by hand: 2^-n ticks times 10^9, rounded down. */
static void test_pcapng_turns_each_clock_into_nanoseconds(void **state)
{
    (void)state;
    static const struct {
        uint8_t resol;
        int64_t offset;
        uint64_t ticks;
        uint64_t ns;
        bool finer;
    } cases[] = {
        {6, 0, 1, 1000, false},
        {9, 0, UINT64_C(1700000000123456789), UINT64_C(1700000000123456789), true},
        {0, 0, 1700000000, UINT64_C(1700000000000000000), false},
        {3, 0, 1700000000123, UINT64_C(1700000000123000000), false},
        {7, 0, 12345678, 1234567800, true},
        {10, 0, 12345678912, 1234567891, true},
        {12, 0, UINT64_C(1700000123456789), UINT64_C(1700000123456), true},
        {28, 0, UINT64_MAX, 1, true},
        {29, 0, UINT64_MAX, 0, true},
        {127, 0, UINT64_MAX, 0, true},
        {0x80, 0, 3, 3000000000, false},
        {0x81, 0, 3, 1500000000, false},
        {0x89, 0, 513, 1001953125, false},
        {0x8a, 0, 1025, 1000976562, false},
        {0x93, 0, (1u << 19) + 1, 1000001907, false},
        {0x94, 0, (1u << 20) + 1, 1000000953, true},
        {0xa0, 0, (UINT64_C(1700000000) << 32) + 0x80000000, UINT64_C(1700000000500000000), true},
        {0xa0, 0, 1, 0, true},
        {0xa0, 0, 0xffffffff, 999999999, true},
        {0xa1, 0, (UINT64_C(1) << 33) - 1, 999999999, true},
        {0xbf, 0, UINT64_MAX, 1999999999, true},
        {0xc0, 0, UINT64_C(1) << 63, 500000000, true},
        {0xc4, 0, UINT64_C(1) << 63, 31250000, true},
        {0xff, 0, UINT64_MAX, 0, true},
        {6, 1700000000, 5, UINT64_C(1700000000000005000), false},
        {9, -10, UINT64_C(1700000000000000007), UINT64_C(1699999990000000007), true},
        {0xa0, 7, UINT64_C(1) << 31, 7500000000, true},
    };
    const size_t n = sizeof(cases) / sizeof(cases[0]);
    for (int big = 0; big < 2; big++) {
        start(big != 0);
        for (size_t i = 0; i < n; i++)
            put_clocked_interface(&file, cases[i].resol, cases[i].offset);
        for (size_t i = 0; i < n; i++)
            put_packet(&file, (uint32_t)i, cases[i].ticks, 4, 4, 0);
        see_memory(file.data, file.len, 64, &seen);
        assert_int_equal(seen.n, n);
        for (size_t i = 0; i < n; i++)
            assert_int_equal(seen.frames[i].ts, cases[i].ns);
        seen_clear(&seen);
        struct roce_reader *reader = cap_reader_open_memory(file.data, file.len, NULL, NULL);
        assert_int_equal(roce_reader_iface_count(reader), n);
        for (size_t i = 0; i < n; i++)
            assert_int_equal(roce_reader_iface(reader, (uint32_t)i)->nanosecond, cases[i].finer);
        roce_reader_del(reader);
    }
}

static void test_pcapng_reads_simple_and_obsolete_packets(void **state)
{
    (void)state;
    for (int big = 0; big < 2; big++) {
        start(big != 0);
        put_interface(&file, ROCE_LINK_ETHERNET, 20);
        size_t at = begin_block(&file, 3); /* Simple Packet Block, cut to the snap length */
        put(&file, 33, 4);
        put_fill(&file, 1, 20);
        end_block(&file, at);
        at = begin_block(&file, 3); /* whole, with padding */
        put(&file, 17, 4);
        put_fill(&file, 2, 17);
        put_fill(&file, 0, 3);
        end_block(&file, at);
        static const uint16_t drops[] = {3, 0xffff}; /* the second: not known */
        for (unsigned i = 0; i < 2; i++) {
            at = begin_block(&file, 2); /* Packet Block */
            put(&file, 0, 2);
            put(&file, drops[i], 2);
            put(&file, 0, 4);
            put(&file, 9, 4);
            put(&file, 5, 4);
            put(&file, 50, 4);
            put_fill(&file, 3, 5);
            put_fill(&file, 0, 3);
            end_block(&file, at);
        }
        struct roce_reader *reader = cap_reader_open_memory(file.data, file.len, NULL, NULL);
        seen.n = 0;
        read_rest(reader, 8, &seen);
        assert_int_equal(seen.result, 0);
        assert_int_equal(seen.n, 4);
        assert_frame(&seen.frames[0], 1, 0, 20, 33, 0, ROCE_LINK_ETHERNET, 1);
        assert_frame(&seen.frames[1], 2, 0, 17, 17, 0, ROCE_LINK_ETHERNET, 2);
        assert_frame(&seen.frames[2], 3, 9000, 5, 50, 0, ROCE_LINK_ETHERNET, 3);
        assert_frame(&seen.frames[3], 4, 9000, 5, 50, 0, ROCE_LINK_ETHERNET, 3);
        assert_int_equal(roce_reader_dropped(reader), 3);
        assert_false(roce_reader_iface(reader, 0)->has_stats);
        roce_reader_del(reader);
        seen_clear(&seen);
    }
}

static void put_statistics(uint32_t iface, const uint64_t counters[9])
{
    const size_t at = begin_block(&file, 5);
    put(&file, iface, 4);
    put(&file, 0, 8);
    for (unsigned code = 4; code <= 8; code++)
        if (counters[code] != 0)
            put_option_number(&file, code, counters[code], 8);
    put(&file, 0, 4);
    end_block(&file, at);
}

static void test_pcapng_keeps_drop_counters(void **state)
{
    (void)state;
    for (int big = 0; big < 2; big++) {
        start(big != 0);
        put_interface(&file, ROCE_LINK_ETHERNET, 0);
        put_interface(&file, ROCE_LINK_ETHERNET, 0);
        size_t at = begin_packet(&file, 1, 0, 6, 6, 1); /* epb_dropcount behind a comment */
        put_option(&file, 1, "lost", 4);
        put_option_number(&file, 4, 11, 8);
        put(&file, 0, 4);
        end_block(&file, at);
        at = begin_packet(&file, 1, 0, 6, 6, 1); /* the list just ends */
        put_option_number(&file, 4, 2, 8);
        end_block(&file, at);
        put_statistics(0, (const uint64_t[9]){[4] = 1000, [5] = 10, [6] = 900, [7] = 5, [8] = 800});
        put_statistics(0, (const uint64_t[9]){[4] = 2000, [5] = 20, [7] = 6});
        put_statistics(7, (const uint64_t[9]){[5] = 1}); /* no such interface: let pass */
        put_packet(&file, 0, 0, 6, 6, 1);
        struct roce_reader *reader = cap_reader_open_memory(file.data, file.len, NULL, NULL);
        seen.n = 0;
        read_rest(reader, 1, &seen);
        assert_int_equal(seen.result, 0);
        assert_int_equal(seen.n, 3);
        assert_true(roce_reader_iface(reader, 0)->has_stats);
        assert_int_equal(roce_reader_iface(reader, 0)->received, 2000);
        assert_int_equal(roce_reader_iface(reader, 0)->dropped, 26);
        assert_false(roce_reader_iface(reader, 1)->has_stats);
        assert_int_equal(roce_reader_iface(reader, 1)->dropped, 13);
        assert_int_equal(roce_reader_dropped(reader), 39);
        roce_reader_del(reader);
        seen_clear(&seen);
    }
}

static void test_pcapng_steps_over_other_blocks(void **state)
{
    (void)state;
    static const uint32_t types[] = {4, 7, 10, 0x0bad, 0x40000bad, 0x0000000b, 0x80000001};
    start(true);
    put_interface(&file, ROCE_LINK_ETHERNET, 0);
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        put_packet(&file, 0, i, 10, 10, (uint8_t)i);
        const size_t at = begin_block(&file, types[i]);
        put_fill(&file, 0x55, 4 * i);
        end_block(&file, at);
    }
    see_memory(file.data, file.len, 3, &seen);
    assert_int_equal(seen.result, 0);
    assert_int_equal(seen.n, 7);
    for (uint32_t i = 0; i < 7; i++)
        assert_frame(&seen.frames[i], i + 1, i * 1000, 10, 10, 0, ROCE_LINK_ETHERNET, (uint8_t)i);
    seen_clear(&seen);
}

static void test_pcapng_tells_its_interfaces_at_once(void **state)
{
    (void)state;
    char long_name[66]; /* the letter of two bytes would be cut apart */
    memset(long_name, 'n', 62);
    memcpy(long_name + 62, "\xc3\xa9z", 4);
    start(false);
    size_t at = begin_block(&file, 1);
    put(&file, ROCE_LINK_ETHERNET, 2);
    put(&file, 0, 2);
    put(&file, 1500, 4);
    put_option(&file, 3, "a description", 13);
    put_option(&file, 2, "mlx5_0", 6);
    put_option(&file, 13, "\x20", 1); /* FCS of 32 bits */
    put(&file, 0, 4);
    put_option(&file, 2, "behind the end", 14);
    end_block(&file, at);
    at = begin_block(&file, 1);
    put(&file, ROCE_LINK_SLL2, 2);
    put(&file, 0, 2);
    put(&file, 0, 4);
    put_option(&file, 2, long_name, sizeof(long_name) - 1);
    end_block(&file, at);
    put_packet(&file, 0, 0, 68, 68, 1);
    put_packet(&file, 1, 0, 68, 68, 1);
    struct roce_reader *reader = cap_reader_open_memory(file.data, file.len, NULL, NULL);
    assert_int_equal(roce_reader_iface_count(reader), 2);
    assert_string_equal(roce_reader_iface(reader, 0)->name, "mlx5_0");
    assert_int_equal(roce_reader_iface(reader, 0)->snaplen, 1500);
    assert_int_equal(roce_reader_iface(reader, 0)->linktype, ROCE_LINK_ETHERNET);
    assert_int_equal(strlen(roce_reader_iface(reader, 1)->name), 62);
    assert_memory_equal(roce_reader_iface(reader, 1)->name, long_name, 62);
    assert_int_equal(roce_reader_iface(reader, 1)->linktype, ROCE_LINK_SLL2);
    seen.n = 0;
    read_rest(reader, 8, &seen);
    assert_int_equal(seen.n, 2);
    assert_int_equal(seen.frames[0].origlen, 64);
    assert_int_equal(seen.frames[1].origlen, 68);
    roce_reader_del(reader);
    seen_clear(&seen);
}

static void test_pcapng_with_a_header_only_is_empty(void **state)
{
    (void)state;
    start(true);
    see_memory(file.data, file.len, 8, &seen);
    assert_int_equal(seen.n, 0);
    assert_int_equal(seen.result, 0);
}

/* |at|, |width|: where the second packet's block is spoilt, and with what; then what is said. */
static void test_pcapng_refuses_garbage(void **state)
{
    (void)state;
    static const struct {
        size_t at;
        uint32_t value;
        const char *text;
    } cases[] = {
        {4, 0, "packet 2 at byte 92: a block length of 0"},
        {4, 28, "packet 2 at byte 92: a block length of 28"},
        {4, 47, "packet 2 at byte 92: a block length of 47"},
        {4, 0xfffffffc, "packet 2 at byte 92: a block length of 4294967292"},
        {8, 1, "packet 2 at byte 92: interface 1 of 1"},
        {20, 17, "packet 2 at byte 92: a captured length of 17 in a block of 48 bytes"},
        {20, 0xffffffff,
         "packet 2 at byte 92: a captured length of 4294967295 in a block of 48 bytes"},
        {44, 44, "packet 2 at byte 92: a block length of 48 at its beginning and of 44 at its end"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        start(i % 2 != 0);
        put_interface(&file, ROCE_LINK_ETHERNET, 0);
        put_packet(&file, 0, 0, 9, 9, 1);
        const size_t end = file.len + 48;
        put_packet(&file, 0, 0, 16, 16, 1);
        assert_int_equal(file.len, end);
        file.len = end - 48 + cases[i].at;
        put(&file, cases[i].value, 4);
        file.len = end;
        see_memory(file.data, file.len, 8, &seen);
        assert_int_equal(seen.n, 1);
        assert_int_equal(seen.result, ROCE_ERR_FORMAT);
        assert_string_equal(seen.text, cases[i].text);
        seen_clear(&seen);
    }
}

static void test_pcapng_refuses_other_versions(void **state)
{
    (void)state;
    start(false);
    file.data[12] = 2;
    see_memory(file.data, file.len, 8, &seen);
    assert_int_equal(seen.result, ROCE_ERR_UNSUPPORTED);
    assert_string_equal(seen.text, "pcapng version 2.0 is not supported");
    file.data[8] = 0;
    see_memory(file.data, file.len, 8, &seen);
    assert_int_equal(seen.result, ROCE_ERR_FORMAT);
    assert_string_equal(seen.text, "not a capture file (begins with 0a 0d 0d 0a)");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pcapng_reads_sections_of_either_byte_order),
        cmocka_unit_test(test_pcapng_turns_each_clock_into_nanoseconds),
        cmocka_unit_test(test_pcapng_reads_simple_and_obsolete_packets),
        cmocka_unit_test(test_pcapng_keeps_drop_counters),
        cmocka_unit_test(test_pcapng_steps_over_other_blocks),
        cmocka_unit_test(test_pcapng_tells_its_interfaces_at_once),
        cmocka_unit_test(test_pcapng_with_a_header_only_is_empty),
        cmocka_unit_test(test_pcapng_refuses_garbage),
        cmocka_unit_test(test_pcapng_refuses_other_versions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
