/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Two engines and the wire between them, on virtual time: delay, loss, duplicates and reordering by
 * a mask, a rate or a seed. */
#ifndef TESTS_ENGINE_LOOPBACK_H
#define TESTS_ENGINE_LOOPBACK_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "engine/engine.h"

/* Sanitizers make the large tests many times slower: those do less then. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define LOOP_SLOW 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define LOOP_SLOW 1
#endif
#endif
#ifndef LOOP_SLOW
#define LOOP_SLOW 0
#endif

#define LOOP_QUEUE 1024 /* frames on the wire, one direction; further ones wait at their device */

struct loop_frame {
    roce_tstamp at; /* when it arrives */
    int len;
    uint8_t bytes[ENG_FRAME_MAX];
};

/* One direction. Its faults are decided frame by frame. */
struct loop_wire {
    struct loop_frame *frames; /* ordered by arrival */
    uint32_t head, count;
    roce_tstamp free_at; /* the sender's port is busy until then */
    uint64_t sent;       /* frames that left the sender */
    uint64_t lost, doubled, delayed;
    uint64_t loss_mask;     /* bit n: frame n (from 0) is lost, once */
    double loss, dup, late; /* probabilities */
    uint8_t ce_every;       /* each so many frames get a congestion mark */
    /* may change the frame, or drop it (true); for tests with a case of their own */
    bool (*meddle)(void *ctx, uint64_t number, uint8_t *frame, int *len);
    void *meddle_ctx;
};

struct loop {
    roce_tstamp now;
    uint64_t delay_ns; /* one way */
    uint64_t rate_bps; /* of the wires; 0: frames take no time */
    struct eng_rng rng;
    struct eng_dev *dev[2];
    struct loop_wire wire[2]; /* wire[i]: from dev[i] */
    /* sees each frame as it is sent, lost ones too */
    void (*tap)(void *ctx, int from, roce_tstamp now, const uint8_t *frame, int len);
    void *tap_ctx;
};

static inline double loop_chance(struct loop *l)
{
    return (double)(eng_rng_next(&l->rng) >> 11) / 9007199254740992.0;
}

static inline void loop_init(struct loop *l, struct eng_dev *a, struct eng_dev *b, uint64_t seed)
{
    memset(l, 0, sizeof(*l));
    l->now = 1000000;
    l->delay_ns = 1000;
    l->rng.state = seed;
    l->dev[0] = a;
    l->dev[1] = b;
    for (int i = 0; i < 2; i++)
        l->wire[i].frames = malloc(LOOP_QUEUE * sizeof(struct loop_frame));
}

static inline void loop_free(struct loop *l)
{
    for (int i = 0; i < 2; i++)
        free(l->wire[i].frames);
}

static inline struct loop_frame *loop_slot(struct loop_wire *w, uint32_t i)
{
    return &w->frames[(w->head + i) % LOOP_QUEUE];
}

/* Puts a frame on the wire where its arrival belongs. */
static inline void loop_put(struct loop_wire *w, roce_tstamp at, const uint8_t *frame, int len)
{
    uint32_t i = w->count++;
    for (; i > 0 && loop_slot(w, i - 1)->at > at; i--) {
        const struct loop_frame *from = loop_slot(w, i - 1);
        struct loop_frame *to = loop_slot(w, i);
        to->at = from->at;
        to->len = from->len;
        memcpy(to->bytes, from->bytes, (size_t)from->len);
    }
    struct loop_frame *f = loop_slot(w, i);
    f->at = at;
    f->len = len;
    memcpy(f->bytes, frame, (size_t)len);
}

/* A congestion mark on an IPv4 frame without VLAN tag; its checksum goes along (RFC 1624). */
static inline void loop_mark(uint8_t *frame)
{
    const uint32_t old = (uint32_t)frame[14] << 8 | frame[15];
    frame[15] |= 3;
    const uint32_t new = (uint32_t)frame[14] << 8 | frame[15];
    uint32_t sum = (uint32_t)frame[24] << 8 | frame[25];
    sum = (~sum & 0xFFFF) + (~old & 0xFFFF) + new;
    sum = (sum & 0xFFFF) + (sum >> 16);
    sum = ~((sum & 0xFFFF) + (sum >> 16));
    frame[24] = (uint8_t)(sum >> 8);
    frame[25] = (uint8_t)sum;
}

static inline void loop_send(struct loop *l, int from, uint8_t *frame, int len)
{
    struct loop_wire *w = &l->wire[from];
    const uint64_t number = w->sent++;
    if (l->tap != NULL)
        l->tap(l->tap_ctx, from, l->now, frame, len);
    if (l->rate_bps != 0)
        w->free_at = l->now + (uint64_t)(len + 24) * 8 * 1000000000 / l->rate_bps;
    if (w->meddle != NULL && w->meddle(w->meddle_ctx, number, frame, &len)) {
        w->lost++;
        return;
    }
    if ((number < 64 && (w->loss_mask >> number & 1)) ||
        (w->loss > 0 && loop_chance(l) < w->loss)) {
        w->lost++;
        return;
    }
    if (w->ce_every != 0 && number % w->ce_every == 0)
        loop_mark(frame);
    roce_tstamp at = (l->rate_bps != 0 ? w->free_at : l->now) + l->delay_ns;
    if (w->late > 0 && loop_chance(l) < w->late) {
        at += 1 + eng_rng_next(&l->rng) % (4 * l->delay_ns + 1);
        w->delayed++;
    }
    loop_put(w, at, frame, len);
    if (w->dup > 0 && loop_chance(l) < w->dup && w->count < LOOP_QUEUE) {
        loop_put(w, at + eng_rng_next(&l->rng) % (2 * l->delay_ns + 1), frame, len);
        w->doubled++;
    }
}

static inline bool loop_may_send(const struct loop *l, int i)
{
    return l->wire[i].count + 2 < LOOP_QUEUE && l->wire[i].free_at <= l->now;
}

/* Delivers and sends all that |now| has. */
static inline void loop_step(struct loop *l)
{
    uint8_t buf[ENG_FRAME_MAX];
    for (bool busy = true; busy;) {
        busy = false;
        for (int i = 0; i < 2; i++) {
            struct loop_wire *w = &l->wire[i];
            while (w->count > 0 && loop_slot(w, 0)->at <= l->now) {
                const struct loop_frame *f = loop_slot(w, 0);
                /* An exact-size block, so that a sanitizer sees one byte too many. */
                uint8_t *exact = malloc((size_t)f->len);
                memcpy(exact, f->bytes, (size_t)f->len);
                eng_dev_read(l->dev[1 - i], l->now, exact, (size_t)f->len);
                free(exact);
                w->head = (w->head + 1) % LOOP_QUEUE;
                w->count--;
                busy = true;
            }
        }
        for (int i = 0; i < 2; i++) {
            eng_dev_expire(l->dev[i], l->now);
            while (loop_may_send(l, i)) {
                const int len = eng_dev_write(l->dev[i], l->now, buf, sizeof(buf));
                if (len <= 0)
                    break;
                loop_send(l, i, buf, len);
                busy = true;
            }
        }
    }
}

/* When something next happens, or ENG_NEVER. */
static inline roce_tstamp loop_next(struct loop *l)
{
    roce_tstamp next = ENG_NEVER;
    for (int i = 0; i < 2; i++) {
        struct loop_wire *w = &l->wire[i];
        if (w->count > 0 && loop_slot(w, 0)->at < next)
            next = loop_slot(w, 0)->at;
        roce_tstamp t = eng_dev_next(l->dev[i], l->now);
        if (t <= l->now) /* it has a frame that the port does not take yet */
            t = w->free_at > l->now ? w->free_at : l->now + 1;
        if (t < next)
            next = t;
    }
    return next;
}

/* Runs until |until| or until nothing is left to happen; returns false at |until|. */
static inline bool loop_run(struct loop *l, roce_tstamp until)
{
    for (;;) {
        loop_step(l);
        const roce_tstamp next = loop_next(l);
        if (next == ENG_NEVER)
            return true;
        if (next > until) {
            l->now = until;
            return false;
        }
        l->now = next;
    }
}

#endif
