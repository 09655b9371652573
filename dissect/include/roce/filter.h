/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The -Y language: an expression over the fields of field.h, compiled once, run over every packet.
 *
 *   expression   or of and of not; && || ! are the same; parentheses
 *   FIELD        the packet has it; a bool field: and it is true; "reth": it has some reth.* field
 *   FIELD OP V   OP is == != < <= > >= or eq ne lt le gt ge
 *   FIELD in {V, V..V}     one of them; FIELD not in {...}: it has the field, and it is none of
 * them FIELD contains V       texts and words, by part V            12, 0x1f, 0.64, true, a word
 * (cnp, ce), "quoted text", 10.0.0.1, 10.0.0.0/8, fe80::1, fe80::/10, 01:80:c2:00:00:01
 *
 * A comparison, != too, is false when the packet does not have the field; "not (psn == 5)" is true
 * then. Where a field has several values (lists; host, va and the like, which stand for several
 * fields) a comparison holds when one of them fits, and != when none is equal. PSNs compare as
 * plain numbers. Upper and lower case are the same in words and texts. opcode also takes a number,
 * a name without its service (send_only) and a family (send, write, ack: the words of op). An IPv6
 * prefix shorter than 96 bits does not fit IPv4 addresses. */
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
/* roce_filter_uses tells whether |field| takes part in the expression. */
bool roce_filter_uses(const struct roce_filter *filter, const struct roce_field *field);
void roce_filter_del(struct roce_filter *filter);

#ifdef __cplusplus
}
#endif
#endif
