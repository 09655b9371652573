/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Records as JSON or CSV. */
#include "rocestat/emit.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include <roce/fmt.h>

void emit_json(struct emit *emit, struct json *json)
{
    *emit = (struct emit){.json = json};
}

void emit_csv(struct emit *emit, struct csv *csv, bool heading)
{
    *emit = (struct emit){.csv = csv, .heading = heading};
}

static void push(struct emit *emit, const char *key)
{
    const size_t len = strlen(key);
    assert(emit->path_len + len + 1 < EMIT_PATH_MAX);
    memcpy(emit->path + emit->path_len, key, len);
    emit->path_len += len;
    emit->path[emit->path_len++] = '.';
}

static void pop(struct emit *emit, const char *key)
{
    emit->path_len -= strlen(key) + 1;
}

void emit_open(struct emit *emit, const char *key, bool has)
{
    if (emit->csv != NULL)
        push(emit, key);
    else if (emit->hidden == 0 && has)
        json_open_object(emit->json, key);
    else if (emit->hidden == 0)
        json_null(emit->json, key);
    if (!has || emit->hidden > 0)
        emit->hidden++;
}

void emit_close(struct emit *emit, const char *key)
{
    if (emit->csv != NULL)
        pop(emit, key);
    else if (emit->hidden == 0)
        json_close_object(emit->json);
    if (emit->hidden > 0)
        emit->hidden--;
}

/* Writes what a value that is not there leaves, or in a heading its name. Returns true when there
 * is nothing more to write. */
static bool settled(struct emit *emit, const char *key, bool has)
{
    if (emit->csv == NULL) {
        if (emit->hidden == 0 && !has)
            json_null(emit->json, key);
        return emit->hidden > 0 || !has;
    }
    if (emit->heading) {
        push(emit, key);
        csv_field(emit->csv, emit->path, emit->path_len - 1);
        pop(emit, key);
        return true;
    }
    if (emit->hidden > 0 || !has) {
        csv_field(emit->csv, "", 0);
        return true;
    }
    return false;
}

void emit_uint(struct emit *emit, const char *key, bool has, uint64_t value)
{
    char text[ROCE_FMT_UINT_MAX];
    if (settled(emit, key, has))
        return;
    if (emit->json != NULL)
        json_uint(emit->json, key, value);
    else
        csv_field(emit->csv, text, (size_t)(roce_fmt_uint(text, value) - text));
}

void emit_real(struct emit *emit, const char *key, bool has, double value)
{
    char text[40];
    if (settled(emit, key, has))
        return;
    if (emit->json != NULL)
        json_real(emit->json, key, value);
    else
        csv_field(emit->csv, text, (size_t)snprintf(text, sizeof(text), "%.15g", value));
}

void emit_us(struct emit *emit, const char *key, bool has, uint64_t ns)
{
    emit_real(emit, key, has, (double)ns / 1000);
}

void emit_bool(struct emit *emit, const char *key, bool has, bool value)
{
    if (settled(emit, key, has))
        return;
    if (emit->json != NULL)
        json_bool(emit->json, key, value);
    else
        csv_field(emit->csv, value ? "true" : "false", value ? 4 : 5);
}

static void put_text(struct emit *emit, const char *key, const char *text, size_t n)
{
    if (emit->json != NULL)
        json_text(emit->json, key, text, n);
    else
        csv_field(emit->csv, text, n);
}

void emit_str(struct emit *emit, const char *key, const char *text)
{
    if (!settled(emit, key, text != NULL))
        put_text(emit, key, text, strlen(text));
}

void emit_hex(struct emit *emit, const char *key, bool has, uint64_t value)
{
    char text[ROCE_FMT_HEX_MAX];
    if (!settled(emit, key, has))
        put_text(emit, key, text, (size_t)(roce_fmt_hex(text, value) - text));
}

void emit_addr(struct emit *emit, const char *key, bool has, const uint8_t addr[16],
               uint8_t ip_version)
{
    char text[ROCE_FMT_ADDR_MAX];
    if (!settled(emit, key, has))
        put_text(emit, key, text, (size_t)(roce_fmt_addr(text, addr, ip_version) - text));
}

void emit_mac(struct emit *emit, const char *key, bool has, const uint8_t mac[6])
{
    char text[ROCE_FMT_MAC_MAX];
    if (!settled(emit, key, has))
        put_text(emit, key, text, (size_t)(roce_fmt_mac(text, mac) - text));
}

void emit_uints(struct emit *emit, const char *key, const uint64_t *values, uint32_t n)
{
    char text[16 * (ROCE_FMT_UINT_MAX + 1)];
    if (settled(emit, key, true))
        return;
    if (emit->json != NULL) {
        json_open_array(emit->json, key);
        for (uint32_t i = 0; i < n; i++)
            json_uint(emit->json, NULL, values[i]);
        json_close_array(emit->json);
        return;
    }
    char *p = text;
    for (uint32_t i = 0; i < n && i < 16; i++) {
        if (i > 0)
            *p++ = ' ';
        p = roce_fmt_uint(p, values[i]);
    }
    csv_field(emit->csv, text, (size_t)(p - text));
}
