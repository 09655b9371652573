/* SPDX-License-Identifier: GPL-2.0-or-later */
/* JSON (RFC 8259) written as it goes: no tree, no allocation. */
#ifndef TOOLS_JSON_H
#define TOOLS_JSON_H

#include "common/out.h"

#include <stdint.h>

enum { JSON_DEPTH_MAX = 32 };

struct json {
    struct out *out;
    unsigned depth;
    bool newline;                /* before the next member or bracket */
    bool filled[JSON_DEPTH_MAX]; /* the open container of that depth has a member already */
};

/* json_init starts a writer over |out|; several values may follow each other (NDJSON). */
void json_init(struct json *json, struct out *out);

/* |key| is NULL inside arrays and at the top; keys are plain words that need no escaping. */
void json_open_object(struct json *json, const char *key);
void json_close_object(struct json *json);
void json_open_array(struct json *json, const char *key);
void json_close_array(struct json *json);
void json_bool(struct json *json, const char *key, bool value);
void json_uint(struct json *json, const char *key, uint64_t value);
void json_real(struct json *json, const char *key, double value); /* not finite: null */
void json_null(struct json *json, const char *key);
/* json_hex64 writes "0x1f" as a string: doubles do not hold 64 bits. */
void json_hex64(struct json *json, const char *key, uint64_t value);
/* json_text writes a string of |n| bytes; what is not UTF-8 becomes U+FFFD. */
void json_text(struct json *json, const char *key, const char *text, size_t n);
void json_str(struct json *json, const char *key, const char *text);
/* json_newline ends a line: behind a top-level value, or (after the comma) between members. */
void json_newline(struct json *json);

#endif
