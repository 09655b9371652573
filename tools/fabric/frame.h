/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Frames on their way, and the memory they live in. */
#ifndef FABRIC_FRAME_H
#define FABRIC_FRAME_H

#include <stddef.h>
#include <stdint.h>

#define FRAME_CLASSES 7
#define FRAME_NO_HOST UINT16_MAX

struct frame {
    struct frame *next;
    uint64_t arrive; /* ps, while on a wire */
    uint32_t hash;   /* of addresses, protocol and ports */
    uint16_t len;
    uint16_t host; /* node it is for, or FRAME_NO_HOST */
    uint16_t in;   /* port of the switch that it came in by */
    uint8_t size;  /* class of its memory */
    uint8_t priority;
    uint8_t ip_off;  /* 0: no IP header that ECN could be marked in */
    uint8_t control; /* MAC control: for this link only */
    uint8_t data[];
};

struct fifo {
    struct frame *head, *tail;
};

static inline void fifo_push(struct fifo *fifo, struct frame *frame)
{
    frame->next = NULL;
    if (fifo->head == NULL)
        fifo->head = frame;
    else
        fifo->tail->next = frame;
    fifo->tail = frame;
}

static inline struct frame *fifo_pop(struct fifo *fifo)
{
    struct frame *frame = fifo->head;
    if (frame != NULL)
        fifo->head = frame->next;
    return frame;
}

/* The pool: memory is taken from chunks piece by piece and kept in a list for each size after use.
 * What is never used is never touched. */
struct frame_chunk {
    struct frame_chunk *next;
    size_t size, used;
    uint8_t bytes[];
};
struct frame_pool {
    struct frame_chunk *chunks, *current;
    struct frame *free[FRAME_CLASSES];
};

/* frames_new adds memory for |bytes| bytes of frames, before any is taken. 0 or ROCE_ERR_NOMEM. */
int frames_new(struct frame_pool *pool, uint64_t bytes);
void frames_del(struct frame_pool *pool);

/* frame_take returns memory for a frame of |len| bytes (at most FAB_FRAME_MAX), or NULL. */
struct frame *frame_take(struct frame_pool *pool, size_t len);
void frame_give(struct frame_pool *pool, struct frame *frame);

#endif
