/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Packets for programs. */
#include "rocedump/records.h"

#include <string.h>

#include <roce/fmt.h>

static const char schema[] = "rocedump/1";

void records_begin(struct records *records, enum dump_mode mode, const struct columns *columns,
                   struct out *out)
{
    *records = (struct records){.mode = mode, .columns = columns, .out = out};
    json_init(&records->json, out);
    csv_init(&records->csv, out);
    if (mode == MODE_JSON) {
        json_open_object(&records->json, NULL);
        json_str(&records->json, "schema", schema);
        json_open_array(&records->json, "packets");
    }
    if (mode == MODE_CSV) {
        for (size_t i = 0; i < columns->count; i++) {
            const char *name = columns->column[i].field->name;
            csv_field(&records->csv, name, strlen(name));
        }
        csv_end_row(&records->csv);
    }
}

static void put_json(struct json *json, const char *key, const struct roce_field *field,
                     const struct roce_value *value)
{
    char text[ROCE_FMT_ADDR_MAX];
    switch ((enum roce_field_type)field->type) {
    case ROCE_FIELD_BOOL:
        json_bool(json, key, value->b);
        return;
    case ROCE_FIELD_UINT:
        json_uint(json, key, value->u);
        return;
    case ROCE_FIELD_HEX64:
        json_hex64(json, key, value->u);
        return;
    case ROCE_FIELD_REAL:
        json_real(json, key, value->r);
        return;
    case ROCE_FIELD_WORD:
    case ROCE_FIELD_TEXT:
        json_str(json, key, value->s);
        return;
    case ROCE_FIELD_ADDR:
        json_text(json, key, text,
                  (size_t)(roce_fmt_addr(text, value->addr, value->ip_version) - text));
        return;
    case ROCE_FIELD_MAC:
        json_text(json, key, text, (size_t)(roce_fmt_mac(text, value->addr) - text));
        return;
    case ROCE_FIELD_LIST:
    case ROCE_FIELD_REALS:
        json_open_array(json, key);
        for (uint8_t i = 0; i < value->n; i++) {
            if (field->type == ROCE_FIELD_LIST)
                json_uint(json, NULL, value->list[i]);
            else
                json_real(json, NULL, value->reals[i]);
        }
        json_close_array(json);
        return;
    }
}

static void put_object(struct records *records, const struct roce_view *view)
{
    struct json *json = &records->json;
    const char *open[COLUMN_DEPTH_MAX];
    unsigned depth = 0; /* nested objects open */
    json_open_object(json, NULL);
    if (records->mode == MODE_NDJSON)
        json_str(json, "schema", schema);
    for (size_t i = 0; i < records->columns->count; i++) {
        const struct column *column = &records->columns->column[i];
        struct roce_value value;
        if (!column->field->get(view, &value))
            continue;
        unsigned shared = 0;
        while (shared < depth && shared + 1 < column->depth && open[shared] == column->part[shared])
            shared++;
        for (; depth > shared; depth--)
            json_close_object(json);
        for (; depth + 1 < column->depth; depth++) {
            open[depth] = column->part[depth];
            json_open_object(json, open[depth]);
        }
        put_json(json, column->part[depth], column->field, &value);
    }
    for (; depth > 0; depth--)
        json_close_object(json);
    json_close_object(json);
    if (records->mode == MODE_NDJSON)
        json_newline(json);
}

static void put_row(struct records *records, const struct roce_view *view)
{
    for (size_t i = 0; i < records->columns->count; i++) {
        const struct roce_field *field = records->columns->column[i].field;
        struct roce_value value;
        char text[COLUMN_TEXT_MAX];
        const char *end = text;
        if (field->get(view, &value))
            end = column_text(text, field, &value, false);
        if (records->mode == MODE_CSV) {
            csv_field(&records->csv, text, (size_t)(end - text));
            continue;
        }
        if (i > 0)
            out_write(records->out, "\t", 1);
        out_write(records->out, text, (size_t)(end - text));
    }
    csv_end_row(&records->csv);
}

void records_packet(struct records *records, const struct roce_view *view)
{
    if (records->mode == MODE_CSV || records->mode == MODE_TABS) {
        put_row(records, view);
        return;
    }
    if (records->mode == MODE_JSON)
        json_newline(&records->json);
    put_object(records, view);
}

void records_end(struct records *records)
{
    if (records->mode != MODE_JSON)
        return;
    json_newline(&records->json);
    json_close_array(&records->json);
    json_close_object(&records->json);
    json_newline(&records->json);
}
