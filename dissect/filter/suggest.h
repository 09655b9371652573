/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Near matches of a word that nobody knows, for "did you mean". */
#ifndef FILTER_SUGGEST_H
#define FILTER_SUGGEST_H

#include <stddef.h>

#define SUGGEST_MAX 3

struct suggest {
    const char *word; /* the unknown word */
    size_t len;
    unsigned n;
    struct {
        const char *name;
        unsigned score; /* lower is nearer */
    } best[SUGGEST_MAX];
};

/* suggest_offer keeps |name| when it is among the nearest so far; |name| must outlive |s|. */
void suggest_offer(struct suggest *s, const char *name);

/* suggest_text writes "; did you mean "a", "b" or "c"?" to |out|, or "" without a near match. */
void suggest_text(const struct suggest *s, char *out, size_t size);

#endif
