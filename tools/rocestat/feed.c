/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One reader, several threads that decode, and batches in order. */
#include "rocestat/feed.h"

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/input.h"
#include "common/live.h"
#include "common/msg.h"
#include "common/privileges.h"
#include "common/signals.h"
#include "rocestat/decoder.h"

/* Batches in flight for each thread: enough to ride out a scheduler's whims. They are large, since
 * handing one over costs more than what leaves the second-level caches meanwhile. */
enum { BATCHES_EACH = 3 };

/* As long as a large batch takes. */
enum { SPINS = 10000 };

/* Leaves the processor's pipeline to whom it waits for. */
static inline void pause_briefly(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#endif
}

struct worker {
    struct feed *feed;
    struct decoder decoder;
    pthread_t thread;
    bool started;
};

struct feed {
    const struct stat_opts *opts;
    struct roce_reader *reader;
    _Atomic(const struct roce_flow_table *) flows;
    bool live;
    bool holds; /* frames outlive the next batch by themselves */
    bool keeps; /* who reads a batch digests it, since it has the frames in its caches */
    uint32_t jobs, slots;
    struct feed_batch *batch; /* |slots| of them; batch k is in slot k % slots */
    struct worker *worker;    /* |jobs| of them; the first is the caller's thread */

    pthread_mutex_t lock; /* for what follows */
    pthread_cond_t changed;
    uint32_t waiting; /* threads asleep */
    atomic_uint changes;
    bool reading; /* some thread is at the reader */
    bool ended;   /* the reader has no more */
    bool stop;
    uint64_t next;        /* batch to be read next */
    uint64_t wanted;      /* batch to be handed out next; those before wanted - 1 are free */
    bool handed;          /* batch wanted - 1 is the caller's */
    uint64_t free_number; /* newest frame of the free batches */
};

/* Frames that are valid only until the reader's next call move into the batch. */
static bool keep_frames(struct feed_batch *batch, int n)
{
    size_t total = 0, at = 0;
    for (int i = 0; i < n; i++)
        total += batch->frame[i].caplen;
    if (total > batch->copy_cap) {
        uint8_t *copy = realloc(batch->copy, total);
        if (copy == NULL)
            return false;
        batch->copy = copy;
        batch->copy_cap = total;
    }
    for (int i = 0; i < n; i++) {
        struct roce_frame *frame = &batch->frame[i];
        if (frame->caplen > 0)
            memcpy(batch->copy + at, frame->data, frame->caplen);
        frame->data = batch->copy + at;
        at += frame->caplen;
    }
    return true;
}

/* Whether the capture tells of drops at all. */
static bool tells_drops(const struct roce_reader *reader)
{
    for (uint32_t i = 0; i < roce_reader_iface_count(reader); i++)
        if (roce_reader_iface(reader, i)->has_stats)
            return true;
    return false;
}

/* The part that only one thread at a time may do. */
static void fetch(struct feed *feed, struct feed_batch *batch, uint64_t free_number)
{
    struct roce_reader *reader = feed->reader;
    if (feed->holds)
        roce_reader_release(reader, free_number);
    batch->read =
        roce_reader_next(reader, batch->frame, feed->jobs == 1 ? FEED_BATCH_ALONE : FEED_BATCH);
    batch->idle = batch->read == ROCE_ERR_AGAIN;
    if (batch->idle)
        batch->read = 0;
    batch->count = batch->read > 0 ? batch->read : 0;
    if (batch->read > 0)
        batch->last_number = batch->frame[batch->read - 1].number;
    if (feed->jobs > 1 && !feed->holds && !keep_frames(batch, batch->count)) {
        batch->read = ROCE_ERR_NOMEM;
        batch->count = 0;
    }
    batch->ifaces = feed->live ? roce_reader_iface_count(reader) : 0;
    for (uint32_t i = 0; i < batch->ifaces; i++)
        batch->iface[i] = *roce_reader_iface(reader, i);
    batch->dropped = roce_reader_dropped(reader);
    batch->has_dropped = batch->dropped > 0 || (batch->read <= 0 && tells_drops(reader));
    roce_reader_progress(reader, &batch->consumed, &batch->size);
}

static void change(struct feed *feed)
{
    (void)atomic_fetch_add_explicit(&feed->changes, 1, memory_order_release);
    if (feed->waiting > 0)
        (void)pthread_cond_broadcast(&feed->changed);
}

static bool changed(struct feed *feed, unsigned since)
{
    return atomic_load_explicit(&feed->changes, memory_order_acquire) != since;
}

/* A change is a few microseconds away as a rule, which is less than going to sleep and being woken
 * costs. */
static void await_change(struct feed *feed)
{
    const unsigned since = atomic_load_explicit(&feed->changes, memory_order_relaxed);
    (void)pthread_mutex_unlock(&feed->lock);
    for (int i = 0; i < SPINS && !changed(feed, since); i++)
        pause_briefly();
    (void)pthread_mutex_lock(&feed->lock);
    if (changed(feed, since))
        return;
    feed->waiting++;
    (void)pthread_cond_wait(&feed->changed, &feed->lock);
    feed->waiting--;
}

/* Whether a batch can be taken from the reader now. */
static bool may_fetch(const struct feed *feed)
{
    const uint64_t oldest = feed->wanted - (feed->handed ? 1 : 0);
    return !feed->ended && !feed->reading && feed->next - oldest < feed->slots;
}

static void digest_batch(struct feed *feed, struct worker *worker, struct feed_batch *batch)
{
    batch->stage = FEED_DIGESTING;
    (void)pthread_mutex_unlock(&feed->lock);

    decoder_run(&worker->decoder, batch, atomic_load_explicit(&feed->flows, memory_order_acquire));

    (void)pthread_mutex_lock(&feed->lock);
    batch->stage = FEED_READY;
    change(feed);
}

/* Called and left with the lock held, when may_fetch. */
static void read_batch(struct feed *feed, struct worker *worker)
{
    struct feed_batch *batch = &feed->batch[feed->next % feed->slots];
    const uint64_t free_number = feed->free_number;
    feed->next++;
    feed->reading = true;
    batch->stage = FEED_READING;
    (void)pthread_mutex_unlock(&feed->lock);

    fetch(feed, batch, free_number);

    (void)pthread_mutex_lock(&feed->lock);
    feed->reading = false;
    feed->ended = batch->read <= 0 && !batch->idle;
    batch->stage = FEED_READ;
    change(feed);
    if (feed->keeps)
        digest_batch(feed, worker, batch);
}

/* The oldest batch that nobody digests yet, or NULL. */
static struct feed_batch *undigested(const struct feed *feed)
{
    for (uint64_t k = feed->wanted; k < feed->next; k++)
        if (feed->batch[k % feed->slots].stage == FEED_READ)
            return &feed->batch[k % feed->slots];
    return NULL;
}

static void *work(void *arg)
{
    struct worker *worker = arg;
    struct feed *feed = worker->feed;
    signals_leave();
    (void)pthread_mutex_lock(&feed->lock);
    while (!feed->stop) {
        struct feed_batch *batch = undigested(feed);
        if (may_fetch(feed))
            read_batch(feed, worker);
        else if (batch != NULL)
            digest_batch(feed, worker, batch);
        else if (feed->ended)
            break;
        else
            await_change(feed);
    }
    (void)pthread_mutex_unlock(&feed->lock);
    return NULL;
}

static struct feed_batch *next_alone(struct feed *feed)
{
    struct feed_batch *batch = &feed->batch[0];
    fetch(feed, batch, 0);
    decoder_run(&feed->worker[0].decoder, batch,
                atomic_load_explicit(&feed->flows, memory_order_relaxed));
    return batch;
}

struct feed_batch *feed_next(struct feed *feed)
{
    if (feed->jobs == 1)
        return next_alone(feed);
    (void)pthread_mutex_lock(&feed->lock);
    if (feed->handed) {
        feed->free_number = feed->batch[(feed->wanted - 1) % feed->slots].last_number;
        feed->handed = false;
        /* A thread that found no room sleeps until there is a good deal of it. */
        if (feed->next - feed->wanted <= feed->slots / 2)
            change(feed);
    }
    struct feed_batch *batch = &feed->batch[feed->wanted % feed->slots];
    while (feed->wanted == feed->next || batch->stage != FEED_READY) {
        struct feed_batch *due = undigested(feed);
        /* A pipe may stay silent for long: who waits for it cannot hand out what is there. */
        if (due != NULL)
            digest_batch(feed, &feed->worker[0], due);
        else if (may_fetch(feed) && (feed->holds || feed->wanted == feed->next))
            read_batch(feed, &feed->worker[0]);
        else
            await_change(feed);
    }
    feed->wanted++;
    feed->handed = true;
    (void)pthread_mutex_unlock(&feed->lock);
    return batch;
}

static int prepare_decoders(struct feed *feed)
{
    const struct roce_iface *iface = roce_reader_iface(feed->reader, 0);
    const uint32_t linktype = iface != NULL ? iface->linktype : ROCE_LINK_ETHERNET;
    for (uint32_t i = 0; i < feed->jobs; i++) {
        feed->worker[i].feed = feed;
        feed->worker[i].decoder.far = feed->holds;
        feed->worker[i].decoder.whole = feed->opts->interval_ns != 0 ||
                                        feed->opts->listen != NULL || feed->opts->textfile != NULL;
        /* The kernel runs the expression over what comes from interfaces. */
        const int status = decoder_init(&feed->worker[i].decoder, feed->opts,
                                        feed->live ? "" : feed->opts->bpf, linktype);
        if (status != EXIT_DONE)
            return status;
    }
    return EXIT_DONE;
}

static bool allocate(struct feed *feed)
{
    feed->slots = feed->jobs == 1 ? 1 : feed->jobs * BATCHES_EACH;
    feed->batch = aligned_alloc(_Alignof(struct feed_batch), feed->slots * sizeof(*feed->batch));
    for (uint32_t i = 0; i < feed->slots && feed->batch != NULL;
         i++) /* the arrays fill by themselves */
        memset(&feed->batch[i].digested, 0,
               sizeof(*feed->batch) - offsetof(struct feed_batch, digested));
    feed->worker = calloc(feed->jobs, sizeof(*feed->worker));
    return feed->batch != NULL && feed->worker != NULL;
}

/* Fewer threads than asked for are no failure: the others do their work. */
static void start(struct feed *feed)
{
    for (uint32_t i = 1; i < feed->jobs; i++) {
        struct worker *worker = &feed->worker[i];
        worker->started = pthread_create(&worker->thread, NULL, work, worker) == 0;
    }
}

struct feed *feed_open(const struct stat_opts *opts, int *status)
{
    struct feed *feed = calloc(1, sizeof(*feed));
    *status = EXIT_IO;
    if (feed == NULL) {
        msg_print("out of memory");
        return NULL;
    }
    feed->opts = opts;
    feed->live = live_wanted(&opts->live);
    feed->jobs = opts->jobs == 0 ? 1 : (uint32_t)opts->jobs;
    (void)pthread_mutex_init(&feed->lock, NULL);
    (void)pthread_cond_init(&feed->changed, NULL);
    const struct roce_reader_opts how = {.hold = feed->jobs > 1};
    if (feed->live)
        feed->reader = live_open("rocestat", &opts->live, opts->bpf, opts->common.snaplen, status);
    else
        feed->reader = input_open("rocestat", opts->file, &how);
    if (feed->reader == NULL) {
        feed_close(feed);
        return NULL;
    }
    feed->holds = roce_reader_holds(feed->reader);
    feed->keeps = feed->holds && !roce_reader_compressed(feed->reader);
    if (allocate(feed)) {
        *status = prepare_decoders(feed);
    } else {
        msg_print("out of memory; use fewer --jobs");
    }
    if (*status != EXIT_DONE) {
        feed_close(feed);
        return NULL;
    }
    signals_reader(feed->reader);
    if (feed->live && privileges_drop(opts->live.user) != 0) {
        *status = EXIT_IO;
        feed_close(feed);
        return NULL;
    }
    start(feed);
    return feed;
}

void feed_flows(struct feed *feed, const struct roce_flow_table *flows)
{
    atomic_store_explicit(&feed->flows, flows, memory_order_release);
}

const char *feed_text(const struct feed *feed)
{
    return roce_reader_text(feed->reader);
}

const struct roce_reader *feed_reader(const struct feed *feed)
{
    return feed->reader;
}

void feed_close(struct feed *feed)
{
    if (feed == NULL)
        return;
    (void)pthread_mutex_lock(&feed->lock);
    feed->stop = true;
    change(feed);
    (void)pthread_mutex_unlock(&feed->lock);
    if (feed->reader != NULL && feed->worker != NULL)
        roce_reader_break(feed->reader);
    for (uint32_t i = 0; i < feed->jobs && feed->worker != NULL; i++) {
        if (feed->worker[i].started)
            (void)pthread_join(feed->worker[i].thread, NULL);
        decoder_free(&feed->worker[i].decoder);
    }
    for (uint32_t i = 0; i < feed->slots && feed->batch != NULL; i++)
        free(feed->batch[i].copy);
    free(feed->batch);
    free(feed->worker);
    signals_reader(NULL);
    roce_reader_del(feed->reader);
    (void)pthread_mutex_destroy(&feed->lock);
    (void)pthread_cond_destroy(&feed->changed);
    free(feed);
}
