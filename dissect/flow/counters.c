/* SPDX-License-Identifier: GPL-2.0-or-later */
/* NIC counters by their kernel names, derived from the counters of the flows of a host. */
#include "watch.h"

#include <roce/err.h>

#include <string.h>

static const struct {
    const char *name, *text;
    uint8_t side;
} facts[ROCE_HW_COUNT] = {
#define HW(id, side, name, text) [ROCE_HW_##id] = {name, text, ROCE_HW_SIDE_##side},
#include <roce/hwcounters.def>
#undef HW
};

const char *roce_hw_name(enum roce_hw hw)
{
    return (unsigned)hw < ROCE_HW_COUNT ? facts[hw].name : "unknown";
}

const char *roce_hw_text(enum roce_hw hw)
{
    return (unsigned)hw < ROCE_HW_COUNT ? facts[hw].text : "";
}

enum roce_hw_side roce_hw_side(enum roce_hw hw)
{
    return (unsigned)hw < ROCE_HW_COUNT ? (enum roce_hw_side)facts[hw].side : ROCE_HW_SIDE_IN;
}

int roce_hw_by_name(const char *name)
{
    for (int i = 0; i < ROCE_HW_COUNT; i++)
        if (strcmp(facts[i].name, name) == 0)
            return i;
    return ROCE_ERR_UNKNOWN;
}

/* |flow| goes from |src| to |dst|: |src| is the requester of its requests and the responder of its
 * NAKs. */
void counters_add(const struct roce_observer *obs, uint32_t flow, struct roce_host *src,
                  struct roce_host *dst)
{
    struct roce_flow_counters c;
    if (!roce_flow_counters(obs->flows, flow, &c))
        return;
    const struct watch_trouble *trouble = trouble_watched(obs, flow);
    const uint64_t access = c.naks[ROCE_NAK_REMOTE_ACCESS_ERROR],
                   invalid = c.naks[ROCE_NAK_INVALID_REQUEST],
                   operational = c.naks[ROCE_NAK_REMOTE_OPERATIONAL_ERROR];
    if (dst != NULL) {
        uint64_t *in = dst->hw;
        dst->flows_in++;
        dst->packets_in += c.packets;
        dst->bytes_in += c.bytes;
        in[ROCE_HW_RX_WRITE_REQUESTS] += c.messages[ROCE_MESSAGE_WRITE].started;
        in[ROCE_HW_RX_READ_REQUESTS] += c.messages[ROCE_MESSAGE_READ].started;
        in[ROCE_HW_RX_ATOMIC_REQUESTS] += c.messages[ROCE_MESSAGE_ATOMIC].started;
        in[ROCE_HW_DUPLICATE_REQUEST] += trouble == NULL ? 0 : trouble->duplicates;
        in[ROCE_HW_PACKET_SEQ_ERR] += c.naks[ROCE_NAK_PSN_SEQUENCE_ERROR];
        in[ROCE_HW_RNR_NAK_RETRY_ERR] += c.rnr_naks;
        in[ROCE_HW_REQ_REMOTE_ACCESS_ERRORS] += access;
        in[ROCE_HW_REQ_REMOTE_INVALID_REQUEST] += invalid;
        in[ROCE_HW_REQ_REMOTE_OPERATIONAL_ERRORS] += operational;
        in[ROCE_HW_REQ_CQE_ERROR] += access + invalid + operational;
        in[ROCE_HW_RX_ICRC_ENCAPSULATED] += c.icrc_bad;
        in[ROCE_HW_NP_ECN_MARKED_ROCE_PACKETS] += c.ce;
        in[ROCE_HW_RP_CNP_HANDLED] += c.cnps;
    }
    if (src != NULL) {
        uint64_t *out = src->hw;
        src->flows_out++;
        src->packets_out += c.packets;
        src->bytes_out += c.bytes;
        out[ROCE_HW_OUT_OF_SEQUENCE] += c.naks[ROCE_NAK_PSN_SEQUENCE_ERROR];
        out[ROCE_HW_IMPLIED_NAK_SEQ_ERR] += c.retransmission_cause[ROCE_CAUSE_IMPLIED_NAK];
        out[ROCE_HW_LOCAL_ACK_TIMEOUT_ERR] += c.retransmission_cause[ROCE_CAUSE_TIMEOUT];
        out[ROCE_HW_ROCE_ADP_RETRANS] += c.retransmission_cause[ROCE_CAUSE_EARLY];
        out[ROCE_HW_OUT_OF_BUFFER] += c.rnr_naks;
        out[ROCE_HW_RESP_REMOTE_ACCESS_ERRORS] += access;
        out[ROCE_HW_NP_CNP_SENT] += c.cnps;
    }
}

bool roce_observer_flow_hw(const struct roce_observer *obs, uint32_t flow,
                           uint64_t in[ROCE_HW_COUNT], uint64_t out[ROCE_HW_COUNT])
{
    struct roce_host src, dst;
    struct roce_flow_info info;
    if (!roce_flow_info(obs->flows, flow, &info))
        return false;
    memset(&src, 0, sizeof(src));
    memset(&dst, 0, sizeof(dst));
    counters_add(obs, flow, &src, &dst);
    memcpy(in, dst.hw, sizeof(dst.hw));
    memcpy(out, src.hw, sizeof(src.hw));
    return true;
}
