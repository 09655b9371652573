/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files that grow while they are read, and ending the wait. */
#include "build.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/time.h>

enum { PACKETS = 50 };

static struct bytes file;
static char path[256];
static const struct roce_reader_opts follow = {.follow = true};

static void build(void)
{
    file.len = 0;
    file.big = false;
    put_pcap_header(&file, 0xa1b2c3d4, 0, ROCE_LINK_ETHERNET);
    for (uint32_t i = 0; i < PACKETS; i++)
        put_pcap_record(&file, i, 0, 60 + i, 60 + i, (uint8_t)i);
}

/* The writer appends one piece for each byte that it gets, so that the reader has to wait for it.
 */
struct writer {
    int asked[2];
    size_t pieces;
};

static void *writer_main(void *arg)
{
    const struct writer *writer = arg;
    FILE *f = fopen(path, "ab");
    char go;
    for (size_t i = 0; i < writer->pieces && read(writer->asked[0], &go, 1) == 1; i++) {
        const size_t from = file.len * i / writer->pieces;
        const size_t to = file.len * (i + 1) / writer->pieces;
        fwrite(file.data + from, 1, to - from, f);
        fflush(f);
    }
    fclose(f);
    return NULL;
}

/* Pieces that end inside headers and packets: the next is asked for before each look, and the
 * reader waits until a whole packet is there. A piece more than one packet long never blocks it. */
static void test_follow_waits_for_what_is_appended(void **state)
{
    (void)state;
    struct writer writer = {.pieces = PACKETS};
    pthread_t thread;
    build();
    temp_path(path, "");
    assert_int_equal(pipe(writer.asked), 0);
    assert_int_equal(pthread_create(&thread, NULL, writer_main, &writer), 0);
    for (size_t i = 0; i < writer.pieces; i++)
        if (i < 3)
            assert_int_equal(write(writer.asked[1], "", 1), 1);
    struct roce_reader *reader = roce_reader_open(path, &follow, NULL, NULL);
    assert_non_null(reader);
    struct roce_frame frames[8];
    uint32_t seen = 0;
    for (size_t asked = 3; seen < PACKETS;) {
        for (int i = 0; i < 2 && asked < writer.pieces; i++, asked++)
            assert_int_equal(write(writer.asked[1], "", 1), 1);
        const int n = roce_reader_next(reader, frames, 8);
        assert_true(n > 0);
        for (int i = 0; i < n; i++, seen++)
            assert_frame(&frames[i], seen + 1, seen * UINT64_C(1000000000), 60 + seen, 60 + seen, 0,
                         ROCE_LINK_ETHERNET, (uint8_t)seen);
    }
    pthread_join(thread, NULL);
    roce_reader_break(reader);
    assert_int_equal(roce_reader_next(reader, frames, 8), 0);
    assert_string_equal(roce_reader_text(reader), "");
    uint64_t consumed;
    uint64_t size;
    roce_reader_progress(reader, &consumed, &size);
    assert_int_equal(consumed, file.len);
    roce_reader_del(reader);
    close(writer.asked[0]);
    close(writer.asked[1]);
    unlink(path);
}

static void *break_main(void *reader)
{
    roce_reader_break(reader);
    return NULL;
}

/* The whole file and a piece of one more packet: handed out first, then the wait is broken. */
static void break_with(void (*start)(struct roce_reader *), void (*join)(void))
{
    build();
    temp_path(path, "");
    write_file(path, file.data, file.len - 5);
    struct roce_reader *reader = roce_reader_open(path, &follow, NULL, NULL);
    struct roce_frame frames[64];
    assert_int_equal(roce_reader_next(reader, frames, 64), PACKETS - 1);
    start(reader);
    assert_int_equal(roce_reader_next(reader, frames, 64), 0);
    assert_int_equal(roce_reader_next(reader, frames, 64), 0);
    assert_string_equal(roce_reader_text(reader), "");
    join();
    roce_reader_del(reader);
    unlink(path);
}

static pthread_t breaker;

static void start_thread(struct roce_reader *reader)
{
    assert_int_equal(pthread_create(&breaker, NULL, break_main, reader), 0);
}

static void join_thread(void)
{
    pthread_join(breaker, NULL);
}

static struct roce_reader *signalled;

static void on_alarm(int signal)
{
    (void)signal;
    roce_reader_break(signalled);
}

static void start_alarm(struct roce_reader *reader)
{
    const struct sigaction action = {.sa_handler = on_alarm, .sa_flags = SA_RESTART};
    const struct itimerval soon = {.it_value = {.tv_usec = 1000}};
    signalled = reader;
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &soon, NULL);
}

static void join_alarm(void)
{
    signal(SIGALRM, SIG_DFL);
}

static void test_follow_is_broken_by_a_thread(void **state)
{
    (void)state;
    break_with(start_thread, join_thread);
}

static void test_follow_is_broken_by_a_signal_handler(void **state)
{
    (void)state;
    break_with(start_alarm, join_alarm);
}

static volatile sig_atomic_t alarms;

static void on_other_alarm(int signal)
{
    (void)signal;
    if (++alarms == 3)
        roce_reader_break(signalled);
}

static void start_pipe_alarms(struct roce_reader *reader)
{
    const struct sigaction action = {.sa_handler = on_other_alarm};
    const struct itimerval often = {.it_value = {.tv_usec = 1000},
                                    .it_interval = {.tv_usec = 1000}};
    signalled = reader;
    alarms = 0;
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &often, NULL);
}

static void stop_alarms(void)
{
    const struct itimerval never = {.it_value = {.tv_usec = 0}};
    setitimer(ITIMER_REAL, &never, NULL);
    signal(SIGALRM, SIG_DFL);
}

/* Signals that break nothing (SIGUSR1, SIGWINCH of the programs) leave a waiting reader waiting. */
static void test_pipe_waits_through_signals_until_broken(void **state)
{
    (void)state;
    int fds[2];
    build();
    assert_int_equal(pipe(fds), 0);
    assert_int_equal(write(fds[1], file.data, file.len - 5), file.len - 5);
    struct roce_reader *reader = cap_reader_open_fd(fds[0], NULL, NULL, NULL);
    struct roce_frame frames[64];
    assert_int_equal(roce_reader_next(reader, frames, 64), PACKETS - 1);
    start_pipe_alarms(reader);
    assert_int_equal(roce_reader_next(reader, frames, 64), 0);
    stop_alarms();
    assert_true(alarms >= 3);
    roce_reader_del(reader);
    close(fds[0]);
    close(fds[1]);
}

/* Nobody has the reader yet, so that any signal ends an open that waits for the header. */
static void test_open_is_interrupted_by_a_signal(void **state)
{
    (void)state;
    int fds[2];
    int err;
    char text[ROCE_ERRTEXT_LEN];
    assert_int_equal(pipe(fds), 0);
    signalled = NULL;
    const struct sigaction action = {.sa_handler = on_other_alarm};
    /* Again and again, since the first may come before the wait has begun. */
    const struct itimerval often = {.it_value = {.tv_usec = 1000},
                                    .it_interval = {.tv_usec = 1000}};
    alarms = 10;
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &often, NULL);
    assert_null(cap_reader_open_fd(fds[0], NULL, &err, text));
    stop_alarms();
    assert_int_equal(err, ROCE_ERR_IO);
    assert_string_equal(text, strerror(EINTR));
    close(fds[0]);
    close(fds[1]);
}

static void test_break_ends_any_reader(void **state)
{
    (void)state;
    struct roce_frame frames[64];
    build();
    struct roce_reader *reader = cap_reader_open_memory(file.data, file.len, NULL, NULL);
    assert_int_equal(roce_reader_next(reader, frames, 4), 4);
    roce_reader_break(reader);
    assert_int_equal(roce_reader_next(reader, frames, 4), 0);
    assert_int_equal(roce_reader_next(reader, frames, 4), 0);
    roce_reader_del(reader);
}

static void test_file_that_shrinks_is_cut_short(void **state)
{
    (void)state;
    struct roce_frame frames[64];
    build();
    temp_path(path, "");
    write_file(path, file.data, file.len - 5);
    struct roce_reader *reader = roce_reader_open(path, &follow, NULL, NULL);
    assert_int_equal(roce_reader_next(reader, frames, 64), PACKETS - 1);
    assert_int_equal(truncate(path, 100), 0);
    assert_int_equal(roce_reader_next(reader, frames, 64), ROCE_ERR_TRUNCATED);
    assert_string_equal(roce_reader_text(reader), "the file shrank while it was read");
    roce_reader_del(reader);

    /* Without waiting for more it is as wrong. */
    write_file(path, file.data, file.len - 5);
    reader = roce_reader_open(path, NULL, NULL, NULL);
    assert_int_equal(roce_reader_next(reader, frames, 64), PACKETS - 1);
    assert_int_equal(truncate(path, 100), 0);
    assert_int_equal(roce_reader_next(reader, frames, 64), ROCE_ERR_TRUNCATED);
    assert_string_equal(roce_reader_text(reader), "the file shrank while it was read");
    roce_reader_del(reader);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_follow_waits_for_what_is_appended),
        cmocka_unit_test(test_follow_is_broken_by_a_thread),
        cmocka_unit_test(test_follow_is_broken_by_a_signal_handler),
        cmocka_unit_test(test_pipe_waits_through_signals_until_broken),
        cmocka_unit_test(test_open_is_interrupted_by_a_signal),
        cmocka_unit_test(test_break_ends_any_reader),
        cmocka_unit_test(test_file_that_shrinks_is_cut_short),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
