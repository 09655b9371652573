/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The GSI QP: management datagrams out and in (IBTA 13.4, 12.6). */
#include "engine/cm_conn.h"

#include <string.h>

enum { CLASS_VERSION = 2, METHOD_SEND = 3, GSI_QPN = 1 };

void cm_mad_build(uint8_t *mad, uint64_t tid, const struct roce_cm *msg, const void *private_data,
                  uint8_t private_len)
{
    const struct roce_mad hdr = {
        .base_version = 1,
        .mgmt_class = ROCE_MAD_CLASS_CM,
        .class_version = CLASS_VERSION,
        .method = METHOD_SEND,
        .tid = tid,
        .attr_id = msg->message,
    };
    roce_mad_encode(&hdr, mad, ROCE_MAD_HDR_LEN);
    uint8_t *body = mad + ROCE_MAD_HDR_LEN;
    roce_cm_encode(msg, body, ROCE_CM_LEN);
    struct roce_cm layout; /* knows where the private data begin */
    roce_cm_decode(msg->message, body, ROCE_CM_LEN, &layout);
    if (private_len > layout.private_len)
        private_len = (uint8_t)layout.private_len;
    if (private_len > 0)
        memcpy(body + layout.private_off, private_data, private_len);
}

/* Sends are inline and always complete: as many are on the way as completions have room. */
static void reap_sends(struct eng_cm *cm)
{
    struct eng_wc wc[16];
    int n;
    while ((n = eng_cq_poll(cm->send_cq, wc, 16)) > 0)
        cm->sends -= (uint32_t)n;
}

void cm_mad_send(struct eng_cm *cm, roce_tstamp now, const struct eng_ah *ah, const uint8_t *mad)
{
    reap_sends(cm);
    struct eng_send_wr wr = {
        .op = ENG_WR_SEND,
        .signaled = true,
        .inline_data = mad,
        .inline_len = ROCE_MAD_LEN,
        .ah = *ah,
        .dest_qpn = GSI_QPN,
        .qkey = ROCE_GSI_QKEY,
    };
    wr.ah.sport = 0; /* that of an address handle is for the connection's own QP */
    const unsigned attr_id = (unsigned)mad[16] << 8 | mad[17]; /* IBTA 13.4.3 */
    if (cm->sends == CM_SENDS || eng_post_send(cm->gsi, now, &wr) != 0) {
        cm->stats.dropped++; /* as a lost packet: it is repeated */
        return;
    }
    cm->sends++;
    cm->stats.sent[attr_id - ROCE_CM_REQ]++;
}

static void post_receive(struct eng_cm *cm, roce_tstamp now, uint64_t slot)
{
    const struct eng_recv_wr wr = {
        .wr_id = slot,
        .n_sge = 1,
        .sge = {{.addr = slot * CM_RECV_LEN, .length = CM_RECV_LEN, .lkey = eng_mr_lkey(cm->mr)}},
    };
    eng_post_recv(cm->gsi, now, &wr);
}

int cm_gsi_new(struct eng_cm *cm, roce_tstamp now)
{
    cm->pd = eng_pd_new(cm->dev);
    cm->send_cq = eng_cq_new(cm->dev, CM_SENDS);
    cm->recv_cq = eng_cq_new(cm->dev, CM_RECVS);
    if (cm->pd == NULL || cm->send_cq == NULL || cm->recv_cq == NULL)
        return ROCE_ERR_NOMEM;
    cm->mr = eng_mr_new(cm->pd, cm->recv_buf, sizeof(cm->recv_buf), 0, ENG_LOCAL_WRITE, NULL);
    const struct eng_qp_cfg cfg = {
        .service = ENG_UD,
        .send_cq = cm->send_cq,
        .recv_cq = cm->recv_cq,
        .max_send_wr = CM_SENDS,
        .max_recv_wr = CM_RECVS,
        .qpn = GSI_QPN,
    };
    cm->gsi = eng_qp_new(cm->pd, &cfg);
    if (cm->mr == NULL || cm->gsi == NULL)
        return ROCE_ERR_NOMEM;
    struct eng_qp_attr attr = {.state = ENG_INIT, .pkey = 0xFFFF, .qkey = ROCE_GSI_QKEY};
    int rc = eng_qp_modify(cm->gsi, now, &attr, ENG_ATTR_STATE | ENG_ATTR_PKEY | ENG_ATTR_QKEY);
    for (uint64_t i = 0; rc == 0 && i < CM_RECVS; i++)
        post_receive(cm, now, i);
    attr.state = ENG_RTR;
    if (rc == 0)
        rc = eng_qp_modify(cm->gsi, now, &attr, ENG_ATTR_STATE);
    attr.state = ENG_RTS;
    if (rc == 0)
        rc = eng_qp_modify(cm->gsi, now, &attr, ENG_ATTR_STATE | ENG_ATTR_SQ_PSN);
    return rc;
}

/* The 40 bytes in front of a datagram: an IPv6 header, or an IPv4 header in the last 20 (IBTA
 * A17.4.5.1). */
static bool read_addresses(const uint8_t *grh, struct eng_ah *reply)
{
    enum { V4 = ENG_GRH_LEN - ROCE_IPV4_LEN, V4_SRC = 12, V4_DST = 16, V6_SRC = 8, V6_DST = 24 };
    if (grh[0] >> 4 == 6) {
        memcpy(reply->dst_ip, grh + V6_SRC, 16);
        memcpy(reply->src_ip, grh + V6_DST, 16);
        return true;
    }
    const uint8_t *ip = grh + V4;
    if (ip[0] >> 4 != 4)
        return false;
    const uint8_t *src = ip + V4_SRC, *dst = ip + V4_DST;
    roce_ip_v4(reply->dst_ip, src[0], src[1], src[2], src[3]);
    roce_ip_v4(reply->src_ip, dst[0], dst[1], dst[2], dst[3]);
    return true;
}

static bool decode(const uint8_t *buf, const struct eng_wc *wc, struct cm_in *in)
{
    if (wc->src_qp != GSI_QPN || wc->byte_len != CM_RECV_LEN || !read_addresses(buf, &in->reply))
        return false;
    memcpy(in->reply.dmac, wc->smac, sizeof(in->reply.dmac));
    in->reply.has_vlan = wc->has_vlan;
    in->reply.vlan_tci = wc->vlan_tci;
    in->reply.ttl = 64;
    const uint8_t *mad = buf + ENG_GRH_LEN;
    roce_mad_decode(mad, ROCE_MAD_LEN, &in->mad);
    in->body = mad + ROCE_MAD_HDR_LEN;
    return in->mad.base_version == 1 && in->mad.mgmt_class == ROCE_MAD_CLASS_CM &&
           in->mad.class_version == CLASS_VERSION && in->mad.method == METHOD_SEND &&
           roce_cm_decode(in->mad.attr_id, in->body, ROCE_CM_LEN, &in->msg) == ROCE_CM_LEN;
}

bool cm_gsi_receive(struct eng_cm *cm, roce_tstamp now, struct cm_in *in, bool *good)
{
    struct eng_wc wc;
    if (eng_cq_poll(cm->recv_cq, &wc, 1) <= 0)
        return false;
    *in = (struct cm_in){.now = now};
    *good = wc.status == ENG_WC_SUCCESS && decode(cm->recv_buf[wc.wr_id], &wc, in);
    post_receive(cm, now, wc.wr_id); /* filled by eng_dev_read only: |in| may still borrow it */
    return true;
}
