/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Any bytes as a frame of any link type: the decoder's promises hold. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include <roce/cm.h>
#include <roce/icrc.h>
#include <roce/mad.h>
#include <roce/packet.h>
#include <roce/plain.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const uint32_t linktypes[] = {ROCE_LINK_ETHERNET,   ROCE_LINK_RAW, ROCE_LINK_SLL,
                                     ROCE_LINK_SLL2,       ROCE_LINK_ERF, ROCE_LINK_IPV6,
                                     ROCE_LINK_INFINIBAND, 9999};

/* What is read at fixed places is what the walk finds there. */
static void check_plain(const struct roce_frame *frame, const struct roce_packet *pkt)
{
    struct roce_plain at;
    if (!roce_plain(frame, &at))
        return;
    assert(pkt->status == ROCE_STATUS_OK && pkt->kind == ROCE_KIND_ROCEV2);
    assert(pkt->ip_off == ROCE_PLAIN_IP && pkt->bth_off == ROCE_PLAIN_BTH);
    assert(pkt->payload_off == at.payload_off && pkt->payload_len == at.payload_len);
    assert(pkt->end_off == at.end && pkt->n_vlan == 0 && pkt->n_tunnel == 0);
}

static void check(const struct roce_frame *frame, const struct roce_decode_opts *opts)
{
    struct roce_packet pkt;
    struct roce_icrc icrc;
    struct roce_mad mad;
    struct roce_cm cm;

    roce_packet_decode(frame, opts, &pkt);
    assert((pkt.status == ROCE_STATUS_OK) == (pkt.why == NULL));
    assert(pkt.n_vlan <= ROCE_VLAN_MAX && pkt.n_outer_vlan <= ROCE_VLAN_MAX &&
           pkt.n_tunnel <= ROCE_TUNNEL_MAX);
    if (pkt.has & ROCE_HAS_PAYLOAD) {
        assert(pkt.payload_captured <= pkt.payload_len);
        assert((uint64_t)pkt.payload_off + pkt.payload_captured <= frame->caplen ||
               pkt.payload_captured == 0);
        assert(pkt.icrc_off <= pkt.end_off);
        assert(pkt.sliced || pkt.end_off <= frame->caplen);
    }
    if (pkt.has & ROCE_HAS_BTH)
        assert(pkt.bth_off + ROCE_BTH_LEN <= frame->caplen);
    roce_icrc_check(frame, &pkt, &icrc);
    check_plain(frame, &pkt);
    if (pkt.has & ROCE_HAS_MAD && pkt.has & ROCE_HAS_PAYLOAD &&
        roce_mad_decode(frame->data + pkt.payload_off, pkt.payload_captured, &mad) > 0)
        roce_cm_decode(mad.attr_id, frame->data + pkt.payload_off + ROCE_MAD_HDR_LEN,
                       pkt.payload_captured - ROCE_MAD_HDR_LEN, &cm);
}

/* First byte: link type, options and whether the frame was cut; the rest is the frame. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    const uint8_t choice = data[0];
    uint8_t *copy = malloc(size > 1 ? size - 1 : 1);
    if (copy == NULL)
        return 0;
    memcpy(copy, data + 1, size - 1);
    const struct roce_decode_opts opts = {
        .udp_ports = {4800}, .n_udp_ports = 1, .rd = (choice & 8) != 0};
    const struct roce_frame frame = {.data = copy,
                                     .caplen = (uint32_t)(size - 1),
                                     .origlen = (uint32_t)(size - 1) + (choice & 16 ? 1000 : 0),
                                     .linktype = linktypes[choice & 7]};
    check(&frame, &opts);
    free(copy);
    return 0;
}
