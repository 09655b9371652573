/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A target as the peer of a check: its handshake makes the QP of each case. */
#ifndef ROCEREPLAY_CHECK_TARGET_H
#define ROCEREPLAY_CHECK_TARGET_H

#include "rocereplay/check.h"
#include "rocereplay/target.h"

struct check_target {
    struct station *st;
    struct replay_opts *opts; /* of |st|: what a case asks of the peer goes through them */
    const uint8_t *ip;
    struct check_run *run;
    struct lane lane;
    struct target target;
};

extern const struct check_peer_ops check_target_ops; /* on a struct check_target */

/* check_target_init makes |run| ask the program that the options name. 0, or -1 with a message
 * printed. */
int check_target_init(struct check_target *t, struct check_run *run, struct station *st,
                      struct replay_opts *opts, const uint8_t ip[16]);

/* What a target's limits mean to the cases. check_target_lacks tells why |craft| cannot be judged;
 * NULL: it can. check_target_answer acknowledges what the peer's program sends of its own accord,
 * and tells whether |seen| was such a packet. check_target_prompt makes it send what the case wants
 * to see. check_target_end ends a QP whose program would wait for ever. */
const char *check_target_lacks(struct check *c, const struct craft *craft);
/* check_target_instead makes of a SEND Only, for a peer without receives, a WRITE of no bytes: it
 * is acknowledged, counted and dropped alike. */
bool check_target_instead(struct check *c, struct craft *craft);
bool check_target_answer(struct check *c, const struct check_seen *seen);
bool check_target_prompt(struct check *c);
void check_target_end(struct check *c);

#endif
