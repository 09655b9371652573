/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The signals of every program that reads a capture: SIGINT and SIGTERM end it as the end of the
 * capture does, and at once when they come again a second later; SIGUSR1 asks where it is. */
#ifndef TOOLS_SIGNALS_H
#define TOOLS_SIGNALS_H

#include <stdbool.h>

#include <roce/capture.h>

void signals_catch(void);

/* signals_opening says that |what| is being opened, which may take for ever (a pipe that nobody
 * writes to): a signal ends the program with EXIT_IO and a line about it, until NULL is given. */
void signals_opening(const char *what);

/* signals_reader names the reader that a signal shall wake (also when it came before); NULL before
 * the reader is deleted. */
void signals_reader(struct roce_reader *reader);

bool signals_interrupted(void);

/* signals_asked tells whether SIGUSR1 came since the last call. */
bool signals_asked(void);

/* signals_leave makes the calling thread deaf to them: the first thread answers. */
void signals_leave(void);

#endif
