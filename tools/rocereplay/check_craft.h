/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Frames by hand: any header field may be wrong, all that is not said is right. */
#ifndef ROCEREPLAY_CHECK_CRAFT_H
#define ROCEREPLAY_CHECK_CRAFT_H

#include <roce/aeth.h>
#include <roce/bth.h>
#include <roce/xth.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CRAFT_MAX = 4096 + 256 };

/* Between whom the frames go. */
struct craft_path {
    uint8_t smac[6], dmac[6];
    uint8_t src_ip[16], dst_ip[16];
    bool has_vlan;
    uint16_t vlan_tci;
};

struct craft {
    struct roce_bth bth;   /* |pad| as the payload needs unless |own_pad| */
    struct roce_reth reth; /* extended headers go in as the opcode says */
    struct roce_atomic_eth atomic;
    struct roce_aeth aeth;
    struct roce_deth deth;
    uint64_t original; /* of an atomic ACK */
    uint32_t imm;
    const uint8_t *payload; /* NULL: zeros */
    uint32_t payload_len;
    uint8_t tos, ttl;
    uint16_t sport;
    bool own_pad, bad_icrc, wrong_source, udp_checksum;
    /* Changed on the way, behind the ICRC. */
    bool rewritten;
    uint8_t new_tos, new_ttl;
};

/* craft_frame writes the frame to |buf| and returns its length. */
size_t craft_frame(const struct craft_path *path, const struct craft *c, uint8_t buf[CRAFT_MAX]);

#endif
