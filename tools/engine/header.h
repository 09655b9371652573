/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Headers of what a QP sends: everything that stays the same is laid out once, a packet fills in
 * the rest. */
#ifndef ENGINE_HEADER_H
#define ENGINE_HEADER_H

#include <roce/bth.h>
#include <roce/packet.h>
#include <string.h>

#include "bytes.h"
#include "engine/engine.h"

#define HEADER_MAX 80 /* Ethernet, a VLAN tag, IPv6, UDP, BTH: 78 */

struct header {
    uint8_t bytes[HEADER_MAX];
    uint8_t len;    /* up to the end of the BTH */
    uint8_t ip_off; /* first byte that the ICRC covers */
    uint8_t ipv4;
    uint8_t prio;    /* 802.1p priority that pause frames stop: PCP, or DSCP >> 3 without a tag */
    uint16_t ip_sum; /* IPv4: checksum over the bytes as they are, not inverted */
};

/* What differs from packet to packet. */
struct bth_vary {
    uint8_t opcode;
    bool se, ackreq;
    uint32_t psn; /* low 24 bits count */
};

/* header_make lays out what |ah| says, towards |dqpn| from |qpn|. */
void header_make(struct header *h, const struct eng_dev *dev, const struct eng_ah *ah, uint32_t qpn,
                 uint32_t dqpn, uint16_t pkey);

/* header_answers tells whether |pkt| goes the opposite way: from the layout's destination to its
 * source. */
bool header_answers(const struct header *h, const struct roce_packet *pkt);

/* header_begin copies the layout to |buf|; what follows the BTH goes to the pointer it returns. */
static inline uint8_t *header_begin(const struct header *h, uint8_t *buf)
{
    memcpy(buf, h->bytes, HEADER_MAX);
    return buf + h->len;
}

/* header_finish completes the frame at |buf| whose |payload_len| bytes end at |end|: pad, lengths,
 * checksums, ICRC. Returns the length of the frame. */
int header_finish(const struct header *h, const struct eng_dev *dev, uint8_t *buf, uint8_t *end,
                  uint32_t payload_len, struct bth_vary bth, uint16_t ip_id);

#endif
