/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Signals. */
#include "common/signals.h"

#include <signal.h>

/* What a handler may touch. */
static struct roce_reader *volatile reading;
static volatile sig_atomic_t interrupted, asked;

static void on_interrupt(int signal_number)
{
    (void)signal_number;
    interrupted = 1;
    if (reading != NULL)
        roce_reader_break(reading);
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
