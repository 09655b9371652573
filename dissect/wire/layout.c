/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where the transport headers and their fields lie in a frame. */
#include <roce/packet.h>

struct roce_span roce_span(enum roce_span_id id)
{
    static const struct roce_span spans[ROCE_SPANS] = {
#define SPAN(id, offset, length) [ROCE_SPAN_##id] = {(offset), (length)},
#include <roce/layout.def>
#undef SPAN
    };
    return spans[id];
}

static uint32_t header_len(enum roce_header header)
{
    switch (header) {
    case ROCE_H_RDETH:
        return ROCE_RDETH_LEN;
    case ROCE_H_DETH:
        return ROCE_DETH_LEN;
    case ROCE_H_XRCETH:
        return ROCE_XRCETH_LEN;
    case ROCE_H_FETH:
        return ROCE_FETH_LEN;
    case ROCE_H_RETH:
        return ROCE_RETH_LEN;
    case ROCE_H_ATOMIC:
        return ROCE_ATOMIC_ETH_LEN;
    case ROCE_H_AETH:
        return ROCE_AETH_LEN;
    case ROCE_H_ATOMIC_ACK:
        return ROCE_ATOMIC_ACK_ETH_LEN;
    case ROCE_H_IMM:
        return ROCE_IMM_LEN;
    case ROCE_H_IETH:
        return ROCE_IETH_LEN;
    }
    return 0;
}

uint32_t roce_packet_header_off(const struct roce_packet *pkt, enum roce_header header)
{
    uint32_t off = pkt->bth_off + ROCE_BTH_LEN;
    /* The bits of enum roce_header stand in wire order. */
    for (unsigned bit = ROCE_H_RDETH; bit < (unsigned)header; bit <<= 1)
        if ((pkt->has & bit) != 0)
            off += header_len((enum roce_header)bit);
    return off;
}
