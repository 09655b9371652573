/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One frame, decoded: Ethernet to ICRC, tunnels included. Nothing is allocated, nothing copied, no
 * pointer into the frame is kept: positions are byte offsets from the first byte of the frame. */
#ifndef ROCE_PACKET_H
#define ROCE_PACKET_H

#include <roce/aeth.h>
#include <roce/bth.h>
#include <roce/net.h>
#include <roce/opcode.h>
#include <roce/pfc.h>
#include <roce/types.h>
#include <roce/xth.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ROCE_VLAN_MAX                                                           \
    4 /* tags kept of one Ethernet header; further ones are skipped and counted \
       */
#define ROCE_TUNNEL_MAX    4 /* encapsulations kept, outermost first */
#define ROCE_ENCAP_DEPTH   8 /* encapsulations followed; a deeper frame is ROCE_STATUS_UNKNOWN */
#define ROCE_UDP_PORTS_MAX 8

/* What the frame is. */
enum roce_kind {
    ROCE_KIND_OTHER,  /* no RoCE: ethertype, ip.proto and udp tell what it is */
    ROCE_KIND_ROCEV2, /* UDP 4791 or a port of the options */
    ROCE_KIND_ROCEV1, /* EtherType 0x8915 */
    ROCE_KIND_IB,     /* native InfiniBand */
    ROCE_KIND_PFC,
    ROCE_KIND_PAUSE,
};

/* How far the decoder came. What |has| names is valid whatever the status. */
enum roce_status {
    ROCE_STATUS_OK,
    ROCE_STATUS_TRUNCATED, /* the frame ends (snap length, mirror slicing) inside a header */
    ROCE_STATUS_MALFORMED, /* lengths or values contradict each other */
    ROCE_STATUS_UNKNOWN,   /* a version, opcode or type that this library does not know */
};

enum roce_layer {
    ROCE_LAYER_LINK,
    ROCE_LAYER_ETH,
    ROCE_LAYER_VLAN,
    ROCE_LAYER_MPLS,
    ROCE_LAYER_IP,
    ROCE_LAYER_GRE,
    ROCE_LAYER_ERSPAN,
    ROCE_LAYER_UDP,
    ROCE_LAYER_VXLAN,
    ROCE_LAYER_GENEVE,
    ROCE_LAYER_LRH,
    ROCE_LAYER_GRH,
    ROCE_LAYER_BTH,
    ROCE_LAYER_XTH, /* an extended transport header */
    ROCE_LAYER_PAYLOAD,
    ROCE_LAYER_MAC_CONTROL,
};

enum roce_tunnel_kind {
    ROCE_TUNNEL_VXLAN,
    ROCE_TUNNEL_VXLAN_GPE,
    ROCE_TUNNEL_GENEVE,
    ROCE_TUNNEL_GRE,
    ROCE_TUNNEL_NVGRE,
    ROCE_TUNNEL_ERSPAN1,
    ROCE_TUNNEL_ERSPAN2,
    ROCE_TUNNEL_ERSPAN3,
    ROCE_TUNNEL_IPIP,
    ROCE_TUNNEL_MPLS,
};

struct roce_tunnel {
    uint8_t kind; /* enum roce_tunnel_kind */
    bool has_key; /* |key| is there: always for VXLAN, GENEVE, NVGRE, MPLS; for GRE when K is set */
    bool cut;     /* ERSPAN T bit: the mirror cut the frame */
    uint32_t key; /* VNI, GRE key, NVGRE VSID << 8 | flow id, MPLS bottom label */
    uint16_t session; /* ERSPAN II, III session id */
    uint32_t tstamp;  /* ERSPAN III hardware time stamp, in its own granularity */
};

/* Bits of roce_packet.has; the extended headers keep their ROCE_H_* bits (opcode.h). */
enum roce_has {
    ROCE_HAS_ETH = 1 << 16,
    ROCE_HAS_IP = 1 << 17, /* |ip|: the header next to the transport (a GRH too) */
    ROCE_HAS_UDP = 1 << 18,
    ROCE_HAS_LRH = 1 << 19,
    ROCE_HAS_GRH = 1 << 20, /* |ip| is a GRH */
    ROCE_HAS_BTH = 1 << 21,
    ROCE_HAS_PAYLOAD = 1 << 22, /* payload_off, payload_len, icrc_off are known */
    ROCE_HAS_MAD = 1 << 23,     /* payload is a MAD for QP 0 or 1: see mad.h */
    ROCE_HAS_OUTER_IP =
        1 << 25, /* |outer_ip|: the IP header in front of the first encapsulation behind one */
    ROCE_HAS_DC = 1 << 24, /* vendor DC: dc_off, dc_len name the bytes between BTH and payload */
};

struct roce_packet {
    uint8_t kind;     /* enum roce_kind */
    uint8_t status;   /* enum roce_status: the first thing that was wrong */
    uint8_t layer;    /* enum roce_layer of that thing */
    uint8_t service;  /* enum roce_service, with ROCE_HAS_BTH */
    uint8_t op;       /* enum roce_op, with ROCE_HAS_BTH */
    uint8_t pos;      /* enum roce_pos, with ROCE_HAS_BTH */
    bool response;    /* PSN belongs to the peer's requests, with ROCE_HAS_BTH */
    bool sliced;      /* captured bytes end before the packet does */
    bool cut_on_wire; /* the frame itself ends before its IP length says (sliced by the mirror) */
    uint8_t n_vlan;   /* tags kept in |vlan| */
    uint8_t n_outer_vlan;
    uint8_t n_tunnel;   /* encapsulations kept in |tunnel| */
    uint16_t ethertype; /* innermost, behind the tags; 0 without */
    uint32_t has;       /* ROCE_H_* and ROCE_HAS_* */
    const char *why;    /* static text when status is not OK, else NULL */

    uint32_t ip_off, udp_off,
        bth_off; /* ip_off: IP header or GRH; first byte the ICRC covers (LRH: lrh_off) */
    uint32_t lrh_off;
    uint32_t dc_off, dc_len;
    uint32_t payload_off,
        payload_len; /* by the IP, GRH or LRH length: without pad and ICRC, captured or not */
    uint32_t payload_captured; /* of payload_len, bytes that are in the frame */
    uint32_t icrc_off;         /* payload_off + payload_len + pad */
    uint32_t end_off;          /* end of the packet by its length; behind it is the trailer */
    uint32_t trailer_len; /* captured bytes behind end_off: Ethernet pad, FCS, time stamps, VCRC */

    /* what nearly every packet has lies side by side */
    struct roce_eth eth; /* innermost Ethernet header */
    struct roce_ip ip;
    struct roce_udp udp;
    struct roce_bth bth;
    struct roce_reth reth;
    struct roce_aeth aeth;
    uint32_t imm;
    struct roce_ieth ieth;
    struct roce_deth deth;
    struct roce_atomic_eth atomic_eth;
    struct roce_atomic_ack_eth atomic_ack_eth;
    struct roce_rdeth rdeth;
    struct roce_xrceth xrceth;
    struct roce_feth feth;
    struct roce_vlan vlan[ROCE_VLAN_MAX]; /* tags of the Ethernet header, outermost first */
    struct roce_vlan
        outer_vlan[ROCE_VLAN_MAX]; /* tags of the outermost Ethernet header when encapsulated */
    struct roce_tunnel tunnel[ROCE_TUNNEL_MAX];
    struct roce_ip outer_ip; /* with ROCE_HAS_OUTER_IP */
    struct roce_lrh lrh;
    struct roce_pfc pfc;     /* kind PFC and status OK */
    struct roce_pause pause; /* kind PAUSE and status OK */
};

struct roce_decode_opts {
    uint16_t udp_ports[ROCE_UDP_PORTS_MAX]; /* further UDP destination ports that carry RoCEv2 */
    uint8_t n_udp_ports;
    bool rd; /* 0x40-0x5F are RD; without it they are vendor DC, opaque behind the BTH */
};

/* roce_packet_decode decodes the frame into |pkt|; |opts| may be NULL. Only the members that kind
 * and |has| announce are written. Returns the kind (enum roce_kind). */
int roce_packet_decode(const struct roce_frame *frame, const struct roce_decode_opts *opts,
                       struct roce_packet *pkt);

static inline bool roce_packet_is_roce(const struct roce_packet *pkt)
{
    return (pkt->has & ROCE_HAS_BTH) != 0;
}

/* Fields of the transport headers by their place: layout.def. */
enum roce_span_id {
#define SPAN(id, offset, length) ROCE_SPAN_##id,
#include <roce/layout.def>
#undef SPAN
    ROCE_SPANS
};

/* struct roce_span is a run of bytes, from the first byte of the field's header. */
struct roce_span {
    uint8_t off, len;
};
struct roce_span roce_span(enum roce_span_id id);

/* roce_packet_header_off returns where in the frame the extended header |header| lies (one of the
 * bits that |pkt->has| announces); the BTH's place is bth_off. */
uint32_t roce_packet_header_off(const struct roce_packet *pkt, enum roce_header header);

/* Static lower-case names, never NULL: "ok", "truncated", "malformed", "unknown"; "eth", "bth",
 * ...; "vxlan", ... */
const char *roce_status_name(enum roce_status status);
const char *roce_layer_name(enum roce_layer layer);
const char *roce_tunnel_name(enum roce_tunnel_kind kind);

#ifdef __cplusplus
}
#endif
#endif
