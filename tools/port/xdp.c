/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sending through AF_XDP, by system calls alone: for sending no program and no library is needed.
 * Memory shared with the kernel is cut into chunks that are used in turn; a ring names those that
 * hold frames, another one those that have been sent. */
#include "port/xdp.h"

#include <errno.h>
#include <linux/if_xdp.h>
#include <roce/err.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#ifndef XDP_USE_SG
#define XDP_USE_SG (1 << 4)
#endif
#ifndef XDP_PKT_CONTD
#define XDP_PKT_CONTD (1 << 0)
#endif

enum {
    CHUNKS_LEAST = 64,
    LOOK_AHEAD = 64,
    CHUNKS_PER_FRAME = 17, /* MAX_SKB_FRAGS */
    FILL = 64,             /* entries of the fill ring, never used, but a umem must have it */
};
#define STALLED_CALLS 20000000 /* send calls without progress that mean it is stuck */

/* A ring shared with the kernel, of as many entries as there are chunks. */
struct ring {
    void *map;
    size_t map_len;
    _Atomic uint32_t *producer, *consumer;
    void *entries;
};

struct xdp {
    int fd;
    uint8_t *memory;
    struct ring tx, done;
    uint32_t chunks, mask;
    uint32_t tx_at; /* next entry of the TX ring */
    uint32_t head;  /* chunk of the next frame */
    uint32_t ahead; /* so many from there on are known to be free */
    bool *busy;     /* chunks that are with the kernel: never more than the TX ring has entries */
    size_t longest;
    bool pieces;
};

static int fault(char text[PORT_TEXT_MAX], const char *what)
{
    (void)snprintf(text, PORT_TEXT_MAX, "%s: %s", what, strerror(errno));
    return ROCE_ERR_IO;
}

static int map_ring(struct xdp *x, struct ring *ring, const struct xdp_ring_offset *off,
                    size_t entry, uint64_t page)
{
    ring->map_len = off->desc + x->chunks * entry;
    void *map = mmap(NULL, ring->map_len, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, x->fd,
                     (off_t)page);
    if (map == MAP_FAILED)
        return -1;
    ring->map = map;
    ring->producer = (_Atomic uint32_t *)(void *)((uint8_t *)map + off->producer);
    ring->consumer = (_Atomic uint32_t *)(void *)((uint8_t *)map + off->consumer);
    ring->entries = (uint8_t *)map + off->desc;
    return 0;
}

static int set(const struct xdp *x, int name, const void *value, socklen_t len)
{
    return setsockopt(x->fd, SOL_XDP, name, value, len);
}

static int add_memory(struct xdp *x, char text[PORT_TEXT_MAX])
{
    const int fill = FILL, ring = (int)x->chunks;
    const size_t len = (size_t)x->chunks * XDP_CHUNK;
    struct xdp_mmap_offsets off;
    socklen_t off_len = sizeof(off);
    x->busy = calloc(x->chunks, sizeof(*x->busy));
    void *memory =
        mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (x->busy == NULL || memory == MAP_FAILED)
        return fault(text, "memory");
    x->memory = memory;
    const struct xdp_umem_reg umem = {
        .addr = (uint64_t)(uintptr_t)memory, .len = len, .chunk_size = XDP_CHUNK};
    if (set(x, XDP_UMEM_REG, &umem, sizeof(umem)) != 0)
        return fault(text, "umem");
    if (set(x, XDP_UMEM_FILL_RING, &fill, sizeof(fill)) != 0 ||
        set(x, XDP_UMEM_COMPLETION_RING, &ring, sizeof(ring)) != 0 ||
        set(x, XDP_TX_RING, &ring, sizeof(ring)) != 0 ||
        getsockopt(x->fd, SOL_XDP, XDP_MMAP_OFFSETS, &off, &off_len) != 0 ||
        off_len != sizeof(off) ||
        map_ring(x, &x->tx, &off.tx, sizeof(struct xdp_desc), XDP_PGOFF_TX_RING) != 0 ||
        map_ring(x, &x->done, &off.cr, sizeof(uint64_t), XDP_UMEM_PGOFF_COMPLETION_RING) != 0)
        return fault(text, "rings");
    return 0;
}

static int attach(struct xdp *x, const struct xdp_cfg *cfg, char text[PORT_TEXT_MAX])
{
    struct sockaddr_xdp at = {.sxdp_family = AF_XDP, .sxdp_ifindex = (uint32_t)cfg->index};
    if (cfg->pieces) {
        at.sxdp_flags = XDP_COPY | XDP_USE_SG;
        x->pieces = bind(x->fd, (const struct sockaddr *)&at, sizeof(at)) == 0;
    }
    if (x->pieces)
        return 0;
    at.sxdp_flags = XDP_COPY;
    if ((!cfg->pieces || cfg->no_pieces) &&
        bind(x->fd, (const struct sockaddr *)&at, sizeof(at)) == 0)
        return 0;
    return fault(text, "binding to the interface");
}

static int open_all(struct xdp *x, const struct xdp_cfg *cfg, char text[PORT_TEXT_MAX])
{
    x->fd = socket(AF_XDP, SOCK_RAW | SOCK_CLOEXEC, 0);
    if (x->fd < 0)
        return fault(text, "AF_XDP socket");
    if (cfg->sndbuf != 0 &&
        setsockopt(x->fd, SOL_SOCKET, SO_SNDBUFFORCE, &cfg->sndbuf, sizeof(cfg->sndbuf)) != 0)
        (void)setsockopt(x->fd, SOL_SOCKET, SO_SNDBUF, &cfg->sndbuf, sizeof(cfg->sndbuf));
    return add_memory(x, text) == 0 ? attach(x, cfg, text) : -1;
}

struct xdp *xdp_new(const struct xdp_cfg *cfg, char text[PORT_TEXT_MAX])
{
    const size_t most = (size_t)CHUNKS_PER_FRAME * XDP_CHUNK;
    struct xdp *x = calloc(1, sizeof(*x));
    if (x == NULL) {
        (void)snprintf(text, PORT_TEXT_MAX, "%s", roce_strerror(ROCE_ERR_NOMEM));
        return NULL;
    }
    x->chunks = CHUNKS_LEAST;
    while (x->chunks < cfg->chunks)
        x->chunks *= 2;
    x->mask = x->chunks - 1;
    x->longest = cfg->longest < most ? cfg->longest : most;
    if (open_all(x, cfg, text) == 0)
        return x;
    xdp_del(x);
    return NULL;
}

static void unmap(struct ring *ring)
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
        (void)munmap(xdp->memory, (size_t)xdp->chunks * XDP_CHUNK);
    free(xdp->busy);
    free(xdp);
}

/* Takes back the chunks that have been sent. */
static void reclaim(struct xdp *x)
{
    const uint64_t *addr = x->done.entries;
    uint32_t at = atomic_load_explicit(x->done.consumer, memory_order_relaxed);
    const uint32_t end = atomic_load_explicit(x->done.producer, memory_order_acquire);
    for (; at != end; at++)
        x->busy[addr[at & x->mask] / XDP_CHUNK & x->mask] = false;
    atomic_store_explicit(x->done.consumer, at, memory_order_release);
}

static bool look_ahead(struct xdp *x, uint32_t n)
{
    const uint32_t end = x->chunks - x->head < LOOK_AHEAD ? x->chunks : x->head + LOOK_AHEAD;
    uint32_t i = x->head;
    while (i < end && !x->busy[i])
        i++;
    x->ahead = i - x->head;
    return x->ahead >= n;
}

uint8_t *xdp_room(struct xdp *xdp, size_t len)
{
    const uint32_t n = (uint32_t)((len + XDP_CHUNK - 1) / XDP_CHUNK);
    if (len > xdp->longest)
        return NULL;
    if (xdp->head + n > xdp->chunks)
        xdp->head = xdp->ahead = 0;
    if (xdp->ahead < n && !look_ahead(xdp, n)) {
        reclaim(xdp);
        if (!look_ahead(xdp, n))
            return NULL;
    }
    return xdp->memory + (size_t)xdp->head * XDP_CHUNK;
}

int xdp_commit(struct xdp *xdp, size_t len)
{
    struct xdp_desc *entries = xdp->tx.entries;
    if (len > XDP_CHUNK && !xdp->pieces)
        return ROCE_ERR_NOSPACE;
    do {
        const uint32_t part = len < XDP_CHUNK ? (uint32_t)len : XDP_CHUNK;
        len -= part;
        entries[xdp->tx_at++ & xdp->mask] =
            (struct xdp_desc){.addr = (uint64_t)xdp->head * XDP_CHUNK,
                              .len = part,
                              .options = len > 0 ? XDP_PKT_CONTD : 0};
        xdp->busy[xdp->head++] = true;
        xdp->ahead--;
    } while (len > 0);
    return 0;
}

/* A call sends a batch of 32; EAGAIN says that there is more, or that the device is full: then
 * nothing has moved. */
int xdp_flush(struct xdp *xdp, bool all)
{
    uint32_t seen = atomic_load_explicit(xdp->tx.consumer, memory_order_acquire);
    atomic_store_explicit(xdp->tx.producer, xdp->tx_at, memory_order_release);
    for (uint32_t stalled = 0; seen != xdp->tx_at; stalled++) {
        if (sendto(xdp->fd, NULL, 0, MSG_DONTWAIT, NULL, 0) < 0 && errno != EAGAIN &&
            errno != EBUSY && errno != ENOBUFS && errno != EINTR)
            return ROCE_ERR_IO;
        const uint32_t at = atomic_load_explicit(xdp->tx.consumer, memory_order_acquire);
        if (at != seen) {
            stalled = 0;
            seen = at;
            continue;
        }
        if (!all)
            break;
        reclaim(xdp); /* the kernel sends only what it has room to tell the end of */
        if (stalled > STALLED_CALLS) {
            errno = ETIMEDOUT;
            return ROCE_ERR_IO;
        }
    }
    return 0;
}
