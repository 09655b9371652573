/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A receive ring of the Linux kernel (TPACKET_V3): blocks of frames in memory that both share. */
#ifndef CAPTURE_LIVE_RING_H
#define CAPTURE_LIVE_RING_H

#include <stdbool.h>
#include <stdint.h>

#include <roce/capture.h>

struct ring {
    int fd;
    uint8_t *map;
    size_t map_len;
    uint32_t block_size, blocks;
    uint32_t block; /* the block being read, or that comes next */
    bool opened;    /* it is ours, */
    uint32_t left;  /* and so many of its frames are not handed out yet, */
    uint8_t *at;    /* the first of them here */
    uint32_t held;  /* blocks before |block| that are read and not yet given back */

    int ifindex;
    uint32_t iface, linktype, snaplen;
    uint32_t whole_len;  /* a longer frame was merged from several; 0: unknown */
    uint64_t merged;     /* such frames */
    bool skips_outgoing; /* loopback shows every frame twice */
};

/* struct ring_shape is how a ring of about |kib| KiB is cut into blocks. */
struct ring_shape {
    uint32_t block_size, blocks;
};
struct ring_shape ring_shape(uint32_t kib, uint32_t page);

/* ring_map asks the kernel for the ring on |ring->fd| and maps it. Returns 0 or -1 with errno. */
int ring_map(struct ring *ring, uint32_t kib);
void ring_unmap(struct ring *ring);

/* ring_ready tells whether a frame can be taken, and the time stamp of the first in |*ts|.
 * ring_newest returns the newest time stamp of all that are ready now; one must be. */
bool ring_ready(struct ring *ring, roce_tstamp *ts);
roce_tstamp ring_newest(const struct ring *ring);

/* ring_take hands out the frame that ring_ready announced, its VLAN tag put back in place. False
 * when it is one to leave out. It stays valid until ring_release. */
bool ring_take(struct ring *ring, struct roce_frame *frame);

/* ring_release gives the blocks back whose frames have all been taken. */
void ring_release(struct ring *ring);

#endif
