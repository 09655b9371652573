/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Targets: peers that were not made for us, an ordinary verbs program or numbers told by hand, and
 * what a handshake with each of them gives: how many QPs, which memory, which receives. */
#ifndef ROCEREPLAY_TARGET_H
#define ROCEREPLAY_TARGET_H

#include "rocereplay/lane.h"
#include "rocereplay/load.h"

struct target;

/* How its program is made to send. */
enum target_prompt { TARGET_PROMPT_NONE, TARGET_PROMPT_SEND, TARGET_PROMPT_RPING };

struct target_kind {
    const char *name;
    unsigned services;  /* bits 1 << enum eng_service */
    unsigned access;    /* ENG_REMOTE_*: what its memory allows; 0: it tells of none */
    unsigned qp_access; /* and its QPs */
    uint32_t max_qps;   /* of one handshake */
    bool receives;      /* takes SENDs */
    bool own_receives;  /* of its own program alone */
    bool answers;       /* sends messages of its own, too */
    bool in_turn;       /* one for one: the next is due when the last was answered */
    bool stays;         /* ends when its QP fails, and not before */
    enum target_prompt prompt;
    int (*meet)(struct target *t, const uint8_t ip[16]);
    /* part ends the conversation as the program wants it after |load|. */
    void (*part)(struct target *t, const struct load_result *load);
};

/* target_kind_of finds what the options name; NULL: the exchange is rocereplay's own, or there is
 * no peer. */
const struct target_kind *target_kind_of(const struct replay_opts *opts);

/* One handshake under way. */
struct target {
    const struct target_kind *kind;
    struct station *st;
    struct lane *lanes;
    uint32_t n;
    uint32_t first; /* by hand: so many of the QPs told are used up */
    void *exchange;
};

/* target_open connects the |n| lanes, which are in INIT, with as many QPs of the peer; |t| is zero
 * but for |first|. 0, or -1 with a message printed; target_close either way, before the lanes'. */
int target_open(struct target *t, const struct target_kind *kind, struct station *st,
                const uint8_t ip[16], struct lane *lanes, uint32_t n);
/* target_close ends the conversation: properly when |load| tells what came of it, else at once. */
void target_close(struct target *t, const struct load_result *load);

/* Why a message cannot be carried. */
enum target_no {
    TARGET_CAN,
    TARGET_NO_RECEIVES,
    TARGET_OWN_RECEIVES,
    TARGET_NO_MEMORY,
    TARGET_NO_RIGHT,
    TARGET_TOO_LONG,
    TARGET_NO_SERVICE,
    TARGET_REASONS
};
/* target_carries tells whether |kind| takes a message of |len| bytes; |room| is how much its
 * memory and each of its receives hold. */
enum target_no target_carries(const struct target_kind *kind, enum eng_service service,
                              enum eng_wr_op op, uint64_t len, uint64_t room);
const char *target_no_text(enum target_no why);

#endif
