/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Small questions about a packet and its record that the field list, the Info column and the expert
 * infos ask alike. */
#ifndef PLUGIN_FACTS_H
#define PLUGIN_FACTS_H

#include <roce/psn.h>

#include "rocev2.h"

static inline bool says(const struct record *rec, uint32_t flags)
{
    return (rec->flags & flags) != 0;
}

static inline bool is_request(const struct record *rec)
{
    return says(rec, ROCE_V_REQUEST);
}

static inline bool is_response(const struct record *rec)
{
    return says(rec, ROCE_V_RESPONSE);
}

static inline bool aeth_is(const struct roce_packet *pkt, enum roce_aeth_kind kind)
{
    return (pkt->has & ROCE_H_AETH) != 0 && roce_aeth_kind(pkt->aeth.syndrome) == kind;
}

static inline bool is_nak(const struct roce_packet *pkt)
{
    return aeth_is(pkt, ROCE_AETH_NAK) || aeth_is(pkt, ROCE_AETH_RNR_NAK);
}

/* Requests whose answer is more than an acknowledgement. */
static inline bool answered(const struct roce_packet *pkt)
{
    return pkt->op == ROCE_OP_READ || pkt->op == ROCE_OP_ATOMIC || pkt->op == ROCE_OP_FLUSH ||
           pkt->op == ROCE_OP_ATOMIC_WRITE;
}

static inline int32_t credits(const struct roce_packet *pkt)
{
    return roce_aeth_credits(roce_aeth_value(pkt->aeth.syndrome));
}

static inline const char *nak_text(const struct roce_packet *pkt)
{
    const char *text = roce_nak_text(roce_aeth_value(pkt->aeth.syndrome));
    return text != NULL ? text : "reserved code";
}

static inline const char *aeth_kind_text(const struct roce_packet *pkt)
{
    switch (roce_aeth_kind(pkt->aeth.syndrome)) {
    case ROCE_AETH_ACK:
        return "ACK";
    case ROCE_AETH_RNR_NAK:
        return "RNR NAK";
    case ROCE_AETH_NAK:
        return "NAK";
    case ROCE_AETH_RESERVED:
        break;
    }
    return "reserved";
}

#define cm_is(view, name) ((view)->cm.message == ROCE_CM_##name)

static inline const char *cm_name(const struct view *view)
{
    const char *name = roce_cm_message_name(view->cm.message);
    return name != NULL ? name : "unknown";
}

static inline bool message_done(const struct view *view)
{
    return view->message != NULL && says(view->message, RECORD_DONE);
}

static inline uint32_t message_first(const struct view *view)
{
    return view->rec->message == 0 ? 0 : analysis_message_first(view->rec);
}

static inline uint32_t message_packet(const struct view *view)
{
    return says(view->rec, RECORD_BEGINS) ? 1 : view->rec->message_packet;
}

static inline int64_t message_time(const struct view *view)
{
    if (is_response(view->rec))
        return view->rec->latency;
    return message_done(view) ? view->message->latency : -1;
}

static inline uint32_t expected_psn(const struct view *view)
{
    const struct record *rec = view->rec;
    return says(rec, ROCE_V_RETRANSMITTED)
               ? rec->missing
               : roce_psn_add(view->pkt->bth.psn, -(int64_t)rec->missing);
}

/* What the packet does, in the standard's words. */
static inline const char *opcode_text(const struct roce_packet *pkt)
{
    const char *text = roce_opcode_info(pkt->bth.opcode)->text;
    switch ((enum roce_service)pkt->service) {
    case ROCE_SERVICE_DC:
        return "DC";
    case ROCE_SERVICE_VENDOR:
        return "Manufacturer specific";
    case ROCE_SERVICE_RC:
    case ROCE_SERVICE_UC:
    case ROCE_SERVICE_RD:
    case ROCE_SERVICE_UD:
    case ROCE_SERVICE_CNP:
    case ROCE_SERVICE_XRC:
    case ROCE_SERVICE_UNKNOWN:
        break;
    }
    return text != NULL ? text : "Reserved opcode";
}

#endif
