/* SPDX-License-Identifier: GPL-2.0-or-later */
/* rocetop in a terminal: a pseudo-terminal whose other end is libvterm. What it shows is what batch
 * mode prints; keys, sizes, the mouse and signals do what they should; the terminal is given back.
 */
#include "../cmocka_all.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include <vterm.h>

#include <roce/capture.h>

#define PROGRAM BINARY_DIR "/bin/rocetop"
#define CAPTURE SOURCE_DIR "/pcaps/loss5_egress_send.pcap"

enum {
    PATIENCE_MS = 20000,
    ROWS_MAX = 60,
    COLS_MAX = 240,
    TEXT_MAX = ROWS_MAX * (COLS_MAX * 4 + 1) + 1
};

struct terminal {
    int master, slave;
    pid_t pid;
    VTerm *vt;
    VTermScreen *screen;
    struct termios before;
    bool left_screen; /* the full screen was left */
    bool coloured;    /* a colour was asked for */
    char tail[16];    /* of what was read, for sequences that are torn apart */
    int rows, cols;
};

static int now_ms(void)
{
    static time_t first;
    struct timespec t;
    (void)timespec_get(&t, TIME_UTC);
    if (first == 0)
        first = t.tv_sec;
    return (int)(t.tv_sec - first) * 1000 + (int)(t.tv_nsec / 1000000);
}

static void look_for(struct terminal *t, const char *data, size_t n)
{
    static char text[sizeof(t->tail) + 65536];
    const size_t tail = strlen(t->tail);
    memcpy(text, t->tail, tail);
    memcpy(text + tail, data, n);
    text[tail + n] = '\0';
    t->left_screen = t->left_screen || strstr(text, "\033[?1049l") != NULL;
    for (const char *at = text; (at = strstr(at, "\033[3")) != NULL; at++)
        t->coloured = t->coloured || (at[3] >= '0' && at[3] <= '7' && at[4] == 'm');
    const size_t keep = tail + n < sizeof(t->tail) - 1 ? tail + n : sizeof(t->tail) - 1;
    memcpy(t->tail, text + tail + n - keep, keep);
    t->tail[keep] = '\0';
}

/* Reads what the program writes for up to |ms|; false when it is gone. */
static bool pump(struct terminal *t, int ms)
{
    static char data[65536];
    struct pollfd fd = {.fd = t->master, .events = POLLIN};
    if (poll(&fd, 1, ms) <= 0)
        return true;
    const ssize_t n = read(t->master, data, sizeof(data));
    if (n <= 0)
        return n < 0 && errno == EINTR;
    (void)vterm_input_write(t->vt, data, (size_t)n);
    look_for(t, data, (size_t)n);
    char answer[256];
    const size_t m = vterm_output_read(t->vt, answer, sizeof(answer));
    if (m > 0)
        assert_true(write(t->master, answer, m) >= 0);
    return true;
}

static size_t put_utf8(char *out, uint32_t c)
{
    if (c < 0x80) {
        out[0] = (char)c;
        return 1;
    }
    if (c < 0x800) {
        out[0] = (char)(0xC0 | c >> 6);
        out[1] = (char)(0x80 | (c & 0x3F));
        return 2;
    }
    out[0] = (char)(0xE0 | c >> 12);
    out[1] = (char)(0x80 | (c >> 6 & 0x3F));
    out[2] = (char)(0x80 | (c & 0x3F));
    return 3;
}

/* The screen as batch mode would print it. */
static const char *shown(const struct terminal *t)
{
    static char text[TEXT_MAX];
    size_t n = 0;
    for (int y = 0; y < t->rows; y++) {
        for (int x = 0; x < t->cols; x++) {
            VTermScreenCell cell;
            (void)vterm_screen_get_cell(t->screen, (VTermPos){.row = y, .col = x}, &cell);
            n += put_utf8(text + n,
                          cell.chars[0] == 0 || cell.chars[0] == UINT32_MAX ? ' ' : cell.chars[0]);
        }
        while (n > 0 && text[n - 1] == ' ')
            n--;
        text[n++] = '\n';
    }
    text[n] = '\0';
    return text;
}

/* Waits until |want| is on the screen. */
static void await(struct terminal *t, const char *want)
{
    const int end = now_ms() + PATIENCE_MS;
    while (strstr(shown(t), want) == NULL) {
        if (now_ms() >= end || !pump(t, 100)) {
            print_message("waited for '%s':\n%s", want, shown(t));
            fail();
        }
    }
}

static void await_gone(struct terminal *t, const char *text)
{
    const int end = now_ms() + PATIENCE_MS;
    while (strstr(shown(t), text) != NULL) {
        assert_true(now_ms() < end);
        assert_true(pump(t, 100));
    }
}

static void resize_vt(struct terminal *t, int rows, int cols)
{
    t->rows = rows;
    t->cols = cols;
    vterm_set_size(t->vt, rows, cols);
}

enum how { CONTROLLING, STRANGER };

static void open_terminal(struct terminal *t, int rows, int cols)
{
    const struct winsize size = {.ws_row = (unsigned short)rows, .ws_col = (unsigned short)cols};
    *t = (struct terminal){0};
    assert_int_equal(openpty(&t->master, &t->slave, NULL, NULL, &size), 0);
    assert_int_equal(tcgetattr(t->slave, &t->before), 0);
    t->vt = vterm_new(rows, cols);
    vterm_set_utf8(t->vt, 1);
    t->screen = vterm_obtain_screen(t->vt);
    vterm_screen_enable_altscreen(t->screen, 1);
    vterm_screen_reset(t->screen, 1);
    t->rows = rows;
    t->cols = cols;
}

/* |how| STRANGER: the terminal is not the program's controlling one, so its end raises no SIGHUP.
 */
static void start_in(struct terminal *t, enum how how, const char *const *args)
{
    t->pid = fork();
    assert_true(t->pid >= 0);
    if (t->pid == 0) {
        const char *argv[24] = {PROGRAM, "--config=/dev/null"};
        for (int i = 0; args[i] != NULL && i < 20; i++)
            argv[2 + i] = args[i];
        (void)setsid();
        if (how == CONTROLLING)
            (void)ioctl(t->slave, TIOCSCTTY, 0);
        (void)dup2(t->slave, 0);
        (void)dup2(t->slave, 1);
        (void)dup2(t->slave, 2);
        (void)close(t->master);
        (void)close(t->slave);
        (void)setenv("TERM", "xterm-256color", 1);
        (void)setenv("LC_ALL", "C.UTF-8", 1);
        (void)setenv("TZ", "UTC", 1);
        (void)execv(PROGRAM, (char *const *)(void *)argv);
        _exit(127);
    }
}

static void start(struct terminal *t, enum how how, int rows, int cols, const char *const *args)
{
    open_terminal(t, rows, cols);
    start_in(t, how, args);
}

static void keys(struct terminal *t, const char *text)
{
    const size_t n = strlen(text);
    assert_int_equal(write(t->master, text, n), (ssize_t)n);
}

/* Waits for the end of the program, reading what it writes unless |deaf|; returns its status. */
static int ended(struct terminal *t, bool deaf, struct rusage *usage)
{
    const int end = now_ms() + PATIENCE_MS;
    int status;
    while (wait4(t->pid, &status, WNOHANG, usage) == 0) {
        assert_true(now_ms() < end);
        if (deaf || t->master < 0)
            (void)poll(NULL, 0, 10);
        else
            (void)pump(t, 10);
    }
    if (t->master >= 0 && !deaf)
        while (poll(&(struct pollfd){.fd = t->master, .events = POLLIN}, 1, 0) > 0 && pump(t, 0))
            if (ioctl(t->master, FIONREAD, &(int){0}) != 0)
                break;
    return status;
}

static void stop(struct terminal *t)
{
    if (t->master >= 0)
        (void)close(t->master);
    if (t->slave >= 0)
        (void)close(t->slave);
    vterm_free(t->vt);
}

static void check_given_back(const struct terminal *t)
{
    struct termios after;
    assert_int_equal(tcgetattr(t->slave, &after), 0);
    assert_int_equal(after.c_lflag, t->before.c_lflag);
    assert_int_equal(after.c_iflag, t->before.c_iflag);
    assert_int_equal(after.c_oflag, t->before.c_oflag);
    assert_true(t->left_screen);
}

/* What batch mode prints for |screen| at the size of |t|. */
static void batch(const struct terminal *t, const char *screen, char *text)
{
    char command[1024];
    (void)snprintf(command, sizeof(command),
                   "TZ=UTC LC_ALL=C.UTF-8 " PROGRAM
                   " --config=/dev/null --batch --screen %s --size %dx%d -r " CAPTURE,
                   screen, t->cols, t->rows);
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    const size_t n = fread(text, 1, TEXT_MAX - 1, pipe);
    text[n] = '\0';
    assert_int_equal(pclose(pipe), 0);
}

static void check_same(struct terminal *t, const char *screen)
{
    static char want[TEXT_MAX];
    const int end = now_ms() + PATIENCE_MS;
    batch(t, screen, want);
    while (strcmp(shown(t), want) != 0) {
        if (now_ms() >= end || !pump(t, 100)) {
            print_message("%s should be:\n%s and is:\n%s", screen, want, shown(t));
            fail();
        }
    }
}

static const char *const AT_ONCE[] = {"--speed=max", "-r", CAPTURE, NULL};

static void test_screens_are_those_of_batch_mode(void **state)
{
    (void)state;
    struct terminal t;
    start(&t, CONTROLLING, 24, 80, AT_ONCE);
    await(&t, "FILE END");
    check_same(&t, "overview");
    keys(&t, "2");
    check_same(&t, "qps");
    keys(&t, "3");
    check_same(&t, "pfc");
    keys(&t, "4");
    check_same(&t, "events");
    keys(&t, "5");
    check_same(&t, "hosts");
    keys(&t, "1\r");
    check_same(&t, "qp");
    keys(&t, "m");
    check_same(&t, "messages");
    keys(&t, "r");
    check_same(&t, "headers");
    keys(&t, "q\033OP"); /* F1 */
    check_same(&t, "help");
    keys(&t, "x\033[19~"); /* F8 */
    check_same(&t, "setup");
    keys(&t, "\033");
    check_same(&t, "overview");
    keys(&t, "q");
    assert_int_equal(ended(&t, false, NULL), 0);
    check_given_back(&t);
    stop(&t);
}

static void test_sizes(void **state)
{
    (void)state;
    static const struct {
        int rows, cols;
    } sizes[] = {{50, 200}, {16, 60}, {8, 40}, {24, 80}, {60, 132}, {30, 41}};
    struct terminal t;
    start(&t, CONTROLLING, 24, 80, AT_ONCE);
    await(&t, "FILE END");
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        const struct winsize size = {.ws_row = (unsigned short)sizes[i].rows,
                                     .ws_col = (unsigned short)sizes[i].cols};
        resize_vt(&t, sizes[i].rows, sizes[i].cols);
        assert_int_equal(ioctl(t.master, TIOCSWINSZ, &size), 0);
        check_same(&t, "overview");
    }
    /* Too small for anything: it says so and goes on counting; then it comes back. */
    resize_vt(&t, 3, 20);
    assert_int_equal(ioctl(t.master, TIOCSWINSZ, &(struct winsize){.ws_row = 3, .ws_col = 20}), 0);
    await(&t, "needs 40x8");
    await(&t, "559 pkts");
    resize_vt(&t, 24, 80);
    assert_int_equal(ioctl(t.master, TIOCSWINSZ, &(struct winsize){.ws_row = 24, .ws_col = 80}), 0);
    check_same(&t, "overview");
    keys(&t, "q");
    assert_int_equal(ended(&t, false, NULL), 0);
    stop(&t);
}

static uint64_t frames_in(const char *path)
{
    int err;
    char text[ROCE_ERRTEXT_LEN];
    struct roce_frame frame[64];
    uint64_t count = 0;
    struct roce_reader *reader = roce_reader_open(path, NULL, &err, text);
    assert_non_null(reader);
    for (int n; (n = roce_reader_next(reader, frame, 64)) > 0;)
        count += (uint64_t)n;
    roce_reader_del(reader);
    return count;
}

static void test_find_filter_and_save(void **state)
{
    (void)state;
    char folder[] = "/tmp/rocetop-test-XXXXXX", path[64], line[128];
    struct terminal t;
    assert_non_null(mkdtemp(folder));
    (void)snprintf(path, sizeof(path), "%s/qp.pcapng", folder);
    start(&t, CONTROLLING, 24, 80, AT_ONCE);
    await(&t, "FILE END");
    keys(&t, "4/rexmit\r");
    await(&t, "follow: off");
    keys(&t, "1\\qp == 0x\r");
    await(&t, "0x");
    await(&t, "Filter (as rocedump -Y)");
    keys(&t, "\025qp == 0xc2\r");
    await_gone(&t, "0000c1 Send");
    /* The filter leaves the flow of ACKs: 70 frames, as an independent count says. */
    (void)snprintf(line, sizeof(line), "sf\025%s\r", path);
    keys(&t, line);
    await(&t, "70 frames saved");
    assert_int_equal(frames_in(path), 70);
    keys(&t, "\\\025\r");
    await(&t, "0000c1 Send");
    keys(&t, "gsq\025");
    await(&t, ".pcap or .pcapng");
    keys(&t, "/nowhere/x.pcap\r");
    await(&t, "there is no such folder");
    (void)snprintf(line, sizeof(line), "\025%s\r", path);
    keys(&t, line);
    await(&t, "it exists");
    keys(&t, "\r");
    await(&t, "529 frames saved");
    assert_int_equal(frames_in(path), 529);
    keys(&t, "qq");
    assert_int_equal(ended(&t, false, NULL), 0);
    stop(&t);
    (void)unlink(path);
    (void)rmdir(folder);
}

static void test_playing_a_file(void **state)
{
    (void)state;
    static const char *const slow[] = {"--speed=0.01", "-r", CAPTURE, NULL};
    struct terminal t;
    start(&t, CONTROLLING, 24, 80, slow);
    await(&t, "FILE x0.01");
    keys(&t, "p");
    await(&t, "FILE paused");
    keys(&t, ":100\r");
    await(&t, "/2 ");
    await(&t, "FILE paused");
    keys(&t, "2");
    await(&t, "0000c1");
    /* Frame 115 shows the first gap; one frame before it there is none. */
    keys(&t, ":114\r4");
    await(&t, "none so far");
    keys(&t, ".");
    await(&t, "14645410");
    keys(&t, ":50\r");
    await(&t, "none so far");
    keys(&t, ":+60s\r");
    await(&t, "FILE END");
    await(&t, "14645545");
    keys(&t, "qq");
    assert_int_equal(ended(&t, false, NULL), 0);
    stop(&t);
}

/* Why there is no more is on the screen, and stays when the screen is gone. */
static void test_a_file_cut_short_says_so(void **state)
{
    (void)state;
    char path[] = "/tmp/rocetop-test-XXXXXX", data[5000];
    FILE *whole = fopen(CAPTURE, "rb");
    assert_non_null(whole);
    assert_int_equal(fread(data, 1, sizeof(data), whole), sizeof(data));
    (void)fclose(whole);
    const int fd = mkstemp(path);
    assert_int_equal(write(fd, data, sizeof(data)), sizeof(data));
    (void)close(fd);
    const char *const args[] = {"--speed=max", "-r", path, NULL};
    struct terminal t;
    start(&t, CONTROLLING, 24, 100, args);
    await(&t, "this is what came before");
    await(&t, "cut short in packet");
    keys(&t, "2");
    await(&t, "0000c1");
    keys(&t, "Q");
    assert_int_equal(WEXITSTATUS(ended(&t, false, NULL)), 1);
    check_given_back(&t);
    await(&t, "cut short in packet");
    stop(&t);
    (void)unlink(path);
}

static void test_mouse(void **state)
{
    (void)state;
    struct terminal t;
    start(&t, CONTROLLING, 24, 80, AT_ONCE);
    await(&t, "FILE END");
    keys(&t, "\033[<0;15;4M\033[<0;15;4m"); /* the tab of QPs */
    await(&t, "sort: GAP");
    keys(&t, "\033[<0;10;6M\033[<0;10;6m"); /* the second row */
    await(&t, "> 0000c2");
    keys(&t, "\033[<64;10;6M"); /* the wheel */
    await(&t, "> 0000c1");
    keys(&t, "qq");
    assert_int_equal(ended(&t, false, NULL), 0);
    check_given_back(&t);
    stop(&t);
}

static void test_no_colour(void **state)
{
    (void)state;
    struct terminal t;
    start(&t, CONTROLLING, 24, 80, AT_ONCE);
    await(&t, "FILE END");
    await(&t, "14645545");
    assert_true(t.coloured);
    keys(&t, "q");
    assert_int_equal(ended(&t, false, NULL), 0);
    stop(&t);
    (void)setenv("NO_COLOR", "1", 1);
    start(&t, CONTROLLING, 24, 80, AT_ONCE);
    await(&t, "FILE END");
    await(&t, "14645545");
    keys(&t, "234512\r\033OPx");
    await(&t, "0000c1");
    assert_false(t.coloured);
    keys(&t, "Q");
    assert_int_equal(ended(&t, false, NULL), 0);
    (void)unsetenv("NO_COLOR");
    stop(&t);
}

static void test_signals_give_the_terminal_back(void **state)
{
    (void)state;
    static const int numbers[] = {SIGTERM, SIGINT, SIGHUP};
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        struct terminal t;
        start(&t, CONTROLLING, 24, 80, AT_ONCE);
        await(&t, "FILE END");
        assert_int_equal(kill(t.pid, numbers[i]), 0);
        assert_int_equal(ended(&t, false, NULL), 0);
        check_given_back(&t);
        stop(&t);
    }
}

static void test_a_crash_gives_the_terminal_back(void **state)
{
    (void)state;
    struct terminal t;
    start(&t, CONTROLLING, 24, 80, AT_ONCE);
    await(&t, "FILE END");
    assert_int_equal(kill(t.pid, SIGABRT), 0);
    const int status = ended(&t, false, NULL);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
    check_given_back(&t);
    stop(&t);
}

/* A terminal that takes nothing any more does not keep the program from ending. */
static void test_sigterm_ends_a_blocked_terminal(void **state)
{
    (void)state;
    struct terminal t;
    char redraw[501];
    start(&t, CONTROLLING, 50, 200, AT_ONCE);
    await(&t, "FILE END");
    memset(redraw, 'R' & 0x1F, sizeof(redraw) - 1);
    redraw[sizeof(redraw) - 1] = '\0';
    keys(&t, redraw);
    /* It is stuck when what it wrote grows no more. */
    for (int before = -1, bytes = 0; before != bytes;) {
        before = bytes;
        (void)poll(NULL, 0, 200);
        assert_int_equal(ioctl(t.master, FIONREAD, &bytes), 0);
    }
    assert_int_equal(kill(t.pid, SIGTERM), 0);
    (void)ended(&t, true, NULL);
    struct termios after;
    assert_int_equal(tcgetattr(t.slave, &after), 0);
    assert_int_equal(after.c_lflag, t.before.c_lflag);
    stop(&t);
}

/* Ctrl-S, before the program starts and while it runs. */
static void test_stopped_output_goes_on(void **state)
{
    (void)state;
    struct terminal t;
    open_terminal(&t, 24, 80);
    keys(&t, "\023");
    start_in(&t, CONTROLLING, AT_ONCE);
    await(&t, "FILE END");
    keys(&t, "\0232");
    await(&t, "sort: GAP");
    keys(&t, "\023");
    assert_int_equal(kill(t.pid, SIGTERM), 0);
    assert_int_equal(ended(&t, false, NULL), 0);
    check_given_back(&t);
    stop(&t);
}

/* The terminal vanishes, with and without a signal that says so: the program ends, and does not
 * spin until it does. */
static void test_vanished_terminal_ends_it(void **state)
{
    (void)state;
    for (enum how how = CONTROLLING; how <= STRANGER; how++) {
        struct terminal t;
        struct rusage usage;
        start(&t, how, 24, 80, AT_ONCE);
        await(&t, "FILE END");
        (void)close(t.slave);
        (void)close(t.master);
        t.slave = t.master = -1;
        (void)ended(&t, true, &usage);
        assert_true(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec < 2);
        stop(&t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_screens_are_those_of_batch_mode),
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_find_filter_and_save),
        cmocka_unit_test(test_playing_a_file),
        cmocka_unit_test(test_a_file_cut_short_says_so),
        cmocka_unit_test(test_mouse),
        cmocka_unit_test(test_no_colour),
        cmocka_unit_test(test_signals_give_the_terminal_back),
        cmocka_unit_test(test_a_crash_gives_the_terminal_back),
        cmocka_unit_test(test_sigterm_ends_a_blocked_terminal),
        cmocka_unit_test(test_stopped_output_goes_on),
        cmocka_unit_test(test_vanished_terminal_ends_it),
    };
    /* A write to a terminal that is gone is no reason to end. */
    (void)signal(SIGPIPE, SIG_IGN);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
