/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The parts of a line. Each function appends, with a space in front of every word, and returns the
 * new end; the line has LINE_ROOM bytes, of which no part takes more than 1,500. */
#ifndef ROCEDUMP_LINE_PARTS_H
#define ROCEDUMP_LINE_PARTS_H

#include "common/colour.h"
#include "common/text.h"

#include <roce/field.h>
#include <roce/fmt.h>

/* LOUD appends what must stand out, in |code| when |colour|. */
static inline char *loud(char *out, bool colour, const char *code)
{
    return colour ? roce_fmt_str(out, code) : out;
}
static inline char *calm(char *out, bool colour)
{
    return colour ? TEXT(out, COLOUR_OFF) : out;
}

/* Extension headers and payload length. */
char *line_headers(char *out, const struct roce_packet *pkt, bool colour);

/* The acknowledge header in words: "ACK credits 12", "RNR NAK 0.64 ms", "NAK remote access error".
 */
char *line_syndrome(char *out, uint8_t syndrome);

/* MAD or CM message. */
char *line_mad(char *out, const struct roce_view *view);

/* ECN, DSCP, VLAN tags, encapsulations. */
char *line_network(char *out, const struct roce_packet *pkt, bool colour);

/* Source and destination, padded; the outer ones for tunnels. */
char *line_addresses(char *out, const struct roce_packet *pkt);

/* PFC and PAUSE. */
char *line_pause(char *out, const struct roce_view *view);

/* A frame that is no RoCE. */
char *line_other(char *out, const struct roce_view *view);

/* ICRC verdict when bad, and what stopped the decoder. */
char *line_faults(char *out, const struct roce_view *view, bool colour);

/* Flow state: remarks, stream, message, round trip; |view| has a verdict. */
char *line_analysis(char *out, const struct roce_view *view, bool colour);

#endif
