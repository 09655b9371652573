/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Base transport header (IBTA 9.2): 12 bytes. */
#ifndef ROCE_BTH_H
#define ROCE_BTH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ROCE_BTH_LEN       12
#define ROCE_QPN_MASK      UINT32_C(0xFFFFFF)
#define ROCE_QPN_SMI       0
#define ROCE_QPN_GSI       1
#define ROCE_QPN_MULTICAST UINT32_C(0xFFFFFF)
#define ROCE_PKEY_DEFAULT  0xFFFF

struct roce_bth {
    uint8_t opcode;
    bool se;         /* solicited event */
    bool migreq;     /* MigReq (M) */
    uint8_t pad;     /* 0..3 pad bytes behind the payload */
    uint8_t tver;    /* 0; any other value is a version this library does not know */
    uint16_t pkey;   /* bit 15: full member */
    bool fecn, becn; /* top bits of byte 4; BECN is 1 in a CNP */
    uint8_t resv6;   /* 6 bits, 0 in conforming packets, not covered by the ICRC */
    uint32_t dqpn;   /* 24 bits */
    bool ackreq;     /* A */
    uint8_t resv7;   /* 7 bits, 0 in conforming packets, covered by the ICRC */
    uint32_t psn;    /* 24 bits */
};

/* roce_bth_decode reads the header from |buf|, which must hold ROCE_BTH_LEN bytes. Returns
 * ROCE_BTH_LEN, or ROCE_ERR_TRUNCATED, and then |bth| is untouched. */
int roce_bth_decode(const uint8_t *buf, size_t len, struct roce_bth *bth);

/* roce_bth_encode writes |bth| to |buf|; fields wider than the wire are cut to it. Returns
 * ROCE_BTH_LEN or ROCE_ERR_NOSPACE. */
int roce_bth_encode(const struct roce_bth *bth, uint8_t *buf, size_t len);

#ifdef __cplusplus
}
#endif
#endif
