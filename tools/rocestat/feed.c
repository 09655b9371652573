/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reading, selecting, decoding and checking, ahead of the state. */
#include "rocestat/feed.h"

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/input.h"
#include "common/live.h"
#include "common/msg.h"
#include "common/privileges.h"
#include "common/selection.h"
#include "common/signals.h"

/* Batches in flight for each thread: enough to ride out a scheduler's whims, few enough to stay in
 * the second-level caches. */
enum { BATCHES_EACH = 8 };

/* Some 50 us. */
enum { SPINS = 1000 };

/* Leaves the processor's pipeline to whom it waits for. */
static inline void pause_briefly(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#endif
}

/* What one thread needs for itself: expressions are compiled as link types appear. */
struct decoder {
    struct feed *feed;
    struct selection selection;
    pthread_t thread;
    bool started;
};

struct feed {
    const struct stat_opts *opts;
    struct roce_decode_opts decode;
    struct roce_reader *reader;
    _Atomic(const struct roce_flow_table *) flows;
    bool live;
    bool holds; /* frames outlive the next batch by themselves */
    uint32_t jobs, slots;
    struct feed_batch *batch; /* |slots| of them; batch k is in slot k % slots */
    struct decoder *decoder;  /* |jobs| of them; the first is the caller's thread */

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

static bool matches(struct decoder *decoder, const struct roce_frame *frame,
                    const struct roce_packet *pkt, const struct roce_icrc *icrc)
{
    if (decoder->selection.filter == NULL)
        return true;
    struct roce_view view;
    roce_view_init(&view, frame, pkt, icrc);
    view.link_speed_bps = decoder->feed->opts->common.link_speed_bps;
    return roce_filter_match(decoder->selection.filter, &view);
}

enum { CLAIM_AHEAD = 6, FETCH_AHEAD = 4, FETCH_MAX = 4608 };

/* The ICRC looks at every byte, and those of a mapped file are in no cache yet. */
static inline void fetch_bytes(const struct roce_frame *frame)
{
#if defined(__GNUC__)
    for (uint32_t at = 0; at < frame->caplen && at < FETCH_MAX; at += 64)
        __builtin_prefetch(frame->data + at);
#else
    (void)frame;
#endif
}

/* The place was last read by another processor, which is asked for it before it is written: else
 * the stores queue up behind each other. x86 has that instruction since before it has 64 bits, but
 * compilers want to be told. */
#if defined(__GNUC__) && defined(__x86_64__)
#define CLAIMS __attribute__((target("prfchw")))
#else
#define CLAIMS
#endif

CLAIMS static inline void claim(struct roce_packet *pkt)
{
#if defined(__GNUC__)
    for (size_t at = 0; at < offsetof(struct roce_packet, deth); at += 64)
        __builtin_prefetch((const char *)pkt + at, 1);
#else
    (void)pkt;
#endif
}

static void decode_one(const struct feed *feed, const struct roce_frame *frame,
                       struct roce_packet *pkt, struct roce_icrc *icrc, bool check)
{
    roce_packet_decode(frame, &feed->decode, pkt);
    if (!check)
        return;
    if (roce_packet_is_roce(pkt))
        roce_icrc_check(frame, pkt, icrc);
    else
        *icrc = (struct roce_icrc){.status = ROCE_ICRC_UNCHECKED, .reason = ROCE_ICRC_NOT_ASKED};
}

/* Decodes the frames of |batch| and closes up over those that do not pass. */
CLAIMS static void select_and_decode(struct decoder *decoder, struct feed_batch *batch)
{
    const struct feed *feed = decoder->feed;
    const uint32_t snaplen = feed->opts->common.snaplen;
    const bool selects = decoder->selection.expression[0] != '\0' || decoder->selection.roce_filter;
    const int n = batch->count;
    int kept = 0;
    batch->checked = !feed->opts->common.no_icrc;
    batch->selection_failed = false;
    if (!selects && snaplen == 0 && decoder->selection.filter == NULL) {
        for (int i = 0; i < n; i++) {
            claim(&batch->packet[i + CLAIM_AHEAD < n ? i + CLAIM_AHEAD : i]);
            if (feed->holds && batch->checked && i + FETCH_AHEAD < n)
                fetch_bytes(&batch->frame[i + FETCH_AHEAD]);
            decode_one(feed, &batch->frame[i], &batch->packet[i], &batch->icrc[i], batch->checked);
        }
        return;
    }
    for (int i = 0; i < n; i++) {
        struct roce_frame *frame = &batch->frame[kept];
        *frame = batch->frame[i];
        if (selects) {
            const int passes = selection_bpf(&decoder->selection, frame, batch->text);
            batch->selection_failed = batch->selection_failed || passes < 0;
            if (passes <= 0)
                continue;
        }
        if (snaplen != 0 && frame->caplen > snaplen)
            frame->caplen = snaplen;
        struct roce_packet *pkt = &batch->packet[kept];
        struct roce_icrc *icrc = &batch->icrc[kept];
        decode_one(feed, frame, pkt, icrc, batch->checked);
        if (matches(decoder, frame, pkt, batch->checked ? icrc : NULL))
            kept++;
    }
    batch->count = kept;
}

static void change(struct feed *feed)
{
    (void)atomic_fetch_add_explicit(&feed->changes, 1, memory_order_release);
    if (feed->waiting > 0)
        (void)pthread_cond_broadcast(&feed->changed);
}

static void decode(struct decoder *decoder, struct feed_batch *batch)
{
    const struct roce_flow_table *flows =
        atomic_load_explicit(&decoder->feed->flows, memory_order_acquire);
    select_and_decode(decoder, batch);
    batch->hashed = flows != NULL && decoder->feed->jobs > 1;
    for (int i = 0; batch->hashed && i < batch->count; i++)
        batch->hash[i] = roce_flow_hash(flows, &batch->packet[i]);
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

/* Called and left with the lock held, when may_fetch. */
static void produce(struct feed *feed, struct decoder *decoder)
{
    struct feed_batch *batch = &feed->batch[feed->next % feed->slots];
    const uint64_t free_number = feed->free_number;
    feed->next++;
    feed->reading = true;
    batch->ready = false;
    (void)pthread_mutex_unlock(&feed->lock);

    fetch(feed, batch, free_number);

    (void)pthread_mutex_lock(&feed->lock);
    feed->reading = false;
    feed->ended = batch->read <= 0 && !batch->idle;
    change(feed);
    (void)pthread_mutex_unlock(&feed->lock);

    decode(decoder, batch);

    (void)pthread_mutex_lock(&feed->lock);
    batch->ready = true;
    change(feed);
}

static void *work(void *arg)
{
    struct decoder *decoder = arg;
    struct feed *feed = decoder->feed;
    signals_leave();
    (void)pthread_mutex_lock(&feed->lock);
    while (!feed->stop && !feed->ended) {
        if (may_fetch(feed))
            produce(feed, decoder);
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
    decode(&feed->decoder[0], batch);
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
    while (feed->wanted == feed->next || !batch->ready) {
        /* A pipe may stay silent for long: who waits for it cannot hand out what is there. */
        if (may_fetch(feed) && (feed->holds || feed->wanted == feed->next))
            produce(feed, &feed->decoder[0]);
        else
            await_change(feed);
    }
    feed->wanted++;
    feed->handed = true;
    (void)pthread_mutex_unlock(&feed->lock);
    return batch;
}

static bool filter_suits(const struct roce_filter *filter, const struct stat_opts *opts)
{
    if (roce_filter_needs_flow(filter)) {
        msg_print("-Y asks for what the report is to find out; use fields of the packet alone, or"
                  " rocedump");
        return false;
    }
    if (opts->common.no_icrc && roce_filter_needs_icrc(filter)) {
        msg_print("-Y asks for the ICRC that --no-icrc leaves unchecked; leave one out");
        return false;
    }
    return true;
}

static int prepare_decoders(struct feed *feed)
{
    const struct stat_opts *opts = feed->opts;
    const struct roce_iface *iface = roce_reader_iface(feed->reader, 0);
    const uint32_t linktype = iface != NULL ? iface->linktype : ROCE_LINK_ETHERNET;
    char text[ROCE_ERRTEXT_LEN];
    for (uint32_t i = 0; i < feed->jobs; i++) {
        struct decoder *decoder = &feed->decoder[i];
        decoder->feed = feed;
        /* The kernel runs the expression over what comes from interfaces. */
        selection_init(&decoder->selection, feed->live ? "" : opts->bpf, opts->common.roce_filter);
        if (selection_prepare(&decoder->selection, linktype, text) != 0) {
            msg_print("BPF expression: %s; see pcap-filter(7)", text);
            return EXIT_USAGE;
        }
        if (opts->filter == NULL)
            continue;
        decoder->selection.filter = selection_filter("-Y", opts->filter);
        if (decoder->selection.filter == NULL || !filter_suits(decoder->selection.filter, opts))
            return EXIT_USAGE;
    }
    return EXIT_DONE;
}

static bool allocate(struct feed *feed)
{
    feed->slots = feed->jobs == 1 ? 1 : feed->jobs * BATCHES_EACH;
    feed->batch = calloc(feed->slots, sizeof(*feed->batch));
    feed->decoder = calloc(feed->jobs, sizeof(*feed->decoder));
    return feed->batch != NULL && feed->decoder != NULL;
}

/* Fewer threads than asked for are no failure: the others do their work. */
static void start(struct feed *feed)
{
    for (uint32_t i = 1; i < feed->jobs; i++) {
        struct decoder *decoder = &feed->decoder[i];
        decoder->started = pthread_create(&decoder->thread, NULL, work, decoder) == 0;
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
    for (uint8_t i = 0; i < opts->common.ports.n && i < ROCE_UDP_PORTS_MAX; i++)
        feed->decode.udp_ports[feed->decode.n_udp_ports++] = opts->common.ports.port[i];
    feed->decode.rd = opts->common.rd;
    const struct roce_reader_opts how = {
        .hold = feed->jobs > 1,
        .whole = feed->jobs == 1 && !opts->common.no_icrc,
    };
    if (feed->live)
        feed->reader = live_open("rocestat", &opts->live, opts->bpf, opts->common.snaplen, status);
    else
        feed->reader = input_open("rocestat", opts->file, &how);
    if (feed->reader == NULL) {
        feed_close(feed);
        return NULL;
    }
    feed->holds = roce_reader_holds(feed->reader);
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
    (void)pthread_cond_broadcast(&feed->changed);
    (void)pthread_mutex_unlock(&feed->lock);
    if (feed->reader != NULL && feed->decoder != NULL)
        roce_reader_break(feed->reader);
    for (uint32_t i = 0; i < feed->jobs && feed->decoder != NULL; i++) {
        if (feed->decoder[i].started)
            (void)pthread_join(feed->decoder[i].thread, NULL);
        selection_free(&feed->decoder[i].selection);
    }
    for (uint32_t i = 0; i < feed->slots && feed->batch != NULL; i++)
        free(feed->batch[i].copy);
    free(feed->batch);
    free(feed->decoder);
    signals_reader(NULL);
    roce_reader_del(feed->reader);
    (void)pthread_mutex_destroy(&feed->lock);
    (void)pthread_cond_destroy(&feed->changed);
    free(feed);
}
