/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sending through an AF_XDP socket (Documentation/networking/af_xdp.rst): frames are written into
 * memory shared with the kernel, a ring names them. Sending needs no XDP program. */
#include <errno.h>
#include <linux/if_xdp.h>
#include <roce/err.h>
#include <roce/net.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "engine/engine.h"
#include "rocereplay/raw_port.h"

#ifndef XDP_USE_SG
#define XDP_USE_SG (1 << 4)
#endif
#ifndef XDP_PKT_CONTD
#define XDP_PKT_CONTD (1 << 0)
#endif

enum {
    CHUNK = 4096, /* largest that a umem of ordinary pages takes */
    CHUNKS = 2048,
    RING = 2048, /* entries, of TX and completions */
    FILL = 64,   /* never used, but a umem must have it */
    SNDBUF = 64 << 20,
    CHUNKS_PER_FRAME = 17, /* MAX_SKB_FRAGS */
};
#define STALLED_CALLS 20000000 /* send calls without progress that mean it is stuck */

struct ring {
    void *map;
    size_t map_len;
    _Atomic uint32_t *producer, *consumer;
    void *entries;
};

struct raw_xdp {
    struct port port;
    int fd;
    uint8_t *memory;
    struct ring tx, done;
    uint32_t tx_at;    /* next entry of the TX ring */
    uint32_t head;     /* chunk of the next frame */
    bool busy[CHUNKS]; /* with the kernel */
    size_t frame_len;
    bool pieces; /* frames of several chunks are possible */
};

static int fault(struct raw_xdp *x, const char *what)
{
    (void)snprintf(x->port.text, sizeof(x->port.text), "%s: %s", what, strerror(errno));
    return ROCE_ERR_IO;
}

static void reap(struct raw_xdp *x)
{
    uint32_t at = atomic_load_explicit(x->done.consumer, memory_order_relaxed);
    const uint32_t end = atomic_load_explicit(x->done.producer, memory_order_acquire);
    const uint64_t *addr = x->done.entries;
    for (; at != end; at++)
        x->busy[addr[at % RING] / CHUNK % CHUNKS] = false;
    atomic_store_explicit(x->done.consumer, at, memory_order_release);
}

static bool is_free(const struct raw_xdp *x, uint32_t first, uint32_t n)
{
    for (uint32_t i = first; i < first + n; i++)
        if (x->busy[i])
            return false;
    return true;
}

static uint8_t *xdp_room(struct port *port, size_t len)
{
    struct raw_xdp *x = (struct raw_xdp *)port;
    const uint32_t n = (uint32_t)((len + CHUNK - 1) / CHUNK);
    if (len > x->frame_len)
        return NULL;
    if (x->head + n > CHUNKS)
        x->head = 0;
    if (!is_free(x, x->head, n)) {
        reap(x);
        if (!is_free(x, x->head, n))
            return NULL;
    }
    const uint32_t used = x->tx_at - atomic_load_explicit(x->tx.consumer, memory_order_acquire);
    return RING - used >= n ? x->memory + (size_t)x->head * CHUNK : NULL;
}

static int xdp_commit(struct port *port, size_t len, roce_tstamp now)
{
    struct raw_xdp *x = (struct raw_xdp *)port;
    struct xdp_desc *descs = x->tx.entries;
    (void)now;
    if (len > CHUNK && !x->pieces) {
        (void)snprintf(port->text, sizeof(port->text), "a frame of %zu bytes is too long", len);
        return ROCE_ERR_NOSPACE;
    }
    do {
        const uint32_t part = len < CHUNK ? (uint32_t)len : CHUNK;
        len -= part;
        descs[x->tx_at++ % RING] = (struct xdp_desc){
            .addr = (uint64_t)x->head * CHUNK, .len = part, .options = len > 0 ? XDP_PKT_CONTD : 0};
        x->busy[x->head++] = true;
    } while (len > 0);
    return 0;
}

/* Each call sends a batch of 32 at most; EAGAIN says that there is more. */
static int xdp_flush(struct port *port, roce_tstamp now)
{
    struct raw_xdp *x = (struct raw_xdp *)port;
    uint32_t seen = atomic_load_explicit(x->tx.consumer, memory_order_acquire);
    (void)now;
    atomic_store_explicit(x->tx.producer, x->tx_at, memory_order_release);
    for (uint32_t stalled = 0; seen != x->tx_at; stalled++) {
        if (sendto(x->fd, NULL, 0, MSG_DONTWAIT, NULL, 0) < 0 && errno != EAGAIN &&
            errno != EBUSY && errno != ENOBUFS && errno != EINTR)
            return fault(x, "sending");
        const uint32_t at = atomic_load_explicit(x->tx.consumer, memory_order_acquire);
        if (at != seen) {
            stalled = 0;
            seen = at;
        } else {
            reap(x); /* the kernel sends only what it has room to tell the end of */
        }
        if (stalled > STALLED_CALLS) {
            errno = ETIMEDOUT;
            return fault(x, "sending");
        }
    }
    return 0;
}

static void unmap(struct ring *ring)
{
    if (ring->map != NULL)
        (void)munmap(ring->map, ring->map_len);
}

static void xdp_del(struct port *port)
{
    struct raw_xdp *x = (struct raw_xdp *)port;
    unmap(&x->tx);
    unmap(&x->done);
    if (x->fd >= 0)
        (void)close(x->fd);
    if (x->memory != NULL)
        (void)munmap(x->memory, (size_t)CHUNKS * CHUNK);
    free(x);
}

static const struct port_ops xdp_ops = {
    .room = xdp_room,
    .commit = xdp_commit,
    .flush = xdp_flush,
    .receive = raw_receive_none,
    .next = raw_next_never,
    .fd = raw_fd_none,
    .del = xdp_del,
};

static int option(struct raw_xdp *x, int name, const void *value, socklen_t len, const char *what)
{
    return setsockopt(x->fd, SOL_XDP, name, value, len) == 0 ? 0 : fault(x, what);
}

static int map_ring(struct raw_xdp *x, struct ring *ring, const struct xdp_ring_offset *off,
                    size_t entry, uint64_t page)
{
    ring->map_len = off->desc + RING * entry;
    void *map = mmap(NULL, ring->map_len, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, x->fd,
                     (off_t)page);
    if (map == MAP_FAILED)
        return fault(x, "mapping a ring");
    ring->map = map;
    ring->producer = (_Atomic uint32_t *)(void *)((uint8_t *)map + off->producer);
    ring->consumer = (_Atomic uint32_t *)(void *)((uint8_t *)map + off->consumer);
    ring->entries = (uint8_t *)map + off->desc;
    return 0;
}

static int add_memory(struct raw_xdp *x)
{
    const int fill = FILL, ring = RING;
    struct xdp_mmap_offsets off;
    socklen_t len = sizeof(off);
    void *memory = mmap(NULL, (size_t)CHUNKS * CHUNK, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (memory == MAP_FAILED)
        return fault(x, "memory");
    x->memory = memory;
    const struct xdp_umem_reg umem = {
        .addr = (uint64_t)(uintptr_t)memory, .len = (uint64_t)CHUNKS * CHUNK, .chunk_size = CHUNK};
    if (option(x, XDP_UMEM_REG, &umem, sizeof(umem), "umem") != 0 ||
        option(x, XDP_UMEM_FILL_RING, &fill, sizeof(fill), "fill ring") != 0 ||
        option(x, XDP_UMEM_COMPLETION_RING, &ring, sizeof(ring), "completion ring") != 0 ||
        option(x, XDP_TX_RING, &ring, sizeof(ring), "TX ring") != 0)
        return ROCE_ERR_IO;
    if (getsockopt(x->fd, SOL_XDP, XDP_MMAP_OFFSETS, &off, &len) != 0 || len != sizeof(off))
        return fault(x, "ring offsets");
    if (map_ring(x, &x->tx, &off.tx, sizeof(struct xdp_desc), XDP_PGOFF_TX_RING) != 0 ||
        map_ring(x, &x->done, &off.cr, sizeof(uint64_t), XDP_UMEM_PGOFF_COMPLETION_RING) != 0)
        return ROCE_ERR_IO;
    return 0;
}

static int attach(struct raw_xdp *x, const struct netif *netif)
{
    struct sockaddr_xdp at = {
        .sxdp_family = AF_XDP,
        .sxdp_flags = XDP_COPY | XDP_USE_SG,
        .sxdp_ifindex = (uint32_t)netif->index,
    };
    x->pieces = true;
    if (bind(x->fd, (const struct sockaddr *)&at, sizeof(at)) == 0)
        return 0;
    x->pieces = false; /* before Linux 6.6 */
    at.sxdp_flags = XDP_COPY;
    if (netif->mtu + ROCE_ETH_LEN + ROCE_VLAN_LEN <= CHUNK &&
        bind(x->fd, (const struct sockaddr *)&at, sizeof(at)) == 0)
        return 0;
    return fault(x, "binding to the interface");
}

struct port *raw_xdp_new(const struct netif *netif, char text[PORT_TEXT_MAX])
{
    const int sndbuf = SNDBUF;
    struct raw_xdp *x = calloc(1, sizeof(*x));
    if (x == NULL) {
        (void)snprintf(text, PORT_TEXT_MAX, "%s", roce_strerror(ROCE_ERR_NOMEM));
        return NULL;
    }
    x->port.ops = &xdp_ops;
    x->frame_len = (size_t)netif->mtu + ROCE_ETH_LEN + ROCE_VLAN_LEN;
    if (x->frame_len < ENG_FRAME_MAX) /* what layers above ask for when they do not know yet */
        x->frame_len = ENG_FRAME_MAX;
    if (x->frame_len > (size_t)CHUNKS_PER_FRAME * CHUNK)
        x->frame_len = (size_t)CHUNKS_PER_FRAME * CHUNK;
    x->fd = socket(AF_XDP, SOCK_RAW | SOCK_CLOEXEC, 0);
    int rc = x->fd >= 0 ? add_memory(x) : fault(x, "AF_XDP socket");
    if (rc == 0) {
        if (setsockopt(x->fd, SOL_SOCKET, SO_SNDBUFFORCE, &sndbuf, sizeof(sndbuf)) != 0)
            (void)setsockopt(x->fd, SOL_SOCKET, SO_SNDBUF, &sndbuf, sizeof(sndbuf));
        rc = attach(x, netif);
    }
    if (rc == 0)
        return &x->port;
    memcpy(text, x->port.text, PORT_TEXT_MAX);
    xdp_del(&x->port);
    return NULL;
}
