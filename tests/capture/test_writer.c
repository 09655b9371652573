/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files written, against bytes from the standards' tables and against capinfos. */
#include "build.h"

#include <errno.h>

static char path[256];
static uint8_t data[8192];
static struct seen seen;

static struct roce_frame frame_of(roce_tstamp ts, uint32_t caplen, uint32_t origlen,
                                  uint32_t linktype)
{
    return (struct roce_frame){
        .data = data, .caplen = caplen, .origlen = origlen, .ts = ts, .linktype = linktype};
}

static void assert_file(const uint8_t *expected, size_t len)
{
    static uint8_t got[4096];
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    assert_int_equal(fread(got, 1, sizeof(got), f), len);
    fclose(f);
    assert_memory_equal(got, expected, len);
}

/* The writer uses the byte order of the machine. */
static bool machine_is_big(void)
{
    const uint16_t one = 1;
    return *(const uint8_t *)&one == 0;
}

static void test_writer_makes_pcap(void **state)
{
    (void)state;
    static struct bytes expected;
    expected.len = 0;
    expected.big = machine_is_big();
    put_pcap_header(&expected, 0xa1b23c4d, 70, ROCE_LINK_ETHERNET);
    put_pcap_record(&expected, 1700000000, 123456789, 60, 64, 0xaa);
    put_pcap_record(&expected, 1, 999999999, 70, 1500, 0xaa);
    put_pcap_record(&expected, 0, 0, 0, 0, 0xaa);
    memset(data, 0xaa, sizeof(data));

    int err;
    char text[ROCE_ERRTEXT_LEN];
    temp_path(path, ".pcap");
    struct roce_writer *writer =
        roce_writer_open(path, ROCE_FILE_PCAP, ROCE_LINK_ETHERNET, 70, &err, text);
    assert_non_null(writer);
    struct roce_frame frame = frame_of(UINT64_C(1700000000123456789), 60, 64, ROCE_LINK_ETHERNET);
    assert_int_equal(roce_writer_write(writer, &frame), 0);
    frame = frame_of(1999999999, 1500, 1500, ROCE_LINK_ETHERNET);
    assert_int_equal(roce_writer_write(writer, &frame), 0);
    frame = frame_of(0, 60, 64, ROCE_LINK_RAW);
    assert_int_equal(roce_writer_write(writer, &frame), ROCE_ERR_UNSUPPORTED);
    frame = frame_of(0, 0, 0, ROCE_LINK_ETHERNET);
    assert_int_equal(roce_writer_write(writer, &frame), 0);
    assert_int_equal(roce_writer_flush(writer), 0);
    assert_file(expected.data, expected.len);
    assert_int_equal(roce_writer_close(writer), 0);
    assert_file(expected.data, expected.len);
    unlink(path);
}

static void put_ns_interface(struct bytes *b, uint16_t linktype)
{
    const size_t at = begin_block(b, 1);
    put(b, linktype, 2);
    put(b, 0, 2);
    put(b, 262144, 4);
    put_option(b, 9, "\x09", 1);
    put(b, 0, 4);
    end_block(b, at);
}

static void test_writer_makes_pcapng(void **state)
{
    (void)state;
    static struct bytes expected;
    expected.len = 0;
    expected.big = machine_is_big();
    put_section(&expected);
    put_ns_interface(&expected, ROCE_LINK_ETHERNET);
    put_packet(&expected, 0, UINT64_C(1700000000123456789), 61, 64, 0xbb);
    put_ns_interface(&expected, ROCE_LINK_RAW);
    put_packet(&expected, 1, 7, 64, 64, 0xbb);
    put_packet(&expected, 0, 8, 63, 63, 0xbb);
    memset(data, 0xbb, sizeof(data));

    temp_path(path, ".pcapng");
    struct roce_writer *writer =
        roce_writer_open(path, roce_file_format_by_name(path), ROCE_LINK_ETHERNET, 0, NULL, NULL);
    assert_non_null(writer);
    struct roce_frame frame = frame_of(UINT64_C(1700000000123456789), 61, 64, ROCE_LINK_ETHERNET);
    assert_int_equal(roce_writer_write(writer, &frame), 0);
    frame = frame_of(7, 64, 64, ROCE_LINK_RAW);
    assert_int_equal(roce_writer_write(writer, &frame), 0);
    frame = frame_of(8, 63, 63, ROCE_LINK_ETHERNET);
    assert_int_equal(roce_writer_write(writer, &frame), 0);
    assert_int_equal(roce_writer_close(writer), 0);
    assert_file(expected.data, expected.len);
    unlink(path);
}

/* draft-ietf-opsawg-pcapng 3.5: option 1, its length, the text padded to 32 bits, the end of
 * options; pcap has no place for it. */
static void test_writer_notes(void **state)
{
    (void)state;
    static const uint8_t options[] = {1, 0, 5, 0, 'h', 'e', 'l', 'l', 'o', 0, 0, 0, 0, 0, 0, 0};
    uint8_t file[512];
    memset(data, 0xbb, sizeof(data));
    if (machine_is_big())
        skip();
    for (int pcap = 0; pcap < 2; pcap++) {
        temp_path(path, pcap ? ".pcap" : ".pcapng");
        struct roce_writer *writer = roce_writer_open(path, roce_file_format_by_name(path),
                                                      ROCE_LINK_ETHERNET, 0, NULL, NULL);
        assert_non_null(writer);
        const struct roce_frame frame = frame_of(7, 62, 62, ROCE_LINK_ETHERNET);
        assert_int_equal(roce_writer_write_note(writer, &frame, "hello"), 0);
        assert_int_equal(roce_writer_close(writer), 0);
        FILE *f = fopen(path, "rb");
        const size_t len = fread(file, 1, sizeof(file), f);
        fclose(f);
        unlink(path);
        if (pcap) {
            assert_int_equal(len, 24 + 16 + 62);
            continue;
        }
        const size_t block =
            28 + 64 + sizeof(options) + 4; /* head, data and pad, options, length */
        assert_int_equal(len, 28 + 32 + block);
        assert_int_equal(file[28 + 32 + 4], block);
        assert_memory_equal(file + len - 4 - sizeof(options), options, sizeof(options));
        assert_int_equal(file[len - 4], block);
    }
}

static void test_writer_chooses_the_format_by_name(void **state)
{
    (void)state;
    assert_int_equal(roce_file_format_by_name("a.pcapng"), ROCE_FILE_PCAPNG);
    assert_int_equal(roce_file_format_by_name("a.ntar"), ROCE_FILE_PCAPNG);
    assert_int_equal(roce_file_format_by_name("a.pcap"), ROCE_FILE_PCAP);
    assert_int_equal(roce_file_format_by_name("pcapng"), ROCE_FILE_PCAP);
    assert_int_equal(roce_file_format_by_name(""), ROCE_FILE_PCAP);
    assert_int_equal(roce_file_format_by_name("-"), ROCE_FILE_PCAP);
}

/* More than one buffer full, frames larger than the buffer, read back by the reader and counted by
 * capinfos. */
static void test_writer_output_is_what_others_read(void **state)
{
    (void)state;
    enum { FRAMES = 3000 };
    static uint8_t large[262144];
    for (int ng = 0; ng < 2; ng++) {
        temp_path(path, ng ? ".pcapng" : ".pcap");
        struct roce_writer *writer = roce_writer_open(path, roce_file_format_by_name(path),
                                                      ROCE_LINK_ETHERNET, 0, NULL, NULL);
        uint64_t bytes = 0;
        for (uint32_t i = 0; i < FRAMES; i++) {
            const uint32_t len = i % 1000 == 999 ? (uint32_t)sizeof(large) : 60 + i % 500;
            memset(large, (int)(i & 0xff), len);
            const struct roce_frame frame = {.data = large,
                                             .caplen = len,
                                             .origlen = len + 4,
                                             .ts = 1700000000 * UINT64_C(1000000000) + i,
                                             .linktype = ROCE_LINK_ETHERNET};
            bytes += len + 4;
            assert_int_equal(roce_writer_write(writer, &frame), 0);
        }
        assert_int_equal(roce_writer_close(writer), 0);

        see_path(path, 64, &seen);
        assert_int_equal(seen.result, 0);
        assert_int_equal(seen.n, FRAMES);
        for (uint32_t i = 0; i < FRAMES; i++) {
            const uint32_t len = i % 1000 == 999 ? (uint32_t)sizeof(large) : 60 + i % 500;
            assert_frame(&seen.frames[i], i + 1, 1700000000 * UINT64_C(1000000000) + i, len,
                         len + 4, 0, ROCE_LINK_ETHERNET, (uint8_t)(i & 0xff));
        }
        seen_clear(&seen);

        char command[512];
        snprintf(command, sizeof(command), "capinfos -T -r -Q -E -c -d -M -S -a -e %s", path);
        FILE *capinfos = popen(command, "r");
        assert_non_null(capinfos);
        char line[1024] = "";
        char expected[1024];
        assert_non_null(fgets(line, sizeof(line), capinfos));
        assert_int_equal(pclose(capinfos), 0);
        snprintf(expected, sizeof(expected),
                 "\"%s\"\t\"ether\"\t\"%d\"\t\"%llu\"\t\"1700000000.000000000\"\t"
                 "\"1700000000.000002999\"\n",
                 path, FRAMES, (unsigned long long)bytes);
        assert_string_equal(line, expected);
        unlink(path);
    }
}

static void test_writer_reports_a_full_disk(void **state)
{
    (void)state;
    int err;
    char text[ROCE_ERRTEXT_LEN];
    struct roce_writer *writer =
        roce_writer_open("/dev/full", ROCE_FILE_PCAP, ROCE_LINK_ETHERNET, 0, &err, text);
    assert_non_null(writer);
    const struct roce_frame frame = frame_of(0, 4000, 4000, ROCE_LINK_ETHERNET);
    int status = 0;
    for (int i = 0; i < 1000 && status == 0; i++)
        status = roce_writer_write(writer, &frame);
    assert_int_equal(status, ROCE_ERR_IO);
    assert_int_equal(errno, ENOSPC);
    assert_int_equal(roce_writer_write(writer, &frame), ROCE_ERR_IO);
    errno = 0;
    assert_int_equal(roce_writer_close(writer), ROCE_ERR_IO);
    assert_int_equal(errno, ENOSPC);

    writer = roce_writer_open("/dev/full", ROCE_FILE_PCAPNG, ROCE_LINK_ETHERNET, 0, &err, text);
    assert_int_equal(roce_writer_flush(writer), ROCE_ERR_IO);
    assert_int_equal(roce_writer_close(writer), ROCE_ERR_IO);
}

static void test_writer_says_why_it_cannot_open(void **state)
{
    (void)state;
    int err;
    char text[ROCE_ERRTEXT_LEN];
    assert_null(roce_writer_open(BINARY_DIR "/no/such/folder/x.pcap", ROCE_FILE_PCAP,
                                 ROCE_LINK_ETHERNET, 0, &err, text));
    assert_int_equal(err, ROCE_ERR_IO);
    assert_string_equal(text, "No such file or directory");
    assert_null(roce_writer_open(BINARY_DIR, ROCE_FILE_PCAP, ROCE_LINK_ETHERNET, 0, &err, text));
    assert_string_equal(text, "Is a directory");
    assert_int_equal(roce_writer_close(NULL), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_writer_makes_pcap),
        cmocka_unit_test(test_writer_makes_pcapng),
        cmocka_unit_test(test_writer_notes),
        cmocka_unit_test(test_writer_chooses_the_format_by_name),
        cmocka_unit_test(test_writer_output_is_what_others_read),
        cmocka_unit_test(test_writer_reports_a_full_disk),
        cmocka_unit_test(test_writer_says_why_it_cannot_open),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
