/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Near matches by edit distance. */
#include "suggest.h"

#include <stdio.h>
#include <string.h>

#include "words.h"

#define WORD_LEN_MAX 47

/* Score of a name that contains the word whole: behind all misspellings. */
#define SCORE_PART 8

static unsigned min3(unsigned a, unsigned b, unsigned c)
{
    const unsigned ab = a < b ? a : b;
    return ab < c ? ab : c;
}

/* Optimal string alignment: insert, drop or change a letter, or swap two neighbours. */
static unsigned distance(const char *a, size_t a_len, const char *b, size_t b_len)
{
    unsigned rows[3][WORD_LEN_MAX + 1];
    unsigned *before = rows[0];
    unsigned *last = rows[1];
    unsigned *now = rows[2];
    for (size_t j = 0; j <= b_len; j++)
        last[j] = (unsigned)j;
    memcpy(before, last, sizeof(rows[0]));
    for (size_t i = 1; i <= a_len; i++) {
        now[0] = (unsigned)i;
        for (size_t j = 1; j <= b_len; j++) {
            const bool same = words_lower(a[i - 1]) == words_lower(b[j - 1]);
            now[j] = min3(last[j] + 1, now[j - 1] + 1, last[j - 1] + !same);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
                before[j - 2] + 1 < now[j])
                now[j] = before[j - 2] + 1;
        }
        unsigned *spare = before;
        before = last;
        last = now;
        now = spare;
    }
    return last[b_len];
}

void suggest_offer(struct suggest *s, const char *name)
{
    const size_t len = strlen(name);
    if (s->len > WORD_LEN_MAX || len > WORD_LEN_MAX)
        return;
    const unsigned limit = s->len < 3 ? 1 : s->len < 7 ? 2 : 3;
    const size_t apart = len > s->len ? len - s->len : s->len - len;
    unsigned score = apart <= limit ? distance(s->word, s->len, name, len) : limit + 1;
    if (score > limit || score >= s->len) {
        if (s->len < 3 || !words_part(s->word, s->len, name))
            return;
        score = SCORE_PART + (unsigned)len;
    }
    for (unsigned i = 0; i < s->n; i++)
        if (strcmp(s->best[i].name, name) == 0)
            return;
    unsigned at = s->n;
    while (at > 0 && s->best[at - 1].score > score)
        at--;
    if (at == SUGGEST_MAX)
        return;
    if (s->n < SUGGEST_MAX)
        s->n++;
    for (unsigned i = s->n - 1; i > at; i--)
        s->best[i] = s->best[i - 1];
    s->best[at].name = name;
    s->best[at].score = score;
}

void suggest_text(const struct suggest *s, char *out, size_t size)
{
    const char *a = s->best[0].name;
    const char *b = s->best[1].name;
    switch (s->n) {
    case 0:
        out[0] = '\0';
        break;
    case 1:
        snprintf(out, size, "; did you mean \"%s\"?", a);
        break;
    case 2:
        snprintf(out, size, "; did you mean \"%s\" or \"%s\"?", a, b);
        break;
    default:
        snprintf(out, size, "; did you mean \"%s\", \"%s\" or \"%s\"?", a, b, s->best[2].name);
        break;
    }
}
