/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Invariant CRC (IBTA 7.8.1, annex A17.3.3): CRC-32 over the fields that no hop changes. */
#ifndef ROCE_ICRC_H
#define ROCE_ICRC_H

#include <roce/packet.h>
#include <roce/types.h>

#ifdef __cplusplus
extern "C" {
#endif

enum roce_icrc_status { ROCE_ICRC_OK, ROCE_ICRC_BAD, ROCE_ICRC_UNCHECKED };

enum roce_icrc_reason {
    ROCE_ICRC_JUDGED,     /* ok or bad */
    ROCE_ICRC_NOT_ASKED,  /* the caller did not ask */
    ROCE_ICRC_SLICED,     /* not all covered bytes are captured */
    ROCE_ICRC_FRAGMENT,   /* needs reassembly */
    ROCE_ICRC_IP_OPTIONS, /* IPv4 options or IPv6 extension headers: implementations disagree on
                             what is covered */
    ROCE_ICRC_MALFORMED,  /* no room for an ICRC, or no BTH */
};

struct roce_icrc {
    uint8_t status; /* enum roce_icrc_status */
    uint8_t reason; /* enum roce_icrc_reason */
    bool has_value; /* |value| was captured */
    uint32_t value; /* the four ICRC bytes read in wire order, as Wireshark prints them: 82 fd 00 2a
                       = 0x82fd002a */
    uint32_t expected; /* same form; valid when status is ok or bad */
};

/* roce_icrc_check judges the ICRC of the frame that |pkt| was decoded from, without copying the
 * packet. */
void roce_icrc_check(const struct roce_frame *frame, const struct roce_packet *pkt,
                     struct roce_icrc *icrc);

/* roce_icrc_compute returns the ICRC, as struct roce_icrc.value, of the bytes |ip| .. |ip|+|len|
 * that begin with an IPv4 header without options, an IPv6 header or a GRH (version nibble decides),
 * and end with the last pad byte. The caller has ensured that |len| reaches behind the BTH. */
uint32_t roce_icrc_compute(const uint8_t *ip, size_t len);

const char *roce_icrc_status_name(enum roce_icrc_status status); /* "ok", "bad", "unchecked" */
const char *roce_icrc_reason_name(enum roce_icrc_reason reason); /* "sliced", ...; "" for JUDGED */

#ifdef __cplusplus
}
#endif
#endif
