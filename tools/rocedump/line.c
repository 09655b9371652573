/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The one-line text; no printf and no allocation, it runs more than a million times a second. */
#include "rocedump/line.h"

#include "rocedump/line_parts.h"

enum { NUMBER_WIDTH = 6, PSN_DIGITS = 8 };

/* A DC, vendor or reserved opcode has no name: its number says all. */
static void fill_opcode(struct line_opcode *slot, uint8_t opcode, const char *text)
{
    char *p = slot->text;
    if (text != NULL) {
        p = roce_fmt_str(p, text);
    } else {
        p = TEXT(p, "opcode ");
        p = roce_fmt_hex_pad(p, opcode, 2);
    }
    p = text_pad(p, slot->text, LINE_OPCODE_WIDTH);
    slot->len = (uint8_t)(p - slot->text);
}

void line_printer_init(struct line_printer *printer, struct out *out,
                       const struct time_column *time, bool quiet, bool colour)
{
    *printer = (struct line_printer){.out = out, .time = *time, .quiet = quiet, .colour = colour};
    for (int i = 0; i < 256; i++)
        fill_opcode(&printer->opcode[i], (uint8_t)i, roce_opcode_info((uint8_t)i)->text);
}

static char *put_opcode(const struct line_printer *printer, char *out,
                        const struct roce_packet *pkt)
{
    struct line_opcode plain;
    const struct line_opcode *slot = &printer->opcode[pkt->bth.opcode];
    const char *begin = out;
    if (pkt->service == ROCE_SERVICE_DC || pkt->service == ROCE_SERVICE_VENDOR) {
        out = pkt->service == ROCE_SERVICE_DC ? TEXT(out, "DC ") : TEXT(out, "vendor ");
        fill_opcode(&plain, pkt->bth.opcode, NULL);
        slot = &plain;
        out = text_put(out, slot->text, sizeof("opcode 0x00") - 1);
        return text_pad(out, begin, LINE_OPCODE_WIDTH);
    }
    return text_put(out, slot->text, slot->len);
}

static char *put_bth(const struct line_printer *printer, char *out, const struct roce_packet *pkt)
{
    const struct roce_bth *bth = &pkt->bth;
    out = TEXT(out, " QP ");
    out = roce_fmt_hex_pad(out, bth->dqpn, 6);
    *out++ = ' ';
    const bool stands_out = printer->colour && pkt->op == ROCE_OP_CNP;
    out = loud(out, stands_out, COLOUR_YELLOW);
    out = put_opcode(printer, out, pkt);
    out = calm(out, stands_out);
    out = TEXT(out, " PSN ");
    const char *begin = out;
    out = roce_fmt_uint(out, bth->psn);
    out = text_pad(out, begin, PSN_DIGITS);
    out = bth->ackreq ? TEXT(out, " [A]") : TEXT(out, "    ");
    if (bth->se)
        out = TEXT(out, " SE");
    if (bth->fecn)
        out = TEXT(out, " FECN");
    if (bth->becn && pkt->op != ROCE_OP_CNP)
        out = TEXT(out, " BECN");
    if (bth->pkey != ROCE_PKEY_DEFAULT) {
        out = TEXT(out, " pkey ");
        out = roce_fmt_hex_pad(out, bth->pkey, 4);
    }
    return out;
}

static char *put_roce(const struct line_printer *printer, char *out, const struct roce_view *view)
{
    const struct roce_packet *pkt = view->pkt;
    if (!roce_packet_is_roce(pkt)) {
        switch ((enum roce_kind)pkt->kind) {
        case ROCE_KIND_ROCEV2:
            return TEXT(out, " RoCEv2");
        case ROCE_KIND_ROCEV1:
            return TEXT(out, " RoCEv1");
        case ROCE_KIND_IB:
        case ROCE_KIND_OTHER:
        case ROCE_KIND_PFC:
        case ROCE_KIND_PAUSE:
            break;
        }
        return TEXT(out, " InfiniBand");
    }
    out = put_bth(printer, out, pkt);
    /* A MAD between the general service QPs says nothing by its datagram header. */
    if (view->has_mad) {
        out = line_mad(out, view);
        if ((pkt->has & ROCE_H_DETH) == 0 ||
            (pkt->deth.src_qp == ROCE_QPN_GSI && pkt->deth.qkey == ROCE_GSI_QKEY))
            return out;
    }
    return line_headers(out, pkt, printer->colour);
}

char *line_summary(const struct line_printer *printer, char *out, const struct roce_view *view)
{
    const struct roce_packet *pkt = view->pkt;
    out = line_addresses(out, pkt);
    switch ((enum roce_kind)pkt->kind) {
    case ROCE_KIND_ROCEV2:
    case ROCE_KIND_ROCEV1:
    case ROCE_KIND_IB:
        out = put_roce(printer, out, view);
        break;
    case ROCE_KIND_PFC:
    case ROCE_KIND_PAUSE:
        out = line_pause(out, view);
        break;
    case ROCE_KIND_OTHER:
        out = line_other(out, view);
        break;
    }
    out = line_network(out, pkt, printer->colour);
    out = line_faults(out, view, printer->colour);
    if (view->verdict != NULL)
        out = line_analysis(out, view, printer->colour);
    while (out[-1] == ' ')
        out--;
    return out;
}

/* -q: number, time, addresses, opcode, PSN. */
static char *quiet_summary(const struct line_printer *printer, char *out,
                           const struct roce_view *view)
{
    const struct roce_packet *pkt = view->pkt;
    out = line_addresses(out, pkt);
    if (pkt->kind == ROCE_KIND_OTHER)
        out = line_other(out, view);
    else if (pkt->kind == ROCE_KIND_PFC || pkt->kind == ROCE_KIND_PAUSE)
        out = line_pause(out, view);
    else if (!roce_packet_is_roce(pkt))
        out = put_roce(printer, out, view);
    else {
        *out++ = ' ';
        out = put_opcode(printer, out, pkt);
        out = TEXT(out, " PSN ");
        out = roce_fmt_uint(out, pkt->bth.psn);
    }
    return out;
}

void line_print(struct line_printer *printer, const struct roce_view *view, bool nanosecond)
{
    char *out = out_reserve(printer->out, LINE_ROOM);
    char number[ROCE_FMT_UINT_MAX];
    const size_t digits = (size_t)(roce_fmt_uint(number, view->frame->number) - number);
    for (size_t i = digits; i < NUMBER_WIDTH; i++)
        *out++ = ' ';
    out = text_put(out, number, digits);
    *out++ = ' ';
    out = time_column_put(&printer->time, out, view->frame->ts, nanosecond);
    out = printer->quiet ? quiet_summary(printer, out, view) : line_summary(printer, out, view);
    *out++ = '\n';
    out_commit(printer->out, out);
}
