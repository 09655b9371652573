/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The Info column: operation, QP, PSN, length, and in brackets what is remarkable. */
#include "rocev2.h"

#include "facts.h"

/* Every line fits: the texts are short, numbers bounded. */
static char *put(char *out, const char *text)
{
    return roce_fmt_str(out, text);
}

static char *put_uint(char *out, const char *text, uint64_t number)
{
    return roce_fmt_uint(put(out, text), number);
}

static char *put_hex(char *out, const char *text, uint64_t number, int digits)
{
    return roce_fmt_hex_pad(put(out, text), number, digits);
}

/* "5.2 us", "12.345 ms", "1.5 s" */
static char *put_time(char *out, int64_t ns)
{
    static const struct {
        uint64_t ns;
        const char *name;
    } units[] = {{1000000000, " s"}, {1000000, " ms"}, {1000, " us"}};
    unsigned i = 0;
    while (i < G_N_ELEMENTS(units) - 1 && (uint64_t)ns < units[i].ns)
        i++;
    const uint64_t thousandths = (uint64_t)ns / (units[i].ns / 1000);
    out = roce_fmt_uint(out, thousandths / 1000);
    *out++ = '.';
    out = roce_fmt_uint_pad(out, thousandths % 1000, 3);
    return put(out, units[i].name);
}

static char *put_aeth(char *out, const struct roce_packet *pkt)
{
    switch (roce_aeth_kind(pkt->aeth.syndrome)) {
    case ROCE_AETH_ACK:
        break;
    case ROCE_AETH_RNR_NAK:
        out = put(out, " RNR NAK ");
        out = put_time(out, (int64_t)roce_aeth_rnr_ns(roce_aeth_value(pkt->aeth.syndrome)));
        break;
    case ROCE_AETH_NAK:
        out = put(out, " NAK ");
        out = put(out, nak_text(pkt));
        break;
    case ROCE_AETH_RESERVED:
        out = put_hex(out, " reserved syndrome ", pkt->aeth.syndrome, 2);
        break;
    }
    return put_uint(out, " MSN ", pkt->aeth.msn);
}

static char *put_cm(char *out, const struct view *view)
{
    out = put(out, " CM ");
    out = put(out, cm_name(view));
    if (cm_is(view, REQ) || cm_is(view, REP) || cm_is(view, SIDR_REP))
        out = put_hex(out, " QP ", view->cm.local_qpn, 6);
    if (cm_is(view, REQ) || cm_is(view, REP))
        out = put_uint(out, " PSN ", view->cm.starting_psn);
    if ((cm_is(view, REQ) || cm_is(view, SIDR_REQ)) && roce_cm_port(view->cm.service_id) >= 0)
        out = put_uint(out, " port ", (uint64_t)roce_cm_port(view->cm.service_id));
    if (cm_is(view, REJ)) {
        out = put(out, ": ");
        out = put(out, roce_cm_reject_text(view->cm.reject_reason));
    }
    return out;
}

static char *put_headers(char *out, const struct roce_packet *pkt)
{
    if ((pkt->has & ROCE_HAS_PAYLOAD) != 0 && pkt->op != ROCE_OP_CNP &&
        (pkt->payload_len > 0 || roce_opcode_info(pkt->bth.opcode)->payload != ROCE_PAYLOAD_NONE))
        out = put_uint(out, " len ", pkt->payload_len);
    if ((pkt->has & ROCE_H_AETH) != 0)
        out = put_aeth(out, pkt);
    if ((pkt->has & ROCE_H_RETH) != 0) {
        out = put_hex(out, " va ", pkt->reth.va, 16);
        out = put_hex(out, " rkey ", pkt->reth.rkey, 8);
        out = put_uint(out, " dma ", pkt->reth.dma_length);
    }
    if ((pkt->has & ROCE_H_ATOMIC) != 0) {
        out = put_hex(out, " va ", pkt->atomic_eth.va, 16);
        out = put_hex(out, " rkey ", pkt->atomic_eth.rkey, 8);
    }
    if ((pkt->has & ROCE_H_DETH) != 0)
        out = put_hex(out, " from QP ", pkt->deth.src_qp, 6);
    if ((pkt->has & ROCE_H_XRCETH) != 0)
        out = put_hex(out, " SRQ ", pkt->xrceth.srq, 6);
    if ((pkt->has & ROCE_H_IMM) != 0)
        out = put_hex(out, " imm ", pkt->imm, 8);
    if ((pkt->has & ROCE_H_IETH) != 0)
        out = put_hex(out, " invalidate ", pkt->ieth.rkey, 8);
    return out;
}

static char *put_retransmission(char *out, const struct record *rec)
{
    if (says(rec, RECORD_OUT_OF_ORDER))
        return put(out, " [out of order]");
    out = put(out, says(rec, ROCE_V_FILL) ? " [retransmission, fills a gap" : " [retransmission");
    if (rec->cause < ROCE_CAUSE_UNKNOWN) {
        out = put(out, ": ");
        out = put(out, roce_cause_name((enum roce_cause)rec->cause));
    }
    if (rec->ref != 0)
        out = put_uint(out, ", first in ", rec->ref);
    return put(out, "]");
}

static char *put_state(char *out, const struct record *rec)
{
    if (says(rec, ROCE_V_GAP)) {
        out = put_uint(out, " [gap: ", rec->missing);
        out = put(out, rec->missing == 1 ? " PSN missing]" : " PSNs missing]");
    }
    if (says(rec, ROCE_V_RETRANSMITTED))
        out = put_retransmission(out, rec);
    if (says(rec, ROCE_V_MIRROR_DUP))
        out = put(out, " [captured twice]");
    if (says(rec, ROCE_V_READ_RESPONSE_DUP))
        out = put(out, " [response repeated]");
    if (says(rec, ROCE_V_READ_RESPONSE_GAP))
        out = put(out, " [responses missing]");
    if (says(rec, ROCE_V_ACK_GHOST))
        out = put(out, " [ghost ACK]");
    if (says(rec, RECORD_CNP_ANSWERS)) {
        out = put(out, " [");
        out = put_time(out, rec->time);
        out = put(out, " after CE]");
    }
    return out;
}

static char *put_remarks(char *out, const struct view *view)
{
    const struct roce_packet *pkt = view->pkt;
    if ((pkt->has & ROCE_HAS_IP) != 0 && roce_ip_ecn(&pkt->ip) == ROCE_ECN_CE)
        out = put(out, " [CE]");
    if (view->icrc->status == ROCE_ICRC_BAD)
        out = put(out, " [ICRC bad]");
    if (pkt->status != ROCE_STATUS_OK) {
        out = put(out, " [");
        out = put(out, roce_status_name((enum roce_status)pkt->status));
        out = put(out, ": ");
        out = put(out, pkt->why);
        out = put(out, "]");
    } else if (pkt->sliced) {
        out = put(out, " [sliced]");
    }
    if (view->rec != NULL)
        out = put_state(out, view->rec);
    if (view->refusal != NULL) {
        out = put_hex(out, " [refuses va ", view->refusal->va, 16);
        out = put_hex(out, " rkey ", view->refusal->rkey, 8);
        out = put(out, "]");
    }
    return out;
}

static char *put_quanta(char *out, uint16_t quanta, uint64_t link_speed_bps)
{
    if (quanta == 0)
        return put(out, " resume");
    out = put(out, " pause ");
    if (link_speed_bps != 0)
        return put_time(out, (int64_t)roce_pause_ns(quanta, link_speed_bps));
    return put(roce_fmt_uint(out, quanta), " quanta");
}

static char *put_pause(char *out, const struct view *view)
{
    const struct roce_packet *pkt = view->pkt;
    const bool whole = pkt->status == ROCE_STATUS_OK;
    if (pkt->kind == ROCE_KIND_PAUSE) {
        out = put(out, "PAUSE");
        return whole ? put_quanta(out, pkt->pause.quanta, view->link_speed_bps) : out;
    }
    out = put(out, "PFC");
    for (unsigned i = 0; whole && i < G_N_ELEMENTS(pkt->pfc.quanta); i++) {
        if ((pkt->pfc.enable >> i & 1) == 0)
            continue;
        out = put_uint(out, " prio ", i);
        out = put_quanta(out, pkt->pfc.quanta[i], view->link_speed_bps);
    }
    return out;
}

void info_tail(const struct view *view, char *out)
{
    out = put_uint(out, " PSN ", view->pkt->bth.psn);
    if ((view->pkt->has & ROCE_HAS_PAYLOAD) != 0 && view->pkt->payload_len > 0)
        out = put_uint(out, " len ", view->pkt->payload_len);
    *put_remarks(out, view) = '\0';
}

void info_line(const struct view *view, char *out)
{
    const struct roce_packet *pkt = view->pkt;
    if (pkt->kind == ROCE_KIND_PFC || pkt->kind == ROCE_KIND_PAUSE) {
        out = put_pause(out, view);
    } else if ((pkt->has & ROCE_HAS_BTH) == 0) {
        out = put(out, pkt->kind == ROCE_KIND_ROCEV1 ? "RoCEv1" : "RoCEv2");
    } else {
        out = put(out, opcode_text(pkt));
        if (roce_opcode_info(pkt->bth.opcode)->text == NULL || pkt->service == ROCE_SERVICE_DC)
            out = put_hex(out, " opcode ", pkt->bth.opcode, 2);
        out = put_hex(out, " QP ", pkt->bth.dqpn, 6);
        if (pkt->op != ROCE_OP_CNP)
            out = put_uint(out, " PSN ", pkt->bth.psn);
        out = view->has_cm ? put_cm(out, view) : put_headers(out, pkt);
        if (pkt->bth.ackreq)
            out = put(out, " AckReq");
        if (pkt->bth.se)
            out = put(out, " SE");
    }
    *put_remarks(out, view) = '\0';
}
