/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Extension headers and payload length of a line. */
#include "rocedump/line_parts.h"

/* "0.64", "655.36": ms with the two decimals that RNR timers have (IBTA table 45). */
static char *put_ms(char *out, uint64_t ns)
{
    out = roce_fmt_uint(out, ns / 1000000);
    *out++ = '.';
    return roce_fmt_uint_pad(out, ns / 10000 % 100, 2);
}

char *line_syndrome(char *out, uint8_t syndrome)
{
    const uint8_t value = roce_aeth_value(syndrome);
    switch (roce_aeth_kind(syndrome)) {
    case ROCE_AETH_ACK: {
        const int32_t credits = roce_aeth_credits(value);
        if (credits < 0)
            return TEXT(out, "ACK unlimited");
        out = TEXT(out, "ACK credits ");
        return roce_fmt_uint(out, (uint64_t)credits);
    }
    case ROCE_AETH_RNR_NAK:
        out = TEXT(out, "RNR NAK ");
        out = put_ms(out, roce_aeth_rnr_ns(value));
        return TEXT(out, " ms");
    case ROCE_AETH_NAK: {
        const char *text = roce_nak_text(value);
        out = TEXT(out, "NAK ");
        if (text != NULL)
            return roce_fmt_str(out, text);
        out = TEXT(out, "reserved code ");
        return roce_fmt_uint(out, value);
    }
    case ROCE_AETH_RESERVED:
        break;
    }
    out = TEXT(out, "AETH reserved syndrome ");
    return roce_fmt_hex_pad(out, syndrome, 2);
}

static char *put_aeth(char *out, const struct roce_aeth *aeth, bool colour)
{
    const enum roce_aeth_kind kind = roce_aeth_kind(aeth->syndrome);
    const bool stands_out = colour && kind != ROCE_AETH_ACK;
    *out++ = ' ';
    out = loud(out, stands_out, kind == ROCE_AETH_RNR_NAK ? COLOUR_YELLOW : COLOUR_RED);
    out = line_syndrome(out, aeth->syndrome);
    out = calm(out, stands_out);
    out = TEXT(out, " MSN ");
    return roce_fmt_uint(out, aeth->msn);
}

static char *put_atomic(char *out, const struct roce_packet *pkt)
{
    const struct roce_atomic_eth *h = &pkt->atomic_eth;
    out = TEXT(out, " va ");
    out = roce_fmt_hex_pad(out, h->va, 16);
    out = TEXT(out, " rkey ");
    out = roce_fmt_hex_pad(out, h->rkey, 8);
    /* FetchAdd is the operation whose compare operand means nothing (IBTA 9.4.5.2). */
    if ((pkt->bth.opcode & 0x1F) == (ROCE_OPCODE_RC_FETCH_ADD & 0x1F)) {
        out = TEXT(out, " add ");
        return roce_fmt_hex(out, h->swap_add);
    }
    out = TEXT(out, " compare ");
    out = roce_fmt_hex(out, h->compare);
    out = TEXT(out, " swap ");
    return roce_fmt_hex(out, h->swap_add);
}

static char *put_feth(char *out, const struct roce_feth *h)
{
    static const char *const placements[4] = {" to nowhere", " global visibility", " persistence",
                                              " global visibility and persistence"};
    out = roce_fmt_str(out, placements[h->plt & 3]);
    if (h->sel > 1) {
        out = TEXT(out, " selectivity ");
        return roce_fmt_uint(out, h->sel);
    }
    return h->sel == 1 ? TEXT(out, " of the whole MR") : TEXT(out, " of the range");
}

static char *put_reth(char *out, const struct roce_reth *h)
{
    out = TEXT(out, " RETH va ");
    out = roce_fmt_hex_pad(out, h->va, 16);
    out = TEXT(out, " rkey ");
    out = roce_fmt_hex_pad(out, h->rkey, 8);
    out = TEXT(out, " len ");
    return roce_fmt_uint(out, h->dma_length);
}

static char *put_rare(char *out, const struct roce_packet *pkt)
{
    if ((pkt->has & ROCE_H_RDETH) != 0) {
        out = TEXT(out, " EE context ");
        out = roce_fmt_hex_pad(out, pkt->rdeth.ee_context, 6);
    }
    if ((pkt->has & ROCE_H_DETH) != 0) {
        out = TEXT(out, " from QP ");
        out = roce_fmt_hex_pad(out, pkt->deth.src_qp, 6);
        out = TEXT(out, " qkey ");
        out = roce_fmt_hex_pad(out, pkt->deth.qkey, 8);
    }
    if ((pkt->has & ROCE_H_XRCETH) != 0) {
        out = TEXT(out, " SRQ ");
        out = roce_fmt_hex_pad(out, pkt->xrceth.srq, 6);
    }
    if ((pkt->has & ROCE_H_ATOMIC) != 0)
        out = put_atomic(out, pkt);
    if ((pkt->has & ROCE_H_ATOMIC_ACK) != 0) {
        out = TEXT(out, " original ");
        out = roce_fmt_hex(out, pkt->atomic_ack_eth.original);
    }
    if ((pkt->has & ROCE_H_IMM) != 0) {
        out = TEXT(out, " imm ");
        out = roce_fmt_hex_pad(out, pkt->imm, 8);
    }
    if ((pkt->has & ROCE_H_IETH) != 0) {
        out = TEXT(out, " invalidate rkey ");
        out = roce_fmt_hex_pad(out, pkt->ieth.rkey, 8);
    }
    return out;
}

/* A packet that by its opcode has no payload says nothing about its length; neither does a CNP,
 * whose 16 bytes are reserved (IBTA A17.9.3). */
static bool shows_length(const struct roce_packet *pkt)
{
    if ((pkt->has & ROCE_HAS_PAYLOAD) == 0 || pkt->op == ROCE_OP_CNP)
        return false;
    return pkt->payload_len > 0 || roce_opcode_info(pkt->bth.opcode)->payload != ROCE_PAYLOAD_NONE;
}

char *line_headers(char *out, const struct roce_packet *pkt, bool colour)
{
    if (shows_length(pkt)) {
        out = TEXT(out, " len ");
        out = roce_fmt_uint(out, pkt->payload_len);
    }
    if ((pkt->has & ROCE_H_AETH) != 0)
        out = put_aeth(out, &pkt->aeth, colour);
    if ((pkt->has & ROCE_H_FETH) != 0)
        out = put_feth(out, &pkt->feth);
    if ((pkt->has & ROCE_H_RETH) != 0)
        out = put_reth(out, &pkt->reth);
    const uint32_t rare = ROCE_H_RDETH | ROCE_H_DETH | ROCE_H_XRCETH | ROCE_H_ATOMIC |
                          ROCE_H_ATOMIC_ACK | ROCE_H_IMM | ROCE_H_IETH;
    if ((pkt->has & rare) != 0)
        out = put_rare(out, pkt);
    return out;
}
