/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The counting thread. */
#include "player.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/signals.h"

#include "player_internal.h"

/* Longest sleep of a file that waits for its time. */
#define NAP_NS UINT64_C(50000000)
/* Shortest: waking up for every frame would cost more than counting them. */
#define NAP_MIN_NS UINT64_C(5000000)
/* How old the state may be that others see. */
#define PUBLISH_NS UINT64_C(100000000)

struct model_opts tui_player_model_opts(const struct top_opts *opts, const struct source_info *info)
{
    /* Bytes of a file that can be read again need not be kept, so that a quarter of the ring holds
     * more frames than all of it does live. */
    const uint64_t ring = (uint64_t)opts->settings.ring_mib << 20;
    return (struct model_opts){
        .max_flows = (uint32_t)opts->max_flows,
        .link_speed_bps =
            opts->common.link_speed_bps != 0 ? opts->common.link_speed_bps : info->link_speed_bps,
        .storm_ms = (uint32_t)opts->storm_ms,
        .timeout_exp = (uint8_t)opts->timeout_exp,
        .idle_ns = opts->forget_ns,
        .interval_ns = opts->settings.interval,
        .ring_bytes = info->seekable ? ring / 4 : ring,
        .ring_slice = info->seekable ? 0 : (uint32_t)opts->settings.ring_slice,
        .ce_permille = (uint32_t)opts->settings.ce_percent * 10,
        .cnp_per_sec = (uint32_t)opts->settings.cnp_rate,
    };
}

struct player *tui_player_new(const struct top_opts *opts, struct source *source,
                              struct roce_filter *filter)
{
    struct player *player = calloc(1, sizeof(*player));
    pthread_condattr_t attr;
    struct source_info info;
    if (player == NULL)
        return NULL;
    player->opts = opts;
    player->source = source;
    player->filter = filter;
    player->pipe[0] = player->pipe[1] = -1;
    player->speed = opts->speed_factor;
    player->orders.pause = -1;
    player->started_ns = clock_monotonic_ns();
    (void)pthread_mutex_init(&player->lock, NULL);
    (void)pthread_condattr_init(&attr);
    (void)pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    (void)pthread_cond_init(&player->changed, &attr);
    (void)pthread_condattr_destroy(&attr);
    tui_source_info(source, &info);
    player->model_opts = tui_player_model_opts(opts, &info);
    player->model = tui_model_new(&player->model_opts);
    player->back = tui_snapshot_new();
    if (player->model == NULL || player->back == NULL || pipe(player->pipe) != 0) {
        tui_player_del(player);
        return NULL;
    }
    (void)fcntl(player->pipe[0], F_SETFL, O_NONBLOCK);
    (void)fcntl(player->pipe[1], F_SETFL, O_NONBLOCK);
    (void)fcntl(player->pipe[0], F_SETFD, FD_CLOEXEC);
    (void)fcntl(player->pipe[1], F_SETFD, FD_CLOEXEC);
    tui_model_filter(player->model, filter);
    tui_player_publish(player);
    return player;
}

/* ---- the thread ---- */

static void finish(struct player *player, int result)
{
    player->end = true;
    player->seeking = false;
    if (result < 0)
        (void)snprintf(player->error, sizeof(player->error), "%s", tui_source_text(player->source));
    tui_player_publish(player);
    tui_model_finish(player->model);
    tui_player_wake(player);
}

/* Sleeps until |until| or until something is asked. */
static void nap(struct player *player, uint64_t until)
{
    const uint64_t now = clock_monotonic_ns();
    if (until < now + NAP_MIN_NS)
        until = now + NAP_MIN_NS;
    if (until > now + NAP_NS)
        until = now + NAP_NS;
    const struct timespec ts = {.tv_sec = (time_t)(until / 1000000000),
                                .tv_nsec = (long)(until % 1000000000)};
    (void)pthread_mutex_lock(&player->lock);
    if (!atomic_load(&player->asked) || player->orders.snapshot)
        (void)pthread_cond_timedwait(&player->changed, &player->lock, &ts);
    (void)pthread_mutex_unlock(&player->lock);
}

static void sleep_until_asked(struct player *player)
{
    (void)pthread_mutex_lock(&player->lock);
    while (!atomic_load(&player->asked))
        (void)pthread_cond_wait(&player->changed, &player->lock);
    (void)pthread_mutex_unlock(&player->lock);
    if (player->deferred)
        nap(player, UINT64_MAX);
}

static uint64_t due(const struct player *player, roce_tstamp ts)
{
    if (ts <= player->base_ts)
        return 0;
    const double ns = (double)(ts - player->base_ts) / player->speed;
    return ns < 1e18 ? player->base_ns + (uint64_t)ns : UINT64_MAX;
}

static roce_tstamp virtual_now(const struct player *player, uint64_t now)
{
    return player->base_ts + (roce_tstamp)((double)(now - player->base_ns) * player->speed);
}

/* Feeds what is due of the batch. */
static void play(struct player *player)
{
    const struct model_batch *batch = &player->batch;
    int to = batch->count;
    if (player->seeking) {
        to = player->at;
        while (to < batch->count &&
               (player->goal_frame != 0
                    ? player->frames + (uint64_t)(to - player->at) < player->goal_frame
                    : batch->frame[to].ts < player->goal_ts))
            to++;
    } else if (player->speed > 0) {
        const uint64_t now = clock_monotonic_ns();
        if (player->base_ns == 0) {
            player->base_ns = now;
            player->base_ts = batch->frame[player->at].ts;
        }
        to = player->at;
        while (to < batch->count && due(player, batch->frame[to].ts) <= now)
            to++;
        if (to == player->at) {
            tui_model_advance(player->model, virtual_now(player, now));
            nap(player, due(player, batch->frame[to].ts));
            return;
        }
    }
    if (to > player->at) {
        tui_model_feed(player->model, batch, player->at, to);
        player->frames += (uint64_t)(to - player->at);
        player->newest = batch->frame[to - 1].ts;
        player->at = to;
    }
    if (player->seeking &&
        (to < batch->count || (player->goal_frame != 0 && player->frames >= player->goal_frame))) {
        player->seeking = false;
        player->base_ns = 0;
        tui_player_publish(player);
        tui_player_wake(player);
    }
}

static void run_live(struct player *player)
{
    const int n = tui_source_next(player->source, &player->batch);
    if (n > 0) {
        tui_model_feed(player->model, &player->batch, 0, player->batch.count);
    } else if (n != ROCE_ERR_AGAIN) {
        finish(player, n);
        return;
    }
    if (n < MODEL_BATCH)
        tui_model_advance(player->model, tui_source_now(player->source));
}

static void run_file(struct player *player)
{
    if (player->at >= player->batch.count) {
        player->at = 0;
        const int n = tui_source_next(player->source, &player->batch);
        if (n <= 0) {
            if (n != ROCE_ERR_AGAIN)
                finish(player, n);
            return;
        }
    }
    if (player->at < player->batch.count)
        play(player);
}

static void *run(void *arg)
{
    struct player *player = arg;
    struct source_info info;
    signals_leave();
    tui_source_info(player->source, &info);
    while (tui_player_obey(player)) {
        const uint64_t now = clock_monotonic_ns();
        if (now >= player->publish_ns) {
            tui_player_publish(player);
            player->publish_ns = now + PUBLISH_NS;
        }
        if (player->end || (player->paused && !player->seeking && !info.live))
            sleep_until_asked(player);
        else if (info.live)
            run_live(player);
        else
            run_file(player);
    }
    return NULL;
}

/* ---- beginning and end ---- */

int tui_player_start(struct player *player)
{
    player->started = pthread_create(&player->thread, NULL, run, player) == 0;
    return player->started ? 0 : -1;
}

void tui_player_del(struct player *player)
{
    if (player == NULL)
        return;
    if (player->started) {
        tui_player_order(player)->stop = true;
        tui_player_ordered(player);
        tui_source_break(player->source);
        (void)pthread_join(player->thread, NULL);
    }
    if (player->pipe[0] >= 0) {
        (void)close(player->pipe[0]);
        (void)close(player->pipe[1]);
    }
    if (player->orders.set_filter)
        roce_filter_del(player->orders.filter);
    roce_filter_del(player->filter);
    tui_snapshot_del(player->back);
    tui_model_del(player->model);
    tui_source_close(player->source);
    (void)pthread_cond_destroy(&player->changed);
    (void)pthread_mutex_destroy(&player->lock);
    free(player);
}
