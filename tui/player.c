/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The counting thread. */
#include "player.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/signals.h"

/* A snapshot of very many flows takes its time: at most one part in this many goes into them. */
enum { SNAPSHOT_SHARE = 20 };
/* Longest sleep of a file that waits for its time. */
#define NAP_NS UINT64_C(50000000)
/* Shortest: waking up for every frame would cost more than counting them. */
#define NAP_MIN_NS UINT64_C(5000000)
/* How old the state may be that others see. */
#define PUBLISH_NS UINT64_C(100000000)

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
        .interval_ns = opts->settings.interval,
        .ring_bytes = info->seekable ? ring / 4 : ring,
        .ring_slice = info->seekable ? 0 : (uint32_t)opts->settings.ring_slice,
        .ce_permille = (uint32_t)opts->settings.ce_percent * 10,
        .cnp_per_sec = (uint32_t)opts->settings.cnp_rate,
    };
}

static void wake(struct player *player)
{
    /* A full pipe is as good. */
    const ssize_t n = write(player->pipe[1], "!", 1);
    (void)n;
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
    return player;
}

/* ---- the thread ---- */

static void publish(struct player *player)
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
    tui_model_dropped(player->model, info.dropped_kernel + info.dropped_iface);
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
static bool rewind_all(struct player *player)
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
    if ((back || player->end) && !rewind_all(player))
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
static bool obey(struct player *player)
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
    if (o.stop)
        return false;
    if (o.set_filter) {
        const uint64_t frames = player->frames;
        tui_model_filter(player->model, o.filter);
        roce_filter_del(player->filter);
        player->filter = o.filter;
        if (o.filter != NULL && frames > 0 && rewind_all(player)) {
            player->seeking = true;
            player->goal_ts = 0;
            player->goal_frame = frames;
        }
    }
    if (o.reset)
        restart_model(player);
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
            (void)rewind_all(player);
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
        publish(player);
        wake(player);
    }
    if (snap) {
        publish(player);
        take_snapshot(player, &o.want);
        (void)pthread_mutex_lock(&player->lock);
        player->ready = true;
        (void)pthread_mutex_unlock(&player->lock);
        wake(player);
    }
    return true;
}

static void finish(struct player *player, int result)
{
    player->end = true;
    player->seeking = false;
    if (result < 0)
        (void)snprintf(player->error, sizeof(player->error), "%s", tui_source_text(player->source));
    publish(player);
    tui_model_finish(player->model);
    wake(player);
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
        publish(player);
        wake(player);
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
    while (obey(player)) {
        const uint64_t now = clock_monotonic_ns();
        if (now >= player->publish_ns) {
            publish(player);
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

/* ---- for the others ---- */

int tui_player_start(struct player *player)
{
    publish(player);
    player->started = pthread_create(&player->thread, NULL, run, player) == 0;
    return player->started ? 0 : -1;
}

static struct orders *order(struct player *player)
{
    (void)pthread_mutex_lock(&player->lock);
    return &player->orders;
}

static void ordered(struct player *player)
{
    atomic_store_explicit(&player->asked, true, memory_order_release);
    (void)pthread_cond_broadcast(&player->changed);
    (void)pthread_mutex_unlock(&player->lock);
}

void tui_player_del(struct player *player)
{
    if (player == NULL)
        return;
    if (player->started) {
        order(player)->stop = true;
        ordered(player);
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

int tui_player_fd(const struct player *player)
{
    return player->pipe[0];
}

void tui_player_request(struct player *player, const struct snap_want *want)
{
    struct orders *o = order(player);
    o->snapshot = true;
    o->want = *want;
    ordered(player);
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
    order(player)->pause = on;
    ordered(player);
}

void tui_player_speed(struct player *player, double speed)
{
    struct orders *o = order(player);
    o->set_speed = true;
    o->speed = speed;
    ordered(player);
}

void tui_player_step(struct player *player)
{
    order(player)->step = true;
    ordered(player);
}

void tui_player_seek(struct player *player, roce_tstamp ts, uint64_t frame)
{
    struct orders *o = order(player);
    o->seek = true;
    o->seek_ts = ts;
    o->seek_frame = frame;
    ordered(player);
}

void tui_player_filter(struct player *player, struct roce_filter *filter)
{
    struct orders *o = order(player);
    if (o->set_filter)
        roce_filter_del(o->filter);
    o->set_filter = true;
    o->filter = filter;
    ordered(player);
}

void tui_player_reset(struct player *player)
{
    order(player)->reset = true;
    ordered(player);
}

void tui_player_tune(struct player *player, const struct settings *settings)
{
    struct orders *o = order(player);
    o->tune = true;
    o->ce_permille = (uint32_t)settings->ce_percent * 10;
    o->cnp_per_sec = (uint32_t)settings->cnp_rate;
    ordered(player);
}

bool tui_player_copy_rings(struct player *player, struct ring *newest, struct ring *kept)
{
    order(player)->copy = true;
    player->copied = false;
    ordered(player);
    (void)pthread_mutex_lock(&player->lock);
    while (!player->copied)
        (void)pthread_cond_wait(&player->changed, &player->lock);
    const bool good = player->copy_good;
    *newest = player->copy[0];
    *kept = player->copy[1];
    (void)pthread_mutex_unlock(&player->lock);
    return good;
}
