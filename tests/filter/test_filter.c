/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The filter language: results, errors with their place, limits, and random expressions against
 * their own truth. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <roce/filter.h>

#include "dissect/filter/any.h"
#include "samples.h"
#include "tests/cmocka_all.h"

static struct roce_filter *compile(const char *expression)
{
    struct roce_filter_error error;
    struct roce_filter *filter = roce_filter_compile(expression, &error);
    if (filter == NULL)
        fail_msg("%.200s: at %zu: %s", expression, error.offset, error.text);
    return filter;
}

static void test_matches(void **state)
{
    (void)state;
    static const struct {
        enum sample_id sample;
        const char *expression;
        bool result;
    } rows[] = {
#define MATCH(sample, expression, result) {sample, expression, result},
#include "matches.def"
#undef MATCH
    };
    static struct sample s;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct roce_filter *filter = compile(rows[i].expression);
        sample_make(&s, rows[i].sample);
        if (roce_filter_match(filter, &s.view) != rows[i].result)
            fail_msg("%s of sample %d is not %d", rows[i].expression, rows[i].sample,
                     rows[i].result);
        roce_filter_del(filter);
    }
}

static void test_errors(void **state)
{
    (void)state;
    static const struct {
        const char *expression, *marks, *text;
    } rows[] = {
#define ERROR(expression, marks, text) {expression, marks, text},
#include "errors.def"
#undef ERROR
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct roce_filter_error error;
        const size_t offset = strspn(rows[i].marks, " ");
        struct roce_filter *filter = roce_filter_compile(rows[i].expression, &error);
        if (filter != NULL)
            fail_msg("no error: %s", rows[i].expression);
        if (error.offset != offset || error.len != strlen(rows[i].marks) - offset ||
            strstr(error.text, rows[i].text) == NULL)
            fail_msg("%s: %zu+%zu %s", rows[i].expression, error.offset, error.len, error.text);
    }
}

/* A value that its own text is read back as, for every field of every sample. */
static void test_every_field_compares(void **state)
{
    (void)state;
    static struct sample s;
    struct roce_value value;
    char text[ROCE_VALUE_TEXT_LEN];
    char expression[2 * ROCE_VALUE_TEXT_LEN];
    unsigned compared = 0;
    for (int id = 0; id < S_COUNT; id++) {
        sample_make(&s, (enum sample_id)id);
        for (size_t i = 0; i < roce_field_count(); i++) {
            const struct roce_field *field = roce_field_at(i);
            const bool present = field->get(&s.view, &value);
            struct roce_filter *filter = compile(field->name);
            const bool expected = field->type == ROCE_FIELD_BOOL ? present && value.b : present;
            assert_int_equal(roce_filter_match(filter, &s.view), expected);
            assert_int_equal(roce_filter_needs_icrc(filter), strncmp(field->name, "icrc.", 5) == 0);
            assert_int_equal(roce_filter_needs_flow(filter), field->computed);
            roce_filter_del(filter);
            if (!present)
                continue;
            roce_value_format(field, &value, text, sizeof(text));
            if (strchr(text, ' ') != NULL && field->type != ROCE_FIELD_TEXT)
                *strchr(text, ' ') = '\0'; /* the first of a list */
            for (int negate = 0; negate < 2; negate++) {
                snprintf(expression, sizeof(expression), "%s %s \"%s\"", field->name,
                         negate ? "!=" : "==", text);
                filter = compile(expression);
                if (roce_filter_match(filter, &s.view) != !negate)
                    fail_msg("sample %d: %s", id, expression);
                roce_filter_del(filter);
                compared++;
            }
        }
    }
    assert_true(compared > 2 * roce_field_count());
}

static void test_words_for_several_fields(void **state)
{
    (void)state;
    for (size_t i = 0; i < any_count(); i++) {
        const struct any *any = any_at(i);
        const struct roce_field *first = roce_field_find(any->names[0]);
        for (unsigned k = 0; k < ANY_MAX && any->names[k] != NULL; k++) {
            const struct roce_field *field = roce_field_find(any->names[k]);
            assert_non_null(field);
            assert_string_equal(field->name, any->names[k]);
            /* One comparison is compiled for all of them. */
            assert_true(field->type == first->type && field->word == first->word);
        }
    }
}

static void test_needs(void **state)
{
    (void)state;
    struct roce_filter *filter = compile("psn == 5 or (qp == 1 and icrc == bad)");
    assert_true(roce_filter_needs_icrc(filter));
    assert_false(roce_filter_needs_flow(filter));
    roce_filter_del(filter);
    filter = compile("opcode == cnp");
    assert_false(roce_filter_needs_icrc(filter));
    roce_filter_del(filter);
    roce_filter_del(NULL);
}

/* |text| |times| times, between |before| and |after|. */
static char *repeated(const char *before, const char *text, size_t times, const char *after)
{
    const size_t n = strlen(text);
    char *out = malloc(strlen(before) + n * times + strlen(after) + 1);
    char *end = out + strlen(before);
    memcpy(out, before, strlen(before));
    for (size_t i = 0; i < times; i++, end += n)
        memcpy(end, text, n);
    memcpy(end, after, strlen(after) + 1);
    return out;
}

static void test_length_limit(void **state)
{
    (void)state;
    static struct sample s;
    struct roce_filter_error error;
    char *text = repeated("", " ", 65536 - 3, "psn");
    sample_make(&s, S_ALL);
    struct roce_filter *filter = compile(text);
    assert_true(roce_filter_match(filter, &s.view));
    roce_filter_del(filter);
    free(text);

    text = repeated("", " ", 65537 - 3, "psn");
    assert_null(roce_filter_compile(text, &error));
    assert_int_equal(error.offset, 65536);
    assert_int_equal(error.len, 1);
    assert_string_equal(error.text, "the filter is longer than 64 KiB");
    free(text);
}

static void test_depth_limit(void **state)
{
    (void)state;
    static struct sample s;
    struct roce_filter_error error;
    char *open = repeated("", "(", 100, "psn");
    char *text = repeated(open, ")", 100, "");
    sample_make(&s, S_ALL);
    struct roce_filter *filter = compile(text);
    assert_true(roce_filter_match(filter, &s.view));
    roce_filter_del(filter);
    free(open);
    free(text);

    /* One after another is not nested. */
    text = repeated("(psn)", " and (psn)", 1000, "");
    filter = compile(text);
    assert_true(roce_filter_match(filter, &s.view));
    roce_filter_del(filter);
    free(text);

    text = repeated("", "(", 101, "psn");
    assert_null(roce_filter_compile(text, &error));
    assert_int_equal(error.offset, 100);
    assert_string_equal(error.text, "nested deeper than 100 parentheses");
    free(text);
}

/* The longest expressions of several shapes: no shape exhausts the stack or takes for ever. */
static void test_long_expressions(void **state)
{
    (void)state;
    static struct sample s;
    static const struct {
        const char *before, *text;
        size_t times;
        const char *after;
        bool result;
    } rows[] = {
        {"psn==1", "||psn==1", 8100, "||psn==101", true},
        {"psn==1", "||ip!=::", 8100, "||psn==1", true},
        {"psn", "&&psn", 13000, "", true},
        {"psn", "&&psn", 13000, "&&psn==1", false},
        {"", "!", 65533, "psn", false},
        {"", "!", 65532, "psn", true},
        {"", "not ", 16383, "psn", false},
        {"psn in {1", ",2", 32700, ",101}", true},
        {"psn in {1", " 3..5", 13000, "}", false},
        {"src in {::", ",::", 20000, ",10.0.0.1}", true},
        {"error.text in {a", " a", 32000, "}", false},
        {"opcode in {cnp", ",cnp", 16000, "}", false},
        {"psn and not(qp==1", " and qp==1 or qp==2", 3200, ")", true},
    };
    sample_make(&s, S_ALL);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char *text = repeated(rows[i].before, rows[i].text, rows[i].times, rows[i].after);
        struct roce_filter *filter = compile(text);
        if (roce_filter_match(filter, &s.view) != rows[i].result)
            fail_msg("row %zu", i);
        roce_filter_del(filter);
        free(text);
    }
}

static void test_long_words(void **state)
{
    (void)state;
    static const char *const shapes[][2] = {
        {"", ""},        {"opcode == ", ""},  {"src == ", ""},
        {"psn == ", ""}, {"psn == \"", "\""}, {"encap contains \"", ""},
        {"psn ", ""},    {"rnr == 1.", ""},   {"psn == -", ""},
    };
    static const char *const letters[] = {"a",  "1",  ":",    "-", ".", "_",  "+", "/", "%",
                                          "\"", "\\", "\xff", "{", "(", "0x", "=", "'"};
    for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
        for (size_t k = 0; k < sizeof(letters) / sizeof(letters[0]); k++) {
            struct roce_filter_error error;
            char *text = repeated(shapes[i][0], letters[k], 20000, shapes[i][1]);
            struct roce_filter *filter = roce_filter_compile(text, &error);
            if (filter == NULL) {
                assert_true(error.len >= 1 && error.offset <= strlen(text));
                assert_true(error.text[0] != '\0');
                assert_non_null(memchr(error.text, '\0', sizeof(error.text)));
            }
            roce_filter_del(filter);
            free(text);
        }
    }
}

/* Every prefix of an expression is an expression or a located error, read no byte too far. */
static void test_prefixes(void **state)
{
    (void)state;
    static const char whole[] =
        "not (opcode in {cnp, 0x10..0x12} or src == 10.0.0.0/8) && va >= 0x10 and rnr in "
        "{0.01..0.64} || encap contains \"a\\\"b\" and eth.src != 01:80:c2:00:00:01 or !ack_req";
    for (size_t len = 0; len < sizeof(whole); len++) {
        struct roce_filter_error error;
        char *text = malloc(len + 1);
        memcpy(text, whole, len);
        text[len] = '\0';
        struct roce_filter *filter = roce_filter_compile(text, &error);
        if (filter == NULL)
            assert_true(error.offset <= len && error.len >= 1 && error.text[0] != '\0');
        else
            assert_int_equal(error.text[0], '\0');
        roce_filter_del(filter);
        free(text);
    }
}

/* A random expression with its truth, known by construction: comparisons of the PSN 101. */
struct writer {
    char text[8192];
    size_t len;
    uint64_t seed;
};

static unsigned draw(struct writer *w, unsigned n)
{
    w->seed = w->seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (unsigned)(w->seed >> 33) % n;
}

static void say(struct writer *w, const char *s)
{
    w->len += (size_t)snprintf(w->text + w->len, sizeof(w->text) - w->len, "%s", s);
}

static bool random_leaf(struct writer *w)
{
    static const struct {
        const char *text;
        bool truth;
    } leaves[] = {
        {"psn==101", true},   {"psn != 101", false},    {"psn in {7, 101}", true},
        {"psn lt 5", false},  {"host==10.0.0.1", true}, {"host != 10.1.2.3", false},
        {"ack_req", true},    {"error", false},         {"rkey != 1", true},
        {"lrh.vl==0", false}, {"reth", true},           {"op not in {write}", false},
    };
    const unsigned i = draw(w, sizeof(leaves) / sizeof(leaves[0]));
    say(w, leaves[i].text);
    return leaves[i].truth;
}

static bool random_or(struct writer *w, unsigned depth);

static bool random_not(struct writer *w, unsigned depth)
{
    if (draw(w, 3) == 0) {
        say(w, draw(w, 2) ? "not " : "!");
        return !random_not(w, depth);
    }
    if (depth == 0 || draw(w, 3) == 0)
        return random_leaf(w);
    say(w, "(");
    const bool truth = random_or(w, depth - 1);
    say(w, ")");
    return truth;
}

static bool random_and(struct writer *w, unsigned depth)
{
    bool truth = random_not(w, depth);
    for (unsigned n = draw(w, 3); n > 0; n--) {
        say(w, draw(w, 2) ? " and " : "&&");
        const bool right = random_not(w, depth);
        truth = truth && right;
    }
    return truth;
}

static bool random_or(struct writer *w, unsigned depth)
{
    bool truth = random_and(w, depth);
    for (unsigned n = draw(w, 3); n > 0; n--) {
        say(w, draw(w, 2) ? " or " : "||");
        const bool right = random_and(w, depth);
        truth = truth || right;
    }
    return truth;
}

static void test_random_expressions(void **state)
{
    (void)state;
    static struct sample s;
    static struct writer w;
    unsigned truths = 0;
    unsigned runs = 0;
    sample_make(&s, S_ALL);
    w.seed = 1;
    for (unsigned i = 0; i < 20000; i++) {
        w.len = 0;
        const bool truth = random_or(&w, 3);
        if (w.len + 1 >= sizeof(w.text))
            continue;
        struct roce_filter *filter = compile(w.text);
        if (roce_filter_match(filter, &s.view) != truth)
            fail_msg("not %d: %s", truth, w.text);
        roce_filter_del(filter);
        truths += truth;
        runs++;
    }
    assert_true(runs > 19000 && truths > runs / 4 && truths < runs - runs / 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_matches),
        cmocka_unit_test(test_errors),
        cmocka_unit_test(test_every_field_compares),
        cmocka_unit_test(test_words_for_several_fields),
        cmocka_unit_test(test_needs),
        cmocka_unit_test(test_length_limit),
        cmocka_unit_test(test_depth_limit),
        cmocka_unit_test(test_long_expressions),
        cmocka_unit_test(test_long_words),
        cmocka_unit_test(test_prefixes),
        cmocka_unit_test(test_random_expressions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
