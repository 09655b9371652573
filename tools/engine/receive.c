/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Frames that arrive: what is ours, and for which QP. Anything wrong is dropped without a word
 * (IBTA 9.6). */
#include <roce/icrc.h>
#include <string.h>

#include "np.h"
#include "pause.h"
#include "requester.h"
#include "responder.h"
#include "schedule.h"
#include "ud.h"

static int drop(struct eng_dev *dev, roce_tstamp now, enum eng_drop why, uint32_t qpn, uint32_t psn)
{
    dev->stats.drops[why]++;
    device_trace(dev, now, ENG_TRACE_DROP, ENG_CAUSE_NONE, qpn, psn, why);
    return 0;
}

/* IBTA 10.9.3: equal but for the membership bit, and not both limited members. */
static bool pkey_matches(uint16_t a, uint16_t b)
{
    return ((a ^ b) & 0x7FFF) == 0 && ((a | b) & 0x8000) != 0;
}

static bool service_matches(const struct eng_qp *qp, uint8_t service)
{
    switch ((enum eng_service)qp->service) {
    case ENG_RC:
        return service == ROCE_SERVICE_RC;
    case ENG_UC:
        return service == ROCE_SERVICE_UC;
    case ENG_UD:
        return service == ROCE_SERVICE_UD;
    case ENG_XRC_TGT:
        return service == ROCE_SERVICE_XRC;
    }
    return false;
}

static bool is_receiving(const struct eng_qp *qp)
{
    return qp->state == ENG_RTR || qp->state == ENG_RTS || qp->state == ENG_SQD ||
           qp->state == ENG_SQE;
}

/* What stands in front of the transport's own checks; ENG_DROPS: nothing is wrong. */
static enum eng_drop check(const struct eng_qp *qp, const struct roce_packet *pkt)
{
    if (!is_receiving(qp))
        return ENG_DROP_STATE;
    if (pkt->op != ROCE_OP_CNP && !service_matches(qp, pkt->service))
        return ENG_DROP_SERVICE;
    if (!pkey_matches(pkt->bth.pkey, qp->pkey))
        return ENG_DROP_PKEY;
    if (qp->service != ENG_UD && !header_answers(&qp->head, pkt))
        return ENG_DROP_ADDRESS;
    return ENG_DROPS;
}

static void dispatch(struct eng_qp *qp, roce_tstamp now, const struct rx *rx)
{
    if (rx->pkt->response) {
        if (qp->service == ENG_RC && (qp->state == ENG_RTS || qp->state == ENG_SQD))
            completer_response(qp, now, rx);
        else
            qp_drop(qp, now, ENG_DROP_GHOST, rx->pkt->bth.psn);
        return;
    }
    switch ((enum eng_service)qp->service) {
    case ENG_RC:
    case ENG_XRC_TGT:
        responder_request(qp, now, rx);
        break;
    case ENG_UC:
        responder_uc(qp, now, rx);
        break;
    case ENG_UD:
        ud_receive(qp, now, rx);
        break;
    }
}

static int receive(struct eng_dev *dev, roce_tstamp now, const struct roce_frame *frame,
                   const struct roce_packet *pkt)
{
    const uint32_t qpn = pkt->bth.dqpn, psn = pkt->bth.psn;
    if (!dev->any_ip && memcmp(pkt->ip.dst, dev->cfg.ip, sizeof(dev->cfg.ip)) != 0)
        return drop(dev, now, ENG_DROP_ADDRESS, 0, psn);
    if (pkt->status != ROCE_STATUS_OK || pkt->sliced)
        return drop(dev, now, ENG_DROP_MALFORMED, 0, psn);
    if (!dev->cfg.no_icrc) {
        struct roce_icrc icrc;
        roce_icrc_check(frame, pkt, &icrc);
        if (icrc.status != ROCE_ICRC_OK)
            return drop(dev, now, ENG_DROP_ICRC, 0, psn);
    }
    struct eng_qp *qp = device_find_qp(dev, qpn);
    if (qp == NULL)
        return drop(dev, now, ENG_DROP_QPN, 0, psn);
    const enum eng_drop why = check(qp, pkt);
    if (why != ENG_DROPS)
        return drop(dev, now, why, qp->qpn, psn);
    const struct rx rx = {.pkt = pkt,
                          .info = roce_opcode_info(pkt->bth.opcode),
                          .frame = frame->data,
                          .payload = frame->data + pkt->payload_off,
                          .len = pkt->payload_len};
    qp->stats.rx_packets++;
    qp->r.established = true;
    if (pkt->op == ROCE_OP_CNP) {
        np_received(qp, now);
        return 1;
    }
    if ((pkt->ip.tos & 3) == ROCE_ECN_CE)
        np_marked(qp, now, &rx);
    dispatch(qp, now, &rx);
    schedule(qp, now);
    device_settle(dev, now);
    return 1;
}

int eng_dev_read(struct eng_dev *dev, roce_tstamp now, const uint8_t *frame, size_t len)
{
    dev->stats.rx_packets++;
    dev->stats.rx_bytes += len;
    if (len > UINT16_MAX)
        return drop(dev, now, ENG_DROP_NOT_ROCE, 0, 0);
    const struct roce_frame f = {.data = frame,
                                 .caplen = (uint32_t)len,
                                 .origlen = (uint32_t)len,
                                 .linktype = ROCE_LINK_ETHERNET};
    struct roce_packet pkt;
    const int kind = roce_packet_decode(&f, NULL, &pkt);
    if ((kind == ROCE_KIND_PFC || kind == ROCE_KIND_PAUSE) && pkt.status == ROCE_STATUS_OK) {
        pause_frame(dev, now, &pkt);
        return 0;
    }
    if (kind != ROCE_KIND_ROCEV2 || pkt.n_tunnel > 0)
        return drop(dev, now, ENG_DROP_NOT_ROCE, 0, 0);
    if (!(pkt.has & ROCE_HAS_BTH) || pkt.ip.fragment)
        return drop(dev, now, ENG_DROP_MALFORMED, 0, 0);
    return receive(dev, now, &f, &pkt);
}
