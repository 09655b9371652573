/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The right side of a comparison: values, checked against the field's type, as operands of a test.
 */
#include "parser.h"

#include <float.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <roce/opcode.h>

#include "suggest.h"
#include "words.h"

/* One value as typed; |s| without quotes and escapes. */
struct value {
    struct span span;
    const char *s;
    size_t len;
};

static bool no_memory(struct parser *p)
{
    return parse_fail(p, (struct span){p->pos, 1}, "out of memory");
}

static const char *subject_name(const struct parser *p, const struct subject *subject,
                                char out[QUOTE_LEN])
{
    snprintf(out, QUOTE_LEN, "%.*s", (int)(subject->span.len < 40 ? subject->span.len : 40),
             p->text + subject->span.off);
    return out;
}

/* Quoted text is unescaped into the text array, behind what is there; the caller keeps it or not.
 */
static bool read_quoted(struct parser *p, struct value *value)
{
    const char quote = p->text[p->pos];
    struct array *array = &p->out->text;
    const size_t begin = array->count;
    size_t i = p->pos + 1;
    for (; i < p->len && p->text[i] != quote; i++) {
        if (p->text[i] == '\\' && i + 1 < p->len)
            i++;
        char *c = array_push(array, 1, 1);
        if (c == NULL)
            return no_memory(p);
        *c = p->text[i];
    }
    value->span = (struct span){p->pos, i + 1 - p->pos};
    if (i == p->len)
        return parse_fail(p, (struct span){p->pos, 1}, "the closing quote is missing");
    value->len = array->count - begin;
    if (array_push(array, 1, 1) == NULL)
        return no_memory(p);
    value->s = (const char *)array->data + begin;
    p->pos = i + 1;
    return true;
}

static bool read_value(struct parser *p, struct value *value)
{
    char quoted[QUOTE_LEN];
    parse_skip_space(p);
    if (p->pos == p->len)
        return parse_fail(p, (struct span){p->pos, 1}, "a value is missing at the end");
    if (p->text[p->pos] == '"' || p->text[p->pos] == '\'')
        return read_quoted(p, value);
    value->span = parse_token_here(p);
    value->s = p->text + p->pos;
    value->len = value->span.len;
    const char c = *value->s;
    const bool plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                       c == '_' || c == ':' || c == '-' || c == '+' || c == '.';
    if (!plain)
        return parse_fail(p, value->span, "a value is expected here, not %s",
                          parse_quote(p, value->span, quoted));
    p->pos += value->len;
    return true;
}

static bool bad_number(struct parser *p, const struct subject *subject, const struct value *value,
                       enum literal why)
{
    char name[QUOTE_LEN];
    char quoted[QUOTE_LEN];
    subject_name(p, subject, name);
    parse_quote(p, value->span, quoted);
    switch (why) {
    case LITERAL_NEGATIVE:
        return parse_fail(p, value->span, "%s is never negative", name);
    case LITERAL_FRACTION:
        return parse_fail(p, value->span, "%s is a whole number, %s is not", name, quoted);
    case LITERAL_TOO_BIG:
        return parse_fail(p, value->span, "the number %s is too large", quoted);
    case LITERAL_OK:
    case LITERAL_INVALID:
    case LITERAL_PREFIX:
        break;
    }
    return parse_fail(p, value->span, "%s is compared with a number, and %s is none", name, quoted);
}

static bool read_uint(struct parser *p, const struct subject *subject, uint64_t *u,
                      struct span *span)
{
    struct value value = {.s = ""};
    const size_t kept = p->out->text.count;
    if (!read_value(p, &value))
        return false;
    enum literal rc = literal_uint(value.s, value.len, u);
    if (subject->fields[0]->type == ROCE_FIELD_BOOL) {
        if (words_same(value.s, value.len, "true") || words_same(value.s, value.len, "yes")) {
            *u = 1;
            rc = LITERAL_OK;
        } else if (words_same(value.s, value.len, "false") ||
                   words_same(value.s, value.len, "no")) {
            *u = 0;
            rc = LITERAL_OK;
        }
        if (rc == LITERAL_OK ? *u > 1 : true) {
            char name[QUOTE_LEN];
            return parse_fail(p, value.span, "%s is compared with true or false",
                              subject_name(p, subject, name));
        }
    }
    p->out->text.count = kept;
    *span = value.span;
    return rc == LITERAL_OK || bad_number(p, subject, &value, rc);
}

static bool empty_range(struct parser *p, struct span from, struct span to)
{
    const struct span both = {from.off, to.off + to.len - from.off};
    return parse_fail(p, both, "the range is empty: its end is below its beginning");
}

static struct range *push_range(struct parser *p, struct test *test)
{
    struct range *range = array_push(&p->out->ranges, 1, sizeof(*range));
    if (range == NULL)
        no_memory(p);
    else
        test->count++;
    return range;
}

static bool uint_item(struct parser *p, const struct subject *subject, struct test *test)
{
    uint64_t lo = 0;
    struct span from = {0};
    struct span to = {0};
    if (!read_uint(p, subject, &lo, &from))
        return false;
    uint64_t hi = lo;
    if (parse_take(p, "..", NULL)) {
        if (!read_uint(p, subject, &hi, &to))
            return false;
        if (hi < lo)
            return empty_range(p, from, to);
    }
    struct range *range = push_range(p, test);
    if (range == NULL)
        return false;
    range->lo = lo;
    range->hi = hi;
    return true;
}

/* The numbers that stand in relation |op| to |u|; *lo > *hi when there are none (nothing is below 0
 * or above the largest number). */
static void bounds(enum compare op, uint64_t u, uint64_t *lo, uint64_t *hi)
{
    *lo = 0;
    *hi = UINT64_MAX;
    if (op == COMPARE_LE) {
        *hi = u;
    } else if (op == COMPARE_GE) {
        *lo = u;
    } else if (op == COMPARE_LT) {
        *lo = u == 0;
        *hi = u == 0 ? 0 : u - 1;
    } else if (op == COMPARE_GT) {
        *lo = u == UINT64_MAX ? u : u + 1;
        *hi = u == UINT64_MAX ? 0 : UINT64_MAX;
    } else {
        *lo = *hi = u;
    }
}

static bool uint_compare(struct parser *p, const struct subject *subject, enum compare op,
                         struct test *test)
{
    uint64_t u;
    struct span span;
    if (!read_uint(p, subject, &u, &span))
        return false;
    bounds(op, u, &test->lo, &test->hi);
    return true;
}

static int by_lo(const void *a, const void *b)
{
    const struct range *x = a;
    const struct range *y = b;
    return (x->lo > y->lo) - (x->lo < y->lo);
}

/* Sorts the ranges of a set and joins those that overlap, for the binary search. */
static void sort_ranges(struct array *array, struct test *test)
{
    struct range *ranges = (struct range *)array->data + test->first;
    qsort(ranges, test->count, sizeof(*ranges), by_lo);
    uint32_t n = 0;
    for (uint32_t i = 1; i < test->count; i++) {
        if (ranges[i].lo > ranges[n].hi)
            ranges[++n] = ranges[i];
        else if (ranges[i].hi > ranges[n].hi)
            ranges[n].hi = ranges[i].hi;
    }
    test->count = n + 1;
    array->count = test->first + test->count;
}

static bool read_real(struct parser *p, const struct subject *subject, double *r, struct span *span)
{
    struct value value = {.s = ""};
    const size_t kept = p->out->text.count;
    if (!read_value(p, &value))
        return false;
    const enum literal rc = literal_real(value.s, value.len, r);
    p->out->text.count = kept;
    *span = value.span;
    return rc == LITERAL_OK || bad_number(p, subject, &value, rc);
}

static bool real_item(struct parser *p, const struct subject *subject, enum compare op,
                      struct test *test)
{
    double r;
    struct span from;
    if (!read_real(p, subject, &r, &from))
        return false;
    struct range range = {.open = op == COMPARE_LT || op == COMPARE_GT};
    range.from = op == COMPARE_LE || op == COMPARE_LT ? -DBL_MAX : r;
    range.to = op == COMPARE_GE || op == COMPARE_GT ? DBL_MAX : r;
    struct span to;
    if ((op == COMPARE_IN || op == COMPARE_NOT_IN) && parse_take(p, "..", NULL)) {
        if (!read_real(p, subject, &range.to, &to))
            return false;
        if (range.to < range.from)
            return empty_range(p, from, to);
    }
    struct range *pushed = push_range(p, test);
    if (pushed == NULL)
        return false;
    *pushed = range;
    return true;
}

static bool addr_item(struct parser *p, const struct subject *subject, struct test *test)
{
    const bool mac = subject->fields[0]->type == ROCE_FIELD_MAC;
    struct literal_addr addr = {.bits = 48};
    struct value value = {.s = ""};
    char quoted[QUOTE_LEN];
    const size_t kept = p->out->text.count;
    if (!read_value(p, &value))
        return false;
    const enum literal rc =
        mac ? literal_mac(value.s, value.len, addr.addr) : literal_addr(value.s, value.len, &addr);
    p->out->text.count = kept;
    parse_quote(p, value.span, quoted);
    if (rc == LITERAL_PREFIX)
        return parse_fail(p, value.span, "the prefix length of %s is no number up to %d", quoted,
                          addr.v4 ? 32 : 128);
    if (rc != LITERAL_OK)
        return parse_fail(p, value.span, "%s is no %s", quoted,
                          mac ? "MAC address such as 01:80:c2:00:00:01"
                              : "IP address such as 10.0.0.1, 10.0.0.0/8 or fe80::1");
    struct range *range = push_range(p, test);
    if (range == NULL)
        return false;
    range->addr = addr;
    return true;
}

static void set_bit(struct word_set *set, unsigned code)
{
    set->bits[code / 64] |= UINT64_C(1) << code % 64;
}

/* Few words are all listed; of many, the near ones. */
static bool unknown_word(struct parser *p, const struct subject *subject, const struct value *value)
{
    const struct roce_field *field = subject->fields[0];
    struct suggest near = {.word = value->s, .len = value->len};
    char all[128] = "";
    char hint[128];
    char name[QUOTE_LEN];
    char quoted[QUOTE_LEN];
    size_t used = 0;
    const char *last = NULL;
    for (unsigned code = 0; code < ROCE_WORD_MAX; code++) {
        const char *word = field->word(code);
        if (word == NULL || word == last)
            continue;
        suggest_offer(&near, word);
        last = word;
        if (used < sizeof(all))
            used += (size_t)snprintf(all + used, sizeof(all) - used, "%s%s",
                                     used > 0 ? ", " : "; it takes ", word);
    }
    suggest_text(&near, hint, sizeof(hint));
    return parse_fail(p, value->span, "%s has no value %s%s", subject_name(p, subject, name),
                      parse_quote(p, value->span, quoted),
                      near.n == 0 && used < sizeof(all) ? all : hint);
}

/* Adds the codes that a word, a part of words (|contains|), or a number lo..hi names. */
static bool word_item(struct parser *p, const struct subject *subject, enum compare op,
                      struct word_set *set)
{
    const struct roce_field *field = subject->fields[0];
    const bool is_opcode = strcmp(field->name, "opcode") == 0;
    struct value value = {.s = ""};
    const size_t kept = p->out->text.count;
    if (!read_value(p, &value))
        return false;

    uint64_t lo = 1;
    uint64_t hi = 0;
    const bool digit =
        op != COMPARE_CONTAINS && value.len > 0 && value.s[0] >= '0' && value.s[0] <= '9';
    if (field->numbered && digit) {
        const enum literal rc = literal_uint(value.s, value.len, &lo);
        struct span to;
        hi = lo;
        if (rc != LITERAL_OK)
            return bad_number(p, subject, &value, rc);
        if (parse_take(p, "..", NULL) && !read_uint(p, subject, &hi, &to))
            return false;
        if (hi < lo)
            return empty_range(p, value.span, to);
        if (op >= COMPARE_LE && op <= COMPARE_GT)
            bounds(op, lo, &lo, &hi);
    } else if (op >= COMPARE_LE && op <= COMPARE_GT) {
        char name[QUOTE_LEN];
        return parse_fail(p, value.span, "the words of %s have no order; compare with ==, != or in",
                          subject_name(p, subject, name));
    }

    bool known = field->numbered && digit;
    for (unsigned code = 0; code < ROCE_WORD_MAX; code++) {
        const char *word = field->word(code);
        if (word == NULL)
            continue;
        bool hit = (code & 0xFF) >= lo && (code & 0xFF) <= hi;
        if (op == COMPARE_CONTAINS)
            hit = words_part(value.s, value.len, word);
        else if (!digit)
            hit = words_same(value.s, value.len, word) ||
                  (is_opcode && words_opcode_family(code, value.s, value.len));
        if (hit)
            set_bit(set, code);
        known = known || hit;
    }
    if (!known)
        return unknown_word(p, subject, &value);
    p->out->text.count = kept;
    return true;
}

static bool text_item(struct parser *p, struct test *test)
{
    struct value value = {.s = ""};
    const size_t before = p->out->text.count;
    if (!read_value(p, &value))
        return false;
    if (p->out->text.count == before) { /* a bare word */
        char *copy = array_push(&p->out->text, value.len + 1, 1);
        if (copy == NULL)
            return no_memory(p);
        memcpy(copy, value.s, value.len);
    }
    test->count++;
    return true;
}

/* "in" goes on until the closing brace; values are separated by commas, blanks or both. */
static bool next_item(struct parser *p, size_t open, bool *more)
{
    char quoted[QUOTE_LEN];
    const bool comma = parse_take(p, ",", NULL);
    *more = !parse_take(p, "}", NULL);
    if (!*more && comma)
        return parse_fail(p, (struct span){p->pos - 1, 1}, "a value is missing behind the comma");
    if (*more && p->pos == p->len)
        return parse_fail(p, (struct span){open, 1}, "the closing \"}\" of the set is missing");
    if (*more && p->text[p->pos] == ',') {
        const struct span token = parse_token_here(p);
        return parse_fail(p, token, "a value is expected here, not %s",
                          parse_quote(p, token, quoted));
    }
    return true;
}

static bool item(struct parser *p, const struct subject *subject, enum compare op,
                 struct test *test)
{
    const bool set = op == COMPARE_IN || op == COMPARE_NOT_IN;
    switch ((enum test_kind)test->kind) {
    case TEST_BOOL:
    case TEST_UINT:
    case TEST_LIST:
        return set ? uint_item(p, subject, test) : uint_compare(p, subject, op, test);
    case TEST_REAL:
    case TEST_REALS:
        return real_item(p, subject, op, test);
    case TEST_WORD:
        return word_item(p, subject, op, (struct word_set *)p->out->words.data + test->first);
    case TEST_TEXT:
    case TEST_CONTAINS:
        return text_item(p, test);
    case TEST_ADDR:
        return addr_item(p, subject, test);
    case TEST_PRESENT:
        break;
    }
    return false;
}

static bool items(struct parser *p, const struct subject *subject, enum compare op,
                  struct test *test)
{
    char quoted[QUOTE_LEN];
    bool more;
    if (op != COMPARE_IN && op != COMPARE_NOT_IN)
        return item(p, subject, op, test);
    parse_skip_space(p);
    const size_t open = p->pos;
    if (!parse_take(p, "{", NULL)) {
        const struct span token = parse_token_here(p);
        return parse_fail(p, token, "a set such as {1, 5..9} is expected here%s%s",
                          p->pos < p->len ? ", not " : "",
                          p->pos < p->len ? parse_quote(p, token, quoted) : "");
    }
    if (parse_take(p, "}", NULL))
        return parse_fail(p, (struct span){open, p->pos - open}, "the set is empty");
    do {
        if (!item(p, subject, op, test) || !next_item(p, open, &more))
            return false;
    } while (more);
    return true;
}

static enum test_kind kind_of(enum roce_field_type type, enum compare op)
{
    switch (type) {
    case ROCE_FIELD_BOOL:
        return TEST_BOOL;
    case ROCE_FIELD_UINT:
    case ROCE_FIELD_HEX64:
        return TEST_UINT;
    case ROCE_FIELD_REAL:
        return TEST_REAL;
    case ROCE_FIELD_WORD:
        return TEST_WORD;
    case ROCE_FIELD_TEXT:
        return op == COMPARE_CONTAINS ? TEST_CONTAINS : TEST_TEXT;
    case ROCE_FIELD_ADDR:
    case ROCE_FIELD_MAC:
        return TEST_ADDR;
    case ROCE_FIELD_LIST:
        return TEST_LIST;
    case ROCE_FIELD_REALS:
        return TEST_REALS;
    }
    return TEST_PRESENT;
}

static bool check_operator(struct parser *p, const struct subject *subject, enum compare op,
                           enum test_kind kind, struct span at)
{
    const bool order = op >= COMPARE_LE && op <= COMPARE_GT;
    char name[QUOTE_LEN];
    subject_name(p, subject, name);
    if (subject->group)
        return parse_fail(p, at,
                          "%s is a header, not a value; compare one of its fields, such as %s",
                          name, subject->fields[0]->name);
    if (op == COMPARE_CONTAINS && kind != TEST_CONTAINS && kind != TEST_WORD)
        return parse_fail(p, at, "\"contains\" is for words and texts, and %s is neither", name);
    if (order && (kind == TEST_TEXT || kind == TEST_ADDR || kind == TEST_BOOL))
        return parse_fail(p, at, "%s has no order; compare it with ==, != or in", name);
    return true;
}

bool parse_operand(struct parser *p, const struct subject *subject, enum compare op, struct span at,
                   struct test *test)
{
    struct roce_filter *out = p->out;
    const enum test_kind kind = kind_of((enum roce_field_type)subject->fields[0]->type, op);
    if (!check_operator(p, subject, op, kind, at))
        return false;
    *test = (struct test){
        .kind = (uint8_t)kind,
        .negate = op == COMPARE_NE || op == COMPARE_NOT_IN,
        .first = (uint32_t)out->ranges.count,
    };
    if (kind == TEST_WORD) {
        test->first = (uint32_t)out->words.count;
        if (array_push(&out->words, 1, sizeof(struct word_set)) == NULL)
            return no_memory(p);
    } else if (kind == TEST_TEXT || kind == TEST_CONTAINS) {
        test->first = (uint32_t)out->text.count;
    }
    if (!items(p, subject, op, test))
        return false;
    if ((kind == TEST_BOOL || kind == TEST_UINT || kind == TEST_LIST) && test->count > 0)
        sort_ranges(&out->ranges, test);
    return true;
}
