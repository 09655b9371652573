/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Compiles filter expressions by recursive descent, one pass: every test is written as it is read,
 * and its jumps are filled in when what follows is known (backpatching). */
#include "parser.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "words.h"

#define EXPRESSION_MAX 65536
#define DEPTH_MAX      100

/* Jumps that still have no target, as a list through their own slots: number 2 * test + side. */
struct jumps {
    uint32_t head, tail;
};
#define NO_JUMP UINT32_MAX

struct expr {
    struct jumps on[2]; /* to take when it is false, true */
};

void *array_push(struct array *array, size_t n, size_t size)
{
    if (array->count + n > array->room) {
        const size_t room =
            array->room * 2 > array->count + n ? array->room * 2 : array->count + n + 8;
        void *data = realloc(array->data, room * size);
        if (data == NULL)
            return NULL;
        array->data = data;
        array->room = room;
    }
    void *first = (char *)array->data + array->count * size;
    memset(first, 0, n * size);
    array->count += n;
    return first;
}

bool parse_fail(struct parser *p, struct span span, const char *format, ...)
{
    if (!p->failed) {
        va_list args;
        va_start(args, format);
        vsnprintf(p->error->text, sizeof(p->error->text), format, args);
        va_end(args);
        p->error->offset = span.off;
        p->error->len = span.len > 0 ? span.len : 1;
    }
    p->failed = true;
    return false;
}

const char *parse_quote(const struct parser *p, struct span span, char out[QUOTE_LEN])
{
    const size_t max = QUOTE_LEN - 6; /* two quotes, three points, NUL */
    size_t n = 0;
    out[n++] = '"';
    for (size_t i = 0; i < span.len && i < max && span.off + i < p->len; i++) {
        const char c = p->text[span.off + i];
        out[n++] = c >= ' ' && c <= '~' ? c : '?';
    }
    out[n] = '\0';
    snprintf(out + n, QUOTE_LEN - n, "%s\"", span.len > max ? "..." : "");
    return out;
}

void parse_skip_space(struct parser *p)
{
    while (p->pos < p->len && strchr(" \t\r\n", p->text[p->pos]) != NULL)
        p->pos++;
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

struct span parse_word_here(const struct parser *p)
{
    size_t end = p->pos;
    if (end < p->len && is_letter(p->text[end]))
        while (end < p->len &&
               (is_letter(p->text[end]) || is_digit(p->text[end]) || p->text[end] == '.'))
            end++;
    return (struct span){p->pos, end - p->pos};
}

/* Words, numbers, addresses and MAC addresses are one alphabet; ".." ends them. A byte of another
 * alphabet takes its UTF-8 continuation bytes along. */
struct span parse_token_here(const struct parser *p)
{
    size_t end = p->pos;
    while (end < p->len && (is_letter(p->text[end]) || is_digit(p->text[end]) ||
                            strchr(".:/%+-", p->text[end]) != NULL)) {
        if (p->text[end] == '.' && end + 1 < p->len && p->text[end + 1] == '.')
            break;
        end++;
    }
    if (end == p->pos && end < p->len) {
        end++;
        while (end < p->len && ((unsigned char)p->text[end] & 0xC0) == 0x80)
            end++;
    }
    return (struct span){p->pos, end - p->pos};
}

bool parse_take(struct parser *p, const char *sign, const char *word)
{
    parse_skip_space(p);
    if (sign != NULL) {
        const size_t len = strlen(sign);
        if (p->len - p->pos >= len && memcmp(p->text + p->pos, sign, len) == 0) {
            p->pos += len;
            return true;
        }
    }
    if (word != NULL) {
        const struct span here = parse_word_here(p);
        if (words_same(p->text + here.off, here.len, word)) {
            p->pos += here.len;
            return true;
        }
    }
    return false;
}

static uint32_t test_count(const struct parser *p)
{
    return (uint32_t)p->out->tests.count;
}

static uint32_t *slot(const struct parser *p, uint32_t jump)
{
    struct test *tests = p->out->tests.data;
    return &tests[jump / 2].next[jump % 2];
}

static void patch(const struct parser *p, struct jumps jumps, uint32_t target)
{
    for (uint32_t jump = jumps.head; jump != NO_JUMP;) {
        uint32_t *s = slot(p, jump);
        jump = *s;
        *s = target;
    }
}

static struct jumps join(const struct parser *p, struct jumps a, struct jumps b)
{
    *slot(p, a.tail) = b.head;
    return (struct jumps){a.head, b.tail};
}

static bool emit(struct parser *p, const struct roce_field *field, const struct test *model,
                 struct expr *expr)
{
    const uint32_t index = test_count(p);
    struct test *test = array_push(&p->out->tests, 1, sizeof(*test));
    if (test == NULL)
        return parse_fail(p, (struct span){p->pos, 1}, "out of memory");
    *test = *model;
    test->get = field->get;
    test->next[0] = test->next[1] = NO_JUMP;
    expr->on[0] = (struct jumps){2 * index, 2 * index};
    expr->on[1] = (struct jumps){2 * index + 1, 2 * index + 1};
    p->out->needs_icrc = p->out->needs_icrc || strncmp(field->name, "icrc.", 5) == 0;
    p->out->needs_flow = p->out->needs_flow || field->computed;
    return true;
}

/* To be called between the two sides: a false left side of "or", a true one of "and", goes on with
 * the right side. */
static void begin_right(const struct parser *p, const struct expr *left, bool is_or)
{
    patch(p, left->on[!is_or], test_count(p));
}

static struct expr end_right(const struct parser *p, const struct expr *left,
                             const struct expr *right, bool is_or)
{
    struct expr both = *right;
    both.on[is_or] = join(p, left->on[is_or], right->on[is_or]);
    return both;
}

static struct expr negated(struct expr expr)
{
    return (struct expr){{expr.on[1], expr.on[0]}};
}

/* The test |model| on any of the subject's fields. */
static bool emit_any(struct parser *p, const struct subject *subject, const struct test *model,
                     struct expr *expr)
{
    if (!emit(p, subject->fields[0], model, expr))
        return false;
    for (unsigned i = 1; i < subject->n; i++) {
        struct expr right = {0};
        begin_right(p, expr, true);
        if (!emit(p, subject->fields[i], model, &right))
            return false;
        *expr = end_right(p, expr, &right, true);
    }
    return true;
}

static bool emit_presence(struct parser *p, const struct subject *subject, struct expr *expr)
{
    struct test model = {.kind = TEST_PRESENT};
    if (subject->fields[0]->type == ROCE_FIELD_BOOL && !subject->group)
        model = (struct test){.kind = TEST_BOOL, .lo = 1, .hi = 1};
    return emit_any(p, subject, &model, expr);
}

static bool emit_comparison(struct parser *p, const struct subject *subject, struct test *model,
                            struct expr *expr)
{
    struct expr fits = {0};
    if (!model->negate || subject->n == 1)
        return emit_any(p, subject, model, expr);
    /* One of the fields is there, and none is equal. */
    if (!emit_presence(p, subject, expr))
        return false;
    begin_right(p, expr, false);
    model->negate = false;
    if (!emit_any(p, subject, model, &fits))
        return false;
    fits = negated(fits);
    *expr = end_right(p, expr, &fits, false);
    return true;
}

static bool take_not_in(struct parser *p)
{
    const size_t before = p->pos;
    if (parse_take(p, NULL, "not") && parse_take(p, NULL, "in"))
        return true;
    p->pos = before;
    return false;
}

static bool take_compare(struct parser *p, enum compare *op)
{
    static const struct {
        const char *sign, *word;
        enum compare op;
    } operators[] = {
        /* A longer sign comes before its beginning. */
        {"==", "eq", COMPARE_EQ}, {"!=", "ne", COMPARE_NE},
        {"<=", "le", COMPARE_LE}, {">=", "ge", COMPARE_GE},
        {"<", "lt", COMPARE_LT},  {">", "gt", COMPARE_GT},
        {NULL, "in", COMPARE_IN}, {NULL, "contains", COMPARE_CONTAINS},
    };
    for (size_t i = 0; i < sizeof(operators) / sizeof(operators[0]); i++) {
        if (parse_take(p, operators[i].sign, operators[i].word)) {
            *op = operators[i].op;
            return true;
        }
    }
    *op = COMPARE_NOT_IN;
    return take_not_in(p);
}

static bool parse_comparison(struct parser *p, struct expr *expr)
{
    struct subject subject;
    struct test model;
    enum compare op;
    if (!parse_subject(p, &subject))
        return false;
    parse_skip_space(p);
    const size_t at = p->pos;
    if (!take_compare(p, &op))
        return emit_presence(p, &subject, expr);
    return parse_operand(p, &subject, op, (struct span){at, p->pos - at}, &model) &&
           emit_comparison(p, &subject, &model, expr);
}

static bool unexpected(struct parser *p)
{
    char quoted[QUOTE_LEN];
    const struct span token = parse_token_here(p);
    switch (p->text[p->pos]) {
    case ')':
        return parse_fail(p, token, "\")\" without a \"(\" before it");
    case '=':
        return parse_fail(p, token, "compare with \"==\", not with \"=\"");
    case '&':
        return parse_fail(p, token, "write \"and\" or \"&&\"");
    case '|':
        return parse_fail(p, token, "write \"or\" or \"||\"");
    }
    return parse_fail(p, token, "a comparison, \"and\" or \"or\" is expected here, not %s",
                      parse_quote(p, token, quoted));
}

static bool parse_or(struct parser *p, struct expr *expr);

static bool parse_primary(struct parser *p, struct expr *expr)
{
    bool negate = false;
    while (parse_take(p, "!", "not"))
        negate = !negate;
    const size_t open = p->pos;
    if (parse_take(p, "(", NULL)) {
        if (++p->depth > DEPTH_MAX)
            return parse_fail(p, (struct span){p->pos - 1, 1}, "nested deeper than %d parentheses",
                              DEPTH_MAX);
        if (!parse_or(p, expr))
            return false;
        if (!parse_take(p, ")", NULL))
            return p->pos < p->len
                       ? unexpected(p)
                       : parse_fail(p, (struct span){open, 1}, "the closing \")\" is missing");
        p->depth--;
    } else if (!parse_comparison(p, expr)) {
        return false;
    }
    if (negate)
        *expr = negated(*expr);
    return true;
}

static bool parse_and(struct parser *p, struct expr *expr)
{
    struct expr right = {0};
    if (!parse_primary(p, expr))
        return false;
    while (parse_take(p, "&&", "and")) {
        begin_right(p, expr, false);
        if (!parse_primary(p, &right))
            return false;
        *expr = end_right(p, expr, &right, false);
    }
    return true;
}

static bool parse_or(struct parser *p, struct expr *expr)
{
    struct expr right = {0};
    if (!parse_and(p, expr))
        return false;
    while (parse_take(p, "||", "or")) {
        begin_right(p, expr, true);
        if (!parse_and(p, &right))
            return false;
        *expr = end_right(p, expr, &right, true);
    }
    return true;
}

static bool parse_all(struct parser *p)
{
    struct expr expr = {0};
    if (p->len > EXPRESSION_MAX)
        return parse_fail(p, (struct span){EXPRESSION_MAX, 1}, "the filter is longer than 64 KiB");
    parse_skip_space(p);
    if (p->pos == p->len)
        return parse_fail(p, (struct span){0, 1}, "the filter is empty");
    if (!parse_or(p, &expr))
        return false;
    parse_skip_space(p);
    if (p->pos < p->len)
        return unexpected(p);
    patch(p, expr.on[0], TEST_REJECT);
    patch(p, expr.on[1], TEST_ACCEPT);
    return true;
}

struct roce_filter *roce_filter_compile(const char *expression, struct roce_filter_error *error)
{
    struct parser p = {
        .text = expression,
        .len = strlen(expression),
        .error = error,
        .out = calloc(1, sizeof(*p.out)),
    };
    *error = (struct roce_filter_error){0};
    if (p.out == NULL) {
        parse_fail(&p, (struct span){0, 1}, "out of memory");
        return NULL;
    }
    if (parse_all(&p))
        return p.out;
    roce_filter_del(p.out);
    return NULL;
}
