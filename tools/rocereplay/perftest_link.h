/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What perftest's records go over: TCP, or with -R and -z SENDs on a connection of the connection
 * manager. */
#ifndef ROCEREPLAY_PERFTEST_LINK_H
#define ROCEREPLAY_PERFTEST_LINK_H

#include "rocereplay/perftest_cm.h"

struct perftest_link {
    struct station *st;
    bool client;
    int fd; /* TCP; -1: |cm| */
    struct perftest_cm cm;
};

/* perftest_link_connect connects to the program at |ip| as the options say. 0, or -1 with a message
 * printed; perftest_link_close either way. */
int perftest_link_connect(struct perftest_link *link, struct station *st, const uint8_t ip[16]);
/* perftest_link_accept waits for the next program at the TCP socket |listener| and at the
 * connection manager. |link| begins as zeros and is the same for one peer after the other. 1, 0: it
 * did not come about, or -1: interrupted, or failed with a message. */
int perftest_link_accept(struct perftest_link *link, struct station *st, int listener);
void perftest_link_close(struct perftest_link *link);

bool perftest_link_by_cm(const struct perftest_link *link);
/* perftest_link_read takes a record, perftest_link_write sends one. |forever|: the peer may take as
 * long as it likes. 0, or -1 with a message printed. */
int perftest_link_read(struct perftest_link *link, void *buf, size_t len, bool forever,
                       const char *what);
int perftest_link_write(struct perftest_link *link, const void *buf, size_t len, const char *what);
/* perftest_link_finish runs the station until the peer has ended, too. 0, or -1. */
int perftest_link_finish(struct perftest_link *link);

#endif
