/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Egress queues and how deep they are over time. */
#include "inner.h"

#include <string.h>

/* Steps of |DEPTH_UNIT| bytes up to 2^DEPTH_BITS of them, then 2^DEPTH_BITS steps to each octave.
 */
static uint32_t bucket_of(uint64_t bytes)
{
    uint64_t v = bytes >> DEPTH_UNIT;
    uint32_t octave = 0;
    while (v >= UINT64_C(2) << DEPTH_BITS) {
        v >>= 1;
        octave++;
    }
    const uint32_t bucket = (octave << DEPTH_BITS) + (uint32_t)v;
    return bucket < DEPTH_BUCKETS ? bucket : DEPTH_BUCKETS - 1;
}

/* The middle of a bucket. */
static uint64_t bytes_of(uint32_t bucket)
{
    const uint32_t one = 1U << DEPTH_BITS;
    if (bucket == 0)
        return 0;
    if (bucket < 2 * one)
        return ((uint64_t)bucket << DEPTH_UNIT) + (1 << DEPTH_UNIT) / 2;
    const uint32_t octave = (bucket >> DEPTH_BITS) - 1;
    const uint64_t low = (uint64_t)(one + (bucket & (one - 1))) << (octave + DEPTH_UNIT);
    return low + (UINT64_C(1) << (octave + DEPTH_UNIT)) / 2;
}

void queue_settle(struct queue *queue, uint64_t now)
{
    struct depth *depth = &queue->depth;
    const uint64_t time = now - depth->since;
    if (time == 0)
        return;
    depth->area += (double)queue->bytes * (double)time;
    depth->held[bucket_of(queue->bytes)] += time;
    depth->since = now;
}

void queue_push(struct queue *queue, struct frame *frame, uint64_t now)
{
    queue_settle(queue, now);
    fifo_push(&queue->fifo, frame);
    queue->frames++;
    queue->bytes += frame->len;
    if (queue->bytes > queue->depth.max)
        queue->depth.max = queue->bytes;
}

struct frame *queue_pop(struct queue *queue, uint64_t now)
{
    queue_settle(queue, now);
    struct frame *frame = fifo_pop(&queue->fifo);
    queue->frames--;
    queue->bytes -= frame->len;
    return frame;
}

static uint64_t percentile(const struct depth *depth, uint64_t total, double part)
{
    const uint64_t wanted = (uint64_t)((double)total * part);
    uint64_t sum = 0;
    for (uint32_t i = 0; i < DEPTH_BUCKETS; i++) {
        sum += depth->held[i];
        if (sum > wanted)
            return bytes_of(i);
    }
    return 0;
}

void fab_queue_stats(struct fab *fab, int node, int port, int priority, struct fab_queue_stats *out)
{
    memset(out, 0, sizeof(*out));
    const struct port *p = fab->nodes[node]->ports[port];
    if (p->queue == NULL)
        return;
    struct queue *queue = &p->queue[priority];
    struct depth *depth = &queue->depth;
    queue_settle(queue, fab->now);
    const uint64_t total = fab->now - depth->started;
    *out = (struct fab_queue_stats){
        .frames = queue->frames,
        .bytes = queue->bytes,
        .max_bytes = depth->max,
        .mean_bytes = total != 0 ? depth->area / (double)total : 0,
        .p50 = percentile(depth, total, 0.5),
        .p90 = percentile(depth, total, 0.9),
        .p99 = percentile(depth, total, 0.99),
        .tx_frames = queue->tx_frames,
        .tx_bytes = queue->tx_bytes,
    };
}

uint64_t fab_queue_bytes(const struct fab *fab, int node, int port, int priority)
{
    const struct port *p = fab->nodes[node]->ports[port];
    return p->queue != NULL ? p->queue[priority].bytes : 0;
}

void fab_queue_restart(struct fab *fab, int node, int port, int priority)
{
    const struct port *p = fab->nodes[node]->ports[port];
    if (p->queue == NULL)
        return;
    struct queue *queue = &p->queue[priority];
    memset(&queue->depth, 0, sizeof(queue->depth));
    queue->depth.since = queue->depth.started = fab->now;
    queue->depth.max = queue->bytes;
}
