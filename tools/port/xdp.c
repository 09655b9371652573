/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sending through AF_XDP, by system calls alone: for sending no program and no library is needed.
 */
#include "port/xdp.h"

#include <errno.h>
#include <linux/if_xdp.h>
#include <roce/err.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "engine/engine.h"

enum {
    STRIDE = 4608,  /* between frames: room for ENG_FRAME_MAX */
    FILL_SIZE = 64, /* of the fill ring, which must be there and is not used */
};

/* A ring shared with the kernel; |size| is a power of two. */
struct xdp_ring {
    _Atomic uint32_t *producer, *consumer;
    void *entries;
    uint32_t size;
    void *map;
    size_t map_len;
};

struct xdp {
    int fd;
    uint8_t *memory;
    size_t memory_len;
    struct xdp_ring tx, done;
    uint64_t *free; /* stack of frames' offsets */
    uint32_t n_free;
    uint32_t produced; /* committed, of which the kernel was not told */
};

static int set(int fd, int name, const void *value, socklen_t len)
{
    return setsockopt(fd, SOL_XDP, name, value, len);
}

static int map_ring(int fd, struct xdp_ring *ring, const struct xdp_ring_offset *off, uint32_t size,
                    size_t entry, off_t place)
{
    ring->size = size;
    ring->map_len = off->desc + size * entry;
    ring->map =
        mmap(NULL, ring->map_len, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd, place);
    if (ring->map == MAP_FAILED) {
        ring->map = NULL;
        return -1;
    }
    uint8_t *base = ring->map;
    ring->producer = (_Atomic uint32_t *)(base + off->producer);
    ring->consumer = (_Atomic uint32_t *)(base + off->consumer);
    ring->entries = base + off->desc;
    return 0;
}

/* Unaligned chunks: frames may lie anywhere, and so have more room than a page for being written,
 * though at most a page of it can be sent. */
static int open_memory(struct xdp *xdp, uint32_t frames)
{
    xdp->memory_len = (size_t)frames * STRIDE;
    xdp->memory = mmap(NULL, xdp->memory_len, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (xdp->memory == MAP_FAILED) {
        xdp->memory = NULL;
        return -1;
    }
    const struct xdp_umem_reg reg = {
        .addr = (uintptr_t)xdp->memory,
        .len = xdp->memory_len,
        .chunk_size = XDP_FRAME_MAX,
        .flags = XDP_UMEM_UNALIGNED_CHUNK_FLAG,
    };
    return set(xdp->fd, XDP_UMEM_REG, &reg, sizeof(reg));
}

static int open_rings(struct xdp *xdp, uint32_t frames)
{
    const uint32_t fill = FILL_SIZE;
    struct xdp_mmap_offsets off;
    socklen_t len = sizeof(off);
    if (set(xdp->fd, XDP_UMEM_FILL_RING, &fill, sizeof(fill)) != 0 ||
        set(xdp->fd, XDP_UMEM_COMPLETION_RING, &frames, sizeof(frames)) != 0 ||
        set(xdp->fd, XDP_TX_RING, &frames, sizeof(frames)) != 0 ||
        getsockopt(xdp->fd, SOL_XDP, XDP_MMAP_OFFSETS, &off, &len) != 0)
        return -1;
    if (map_ring(xdp->fd, &xdp->tx, &off.tx, frames, sizeof(struct xdp_desc), XDP_PGOFF_TX_RING) !=
        0)
        return -1;
    return map_ring(xdp->fd, &xdp->done, &off.cr, frames, sizeof(uint64_t),
                    (off_t)XDP_UMEM_PGOFF_COMPLETION_RING);
}

struct xdp *xdp_new(int index, uint32_t frames)
{
    struct xdp *xdp = calloc(1, sizeof(*xdp));
    if (xdp == NULL)
        return NULL;
    uint32_t size = 64;
    while (size < frames)
        size *= 2;
    xdp->fd = socket(AF_XDP, SOCK_RAW | SOCK_CLOEXEC, 0);
    xdp->free = calloc(size, sizeof(*xdp->free));
    const struct sockaddr_xdp at = {
        .sxdp_family = AF_XDP, .sxdp_flags = XDP_COPY, .sxdp_ifindex = (uint32_t)index};
    if (xdp->fd < 0 || xdp->free == NULL || open_memory(xdp, size) != 0 ||
        open_rings(xdp, size) != 0 ||
        bind(xdp->fd, (const struct sockaddr *)&at, sizeof(at)) != 0) {
        xdp_del(xdp);
        return NULL;
    }
    for (uint32_t i = 0; i < size; i++)
        xdp->free[xdp->n_free++] = (uint64_t)(size - 1 - i) * STRIDE;
    return xdp;
}

static void unmap(struct xdp_ring *ring)
{
    if (ring->map != NULL)
        (void)munmap(ring->map, ring->map_len);
}

void xdp_del(struct xdp *xdp)
{
    if (xdp == NULL)
        return;
    unmap(&xdp->tx);
    unmap(&xdp->done);
    if (xdp->fd >= 0)
        (void)close(xdp->fd);
    if (xdp->memory != NULL)
        (void)munmap(xdp->memory, xdp->memory_len);
    free(xdp->free);
    free(xdp);
}

/* Takes back the frames that have left. */
static void reclaim(struct xdp *xdp)
{
    const uint64_t *entry = xdp->done.entries;
    uint32_t at = atomic_load_explicit(xdp->done.consumer, memory_order_relaxed);
    const uint32_t end = atomic_load_explicit(xdp->done.producer, memory_order_acquire);
    for (; at != end; at++)
        xdp->free[xdp->n_free++] = entry[at & (xdp->done.size - 1)];
    atomic_store_explicit(xdp->done.consumer, at, memory_order_release);
}

uint8_t *xdp_room(struct xdp *xdp)
{
    if (xdp->n_free == 0)
        reclaim(xdp);
    return xdp->n_free > 0 ? xdp->memory + xdp->free[xdp->n_free - 1] : NULL;
}

void xdp_commit(struct xdp *xdp, size_t len)
{
    struct xdp_desc *entry = xdp->tx.entries;
    const uint32_t at =
        atomic_load_explicit(xdp->tx.producer, memory_order_relaxed) + xdp->produced;
    entry[at & (xdp->tx.size - 1)] =
        (struct xdp_desc){.addr = xdp->free[--xdp->n_free], .len = (uint32_t)len};
    xdp->produced++;
}

int xdp_flush(struct xdp *xdp)
{
    uint32_t producer = atomic_load_explicit(xdp->tx.producer, memory_order_relaxed);
    producer += xdp->produced;
    xdp->produced = 0;
    atomic_store_explicit(xdp->tx.producer, producer, memory_order_release);
    /* A call sends a batch of 32; EAGAIN says that there is more, or that the device is full: then
     * nothing has moved. */
    uint32_t before = atomic_load_explicit(xdp->tx.consumer, memory_order_acquire);
    while (before != producer) {
        const int failed = sendto(xdp->fd, NULL, 0, MSG_DONTWAIT, NULL, 0) < 0;
        const uint32_t after = atomic_load_explicit(xdp->tx.consumer, memory_order_acquire);
        if (failed && errno != EAGAIN && errno != EBUSY && errno != ENOBUFS && errno != EINTR)
            return ROCE_ERR_IO;
        if (after == before)
            break;
        before = after;
    }
    return 0;
}
