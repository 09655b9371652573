/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The headers in front of a frame's transport, outermost first: where addresses stand, and which
 * checksums cover them. */
#ifndef ROCEREPLAY_REWRITE_LAYERS_H
#define ROCEREPLAY_REWRITE_LAYERS_H

#include "rocereplay/rewrite.h"

enum layer_kind {
    LAYER_ETH,  /* MAC addresses */
    LAYER_ARP,  /* of IPv4 over Ethernet */
    LAYER_IPV4, /* |head| bytes long */
    LAYER_IPV6, /* 40 bytes; a GRH too */
    LAYER_UDP,  /* |end|: of the datagram */
    LAYER_GRE,  /* with a checksum */
    LAYER_TCP,
    LAYER_ICMPV6,
};
struct layer {
    enum layer_kind kind;
    uint32_t off, head, end;
    int ip; /* UDP, TCP, ICMPv6: index of the IP layer around it */
};
enum { LAYERS_MAX = 40 };
struct layers {
    struct layer at[LAYERS_MAX];
    int n;
    bool whole; /* the walk came to |stop|, or to the end of what it knows without one */
};

/* layers_walk notes the layers of the |len| bytes at |data|, a frame of |linktype|. It ends with
 * the IP header or GRH at |stop| (LAYERS_ALL: none), behind which it looks no further. */
#define LAYERS_ALL UINT32_MAX
void layers_walk(const uint8_t *data, uint32_t len, uint32_t linktype, uint32_t stop,
                 struct layers *out);

/* layers_checksum makes the checksums of all layers right, innermost first. A UDP checksum that is
 * not used stays so. */
void layers_checksum(uint8_t *data, const struct layers *layers);

#endif
