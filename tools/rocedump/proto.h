/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names for frames that are not RoCE, and a count of what a capture holds instead. */
#ifndef ROCEDUMP_PROTO_H
#define ROCEDUMP_PROTO_H

#include <roce/packet.h>

#define PROTO_NAME_MAX 40

enum { CENSUS_KINDS_MAX = 64, CENSUS_TEXT_MAX = 640 };

struct census {
    uint64_t frames;
    uint64_t roce;  /* with a BTH, or cut short before it */
    uint64_t pause; /* PFC and 802.3x PAUSE */
    uint32_t kinds;
    uint64_t rest; /* of kinds that no longer fit */
    struct {
        uint32_t key;
        uint64_t count;
    } kind[CENSUS_KINDS_MAX];
};

/* proto_name writes "TCP", "ARP", "ethertype 0x88f7" for a frame of kind ROCE_KIND_OTHER and
 * returns the end. */
char *proto_name(char *out, const struct roce_frame *frame, const struct roce_packet *pkt);

/* census_add counts one frame. */
void census_add(struct census *census, const struct roce_frame *frame,
                const struct roce_packet *pkt);

/* census_text writes "0 RoCE packets in 184: 120 TCP, 40 ARP, 24 other UDP", most frequent first,
 * and a NUL; returns the length. */
size_t census_text(const struct census *census, char text[CENSUS_TEXT_MAX]);

#endif
