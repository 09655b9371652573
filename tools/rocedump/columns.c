/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Choice, order and text of fields. */
#include "rocedump/columns.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include <roce/fmt.h>

#include "common/text.h"

const char columns_csv_default[] =
    "frame,time_ns,length,protocol,vlan,pcp,src,dst,dscp,ecn,udp_sport,encapsulation,opcode,dest_"
    "qp,"
    "psn,ack_req,payload_length,reth.va,reth.rkey,reth.dma_length,aeth.kind,aeth.nak,aeth.msn,"
    "deth.src_qp,imm,icrc.status,cm.message,pfc.priorities,pfc.quanta,error.kind,error.text";

bool columns_have(const struct columns *columns, const struct roce_field *field)
{
    for (size_t i = 0; i < columns->count; i++)
        if (columns->column[i].field == field)
            return true;
    return false;
}

static int choose(struct columns *columns, const char *list, bool computed, char *error,
                  size_t room)
{
    if (list == NULL) {
        for (size_t i = 0; i < roce_field_count(); i++)
            if (computed || !roce_field_at(i)->computed)
                columns->column[columns->count++].field = roce_field_at(i);
        return 0;
    }
    for (const char *p = list;; p++) {
        const size_t len = strcspn(p, ",");
        char name[64];
        (void)snprintf(name, sizeof(name), "%.*s", len < sizeof(name) ? (int)len : 63, p);
        const struct roce_field *field = len < sizeof(name) ? roce_field_find(name) : NULL;
        if (field == NULL) {
            (void)snprintf(error, room, "no field is called '%s'", name);
            return -1;
        }
        if (!columns_have(columns, field))
            columns->column[columns->count++].field = field;
        p += len;
        if (*p == '\0')
            return 0;
    }
}

/* Length of the first |depth| + 1 parts of |name|, or 0 when it has no more than |depth|. */
static size_t prefix_len(const char *name, unsigned depth)
{
    size_t len = 0;
    for (unsigned i = 0;; i++) {
        len += strcspn(name + len, ".");
        if (i == depth || name[len] == '\0')
            return name[len] == '.' ? len : 0;
        len++;
    }
}

/* Brings columns together that share their first |depth| + 1 parts, each group where its first
 * member stands, then does the same inside each group. */
static void group(struct column *column, size_t n, unsigned depth)
{
    for (size_t i = 0; i < n;) {
        assert(column[i].field != NULL);
        const char *name = column[i].field->name;
        const size_t len = prefix_len(name, depth);
        size_t members = 1;
        for (size_t j = i + 1; len > 0 && j < n; j++) {
            const char *other = column[j].field->name;
            if (strncmp(name, other, len) != 0 || other[len] != '.')
                continue;
            const struct column moved = column[j];
            memmove(&column[i + members + 1], &column[i + members],
                    (j - i - members) * sizeof(*column));
            column[i + members++] = moved;
        }
        if (members > 1)
            group(column + i, members, depth + 1);
        i += members;
    }
}

/* Cuts the names at their dots, sharing parts with the column before where the path is the same. */
static void cut_names(struct columns *columns)
{
    char *p = columns->names;
    for (size_t i = 0; i < columns->count; i++) {
        struct column *column = &columns->column[i];
        const struct column *before = i > 0 ? &columns->column[i - 1] : NULL;
        bool same = before != NULL;
        assert(column->field != NULL);
        const char *name = column->field->name;
        for (column->depth = 0; column->depth < COLUMN_DEPTH_MAX; column->depth++) {
            const size_t len = strcspn(name, ".");
            const bool leaf = name[len] == '\0' || column->depth + 1 == COLUMN_DEPTH_MAX;
            same = same && !leaf && column->depth + 1 < before->depth &&
                   strlen(before->part[column->depth]) == len &&
                   memcmp(before->part[column->depth], name, len) == 0;
            if (same) {
                column->part[column->depth] = before->part[column->depth];
            } else {
                column->part[column->depth] = p;
                p = text_put(p, name, leaf ? strlen(name) : len);
                *p++ = '\0';
            }
            if (leaf)
                break;
            name += len + 1;
        }
        column->depth++;
    }
}

int columns_init(struct columns *columns, const char *list, bool nested, bool computed, char *error,
                 size_t room)
{
    size_t names = 0;
    *columns = (struct columns){0};
    for (size_t i = 0; i < roce_field_count(); i++)
        names += strlen(roce_field_at(i)->name) + 1;
    columns->column = calloc(roce_field_count(), sizeof(*columns->column));
    columns->names = malloc(names + 1);
    if (columns->column == NULL || columns->names == NULL) {
        (void)snprintf(error, room, "out of memory");
        columns_free(columns);
        return -1;
    }
    if (choose(columns, list, computed, error, room) != 0) {
        columns_free(columns);
        return -1;
    }
    if (nested)
        group(columns->column, columns->count, 0);
    cut_names(columns);
    return 0;
}

bool columns_need_flow(const struct columns *columns)
{
    for (size_t i = 0; i < columns->count; i++)
        if (columns->column[i].field->computed)
            return true;
    return false;
}

void columns_free(struct columns *columns)
{
    free(columns->column);
    free(columns->names);
    *columns = (struct columns){0};
}

static char *put_real(char *out, double value)
{
    return out + snprintf(out, 32, "%.15g", value);
}

char *column_text(char *out, const struct roce_field *field, const struct roce_value *value,
                  bool people)
{
    switch ((enum roce_field_type)field->type) {
    case ROCE_FIELD_BOOL:
        return value->b ? TEXT(out, "true") : TEXT(out, "false");
    case ROCE_FIELD_UINT:
        return people && field->hex ? roce_fmt_hex(out, value->u) : roce_fmt_uint(out, value->u);
    case ROCE_FIELD_HEX64:
        return roce_fmt_hex(out, value->u);
    case ROCE_FIELD_REAL:
        return put_real(out, value->r);
    case ROCE_FIELD_WORD:
    case ROCE_FIELD_TEXT: {
        const size_t n = strlen(value->s);
        return text_put(out, value->s, n < COLUMN_TEXT_MAX ? n : COLUMN_TEXT_MAX);
    }
    case ROCE_FIELD_ADDR:
        return roce_fmt_addr(out, value->addr, value->ip_version);
    case ROCE_FIELD_MAC:
        return roce_fmt_mac(out, value->addr);
    case ROCE_FIELD_LIST:
    case ROCE_FIELD_REALS:
        for (uint8_t i = 0; i < value->n; i++) {
            if (i > 0)
                *out++ = ' ';
            out = field->type == ROCE_FIELD_LIST ? roce_fmt_uint(out, value->list[i])
                                                 : put_real(out, value->reals[i]);
        }
        return out;
    }
    return out;
}
