/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The capture file as port, read back. */
#include "cmocka_all.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <roce/capture.h>

#include "port/file.h"
#include "port/loopback.h"

enum { PATH_ROOM = 512 };

static void scratch(char path[PATH_ROOM], const char *ending)
{
    (void)snprintf(path, PATH_ROOM, BINARY_DIR "/test_file_%ld%s", (long)getpid(), ending);
}

static void put(struct port *port, uint8_t id, size_t len, roce_tstamp now)
{
    uint8_t *room = port->ops->room(port, len);
    assert_non_null(room);
    memset(room, id, len);
    assert_int_equal(port->ops->commit(port, len, now), 0);
}

/* The file has frames of these ids and lengths and times, and no more. */
static void assert_holds(const char *path, int n, const uint8_t *ids, const uint32_t *lens,
                         const roce_tstamp *times)
{
    char text[ROCE_ERRTEXT_LEN];
    struct roce_frame frame;
    int err;
    struct roce_reader *reader = roce_reader_open(path, NULL, &err, text);
    assert_non_null(reader);
    for (int i = 0; i < n; i++) {
        assert_int_equal(roce_reader_next(reader, &frame, 1), 1);
        assert_int_equal(frame.data[0], ids[i]);
        assert_int_equal(frame.caplen, lens[i]);
        assert_int_equal(frame.origlen, lens[i]);
        assert_int_equal(frame.ts, times[i]);
        assert_int_equal(frame.linktype, ROCE_LINK_ETHERNET);
    }
    assert_int_equal(roce_reader_next(reader, &frame, 1), 0);
    roce_reader_del(reader);
}

static void test_file_alone_only_writes(void **state)
{
    static const char *const endings[] = {".pcap", ".pcapng"};
    (void)state;
    for (int i = 0; i < 2; i++) {
        char path[PATH_ROOM], text[PORT_TEXT_MAX];
        struct roce_frame frame;
        scratch(path, endings[i]);
        struct port *port = port_file_new(path, NULL, 1000, text);
        assert_non_null(port);
        put(port, 1, 60, 5);
        put(port, 2, 4200, 6);
        assert_int_equal(port->ops->flush(port, 6), 0);
        assert_int_equal(port->ops->receive(port, 6, &frame), 0);
        assert_int_equal(port->ops->fd(port), -1);
        assert_int_equal(port_file_close(port), 0);
        put(port, 3, 60, 7); /* is thrown away */
        port_del(port);
        assert_holds(path, 2, (const uint8_t[]){1, 2}, (const uint32_t[]){60, 4200},
                     (const roce_tstamp[]){1005, 1006});
        unlink(path);
    }
}

static void test_file_records_both_directions(void **state)
{
    char path[PATH_ROOM], text[PORT_TEXT_MAX];
    struct port *ends[2];
    struct roce_frame frame;
    (void)state;
    scratch(path, ".pcap");
    const struct loopback_cfg cfg = {0};
    assert_int_equal(loopback_new(&cfg, ends), 0);
    struct port *port = port_file_new(path, ends[0], 0, text);
    assert_non_null(port);
    put(port, 1, 64, 10);
    assert_int_equal(ends[1]->ops->receive(ends[1], 11, &frame), 1);
    assert_int_equal(frame.data[0], 1);
    put(ends[1], 2, 65, 12);
    assert_int_equal(port->ops->next(port), 12);
    assert_int_equal(port->ops->receive(port, 13, &frame), 1);
    assert_int_equal(frame.data[0], 2);
    port_del(port);
    port_del(ends[1]);
    assert_holds(path, 2, (const uint8_t[]){1, 2}, (const uint32_t[]){64, 65},
                 (const roce_tstamp[]){10, 13});
    unlink(path);
}

static void test_file_tells_why_it_cannot_write(void **state)
{
    char text[PORT_TEXT_MAX];
    (void)state;
    assert_null(port_file_new("/nowhere/at/all.pcap", NULL, 0, text));
    assert_string_equal(text, "No such file or directory");
}

/* A disk that is full shows at the latest when the file is closed. */
static void test_file_notices_a_full_disk(void **state)
{
    char text[PORT_TEXT_MAX];
    (void)state;
    if (access("/dev/full", W_OK) != 0)
        skip();
    struct port *port = port_file_new("/dev/full", NULL, 0, text);
    if (port != NULL) {
        put(port, 1, 60, 5);
        assert_int_equal(port_file_close(port), ROCE_ERR_IO);
        assert_string_equal(port->text, "No space left on device");
        port_del(port);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_file_alone_only_writes),
        cmocka_unit_test(test_file_records_both_directions),
        cmocka_unit_test(test_file_tells_why_it_cannot_write),
        cmocka_unit_test(test_file_notices_a_full_disk),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
