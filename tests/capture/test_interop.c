/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The bundled captures as Wireshark's tools convert and merge them: number, time, lengths and
 * interface of each frame as tshark tells them. */
#include "build.h"

#include <inttypes.h>

static char path[256];

/* Compares every frame of |path| with a line of tshark's. */
static void compare(bool with_iface)
{
    char command[512];
    char line[256];
    char text[ROCE_ERRTEXT_LEN];
    struct roce_frame frames[64];
    uint64_t seen = 0;
    int n;
    snprintf(command, sizeof(command),
             "tshark -n -r %s -T fields -e frame.number -e frame.time_epoch -e frame.len "
             "-e frame.cap_len -e frame.interface_id -E separator=' ' 2>" BINARY_DIR "/tshark.err",
             path);
    FILE *tshark = popen(command, "r");
    assert_non_null(tshark);
    struct roce_reader *reader = roce_reader_open(path, NULL, NULL, text);
    if (reader == NULL)
        fail_msg("%s: %s", path, text);
    while ((n = roce_reader_next(reader, frames, 64)) > 0) {
        for (int i = 0; i < n; i++, seen++) {
            uint64_t number;
            uint64_t sec;
            char frac[16];
            uint32_t origlen;
            uint32_t caplen;
            uint32_t iface = 0;
            assert_non_null(fgets(line, sizeof(line), tshark));
            assert_true(sscanf(line,
                               "%" SCNu64 " %" SCNu64 ".%9[0-9] %" SCNu32 " %" SCNu32 " %" SCNu32,
                               &number, &sec, frac, &origlen, &caplen, &iface) >= 5);
            assert_int_equal(strlen(frac), 9);
            assert_int_equal(frames[i].number, number);
            assert_int_equal(frames[i].ts, sec * UINT64_C(1000000000) + strtoull(frac, NULL, 10));
            assert_int_equal(frames[i].origlen, origlen);
            assert_int_equal(frames[i].caplen, caplen);
            if (with_iface)
                assert_int_equal(frames[i].iface, iface);
        }
    }
    assert_int_equal(n, 0);
    assert_true(seen > 0);
    assert_null(fgets(line, sizeof(line), tshark));
    assert_int_equal(pclose(tshark), 0);
    roce_reader_del(reader);
}

static void make(const char *command)
{
    char full[1024];
    temp_path(path, "");
    snprintf(full, sizeof(full), "cd " SOURCE_DIR "/pcaps && %s %s", command, path);
    /* mergecap wants -w before the name, editcap the name last: both end with it. */
    assert_int_equal(system(full), 0);
}

static void make_and_compare(const char *command)
{
    make(command);
    compare(true);
    unlink(path);
}

static void test_interop_with_each_format_of_editcap(void **state)
{
    (void)state;
    make_and_compare("cp rc_all_ops.pcap");
    make_and_compare("cp fmt_nano.pcap");
    make_and_compare("cp fmt_rc_all_ops.pcapng");
    make_and_compare("editcap -F pcap fmt_rc_all_ops.pcapng");
    make_and_compare("editcap -F nsecpcap fmt_nano.pcap");
    make_and_compare("editcap -F modpcap rc_all_ops.pcap");
    make_and_compare("editcap -F pcapng fmt_nano.pcap");
    make_and_compare("editcap -F pcapng -s 64 -a 2:note rc_all_ops.pcap");
}

static void test_interop_with_merged_captures(void **state)
{
    (void)state;
    make_and_compare("mergecap -F pcapng -I none fmt_nano.pcap rc_all_ops.pcap "
                     "fmt_rc_all_ops.pcapng -w");
    make_and_compare("mergecap -F pcapng -I none -a cm_rping.pcap fmt_nano.pcap -w");
}

/* Two whole files in a row are one file of two sections. tshark numbers the interfaces of each
 * section from 0. */
static void test_interop_with_joined_files(void **state)
{
    (void)state;
    make("f() { cat fmt_rc_all_ops.pcapng fmt_rc_all_ops.pcapng >$1; }; f");
    compare(false);
    unlink(path);
}

static void test_interop_with_gzip_and_zstd(void **state)
{
    (void)state;
    make_and_compare("f() { gzip -c fmt_nano.pcap >$1; }; f");
    make_and_compare("f() { zstd -q -c rc_all_ops.pcap >$1; }; f");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_interop_with_each_format_of_editcap),
        cmocka_unit_test(test_interop_with_merged_captures),
        cmocka_unit_test(test_interop_with_joined_files),
        cmocka_unit_test(test_interop_with_gzip_and_zstd),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
