/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The chosen fields of a packet, in the order and nesting in which they are printed. */
#ifndef ROCEDUMP_COLUMNS_H
#define ROCEDUMP_COLUMNS_H

#include <roce/field.h>

enum { COLUMN_DEPTH_MAX = 4, COLUMN_TEXT_MAX = 512 };

struct column {
    const struct roce_field *field;
    /* The parts of "reth.va". Columns of one group share the pointers of its part, so that
     * comparing pointers tells whether a JSON object goes on. */
    const char *part[COLUMN_DEPTH_MAX];
    unsigned depth; /* parts, at least 1 */
};

struct columns {
    struct column *column;
    size_t count;
    char *names; /* storage of the parts */
};

/* columns_init chooses the fields of |list| ("a,b,c"; names or aliases, repetitions are dropped);
 * NULL chooses all decoded fields, with |computed| those of flow state too. With |nested|, fields
 * of one object are brought together. Returns 0, or -1 with the reason in |error|. */
int columns_init(struct columns *columns, const char *list, bool nested, bool computed, char *error,
                 size_t room);

bool columns_have(const struct columns *columns, const struct roce_field *field);
/* columns_need_flow tells whether one of the fields is of flow state. */
bool columns_need_flow(const struct columns *columns);
void columns_free(struct columns *columns);

/* columns_csv_default is the list that --csv prints without --fields. */
extern const char columns_csv_default[];

/* column_text writes |value| for programs: numbers in decimal, HEX64 as 0x..., lists with spaces
 * between. Needs COLUMN_TEXT_MAX bytes; returns the end. |people| asks for hexadecimal where people
 * expect it. */
char *column_text(char *out, const struct roce_field *field, const struct roce_value *value,
                  bool people);

#endif
