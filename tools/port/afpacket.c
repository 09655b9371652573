/* SPDX-License-Identifier: GPL-2.0-or-later */
/* An interface as port. */
#include "port/afpacket.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <poll.h>
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
#include "port/filter.h"
#include "port/guard.h"
#include "port/xdp.h"

#ifndef PACKET_IGNORE_OUTGOING
#define PACKET_IGNORE_OUTGOING 23
#endif

enum {
    RX_BYTES = 1 << 23, /* some ms of a 10 Gb/s link; what leaves the caches costs up to a third */
    TX_FRAMES = 256,
    BLOCK_SIZE = 1 << 16,
    /* What a path MTU needs beside it: the longest headers behind Ethernet (UDP, BTH, RETH, ImmDt
     * or AtomicETH) and the ICRC. */
    HEADERS_MAX = ROCE_UDP_LEN + 12 + 28 + ROCE_ICRC_LEN,
};

/* One ring: |count| frames of |size| bytes, |per_block| of them in each block. */
struct ring {
    uint8_t *base;
    uint32_t size, per_block, count;
    uint32_t at; /* the frame that is next */
};

struct afpacket {
    struct port port;
    int fd, guard;
    uint8_t *map;
    size_t map_len;
    struct ring rx, tx;
    struct xdp *xdp;           /* sends instead of |tx|; NULL: not used */
    struct tpacket2_hdr *held; /* the frame lent out by receive */
    uint32_t pending;          /* committed, not flushed */
    uint32_t frame_max;
    struct afpacket_stats stats;
};

static const size_t tx_data_off = TPACKET2_HDRLEN - sizeof(struct sockaddr_ll);

static struct tpacket2_hdr *ring_frame(const struct ring *ring, uint32_t i)
{
    uint8_t *p = ring->base + (size_t)(i / ring->per_block) * BLOCK_SIZE +
                 (size_t)(i % ring->per_block) * ring->size;
    return (struct tpacket2_hdr *)p;
}

/* The status word is how the kernel and we hand a frame over to each other. */
static uint32_t status_of(struct tpacket2_hdr *h)
{
    return atomic_load_explicit((_Atomic uint32_t *)&h->tp_status, memory_order_acquire);
}

static void set_status(struct tpacket2_hdr *h, uint32_t status)
{
    atomic_store_explicit((_Atomic uint32_t *)&h->tp_status, status, memory_order_release);
}

static int fault(struct afpacket *p, const char *what)
{
    (void)snprintf(p->port.text, sizeof(p->port.text), "%s: %s", what, strerror(errno));
    return ROCE_ERR_IO;
}

static uint8_t *afpacket_room(struct port *port, size_t len)
{
    struct afpacket *p = (struct afpacket *)port;
    if (p->xdp != NULL)
        return xdp_room(p->xdp, len);
    struct tpacket2_hdr *h = ring_frame(&p->tx, p->tx.at);
    const uint32_t status = status_of(h);
    if ((status & (TP_STATUS_SEND_REQUEST | TP_STATUS_SENDING)) != 0 ||
        len > p->tx.size - tx_data_off)
        return NULL;
    return (uint8_t *)h + tx_data_off;
}

static int afpacket_commit(struct port *port, size_t len, roce_tstamp now)
{
    struct afpacket *p = (struct afpacket *)port;
    (void)now;
    if (len > p->frame_max) {
        (void)snprintf(p->port.text, sizeof(p->port.text),
                       "a frame of %zu bytes exceeds the MTU of the interface", len);
        return ROCE_ERR_NOSPACE;
    }
    if (p->xdp != NULL)
        return xdp_commit(p->xdp, len);
    struct tpacket2_hdr *h = ring_frame(&p->tx, p->tx.at);
    h->tp_len = (uint32_t)len;
    set_status(h, TP_STATUS_SEND_REQUEST);
    p->tx.at = (p->tx.at + 1) % p->tx.count;
    p->pending++;
    return 0;
}

static int afpacket_flush(struct port *port, roce_tstamp now)
{
    struct afpacket *p = (struct afpacket *)port;
    (void)now;
    if (p->xdp != NULL)
        return xdp_flush(p->xdp, false) == 0 ? 0 : fault(p, "sending");
    if (p->pending == 0)
        return 0;
    /* With nothing to copy the call only tells the kernel to look at the ring. A device queue that
     * is full keeps the frames requested: the next call goes on there. */
    if (send(p->fd, NULL, 0, MSG_DONTWAIT) < 0) {
        if (errno == EAGAIN || errno == ENOBUFS || errno == EINTR)
            return 0;
        return fault(p, "sending");
    }
    p->pending = 0;
    return 0;
}

/* The kernel takes VLAN tags out of frames and tells them beside; puts it back in place.
 * PACKET_RESERVE left room for it. */
static uint8_t *restore_tag(const struct tpacket2_hdr *h, uint8_t *data)
{
    const uint16_t tpid =
        (h->tp_status & TP_STATUS_VLAN_TPID_VALID) != 0 ? h->tp_vlan_tpid : ETH_P_8021Q;
    uint8_t *tagged = data - ROCE_VLAN_LEN;
    memmove(tagged, data, 12);
    tagged[12] = (uint8_t)(tpid >> 8);
    tagged[13] = (uint8_t)tpid;
    tagged[14] = (uint8_t)(h->tp_vlan_tci >> 8);
    tagged[15] = (uint8_t)h->tp_vlan_tci;
    return tagged;
}

static int afpacket_receive(struct port *port, roce_tstamp now, struct roce_frame *frame)
{
    struct afpacket *p = (struct afpacket *)port;
    (void)now;
    if (p->held != NULL) {
        set_status(p->held, TP_STATUS_KERNEL);
        p->held = NULL;
        p->rx.at = (p->rx.at + 1) % p->rx.count;
    }
    struct tpacket2_hdr *h = ring_frame(&p->rx, p->rx.at);
    if ((status_of(h) & TP_STATUS_USER) == 0)
        return 0;
    p->held = h;
    uint8_t *data = (uint8_t *)h + h->tp_mac;
    uint32_t caplen = h->tp_snaplen, origlen = h->tp_len;
    if ((h->tp_status & TP_STATUS_VLAN_VALID) != 0 && caplen >= 12) {
        data = restore_tag(h, data);
        caplen += ROCE_VLAN_LEN;
        origlen += ROCE_VLAN_LEN;
    }
    *frame = (struct roce_frame){.data = data,
                                 .caplen = caplen,
                                 .origlen = origlen,
                                 .ts = h->tp_sec * 1000000000ULL + h->tp_nsec,
                                 .linktype = ROCE_LINK_ETHERNET};
    return 1;
}

static roce_tstamp afpacket_next(const struct port *port)
{
    (void)port;
    return PORT_NEVER;
}

static int afpacket_fd(const struct port *port)
{
    return ((const struct afpacket *)port)->fd;
}

static void afpacket_del(struct port *port)
{
    struct afpacket *p = (struct afpacket *)port;
    xdp_del(p->xdp);
    if (p->map != NULL)
        (void)munmap(p->map, p->map_len);
    if (p->fd >= 0)
        (void)close(p->fd);
    if (p->guard >= 0)
        (void)close(p->guard);
    free(p);
}

static const struct port_ops afpacket_ops = {
    .room = afpacket_room,
    .commit = afpacket_commit,
    .flush = afpacket_flush,
    .receive = afpacket_receive,
    .next = afpacket_next,
    .fd = afpacket_fd,
    .del = afpacket_del,
};

static int option(struct afpacket *p, int name, const void *value, socklen_t len, const char *what)
{
    return setsockopt(p->fd, SOL_PACKET, name, value, len) == 0 ? 0 : fault(p, what);
}

/* Frames must not straddle blocks: each block holds as many as fit. */
static int add_ring(struct afpacket *p, int name, struct ring *ring, uint32_t frames, uint32_t size)
{
    ring->size = (uint32_t)TPACKET_ALIGN(size);
    ring->per_block = BLOCK_SIZE / ring->size;
    const uint32_t blocks = (frames + ring->per_block - 1) / ring->per_block;
    ring->count = blocks * ring->per_block;
    const struct tpacket_req req = {.tp_block_size = BLOCK_SIZE,
                                    .tp_block_nr = blocks,
                                    .tp_frame_size = ring->size,
                                    .tp_frame_nr = ring->count};
    p->map_len += (size_t)blocks * BLOCK_SIZE;
    return option(p, name, &req, sizeof(req), "memory for the rings");
}

/* Pause frames go to a group address that an interface takes only when asked to (802.1Q 36). */
static void join_pause(const struct afpacket *p, const struct netif *netif)
{
    const struct packet_mreq group = {.mr_ifindex = netif->index,
                                      .mr_type = PACKET_MR_MULTICAST,
                                      .mr_alen = 6,
                                      .mr_address = {0x01, 0x80, 0xC2, 0, 0, 0x01}};
    (void)setsockopt(p->fd, SOL_PACKET, PACKET_ADD_MEMBERSHIP, &group, sizeof(group));
}

static int attach(struct afpacket *p, const struct afpacket_cfg *cfg)
{
    struct sock_filter code[FILTER_MAX];
    struct sock_fprog program = {.filter = code};
    program.len = (unsigned short)filter_build(cfg->ip, code);
    if (setsockopt(p->fd, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof(program)) != 0)
        return fault(p, "socket filter");
    const struct sockaddr_ll at = {.sll_family = AF_PACKET,
                                   .sll_protocol = htons(ETH_P_ALL),
                                   .sll_ifindex = cfg->netif->index};
    if (bind(p->fd, (const struct sockaddr *)&at, sizeof(at)) != 0)
        return fault(p, "binding to the interface");
    return 0;
}

static int set_up(struct afpacket *p, const struct afpacket_cfg *cfg)
{
    const int v2 = TPACKET_V2, on = 1;
    const unsigned reserve = ROCE_VLAN_LEN;
    const uint32_t longest =
        afpacket_mtu_needed(cfg->ip, cfg->path_mtu) + ROCE_ETH_LEN + ROCE_VLAN_LEN;
    const uint32_t rx_size = TPACKET2_HDRLEN + reserve + 64 + longest;
    const uint32_t tx_size = (uint32_t)(tx_data_off + ENG_FRAME_MAX);
    if (option(p, PACKET_VERSION, &v2, sizeof(v2), "TPACKET_V2") != 0 ||
        option(p, PACKET_RESERVE, &reserve, sizeof(reserve), "room for VLAN tags") != 0 ||
        add_ring(p, PACKET_RX_RING, &p->rx,
                 cfg->rx_frames != 0 ? cfg->rx_frames : RX_BYTES / rx_size, rx_size) != 0 ||
        add_ring(p, PACKET_TX_RING, &p->tx, cfg->tx_frames != 0 ? cfg->tx_frames : TX_FRAMES,
                 tx_size) != 0)
        return ROCE_ERR_IO;
    (void)setsockopt(p->fd, SOL_PACKET, PACKET_IGNORE_OUTGOING, &on, sizeof(on));
    p->map = mmap(NULL, p->map_len, PROT_READ | PROT_WRITE, MAP_SHARED, p->fd, 0);
    if (p->map == MAP_FAILED) {
        p->map = NULL;
        return fault(p, "mapping the rings");
    }
    p->rx.base = p->map;
    p->tx.base = p->map + (size_t)(p->rx.count / p->rx.per_block) * BLOCK_SIZE;
    join_pause(p, cfg->netif);
    if (!cfg->no_xdp && longest <= XDP_CHUNK) {
        const struct xdp_cfg xdp = {
            .index = cfg->netif->index, .chunks = p->tx.count, .longest = ENG_FRAME_MAX};
        char why[PORT_TEXT_MAX];
        p->xdp = xdp_new(&xdp, why);
        if (p->xdp != NULL && p->frame_max > XDP_CHUNK)
            p->frame_max = XDP_CHUNK;
    }
    return attach(p, cfg);
}

uint32_t afpacket_mtu_needed(const uint8_t ip[16], uint32_t path_mtu)
{
    return (netif_is_ipv4(ip) ? ROCE_IPV4_LEN : ROCE_IPV6_LEN) + HEADERS_MAX + path_mtu;
}

static int open_all(struct afpacket *p, const struct afpacket_cfg *cfg)
{
    const uint32_t needed = afpacket_mtu_needed(cfg->ip, cfg->path_mtu);
    if (cfg->netif->mtu < needed) {
        (void)snprintf(p->port.text, sizeof(p->port.text),
                       "MTU %u is too small for path MTU %u; it takes %u", cfg->netif->mtu,
                       cfg->path_mtu, needed);
        return ROCE_ERR_NOSPACE;
    }
    p->guard = guard_open(cfg->netif, cfg->ip, p->port.text);
    if (p->guard < 0)
        return p->guard;
    p->fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0); /* 0: no frames before the filter */
    if (p->fd < 0) {
        if (errno == EPERM)
            (void)snprintf(
                p->port.text, sizeof(p->port.text),
                "no permission for packet sockets; run as root, or setcap cap_net_raw+ep "
                "the program");
        else
            (void)fault(p, "packet socket");
        return ROCE_ERR_IO;
    }
    return set_up(p, cfg);
}

struct port *afpacket_new(const struct afpacket_cfg *cfg, char text[PORT_TEXT_MAX])
{
    struct afpacket *p = calloc(1, sizeof(*p));
    if (p == NULL) {
        (void)snprintf(text, PORT_TEXT_MAX, "%s", roce_strerror(ROCE_ERR_NOMEM));
        return NULL;
    }
    p->port.ops = &afpacket_ops;
    p->fd = p->guard = -1;
    p->frame_max = cfg->netif->mtu + ROCE_ETH_LEN + (cfg->vlan ? ROCE_VLAN_LEN : 0);
    if (p->frame_max > ENG_FRAME_MAX)
        p->frame_max = ENG_FRAME_MAX;
    if (open_all(p, cfg) != 0) {
        memcpy(text, p->port.text, PORT_TEXT_MAX);
        afpacket_del(&p->port);
        return NULL;
    }
    return &p->port;
}

bool afpacket_uses_xdp(const struct port *port)
{
    return ((const struct afpacket *)port)->xdp != NULL;
}

void afpacket_stats(struct port *port, struct afpacket_stats *out)
{
    struct afpacket *p = (struct afpacket *)port;
    struct tpacket_stats now; /* the kernel counts from the last question on */
    socklen_t len = sizeof(now);
    if (getsockopt(p->fd, SOL_PACKET, PACKET_STATISTICS, &now, &len) == 0) {
        p->stats.received += now.tp_packets;
        p->stats.dropped += now.tp_drops;
    }
    *out = p->stats;
}
