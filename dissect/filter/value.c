/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Values as people read them. */
#include <roce/field.h>

#include <assert.h>
#include <string.h>

#include <roce/fmt.h>

struct text {
    char *pos, *end; /* |end| keeps room for the NUL */
};

static void put(struct text *t, const char *s, size_t len)
{
    const size_t room = (size_t)(t->end - t->pos);
    if (len > room)
        len = room;
    memcpy(t->pos, s, len);
    t->pos += len;
}

static void put_str(struct text *t, const char *s)
{
    put(t, s, strlen(s));
}

static void put_uint(struct text *t, uint64_t u, bool hex)
{
    char text[ROCE_FMT_UINT_MAX];
    const char *end = hex ? roce_fmt_hex(text, u) : roce_fmt_uint(text, u);
    put(t, text, (size_t)(end - text));
}

/* printf would follow the locale's decimal point. Six decimals suffice for all units in use: ms and
 * us. */
static void put_real(struct text *t, double r)
{
    char text[ROCE_FMT_UINT_MAX];
    if (r < 0) {
        put(t, "-", 1);
        r = -r;
    }
    if (!(r < 1e12)) { /* too large for the arithmetic below, and nobody's decimals */
        put_uint(t, r < 1e19 ? (uint64_t)r : UINT64_MAX, false);
        put_str(t, ".0");
        return;
    }
    const uint64_t micro = (uint64_t)(r * 1e6 + 0.5);
    put_uint(t, micro / 1000000, false);
    const char *end = roce_fmt_uint_pad(text, micro % 1000000, 6);
    while (end > text + 1 && end[-1] == '0')
        end--;
    put(t, ".", 1);
    put(t, text, (size_t)(end - text));
}

char *roce_value_format(const struct roce_field *field, const struct roce_value *value, char *out,
                        size_t size)
{
    assert(size > 0);
    struct text t = {out, out + size - 1};
    char text[ROCE_FMT_ADDR_MAX];

    switch ((enum roce_field_type)field->type) {
    case ROCE_FIELD_BOOL:
        put_str(&t, value->b ? "true" : "false");
        break;
    case ROCE_FIELD_UINT:
        put_uint(&t, value->u, field->hex);
        break;
    case ROCE_FIELD_HEX64:
        put_uint(&t, value->u, true);
        break;
    case ROCE_FIELD_REAL:
        put_real(&t, value->r);
        break;
    case ROCE_FIELD_WORD:
    case ROCE_FIELD_TEXT:
        put_str(&t, value->s);
        break;
    case ROCE_FIELD_ADDR:
        put(&t, text, (size_t)(roce_fmt_addr(text, value->addr, value->ip_version) - text));
        break;
    case ROCE_FIELD_MAC:
        put(&t, text, (size_t)(roce_fmt_mac(text, value->addr) - text));
        break;
    case ROCE_FIELD_LIST:
    case ROCE_FIELD_REALS:
        for (unsigned i = 0; i < value->n; i++) {
            if (i > 0)
                put(&t, " ", 1);
            if (field->type == ROCE_FIELD_LIST)
                put_uint(&t, value->list[i], field->hex);
            else
                put_real(&t, value->reals[i]);
        }
        break;
    }
    *t.pos = '\0';
    return t.pos;
}
