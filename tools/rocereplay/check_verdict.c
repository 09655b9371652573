/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the cases say of the peer: the first word on a case counts. */
#include <stdarg.h>
#include <stdio.h>

#include "rocereplay/check.h"

static void say(struct check *c, const char *text)
{
    if (!c->settled)
        (void)snprintf(c->text, sizeof(c->text), "%s", text);
}

static void settle(struct check *c, enum check_verdict verdict, const char *text)
{
    say(c, text);
    if (!c->settled)
        c->verdict = verdict;
    c->settled = true;
}

void check_fail(struct check *c, const char *format, ...)
{
    char text[sizeof(c->text)];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    settle(c, CHECK_FAIL, text);
}

void check_note(struct check *c, const char *format, ...)
{
    char text[sizeof(c->text)];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    say(c, text);
}

void check_unseen(struct check *c, const char *why)
{
    settle(c, CHECK_NOT_OBSERVABLE, why);
}
