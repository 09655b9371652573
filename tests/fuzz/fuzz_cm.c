/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Any messages in any order, from the peer and from a stranger, while the user accepts, rejects,
 * disconnects and lets time pass: no handle is given out twice, and tables stay within bounds. */
#include <assert.h>
#include <string.h>

#include <roce/cm.h>
#include <roce/mad.h>

#include "engine/cm.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { CONNS = 4, HOST = 2, PEER = 1, STRANGER = 3, TEMPLATE_MAX = 512 };
#define PORT eng_cm_service_id(ENG_CM_TCP, 7174)

struct world {
    struct eng_dev *dev;
    struct eng_cm *cm;
    struct eng_pd *pd;
    struct eng_cq *cq;
    roce_tstamp now;
    struct eng_cm_conn *held[CONNS]; /* what the user has not released */
    struct eng_qp *qp[CONNS];        /* by place in |held| */
    uint32_t known;                  /* a communication id that was heard */
};

/* From the peer, from a stranger: made once. */
static uint8_t frames[2][TEMPLATE_MAX];
static int frame_len;

struct input {
    const uint8_t *p;
    size_t left;
};

static uint8_t take(struct input *in)
{
    if (in->left == 0)
        return 0;
    in->left--;
    return *in->p++;
}

static struct eng_dev *host(uint8_t number)
{
    struct eng_dev_cfg cfg = {
        .mac = {2, 0, 0, 0, 0, number}, .seed = number, .no_icrc = true, .max_qp = 8, .max_mr = 4};
    roce_ip_v4(cfg.ip, 10, 0, 0, number);
    return eng_dev_new(&cfg);
}

/* A datagram to the host's QP 1, for messages to be put into. */
static int template_of(uint8_t number, uint8_t *frame)
{
    struct eng_dev *dev = host(number);
    struct eng_cm *cm = eng_cm_new(dev, NULL, 0);
    struct eng_cq *cq = eng_cq_new(dev, 4);
    const struct eng_qp_cfg cfg = {
        .service = ENG_RC, .send_cq = cq, .recv_cq = cq, .max_send_wr = 1, .max_recv_wr = 1};
    struct eng_ah ah = {.dmac = {2, 0, 0, 0, 0, HOST}, .ttl = 64};
    roce_ip_v4(ah.src_ip, 10, 0, 0, number);
    roce_ip_v4(ah.dst_ip, 10, 0, 0, HOST);
    const struct eng_cm_param param = {.qp = eng_qp_new(eng_pd_new(dev), &cfg)};
    struct eng_cm_conn *conn;
    uint8_t buf[ENG_FRAME_MAX];
    int len = eng_cm_connect(cm, 0, PORT, 0, &ah, &param, &conn);
    assert(len == 0);
    len = eng_dev_write(dev, 0, buf, sizeof(buf));
    assert(len > ROCE_MAD_LEN + ROCE_ICRC_LEN && len <= TEMPLATE_MAX);
    memcpy(frame, buf, (size_t)len);
    eng_cm_del(cm);
    eng_dev_del(dev);
    return len;
}

static int place_of(const struct world *w, const struct eng_cm_conn *conn)
{
    for (int i = 0; i < CONNS; i++)
        if (w->held[i] == conn)
            return i;
    return -1;
}

static struct eng_cm_param param_of(struct world *w, int place, enum eng_service service)
{
    const struct eng_qp_cfg cfg = {
        .service = service, .send_cq = w->cq, .recv_cq = w->cq, .max_send_wr = 2, .max_recv_wr = 2};
    eng_qp_del(w->qp[place]);
    w->qp[place] = eng_qp_new(w->pd, &cfg);
    return (struct eng_cm_param){.qp = w->qp[place],
                                 .service = service,
                                 .responder_resources = 4,
                                 .initiator_depth = 4,
                                 .retry_count = 7,
                                 .rnr_retry = 7};
}

static void release(struct world *w, int place)
{
    eng_cm_release(w->held[place], w->now);
    w->held[place] = NULL;
    eng_qp_del(w->qp[place]);
    w->qp[place] = NULL;
}

static void handle(struct world *w, const struct eng_cm_event *event, uint8_t choice)
{
    int place = place_of(w, event->conn);
    if (event->kind == ENG_CM_CONNECT_REQUEST) {
        assert(place < 0); /* a new handle */
        place = place_of(w, NULL);
        assert(place >= 0);
        w->held[place] = event->conn;
        const struct eng_cm_param param = param_of(w, place, event->service);
        if (choice & 1)
            eng_cm_accept(event->conn, w->now, &param);
        else if (choice & 2)
            release(w, place);
        return;
    }
    assert(place >= 0); /* of a handle that is held */
    if (choice & 4)
        release(w, place);
}

static void turn(struct world *w, uint8_t choice)
{
    uint8_t buf[ENG_FRAME_MAX];
    int len;
    struct eng_cm_event event;
    eng_dev_expire(w->dev, w->now);
    do {
        eng_cm_poll(w->cm, w->now);
        eng_cm_expire(w->cm, w->now);
        while (eng_cm_event(w->cm, &event) == 1)
            handle(w, &event, choice);
        while ((len = eng_dev_write(w->dev, w->now, buf, sizeof(buf))) > 0)
            if (len == frame_len)
                memcpy(&w->known, buf + len - ROCE_ICRC_LEN - ROCE_CM_LEN, sizeof(w->known));
    } while (eng_cm_next(w->cm) <= w->now);
}

/* Which message from whom, with a known id or its own, and bytes from its start. */
static void message(struct world *w, struct input *in)
{
    const uint8_t how = take(in);
    uint8_t mad[ROCE_MAD_LEN] = {1, ROCE_MAD_CLASS_CM, 2, 3};
    mad[17] = (uint8_t)(ROCE_CM_REQ + how % 12);
    uint8_t *body = mad + ROCE_MAD_HDR_LEN;
    uint8_t *frame = frames[how >> 7];
    const size_t at = (size_t)frame_len - ROCE_ICRC_LEN - ROCE_MAD_LEN;
    memcpy(body, frame + at + ROCE_MAD_HDR_LEN, ROCE_CM_LEN); /* a good REQ, to begin with */
    for (unsigned n = take(in) % 48, off = take(in) % 64; n > 0 && in->left > 0; n--, off++)
        body[off] = take(in);
    if (how & 0x40)
        memcpy(body + 4, &w->known, sizeof(w->known));
    uint8_t copy[TEMPLATE_MAX];
    memcpy(copy, frame, (size_t)frame_len);
    memcpy(copy + at, mad, sizeof(mad));
    eng_dev_read(w->dev, w->now, copy, (size_t)frame_len);
}

static void connect(struct world *w, uint8_t how)
{
    const int place = place_of(w, NULL);
    if (place < 0)
        return;
    struct eng_ah ah = {.dmac = {2, 0, 0, 0, 0, PEER}, .ttl = 64};
    roce_ip_v4(ah.src_ip, 10, 0, 0, HOST);
    roce_ip_v4(ah.dst_ip, 10, 0, 0, PEER);
    const struct eng_cm_param param = param_of(w, place, (enum eng_service)(how % 3));
    struct eng_cm_conn *conn;
    if (eng_cm_connect(w->cm, w->now, PORT, 0, &ah, &param, &conn) == 0) {
        assert(place_of(w, conn) < 0);
        w->held[place] = conn;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct world w = {.dev = host(HOST), .now = 1};
    const struct eng_cm_cfg cfg = {
        .max_conns = CONNS, .max_pending = CONNS - 1, .retries = 2, .timeout = 16, .ca_guid = 1};
    w.cm = eng_cm_new(w.dev, &cfg, w.now);
    w.pd = eng_pd_new(w.dev);
    w.cq = eng_cq_new(w.dev, 64);
    if (frame_len == 0) {
        frame_len = template_of(PEER, frames[0]);
        template_of(STRANGER, frames[1]);
    }
    eng_cm_listen(w.cm, PORT, NULL);

    struct input in = {.p = data, .left = size};
    while (in.left > 0) {
        const uint8_t what = take(&in);
        const int place = what >> 4 & 3;
        switch (what & 7) {
        case 0:
            connect(&w, what >> 4);
            break;
        case 1:
            w.now += UINT64_C(1) << (what >> 3);
            break;
        case 2:
            if (w.held[place] != NULL)
                eng_cm_disconnect(w.held[place], w.now);
            break;
        case 3:
            if (w.held[place] != NULL)
                release(&w, place);
            break;
        default:
            message(&w, &in);
        }
        turn(&w, take(&in));
    }
    eng_cm_del(w.cm);
    eng_dev_del(w.dev);
    return 0;
}
