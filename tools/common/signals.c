/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Signals. */
#include "common/signals.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/msg.h"

/* Behind the first signal, so that the copies that shells and timeout(1) send are one. */
#define AGAIN_NS UINT64_C(1000000000)

/* What a handler may touch. */
static struct roce_reader *volatile reading;
static volatile sig_atomic_t interrupted, asked, opening;
static char farewell[1200];
static uint64_t interrupted_ns;

static void leave(void)
{
    const ssize_t n = write(STDERR_FILENO, farewell, strlen(farewell));
    (void)n;
    _exit(EXIT_IO);
}

static void on_interrupt(int signal_number)
{
    const int error = errno;
    /* Nothing has been read: there is nothing to report, and nobody to wake. */
    if (opening)
        leave();
    if (!interrupted) {
        interrupted_ns = clock_monotonic_ns();
    } else if (clock_monotonic_ns() - interrupted_ns >= AGAIN_NS) {
        (void)signal(signal_number, SIG_DFL);
        (void)raise(signal_number);
    }
    interrupted = 1;
    if (reading != NULL)
        roce_reader_break(reading);
    errno = error;
}

static void on_ask(int signal_number)
{
    (void)signal_number;
    asked = 1;
}

void signals_catch(void)
{
    struct sigaction action = {.sa_flags = SA_RESTART};
    (void)sigemptyset(&action.sa_mask);
    action.sa_handler = on_interrupt;
    (void)sigaction(SIGINT, &action, NULL);
    (void)sigaction(SIGTERM, &action, NULL);
    action.sa_handler = on_ask;
    (void)sigaction(SIGUSR1, &action, NULL);
}

void signals_opening(const char *what)
{
    if (what != NULL)
        msg_format(farewell, sizeof(farewell), what, "interrupted before a capture came");
    opening = what != NULL;
    if (opening && interrupted)
        leave();
}

void signals_reader(struct roce_reader *reader)
{
    reading = reader;
    if (interrupted && reader != NULL)
        roce_reader_break(reader);
}

bool signals_interrupted(void)
{
    return interrupted != 0;
}

bool signals_asked(void)
{
    /* Only what was seen is taken back: a signal that comes in between is not lost. */
    if (asked == 0)
        return false;
    asked = 0;
    return true;
}

void signals_leave(void)
{
    sigset_t mask;
    (void)sigemptyset(&mask);
    (void)sigaddset(&mask, SIGINT);
    (void)sigaddset(&mask, SIGTERM);
    (void)sigaddset(&mask, SIGUSR1);
    (void)pthread_sigmask(SIG_BLOCK, &mask, NULL);
}
