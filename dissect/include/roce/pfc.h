/* SPDX-License-Identifier: GPL-2.0-or-later */
/* MAC control frames: 802.3x PAUSE (802.3 annex 31B) and 802.1Qbb priority flow control (annex
 * 31D). */
#ifndef ROCE_PFC_H
#define ROCE_PFC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ROCE_MACC_PAUSE   0x0001
#define ROCE_MACC_PFC     0x0101
#define ROCE_PAUSE_LEN    4  /* opcode and quanta */
#define ROCE_PFC_LEN      20 /* opcode, class-enable vector, eight times */
#define ROCE_QUANTUM_BITS 512

struct roce_pfc {
    uint16_t enable; /* class-enable vector: bit n of the low byte is priority n; the high byte is
                        reserved */
    uint16_t quanta[8]; /* pause time of each priority, in units of 512 bit times; enabled and 0:
                           resume (XON) */
};
struct roce_pause {
    uint16_t quanta; /* 0: resume */
};

/* |buf| begins at the MAC control opcode, behind the EtherType. Returns the length read, or
 * ROCE_ERR_TRUNCATED. */
int roce_pfc_decode(const uint8_t *buf, size_t len, struct roce_pfc *pfc);
int roce_pfc_encode(const struct roce_pfc *pfc, uint8_t *buf, size_t len);
int roce_pause_decode(const uint8_t *buf, size_t len, struct roce_pause *pause);
int roce_pause_encode(const struct roce_pause *pause, uint8_t *buf, size_t len);

/* roce_pause_ns returns how long |quanta| last on a link of |speed_bps| bits per second, in ns,
 * rounded down; 0 when |speed_bps| is 0. */
uint64_t roce_pause_ns(uint16_t quanta, uint64_t speed_bps);

#ifdef __cplusplus
}
#endif
#endif
