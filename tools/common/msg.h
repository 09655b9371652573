/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Messages for people: one line each on standard error, led by the program's name. */
#ifndef TOOLS_MSG_H
#define TOOLS_MSG_H

#include <stddef.h>

/* Exit statuses of every program. */
enum exit_status {
    EXIT_DONE = 0,
    EXIT_IO = 1,    /* an input or output failed, or the capture was cut short */
    EXIT_USAGE = 2, /* wrong usage */
    EXIT_FOUND = 3, /* --fail-on matched */
};

/* msg_program sets the name that leads every message; |name| is kept. */
void msg_program(const char *name);

/* msg_print writes "program: text\n"; msg_file writes "program: file: text\n". Control characters
 * (a file name may hold some) are printed as '?'. */
void msg_print(const char *format, ...) __attribute__((format(printf, 1, 2)));
void msg_file(const char *file, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* msg_format writes that line of |file| (NULL: none) and |text| into |line|, for those who may not
 * print. */
void msg_format(char *line, size_t size, const char *file, const char *text);

#endif
