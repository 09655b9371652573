/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the plugin's files share: one packet as they see it, and the entry points of each file. */
#ifndef PLUGIN_ROCEV2_H
#define PLUGIN_ROCEV2_H

#include "compat.h"

#include <roce/cm.h>
#include <roce/fmt.h>
#include <roce/mad.h>
#include <roce/observer.h>

#include "analysis.h"

/* One packet with all that is known of it; borrowed, valid during its dissection. Offsets of |pkt|
 * count from |frame->data|; |base| of them is the first byte of |tvb|. */
struct view {
    packet_info *pinfo;
    tvbuff_t *tvb;
    uint32_t base;
    const struct roce_frame *frame;
    const struct roce_packet *pkt;
    const struct roce_icrc *icrc;
    const struct record *rec;          /* NULL: without flow state */
    const struct record *message;      /* record of the message's first frame, NULL unknown */
    const struct roce_flow_info *flow; /* valid with |rec| */
    const struct refusal *refusal;     /* of a NAK: the request it refuses; NULL unknown */
    bool has_mad, has_cm;
    struct roce_mad mad;
    struct roce_cm cm;
    uint64_t link_speed_bps; /* 0 unknown */
};

/* What listeners of the tap "rocev2" get; valid until the frame's dissection ends. */
struct tap_data {
    const struct roce_packet *pkt;
    const struct record *rec; /* NULL: no flow */
    struct roce_flow_info flow;
    tvbuff_t *payload; /* captured payload, NULL without */
    uint32_t length;   /* bytes of the frame */
    bool first;        /* the frame was dissected for the first time: later frames may add to what
                          is known */
};

extern int proto_rocev2;
extern int tap_rocev2;

/* decode.c: finds the packet in front of |tvb| (its first byte is the BTH, GRH or MAC control
 * opcode) and decodes it. Returns false when there is none. */
enum decoded { DECODED_FRAME, DECODED_INNER, DECODED_REBUILT, DECODED_NOT };
enum decoded decode_packet(tvbuff_t *tvb, packet_info *pinfo, bool rd, struct roce_frame *frame,
                           struct roce_packet *pkt, uint32_t *base);

/* Decodes the frame itself; false when its link type is not known. */
bool decode_frame(packet_info *pinfo, struct roce_frame *frame, struct roce_packet *pkt);

/* tree.c */
void tree_register(void);
void tree_build(const struct view *view, proto_tree *tree);

/* expert.c */
void expert_register(void);
/* Adds the expert infos of the packet to |item|, which may be NULL. */
void expert_report(const struct view *view, proto_item *item);
void expert_ulp_gave_up(packet_info *pinfo, proto_item *item);

/* info.c */
#define INFO_ROOM 1024
/* Writes the line of the Info column, NUL terminated. */
void info_line(const struct view *view, char *out);
/* What is put behind the text of an upper protocol: PSN, length, remarks. */
void info_tail(const struct view *view, char *out);

/* tap.c, stat_streams.c, ... */
void tap_register(void);

#endif
