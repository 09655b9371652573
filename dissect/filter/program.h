/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A compiled filter: a row of tests, each of which names the test that follows when it holds and
 * when it does not. Jumps only lead forward, so that a run ends after at most as many steps as
 * there are tests, without a stack. */
#ifndef FILTER_PROGRAM_H
#define FILTER_PROGRAM_H

#include <roce/filter.h>

#include "literal.h"

enum test_kind {
    TEST_PRESENT,
    TEST_BOOL, /* as UINT, 0 or 1 */
    TEST_UINT,
    TEST_REAL,
    TEST_WORD,
    TEST_TEXT,     /* one of |count| strings */
    TEST_CONTAINS, /* contains one of |count| strings */
    TEST_ADDR,
    TEST_LIST,
    TEST_REALS,
};

#define TEST_ACCEPT UINT32_MAX
#define TEST_REJECT (UINT32_MAX - 1)

struct test {
    bool (*get)(const struct roce_view *view, struct roce_value *out);
    uint64_t lo, hi;       /* whole numbers, when |count| is 0 */
    uint32_t next[2];      /* [0] when it does not hold, [1] when it holds */
    uint32_t first, count; /* operands: an index into the array that |kind| uses */
    uint8_t kind;          /* enum test_kind */
    bool negate;           /* holds when the field is there and does not fit */
};

struct range {
    union {
        struct {
            uint64_t lo, hi; /* of a set: sorted, apart from each other */
        };
        struct {
            double from, to;
        };
        struct literal_addr addr;
    };
    bool open; /* reals: |from| and |to| do not belong to it */
};

struct word_set {
    uint64_t bits[ROCE_WORD_MAX / 64];
};

/* A growing array. */
struct array {
    void *data;
    size_t count, room;
};

struct roce_filter {
    struct array tests;  /* struct test */
    struct array ranges; /* struct range */
    struct array words;  /* struct word_set */
    struct array text;   /* char: strings with their NUL */
    bool needs_icrc, needs_flow;
};

/* array_push appends |n| elements of |size| bytes, zeroed; returns the first, or NULL without
 * memory. Earlier elements may move. */
void *array_push(struct array *array, size_t n, size_t size);

#endif
