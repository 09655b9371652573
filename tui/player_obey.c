/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the counting thread does between two batches because somebody asked. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/clock.h"

#include "player_internal.h"

/* A snapshot of very many flows takes its time: at most one part in this many goes into them. */
enum { SNAPSHOT_SHARE = 20 };

void tui_player_wake(struct player *player)
{
    /* A full pipe is as good. */
    const ssize_t n = write(player->pipe[1], "!", 1);
    (void)n;
}

void tui_player_publish(struct player *player)
{
    struct ui_status s = player->shown;
    struct source_info info;
    tui_source_info(player->source, &info);
    s.live = info.live;
    s.seekable = info.seekable;
    s.has_drops = info.has_drops;
    s.dropped_kernel = info.dropped_kernel;
    s.dropped_iface = info.dropped_iface;
    s.merged = info.merged;
    s.downs = info.downs;
    s.consumed = info.consumed;
    s.size = info.size;
    s.frames = tui_model_frames(player->model);
    s.position = player->seeking && player->goal_frame != 0 ? player->goal_frame : s.frames;
    s.speed = player->speed;
    s.run = player->error[0] != '\0' && player->end ? RUN_FAILED
            : info.live && !player->end             ? RUN_LIVE
            : player->seeking                       ? RUN_SEEKING
            : player->end                           ? RUN_ENDED
            : player->paused                        ? RUN_PAUSED
                                                    : RUN_PLAYING;
    (void)snprintf(s.error, sizeof(s.error), "%s", player->error);
    (void)memcpy(s.name, info.name, sizeof(s.name));
    (void)pthread_mutex_lock(&player->lock);
    player->shown = s;
    (void)pthread_mutex_unlock(&player->lock);
    tui_model_dropped(player->model, info.dropped_kernel + info.dropped_iface,
                      tui_source_clock(player->source));
}

static void restart_model(struct player *player)
{
    struct model *model = tui_model_new(&player->model_opts);
    if (model == NULL) {
        (void)snprintf(player->error, sizeof(player->error), "out of memory");
        return;
    }
    tui_model_del(player->model);
    player->model = model;
    tui_model_filter(model, player->filter);
}

/* Begins again at the first frame; false when the source cannot. */
bool tui_player_rewind(struct player *player)
{
    if (tui_source_rewind(player->source) != 0)
        return false;
    restart_model(player);
    player->at = player->batch.count = 0;
    player->end = false;
    player->frames = 0;
    player->newest = 0;
    player->base_ns = 0;
    player->error[0] = '\0';
    return true;
}

static void seek(struct player *player, roce_tstamp ts, uint64_t frame)
{
    const bool back = frame != 0 ? frame <= player->frames : ts < player->newest;
    if ((back || player->end) && !tui_player_rewind(player))
        return;
    player->goal_ts = frame != 0 ? 0 : ts;
    player->goal_frame = frame;
    player->seeking = true;
    player->base_ns = 0;
}

static bool copy_ring(struct ring *copy, const struct ring *ring)
{
    if (tui_ring_init(copy, ring->size, ring->slice) != 0)
        return false;
    uint8_t *memory = copy->memory;
    uint64_t *first = copy->first;
    const uint64_t used = ring->head < ring->size ? ring->head : ring->size;
    memcpy(memory, ring->memory, (size_t)used);
    memcpy(first, ring->first, (size_t)(ring->size / RING_BLOCK) * sizeof(*first));
    *copy = *ring;
    copy->memory = memory;
    copy->first = first;
    return true;
}

/* The one moment that a saving user takes from counting: some ms for the copy. */
static void copy_rings(struct player *player)
{
    struct ring *copy = player->copy;
    player->copy_good = copy_ring(&copy[0], tui_model_ring(player->model));
    if (player->copy_good && !copy_ring(&copy[1], tui_model_kept(player->model))) {
        tui_ring_free(&copy[0]);
        player->copy_good = false;
    }
}

static void take_snapshot(struct player *player, const struct snap_want *want)
{
    const uint64_t before = clock_monotonic_ns();
    tui_model_snapshot(player->model, want, player->back);
    const uint64_t after = clock_monotonic_ns();
    player->next_snapshot_ns = after + (after - before) * (SNAPSHOT_SHARE - 1);
}

/* Does what was asked for. Returns false when the thread shall end. */
bool tui_player_obey(struct player *player)
{
    if (!atomic_load_explicit(&player->asked, memory_order_acquire))
        return true;
    (void)pthread_mutex_lock(&player->lock);
    struct orders o = player->orders;
    /* A snapshot that comes too early waits; so does one while the last was not fetched. */
    const bool snap = o.snapshot && !player->ready &&
                      (clock_monotonic_ns() >= player->next_snapshot_ns || player->end);
    player->deferred = o.snapshot && !snap;
    player->orders = (struct orders){.pause = -1, .snapshot = o.snapshot && !snap, .want = o.want};
    atomic_store_explicit(&player->asked, player->orders.snapshot, memory_order_release);
    if (o.copy) {
        copy_rings(player);
        player->copied = true;
        (void)pthread_cond_broadcast(&player->changed);
    }
    (void)pthread_mutex_unlock(&player->lock);
    if (o.stop) {
        if (o.set_filter)
            roce_filter_del(o.filter);
        return false;
    }
    if (o.set_filter) {
        const uint64_t frames = player->frames;
        tui_model_filter(player->model, o.filter);
        roce_filter_del(player->filter);
        player->filter = o.filter;
        if (o.filter != NULL && frames > 0 && tui_player_rewind(player)) {
            player->seeking = true;
            player->goal_ts = 0;
            player->goal_frame = frames;
        }
    }
    if (o.reset) {
        struct source_info info;
        restart_model(player);
        tui_source_info(player->source, &info);
        tui_model_dropped_before(player->model, info.dropped_kernel + info.dropped_iface);
    }
    if (o.tune) {
        player->model_opts.ce_permille = o.ce_permille;
        player->model_opts.cnp_per_sec = o.cnp_per_sec;
        tui_model_tune(player->model, o.ce_permille, o.cnp_per_sec);
    }
    if (o.set_speed) {
        player->speed = o.speed;
        player->base_ns = 0;
    }
    if (o.pause >= 0) {
        player->paused = o.pause != 0;
        player->base_ns = 0;
        /* Playing at the end begins again. */
        if (!player->paused && player->end)
            (void)tui_player_rewind(player);
    }
    if (o.seek)
        seek(player, o.seek_ts, o.seek_frame);
    if (o.step && !player->end) {
        player->paused = true;
        /* One frame behind the place that is being looked for, or behind this one. */
        if (player->seeking && player->goal_frame != 0)
            player->goal_frame++;
        else if (!player->seeking)
            player->goal_frame = player->frames + 1;
        if (!player->seeking)
            player->goal_ts = 0;
        player->seeking = true;
    }
    if (o.set_filter || o.seek || o.pause >= 0 || o.set_speed || o.reset || o.step) {
        tui_player_publish(player);
        tui_player_wake(player);
    }
    if (snap) {
        tui_player_publish(player);
        take_snapshot(player, &o.want);
        (void)pthread_mutex_lock(&player->lock);
        player->ready = true;
        (void)pthread_mutex_unlock(&player->lock);
        tui_player_wake(player);
    }
    return true;
}
