/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Two hosts with engine and connection manager on one wire, on virtual time: what the wire loses is
 * chosen by message, and every CM message is written down. */
#ifndef TESTS_ENGINE_CM_RIG_H
#define TESTS_ENGINE_CM_RIG_H

#include <stdlib.h>
#include <string.h>

#include <roce/cm.h>
#include <roce/icrc.h>
#include <roce/mad.h>
#include <roce/packet.h>

#include "engine/cm.h"
#include "tests/cmocka_all.h"

#define RIG_LOG    256
#define RIG_FLIGHT 64
#define RIG_DELAY  10000 /* ns one way */
#define RIG_PORT   eng_cm_service_id(ENG_CM_TCP, 7174)

struct rig_message {
    roce_tstamp at; /* when it was sent */
    bool from_b, lost;
    uint32_t psn;
    struct roce_mad mad;
    struct roce_cm cm;
    uint8_t bytes[ROCE_MAD_LEN];
};

struct rig_side {
    struct eng_dev *dev;
    struct eng_cm *cm;
    struct eng_pd *pd;
    struct eng_cq *cq;
    struct eng_qp *qp; /* RESET */
    struct eng_ah to_peer;
};

struct rig_frame {
    bool to_b;
    roce_tstamp at;
    int len;
    uint8_t data[ENG_FRAME_MAX];
};

struct rig {
    struct rig_side a, b;
    roce_tstamp now;
    bool v6;
    int lose[256];        /* by enum roce_cm_message: so many are lost; -1: all */
    bool lose_rc;         /* all that is not on QP 1 */
    int64_t first_psn[2]; /* of what a, b sent beside QP 1; -1: nothing yet */
    struct rig_message log[RIG_LOG];
    int n_log;
    struct rig_frame flight[RIG_FLIGHT];
    int n_flight;
};

static inline void rig_side_new(struct rig *rig, struct rig_side *side, uint8_t host, uint8_t peer,
                                const struct eng_cm_cfg *cm_cfg)
{
    struct eng_dev_cfg cfg = {.mac = {2, 0, 0, 0, 0, host}, .seed = host, .migreq = true};
    const uint8_t v6[16] = {0xfd, 0x77};
    side->to_peer = (struct eng_ah){.dmac = {2, 0, 0, 0, 0, peer}, .ttl = 64};
    if (rig->v6) {
        memcpy(cfg.ip, v6, 16);
        memcpy(side->to_peer.dst_ip, v6, 16);
        cfg.ip[15] = host;
        side->to_peer.dst_ip[15] = peer;
    } else {
        roce_ip_v4(cfg.ip, 10, 0, 0, host);
        roce_ip_v4(side->to_peer.dst_ip, 10, 0, 0, peer);
    }
    memcpy(side->to_peer.src_ip, cfg.ip, 16);
    side->dev = eng_dev_new(&cfg);
    assert_non_null(side->dev);
    struct eng_cm_cfg own = cm_cfg != NULL ? *cm_cfg : (struct eng_cm_cfg){0};
    own.seed = own.seed * 1000 + host;
    side->cm = eng_cm_new(side->dev, &own, rig->now);
    assert_non_null(side->cm);
    side->pd = eng_pd_new(side->dev);
    side->cq = eng_cq_new(side->dev, 256);
}

static inline struct eng_qp *rig_qp(struct rig_side *side, enum eng_service service)
{
    const struct eng_qp_cfg cfg = {.service = service,
                                   .send_cq = side->cq,
                                   .recv_cq = side->cq,
                                   .max_send_wr = 16,
                                   .max_recv_wr = 16};
    struct eng_qp *qp = eng_qp_new(side->pd, &cfg);
    assert_non_null(qp);
    return qp;
}

static inline struct rig *rig_new(bool v6, const struct eng_cm_cfg *a, const struct eng_cm_cfg *b)
{
    struct rig *rig = calloc(1, sizeof(*rig));
    assert_non_null(rig);
    rig->now = 1000000;
    rig->first_psn[0] = rig->first_psn[1] = -1;
    rig->v6 = v6;
    rig_side_new(rig, &rig->a, 1, 2, a);
    rig_side_new(rig, &rig->b, 2, 1, b);
    rig->a.qp = rig_qp(&rig->a, ENG_RC);
    rig->b.qp = rig_qp(&rig->b, ENG_RC);
    return rig;
}

static inline void rig_del(struct rig *rig)
{
    eng_cm_del(rig->a.cm);
    eng_cm_del(rig->b.cm);
    eng_dev_del(rig->a.dev);
    eng_dev_del(rig->b.dev);
    free(rig);
}

/* rig_message_of tells whether the frame is a CM message; each that is sent must be one that the
 * decoder and its ICRC accept. */
static inline bool rig_message_of(const uint8_t *data, int len, struct rig_message *m)
{
    const struct roce_frame frame = {.data = data,
                                     .caplen = (uint32_t)len,
                                     .origlen = (uint32_t)len,
                                     .linktype = ROCE_LINK_ETHERNET};
    struct roce_packet pkt;
    struct roce_icrc icrc;
    roce_packet_decode(&frame, NULL, &pkt);
    assert_int_equal(pkt.status, ROCE_STATUS_OK);
    roce_icrc_check(&frame, &pkt, &icrc);
    assert_int_equal(icrc.status, ROCE_ICRC_OK);
    m->psn = pkt.bth.psn;
    if (!(pkt.has & ROCE_HAS_MAD))
        return false;
    assert_int_equal(pkt.deth.qkey, ROCE_GSI_QKEY);
    assert_int_equal(pkt.deth.src_qp, 1);
    assert_int_equal(pkt.payload_len, ROCE_MAD_LEN);
    memcpy(m->bytes, data + pkt.payload_off, ROCE_MAD_LEN);
    roce_mad_decode(m->bytes, ROCE_MAD_LEN, &m->mad);
    assert_int_equal(
        roce_cm_decode(m->mad.attr_id, m->bytes + ROCE_MAD_HDR_LEN, ROCE_CM_LEN, &m->cm),
        ROCE_CM_LEN);
    return true;
}

static inline bool rig_loses(struct rig *rig, bool from_b, const uint8_t *data, int len)
{
    struct rig_message m = {.at = rig->now, .from_b = from_b};
    if (!rig_message_of(data, len, &m)) {
        if (rig->first_psn[from_b] < 0)
            rig->first_psn[from_b] = m.psn;
        return rig->lose_rc;
    }
    int *lose = &rig->lose[m.cm.message];
    m.lost = *lose != 0;
    if (*lose > 0)
        (*lose)--;
    assert_true(rig->n_log < RIG_LOG);
    rig->log[rig->n_log++] = m;
    return m.lost;
}

static inline void rig_put(struct rig *rig, bool to_b, const uint8_t *data, int len)
{
    assert_true(rig->n_flight < RIG_FLIGHT);
    struct rig_frame *f = &rig->flight[rig->n_flight++];
    f->to_b = to_b;
    f->at = rig->now + RIG_DELAY;
    f->len = len;
    memcpy(f->data, data, (size_t)len);
}

static inline void rig_write(struct rig *rig, bool from_b)
{
    uint8_t buf[ENG_FRAME_MAX];
    int n;
    while ((n = eng_dev_write(from_b ? rig->b.dev : rig->a.dev, rig->now, buf, sizeof(buf))) > 0)
        if (!rig_loses(rig, from_b, buf, n))
            rig_put(rig, !from_b, buf, n);
}

static inline void rig_deliver(struct rig *rig)
{
    int kept = 0;
    for (int i = 0; i < rig->n_flight; i++) {
        struct rig_frame *f = &rig->flight[i];
        if (f->at <= rig->now)
            eng_dev_read(f->to_b ? rig->b.dev : rig->a.dev, rig->now, f->data, (size_t)f->len);
        else if (kept++ != i)
            rig->flight[kept - 1] = *f;
    }
    rig->n_flight = kept;
}

static inline roce_tstamp rig_least(roce_tstamp a, roce_tstamp b)
{
    return a < b ? a : b;
}

static inline void rig_turn(struct rig *rig, struct rig_side *side, bool is_b)
{
    eng_dev_expire(side->dev, rig->now);
    eng_cm_poll(side->cm, rig->now);
    eng_cm_expire(side->cm, rig->now);
    rig_write(rig, is_b);
}

/* rig_run lets time pass until |until| or until either side has an event (which stays queued). */
static inline bool rig_run(struct rig *rig, roce_tstamp until, struct rig_side *side,
                           struct eng_cm_event *event)
{
    for (;;) {
        rig_deliver(rig);
        rig_turn(rig, &rig->a, false);
        rig_turn(rig, &rig->b, true);
        if (side != NULL && eng_cm_event(side->cm, event) == 1)
            return true;
        roce_tstamp next = rig_least(eng_cm_next(rig->a.cm), eng_cm_next(rig->b.cm));
        next = rig_least(next, eng_dev_next(rig->a.dev, rig->now));
        next = rig_least(next, eng_dev_next(rig->b.dev, rig->now));
        for (int i = 0; i < rig->n_flight; i++)
            next = rig_least(next, rig->flight[i].at);
        if (next > until) {
            rig->now = until;
            return false;
        }
        if (next > rig->now)
            rig->now = next;
    }
}

/* rig_expect runs until |side| has an event, which must be of |kind|. */
static inline struct eng_cm_event rig_expect(struct rig *rig, struct rig_side *side,
                                             enum eng_cm_event_kind kind)
{
    struct eng_cm_event event;
    memset(&event, 0, sizeof(event));
    assert_true(rig_run(rig, rig->now + UINT64_C(300000000000), side, &event));
    assert_string_equal(eng_cm_event_name(event.kind), eng_cm_event_name(kind));
    return event;
}

/* rig_count tells how many messages of a kind one side has sent; rig_nth gives one of them. */
static inline int rig_count(const struct rig *rig, bool from_b, uint8_t message)
{
    int n = 0;
    for (int i = 0; i < rig->n_log; i++)
        n += rig->log[i].from_b == from_b && rig->log[i].cm.message == message;
    return n;
}

static inline const struct rig_message *rig_nth(const struct rig *rig, bool from_b, uint8_t message,
                                                int nth)
{
    for (int i = 0; i < rig->n_log; i++)
        if (rig->log[i].from_b == from_b && rig->log[i].cm.message == message && nth-- == 0)
            return &rig->log[i];
    fail_msg("no such message");
    return NULL;
}

static inline struct eng_cm_param rig_param(struct eng_qp *qp)
{
    return (struct eng_cm_param){.qp = qp,
                                 .service = ENG_RC,
                                 .responder_resources = 4,
                                 .initiator_depth = 3,
                                 .retry_count = 6,
                                 .rnr_retry = 5,
                                 .path_mtu = 1024,
                                 .access = ENG_REMOTE_READ};
}

struct rig_pair {
    struct eng_cm_conn *a, *b;
};

/* rig_connect connects a to b, b listening at RIG_PORT. */
static inline struct rig_pair rig_connect(struct rig *rig)
{
    struct rig_pair pair;
    eng_cm_listen(rig->b.cm, RIG_PORT, NULL);
    const struct eng_cm_param ask = rig_param(rig->a.qp), answer = rig_param(rig->b.qp);
    assert_int_equal(
        eng_cm_connect(rig->a.cm, rig->now, RIG_PORT, 0, &rig->a.to_peer, &ask, &pair.a), 0);
    pair.b = rig_expect(rig, &rig->b, ENG_CM_CONNECT_REQUEST).conn;
    assert_int_equal(eng_cm_accept(pair.b, rig->now, &answer), 0);
    rig_expect(rig, &rig->a, ENG_CM_ESTABLISHED);
    return pair;
}

#endif
