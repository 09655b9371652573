/* SPDX-License-Identifier: GPL-2.0-or-later */
/* perftest by the connection manager: a connection that carries its records as SENDs, and with -R
 * those of the run itself. */
#ifndef ROCEREPLAY_PERFTEST_CM_H
#define ROCEREPLAY_PERFTEST_CM_H

#include "rocereplay/lane.h"

enum {
    PERFTEST_CM_SLOTS = 4,     /* receives posted for records; the exchange has one on its way */
    PERFTEST_CM_ITEM_MAX = 64, /* bytes of a record */
    PERFTEST_CM_WAITING = 64,  /* the connection manager holds no more */
};

struct perftest_cm {
    struct station *st;
    bool client;
    struct lane lane; /* carries the records */
    struct eng_cq *cq;
    struct eng_cm_conn *conn;
    bool up, over, refused;
    uint8_t peer_timeout; /* after which the peer sends again; 0: not told */
    struct eng_cm_event refusal;
    struct {
        uint32_t slot, len;
    } arrived[PERFTEST_CM_SLOTS]; /* records, oldest first */
    uint32_t n_arrived, n_sent;
    int status; /* enum eng_wc_status of the first that failed but by a flush */
    /* The connections of the run. */
    struct lane *lanes;
    struct eng_cm_conn **conns;
    uint32_t n, n_asked, n_up, n_over;
    /* Requests that came too early, or from somebody else: kept by perftest_cm_close. */
    struct eng_cm_event waiting[PERFTEST_CM_WAITING];
    uint32_t n_waiting;
};

/* perftest_cm_listen announces the port of the options. 0, or -1 with a message printed. */
int perftest_cm_listen(struct station *st);
/* perftest_cm_waiting takes the oldest of |cm->waiting|; false: none. */
bool perftest_cm_waiting(struct perftest_cm *cm, struct eng_cm_event *request);
/* |cm| begins as zeros. perftest_cm_connect connects to the program at |ip|, perftest_cm_accept
 * answers |request|. 0, or -1 with a message printed; perftest_cm_close either way. */
int perftest_cm_connect(struct perftest_cm *cm, struct station *st, const uint8_t ip[16]);
int perftest_cm_accept(struct perftest_cm *cm, struct station *st,
                       const struct eng_cm_event *request);

/* perftest_cm_read takes the next record, of exactly |len| bytes; perftest_cm_write sends one and
 * waits until the peer has it. |forever|: the peer may take as long as it likes. |what| names the
 * record in messages. 0, or -1 with a message printed. */
int perftest_cm_read(struct perftest_cm *cm, void *buf, size_t len, bool forever, const char *what);
int perftest_cm_write(struct perftest_cm *cm, const void *buf, size_t len, const char *what);

/* perftest_cm_join connects the |n| lanes of the run, which are in INIT. */
int perftest_cm_join(struct perftest_cm *cm, struct lane *lanes, uint32_t n);
/* perftest_cm_wait_end runs the station until the peer ends the connection, for a bounded time. */
void perftest_cm_wait_end(struct perftest_cm *cm);
/* perftest_cm_close ends all connections as the programs do: those of the run by the server, then
 * that of the records. Before the lanes of the run are closed. */
void perftest_cm_close(struct perftest_cm *cm);

#endif
