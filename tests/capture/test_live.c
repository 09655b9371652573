/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Live capture over veth: every frame arrives as it was sent, or is counted as dropped. */
#include "cmocka_all.h"

#include <errno.h>
#include <pthread.h>
#include <sys/wait.h>

#include <linux/virtio_net.h>

#include <roce/capture.h>

#include "capture/live_net.h"

enum { FRAME_LEN = 64, BATCH = 64, NUMBER_AT = 42 };

static bool have_net;

#define NEED_NET() \
    if (!have_net) \
    skip()

static int enter(void **state)
{
    (void)state;
    have_net = net_enter();
    if (!have_net)
        print_message("no network namespace can be made (needs root and iproute2): skipped\n");
    return 0;
}

static struct roce_reader *open_one(const char *name, const struct roce_live_opts *opts)
{
    char text[ROCE_ERRTEXT_LEN];
    int err;
    struct roce_reader *reader = roce_reader_open_live(&name, 1, opts, &err, text);
    if (reader == NULL)
        fail_msg("%s", text);
    return reader;
}

static void send_numbered(const char *name, uint32_t first, uint32_t count)
{
    uint8_t frame[FRAME_LEN];
    const int fd = net_socket(name);
    for (uint32_t i = 0; i < count; i++) {
        net_frame(frame, sizeof(frame), NULL, 0, 4791, first + i);
        net_send(fd, frame, sizeof(frame));
    }
    close(fd);
}

/* Takes all until nothing comes for the reader's wait; checks that the numbers ascend by one from
 * |first|. */
static uint32_t take_numbered(struct roce_reader *reader, uint32_t first)
{
    struct roce_frame frames[BATCH];
    uint32_t got = 0;
    int n;
    while ((n = roce_reader_next(reader, frames, BATCH)) > 0)
        for (int i = 0; i < n; i++, got++) {
            assert_int_equal(frames[i].caplen, FRAME_LEN);
            assert_int_equal(frames[i].origlen, FRAME_LEN);
            assert_int_equal(frames[i].number, got + 1);
            assert_int_equal(net_get32(frames[i].data + NUMBER_AT), first + got);
        }
    assert_int_equal(n, ROCE_ERR_AGAIN);
    return got;
}

static void check_everything_is_counted(bool portable)
{
    const struct roce_live_opts opts = {.wait_ms = 250, .portable = portable};
    struct roce_reader *reader = open_one("b0", &opts);
    uint32_t got = 0;
    for (int round = 0; round < 5; round++) {
        send_numbered("a0", got, 10000);
        struct roce_frame frames[BATCH];
        int n;
        while ((n = roce_reader_next(reader, frames, BATCH)) > 0)
            for (int i = 0; i < n; i++, got++)
                assert_int_equal(net_get32(frames[i].data + NUMBER_AT), got);
        assert_int_equal(n, ROCE_ERR_AGAIN);
    }
    assert_int_equal(got, 50000);
    const struct roce_iface *iface = roce_reader_iface(reader, 0);
    assert_string_equal(iface->name, "b0");
    assert_int_equal(iface->linktype, ROCE_LINK_ETHERNET);
    assert_true(iface->has_stats && iface->nanosecond);
    assert_int_equal(iface->received, 50000);
    assert_int_equal(iface->dropped, 0);
    assert_int_equal(iface->if_dropped, 0);
    assert_int_equal(iface->merged, 0);
    assert_int_equal(iface->mtu, 1500);
    assert_int_equal(roce_reader_dropped(reader), 0);
    roce_reader_del(reader);
}

static void test_live_counts_everything(void **state)
{
    (void)state;
    NEED_NET();
    check_everything_is_counted(false);
}

static void test_live_counts_everything_through_libpcap(void **state)
{
    (void)state;
    NEED_NET();
    check_everything_is_counted(true);
}

/* One 802.1Q tag, 802.1ad around 802.1Q, and no tag: byte for byte what was sent. */
static void check_tags(bool portable, uint32_t snaplen)
{
    static const struct {
        uint32_t tag[2];
        size_t n;
    } cases[] = {{{0}, 0}, {{0x81006007}, 1}, {{0x88A82123, 0x81006007}, 2}, {{0x81000000}, 1}};
    const struct roce_live_opts opts = {.wait_ms = 250, .portable = portable, .snaplen = snaplen};
    struct roce_reader *reader = open_one("b0", &opts);
    const int fd = net_socket("a0");
    for (size_t c = 0; c < sizeof(cases) / sizeof(cases[0]); c++) {
        uint8_t sent[200];
        struct roce_frame frame;
        net_frame(sent, sizeof(sent), cases[c].tag, cases[c].n, 4791, 7);
        net_send(fd, sent, sizeof(sent));
        assert_int_equal(roce_reader_next(reader, &frame, 1), 1);
        assert_int_equal(frame.origlen, sizeof(sent));
        assert_int_equal(frame.caplen, snaplen != 0 ? snaplen : sizeof(sent));
        assert_memory_equal(frame.data, sent, frame.caplen);
    }
    close(fd);
    roce_reader_del(reader);
}

static void test_live_restores_vlan_tags(void **state)
{
    (void)state;
    NEED_NET();
    check_tags(false, 0);
    check_tags(false, 64);
    check_tags(true, 0);
}

/* Nobody reads while 20,000 frames come to a ring of 16 KiB: what is not there was dropped, and
 * what is there is the beginning without a hole. */
static void test_live_counts_drops(void **state)
{
    (void)state;
    NEED_NET();
    const struct roce_live_opts opts = {.wait_ms = 250, .buffer_kib = 16};
    struct roce_reader *reader = open_one("b0", &opts);
    send_numbered("a0", 0, 20000);
    const uint32_t got = take_numbered(reader, 0);
    assert_in_range(got, 16, 200);
    assert_int_equal(roce_reader_iface(reader, 0)->received, 20000);
    assert_int_equal(roce_reader_iface(reader, 0)->dropped, 20000 - got);
    assert_int_equal(roce_reader_dropped(reader), 20000 - got);
    roce_reader_del(reader);
}

static void check_quiet(bool portable)
{
    const struct roce_live_opts opts = {.wait_ms = 10, .portable = portable};
    struct roce_reader *reader = open_one("b0", &opts);
    struct roce_frame frame;
    for (int i = 0; i < 20; i++)
        assert_int_equal(roce_reader_next(reader, &frame, 1), ROCE_ERR_AGAIN);
    assert_true(roce_reader_fd(reader) >= 0);
    roce_reader_break(reader);
    assert_int_equal(roce_reader_next(reader, &frame, 1), 0);
    assert_int_equal(roce_reader_next(reader, &frame, 1), 0);
    roce_reader_del(reader);
}

static void test_live_returns_on_a_quiet_port(void **state)
{
    (void)state;
    NEED_NET();
    check_quiet(false);
    check_quiet(true);
}

static void *break_it(void *reader)
{
    roce_reader_break(reader);
    return NULL;
}

/* What has arrived is handed out, what comes behind the break is not. */
static void test_live_hands_out_what_came_before_the_break(void **state)
{
    (void)state;
    NEED_NET();
    const struct roce_live_opts opts = {.wait_ms = 60000};
    struct roce_reader *reader = open_one("b0", &opts);
    struct roce_frame frame;
    send_numbered("a0", 0, 100);
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, break_it, reader), 0);
    pthread_join(thread, NULL);
    uint32_t got = 0;
    for (; roce_reader_next(reader, &frame, 1) > 0; got++) {
        assert_int_equal(net_get32(frame.data + NUMBER_AT), got);
        if (got == 0)
            send_numbered("a0", 1000, 5);
    }
    assert_int_equal(got, 100);
    assert_int_equal(roce_reader_iface(reader, 0)->received, 100);
    roce_reader_del(reader);
}

/* Frames sent to two interfaces in turns come out in the order they were sent, whether both are
 * busy or one falls silent. */
static void test_live_merges_interfaces_by_time(void **state)
{
    (void)state;
    NEED_NET();
    static const char *const names[] = {"b0", "b1"};
    const struct roce_live_opts opts = {.wait_ms = 250, .buffer_kib = 4096};
    char text[ROCE_ERRTEXT_LEN];
    int err;
    struct roce_reader *reader = roce_reader_open_live(names, 2, &opts, &err, text);
    assert_non_null(reader);
    const int fd[2] = {net_socket("a0"), net_socket("a1")};
    uint8_t frame[FRAME_LEN];
    for (uint32_t i = 0; i < 6000; i++) {
        net_frame(frame, sizeof(frame), NULL, 0, 4791, i);
        net_send(fd[i < 3000 ? i % 7 % 2 : 1], frame, sizeof(frame));
    }
    struct roce_frame frames[BATCH];
    uint32_t got = 0;
    roce_tstamp last = 0;
    int n;
    while ((n = roce_reader_next(reader, frames, BATCH)) > 0)
        for (int i = 0; i < n; i++, got++) {
            assert_int_equal(net_get32(frames[i].data + NUMBER_AT), got);
            assert_int_equal(frames[i].iface, got < 3000 ? got % 7 % 2 : 1);
            assert_true(frames[i].ts >= last);
            last = frames[i].ts;
        }
    assert_int_equal(n, ROCE_ERR_AGAIN);
    assert_int_equal(got, 6000);
    assert_int_equal(
        roce_reader_iface(reader, 0)->received + roce_reader_iface(reader, 1)->received, 6000);
    close(fd[0]);
    close(fd[1]);
    roce_reader_del(reader);
}

/* Numbers of the frames that pass |filter|: 1 plain RoCEv2, 2 tagged RoCEv2, 3 plain DNS, 4 tagged
 * DNS, 5 a pause frame (its bytes 42 to 45 hold the number). */
static uint32_t passing(const char *filter, bool portable)
{
    static const uint32_t tag[] = {0x81006007};
    const struct roce_live_opts opts = {.wait_ms = 250, .filter = filter, .portable = portable};
    struct roce_reader *reader = open_one("b0", &opts);
    const int fd = net_socket("a0");
    for (uint32_t i = 1; i <= 5; i++) {
        uint8_t sent[FRAME_LEN];
        net_frame(sent, sizeof(sent), tag, i == 2 || i == 4, i <= 2 ? 4791 : 53, i);
        if (i == 5) {
            net_put32(sent + 12, 0x88080101);
        }
        net_send(fd, sent, sizeof(sent));
    }
    close(fd);
    struct roce_frame frame;
    uint32_t passed = 0;
    while (roce_reader_next(reader, &frame, 1) > 0)
        passed |= 1u << net_get32(frame.data + (frame.data[12] == 0x81 ? 46 : 42));
    roce_reader_del(reader);
    return passed;
}

static void test_live_filters_in_the_kernel(void **state)
{
    (void)state;
    NEED_NET();
    for (int portable = 0; portable < 2; portable++) {
        assert_int_equal(passing(ROCE_BPF_ROCE, portable), 1 << 1 | 1 << 2 | 1 << 5);
        assert_int_equal(passing("vlan 7", portable), 1 << 2 | 1 << 4);
        assert_int_equal(passing("udp port 53 or (vlan and udp port 53)", portable),
                         1 << 3 | 1 << 4);
        assert_int_equal(passing("", portable), 62);
    }
}

/* Two readers share the frames of eight pairs of hosts: both directions of a pair, whatever their
 * UDP ports, come to the same reader, and both readers have work. */
static void test_live_shares_frames_by_address_pair(void **state)
{
    (void)state;
    NEED_NET();
    const struct roce_live_opts opts = {.wait_ms = 250, .fanout_group = 4711};
    struct roce_reader *reader[2] = {open_one("b0", &opts), open_one("b0", &opts)};
    const int fd = net_socket("a0");
    for (uint32_t i = 0; i < 800; i++) {
        uint8_t frame[FRAME_LEN];
        const size_t at = net_frame(frame, sizeof(frame), NULL, 0, 4791, i) - 28;
        const unsigned pair = i % 8, reply = i / 8 % 2;
        net_put32(frame + at + 12, 0x0A000000 + (reply ? 0x200 : 0x100) + pair);
        net_put32(frame + at + 16, 0x0A000000 + (reply ? 0x100 : 0x200) + 3 * pair);
        if (reply) {
            net_put32(frame + at + 12, 0x0A000200 + 3 * pair);
            net_put32(frame + at + 16, 0x0A000100 + pair);
        }
        net_put16(frame + at + 20, 49152 + i);
        net_send(fd, frame, sizeof(frame));
    }
    close(fd);
    unsigned pairs[2] = {0, 0}, total = 0;
    for (int r = 0; r < 2; r++) {
        struct roce_frame frame;
        for (; roce_reader_next(reader[r], &frame, 1) > 0; total++)
            pairs[r] |= 1u << net_get32(frame.data + NUMBER_AT) % 8;
        roce_reader_del(reader[r]);
    }
    assert_int_equal(total, 800);
    assert_int_equal(pairs[0] & pairs[1], 0);
    assert_int_equal(pairs[0] | pairs[1], 0xFF);
    assert_int_not_equal(pairs[0], 0);
    assert_int_not_equal(pairs[1], 0);
}

/* A super-packet as the receive offload makes them: three datagrams of 1,000 bytes in one. */
static void test_live_counts_merged_frames(void **state)
{
    (void)state;
    NEED_NET();
    struct roce_reader *reader = open_one("b0", NULL);
    const int fd = net_socket("a0"), on = 1;
    assert_int_equal(setsockopt(fd, SOL_PACKET, PACKET_VNET_HDR, &on, sizeof(on)), 0);
    uint8_t buf[sizeof(struct virtio_net_hdr) + 42 + 3000];
    const struct virtio_net_hdr header = {.flags = VIRTIO_NET_HDR_F_NEEDS_CSUM,
                                          .gso_type = 5, /* VIRTIO_NET_HDR_GSO_UDP_L4 */
                                          .hdr_len = 42,
                                          .gso_size = 1000,
                                          .csum_start = 34,
                                          .csum_offset = 6};
    memcpy(buf, &header, sizeof(header));
    net_frame(buf + sizeof(header), 42 + 3000, NULL, 0, 4791, 1);
    net_send(fd, buf, sizeof(buf));
    close(fd);
    struct roce_frame frame;
    assert_int_equal(roce_reader_next(reader, &frame, 1), 1);
    assert_int_equal(frame.origlen, 3042);
    assert_int_equal(roce_reader_next(reader, &frame, 1), ROCE_ERR_AGAIN);
    assert_int_equal(roce_reader_iface(reader, 0)->merged, 1);
    roce_reader_del(reader);
}

/* Loopback shows a frame once although it leaves and arrives there. */
static void test_live_shows_loopback_frames_once(void **state)
{
    (void)state;
    NEED_NET();
    struct roce_reader *reader = open_one("lo", NULL);
    send_numbered("lo", 0, 10);
    assert_int_equal(take_numbered(reader, 0), 10);
    roce_reader_del(reader);
}

static void test_live_ends_when_the_interface_is_gone(void **state)
{
    (void)state;
    NEED_NET();
    assert_true(net_run("ip link add a2 type veth peer name b2 && ip link set a2 up && "
                        "ip link set b2 up arp off"));
    const struct roce_live_opts opts = {.wait_ms = 10};
    struct roce_reader *reader = open_one("b2", &opts);
    struct roce_frame frame;
    int n;
    assert_true(net_run("ip link set b2 down && ip link set b2 up"));
    while ((n = roce_reader_next(reader, &frame, 1)) > 0)
        ;
    assert_int_equal(n, ROCE_ERR_AGAIN);
    assert_true(net_run("ip link del b2"));
    do
        n = roce_reader_next(reader, &frame, 1);
    while (n > 0 || n == ROCE_ERR_AGAIN);
    assert_int_equal(n, ROCE_ERR_IO);
    assert_string_equal(roce_reader_text(reader), "b2: the interface is gone");
    assert_int_equal(roce_reader_next(reader, &frame, 1), ROCE_ERR_IO);
    roce_reader_del(reader);
}

static void refuses(const char *name, const struct roce_live_opts *opts, int wanted,
                    const char *words)
{
    char text[ROCE_ERRTEXT_LEN];
    int err = 0;
    assert_null(roce_reader_open_live(&name, 1, opts, &err, text));
    assert_int_equal(err, wanted);
    assert_non_null(strstr(text, words));
}

static void test_live_says_why_it_cannot(void **state)
{
    (void)state;
    NEED_NET();
    const struct roce_live_opts bad = {.filter = "udp prot 4791"};
    const struct roce_live_opts clock = {.adapter_time = true};
    assert_true(net_run("ip link add a3 type veth peer name b3"));
    for (int portable = 0; portable < 2; portable++) {
        const struct roce_live_opts opts = {.portable = portable};
        refuses("nosuch", &opts, ROCE_ERR_UNKNOWN, "nosuch: no such interface");
        refuses("b3", &opts, ROCE_ERR_STATE, "b3: the interface is down");
    }
    refuses("", NULL, ROCE_ERR_UNKNOWN, "no name of an interface");
    refuses("b0", &bad, ROCE_ERR_SYNTAX, "syntax error");
    refuses("b0", &clock, ROCE_ERR_UNSUPPORTED, "b0: the adapter does not");
    static const char *const twice[] = {"b0", "b0"};
    char text[ROCE_ERRTEXT_LEN];
    int err;
    assert_null(roce_reader_open_live(twice, 2, NULL, &err, text));
    assert_string_equal(text, "b0: named twice");
    assert_null(roce_reader_open_live(twice, 0, NULL, &err, text));
    assert_int_equal(err, ROCE_ERR_INVALID);
}

static void test_live_needs_permission(void **state)
{
    (void)state;
    NEED_NET();
    const pid_t child = fork();
    if (child == 0) {
        int ok = setgid(65534) == 0 && setuid(65534) == 0;
        for (int portable = 0; portable < 2; portable++) {
            const struct roce_live_opts opts = {.portable = portable};
            const char *name = "b0";
            int err = 0;
            char text[ROCE_ERRTEXT_LEN];
            ok = ok && roce_reader_open_live(&name, 1, &opts, &err, text) == NULL &&
                 err == ROCE_ERR_PERMISSION && strcmp(text, "b0: no permission to capture") == 0;
        }
        _exit(ok ? 0 : 1);
    }
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

static void test_live_lists_interfaces(void **state)
{
    (void)state;
    NEED_NET();
    struct roce_live_iface list[32];
    const int n = roce_live_list(list, 32);
    assert_in_range(n, 5, 32);
    int seen = 0;
    for (int i = 0; i < n; i++) {
        if (strcmp(list[i].name, "b0") == 0) {
            assert_true(list[i].up && list[i].running && !list[i].loopback);
            assert_int_equal(list[i].mtu, 1500);
            seen++;
        }
        if (strcmp(list[i].name, "lo") == 0) {
            assert_true(list[i].loopback);
            seen++;
        }
    }
    assert_int_equal(seen, 2);
    assert_int_equal(roce_live_list(list, 1), n);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_live_counts_everything),
        cmocka_unit_test(test_live_counts_everything_through_libpcap),
        cmocka_unit_test(test_live_restores_vlan_tags),
        cmocka_unit_test(test_live_counts_drops),
        cmocka_unit_test(test_live_returns_on_a_quiet_port),
        cmocka_unit_test(test_live_hands_out_what_came_before_the_break),
        cmocka_unit_test(test_live_merges_interfaces_by_time),
        cmocka_unit_test(test_live_filters_in_the_kernel),
        cmocka_unit_test(test_live_shares_frames_by_address_pair),
        cmocka_unit_test(test_live_counts_merged_frames),
        cmocka_unit_test(test_live_shows_loopback_frames_once),
        cmocka_unit_test(test_live_ends_when_the_interface_is_gone),
        cmocka_unit_test(test_live_says_why_it_cannot),
        cmocka_unit_test(test_live_needs_permission),
        cmocka_unit_test(test_live_lists_interfaces),
    };
    return cmocka_run_group_tests(tests, enter, NULL);
}
