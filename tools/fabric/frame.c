/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The memory of frames. */
#include "frame.h"

#include <roce/err.h>
#include <stdlib.h>

/* Bytes of data: acknowledgements, then full frames of each path MTU with their headers. */
static const uint16_t data_len[FRAME_CLASSES] = {96, 160, 352, 608, 1152, 2208, 4352};

/* A frame takes at most two and a half times its bytes, and the sizes do not share what they have
 * had once. */
#define SPREAD 8

int frames_new(struct frame_pool *pool, uint64_t bytes)
{
    const uint64_t size = bytes * SPREAD;
    if (size > SIZE_MAX / 2)
        return ROCE_ERR_NOMEM;
    struct frame_chunk *chunk = malloc(sizeof(*chunk) + size);
    if (chunk == NULL)
        return ROCE_ERR_NOMEM;
    chunk->size = size;
    chunk->used = 0;
    chunk->next = pool->chunks;
    pool->chunks = pool->current = chunk;
    return 0;
}

void frames_del(struct frame_pool *pool)
{
    while (pool->chunks != NULL) {
        struct frame_chunk *next = pool->chunks->next;
        free(pool->chunks);
        pool->chunks = next;
    }
}

static struct frame *carve(struct frame_pool *pool, uint8_t size)
{
    const size_t bytes = sizeof(struct frame) + data_len[size];
    for (; pool->current != NULL; pool->current = pool->current->next) {
        struct frame_chunk *chunk = pool->current;
        if (chunk->size - chunk->used < bytes)
            continue;
        struct frame *frame = (struct frame *)(void *)(chunk->bytes + chunk->used);
        chunk->used += bytes;
        frame->size = size;
        return frame;
    }
    return NULL;
}

struct frame *frame_take(struct frame_pool *pool, size_t len)
{
    uint8_t size = 0;
    while (size < FRAME_CLASSES && data_len[size] < len)
        size++;
    if (size == FRAME_CLASSES)
        return NULL;
    struct frame *frame = pool->free[size];
    if (frame == NULL)
        return carve(pool, size);
    pool->free[size] = frame->next;
    return frame;
}

void frame_give(struct frame_pool *pool, struct frame *frame)
{
    frame->next = pool->free[frame->size];
    pool->free[frame->size] = frame;
}
