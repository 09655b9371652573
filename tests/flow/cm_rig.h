/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Hand-made CM messages for the tests of flow state. */
#ifndef TESTS_FLOW_CM_RIG_H
#define TESTS_FLOW_CM_RIG_H

#include <roce/mad.h>

#include "rig.h"

static inline void cm_send(struct rig *r, uint8_t from, uint8_t to, const struct roce_cm *cm)
{
    uint8_t bytes[ROCE_MAD_LEN] = {0};
    const struct roce_mad mad = {.base_version = 1,
                                 .mgmt_class = ROCE_MAD_CLASS_CM,
                                 .class_version = 2,
                                 .method = 3,
                                 .attr_id = cm->message};
    assert_true(roce_mad_encode(&mad, bytes, sizeof bytes) > 0);
    assert_true(roce_cm_encode(cm, bytes + ROCE_MAD_HDR_LEN, ROCE_CM_LEN) > 0);
    struct roce_packet p = rig_packet(r, ROCE_OPCODE_UD_SEND_ONLY, from, to, 1, 0);
    p.has |= ROCE_HAS_MAD;
    p.deth.src_qp = 1;
    p.deth.qkey = ROCE_GSI_QKEY;
    p.payload_len = p.payload_captured = ROCE_MAD_LEN;
    p.payload_off = 0;
    p.ip.id = ++r->ip_id;
    const struct roce_frame frame = {
        .data = bytes, .caplen = sizeof bytes, .origlen = 300, .ts = r->now, .number = ++r->frame};
    assert_true(roce_flow_update(r->t, &frame, &p, NULL, &r->v));
    assert_true(r->v.flags & ROCE_V_CM);
    r->now += 50 * US;
}

static inline void cm_request(struct rig *r, uint8_t from, uint8_t to, uint32_t id, uint32_t qpn)
{
    struct roce_cm cm = {.message = ROCE_CM_REQ,
                         .local_comm_id = id,
                         .local_qpn = qpn,
                         .starting_psn = 700,
                         .retry_count = 7,
                         .rnr_retry = 6,
                         .path_mtu = 3,
                         .max_cm_retries = 15};
    cm.primary.ack_timeout = 10;
    roce_ip_v4(cm.primary.local_gid, 10, 0, 0, from);
    roce_ip_v4(cm.primary.remote_gid, 10, 0, 0, to);
    cm_send(r, from, to, &cm);
}

static inline void cm_reply(struct rig *r, uint8_t from, uint8_t to, uint32_t id, uint32_t peer_id,
                            uint32_t qpn)
{
    const struct roce_cm cm = {.message = ROCE_CM_REP,
                               .local_comm_id = id,
                               .remote_comm_id = peer_id,
                               .local_qpn = qpn,
                               .starting_psn = 900};
    cm_send(r, from, to, &cm);
}

static inline void cm_ids(struct rig *r, uint8_t message, uint8_t from, uint8_t to, uint32_t id,
                          uint32_t peer_id, uint16_t reason)
{
    const struct roce_cm cm = {.message = message,
                               .local_comm_id = id,
                               .remote_comm_id = peer_id,
                               .reject_reason = reason};
    cm_send(r, from, to, &cm);
}

#endif
