/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Packets for the tests of fields and filters, filled by hand so that every field has a value of
 * its own; what the decoder makes of real frames is tested with the decoder. */
#ifndef TESTS_FILTER_SAMPLES_H
#define TESTS_FILTER_SAMPLES_H

#include <string.h>

#include <roce/field.h>

enum sample_id {
    S_BARE,   /* no RoCE, nothing known */
    S_ALL,    /* RoCEv2 on IPv4, two VLAN tags, every extension header at once */
    S_TUNNEL, /* ERSPAN III around VXLAN, IPv6 and vendor DC inside */
    S_GRE,    /* GRE without a key around an untagged frame; XRC RNR NAK */
    S_NAK,
    S_UNLIMITED, /* ACK without credit information */
    S_CNP,
    S_RD,
    S_IB,
    S_PFC,
    S_PAUSE,
    S_ERROR,
    S_REQ,
    S_REQ_CUT, /* as S_REQ, cut behind the service id */
    S_REP,
    S_REJ,
    S_MRA,
    S_DREQ,
    S_LAP,
    S_APR,
    S_SIDR_REQ,
    S_SIDR_REP,
    S_COUNT
};

struct sample {
    struct roce_frame frame;
    struct roce_packet pkt;
    struct roce_icrc icrc;
    struct roce_view view;
};

static inline void sample_v6(uint8_t out[16], uint8_t last)
{
    memset(out, 0, 16);
    out[0] = 0xfe;
    out[1] = 0x80;
    out[15] = last;
}

static inline void sample_ipv4(struct roce_ip *ip, uint8_t net)
{
    *ip = (struct roce_ip){
        .version = 4,
        .tos = 26 << 2 | ROCE_ECN_CE,
        .ttl = 63,
        .proto = 17,
        .hdr_len = 20,
        .id = 0x1234,
        .frag = 0x4000,
        .total_len = 1100,
        .checksum = 0xbeef,
    };
    roce_ip_v4(ip->src, net, 0, 0, 1);
    roce_ip_v4(ip->dst, net, 1, 2, 3);
}

static inline void sample_roce(struct sample *s, uint8_t opcode)
{
    const struct roce_opcode_info *info = roce_opcode_info(opcode);
    s->pkt.kind = ROCE_KIND_ROCEV2;
    s->pkt.has =
        ROCE_HAS_ETH | ROCE_HAS_IP | ROCE_HAS_UDP | ROCE_HAS_BTH | ROCE_HAS_PAYLOAD | info->headers;
    s->pkt.service = info->service;
    s->pkt.op = info->op;
    s->pkt.pos = info->pos;
    s->pkt.response = info->response;
    s->pkt.ethertype = 0x0800;
    s->pkt.payload_len = 1024;
    s->pkt.trailer_len = 4;
    s->pkt.bth = (struct roce_bth){.opcode = opcode, .pkey = 0xffff, .dqpn = 0x12, .psn = 101};
    s->pkt.udp = (struct roce_udp){.sport = 49152, .dport = 4791, .len = 1080, .checksum = 0xabc};
    memcpy(s->pkt.eth.dst, "\x02\x00\x00\x00\x00\x0b", 6);
    memcpy(s->pkt.eth.src, "\x02\x00\x00\x00\x00\x0a", 6);
    sample_ipv4(&s->pkt.ip, 10);
    s->icrc =
        (struct roce_icrc){.status = ROCE_ICRC_OK, .has_value = true, .value = 7, .expected = 7};
}

static inline void sample_all(struct sample *s)
{
    sample_roce(s, ROCE_OPCODE_RC_WRITE_ONLY_IMM);
    struct roce_packet *p = &s->pkt;
    p->has |= ROCE_H_RDETH | ROCE_H_DETH | ROCE_H_XRCETH | ROCE_H_FETH | ROCE_H_ATOMIC |
              ROCE_H_AETH | ROCE_H_ATOMIC_ACK | ROCE_H_IETH;
    p->n_vlan = 2;
    p->vlan[0] = (struct roce_vlan){0x88a8, 5 << 13 | 1 << 12 | 200};
    p->vlan[1] = (struct roce_vlan){0x8100, 3 << 13 | 100};
    p->bth.ackreq = p->bth.se = p->bth.migreq = p->bth.fecn = p->bth.becn = true;
    p->bth.pad = 3;
    p->bth.tver = 2;
    p->bth.resv6 = 0x2a;
    p->bth.resv7 = 0x55;
    p->rdeth.ee_context = 0x1001;
    p->deth = (struct roce_deth){0x80010000, 0x1002};
    p->xrceth.srq = 0x1003;
    p->feth = (struct roce_feth){.plt = 3, .sel = 1};
    p->reth = (struct roce_reth){UINT64_C(0xfedcba9876543210), 0x1004, 65536};
    p->atomic_eth = (struct roce_atomic_eth){0x1005, 0x1006, UINT64_MAX, 0x1007};
    p->aeth = (struct roce_aeth){0x05, 0x123456};
    p->atomic_ack_eth.original = 0x1008;
    p->imm = 0x1009;
    p->ieth.rkey = 0x100a;
    s->icrc = (struct roce_icrc){
        .status = ROCE_ICRC_BAD, .has_value = true, .value = 0x82fd002a, .expected = 0x2a00fd82};
}

static inline void sample_tunnel(struct sample *s)
{
    sample_roce(s, 0x45);
    struct roce_packet *p = &s->pkt;
    p->has &= ~(uint32_t)0xffff;
    p->has |= ROCE_HAS_DC;
    p->service = ROCE_SERVICE_DC;
    p->op = ROCE_OP_NONE;
    p->dc_len = 8;
    p->ethertype = 0x86dd;
    p->n_outer_vlan = 2;
    p->outer_vlan[0] = (struct roce_vlan){0x88a8, 6 << 13 | 7};
    p->outer_vlan[1] = (struct roce_vlan){0x8100, 1 << 13 | 8};
    p->n_tunnel = 2;
    p->tunnel[0] = (struct roce_tunnel){
        .kind = ROCE_TUNNEL_ERSPAN3, .cut = true, .session = 77, .tstamp = 123456789};
    p->tunnel[1] = (struct roce_tunnel){.kind = ROCE_TUNNEL_VXLAN, .has_key = true, .key = 5001};
    p->outer_ip = p->ip;
    p->has |= ROCE_HAS_OUTER_IP;
    p->ip = (struct roce_ip){.version = 6,
                             .tos = ROCE_ECN_ECT0,
                             .ttl = 255,
                             .proto = 17,
                             .flow_label = 0x1face,
                             .total_len = 1120,
                             .fragment = true,
                             .options = true};
    sample_v6(p->ip.src, 1);
    sample_v6(p->ip.dst, 2);
    p->sliced = p->cut_on_wire = true;
    s->icrc = (struct roce_icrc){.status = ROCE_ICRC_UNCHECKED, .reason = ROCE_ICRC_SLICED};
}

static inline void sample_gre(struct sample *s)
{
    sample_roce(s, ROCE_OPCODE_XRC_ACKNOWLEDGE);
    s->pkt.n_tunnel = 1;
    s->pkt.tunnel[0].kind = ROCE_TUNNEL_GRE;
    s->pkt.outer_ip = s->pkt.ip;
    s->pkt.has |= ROCE_HAS_OUTER_IP;
    s->pkt.outer_ip.src[12] = 192;
    s->pkt.aeth = (struct roce_aeth){0x2c, 9};
}

static inline void sample_ib(struct sample *s)
{
    sample_roce(s, ROCE_OPCODE_UD_SEND_ONLY);
    s->pkt.kind = ROCE_KIND_IB;
    s->pkt.has = ROCE_HAS_LRH | ROCE_HAS_BTH | ROCE_HAS_PAYLOAD | ROCE_H_DETH;
    s->pkt.ethertype = 0;
    s->pkt.lrh = (struct roce_lrh){.vl = 1, .sl = 2, .dlid = 3, .slid = 4, .pktlen = 5};
    s->pkt.deth = (struct roce_deth){1, 0x2002};
    s->icrc = (struct roce_icrc){.status = ROCE_ICRC_UNCHECKED, .reason = ROCE_ICRC_NOT_ASKED};
}

static inline void sample_mac_control(struct sample *s, enum roce_kind kind)
{
    static const uint16_t quanta[8] = {0, 1, 2, 65535, 4, 5, 6, 7};
    s->pkt.kind = (uint8_t)kind;
    s->pkt.has = ROCE_HAS_ETH;
    s->pkt.ethertype = 0x8808;
    memcpy(s->pkt.eth.dst, "\x01\x80\xc2\x00\x00\x01", 6);
    memcpy(s->pkt.eth.src, "\x02\x00\x00\x00\x00\x0c", 6);
    s->pkt.pfc.enable = 1 << 3 | 1 << 0;
    memcpy(s->pkt.pfc.quanta, quanta, sizeof(quanta));
    s->pkt.pause.quanta = 256;
}

static inline void sample_path(struct roce_cm_path *path, uint8_t base)
{
    *path = (struct roce_cm_path){
        .local_lid = (uint16_t)(0xff00 + base),
        .remote_lid = (uint16_t)(0xff01 + base),
        .flow_label = 0x10000u + base,
        .packet_rate = (uint8_t)(base + 2),
        .traffic_class = (uint8_t)(base + 3),
        .hop_limit = (uint8_t)(base + 4),
        .sl = (uint8_t)(base + 5),
        .subnet_local = true,
        .ack_timeout = (uint8_t)(base + 6),
    };
    roce_ip_v4(path->local_gid, 10, 0, 0, base);
    sample_v6(path->remote_gid, base);
}

/* Every member of the CM message has a value; which of them the message has is the fields' affair.
 */
static inline void sample_cm(struct sample *s, enum roce_cm_message message)
{
    sample_roce(s, ROCE_OPCODE_UD_SEND_ONLY);
    s->pkt.bth.dqpn = 1;
    s->pkt.deth = (struct roce_deth){0x80010000, 1};
    s->view.has_mad = s->view.has_cm = true;
    s->view.cm_len = ROCE_CM_LEN;
    s->view.mad = (struct roce_mad){
        .base_version = 1,
        .mgmt_class = 7,
        .class_version = 2,
        .method = 3,
        .status = 4,
        .class_specific = 5,
        .tid = UINT64_C(0x123456789abcdef0),
        .attr_id = (uint16_t)message,
        .attr_mod = 6,
    };
    struct roce_cm *cm = &s->view.cm;
    *cm = (struct roce_cm){
        .message = (uint8_t)message,
        .local_comm_id = 0x3001,
        .remote_comm_id = 0x3002,
        .service_id = 0x01061234,
        .ca_guid = UINT64_C(0xa0b0c0d0e0f00102),
        .qkey = 0x3003,
        .local_qpn = 0x3004,
        .remote_qpn = 0x3005,
        .local_eecn = 0x3006,
        .remote_eecn = 0x3007,
        .starting_psn = 3008,
        .vendor_id = 0x3009,
        .responder_resources = 16,
        .initiator_depth = 17,
        .remote_cm_timeout = 20,
        .local_cm_timeout = 21,
        .transport = 3,
        .ext_transport = 1,
        .flow_control = true,
        .retry_count = 7,
        .rnr_retry = 6,
        .pkey = 0xffff,
        .path_mtu = 3,
        .rdc_exists = true,
        .srq = true,
        .max_cm_retries = 15,
        .target_ack_delay = 18,
        .failover = 1,
        .has_alternate = true,
        .rejected = 1,
        .reject_reason = 28,
        .service_timeout = 19,
        .status = 1,
        .request_id = 0x300a,
        .info_len = 22,
        .has_ip = true,
        .ip = {.ip_version = 4, .src_port = 5555},
        .private_len = 56,
    };
    roce_ip_v4(cm->ip.src, 172, 16, 0, 1);
    roce_ip_v4(cm->ip.dst, 172, 16, 0, 2);
    sample_path(&cm->primary, 1);
    sample_path(&cm->alternate, 8);
}

static inline void sample_aeth(struct sample *s, uint8_t syndrome)
{
    sample_roce(s, ROCE_OPCODE_RC_ACKNOWLEDGE);
    s->pkt.aeth = (struct roce_aeth){syndrome, 5};
}

static inline void sample_fill(struct sample *s, enum sample_id id)
{
    switch (id) {
    case S_ALL:
        sample_all(s);
        break;
    case S_TUNNEL:
        sample_tunnel(s);
        break;
    case S_GRE:
        sample_gre(s);
        break;
    case S_NAK:
        sample_aeth(s, 0x62);
        break;
    case S_UNLIMITED:
        sample_aeth(s, 0x1f);
        break;
    case S_CNP:
        sample_roce(s, ROCE_OPCODE_CNP);
        break;
    case S_RD:
        sample_roce(s, ROCE_OPCODE_RD_SEND_ONLY_IMM);
        break;
    case S_IB:
        sample_ib(s);
        break;
    case S_PFC:
        sample_mac_control(s, ROCE_KIND_PFC);
        break;
    case S_PAUSE:
        sample_mac_control(s, ROCE_KIND_PAUSE);
        break;
    case S_ERROR:
        s->pkt.status = ROCE_STATUS_TRUNCATED;
        s->pkt.layer = ROCE_LAYER_XTH;
        s->pkt.why = "frame is cut inside the header";
        break;
    case S_REQ:
    case S_REQ_CUT:
        sample_cm(s, ROCE_CM_REQ);
        if (id == S_REQ_CUT) {
            s->view.cm_cut = true;
            s->view.cm_len = 16;
        }
        break;
    case S_REP:
        sample_cm(s, ROCE_CM_REP);
        break;
    case S_REJ:
        sample_cm(s, ROCE_CM_REJ);
        break;
    case S_MRA:
        sample_cm(s, ROCE_CM_MRA);
        break;
    case S_DREQ:
        sample_cm(s, ROCE_CM_DREQ);
        break;
    case S_LAP:
        sample_cm(s, ROCE_CM_LAP);
        break;
    case S_APR:
        sample_cm(s, ROCE_CM_APR);
        break;
    case S_SIDR_REQ:
        sample_cm(s, ROCE_CM_SIDR_REQ);
        break;
    case S_SIDR_REP:
        sample_cm(s, ROCE_CM_SIDR_REP);
        break;
    case S_BARE:
    case S_COUNT:
        break;
    }
}

static inline void sample_make(struct sample *s, enum sample_id id)
{
    memset(s, 0, sizeof(*s));
    s->frame.number = 42;
    s->frame.origlen = 1118;
    s->frame.caplen = 128;
    s->frame.iface = 2;
    if (id != S_BARE)
        s->frame.ts = UINT64_C(1700000000123456789);
    s->icrc.status = ROCE_ICRC_UNCHECKED;
    s->icrc.reason = ROCE_ICRC_MALFORMED;
    sample_fill(s, id);
    const struct roce_view mads = s->view;
    roce_view_init(&s->view, &s->frame, &s->pkt, &s->icrc);
    s->view.has_mad = mads.has_mad;
    s->view.has_cm = mads.has_cm;
    s->view.cm_cut = mads.cm_cut;
    s->view.cm_len = mads.cm_len;
    s->view.mad = mads.mad;
    s->view.cm = mads.cm;
    if (id != S_GRE)
        s->view.link_speed_bps = UINT64_C(100000000000);
}

#endif
