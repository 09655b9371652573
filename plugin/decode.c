/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From Wireshark's buffer back to the packet's first byte: the shared decoder wants a whole frame,
 * or at least a whole IP packet. */
#include "rocev2.h"

#include <epan/ipproto.h>
#include <wiretap/wtap.h>

#include <roce/err.h>

/* IP headers are looked for in front of the UDP header: the longest that is tried, in bytes. */
#define LOOK_BACK 256
#define ALIGNMENT 4 /* of all IP header lengths */

static int link_type(const packet_info *pinfo)
{
    if (pinfo->rec == NULL || pinfo->rec->rec_type != REC_TYPE_PACKET)
        return -1;
    switch (pinfo->rec->rec_header.packet_header.pkt_encap) {
    case WTAP_ENCAP_ETHERNET:
        return ROCE_LINK_ETHERNET;
    case WTAP_ENCAP_SLL:
        return ROCE_LINK_SLL;
    case WTAP_ENCAP_SLL2:
        return ROCE_LINK_SLL2;
    case WTAP_ENCAP_RAW_IP:
    case WTAP_ENCAP_RAW_IP4:
    case WTAP_ENCAP_RAW_IP6:
        return ROCE_LINK_RAW;
    }
    return -1;
}

static bool is_frame(tvbuff_t *source, const packet_info *pinfo)
{
    return pinfo->data_src != NULL && get_data_source_tvb(pinfo->data_src->data) == source;
}

/* Whether the decoder came to what begins at |at|: a BTH, or a GRH, or a MAC control opcode. */
static bool came_to(const struct roce_packet *pkt, uint32_t at)
{
    switch ((enum roce_kind)pkt->kind) {
    case ROCE_KIND_ROCEV2:
        return pkt->udp_off + ROCE_UDP_LEN == at;
    case ROCE_KIND_ROCEV1:
        return (pkt->has & ROCE_HAS_GRH) == 0 || pkt->ip_off == at;
    case ROCE_KIND_PFC:
    case ROCE_KIND_PAUSE:
        return true;
    case ROCE_KIND_OTHER:
    case ROCE_KIND_IB:
        break;
    }
    return false;
}

/* The innermost IP packet, by trying where its header could begin. */
static bool look_back(const struct roce_frame *whole, uint32_t at,
                      const struct roce_decode_opts *opts, struct roce_frame *frame,
                      struct roce_packet *pkt)
{
    for (uint32_t back = ROCE_IPV4_LEN + ROCE_UDP_LEN; back <= LOOK_BACK && back <= at;
         back += ALIGNMENT) {
        *frame = *whole;
        frame->data += at - back;
        frame->caplen -= at - back;
        frame->origlen -= MIN(frame->origlen, at - back);
        frame->linktype = ROCE_LINK_RAW;
        if (roce_packet_decode(frame, opts, pkt) == ROCE_KIND_ROCEV2 && came_to(pkt, back) &&
            pkt->n_tunnel == 0)
            return true;
    }
    return false;
}

/* Without the bytes of the headers around it (reassembled fragments, exported PDUs) the packet gets
 * new ones from what Wireshark knows. */
static bool rebuild(tvbuff_t *tvb, const packet_info *pinfo, const struct roce_decode_opts *opts,
                    struct roce_frame *frame, struct roce_packet *pkt, uint32_t *base)
{
    const uint32_t caplen = tvb_captured_length(tvb);
    const uint32_t reported = tvb_reported_length(tvb);
    uint8_t *bytes = wmem_alloc(pinfo->pool, ROCE_IPV6_LEN + ROCE_UDP_LEN + caplen);
    struct roce_ip ip = {.proto = IP_PROTO_UDP, .ttl = 1};
    int len;
    if (reported > UINT16_MAX - ROCE_IPV6_LEN - ROCE_UDP_LEN)
        return false;
    if (pinfo->net_src.type == AT_IPv4) {
        ip.total_len = ROCE_IPV4_LEN + ROCE_UDP_LEN + reported;
        len = roce_ipv4_encode(&ip, bytes, ROCE_IPV4_LEN);
    } else {
        ip.total_len = ROCE_IPV6_LEN + ROCE_UDP_LEN + reported;
        len = roce_ipv6_encode(&ip, bytes, ROCE_IPV6_LEN);
    }
    const struct roce_udp udp = {.sport = (uint16_t)pinfo->srcport,
                                 .dport = (uint16_t)pinfo->destport,
                                 .len = (uint16_t)(ROCE_UDP_LEN + reported)};
    len += roce_udp_encode(&udp, bytes + len, ROCE_UDP_LEN);
    tvb_memcpy(tvb, bytes + len, 0, caplen);
    frame->data = bytes;
    frame->caplen = (uint32_t)len + caplen;
    frame->origlen = (uint32_t)len + reported;
    frame->linktype = ROCE_LINK_RAW;
    *base = (uint32_t)len;
    return roce_packet_decode(frame, opts, pkt) == ROCE_KIND_ROCEV2;
}

static struct roce_frame frame_of(tvbuff_t *source, const packet_info *pinfo)
{
    const uint32_t caplen = tvb_captured_length(source);
    return (struct roce_frame){
        .data = tvb_get_ptr(source, 0, (int)caplen),
        .caplen = caplen,
        .origlen = tvb_reported_length(source),
        .number = pinfo->num,
        .ts = (roce_tstamp)pinfo->abs_ts.secs * 1000000000U + (roce_tstamp)pinfo->abs_ts.nsecs,
    };
}

bool decode_frame(packet_info *pinfo, struct roce_frame *frame, struct roce_packet *pkt)
{
    const int type = link_type(pinfo);
    if (type < 0 || pinfo->data_src == NULL)
        return false;
    *frame = frame_of(get_data_source_tvb(pinfo->data_src->data), pinfo);
    frame->linktype = (uint32_t)type;
    roce_packet_decode(frame, NULL, pkt);
    return true;
}

enum decoded decode_packet(tvbuff_t *tvb, packet_info *pinfo, bool rd, struct roce_frame *frame,
                           struct roce_packet *pkt, uint32_t *base)
{
    const struct roce_decode_opts opts = {
        .rd = rd, .udp_ports = {(uint16_t)pinfo->destport}, .n_udp_ports = 1};
    tvbuff_t *source = tvb_get_ds_tvb(tvb);
    const uint32_t at = (uint32_t)tvb_raw_offset(tvb);
    struct roce_frame whole = frame_of(source, pinfo);
    const int type = is_frame(source, pinfo) ? link_type(pinfo) : -1;
    *base = at;
    if (type >= 0) {
        whole.linktype = (uint32_t)type;
        roce_packet_decode(&whole, &opts, pkt);
        if (came_to(pkt, at)) {
            *frame = whole;
            return DECODED_FRAME;
        }
    }
    if (pinfo->ptype != PT_UDP)
        return DECODED_NOT;
    if (look_back(&whole, at, &opts, frame, pkt)) {
        *base = at - (uint32_t)(frame->data - whole.data);
        return DECODED_INNER;
    }
    *frame = whole;
    return rebuild(tvb, pinfo, &opts, frame, pkt, base) ? DECODED_REBUILT : DECODED_NOT;
}
