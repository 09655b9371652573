/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the counting thread and those who ask it share. */
#ifndef TUI_PLAYER_INTERNAL_H
#define TUI_PLAYER_INTERNAL_H

#include <pthread.h>
#include <stdatomic.h>

#include "player.h"

/* What others ask of the thread; guarded by the lock. */
struct orders {
    bool stop, step, seek, set_filter, reset, tune, copy;
    bool snapshot;
    int pause; /* -1: nothing asked */
    double speed;
    bool set_speed;
    roce_tstamp seek_ts;
    uint64_t seek_frame;
    struct roce_filter *filter;
    uint32_t ce_permille, cnp_per_sec;
    struct snap_want want;
};

struct player {
    const struct top_opts *opts;
    struct source *source;
    struct model *model;
    struct model_opts model_opts;
    struct roce_filter *filter; /* in force */
    pthread_t thread;
    bool started;
    int pipe[2];
    pthread_mutex_t lock; /* for orders, back, ready, copy, shown */
    pthread_cond_t changed;
    atomic_bool asked; /* orders has something */
    struct orders orders;
    struct snapshot *back;
    bool ready;
    struct ring copy[2];
    bool copied, copy_good;
    struct ui_status shown;

    /* of the thread alone */
    struct model_batch batch;
    int at;   /* next frame of the batch */
    bool end; /* of the source */
    bool paused;
    double speed; /* 0: max */
    bool seeking;
    roce_tstamp goal_ts; /* 0: none */
    uint64_t goal_frame;
    uint64_t frames;     /* fed since the source began */
    roce_tstamp newest;  /* of the frames fed */
    bool deferred;       /* a snapshot was asked for and is not due yet */
    uint64_t publish_ns; /* when the state is told anew */
    roce_tstamp base_ts; /* capture time, and */
    uint64_t base_ns;    /* monotonic time when it was due; 0: to be set */
    uint64_t started_ns;
    uint64_t next_snapshot_ns;
    char error[160];
};

/* tui_player_order takes the lock and returns the orders; tui_player_ordered gives it back and lets
 * the thread know. */
struct orders *tui_player_order(struct player *player);
void tui_player_ordered(struct player *player);

/* tui_player_obey does what was asked for; false when the thread shall end. */
bool tui_player_obey(struct player *player);

/* tui_player_rewind begins again at the first frame; false when the source cannot. */
bool tui_player_rewind(struct player *player);

/* tui_player_publish tells the state anew, tui_player_wake that there is something to be seen. */
void tui_player_publish(struct player *player);
void tui_player_wake(struct player *player);

#endif
