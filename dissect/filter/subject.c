/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Field names in filter expressions, and what to say about those that are none. */
#include "parser.h"

#include <string.h>

#include "suggest.h"
#include "words.h"

#define NAME_MAX_LEN 64

static bool find_any(const char *name, struct subject *subject)
{
    for (size_t i = 0; i < any_count(); i++) {
        const struct any *any = any_at(i);
        if (strcmp(any->word, name) != 0)
            continue;
        for (unsigned k = 0; k < ANY_MAX && any->names[k] != NULL; k++)
            subject->fields[subject->n++] = roce_field_find(any->names[k]);
        return true;
    }
    return false;
}

/* "reth" is all of reth.va, reth.rkey, ... */
static bool find_group(const char *name, struct subject *subject)
{
    const size_t len = strlen(name);
    for (size_t i = 0; i < roce_field_count() && subject->n < SUBJECT_MAX; i++) {
        const struct roce_field *field = roce_field_at(i);
        if (strncmp(field->name, name, len) == 0 && field->name[len] == '.')
            subject->fields[subject->n++] = field;
    }
    subject->group = subject->n > 0;
    return subject->group;
}

static bool has_word(const struct roce_field *field, const char *text, size_t len)
{
    for (unsigned code = 0; code < ROCE_WORD_MAX; code++) {
        const char *word = field->word(code);
        if (word != NULL && words_same(text, len, word))
            return true;
    }
    return false;
}

static const struct roce_field *field_with_word(const char *text, size_t len)
{
    const struct roce_field *opcode = roce_field_find("opcode");
    if (has_word(opcode, text, len))
        return opcode;
    for (size_t i = 0; i < roce_field_count(); i++) {
        const struct roce_field *field = roce_field_at(i);
        if (field->type == ROCE_FIELD_WORD && has_word(field, text, len))
            return field;
    }
    return NULL;
}

static bool unknown_name(struct parser *p, struct span span)
{
    const char *text = p->text + span.off;
    struct suggest near = {.word = text, .len = span.len};
    char hint[128];
    char quoted[QUOTE_LEN];

    const struct roce_field *field = field_with_word(text, span.len);
    if (field != NULL)
        return parse_fail(p, span, "%s is a value, not a field; did you mean \"%s == %.*s\"?",
                          parse_quote(p, span, quoted), field->name,
                          span.len < 40 ? (int)span.len : 40, text);
    for (size_t i = 0; i < any_count(); i++)
        suggest_offer(&near, any_at(i)->word);
    for (size_t i = 0; i < roce_field_count(); i++) {
        suggest_offer(&near, roce_field_at(i)->name);
        if (roce_field_at(i)->alias != NULL)
            suggest_offer(&near, roce_field_at(i)->alias);
    }
    suggest_text(&near, hint, sizeof(hint));
    return parse_fail(p, span, "there is no field %s%s", parse_quote(p, span, quoted), hint);
}

static bool is_operator_word(const char *text, size_t len)
{
    static const char *const words[] = {
        "and", "or", "not", "in", "contains", "eq", "ne", "lt", "le", "gt", "ge",
    };
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (words_same(text, len, words[i]))
            return true;
    return false;
}

bool parse_subject(struct parser *p, struct subject *subject)
{
    char name[NAME_MAX_LEN];
    char quoted[QUOTE_LEN];

    parse_skip_space(p);
    const struct span span = parse_word_here(p);
    *subject = (struct subject){.span = span};
    if (p->pos == p->len)
        return parse_fail(p, (struct span){p->pos, 1}, "a field name is missing at the end");
    if (span.len == 0 || is_operator_word(p->text + span.off, span.len)) {
        const struct span token = parse_token_here(p);
        return parse_fail(p, token, "a field name is expected here, not %s",
                          parse_quote(p, token, quoted));
    }
    p->pos += span.len;
    if (span.len >= sizeof(name))
        return unknown_name(p, span);
    memcpy(name, p->text + span.off, span.len);
    name[span.len] = '\0';
    if (find_any(name, subject))
        return true;
    subject->fields[0] = roce_field_find(name);
    if (subject->fields[0] != NULL) {
        subject->n = 1;
        return true;
    }
    return find_group(name, subject) || unknown_name(p, span);
}
