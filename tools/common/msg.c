/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One-line messages on standard error. */
#include "common/msg.h"

#include <stdarg.h>
#include <stdio.h>

static const char *program = "rocekit";

enum { TEXT_MAX = 1024 };

static void print_line(const char *file, const char *text)
{
    char line[2 * TEXT_MAX + 64];
    if (file != NULL)
        (void)snprintf(line, sizeof(line), "%s: %.1000s: %s", program, file, text);
    else
        (void)snprintf(line, sizeof(line), "%s: %s", program, text);
    for (char *c = line; *c != '\0'; c++)
        if ((unsigned char)*c < ' ' || *c == 0x7F)
            *c = '?';
    (void)fprintf(stderr, "%s\n", line);
}

void msg_program(const char *name)
{
    program = name;
}

void msg_print(const char *format, ...)
{
    char text[TEXT_MAX];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    print_line(NULL, text);
}

void msg_file(const char *file, const char *format, ...)
{
    char text[TEXT_MAX];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    print_line(file, text);
}
