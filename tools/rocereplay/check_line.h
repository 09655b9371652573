/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What rocereplay check and its peer tell each other: a line of JSON each way for what is wanted
 * and offered, then "start" and "status" as often as need be, until the connection ends. */
#ifndef ROCEREPLAY_CHECK_LINE_H
#define ROCEREPLAY_CHECK_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum check_op { CHECK_OP_SEND, CHECK_OP_WRITE, CHECK_OP_READ };

struct check_want {
#define WANT(member, max) uint64_t member;
#include "rocereplay/check_want.def"
#undef WANT
    uint8_t ip[16]; /* ours */
};

struct check_offer {
    uint64_t qpn, witness_qpn, rkey, va, len;
};

/* Completions that the peer's program has seen. */
struct check_status {
    uint64_t received, sent; /* successful ones */
    uint64_t error;          /* the first other status but "flushed", by number; 0: none */
};

enum { CHECK_LINE_MAX = 1024 };

/* The encoders write a line with its newline; the decoders return 0, ROCE_ERR_SYNTAX,
 * ROCE_ERR_INVALID (a value out of range) or, for a want, ROCE_ERR_UNKNOWN: a line of another kind.
 */
void check_want_encode(const struct check_want *want, char line[CHECK_LINE_MAX]);
int check_want_decode(const char *line, struct check_want *want);
void check_offer_encode(const struct check_offer *offer, char line[CHECK_LINE_MAX]);
int check_offer_decode(const char *line, struct check_offer *offer);
void check_status_encode(const struct check_status *status, char line[CHECK_LINE_MAX]);
int check_status_decode(const char *line, struct check_status *status);

extern const char check_start_line[], check_ask_line[]; /* with their newline */

#endif
