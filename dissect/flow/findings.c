/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Kinds of findings: their facts, their values and their sentences. */
#include <roce/finding.h>

#include <roce/err.h>
#include <roce/fmt.h>

#include <string.h>

struct value_fact {
    const char *name;
    uint8_t unit; /* enum roce_finding_unit */
};

static const struct kind {
    struct roce_finding_info info;
    struct value_fact value[ROCE_FINDING_VALUES + 1]; /* a NULL name ends */
    const char *text;
} kinds[ROCE_FINDING_KINDS] = {
#define V(name, unit) {name, ROCE_UNIT_##unit},
#define FINDING(id, name, severity, values, text, hint) \
    [ROCE_FINDING_##id] = {{name, hint, ROCE_SEVERITY_##severity}, {values{NULL, 0}}, text},
#include <roce/findings.def>
#undef FINDING
#undef V
};

static const char *const severities[] = {"error", "warning", "note"};

const struct roce_finding_info *roce_finding_info(enum roce_finding_kind kind)
{
    static const struct roce_finding_info unknown = {"unknown", "", ROCE_SEVERITY_NOTE};
    return (unsigned)kind < ROCE_FINDING_KINDS ? &kinds[kind].info : &unknown;
}

int roce_finding_by_name(const char *name)
{
    for (int i = 0; i < ROCE_FINDING_KINDS; i++)
        if (strcmp(kinds[i].info.name, name) == 0)
            return i;
    return ROCE_ERR_UNKNOWN;
}

const char *roce_severity_name(enum roce_severity severity)
{
    return (unsigned)severity <= ROCE_SEVERITY_NOTE ? severities[severity] : "unknown";
}

int roce_severity_by_name(const char *name)
{
    for (int i = ROCE_SEVERITY_ERROR; i <= ROCE_SEVERITY_NOTE; i++)
        if (strcmp(severities[i], name) == 0)
            return i;
    return ROCE_ERR_UNKNOWN;
}

const char *roce_finding_value(const struct roce_finding *finding, uint32_t index, uint64_t *value,
                               enum roce_finding_unit *unit, bool *known)
{
    if (finding->kind >= ROCE_FINDING_KINDS || index >= ROCE_FINDING_VALUES)
        return NULL;
    const struct value_fact *fact = &kinds[finding->kind].value[index];
    if (fact->name == NULL)
        return NULL;
    *value = finding->value[index];
    *unit = (enum roce_finding_unit)fact->unit;
    *known = (finding->has >> index & 1) != 0;
    return fact->name;
}

int roce_finding_compare(const struct roce_finding *a, const struct roce_finding *b)
{
    if (a->severity != b->severity)
        return a->severity < b->severity ? -1 : 1;
    if (a->count != b->count)
        return a->count > b->count ? -1 : 1;
    if (a->first_frame != b->first_frame)
        return a->first_frame < b->first_frame ? -1 : 1;
    if (a->kind != b->kind)
        return a->kind < b->kind ? -1 : 1;
    if (a->flow != b->flow)
        return a->flow < b->flow ? -1 : 1;
    return memcmp(a->value, b->value, sizeof a->value);
}

/* ---- sentences ---- */

/* Text under construction: |len| counts what fits, one byte is kept for the NUL. */
struct text {
    char *buf;
    size_t size, len;
};

static void put(struct text *t, const char *s, size_t n)
{
    const size_t room = t->size - 1 - t->len;
    if (n > room)
        n = room;
    memcpy(t->buf + t->len, s, n);
    t->len += n;
}

static void put_str(struct text *t, const char *s)
{
    put(t, s, strlen(s));
}

static void put_number(struct text *t, uint64_t v)
{
    char number[ROCE_FMT_UINT_MAX];
    put(t, number, (size_t)(roce_fmt_uint(number, v) - number));
}

/* put_scaled writes |v| / |unit| with up to three digits that matter. */
static void put_scaled(struct text *t, uint64_t v, uint64_t unit, const char *name)
{
    uint64_t whole = v / unit;
    uint64_t digits = whole < 10 ? 100 : whole < 100 ? 10 : 1;
    const uint64_t part = unit / digits;
    uint64_t steps = part == 0 ? 0 : (v % unit + part / 2) / part;
    if (digits == 1 && v % unit >= unit - unit / 2 && unit > 1)
        whole++;
    if (digits > 1 && steps >= digits) {
        whole++;
        steps = 0;
    }
    put_number(t, whole);
    if (unit > 1 && digits > 1 && steps > 0) {
        char fraction[ROCE_FMT_UINT_MAX];
        const int width = digits == 100 ? 2 : 1;
        char *end = roce_fmt_uint_pad(fraction, steps, width);
        while (end[-1] == '0')
            end--;
        put_str(t, ".");
        put(t, fraction, (size_t)(end - fraction));
    }
    put_str(t, name);
}

static void put_value(struct text *t, uint64_t v, enum roce_finding_unit unit)
{
    char hex[ROCE_FMT_HEX_MAX];
    switch (unit) {
    case ROCE_UNIT_COUNT:
        put_number(t, v);
        break;
    case ROCE_UNIT_HEX:
        put(t, hex, (size_t)(roce_fmt_hex(hex, v) - hex));
        break;
    case ROCE_UNIT_DURATION:
        if (v < 1000)
            put_scaled(t, v, 1, " ns");
        else if (v < 1000000)
            put_scaled(t, v, 1000, " us");
        else if (v < 1000000000)
            put_scaled(t, v, 1000000, " ms");
        else
            put_scaled(t, v, 1000000000, " s");
        break;
    case ROCE_UNIT_RATE:
        if (v < 1000000)
            put_scaled(t, v, 1000, " kb/s");
        else if (v < 1000000000)
            put_scaled(t, v, 1000000, " Mb/s");
        else
            put_scaled(t, v, 1000000000, " Gb/s");
        break;
    }
}

/* put_noun writes a number with its noun: "1 frame", "2 frames", "3 retries" is not needed. */
static void put_noun(struct text *t, uint64_t v, const char *noun, size_t len)
{
    put_number(t, v);
    put_str(t, " ");
    put(t, noun, len);
    if (v != 1)
        put_str(t, "s");
}

/* put_field writes the placeholder |p| .. |p|+|len|. Returns false when its value is not known. */
static bool put_field(struct text *t, const struct roce_finding *f, const char *p, size_t len)
{
    const char *colon = memchr(p, ':', len);
    const size_t name_len = colon == NULL ? len : (size_t)(colon - p);
    uint64_t v = f->count;
    enum roce_finding_unit unit = ROCE_UNIT_COUNT;
    if (name_len == 4 && memcmp(p, "word", 4) == 0) {
        if (f->word != NULL)
            put_str(t, f->word);
        return f->word != NULL;
    }
    if (name_len != 1 || *p != 'n') {
        const struct value_fact *fact = kinds[f->kind].value;
        uint32_t i = 0;
        while (fact[i].name != NULL &&
               (strlen(fact[i].name) != name_len || memcmp(fact[i].name, p, name_len) != 0))
            i++;
        if (fact[i].name == NULL || (f->has >> i & 1) == 0)
            return false;
        v = f->value[i];
        unit = (enum roce_finding_unit)fact[i].unit;
    }
    if (colon != NULL)
        put_noun(t, v, colon + 1, len - name_len - 1);
    else
        put_value(t, v, unit);
    return true;
}

size_t roce_finding_text(const struct roce_finding *finding, char *buf, size_t size)
{
    if (size == 0)
        return 0;
    struct text t = {.buf = buf, .size = size};
    if (finding->kind >= ROCE_FINDING_KINDS) {
        buf[0] = '\0';
        return 0;
    }
    if (finding->more) {
        put_noun(&t, finding->flows, "further finding", 15);
        put_str(&t, " of this kind, ");
        put_number(&t, finding->count);
        put_str(&t, " in all");
        buf[t.len] = '\0';
        return t.len;
    }
    size_t open = 0; /* length at the newest [ */
    bool dropped = false;
    for (const char *p = kinds[finding->kind].text; *p != '\0'; p++) {
        if (*p == '[') {
            open = t.len;
            dropped = false;
        } else if (*p == ']') {
            if (dropped)
                t.len = open;
            dropped = false;
        } else if (*p == '{') {
            const size_t len = strcspn(p, "}") - 1;
            if (!put_field(&t, finding, p + 1, len))
                dropped = true;
            p += len + 1;
        } else {
            put(&t, p, 1);
        }
    }
    buf[t.len] = '\0';
    return t.len;
}
