/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The -Y language: an expression over the fields of field.h, compiled once, run over every packet.
 */
#ifndef ROCE_FILTER_H
#define ROCE_FILTER_H

#include <roce/field.h>

#ifdef __cplusplus
extern "C" {
#endif

struct roce_filter;

struct roce_filter_error {
    size_t offset; /* byte of the expression where the mistake is, for a caret */
    size_t len;    /* bytes of the faulty word, at least 1 */
    char text[160];
};

/* roce_filter_compile compiles |expression|. Returns NULL and fills |error| when it is not valid.
 * Bounded: expressions over 64 KiB, or nested deeper than 100 parentheses, are errors. */
struct roce_filter *roce_filter_compile(const char *expression, struct roce_filter_error *error);

/* roce_filter_match runs the filter; a comparison with a field the packet does not have is false.
 * No allocation. */
bool roce_filter_match(const struct roce_filter *filter, const struct roce_view *view);

bool roce_filter_needs_icrc(const struct roce_filter *filter);
bool roce_filter_needs_flow(const struct roce_filter *filter);
void roce_filter_del(struct roce_filter *filter);

#ifdef __cplusplus
}
#endif
#endif
