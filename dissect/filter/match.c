/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Running a compiled filter over a packet. */
#include <roce/filter.h>

#include <stdlib.h>
#include <string.h>

#include "program.h"
#include "words.h"

static bool fits_uint(const struct roce_filter *f, const struct test *t, uint64_t u)
{
    if (t->count == 0)
        return u >= t->lo && u <= t->hi;
    const struct range *ranges = (const struct range *)f->ranges.data + t->first;
    uint32_t begin = 0;
    uint32_t end = t->count;
    while (begin < end) {
        const uint32_t mid = begin + (end - begin) / 2;
        if (u > ranges[mid].hi)
            begin = mid + 1;
        else if (u < ranges[mid].lo)
            end = mid;
        else
            return true;
    }
    return false;
}

static bool fits_real(const struct roce_filter *f, const struct test *t, double r)
{
    const struct range *range = (const struct range *)f->ranges.data + t->first;
    for (uint32_t i = 0; i < t->count; i++, range++)
        if (range->open ? r > range->from && r < range->to : r >= range->from && r <= range->to)
            return true;
    return false;
}

static bool under_prefix(const uint8_t addr[16], const struct literal_addr *prefix)
{
    const unsigned whole = prefix->bits / 8;
    const unsigned rest = prefix->bits % 8;
    return memcmp(addr, prefix->addr, whole) == 0 &&
           (rest == 0 || (addr[whole] ^ prefix->addr[whole]) >> (8 - rest) == 0);
}

static bool fits_addr(const struct roce_filter *f, const struct test *t,
                      const struct roce_value *value)
{
    const struct range *range = (const struct range *)f->ranges.data + t->first;
    for (uint32_t i = 0; i < t->count; i++, range++) {
        /* A short IPv6 prefix such as ::/0 covers the mapped form, but nobody means it. */
        if (value->ip_version == 4 && range->addr.bits < 96)
            continue;
        if (under_prefix(value->addr, &range->addr))
            return true;
    }
    return false;
}

static bool fits_text(const struct roce_filter *f, const struct test *t, const char *s)
{
    const char *text = (const char *)f->text.data + t->first;
    for (uint32_t i = 0; i < t->count; i++) {
        const size_t len = strlen(text);
        if (t->kind == TEST_TEXT ? words_same(text, len, s) : words_part(text, len, s))
            return true;
        text += len + 1;
    }
    return false;
}

static bool fits_word(const struct roce_filter *f, const struct test *t, unsigned code)
{
    const struct word_set *set = (const struct word_set *)f->words.data + t->first;
    return code < ROCE_WORD_MAX && (set->bits[code / 64] >> code % 64 & 1);
}

static bool fits(const struct roce_filter *f, const struct test *t, const struct roce_value *value)
{
    switch ((enum test_kind)t->kind) {
    case TEST_PRESENT:
        return true;
    case TEST_BOOL:
        return fits_uint(f, t, value->b);
    case TEST_UINT:
        return fits_uint(f, t, value->u);
    case TEST_REAL:
        return fits_real(f, t, value->r);
    case TEST_WORD:
        return fits_word(f, t, value->code);
    case TEST_TEXT:
    case TEST_CONTAINS:
        return fits_text(f, t, value->s);
    case TEST_ADDR:
        return fits_addr(f, t, value);
    case TEST_LIST:
        for (unsigned i = 0; i < value->n; i++)
            if (fits_uint(f, t, value->list[i]))
                return true;
        return false;
    case TEST_REALS:
        for (unsigned i = 0; i < value->n; i++)
            if (fits_real(f, t, value->reals[i]))
                return true;
        return false;
    }
    return false;
}

bool roce_filter_match(const struct roce_filter *filter, const struct roce_view *view)
{
    const struct test *tests = filter->tests.data;
    struct roce_value value;
    uint32_t at = 0;
    do {
        const struct test *t = &tests[at];
        const bool holds = t->get(view, &value) && fits(filter, t, &value) != t->negate;
        at = t->next[holds];
    } while (at < TEST_REJECT);
    return at == TEST_ACCEPT;
}

bool roce_filter_needs_icrc(const struct roce_filter *filter)
{
    return filter->needs_icrc;
}

bool roce_filter_needs_flow(const struct roce_filter *filter)
{
    return filter->needs_flow;
}

bool roce_filter_uses(const struct roce_filter *filter, const struct roce_field *field)
{
    const struct test *tests = filter->tests.data;
    for (size_t i = 0; i < filter->tests.count; i++)
        if (tests[i].get == field->get)
            return true;
    return false;
}

void roce_filter_del(struct roce_filter *filter)
{
    if (filter == NULL)
        return;
    free(filter->tests.data);
    free(filter->ranges.data);
    free(filter->words.data);
    free(filter->text.data);
    free(filter);
}
