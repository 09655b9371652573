/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One-line messages on standard error. */
#include "common/msg.h"

#include <stdarg.h>
#include <stdio.h>

static const char *program = "rocekit";

enum { TEXT_MAX = 1024 };

void msg_format(char *line, size_t size, const char *file, const char *text)
{
    int n;
    if (file != NULL)
        n = snprintf(line, size - 1, "%s: %.1000s: %s", program, file, text);
    else
        n = snprintf(line, size - 1, "%s: %s", program, text);
    for (char *c = line; *c != '\0'; c++)
        if ((unsigned char)*c < ' ' || *c == 0x7F)
            *c = '?';
    n = n < (int)size - 1 ? n : (int)size - 2;
    line[n] = '\n';
    line[n + 1] = '\0';
}

static void print_line(const char *file, const char *text)
{
    char line[2 * TEXT_MAX + 64];
    msg_format(line, sizeof(line), file, text);
    (void)fputs(line, stderr);
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
