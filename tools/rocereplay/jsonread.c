/* SPDX-License-Identifier: GPL-2.0-or-later */
/* JSON reader. */
#include "rocereplay/jsonread.h"

#include <string.h>

enum { DEPTH_MAX = 16 };

void jsonread_init(struct jsonread *r, const char *text)
{
    *r = (struct jsonread){.at = text};
}

static bool fail(struct jsonread *r)
{
    r->bad = true;
    return false;
}

static char peek(struct jsonread *r)
{
    if (r->bad)
        return '\0';
    r->at += strspn(r->at, " \t\r\n");
    return *r->at;
}

static bool accept(struct jsonread *r, char c)
{
    if (c == '\0' || peek(r) != c)
        return false;
    r->at++;
    return true;
}

bool jsonread_open(struct jsonread *r, char bracket)
{
    return accept(r, bracket) || fail(r);
}

/* Moves to the next item of a container that ends with |end|; false at its end. Behind an item
 * stands a comma; the first has the opening bracket before it. */
static bool next_item(struct jsonread *r, char open, char end)
{
    const bool first = !r->bad && r->at[-1] == open;
    if (accept(r, end) || r->bad)
        return false;
    if (!first && !accept(r, ','))
        return fail(r);
    return peek(r) != end || fail(r);
}

bool jsonread_more(struct jsonread *r)
{
    return next_item(r, '[', ']');
}

bool jsonread_str(struct jsonread *r, char *value, size_t room)
{
    if (!accept(r, '"'))
        return fail(r);
    const size_t n = strcspn(r->at, "\"\\");
    if (r->at[n] != '"' || n >= room)
        return fail(r);
    memcpy(value, r->at, n);
    value[n] = '\0';
    r->at += n + 1;
    return true;
}

bool jsonread_key(struct jsonread *r, char *key, size_t room)
{
    return next_item(r, '{', '}') && jsonread_str(r, key, room) && (accept(r, ':') || fail(r));
}

bool jsonread_uint(struct jsonread *r, uint64_t max, uint64_t *value)
{
    uint64_t n = 0;
    const char first = peek(r);
    if (first < '0' || first > '9')
        return fail(r);
    for (; *r->at >= '0' && *r->at <= '9'; r->at++) {
        const uint64_t digit = (uint64_t)(*r->at - '0');
        if (n > (UINT64_MAX - digit) / 10)
            return fail(r);
        n = n * 10 + digit;
    }
    if (n > max)
        return fail(r);
    *value = n;
    return true;
}

static bool word(struct jsonread *r, const char *text)
{
    const size_t n = strlen(text);
    (void)peek(r);
    if (r->bad || strncmp(r->at, text, n) != 0)
        return false;
    r->at += n;
    return true;
}

bool jsonread_bool(struct jsonread *r, bool *value)
{
    if (word(r, "true"))
        *value = true;
    else if (word(r, "false"))
        *value = false;
    else
        return fail(r);
    return true;
}

static bool skip_string(struct jsonread *r)
{
    for (r->at++; *r->at != '"'; r->at++) {
        if (*r->at == '\\' && r->at[1] != '\0')
            r->at++;
        if (*r->at == '\0')
            return fail(r);
    }
    r->at++;
    return true;
}

/* Brackets are counted, not matched: what is skipped is not used. */
bool jsonread_skip(struct jsonread *r)
{
    int depth = 0;
    do {
        const char c = peek(r);
        if (c == '\0' || depth > DEPTH_MAX)
            return fail(r);
        if (c == '"') {
            if (!skip_string(r))
                return false;
        } else if (strchr("[{", c) != NULL) {
            depth++;
            r->at++;
        } else if (strchr("]}", c) != NULL) {
            if (--depth < 0)
                return fail(r);
            r->at++;
        } else if (strchr(",:", c) != NULL) {
            if (depth == 0)
                return fail(r);
            r->at++;
        } else {
            const size_t n = strspn(r->at, "+-.0123456789abcdefghijklmnopqrstuvwxyzE");
            if (n == 0)
                return fail(r);
            r->at += n;
        }
    } while (depth > 0);
    return true;
}

bool jsonread_end(struct jsonread *r)
{
    return peek(r) == '\0' && !r->bad;
}
