/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The state of one walk through a frame's headers, shared by the files that decode a packet. */
#ifndef WIRE_WALK_H
#define WIRE_WALK_H

#include <roce/packet.h>

#include "cursor.h"

struct walk {
    const uint8_t *data;
    uint32_t pos;   /* next header */
    uint32_t avail; /* bytes of |data| that belong to the current layer and were captured */
    uint32_t end;   /* where the current layer ends by the innermost length field; UINT32_MAX before
                       there is one */
    unsigned depth; /* encapsulations entered */
    bool inner_eth; /* an Ethernet header inside one has been met */
    const struct roce_decode_opts *opts; /* never NULL */
    struct roce_packet *pkt;
};

/* What a header hands on to. */
enum next {
    NEXT_STOP, /* decoded as far as can be, or nothing RoCE: the packet says which */
    NEXT_ETHERNET,
    NEXT_ETHERTYPE, /* pkt->ethertype tells */
    NEXT_IP,        /* version by the first nibble */
    NEXT_IPV4,
    NEXT_IPV6,
    NEXT_PROTO, /* pkt->ip.proto tells */
    NEXT_MPLS,
    NEXT_GRH,
    NEXT_LRH,
    NEXT_TRANSPORT, /* BTH */
};

/* walk_fail notes the first fault; the walk stops. */
static inline enum next walk_fail(struct walk *w, enum roce_status status, enum roce_layer layer,
                                  const char *why)
{
    if (w->pkt->status == ROCE_STATUS_OK) {
        w->pkt->status = (uint8_t)status;
        w->pkt->layer = (uint8_t)layer;
        w->pkt->why = why;
    }
    return NEXT_STOP;
}

/* walk_need returns the next |n| bytes without taking them. Past the layer's own length the frame
 * is malformed, past the captured bytes it is truncated: then the fault is noted and NULL returned.
 */
static inline const uint8_t *walk_need(struct walk *w, uint32_t n, enum roce_layer layer)
{
    if (w->avail - w->pos >= n && w->pos <= w->avail)
        return w->data + w->pos;
    if (w->pos > w->end || w->end - w->pos < n)
        walk_fail(w, ROCE_STATUS_MALFORMED, layer, "length field ends inside the header");
    else
        walk_fail(w, ROCE_STATUS_TRUNCATED, layer, "frame is cut inside the header");
    return NULL;
}

/* walk_set_end narrows the walk to a layer that says it ends at |end|. */
void walk_set_end(struct walk *w, uint32_t end);

/* walk_push_tunnel records an encapsulation; returns it, or NULL when the frame is nested too
 * deeply (noted). */
struct roce_tunnel *walk_push_tunnel(struct walk *w, enum roce_tunnel_kind kind,
                                     enum roce_layer layer);

/* tunnel.c */
enum next walk_mpls(struct walk *w);
enum next walk_gre(struct walk *w);
enum next walk_udp_tunnel(struct walk *w);

/* ip.c */
enum next walk_ipv4(struct walk *w);
enum next walk_ipv6(struct walk *w);
enum next walk_grh(struct walk *w);

/* transport.c */
enum next walk_udp(struct walk *w);
enum next walk_transport(struct walk *w);
/* walk_plain_extended decodes the extended headers |headers|, all of them captured at |p|. */
void walk_plain_extended(struct roce_packet *pkt, unsigned headers, const uint8_t *p);

/* link.c */
enum next walk_link(struct walk *w, uint32_t linktype);
enum next walk_ethernet(struct walk *w);
enum next walk_ethertype(struct walk *w);
enum next walk_lrh(struct walk *w);

#endif
