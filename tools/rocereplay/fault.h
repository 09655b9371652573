/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Faults between engine and port: frames lost, doubled, late, marked or damaged, by chance or
 * exactly one, and the list of what was done. */
#ifndef ROCEREPLAY_FAULT_H
#define ROCEREPLAY_FAULT_H

#include <stdbool.h>
#include <stdint.h>

#include "port/port.h"

enum fault_kind {
    FAULT_DROP,
    FAULT_DUP,
    FAULT_REORDER,
    FAULT_DELAY,
    FAULT_CE,
    FAULT_BAD_ICRC,
    FAULT_CORRUPT,      /* payload, under an ICRC that is right */
    FAULT_SUPPRESS_ACK, /* an ACK is lost */
    FAULT_NAK,          /* an ACK becomes a NAK */
    FAULT_RNR,          /* an ACK becomes an RNR NAK */
    FAULT_GHOST_ACK,    /* behind the frame comes an ACK of what was never sent */
    FAULT_CNP,          /* behind the frame comes a CNP to the same QP */
    FAULT_PFC_XOFF,     /* behind the frame come pauses, */
    FAULT_PFC_XON,      /* or their end */
    FAULT_KINDS
};
const char *fault_name(enum fault_kind kind); /* "drop", ... */
int fault_by_name(const char *name);          /* -1: no such kind */

/* The order is that of the words of --fault-dir. */
enum fault_dir { FAULT_TX, FAULT_RX, FAULT_BOTH };

/* One rule: by chance, or the frame of one (QP, PSN) in its |round|th appearance. */
struct fault_rule {
    enum fault_kind kind;
    bool exact;
    double chance;     /* 0..1 */
    bool qp_index;     /* |qp| counts the QPs of the run from 1 */
    bool psn_relative; /* |psn| counts from the first PSN of the QP's direction */
    uint32_t qp, psn, round;
    uint64_t delay_ns; /* FAULT_DELAY */
    uint32_t arg;      /* NAK: its code; RNR: its timer code; PFC: priority << 16 | quanta */
    bool any_psn;      /* exact, but for each PSN of the QP */
    bool data_only;    /* exact: frames with payload alone count */
    bool by_iteration; /* |round| counts how often the QP's PSNs have stepped back, from 1, not how
                          often this PSN came */
};
enum { FAULT_RULES_MAX = 1024 };
struct fault_plan {
    struct fault_rule rule[FAULT_RULES_MAX];
    unsigned n;
    enum fault_dir dir;
};

/* fault_parse adds the rules of |text|, as given with --|kind|: "1%", "0x12:0x100:2",
 * "#1:+5,#2:+7"; with a time behind @ for FAULT_DELAY, the kind of NAK for FAULT_NAK, and, when the
 * usual ones will not do, the timer code for FAULT_RNR, PRIORITY[:QUANTA] for pauses. 0; or -1 with
 * the reason in |why|. */
int fault_parse(struct fault_plan *plan, enum fault_kind kind, const char *text,
                char why[PORT_TEXT_MAX]);

/* What one fault did. */
struct fault_event {
    roce_tstamp now;
    enum fault_kind kind;
    bool received; /* on arrival, not when sent */
    uint8_t opcode;
    uint32_t qpn, psn, round; /* BTH of the frame; |round| 0: by chance */
    uint64_t delay_ns;
    uint32_t arg; /* that of the rule; a ghost ACK: its PSN */
};

/* fault_new wraps |inner| (its owner from then on). |plan| is copied. NULL without memory. */
struct port *fault_new(struct port *inner, const struct fault_plan *plan, uint64_t seed);
/* fault_learn tells of the next QP (QP "#1", then "#2", ...): frames that we send to its peer's
 * |remote_qpn| begin with |local_psn|, frames that come to |local_qpn| with |remote_psn|. */
void fault_learn(struct port *port, uint32_t local_qpn, uint32_t local_psn, uint32_t remote_qpn,
                 uint32_t remote_psn);
/* fault_events gives the list of what was done so far, |*n| entries; |*lost| counts those beyond
 * its bound. */
const struct fault_event *fault_events(const struct port *port, uint64_t *n, uint64_t *lost);
uint64_t fault_count(const struct port *port, enum fault_kind kind);

#endif
