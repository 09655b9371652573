/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Walking a TPACKET_V3 ring (Linux, Documentation/networking/packet_mmap.rst). */
#include "live_ring.h"

#if defined(__linux__)

#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <linux/if_ether.h>
#include <linux/if_packet.h>

#include "live.h"

enum { VLAN_LEN = 4, MACS_LEN = 12 };

/* Blocks as large as fit the second-level cache: what the kernel has just copied is read from
 * there. A block must take the largest frame that the receive offload builds (64 KiB), where the
 * ring has room for some of those. */
enum { BLOCK_MAX = 256 * 1024, BLOCKS_WANTED = 8, BLOCKS_MIN = 2, FRAME_SIZE = 2048 };

struct ring_shape ring_shape(uint32_t kib, uint32_t page)
{
    const uint64_t bytes = (uint64_t)(kib == 0 ? ROCE_LIVE_BUFFER_KIB : kib) * 1024;
    uint64_t block = page;
    while (block < BLOCK_MAX && block * 2 * BLOCKS_WANTED <= bytes)
        block *= 2;
    const uint64_t blocks = bytes / block;
    return (struct ring_shape){.block_size = (uint32_t)block,
                               .blocks = blocks < BLOCKS_MIN ? BLOCKS_MIN : (uint32_t)blocks};
}

int ring_map(struct ring *ring, uint32_t kib)
{
    const struct ring_shape shape = ring_shape(kib, (uint32_t)sysconf(_SC_PAGESIZE));
    const struct tpacket_req3 request = {
        .tp_block_size = shape.block_size,
        .tp_block_nr = shape.blocks,
        .tp_frame_size = FRAME_SIZE,
        .tp_frame_nr = shape.block_size / FRAME_SIZE * shape.blocks,
        .tp_retire_blk_tov = LIVE_RETIRE_MS,
    };
    const int version = TPACKET_V3;
    const unsigned reserve = VLAN_LEN;
    if (setsockopt(ring->fd, SOL_PACKET, PACKET_VERSION, &version, sizeof(version)) != 0 ||
        setsockopt(ring->fd, SOL_PACKET, PACKET_RESERVE, &reserve, sizeof(reserve)) != 0 ||
        setsockopt(ring->fd, SOL_PACKET, PACKET_RX_RING, &request, sizeof(request)) != 0)
        return -1;
    ring->block_size = shape.block_size;
    ring->blocks = shape.blocks;
    ring->map_len = (size_t)shape.block_size * shape.blocks;
    void *map = mmap(NULL, ring->map_len, PROT_READ | PROT_WRITE, MAP_SHARED, ring->fd, 0);
    if (map == MAP_FAILED)
        return -1;
    ring->map = map;
    return 0;
}

void ring_unmap(struct ring *ring)
{
    if (ring->map != NULL)
        (void)munmap(ring->map, ring->map_len);
    ring->map = NULL;
}

static struct tpacket_hdr_v1 *block_header(const struct ring *ring, uint32_t index)
{
    void *block = ring->map + (size_t)index * ring->block_size;
    return &((struct tpacket_block_desc *)block)->hdr.bh1;
}

/* The kernel fills a block before it sets the status: what is read after the status is complete. */
static bool is_ours(const struct tpacket_hdr_v1 *header)
{
    return (__atomic_load_n(&header->block_status, __ATOMIC_ACQUIRE) & TP_STATUS_USER) != 0;
}

static void leave_block(struct ring *ring)
{
    ring->opened = false;
    ring->held++;
    ring->block = ring->block + 1 == ring->blocks ? 0 : ring->block + 1;
}

static bool open_block(struct ring *ring)
{
    struct tpacket_hdr_v1 *header = block_header(ring, ring->block);
    if (ring->held == ring->blocks || !is_ours(header))
        return false;
    ring->opened = true;
    ring->left = header->num_pkts;
    ring->at = ring->map + (size_t)ring->block * ring->block_size + header->offset_to_first_pkt;
    return true;
}

static roce_tstamp time_of(uint32_t sec, uint32_t nsec)
{
    return (roce_tstamp)sec * 1000000000u + nsec;
}

bool ring_ready(struct ring *ring, roce_tstamp *ts)
{
    while (!ring->opened || ring->left == 0) {
        if (ring->opened)
            leave_block(ring);
        if (!open_block(ring))
            return false;
    }
    const void *at = ring->at;
    const struct tpacket3_hdr *header = at;
    *ts = time_of(header->tp_sec, header->tp_nsec);
    return true;
}

roce_tstamp ring_newest(const struct ring *ring)
{
    const void *at = ring->at;
    const struct tpacket3_hdr *first = at;
    roce_tstamp newest = time_of(first->tp_sec, first->tp_nsec);
    uint32_t index = ring->block;
    for (uint32_t n = ring->held; n < ring->blocks; n++) {
        const struct tpacket_hdr_v1 *header = block_header(ring, index);
        if (!is_ours(header))
            break;
        const roce_tstamp last = time_of(header->ts_last_pkt.ts_sec, header->ts_last_pkt.ts_nsec);
        if (last > newest)
            newest = last;
        index = index + 1 == ring->blocks ? 0 : index + 1;
    }
    return newest;
}

static bool is_outgoing(const uint8_t *at)
{
    struct sockaddr_ll link;
    memcpy(&link, at + TPACKET_ALIGN(sizeof(struct tpacket3_hdr)), sizeof(link));
    return link.sll_pkttype == PACKET_OUTGOING;
}

static void put16(uint8_t *p, uint16_t v)
{
    p[0] = (uint8_t)(v >> 8);
    p[1] = (uint8_t)v;
}

/* The kernel took the outer tag out of the frame (802.1Q; skb_vlan_untag). Its place is behind the
 * addresses, which move into the room reserved in front of the frame. */
static uint8_t *restore_tag(const struct tpacket3_hdr *header, uint8_t *data)
{
    const bool has_tpid = (header->tp_status & TP_STATUS_VLAN_TPID_VALID) != 0;
    data -= VLAN_LEN;
    memmove(data, data + VLAN_LEN, MACS_LEN);
    put16(data + MACS_LEN, has_tpid ? header->hv1.tp_vlan_tpid : ETH_P_8021Q);
    put16(data + MACS_LEN + 2, (uint16_t)header->hv1.tp_vlan_tci);
    return data;
}

bool ring_take(struct ring *ring, struct roce_frame *frame)
{
    uint8_t *const at = ring->at;
    void *const start = at;
    const struct tpacket3_hdr *header = start;
    ring->left--;
    ring->at += header->tp_next_offset;
    if (ring->skips_outgoing && is_outgoing(at))
        return false;
    uint8_t *data = at + header->tp_mac;
    uint32_t caplen = header->tp_snaplen, origlen = header->tp_len;
    if ((header->tp_status & TP_STATUS_VLAN_VALID) != 0 && ring->linktype == ROCE_LINK_ETHERNET &&
        caplen >= MACS_LEN) {
        data = restore_tag(header, data);
        caplen += VLAN_LEN;
        origlen += VLAN_LEN;
    }
    if (ring->whole_len != 0 && origlen > ring->whole_len)
        ring->merged++;
    *frame = (struct roce_frame){
        .data = data,
        .caplen = caplen > ring->snaplen ? ring->snaplen : caplen,
        .origlen = origlen,
        .ts = time_of(header->tp_sec, header->tp_nsec),
        .iface = ring->iface,
        .linktype = ring->linktype,
    };
    return true;
}

void ring_release(struct ring *ring)
{
    if (ring->opened && ring->left == 0)
        leave_block(ring);
    uint32_t index = (ring->block + ring->blocks - ring->held) % ring->blocks;
    for (; ring->held > 0; ring->held--) {
        __atomic_store_n(&block_header(ring, index)->block_status, TP_STATUS_KERNEL,
                         __ATOMIC_RELEASE);
        index = index + 1 == ring->blocks ? 0 : index + 1;
    }
}

#else
typedef int live_ring_needs_linux;
#endif
