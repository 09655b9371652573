/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rewriting of CM messages (IBTA 12.6): what they say of QPs, PSNs and addresses follows the rules,
 * all other bytes, private data among them, stay. */
#include <roce/cm.h>
#include <string.h>

#include "rocereplay/rewrite.h"

/* Bytes from the start of the message; 0: the message has no such field. */
struct places {
    uint8_t local_qpn, remote_qpn, psn;
    uint8_t gid[4];
    uint8_t ip; /* RDMA-CM header (annex A11) in the private data */
};

enum { IP_VERSION = 1, IP_SRC = 4, IP_DST = 20, IP_LAST4 = 12 };

static struct places places_of(uint16_t attr_id)
{
    switch (attr_id) {
    case ROCE_CM_REQ:
        return (struct places){.local_qpn = 32, .psn = 44, .gid = {56, 72, 100, 116}, .ip = 140};
    case ROCE_CM_REP:
        return (struct places){.local_qpn = 12, .psn = 20};
    case ROCE_CM_DREQ:
        return (struct places){.remote_qpn = 8};
    case ROCE_CM_LAP:
        return (struct places){.remote_qpn = 12, .gid = {24, 40}};
    case ROCE_CM_SIDR_REQ:
        return (struct places){.ip = 16};
    case ROCE_CM_SIDR_REP:
        return (struct places){.local_qpn = 8};
    default:
        return (struct places){0};
    }
}

static uint32_t load24(const uint8_t *p)
{
    return (uint32_t)p[0] << 16 | (uint32_t)p[1] << 8 | p[2];
}

static bool map_ip_header(const struct rewrite *rw, uint8_t *ip)
{
    bool changed = false;
    if (ip[IP_VERSION] >> 4 == 6) {
        changed = rewrite_map_ip(rw, ip + IP_SRC);
        return rewrite_map_ip(rw, ip + IP_DST) || changed;
    }
    changed = rewrite_map_ip4(rw, ip + IP_SRC + IP_LAST4);
    return rewrite_map_ip4(rw, ip + IP_DST + IP_LAST4) || changed;
}

bool rewrite_cm(const struct rewrite *rw, const struct roce_packet *pkt, uint16_t attr_id,
                uint8_t *cm)
{
    static const uint8_t zero[16];
    const struct places at = places_of(attr_id);
    const uint8_t *sender = pkt->ip.src, *receiver = pkt->ip.dst;
    struct roce_cm msg;
    bool changed = false;
    if (roce_cm_decode(attr_id, cm, ROCE_CM_LEN, &msg) < 0)
        return false;
    /* The PSN that a message names is the one its receiver begins to send with, to the QP named
     * beside it. */
    if (at.psn != 0)
        changed |= rewrite_add_psn(rw, pkt, receiver, sender, load24(cm + at.local_qpn), false,
                                   cm + at.psn);
    if (at.local_qpn != 0)
        changed |= rewrite_map_qp(rw, sender, cm + at.local_qpn);
    if (at.remote_qpn != 0)
        changed |= rewrite_map_qp(rw, receiver, cm + at.remote_qpn);
    for (int i = 0; i < 4; i++)
        if (at.gid[i] != 0 && memcmp(cm + at.gid[i], zero, 16) != 0)
            changed |= rewrite_map_ip(rw, cm + at.gid[i]);
    if (at.ip != 0 && msg.has_ip)
        changed |= map_ip_header(rw, cm + at.ip);
    return changed;
}
