/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the cases say of the peer: the first word on a case counts. */
#include <stdarg.h>
#include <stdio.h>

#include "rocereplay/check.h"

static void settle(struct check *c, enum check_verdict verdict)
{
    if (!c->settled)
        c->verdict = verdict;
    c->settled = true;
}

void check_fail(struct check *c, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    if (!c->settled)
        (void)vsnprintf(c->text, sizeof(c->text), format, args);
    va_end(args);
    settle(c, CHECK_FAIL);
}

void check_note(struct check *c, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    if (!c->settled)
        (void)vsnprintf(c->text, sizeof(c->text), format, args);
    va_end(args);
}

void check_unseen(struct check *c, const char *why)
{
    if (!c->settled)
        (void)snprintf(c->text, sizeof(c->text), "%s", why);
    settle(c, CHECK_NOT_OBSERVABLE);
}
