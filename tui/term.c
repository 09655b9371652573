/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ncurses, signals, and giving the terminal back. */
#include "term.h"

#include <errno.h>
#include <fcntl.h>
#include <langinfo.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>
#include <wchar.h>

#define NCURSES_WIDECHAR 1
#include <ncurses.h>

#include "common/msg.h"

/* When the terminal takes nothing, the program does not come to see that it was asked to end. */
enum { PATIENCE_SECONDS = 2, EMPTY_READS_MAX = 3 };

static struct {
    bool open, colour;
    SCREEN *screen;
    struct termios before;
    bool has_before;
    char leave[128]; /* what leaves the full screen, for signal handlers */
    size_t leave_len;
    int pipe[2];
    int empty_reads;
} term = {.pipe = {-1, -1}};

static volatile sig_atomic_t end_asked, size_changed;

/* ---- giving it back ---- */

/* Safe in signal handlers. */
static void restore(void)
{
    if (term.leave_len > 0) {
        /* A terminal that takes nothing must not hold us up. */
        const int flags = fcntl(STDOUT_FILENO, F_GETFL);
        (void)fcntl(STDOUT_FILENO, F_SETFL, flags | O_NONBLOCK);
        const ssize_t n = write(STDOUT_FILENO, term.leave, term.leave_len);
        (void)n;
        (void)fcntl(STDOUT_FILENO, F_SETFL, flags);
    }
    if (term.has_before)
        (void)tcsetattr(STDIN_FILENO, TCSANOW, &term.before);
}

static void on_fatal(int number)
{
    restore();
    (void)signal(number, SIG_DFL);
    (void)raise(number);
}

static void on_alarm(int number)
{
    restore();
    _exit(128 + (end_asked != 0 ? (int)end_asked : number));
}

static void on_signal(int number)
{
    const int error = errno;
    if (number == SIGWINCH) {
        size_changed = 1;
    } else {
        end_asked = number;
        (void)alarm(PATIENCE_SECONDS);
    }
    const ssize_t n = write(term.pipe[1], "!", 1);
    (void)n;
    errno = error;
}

static void catch (int number, void (*handler)(int))
{
    struct sigaction action = {.sa_handler = handler};
    (void)sigemptyset(&action.sa_mask);
    (void)sigaction(number, &action, NULL);
}

static void catch_signals(void)
{
    static const int fatal[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGQUIT};
    for (size_t i = 0; i < sizeof(fatal) / sizeof(fatal[0]); i++)
        catch (fatal[i], on_fatal);
    catch (SIGINT, on_signal);
    catch (SIGTERM, on_signal);
    catch (SIGHUP, on_signal);
    catch (SIGWINCH, on_signal);
    catch (SIGALRM, on_alarm);
    catch (SIGPIPE, SIG_IGN);
}

static void remember_leave(void)
{
    static const char *const names[] = {"rmkx", "cnorm", "sgr0", "rmcup"};
    /* Mouse reporting off, as xterm and all that are like it know it. */
    term.leave_len = (size_t)snprintf(term.leave, sizeof(term.leave), "\033[?1000l\033[?1006l");
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        const char *text = tigetstr(names[i]);
        if (text == NULL || text == (char *)-1)
            continue;
        const size_t n = strlen(text);
        if (term.leave_len + n < sizeof(term.leave)) {
            memcpy(term.leave + term.leave_len, text, n);
            term.leave_len += n;
        }
    }
}

/* ---- opening ---- */

bool tui_term_utf8(void)
{
    return strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
}

static void init_colours(void)
{
    if (!term.colour || !has_colors()) {
        term.colour = false;
        return;
    }
    (void)start_color();
    (void)use_default_colors();
    (void)init_pair(1, COLOR_GREEN, -1);
    (void)init_pair(2, COLOR_YELLOW, -1);
    (void)init_pair(3, COLOR_RED, -1);
    (void)init_pair(4, COLOR_CYAN, -1);
    (void)init_pair(5, COLOR_BLACK, COLOR_CYAN);
    (void)init_pair(6, COLOR_MAGENTA, -1);
}

/* Ctrl-S shall not stop the output: a program that waits for the terminal to go on neither draws
 * nor ends. Output that was stopped before goes on, too. */
static void ignore_stop(void)
{
    struct termios mode = term.before;
    mode.c_iflag &= ~(tcflag_t)IXON;
    (void)tcsetattr(STDIN_FILENO, TCSANOW, &mode);
}

int tui_term_open(bool colour, bool mouse)
{
    term.has_before = tcgetattr(STDIN_FILENO, &term.before) == 0;
    if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO)) {
        msg_print("no terminal; --batch prints screens as text");
        return -1;
    }
    if (pipe(term.pipe) != 0) {
        msg_print("%s", strerror(errno));
        return -1;
    }
    for (int i = 0; i < 2; i++) {
        (void)fcntl(term.pipe[i], F_SETFL, O_NONBLOCK);
        (void)fcntl(term.pipe[i], F_SETFD, FD_CLOEXEC);
    }
    /* Ours before those of ncurses, which write to a terminal that may take nothing. */
    catch_signals();
    ignore_stop();
    term.screen = newterm(NULL, stdout, stdin);
    if (term.screen == NULL) {
        const char *name = getenv("TERM");
        restore();
        msg_print("the terminal '%s' is not known; set TERM", name != NULL ? name : "");
        return -1;
    }
    /* What a shell gets back at Ctrl-Z is the mode before. */
    (void)tcsetattr(STDIN_FILENO, TCSANOW, &term.before);
    (void)def_shell_mode();
    term.open = true;
    term.colour = colour;
    remember_leave();
    (void)atexit(tui_term_close);
    (void)set_escdelay(25);
    (void)cbreak();
    (void)noecho();
    (void)nonl();
    (void)intrflush(stdscr, FALSE);
    (void)keypad(stdscr, TRUE);
    (void)nodelay(stdscr, TRUE);
    (void)curs_set(0);
    if (mouse) {
        (void)mousemask(BUTTON1_CLICKED | BUTTON1_PRESSED | BUTTON1_DOUBLE_CLICKED |
                            BUTTON4_PRESSED | BUTTON5_PRESSED,
                        NULL);
        (void)mouseinterval(150);
    }
    init_colours();
    return 0;
}

void tui_term_close(void)
{
    if (!term.open)
        return;
    term.open = false;
    (void)endwin();
    if (term.has_before)
        (void)tcsetattr(STDIN_FILENO, TCSANOW, &term.before);
    term.leave_len = 0;
    delscreen(term.screen);
}

void tui_term_size(int *rows, int *cols)
{
    struct winsize size;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 0 && size.ws_col > 0) {
        *rows = size.ws_row;
        *cols = size.ws_col;
        return;
    }
    getmaxyx(stdscr, *rows, *cols);
}

/* ---- showing ---- */

/* Never colour alone: what it says is in words or letters too. */
static attr_t attributes(uint8_t style, short *pair)
{
    const bool colour = term.colour;
    *pair = 0;
    switch ((enum canvas_style)style) {
    case STYLE_PLAIN:
    case STYLE_COUNT:
        return A_NORMAL;
    case STYLE_BOLD:
        return A_BOLD;
    case STYLE_DIM:
        return A_DIM;
    case STYLE_HEAD:
    case STYLE_CURSOR:
        return A_REVERSE;
    case STYLE_MARK:
        *pair = colour ? 6 : 0;
        return A_BOLD;
    case STYLE_GOOD:
        *pair = colour ? 1 : 0;
        return A_NORMAL;
    case STYLE_WARN:
        *pair = colour ? 2 : 0;
        return colour ? A_NORMAL : A_BOLD;
    case STYLE_ERROR:
        *pair = colour ? 3 : 0;
        return colour ? A_BOLD : A_BOLD | A_UNDERLINE;
    case STYLE_BAR:
        *pair = colour ? 4 : 0;
        return A_NORMAL;
    case STYLE_KEY:
        *pair = colour ? 5 : 0;
        return colour ? A_NORMAL : A_REVERSE;
    }
    return A_NORMAL;
}

void tui_term_show(const struct canvas *canvas, bool anew)
{
    int rows, cols;
    getmaxyx(stdscr, rows, cols);
    if (rows != canvas->rows || cols != canvas->cols)
        (void)resizeterm(canvas->rows, canvas->cols);
    (void)erase();
    for (int y = 0; y < canvas->rows; y++) {
        for (int x = 0; x < canvas->cols; x++) {
            const struct canvas_cell *cell =
                &canvas->cell[(size_t)y * (size_t)canvas->cols + (size_t)x];
            short pair;
            if (cell->c == 0 && cell->style == STYLE_PLAIN)
                continue;
            const attr_t attr = attributes(cell->style, &pair);
            const wchar_t text[2] = {(wchar_t)(cell->c == 0 ? ' ' : cell->c), L'\0'};
            cchar_t c;
            if (setcchar(&c, text, attr, pair, NULL) == OK)
                (void)mvadd_wch(y, x, &c);
        }
    }
    if (anew)
        (void)clearok(stdscr, TRUE);
    (void)refresh();
}

/* ---- reading ---- */

static uint32_t key_of(int code)
{
    static const struct {
        int code;
        uint32_t key;
    } keys[] = {
        {KEY_UP, UI_KEY_UP},       {KEY_DOWN, UI_KEY_DOWN},     {KEY_LEFT, UI_KEY_LEFT},
        {KEY_RIGHT, UI_KEY_RIGHT}, {KEY_PPAGE, UI_KEY_PAGE_UP}, {KEY_NPAGE, UI_KEY_PAGE_DOWN},
        {KEY_HOME, UI_KEY_HOME},   {KEY_END, UI_KEY_END},       {KEY_BACKSPACE, UI_KEY_BACKSPACE},
        {KEY_DC, UI_KEY_DELETE},   {KEY_ENTER, UI_KEY_ENTER},   {KEY_BTAB, UI_KEY_BACK_TAB},
    };
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
        if (keys[i].code == code)
            return keys[i].key;
    if (code >= KEY_F(1) && code <= KEY_F(12))
        return UI_KEY_F0 + (uint32_t)(code - KEY_F0);
    return 0;
}

static bool read_mouse(struct term_input *input)
{
    MEVENT event;
    if (getmouse(&event) != OK)
        return false;
    input->mouse = true;
    input->y = event.y;
    input->x = event.x;
    input->wheel = (event.bstate & BUTTON4_PRESSED) != 0   ? -1
                   : (event.bstate & BUTTON5_PRESSED) != 0 ? 1
                                                           : 0;
    input->twice = (event.bstate & BUTTON1_DOUBLE_CLICKED) != 0;
    return true;
}

/* Whether the other end of the terminal is gone: it polls readable, and nothing can be read. */
static bool is_gone(void)
{
    struct pollfd fd = {.fd = STDIN_FILENO, .events = POLLIN};
    int bytes = 0;
    if (poll(&fd, 1, 0) <= 0)
        return false;
    if ((fd.revents & (POLLHUP | POLLERR | POLLNVAL)) != 0)
        return true;
    return ioctl(STDIN_FILENO, FIONREAD, &bytes) != 0 || bytes == 0;
}

bool tui_term_read(struct term_input *input, bool *gone)
{
    wint_t c;
    *input = (struct term_input){0};
    for (;;) {
        const int kind = get_wch(&c);
        if (kind == ERR) {
            if (is_gone() && ++term.empty_reads >= EMPTY_READS_MAX)
                *gone = true;
            return false;
        }
        term.empty_reads = 0;
        if (kind == KEY_CODE_YES && c == KEY_RESIZE)
            continue; /* the signal told so */
        if (kind == KEY_CODE_YES && c == KEY_MOUSE) {
            if (read_mouse(input))
                return true;
            continue;
        }
        input->key = kind == KEY_CODE_YES ? key_of((int)c) : c == 27 ? UI_KEY_ESCAPE : (uint32_t)c;
        if (input->key != 0)
            return true;
    }
}

int tui_term_signal_fd(void)
{
    return term.pipe[0];
}

struct term_signals tui_term_signals(void)
{
    char drain[64];
    while (read(term.pipe[0], drain, sizeof(drain)) > 0)
        ;
    const struct term_signals s = {.end = end_asked != 0, .resized = size_changed != 0};
    size_changed = 0;
    return s;
}
