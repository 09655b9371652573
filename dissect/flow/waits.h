/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a requester that stepped back waits for. All zero: not known. */
#ifndef FLOW_WAITS_H
#define FLOW_WAITS_H

#include <roce/psn.h>

#include <stdbool.h>
#include <stdint.h>

#define WAITS_ASKS  16 /* READs and atomics that are not answered yet */
#define WAITS_LATES 4

struct psn_range {
    uint32_t psn, len;
};

struct waits {
    uint32_t psn;   /* that it has no answer to */
    uint32_t until; /* PSN behind all it had sent when it stepped back */
    bool known;
    bool again;  /* it asked for |psn| by an implied NAK and does so only once */
    bool whole;  /* |passed|: none of the responses of a READ came, and it takes more than one */
    bool partly; /* |again|: a response of the same READ came, or its length is one */
    bool passed; /* an answer skipped |psn|: it is going to ask for it again */
    uint8_t asks, lates;
    uint32_t late[WAITS_LATES]; /* answers that came behind one that skipped them */
    struct psn_range ask[WAITS_ASKS];
};

/* What is known about the answer to the newest copy of a request. */
enum waits_answered {
    WAITS_UNKNOWN,
    WAITS_NOT_YET, /* not captured */
    WAITS_PASSED,  /* not captured, but a later one was */
    WAITS_IGNORED, /* the same, but of a READ of several responses: it is the request that was lost
                    */
    WAITS_CAME_LATE, /* captured, behind a later one */
    WAITS_CAME,      /* captured in order */
};

/* waits_begin tells that the requester stepped back to |psn|, from |until|; |again|: an implied NAK
 * made it do so. An answer to |psn| that came late, and what came behind it, found it waiting. */
void waits_begin(struct waits *w, uint32_t psn, uint32_t until, bool again);
/* waits_ask tells of a READ or atomic, issued since, that takes |n| PSNs. */
void waits_ask(struct waits *w, uint32_t psn, uint32_t n);
/* waits_answer tells of a READ response or atomic ACK. */
void waits_answer(struct waits *w, uint32_t psn);
/* waits_acknowledge tells of an ACK of all up to |psn|. */
void waits_acknowledge(struct waits *w, uint32_t psn);
/* waits_asked tells whether a READ or atomic that begins with |psn| was issued since; waits_ignored
 * whether it takes several responses, and none came. */
bool waits_asked(const struct waits *w, uint32_t psn);
bool waits_ignored(const struct waits *w, uint32_t psn);
/* waits_skipped tells whether an answer skipped the one that is waited for, to |*psn| of a request
 * that ends before |*end|. */
bool waits_skipped(const struct waits *w, uint32_t *psn, uint32_t *end);
enum waits_answered waits_answered(const struct waits *w, uint32_t psn);

#endif
