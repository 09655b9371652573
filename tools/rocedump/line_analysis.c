/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What flow state adds to a line: remarks in brackets first, then stream, message, times. */
#include <roce/fmt.h>

#include "common/text.h"
#include "rocedump/line_parts.h"

static char *put_number(char *out, const char *word, uint64_t number)
{
    out = roce_fmt_str(out, word);
    return roce_fmt_uint(out, number);
}

/* Microseconds with three digits behind the point. */
static char *put_us(char *out, const char *word, roce_duration ns)
{
    out = put_number(out, word, (uint64_t)ns / 1000);
    *out++ = '.';
    out = roce_fmt_uint_pad(out, (uint64_t)ns % 1000, 3);
    return TEXT(out, " us");
}

static char *put_retransmission(char *out, const struct roce_verdict *v)
{
    out = v->flags & ROCE_V_FILL ? TEXT(out, " [fills a gap") : TEXT(out, " [retransmission");
    if (v->cause != ROCE_CAUSE_NONE && v->cause != ROCE_CAUSE_UNKNOWN) {
        out = TEXT(out, ": ");
        out = roce_fmt_str(out, roce_cause_name((enum roce_cause)v->cause));
    }
    if (v->resent_frame != 0)
        out = put_number(out, ", first in ", v->resent_frame);
    *out++ = ']';
    return out;
}

static char *put_remarks(char *out, const struct roce_verdict *v)
{
    if (v->flags & ROCE_V_GAP) {
        out = put_number(out, " [gap: ", v->missing);
        out = v->missing == 1 ? TEXT(out, " PSN missing]") : TEXT(out, " PSNs missing]");
    }
    if (v->flags & ROCE_V_RETRANSMITTED)
        out = put_retransmission(out, v);
    if (v->flags & ROCE_V_MIRROR_DUP)
        out = TEXT(out, " [captured twice by the mirror]");
    if (v->flags & ROCE_V_READ_RESPONSE_DUP)
        out = TEXT(out, " [READ response repeated]");
    if (v->flags & ROCE_V_READ_RESPONSE_GAP)
        out = TEXT(out, " [READ responses missing]");
    if (v->flags & ROCE_V_ACK_GHOST)
        out = TEXT(out, " [ghost ACK]");
    return out;
}

char *line_analysis(char *out, const struct roce_view *view, bool colour)
{
    const struct roce_verdict *v = view->verdict;
    const uint32_t remarkable = ROCE_V_GAP | ROCE_V_RETRANSMITTED | ROCE_V_MIRROR_DUP |
                                ROCE_V_READ_RESPONSE_DUP | ROCE_V_READ_RESPONSE_GAP |
                                ROCE_V_ACK_GHOST;
    const bool stands_out = colour && (v->flags & remarkable) != 0;
    out = loud(out, stands_out, COLOUR_RED);
    out = put_remarks(out, v);
    out = calm(out, stands_out);
    out = put_number(out, " stream ", v->flow);
    if (v->message != 0)
        out = put_number(out, " msg ", v->message);
    if (view->acked_in != 0)
        out = put_number(out, " acked in ", view->acked_in);
    if (v->request_frame != 0)
        out = put_number(out, " answers ", v->request_frame);
    if (v->rtt >= 0)
        out = put_us(out, " rtt ", v->rtt);
    return out;
}
