/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ACK extended transport header (IBTA 9.3.5, tables 42-45): syndrome and message sequence number.
 */
#ifndef ROCE_AETH_H
#define ROCE_AETH_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ROCE_AETH_LEN 4

enum roce_aeth_kind { ROCE_AETH_ACK, ROCE_AETH_RNR_NAK, ROCE_AETH_RESERVED, ROCE_AETH_NAK };

enum roce_nak {
    ROCE_NAK_PSN_SEQUENCE_ERROR = 0,
    ROCE_NAK_INVALID_REQUEST = 1,
    ROCE_NAK_REMOTE_ACCESS_ERROR = 2,
    ROCE_NAK_REMOTE_OPERATIONAL_ERROR = 3,
    ROCE_NAK_INVALID_RD_REQUEST = 4,
    ROCE_NAK_MAX = 4, /* 5..31 are reserved */
};

#define ROCE_CREDITS_INVALID 31 /* credit code: no credit information, unlimited */

struct roce_aeth {
    uint8_t syndrome;
    uint32_t msn; /* 24 bits */
};

int roce_aeth_decode(const uint8_t *buf, size_t len, struct roce_aeth *aeth);
int roce_aeth_encode(const struct roce_aeth *aeth, uint8_t *buf, size_t len);

/* roce_aeth_kind classifies a syndrome: bits 6:5; a set bit 7 is ROCE_AETH_RESERVED. */
enum roce_aeth_kind roce_aeth_kind(uint8_t syndrome);

/* roce_aeth_value returns bits 4:0: credit code, RNR timer code or NAK code. */
static inline uint8_t roce_aeth_value(uint8_t syndrome)
{
    return syndrome & 0x1F;
}

/* roce_aeth_credits returns the receive WQEs that credit code |code| (0..30) stands for, or -1 for
 * code 31 and above (no information). */
int32_t roce_aeth_credits(uint8_t code);

/* roce_aeth_rnr_ns returns the RNR timer of |code| (its low 5 bits) in ns: code 0 is 655.36 ms, the
 * longest. */
uint64_t roce_aeth_rnr_ns(uint8_t code);

/* roce_nak_name returns "psn_sequence_error", ...; NULL for reserved codes. roce_nak_text the same
 * in plain words. */
const char *roce_nak_name(uint8_t code);
const char *roce_nak_text(uint8_t code);

#ifdef __cplusplus
}
#endif
#endif
