/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where captures come from: files, pipes, standard input, compressed, cut short, none at all. */
#include "build.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <zlib.h>
#include <zstd.h>

static struct bytes file;
static struct seen plain;
static struct seen seen;
static char path[256];

enum { PACKETS = 40 };

static void build_pcap(void)
{
    file.len = 0;
    file.big = false;
    put_pcap_header(&file, 0xa1b23c4d, 65535, ROCE_LINK_ETHERNET);
    for (uint32_t i = 0; i < PACKETS; i++)
        put_pcap_record(&file, i, i, 60 + i, 100 + i, (uint8_t)i);
}

/* Both byte orders and every kind of block. */
static void build_pcapng(void)
{
    file.len = 0;
    for (uint32_t s = 0; s < 2; s++) {
        file.big = s == 1;
        put_section(&file);
        put_clocked_interface(&file, 9, 0);
        for (uint32_t i = 0; i < PACKETS / 2; i++) {
            put_packet(&file, 0, i, 60 + i, 100 + i, (uint8_t)i);
            if (i % 8 == 0) {
                const size_t at = begin_block(&file, 0xbad);
                put_fill(&file, 0, 16 * i);
                end_block(&file, at);
            }
        }
        const size_t at = begin_block(&file, 5);
        put(&file, 0, 4);
        put(&file, 0, 8);
        put_option_number(&file, 5, 3, 8);
        end_block(&file, at);
    }
}

static void (*const builders[])(void) = {build_pcap, build_pcapng};

/* ---- compression by the libraries' own compressors, in |members| pieces ---- */

static size_t gzip_bytes(const uint8_t *data, size_t len, unsigned members, uint8_t *out,
                         size_t room)
{
    size_t made = 0;
    for (unsigned m = 0; m < members; m++) {
        const size_t from = len * m / members;
        const size_t to = len * (m + 1) / members;
        z_stream z = {0};
        assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
        uint8_t *piece = malloc(to - from + 1);
        memcpy(piece, data + from, to - from);
        z.next_in = piece;
        z.avail_in = (uInt)(to - from);
        z.next_out = out + made;
        z.avail_out = (uInt)(room - made);
        assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
        made = room - z.avail_out;
        deflateEnd(&z);
        free(piece);
    }
    return made;
}

static size_t zstd_bytes(const uint8_t *data, size_t len, unsigned members, uint8_t *out,
                         size_t room)
{
    size_t made = 0;
    for (unsigned m = 0; m < members; m++) {
        const size_t from = len * m / members;
        const size_t to = len * (m + 1) / members;
        const size_t n = ZSTD_compress(out + made, room - made, data + from, to - from, 3);
        assert_false(ZSTD_isError(n));
        made += n;
    }
    return made;
}

static size_t (*const compressors[])(const uint8_t *, size_t, unsigned, uint8_t *,
                                     size_t) = {gzip_bytes, zstd_bytes};

/* ---- pipes ---- */

struct feed {
    int fd;
    const uint8_t *data;
    size_t len;
    size_t chunk;
};

static void *feed_main(void *arg)
{
    const struct feed *feed = arg;
    for (size_t at = 0; at < feed->len;) {
        const size_t left = feed->len - at;
        const ssize_t n = write(feed->fd, feed->data + at, left < feed->chunk ? left : feed->chunk);
        if (n <= 0)
            break;
        at += (size_t)n;
    }
    close(feed->fd);
    return NULL;
}

static void see_pipe(const uint8_t *data, size_t len, size_t chunk)
{
    int fds[2];
    pthread_t thread;
    assert_int_equal(pipe(fds), 0);
    struct feed feed = {fds[1], data, len, chunk};
    assert_int_equal(pthread_create(&thread, NULL, feed_main, &feed), 0);
    seen.n = 0;
    struct roce_reader *reader = cap_reader_open_fd(fds[0], NULL, &seen.result, seen.text);
    if (reader != NULL) {
        uint64_t consumed = 0;
        uint64_t size = 1;
        read_rest(reader, 64, &seen);
        roce_reader_progress(reader, &consumed, &size);
        assert_int_equal(size, 0);
        if (seen.result == 0)
            assert_int_equal(consumed, len);
    }
    roce_reader_del(reader);
    close(fds[0]);
    pthread_join(thread, NULL);
}

static void test_input_is_the_same_from_everywhere(void **state)
{
    (void)state;
    static uint8_t packed[1 << 17];
    for (size_t b = 0; b < 2; b++) {
        builders[b]();
        see_memory(file.data, file.len, 64, &plain);
        assert_int_equal(plain.result, 0);
        assert_int_equal(plain.n, PACKETS);

        temp_path(path, "");
        write_file(path, file.data, file.len);
        see_path(path, 64, &seen);
        assert_int_equal(seen.result, 0);
        assert_same_frames(&plain, &seen);
        seen_clear(&seen);

        static const size_t chunks[] = {1, 7, 100, 65536};
        for (size_t c = 0; c < sizeof(chunks) / sizeof(chunks[0]); c++) {
            see_pipe(file.data, file.len, chunks[c]);
            assert_int_equal(seen.result, 0);
            assert_same_frames(&plain, &seen);
            seen_clear(&seen);
        }
        for (size_t k = 0; k < 2; k++) {
            for (unsigned members = 1; members <= 50; members += 7) {
                const size_t len =
                    compressors[k](file.data, file.len, members, packed, sizeof(packed));
                write_file(path, packed, len);
                see_path(path, 64, &seen);
                assert_int_equal(seen.result, 0);
                assert_same_frames(&plain, &seen);
                seen_clear(&seen);
                see_pipe(packed, len, members);
                assert_int_equal(seen.result, 0);
                assert_same_frames(&plain, &seen);
                seen_clear(&seen);
            }
        }
        unlink(path);
        seen_clear(&plain);
    }
}

/* More than one buffer of a plain and of a compressed file, with frames of any size across their
 * edges. */
static void test_input_of_many_windows(void **state)
{
    (void)state;
    enum { MANY = 3000, LEN_MAX = 200000 };
    static uint8_t body[LEN_MAX];
    char packed[600];
    temp_path(path, ".pcap");
    FILE *f = fopen(path, "wb");
    file.len = 0;
    file.big = false;
    put_pcap_header(&file, 0xa1b2c3d4, 0, ROCE_LINK_ETHERNET);
    fwrite(file.data, 1, file.len, f);
    uint64_t random = 1;
    for (uint32_t i = 0; i < MANY; i++) {
        random = random * UINT64_C(6364136223846793005) + 1442695040888963407u;
        const uint32_t len = (uint32_t)(random >> 33) % (i % 10 == 0 ? LEN_MAX : 2000);
        memset(body, (int)(i & 0xff), len);
        const uint32_t record[4] = {i, 0, len, len};
        fwrite(record, 1, sizeof(record), f);
        fwrite(body, 1, len, f);
    }
    assert_int_equal(fclose(f), 0);
    snprintf(packed, sizeof(packed), "gzip -1 <%s >%s.gz", path, path);
    assert_int_equal(system(packed), 0);
    snprintf(packed, sizeof(packed), "%s.gz", path);

    const char *const paths[] = {path, packed};
    for (size_t p = 0; p < 2; p++) {
        struct roce_reader *reader = roce_reader_open(paths[p], NULL, NULL, NULL);
        assert_non_null(reader);
        struct roce_frame frames[64];
        uint32_t at = 0;
        uint64_t consumed;
        uint64_t size;
        int n;
        random = 1;
        while ((n = roce_reader_next(reader, frames, 64)) > 0) {
            for (int i = 0; i < n; i++, at++) {
                random = random * UINT64_C(6364136223846793005) + 1442695040888963407u;
                assert_frame(&frames[i], at + 1, at * UINT64_C(1000000000),
                             (uint32_t)(random >> 33) % (at % 10 == 0 ? LEN_MAX : 2000),
                             frames[i].caplen, 0, ROCE_LINK_ETHERNET, (uint8_t)(at & 0xff));
            }
        }
        assert_int_equal(n, 0);
        assert_int_equal(at, MANY);
        struct stat st;
        assert_int_equal(stat(paths[p], &st), 0);
        roce_reader_progress(reader, &consumed, &size);
        assert_int_equal(size, st.st_size);
        assert_int_equal(consumed, st.st_size);
        roce_reader_del(reader);
        unlink(paths[p]);
    }
}

/* Standard input is a file of which someone has already read 100 bytes, then a pipe. */
static void test_input_from_standard_input(void **state)
{
    (void)state;
    static const uint8_t before[100];
    build_pcap();
    see_memory(file.data, file.len, 64, &plain);
    const int saved = dup(STDIN_FILENO);
    temp_path(path, "");
    FILE *f = fopen(path, "wb");
    fwrite(before, 1, sizeof(before), f);
    fwrite(file.data, 1, file.len, f);
    fclose(f);
    int fd = open(path, O_RDONLY);
    assert_int_equal(lseek(fd, sizeof(before), SEEK_SET), sizeof(before));
    dup2(fd, STDIN_FILENO);
    close(fd);
    see_path("-", 64, &seen);
    assert_int_equal(seen.result, 0);
    assert_same_frames(&plain, &seen);
    seen_clear(&seen);
    unlink(path);

    int fds[2];
    assert_int_equal(pipe(fds), 0);
    assert_int_equal(write(fds[1], file.data, file.len), file.len);
    close(fds[1]);
    dup2(fds[0], STDIN_FILENO);
    close(fds[0]);
    see_path("-", 64, &seen);
    assert_int_equal(seen.result, 0);
    assert_same_frames(&plain, &seen);
    seen_clear(&seen);
    seen_clear(&plain);
    dup2(saved, STDIN_FILENO);
    close(saved);
}

/* How many packets are whole within |len| bytes; |clean|: the cut is between two records. Worked
 * out from the layout of build_pcap, not with the reader. */
static int whole_packets(size_t len, bool *clean)
{
    size_t end = 24;
    int n = 0;
    *clean = len == end;
    while (n < PACKETS && end + 16 + 60 + (size_t)n <= len) {
        end += 16 + 60 + (size_t)n;
        n++;
        *clean = len == end;
    }
    return n;
}

static void assert_prefix(const struct seen *part, const struct seen *all, int n)
{
    assert_int_equal(part->n, n);
    for (int i = 0; i < n; i++) {
        assert_int_equal(part->frames[i].number, all->frames[i].number);
        assert_int_equal(part->frames[i].caplen, all->frames[i].caplen);
        assert_memory_equal(part->frames[i].data, all->frames[i].data, part->frames[i].caplen);
    }
}

static void test_input_cut_at_every_byte(void **state)
{
    (void)state;
    build_pcap();
    see_memory(file.data, file.len, 64, &plain);
    temp_path(path, "");
    for (size_t len = 0; len < file.len; len++) {
        bool clean;
        const int n = whole_packets(len, &clean);
        const int expected = len == 0 ? ROCE_ERR_EMPTY : clean ? 0 : ROCE_ERR_TRUNCATED;
        see_memory(file.data, len, 7, &seen);
        assert_int_equal(seen.result, expected);
        assert_prefix(&seen, &plain, n);
        seen_clear(&seen);
        if (len % 13 == 0) {
            see_pipe(file.data, len, 1000);
            assert_int_equal(seen.result, expected);
            assert_prefix(&seen, &plain, n);
            seen_clear(&seen);
            write_file(path, file.data, len);
            see_path(path, 7, &seen);
            assert_int_equal(seen.result, expected);
            assert_prefix(&seen, &plain, n);
            seen_clear(&seen);
        }
    }
    unlink(path);
    seen_clear(&plain);
}

static void test_input_says_where_it_is_cut(void **state)
{
    (void)state;
    build_pcap();
    static const struct {
        size_t len;
        const char *text;
    } cases[] = {
        {0, "empty file"},
        {3, "cut short in the file header"},
        {23, "cut short in the file header"},
        {25, "cut short in packet 1 at byte 24: 1 of at least 16 bytes"},
        {24 + 76 + 20, "cut short in packet 2 at byte 100: 20 of 77 bytes"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        see_memory(file.data, cases[i].len, 8, &seen);
        assert_string_equal(seen.text, cases[i].text);
        seen_clear(&seen);
    }
}

/* Every prefix of a pcapng file and of both compressed forms: the frames are a prefix of the whole
 * file's, and the end is either clean or TRUNCATED. */
static void test_input_pcapng_and_compressed_cut_at_every_byte(void **state)
{
    (void)state;
    static uint8_t packed[1 << 17];
    temp_path(path, "");
    for (size_t b = 0; b < 2; b++) {
        builders[b]();
        see_memory(file.data, file.len, 64, &plain);
        int last = 0;
        for (size_t len = 1; len < file.len; len++) {
            see_memory(file.data, len, 7, &seen);
            assert_true(seen.result == 0 || seen.result == ROCE_ERR_TRUNCATED);
            assert_true(seen.n >= last && seen.n <= last + 1);
            last = seen.n;
            assert_prefix(&seen, &plain, seen.n);
            seen_clear(&seen);
        }
        /* A pcap file ends with a packet, this pcapng file with another block. */
        assert_int_equal(last, b == 0 ? PACKETS - 1 : PACKETS);
        for (size_t k = 0; k < 2; k++) {
            const size_t full = compressors[k](file.data, file.len, 2, packed, sizeof(packed));
            const size_t first = compressors[k](file.data, file.len / 2, 1, packed, sizeof(packed));
            assert_int_equal(compressors[k](file.data, file.len, 2, packed, sizeof(packed)), full);
            last = 0;
            for (size_t len = 1; len < full; len++) {
                write_file(path, packed, len);
                see_path(path, 64, &seen);
                /* Where the first member ends, only the capture inside can be cut: half a pcapng
                 * file is one whole section. */
                const bool whole = len == first;
                assert_int_equal(seen.result, whole && b == 1 ? 0 : ROCE_ERR_TRUNCATED);
                assert_true(seen.n >= last);
                last = seen.n;
                assert_prefix(&seen, &plain, seen.n);
                if (!whole && seen.n > 0)
                    assert_non_null(strstr(seen.text, " data)"));
                seen_clear(&seen);
            }
        }
        seen_clear(&plain);
    }
    unlink(path);
}

static void test_input_damaged_compression(void **state)
{
    (void)state;
    static uint8_t packed[1 << 17];
    build_pcap();
    for (size_t k = 0; k < 2; k++) {
        size_t len = compressors[k](file.data, file.len, 1, packed, sizeof(packed) - 8);
        memcpy(packed + len, "garbage", 7);
        see_pipe(packed, len + 7, 65536);
        assert_int_equal(seen.result, ROCE_ERR_FORMAT);
        assert_int_equal(seen.n, PACKETS);
        assert_non_null(strstr(seen.text, k == 0 ? "damaged gzip data: " : "damaged zstd data: "));
        seen_clear(&seen);
    }
    /* gzip(1) lets zeros behind the last member pass. */
    const size_t len = gzip_bytes(file.data, file.len, 1, packed, sizeof(packed) - 600);
    memset(packed + len, 0, 512);
    see_pipe(packed, len + 512, 65536);
    assert_int_equal(seen.result, 0);
    assert_int_equal(seen.n, PACKETS);
    seen_clear(&seen);
    /* RFC 1952 2.2: the CRC-32 is the first of the last two words. */
    packed[len - 8] ^= 1;
    see_pipe(packed, len, 65536);
    assert_int_equal(seen.result, ROCE_ERR_FORMAT);
    assert_string_equal(seen.text, "damaged gzip data: incorrect data check");
    seen_clear(&seen);
}

static void assert_refused(const char *name, int err, const char *text)
{
    see_path(name, 8, &seen);
    assert_int_equal(seen.n, 0);
    assert_int_equal(seen.result, err);
    assert_string_equal(seen.text, text);
}

static void test_input_that_is_no_capture(void **state)
{
    (void)state;
    char below[300];
    assert_refused(BINARY_DIR, ROCE_ERR_IO, "is a directory");
    assert_refused(BINARY_DIR "/no-such-file", ROCE_ERR_IO, "No such file or directory");
    assert_refused("/dev/null", ROCE_ERR_EMPTY, "empty file");
    temp_path(path, "");
    snprintf(below, sizeof(below), "%s/x", path);
    assert_refused(below, ROCE_ERR_IO, "Not a directory");
    assert_refused(path, ROCE_ERR_EMPTY, "empty file");
    write_file(path,
               (const uint8_t *)"\x7f"
                                "ELF\x02\x01\x01",
               7);
    assert_refused(path, ROCE_ERR_FORMAT, "not a capture file (begins with 7f 45 4c 46)");
    write_file(path, (const uint8_t *)"x", 1);
    assert_refused(path, ROCE_ERR_FORMAT, "not a capture file (begins with 78)");
    write_file(path, (const uint8_t *)"\xd4\xc3", 2);
    assert_refused(path, ROCE_ERR_TRUNCATED, "cut short in the file header");
    uint8_t packed[256];
    size_t len = gzip_bytes((const uint8_t *)"hello, world", 12, 1, packed, sizeof(packed));
    write_file(path, packed, len);
    assert_refused(path, ROCE_ERR_FORMAT,
                   "not a capture file (its uncompressed data begins with 68 65 6c 6c)");
    len = zstd_bytes((const uint8_t *)"", 0, 1, packed, sizeof(packed));
    write_file(path, packed, len);
    assert_refused(path, ROCE_ERR_EMPTY, "empty file inside the compression");
    unlink(path);
    roce_reader_del(NULL);
}

static void test_input_refuses_an_empty_batch(void **state)
{
    (void)state;
    struct roce_frame frame;
    build_pcap();
    struct roce_reader *reader = cap_reader_open_memory(file.data, file.len, NULL, NULL);
    assert_int_equal(roce_reader_next(reader, &frame, 0), ROCE_ERR_INVALID);
    assert_int_equal(roce_reader_next(reader, &frame, 1), 1);
    roce_reader_del(reader);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_input_is_the_same_from_everywhere),
        cmocka_unit_test(test_input_of_many_windows),
        cmocka_unit_test(test_input_from_standard_input),
        cmocka_unit_test(test_input_cut_at_every_byte),
        cmocka_unit_test(test_input_says_where_it_is_cut),
        cmocka_unit_test(test_input_pcapng_and_compressed_cut_at_every_byte),
        cmocka_unit_test(test_input_damaged_compression),
        cmocka_unit_test(test_input_that_is_no_capture),
        cmocka_unit_test(test_input_refuses_an_empty_batch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
