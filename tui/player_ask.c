/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What others ask of the counting thread, and what they are told. */
#include <string.h>
#include <unistd.h>

#include "common/clock.h"

#include "player_internal.h"

struct orders *tui_player_order(struct player *player)
{
    (void)pthread_mutex_lock(&player->lock);
    return &player->orders;
}

void tui_player_ordered(struct player *player)
{
    atomic_store_explicit(&player->asked, true, memory_order_release);
    (void)pthread_cond_broadcast(&player->changed);
    (void)pthread_mutex_unlock(&player->lock);
}

int tui_player_fd(const struct player *player)
{
    return player->pipe[0];
}

void tui_player_request(struct player *player, const struct snap_want *want)
{
    struct orders *o = tui_player_order(player);
    o->snapshot = true;
    o->want = *want;
    tui_player_ordered(player);
}

bool tui_player_take(struct player *player, struct snapshot **snapshot)
{
    char drain[64];
    while (read(player->pipe[0], drain, sizeof(drain)) > 0)
        ;
    (void)pthread_mutex_lock(&player->lock);
    const bool ready = player->ready;
    if (ready) {
        struct snapshot *back = player->back;
        player->back = *snapshot;
        *snapshot = back;
        player->ready = false;
        (void)pthread_cond_broadcast(&player->changed);
    }
    (void)pthread_mutex_unlock(&player->lock);
    return ready;
}

void tui_player_status(struct player *player, struct ui_status *status)
{
    char bpf[sizeof(status->bpf)];
    memcpy(bpf, status->bpf, sizeof(bpf));
    (void)pthread_mutex_lock(&player->lock);
    *status = player->shown;
    (void)pthread_mutex_unlock(&player->lock);
    memcpy(status->bpf, bpf, sizeof(bpf));
    if (status->live)
        status->elapsed_ns = clock_monotonic_ns() - player->started_ns;
}

void tui_player_pause(struct player *player, bool on)
{
    tui_player_order(player)->pause = on;
    tui_player_ordered(player);
}

void tui_player_speed(struct player *player, double speed)
{
    struct orders *o = tui_player_order(player);
    o->set_speed = true;
    o->speed = speed;
    tui_player_ordered(player);
}

void tui_player_step(struct player *player)
{
    tui_player_order(player)->step = true;
    tui_player_ordered(player);
}

void tui_player_seek(struct player *player, roce_tstamp ts, uint64_t frame)
{
    struct orders *o = tui_player_order(player);
    o->seek = true;
    o->seek_ts = ts;
    o->seek_frame = frame;
    tui_player_ordered(player);
}

void tui_player_filter(struct player *player, struct roce_filter *filter)
{
    struct orders *o = tui_player_order(player);
    if (o->set_filter)
        roce_filter_del(o->filter);
    o->set_filter = true;
    o->filter = filter;
    tui_player_ordered(player);
}

void tui_player_reset(struct player *player)
{
    tui_player_order(player)->reset = true;
    tui_player_ordered(player);
}

void tui_player_tune(struct player *player, const struct settings *settings)
{
    struct orders *o = tui_player_order(player);
    o->tune = true;
    o->ce_permille = (uint32_t)settings->ce_percent * 10;
    o->cnp_per_sec = (uint32_t)settings->cnp_rate;
    tui_player_ordered(player);
}

bool tui_player_copy_rings(struct player *player, struct ring *newest, struct ring *kept)
{
    tui_player_order(player)->copy = true;
    player->copied = false;
    tui_player_ordered(player);
    (void)pthread_mutex_lock(&player->lock);
    while (!player->copied)
        (void)pthread_cond_wait(&player->changed, &player->lock);
    const bool good = player->copy_good;
    *newest = player->copy[0];
    *kept = player->copy[1];
    (void)pthread_mutex_unlock(&player->lock);
    return good;
}
