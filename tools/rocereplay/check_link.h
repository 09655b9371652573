/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a run of rocereplay check goes over: a cable in memory with the engine at its other end, on
 * computed time, or an interface and a peer behind it. */
#ifndef ROCEREPLAY_CHECK_LINK_H
#define ROCEREPLAY_CHECK_LINK_H

#include "rocereplay/check.h"
#include "rocereplay/check_peer.h"
#include "rocereplay/check_target.h"

struct check_link {
    struct station st, twin;
    struct check_peer peer;
    struct check_target target;
    struct check_run run;
    uint8_t ip[16]; /* of the peer */
    int fd;         /* TCP to the peer, during a case */
};

/* The openers return 0, or -1 with a message printed; check_link_close also after a failure: -1
 * when the evidence could not be written. |patience_ns| is how long silence is listened to. */
int check_link_loop(struct check_link *link, struct replay_opts *opts);
int check_link_wire(struct check_link *link, struct replay_opts *opts, uint64_t patience_ns);
int check_link_close(struct check_link *link);

#endif
