/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One description of a record serves JSON, the heading of a CSV table and its rows: nested objects
 * become columns "outer.inner". What the capture cannot show is null, or an empty field. */
#ifndef ROCESTAT_EMIT_H
#define ROCESTAT_EMIT_H

#include "common/csv.h"
#include "common/json.h"

enum { EMIT_PATH_MAX = 128 };

struct emit {
    struct json *json; /* or */
    struct csv *csv;
    bool heading;    /* CSV: names instead of values */
    unsigned hidden; /* objects open that are null */
    char path[EMIT_PATH_MAX];
    size_t path_len;
};

void emit_json(struct emit *emit, struct json *json);
void emit_csv(struct emit *emit, struct csv *csv, bool heading);

/* The member that |has| does not hold for is null; so is an object, whatever is emitted inside. */
void emit_open(struct emit *emit, const char *key, bool has);
void emit_close(struct emit *emit, const char *key);
void emit_uint(struct emit *emit, const char *key, bool has, uint64_t value);
void emit_real(struct emit *emit, const char *key, bool has, double value);
void emit_us(struct emit *emit, const char *key, bool has, uint64_t ns);
void emit_bool(struct emit *emit, const char *key, bool has, bool value);
void emit_str(struct emit *emit, const char *key, const char *text); /* NULL: null */
void emit_hex(struct emit *emit, const char *key, bool has, uint64_t value);
void emit_addr(struct emit *emit, const char *key, bool has, const uint8_t addr[16],
               uint8_t ip_version);
void emit_mac(struct emit *emit, const char *key, bool has, const uint8_t mac[6]);
void emit_uints(struct emit *emit, const char *key, const uint64_t *values, uint32_t n);

#endif
