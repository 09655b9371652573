/* SPDX-License-Identifier: GPL-2.0-or-later */
/* JSON writer. */
#include "common/json.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <roce/fmt.h>

#include "common/text.h"

enum { NUMBER_ROOM = 40 };

void json_init(struct json *json, struct out *out)
{
    *json = (struct json){.out = out};
}

/* Writes the comma and the key that lead a value; returns room for |n| bytes of it. */
static char *lead(struct json *json, const char *key, size_t n)
{
    const size_t key_len = key == NULL ? 0 : strlen(key);
    char *p = out_reserve(json->out, key_len + 5 + n);
    if (json->depth > 0 && json->filled[json->depth])
        *p++ = ',';
    json->filled[json->depth] = true;
    if (json->newline)
        *p++ = '\n';
    json->newline = false;
    if (key != NULL) {
        *p++ = '"';
        p = text_put(p, key, key_len);
        p = TEXT(p, "\":");
    }
    return p;
}

static void open_container(struct json *json, const char *key, char bracket)
{
    char *p = lead(json, key, 1);
    *p++ = bracket;
    out_commit(json->out, p);
    json->depth++;
    assert(json->depth < JSON_DEPTH_MAX);
    json->filled[json->depth] = false;
}

static void close_container(struct json *json, char bracket)
{
    assert(json->depth > 0);
    json->depth--;
    char *p = out_reserve(json->out, 2);
    if (json->newline)
        *p++ = '\n';
    json->newline = false;
    *p++ = bracket;
    out_commit(json->out, p);
}

void json_open_object(struct json *json, const char *key)
{
    open_container(json, key, '{');
}

void json_close_object(struct json *json)
{
    close_container(json, '}');
}

void json_open_array(struct json *json, const char *key)
{
    open_container(json, key, '[');
}

void json_close_array(struct json *json)
{
    close_container(json, ']');
}

void json_bool(struct json *json, const char *key, bool value)
{
    char *p = lead(json, key, NUMBER_ROOM);
    out_commit(json->out, value ? TEXT(p, "true") : TEXT(p, "false"));
}

void json_uint(struct json *json, const char *key, uint64_t value)
{
    out_commit(json->out, roce_fmt_uint(lead(json, key, NUMBER_ROOM), value));
}

void json_real(struct json *json, const char *key, double value)
{
    char *p = lead(json, key, NUMBER_ROOM);
    if (isfinite(value))
        p += snprintf(p, NUMBER_ROOM, "%.15g", value);
    else
        p = TEXT(p, "null");
    out_commit(json->out, p);
}

void json_null(struct json *json, const char *key)
{
    char *p = lead(json, key, NUMBER_ROOM);
    out_commit(json->out, TEXT(p, "null"));
}

void json_hex64(struct json *json, const char *key, uint64_t value)
{
    char *p = lead(json, key, NUMBER_ROOM);
    *p++ = '"';
    p = roce_fmt_hex(p, value);
    *p++ = '"';
    out_commit(json->out, p);
}

/* Length of the well-formed UTF-8 character at |s| (RFC 3629 4), or 0: overlong forms, surrogates
 * and code points above U+10FFFF are not well-formed. */
static size_t utf8_len(const unsigned char *s, size_t n)
{
    if (s[0] < 0x80)
        return 1;
    size_t len = 0;
    unsigned char low = 0x80, high = 0xBF;
    if (s[0] >= 0xC2 && s[0] <= 0xDF) {
        len = 2;
    } else if (s[0] >= 0xE0 && s[0] <= 0xEF) {
        len = 3;
        if (s[0] == 0xE0)
            low = 0xA0;
        if (s[0] == 0xED)
            high = 0x9F;
    } else if (s[0] >= 0xF0 && s[0] <= 0xF4) {
        len = 4;
        if (s[0] == 0xF0)
            low = 0x90;
        if (s[0] == 0xF4)
            high = 0x8F;
    } else {
        return 0;
    }
    if (n < len || s[1] < low || s[1] > high)
        return 0;
    for (size_t i = 2; i < len; i++)
        if (s[i] < 0x80 || s[i] > 0xBF)
            return 0;
    return len;
}

static char *put_escaped(char *p, unsigned char c)
{
    static const char hex[] = "0123456789abcdef";
    switch (c) {
    case '"':
        return TEXT(p, "\\\"");
    case '\\':
        return TEXT(p, "\\\\");
    case '\n':
        return TEXT(p, "\\n");
    case '\r':
        return TEXT(p, "\\r");
    case '\t':
        return TEXT(p, "\\t");
    default:
        p = TEXT(p, "\\u00");
        *p++ = hex[c >> 4];
        *p++ = hex[c & 0xF];
        return p;
    }
}

void json_text(struct json *json, const char *key, const char *text, size_t n)
{
    const unsigned char *s = (const unsigned char *)text;
    char *p = lead(json, key, NUMBER_ROOM);
    *p++ = '"';
    out_commit(json->out, p);
    for (size_t i = 0; i < n;) {
        p = out_reserve(json->out, 8);
        const size_t len = utf8_len(s + i, n - i);
        if (len == 0) {
            p = TEXT(p, "\\ufffd");
            i++;
        } else if (len == 1 && (s[i] < 0x20 || s[i] == '"' || s[i] == '\\' || s[i] == 0x7F)) {
            p = put_escaped(p, s[i]);
            i++;
        } else {
            p = text_put(p, text + i, len);
            i += len;
        }
        out_commit(json->out, p);
    }
    p = out_reserve(json->out, 1);
    *p++ = '"';
    out_commit(json->out, p);
}

void json_str(struct json *json, const char *key, const char *text)
{
    json_text(json, key, text, strlen(text));
}

void json_newline(struct json *json)
{
    if (json->depth > 0) {
        json->newline = true;
        return;
    }
    out_write(json->out, "\n", 1);
}
