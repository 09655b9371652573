/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files that compile a filter share. */
#ifndef FILTER_PARSER_H
#define FILTER_PARSER_H

#include "any.h"
#include "program.h"

struct span {
    size_t off, len;
};

struct parser {
    const char *text;
    size_t len, pos;
    unsigned depth; /* open parentheses */
    bool failed;
    struct roce_filter *out;
    struct roce_filter_error *error;
};

enum compare {
    COMPARE_EQ,
    COMPARE_NE,
    COMPARE_LE,
    COMPARE_GE,
    COMPARE_LT,
    COMPARE_GT,
    COMPARE_IN,
    COMPARE_NOT_IN,
    COMPARE_CONTAINS,
};

#define SUBJECT_MAX 16

/* The word on the left of a comparison and the fields, all of one type, that it stands for. */
struct subject {
    struct span span;
    const struct roce_field *fields[SUBJECT_MAX];
    unsigned n;
    bool group; /* an object such as reth: can only be asked for its presence */
};

#ifdef __GNUC__
#define PRINTF_LIKE(string, first) __attribute__((format(printf, string, first)))
#else
#define PRINTF_LIKE(string, first)
#endif

/* parse_fail notes the first error at |span|; always returns false. |format| as printf. */
bool parse_fail(struct parser *p, struct span span, const char *format, ...) PRINTF_LIKE(3, 4);

/* parse_quote writes the text at |span| for a message: in quotes, shortened, printable. */
#define QUOTE_LEN 48
const char *parse_quote(const struct parser *p, struct span span, char out[QUOTE_LEN]);

void parse_skip_space(struct parser *p);

/* parse_word_here returns the identifier that begins here, of length 0 when there is none, and does
 * not take it; parse_token_here the same for whatever is here: word, number or single sign. */
struct span parse_word_here(const struct parser *p);
struct span parse_token_here(const struct parser *p);

/* parse_take takes |sign| or the identifier |word| (either may be NULL) when it comes next. */
bool parse_take(struct parser *p, const char *sign, const char *word);

/* parse_operand reads what stands behind comparison |op| (whose sign is at |at|) and fills |test|
 * for a field such as |subject|'s; get and next are left to the caller. */
bool parse_operand(struct parser *p, const struct subject *subject, enum compare op, struct span at,
                   struct test *test);

/* parse_subject reads the field name that begins here. */
bool parse_subject(struct parser *p, struct subject *subject);

#endif
