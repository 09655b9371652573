/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One-line messages on standard error. */
#include "common/msg.h"

#include <stdarg.h>
#include <stdio.h>

static const char *program = "rocekit";

__attribute__((format(printf, 2, 0))) static void print_line(const char *file, const char *format,
                                                             va_list args)
{
    char line[2048];
    int n = snprintf(line, sizeof(line), "%s: ", program);
    if (file != NULL)
        n += snprintf(line + n, sizeof(line) - (size_t)n, "%.1024s: ", file);
    (void)vsnprintf(line + n, sizeof(line) - (size_t)n, format, args);
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
    va_list args;
    va_start(args, format);
    print_line(NULL, format, args);
    va_end(args);
}

void msg_file(const char *file, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    print_line(file, format, args);
    va_end(args);
}
